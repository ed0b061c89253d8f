"""Nothing is skipped without a word: without the programs or /dev/fuse the tests fail.

Skipped, with the reason, are
    bounds of memory under AddressSanitizer: any other build has them, by themselves
        make check-interop INTEROP_FLAGS='-k memory'
    older releases of pylance without LANCEFS_OLD_PYTHON: see test_roundtrip_old.py
    the shared test data where it is not: see test_upstream.py
    tests that mount, with LANCEFS_NO_FUSE=1
"""
import os

# Reading overlays is behind a switch in pylance 14.0.2; the expected values were made with it on.
os.environ.setdefault("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
os.environ["TZ"] = "UTC"

import pytest  # noqa: E402  the switch above has to be set before anything imports lance

import archives  # noqa: E402
import programs  # noqa: E402
import snapshot  # noqa: E402


def pytest_collection_modifyitems(items):
    """Tests that need a mount are skipped only by LANCEFS_NO_FUSE=1."""
    if os.environ.get("LANCEFS_NO_FUSE") == "1":
        for item in items:
            if item.get_closest_marker("mount"):
                item.add_marker(pytest.mark.skip(reason="LANCEFS_NO_FUSE=1"))


def pytest_configure(config):
    config.addinivalue_line("markers", "mount: needs /dev/fuse")


@pytest.fixture(scope="module")
def mounted(request):
    """The mount of the dataset that the test is parametrised with, and the dataset.

    Whatever the tests read, nothing below the dataset or beside it changes.
    """
    programs.need_fuse()
    data = archives.dataset(request.param)
    before = snapshot.of(data.path)
    beside = sorted(p.name for p in data.path.parent.iterdir())
    with programs.MountTree(data.path, limit=300) as tree:
        yield tree, data
    assert snapshot.changes(before, snapshot.of(data.path)) == []
    assert sorted(p.name for p in data.path.parent.iterdir()) == beside


@pytest.fixture
def scratch(request):
    """A directory for one test."""
    name = "".join(c if c.isalnum() else "_" for c in request.node.name)[:80]
    path = archives.scratch() / "tests" / name
    path.mkdir(parents=True)
    path.chmod(0o755)
    return path
