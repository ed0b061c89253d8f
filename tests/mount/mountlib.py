"""What the tests of real mounts share: cases with a time limit, datasets, mounts, ordinary users.

A test file registers its cases with @case and ends with main(). Every case prints one TAP line.
Nothing waits for ever: at the end of its time a case loses all daemons, which turns a read that
hangs into an error. Whatever is still mounted below the scratch directory at the end is a failure,
and is removed.
"""
import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data"
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "interop"))
import wire  # noqa: E402  relocates the stored absolute paths of a few datasets

ROOT = os.geteuid() == 0
NOBODY = 65534
USER = NOBODY if ROOT else os.geteuid()
SANITIZER = re.compile(r"(ERROR|WARNING): \w+Sanitizer|SUMMARY: \w+Sanitizer|runtime error:")
CASE_SECONDS = 60
CASES, DAEMONS = [], []
COMPUTED = {"columns.tsv", "counts.tsv", "head.jsonl"}  # made when they are opened: their size says nothing


def is_computed(path):
    return Path(path).name in COMPUTED or "ctl" in Path(path).parts


class Skip(Exception):
    """A case that says nothing on this machine, and why."""


def case(seconds=CASE_SECONDS):
    def register(function):
        CASES.append((function, seconds))
        return function
    return register


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def equal(got, wanted, text):
    check(got == wanted, f"{text}: {got!r} instead of {wanted!r}")


def refused(numbers, call, text):
    """The call must fail with one of the errnos."""
    try:
        call()
    except OSError as error:
        check(error.errno in numbers, f"{text}: {error}")
    else:
        raise AssertionError(f"{text}: no error")


def wait_for(condition, text, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < deadline, f"not within {seconds} s: {text}")
        time.sleep(0.02)


# ---- scratch directory and programs -------------------------------------------------------

def build_directory():
    path = os.environ.get("abs_top_builddir")
    check(path is not None, "set abs_top_builddir to the build directory")
    return Path(path)


SCRATCH = Path(tempfile.mkdtemp(prefix="lancefs-mount-")).resolve()
SCRATCH.chmod(0o755)


@atexit.register
def remove_scratch():
    for directory, names, _ in os.walk(SCRATCH):
        for name in names:  # copies of what has no write bits, in the tree or restored
            if not os.path.islink(path := os.path.join(directory, name)):
                os.chmod(path, 0o700)
    shutil.rmtree(SCRATCH, ignore_errors=True)


def place(name, owner=None):
    """A new directory; `owner` gets it when the tests run as root."""
    path = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=SCRATCH))
    path.chmod(0o755)
    if ROOT and owner is not None:
        os.chown(path, owner, owner)
    return path


def installed(name):
    """The program where anybody may run it; the mount helper with the daemon beside it."""
    if name == "mount.lancefs":
        installed("lancefs")
    target = SCRATCH / "bin" / name
    if not target.exists():
        source = build_directory() / name
        if not source.exists():
            source = build_directory() / "mount-helpers" / name
        target.parent.mkdir(exist_ok=True)
        target.parent.chmod(0o755)
        shutil.copy(source, target)
        target.chmod(0o755)
    return str(target)


def as_user(command):
    """The command as an ordinary user, with the rights of set-uid helpers left to those."""
    if not ROOT:
        return [str(c) for c in command]
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            *[str(c) for c in command]]


def run(command, user=False, seconds=30, **more):
    command = as_user(command) if user else [str(c) for c in command]
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(command, capture_output=True, text=True, errors="surrogateescape",
                          timeout=seconds, check=False, **more)


def succeed(command, **more):
    done = run(command, **more)
    check(done.returncode == 0, f"{command}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def sanitized():
    """AddressSanitizer's own memory is no use of the daemon's."""
    return b"__asan_init" in (build_directory() / "lancefs").read_bytes()


def need(program):
    path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    check(path is not None, f"{program} is not installed: this test can't be run without it")
    return path


# ---- datasets -----------------------------------------------------------------------------

def sample():
    """A copy of the sample dataset; every file has a time of its own, all in the past."""
    target = place("sample") / "ds.lance"
    shutil.copytree(DATA / "sample.lance", target, symlinks=True)
    space_out(target)
    return target


def space_out(directory):
    """Distinct modification times, whole seconds and nanoseconds."""
    base, names = time.time_ns() - 10**15, sorted(Path(directory).rglob("*"), reverse=True)
    for number, name in enumerate(names):
        moment = base + number * 1_500_000_007
        os.utime(name, ns=(moment - 10**9, moment))


def unpack(archive, *names):
    """The named members of an archive, in a directory of their own."""
    target = place("unpacked")
    members = [f"{archive}/{n}" for n in names]
    subprocess.run(["tar", "--no-same-owner", "-C", target, "-xJf", DATA / f"{archive}.tar.xz",
                    *members], check=True, timeout=120)
    for home in [target / archive / n for n in names] if archive == "corrupt" else [
            target / archive]:
        wire.relocate(home)
    return target / archive


def broken(name):
    """A dataset of corrupt.tar.xz."""
    listing = subprocess.run(["tar", "-tJf", DATA / "corrupt.tar.xz"], check=True, timeout=60,
                             capture_output=True, text=True).stdout
    directory = re.search(rf"^corrupt/({name}-\d+)/$", listing, re.M).group(1)
    return unpack("corrupt", directory) / directory / "ds.lance"


def manifest(dataset, version):
    return dataset / "_versions" / f"{2**64 - 1 - version}.manifest"


def take_away(dataset, *versions):
    """Removes manifests; the result puts one back as a commit does, by a rename."""
    aside = place("aside")
    for version in versions:
        shutil.move(manifest(dataset, version), aside / str(version))

    def put_back(version):
        temporary = dataset / "_versions" / f".tmp_{version}"
        shutil.copy2(aside / str(version), temporary)
        os.rename(temporary, manifest(dataset, version))
    return put_back


# ---- mounts -------------------------------------------------------------------------------

def mounts(below=None):
    """(mount point, type, source, options) from the kernel's list."""
    out = []
    text = Path("/proc/self/mountinfo").read_bytes().decode("utf-8", "surrogateescape")
    for line in text.splitlines():
        left, right = line.split(" - ", 1)
        fields, rest = left.split(" "), right.split(" ")
        point, source = (re.sub(r"\\([0-7]{3})", lambda m: chr(int(m.group(1), 8)), t)
                         for t in (fields[4], rest[1]))
        if below is None or Path(point) == Path(below) or Path(below) in Path(point).parents:
            out.append((point, rest[0], source, fields[5].split(",")))
    return out


def mount_of(point):
    found = [m for m in mounts() if m[0] == str(point)]
    return found[-1] if found else None


def unmount_by_force(point):
    command = ["umount", "-l", point] if ROOT else ["fusermount3", "-u", "-z", point]
    subprocess.run(command, timeout=20, check=False, capture_output=True)


def background(*arguments, user=False, **more):
    """`lancefs` as it is called: returns when the mount answers or has failed."""
    return run([installed("lancefs"), *arguments], user=user, **more)


class Mount:
    """`lancefs -f` as a context; `point` is where, `pid` who serves."""

    def __init__(self, dataset, *options, flags=("-f",), user=False, point=None, env=None,
                 files=None):
        self.dataset, self.options, self.flags = dataset, list(options), list(flags)
        self.user, self.env, self.files = user, env, files
        self.point = point or place("mnt", owner=USER if user else None)
        self.log_path = place("log") / "log"
        self.ended_well = True

    def command(self):
        options = ["-o", ",".join(self.options)] if self.options else []
        command = [installed("lancefs"), *self.flags, *options, self.dataset, self.point]
        if self.files:
            command = ["prlimit", f"--nofile={self.files}", *command]
        return as_user(command) if self.user else [str(c) for c in command]

    def __enter__(self):
        outside = os.stat(self.point.parent).st_dev
        with open(self.log_path, "wb") as log:
            self.daemon = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log,
                                           stderr=log, start_new_session=True,
                                           env={**os.environ, **(self.env or {})})
        DAEMONS.append(self.daemon)
        self.pid = self.daemon.pid
        try:
            wait_for(lambda: self.answers(outside), f"mounted: {self.log()}", 20)
        except BaseException:
            self.__exit__(AssertionError, None, None)
            raise
        return self

    def answers(self, outside):
        check(self.daemon.poll() is None, f"exit {self.daemon.returncode}: {self.log()}")
        if mount_of(self.point) is None:
            return False
        if self.user and ROOT:
            return run(["test", "-e", self.point / "."], user=True).returncode == 0
        try:
            return os.stat(self.point).st_dev != outside
        except OSError:
            return False

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def stop(self, seconds=15):
        """SIGTERM; the exit status."""
        self.daemon.send_signal(signal.SIGTERM)
        return self.daemon.wait(timeout=seconds)

    def __exit__(self, kind, value, trace):
        died = self.daemon.poll()
        try:
            status = self.stop() if died is None else died
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            status = self.daemon.wait()
        left = mount_of(self.point) is not None
        if left:
            unmount_by_force(self.point)
        if kind is None and self.ended_well:
            check(died in (None, 0), f"the daemon ended with {died}: {self.log()}")
            check(status == 0 and not left, f"exit {status} after SIGTERM, mount left: {left}: "
                  + self.log())
        check(not SANITIZER.search(self.log()), self.log())

    def requests(self, word):
        """How many requests of a kind libfuse has logged; the daemon runs with -d."""
        return len(re.findall(rf"opcode: {word} \(", self.log()))


class Background:
    """A background mount as a context."""

    def __init__(self, *arguments, point, user=False, **more):
        self.arguments, self.point, self.user, self.more = arguments, Path(point), user, more

    def __enter__(self):
        done = background(*self.arguments, user=self.user, **self.more)
        equal((done.returncode, done.stderr), (0, ""), f"{self.arguments}")
        return self

    def __exit__(self, kind, value, trace):
        succeed(["fusermount3", "-u", self.point], user=self.user)


# ---- looking at trees ---------------------------------------------------------------------

def read(path):
    return Path(path).read_bytes()


def values(text):
    """"key: value" lines as a dict."""
    return dict(line.split(": ", 1) if ": " in line else (line.rstrip(":"), "")
                for line in text.decode().splitlines())


def current_version(point):
    return int(values(read(point / "current" / "summary"))["version"])


def walk(path, on_error=None):
    """(path, DirEntry) of everything below, directories before what they hold."""
    try:
        with os.scandir(path) as entries:
            found = sorted(entries, key=lambda e: e.name)
    except OSError as error:
        if on_error is None:
            raise
        on_error(error)
        return
    for entry in found:
        yield Path(entry.path), entry
        if entry.is_dir(follow_symlinks=False):
            yield from walk(entry.path, on_error)


def regular_files(path):
    return [p for p, e in walk(path) if e.is_file(follow_symlinks=False)]


# ---- running the cases --------------------------------------------------------------------

def kill_daemons():
    for daemon in DAEMONS:
        if daemon.poll() is None:
            daemon.kill()


def run_case(function, seconds):
    """None, or why the case failed."""
    expired = []

    def expire():
        expired.append(True)
        kill_daemons()
    timer = threading.Timer(seconds, expire)
    timer.start()
    try:
        function()
    except Skip:
        raise
    except Exception:
        return (f"no end after {seconds} s\n" if expired else "") + traceback.format_exc()
    finally:
        timer.cancel()
    return f"no end after {seconds} s" if expired else None


def fuse_trouble():
    """Why nothing can be mounted here, or None."""
    for who in ([False, True] if ROOT else [False]):
        done = run(["sh", "-c", "exec 3<>/dev/fuse"], user=who)
        if done.returncode != 0:
            return f"/dev/fuse can't be used{' by an ordinary user' if who else ''}: " + \
                done.stderr.strip()
    return None if shutil.which("fusermount3") else "fusermount3 is not installed"


def main():
    name, failed = Path(sys.argv[0]).stem, 0
    print(f"# {name}", flush=True)
    trouble = fuse_trouble()
    if trouble:
        print(f"not ok - {name}: {trouble}")
        sys.exit(1)
    chosen = [c for c in CASES if not sys.argv[1:] or c[0].__name__ in sys.argv[1:]]
    for function, seconds in chosen:
        started, title = time.monotonic(), f"{name}: {function.__name__}"
        try:
            trouble = run_case(function, seconds)
        except Skip as reason:
            print(f"ok - {title} # SKIP {reason}", flush=True)
            continue
        left = [m[0] for m in mounts(SCRATCH)]
        for point in left:
            unmount_by_force(point)
        kill_daemons()
        if left and not trouble:
            trouble = f"still mounted: {left}"
        failed += trouble is not None
        print(f"{'not ' if trouble else ''}ok - {title} ({time.monotonic() - started:.1f} s)",
              flush=True)
        if trouble:
            print("".join(f"#   {line}\n" for line in trouble.rstrip().splitlines()), flush=True)
    print(f"# {name}: {len(chosen) - failed} of {len(chosen)} passed", flush=True)
    sys.exit(failed > 0)
