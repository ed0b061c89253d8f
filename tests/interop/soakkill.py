"""Commands whose daemon, or whose program, is killed at any moment, and sent again elsewhere.

Nobody hears what became of such a command: it is sent again with its token through another mount,
through `lancet` and through a new mount in place of the killed one. That happens one after the
other, or at once. All of them must name the same version, and there is no other one; soakmodel.py
replays what all versions hold.
"""
import os
import random
import subprocess
import threading
import time
from collections import Counter

import facts
import soak
import soakwriter
from mountlib import Mount, check, equal, installed, mount_of, place, unmount_by_force, wait_for
from soakmodel import Model

ROWS = 200
KINDS = ("append", "delete", "set", "restore")
SECONDS = 30  # of one call
MOMENT = 0.2  # seconds: kills come up to so late after a command


def manifest(path, number):
    return path / "_versions" / f"{2**64 - 1 - number}.manifest"


class Caller(threading.Thread):
    """Calls in a thread: `answer` is the result, or None when there was none."""

    def __init__(self, call):
        super().__init__(daemon=True)
        self.call, self.answer, self.error = call, None, None
        self.start()

    def run(self):
        try:
            self.answer = self.call()
        except (OSError, ValueError) as error:  # the daemon went meanwhile
            self.error = error

    def end(self):
        self.join(SECONDS)
        check(not self.is_alive(), f"no end after {SECONDS} s")
        return self.answer


class Round:
    """One command: cut off, then sent again until everybody agrees."""

    def __init__(self, kills, number):
        self.kills, self.name, self.random = kills, f"kill-{number}", kills.random
        self.path, self.kind = kills.path, kills.random.choice(KINDS)
        self.newest = max(facts.manifests(self.path))
        self.ids = [1_000_000 + number * 10 + k for k in range(3)]
        self.file = kills.home / f"{self.name}.lance"
        if self.kind == "append":
            soakwriter.data_file(self.file, self.ids)
        self.wanted, self.words = getattr(self, self.kind)()
        self.late = self.random.random() < 0.6

    def append(self):
        return {"ids": self.ids}, ""

    def delete(self):
        ids = self.random.sample(range(ROWS), 2)
        if not self.kills.stable:  # addresses
            ids = [((i // soak.FIRST_FRAGMENT) << 32) + i % soak.FIRST_FRAGMENT for i in ids]
        return {"row_ids": ids}, f"row_ids={','.join(map(str, ids))}"

    def set(self):
        return {"map": "config", "key": self.name, "value": "x"}, f"config.{self.name}=x"

    def restore(self):
        older = self.random.randint(max(1, self.newest - 3), self.newest)
        return {"version": older}, f"version={older}"

    def line(self, file):
        words = f"file={file}" if self.kind == "append" else self.words
        return f"{self.kind} {words} token={self.name} message={self.name}"

    def by_mount(self, mount):
        """The result through a mount, with the rows staged anew and nothing left behind."""
        staged = mount.point / "ctl/stage" / self.file.name
        if self.kind == "append":
            staged.write_bytes(self.file.read_bytes())
        answer = soakwriter.ask(mount.point, self.line(staged.name))
        if answer["ok"]:
            staged.unlink(missing_ok=True)
        return answer

    def by_lancet(self):
        return soakwriter.lancet(installed("lancet"), self.path, self.line(self.file))

    def moment(self, caller):
        """Waits for the moment to kill: when the manifest is there, or any other."""
        end = time.monotonic() + (SECONDS if self.late else self.random.random() * MOMENT)
        later = manifest(self.path, self.newest + 1)
        while time.monotonic() < end and caller.is_alive():
            if self.late and os.path.exists(later):
                return

    def cut_off(self, mount):
        """Kills who does it; the result if it was heard all the same."""
        if self.random.random() < 0.25:
            name, *words = self.line(self.file).split()
            process = subprocess.Popen([installed("lancet"), name, self.path, *words],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            caller = Caller(lambda: process.wait(SECONDS) and None)
            self.moment(caller)
            process.kill()
            return caller.end()
        caller = Caller(lambda: self.by_mount(mount))
        self.moment(caller)
        mount.daemon.kill()
        mount.daemon.wait(SECONDS)
        unmount_by_force(mount.point)
        return caller.end()

    def run(self, mount, other):
        """(line of the version, what happened), and a mount in place of one that was killed."""
        beside = Caller(lambda: self.kills.beside(self.name, other)) \
            if self.random.random() < 0.4 else None
        heard = self.cut_off(mount)
        mount = self.kills.alive(mount)
        if beside is not None:
            check(beside.end() is not None, f"{self.name}: beside it: {beside.error}")
        there = self.kills.named(self.name)
        answers = self.again([lambda: self.by_mount(other), self.by_lancet,
                              lambda: self.by_mount(mount)], there is None and heard is None)
        done = [a for a in [heard, *answers] if a and a["ok"] and "version" in a]
        if not done:
            return mount, None, "nothing"
        equal({int(a["version"]) for a in done} | {there or int(done[0]["version"])},
              {int(done[0]["version"])}, f"{self.name}: {answers}")
        line = {"name": self.name, "kind": self.kind, "by": "mount", "wanted": self.wanted,
                "version": done[0]["version"]}
        return mount, line, "heard" if heard else "cut off after" if there else "cut off before"

    def again(self, calls, new):
        """The same once more from everywhere, one after the other or at once."""
        self.random.shuffle(calls)
        together = self.random.random() < 0.5
        if together:
            callers = [Caller(call) for call in calls]
            answers = [caller.end() for caller in callers]
        else:
            callers = []
            for call in calls:
                callers.append(Caller(call))
                callers[-1].end()
            answers = [caller.answer for caller in callers]
        check(None not in answers, f"{self.name}: {[c.error for c in callers]}")
        bad = [a for a in answers if not a["ok"]]
        check(new or not bad, f"{self.name} is there: {answers}")
        gone = {"ENOENT"} if self.kind == "delete" else set()  # with its fragment
        check({a["errno"] for a in bad} <= soakwriter.REFUSED | gone, f"{self.name}: {answers}")
        found = [a.get("found", False) for a in answers if "version" in a]
        if not together:
            equal(found, [not new or at > 0 for at in range(len(found))], f"{self.name}: {answers}")
        return answers


class Kills:
    def __init__(self, seed, stable):
        self.random, self.stable = random.Random(seed), stable
        self.path, self.home = soak.make(stable, ROWS), place("lines")
        self.points = [place("mnt"), place("mnt")]
        self.mount, self.lines, self.messages = None, [], {}

    def alive(self, mount):
        if mount is not None and mount.daemon.poll() is None:
            return mount
        if mount is not None:
            mount.ended_well = False
            mount.__exit__(None, None, None)
            wait_for(lambda: mount_of(mount.point) is None, "the killed mount is gone")
        self.mount = Mount(self.path, point=self.points[0]).__enter__()
        return self.mount

    def beside(self, name, mount):
        """Another change while the first one is cut off."""
        key = f"beside-{name}"
        answer = soakwriter.ask(mount.point, f"set config.{key}=y message={key} retries=100")
        if answer["ok"]:
            self.lines.append({"name": key, "kind": "set", "by": "mount", "uuid": answer["uuid"],
                               "wanted": {"map": "config", "key": key, "value": "y"},
                               "version": answer["version"]})
        else:
            check(answer["errno"] in soakwriter.REFUSED, f"{answer}")
        return answer

    def named(self, name):
        """The version whose transaction has this message, or None."""
        for number in set(facts.manifests(self.path)) - set(self.messages):
            transaction = facts.version(self.path, number).transaction
            self.messages[number] = transaction.properties.get("__lance_commit_message")
        return next((n for n, message in self.messages.items() if message == name), None)

    def run(self, rounds, seconds):
        ends, end = Counter(), time.monotonic() + seconds
        with Mount(self.path, point=self.points[1]) as other:
            mount = self.alive(None)
            for number in range(1, rounds + 1):
                mount, line, how = Round(self, number).run(mount, other)
                ends[how] += 1
                self.lines += [line] if line else []
                if time.monotonic() > end:
                    break
            mount.__exit__(None, None, None)
        model = Model(self.path, self.stable, range(ROWS))
        model.replay(soak.by_version(self.lines))
        soak.check_rows(self.path, model, max(model.states))
        return ends


def kills(rounds, seed, stable, seconds=float("inf")):
    """So many commands, or so many seconds; what became of them."""
    runner = Kills(seed, stable)
    try:
        ends = runner.run(rounds, seconds)
    finally:
        if runner.mount is not None and runner.mount.daemon.poll() is None:
            runner.mount.daemon.kill()
            runner.mount.daemon.wait(SECONDS)
        for point in runner.points:
            if mount_of(point) is not None:
                unmount_by_force(point)
    check(ends["cut off after"] > 0, f"none was cut off between its commit and its reply: {ends}")
    return f"{sum(ends.values())} commands killed: {dict(ends)}"
