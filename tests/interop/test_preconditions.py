"""Cell preconditions against what the reference commits meanwhile.

A transaction that demands cells of fragment 0 was built on version 1; pylance commits something
else; tests/helpers/commit then takes it or not. The reference carries a list of conditions that it
does not know along, and goes on.
"""
import uuid

import lance
import pyarrow as pa
import pytest

import commits
import facts
import wire

ROWS = 20


def table(first, count):
    return pa.table({"a": range(first, first + count), "b": [f"b{i}" for i in range(count)]})


def condition(field, whole=True):
    rows = [[1, 0, 0], [2, 0, 1]] if whole else [[1, 0, 0], [3, 2, bytes.fromhex(
        "3a3000000100000000000000100000000100")]]
    return wire.encode([[1, 2, bytes([field])], [2, 2, wire.encode(rows)]])


def transaction(*conditions):
    entry = wire.encode([[1, 2, b"k"], [2, 2, b"v"]])
    return wire.encode([[1, 0, 1], [2, 2, str(uuid.uuid4()).encode()],
                        *[[5, 2, raw] for raw in conditions],
                        [110, 2, wire.encode([[6, 2, wire.encode([[1, 2, entry]])]])]])


def nothing(data):
    return data


def append(data):
    return lance.write_dataset(table(100, 3), data.uri, mode="append")


def add_column(data):
    data.add_columns({"c": "a + 1"})


# What is committed, the field that is demanded, the version that broke it; 0: it holds.
CASES = {
    "nothing": (nothing, 0, 0),
    "append": (append, 0, 0),
    "config": (lambda d: d.update_config({"x": "y"}), 0, 0),
    "index": (lambda d: d.create_scalar_index("a", "BTREE"), 0, 0),
    "delete in another fragment": (lambda d: d.delete("a = 15"), 0, 0),
    "delete": (lambda d: d.delete("a = 5"), 0, 2),
    "append, then delete": (lambda d: append(d).delete("a = 5"), 0, 3),
    "update": (lambda d: d.update({"b": "'x'"}, where="a = 5"), 1, 2),
    "update in another fragment": (lambda d: d.update({"b": "'x'"}, where="a = 15"), 1, 0),
    "drop it": (lambda d: d.drop_columns(["b"]), 1, 2),
    "drop another": (lambda d: d.drop_columns(["b"]), 0, 0),
    "rename": (lambda d: d.alter_columns({"path": "b", "name": "z"}), 1, 0),
    "cast": (lambda d: d.alter_columns({"path": "b", "data_type": pa.large_string()}), 1, 2),
    "add a column": (add_column, 0, 0),
    "compact": (lambda d: d.optimize.compact_files(), 0, 3),
    "overwrite": (lambda d: lance.write_dataset(table(0, ROWS), d.uri, mode="overwrite"), 0, 2),
    "overwrite, then restore": (lambda d: lance.write_dataset(
        table(0, ROWS), d.uri, mode="overwrite").checkout_version(1).restore(), 0, 0),
}


@pytest.fixture(name="data")
def _data(tmp_path):
    return lance.write_dataset(table(0, ROWS), tmp_path / "x.lance", max_rows_per_file=10)


@pytest.mark.parametrize("stable", [False, True], ids=["addresses", "stable"])
@pytest.mark.parametrize("name", CASES)
def test_conditions_hold_or_not(tmp_path, name, stable):
    change, field, broken = CASES[name]
    data = lance.write_dataset(table(0, ROWS), tmp_path / "x.lance", max_rows_per_file=10,
                               enable_stable_row_ids=stable)
    change(data)
    newest = lance.dataset(data.uri).version
    got = commits.commit(data.uri, transaction(condition(field, False)), 1)
    if broken:
        assert got["code"] == "precondition", got
        assert (got["failed_field"], got["conflict_version"]) == (field, broken)
        assert max(facts.manifests(data.uri)) == newest
    else:
        assert (got["code"], got["version"]) == ("ok", newest + 1), got
        stored = facts.version(data.uri, newest + 1).transaction
        assert wire.Message(stored.raw).raws(5) == [condition(field, False)]


def test_the_reference_goes_on(data):
    assert commits.commit(data.uri, transaction(condition(0)), 1)["code"] == "ok"
    append(data)
    assert lance.dataset(data.uri).count_rows() == ROWS + 3
    assert lance.dataset(data.uri).config() == {"k": "v"}


@pytest.mark.parametrize("raw", [b"\x18\x01", b"\xff", condition(0) + b"\x20\x01"])
def test_an_unknown_form_is_never_evaluated(data, raw):
    got = commits.commit(data.uri, transaction(raw), 1)
    assert got["code"] == "unsupported" and "never evaluated" in got["text"]
    assert max(facts.manifests(data.uri)) == 1
