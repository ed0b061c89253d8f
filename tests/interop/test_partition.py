"""Partition: rows by value or label in the order that they had, and what pylance answers after it."""
import datetime
import decimal
import os
import random
import struct
import threading
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest

import facts
import reuse
import test_remap as tables
from commandline import opened, refusal, result
from places import columns_of, fresh
from test_translate import translated

NO_LABEL = 0xFFFF
VERSIONS = ("2.0", "2.1", "2.2")
# More of them on demand.
SEEDS = range(int(os.environ.get("LANCEFS_PARTITION_SEEDS", "2")))


def rows_of(ds, names, fragments=None):
    """Rows of these fragments in their order."""
    found = [f for f in ds.get_fragments() if fragments is None or f.fragment_id in fragments]
    return ds.scanner(columns=columns_of(ds, names), fragments=found,
                      scan_in_order=True).to_table().to_pylist()


def values_of(rows, column):
    """Distinct values in the order of the fragments: ascending, null last."""
    found = {row[column] for row in rows}
    return sorted(found - {None}) + [None] * (None in found)


def check_rows(path, column, before, made):
    """Each fragment that was made has the rows of one value, in the order of before."""
    now = opened(path)
    assert len(made) == len(values_of(before, column))
    names = [f.name for f in now.schema]
    for fragment, value in zip(made, values_of(before, column)):
        assert rows_of(now, names, [fragment]) == [r for r in before if r[column] == value], value
    now.validate()


def fragments(path):
    return [f.fragment_id for f in opened(path).get_fragments()]


def partition(path, column, *words):
    """Does it, and checks rows and order; the result."""
    ds = opened(path)
    names = [f.name for f in ds.schema]
    plan = result(path, "partition", f"by={column}", *words, "dry_run=true")
    sources = [s["fragment"] for task in plan["plan"] for s in task["sources"]]
    before = rows_of(ds, names, sources)
    others = [f for f in fragments(path) if f not in sources]
    left = rows_of(ds, names, others) if others else []
    said = result(path, "partition", f"by={column}", *words)
    made = [f for f in fragments(path) if f not in others]
    assert [d["fragment"] for d in said["plan"][0]["destinations"]] == made
    assert [(d["value"], d["rows"]) for d in said["plan"][0]["destinations"]] == \
        [(d["value"], d["rows"]) for d in plan["plan"][0]["destinations"]]
    check_rows(path, column, before, made)
    if others:
        assert rows_of(opened(path), names, others) == left
    return said


def answers(ds, kind):
    """Not those of vectors under stable row ids: pylance's index gives rows that were deleted, and
    whose fragment was rewritten since, their place among the nearest, and then drops them."""
    return {asked: ids for asked, ids in tables.answers(ds).items()
            if kind != "stable" or not isinstance(asked, int)}


# ---- indices ------------------------------------------------------------------------------

@pytest.mark.parametrize("kind, version", list(zip(tables.TABLES, VERSIONS)))
def test_indices_answer_as_before(kind, version):
    path = tables.make(kind, version)
    lost = tables.LOST_WHEN_STABLE if kind == "stable" else set()
    before = opened(path)
    said = partition(path, "m", "fragments=0-4")
    assert said["reuse_recorded"] == (kind != "stable")
    assert ("note" in said) == (kind == "untagged")
    tables.check_same(path, before, lost)
    # A partition of the partition, over other rows.
    opened(path).delete("id % 7 = 3")
    made = fragments(path)[1:]
    before = opened(path)
    said = partition(path, "s", "fragments=" + ",".join(map(str, made[-7:])))
    assert "note" not in said
    tables.check_same(path, before, lost)
    # pylance goes on from there.
    tables.append(path, 100000, 200)
    before = opened(path)
    tables.optimize(path, "stable" if kind == "stable" else "tagged")
    now = opened(path)
    assert tables.answers(now) == tables.answers(before)
    now.delete("id % 11 = 5")
    before = opened(path)
    if kind == "stable":
        opened(path).optimize.compact_files(target_rows_per_fragment=100000)
    result(path, "compact", "target_rows=100000", "materialize_deletions_threshold=0.01")
    now = opened(path)
    assert answers(now, kind) == answers(before, kind)
    now.validate()


@pytest.mark.parametrize("kind", tables.TABLES)
@pytest.mark.parametrize("seed", SEEDS)
def test_many_rounds_in_random_order(kind, seed):
    rng = random.Random(f"{kind} {seed}")
    path = tables.make(kind, rng.choice(VERSIONS), fragments=3, count=60)
    first, covered = 10 ** 6, [0, 1, 2]
    for _ in range(6):
        before = opened(path)
        what = rng.choice(("partition", "partition", "append", "delete", "update", "compact"))
        if what == "partition":
            others = [f for f in fragments(path) if f not in covered]
            partition(path, rng.choice("mbs"), "fragments=" + ",".join(map(str, covered)))
            covered = [f for f in fragments(path) if f not in others]
        elif what == "append":
            tables.append(path, first, rng.choice((10, 70)))
            first += 1000
        elif what == "delete":
            before.delete(f"id % {rng.randint(5, 20)} = {rng.randint(0, 4)}")
            covered = [f for f in covered if f in fragments(path)]
        elif what == "update":
            before.update({"n": "n + 1"}, where=f"id % {rng.randint(5, 20)} = 0")
            covered = [f for f in covered if f in fragments(path)]
        else:
            result(path, "compact", "target_rows=1000", "fragments=" + ",".join(map(str, covered)))
            others = [f for f in fragments(path) if f not in covered]
            if len(others) > len([f for f in before.get_fragments()
                                  if f.fragment_id not in covered]):
                covered = others[-1:]
        now = opened(path)
        got = answers(now, kind)
        if what in ("partition", "compact"):
            assert got == answers(before, kind), what
        now.validate()


# ---- the record ---------------------------------------------------------------------------

@pytest.mark.parametrize("version", VERSIONS)
def test_the_row_map_says_where_each_row_went(version):
    """Read with pylance's file reader by the model of the history, and by ourselves."""
    path = fresh()
    data = tables.rows(0, 500)
    lance.write_dataset(data, path, max_rows_per_file=130, data_storage_version=version)
    opened(path).delete("id % 6 = 2")
    old = addresses(path)
    result(path, "partition", "by=m")
    new = addresses(path)
    number = opened(path).version
    history = reuse.of(facts.version(path, number))
    assert [t.kind for t in history.transitions] == [reuse.PARTITION]
    assert history.fault(0) is None
    assert history.translate_all(list(old.values())) == [("current", new[row]) for row in old]
    assert translated(path, number, list(old.values())) == \
        {old[row]: ("current", new[row]) for row in old}


def addresses(path):
    found = opened(path).scanner(columns=["id"], with_row_address=True).to_table().to_pylist()
    return {row["id"]: row["_rowaddr"] for row in found}


def test_a_history_of_version_0_is_lifted():
    path = tables.make("untagged")
    before = opened(path)
    before.optimize.compact_files(target_rows_per_fragment=300, defer_index_remap=True)
    before = opened(path)
    made = [f for f in fragments(path) if f > 5]
    said = partition(path, "m", f"fragments={made[0]}")
    assert "note" in said
    tables.check_same(path, before)


def test_without_a_record():
    path = tables.make("untagged")
    before = opened(path)
    said = result(path, "partition", "by=m", "fragments=0-4", "index_remap=skip")
    assert said["reuse_recorded"] is False and "note" not in said
    assert {i["action"] for i in said["indices"]} == {"loses"}
    assert tables.answers(opened(path)) == tables.answers(before)


# ---- values -------------------------------------------------------------------------------

def columns(count, rng):
    """Columns of all plain types with few distinct values, nulls among them."""
    def some(values, kind, nulls=True):
        return pa.array([None if nulls and rng.random() < 0.2 else rng.choice(values)
                         for _ in range(count)], kind)
    day = datetime.date(2024, 1, 31)
    moments = [datetime.datetime(1960 + 9 * i, 1 + i, 3, 4, 5, 6, 7000 * i) for i in range(5)]
    words = ["", "a", "ab", "b", "\u00e9", "z" * 40]
    return {
        "i8": some([-128, -1, 0, 1, 127], pa.int8()),
        "u8": some([0, 1, 128, 255], pa.uint8()),
        "i16": some([-300, 5, 300], pa.int16()),
        "u32": some([0, 2 ** 31, 2 ** 32 - 1], pa.uint32()),
        "i64": some([-2 ** 63, -256, -1, 0, 255, 256, 2 ** 63 - 1], pa.int64()),
        "u64": some([0, 1, 2 ** 63, 2 ** 64 - 1], pa.uint64(), nulls=False),
        "f16": some([np.float16(x) for x in (-2.5, 0, 1.5, 60000)], pa.float16()),
        "f32": some([-1e30, -1.5, 0.0, 1e-30, 2.0, float("inf")], pa.float32()),
        "f64": some([-1e300, -2.0, -1.0, 0.0, 1e300], pa.float64()),
        "flag": some([False, True], pa.bool_()),
        "date": some([day, day.replace(year=1969), day.replace(year=2100)], pa.date32()),
        "date64": some([day, day.replace(year=1950)], pa.date64()),
        "time": some([datetime.time(1), datetime.time(23, 59)], pa.time64("us")),
        "moment": some(moments, pa.timestamp("us")),
        "zoned": some([m.replace(tzinfo=datetime.timezone.utc) for m in moments],
                      pa.timestamp("us", "UTC")),
        "span": some([datetime.timedelta(-3), datetime.timedelta(0), datetime.timedelta(5)],
                     pa.duration("us")),
        "dec": some([decimal.Decimal(x) for x in ("-10.50", "-0.01", "0.00", "99.99")],
                    pa.decimal128(10, 2)),
        "wide": some([decimal.Decimal(x) for x in ("-1e30", "-1", "0", "1e30")],
                     pa.decimal256(40, 0)),
        "text": some(words, pa.string()),
        "long": some(words, pa.large_string()),
        "bytes": some([b"", b"\0", b"\0\0", b"\x7f", b"\xff"], pa.binary()),
        "fixed": some([b"abc", b"abd", b"\0\0\0"], pa.binary(3)),
        "key": some(words, pa.string()).dictionary_encode(),
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_values_of_all_types_ascend(version):
    rng = random.Random(version)
    found = columns(200, rng)
    data = pa.table({"id": pa.array(range(200)), **found})
    base = fresh()
    lance.write_dataset(data.slice(0, 90), base, data_storage_version=version)
    lance.write_dataset(data.slice(90), base, mode="append")
    opened(base).delete("id % 9 = 4")
    for name in found:
        said = partition(base, name)
        assert said["fragments_added"] == len(opened(base).get_fragments())


@pytest.mark.parametrize("kind", (pa.float16(), pa.float32(), pa.float64()))
def test_one_nan_and_one_zero(kind):
    path = fresh()
    nans = np.array([0x7ff8000000000000, 0xfff8000000000001], np.uint64).view(np.float64)
    values = [1.0, *nans, -0.0, float("-inf"), None, 0.0, float("nan"), -3.0, float("inf")]
    data = pa.table({"id": pa.array(range(len(values))),
                     "x": pa.array(values, pa.float64()).cast(kind)})
    lance.write_dataset(data, path)
    said = result(path, "partition", "by=x")
    groups = [opened(path).get_fragment(d["fragment"]).to_table()["id"].to_pylist()
              for d in said["plan"][0]["destinations"]]
    assert groups == [[4], [8], [3, 6], [0], [9], [1, 2, 7], [5]]
    assert said["plan"][0]["destinations"][-1]["value"] is None


def test_dictionaries_that_differ_between_fragments():
    path = fresh()
    for first, words in enumerate((["b", "a", "b"], ["c", "b", None], ["a", "a", "d"])):
        data = pa.table({"id": pa.array(range(3 * first, 3 * first + 3)),
                         "k": pa.array(words).dictionary_encode()})
        lance.write_dataset(data, path, mode="append" if first else "create")
    said = partition(path, "k")
    assert [d["value"] for d in said["plan"][0]["destinations"]] == ["a", "b", "c", "d", None]


def test_what_can_not_be_told_apart_is_refused():
    path = fresh()
    data = pa.table({"id": pa.array(range(4)), "l": pa.array([[1], [2], [3], None]),
                     "p": pa.array([{"x": 1}] * 4),
                     "v": pa.array([[1.0, 2.0]] * 4, pa.list_(pa.float32(), 2))})
    lance.write_dataset(data, path)
    for column in "lpv":
        refused = refusal(path, "partition", f"by={column}")
        assert refused["errno"] == "EOPNOTSUPP" and f"column {column}" in refused["error"]
    assert refusal(path, "partition", "by=none")["errno"] == "EINVAL"
    for words in ((), ("by=id", "labels=/dev/null"), ("by=id", "index_remap=defer"),
                  ("by=id", "fragments=7"), ("by=id", "fragments=0", "format=csv")):
        refusal(path, "partition", *words)
    assert opened(path).version == 1


def test_too_many_values():
    path = fresh()
    lance.write_dataset(pa.table({"id": pa.array(range(65537))}), path)
    refused = refusal(path, "partition", "by=id")
    assert "65535 distinct values" in refused["error"]
    assert opened(path).version == 1


def test_more_values_than_files_are_open():
    """Several passes, and the descriptors of a small process."""
    path = fresh()
    rng = np.random.default_rng(1)
    data = pa.table({"id": pa.array(range(4000)), "k": pa.array(rng.integers(0, 700, 4000)),
                     "t": [f"text {i}" for i in range(4000)]})
    lance.write_dataset(data, path, max_rows_per_file=1500, enable_stable_row_ids=True)
    before = rows_of(opened(path), data.column_names)
    said = result(path, "partition", "by=k")
    made = [d["fragment"] for d in said["plan"][0]["destinations"]]
    assert len(made) == len(set(data["k"].to_pylist())) > 512
    now = rows_of(opened(path), data.column_names)
    assert now == sorted(before, key=lambda row: row["k"])


@pytest.mark.parametrize("kind", ("plain", "stable"))
def test_rows_that_lie_so_already(kind):
    path = fresh()
    for at, name in enumerate("abc"):
        lance.write_dataset(pa.table({"k": [name] * 5, "n": pa.array(range(5))}), path,
                            mode="append" if at else "create",
                            enable_stable_row_ids=kind == "stable")
    said = result(path, "partition", "by=k")
    assert said["fragments_added"] == 0 and "version" not in said and "note" not in said
    assert opened(path).version == 3
    opened(path).delete("k = 'b' and n = 2")
    said = partition(path, "k")
    assert said["fragments_removed"] == said["fragments_added"] == 3
    opened(path).delete("true")
    assert "version" not in result(path, "partition", "by=k")


# ---- files of labels ----------------------------------------------------------------------

def labelled(count=60, stable=False):
    path = fresh()
    lance.write_dataset(tables.rows(0, count), path, max_rows_per_file=25,
                        enable_stable_row_ids=stable)
    opened(path).delete("id % 8 = 3")
    return path


def write(path, data):
    name = str(Path(path).parent / "labels")
    Path(name).write_bytes(data)
    return name


@pytest.mark.parametrize("stable", (False, True))
@pytest.mark.parametrize("form", ("u16", "text", "crlf"))
def test_labels_of_a_file(form, stable):
    path = labelled(stable=stable)
    rng = random.Random(form)
    labels = [None if i % 8 == 3 else rng.choice((0, 7, 65534)) for i in range(60)]
    if form == "u16":
        data = struct.pack("<60H", *(NO_LABEL if v is None else v for v in labels))
    else:
        end = "\r\n" if form == "crlf" else "\n"
        data = end.join("-" if v is None else str(v) for v in labels).encode() + end.encode()
    before = rows_of(opened(path), ["id"])
    words = [f"labels={write(path, data)}"]
    assert result(path, "partition", *words, "dry_run=true")["fragments_added"] == 3
    said = result(path, "partition", *words)
    assert [d["value"] for d in said["plan"][0]["destinations"]] == [0, 7, 65534]
    assert rows_of(opened(path), ["id"]) == sorted(before, key=lambda row: labels[row["id"]])
    opened(path).validate()


def test_a_label_of_a_deleted_row_says_nothing():
    path = labelled()
    said = result(path, "partition", f"labels={write(path, struct.pack('<60H', *range(60)))}")
    assert said["fragments_added"] == said["rows"] == 52


HOSTILE = {
    "empty": (b"", "0 labels for 60 rows"),
    "half": (struct.pack("<59H", *range(59)) + b"\1", "in the middle of the one of row 59"),
    "few": (struct.pack("<59H", *range(59)), "59 labels for 60 rows"),
    "many": (struct.pack("<61H", *range(61)), "more labels than there are rows, which are 60"),
    "none": (struct.pack("<60H", *([NO_LABEL] * 60)), "row 0 of fragment 0 is not deleted"),
    "few lines": (b"1\n" * 59, "59 labels for 60 rows"),
    "many lines": (b"1\n" * 61, "more labels than there are rows"),
    "empty line": (b"1\n\n" + b"1\n" * 58, "line 2 of the labels"),
    "two on a line": (b"1-\n" + b"1\n" * 59, "line 1 of the labels"),
    "too large": (b"65535\n" + b"1\n" * 59, "line 1 of the labels"),
    "endless": (b"1" * 4000 + b"\n" * 60, "line 1 of the labels"),
    "bare end": (b"1\r1\n" * 30, "line 1 of the labels"),
    "none of a line": (b"1\n-\n" * 30, "row 1 of fragment 0 is not deleted"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_labels_that_do_not_fit(name):
    data, why = HOSTILE[name]
    path = labelled()
    files = sorted(os.listdir(Path(path) / "data"))
    refused = refusal(path, "partition", f"labels={write(path, data)}")
    assert refused["errno"] == "EINVAL" and why in refused["error"]
    assert opened(path).version == 2 and sorted(os.listdir(Path(path) / "data")) == files


def test_the_form_of_labels_can_be_said():
    path = labelled()
    data = b"12" * 60  # 60 labels of two bytes, and one line
    assert "line 1" in refusal(path, "partition", f"labels={write(path, data)}")["error"]
    said = result(path, "partition", f"labels={write(path, data)}", "format=u16")
    assert [d["value"] for d in said["plan"][0]["destinations"]] == [0x3231]


# ---- what may not be mixed ----------------------------------------------------------------

@pytest.mark.parametrize("kind", tables.TABLES)
def test_covered_and_uncovered_fragments_are_not_mixed(kind):
    path = tables.make(kind)
    version = opened(path).version
    refused = refusal(path, "partition", "by=m")
    assert refused["errno"] == "EINVAL" and "fragments 0 and 5" in refused["error"]
    assert opened(path).version == version
    result(path, "partition", "by=m", "fragments=5")


# ---- meanwhile ----------------------------------------------------------------------------

@pytest.mark.parametrize("kind", tables.TABLES)
def test_deletions_and_appends_meanwhile(kind):
    """Partitions while pylance deletes and appends: no row is lost, doubled, or comes back."""
    path = tables.make(kind, fragments=3, count=60)
    deleted, stop, problems = set(), threading.Event(), []

    def disturb():
        first = 10 ** 6
        try:
            for at in range(12):
                if stop.is_set():
                    return
                deleted.update(range(at * 13 % 180, 240, 37))
                opened(path).delete(f"id < 1000 and id % 37 = {at * 13 % 180 % 37} "
                                    f"and id >= {at * 13 % 180}")
                tables.append(path, first + 100 * at, 5)
        except Exception as problem:  # told by the test
            problems.append(problem)
    start = set(opened(path).to_table(columns=["id"])["id"].to_pylist())
    thread = threading.Thread(target=disturb)
    thread.start()
    sources = "0-2"
    for _ in range(4):
        said = result(path, "partition", "by=m", f"fragments={sources}", "retries=100")
        if said["fragments_added"] > 0:
            sources = ",".join(str(d["fragment"]) for d in said["plan"][0]["destinations"])
    stop.set()
    thread.join(60)
    assert not problems
    now = opened(path)
    ids = now.to_table(columns=["id"])["id"].to_pylist()
    assert len(ids) == len(set(ids))
    assert {i for i in ids if i < 10 ** 6} == start - deleted
    tables.answers(now)
    now.validate()
