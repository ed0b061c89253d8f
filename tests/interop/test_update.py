"""`delete where=` and `update` beside the reference's own, each on a copy of one dataset: the same
rows, row ids and versions, and indices that answer the same."""
import json
import random
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest

import conditions
import generate
import peer
import programs
from commandline import opened, refusal, result
from places import columns_of, copy_of, fresh

VERSIONS = ("2.0", "2.1", "2.2")
SEEDS = range(20)
SPILL = {"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "40"}


def content(path):
    """All rows, by row id where they keep it."""
    ds = opened(path)
    rows = ds.to_table(columns=columns_of(ds)).to_pylist()
    return sorted(repr((row.get("_rowid", 0), row)) for row in rows)


def same(ours, theirs):
    opened(ours).validate()
    assert content(ours) == content(theirs)


def transaction(path):
    ds = opened(path)
    return json.loads(programs.ShowTree(path).read(f"versions/{ds.version}/transaction.json"))["body"]


@pytest.fixture(params=SEEDS)
def made(request):
    """A generator and a dataset of several fragments, some rows deleted and some updated."""
    rng = random.Random(request.param)
    path = fresh()
    version = VERSIONS[request.param % 3]
    rows = conditions.table(rng, 200)
    if version == "2.0":
        rows = rows.drop_columns(["nest"])
    ds = lance.write_dataset(rows, path, max_rows_per_file=rng.choice([40, 90, 200]),
                             data_storage_version=version,
                             enable_stable_row_ids=request.param % 4 != 3)
    ds.delete(f"small = {rng.randint(-4, 4)}")
    ds.update({"long": "long + 1"}, where=f"small > {rng.randint(-2, 3)}")
    if rng.random() < 0.5:
        ds.update_config(SPILL)
    return rng, path


# Values that both sides have, and that no column rounds.
ASSIGNED = [
    ("small", "small + 1"), ("long", "long * 3 - small"), ("i8", "7"), ("u64", "u64"),
    ("i32", "null"), ("f32", "0.1"), ("f64", "f64 * 2"), ("calm", "calm / 4 + 0.5"),
    ("text", "text || 'x'"), ("large_text", "'é'"), ("word", "'new'"), ("flag", "small > 0"),
    ("bytes", "X'00ff'"), ("pair", "X'6162'"), ("day", "date '2024-02-29'"),
    ("ts_us", "timestamp '2024-02-29 01:02:03.000004'"), ("money", "money + 1"),
    ("fine", "fine * 2"), ("vast", "12"), ("items", "null"),
]


def test_updates_are_those_of_the_reference(made):
    rng, path = made
    maker = conditions.Conditions(rng)
    theirs = copy_of(path)
    for _ in range(3):
        where = maker.condition(1).replace("nest.x", "small").replace("nest.y", "text") \
            .replace("nest", "items")
        chosen = dict(rng.sample(ASSIGNED, rng.choice([1, 2, 4])))
        want = lance.dataset(theirs).update(chosen, where=where)["num_rows_updated"]
        got = result(path, "update", "set=" + ", ".join(f"{k} = {v}" for k, v in chosen.items()),
                     "where=" + where)
        assert got["updated_rows"] == want, where
        assert ("version" in got) == (want > 0)
        if want == 0:  # the reference makes a version all the same
            theirs = copy_of(path)
        same(path, theirs)
        if want:
            ours = transaction(path)
            names = opened(path).lance_schema
            assert sorted(ours["fields_for_preserving_frag_bitmap"]) == sorted(
                id_ for name in chosen for id_ in field_ids(names.field(name)))
    opened(path).optimize.compact_files()
    opened(theirs).optimize.compact_files()
    same(path, theirs)


def field_ids(field):
    return [field.id(), *(id_ for child in field.children() for id_ in field_ids(child))]


def test_deletes_are_those_of_the_reference(made):
    rng, path = made
    maker = conditions.Conditions(rng)
    theirs = copy_of(path)
    for depth in (1, 2, 1, 0):
        where = maker.condition(depth).replace("nest.x", "small").replace("nest.y", "text") \
            .replace("nest", "items")
        before = opened(theirs).count_rows()
        dry = result(path, "delete", "where=" + where, "dry_run=true")
        lance.dataset(theirs).delete(where)
        want = before - opened(theirs).count_rows()
        got = result(path, "delete", "where=" + where)
        assert got["deleted_rows"] == dry["deleted_rows"] == want, where
        assert ("version" in got) == (want > 0)
        if want == 0:
            theirs = copy_of(path)
        same(path, theirs)
        assert [f.fragment_id for f in opened(path).get_fragments()] == \
            [f.fragment_id for f in opened(theirs).get_fragments()]
        if want:
            assert transaction(path)["predicate"] == where


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("seed", range(40))
def test_rows_of_every_type_are_carried(seed, version):
    """Columns that no assignment names keep their values, whatever their type."""
    rng = random.Random(seed)
    rows = generate.table(version, seed)
    path = fresh()
    rows = rows.append_column("key", pa.array(range(rows.num_rows), pa.int64()))
    lance.write_dataset(rows, path, data_storage_version=version, max_rows_per_file=300)
    theirs = copy_of(path)
    where = f"key % {rng.choice([2, 3, 7])} = 0"
    lance.dataset(theirs).update({"key": "key + 1000"}, where=where)
    result(path, "update", "set=key = key + 1000", "where=" + where)
    opened(path).validate()
    ours, want = (opened(p).to_table() for p in (path, theirs))
    assert peer.same_answer(("ok", ours), ("ok", want))


def indexed(path, stable):
    rng = np.random.default_rng(7)
    count = 600
    rows = pa.table({
        "id": pa.array(range(count), pa.int64()), "kind": pa.array([i % 7 for i in range(count)]),
        "name": [f"n{i % 50}" for i in range(count)], "note": [f"word{i % 9} x" for i in range(count)],
        "vec": pa.FixedSizeListArray.from_arrays(
            pa.array(rng.random(count * 8, dtype=np.float32)), 8)})
    ds = lance.write_dataset(rows, path, max_rows_per_file=150, enable_stable_row_ids=stable)
    ds.create_scalar_index("id", "BTREE")
    ds.create_scalar_index("kind", "BITMAP")
    ds.create_scalar_index("note", "INVERTED")
    ds.create_index("vec", "IVF_FLAT", num_partitions=2)


def answers(path):
    ds = opened(path)
    query = np.full(8, 0.5, np.float32)
    return [
        sorted(ds.to_table(filter="id in (5, 100, 205, 333)").column("name").to_pylist()),
        sorted(ds.to_table(filter="kind = 3")["id"].to_pylist()),
        sorted(ds.scanner(full_text_query="word4").to_table()["id"].to_pylist()),
        ds.to_table(nearest={"column": "vec", "q": query, "k": 20, "nprobes": 2})["id"].to_pylist(),
        [sorted(f for s in i.segments for f in s.fragment_ids) for i in
         sorted(ds.describe_indices(), key=lambda i: i.name)],
    ]


@pytest.mark.parametrize("stable", (True, False))
@pytest.mark.parametrize("set_", ({"name": "'new'"}, {"kind": "kind + 1"}, {"id": "id + 10000"}))
def test_indices_answer_as_after_the_reference(stable, set_):
    path = fresh()
    indexed(path, stable)
    theirs = copy_of(path)
    where = "id % 5 = 0 and id < 400"
    lance.dataset(theirs).update(set_, where=where)
    result(path, "update", "set=" + ", ".join(f"{k} = {v}" for k, v in set_.items()),
           "where=" + where)
    same(path, theirs)
    assert answers(path) == answers(theirs)


def test_rows_move_in_their_order_and_memory_does_not_grow():
    """More rows than a new fragment has; read back in the order of the sources."""
    path = fresh()
    count = 1_200_000
    rows = pa.table({"id": pa.array(range(count), pa.int32()), "v": pa.array([0] * count, pa.int8())})
    lance.write_dataset(rows, path, max_rows_per_file=500_000, enable_stable_row_ids=True)
    assert result(path, "update", "set=v = 1", "where=true")["updated_rows"] == count
    ds = opened(path)
    assert [f.physical_rows for f in ds.get_fragments()] == [1 << 20, count - (1 << 20)]
    got = ds.to_table(columns=["id", "v", "_rowid"])
    assert got["id"].to_numpy().tolist() == list(range(count)) == got["_rowid"].to_numpy().tolist()
    assert got["v"].to_numpy().min() == 1


def test_lineage_spills_as_the_config_says():
    path = fresh()
    rows = pa.table({"id": pa.array(range(2000), pa.int32())})
    ds = lance.write_dataset(rows, path, max_rows_per_file=500, enable_stable_row_ids=True)
    ds.update_config(SPILL)
    theirs = copy_of(path)
    where = "id * 7919 % 13 < 4"
    lance.dataset(theirs).update({"id": "id + 1"}, where=where)
    result(path, "update", "set=id = id + 1", "where=" + where)
    same(path, theirs)
    image = transaction(path)["new_fragments"][0]
    assert "column_row_ids" in image and image["files"][0]["fields"][:2] == [0, -3]


@pytest.mark.parametrize("stable", (True, False))
def test_others_may_delete_other_rows_meanwhile(stable):
    path = fresh()
    rows = pa.table({"id": pa.array(range(100), pa.int64()), "v": pa.array([0] * 100)})
    lance.write_dataset(rows, path, max_rows_per_file=40, enable_stable_row_ids=stable)
    lance.dataset(path).delete("id in (1, 50)")
    got = result(path, "update", "set=v = 1", "where=id % 10 = 0 and id <> 50", "read_version=1")
    assert got["updated_rows"] == 9 and got["rebased_over"] == "2"
    found = opened(path).to_table()
    assert sorted(zip(*found.to_pydict().values())) == \
        [(i, int(i % 10 == 0)) for i in range(100) if i not in (1, 50)]
    opened(path).validate()
    # a row that is gone, by a line that says which version it is about; and by one that does not
    out = refusal(path, "update", "set=v = 2", "where=id = 1", "read_version=1")
    assert (out["errno"], out["code"]) == ("EBUSY", "retryable")
    assert "version" not in result(path, "update", "set=v = 2", "where=id = 1")
    assert result(path, "delete", "where=id < 3", "read_version=3")["deleted_rows"] == 2


def test_refusals_change_nothing():
    path = fresh()
    rows = pa.table({"id": pa.array(range(10), pa.int64()), "name": ["a"] * 10})
    lance.write_dataset(rows, path)
    before = sorted(str(p) for p in Path(path).rglob("*"))
    for words, text in [
            (["update", "where=true"], "what is to be set"),
            (["update", "set=id = 1"], "where=true for all"),
            (["update", "set=id = 'x'", "where=true"], "set: at 6: text where a whole number"),
            (["update", "set=nothing = 1", "where=true"], "no"),
            (["update", "set=id = 1", "where=id ="], "where: at 5: a value"),
            (["update", "set=id = id / (id - 5)", "where=true"], "5 / 0 is no number"),
            (["delete"], "only one of them"),
            (["delete", "where=true", "row_ids=1"], "only one of them"),
            (["delete", "where=name = \"a\""], "double quotes"),
            (["delete", "where=10 / id > 1"], "10 / 0 is no number")]:
        out = refusal(path, *words)
        assert out["errno"] == "EINVAL" and text in out["error"], out["error"]
        assert sorted(str(p) for p in Path(path).rglob("*")) == before
    for words in (["update", "set=id = 1", "where=id > 100"], ["delete", "where=false"]):
        assert "version" not in result(path, *words)
    assert sorted(str(p) for p in Path(path).rglob("*")) == before
