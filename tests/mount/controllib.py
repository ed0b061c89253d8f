"""What the tests of control files share: writing lines, results, and commands that take long."""
import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import threading
import time

from mountlib import check, equal, place, read, refused, wait_for


def send(path, line):
    """One write(2); fails with the errno of the command."""
    fd = os.open(path, os.O_WRONLY)
    try:
        data = (line + "\n").encode()
        equal(os.write(fd, data), len(data), f"{path}: {line}: bytes taken")
    finally:
        os.close(fd)


def result(path, line):
    """The JSON that the command's own handle reads; it must succeed."""
    return ask(path, line)[1]


def ask(path, line):
    """(errno or 0, JSON) of a line, both through one handle."""
    fd = os.open(path, os.O_RDWR)
    try:
        number = 0
        try:
            os.write(fd, (line + "\n").encode())
        except OSError as error:
            number = error.errno
        text = b"".join(iter(lambda: os.read(fd, 4096), b""))
        return number, json.loads(text)
    finally:
        os.close(fd)


def must_fail(number, path, line):
    """The JSON of a line that must fail with this errno, and say the same in its result."""
    got, answer = ask(path, line)
    equal(errno.errorcode.get(got, got), errno.errorcode[number], f"{path}: {line}: {answer}")
    equal((answer["ok"], answer["errno"]), (False, errno.errorcode[number]), f"{answer}")
    return answer


def errors(mount):
    """Lines of ctl/errors as lists of cells."""
    lines = read(mount.point / "ctl/errors").decode().splitlines()
    equal(lines[0].split(), ["time", "uid", "pid", "path", "code", "text"], "columns")
    return [[cell.strip() for cell in line.split("\t")] for line in lines[1:]]


def jobs(mount):
    return sorted((int(n) for n in os.listdir(mount.point / "ctl/jobs")))


def state(mount, job):
    return read(mount.point / f"ctl/jobs/{job}/state").decode().strip()


class Held:
    """A payload that nobody can open while the context lasts, so that `append` of it runs, and does
    not end. The mount needs the option `stage`: holding is a lease on the file that is kept there."""

    directory = None

    @classmethod
    def stage(cls):
        cls.directory = place("stage")
        return f"stage={cls.directory}"

    def __init__(self, mount, name="held"):
        data = max((mount.dataset / "data").iterdir(), key=lambda p: p.stat().st_size)
        shutil.copyfile(data, mount.point / "ctl/stage" / name)
        self.line = f"file={name}"
        kept = [p for d in self.directory.glob("lancefs-stage-*") for p in d.iterdir()]
        self.path = max(kept, key=lambda p: int(p.name))

    def __enter__(self):
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        self.fd = os.open(self.path, os.O_RDWR)

        def granted():  # not while the daemon has it open: it hears of a close a little later
            try:
                fcntl.fcntl(self.fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            except BlockingIOError:
                return False
            return True
        wait_for(granted, "the lease on a staged file")
        return self

    def release(self):
        if self.fd is not None:
            os.close(self.fd)
        self.fd = None

    def __exit__(self, *ignored):
        self.release()


class Writer(threading.Thread):
    """Writes a line in a thread: `number` is its errno, 0 when it was taken, None before the end."""

    def __init__(self, path, line):
        super().__init__(daemon=True)
        self.path, self.line, self.number = path, line, None
        self.start()

    def run(self):
        try:
            send(self.path, self.line)
            self.number = 0
        except OSError as error:
            self.number = error.errno

    def end(self, seconds=20):
        self.join(seconds)
        check(not self.is_alive(), f"{self.path}: {self.line}: no end after {seconds} s")
        return self.number


def parked(mount, count=1):
    """Waits until so many jobs run or wait."""
    def busy():
        return [j for j in jobs(mount) if state(mount, j) in ("running", "queued")]
    wait_for(lambda: len(busy()) == count, f"{count} jobs are parked")
    return busy()


def newest(mount):
    return int(os.readlink(mount.point / "latest").split("/")[1])


def shell(program, script, mount, **more):
    """A script of a shell in the mount point; (exit status, stderr)."""
    done = subprocess.run([program, "-c", script], cwd=mount.point, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=30, check=False, **more)
    return done.returncode, done.stderr


def refuse(numbers, call, text):
    refused(set(numbers), call, text)


def settle(seconds=0.6):
    """Long enough for the callers' signals to be looked at."""
    time.sleep(seconds)
