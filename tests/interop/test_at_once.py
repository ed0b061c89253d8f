"""Appends, updates, deletes, compactions and partitions by two processes of ours, and changes by
pylance, at once on one dataset: each version is what its change makes of the one before."""
import json
import os
import random
import threading
import time
from pathlib import Path

import lance
import pytest

import make_reuse
from commandline import opened, run
from places import LINEAGE, columns_of, fresh
from racemodel import KINDS, table

# More of it: make check-interop-at-once.
SECONDS = float(os.environ.get("LANCEFS_AT_ONCE_SECONDS", "4"))
SEED = os.environ.get("LANCEFS_AT_ONCE_SEED", "1")
FIRST, PER_FRAGMENT = 200, 20
CROWD = 60  # rows that all want to change
IDS = 1_000_000  # of one writer
BUSY = {"EBUSY", "EAGAIN", "ESTALE"}
THEIR_BUSY = ("onflict", "too much", "imed out", "retry", "Tagged FRI history")
OURS, THEIRS = 2, 1
PAUSE = 0.08  # seconds at most after a change of ours, which else leave little room


class Writer(threading.Thread):
    """Makes changes until its time is over. Conditions name rows that were there when the change
    began, so that what is appended meanwhile is never meant."""

    def __init__(self, path, name, number, until):
        super().__init__()
        self.path, self.until = path, until
        self.rng = random.Random(f"{SEED} {name} {number}")
        self.next_id, self.own = (number + 1) * IDS, []
        self.log, self.refused, self.broken = [], 0, None

    def run(self):
        try:
            while time.monotonic() < self.until:
                self.change()
                time.sleep(self.rng.random() * self.pause)
        except BaseException as error:
            self.broken = error

    def some_ids(self):
        rng = self.rng
        if self.own and rng.random() < 0.3:
            return sorted(rng.sample(self.own, min(3, len(self.own))))
        start = rng.randrange(CROWD if rng.random() < 0.7 else FIRST)
        return list(range(start, start + rng.randint(1, 6)))

    def new_rows(self):
        rows = table(range(self.next_id, self.next_id + self.rng.randint(1, 9)), self.rng)
        self.next_id += rows.num_rows
        return rows

    def note(self, what, version, detail):
        self.log.append((int(version), what, detail))
        if what == "append":
            self.own += detail["id"].to_pylist()


class Ours(Writer):
    pause = PAUSE
    # Of a partition: fragments that are gone by then, or not all covered by the index.
    REFUSED = ("there is none in version", "other index segments answer")

    def some_fragments(self):
        there = sorted(f.fragment_id for f in opened(self.path).get_fragments())
        at = self.rng.randrange(len(there))
        return ",".join(map(str, there[at:at + self.rng.randint(2, 4)]))

    def change(self):
        what = self.rng.choice(("append", "append", "update", "update", "update", "delete",
                                "compact", "compact", "partition"))
        detail = None
        if what == "compact":
            line = ["target_rows=60", "materialize_deletions_threshold=0"]
        elif what == "partition":
            line = ["by=k", f"fragments={self.some_fragments()}"]
        elif what == "append":
            detail = self.new_rows()
            file = Path(self.path).parent / f"rows{self.next_id}"
            file.write_text("".join(json.dumps(row) + "\n" for row in detail.to_pylist()))
            line = [f"file={file}"]
        else:
            detail = self.some_ids()
            line = [f"where=id in ({', '.join(map(str, detail))})"]
            line += ["set=v = v + 1"] if what == "update" else []
        done = run(self.path, what, *line, "retries=100")
        said = json.loads(done.stdout)
        if not said["ok"]:
            assert said["errno"] in BUSY or (
                what == "partition" and any(text in said["error"] for text in self.REFUSED)), \
                said["error"]
            self.refused += 1
        elif "version" in said:
            self.note(what, said["version"], detail)


class Theirs(Writer):
    pause = 0

    def change(self):
        what = self.rng.choice(("append", "update", "update", "delete"))
        ds = opened(self.path)
        before = ds.version
        try:
            if what == "append":
                detail = self.new_rows()
                ds = lance.write_dataset(detail, self.path, mode="append")
            else:
                detail = self.some_ids()
                where = f"id in ({', '.join(map(str, detail))})"
                if what == "update":
                    ds.update({"v": "v + 1"}, where=where)
                else:
                    ds.delete(where)
        except OSError as error:
            assert any(word in str(error) for word in THEIR_BUSY), error
            self.refused += 1
            return
        if ds.version > before:
            self.note(what, ds.version, detail)


def make(kind):
    path = fresh()
    rows = table(range(FIRST), random.Random(SEED))
    lance.write_dataset(rows, path, max_rows_per_file=PER_FRAGMENT,
                        enable_stable_row_ids=kind == "stable")
    opened(path).create_scalar_index("id", "BTREE")
    if kind == "tagged":
        make_reuse.tag(path)
    return path, {row["id"]: (row["k"], row["v"], 1, 1) for row in rows.to_pylist()}


def after(rows, what, version, detail):
    """What a change makes of rows by id: key, value, versions that made and changed it."""
    rows = dict(rows)
    if what == "append":
        rows.update({r["id"]: (r["k"], r["v"], version, version) for r in detail.to_pylist()})
    elif what == "update":
        for i in set(detail) & set(rows):
            key, value, made, _ = rows[i]
            rows[i] = (key, value + 1, made, version)
    elif what == "delete":
        rows = {i: row for i, row in rows.items() if i not in detail}
    return rows


def check(path, version, rows, row_ids):
    ds = opened(path, version)
    found = ds.to_table(columns=columns_of(ds, ["id", "k", "v"])).to_pylist()
    assert len(found) == len(rows), f"version {version}: {len(found)} rows, {len(rows)} due"
    for row in found:
        due = rows[row["id"]]
        assert (row["k"], row["v"]) == due[:2], f"version {version}: {row}, {due} due"
        if ds.has_stable_row_ids:
            made = (row[LINEAGE[1]], row[LINEAGE[2]])
            assert made == due[2:], f"version {version}: {row}, {due} due"
            assert row_ids.setdefault(row["id"], row["_rowid"]) == row["_rowid"], row
    asked = sorted(rows)[::17]
    ids = ds.to_table(filter=f"id in ({', '.join(map(str, asked))})", columns=["id"])["id"]
    assert sorted(ids.to_pylist()) == asked, f"version {version}: the index"


@pytest.mark.parametrize("kind", KINDS)
def test_each_version_is_one_change_of_the_one_before(kind):
    path, rows = make(kind)
    first, until = opened(path).version, time.monotonic() + SECONDS
    writers = [Ours(path, kind, i, until) for i in range(OURS)] + \
        [Theirs(path, kind, OURS + i, until) for i in range(THEIRS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert all(w.broken is None for w in writers), [str(w.broken) for w in writers]
    changes = {}
    for version, what, detail in (entry for w in writers for entry in w.log):
        assert version not in changes, f"two changes made version {version}"
        changes[version] = (what, detail)
    newest, row_ids = opened(path).version, {}
    for version in range(first + 1, newest + 1):
        if version in changes:
            rows = after(rows, changes[version][0], version, changes[version][1])
        else:
            operation = opened(path, version).read_transaction(version).operation
            assert type(operation).__name__ in ("BaseOperation", "ReserveFragments") or \
                "Reserve" in str(operation), f"nobody made version {version}: {operation}"
        if version == newest or version % 6 == 0:
            check(path, version, rows, row_ids)
    opened(path).validate()
    made = [what for what, _ in changes.values()]
    assert all(made.count(what) > 1 for what in ("append", "update", "delete")), made
    assert made.count("compact") + made.count("partition") > 1, made
    assert all(len(w.log) > 3 for w in writers), [len(w.log) for w in writers]
