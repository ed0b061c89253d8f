"""Rewrites of what is damaged: refused before ids are reserved, so that there is no version and no
file, and the damaged file is named; or what is damaged plays no part in it."""
import json
import shutil
from pathlib import Path

import lance
import pyarrow as pa
import pytest
from lance.file import LanceFileReader, LanceFileWriter

import archives
import make_reuse
from commandline import opened, refusal, result, run
from places import LINEAGE, fresh

REWRITES = [("compact", "target_rows=1000", "binary_copy=never"), ("partition", "by=k")]
ROWS, PER_FRAGMENT = 60, 20


def files_of(path):
    """All files, with what would tell that one was touched."""
    return {str(file.relative_to(path)): (file.lstat().st_size, file.lstat().st_mtime_ns)
            for file in Path(path).rglob("*") if file.is_symlink() or file.is_file()}


def refused(path, *words):
    """The words; the dataset is as it was."""
    before = files_of(path)
    said = refusal(path, *words)
    assert files_of(path) == before
    return said


# ---- B-trees of tables with stable row ids --------------------------------------------------

def make():
    path = fresh()
    lance.write_dataset(pa.table({
        "id": pa.array(range(ROWS), pa.int64()), "k": ["abc"[i % 3] for i in range(ROWS)]}),
        path, max_rows_per_file=PER_FRAGMENT, enable_stable_row_ids=True)
    for column in ("id", "k"):
        opened(path).create_scalar_index(column, "BTREE")
    opened(path).delete("id in (3, 25)")
    return path


def index_file(path, column, name):
    found = [index["uuid"] for index in opened(path).list_indices()
             if index["fields"] == [column]]
    return Path(path) / "_indices" / found[0] / name


def write_ids(file, change, nullable=False):
    """The page file anew, with other addresses."""
    table = LanceFileReader(str(file)).read_all().to_table()
    ids = change(table["ids"].to_pylist())
    schema = pa.schema([table.schema.field("values"), pa.field("ids", pa.uint64(), nullable)])
    file.unlink()
    with LanceFileWriter(str(file), schema, version="2.2") as writer:
        writer.write_batch(pa.table([table["values"], pa.array(ids, pa.uint64())], schema=schema))


def an_address_too_high(file):
    write_ids(file, lambda ids: [*ids[:5], PER_FRAGMENT, *ids[6:]])


def an_address_of_null(file):
    write_ids(file, lambda ids: [*ids[:5], None, *ids[6:]], nullable=True)


def bytes_of_pages(file):
    """Of all pages, with what says of each where it is left as it was."""
    places = [(buffer.position, buffer.size)
              for column in LanceFileReader(str(file)).metadata().columns
              for page in column.pages for buffer in page.buffers]
    raw = bytearray(file.read_bytes())
    for at, size in places:
        raw[at:at + size] = b"\xff" * size
    file.write_bytes(raw)


def cut(file):
    raw = file.read_bytes()
    file.write_bytes(raw[:len(raw) // 2])


DAMAGES = [("page_data.lance", an_address_too_high, "row 20 of fragment 0"),
           ("page_data.lance", an_address_of_null, "null"),
           ("page_data.lance", bytes_of_pages, ""),
           ("page_lookup.lance", bytes_of_pages, ""),
           ("page_lookup.lance", cut, "")]


@pytest.mark.parametrize("words", REWRITES, ids=lambda words: words[0])
@pytest.mark.parametrize("name, damage, text", DAMAGES,
                         ids=lambda what: getattr(what, "__name__", None))
def test_a_damaged_btree_is_found_before_ids_are_reserved(name, damage, text, words):
    path = make()
    rows = opened(path).to_table(columns=["id", "k", *LINEAGE]).to_pylist()
    # Texts, whose pages can't be read any more when their lengths are lost.
    file = index_file(path, "k", name)
    damage(file)
    said = refused(path, *words)
    assert said["code"] == "corrupt", said
    assert f"index k_idx: _indices/{file.parent.name}/{name}: " in said["error"], said
    assert text in said["error"], said
    # Without it all else is rewritten, and the index is left out.
    done = result(path, *words, "index_remap=skip")
    assert {index["name"] for index in done["indices"] if index["lost_rows"]} == {"id_idx", "k_idx"}
    found = opened(path).to_table(columns=["id", "k", *LINEAGE]).to_pylist()
    assert sorted(found, key=lambda row: row["id"]) == rows
    assert len(opened(path).get_fragments()) == (1 if words[0] == "compact" else 3)


@pytest.mark.parametrize("words", REWRITES, ids=lambda words: words[0])
def test_a_btree_that_is_none_is_given_up(words):
    """What can be told while it is planned is no reason to refuse: the plan says that it loses."""
    path = make()
    cut(index_file(path, "k", "page_data.lance"))
    plan = result(path, *words, "dry_run=true")
    done = result(path, *words)
    for said in (plan, done):
        assert {i["name"]: i["action"] for i in said["indices"]} == \
            {"id_idx": "rewrites", "k_idx": "loses"}
    assert opened(path).to_table(filter="id in (1, 3, 59)")["id"].to_pylist() in ([1, 59], [59, 1])


# ---- manifests ------------------------------------------------------------------------------

@pytest.mark.parametrize("words", REWRITES, ids=lambda words: words[0])
def test_an_index_entry_that_is_there_twice(words):
    """Both would get the same new files."""
    path = make()
    make_reuse.edit(path, lambda _, entries: entries.append(entries[0]))
    assert "the same as index" in refused(path, *words)["error"]


# ---- all broken datasets --------------------------------------------------------------------

def cases():
    root = archives.unpacked("corrupt")
    return [root / case["dataset"] for case in json.loads((root / "corrupt.json").read_text())
            if (root / case["dataset"]).is_dir()]


@pytest.mark.parametrize("words", [("compact", "target_rows=100000", "binary_copy=never"),
                                   ("partition", "by=id")], ids=lambda words: words[0])
def test_broken_datasets_are_rewritten_whole_or_not_touched(words):
    refusals = 0
    for case in cases():
        path = fresh()
        shutil.copytree(case, path, symlinks=True)
        before = files_of(path)
        done = run(path, *words)
        said = json.loads(done.stdout)
        refusals += not said["ok"]
        assert done.returncode in (0, 1), (case, done)
        if not said["ok"]:
            assert files_of(path) == before, case
            assert said["error"].startswith(words[0] + ": "), said
        elif "version" in said:
            made = set(files_of(path)) - set(before)
            assert sum(name.endswith(".manifest") for name in made) == 2, case
    assert refusals > 60
