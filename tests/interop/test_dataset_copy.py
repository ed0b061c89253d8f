"""versions/N/dataset copied by ordinary tools is a dataset of its own.

For every dataset and version: `cp -a` by an ordinary user, then the original and all its bases are
renamed away, and pylance opens the copy, validates it and reads the same rows, ids, versions,
indices and blobs that it read from the original. The latest version is copied with tar and rsync
too, and then used: scan, take, index queries, tag, append, cleanup.
"""
import contextlib
import os
import stat
import subprocess

import pytest

import archives
import formats
import programs
from archives import dataset

import peer

pytestmark = pytest.mark.mount
READABLE = [i for i in archives.dataset_ids() if not dataset(i).refused()]
# versions_500 has 500 versions; of more than 24 the first, the last and some between are copied.
MOST_VERSIONS = 24
# The bytes of these blobs are in a plain file outside of any dataset, to which the column refers
# through a base path: no copy of the dataset has them.
OUTSIDE_BLOBS = {"fixtures/blob_v2_external"}


@contextlib.contextmanager
def away(group):
    """The archive's directory, and with it all originals and bases, under another name."""
    home = archives.unpacked(group)
    hidden = home.with_name(home.name + ".away")
    home.rename(hidden)
    try:
        yield
    finally:
        hidden.rename(home)


def run(script, *arguments, text=None):
    command = programs.as_user(["sh", "-ec", script, "sh", *map(str, arguments)])
    done = subprocess.run(command, input=text, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0 and done.stderr == b"", done.stderr.decode(errors="replace")


def copy_all(pairs):
    """cp -a of each source to its target, in one process."""
    lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
    run("IFS=$(printf '\\t'); while read -r source target; do cp -a -- \"$source\" \"$target\"; "
        "done", text=os.fsencode(lines))


def copy_by_tar(source, target):
    run("mkdir -- \"$2\"; tar -C \"$1\" -cf \"$2.tar\" .; tar -C \"$2\" -xf \"$2.tar\"; "
        "rm -- \"$2.tar\"", source, target)


def copy_by_rsync(source, target):
    run("rsync -a -- \"$1/\" \"$2\"", source, target)


def check_files(copy):
    """Regular files and directories only, and the owner may write into each directory."""
    for directory, names, files in os.walk(copy):
        for name in names:
            assert stat.S_ISDIR(os.lstat(os.path.join(directory, name)).st_mode)
        for name in files:
            assert stat.S_ISREG(os.lstat(os.path.join(directory, name)).st_mode)
        assert os.stat(directory).st_mode & stat.S_IWUSR, directory


def versions_to_copy(data):
    """(path in the tree, branch, version)."""
    out = [(f"versions/{n}", None, n) for n in data.spread(MOST_VERSIONS)]
    for branch in data.branches():
        front = f"branches/{formats.encode_name(branch)}"
        out += [(f"{front}/versions/{n}", branch, n) for n in data.numbers(branch)]
    return out


def original(data, branch, number):
    ds = peer.opened(data.path, None if branch else number)
    return ds.checkout_version((branch, number)) if branch else ds


def wanted(data, branch, number):
    content = peer.content(original(data, branch, number))
    if data.id in OUTSIDE_BLOBS:
        content["blobs"] = None
    return content


def check_copy(data, copy, number, want):
    ds = peer.opened(copy)
    assert ds.version == number, "the copied version is the latest of the copy"
    assert ds.base_paths() == {}
    got = peer.content(ds)
    if data.id in OUTSIDE_BLOBS:
        got["blobs"] = None
    assert peer.differences(got, want) == [], copy.name


def check_tags(tags, copy, branch, number):
    """The tags of the copied version came with it. None: pylance can't list those there are."""
    if tags is not None:
        here = sorted(n for n, place in tags.items() if place == (branch, number))
        assert sorted(peer.opened(copy).tags.list()) == here


@pytest.fixture
def open_scratch(scratch):
    """A scratch directory that the ordinary user may write to."""
    scratch.chmod(0o777)
    return scratch


@pytest.mark.parametrize("ident", READABLE)
def test_copies(ident, open_scratch):
    programs.need_fuse()
    data = dataset(ident)
    places, tags = versions_to_copy(data), data.tags()
    want = {at: wanted(data, branch, number) for at, branch, number in places}
    copies = {at: open_scratch / f"cp-{i}" for i, (at, _, _) in enumerate(places)}
    latest = f"versions/{data.latest}"
    by_tar, by_rsync = open_scratch / "tar", open_scratch / "rsync"
    control = programs.copy_away(data.path, open_scratch / "control")
    used = peer.use(control, ident in OUTSIDE_BLOBS)
    with programs.MountTree(data.path, limit=240) as tree:
        copy_all([(tree.path / at / "dataset", copy) for at, copy in copies.items()])
        copy_by_tar(tree.path / latest / "dataset", by_tar)
        copy_by_rsync(tree.path / latest / "dataset", by_rsync)
        in_place = peer.content(peer.opened(tree.path / latest / "dataset"))
        if ident in OUTSIDE_BLOBS:
            in_place["blobs"] = None
        assert peer.differences(in_place, want[latest]) == [], "read in place"
    with away(data.group):
        for at, branch, number in places:
            check_files(copies[at])
            check_copy(data, copies[at], number, want[at])
            check_tags(tags, copies[at], branch, number)
        for copy in (by_tar, by_rsync):
            check_copy(data, copy, data.latest, want[latest])
        assert peer.use(copies[latest], ident in OUTSIDE_BLOBS) == used


def test_database_engine_reads_in_place():
    """DuckDB, through pylance, queries the mounted dataset where it is."""
    import duckdb
    programs.need_fuse()
    sample = archives.DATA / "sample.lance"
    with programs.MountTree(sample) as tree:
        ds = peer.opened(tree.path / "current" / "dataset")
        got = duckdb.sql("select count(*), min(id), max(id) from ds").fetchall()[0]
    table = peer.opened(sample).to_table()["id"].to_pylist()
    assert got == (len(table), min(table), max(table))
