"""Row ids and versions that compaction carries over: the values are pylance's, wherever they lie."""
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest

import facts
from commandline import opened, refusal, result
from places import copy_of, fresh
from test_compact import content

VERSIONS = ("2.0", "2.1", "2.2")
KINDS = ("row_ids", "created_at", "last_updated_at")
HIDDEN = {"row_ids": -3, "created_at": -4, "last_updated_at": -5}
SPILLED = 1 << 11
ROWS = 4000


def make(version="2.2", most=None, spill="true"):
    """Four fragments; the config is that of spilled sequences."""
    path = fresh()
    lance.write_dataset(rows(0, ROWS), path, max_rows_per_file=ROWS // 4,
                        data_storage_version=version, enable_stable_row_ids=True)
    configure(path, spill, most)
    return path


def configure(path, spill, most=None):
    config = {"lance.row_lineage.spill": spill}
    if most is not None:
        config["lance.row_lineage.inline_max_bytes"] = str(most)
    opened(path).update_config(config)


def rows(first, count):
    ids = range(first, first + count)
    return pa.table({"a": pa.array(ids, pa.int64()), "b": [f"b{i}" for i in ids]})


def thin(path):
    """A third of the rows, without any order."""
    gone = np.random.default_rng(5).permutation(ROWS)[:ROWS // 3]
    opened(path).delete(f"a in ({', '.join(map(str, sorted(gone)))})")


def halve(path, seed=7):
    """Every row is rewritten, in two versions: one half of the ids after the other."""
    order = np.random.default_rng(seed).permutation(ROWS)
    for part in np.array_split(order, 2):
        table = pa.table({"a": pa.array(part, pa.int64()), "b": [f"c{i}" for i in part]})
        opened(path).merge_insert("a").when_matched_update_all().execute(table)


def newest(path):
    return facts.version(path, opened(path).version)


def placements(path):
    return [[fragment.placement(kind) for kind in KINDS] for fragment in newest(path).fragments]


def inline_bytes(path):
    return {kind: sum(len(f.inline_bytes(kind)) for f in newest(path).fragments
                      if f.placement(kind) == "inline") for kind in KINDS}


def check_flag(path):
    version = newest(path)
    spilled = any("column" in placement for placement in placements(path))
    assert bool(version.reader_flags & SPILLED) == spilled
    assert bool(version.writer_flags & SPILLED) == spilled


def check_columns(path):
    """A spilled sequence is one hidden column of one file, where its index says."""
    for fragment in newest(path).fragments:
        for kind in KINDS:
            carriers = [f for f in fragment.files if HIDDEN[kind] in f.fields]
            assert len(carriers) == (fragment.placement(kind) == "column")
            for file in carriers:
                numbers = [n for n in file.fields if n < 0]
                assert numbers == sorted(numbers, reverse=True)
                assert file.columns == sorted(set(file.columns))


def both(path, *words, **options):
    """Compacts the dataset, and a copy of it by pylance: the rows are the same."""
    theirs = copy_of(path)
    opened(theirs).optimize.compact_files(**options)
    said = result(path, "compact", *words)
    assert content(path) == content(theirs)
    opened(path).validate()
    check_flag(path)
    check_columns(path)
    return theirs, said


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("most", (None, 0, 40, 400, 1000, 10000))
@pytest.mark.parametrize("change", (thin, halve))
def test_values_are_carried_wherever_they_lie(version, most, change):
    path = make(version, most)
    change(path)
    theirs, _ = both(path)
    # What is shorter than theirs may be under the limit where theirs is not.
    for ours, other in zip(placements(path), placements(theirs), strict=True):
        for place, reference in zip(ours, other, strict=True):
            assert place == reference or (place, reference) == ("inline", "column")
    if most == 0:
        assert placements(path) == [["column"] * 3]


@pytest.mark.parametrize("change", (thin, halve))
def test_inline_sequences_are_no_longer_than_theirs(change):
    path = make(spill="false")
    change(path)
    theirs, _ = both(path)
    assert placements(path) == placements(theirs) == [["inline"] * 3]
    ours, other = inline_bytes(path), inline_bytes(theirs)
    # A run of versions says where its rows are, which theirs does not.
    slack = {"row_ids": 0, "created_at": 16, "last_updated_at": 16}
    assert all(ours[kind] <= other[kind] + slack[kind] for kind in KINDS), (ours, other)


@pytest.mark.parametrize("version", VERSIONS)
def test_outputs_that_disagree_each_have_their_own_place(version):
    """A range beside ids with holes: only these become a column."""
    path = make(version, 100)
    halve(path)
    lance.write_dataset(rows(ROWS, ROWS), path, mode="append")
    ids = [f.fragment_id for f in opened(path).get_fragments()]
    both(path, f"target_rows={ROWS}", target_rows_per_fragment=ROWS)
    assert len(ids) == 3 and len(placements(path)) == 2
    assert sorted(place[0] for place in placements(path)) == ["column", "inline"]


def test_a_second_compaction_carries_spilled_values():
    path = make("2.2", 0)
    halve(path)
    both(path)
    lance.write_dataset(rows(ROWS, 500), path, mode="append")
    opened(path).delete("a % 9 = 4")
    both(path, "materialize_deletions_threshold=0", materialize_deletions_threshold=0)
    assert placements(path) == [["column"] * 3]


def test_without_the_config_values_come_back_inline():
    path = make("2.2", 0)
    halve(path)
    both(path)
    opened(path).delete("a % 9 = 4")
    configure(path, "false")
    both(path)
    assert placements(path) == [["inline"] * 3]


def test_pylance_goes_on_with_what_was_spilled():
    path = make("2.2", 0)
    halve(path)
    result(path, "compact")
    before = opened(path).to_table(columns=["a", "_rowid"]).sort_by("a")
    opened(path).update({"b": "'x'"}, where="a % 5 = 0")
    opened(path).delete("a % 7 = 0")
    opened(path).optimize.compact_files()
    after = opened(path).to_table(columns=["a", "_rowid"]).sort_by("a")
    kept = before.filter(pa.compute.not_equal(
        pa.compute.subtract(before["a"], pa.compute.multiply(
            pa.compute.divide(before["a"], 7), 7)), 0))
    assert after == kept
    opened(path).validate()


def test_a_limit_that_is_no_number_is_refused():
    path = make("2.2", "many")
    thin(path)
    before = opened(path).version
    assert "inline_max_bytes" in refusal(path, "compact")["error"]
    assert opened(path).version == before


@pytest.mark.parametrize("kind", KINDS)
def test_lineage_that_is_lost_is_no_default(kind):
    """The hidden column's file is gone: nothing is made up, and no version is made."""
    path = make("2.2", 0)
    halve(path)
    result(path, "compact")
    opened(path).delete("a % 5 = 1")
    before = opened(path).version
    file = next(f for f in newest(path).fragments[0].files if HIDDEN[kind] in f.fields)
    (Path(path) / "data" / file.path).unlink()
    assert refusal(path, "compact")["errno"] == "EIO"
    assert facts.version(path, before).fragments[0].placement(kind) == "column"
    assert not list((Path(path) / "data").glob(".tmp*"))
