"""`lancet COMMAND` beside pylance: put upon the commits that came first, not made anew.

A command with read_version= is about the version that it names, whatever has come since: the same
pairs as in pairtable.py, with the words of a command for our side.
"""
import functools
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

import commandline
import commits
import facts
import pairmodel
import pairops
import pairs
from pairtable import PAIRS

ERRNOS = {"R": ("EBUSY", "retryable"), "I": ("ESTALE", "incompatible")}
FOLLOWS = {"Delete"}
APPENDED = "append"


def addrs(key):
    parts = [f"{f}:{','.join(map(str, sorted(taken)))}"
             for f, taken in pairmodel.TAKEN[key].items()]
    return ("delete", "row_addrs=" + ";".join(parts))


@pairs.once
def staged_file():
    """The data file of an append of pylance."""
    operation = pairs.staged("plain", APPENDED)
    return operation.path / next(f for f in operation.files if f.startswith("data/"))


COMMANDS = {
    **{key: functools.partial(addrs, key) for key in pairmodel.TAKEN if key.startswith("del_")},
    APPENDED: lambda: ("append", f"file={staged_file()}"),
    "cfg_k0": lambda: ("set", "config.k0=x"), "cfg_k9": lambda: ("set", "config.k9=x"),
    "cfg_delk0": lambda: ("unset", "config.k0"), "cfg_delk1": lambda: ("unset", "config.k1"),
    "tm_t0": lambda: ("set", "metadata.t0=x"), "tm_t9": lambda: ("set", "metadata.t9=x"),
    "sm_a": lambda: ("set", "schema_metadata.sa=x"), "fm_1": lambda: ("set", "field.value.fa=x"),
    "proj_extra": lambda: ("drop_columns", "columns=extra"),
    "proj_value": lambda: ("drop_columns", "columns=value"),
    "proj_name": lambda: ("drop_columns", "columns=name"),
    "proj_rename": lambda: ("rename_column", "column=extra", "to=other"),
    "ci_drop": lambda: ("drop_index", "name=id_idx"),
    "restore": lambda: ("restore", f"version={pairops.RESTORED}"),
}
OURS = [n for n, p in PAIRS.items() if p.second in COMMANDS and p.first in pairops.LIVE]
THEIRS = [n for n, p in PAIRS.items() if p.first in COMMANDS and p.second in pairops.LIVE]


def run(path, key, *words):
    done = commandline.run(path, *COMMANDS[key](), *words)
    return json.loads(done.stdout)


class After:
    """The command is about version 4; pylance has committed meanwhile."""

    def __init__(self, pair):
        operation = pairs.staged(pair.kind, pair.first)
        path = pairs.copied(operation.path)
        self.won = operation.numbers[-1]
        self.before = commits.files(path)
        self.result = run(path, pair.second, f"read_version={pairops.READ}")
        self.new = commits.files(path) - self.before
        self.problem = None
        if self.result["ok"]:
            number = int(self.result["version"])
            self.made = facts.version(path, number).transaction
            steps = [(pair.first, self.won), (pair.second, number)]
            self.problem = pairs.problem(path, pair.kind, steps)
        shutil.rmtree(path.parent)


class Before:
    """The command comes between pylance's read and its commit."""

    def __init__(self, pair):
        path = pairs.copied(pairs.base(pair.kind))
        handle = pairops.opened(path)
        self.first = run(path, pair.first)
        self.letter, self.text = pairs.theirs(handle, pair.second)
        steps = [(pair.first, int(self.first["version"]))]
        if self.letter == "C":
            steps.append((pair.second, max(facts.manifests(path))))
        self.problem = pairs.problem(path, pair.kind, steps)
        shutil.rmtree(path.parent)


after = pairs.together(After, {n: PAIRS[n] for n in OURS})
before = pairs.together(Before, {n: PAIRS[n] for n in THEIRS})


@pytest.mark.parametrize("name", OURS)
def test_a_command_after_theirs(name):
    pair, got = PAIRS[name], after(name)
    result = got.result
    if pair.letter != "C":
        assert (result["errno"], result["code"]) == ERRNOS[pair.letter], result
        assert (int(result["conflicts_with"]["version"]), result["conflicts_with"]["rule"]) == \
            (got.won, pair.rule)
        assert not got.new
        return
    assert result["ok"], result
    # one attempt upon the newest version; what was read is named, or followed, as Lance has it
    assert result["attempts"] == 1
    assert result["rebased_over"] == str(got.won) == str(int(result["version"]) - 1)
    assert got.made.uuid == result["uuid"]
    assert got.made.read_version == (got.won if result["operation"] in FOLLOWS else pairops.READ)
    both, _ = pairmodel.merged(pair.first, pair.second)
    merged = {f for f in got.new if f.startswith("_deletions/")}
    if result["operation"] == "Delete" and both:
        assert len(merged) == len(both)
        assert all(re.match(rf"_deletions/\d+-{got.won}-\d+\.bin$", f) for f in merged)
    if got.problem:
        raise got.problem


@pytest.mark.parametrize("name", THEIRS)
def test_their_commit_after_a_command(name):
    pair, got = PAIRS[name], before(name)
    assert got.first["ok"], got.first
    assert got.letter == pair.theirs, got.text
    if got.problem and pair.theirs == pair.letter:
        raise got.problem


# ---- at once --------------------------------------------------------------------------------

ROUNDS = 8


class Race:
    """Deletes of single rows, all in the same fragments: six by pylance, and six by commands."""

    def __init__(self, kind):
        self.path = pairs.copied(pairs.base(kind))
        with ThreadPoolExecutor(4) as pool:
            theirs = pool.submit(self.pylance, range(1, 13, 2))
            self.results = list(pool.map(self.command, range(0, 12, 2)))
            theirs.result()

    def pylance(self, ids):
        for ident in ids:
            pairops.opened(self.path).delete(f"id = {ident}")

    def command(self, ident):
        out = commandline.run(self.path, "delete", f"row_addrs={ident // 10}:{ident % 10}")
        return json.loads(out.stdout)

    def check(self, kind):
        numbers = sorted(facts.manifests(self.path))
        assert numbers == list(range(1, pairops.READ + 13))
        made = {facts.version(self.path, n).transaction.uuid: n for n in numbers}
        assert len(made) == len(numbers)
        for result in self.results:
            assert result["ok"], result
            version = int(result["version"])
            assert made[result["uuid"]] == version
            stored = facts.version(self.path, version).transaction
            assert stored.read_version == int(result["read_version"])
            if "rebased_over" in result:  # and one that was not is built on what it has read
                assert int(result["rebased_over"]) == stored.read_version
            assert stored.read_version == version - 1
        ds = pairops.opened(self.path)
        ds.validate()
        assert sorted(ds.to_table(columns=["id"])["id"].to_pylist()) == list(range(12, 40))
        versions = [facts.version(self.path, n) for n in numbers]
        assert [v.live_rows for v in versions[pairops.READ:]] == list(range(39, 27, -1))
        if pairops.BASES[kind][0]:
            lineage = ds.to_table(columns=pairs.LINEAGE).sort_by("id").to_pylist()
            assert [row["_rowid"] for row in lineage] == list(range(12, 40))


@pytest.mark.parametrize("kind", ("plain", "stable"))
def test_deletes_of_both_at_once(kind):
    """Nothing is lost or done twice, whoever wins; and who lost a race tried once more."""
    attempts, rebased = set(), 0
    for _ in range(ROUNDS):
        race = Race(kind)
        race.check(kind)
        attempts |= {result["attempts"] for result in race.results}
        rebased += sum("rebased_over" in result for result in race.results)
        shutil.rmtree(race.path.parent)
        if rebased and max(attempts) > 1:
            break
    assert rebased and max(attempts) > 1
