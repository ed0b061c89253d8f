"""Looking changes nothing, nothing can be changed, and read permission is all that is needed."""
import errno
import os
import shutil
import signal
import subprocess
import time

import pytest

import archives
import programs
import snapshot
from archives import dataset

pytestmark = pytest.mark.mount
WALKED = ["sample", "fixtures/branches", "fixtures/index_scalar", "fixtures/deletions_stable",
          "fixtures/blob_v2", "fixtures/fri_tagged", "fixtures/multi_base"]
# Reads everything, in the way that a user would look around; ctl/ is for the owner of the mount.
LOOK = ("cd \"$1\"; [ -r ctl ] && skip=none || skip=ctl; "
        "find . -name $skip -prune -o -ls >/dev/null; "
        "find . -name $skip -prune -o -type f -exec cat {} + >/dev/null; "
        "find . -name $skip -prune -o -type l -exec readlink {} + >/dev/null; "
        "du -s --exclude=$skip . >/dev/null; df . >/dev/null")
REFUSALS = {errno.EROFS, errno.EACCES, errno.EPERM}


def source_of(ident):
    return archives.DATA / "sample.lance" if ident == "sample" else dataset(ident).path


@pytest.fixture
def read_only(request, scratch):
    """A copy of a dataset that nobody may write to, alone in a directory."""
    home = scratch / "home"
    home.mkdir()
    copy = home / "ds.lance"
    shutil.copytree(source_of(request.param), copy, symlinks=True)
    subprocess.run(["chmod", "-R", "a-w,a+rX", copy], check=True, timeout=60)
    yield copy
    subprocess.run(["chmod", "-R", "u+w", copy], check=True, timeout=60)


def look(path, as_user=True):
    command = ["sh", "-ec", LOOK, "sh", str(path)]
    done = subprocess.run(programs.as_user(command) if as_user else command, capture_output=True,
                          timeout=120, check=False)
    assert done.returncode == 0 and done.stderr == b"", done.stderr.decode(errors="replace")


@pytest.mark.parametrize("read_only", WALKED, indirect=True)
def test_walk_changes_nothing(read_only):
    programs.need_fuse()
    before = snapshot.of(read_only.parent)
    with programs.MountTree(read_only) as tree:
        look(tree.path)
        look(tree.path)
        look(tree.path, as_user=False)
    assert snapshot.changes(before, snapshot.of(read_only.parent)) == []


def attempts(path):
    """(name, call) of each kind of change, on a file and a directory of the tree."""
    file, directory = path / "versions/1/summary", path / "versions/1/dataset/data"
    live = next(p for p in directory.iterdir() if p.is_file())
    yield "create", lambda: os.open(directory / "new", os.O_CREAT | os.O_WRONLY)
    yield "create in the root", lambda: os.open(path / "new", os.O_CREAT | os.O_WRONLY)
    for name, target in (("rendered", file), ("live", live)):
        yield f"open {name}", lambda t=target: os.open(t, os.O_WRONLY)
        yield f"append {name}", lambda t=target: os.open(t, os.O_RDWR | os.O_APPEND)
        yield f"truncate {name}", lambda t=target: os.truncate(t, 0)
        yield f"unlink {name}", lambda t=target: os.unlink(t)
        yield f"chmod {name}", lambda t=target: os.chmod(t, 0o777)
        yield f"chown {name}", lambda t=target: os.chown(t, 0, 0)
        yield f"utime {name}", lambda t=target: os.utime(t, (1, 1))
        yield f"rename {name}", lambda t=target: os.rename(t, path / "moved")
        yield f"link {name}", lambda t=target: os.link(t, path / "linked")
    yield "mkdir", lambda: os.mkdir(directory / "new")
    yield "rmdir", lambda: os.rmdir(path / "versions/1/fragments")
    yield "symlink", lambda: os.symlink("x", directory / "new")
    yield "unlink latest", lambda: os.unlink(path / "latest")
    yield "rename directory", lambda: os.rename(path / "versions/1", path / "versions/9")
    yield "mkfifo", lambda: os.mkfifo(path / "fifo")


def test_every_change_is_refused(scratch):
    programs.need_fuse()
    copy = programs.copy_away(archives.DATA / "sample.lance", scratch / "ds.lance")
    before = snapshot.of(scratch)
    with programs.MountTree(copy) as tree:
        for name, call in attempts(tree.path):
            with pytest.raises(OSError) as refused:
                call()
            assert refused.value.errno in REFUSALS, f"{name}: {refused.value}"
    assert snapshot.changes(before, snapshot.of(scratch)) == []


def wait_until(check, seconds, process, log):
    deadline = time.monotonic() + seconds
    while not check():
        assert process.poll() is None, f"exit {process.returncode}: {log.read_text()}"
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)


@pytest.mark.parametrize("read_only", ["sample"], indirect=True)
def test_ordinary_user_mounts(read_only, scratch):
    """Mounted by a user who may only read the dataset; the user sees everything."""
    programs.need_fuse()
    if programs.ROOT:
        assert shutil.which("fusermount3"), "fusermount3 mounts for ordinary users"
    place = scratch / "mnt"
    place.mkdir()
    place.chmod(0o777)
    binary = shutil.copy(programs.program("lancefs"), scratch / "lancefs")
    os.chmod(binary, 0o755)
    if programs.ROOT:
        os.chown(place, 65534, 65534)
    before, log = snapshot.of(read_only.parent), scratch / "log"
    command = programs.as_user([binary, "-f", str(read_only), str(place)], setuid=True)
    with open(log, "wb") as out:
        daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                  start_new_session=True)
    seen = programs.as_user(["test", "-e", str(place / "README.txt")])
    try:
        wait_until(lambda: subprocess.run(seen, timeout=20, check=False).returncode == 0, 20,
                   daemon, log)
        look(place)
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(timeout=15) == 0
    finally:
        if daemon.poll() is None:
            daemon.kill()
            daemon.wait()
            subprocess.run(["umount", "-l", place] if programs.ROOT else
                           ["fusermount3", "-u", "-z", place], timeout=20, check=False)
    assert snapshot.changes(before, snapshot.of(read_only.parent)) == []
