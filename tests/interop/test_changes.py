"""Changes: documents that come back as they were, files that are what a transaction says, and what
each builder makes, committed and read by pylance.
"""
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest
from lance.file import LanceFileWriter
from lance.fragment import write_fragments

import archives
import changes
import commits
import generate
import peer
import programs
import wire
from liblancet import Error

VERSIONS = ("2.0", "2.1", "2.2")


def fresh(name="data"):
    """A path for a dataset of its own."""
    return Path(tempfile.mkdtemp(dir=archives.scratch())) / f"{name}.lance"


def numbers(first, count):
    return pa.table({"id": pa.array(range(first, first + count), pa.int64()),
                     "name": [f"n{i}" for i in range(first, first + count)]})


def make(table=None, **options):
    path = fresh()
    lance.write_dataset(numbers(0, 30) if table is None else table, path,
                        **{"max_rows_per_file": 10, **options})
    return path


def ids_of(path, version=None):
    table = peer.opened(path, version).to_table(columns=["id"])
    return sorted(table["id"].to_pylist())


def refused(code, text, build, *arguments):
    """The builder fails so, and leaves the dataset as it was."""
    before = commits.files(arguments[0])
    with pytest.raises(Error) as failure:
        build(*arguments)
    assert failure.value.code == code, failure.value
    assert text in failure.value.text, failure.value
    assert commits.files(arguments[0]) == before


# ---- documents ------------------------------------------------------------------------------

def test_every_transaction_comes_back_from_its_json():
    files = [str(p) for group in archives.GROUPS for p in archives.unpacked(group).rglob("*.txn")]
    files += [str(p) for p in commits.home().rglob("*.txn")]
    assert len(files) > 2000
    verdicts = {}
    for at in range(0, len(files), 1000):
        done = subprocess.run([programs.program("tests/helpers/transactionjson"),
                               *files[at:at + 1000]], timeout=120, capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0 and done.stderr == "", done.stdout
        for line in done.stdout.splitlines():
            verdict = line.rpartition("\t")[2]
            verdicts[verdict] = verdicts.get(verdict, 0) + 1
    assert set(verdicts) <= {"same", "ordered", "unknown"}
    assert verdicts["same"] > 2000 and verdicts["unknown"] <= 3


def shown(path, number):
    return json.loads(programs.ShowTree(path).read(f"versions/{number}/transaction.json"))


@pytest.mark.parametrize("stable", (False, True))
def test_a_transaction_of_pylance_can_be_committed_from_what_is_shown_of_it(stable):
    """Shown on one dataset, committed to a copy of the version before: the same rows."""
    path = make(enable_stable_row_ids=stable)
    ds = lance.dataset(str(path))
    ds.delete("id % 7 = 3")
    ds.update({"name": "'new'"}, where="id > 20")
    ds.update_config({"a": "1", "\u00e9": "\n"})
    ds.drop_columns(["name"])
    lance.write_dataset(numbers(100, 5).drop_columns(["name"]), path, mode="append")
    for number in range(2, 7):
        copy = fresh()
        shutil.copytree(path, copy)
        lance.dataset(str(copy), version=number - 1).restore()
        document = shown(path, number)
        document["read_version"] = 7
        del document["uuid"]
        with changes.from_json(copy, document) as change:
            result = change.commit()
        assert result.version == 8
        assert result.operation.decode() == document["operation"]
        ours, theirs = peer.opened(copy), peer.opened(path, number)
        assert ours.to_table().sort_by("id") == theirs.to_table().sort_by("id")
        ours.validate()


def test_every_stored_transaction_is_sound():
    """Nothing that the reference wrote and whose files are there is refused."""
    checked = 0
    for case in commits.cases().values():
        if case["verdict"] == "DatasetNotFound":
            continue
        path = commits.stage(case["layers"])
        with changes.parse(path, (commits.home() / case["txn"]).read_bytes()) as change:
            assert change
        shutil.rmtree(path)
        checked += 1
    assert checked > 600


# ---- files that a document lies about -------------------------------------------------------

class Staged:
    """A dataset, and a fragment for it that is not committed, as a document."""

    def __init__(self, version="2.2"):
        self.path = make(data_storage_version=version)
        schema = lance.dataset(str(self.path)).schema
        found = write_fragments(numbers(50, 8), str(self.path), schema=schema,
                                data_storage_version=version)
        described = json.loads(json.dumps(found[0].to_json()))
        keys = ("path", "fields", "column_indices", "file_major_version", "file_minor_version",
                "file_size_bytes")
        files = [{k: f[k] for k in keys} for f in described["files"]]
        self.document = {"operation": "Append", "read_version": 1,
                         "body": {"fragments": [{"files": files, "physical_rows": 8}]}}
        self.fragment = self.document["body"]["fragments"][0]
        self.file = self.fragment["files"][0]
        self.data = self.path / "data" / self.file["path"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_staged_fragment_is_committed_by_its_document(version):
    staged = Staged(version)
    with changes.from_json(staged.path, staged.document) as change:
        assert change.commit().version == 2
    assert ids_of(staged.path) == [*range(30), *range(50, 58)]
    peer.opened(staged.path).validate()


LIES = {
    "another size": ("CORRUPT", "bytes are recorded, the file has",
                     lambda s: s.file.update(file_size_bytes=s.file["file_size_bytes"] + 1)),
    "other rows": ("CORRUPT", "8 rows, where 9 are due",
                   lambda s: s.fragment.update(physical_rows=9)),
    "a column that is not there": ("CORRUPT", "is in column 2 of 2",
                                   lambda s: s.file.update(column_indices=[0, 2])),
    "a negative column": ("CORRUPT", "is in column -2",
                          lambda s: s.file.update(column_indices=[0, -2])),
    "fewer columns than fields": ("CORRUPT", "2 fields, but 1 columns",
                                  lambda s: s.file.update(column_indices=[0])),
    "no fields": ("CORRUPT", "no field is listed",
                  lambda s: s.file.update(fields=[], column_indices=[])),
    "a field without an id": ("CORRUPT", "a field without an id",
                              lambda s: s.file.update(fields=[0, -1])),
    "another version": ("CORRUPT", "recorded as version 2.1, the file is 2.2",
                        lambda s: s.file.update(file_minor_version=1)),
    "a file that is not there": ("NOT_FOUND", "data/none.lance",
                                 lambda s: s.file.update(path="none.lance")),
    "a path out of the dataset": ("CORRUPT", "path of a file",
                                  lambda s: s.file.update(path="../data/x.lance")),
    "an absolute path": ("CORRUPT", "path of a file",
                         lambda s: s.file.update(path=str(s.data))),
    "an empty path": ("CORRUPT", "path of a file", lambda s: s.file.update(path="")),
    "a base that is not there": ("CORRUPT", "base 7", lambda s: s.file.update(base_id=7)),
    "no data file": ("CORRUPT", "magic is", lambda s: s.data.write_bytes(
        s.data.read_bytes()[:-4] + b"LAND")),
    "a file that was cut": ("CORRUPT", "bytes are recorded", lambda s: s.data.write_bytes(
        s.data.read_bytes()[:-100])),
    "a directory in its place": ("CORRUPT", "", lambda s: (s.data.unlink(), s.data.mkdir())),
    "a link out of the dataset": ("CORRUPT", "", lambda s: (
        s.data.unlink(), s.data.symlink_to("/etc/passwd"))),
    "a deletion file that is not there": (
        "NOT_FOUND", "_deletions/0-1-5.bin", lambda s: s.fragment.update(deletion_file={
            "file_type": "BITMAP", "read_version": "1", "id": "5", "num_deleted_rows": 1})),
    "an overlay that is not there": (
        "NOT_FOUND", "data/none.lance", lambda s: s.fragment.update(overlays=[{
            "data_file": {**s.file, "path": "none.lance"}, "committed_version": "1",
            "shared_offset_bitmap": "OjAAAAEAAAAAAAAAEAAAAAEA"}])),
    "an overlay of other rows": (
        "CORRUPT", "8 rows, 1 are covered", lambda s: s.fragment.update(overlays=[{
            "data_file": dict(s.file), "committed_version": "1",
            "shared_offset_bitmap": "OjAAAAEAAAAAAAAAEAAAAAEA"}])),
    "an overlay whose bitmap is damaged": (
        "CORRUPT", "", lambda s: s.fragment.update(overlays=[{
            "data_file": dict(s.file), "committed_version": "1",
            "shared_offset_bitmap": "AAAA"}])),
    "an overlay without coverage": (
        "CORRUPT", "overlay: no coverage", lambda s: s.fragment.update(overlays=[{
            "data_file": dict(s.file), "committed_version": "1"}])),
}


@pytest.mark.parametrize("label", LIES)
def test_a_document_that_lies_about_its_files_is_refused(label):
    code, text, lie = LIES[label]
    staged = Staged()
    lie(staged)
    refused(code, text, changes.from_json, staged.path, staged.document)
    assert ids_of(staged.path) == list(range(30))


def deleting(path, number):
    """The document of a delete that pylance made in that version."""
    document = shown(path, number)
    return document, document["body"]["updated_fragments"][0]["deletion_file"]


def test_deletion_files_are_held_against_what_was_deleted():
    path = make(numbers(0, 10))
    lance.dataset(str(path)).delete("id in (2, 3)")
    lance.dataset(str(path)).delete("id = 5")
    document, _ = deleting(path, 3)
    older, deletion = deleting(path, 2)
    with changes.from_json(path, document) as change:
        assert change  # the very transaction again
    # the set of version 2 on version 3 would bring row 5 back
    older["read_version"] = "3"
    del older["uuid"]
    refused("CORRUPT", "rows that were deleted in version 3 are not in it", changes.from_json,
            path, older)
    older["read_version"] = "1"
    deletion["num_deleted_rows"] = 3
    refused("CORRUPT", "3 rows are recorded, it has 2", changes.from_json, path, older)
    deletion["num_deleted_rows"] = 2
    older["body"]["updated_fragments"][0]["physical_rows"] = 3
    refused("CORRUPT", "3 physical rows, but version 1 has 10", changes.from_json, path, older)


def test_overlays_that_are_there_cover_what_they_did():
    case = commits.cases()["1645-overlay-updcol_f0v-vs-rw_23"]
    path = commits.stage(case["layers"])
    raw = (commits.home() / case["txn"]).read_bytes()
    overlay = wire.Message(raw).sub(108).subs(2)[0].subs(11)[0]
    bitmap = overlay.bytes(2)
    assert bitmap and raw.count(bitmap) == 1
    refused("CORRUPT", "", changes.parse, path, raw.replace(bitmap, bytes(len(bitmap))))


def test_moved_rows_come_once_and_are_gone_where_they_were():
    path = make(numbers(0, 10), enable_stable_row_ids=True)
    lance.dataset(str(path)).update({"name": "'x'"}, where="id in (2, 5)")
    with changes.from_json(path, shown(path, 2)) as change:
        assert change  # the very transaction again
    document = shown(path, 2)
    document["body"]["new_fragments"] *= 2
    refused("CORRUPT", "row id 2 comes twice", changes.from_json, path, document)
    document = shown(path, 2)
    document["body"]["updated_fragments"] = []
    refused("CORRUPT", "row 2 is not deleted, but row id 2", changes.from_json, path, document)
    document["body"]["removed_fragment_ids"] = ["0"]
    with changes.from_json(path, document) as change:
        assert change


def test_index_files_are_there_and_of_their_size():
    path = make()
    lance.dataset(str(path)).create_scalar_index("id", "BTREE")
    document = shown(path, 2)
    entry = document["body"]["new_indices"][0]
    with changes.from_json(path, document) as change:
        assert change
    entry["files"][0]["size_bytes"] += 1
    refused("CORRUPT", "bytes are recorded", changes.from_json, path, document)
    entry["files"][0]["size_bytes"] -= 1
    entry["files"][0]["path"] = "../x"
    refused("CORRUPT", "path of a file", changes.from_json, path, document)
    entry["files"] = []
    with changes.from_json(path, document) as change:
        assert change  # the directory holds something
    entry["uuid"] = "00000000-0000-4000-8000-000000000001"
    refused("NOT_FOUND", "_indices/00000000-0000-4000-8000-000000000001", changes.from_json, path,
            document)


def test_row_maps_of_a_history_are_there_and_sound():
    """The history that a transaction of the corpus drops, as an entry that is to be published."""
    case = next(c for c in commits.cases().values() if c["ours"]["key"] == "fri_drop")
    path = commits.stage(case["layers"])
    done = subprocess.run([programs.program("tests/helpers/transactionjson"), "show",
                           commits.home() / case["txn"]], timeout=60, capture_output=True,
                          check=True)
    document = json.loads(done.stdout)
    document["body"] = {"new_indices": document["body"]["removed_indices"]}
    with changes.from_json(path, document) as change:
        assert change
    details = document["body"]["new_indices"][0]["index_details"]
    del details["value"]  # what is decoded counts then
    with changes.from_json(path, document) as change:
        assert change
    partition = next(t["stable_partition"] for t in details["decoded"]["inline"]["transitions"]
                     if "stable_partition" in t)
    partition["map_size_bytes"] += 1
    refused("CORRUPT", "stable_partition.lance", changes.from_json, path, document)
    partition["map_size_bytes"] -= 1
    partition["map_id"] = "00000000-0000-4000-8000-000000000001"
    refused("NOT_FOUND", "_fri/00000000-0000-4000-8000-000000000001", changes.from_json, path,
            document)


@pytest.mark.parametrize("uuid", ("", "x", "../../../etc/passwd", "0" * 36,
                                  "ABCDEFAB-1234-4234-8234-123456789ABC", "a/b"))
def test_a_uuid_that_is_none_is_refused(uuid):
    staged = Staged()
    staged.document["uuid"] = uuid
    refused("INVALID", "uuid is no UUID", changes.from_json, staged.path, staged.document)


def test_a_read_version_that_is_gone_is_refused():
    staged = Staged()
    staged.document["read_version"] = 9
    refused("NOT_FOUND", "version 9", changes.from_json, staged.path, staged.document)
    staged.document["read_version"] = 0
    refused("INVALID", "read_version is 0", changes.from_json, staged.path, staged.document)


@pytest.mark.parametrize("raw, code, text", (
    (b"", "CORRUPT", "no operation"),
    (b"\x08", "CORRUPT", "not decodable"),
    (b"\x08\x01\xc2\x0c\x00", "UNSUPPORTED", "Unknown(200)"),
    (b"\xd2\x06\x02\x08\x01\xc2\x0c\x00", "UNSUPPORTED", "Unknown(200)"),
    (b"\xd2\x06\x02\x08\x01", "CORRUPT", "uuid"),
    (b"\xa2\x06\x80\x80\x40" + b"\x0a\x00" * 524288, "LIMIT", "decode to more than"),
))
def test_bytes_that_are_no_transaction_are_refused(raw, code, text):
    refused(code, text, changes.parse, make(numbers(0, 5)), raw)


# ---- deletes --------------------------------------------------------------------------------

@pytest.mark.parametrize("stable", (False, True))
@pytest.mark.parametrize("what", ("ids", "addrs"))
def test_rows_are_deleted_by_id_and_by_address(stable, what):
    path = make(enable_stable_row_ids=stable)
    ds = lance.dataset(str(path))
    ds.delete("id = 4")
    rows = peer.rows(peer.opened(path))
    column = "_rowid" if what == "ids" else "_rowaddr"
    wanted = [3, 5, 12, 13, *range(20, 30)]
    picked = [r[column] for r in rows.to_pylist() if r["id"] in wanted]
    if what == "ids":
        text = ",".join(map(str, picked))
        change = changes.delete_ids(path, 2, text)
    else:
        text = ";".join(f"{a >> 32}:{a & 0xffffffff}" for a in picked)
        change = changes.delete_addrs(path, 2, text)
    with change:
        assert change.rows == 14
        result = change.commit()
    assert (result.version, result.operation) == (3, b"Delete")
    left = peer.opened(path)
    left.validate()
    assert ids_of(path) == sorted({*range(30)} - {4, *wanted})
    # the third fragment lost all its rows, the others have vectors
    assert [f.fragment_id for f in left.get_fragments()] == [0, 1]
    assert [f.physical_rows for f in left.get_fragments()] == [10, 10]
    body = shown(path, 3)["body"]
    assert body["deleted_fragment_ids"] == [2]
    assert body["predicate"].startswith("_rowid = " if what == "ids" else "_rowaddr = ")
    # pylance goes on from there
    lance.dataset(str(path)).delete("id = 0")
    assert ids_of(path) == sorted({*range(1, 30)} - {4, *wanted})
    peer.opened(path).validate()


def test_rows_that_are_deleted_already_are_skipped():
    path = make(enable_stable_row_ids=True)
    lance.dataset(str(path)).delete("id < 12")
    with changes.delete_ids(path, 2, "0-11") as change:
        assert not change and change.rows == 0
    with changes.delete_ids(path, 2, "0-13") as change:
        assert change.rows == 2
        change.commit()
    assert ids_of(path) == list(range(14, 30))
    with changes.delete_addrs(path, 2, "1:0-1") as change:
        assert not change


def test_a_row_that_moved_is_found_by_its_id():
    path = make(enable_stable_row_ids=True)
    lance.dataset(str(path)).update({"name": "'moved'"}, where="id in (1, 11)")
    with changes.delete_ids(path, 2, "1,11,12") as change:
        assert change.rows == 3
        change.commit()
    assert ids_of(path) == sorted({*range(30)} - {1, 11, 12})
    peer.opened(path).validate()


@pytest.mark.parametrize("stable, build, text, why", (
    (True, changes.delete_ids, "5,30", "row 30: there is none, the next row will be 30"),
    (True, changes.delete_ids, "0-4000000000", "row 30: there is none"),
    (False, changes.delete_ids, "0-4000000000", "row 10: fragment 0 has 10 rows"),
    (False, changes.delete_ids, "12884901888", "there is no fragment 3"),
    (False, changes.delete_addrs, "0:3;1:10", "row 4294967306: fragment 1 has 10 rows"),
    (True, changes.delete_addrs, "7:0", "there is no fragment 7"),
))
def test_a_row_that_never_was_is_refused(stable, build, text, why):
    path = make(enable_stable_row_ids=stable)
    refused("NOT_FOUND", why, build, path, 1, text)


@pytest.mark.parametrize("build, text", (
    (changes.delete_ids, ""), (changes.delete_ids, ","), (changes.delete_ids, "1,"),
    (changes.delete_ids, "3-1"), (changes.delete_ids, "-1"), (changes.delete_ids, "1-"),
    (changes.delete_ids, "01"), (changes.delete_ids, "1 2"), (changes.delete_ids, "1:2"),
    (changes.delete_ids, "18446744073709551616"), (changes.delete_addrs, ""),
    (changes.delete_addrs, "1"), (changes.delete_addrs, "1:"), (changes.delete_addrs, ":1"),
    (changes.delete_addrs, "1:1;"), (changes.delete_addrs, "4294967295:1"),
    (changes.delete_addrs, "1:4294967296"), (changes.delete_addrs, "1:1:1"),
))
def test_rows_that_can_not_be_understood_are_refused(build, text):
    refused("INVALID", "", build, make(numbers(0, 5)), 1, text)


@pytest.mark.parametrize("stable", (False, True))
def test_a_wide_range_of_many_rows(stable):
    """More rows than are looked for one by one; half of them are deleted before."""
    count = 300_000
    path = make(pa.table({"id": pa.array(np.arange(count))}), max_rows_per_file=100_000,
                enable_stable_row_ids=stable)
    lance.dataset(str(path)).delete("id % 2 = 0")
    text = "0-250000" if stable else "0-99999,4294967296-4295067295,8589934592-8589984592"
    with changes.delete_ids(path, 2, text) as change:
        assert change.rows == 125_000
        change.commit()
    assert ids_of(path) == list(range(250_001, count, 2))
    peer.opened(path).validate()


def test_deletes_of_other_rows_meanwhile_are_merged():
    path = make(enable_stable_row_ids=True)
    with changes.delete_ids(path, 1, "1,2,11-19,20-29") as change:
        lance.dataset(str(path)).delete("id in (0, 10)")
        result = change.commit()
    assert (result.version, result.rebased_over, result.read_version) == (3, 2, 2)
    assert ids_of(path) == [3, 4, 5, 6, 7, 8, 9]
    left = peer.opened(path)
    left.validate()
    # fragment 1 lost its last rows to both of them
    assert [f.fragment_id for f in left.get_fragments()] == [0]


def test_a_delete_of_the_same_row_meanwhile_is_a_conflict():
    path = make()
    with changes.delete_addrs(path, 1, "0:1-2") as change:
        lance.dataset(str(path)).delete("id = 1")
        with pytest.raises(Error) as failure:
            change.commit()
    assert failure.value.code == "BUSY"
    assert ids_of(path) == [0, *range(2, 30)]


def test_all_rows_are_deleted():
    path = make(enable_stable_row_ids=True)
    with changes.delete_ids(path, 1, "0-29") as change:
        assert change.rows == 30
        change.commit()
    assert ids_of(path) == []
    lance.write_dataset(numbers(30, 3), path, mode="append")
    left = peer.opened(path)
    left.validate()
    assert peer.rows(left)["_rowid"].to_pylist() == [30, 31, 32]


def test_whole_fragments_are_dropped_without_their_files():
    path = make(enable_stable_row_ids=True)
    lance.dataset(str(path)).delete("id in (13, 14)")
    lost = lance.dataset(str(path)).get_fragment(1).data_files()[0].path
    (path / "data" / lost).unlink()
    with changes.drop_fragments(path, 2, 1) as change:
        assert change.rows == 8
        change.commit()
    assert ids_of(path) == [*range(10), *range(20, 30)]
    peer.opened(path).validate()
    assert shown(path, 3)["body"]["predicate"] == "_rowaddr >> 32 IN (1)"
    refused("NOT_FOUND", "1", changes.drop_fragments, path, 3, 1)
    refused("INVALID", "twice", changes.drop_fragments, path, 3, 0, 0)


# ---- appends --------------------------------------------------------------------------------

def write_file(table, version, name="rows.lance"):
    path = fresh(name).with_name(name)
    with LanceFileWriter(str(path), schema=table.schema, version=version) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
    return path


def nested(first, count, version="2.2"):
    numbers_of = range(first, first + count)
    nulls = version != "2.0"  # which has none of structs
    return pa.table({
        "id": pa.array(numbers_of, pa.int64()),
        "s": pa.array([None if nulls and i % 5 == 4 else {"a": i, "t": {"b": f"b{i}", "c": i % 3 == 0}}
                       for i in numbers_of],
                      pa.struct([("a", pa.int32()),
                                 ("t", pa.struct([("b", pa.string()), ("c", pa.bool_())]))])),
        "l": pa.array([None if i % 4 == 3 else list(range(i % 4)) for i in numbers_of],
                      pa.list_(pa.int16())),
        "ls": pa.array([[{"p": j, "q": None if j else "q"} for j in range(i % 3)]
                        for i in numbers_of],
                       pa.list_(pa.struct([("p", pa.float64()), ("q", pa.string())]))),
        "v": pa.array([[float(i)] * 4 for i in numbers_of], pa.list_(pa.float32(), 4)),
        "d": pa.array([f"d{i % 2}" for i in numbers_of]).dictionary_encode(),
        "z": pa.array([None] * count, pa.null()),
    })


@pytest.mark.parametrize("stable", (False, True))
@pytest.mark.parametrize("version", VERSIONS)
def test_a_data_file_is_appended(version, stable):
    """Columns of every shape, in another order than the dataset's."""
    first, more = nested(0, 20, version), nested(20, 13, version)
    path = make(first, data_storage_version=version, enable_stable_row_ids=stable)
    file = write_file(more.select(["v", "ls", "id", "d", "s", "z", "l"]), version)
    with changes.append_file(path, 1, file) as change:
        assert change.rows == 13
        assert change.commit().version == 2
    ds = peer.opened(path)
    ds.validate()
    assert ds.to_table() == pa.concat_tables([first, more]).unify_dictionaries() or \
        ds.to_table().to_pylist() == first.to_pylist() + more.to_pylist()
    # as pylance lists the columns of a file of its own
    theirs = ds.get_fragment(0).data_files()[0]
    ours = ds.get_fragment(2).data_files()[0]
    assert sorted(ours.fields) == sorted(theirs.fields)
    assert (ours.file_major_version, ours.file_minor_version) == \
        (theirs.file_major_version, theirs.file_minor_version)
    assert ours.file_size_bytes == file.stat().st_size
    assert len(ours.path) == len(theirs.path)
    assert set(ours.path[:24]) <= {"0", "1"}
    # take by row id, and a write by pylance on top
    taken = ds.take([25, 32]).to_pylist()
    assert [row["id"] for row in taken] == [25, 32]
    lance.write_dataset(nested(33, 2, version), path, mode="append", data_storage_version=version)
    assert ids_of(path) == list(range(35))
    peer.opened(path).validate()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_in_the_same_order_lists_the_same_columns(version):
    path = make(nested(0, 20, version), data_storage_version=version)
    with changes.append_file(path, 1, write_file(nested(20, 4, version), version)) as change:
        change.commit()
    files = [f.data_files()[0] for f in peer.opened(path).get_fragments()]
    assert files[2].fields == files[0].fields
    assert files[2].column_indices == files[0].column_indices


@pytest.mark.parametrize("version", generate.VERSIONS)
@pytest.mark.parametrize("seed", range(8))
def test_generated_files_are_appended(version, seed):
    """The same rows twice: as pylance wrote them, and as we took them."""
    table = generate.table(version, 9000 + seed)
    path = make(table, data_storage_version=version, max_rows_per_file=1 << 20)
    with changes.append_file(path, 1, write_file(table, version)) as change:
        assert change.rows == len(table)
        if not change:
            return
        change.commit()
    ds = peer.opened(path)
    first, second = [f.to_table().to_pylist() for f in ds.get_fragments()]
    assert repr(second) == repr(first)
    files = [f.data_files()[0] for f in ds.get_fragments()]
    assert (files[1].fields, files[1].column_indices) == (files[0].fields, files[0].column_indices)
    ds.validate()


def own_file(ident):
    """A copy of a stored dataset, its newest version, and the first data file of that."""
    path = fresh()
    shutil.copytree(archives.dataset(ident).path, path)
    ds = peer.opened(path)
    return path, ds, path / "data" / ds.get_fragments()[0].data_files()[0].path


@pytest.mark.parametrize("name", ("blob_v1_2_0", "blob_v1_2_1"))
def test_blobs_inside_of_a_file_are_appended(name):
    path, ds, file = own_file(f"fixtures/{name}")
    before, (column, *_) = ds.count_rows(), peer.blob_columns(ds)
    with changes.append_file(path, ds.version, file) as change:
        change.commit()
        added = change.rows
    ds = peer.opened(path)
    assert ds.count_rows() == before + added
    fragments = ds.get_fragments()
    offsets = [a & 0xffffffff for a in fragments[0].scanner(
        columns=[], with_row_address=True).to_table()["_rowaddr"].to_pylist()]

    def blobs(fragment):
        found = ds.take_blobs(column, addresses=[(fragment << 32) + o for o in offsets])
        return [b and b.readall() for b in found]
    assert blobs(fragments[-1].fragment_id) == blobs(fragments[0].fragment_id)
    assert any(blobs(0))


def test_blobs_beside_a_file_are_refused():
    path, ds, file = own_file("fixtures/blob_v2")
    refused("UNSUPPORTED", "a blob that has files of its own", changes.append_file, path,
            ds.version, file)


def test_a_nullable_column_may_be_missing():
    path = make()
    file = write_file(numbers(30, 4).select(["id"]), "2.2")
    with changes.append_file(path, 1, file) as change:
        change.commit()
    assert ids_of(path) == list(range(34))
    assert peer.opened(path).to_table()["name"].to_pylist()[30:] == [None] * 4


def strict():
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False),
                        pa.field("s", pa.struct([pa.field("a", pa.int32(), nullable=False),
                                                 ("b", pa.int32())]))])
    return pa.table({"id": range(5), "s": [{"a": i, "b": i} for i in range(5)]}, schema=schema)


MISMATCHES = {
    "another type": (pa.table({"id": pa.array([1], pa.int32())}), "2.2", "INVALID",
                     'column "id": the file has int32, the dataset int64'),
    "an unknown column": (pa.table({"x": [1]}), "2.2", "INVALID",
                          'column "x": the dataset has no such column'),
    "a missing column": (pa.table({"s": pa.array([None], strict().schema.field("s").type)}), "2.2",
                         "INVALID", 'column "id": the file lacks it, and it can\'t be null'),
    "nullable": (pa.table({"id": [1, 2]}), "2.2", "INVALID",
                 'column "id": it is nullable in the file'),
    "a missing member": (pa.table(
        {"id": [1], "s": [{"a": 1}]}, schema=pa.schema([
            pa.field("id", pa.int64(), nullable=False),
            pa.field("s", pa.struct([pa.field("a", pa.int32(), nullable=False)]))])), "2.2",
        "INVALID", 'column "s.b": the file lacks it'),
    "a nullable member": (pa.table(
        {"id": [1], "s": [{"a": 1, "b": 1}]}, schema=pa.schema([
            pa.field("id", pa.int64(), nullable=False),
            pa.field("s", pa.struct([("a", pa.int32()), ("b", pa.int32())]))])), "2.2",
        "INVALID", 'column "s.a": it is nullable in the file'),
    "a member of another type": (pa.table(
        {"id": [1], "s": [{"a": 1, "b": "x"}]}, schema=pa.schema([
            pa.field("id", pa.int64(), nullable=False),
            pa.field("s", pa.struct([pa.field("a", pa.int32(), nullable=False),
                                     ("b", pa.string())]))])), "2.2",
        "INVALID", 'column "s.b": the file has string, the dataset int32'),
    "another version": (strict(), "2.1", "INVALID",
                        "a data file of version 2.1, the dataset is of 2.2"),
}


@pytest.mark.parametrize("label", MISMATCHES)
def test_a_file_that_does_not_fit_is_refused(label):
    table, version, code, text = MISMATCHES[label]
    path = make(strict(), data_storage_version="2.2")
    refused(code, text, changes.append_file, path, 1, write_file(table, version))


def test_what_is_no_data_file_is_refused(tmp_path):
    path = make()
    text = tmp_path / "rows.csv"
    text.write_text("id,name\n1,x\n" * 10)
    refused("CORRUPT", "magic is", changes.append_file, path, 1, text)
    text.write_bytes(b"")
    refused("CORRUPT", "0 bytes", changes.append_file, path, 1, text)
    good = write_file(numbers(30, 100), "2.2").read_bytes()
    for cut in (1, 40, 100, len(good) // 2):
        text.write_bytes(good[cut:])
        refused("CORRUPT", "", changes.append_file, path, 1, text)


def test_lineage_columns_are_refused():
    """A data file of a compacted dataset has them behind the others, with ids of their own."""
    path = make(enable_stable_row_ids=True)
    ds = lance.dataset(str(path))
    ds.update_config({"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "0"})
    ds.delete("id % 3 = 0")
    ds.optimize.compact_files()
    file = peer.opened(path).get_fragments()[0].data_files()[0]
    assert -3 in file.fields
    number = peer.opened(path).version
    refused("UNSUPPORTED", "_rowid", changes.append_file, path, number, path / "data" / file.path)


def test_no_rows_are_no_change():
    path = make()
    with changes.append_file(path, 1, write_file(numbers(0, 1).slice(0, 0), "2.2")) as change:
        assert not change and change.rows == 0


def test_an_append_that_is_not_committed_leaves_nothing():
    path = make()
    before = commits.files(path)
    with changes.append_file(path, 1, write_file(numbers(30, 4), "2.2")) as change:
        assert len(commits.files(path)) == len(before) + 1
        assert change
    assert commits.files(path) == before


# ---- settings, columns, indices, versions ---------------------------------------------------

def test_settings_are_set_and_unset():
    path = make()
    ds = lance.dataset(str(path))
    ds.update_config({"old": "1", "kept": "2"})
    with changes.settings(
            path, 2, (changes.CONFIG, None, "old", None), (changes.CONFIG, None, "new", "3"),
            (changes.CONFIG, None, "lance.auto_cleanup.interval", "9"),
            (changes.TABLE_METADATA, None, "t", "4"), (changes.SCHEMA_METADATA, None, "s", ""),
            (changes.FIELD_METADATA, "name", "f", "\u00e9\n"),
            (changes.FIELD_METADATA, "id", "f", "6")) as change:
        assert change.commit().version == 3
    ds = peer.opened(path)
    assert ds.config() == {"kept": "2", "new": "3", "lance.auto_cleanup.interval": "9"}
    assert ds.metadata == {"t": "4"}
    assert ds.schema.metadata == {b"s": b""}
    assert ds.schema.field("name").metadata == {b"f": "\u00e9\n".encode()}
    assert ds.schema.field("id").metadata == {b"f": b"6"}
    with changes.settings(path, 3, (changes.FIELD_METADATA, "id", "f", None)) as change:
        change.commit()
    assert not peer.opened(path).schema.field("id").metadata


@pytest.mark.parametrize("wanted, code, text", (
    ([], "INVALID", "no key"),
    ([(changes.CONFIG, None, "", "1")], "INVALID", "a key is empty"),
    ([(changes.CONFIG, None, "a", "1"), (changes.CONFIG, None, "a", "2")], "INVALID", "twice"),
    ([(changes.FIELD_METADATA, "x", "a", "1")], "NOT_FOUND", 'column "x"'),
    ([(changes.FIELD_METADATA, None, "a", "1")], "INVALID", "which field"),
    ([(changes.CONFIG, None, "a" * 5000, "1")], "LIMIT", "5000 bytes"),
))
def test_settings_that_make_no_sense_are_refused(wanted, code, text):
    refused(code, text, changes.settings, make(numbers(0, 5)), 1, *wanted)


def wide():
    return pa.table({"id": range(6), "s": [{"a": i, "b": {"c": i, "d": str(i)}} for i in range(6)],
                     "l": [[i] for i in range(6)], "ls": [[{"p": i, "q": i}] for i in range(6)]})


DROPS = (["l"], ["s.a"], ["s.b.c"], ["s.a", "s.b"], ["ls.item.p"], ["l.item"], ["s", "s.a"],
         ["id", "l", "ls"], ["s.b.c", "s.b.d"])


@pytest.mark.parametrize("columns", DROPS, ids=",".join)
def test_columns_are_dropped_as_pylance_drops_them(columns):
    ours, theirs = make(wide()), make(wide())
    with changes.drop_columns(ours, 1, *columns) as change:
        assert change.commit().operation == b"Project"
    lance.dataset(str(theirs)).drop_columns(columns)
    assert peer.schema(peer.opened(ours)) == peer.schema(peer.opened(theirs))
    assert peer.opened(ours).to_table() == peer.opened(theirs).to_table()
    assert [[f.fields for f in x.data_files()] for x in peer.opened(ours).get_fragments()] == \
        [[f.fields for f in x.data_files()] for x in peer.opened(theirs).get_fragments()]
    peer.opened(ours).validate()


def test_columns_that_can_not_be_dropped():
    path = make(wide())
    refused("INVALID", "all columns", changes.drop_columns, path, 1, "id", "s", "l", "ls")
    refused("INVALID", "no column", changes.drop_columns, path, 1)
    for name in ("x", "s.x", "s.a.x", "", ".", "s.", "id.id"):
        refused("NOT_FOUND", f'column "{name}"', changes.drop_columns, path, 1, name)


@pytest.mark.parametrize("column, to", (("id", "number"), ("s", "t"), ("s.a", "z"), ("s.b.d", "e"),
                                        ("ls.item.q", "r"), ("s.a", "x.y")))
def test_columns_are_renamed_as_pylance_renames_them(column, to):
    ours, theirs = make(wide()), make(wide())
    with changes.rename_column(ours, 1, column, to) as change:
        assert change.commit().operation == b"Project"
    lance.dataset(str(theirs)).alter_columns({"path": column, "name": to})
    assert peer.schema(peer.opened(ours)) == peer.schema(peer.opened(theirs))
    assert peer.opened(ours).to_table() == peer.opened(theirs).to_table()


@pytest.mark.parametrize("column, to, code, text", (
    ("x", "y", "NOT_FOUND", 'column "x"'), ("id", "s", "EXISTS", 'column "s"'),
    ("s.a", "b", "EXISTS", "one already"), ("id", "id", "INVALID", "that is its name"),
    ("id", "", "INVALID", "empty"), ("id", "a.b", "INVALID", "dot"),
    ("id", "_rowid", "INVALID", "reserved"), ("l.item", "i", "INVALID", "members of structs"),
))
def test_names_that_can_not_be_given(column, to, code, text):
    refused(code, text, changes.rename_column, make(wide()), 1, column, to)


def test_an_index_is_dropped():
    path = make()
    ds = lance.dataset(str(path))
    ds.create_scalar_index("id", "BTREE", name="one")
    ds.create_scalar_index("name", "BITMAP", name="two")
    with changes.drop_index(path, 3, "one") as change:
        assert change.commit().operation == b"CreateIndex"
    left = peer.opened(path)
    assert [i["name"] for i in left.list_indices()] == ["two"]
    assert left.to_table(filter="name = 'n7'")["id"].to_pylist() == [7]
    refused("NOT_FOUND", 'index "one"', changes.drop_index, path, 4, "one")


def test_all_segments_of_an_index_are_dropped():
    path = make()
    ds = lance.dataset(str(path))
    ds.create_scalar_index("id", "BTREE", name="one")
    lance.write_dataset(numbers(30, 10), path, mode="append")
    lance.dataset(str(path)).optimize.optimize_indices(num_indices_to_merge=0)
    number = peer.opened(path).version
    segments = json.loads(programs.ShowTree(path).read(
        f"versions/{number}/indices/one/info.json"))["segments"]
    assert len(segments) == 2
    with changes.drop_index(path, number, "one") as change:
        change.commit()
    assert peer.opened(path).list_indices() == []


def test_a_system_entry_is_not_dropped():
    path = make()
    lance.dataset(str(path)).create_scalar_index("id", "BTREE")
    lance.dataset(str(path)).optimize.compact_files(defer_index_remap=True)
    number = peer.opened(path).version
    refused("INVALID", "system", changes.drop_index, path, number, "__lance_frag_reuse")


def test_a_version_is_restored():
    path = make(enable_stable_row_ids=True)
    lance.dataset(str(path)).delete("id > 3")
    with changes.restore(path, 2, 1) as change:
        assert change.commit().version == 3
    assert ids_of(path) == list(range(30))
    peer.opened(path).validate()
    refused("NOT_FOUND", "", changes.restore, path, 3, 99)
