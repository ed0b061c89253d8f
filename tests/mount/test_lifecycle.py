"""Signals, readiness, busy and dead mounts, and what the log says."""
import errno
import os
import re
import signal
import socket
import subprocess
import time

from mountlib import (ROOT, USER, Background, Mount, background, case, check, current_version,
                      equal, installed, main, manifest, mount_of, mounts, place, read, refused,
                      regular_files, run, sample, sanitized, succeed, take_away, unpack,
                      unmount_by_force, wait_for)


class Holder:
    """A process that has its working directory in the mount."""

    def __init__(self, directory):
        self.process = subprocess.Popen(["sleep", "60"], cwd=directory, stdin=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.process.kill()
        self.process.wait()

    def sees(self, name):
        """Reads a file below the holder's working directory."""
        return read(f"/proc/{self.process.pid}/cwd/{name}")


def open_files(mount, below):
    """What the daemon holds open below a directory."""
    directory, out = f"/proc/{mount.pid}/fd", []
    for name in os.listdir(directory):
        try:
            target = os.readlink(f"{directory}/{name}")
        except FileNotFoundError:
            continue  # closed meanwhile
        if target.startswith(f"{below}/"):
            out.append(target)
    return out


@case()
def signals_unmount():
    dataset = sample()
    for number in (signal.SIGTERM, signal.SIGINT):
        for flags in (("-f",), ("-f", "-s")):
            with Mount(dataset, flags=flags) as mount:
                read(mount.point / "current/summary")
                mount.daemon.send_signal(number)
                equal(mount.daemon.wait(timeout=10), 0, f"exit after {number} with {flags}")
                check(mount_of(mount.point) is None, "unmounted")


@case()
def umount_ends_the_daemon():
    with Mount(sample()) as mount:
        wait_for(lambda: "serving " in mount.log(), "the daemon has looked at its mount itself")
        succeed(["fusermount3", "-u", mount.point])
        equal(mount.daemon.wait(timeout=10), 0, "exit after umount")


@case()
def busy_mount_keeps_serving():
    with Mount(sample()) as mount, Holder(mount.point / "versions/1") as holder:
        mount.daemon.send_signal(signal.SIGTERM)
        wait_for(lambda: "in use" in mount.log(), "a line that says so")
        time.sleep(1)
        check(mount.daemon.poll() is None, "serves on")
        check(b"version" in holder.sees("summary"), "the holder reads")
        equal(current_version(mount.point), 6, "others read, too")
        holder.process.kill()
        holder.process.wait()
        equal(mount.daemon.wait(timeout=10), 0, "ends when idle")
        check(mount_of(mount.point) is None, "unmounted")


def lazily(mount, holder):
    """The mount is out of sight, and still there for the holder."""
    wait_for(lambda: mount_of(mount.point) is None, "detached", 10)
    check(mount.daemon.poll() is None, "serves the holder")
    check(b"version" in holder.sees("summary"), "the holder reads on")
    holder.process.kill()
    holder.process.wait()
    equal(mount.daemon.wait(timeout=10), 0, "ends with the last user")


@case()
def lazy_after_stop_timeout():
    with Mount(sample(), "stop_timeout=1") as mount:
        with Holder(mount.point / "versions/1") as holder:
            started = time.monotonic()
            mount.daemon.send_signal(signal.SIGTERM)
            wait_for(lambda: mount_of(mount.point) is None, "detached", 10)
            check(time.monotonic() - started > 0.7, "not before its time")
            lazily(mount, holder)


@case()
def lazy_at_second_signal():
    with Mount(sample(), "stop_timeout=600") as mount:
        with Holder(mount.point / "versions/1") as holder:
            mount.daemon.send_signal(signal.SIGTERM)
            wait_for(lambda: "in use" in mount.log(), "a line that says so")
            mount.daemon.send_signal(signal.SIGTERM)
            lazily(mount, holder)


@case()
def ordinary_user_stops_it():
    """Unmounting goes through fusermount3; the daemon of root needs no helper."""
    with Mount(sample(), user=True) as mount:
        command = ["sh", "-c", f"cd '{mount.point}/versions/1' && exec sleep 60"]
        if ROOT:
            command = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command]
        holder = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        try:
            wait_for(lambda: b"sleep" in read(f"/proc/{holder.pid}/comm"), "the holder is there")
            mount.daemon.send_signal(signal.SIGTERM)
            wait_for(lambda: "in use" in mount.log(), "a line that says so")
            check(mount_of(mount.point) is not None, "not taken from its user")
        finally:
            holder.kill()
            holder.wait()
        equal(mount.daemon.wait(timeout=10), 0, "ends when idle")


@case()
def hangup_moves_current():
    dataset = sample()
    put_back = take_away(dataset, 5, 6)
    with Mount(dataset) as mount:
        listing = os.open(mount.point / "current/fragments", os.O_RDONLY | os.O_DIRECTORY)
        summary = open(mount.point / "current/summary", "rb")
        fragments = os.listdir(mount.point / "versions/4/fragments")
        put_back(5)
        equal(current_version(mount.point), 4, "current is frozen")
        mount.daemon.send_signal(signal.SIGHUP)
        wait_for(lambda: current_version(mount.point) == 5, "current moves")
        check(b" 4\n" in summary.read(200), "an open file stays what it was")
        equal(sorted(os.listdir(listing)), sorted(fragments), "an open directory too")
        summary.close()
        os.close(listing)
        put_back(6)
        mount.daemon.send_signal(signal.SIGHUP)
        wait_for(lambda: current_version(mount.point) == 6, "current moves again")
        check("current is version 6" in mount.log(), mount.log())


@case()
def hangup_when_single_threaded():
    """Telling the kernel of it must not wait for the thread that answers requests."""
    dataset = sample()
    put_back = take_away(dataset, 6)
    with Mount(dataset, flags=("-f", "-s")) as mount, Holder(mount.point / "current/dataset"):
        equal(current_version(mount.point), 5, "before")
        put_back(6)
        mount.daemon.send_signal(signal.SIGHUP)
        wait_for(lambda: current_version(mount.point) == 6, "current moves")


@case()
def hangup_moves_the_view():
    """With view=dataset the whole root moves, at once."""
    dataset = sample()
    put_back = take_away(dataset, 6)
    with Mount(dataset, "view=dataset") as mount:
        name = manifest(dataset, 6).name
        equal(os.listdir(mount.point / "_versions"), [manifest(dataset, 5).name], "before")
        put_back(6)
        mount.daemon.send_signal(signal.SIGHUP)
        wait_for(lambda: name in os.listdir(mount.point / "_versions"), "the root moves")
        equal(os.listdir(mount.point / "_versions"), [name], "after")


@case()
def hangup_respects_options():
    dataset = sample()
    put_back = take_away(dataset, 6)
    for option, version in (("version=2", 2), ("tag=audited", 4), ("asof=2100-01-01T00:00:00Z", 5)):
        with Mount(dataset, option) as mount:
            equal(current_version(mount.point), version, option)
            if not manifest(dataset, 6).exists():
                put_back(6)
            mount.daemon.send_signal(signal.SIGHUP)
            wait_for(lambda m=mount: "SIGHUP" in m.log(), "a line that says so")
            equal(current_version(mount.point), version, f"{option} after SIGHUP")
        if manifest(dataset, 6).exists():
            put_back = take_away(dataset, 6)


@case()
def killed_daemon():
    dataset = sample()
    with Mount(dataset) as mount:
        read(mount.point / "current/summary")
        mount.daemon.kill()
        mount.daemon.wait()
        mount.ended_well = False
        for look in (lambda: os.listdir(mount.point), lambda: os.statvfs(mount.point),
                     lambda: os.stat(mount.point / "latest")):
            refused({errno.ENOTCONN}, look, "never an empty directory")
        done = background(dataset, mount.point)
        check(done.returncode == 32 and "clean_stale" in done.stderr, repr(done))
        equal(done.stderr.count("\n"), 1, "one line")
        refused({errno.ENOTCONN}, lambda: os.listdir(mount.point), "still there")
        with Background("-o", "clean_stale", dataset, mount.point, point=mount.point):
            equal(current_version(mount.point), 6, "mounted again")
            equal(len([m for m in mounts() if m[0] == str(mount.point)]), 1, "mounts there")
        if not ROOT:
            return  # nobody else may mount on a directory without write permission, such as ours
        # clean_stale is for dead mounts: a living one is not taken away.
        with Mount(dataset, point=mount.point):
            with Background("-o", "clean_stale", dataset, mount.point, point=mount.point):
                equal(len([m for m in mounts() if m[0] == str(mount.point)]), 2, "one on the other")
            equal(current_version(mount.point), 6, "the living mount serves on")


@case()
def killed_while_it_is_asked():
    """At no moment does a kill leave a process that waits for its own answer."""
    dataset, point = sample(), place("point")
    for delay in (0, 0, 0.001, 0.002, 0.004, 0.008, 0.016, 0.03):
        daemon = subprocess.Popen([installed("lancefs"), "-f", dataset, point], stderr=subprocess.DEVNULL)
        try:
            for _ in range(5000):
                if mount_of(point) or daemon.poll() is not None:
                    break
                time.sleep(0.0005)
            time.sleep(delay)
            daemon.kill()
            daemon.wait(timeout=10)
        finally:
            if mount_of(point):
                unmount_by_force(point)


@case()
def killed_daemon_of_a_user():
    dataset = sample()
    with Mount(dataset, user=True) as mount:
        mount.daemon.kill()
        mount.daemon.wait()
        mount.ended_well = False
        done = background(dataset, mount.point, user=True)
        check(done.returncode == 32 and "clean_stale" in done.stderr, repr(done))
        with Background("-o", "clean_stale", dataset, mount.point, point=mount.point, user=True):
            succeed(["cat", mount.point / "current/summary"], user=True)


@case()
def readiness():
    dataset = sample()
    home = place("notify", owner=USER)
    for name in (str(home / "socket"), f"@lancefs-test-{os.getpid()}"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(name.replace("@", "\0"))
            listener.settimeout(10)
            with Mount(dataset, env={"NOTIFY_SOCKET": name}) as mount:
                message = listener.recv(4096)
                check(b"READY=1" in message.split(b"\n"), repr(message))
                equal(current_version(mount.point), 6, "ready means that it answers")
    with Mount(dataset, env={"NOTIFY_SOCKET": str(home / "nobody listens")}) as mount:
        equal(current_version(mount.point), 6, "nobody to tell")


@case()
def not_ready_when_it_fails():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        name = str(place("notify") / "socket")
        listener.bind(name)
        listener.setblocking(False)
        done = background("-f", "-o", "version=99", sample(), place("mnt"),
                          env={**os.environ, "NOTIFY_SOCKET": name})
        equal(done.returncode, 32, done.stderr)
        refused({errno.EAGAIN}, lambda: listener.recv(10), "READY for a mount that failed")


@case()
def log_names_the_damaged_file():
    dataset = sample()
    lost = max((dataset / "_deletions").iterdir(), key=lambda p: p.stat().st_mtime)
    lost.unlink()
    with Mount(dataset) as mount:
        shown = [p for p in mount.point.glob("versions/*/dataset/_deletions/*")
                 if p.name == lost.name]
        check(shown, "the lost file is listed")
        for path in shown * 5:
            refused({errno.EIO}, lambda p=path: read(p), str(path))
        lines = [line for line in mount.log().splitlines() if lost.name in line]
        check(lines, f"the log names it: {mount.log()}")
        check(all(re.match(r"<[34]>", line) for line in lines), f"with a journal level: {lines}")
        check(len(lines) <= 2 * len(shown), f"not a line for every try: {lines}")


@case()
def libfuse_speaks_through_our_log():
    with Mount(sample(), flags=("-f", "-d")) as mount:
        read(mount.point / "README.txt")
        lines = [line for line in mount.log().splitlines() if "opcode: READ (" in line]
        check(lines and all(line.startswith("<7>") for line in lines), f"{lines[:3]}")


@case(90)
def few_descriptors():
    """None is kept for what was looked at: 64 are enough for any tree and many versions."""
    many = unpack("fixtures", "versions_500.lance") / "versions_500.lance"
    for dataset in (sample(), many):
        with Mount(dataset, files=64) as mount:
            files = [p for p in mount.point.glob("versions/*/*") if p.is_file()]
            if dataset != many:
                files = regular_files(mount.point)
            check(len(files) > 200, f"a tree worth the name: {len(files)}")
            for path in files:
                read(path)
            held = [f for f in open_files(mount, dataset) if "/_versions/" not in f]
            equal(held, [], "files that nobody has open any more")
            check(len(open_files(mount, dataset)) <= 32, f"{open_files(mount, dataset)}")
            live = list(mount.point.glob("versions/*/dataset/data/*"))[:8]
            kept = [open(p, "rb") for p in live]
            check(read(mount.point / "README.txt"), "others read beside open files")
            for file in kept:
                file.close()


@case()
def threads_end():
    """Nothing grows with use: memory and threads after many rounds are as after the first."""
    with Mount(sample(), "max_threads=4") as mount:
        def resident():
            text = read(f"/proc/{mount.pid}/status").decode()
            return int(re.search(r"VmRSS:\s+(\d+)", text).group(1))

        def round_trip():
            run(["find", mount.point, "-ls"], seconds=30)
            run(["sh", "-c", 'find "$0" -type f -exec cat {} + >/dev/null', mount.point],
                seconds=30)
        round_trip()
        first = resident()
        for _ in range(8):
            round_trip()
        check(sanitized() or resident() < first + 8192, f"{resident()} KiB after {first} KiB")
        threads = len(os.listdir(f"/proc/{mount.pid}/task"))
        check(threads <= 4 + 3, f"{threads} threads")


main()
