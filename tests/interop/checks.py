"""What each part of a version's tree must show, given the facts; the same for both ways to read.

A check takes a tree (programs.ShowTree or programs.MountTree), the path of the version in it and
the facts of that version, and asserts.
"""
import errno
import re

import coverage
import formats
import reuse
from facts import HIDDEN, flag_names, lineage_name
from formats import NARROW, WIDE, num, wide
from wire import Corrupt

REQUIRED = {"summary", "manifest.json", "manifest.pb", "schema", "schema.json", "fragments.tsv",
            "files.tsv", "fragments", "dataset"}
OPTIONAL = {"transaction.json", "transaction.pb", "config", "metadata", "schema_metadata",
            "indices", "fri", "diff"}
DELETION_KINDS = {"array": {"array", "arrow", "arrow_array"}, "bitmap": {"bitmap", "bin"}}


def both_names(what):
    """The text and the raw file of one lineage sequence."""
    return lineage_name(what), lineage_name(what) + ".u64"


def expected_failures(at, facts):
    """{path: errnos} of the files of a version that can't be read."""
    out = {}
    for fragment in facts.fragments:
        here = f"{at}/fragments/{fragment.id}"
        offsets = fragment.deleted_offsets()
        if isinstance(offsets, Exception):
            code = errno.EIO if isinstance(offsets, OSError) else errno.EUCLEAN
            out[f"{here}/deleted_rows"] = {code}
            out[f"{here}/head.jsonl"] = {code}
            out[f"{here}/lineage/all.tsv"] = {code}
        for what in HIDDEN:
            values = fragment.lineage(what)
            if isinstance(values, Exception):
                code = errno.EIO if isinstance(values, OSError) else errno.EUCLEAN
                for name in both_names(what):
                    out[f"{here}/lineage/{name}"] = {code}
                out.setdefault(f"{here}/lineage/all.tsv", set()).add(code)
    return out


def fails(tree, path, *codes):
    """The file can't be read, with one of these errnos."""
    try:
        got = tree.read(path)
    except OSError as error:
        assert error.errno in codes, \
            f"{path}: {errno.errorcode.get(error.errno)} is none of " \
            f"{[errno.errorcode[c] for c in codes]}"
        return error
    raise AssertionError(f"{path}: {len(got)} bytes instead of an error")


def listing(tree, at, facts):
    names = set(tree.list(at))
    assert REQUIRED <= names <= REQUIRED | OPTIONAL, names
    recorded = facts.transaction is not None
    assert ("transaction.json" in names) == recorded and ("transaction.pb" in names) == recorded
    assert ("indices" in names) or not facts.segments


def summary(tree, at, facts, tags=()):
    got = formats.summary(tree.read(f"{at}/summary"))
    want = {"version": facts.version, "rows": facts.live_rows,
            "deleted_rows": sum(f.deleted for f in facts.fragments),
            "fragments": len(facts.fragments),
            "data_files": sum(len(f.files) for f in facts.fragments)}
    assert {key: int(got[key]) for key in want} == want
    assert int(got["bytes"]) >= 0
    assert got["timestamp"] == formats.rfc3339(facts.seconds, facts.nanos)
    assert got["operation"] == (facts.transaction.operation if facts.transaction else "-")
    if facts.writer:
        assert all(part in got["writer"] for part in facts.writer)
    if facts.data_format is not None:
        assert got["storage_version"] == facts.data_format
    assert got["stable_row_ids"] in (("yes", "true") if facts.stable else ("no", "false"))
    for word in ("reader_flags", "writer_flags"):
        names = [n for n in re.split(r"[ ,|]+", got[word]) if n not in ("", "-", "none")]
        assert names == flag_names(getattr(facts, word))
    assert got["branch"] == (facts.branch or "main")
    shown = [] if got["tags"] in ("", "-") else re.split(r", ?| ", got["tags"])
    assert sorted(shown) == sorted(tags)


def manifest(tree, at, facts):
    assert tree.read(f"{at}/manifest.pb") == facts.body
    got = formats.load_json(tree.read(f"{at}/manifest.json"), "manifest")
    assert wide(got["version"]) == facts.version
    assert got["timestamp"] == formats.rfc3339(facts.seconds, facts.nanos)
    if facts.writer:
        assert (got["writer"]["library"], got["writer"]["version"]) == facts.writer
    for word in ("reader_flags", "writer_flags"):
        raw = getattr(facts, word)
        assert formats.flags(got[word]) == (raw, flag_names(raw))
    assert wide(got["next_row_id"]) == facts.next_row_id
    mark = got.get("max_fragment_id")
    assert (None if mark is None else num(mark)) == facts.max_fragment_id
    if facts.data_format is not None:
        assert facts.data_format in got["data_format"].values()
    assert (got["config"] or {}) == facts.config
    assert (got["table_metadata"] or {}) == facts.table_metadata
    assert (got["schema_metadata"] or {}) == facts.schema_metadata
    bases = {num(b["id"]): (b.get("name") or None, b["path"]) for b in got["base_paths"] or []}
    assert bases == {i: (b["name"], b["path"]) for i, b in facts.bases.items()}
    assert (got.get("branch") or None) == facts.branch
    assert (got.get("transaction_file") or "") == facts.transaction_file


def schema(tree, at, facts):
    got = formats.load_json(tree.read(f"{at}/schema.json"), "schema")
    fields = [(num_signed(f["id"]), num_signed(f["parent_id"]), f["name"], f["type"],
               f["nullable"], f["metadata"] or {})
              for f in (formats.ordered(f, "field") for f in got["fields"])]
    assert fields == [(f.id, f.parent, f.name, f.type, f.nullable, f.metadata)
                      for f in facts.fields]
    assert (got["metadata"] or {}) == facts.schema_metadata
    lines = tree.read(f"{at}/schema").decode("utf-8", "surrogateescape").splitlines()
    if any("\n" in f.name for f in facts.fields):
        return
    assert len(lines) == len(facts.fields), lines
    depth = {-1: -1}
    for line, field in zip(lines, facts.fields):
        indent = len(line) - len(line.lstrip(" "))
        assert str(field.id) in line and field.name in line and field.type in line, line
        assert indent > depth[field.parent], f"{line!r} is not below its parent"
        depth.setdefault(field.id, indent)


def num_signed(value):
    assert isinstance(value, int) and not isinstance(value, bool), value
    return value


def settings(tree, at, facts):
    for directory, values in (("config", facts.config), ("metadata", facts.table_metadata),
                              ("schema_metadata", facts.schema_metadata)):
        names = tree.list(f"{at}/{directory}") if directory in tree.list(at) else []
        assert len(names) == len(values), f"{directory}: {names}"
        for key, value in values.items():
            name = formats.named(names, key)
            want = value.encode("utf-8", "surrogateescape")
            assert tree.read(f"{at}/{directory}/{name}") == want, f"{directory}/{name}"


def transaction(tree, at, facts):
    want = facts.transaction
    if want is None:
        return
    assert tree.read(f"{at}/transaction.pb") == want.raw
    got = formats.load_json(tree.read(f"{at}/transaction.json"), "transaction")
    assert got["uuid"] == want.uuid
    assert wide(got["read_version"]) == want.read_version
    assert got["operation"] == want.operation
    assert (got["properties"] or {}) == want.properties
    assert isinstance(got["body"], dict)


def fragments_table(tree, at, facts):
    rows = formats.tsv(tree.read(f"{at}/fragments.tsv"), "fragments.tsv")
    assert [int(r["fragment"]) for r in rows] == [f.id for f in facts.fragments]
    for row, f in zip(rows, facts.fragments):
        got = [int(row[c]) for c in ("physical_rows", "deleted_rows", "live_rows", "data_files",
                                     "overlays")]
        assert got == [f.rows, f.deleted, f.rows - f.deleted, len(f.files), len(f.overlays)], row
        assert int(row["bytes"]) in possible_bytes(facts, f), row
        for what in HIDDEN:
            assert row[what] == f.placement(what), row
    assert sorted(tree.list(f"{at}/fragments")) == sorted(str(f.id) for f in facts.fragments)


def possible_bytes(facts, fragment):
    """Data files; overlays and the deletion file may be counted with them."""
    def size(base, path):
        return facts.backing(base, path).stat().st_size
    data = sum(size(f.base, f"data/{f.path}") for f in fragment.files)
    over = sum(size(o.file.base, f"data/{o.file.path}") for o in fragment.overlays)
    gone = size(fragment.deletion.base, fragment.deletion.path) if fragment.deletion else 0
    return {data, data + over, data + gone, data + over + gone}


def fragment_info(tree, at, facts, fragment):
    here = f"{at}/fragments/{fragment.id}"
    got = formats.load_json(tree.read(f"{here}/info.json"), "fragment")
    assert [num(got[k]) for k in ("id", "physical_rows", "deleted_rows", "live_rows")] == \
        [fragment.id, fragment.rows, fragment.deleted, fragment.rows - fragment.deleted]
    assert len(got["data_files"]) == len(fragment.files)
    names = {f.id: f.name for f in facts.fields}
    for shown, file in zip(got["data_files"], fragment.files):
        _file_info(formats.ordered(shown, "data_file"), file, names)
    formats.ordered(got.get("deletion_file") or {}, "deletion_file")
    _deletion_info(got.get("deletion_file"), fragment.deletion)
    overlays = got.get("overlays") or []
    assert [wide(o["committed_version"]) for o in overlays] == \
        [o.committed_version for o in fragment.overlays]
    for what in HIDDEN:
        placement = fragment.placement(what)
        shown = (got["lineage"] or {}).get(what)
        if placement is None:
            assert shown is None or shown["placement"] in (None, "-")
            continue
        assert shown["placement"] == placement
        if placement == "inline":
            assert num(shown["bytes"]) == len(fragment.inline_bytes(what))


def _file_info(shown, file, names):
    assert shown["path"] in (file.path, f"data/{file.path}")
    assert shown["file_version"] == file.format
    assert not file.size or num(shown["bytes"]) == file.size
    base = shown.get("base")
    assert (None if base is None else num(base)) == file.base
    assert [num_signed(f["id"]) for f in shown["fields"]] == file.fields
    if file.columns:
        assert [num_signed(f["column"]) for f in shown["fields"]] == file.columns
    for field in shown["fields"]:
        if field["id"] >= 0 and field["id"] in names:
            assert field["name"] == names[field["id"]]


def _deletion_info(shown, deletion):
    if deletion is None:
        assert shown is None
        return
    assert shown["path"].split("/")[-1] == deletion.path.split("/")[-1]
    assert shown["kind"] in DELETION_KINDS[deletion.kind]
    assert wide(shown["read_version"]) == deletion.read_version
    assert wide(shown["id"]) == deletion.id
    assert num(shown["deleted_rows"]) == deletion.deleted
    base = shown.get("base")
    assert (None if base is None else num(base)) == deletion.base


def fragment_files(tree, at, facts, fragment):
    """Pass-through: data files, overlays and the deletion file, byte for byte."""
    here = f"{at}/fragments/{fragment.id}"
    names = tree.list(f"{here}/files")
    assert len(names) == len(fragment.files)
    for file in fragment.files:
        name = formats.named(names, file.path)
        want = facts.backing(file.base, f"data/{file.path}").read_bytes()
        assert tree.read(f"{here}/files/{name}") == want, name
    listed = tree.list(here)
    assert ("deletion_file" in listed) == (fragment.deletion is not None)
    if fragment.deletion is not None:
        want = facts.backing(fragment.deletion.base, fragment.deletion.path).read_bytes()
        assert tree.read(f"{here}/deletion_file") == want
    numbers = tree.list(f"{here}/overlays") if "overlays" in listed else []
    assert sorted(numbers, key=int) == [str(i) for i in range(len(fragment.overlays))]
    for number, overlay in enumerate(fragment.overlays):
        want = facts.backing(overlay.file.base, f"data/{overlay.file.path}").read_bytes()
        assert tree.read(f"{here}/overlays/{number}/data_file") == want


def deleted_rows(tree, at, fragment):
    here = f"{at}/fragments/{fragment.id}"
    offsets = fragment.deleted_offsets()
    if isinstance(offsets, Corrupt):
        fails(tree, f"{here}/deleted_rows", errno.EUCLEAN)
    elif isinstance(offsets, OSError):
        fails(tree, f"{here}/deleted_rows", errno.EIO)
    elif offsets or "deleted_rows" in tree.list(here):
        assert formats.column(tree.read(f"{here}/deleted_rows"), NARROW) == offsets


def lineage(tree, at, fragment):
    """Every physical row's values, as text, raw and in the table."""
    here = f"{at}/fragments/{fragment.id}/lineage"
    kinds = [w for w in HIDDEN if fragment.placement(w) is not None]
    names = {n for w in kinds for n in both_names(w)}
    assert set(tree.list(here)) == names | {"all.tsv"}
    for what in kinds:
        values, name = fragment.lineage(what), f"{here}/{lineage_name(what)}"
        if isinstance(values, Exception):
            code = errno.EIO if isinstance(values, OSError) else errno.EUCLEAN
            fails(tree, name, code)
            fails(tree, name + ".u64", code)
            continue
        assert tree.read(name) == formats.column_bytes(values, WIDE), name
        assert tree.read(name + ".u64") == formats.u64_bytes(values), name
    _lineage_table(tree, f"{here}/all.tsv", fragment)


def _lineage_table(tree, path, fragment):
    columns = [fragment.lineage(w) for w in HIDDEN]
    broken = [c for c in (*columns, fragment.deleted_offsets()) if isinstance(c, Exception)]
    if broken:
        codes = {errno.EIO if isinstance(c, OSError) else errno.EUCLEAN for c in broken}
        fails(tree, path, *codes)
        return
    stable = fragment.placement("created_at") is not None
    gone = [0] * fragment.rows
    for offset in fragment.deleted_offsets():
        gone[offset] = 1
    want = [range(fragment.rows), fragment.addresses(), columns[0],
            columns[1] if stable else None, columns[2] if stable else None, gone]
    raw = tree.read(path)
    assert raw == formats.all_tsv_bytes(raw, want), path


# ---- indices ------------------------------------------------------------------------------

def indices(tree, at, facts):
    by_name = {}
    for segment in facts.segments:
        by_name.setdefault(segment.name, []).append(segment)
    user = {n: s for n, s in by_name.items() if not n.startswith("__lance_")}
    system = {n: s for n, s in by_name.items() if n.startswith("__lance_")}
    shown = tree.list(f"{at}/indices") if "indices" in tree.list(at) else []
    assert len([n for n in shown if n != ".system"]) == len(user)
    for name, segments in user.items():
        _index(tree, f"{at}/indices/{formats.named(shown, name)}", facts, segments)
    hidden = tree.list(f"{at}/indices/.system") if ".system" in shown or system else []
    assert sorted(hidden) == sorted(system)
    for name, segments in system.items():
        _index(tree, f"{at}/indices/.system/{name}", facts, segments)


def _index(tree, here, facts, segments):
    got = formats.load_json(tree.read(f"{here}/info.json"), "index")
    assert got["name"] == segments[0].name
    if segments[0].type_url:
        assert got["type_url"] == segments[0].type_url
    ids = {f.id: f.name for f in facts.fields}
    assert [field_id(f) for f in got["fields"]] in (
        segments[0].fields, [ids.get(f) for f in segments[0].fields])
    assert [s["uuid"] for s in got["segments"]] == [s.uuid for s in segments]
    for shown, segment in zip(got["segments"], segments):
        formats.ordered(shown, "segment")
        assert wide(shown["dataset_version"]) == segment.dataset_version
        assert num(shown.get("index_version") or 0) == segment.index_version
    covered = None if any(s.bitmap is None for s in segments) else \
        sorted(set().union(*(s.bitmap for s in segments)))
    _bitmap(tree, here, covered)
    assert set(tree.list(f"{here}/segments")) == {s.uuid for s in segments}
    for segment in segments:
        below = f"{here}/segments/{segment.uuid}"
        one = formats.load_json(tree.read(f"{below}/info.json"), "segment")
        assert one.get("uuid", segment.uuid) == segment.uuid
        _bitmap(tree, below, segment.bitmap)
        _index_files(tree, below, facts, segment)
    coverage_files(tree, here, facts, segments)


def coverage_files(tree, here, facts, segments):
    """What the index and each segment of it cover, by the model."""
    user = not segments[0].name.startswith("__lance_")
    known = all(s.bitmap is not None for s in segments)
    assert ("unindexed_fragments" in tree.list(here)) == known
    for name in ("covered_fragments", "retired_fragments"):
        assert (name in tree.list(here)) == (known and user)
    try:
        model = coverage.Coverage(facts, segments[0].name)
    except (Corrupt, reuse.Unsupported, OSError) as error:
        _unreadable(tree, here, error)
        return
    if known:
        _ids(tree, here, "unindexed_fragments", model.unindexed())
    if known and user:
        _ids(tree, here, "covered_fragments", model.covered())
        _ids(tree, here, "retired_fragments", model.retired())
    for number, segment in enumerate(segments):
        below = f"{here}/segments/{segment.uuid}"
        shown = segment.bitmap is not None and user
        for name in ("covered_fragments", "retired_fragments"):
            assert (name in tree.list(below)) == shown
        if shown:
            _ids(tree, below, "covered_fragments", model.covered(number))
            _ids(tree, below, "retired_fragments", model.retired(number))
    _extents(tree, here, facts, segments, model)


def _unreadable(tree, here, error):
    """A history that spoils the coverage leaves all else as it is."""
    code = errno.EUCLEAN if isinstance(error, Corrupt) else \
        errno.EIO if isinstance(error, OSError) else errno.EOPNOTSUPP
    for name in ("covered_fragments", "retired_fragments", "unindexed_fragments"):
        if name in tree.list(here):
            fails(tree, f"{here}/{name}", code)
    for segment in formats.load_json(tree.read(f"{here}/info.json"), "index")["segments"]:
        assert segment["covered_rows"] is None and segment["retired_fragments"] is None


def _extents(tree, here, facts, segments, model):
    shown = formats.load_json(tree.read(f"{here}/info.json"), "index")["segments"]
    rows = {}
    for fragment in facts.fragments:
        rows[fragment.id] = rows.get(fragment.id, 0) + fragment.rows - fragment.deleted
    for number, segment in enumerate(segments):
        if segment.bitmap is None:
            assert shown[number]["covered_rows"] is None
            assert shown[number]["retired_fragments"] is None
        elif all(f.rows for f in facts.fragments):
            assert num(shown[number]["covered_rows"]) == \
                sum(rows[f] for f in model.covered(number))
            assert num(shown[number]["retired_fragments"]) == len(model.retired(number))


def _ids(tree, here, name, want):
    assert formats.column(tree.read(f"{here}/{name}"), NARROW) == want, f"{here}/{name}"


def field_id(shown):
    return shown["id"] if isinstance(shown, dict) else shown


def _bitmap(tree, here, want):
    if want is None:
        assert "fragment_bitmap" not in tree.list(here)
    else:
        assert formats.column(tree.read(f"{here}/fragment_bitmap"), NARROW) == want


def _index_files(tree, below, facts, segment):
    home = facts.backing(segment.base, f"_indices/{segment.uuid}")
    want = sorted(segment.files) or sorted(p.name for p in home.glob("*") if p.is_file())
    got = tree.list(f"{below}/files") if "files" in tree.list(below) else []
    assert sorted(got) == want
    for name in want:
        assert tree.read(f"{below}/files/{name}") == (home / name).read_bytes()
