"""One of the writers of soak.py: a process that changes a dataset until its time is over.

Every change is a line of its log, written when its outcome is known: what was wanted, and the
version that was acknowledged, or why there is none. A failure that is not a refusal ends the log
with `broken`. A row is its id: value and name follow from it until an update gives another value.
"""
import errno
import json
import os
import random
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

import lance
import pyarrow as pa
from lance.file import LanceFileWriter

SCHEMA = pa.schema([pa.field("id", pa.int64()), pa.field("value", pa.int64()),
                    pa.field("name", pa.string())])
FORMAT = "2.1"
ROWS_MAX = 8  # of one append
CROWD = 20  # rows at the beginning, which many want to change
IDS = 100_000_000  # of one writer
# What a change that other commits got in the way of may end with.
REFUSED = {"EBUSY", "ESTALE", "ECANCELED"}
REFUSALS = ("conflict", "incompatible transaction", "too much", "timed out", "timeout")


def name_of(ident):
    return f"n{ident}"


def table(ids):
    return pa.table({"id": ids, "value": [i * 10 for i in ids], "name": [name_of(i) for i in ids]},
                    schema=SCHEMA)


def data_file(path, ids):
    """Rows as a Lance data file that no dataset has yet."""
    with LanceFileWriter(str(path), schema=SCHEMA, version=FORMAT) as writer:
        writer.write_batch(table(ids))


def ask(point, line):
    """The result of a command of a mount, successful or not."""
    name, words = line.split(" ", 1)
    fd = os.open(Path(point) / "ctl" / name, os.O_RDWR)
    try:
        number = 0
        try:
            os.write(fd, (words + "\n").encode())
        except OSError as error:
            number = error.errno
        answer = json.loads(b"".join(iter(lambda: os.read(fd, 4096), b"")))
    finally:
        os.close(fd)
    wanted = errno.errorcode[number] if number else None
    if answer.get("errno") != wanted or answer["ok"] != (number == 0):
        raise AssertionError(f"{line}: {wanted}, but {answer}")
    return answer


def lancet(program, dataset, line):
    """The same of `lancet`, which takes no files from a stage."""
    name, words = line.split(" ", 1)
    done = subprocess.run([program, name, dataset, *words.split()], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=120, check=False)
    answer = json.loads(done.stdout or "{}")
    if done.returncode != 1 - answer.get("ok", 2) or b"Sanitizer" in done.stderr:
        raise AssertionError(f"{line}: {done.returncode} {done.stdout} {done.stderr}")
    return answer


class Writer:
    """What both kinds have: the log, names and ids that nobody else has."""

    def __init__(self, plan):
        self.plan, self.number = plan, plan["number"]
        self.random = random.Random(plan["seed"] * 1000 + self.number)
        self.log = open(plan["log"], "w", encoding="utf-8")
        self.done, self.keys, self.tags = 0, [], []

    def write(self, **line):
        self.log.write(json.dumps(line) + "\n")
        self.log.flush()

    def run(self):
        end = time.monotonic() + self.plan["seconds"]
        while time.monotonic() < end:
            self.done += 1
            kind = self.random.choices(*zip(*self.KINDS.items()))[0]
            name = f"{kind}-{self.number}-{self.done}"
            try:
                self.write(name=name, kind=kind, writer=self.number,
                           **getattr(self, kind)(name))
            except Exception:
                self.write(name=name, kind=kind, writer=self.number, broken=traceback.format_exc())
                return 1
            time.sleep(self.random.random() * self.plan["pause"])
        self.write(end=self.done)
        return 0

    def new_ids(self):
        first = self.number * IDS + self.done * 100
        return list(range(first, first + self.random.randint(1, ROWS_MAX)))

    def key(self, name):
        """A key of its own, or one that all writers set."""
        return "shared" if self.random.random() < 0.15 else name

    def older(self, newest):
        """A version to go back to: a near one, or the first."""
        return 1 if self.random.random() < 0.4 else self.random.randint(max(1, newest - 9), newest)


class Control(Writer):
    """Commands through the control files of a mount, now and then sent again elsewhere."""

    KINDS = {"append": 30, "delete": 30, "set": 20, "unset": 6, "tag": 8, "restore": 3}

    def send(self, line, name, **wanted):
        words = f"{line} token={name} message={name}"
        start = time.monotonic()
        answer = ask(self.plan["mount"], words)
        out = {"wanted": wanted, "line": line, "by": "mount",
               "seconds": round(time.monotonic() - start, 4)}
        if not answer["ok"]:
            self.must_be_a_refusal(answer, line)
            return out | {"refused": answer["errno"], "text": answer["error"]}
        if "version" in answer and self.random.random() < 0.25:
            self.again(words, name, answer)
        return out | {k: answer[k] for k in ("version", "read_version", "uuid", "attempts",
                                             "rebased_over") if k in answer}

    @staticmethod
    def must_be_a_refusal(answer, line):
        """A row that a restore took away never was; nor was a key."""
        gone = answer["errno"] == "ENOENT" and line.split()[0] in ("delete", "unset")
        if answer["errno"] not in REFUSED and not gone:
            raise AssertionError(f"{line}: {answer}")

    def again(self, words, name, first):
        """A token that is there already gives its version, whoever is asked."""
        if "file=" in words:
            file = self.stage(self.plan["other"], name, [self.number * IDS])
            answer = ask(self.plan["other"], words)
            (Path(self.plan["other"]) / "ctl/stage" / file).unlink(missing_ok=True)
        elif self.random.random() < 0.5:
            answer = lancet(self.plan["lancet"], self.plan["dataset"], words)
        else:
            answer = ask(self.plan["other"], words)
        if (answer.get("version"), answer.get("found")) != (first["version"], True):
            raise AssertionError(f"{words}: {first}, then {answer}")

    def stage(self, mount, name, ids):
        path = Path(self.plan["scratch"]) / f"{name}.lance"
        data_file(path, ids)
        shutil.copyfile(path, Path(mount) / "ctl/stage" / path.name)
        path.unlink()
        return path.name

    def newest(self):
        return int(os.readlink(Path(self.plan["mount"]) / "latest").split("/")[1])

    def append(self, name):
        ids = self.new_ids()
        file = self.stage(self.plan["mount"], name, ids)
        out = self.send(f"append file={file}", name, ids=ids)
        if "refused" in out:
            os.unlink(Path(self.plan["mount"]) / "ctl/stage" / file)
        return out

    def delete(self, name):
        """Rows of a version that others may have followed already, when it is named."""
        read = max(1, self.newest() - self.random.choice((0, 0, 1, 2, 5)))
        home = Path(self.plan["mount"]) / f"versions/{read}/fragments"
        fragments = sorted((n for n in os.listdir(home) if n.isdigit()), key=int)
        fragment = self.random.choice(fragments if self.random.random() < 0.5 else fragments[:1])
        lines = (home / fragment / "lineage/_rowid").read_text().split()
        offsets = sorted(self.random.sample(range(len(lines)),
                                            min(len(lines), self.random.randint(1, 3))))
        rows = f"row_addrs={fragment}:{','.join(map(str, offsets))}"
        wanted = {"addresses": [[int(fragment), o] for o in offsets]}
        if self.plan["stable"] and self.random.random() < 0.7:
            wanted = {"row_ids": [int(lines[o]) for o in offsets]}
            rows = f"row_ids={','.join(map(str, wanted['row_ids']))}"
        if self.random.random() < 0.5:
            rows += f" read_version={read}"
            if self.random.random() < 0.7:
                rows += f" require=value@{fragment}:*"
                wanted |= {"unchanged": int(fragment), "since": read}
        return self.send(f"delete {rows}", name, **wanted)

    def set(self, name):
        what = self.random.choice(("config", "metadata", "schema_metadata"))
        key = self.key(name)
        if key == name:
            self.keys.append((what, key))
        return self.send(f"set {what}.{key}={name}", name, map=what, key=key, value=name)

    def unset(self, name):
        what, key = self.keys.pop(0) if self.keys else ("config", "shared")
        return self.send(f"unset {what}.{key}", name, map=what, key=key, value=None)

    def restore(self, name):
        older = self.older(self.newest())
        return self.send(f"restore version={older}", name, version=older)

    def tag(self, name):
        """One that is contended by the writers through mounts, one of its own, or away with it."""
        out = {"by": "mount", "wanted": {}}
        if self.tags and self.random.random() < 0.3:
            gone = self.tags.pop(0)
            answer = ask(self.plan["mount"], f"tag delete name={gone}")
            if not answer["ok"]:
                raise AssertionError(f"{gone}: {answer}")
            return out | {"tag": gone, "gone": True}
        contended = self.random.random() < 0.6
        tag = f"contended-{int(time.time()) // 4}" if contended else name
        answer = ask(self.plan["mount"], f"tag create name={tag}")
        if not answer["ok"]:
            if not contended or answer["errno"] != "EEXIST":
                raise AssertionError(f"{tag}: {answer}")
            return out | {"tag": tag, "refused": answer["errno"]}
        if not contended:
            self.tags.append(tag)
        return out | {"tag": tag, "at": answer["of_version"]}


class Peer(Writer):
    """pylance, as programs use it."""

    KINDS = {"append": 26, "delete": 24, "update": 12, "set": 16, "unset": 4, "tag": 6,
             "restore": 2}

    def opened(self, version=None):
        return lance.dataset(self.plan["dataset"], version=version, session=lance.Session())

    def commit(self, change, ds=None, **wanted):
        """A handle that has committed is at the version that it made."""
        ds = self.opened() if ds is None else ds
        before = ds.version
        out = {"wanted": wanted, "by": "pylance", "read_version": str(before)}
        try:
            change(ds)
        except (OSError, RuntimeError, ValueError) as error:
            if not any(word in str(error).lower() for word in REFUSALS):
                raise
            return out | {"refused": type(error).__name__, "text": str(error)[:200]}
        return out | {"version": str(ds.version)}

    def append(self, name):
        ids = self.new_ids()
        return self.commit(lambda ds: ds.insert(table(ids)), ids=ids)

    def some_ids(self, ds):
        present = ds.to_table(columns=["id"])["id"].to_pylist()
        if self.random.random() < 0.5:
            present = present[:CROWD]
        return sorted(self.random.sample(present, min(len(present), self.random.randint(1, 3))))

    def delete(self, name):
        ds = self.opened()
        ids = self.some_ids(ds)
        where = f"id in ({', '.join(map(str, ids or [-1]))})"
        return self.commit(lambda ds: ds.delete(where), ds, ids=ids)

    def update(self, name):
        ds = self.opened()
        ids = self.some_ids(ds)
        where = f"id in ({', '.join(map(str, ids or [-1]))})"
        value = self.number * IDS + self.done
        return self.commit(lambda ds: ds.update({"value": str(value)}, where=where), ds, ids=ids,
                           value=value)

    def set(self, name):
        what = self.random.choice(("config", "metadata", "schema_metadata"))
        key = self.key(name)
        if key == name and what == "config":
            self.keys.append(key)
        change = {"config": "update_config", "metadata": "update_metadata",
                  "schema_metadata": "update_schema_metadata"}[what]
        return self.commit(lambda ds: getattr(ds, change)({key: name}), map=what, key=key,
                           value=name)

    def unset(self, name):
        key = self.keys.pop(0) if self.keys else "shared"
        return self.commit(lambda ds: ds.delete_config_keys([key]), map="config", key=key,
                           value=None)

    def restore(self, name):
        older = self.older(self.opened().version)
        return self.commit(lambda ds: ds.restore(), self.opened(older), version=older)

    def tag(self, name):
        ds = self.opened()
        out = {"by": "pylance", "wanted": {}}
        if self.tags and self.random.random() < 0.3:
            ds.tags.delete(self.tags[0])
            return out | {"tag": self.tags.pop(0), "gone": True}
        ds.tags.create(name, ds.version)
        self.tags.append(name)
        return out | {"tag": name, "at": str(ds.version)}


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    sys.exit((Control if given["mount"] else Peer)(given).run())
