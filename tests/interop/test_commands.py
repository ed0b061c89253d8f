"""`lancet COMMAND`: what pylance finds afterwards."""
import datetime
import json
import os
import signal
import subprocess
import time

import lance
import pyarrow as pa
import pytest

import programs
import snapshot
from commandline import (PROPERTY, ids, make, opened, properties, refusal, result, run, table)


@pytest.fixture(params=[True, False], ids=["stable", "addresses"])
def either(scratch, request):
    return make(scratch / "d.lance", stable=request.param), request.param


@pytest.fixture
def data(scratch):
    return make(scratch / "d.lance")


def content(path):
    """Every name and byte. Times of directories may change: what a commit tries leaves no name."""
    return {str(p.relative_to(path)): p.read_bytes() if p.is_file() else None
            for p in sorted(path.rglob("*"))}


def refused_without_change(path, *words, text=None):
    before = content(path)
    out = refusal(path, *words, text=text)
    assert content(path) == before
    return out


# ---- delete -------------------------------------------------------------------------------

def test_rows_are_deleted_by_id(either):
    path, stable = either
    # without stable ids a row id is its address: fragment 1 begins at 2^32
    rows = "5,17-20,26" if stable else f"5,17-20,{(1 << 32) + 1}"
    out = result(path, "delete", f"row_ids={rows}", "message=two words")
    assert out["deleted_rows"] == 6 and out["operation"] == "Delete"
    assert (out["read_version"], out["version"], out["attempts"]) == ("1", "2", 1)
    assert ids(path) == [i for i in range(100) if i not in (5, 17, 18, 19, 20, 26)]
    assert properties(path, 2)[PROPERTY] == "two words"
    assert opened(path).read_transaction(2).uuid == out["uuid"]
    assert ids(path, 1) == list(range(100))


def test_rows_are_deleted_by_address(either):
    path, _ = either
    out = result(path, "delete", "row_addrs=0:1,3-5;2:0-24")
    assert out["deleted_rows"] == 29
    assert ids(path) == [i for i in range(75) if i not in (1, 3, 4, 5) and not 50 <= i < 75] + \
        list(range(75, 100))
    assert [f.fragment_id for f in opened(path).get_fragments()] == [0, 1, 3]


def test_what_is_deleted_already_makes_no_version(either):
    path, _ = either
    result(path, "delete", "row_addrs=1:3-4")
    out = result(path, "delete", "row_addrs=1:3-4")
    assert out["deleted_rows"] == 0 and "version" not in out and "attempts" not in out
    assert opened(path).latest_version == 2


def test_a_dry_run_counts_and_changes_nothing(either):
    path, _ = either
    before = snapshot.of(path)
    out = result(path, "delete", "row_addrs=1:3-4", "dry_run=true", "token=t")
    assert out["deleted_rows"] == 2 and out["dry_run"] is True and "version" not in out
    assert snapshot.changes(before, snapshot.of(path)) == []


@pytest.mark.parametrize("words, errno", [
    (["row_ids=100"], "ENOENT"), (["row_addrs=0:25"], "ENOENT"), (["row_addrs=9:0"], "ENOENT"),
    (["row_ids=x"], "EINVAL"), (["row_ids=5-4"], "EINVAL"), (["row_ids="], "EINVAL"),
    (["row_addrs=0"], "EINVAL"), (["where=id >"], "EINVAL"), ([], "EINVAL"),
    (["row_ids=1", "row_addrs=0:1"], "EINVAL"), (["row_ids=1", "rows=2"], "EINVAL"),
    (["row_ids=1", "read_version=7"], "ENOENT"), (["row_ids=1", "read_version=0"], "EINVAL"),
    (["row_ids=1", "retries=1001"], "EINVAL"), (["row_ids=1", "token="], "EINVAL"),
    (["row_ids=1", "async=true"], "EINVAL"), (["row_ids=1", "branch=none"], "ENOENT"),
    (["row_ids=1", "require=nothing@0:*"], "ENOENT"), (["row_ids=1", "require=id"], "EINVAL"),
])
def test_what_can_not_be_deleted_changes_nothing(data, words, errno):
    assert refused_without_change(data, "delete", *words)["errno"] == errno


# ---- commits of others --------------------------------------------------------------------

def test_a_delete_is_put_upon_the_deletes_of_others(data):
    opened(data).delete("id in (1, 30)")
    opened(data).update_config({"a": "b"})
    out = result(data, "delete", "row_addrs=0:2-3", "read_version=1")
    assert (out["version"], out["rebased_over"], out["attempts"]) == ("4", "3", 1)
    assert ids(data) == [i for i in range(100) if i not in (1, 2, 3, 30)]


def test_the_same_rows_are_a_conflict_for_who_names_the_version(data):
    opened(data).delete("id = 2")
    out = refused_without_change(data, "delete", "row_addrs=0:2-3", "read_version=1")
    assert (out["errno"], out["code"]) == ("EBUSY", "retryable")
    assert out["conflicts_with"]["version"] == "2"
    assert out["conflicts_with"]["operation"] == "Delete" and out["conflicts_with"]["rule"]
    # without it the question is about the newest version, where row 2 is gone
    assert result(data, "delete", "row_addrs=0:2-3")["deleted_rows"] == 1


def test_what_can_not_go_together_is_incompatible(data):
    lance.write_dataset(table(0, 5), str(data), mode="overwrite")
    out = refused_without_change(data, "delete", "row_addrs=0:2", "read_version=1")
    assert (out["errno"], out["code"]) == ("ESTALE", "incompatible")
    assert out["conflicts_with"]["version"] == "2"
    assert out["conflicts_with"]["operation"] == "Overwrite"


def test_a_token_makes_one_version(data):
    out = result(data, "delete", "row_ids=1", "token=job 1")
    again = result(data, "delete", "row_ids=1", "token=job 1")
    assert again["found"] is True and again["version"] == out["version"] == "2"
    assert again["operation"] == "Delete" and "deleted_rows" not in again
    assert result(data, "delete", "row_ids=2", "token=job 2")["version"] == "3"
    # whatever came since
    assert result(data, "delete", "row_ids=1", "token=job 1")["version"] == "2"
    assert opened(data).latest_version == 3


def test_a_condition_holds_or_names_what_broke_it(data):
    ds = opened(data)
    ds.update({"price": "-1.0"}, where="id = 30")
    ds.update_config({"a": "b"})
    out = refused_without_change(data, "delete", "row_addrs=0:1", "read_version=1",
                                 "require=price@0:*;1:4-6")
    assert (out["errno"], out["code"]) == ("ECANCELED", "precondition")
    assert out["conflicts_with"]["version"] == "2"
    assert out["conflicts_with"]["fragment"] == "1"
    assert out["conflicts_with"]["field"] == [f.id() for f in ds.lance_schema.fields()
                                              if f.name() == "price"][0]
    out = result(data, "delete", "row_addrs=0:1", "read_version=1", "require=price@0:*;2:6-9")
    assert out["version"] == "4"


def together(commands):
    """Processes that run at the same time; the results in order."""
    running = [started(*words, stdin=subprocess.DEVNULL) for words in commands]
    try:
        ended = [process.communicate(timeout=120) for process in running]
    finally:
        for process in running:
            process.kill()
            process.wait()
    for process, (out, err) in zip(running, ended, strict=True):
        assert process.returncode == 0, out + err
    return [json.loads(out) for out, _ in ended]


def test_all_who_delete_at_once_delete_each_row_once(data):
    """The same rows are a conflict that the command solves by being done again."""
    wanted = [f"row_ids={first}-{first + 19}" for first in range(0, 48, 6)]
    results = together([(data, "delete", rows) for rows in wanted])
    assert sum(r["deleted_rows"] for r in results) == 62
    assert ids(data) == list(range(62, 100))
    made = sorted(int(r["version"]) for r in results if "version" in r)
    assert made == list(range(2, 2 + len(made))) and opened(data).latest_version == made[-1]


def test_all_who_set_at_once_are_kept(data):
    results = together([(data, "set", f"config.key{i}={i}", f"token={i % 6}")
                        for i in range(12)])
    config = opened(data).config()
    # of two with one token one is done, and both know of it
    for token in range(6):
        pair = [results[token], results[token + 6]]
        assert pair[0]["version"] == pair[1]["version"]
        assert ("found" in pair[0]) != ("found" in pair[1])
        assert (f"key{token}" in config) != (f"key{token + 6}" in config)
    assert sorted({int(r["version"]) for r in results}) == list(range(2, 8))
    assert opened(data).latest_version == 7


def test_who_may_not_write_is_told_so(data):
    before = content(data)
    directories = [data, *(p for p in data.rglob("*") if p.is_dir())]
    for directory in directories:
        directory.chmod(0o555)
    try:
        for words in (["set", "config.a=1"], ["delete", "row_ids=1"],
                      ["tag", "create", "name=a"], ["pin", "create"]):
            command = [programs.program("lancet"), words[0], data, *words[1:]]
            done = subprocess.run(programs.as_user(command), capture_output=True, timeout=60,
                                  check=False)
            assert (done.returncode, json.loads(done.stdout)["errno"]) == (1, "EACCES"), words
    finally:
        for directory in directories:
            directory.chmod(0o755)
    assert content(data) == before


# ---- append -------------------------------------------------------------------------------

def data_file(path, rows):
    """The one data file of a new dataset with these rows."""
    ds = lance.write_dataset(rows, str(path))
    (name,) = [f.path for f in ds.get_fragments()[0].data_files()]
    return path / "data" / name


@pytest.mark.parametrize("words", [[], ["format=lance"], ["format=auto"]])
def test_the_rows_of_a_data_file_are_appended(either, scratch, words):
    path, stable = either
    file = data_file(scratch / "other.lance", table(200, 30))
    out = result(path, "append", f"file={file}", *words)
    assert out["operation"] == "Append" and out["appended_rows"] == 30 and out["version"] == "2"
    assert ids(path) == [*range(100), *range(200, 230)]
    got = opened(path).scanner(filter="id >= 200", with_row_id=True).to_table()
    assert got.drop(["_rowid"]) == table(200, 30)
    if stable:
        assert got["_rowid"].to_pylist() == list(range(100, 130))
    assert file.exists()


def test_other_files_are_refused_by_name(data, scratch):
    csv, nothing, junk = scratch / "a.csv", scratch / "nothing", scratch / "junk"
    csv.write_text("id,name\n1,a\n")
    nothing.write_bytes(b"")
    junk.write_bytes(bytes(range(256)))
    cases = [(csv, "parquet", "EINVAL"), (csv, "lance", "EUCLEAN"), (csv, "arrow", "EINVAL"),
             (nothing, "auto", "EINVAL"), (junk, "auto", "EINVAL"), (scratch, "auto", "EINVAL"),
             (scratch / "none", "auto", "ENOENT")]
    for file, kind, errno in cases:
        out = refused_without_change(data, "append", f"file={file}", f"format={kind}")
        assert out["errno"] == errno, out
    other = data_file(scratch / "b.lance", pa.table({"id": ["text"]}))
    assert refused_without_change(data, "append", f"file={other}")["errno"] == "EINVAL"


# ---- settings and schema ------------------------------------------------------------------

def test_settings_are_made_and_taken_away(data):
    out = result(data, "set", "config.owner=ops", "metadata.note=two = words",
                 "schema_metadata.a.b=", "field.price.unit=eur", "field.place.x.unit.of=m",
                 "message=m")
    assert out["operation"] == "UpdateConfig" and out["set_keys"] == 5 and out["version"] == "2"
    ds = opened(data)
    assert ds.config()["owner"] == "ops" and ds.metadata["note"] == "two = words"
    assert ds.schema.metadata[b"a.b"] == b""
    assert ds.schema.field("price").metadata[b"unit"] == b"eur"
    assert ds.schema.field("place").type.field("x").metadata[b"unit.of"] == b"m"
    out = result(data, "unset", "config.owner", "field.price.unit=", "schema_metadata.a.b")
    assert out["unset_keys"] == 3
    ds = opened(data)
    assert "owner" not in ds.config() and ds.metadata["note"] == "two = words"
    assert not ds.schema.metadata and not ds.schema.field("price").metadata
    assert ids(data) == list(range(100))


@pytest.mark.parametrize("words, errno", [
    (["set", "config.a"], "EINVAL"), (["set", "conf.a=1"], "EINVAL"), (["set"], "EINVAL"),
    (["set", "config.=1"], "EINVAL"), (["set", "config.a=1", "config.a=2"], "EINVAL"),
    (["set", "field.none.a=1"], "ENOENT"), (["set", "field.price=1"], "ENOENT"),
    (["unset", "config.a=1"], "EINVAL"), (["unset", "what"], "EINVAL"), (["unset"], "EINVAL"),
    (["drop_columns", "columns=none"], "ENOENT"), (["drop_columns", "columns=id,"], "EINVAL"),
    (["drop_columns", "columns=id,name,price,place"], "EINVAL"), (["drop_columns"], "EINVAL"),
    (["rename_column", "column=none", "to=a"], "ENOENT"), (["rename_column", "to=a"], "EINVAL"),
    (["rename_column", "column=id", "to=name"], "EEXIST"),
    (["drop_index", "name=none"], "ENOENT"), (["restore", "version=9"], "ENOENT"),
    (["restore"], "EINVAL"), (["restore", "version=x"], "EINVAL"),
])
def test_settings_and_columns_that_can_not_be(data, words, errno):
    assert refused_without_change(data, *words)["errno"] == errno


def test_columns_are_dropped_and_renamed(data):
    out = result(data, "rename_column", "column=price", "to=cost, net")
    assert out["operation"] == "Project"
    assert opened(data).schema.names == ["id", "name", "cost, net", "place"]
    out = result(data, "drop_columns", "columns=place.y,cost\\, net")
    assert out["dropped_columns"] == 2 and out["version"] == "3"
    ds = opened(data)
    assert ds.schema.names == ["id", "name", "place"]
    assert ds.to_table(columns=["place"])["place"].to_pylist() == [{"x": i} for i in range(100)]


def test_an_index_is_dropped(data):
    opened(data).create_scalar_index("id", "BTREE", name="by id")
    out = result(data, "drop_index", "name=by id")
    assert out["operation"] == "CreateIndex"
    assert opened(data).describe_indices() == []
    assert opened(data).to_table(filter="id = 5").num_rows == 1


def test_an_old_version_is_restored(data):
    opened(data).delete("id < 50")
    opened(data).drop_columns(["name"])
    out = result(data, "restore", "version=1")
    assert out["operation"] == "Restore" and out["restored_version"] == "1"
    assert out["version"] == "4"
    assert opened(data).to_table() == table(0, 100)


# ---- references ---------------------------------------------------------------------------

def test_tags_are_made_moved_and_deleted(data):
    opened(data).delete("id = 1")
    opened(data).tags.create("theirs", 1)
    assert result(data, "tag", "create", "name=ours")["of_version"] == "2"
    assert result(data, "tag", "create", "name=old", "version=1")["of_version"] == "1"
    tags = opened(data).tags.list()
    assert {n: t["version"] for n, t in tags.items()} == {"theirs": 1, "ours": 2, "old": 1}
    assert tags["theirs"]["manifest_size"] == tags["old"]["manifest_size"]
    result(data, "tag", "move", "name=theirs", "version=2")
    result(data, "tag", "delete", "name=old")
    tags = opened(data).tags.list()
    assert {n: t["version"] for n, t in tags.items()} == {"theirs": 2, "ours": 2}
    assert lance.dataset(str(data), version="ours").version == 2
    for words, errno in ((["create", "name=ours"], "EEXIST"), (["move", "name=ours"], "EINVAL"),
                         (["move", "name=none", "version=1"], "ENOENT"),
                         (["delete", "name=none"], "ENOENT"), (["make", "name=a"], "EINVAL"),
                         (["create", "name=b", "version=9"], "ENOENT"), ([], "EINVAL"),
                         (["delete", "name=ours", "version=2"], "EINVAL"),
                         (["create", "name=a/b"], "EINVAL"), (["name=a", "create"], "EINVAL")):
        assert refused_without_change(data, "tag", *words)["errno"] == errno, words


def test_a_branch_is_a_dataset_of_its_own(data):
    opened(data).delete("id = 1")
    out = result(data, "branch", "create", "name=exp", "version=1")
    assert out["of_version"] == "1"
    assert list(opened(data).branches.list()) == ["exp"]
    out = result(data, "delete", "row_ids=5-9", "branch=exp")
    branch = opened(data).checkout_version(("exp", None))
    assert sorted(branch.to_table()["id"].to_pylist()) == [i for i in range(100)
                                                           if not 5 <= i <= 9]
    assert ids(data) == [i for i in range(100) if i != 1]
    result(data, "tag", "create", "name=of_branch", "branch=exp")
    assert refused_without_change(data, "branch", "delete", "name=exp")["code"] == "busy"
    result(data, "tag", "delete", "name=of_branch")
    result(data, "branch", "delete", "name=exp")
    assert opened(data).branches.list() == {} and not (data / "tree" / "exp").exists()
    assert refused_without_change(data, "delete", "row_ids=9", "branch=exp")["errno"] == "ENOENT"
    assert refused_without_change(
        data, "delete", "row_ids=9", "branch=main", "branch=main")["errno"] == "EINVAL"


def test_a_pin_is_a_tag_that_ends(data):
    opened(data).delete("id = 1")
    out = result(data, "pin", "create", "version=1", "ttl=2h")
    assert out["of_version"] == "1" and out["ttl_seconds"] == 7200
    tags = opened(data).tags.list()
    assert list(tags) == [out["tag"]] and tags[out["tag"]]["version"] == 1
    expires = tags[out["tag"]]["metadata"]["lancefs.expires"]
    left = datetime.datetime.fromisoformat(expires[:19] + "+00:00") - \
        datetime.datetime.now(datetime.timezone.utc)
    assert datetime.timedelta(hours=1.9) < left <= datetime.timedelta(hours=2)
    result(data, "cleanup", "older_than=0s", "dry_run=false")
    assert ids(data, 1) == list(range(100))
    result(data, "pin", "delete", f"name={out['name']}")
    assert opened(data).tags.list() == {}
    for words in (["create", "ttl=5"], ["create", "ttl=0s"], ["create", "ttl=-1h"], ["delete"]):
        assert refused_without_change(data, "pin", *words)["errno"] == "EINVAL", words
    assert refused_without_change(data, "pin", "delete", "name=none")["errno"] == "ENOENT"


# ---- cleanup, repair ----------------------------------------------------------------------

def test_cleanup_lists_and_then_removes(data):
    for i in range(4):
        opened(data).delete(f"id = {i}")
    opened(data).tags.create("kept", 2)
    plan = result(data, "cleanup", "older_than=0s")
    assert plan["dry_run"] is True and plan["versions"] == ["1", "3", "4"]
    assert len(plan["candidates"]) == plan["files"]
    assert sum(c["bytes"] for c in plan["candidates"]) == plan["bytes"]
    for candidate in plan["candidates"]:
        assert (data / candidate["path"]).stat().st_size == candidate["bytes"]
    assert result(data, "cleanup")["files"] == 0  # nothing is 14 days old
    done = result(data, "cleanup", "older_than=0s", "dry_run=false")
    assert done["versions"] == plan["versions"] and "dry_run" not in done
    assert (done["removed_files"], done["removed_bytes"]) == (plan["files"], plan["bytes"])
    assert not any((data / c["path"]).exists() for c in plan["candidates"])
    assert [v["version"] for v in opened(data).versions()] == [2, 5]
    assert ids(data) == list(range(4, 100)) and ids(data, 2) == list(range(1, 100))
    for words in (["older_than=14"], ["keep=0"], ["versions=a"], ["dry_run=maybe"],
                  ["message=m"], ["versions="]):
        assert refused_without_change(data, "cleanup", *words)["errno"] == "EINVAL", words


def newest_manifest(path):
    return min((path / "_versions").glob("*.manifest"))


def test_a_torn_head_is_set_aside(data):
    opened(data).delete("id = 1")
    assert refusal(data, "repair", "torn_head=true")["errno"] == "ENOENT"
    torn = newest_manifest(data)
    torn.write_bytes(torn.read_bytes()[:50])
    assert result(data, "repair")["unreadable_head"] == "2"
    assert refused_without_change(data, "delete", "row_ids=9")["errno"] == "EUCLEAN"
    out = result(data, "repair", "torn_head=true")
    assert out["torn_version"] == "2" and out["set_aside_as"].endswith(torn.name + ".torn")
    assert not torn.exists() and (torn.parent / (torn.name + ".torn")).stat().st_size == 50
    assert ids(data) == list(range(100))
    assert result(data, "delete", "row_ids=9")["version"] == "2"


def test_only_fragments_that_are_broken_are_dropped(data):
    gone, cut = (data / "data" / opened(data).get_fragments()[i].data_files()[0].path
                 for i in (1, 3))
    gone.unlink()
    cut.write_bytes(cut.read_bytes()[:100])
    out = result(data, "repair")
    assert out["broken_fragments"] == ["1", "3"] and "unreadable_head" not in out
    assert refused_without_change(
        data, "repair", "drop_fragments=0,1")["errno"] == "EINVAL"
    out = result(data, "repair", "drop_fragments=1,3", "message=lost")
    assert out["lost_rows"] == 50 and out["dropped_fragments"] == ["1", "3"]
    assert ids(data) == [*range(25), *range(50, 75)]
    assert properties(data, 2)[PROPERTY] == "lost"


# ---- transactions -------------------------------------------------------------------------

def shown(path, name):
    return subprocess.run([programs.program("lancet"), "show", path, name], check=True,
                          capture_output=True, timeout=60).stdout


def test_a_transaction_of_pylance_is_committed_in_both_forms(data, scratch):
    opened(data).update_config({"a": "1"})
    for number, name in enumerate(("transaction.pb", "transaction.json")):
        copy = make(scratch / f"copy{number}.lance")
        document = scratch / name
        document.write_bytes(shown(data, f"versions/2/{name}"))
        out = result(copy, "commit", f"file={document}", "message=again")
        assert out["operation"] == "UpdateConfig" and out["version"] == "2"
        assert out["uuid"] == opened(data).read_transaction(2).uuid
        assert opened(copy).config()["a"] == "1"
        assert properties(copy, 2)[PROPERTY] == "again"
        # it is there already: the very same transaction
        again = result(copy, "commit", f"file={document}", "message=again")
        assert again["found"] is True and again["version"] == "2"


def test_a_transaction_may_leave_out_who_it_is(data):
    opened(data).update_config({"a": "1"})
    document = json.loads(shown(data, "versions/2/transaction.json"))
    del document["uuid"], document["read_version"]
    text = json.dumps(document).encode()
    first = result(data, "commit", "file=-", text=text)
    second = result(data, "commit", "file=-", text=b" \n" + text)
    assert (first["version"], second["version"]) == ("3", "4")
    assert first["uuid"] != second["uuid"] and second["read_version"] == "3"
    before = snapshot.of(data)
    assert "version" not in result(data, "commit", "file=-", "dry_run=true", text=text)
    assert snapshot.changes(before, snapshot.of(data)) == []


def test_documents_that_are_wrong_change_nothing(data, scratch):
    opened(data).update_config({"a": "1"})
    proto = shown(data, "versions/2/transaction.pb")
    document = json.loads(shown(data, "versions/2/transaction.json"))
    cases = [(b"", "EINVAL"), (b"{", "EINVAL"), (b"{}", "EINVAL"), (b"[1]", "EUCLEAN"),
             (json.dumps(document | {"what": 1}).encode(), "EINVAL"),
             (json.dumps(document).encode()[:-3], "EINVAL"), (b"{" * 4000, "EINVAL"),
             (b'{"a":' * 2000 + b"1" + b"}" * 2000, "EINVAL"),
             (json.dumps(document | {"read_version": "-1"}).encode(), "EINVAL"),
             (proto[:-2], "EUCLEAN"), (b"\xff" * 100, "EUCLEAN"), (b"text\n", "EUCLEAN"),
             (b"{" + b" " * (64 << 20) + b"}", "EFBIG"), (b"\n" * ((64 << 20) + 1), "EFBIG")]
    for text, errno in cases:
        assert refused_without_change(data, "commit", "file=-", text=text)["errno"] == errno, \
            text[:60]
    assert refused_without_change(
        data, "commit", "file=-", "read_version=1", text=proto)["errno"] == "EINVAL"
    assert refused_without_change(
        data, "commit", f"file={scratch / 'none'}")["errno"] == "ENOENT"
    assert refused_without_change(data, "commit", f"file={scratch}")["errno"] == "EISDIR"


def test_a_staged_transaction_is_not_made_again(data):
    """A delete that came before is the same delete that a command would just build again."""
    opened(data).delete("id in (1, 2)")
    document = json.loads(shown(data, "versions/2/transaction.json"))
    del document["uuid"]
    out = refused_without_change(data, "commit", "file=-", text=json.dumps(document).encode())
    assert (out["errno"], out["code"]) == ("EBUSY", "retryable"), out
    assert out["attempts"] == 1 and out["conflicts_with"]["version"] == "2"


# ---- the program --------------------------------------------------------------------------

def test_what_is_no_command_says_how_to_use_it(data):
    done = run(data, "explode", "name=1")
    assert done.returncode == 1 and done.stdout == b"" and b"usage: lancet" in done.stderr
    done = subprocess.run([programs.program("lancet"), "tag"], capture_output=True, timeout=60,
                          check=False)
    assert done.returncode == 1 and b"which dataset?" in done.stderr
    done = subprocess.run([programs.program("lancet"), "--help"], capture_output=True,
                          timeout=60, check=True)
    for name in (b"delete DATASET", b"cleanup DATASET", b"repair DATASET"):
        assert name in done.stdout
    done = subprocess.run([programs.program("lancet"), "cleanup", "--help"],
                          capture_output=True, timeout=60, check=True)
    assert done.stdout.startswith(b"usage: lancet cleanup DATASET ") and b"keep=" in done.stdout


def test_asking_for_help_runs_nothing(data):
    before = shown(data, "versions")
    for name in ("compact", "delete", "cleanup"):
        done = run(data, name, "--help")
        assert done.returncode == 0 and done.stdout.startswith(b"usage: lancet "), done
    assert shown(data, "versions") == before
    for name in ("show", "rows", "translate"):
        done = subprocess.run([programs.program("lancet"), name, "--help"], capture_output=True,
                              timeout=60, check=True)
        assert done.stdout.startswith(f"usage: lancet {name} DATASET ".encode())
    done = run(data, "rows", "where=id = 1", "row_ids=1")
    assert done.returncode == 1 and b"not both" in done.stderr
    done = run(data, "explode")
    assert done.stderr.count(b"\n") == 3, "what is wrong, and where to look it up"


def test_refusals_say_what_to_write(data):
    for name, words, want in (
            ("delete", ("where=id", ">", "5"), 'key="value" if it has blanks'),
            ("compact", ("run", "async=true"), "leave it out"),
            ("partition", ("by=id", "labels=x"), "only one of them"),
            ("compact", ("fragments=4711",), "fragment 4711: there is none in version ")):
        assert want in refused_without_change(data, name, *words)["error"], (name, words)


def test_no_dataset_is_a_result_too(scratch):
    out = refusal(scratch / "none.lance", "tag", "create", "name=a")
    assert (out["errno"], out["code"]) == ("ENOENT", "not_found")
    assert refusal(scratch, "tag", "create", "name=a")["errno"] == "ENOENT"


def started(path, *words, **pipes):
    return subprocess.Popen([programs.program("lancet"), words[0], path, *words[1:]],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **pipes)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cancels_before_the_commit(data, number):
    before = snapshot.of(data)
    with started(data, "commit", "file=-", stdin=subprocess.PIPE) as process:
        process.stdin.write(b"{")
        process.stdin.flush()
        while "State:\tS" not in status_of(process.pid):
            time.sleep(0.01)
        process.send_signal(number)
        try:
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 1, err
    assert (json.loads(out)["errno"], json.loads(out)["code"]) == ("ECANCELED", "cancelled")
    assert snapshot.changes(before, snapshot.of(data)) == []


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return file.read()


def all_of(master):
    """What was written to a terminal that nobody has open any more."""
    out = b""
    try:
        while chunk := os.read(master, 65536):
            out += chunk
    except OSError:  # the end
        pass
    os.close(master)
    return out


def test_a_terminal_sees_how_far_it_is(data):
    for i in range(3):
        opened(data).delete(f"id = {i}")
    master, slave = os.openpty()
    with started(data, "cleanup", "older_than=0s", "dry_run=false", stdin=slave) as quiet:
        quiet_out, quiet_err = quiet.communicate(timeout=60)
    assert quiet_err == b"" and json.loads(quiet_out)["ok"]
    opened(data).delete("id = 9")
    done = subprocess.run([programs.program("lancet"), "cleanup", data, "older_than=0s",
                           "dry_run=false"], stdin=slave, stdout=subprocess.PIPE, stderr=slave,
                          timeout=60, check=True)
    os.close(slave)
    seen = all_of(master)
    assert b" of " in seen and seen.endswith(b"\r\x1b[K"), seen
    assert json.loads(done.stdout)["ok"]
