"""Reuse histories to test with: records written by hand, and datasets that pylance rewrote.

Records, Content and put() change or make the history of a dataset's newest version; `partition`
does what pylance can't be asked for, a reordered rewrite with a row map. Everything is the same for
a seed. Format facts: fragment reuse index; manifest file layout.
"""
import random
import struct
import uuid as uuids
from collections import Counter
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
from lance.file import LanceFileWriter
from lance.fragment import write_fragments

import facts
import live
from reuse import COUNTS_HEAD, COUNTS_KEY, NAME, TYPE
from wire import ManifestFile, Message, decode, encode, put_varint

INDEX_SECTION, READER_FLAGS, WRITER_FLAGS, TAGGED = 6, 9, 10, 1 << 10
ORDERED_ARM, PARTITION_ARM = 3, 4
STORAGE = ("2.0", "2.1", "2.2")


# ---- bytes --------------------------------------------------------------------------------

def roaring(values):
    """Ascending numbers as a portable 32-bit bitmap of arrays and bitsets."""
    parts = {}
    for value in values:
        parts.setdefault(value >> 16, []).append(value & 0xFFFF)
    heads, bodies = b"", []
    for key, low in parts.items():
        heads += struct.pack("<HH", key, len(low) - 1)
        if len(low) <= 4096:
            bodies.append(struct.pack(f"<{len(low)}H", *low))
        else:
            bits = np.zeros(65536, np.uint8)
            bits[low] = 1
            bodies.append(np.packbits(bits, bitorder="little").tobytes())
    at, offsets = 8 + 8 * len(parts), b""
    for body in bodies:
        offsets, at = offsets + struct.pack("<I", at), at + len(body)
    return struct.pack("<II", 12346, len(parts)) + heads + offsets + b"".join(bodies)


def treemap(survivors):
    """{fragment: ascending offsets} as a 64-bit bitmap."""
    return struct.pack("<Q", len(survivors)) + b"".join(
        struct.pack("<I", key) + roaring(survivors[key]) for key in sorted(survivors))


def counts(labels, width, block_rows):
    """The matrix of a row map; labels are None for deleted rows."""
    out = COUNTS_HEAD.pack(b"LSPC", 1, 0, width, block_rows, len(labels))
    so_far = Counter()
    for at in range(0, len(labels), block_rows):
        so_far.update(labels[at:at + block_rows])
        out += struct.pack(f"<{width}I", *(so_far[label] for label in range(width)))
    return out


def write_map(path, labels, matrix, storage="2.2"):
    """The file of a row map; returns its size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([pa.field("label", pa.uint16(), nullable=True)])
    with LanceFileWriter(str(path), schema, version=storage) as writer:
        writer.write_batch(pa.table([pa.array(labels, pa.uint16())], schema=schema))
        where = writer.add_global_buffer(matrix)
        writer.add_schema_metadata(COUNTS_KEY.decode(), str(where))
    return path.stat().st_size


# ---- records ------------------------------------------------------------------------------

class Record:
    """A transition or a legacy group; sides are lists of [id, physical rows, deleted rows]."""

    def __init__(self, sources, destinations, arms=()):
        self.sources = [list(s) for s in sources]
        self.destinations = [list(d) for d in destinations]
        self.arms = [list(arm) for arm in arms]  # [field, bytes]; a group has its bitmap alone
        self.extra = []

    @classmethod
    def ordered(cls, sources, destinations, survivors):
        return cls(sources, destinations,
                   [[ORDERED_ARM, encode([[1, 2, treemap(survivors)]])]])

    @classmethod
    def partition(cls, sources, destinations, map_id, size, base=None):
        fields = [[1, 2, map_id.encode()], [2, 0, size]]
        fields += [[3, 0, base]] if base is not None else []
        return cls(sources, destinations, [[PARTITION_ARM, encode(fields)]])

    @classmethod
    def decode(cls, raw, sides, arms):
        message = Message(raw)
        out = cls(*([[m.uint(1), m.uint(2), m.uint(3)] for m in message.subs(side)]
                    for side in sides))
        out.arms = [[n, v] for n, _, v in message.fields if n in arms]
        out.extra = [f for f in message.fields if f[0] not in {*sides, *arms}]
        return out

    def encode(self, sides=(1, 2)):
        fields = []
        for number, side in zip(sides, (self.sources, self.destinations)):
            for digest in side:
                numbers = [[n, 0, v] for n, v in enumerate(digest, 1) if v]
                fields.append([number, 2, encode(numbers)])
        return encode(fields + [[n, 2, v] for n, v in self.arms] + self.extra)

    def arm(self, **changes):
        """Changes the fields of the mapping, by number: arm(f2=7)."""
        fields = decode(self.arms[0][1])
        for name, value in changes.items():
            number, kind = int(name[1:]), 2 if isinstance(value, bytes) else 0
            fields = [f for f in fields if f[0] != number] + [[number, kind, value]]
        self.arms[0][1] = encode(fields)


class Content:
    """A whole history: legacy versions as [dataset version, groups], and transitions."""

    def __init__(self, raw=b""):
        message = Message(raw)
        self.versions = [[m.uint(1), [Record.decode(g, (2, 3), (1,)) for g in m.raws(3)]]
                         for m in message.subs(1)]
        self.transitions = [Record.decode(t, (1, 2), (ORDERED_ARM, PARTITION_ARM))
                            for t in message.raws(2)]
        self.extra = [f for f in message.fields if f[0] not in (1, 2)]

    def encode(self):
        fields = [[1, 2, encode([[1, 0, number]] + [[3, 2, g.encode((2, 3))] for g in groups])]
                  for number, groups in self.versions]
        fields += [[2, 2, t.encode()] for t in self.transitions]
        return encode(fields + self.extra)


# ---- manifests ----------------------------------------------------------------------------

def newest(root):
    found = facts.manifests(root)
    return found[max(found)]


def set_field(fields, number, kind, value):
    """Gives a field one value, or none."""
    fields[:] = [f for f in fields if f[0] != number]
    if value is not None:
        fields.append([number, kind, value])


def edit(root, change):
    """Changes the newest manifest: change(manifest fields, list of index entries)."""
    path = newest(root)
    file = ManifestFile(path.read_bytes())
    sections = {name: file.section(name) for name in ("index", "transaction")}
    sections = {name: body for name, body in sections.items() if body is not None}
    fields, index = file.message.fields, decode(sections["index"])
    entries = [decode(value) for number, _, value in index if number == 1]
    change(fields, entries)
    sections["index"] = encode([[1, 2, encode(e)] for e in entries] +
                               [f for f in index if f[0] != 1])
    path.write_bytes(file.rebuilt(fields, sections))


def named(entries, name=NAME):
    """The first entry of that name."""
    return next(e for e in entries if [3, 2, name.encode()] in e)


def value(fields, number):
    return next((v for n, _, v in fields if n == number), None)


def set_flags(fields, reader, writer):
    set_field(fields, READER_FLAGS, 0, reader)
    set_field(fields, WRITER_FLAGS, 0, writer)


def set_details(entry, details):
    """The FragmentReuseIndexDetails of an entry."""
    wrapped = [[1, 2, b"/" + TYPE.encode()], [2, 2, details]]
    set_field(entry, 6, 2, encode(wrapped))


def home_of(root, entry):
    uuid = Message(encode(entry)).sub(1).bytes(1)
    return Path(root) / "_indices" / str(uuids.UUID(bytes=uuid))


def put(root, content, index_version=None, external=False, size_off=0):
    """Replaces the history of the newest version, as it stands, inline or in a file."""
    raw = content if isinstance(content, bytes) else content.encode()

    def change(_, entries):
        entry = named(entries)
        details = encode([[1, 2, raw]])
        if external:
            home = home_of(root, entry)
            home.mkdir(parents=True, exist_ok=True)
            (home / "details.binpb").write_bytes(raw)
            details = encode([[2, 2, encode([[1, 2, b"details.binpb"],
                                             [3, 0, len(raw) + size_off]])]])
        set_details(entry, details)
        if index_version is not None:
            set_field(entry, 7, 0, index_version)
    edit(root, change)


def new_entry(content, index_version, covered, dataset_version, name=NAME, rng=random):
    entry = [[1, 2, encode([[1, 2, uuids.UUID(int=rng.getrandbits(128), version=4).bytes]])],
             [3, 2, name.encode()], [4, 0, dataset_version], [5, 2, roaring(sorted(covered))],
             [7, 0, index_version], [8, 0, 1_700_000_000_000]]
    set_details(entry, encode([[1, 2, content]]))
    return entry


def tag(root):
    """Sets the flag of tagged histories in both words: from then on pylance writes only those."""
    def change(fields, _):
        set_flags(fields, *((value(fields, word) or 0) | TAGGED
                            for word in (READER_FLAGS, WRITER_FLAGS)))
    edit(root, change)


# ---- datasets -----------------------------------------------------------------------------

def opened(root):
    """Opened afresh: an edited manifest is no longer what an earlier open has cached."""
    return lance.dataset(str(root), session=lance.Session())


class Dataset:
    """A dataset with a unique column `id` that grows, shrinks and is rewritten by chance."""

    def __init__(self, root, seed, storage):
        self.root, self.rng, self.storage = Path(root), random.Random(seed), storage
        self.next_id = self.partitions = 0

    def _table(self, rows):
        ids = list(range(self.next_id, self.next_id + rows))
        self.next_id += rows
        self.rng.shuffle(ids)
        return pa.table({"id": pa.array(ids, pa.int64()),
                         "part": pa.array([self.rng.randrange(4) for _ in ids], pa.int32())})

    def create(self, fragments=3):
        lance.write_dataset(self._table(self.rng.randrange(5, 60)), str(self.root),
                            data_storage_version=self.storage)
        for _ in range(fragments - 1):
            self.append()
        opened(self.root).create_scalar_index("id", "BTREE")

    def append(self):
        lance.write_dataset(self._table(self.rng.randrange(1, 60)), str(self.root), mode="append")

    def delete(self, share=None):
        """Rows by chance, or all of one fragment."""
        ds = opened(self.root)
        if share is None and self.rng.random() < 0.3 and len(ds.get_fragments()) > 1:
            fragment = self.rng.choice(ds.get_fragments())
            gone = fragment.to_table(columns=["id"])["id"].to_pylist()
        else:
            ids = ds.to_table(columns=["id"])["id"].to_pylist()
            count = int(len(ids) * (share or self.rng.choice((0.05, 0.2, 0.5))))
            gone = self.rng.sample(ids, min(count, len(ids) - 1))
        if gone:
            ds.delete(f"id in ({', '.join(map(str, gone))})")

    def compact(self):
        """A deferred compaction, into fragments of some size."""
        opened(self.root).optimize.compact_files(
            target_rows_per_fragment=self.rng.choice((20, 50, 100, 1000)),
            materialize_deletions_threshold=0.0, defer_index_remap=True, num_threads=1)

    def partition(self, block_rows=None, storage=None):
        ds = opened(self.root)
        sources = [f.fragment_id for f in ds.get_fragments()]
        sources = sorted(self.rng.sample(sources, self.rng.randrange(1, len(sources) + 1)))
        self.rng.shuffle(sources)
        self.partitions += 1
        partition(self.root, sources, self.rng, block_rows or self.rng.choice((4, 7, 65536)),
                  storage or self.rng.choice(STORAGE))


def _labelled(ds, sources, width, rng):
    """(label or None of every physical row of the sources, rows of each label in order)."""
    labels, rows = [], [[] for _ in range(width)]
    for source in sources:
        fragment = ds.get_fragment(source)
        table = fragment.scanner(with_row_address=True).to_table()
        where = {a & 0xFFFFFFFF: i for i, a in enumerate(table["_rowaddr"].to_pylist())}
        table = table.drop_columns(["_rowaddr"])
        for offset in range(fragment.physical_rows):
            label = None
            if offset in where:
                label = rng.randrange(width)
                rows[label].append(table.slice(where[offset], 1))
            labels.append(label)
    return labels, rows


def partition(root, sources, rng, block_rows, map_storage):
    """Rewrites fragments into others by random labels, and records where each row went.

    pylance writes the data files. It has no call for such a commit, so the version is assembled
    here: manifest, transaction, row map and entry.
    """
    ds = opened(root)
    before = facts.Version(root, newest(root))
    labels, rows = _labelled(ds, sources, rng.randrange(1, 5), rng)
    used = [label for label, of_label in enumerate(rows) if of_label]
    labels = [None if label is None else used.index(label) for label in labels]
    made, destinations = [], []
    for ident, label in enumerate(used, before.max_fragment_id + 1):
        written = write_fragments(pa.concat_tables(rows[label]), ds, mode="append")[0]
        made.append(_data_fragment(ident, written))
        destinations.append([ident, len(rows[label]), 0])
    by_id = {f.id: f for f in before.fragments}
    map_id = _uuid(rng)
    size = write_map(Path(root) / "_fri" / map_id / "stable_partition.lance", labels,
                     counts(labels, len(used), block_rows), map_storage)
    record = Record.partition([[s, by_id[s].rows, by_id[s].deleted] for s in sources],
                              destinations, map_id, size)
    commit_rewrite(root, before, record, made, rng)


def _uuid(rng):
    return str(uuids.UUID(int=rng.getrandbits(128), version=4))


def _data_fragment(ident, written):
    """The DataFragment of a fragment that pylance wrote and nobody committed."""
    file = written.files[0]
    packed = [b"".join(put_varint(v) for v in values)
              for values in (file.fields, file.column_indices)]
    fields = [[1, 2, file.path.encode()], [2, 2, packed[0]], [3, 2, packed[1]],
              [4, 0, file.file_major_version], [5, 0, file.file_minor_version],
              [6, 0, file.file_size_bytes]]
    return encode([[1, 0, ident], [2, 2, encode(fields)], [4, 0, written.physical_rows]])


def commit_rewrite(root, before, record, made, rng):
    """The next version: sources give way to the destinations, the history has one record more."""
    gone = {d[0] for d in record.sources}
    kept = before._file.message.raws(2)
    old = [raw for raw in kept if Message(raw).uint(1) in gone]
    fragments = [raw for raw in kept if raw not in old] + made
    group = encode([[1, 2, f] for f in old] + [[2, 2, f] for f in made])
    uuid = _uuid(rng)
    transaction = encode([[1, 0, before.version], [2, 2, uuid.encode()],
                          [104, 2, encode([[3, 2, group]])]])
    name = f"{before.version}-{uuid}.txn"
    (Path(root) / "_transactions" / name).write_bytes(transaction)
    fields = [f for f in before._file.message.fields if f[0] != 2]
    fields += [[2, 2, f] for f in sorted(fragments, key=lambda raw: Message(raw).uint(1))]
    for number, kind, new in ((3, 0, before.version + 1), (12, 2, name.encode()),
                              (11, 0, max(Message(f).uint(1) for f in made)),
                              (7, 2, encode([[1, 0, before.seconds + 1]])),
                              (READER_FLAGS, 0, before.reader_flags | TAGGED),
                              (WRITER_FLAGS, 0, before.writer_flags | TAGGED)):
        set_field(fields, number, kind, new)
    index = encode(_with_record(before, record, rng))
    path = Path(root) / "_versions" / f"{(1 << 64) - 2 - before.version:020}.manifest"
    path.write_bytes(before._file.rebuilt(fields, {"index": index, "transaction": transaction}))


def _with_record(before, record, rng):
    """The index section with one transition more; older content stays as it is."""
    section = decode(before._file.section("index"))
    content, covered = b"", {d[0] for d in record.sources + record.destinations}
    for field in [f for f in section if f[0] == 1 and Message(f[2]).text(3) == NAME]:
        segment = next(s for s in before.segments if s.name == NAME)
        content = live.fri_content(before, segment)
        covered |= set(segment.bitmap)
        section.remove(field)
    content += encode([[2, 2, record.encode()]])
    return section + [[1, 2, encode(new_entry(content, 1, covered, before.version, rng=rng))]]


def history(root, seed, steps=9):
    """Several rounds of appends, deletions and rewrites. Every other seed has partitions in it, one
    in four is tagged from the start."""
    out = Dataset(root, seed, STORAGE[seed % 3])
    out.create(out.rng.randrange(2, 6))
    tagged = seed % 2 == 1
    if seed % 4 == 3:
        tag(root)
    out.delete(0.1)
    out.compact()
    for _ in range(steps):
        roll = out.rng.random()
        if roll < 0.25:
            out.append()
        elif roll < 0.5:
            out.delete()
        elif roll < 0.6:
            opened(root).optimize.optimize_indices()
        elif tagged and roll < 0.8:
            out.partition()
        else:
            out.compact()
    out.delete(0.1)
    out.compact()
    return out
