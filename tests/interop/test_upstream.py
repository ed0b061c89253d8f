"""Historic datasets published with the format's own project, from the shared test data.

They are used from there and not copied, so the tests are skipped where the shared test data isn't:
LANCEFS_SHARED names its directory, else ../shared beside the repository. Each dataset is read by
`lancet show`, by a mount and by pylance 14.0.2, and versions, fragments, rows and schema agree.
"""
import json
import os
import subprocess
from pathlib import Path

import pytest

import formats
import peer
import programs
import snapshot

SHARED = Path(os.environ.get("LANCEFS_SHARED") or
              Path(__file__).resolve().parents[2].parent / "shared")
UPSTREAM = SHARED / "fixtures" / "upstream"
DATASETS = sorted(str(p.parent.relative_to(UPSTREAM)) for p in UPSTREAM.rglob("_versions")) \
    if UPSTREAM.is_dir() else []


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


def answers(tree, number):
    """What the tree says of a version, in the terms of pylance."""
    at = f"versions/{number}"
    table = formats.tsv(tree.read(f"{at}/fragments.tsv"), "fragments.tsv")
    fields = formats.load_json(tree.read(f"{at}/schema.json"))["fields"]
    return {
        "rows": int(formats.summary(tree.read(f"{at}/summary"))["rows"]),
        "fragments": [(int(r["fragment"]), r["physical_rows"], r["deleted_rows"]) for r in table],
        "fields": [(f["name"], f["id"]) for f in fields if f["parent_id"] == -1],
    }


def check_version(tree, path, number):
    ds = peer.opened(path, number)
    got = answers(tree, number)
    count = peer.answer(ds.count_rows)
    fragments = ds.get_fragments()
    assert [f[0] for f in got["fragments"]] == [f.fragment_id for f in fragments]
    for (_, physical, deleted), fragment in zip(got["fragments"], fragments):
        meta = fragment.metadata
        # Before 0.8 neither count was recorded; one that can't be found out is "-".
        if meta.physical_rows is not None and physical is not None:
            assert int(physical) == meta.physical_rows
        if meta.num_deletions is not None and deleted is not None:
            assert int(deleted) == meta.num_deletions
    recorded = all(f.metadata.physical_rows is not None and f.metadata.num_deletions is not None
                   for f in fragments)
    if count[0] == "ok" and recorded:
        assert got["rows"] == count[1]
    top = [(f.name(), f.id()) for f in ds.lance_schema.fields()]
    assert [f[0] for f in got["fields"]] == [f[0] for f in top]


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
