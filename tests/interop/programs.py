"""Running the two programs, and reading the tree that they show.

ShowTree reads with `lancet show`, MountTree through a real mount; both answer `read` and `list`
with bytes and names or an OSError, so that one test holds for both. Nothing here waits for ever:
processes have a time limit, and a mount whose test takes too long loses its daemon, which turns a
read that hangs into an error.
"""
import errno
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import archives

ROOT = os.geteuid() == 0
SANITIZER = re.compile(rb"(ERROR|WARNING): \w+Sanitizer|SUMMARY: \w+Sanitizer|runtime error:")
SHOW_SECONDS = 20
# Files that are made when they are opened: their size says nothing.
COMPUTED = {"columns.tsv", "counts.tsv", "head.jsonl"}


def is_computed(path):
    """Made when it is opened: its size says nothing."""
    return Path(path).name in COMPUTED or "ctl" in Path(path).parts


def program(name):
    """Path of a built program: $LANCEFS or $LANCET, else in the build directory."""
    path = os.environ.get(name.upper())
    if path is None and "abs_top_builddir" in os.environ:
        path = os.path.join(os.environ["abs_top_builddir"], name)
    if path is None:
        raise AssertionError(f"set {name.upper()} to the path of {name}, or abs_top_builddir")
    assert os.access(path, os.X_OK), f"{path} can't be run"
    return os.path.abspath(path)


def need_fuse():
    """Without /dev/fuse a test fails; only LANCEFS_NO_FUSE=1 skips those that mount."""
    assert os.path.exists("/dev/fuse"), \
        "/dev/fuse is missing; LANCEFS_NO_FUSE=1 skips the tests that need it"


def as_user(command, setuid=False):
    """The command as an ordinary user: nobody when the tests run as root.

    `setuid` lets it run helpers such as fusermount3 with their own rights.
    """
    if not ROOT:
        return command
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
            *([] if setuid else ["--no-new-privs"]), *command]


def under_sanitizer(name):
    """Whether a program was built with AddressSanitizer, whose shadow memory is no use of ours."""
    return b"__asan_init" in Path(program(name)).read_bytes()


# ---- lancet show --------------------------------------------------------------------------

class ShowTree:
    """`lancet show`; `selection` are words such as version=3, as for a mount."""

    def __init__(self, dataset, *selection):
        self.dataset, self.selection = dataset, selection

    def run(self, path):
        return subprocess.run([program("lancet"), "show", self.dataset, path, *self.selection],
                              capture_output=True, timeout=SHOW_SECONDS, check=False,
                              stdin=subprocess.DEVNULL)

    def read(self, path):
        done = self.run(path)
        assert not SANITIZER.search(done.stderr), done.stderr.decode(errors="replace")
        if done.returncode == 0:
            assert done.stderr == b"", f"{path}: success with {done.stderr!r}"
            return done.stdout
        assert done.returncode == 1, f"{path}: exit {done.returncode}: {done.stderr!r}"
        return self._failure(path, done.stderr.decode("utf-8", "replace"))

    @staticmethod
    def _failure(path, text):
        assert text.endswith("\n") and text.count("\n") == 1, f"{path}: not one line: {text!r}"
        names = [n for n in re.findall(r"\bE[A-Z0-9]{2,}\b", text) if hasattr(errno, n)]
        assert names, f"{path}: no errno name in {text!r}"
        raise OSError(getattr(errno, names[0]), text.strip(), path)

    def list(self, path):
        raw = self.read(path)
        assert raw == b"" or raw.endswith(b"\n")
        return [os.fsdecode(n) for n in raw.split(b"\n")[:-1]]


# ---- a mount ------------------------------------------------------------------------------

class MountFailed(Exception):
    def __init__(self, status, text):
        super().__init__(f"exit {status}: {text}")
        self.status, self.text = status, text


class MountTree:
    """`lancefs -f` in the background, as a context; unmounted whatever happens."""

    def __init__(self, dataset, *options, limit=120):
        self.dataset, self.options, self.limit = Path(dataset), list(options), limit
        if ROOT:
            self.options.append("allow_other")
        self.daemon = self.watchdog = None
        self.timed_out = False

    def __enter__(self):
        self.home = Path(tempfile.mkdtemp(prefix="mount-", dir=archives.scratch()))
        self.home.chmod(0o755)
        self.path = self.home / "mnt"
        self.path.mkdir()
        self._log = open(self.home / "log", "w+b")
        options = ["-o", ",".join(self.options)] if self.options else []
        self.daemon = subprocess.Popen([program("lancefs"), "-f", *options, self.dataset,
                                        self.path], stdin=subprocess.DEVNULL, stdout=self._log,
                                       stderr=self._log, start_new_session=True)
        self.watchdog = threading.Timer(self.limit, self._expire)
        self.watchdog.start()
        try:
            self._wait()
        except BaseException:
            self._tear_down()
            raise
        return self

    def _expire(self):
        self.timed_out = True
        self.daemon.kill()

    def _wait(self):
        """Until the mount answers. The device number tells, once the daemon serves."""
        deadline, outside = time.monotonic() + 20, os.stat(self.home).st_dev
        while self.daemon.poll() is None:
            try:
                if os.stat(self.path).st_dev != outside:
                    return
            except OSError:
                pass  # between mount and the daemon's first answer, or after its death
            if time.monotonic() > deadline:
                raise AssertionError(f"not mounted after 20 s: {self.log()}")
            time.sleep(0.005)
        raise MountFailed(self.daemon.returncode, self.log())

    def log(self):
        return Path(self._log.name).read_bytes().decode("utf-8", "replace")

    def alive(self):
        return self.daemon.poll() is None

    def peak_memory(self):
        """The most resident memory that the daemon ever had, in bytes."""
        for line in Path(f"/proc/{self.daemon.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("the daemon is gone")

    def __exit__(self, kind, value, trace):
        died = None if self.alive() else self.daemon.returncode
        clean = self._tear_down()
        if self.timed_out:
            raise AssertionError(f"no end after {self.limit} s: {self.log()}")
        assert died is None, f"the daemon ended with {died}: {self.log()}"
        assert not SANITIZER.search(self.log().encode()), self.log()
        if kind is None:
            assert clean == 0, f"exit {clean} after SIGTERM: {self.log()}"

    def _tear_down(self):
        """SIGTERM is a clean unmount; what doesn't obey is removed by force."""
        self.watchdog.cancel()
        if self.alive():
            self.daemon.send_signal(signal.SIGTERM)
        try:
            status = self.daemon.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            status = self.daemon.wait()
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as mounts:
            left = any(line.split()[1] == str(self.path) for line in mounts)
        if left:
            command = ["umount", "-l"] if ROOT else ["fusermount3", "-u", "-z"]
            subprocess.run([*command, self.path], timeout=20, check=False)
            status = status or "mount left behind"
        self._log.flush()
        return status

    # ---- reading ------------------------------------------------------------------------

    def read(self, path):
        """The bytes of a file, which must be exactly as many as its size says."""
        raw = (self.path / path).read_bytes()
        size = os.lstat(self.path / path).st_size
        due = 0 if is_computed(path) else len(raw)
        assert size == due, f"{path}: size {size}, {len(raw)} bytes"
        return raw

    def list(self, path):
        return os.listdir(self.path / path)

    def link(self, path):
        return os.readlink(self.path / path)

    def exists(self, path):
        return os.path.lexists(self.path / path)

    def lstat(self, path):
        return os.lstat(self.path / path)

    def walk(self, path="", skipped=()):
        """(path below the mount, entry) of everything, directories before what they hold.

        A directory that can't be listed comes as (path, OSError); nothing in `skipped` is entered.
        """
        try:
            with os.scandir(self.path / path if path else self.path) as entries:
                found = sorted(entries, key=lambda e: e.name)
        except OSError as error:
            yield path, error
            return
        for entry in found:
            below = f"{path}/{entry.name}" if path else entry.name
            yield below, entry
            if entry.is_dir(follow_symlinks=False) and below not in skipped:
                yield from self.walk(below, skipped)


def copy_away(source, target):
    """A native copy of a dataset, for what the tests change."""
    shutil.copytree(source, target, symlinks=True)
    return target
