"""A dataset that several writers change at once, and what its rows must be after each commit.

Every row has an id of its own that nobody changes; the model knows, for each version, the rows by
id: values, and with stable row ids the row id and the versions that made and last changed it. A
change is made on some version, waits, and is committed later (tests/helpers/latecommit); or
pylance's compaction is, task by task. A change that is committed must have found the rows that it
deletes or updates as they were when it was made; one that is refused leaves no version and no file.
"""
import json
import os
import random
import subprocess
from pathlib import Path

import lance
import pyarrow as pa
from lance.optimize import Compaction

import facts
import make_reuse
from commandline import opened, run
from places import LINEAGE, columns_of, fresh

KINDS = ("untagged", "tagged", "stable")
KEYS = "abc"
TAGGED = 1 << 10
SPILL = {"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "24"}
SECONDS = 60
FIRST, PER_FRAGMENT = 150, 10


def table(ids, rng):
    ids = list(ids)
    return pa.table({"id": pa.array(ids, pa.int64()),
                     "k": [rng.choice(KEYS) for _ in ids],
                     "v": pa.array([rng.randrange(1000) for _ in ids], pa.int64())})


class Change:
    """Of some rows: which ones, and what becomes of them (None: they go)."""

    def __init__(self, where, chosen, sets=None, after=None):
        self.where, self.chosen, self.sets, self.after = where, chosen, sets, after

    def rows(self, rows):
        return {i for i, row in rows.items() if self.chosen(i, *row[:2])}


def some_rows(rng, newest_id):
    """A condition, and the same for a row's id, key and value: rows of one fragment, or of many."""
    a, b, key = rng.randint(3, 9), rng.randint(0, 2), rng.choice(KEYS)
    low, start = rng.randrange(1000), rng.randrange(newest_id)
    ids = sorted(rng.sample(range(newest_id), 3))
    few = (f"id between {start} and {start + a}", lambda i, k, v: start <= i <= start + a)
    part = (f"id >= {start} and id < {start + 9} and k <> '{key}'",
            lambda i, k, v: start <= i < start + 9 and k != key)
    return rng.choice([few, few, few, part, part, part,
        (f"id % {a} = {b}", lambda i, k, v: i % a == b),
        (f"v >= {low} and v < {low + 20}", lambda i, k, v: low <= v < low + 20),
        (f"k = '{key}' and id % 3 = {b}", lambda i, k, v: k == key and i % 3 == b),
        (f"id in ({', '.join(map(str, ids))})", lambda i, k, v: i in ids),
    ])


def some_update(rng, newest_id):
    where, chosen = some_rows(rng, newest_id)
    number, key = rng.randrange(1000), rng.choice(KEYS)
    sets, after = rng.choice([
        ({"v": f"{number}"}, lambda k, v: (k, number)),
        ({"v": "v + 1"}, lambda k, v: (k, v + 1)),
        ({"k": f"'{key}'"}, lambda k, v: (key, v)),
        ({"k": f"'{key}'", "v": f"v - {number}"}, lambda k, v: (key, v - number)),
    ])
    return Change(where, chosen, sets, after)


def helper():
    return os.path.join(os.environ["abs_top_builddir"], "tests/helpers/latecommit")


def is_recorded(ds):
    """Whether there is a reuse history, or the flag of a tagged one: pylance's compaction has to be
    deferred then, too. Under a tagged one it says so; under a legacy one indices that it remaps at
    once lose rows."""
    flags = facts.version(Path(ds.uri), ds.version).writer_flags
    return bool(flags & TAGGED) or \
        "__lance_frag_reuse" in [index["name"] for index in ds.list_indices()]


def files_of(path):
    return {str(file) for name in ("data", "_deletions", "_indices", "_fri")
            for file in (Path(path) / name).rglob("*") if file.is_file()}


class Late:
    """A change of ours that was made, and what it made."""

    def __init__(self, path, read, words):
        before = files_of(path)
        command = [helper(), path, str(read), *words]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.said = self.process.stdout.readline().strip()
        self.made = self.said == "made"
        self.own = files_of(path) - before
        if not self.made:
            self.end()

    def end(self, text=""):
        """The last line: none when it gave up."""
        out, _ = self.process.communicate(text, timeout=SECONDS)
        assert self.process.returncode == 0, self.process.returncode
        return out

    def commit(self):
        return json.loads(self.end("commit\n"))


class Theirs:
    """A compaction of pylance whose tasks are done."""

    def __init__(self, world, read, options):
        self.options = options
        ds = opened(world.path, read)
        self.tasks = [task.execute(ds) for task in Compaction.plan(ds, options).tasks]
        self.ds, self.made = ds, bool(self.tasks)

    def commit(self):
        try:
            Compaction.commit(self.ds, self.tasks, self.options)
            return {"code": "ok"}
        except OSError as error:
            assert any(word in str(error) for word in ("onflict", "Tagged FRI history")), error
            return {"code": "busy", "text": str(error)}


class World:
    def __init__(self, kind, seed):
        self.rng = rng = random.Random(f"{kind} {seed}")
        self.kind, self.stable = kind, kind == "stable"
        self.path = fresh()
        self.told, self.outcomes = [], {}
        rows = table(range(FIRST), rng)
        lance.write_dataset(rows, self.path, max_rows_per_file=PER_FRAGMENT,
                            enable_stable_row_ids=self.stable,
                            data_storage_version=rng.choice(("2.0", "2.1", "2.2")))
        self.rows = {row["id"]: (row["k"], row["v"], 1, 1, row["id"]) for row in rows.to_pylist()}
        self.next_id = self.next_row_id = FIRST
        self.version, self.past, self.late = 0, {}, []
        for column, index in (("id", "BTREE"), ("k", "BITMAP"), ("v", "BTREE")):
            opened(self.path).create_scalar_index(column, index)
        if kind == "tagged":
            make_reuse.tag(self.path)
        if self.stable and rng.random() < 0.4:
            opened(self.path).update_config(SPILL)
        self.advance(self.rows)

    def advance(self, rows):
        """What was committed since has these rows; versions before the last one had none."""
        newest = opened(self.path).version
        for number in range(self.version + 1, newest):
            self.past[number] = self.rows
        self.rows, self.version = rows, newest
        self.past[newest] = rows

    # ---- what the commits do to the rows --------------------------------------------------

    def after_append(self, rows):
        """Row ids are given in the order of the rows, once they are committed."""
        version = opened(self.path).version
        new = dict(self.rows)
        for at, row in enumerate(rows.to_pylist()):
            new[row["id"]] = (row["k"], row["v"], version, version, self.next_row_id + at)
        self.next_row_id += rows.num_rows
        return new

    def after(self, change, chosen):
        version = opened(self.path).version
        if change.after is None:
            return {i: row for i, row in self.rows.items() if i not in chosen}
        return {i: row if i not in chosen else
                (*change.after(*row[:2]), row[2], version, row[4])
                for i, row in self.rows.items()}

    # ---- looking --------------------------------------------------------------------------

    def check(self, indices):
        ds = opened(self.path)
        found = ds.to_table(columns=columns_of(ds, ["id", "k", "v"])).to_pylist()
        ids = [row["id"] for row in found]
        assert len(ids) == len(set(ids)), f"doubled: {sorted(i for i in ids if ids.count(i) > 1)}"
        want = set(self.rows)
        assert set(ids) == want, f"lost {sorted(want - set(ids))}, back {sorted(set(ids) - want)}"
        for row in found:
            due = self.rows[row["id"]]
            got = (row["k"], row["v"])
            if self.stable:
                got = (*got, row[LINEAGE[1]], row[LINEAGE[2]], row["_rowid"])
            assert got == due[:len(got)], f"row {row['id']}: {got} instead of {due}"
        if indices:
            self.check_indices(ds)

    def check_indices(self, ds):
        ds.validate()
        rng, used = self.rng, self.next_id
        asked = rng.sample(range(used), 10)
        low = rng.randrange(900)
        for text, chosen in (
                (f"id in ({', '.join(map(str, asked))})", lambda i, k, v: i in asked),
                (f"v >= {low} and v < {low + 90}", lambda i, k, v: low <= v < low + 90),
                ("k = 'b'", lambda i, k, v: k == "b")):
            found = sorted(ds.to_table(filter=text, columns=["id"])["id"].to_pylist())
            due = sorted(i for i, row in self.rows.items() if chosen(i, *row[:2]))
            assert found == due, f"{text}: {found} instead of {due}"

    def fragments(self, read):
        return [f.fragment_id for f in opened(self.path, read).get_fragments()]

    def count(self, what, code):
        self.outcomes[what, code] = self.outcomes.get((what, code), 0) + 1


class Race(World):
    """One history: every step is one of what follows, by lot."""

    def tell(self, *what):
        self.told.append(what)

    def read(self):
        return self.version - self.rng.choice((0, 0, 0, 1, 2, 4)) \
            if self.version - 4 >= min(self.past) else self.version

    def words(self, read):
        """A change of ours as words for the helper, and what it does to rows."""
        rng = self.rng
        there = self.fragments(read)
        at = rng.randrange(len(there)) if there else 0
        some = ",".join(map(str, there[at:at + rng.randint(1, 4)]))
        what = rng.choice(("compact", "compact", "partition", "partition", "update", "delete",
                           "append"))
        if what == "compact":
            remap = rng.choice(("auto", "auto", "skip") if self.stable else
                               ("auto", "defer", "skip"))
            return what, ["compact", remap, str(rng.choice((15, 30, 1000))),
                          some if rng.random() < 0.8 else ",".join(map(str, there))], None
        if what == "partition":
            return what, ["partition", rng.choice(("auto", "auto", "skip")), "k", some], None
        if what == "append":
            rows = table(range(self.next_id, self.next_id + rng.randint(1, 12)), rng)
            self.next_id += rows.num_rows
            name = Path(self.path).parent / f"rows{self.next_id}"
            name.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
            return what, ["append_rows", str(name)], rows
        if what == "update":
            change = some_update(rng, self.next_id)
            sets = ", ".join(f"{k} = {v}" for k, v in change.sets.items())
            return what, ["update", sets, change.where], change
        change = Change(*some_rows(rng, self.next_id))
        return what, ["delete_where", change.where], change

    def begin(self):
        read = self.read()
        what, words, change = self.words(read)
        self.tell("begin", read, words)
        late = Late(self.path, read, words)
        self.tell(late.said)
        self.advance(self.rows)  # ids are reserved by now
        if late.made:
            self.late.append((what, read, late, change))
        else:
            assert late.said == "nothing" or what in ("compact", "partition"), late.said
            assert late.said == "nothing" or json.loads(late.said)["code"] in \
                ("invalid", "unsupported"), late.said
            self.count(what, late.said if late.said == "nothing" else
                       json.loads(late.said)["text"][-40:])

    def their_options(self, read):
        options = {"target_rows_per_fragment": self.rng.choice((8, 15, 30, 1000))}
        options["defer_index_remap"] = not self.stable and (
            is_recorded(opened(self.path, read)) or self.rng.random() < 0.4)
        return options

    def begin_theirs(self):
        read = self.read()
        options = self.their_options(read)
        self.tell("begin theirs", read, options)
        late = Theirs(self, read, options)
        if late.made:
            self.late.append(("theirs", read, late, None))

    def finish(self):
        if not self.late:
            return
        what, read, late, change = self.late.pop(self.rng.randrange(len(self.late)))
        if what != "theirs" and self.rng.random() < 0.1:
            self.tell("give up", what)
            late.end()
            self.gone(late)
            return
        before = opened(self.path).version
        said = late.commit()
        self.tell("finish", what, read, said)
        self.count(what, said["code"])
        if said["code"] != "ok":
            assert said["code"] in ("busy", "conflict"), said
            self.refused(what, late, before)
            return
        self.committed(change, read)

    def committed(self, change, read):
        """What was made on version `read`: appended rows, a change of rows, or None for a rewrite."""
        if isinstance(change, pa.Table):
            self.advance(self.after_append(change))
        elif change is not None:
            chosen = change.rows(self.past[read])
            changed = [i for i in chosen if self.rows.get(i) != self.past[read][i]]
            assert not changed, f"rows {changed} had been changed since version {read}"
            self.advance(self.after(change, chosen))
        else:
            self.advance(self.rows)

    def refused(self, what, late, before):
        assert what != "append"
        if what == "theirs":  # which reserves its ids before it is refused
            self.advance(self.rows)
            return
        assert opened(self.path).version == before
        self.gone(late)

    def gone(self, late):
        left = late.own & files_of(self.path)
        assert not left, f"left behind: {left}"

    # ---- at once --------------------------------------------------------------------------

    def their_change(self):
        ds, rng = opened(self.path), self.rng
        what = rng.choice(("append", "delete", "update", "update", "compact", "optimize"))
        if what == "append":
            rows = table(range(self.next_id, self.next_id + rng.randint(1, 25)), rng)
            self.next_id += rows.num_rows
            self.tell("their append", rows.num_rows)
            lance.write_dataset(rows, self.path, mode="append")
            self.advance(self.after_append(rows))
        elif what == "delete":
            change = Change(*some_rows(rng, self.next_id))
            self.tell("their delete", change.where)
            ds.delete(change.where)
            self.advance(self.after(change, change.rows(self.rows)))
        elif what == "update":
            change = some_update(rng, self.next_id)
            self.tell("their update", change.sets, change.where)
            ds.update(change.sets, where=change.where)
            self.advance(self.after(change, change.rows(self.rows)))
        elif what == "compact":
            options = self.their_options(self.version)
            self.tell("their compaction", options)
            ds.optimize.compact_files(**options)
            self.advance(self.rows)
        elif not self.stable:
            self.tell("their optimisation")
            ds.optimize.optimize_indices()
            self.advance(self.rows)

    def our_command(self):
        """At once, too, but as a command; now and then on an older version."""
        read = self.read()
        what, words, change = self.words(read)
        name, *rest = words
        if name == "compact":
            line = ["compact", f"index_remap={rest[0]}", f"target_rows={rest[1]}",
                    f"fragments={rest[2]}"]
        elif name == "partition":
            line = ["partition", f"index_remap={rest[0]}", "by=k", f"fragments={rest[2]}"]
        elif name == "update":
            line = ["update", f"set={rest[0]}", f"where={rest[1]}"]
        elif name == "delete_where":
            line = ["delete", f"where={rest[0]}"]
        else:
            line = ["append", f"file={rest[0]}"]
        done = run(self.path, *line, f"read_version={read}")
        said = json.loads(done.stdout)
        self.tell("command", line, read, said)
        self.count(f"command {what}", said.get("errno", "ok"))
        if not said["ok"]:
            assert what != "append"
            assert said["errno"] in ("EBUSY", "EAGAIN", "ESTALE", "EINVAL", "EOPNOTSUPP"), said
            self.advance(self.rows)
        elif "version" in said:
            self.committed(change, read)
        else:
            assert what != "append"
            self.advance(self.rows)

    def step(self):
        what = self.rng.choices(
            (self.begin, self.begin_theirs, self.finish, self.their_change, self.our_command),
            (6, 1, 5, 6, 2))[0]
        if what == self.begin and len(self.late) >= 4:
            what = self.finish
        what()

    def close(self):
        for *_, late, _ in self.late:
            if isinstance(late, Late):
                late.process.kill()
                late.process.communicate()


def race(kind, seed, steps=14):
    """How often each change ended how."""
    world = Race(kind, seed)
    try:
        for at in range(steps):
            world.step()
            world.check(at % 4 == 3)
        while world.late:
            world.finish()
            world.check(not world.late)
    except AssertionError as error:
        story = "\n".join(map(str, world.told))
        raise AssertionError(f"{kind} {seed}: {error}\n{story}\n{world.path}") from error
    finally:
        world.close()
    return world.outcomes
