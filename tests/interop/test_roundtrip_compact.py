"""Generated schemas written by pylance in many ways: what compaction and partition leave of them.

Fragments, deletions, updates and merges, with stable row ids and without, some columns indexed,
some blocks of row ids spilled. Afterwards pylance reads the same rows to the last bit, with the
ids and versions of each, and gets the same answers with its indices and without. Our own reader and
checks of the tree agree. More seeds on demand: LANCEFS_ROUNDTRIP_SEEDS=FIRST:END.
"""
import os
import random
import shutil

import pyarrow as pa
import pytest

import checks
import exactly
import facts
import lance
import programs
import schemas
from commandline import opened, result, run
from places import columns_of

FIRST, END = map(int, os.environ.get("LANCEFS_ROUNDTRIP_SEEDS", "0:100").split(":"))
SEEDS = range(FIRST, END)
FILTERS = ("key = 17", "key >= 40 and key < 95", "m = 3", "m in (1, 5, 6)", "m is null", "n > 3")


def rows_of(version, seed, rng):
    """A generated table with columns to index, group, and change."""
    rows = schemas.table(version, seed)
    count = len(rows)
    return rows.append_column("m", pa.array(rng.choices((None, 1, 3, 5, 6), k=count), pa.int32())) \
        .append_column("n", pa.array(rng.choices(range(10), k=count), pa.int64()))


def write_fragments(path, rows, version, rng):
    stable = rng.random() < 0.5
    sizes = (1, 3, 20, 100, 400) if len(rows) < 10_000 else (30_000, 70_000)
    at = 0
    while at < max(len(rows), 1):
        part = rows.slice(at, rng.choice(sizes) if at < 1500 or len(rows) >= 10_000 else None)
        lance.write_dataset(schemas.copied(part), path, mode="append" if at else "create",
                            data_storage_version=version, enable_stable_row_ids=stable)
        at += max(len(part), 1)
        if at == 1 and stable and rng.random() < 0.4:
            opened(path).update_config({"lance.row_lineage.spill": "true",
                                        "lance.row_lineage.inline_max_bytes": "0"})


def disturb(path, rows, rng):
    """Things that pylance does to rows; false where it can't handle the types of this schema."""
    ds = opened(path)
    what = rng.choice(("delete", "delete", "update", "merge", "fragment", "column", "index"))
    if what == "delete":
        ds.delete(f"key % {rng.randint(2, 13)} = {rng.randint(0, 1)}")
    elif what == "update":
        ds.update({"n": "n + 10"}, where=f"key % {rng.randint(2, 30)} = 1")
    elif what == "merge" and len(rows) < 10_000:
        picks = sorted(rng.sample(range(len(rows)), min(len(rows), 20)))
        ds.merge_insert("key").when_matched_update_all().when_not_matched_insert_all() \
            .execute(rows.take(picks))
    elif what == "fragment":
        first = ds.get_fragments()[0]
        ds.delete(f"_rowaddr < {(first.fragment_id << 32) + rng.randint(0, first.physical_rows)}")
    elif what == "column" and "later" not in ds.schema.names:
        ds.add_columns({"later": "key * 3"})
    elif what == "index":
        ds.create_scalar_index("key", "BTREE", replace=True)
        ds.create_scalar_index("m", "BITMAP", replace=True)


def prepared(home, version, seed):
    """A dataset that pylance wrote; steps that it can't do with the types leave it as it was."""
    rng = random.Random(f"{version} {seed}")
    rows, path, spare = rows_of(version, seed, rng), home / "d.lance", home / "spare"
    write_fragments(path, rows, version, rng)
    for _ in range(rng.randint(0, 4)):
        shutil.copytree(path, spare)
        try:
            disturb(path, rows, rng)
            look(opened(path))
        except BaseException as error:  # pylance's panics are no Exceptions
            if isinstance(error, (KeyboardInterrupt, AssertionError)):
                raise
            shutil.rmtree(path)
            shutil.copytree(spare, path)
        shutil.rmtree(spare)
    return path, rng


def look(ds):
    """All rows by their key, with ids and versions where they have some."""
    rows = ds.scanner(columns=columns_of(ds), blob_handling="all_binary").to_table()
    # Keys may have other dictionaries in each fragment, which can't be sorted together.
    rows = pa.table([exactly.joined(column) for column in rows.columns], names=rows.column_names)
    return rows.take(pa.compute.sort_indices(rows["key"]))


def answers(ds):
    got = {}
    for text in FILTERS:
        for use in (True, False):
            rows = ds.scanner(columns=["key"], filter=text, use_scalar_index=use).to_table()
            got[text, use] = sorted(rows["key"].to_pylist())
        assert got[text, True] == got[text, False], text
    return got


def check_tree(path, rng):
    """What the tree says of the newest version is what its files say."""
    tree, version = programs.ShowTree(path), opened(path).version
    known, at = facts.version(path, version), f"versions/{version}"
    checks.manifest(tree, at, known)
    checks.fragments_table(tree, at, known)
    for fragment in rng.sample(known.fragments, min(2, len(known.fragments))):
        checks.fragment_info(tree, at, known, fragment)
        checks.deleted_rows(tree, at, fragment)
        checks.lineage(tree, at, fragment)


def our_rows(path):
    done = run(path, "rows", "format=arrow")
    assert (done.returncode, done.stderr) == (0, b"")
    with pa.ipc.open_stream(done.stdout) as stream:
        rows = stream.read_all()
    rows.validate(full=True)
    return rows


def check_same(path, before, known, what):
    now = opened(path)
    now.validate()
    assert exactly.tables(look(now), before, what) is None
    assert answers(now) == known, what
    theirs = now.scanner(scan_in_order=True).to_table()
    if theirs.schema == now.schema:  # blobs show as where they lie
        assert exactly.tables(our_rows(path).replace_schema_metadata(),
                              theirs.replace_schema_metadata(), what) is None


def words_of(rng, many):
    """Not thousands of fragments, whose opening would take all the time."""
    least = 1000 if many else rng.choice((7, 50))
    words = [f"target_rows={rng.choice((least, least, 1000, 1048576))}",
             f"binary_copy={rng.choice(('auto', 'auto', 'never'))}"]
    if rng.random() < 0.5:
        words.append(f"materialize_deletions_threshold={rng.choice((0, 0.05, 0.5))}")
    return words


@pytest.mark.parametrize("version", schemas.VERSIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_stay_as_they_are(seed, version, scratch):
    path, rng = prepared(scratch, version, seed)
    before, known = look(opened(path)), answers(opened(path))
    many = len(before) >= 10_000
    result(path, "compact", *words_of(rng, many))
    check_same(path, before, known, "compacted")
    done = run(path, "partition", "by=m") if rng.random() < 0.5 else None
    if done is not None and done.returncode == 0:
        check_same(path, before, known, "by its values")
        result(path, "compact", *words_of(rng, many))
        check_same(path, before, known, "compacted again")
    elif done is not None:
        assert b"other index segments answer for one than for the other" in done.stderr
    if rng.random() < 0.2:
        check_tree(path, rng)
