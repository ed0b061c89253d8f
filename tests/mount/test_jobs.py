"""Commands that take long: what cancels them, who waits for them, and what is seen of them."""
import errno
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

from controllib import (Held, Writer, ask, errors, jobs, must_fail, newest, parked, refuse, result,
                        send, settle, state)
from mountlib import (Mount, case, check, equal, main, mount_of, need, place, read, sample,
                      wait_for)


class Child:
    """`echo LINE > FILE` in a process of its own, as the shell does it; `exec` with handlers for the
    signals that a shell at a terminal has."""

    SCRIPT = r"""
import os, signal, sys
for number in (signal.SIGWINCH, signal.SIGCHLD, signal.SIGUSR1):
    signal.signal(number, lambda *_: None)
fd = os.open(sys.argv[1], os.O_WRONLY)
try:
    os.write(fd, sys.argv[2].encode() + b"\n")
except OSError as error:
    sys.exit(error.errno)
"""

    def __init__(self, path, line):
        self.process = subprocess.Popen(["python3", "-c", self.SCRIPT, path, line],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def send(self, number):
        self.process.send_signal(number)

    def runs(self):
        return self.process.poll() is None

    def end(self, seconds=20):
        return self.process.wait(seconds)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.process.kill()
        self.process.wait(20)


def held_mount(*options, **more):
    return Mount(sample(), Held.stage(), *options, **more)


@case()
def signals_that_cancel():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL):
        with held_mount() as mount, Held(mount) as held:
            with Child(mount.point / "ctl/append", held.line) as child:
                parked(mount)
                child.send(number)
                settle()
                held.release()
                check(child.end() != 0, f"{number}: the writer ended well")
                wait_for(lambda m=mount: state(m, 1) == "cancelled", f"{number}: {state(mount, 1)}")
            equal(newest(mount), 6, f"{number}: versions")
            answer = json.loads(read(mount.point / "ctl/jobs/1/result.json"))
            equal((answer["errno"], answer["code"]), ("ECANCELED", "cancelled"), f"{answer}")
            check("held" in os.listdir(mount.point / "ctl/stage"), "the payload stays")
            equal(result(mount.point / "ctl/append", held.line)["version"], "7", "and again")


@case()
def signals_that_do_not():
    with held_mount() as mount, Held(mount) as held:
        with Child(mount.point / "ctl/append", held.line) as child:
            parked(mount)
            for number in (signal.SIGWINCH, signal.SIGCHLD, signal.SIGUSR1, signal.SIGWINCH):
                child.send(number)
                settle(0.4)
            check(child.runs() and state(mount, 1) == "running", "goes on")
            held.release()
            equal(child.end(), 0, "the writer's exit")
        equal((state(mount, 1), newest(mount)), ("done", 7), "committed")


@case()
def one_that_does_and_one_that_does_not():
    """The kernel tells of the first signal only; the second one counts all the same."""
    with held_mount() as mount, Held(mount) as held:
        with Child(mount.point / "ctl/append", held.line) as child:
            parked(mount)
            child.send(signal.SIGWINCH)
            settle(0.4)
            child.send(signal.SIGTERM)
            settle()
            held.release()
            check(child.end() != 0, "the writer's exit")
        wait_for(lambda: state(mount, 1) == "cancelled", "cancelled")
        equal(newest(mount), 6, "versions")


@case()
def queued_ones_are_cancelled_at_once():
    with held_mount() as mount, Held(mount) as held:
        first = Writer(mount.point / "ctl/append", held.line)
        parked(mount, 1)
        with Child(mount.point / "ctl/delete", "row_addrs=0:1") as child:
            parked(mount, 2)
            child.send(signal.SIGKILL)
            equal(child.end(), -signal.SIGKILL, "killed, and gone")
            wait_for(lambda: state(mount, 2) == "cancelled", "cancelled")
            equal(state(mount, 1), "running", "the other one")
        held.release()
        equal(first.end(), 0, "the other one")
        equal(newest(mount), 7, "versions")


class Terminal:
    """An interactive bash at a terminal of its own, in the mount point."""

    def __init__(self, mount):
        need("bash")
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(mount.point)
            os.environ["PS1"] = "ready> "
            os.execvp("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])

    def expect(self, text, seconds=15):
        deadline = time.monotonic() + seconds
        while text.encode() not in self.seen:
            check(time.monotonic() < deadline, f"no {text!r} in {self.seen!r}")
            if select.select([self.fd], [], [], 0.1)[0]:
                self.seen += os.read(self.fd, 4096)
        self.seen = self.seen.split(text.encode(), 1)[1]

    def type(self, text):
        os.write(self.fd, text.encode())

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def __enter__(self):
        self.expect("ready> ")
        return self

    def __exit__(self, *ignored):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


@case()
def at_a_terminal():
    """A background job of the writing shell ends, the window is resized: nothing. Then Ctrl-C."""
    with held_mount() as mount, Held(mount) as held, Terminal(mount) as terminal:
        terminal.type("sleep 0.5 &\n")
        terminal.expect("ready> ")
        terminal.type(f"echo {held.line} > ctl/append; echo \"status:$?\"\n")
        parked(mount)
        settle(1)
        terminal.resize(40, 100)
        settle(0.5)
        terminal.resize(50, 90)
        settle(0.5)
        equal(state(mount, 1), "running", "after the end of a child, and two sizes")
        terminal.type("\x03")
        settle()
        held.release()
        terminal.expect("ready> ")
        wait_for(lambda: state(mount, 1) == "cancelled", "cancelled")
        equal(newest(mount), 6, "versions")
        terminal.type(f"echo {held.line} > ctl/append; echo \"status:$?\"\n")
        terminal.expect("status:0")
        equal(newest(mount), 7, "and the shell goes on")


@case()
def killed_writer_leaves_the_mount_alive():
    with held_mount("max_threads=2") as mount, Held(mount) as held:
        with Child(mount.point / "ctl/append", held.line) as child:
            parked(mount)
            child.send(signal.SIGKILL)
            send(mount.point / "ctl/tag", "create name=meanwhile")
            read(mount.point / "current/summary")
            equal(must_fail(errno.EINVAL, mount.point / "ctl/append", "what")["ok"], False, "again")
            held.release()
            equal(child.end(), -signal.SIGKILL, "killed")
        equal(result(mount.point / "ctl/append", held.line)["version"], "7", "the next one")


@case()
def parked_writes_hold_no_threads():
    """More of them than there are threads, and everything else is served."""
    with held_mount("max_threads=3") as mount, Held(mount) as held:
        writers = [Writer(mount.point / "ctl/append", held.line) for _ in range(12)]
        parked(mount, 12)
        send(mount.point / "ctl/tag", "create name=quick")
        read(mount.point / "current/manifest.json")
        equal([state(mount, n) for n in (1, 2, 12)], ["running", "queued", "queued"], "states")
        held.release()
        ends = sorted(w.end() for w in writers)
        equal(ends, [0] + [errno.ENOENT] * 11, "the payload was there for one")


@case()
def several_long_ones():
    with held_mount("jobs=2") as mount, Held(mount, "a") as first, Held(mount, "b") as second:
        writers = [Writer(mount.point / "ctl/append", h.line) for h in (first, second)]
        parked(mount, 2)
        wait_for(lambda: {state(mount, 1), state(mount, 2)} == {"running"}, "both run")
        second.release()
        equal(writers[1].end(), 0, "the second ends first")
        equal(writers[0].number, None, "the first runs")
        first.release()
        equal(writers[0].end(), 0, "the first")
        equal(newest(mount), 8, "versions")


@case()
def asynchronous():
    with held_mount() as mount, Held(mount) as held:
        answer = result(mount.point / "ctl/append", f"{held.line} async=true")
        equal((answer["ok"], answer["job"]), (True, 1), f"{answer}")
        check("version" not in answer, "nothing is known yet")
        parked(mount)
        check(not (mount.point / "ctl/jobs/1/result.json").exists(), "no result yet")
        equal(read(mount.point / "ctl/jobs/1/command"), f"append {held.line} async=true\n".encode(),
              "command")
        waiting = Writer(mount.point / "ctl/wait", "job=1")
        settle(0.3)
        equal(waiting.number, None, "waits")
        held.release()
        equal(waiting.end(), 0, "the job's end")
        answer = result(mount.point / "ctl/wait", "job=1")
        equal((answer["state"], answer["result"]["version"]), ("done", "7"), f"{answer}")
        equal(json.loads(read(mount.point / "ctl/jobs/1/result.json"))["version"], "7", "result")
        send(mount.point / "ctl/append", f"{held.line} async=true")
        answer = must_fail(errno.ENOENT, mount.point / "ctl/wait", "job=2")
        equal((answer["state"], answer["result"]["errno"]), ("failed", "ENOENT"), f"{answer}")
        must_fail(errno.ENOENT, mount.point / "ctl/wait", "job=77")
        must_fail(errno.EINVAL, mount.point / "ctl/wait", "job=first")


@case()
def cancel_by_file():
    with held_mount() as mount, Held(mount) as held:
        running = Writer(mount.point / "ctl/append", held.line)
        parked(mount, 1)
        queued = Writer(mount.point / "ctl/delete", "row_addrs=0:1")
        parked(mount, 2)
        waiting = Writer(mount.point / "ctl/wait", "job=2")
        settle(0.2)
        send(mount.point / "ctl/cancel", "job=2")
        equal((queued.end(), waiting.end()), (errno.ECANCELED, errno.ECANCELED), "the queued one")
        send(mount.point / "ctl/cancel", "job=1")
        held.release()
        equal(running.end(), errno.ECANCELED, "the running one")
        equal((state(mount, 1), state(mount, 2), newest(mount)), ("cancelled", "cancelled", 6),
              "states")
        must_fail(errno.EINVAL, mount.point / "ctl/cancel", "job=1")
        must_fail(errno.ENOENT, mount.point / "ctl/cancel", "job=99")


@case()
def a_signal_ends_the_waiting_and_not_the_job():
    with held_mount() as mount, Held(mount) as held:
        send(mount.point / "ctl/append", f"{held.line} async=true")
        with Child(mount.point / "ctl/wait", "job=1") as child:
            settle(0.5)
            check(child.runs(), "it waits")
            child.send(signal.SIGTERM)
            child.end()
        equal(state(mount, 1), "running", "the job")
        held.release()
        equal(ask(mount.point / "ctl/wait", "job=1")[0], 0, "its end")
        equal(newest(mount), 7, "versions")


@case()
def states_are_polled():
    with held_mount() as mount, Held(mount) as held:
        first = Writer(mount.point / "ctl/append", held.line)
        parked(mount, 1)
        second = Writer(mount.point / "ctl/delete", "row_addrs=0:1")
        parked(mount, 2)
        with open(mount.point / "ctl/jobs/2/state", "rb", buffering=0) as file:
            poll = select.poll()
            poll.register(file, select.POLLIN | select.POLLPRI)
            check(poll.poll(0), "it was not read yet")
            equal(file.read(), b"queued\n", "state")
            equal(poll.poll(300), [], "nothing new")
            held.release()
            seen = []
            while seen[-1:] not in ([b"done\n"], [b"failed\n"]):
                check(poll.poll(10000), f"no change after {seen}")
                file.seek(0)
                seen.append(file.read())
            check(set(seen) <= {b"queued\n", b"running\n", b"done\n"}, f"{seen}")
            check(poll.poll(0), "the last state is always ready")
        equal((first.end(), second.end()), (0, 0), "both")


@case()
def progress_and_dry_runs():
    """A dry run of what takes long is quick, and holds the plan."""
    with held_mount() as mount, Held(mount) as held:
        first = Writer(mount.point / "ctl/append", held.line)
        parked(mount, 1)
        answer = result(mount.point / "ctl/cleanup", "keep=2 older_than=0s")
        check(answer["dry_run"] is True, f"{answer}")
        equal(sorted(os.listdir(mount.point / "versions")), list("123456"), "nothing went")
        answer = result(mount.point / "ctl/delete", "row_addrs=0:1 dry_run=true")
        equal(answer["deleted_rows"], 1, f"{answer}")
        done, total, unit = read(mount.point / "ctl/jobs/2/progress").split()
        check(done.isdigit() and total.isdigit() and unit, "progress")
        equal(state(mount, 1), "running", "the long one")
        held.release()
        equal(first.end(), 0, "the long one")


@case()
def the_end_of_a_mount():
    """No new commands; one that waits is cancelled, one that runs comes to its end."""
    with held_mount() as mount, Held(mount) as held:
        running = Writer(mount.point / "ctl/append", held.line)
        parked(mount, 1)
        queued = Writer(mount.point / "ctl/delete", "row_addrs=0:1")
        parked(mount, 2)
        tag = os.open(mount.point / "ctl/tag", os.O_WRONLY)
        mount.daemon.send_signal(signal.SIGTERM)
        equal(queued.end(), errno.ECANCELED, "the queued one")
        refuse({errno.EBUSY}, lambda: os.write(tag, b"create name=late\n"), "a new one")
        os.close(tag)
        equal(running.number, None, "the running one")
        check(mount_of(mount.point) is not None, "serves on")
        held.release()
        equal(running.end(), 0, "the running one")
        equal(mount.daemon.wait(timeout=20), 0, "then it ends")
        check((mount.dataset / "_versions" / f"{2**64 - 1 - 7}.manifest").exists(), "committed")
        equal(os.listdir(Held.directory), [], "nothing is left of the stage")


@case()
def a_job_that_nobody_waits_for_ends_before_the_daemon():
    with held_mount() as mount, Held(mount) as held:
        send(mount.point / "ctl/append", f"{held.line} async=true")
        parked(mount, 1)
        mount.daemon.send_signal(signal.SIGTERM)
        wait_for(lambda: mount_of(mount.point) is None, "unmounted")
        settle(0.3)
        check(mount.daemon.poll() is None, "still at work")
        held.release()
        equal(mount.daemon.wait(timeout=20), 0, "exit")
        check((mount.dataset / "_versions" / f"{2**64 - 1 - 7}.manifest").exists(), "committed")


@case()
def and_is_cancelled_after_stop_timeout():
    with held_mount("stop_timeout=1") as mount, Held(mount) as held:
        send(mount.point / "ctl/append", f"{held.line} async=true")
        parked(mount, 1)
        mount.daemon.send_signal(signal.SIGTERM)
        wait_for(lambda: mount_of(mount.point) is None, "unmounted")
        settle(1.5)
        held.release()
        equal(mount.daemon.wait(timeout=20), 0, "exit")
        check(not (mount.dataset / "_versions" / f"{2**64 - 1 - 7}.manifest").exists(), "not made")


@case()
def single_threaded():
    with held_mount(flags=("-f", "-s")) as mount, Held(mount) as held:
        first = Writer(mount.point / "ctl/append", held.line)
        parked(mount, 1)
        send(mount.point / "ctl/tag", "create name=a")
        send(mount.point / "ctl/use", "version=2")
        check(b"version: 2\n" in read(mount.point / "current/summary"), "moved")
        held.release()
        equal(first.end(), 0, "the long one")


@case()
def killed_daemon():
    """A writer is told, and the next mount has what was committed and nothing else."""
    dataset, point = sample(), place("mnt")
    with Mount(dataset, Held.stage(), point=point) as mount, Held(mount) as held:
        writer = Writer(mount.point / "ctl/append", held.line)
        parked(mount, 1)
        mount.ended_well = False
        mount.daemon.kill()
        mount.daemon.wait()
        check(writer.end() in (errno.ENOTCONN, errno.ECONNABORTED, errno.EIO), writer.number)
    with Mount(dataset, Held.stage()) as mount:
        equal(newest(mount), 6, "versions")
        equal(errors(mount), [], "a new start")
        equal(jobs(mount), [], "jobs")


main()
