"""Rewrites, updates, deletes and appends that wait while others commit: no row is lost, doubled, or
comes back, ids and versions are as they must be, indices answer. And what is refused, and how, is
what pylance refuses when its own compaction waits as long."""
import os

import lance
import pyarrow as pa
import pytest
from lance.optimize import Compaction

import make_reuse
import racemodel
from commandline import opened, result
from places import columns_of, copy_of, fresh

# All 1,000 histories: make check-interop-races.
SEEDS = range(int(os.environ.get("LANCEFS_RACE_SEEDS", "14")))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", racemodel.KINDS)
def test_histories(kind, seed):
    racemodel.race(kind, seed)


# ---- verdicts -----------------------------------------------------------------------------

MODES = {"untagged": ("untagged", "auto"), "deferred": ("untagged", "defer"),
         "tagged": ("tagged", "auto"), "stable": ("stable", "auto")}
SOURCES = "1,2"  # of fragments 0 to 5, which have 10 rows each


def rows(ids):
    ids = list(ids)
    return pa.table({"id": pa.array(ids, pa.int64()), "k": ["ab"[i % 2] for i in ids],
                     "v": pa.array([i * 10 for i in ids], pa.int64())})


def make(kind):
    path = fresh()
    lance.write_dataset(rows(range(60)), path, max_rows_per_file=10,
                        enable_stable_row_ids=kind == "stable")
    opened(path).create_scalar_index("id", "BTREE")
    opened(path).create_scalar_index("k", "BITMAP")
    if kind == "tagged":
        make_reuse.tag(path)
    opened(path).delete("id in (3, 13, 23, 33)")
    return path


def compact(ds, *fragments):
    """Of these fragments, as the dataset's kind wants it."""
    others = [f.fragment_id for f in ds.get_fragments() if f.fragment_id not in fragments]
    ds.optimize.compact_files(target_rows_per_fragment=1000, excluded_fragment_ids=others,
                              defer_index_remap=racemodel.is_recorded(ds))


def index_v(ds):
    ds.create_scalar_index("v", "BTREE")


MEANWHILE = {
    "delete in a source": lambda ds: ds.delete("id = 15"),
    "delete elsewhere": lambda ds: ds.delete("id = 45"),
    "delete of a source": lambda ds: ds.delete("id >= 10 and id < 20"),
    "delete of another": lambda ds: ds.delete("id >= 40 and id < 50"),
    "update in a source": lambda ds: ds.update({"v": "v + 1"}, where="id = 15"),
    "update elsewhere": lambda ds: ds.update({"v": "v + 1"}, where="id = 45"),
    "update of the key": lambda ds: ds.update({"id": "id + 1000"}, where="id = 45"),
    "append": lambda ds: lance.write_dataset(rows(range(100, 105)), ds.uri, mode="append"),
    "the same compaction": lambda ds: compact(ds, 1, 2),
    "an overlapping compaction": lambda ds: compact(ds, 2, 3),
    "another compaction": lambda ds: compact(ds, 3, 4),
    "a new index": index_v,
    "an index made anew": lambda ds: ds.create_scalar_index("id", "BTREE"),
    "an index dropped": lambda ds: ds.drop_index("k_idx"),
    "a new column": lambda ds: ds.add_columns({"w": "v * 2"}),
    "a column dropped": lambda ds: ds.drop_columns(["v"]),
    "a column renamed": lambda ds: ds.alter_columns({"path": "v", "name": "u"}),
    "config": lambda ds: ds.update_config({"a": "b"}),
    "restore": lambda ds: opened(ds.uri, 1).restore(),
    "overwrite": lambda ds: lance.write_dataset(rows(range(7)), ds.uri, mode="overwrite"),
}


def content(path):
    ds = opened(path)
    found = ds.to_table(columns=columns_of(ds)).to_pylist()
    return sorted([list(row.values()) for row in found], key=lambda row: row[0])


def answers(path):
    ds = opened(path)
    ds.validate()
    return [sorted(ds.to_table(filter=text, columns=["id"])["id"].to_pylist())
            for text in ("id in (3, 11, 13, 15, 25, 45, 101, 1045)", "id >= 0", "k = 'a'")]


def their_verdict(path, mode, meanwhile):
    """Of pylance's compaction: it is made, something else is committed, it is committed."""
    ds = opened(path)
    others = [f.fragment_id for f in ds.get_fragments() if str(f.fragment_id) not in SOURCES]
    options = {"target_rows_per_fragment": 1000, "excluded_fragment_ids": others,
               "defer_index_remap": mode in ("deferred", "tagged")}
    tasks = [task.execute(ds) for task in Compaction.plan(ds, options).tasks]
    assert len(tasks) == 1
    meanwhile(opened(path))
    try:
        Compaction.commit(ds, tasks, options)
        return "ok", ""
    except OSError as error:
        text = str(error)
        assert "Retryable" in text or "Incompatible" in text or "retry" in text, text
        return ("conflict" if "Incompatible" in text else "busy"), text


def our_verdict(path, words, meanwhile):
    """The same of ours; refused, it leaves no file."""
    late = racemodel.Late(path, opened(path).version, words)
    assert late.made, late.said
    meanwhile(opened(path))
    said = late.commit()
    if said["code"] != "ok":
        assert not late.own & racemodel.files_of(path)
    return said["code"], said["text"]


# pylance can't commit its transitions any more; ours are made anew, by the command itself.
OURS = {("tagged", "the same compaction"): "busy", ("tagged", "an overlapping compaction"): "busy"}
# Where they are recorded anyhow ours waits for no index that was made meanwhile.
RECORDED = {"untagged": "deferred", "deferred": "deferred", "tagged": "tagged", "stable": "stable"}


def shown(path, read, reserved):
    """Rows by id, with versions as if nothing had been reserved: our ids were before what came
    meanwhile, those of pylance after it."""
    found = content(path)
    if not opened(path).has_stable_row_ids:
        return found
    return [[*row[:-2], *(v - reserved if v > read else v for v in row[-2:])] for row in found]


@pytest.mark.parametrize("meanwhile", MEANWHILE)
@pytest.mark.parametrize("mode", MODES)
def test_a_compaction_that_waits_ends_as_that_of_pylance(mode, meanwhile):
    kind, remap = MODES[mode]
    ours = make(kind)
    theirs, read = copy_of(ours), opened(ours).version
    want, _ = their_verdict(theirs, RECORDED[mode], MEANWHILE[meanwhile])
    got, text = our_verdict(ours, ["compact", remap, "1000", SOURCES], MEANWHILE[meanwhile])
    assert got == OURS.get((mode, meanwhile), want), text
    if got == want == "ok":
        assert shown(ours, read, 1) == shown(theirs, read, 0)
        assert answers(ours) == answers(theirs)
    else:
        answers(ours)


@pytest.mark.parametrize("meanwhile", MEANWHILE)
@pytest.mark.parametrize("kind", racemodel.KINDS)
def test_a_partition_that_waits_ends_as_a_tagged_compaction_of_pylance(kind, meanwhile):
    """Of the same fragments; then each fragment has the rows of one key."""
    ours, theirs = make(kind), make("stable" if kind == "stable" else "tagged")
    read = opened(ours).version
    want, _ = their_verdict(theirs, "stable" if kind == "stable" else "tagged",
                            MEANWHILE[meanwhile])
    got, text = our_verdict(ours, ["partition", "auto", "k", SOURCES], MEANWHILE[meanwhile])
    assert got == want, text
    if got != "ok":
        answers(ours)
        return
    assert shown(ours, read, 1) == shown(theirs, read, 0)
    assert answers(ours) == answers(theirs)
    made = [set(f.to_table(columns=["k"])["k"].to_pylist())
            for f in opened(ours).get_fragments()[-8:] if f.fragment_id > 5]
    assert {"a"} in made and {"b"} in made


def test_a_table_that_was_tagged_meanwhile_wants_the_rewrite_anew():
    """What is not recorded can't be put under a tagged history, where indices follow records."""
    path = make("untagged")
    said = our_verdict(path, ["compact", "skip", "1000", "1,2"],
                       lambda ds: result(path, "partition", "by=k", "fragments=4,5"))
    assert said[0] == "busy" and "tagged" in said[1]
    assert answers(path)[1] == sorted(set(range(60)) - {3, 13, 23, 33})


@pytest.mark.parametrize("words", [["compact", "auto", "1000", SOURCES],
                                   ["partition", "auto", "k", SOURCES]], ids=lambda w: w[0])
@pytest.mark.parametrize("kind", racemodel.KINDS)
def test_what_can_be_refused_already_reserves_nothing(kind, words):
    """Made on a version whose rows were changed since: its commit says so, and no version is there
    for ids that nobody will have."""
    path = make(kind)
    read = opened(path).version
    opened(path).delete("id >= 10 and id < 20")
    late = racemodel.Late(path, read, words)
    assert late.made, late.said
    assert opened(path).version == read + 1
    said = late.commit()
    assert said["code"] in ("busy", "conflict") and str(read + 1) in said["text"], said
    assert opened(path).version == read + 1
    assert not late.own & racemodel.files_of(path)
