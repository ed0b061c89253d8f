"""Compaction beside pylance's: the same plan, and on a copy the same rows in the same fragments."""
import json
import os
import random
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest
from lance.optimize import Compaction

import archives
import commits
import generate
import programs
from commandline import opened, refusal, result, run
from places import columns_of, copy_of, fresh

VERSIONS = ("2.0", "2.1", "2.2")
# More of them on demand.
SEEDS = range(int(os.environ.get("LANCEFS_COMPACT_SEEDS", "24")))


def layout(path):
    """Rows of the fragments in their order, and how many of them are deleted."""
    return [(f.physical_rows, f.num_deletions) for f in opened(path).get_fragments()]


def content(path):
    """All rows in their order, with their ids and versions where they have some."""
    ds = opened(path)
    rows = ds.scanner(columns=columns_of(ds), scan_in_order=True).to_table()
    for at, field in enumerate(rows.schema):
        # The same values may have another dictionary.
        if pa.types.is_dictionary(field.type):
            values = [chunk.dictionary_decode() for chunk in rows[at].chunks]
            rows = rows.set_column(at, field.name,
                                   pa.chunked_array(values, field.type.value_type))
    return rows.combine_chunks()


# ---- plans ----------------------------------------------------------------------------------

CONFIG = (("target_rows_per_fragment", ("25", "100", "7")),
          ("materialize_deletions", ("false", "True")),
          ("materialize_deletions_threshold", ("0.5", "0.0", "0.3333333", "-1")),
          ("max_source_rows", ("50", "200")), ("max_source_fragments", ("2", "5")),
          ("max_source_bytes", ("1500", "5000")), ("max_overlays_per_fragment", ("none", "0")))


def numbers(first, count):
    return pa.table({"a": pa.array(range(first, first + count), pa.int64()),
                     "b": pa.array([x % 7 for x in range(first, first + count)], pa.int64())})


def disturb(path, rng, rows, stable):
    """One of the things that happen to a dataset between two appends, or none."""
    ds = opened(path)
    what = rng.random()
    if what < 0.25:
        ds.delete(f"a % {rng.randint(2, 9)} = 0 and a >= {rng.randint(0, rows)}")
    elif what < 0.40:
        ds.update({"b": "b + 1000"}, where=f"a % {rng.randint(3, 9)} = 1")
    elif what < 0.50 and ds.count_rows() > 0:
        ds.optimize.compact_files(target_rows_per_fragment=rng.choice((10, 40)),
                                  defer_index_remap=not stable and rng.random() < 0.5)


def busy(rng):
    """A dataset of small fragments with deletions, updates, indices and spilled row ids."""
    path, rows = fresh(), 0
    stable = rng.random() < 0.4
    indexed = rng.choice((None, 0, rng.randint(0, 6)))
    options = {"enable_stable_row_ids": stable, "data_storage_version": rng.choice(VERSIONS)}
    for at in range(rng.randint(1, 14)):
        count = rng.choice((1, 3, 10, 24, 25, 26, 50, 100, rng.randint(1, 120)))
        lance.write_dataset(numbers(rows, count), path, mode="append" if at else "create",
                            **options)
        rows += count
        if at == 0 and stable and rng.random() < 0.5:
            opened(path).update_config({"lance.row_lineage.spill": "true",
                                        "lance.row_lineage.inline_max_bytes":
                                            rng.choice(("0", "9", "12"))})
        if at == indexed:
            opened(path).create_scalar_index("a", rng.choice(("BTREE", "BITMAP")))
        elif indexed is not None and at > indexed and rng.random() < 0.3:
            opened(path).optimize.optimize_indices(num_indices_to_merge=rng.choice((0, 1)))
        disturb(path, rng, rows, stable)
    if rng.random() < 0.2:
        opened(path).add_columns({"c": "a * 2"})
        opened(path).drop_columns(["a", "b"] if rng.random() < 0.5 else ["b"])
    config = {f"lance.compaction.{key}": rng.choice(values)
              for key, values in CONFIG if rng.random() < 0.12}
    if config:
        opened(path).update_config(config)
    return path


def random_options(rng, path):
    """For pylance, and as words."""
    theirs, words = {}, []

    def add(chance, key, word, value):
        if rng.random() < chance:
            theirs[key] = value
            words.append(f"{word}={str(value).lower()}")
    add(0.7, "target_rows_per_fragment", "target_rows", rng.choice((1, 10, 24, 25, 60, 100, 1000)))
    add(0.2, "materialize_deletions", "materialize_deletions", rng.random() < 0.5)
    add(0.3, "materialize_deletions_threshold", "materialize_deletions_threshold",
        rng.choice((0, 0.05, 0.1, 0.2, 1 / 3, 0.5, 1.0)))
    add(0.15, "max_source_rows", "max_source_rows", rng.choice((1, 30, 100, 300)))
    add(0.15, "max_source_bytes", "max_source_bytes", rng.choice((800, 3000, 10000)))
    ids = [f.fragment_id for f in opened(path).get_fragments()]
    left_out = [number for number in ids if rng.random() < 0.2]
    if rng.random() < 0.2 and left_out != ids:
        theirs["excluded_fragment_ids"] = left_out
        words.append("fragments=" + ",".join(str(n) for n in ids if n not in left_out))
    return theirs, words


@pytest.mark.parametrize("seed", SEEDS)
def test_the_plan_is_that_of_pylance(seed):
    rng = random.Random(seed)
    path = busy(rng)
    theirs, words = random_options(rng, path)
    before = commits.files(path)
    plan = Compaction.plan(opened(path), theirs)
    ours = result(path, "compact", *words, "dry_run=true")
    assert [[s["fragment"] for s in task["sources"]] for task in ours["plan"]] == \
        [[f.id for f in task.fragments] for task in plan.tasks], (theirs, words)
    assert ours["dry_run"] is True and "version" not in ours
    assert commits.files(path) == before


# ---- what is made ---------------------------------------------------------------------------

def random_dataset(rng, version, seed):
    """Columns of random types in several fragments, some rows deleted."""
    table = generate.table(version, seed)
    table = table.add_column(0, "key", pa.array(range(table.num_rows), pa.int64()))
    path, at = fresh(), 0
    stable = rng.random() < 0.5
    while at < table.num_rows:
        count = rng.choice((1, 7, 100, 1000, table.num_rows))
        # A copy: pylance can't write all slices.
        part = table.take(list(range(at, min(at + count, table.num_rows))))
        lance.write_dataset(part, path, mode="append" if at else "create",
                            enable_stable_row_ids=stable, data_storage_version=version)
        at += count
    if stable and rng.random() < 0.5:
        opened(path).update_config({"lance.row_lineage.spill": "true",
                                    "lance.row_lineage.inline_max_bytes":
                                        rng.choice(("0", "100"))})
    for _ in range(rng.randrange(3)):
        opened(path).delete(f"key % {rng.randint(2, 11)} = {rng.randint(0, 1)}")
    if rng.random() < 0.5 and opened(path).count_rows() > 0:
        opened(path).update({"key": "key + 100000"}, where=f"key % {rng.randint(3, 30)} = 2")
    return path


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_ids_and_versions_are_as_pylance_compacts_them(version, seed):
    rng = random.Random(seed * 10 + int(version[-1]))
    path = random_dataset(rng, version, seed)
    theirs = copy_of(path)
    target = rng.choice((50, 1000, 1048576))
    before = opened(path).version
    metrics = opened(theirs).optimize.compact_files(target_rows_per_fragment=target)
    ours = result(path, "compact", f"target_rows={target}")
    assert (ours["fragments_removed"], ours["fragments_added"]) == \
        (metrics.fragments_removed, metrics.fragments_added)
    assert opened(path).version == opened(theirs).version
    assert ours.get("version", str(before)) == str(opened(path).version)
    assert layout(path) == layout(theirs)
    assert content(path) == content(theirs)
    opened(path).validate()


@pytest.mark.parametrize("version", VERSIONS)
def test_pages_that_pylance_cannot_read_side_by_side_are_not_copied(version):
    """Structs above lists, some of them null in one fragment only: of the pages of the two, as they
    are, 14.0.2 counts the nulls of one."""
    kind = pa.struct([("x", pa.list_(pa.int32()))])
    null = None if version != "2.0" else {"x": None}
    rows = [{"x": [1, 2]}] * 100 + [{"x": []}, null] * 50 + [{"x": None}] * 50
    path = fresh()
    for at, count in ((0, 100), (100, 100), (200, 50)):
        part = pa.table({"c": pa.array(rows[at:at + count], kind)})
        lance.write_dataset(part, path, mode="append" if at else "create",
                            data_storage_version=version)
    if version != "2.0":
        assert "page by page" in refusal(path, "compact", "binary_copy=force")["error"]
    result(path, "compact")
    assert opened(path).to_table()["c"].to_pylist() == rows


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("copy", ("auto", "force", "never"))
def test_pages_are_copied_or_made_anew(version, copy):
    """Either way the rows are the same; copied ones need the bytes they needed before."""
    table = pa.table({"a": pa.array(range(20000), pa.int64()),
                      "s": [f"text {i % 100} of {i}" for i in range(20000)]})
    path = fresh()
    for at in range(0, 20000, 5000):
        lance.write_dataset(table.slice(at, 5000), path, mode="append" if at else "create",
                            data_storage_version=version)
    before = sum(f.data_files()[0].file_size_bytes for f in opened(path).get_fragments())
    made = result(path, "compact", f"binary_copy={copy}")
    assert content(path) == table.combine_chunks()
    if copy == "force":
        assert before - 8192 < made["bytes_after"] <= before
    opened(path).validate()


def spread(version="2.2", **options):
    """Three fragments of 100 rows; of those in the middle 80 are deleted."""
    path = fresh()
    for at in range(3):
        lance.write_dataset(numbers(at * 100, 100), path, mode="append" if at else "create",
                            data_storage_version=version, **options)
    opened(path).delete("a >= 110 and a < 190")
    return path


@pytest.mark.parametrize("version", VERSIONS)
def test_what_has_nothing_to_do_makes_no_version(version):
    path = spread(version)
    result(path, "compact")
    before = commits.files(path)
    again = result(path, "compact")
    assert again["tasks"] == 0 and "version" not in again and "operation" not in again
    assert commits.files(path) == before


def test_ids_are_reserved_in_a_version_of_their_own():
    path = spread()
    made = result(path, "compact", "target_rows=10")
    assert made["version"] == "6" and made["read_version"] == "4"
    reserved = made["plan"][0]["destinations"]
    assert [d["fragment"] for d in reserved] == [3, 4] and [d["rows"] for d in reserved] == [10] * 2
    assert [f.fragment_id for f in opened(path).get_fragments()] == [0, 2, 3, 4]
    assert [f.fragment_id for f in opened(path, 5).get_fragments()] == [0, 1, 2]


@pytest.mark.parametrize("words", (["fragments=7"], ["index_remap=sometimes"], ["target_rows=0"],
                                   ["binary_copy=maybe"], ["max_source_rows=0"],
                                   ["materialize_deletions_threshold=2"], ["binary_copy=force"]))
def test_what_cannot_be_is_refused_and_leaves_nothing(words):
    path = spread()
    before = commits.files(path)
    said = refusal(path, "compact", *words)
    assert words[0].split("=")[0] in said["error"] or "fragment" in said["error"]
    assert commits.files(path) == before


@pytest.mark.parametrize("version", ("legacy", "2.3"))
def test_versions_that_are_not_written_are_refused_by_name(version):
    path = spread(version)
    before = commits.files(path)
    said = refusal(path, "compact")
    assert said["code"] == "unsupported" and ("0.1" if version == "legacy" else version) in \
        said["error"]
    assert commits.files(path) == before


def test_deferred_remap_is_refused_with_stable_row_ids():
    path = spread(enable_stable_row_ids=True)
    before = commits.files(path)
    assert refusal(path, "compact", "index_remap=defer")["code"] == "unsupported"
    assert commits.files(path) == before


def test_a_broken_config_is_refused_by_its_key():
    path = spread()
    opened(path).update_config({"lance.compaction.target_rows_per_fragment": "many"})
    assert "lance.compaction.target_rows_per_fragment" in refusal(path, "compact")["error"]
    opened(path).update_config({"lance.compaction.target_rows_per_fragment": "120"})
    assert result(path, "compact", "dry_run=true")["fragments_removed"] == 3


@pytest.mark.parametrize("version", VERSIONS)
def test_a_source_that_is_damaged_leaves_nothing(version):
    """A page of the last fragment is no page: what came before was written by then."""
    path = fresh()
    table = pa.table({f"c{i}": pa.array([f"{i}-{k}" * 9 for k in range(500)]) for i in range(5)})
    for at in range(3):
        lance.write_dataset(table, path, mode="append" if at else "create",
                            data_storage_version=version)
    name = opened(path).get_fragments()[2].data_files()[0].path
    with open(f"{path}/data/{name}", "r+b") as file:
        file.write(b"\xff" * (os.path.getsize(file.name) // 2))
    before = commits.files(path)
    said = refusal(path, "compact", "binary_copy=never")
    assert "fragment 2" in said["error"]
    assert commits.files(path) == before


# ---- datasets of others ---------------------------------------------------------------------

# What one of them has that is not written here, or that pylance does not read.
NOT_WRITTEN = {"0.1", "2.3"}
REFUSED = {"fixtures/blob_v2", "fixtures/blob_v2_managed", "fixtures/schema_evolve_stable_2_0"}
UNREADABLE = {"fixtures/era_0_30_0_stable", "fixtures/fri_stable_flag512"}
# pylance bins tagged tables by what the bitmaps store, and loses the index; and it goes on where
# nobody knows what an index is.
OTHER_PLANS = {"fixtures/era_0_15_0", "fixtures-rust/fri_mixed", "fixtures-written/wv_adopted",
               "fixtures-written/wv_branches"}


def multiset(path):
    ds = opened(path)
    rows = ds.scanner(columns=columns_of(ds), blob_handling="all_binary").to_table()
    return Counter(map(repr, rows.to_pylist()))


@pytest.mark.parametrize("ident", archives.dataset_ids())
def test_datasets_of_all_kinds(ident):
    """The plan of pylance, as far as it has one, and all rows as they were."""
    path = copy_of(archives.dataset(ident).path)
    if ident in UNREADABLE:
        return
    ds = opened(path)
    if ds.data_storage_version in NOT_WRITTEN:
        said = json.loads(run(path, "compact").stdout)
        assert said["tasks"] == 0 if said["ok"] else ds.data_storage_version in said["error"]
        return
    if ident in REFUSED:
        assert refusal(path, "compact")["code"] == "unsupported"
        return
    rows = multiset(path)
    for words, options in ((["target_rows=15"], {"target_rows_per_fragment": 15}), ([], {})):
        ours = result(path, "compact", *words, "dry_run=true")
        try:
            plan = Compaction.plan(opened(path), options)
            theirs = [[f.id for f in task.fragments] for task in plan.tasks]
        except KeyError as error:
            # Of overlays it can plan, but not tell.
            assert "overlay" in ident and "offsets" in str(error)
        else:
            assert ident in OTHER_PLANS or theirs == \
                [[s["fragment"] for s in task["sources"]] for task in ours["plan"]]
        result(path, "compact", *words)
        assert multiset(path) == rows
        opened(path).validate()


# ---- others at the same time ----------------------------------------------------------------

RACES = range(int(os.environ.get("LANCEFS_COMPACT_RACES", "8")))


class Table:
    """What pylance does to a dataset, and what its rows are then: {id: value}."""

    def __init__(self, rng, path):
        self.rng, self.path, self.rows, self.next = rng, path, {}, 0
        self.options = {"enable_stable_row_ids": rng.random() < 0.5}

    def append(self, count):
        part = pa.table({"id": pa.array(range(self.next, self.next + count), pa.int64()),
                         "v": pa.array([0] * count, pa.int64())})
        lance.write_dataset(part, self.path, mode="append" if self.next else "create",
                            **self.options)
        self.rows.update({number: 0 for number in range(self.next, self.next + count)})
        self.next += count

    def change(self):
        what, by = self.rng.random(), self.rng.randint(2, 9)
        if what < 0.4:
            opened(self.path).delete(f"id % {by} = 1")
            self.rows = {i: v for i, v in self.rows.items() if i % by != 1}
        elif what < 0.7:
            opened(self.path).update({"v": "v + 1"}, where=f"id % {by} = 0")
            self.rows = {i: v + (i % by == 0) for i, v in self.rows.items()}
        else:
            self.append(10)

    def check(self):
        ds = opened(self.path)
        table = ds.to_table()
        got = dict(zip(table["id"].to_pylist(), table["v"].to_pylist()))
        assert table.num_rows == len(got) and got == self.rows
        ds.validate()
        for number in self.rng.sample(range(self.next), 5):
            assert ds.count_rows(f"id = {number}") == (number in self.rows)


@pytest.mark.parametrize("seed", RACES)
def test_no_row_is_lost_doubled_or_comes_back(seed):
    """One or two compactions while pylance deletes, updates and appends."""
    rng = random.Random(seed)
    table = Table(rng, fresh())
    for _ in range(rng.randint(3, 8)):
        table.append(rng.choice((10, 100, 1000)))
    if rng.random() < 0.5:
        opened(table.path).create_scalar_index("id", "BTREE")
    command = [programs.program("lancet"), "compact", table.path,
               f"target_rows={rng.choice((50, 1000, 100000))}"]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
              for _ in range(rng.choice((1, 2)))]
    for _ in range(rng.randint(1, 4)):
        table.change()
    for process in others:
        out, _ = process.communicate(timeout=60)
        assert json.loads(out)["ok"], out
    table.check()


# ---- memory ---------------------------------------------------------------------------------

ROWS = 200_000


def repetitive(number):
    """160 MiB of values that take a few kilobytes in a file."""
    rng = np.random.default_rng(number)
    words = pa.array([f"{i} " * 80 for i in range(10, 15)])
    columns = {"sorted": words.take(pa.array(np.sort(rng.integers(0, 5, ROWS)))),
               "mixed": words.take(pa.array(rng.integers(0, 5, ROWS))),
               "list": pa.ListArray.from_arrays(
                   pa.array(np.arange(0, ROWS * 20 + 1, 20), pa.int32()),
                   pa.array(np.repeat(rng.integers(0, 9, ROWS), 20)))}
    for i in range(20):
        columns[f"n{i}"] = pa.array(np.full(ROWS, i * number)) if i % 2 else pa.nulls(ROWS)
    return pa.table(columns)


def peak_of(process):
    """KiB that it had at most, as seen until shortly before its end."""
    peak = 0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        lines = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
        peak = max([peak, *map(int, lines)])
        time.sleep(0.01)
    return peak


@pytest.mark.parametrize("version", VERSIONS)
def test_memory_does_not_follow_the_size_of_the_table(version):
    """LANCEFS_COMPACT_GIB=10 for one that takes minutes."""
    path, size, number = fresh(), 0, 0
    table = repetitive(0)
    if version == "2.0":
        table = table.select(["mixed", "n1", "n2"])
    while size < float(os.environ.get("LANCEFS_COMPACT_GIB", "0.6")) * 2**30:
        lance.write_dataset(table, path, mode="append" if number else "create",
                            data_storage_version=version)
        number += 1
        size += table.nbytes
    rows = opened(path).count_rows()
    opened(path).delete("n1 = 1000000")
    command = [programs.program("lancet"), "compact", path, "binary_copy=never",
               "target_rows=100000000"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        peak = peak_of(process)
    assert process.returncode == 0
    assert 4 << 10 < peak < 256 << 10, f"{peak} KiB"
    assert layout(path) == [(rows, 0)]
    shutil.rmtree(path)
