"""Historic datasets published with the format's own project, from the shared test data.

They are used from there and not copied, so the tests are skipped where the shared test data isn't:
LANCEFS_SHARED names its directory, else ../shared beside the repository. Each dataset is read by
`lancet show`, by a mount and by pylance 14.0.2, and versions, fragments, rows and schema agree.
"""
import errno
import json
import os
import subprocess
from pathlib import Path

import pytest

import checks
import facts
import formats
import liblancet
import peer
import programs
import snapshot
import test_scan

SHARED = Path(os.environ.get("LANCEFS_SHARED") or
              Path(__file__).resolve().parents[2].parent / "shared")
UPSTREAM = SHARED / "fixtures" / "upstream"
DATASETS = sorted(str(p.parent.relative_to(UPSTREAM)) for p in UPSTREAM.rglob("_versions")) \
    if UPSTREAM.is_dir() else []
# Published without some or all of their data files.
NO_DATA = {"dataset_with_fragments", "index_without_created_at"}


def test_present():
    if not UPSTREAM.is_dir():
        pytest.skip("the shared test data is not there: set LANCEFS_SHARED")
    assert DATASETS


@pytest.fixture
def copied(request, scratch):
    """A copy that pylance and we read; its account by the name of the directory."""
    source = UPSTREAM / request.param
    account = source.with_name(source.name.removesuffix(".lance") + ".expected.json")
    path = programs.copy_away(source, scratch / source.name)
    subprocess.run(["chmod", "-R", "u+w", path], check=True, timeout=60)
    return path, json.loads(account.read_text())


def check_rows(tree, at, ds):
    """The row count, or EIO where pylance can't count either: the data files were not published."""
    count = peer.answer(ds.count_rows)
    if count[0] == "ok":
        assert int(formats.summary(tree.read(f"{at}/summary"))["rows"]) == count[1]
    else:
        checks.fails(tree, f"{at}/summary", errno.EIO)


def check_fragments(tree, at, ds, trusted):
    """Counts as recorded by a writer that gave its version; else as the files say."""
    table = formats.tsv(tree.read(f"{at}/fragments.tsv"), "fragments.tsv")
    fragments = ds.get_fragments()
    assert [int(r["fragment"]) for r in table] == [f.fragment_id for f in fragments]
    for row, fragment in zip(table, fragments):
        live = peer.answer(fragment.count_rows)
        assert row["live_rows"] == (str(live[1]) if live[0] == "ok" else None)
        if trusted:
            meta = fragment.metadata
            assert (int(row["physical_rows"]), int(row["deleted_rows"])) == \
                (meta.physical_rows, meta.num_deletions)


def check_version(tree, path, number):
    ds, at = peer.opened(path, number), f"versions/{number}"
    check_rows(tree, at, ds)
    check_fragments(tree, at, ds, facts.version(path, number).writer is not None)
    fields = formats.load_json(tree.read(f"{at}/schema.json"), "schema")["fields"]
    assert [f["name"] for f in fields if f["parent_id"] == -1] == \
        [f.name() for f in ds.lance_schema.fields()]


def check_dataset(tree, path, account):
    numbers = [v["version"] for v in account["versions"]]
    assert [int(n) for n in tree.list("versions")] == numbers
    assert numbers == [v["version"] for v in peer.opened(path).versions()]
    for number in numbers:
        check_version(tree, path, number)


@pytest.mark.parametrize("copied", DATASETS, indirect=True)
def test_by_show(copied):
    path, account = copied
    check_dataset(programs.ShowTree(path), path, account)


@pytest.mark.mount
@pytest.mark.parametrize("copied", DATASETS, indirect=True)
def test_by_mount(copied):
    programs.need_fuse()
    path, account = copied
    before = snapshot.of(path)
    with programs.MountTree(path) as tree:
        check_dataset(tree, path, account)
        newest = peer.opened(path).version
        place = tree.path / "versions" / str(newest) / "dataset"
        want, got = peer.content(peer.opened(path)), peer.content(peer.opened(place))
        assert peer.differences(got, want) == []
    assert snapshot.changes(before, snapshot.of(path)) == []


def check_data(path, number):
    """What pylance reads we read alike; what it can't read fails here, too."""
    ds = peer.opened(path, number)
    names = [f.name() for f in ds.lance_schema.fields()]
    theirs = peer.answer(lambda: test_scan.scanned(ds, names))
    with liblancet.Version(path, number) as version:
        if theirs[0] == "ok":
            test_scan.check_rows(version, ds, f"{path.name} {number}")
        else:
            with pytest.raises(liblancet.Error):
                version.table(columns=names)
    return theirs[0]


@pytest.mark.parametrize("copied", DATASETS, indirect=True)
def test_rows(copied):
    path, account = copied
    answers = [check_data(path, v["version"]) for v in account["versions"]]
    assert set(answers) == ({"error"} if path.name in NO_DATA else {"ok"})
