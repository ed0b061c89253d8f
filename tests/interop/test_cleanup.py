"""Cleanup against pylance's on copies of the same dataset: never more, and what stays is whole."""
import os
import shutil
import time
from datetime import timedelta

import lance
import pyarrow as pa
import pytest

import archives
import liblancet
import maintenance
import programs

UUID = "0dfa088c-36be-4677-b483-00ccfc4af875"
# Shapes that pylance leaves alone though writers make them: ours go when they are old.
LEFTOVERS = ("_transactions/.tmp", "_deletions/.tmp", "_refs/tags/.tmp", "_refs/branches/.tmp")
STRAYS = ["data/stray.lance", "data/.tmpabc", "data/other.txt", "data/sub/deep.lance",
          "data/gone/1.blob", "_versions/.tmpabc", "_versions/18446744073709551000.manifest#1",
          "_transactions/1-abc.txn", "_transactions/.tmpabc", "_transactions/notes",
          "_deletions/0-1-5.bin", "_deletions/0-1-6.arrow", "_deletions/.tmpabc",
          f"_indices/{UUID}/page.lance", "_indices/junk/page.lance",
          f"_fri/{UUID}/stable_partition.lance", "_fri/junk/x", "_blobs/b/c.blob",
          "_refs/tags/.tmpabc", "mine/file.lance", "README"]


def files(path):
    return {os.path.relpath(os.path.join(at, name), path)
            for at, _, names in os.walk(path) for name in names}


def age(path, days):
    then = time.time() - days * 86400
    os.utime(path, (then, then))


@pytest.fixture(scope="module")
def busy():
    """A dataset with deletions, indices, overwrites, a tag, and what dead writers leave."""
    path = archives.scratch() / "cleanup.lance"
    rows = pa.table({"a": range(100), "b": [f"x{i}" for i in range(100)]})
    lance.write_dataset(rows, path)
    lance.write_dataset(rows, path, mode="append").delete("a < 10")
    ds = lance.write_dataset(rows, path, mode="overwrite")
    ds.create_scalar_index("a", "BTREE")
    ds.tags.create("keep", 2)
    ds.update({"b": "'new'"}, where="a > 50")
    ds.optimize.compact_files()
    ds.optimize.optimize_indices()
    lance.write_dataset(rows, path, mode="append")
    for name in STRAYS:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(b"x")
    for name in files(path):
        age(path / name, 8)
    for name in ("data/young.lance", "_transactions/1-young.txn", "_deletions/0-1-7.bin",
                 f"_indices/{UUID}/young"):
        (path / name).write_bytes(b"x")
    return path


def rows_of(path, version):
    return lance.dataset(path, version=version).to_table()


POLICIES = [{}, {"older_than": timedelta(0)}, {"retain_versions": 2},
            {"older_than": timedelta(0), "retain_versions": 3},
            {"older_than": timedelta(0), "delete_unverified": True},
            {"older_than": timedelta(days=1)}]


def ours_of(policy):
    out = {}
    if "older_than" in policy:
        out["older_than"] = int(policy["older_than"].total_seconds())
    if "retain_versions" in policy:
        out["keep"] = policy["retain_versions"]
    out["delete_unverified"] = policy.get("delete_unverified", False)
    return out


@pytest.mark.parametrize("policy", POLICIES, ids=map("-".join, POLICIES))
def test_nothing_goes_that_pylance_would_keep(busy, scratch, policy):
    before = files(busy)
    theirs, ours = (programs.copy_away(busy, scratch / n) for n in ("theirs.lance", "ours.lance"))
    lance.dataset(theirs).cleanup_old_versions(error_if_tagged_old_versions=False, **policy)
    with maintenance.Dataset(ours) as ds, ds.cleanup(**ours_of(policy)) as plan:
        assert files(ours) == before, "a plan removes nothing"
        removed, size = plan.run()
    gone = before - files(ours)
    assert gone == set(plan.paths) and removed == len(gone)
    assert size == sum((busy / name).stat().st_size for name in gone)
    more = {name for name in gone - (before - files(theirs)) if not name.startswith(LEFTOVERS)}
    assert more == set()
    # What pylance takes beyond that: names that are no UUID, and managed blobs, which only a scan
    # of the rows could judge.
    less = (before - files(theirs)) - gone
    assert less <= {"_indices/junk/page.lance", "_fri/junk/x", "_blobs/b/c.blob"}
    versions = [v["version"] for v in lance.dataset(ours).versions()]
    assert versions == [v["version"] for v in lance.dataset(theirs).versions()]
    for version in versions:
        assert rows_of(ours, version).equals(rows_of(busy, version))
    lance.dataset(ours).validate()
    assert lance.dataset(ours).tags.list().keys() == {"keep"}


def test_the_young_ones_stay(busy, scratch):
    ours = programs.copy_away(busy, scratch / "ours.lance")
    with maintenance.Dataset(ours) as ds, ds.cleanup(older_than=0) as plan:
        assert not [path for path in plan.paths if "young" in path or path.endswith("-7.bin")]
        assert f"_indices/{UUID}/page.lance" in plan.paths
        plan.run()
    assert (ours / "_indices" / UUID / "young").exists()


def test_single_versions(busy, scratch):
    ours = programs.copy_away(busy, scratch / "ours.lance")
    newest = lance.dataset(ours).version
    with maintenance.Dataset(ours) as ds:
        with pytest.raises(liblancet.Error, match="NOT_FOUND.*version 999"):
            with ds.cleanup(versions=[1, 999]):
                pass
        with ds.cleanup(versions=[3, 2, 4, newest]) as plan:
            assert plan.versions == [3, 4]  # 2 is tagged, and the newest one stays
            plan.run()
    assert [v["version"] for v in lance.dataset(ours).versions()] == \
        [1, 2] + list(range(5, newest + 1))
    for version in (1, 2, *range(5, newest + 1)):
        assert rows_of(ours, version).equals(rows_of(busy, version))


def test_a_detached_version_keeps_its_files(scratch):
    """pylance forgets them, so that such a version can't be scanned any more."""
    path = scratch / "x.lance"
    ds = lance.write_dataset(pa.table({"a": [1, 2, 3]}), path)
    fragment = lance.fragment.LanceFragment.create(path, pa.table({"a": [7, 8]}))
    detached = lance.LanceDataset.commit(ds, lance.LanceOperation.Append([fragment]),
                                         read_version=1, detached=True)
    lance.write_dataset(pa.table({"a": [9]}), path, mode="overwrite")
    for name in files(path):
        age(path / name, 8)
    with maintenance.Dataset(path) as ours, ours.cleanup(older_than=0) as plan:
        plan.run()
        assert plan.versions == [1]
    assert sorted(rows_of(path, detached.version)["a"].to_pylist()) == [1, 2, 3, 7, 8]


def test_branches_keep_what_they_read(scratch):
    path = scratch / "x.lance"
    ds = lance.write_dataset(pa.table({"a": [1, 2, 3]}), path)
    branch = ds.create_branch("dev")
    branch = lance.write_dataset(pa.table({"a": [4]}), branch, mode="append")
    branch.create_branch("dev/sub")
    for value in range(3):
        lance.write_dataset(pa.table({"a": [value]}), path, mode="overwrite")
    with maintenance.Dataset(path) as ours, ours.cleanup(older_than=0) as plan:
        assert plan.versions == [2, 3]
        plan.run()
    for name, want in (("dev", [1, 2, 3, 4]), ("dev/sub", [1, 2, 3, 4])):
        assert lance.dataset(path).checkout_version((name, None)).to_table()["a"].to_pylist() \
            == want
    with maintenance.Dataset(path, "dev") as ours, ours.cleanup(older_than=0) as plan:
        assert plan.versions == [1]
        plan.run()
    assert lance.dataset(path).checkout_version(("dev/sub", None)).to_table().num_rows == 4
    assert lance.dataset(path).checkout_version(("dev", None)).to_table().num_rows == 4


def test_a_tag_that_is_made_meanwhile_wins(scratch):
    path = scratch / "x.lance"
    for value in range(8):
        lance.write_dataset(pa.table({"a": [value]}), path,
                            mode="overwrite" if value else "create")

    def tag_one(done, _total, unit):
        if unit == "files" and done == 4:
            lance.dataset(path).tags.create("late", 6)
    with maintenance.Dataset(path) as ours, ours.cleanup(older_than=0, progress=tag_one) as plan:
        assert plan.versions == list(range(1, 8))
        plan.run()
    assert [v["version"] for v in lance.dataset(path).versions()] == [6, 8]
    assert rows_of(path, 6)["a"].to_pylist() == [5]


@pytest.mark.parametrize("ident", archives.dataset_ids())
def test_fixtures_stay_what_they_are(scratch, ident):
    """Every version but the newest goes where that is possible; branches and tags read as before."""
    data = archives.dataset(ident)
    path = programs.copy_away(data.path, scratch / data.path.name)
    with maintenance.Dataset(path) as ours:
        try:
            with ours.cleanup(older_than=0) as plan:
                plan.run()
        except liblancet.Error as error:
            assert error.code in ("UNSUPPORTED", "CORRUPT"), error
            assert files(path) == files(data.path)
            return
    try:
        want = lance.dataset(data.path)
        rows = want.to_table()
    except Exception:  # a dataset that pylance can't scan
        return
    ours = lance.dataset(path)
    assert ours.version == want.version
    assert repr(ours.to_table().to_pylist()) == repr(rows.to_pylist())  # NaN is no equal of itself
    for branch, version in (data.tags() or {}).values():
        assert ours.checkout_version((branch, version)).count_rows() == \
            want.checkout_version((branch, version)).count_rows()
    for name in data.branches():
        assert ours.checkout_version((name, None)).to_table().num_rows == \
            want.checkout_version((name, None)).to_table().num_rows
    shutil.rmtree(path)
