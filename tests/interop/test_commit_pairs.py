"""Commits beside pylance, in both directions.

For the pairs of pairtable.py: pylance commits the first operation and we the second, which was
built on the version before; and we commit the first between the moment when pylance reads and its
commit of the second. The verdict is that of the conflict matrix, on either side. What was made
holds the rows, the row ids and the row versions that a model says, and passes pylance's validation.
"""
import itertools
import json
import shutil

import pytest

import facts
import pairmodel
import pairops
import pairs
from pairtable import ELSEWHERE, PAIRS, cells

# An Update takes the row versions of the fragment as it read them: those that an overlay has given
# to other rows meanwhile are lost. Ours keeps them.
STALE_LINEAGE = {("upd_f0", "ov_f0vx")}
FOLLOWS = {"Delete", "Update", "DataOverlay"}  # their read_version is that of the rebase
OURS = [name for name, p in PAIRS.items() if p.first in pairops.LIVE]
THEIRS = [name for name, p in PAIRS.items() if p.second in pairops.LIVE]


class OursSecond:
    """pylance has committed the first; we commit the second, as pylance wrote it before that."""

    def __init__(self, pair):
        first = pairs.staged(pair.kind, pair.first)
        path = pairs.copied(first.path)
        self.won = first.numbers[-1]
        *self.before, self.commit = pairs.ours(path, pair.kind, pair.second,
                                               pair.first == pair.second)
        self.result, self.problem = self.commit.result, None
        if self.result["code"] == "ok":
            self.look(pair, path)
        shutil.rmtree(path.parent)

    def look(self, pair, path):
        number = self.result["version"]
        version = facts.version(path, number)
        self.made = version.transaction
        self.stored = (path / "_transactions" / version.transaction_file).read_bytes()
        self.hint = json.loads((path / "_versions/latest_version_hint.json").read_text())
        self.deleted = {f.id: f.deleted_offsets() for f in version.fragments}
        steps = [(pair.first, self.won), (pair.second, number)]
        self.problem = pairs.problem(path, pair.kind, steps)


class TheirsSecond:
    """pylance has read; we commit the first; pylance commits the second."""

    def __init__(self, pair):
        path = pairs.copied(pairs.base(pair.kind))
        handle = pairops.opened(path)
        self.first = pairs.ours(path, pair.kind, pair.first)[-1].result
        self.letter, self.text = pairs.theirs(handle, pair.second)
        steps = [(pair.first, self.first["version"])]
        if self.letter == "C":
            steps.append((pair.second, max(facts.manifests(path))))
        self.problem = pairs.problem(path, pair.kind, steps,
                                     lineage=(pair.second, pair.first) not in STALE_LINEAGE)
        shutil.rmtree(path.parent)


ours_second = pairs.together(OursSecond, {n: PAIRS[n] for n in OURS})
theirs_second = pairs.together(TheirsSecond, {n: PAIRS[n] for n in THEIRS})


@pytest.mark.parametrize("name", OURS)
def test_our_commit_after_theirs(name):
    pair, got = PAIRS[name], ours_second(name)
    assert pairs.LETTERS.get(got.result["code"]) == pair.letter, got.result
    assert got.result["conflict_rule"] == pair.rule, got.result
    if pair.letter == "C" and got.problem:
        raise got.problem


@pytest.mark.parametrize("name", [n for n in OURS if PAIRS[n].letter != "C"])
def test_a_refusal_names_who_won_and_changes_nothing(name):
    got = ours_second(name)
    assert got.result["conflict_version"] == got.won
    assert got.result["version"] == got.result["attempts"] == 0
    assert got.commit.after == got.commit.before


@pytest.mark.parametrize("name", [n for n in OURS if PAIRS[n].letter == "C"])
def test_path_of_our_commit(name):
    """Put upon the newest version in one attempt: the same transaction, and no file but those due.

    Whoever makes the change anew has another uuid, another read version and other data files.
    """
    pair, got = PAIRS[name], ours_second(name)
    result, given = got.result, got.commit.given
    assert result["attempts"] == 1 and result["durable"] and not result["found"]
    assert result["rebased_over"] == got.commit.newest == result["version"] - 1
    assert result["uuid"] == given.uuid == got.made.uuid
    follows = result["operation"] in FOLLOWS
    assert result["read_version"] == got.made.read_version == \
        (got.commit.newest if follows else pairops.READ)
    assert got.made.properties == given.properties
    if not follows and not pairmodel.TAKEN.get(pair.second):
        assert got.stored == got.made.raw
    assert got.hint == {"version": result["version"]}
    both, whole = pairmodel.merged(pair.first, pair.second)
    new = {f.partition("/")[0]: [] for f in got.commit.new}
    for file in got.commit.new:
        new[file.partition("/")[0]].append(file)
    merged = new.pop("_deletions", [])
    assert len(merged) == len(both)
    for fragment in both:
        assert [f for f in merged if f.startswith(f"_deletions/{fragment}-{got.commit.newest}-")
                and f.endswith(".bin")]
        assert set(got.deleted[fragment]) == pairmodel.TAKEN[pair.first][fragment] | \
            pairmodel.TAKEN[pair.second][fragment]
    assert not whole & set(got.deleted)
    assert {k: len(v) for k, v in new.items()} == {"_versions": 1, "_transactions": 1}


@pytest.mark.parametrize("name", THEIRS)
def test_their_commit_after_ours(name):
    pair, got = PAIRS[name], theirs_second(name)
    assert got.first["code"] == "ok", got.first
    assert got.letter == pair.theirs, got.text
    if got.problem and pair.theirs == pair.letter:
        raise got.problem


def test_every_cell_is_shown():
    """Each letter that a cell of the matrix can give, by a pair of one direction at least."""
    kind = {key: pairs.staged(p.kind, key).transactions[-1].operation
            for p in PAIRS.values() for key in (p.first, p.second)}
    shown = {}
    for pair in PAIRS.values():
        assert {pair.first, pair.second} & set(pairops.LIVE), pair.name
        seconds, firsts = [kind[pair.second]], [kind[pair.first]]
        if pair.letter == "C":  # a compaction reserves ids before it
            seconds += ["ReserveFragments"] * (seconds == ["Rewrite"])
            firsts += ["ReserveFragments"] * (firsts == ["Rewrite"])
        for cell in itertools.product(seconds, firsts):
            shown.setdefault(cell, set()).add(pair.letter)
    due = {cell: set(letters) for cell, letters in cells().items()}
    for elsewhere in ELSEWHERE.values():
        for cell, letters in elsewhere.items():
            due[cell] -= set(letters)
    missing = {cell: letters - shown.get(cell, set()) for cell, letters in due.items()}
    assert {cell: letters for cell, letters in missing.items() if letters} == {}
    # an index on a field that is gone is refused here alone
    assert {cell for cell, letters in shown.items() if letters - set(cells()[cell])} == \
        {("CreateIndex", "Project"), ("CreateIndex", "Merge")}
