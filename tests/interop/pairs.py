"""Pairs of commits that were built on the same version, one of them made by pylance.

A staged operation is what pylance wrote for it on a dataset of its own: the files, and the
transactions. Ours is the commit of these transactions by tests/helpers/commit; theirs is the
operation itself, on a handle that has seen nothing newer.
"""
import functools
import shutil
import tempfile
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import archives
import commits
import facts
import pairmodel
import pairops
import wire

FRI = "__lance_frag_reuse"
RESERVED = 107
# A compaction reserves ids before it is committed. Two that were staged apart would reserve the
# same ones, so that each has others reserved before.
RESERVES = {"rw_01": 1, "rw_01v0": 1, "rw_23": 2, "rw_23v0": 2, "rw_all": 3}
SHARD = uuid.UUID("9d0ab0e5-5c45-4f0c-8f51-0a2c5f6b3f11")


def copied(source):
    path = Path(tempfile.mkdtemp(dir=archives.scratch())) / "d.lance"
    shutil.copytree(source, path)
    return path


def once(function):
    """Made once, whichever thread comes first."""
    lock, cached = threading.RLock(), functools.cache(function)

    @functools.wraps(function)
    def call(*arguments):
        with lock:
            return cached(*arguments)
    return call


@once
def base(kind):
    path = Path(tempfile.mkdtemp(dir=archives.scratch())) / "d.lance"
    pairops.make(str(path), kind)
    return path


class Staged:
    """One operation, as pylance wrote it: `path` is a dataset with it upon version 4."""

    def __init__(self, kind, key):
        self.path = copied(base(kind))
        before = commits.files(self.path)
        handle = pairops.opened(self.path)
        if key in RESERVES:
            commits.commit(self.path, Made(RESERVED, [1, 0, RESERVES[key]]).transactions[0].raw,
                           pairops.READ)
        pairops.LIVE[key](handle)
        self.files = {f for f in commits.files(self.path) - before
                      if not f.startswith(("_versions/", "_transactions/"))}
        self.numbers = [n for n in sorted(facts.manifests(self.path)) if n > pairops.READ]
        self.transactions = [facts.version(self.path, n).transaction for n in self.numbers]
        self.words = list(self._words(key))

    def _words(self, key):
        """What a transaction does not say."""
        if key in pairmodel.TAKEN:
            rows = self.path.with_suffix(".affected")
            rows.write_text("".join(f"{f << 32 | o}\n" for f, taken in pairmodel.TAKEN[key].items()
                                    for o in taken))
            yield f"affected={rows}"
        if self.transactions[-1].operation == "Rewrite":
            version = facts.version(self.path, self.numbers[-1])
            section = version._file.section("index")
            for raw in wire.Message(section or b"").raws(1):
                if wire.Message(raw).text(3) == FRI:
                    entry = self.path.with_suffix(".reuse")
                    entry.write_bytes(raw)
                    yield f"reuse={entry}"


class Made:
    """A message that pylance has no way to write."""

    def __init__(self, number, *fields):
        raw = wire.encode([[1, 0, pairops.READ], [2, 2, str(uuid.uuid4()).encode()],
                           [number, 2, wire.encode(fields)]])
        self.files, self.transactions, self.words = set(), [facts.Transaction(raw)], []


def _entry(key, value):
    return wire.encode([[1, 2, key], [2, 2, value]])


def _progress(generation):
    return wire.encode([[1, 2, wire.encode([[1, 2, SHARD.bytes]])], [2, 0, generation]])


def _overwrite(kind, *config):
    """An Overwrite of pylance that sets keys, too."""
    staged = Staged(kind, "ovw")
    fields = wire.decode(staged.transactions[-1].raw)
    for field in fields:
        if field[0] == 102:
            field[2] += wire.encode([[4, 2, _entry(*pair)] for pair in config])
        elif field[0] == 2:
            field[2] = str(uuid.uuid4()).encode()
    staged.transactions[-1] = facts.Transaction(wire.encode(fields))
    return staged


MADE = {
    "reserve": lambda kind: Made(RESERVED, [1, 0, 3]),
    "mw_6": lambda kind: Made(112, [1, 2, _progress(6)]),
    "mw_7": lambda kind: Made(112, [1, 2, _progress(7)]),
    "ovw_k0": lambda kind: _overwrite(kind, (b"k0", b"w")),
    "cfg_replace": lambda kind: Made(110, [6, 2, wire.encode(
        [[1, 2, _entry(b"k7", b"x")], [2, 0, 1]])]),
}


@once
def staged(kind, key, again=False):
    """`again`: the same operation of somebody else."""
    return MADE[key](kind) if key in MADE else Staged(kind, key)


class Commit:
    """One commit of ours: its result, and the files before and after."""

    def __init__(self, path, transaction, words):
        self.given = transaction
        self.newest = max(facts.manifests(path))
        self.before = commits.files(path)
        self.result = commits.commit(path, transaction.raw, pairops.READ, *words)
        self.after = commits.files(path)

    @property
    def new(self):
        return self.after - self.before


def ours(path, kind, key, again=False):
    """Commits what was staged; the Commit of the operation itself is the last."""
    operation = staged(kind, key, again)
    for file in operation.files:
        (path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(operation.path / file, path / file)
    return [Commit(path, transaction, operation.words) for transaction in operation.transactions]


REFUSALS = (("Retryable commit conflict", "R"), ("Too many concurrent writers", "R"),
            ("Incompatible transaction", "I"), ("incompatible with concurrent", "I"),
            ("Too much write contention", "R"), ("Invalid user input", "V"))


def theirs(handle, key):
    """(letter, text) of what pylance says."""
    try:
        pairops.LIVE[key](handle)
    except (OSError, RuntimeError, ValueError) as error:
        for words, letter in REFUSALS:
            if words in str(error):
                return letter, str(error)
        raise
    return "C", ""


LETTERS = {"ok": "C", "busy": "R", "conflict": "I", "invalid": "V"}


def together(make, found):
    """A function of a name: what `make` makes of that pair. All are made when it is first asked."""
    def guarded(pair):
        try:
            return make(pair)
        except Exception as error:  # for the test to show, not for the pool
            return error

    @functools.cache
    def outcomes():
        with ThreadPoolExecutor(2) as pool:
            return dict(zip(found, pool.map(guarded, found.values())))

    def outcome(name):
        out = outcomes()[name]
        if isinstance(out, Exception):
            raise out
        return out
    return outcome


# ---- what a version holds -------------------------------------------------------------------

LINEAGE = ["id", "_rowid", "_row_created_at_version", "_row_last_updated_at_version"]
PROBED = [1, 4, 5, 8, 9, 17, 21, 33, 70, 100, 200, 300, 301]


def problem(*arguments, **options):
    """The error that `held` raises, or None."""
    try:
        held(*arguments, **options)
    except Exception as error:
        return error
    return None


def held(path, kind, steps, lineage=True):
    """The newest version holds the rows that it should, for whoever looks through an index too."""
    ds, due = pairops.opened(path), pairmodel.after(*steps)
    ds.validate()
    rows = ds.to_table().sort_by("id").to_pylist()
    assert rows == due.table()
    assert ds.count_rows() == len(rows)
    names = [name for name in ("id", "value", "name") if name in rows[0]]
    for name in names:
        wanted = [row for row in rows if row["id"] in PROBED and row[name] is not None]
        listed = ", ".join(repr(row[name]) for row in wanted)
        found = ds.to_table(filter=f"{name} in ({listed})", columns=["id"])["id"].to_pylist()
        assert sorted(found) == sorted(row["id"] for row in wanted), name
    if lineage and pairops.BASES[kind][0]:
        found = ds.to_table(columns=LINEAGE).sort_by("id").to_pylist()
        assert [tuple(row.values()) for row in found] == due.lineage()
