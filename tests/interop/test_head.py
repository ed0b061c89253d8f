"""head.jsonl and columns.tsv of fragments against pylance: first live rows, columns as stored."""
import base64
import errno
import json

import lance
import pyarrow as pa
import pytest
from lance.file import LanceFileReader

import archives
import checks
import formats
import peer
import programs
import rowforms
from archives import dataset

READABLE = [i for i in archives.dataset_ids() if not dataset(i).refused()]
CUT = "\N{HORIZONTAL ELLIPSIS}(+".encode()
LINEAGE = (-3, -4, -5)


def numbers(data):
    """A few versions, the newest among them."""
    return data.spread(3)


def fragment_rows(ds, fragment, count):
    """The first live rows of a fragment, or None where pylance can't read them."""
    found = [f for f in ds.get_fragments() if f.fragment_id == fragment]
    kind, table = peer.answer(lambda: ds.scanner(fragments=found, limit=count).to_table())
    return table if kind == "ok" else None


@pytest.mark.parametrize("ident", READABLE)
def test_heads(ident):
    """Every fragment's first 100 rows; rows that pylance can't read are an error here, too."""
    data = dataset(ident)
    tree = programs.ShowTree(data.path)
    for number in numbers(data):
        facts, ds = data.facts(number), peer.opened(data.path, number)
        for fragment in facts.fragments[:2] + facts.fragments[2:][-1:]:
            path = f"versions/{number}/fragments/{fragment.id}/head.jsonl"
            want = fragment_rows(ds, fragment.id, 100)
            if want is None:
                checks.fails(tree, path, errno.EUCLEAN, errno.EIO)
                continue
            raw = tree.read(path)
            if CUT not in raw:
                rowforms.check_json(raw, want.slice(0, min(100, want.num_rows)))
            assert raw.count(b"\n") == want.num_rows <= 100


def shown(raw):
    """What of a cut text or list is there, and how much is said to be missing."""
    if isinstance(raw, list):
        *items, last = raw
        return items, int(last.removeprefix("\N{HORIZONTAL ELLIPSIS}(+").removesuffix(" items)"))
    text, _, mark = raw.rpartition("\N{HORIZONTAL ELLIPSIS}(+")
    return text, int(mark.removesuffix(" bytes)"))


def head_of(path, table):
    lance.write_dataset(table, str(path), data_storage_version="2.2")
    raw = programs.ShowTree(path).read("latest/fragments/0/head.jsonl")
    return rowforms.json_rows(raw)


def test_long_values_are_cut(scratch):
    """1,024 bytes and 64 items of each value, at the end of a character, told exactly."""
    text, binary = "€" * 1000, bytes(range(256)) * 20
    table = pa.table({
        "text": [text, "x" * 1024, "y" * 1025], "binary": [binary, b"z" * 1024, None],
        "list": [list(range(200)), list(range(64)), list(range(65))],
        "vector": pa.array([[1.5] * 300] * 3, pa.list_(pa.float32(), 300)),
        "texts": [["a" * 600] * 3, ["b"] * 2, None]})
    first, second, third = head_of(scratch / "long.lance", table)
    assert shown(first["text"]) == (text[:341], 3000 - 1023)
    kept, missing = shown(first["binary"])
    assert (base64.b64decode(kept, validate=True), missing) == (binary[:1023], 5120 - 1023)
    assert shown(first["list"]) == (list(range(64)), 136)
    assert [len(shown(first["vector"])[0]), shown(first["vector"])[1]] == [64, 236]
    assert first["texts"][0] == "a" * 600 and shown(first["texts"][1]) == ("a" * 424, 176)
    assert shown(first["texts"][2]) == ("", 600)
    assert second["text"] == "x" * 1024 and base64.b64decode(second["binary"]) == b"z" * 1024
    assert second["list"] == list(range(64)) and second["texts"] == ["b", "b"]
    assert shown(third["text"]) == ("y" * 1024, 1) and shown(third["list"]) == \
        (list(range(64)), 1)


def test_wide_tables_are_cut_shorter(scratch):
    """1,024 fields have a quarter of what 256 have; the head stays small."""
    table = pa.table({f"c{i}": ["t" * 5000] * 3 for i in range(1024)})
    rows = head_of(scratch / "wide.lance", table)
    assert len(rows) == 3 and len(rows[0]) == 1024
    assert {shown(v) for row in rows for v in row.values()} == {("t" * 256, 4744)}


def test_hundred_live_rows(scratch):
    """Deleted rows don't count."""
    path = scratch / "rows.lance"
    ds = lance.write_dataset(pa.table({"n": range(1000)}), str(path), data_storage_version="2.2")
    ds.delete("n < 50 or n % 2 = 1")
    raw = programs.ShowTree(path).read("latest/fragments/0/head.jsonl")
    assert [json.loads(line)["n"] for line in raw.splitlines()] == list(range(50, 250, 2))


# ---- columns.tsv --------------------------------------------------------------------------

def statistics(path):
    """[(pages, bytes)] by column, or None for what pylance's file reader can't open."""
    kind, found = peer.answer(lambda: LanceFileReader(str(path)).file_statistics())
    return [(c.num_pages, c.size_bytes) for c in found.columns] if kind == "ok" else None


def check_columns(rows, facts, fragment):
    """Every column of every file once; numbers as pylance's reader of the file gives them."""
    names = {f.id: f.name for f in facts.fields}
    assert {r["file"] for r in rows} <= {f.path for f in fragment.files}
    for file in fragment.files:
        mine = [r for r in rows if r["file"] == file.path]
        stored = statistics(facts.backing(file.base, f"data/{file.path}"))
        for row in mine:
            field = int(row["field"])
            assert field in file.fields, row
            if field in names:
                assert row["name"].endswith(names[field]), row
            elif field not in LINEAGE:
                assert row["name"] is None, row
        if stored is not None:
            assert sorted(int(r["column"]) for r in mine) == list(range(len(stored)))
            for row in mine:
                assert (int(row["pages"]), int(row["encoded_bytes"])) == \
                    stored[int(row["column"])], row
        else:
            assert {r["file_version"] for r in mine} <= {"0.1"}


def check_nulls(rows, ds, facts, fragment):
    """Where the number of nulls is told, it is right; counted over deleted rows as well."""
    top = {f.id for f in facts.fields if f.parent == -1}
    told = {r["name"]: int(r["null_count"]) for r in rows
            if r["null_count"] is not None and int(r["field"]) in top}
    if fragment.deleted or fragment.overlays:
        return
    table = fragment_rows(ds, fragment.id, None)
    for name, count in told.items():
        if table is not None and not pa.types.is_nested(table[name].type):
            assert table[name].null_count == count, name


@pytest.mark.parametrize("ident", READABLE)
def test_columns(ident):
    data = dataset(ident)
    tree = programs.ShowTree(data.path)
    for number in numbers(data):
        facts, ds = data.facts(number), peer.opened(data.path, number)
        for fragment in facts.fragments[:2] + facts.fragments[2:][-1:]:
            raw = tree.read(f"versions/{number}/fragments/{fragment.id}/columns.tsv")
            rows = formats.tsv(raw, "columns.tsv")
            check_columns(rows, facts, fragment)
            check_nulls(rows, ds, facts, fragment)
