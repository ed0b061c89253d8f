"""What a dataset directory holds, version by version, as the tests expect to see it.

Decoded here from the manifests with wire.py and sequences.py, so that values pylance has no
call for (versions of deleted rows, flags, exact timestamps) are expected values too.
test_oracle.py holds these facts against the expected.json made by pylance and by the Rust
reference; only then are they used against the programs under test.
"""
import functools
import uuid as uuids
from pathlib import Path

import hidden
import sequences
from wire import Corrupt, ManifestFile, Message, encode

FLAGS = ("deletion_files stable_row_ids v2_format table_config base_paths no_transaction_files "
         "data_overlays covering_indices mixed_file_versions reuse_with_stable_row_ids "
         "tagged_reuse_history spilled_row_lineage fragment_tree independent_covering "
         "managed_blobs non_reusable_field_ids zone_seeds object_metadata").split()
# Reader bits that no reader of this format generation may open: 9, 12, 13, 16, 17 and above.
REFUSED_READER_BITS = {9, 12, 13, 16} | set(range(17, 64))
OPERATIONS = {100: "Append", 101: "Delete", 102: "Overwrite", 103: "CreateIndex", 104: "Rewrite",
              105: "Merge", 106: "Restore", 107: "ReserveFragments", 108: "Update",
              109: "Project", 110: "UpdateConfig", 111: "DataReplacement",
              112: "UpdateMemWalState", 113: "Clone", 114: "UpdateBases", 115: "DataOverlay"}
STABLE_ROW_IDS = 1 << 1
HIDDEN = {"row_ids": -3, "created_at": -4, "last_updated_at": -5}


def flag_names(word):
    return [FLAGS[bit] if bit < len(FLAGS) else f"bit_{bit}"
            for bit in range(64) if word >> bit & 1]


class DataFile:
    def __init__(self, message):
        self.path = message.text(1)
        self.fields = message.ints(2)
        self.columns = message.ints(3)
        self.major, self.minor = message.uint(4), message.uint(5)
        self.size = message.uint(6)
        self.base = message.uint(7) if message.has(7) else None

    @property
    def format(self):
        """The file version as users write it."""
        if self.major == 0:
            return "2.0" if self.minor == 3 else "0.1"
        return f"{self.major}.{self.minor}"


class DeletionFile:
    def __init__(self, fragment, message):
        self.kind = "bitmap" if message.uint(1) == 1 else "array"
        self.read_version, self.id = message.uint(2), message.uint(3)
        self.deleted = message.uint(4)
        self.base = message.uint(7) if message.has(7) else None
        ending = "bin" if self.kind == "bitmap" else "arrow"
        self.path = f"_deletions/{fragment}-{self.read_version}-{self.id}.{ending}"


class Overlay:
    def __init__(self, message):
        self.file = DataFile(message.sub(1))
        self.committed_version = message.uint(3)
        shared = message.bytes(2) if message.has(2) else None
        self.coverage = [sequences.roaring(shared)] if shared is not None else \
            [sequences.roaring(b) for b in (message.sub(4) or Message(b"")).raws(1)]


class Fragment:
    """One fragment; what can't be decoded is a Corrupt instance in its place."""

    def __init__(self, version, message):
        self.version, self._message = version, message
        self.id, self.rows = message.uint(1), message.uint(4)
        self.files = [DataFile(m) for m in message.subs(2)]
        self.overlays = [Overlay(m) for m in message.subs(11)]
        deletion = message.sub(3)
        self.deletion = DeletionFile(self.id, deletion) if deletion is not None else None
        self.deleted = self.deletion.deleted if self.deletion else 0

    def placement(self, what):
        """Where a lineage sequence is: inline, column, default or address."""
        inline, column = {"row_ids": (5, 12), "last_updated_at": (7, 13),
                          "created_at": (9, 14)}[what]
        if self._message.has(column):
            return "column"
        if self._message.has(inline):
            return "inline"
        stable = self.version.reader_flags & STABLE_ROW_IDS
        return "default" if stable else "address" if what == "row_ids" else None

    def inline_bytes(self, what):
        return self._message.bytes({"row_ids": 5, "last_updated_at": 7, "created_at": 9}[what])

    def addresses(self):
        return range(self.id << 32, (self.id << 32) + self.rows)

    @functools.cache
    def lineage(self, what):
        """A value for each physical row; Corrupt when it is broken, OSError when it is lost."""
        placement = self.placement(what)
        try:
            if placement == "inline":
                decoder = sequences.row_ids if what == "row_ids" else sequences.version_runs
                return decoder(self.inline_bytes(what), self.rows)
            if placement == "column":
                return hidden.values(self.version, self, HIDDEN[what], what == "row_ids")
        except (Corrupt, OSError) as error:
            return error
        if what == "row_ids":
            return list(self.addresses()) if placement == "address" else \
                Corrupt("stable row ids without row ids")
        return [1] * self.rows

    @functools.cache
    def deleted_offsets(self):
        if self.deletion is None:
            return []
        try:
            raw = self.version.backing(self.deletion.base, self.deletion.path).read_bytes()
            return sequences.deleted_rows(raw, self.deletion.kind, self.rows)
        except (Corrupt, OSError) as error:
            return error


class Segment:
    """One IndexMetadata entry."""

    def __init__(self, message):
        self.uuid = str(uuids.UUID(bytes=message.sub(1).bytes(1)))
        self.fields, self.name = message.ints(2), message.text(3)
        self.dataset_version, self.index_version = message.uint(4), message.uint(7)
        raw = message.bytes(5)
        self.bitmap = sequences.roaring(raw) if raw else None
        details = message.sub(6)
        self.type_url = details.text(1) if details is not None else None
        self.details = details.bytes(2) if details is not None else None
        self.raw = encode(message.fields)
        self.created_at = message.uint(8) if message.has(8) else None
        self.base = message.uint(9) if message.has(9) else None
        self.files = {m.text(1): m.uint(2) for m in message.subs(10)}


class Field:
    def __init__(self, message):
        self.name, self.id, self.parent = message.text(2), message.int32(3), message.int32(4)
        self.type, self.nullable = message.text(5), bool(message.uint(6))
        self.metadata = message.map(10)


class Transaction:
    def __init__(self, raw):
        self.raw = raw
        message = Message(raw)
        self.read_version, self.uuid = message.uint(1), message.text(2)
        self.properties = message.map(4)
        numbers = [n for n, _, _ in message.fields if n >= 100]
        self.operation = OPERATIONS.get(numbers[-1], f"Unknown({numbers[-1]})") if numbers else None


class Version:
    """One manifest. `root` is the dataset or branch directory that it stands in."""

    def __init__(self, root, path):
        self.root, self.path, self.raw = Path(root), Path(path), Path(path).read_bytes()
        file = ManifestFile(self.raw)
        self.body, message = file.body, file.message
        self._file = file
        self.version = message.uint(3)
        stamp = message.sub(7) or Message(b"")
        self.seconds, self.nanos = stamp.uint(1), stamp.uint(2)
        self.reader_flags, self.writer_flags = message.uint(9), message.uint(10)
        self.next_row_id = message.uint(14)
        self.max_fragment_id = message.uint(11) if message.has(11) else None
        self.transaction_file = message.text(12)
        self.branch = message.text(20) or None
        storage = message.sub(15)
        self.data_format = storage.text(2) if storage is not None else None
        writer = message.sub(13)
        self.writer = (writer.text(1), writer.text(2)) if writer is not None else None
        self.config, self.table_metadata = message.map(16), message.map(19)
        self.schema_metadata = message.map(5)
        self.bases = {m.uint(1): {"name": m.text(2) or None, "root": bool(m.uint(3)),
                                  "path": m.text(4)} for m in message.subs(18)}
        self.fields = [Field(m) for m in message.subs(1)]
        self.fragments = [Fragment(self, m) for m in message.subs(2)]

    @property
    def stable(self):
        return bool(self.reader_flags & STABLE_ROW_IDS)

    @property
    def refused(self):
        return [FLAGS[b] if b < len(FLAGS) else f"bit_{b}"
                for b in sorted(REFUSED_READER_BITS) if self.reader_flags >> b & 1]

    @functools.cached_property
    def segments(self):
        raw = self._file.section("index")
        return [Segment(m) for m in Message(raw).subs(1)] if raw is not None else []

    @functools.cached_property
    def transaction(self):
        """Inline, at its new or its old place, else the file; None when none was recorded."""
        for section in ("transaction", "transaction_old"):
            raw = self._file.section(section)
            if raw is not None:
                return Transaction(raw)
        path = self.root / "_transactions" / self.transaction_file
        return Transaction(path.read_bytes()) if self.transaction_file and path.is_file() else None

    @property
    def live_rows(self):
        return sum(f.rows - f.deleted for f in self.fragments)

    def backing(self, base, path):
        """The real file of a path below the dataset, in whichever base it is."""
        if base is None:
            return self.root / path
        place = self.bases[base]
        front = Path(place["path"].removeprefix("file://"))
        return front / (path if place["root"] else path.removeprefix("data/"))

    def column_files(self):
        """(fragment, file) of every lineage file whose values are in a hidden column."""
        out = set()
        for fragment in self.fragments:
            spilled = [w for w in HIDDEN if fragment.placement(w) == "column"]
            for what in spilled:
                name = lineage_name(what)
                out |= {(fragment.id, name), (fragment.id, name + ".u64")}
            if spilled:
                out.add((fragment.id, "all.tsv"))
        return out


def lineage_name(what):
    return "_rowid" if what == "row_ids" else f"_row_{what}_version"


def manifest_version(name):
    """The version that a manifest's name says, None for a detached or stray one."""
    stem = name.removesuffix(".manifest")
    if stem == name or not (stem.isascii() and stem.isdigit()):
        return None
    number = int(stem)
    if number >> 64:
        return None
    return (1 << 64) - 1 - number if len(stem) == 20 else number


def manifests(root):
    found = {manifest_version(p.name): p for p in Path(root, "_versions").glob("*.manifest")}
    found.pop(None, None)
    return dict(sorted(found.items()))


def detached_manifests(root):
    paths = Path(root, "_versions").glob("d*.manifest")
    return {int(p.stem[1:]): p for p in paths if p.stem[1:].isdigit()}


@functools.lru_cache(maxsize=1024)
def version(root, number):
    """The facts of one version of the dataset (or branch) at `root`."""
    found = detached_manifests(root) if number >> 63 else manifests(root)
    return Version(root, found[number])
