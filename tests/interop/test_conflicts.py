"""The conflict check against what the reference 14.0.2 did with the same transactions.

A case is a dataset in layers, a transaction that was built on one of its versions, and what became
of it when it was committed after the versions since. tests/helpers/conflict holds the transaction
against those versions; nothing is committed here. MATRIX.md has the verdicts of many more pairs:
those that can be put together from the cases are asked, too.
"""
import functools
import json
import re
import subprocess

import pytest

import archives
import programs
from commits import cases, home, stage

# The reference takes these and loses something without a word: they are refused.
LOSSES = {
    "1544-tfri-ci_val01-vs-proj_value": "an index on a field that was dropped",
    "1553-tfri-ci_val23-vs-proj_value": "an index on a field that was dropped",
}
CELL_LOSSES = {("addr", "ci_name", "proj_name"): "an index on a field that was dropped"}
# The conflict check passes, as it does in the reference: what refuses them comes later.
LATER = {"invalid": "the build refuses what the message asks of the newest version",
         "unsupported": "the build has no way to maintain the reuse history"}
# Nothing can be said without these.
LOST = {"NotFound": ("io", "the transaction of a version is gone"),
        "DatasetNotFound": ("not_found", "the version that was read is gone")}


@functools.cache
def place(layers):
    """One dataset of all layers, which is only read."""
    return stage(layers)


def ask(path, transaction, read_version, affected=None, reuse=None):
    words = [path, home() / transaction, str(read_version)]
    if affected is not None:
        rows = archives.scratch() / "affected"
        rows.write_text("".join(f"{address}\n" for address in affected))
        words.append(f"affected={rows}")
    if reuse:
        words.append(f"reuse={home() / reuse}")
    done = subprocess.run([programs.program("tests/helpers/conflict"), *words], timeout=60,
                          capture_output=True, check=False)
    assert not programs.SANITIZER.search(done.stderr), done.stderr.decode(errors="replace")
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


@functools.cache
def answer(ident):
    case = cases()[ident]
    return ask(place(tuple(case["layers"])), case["txn"], case["read_version"], case["affected"],
               case["fri"])


def named(case):
    """A pair as MATRIX.md names it."""
    return case["base"], case["ours"]["key"], "+".join(their["key"] for their in case["theirs"])


@functools.cache
def cells():
    """{(base, ours, theirs): letter} of MATRIX.md, where theirs is here and ours is that of a case,
    with the same affected rows, and the pair is no case itself."""
    text = (home() / "MATRIX.md").read_text()
    text = text[text.index("## Cells by variation"):text.index("## Two or more foreign commits")]
    known = {named(case) for case in cases().values()}
    ours = {named(case)[:2] for case in cases().values()}
    found = {}
    for letter, line in re.findall(r"^- (?:\w+ )([A-Z]): (.*)$", text, re.M):
        for cell in line.split(", "):
            base, _, pair = cell.rpartition(":")
            cell = (base or "addr", *pair.split("×"))
            if cell[:2] in ours and cell not in known and \
                    (home() / "states" / f"{cell[0]}--{cell[2]}").is_dir():
                found[cell] = letter
    return found


def taken(*operations):
    """Cases that the reference committed and that are no losses, of these operations of ours."""
    return [ident for ident, case in cases().items()
            if case["verdict"] == "ok" and ident not in LOSSES
            and case["ours"]["op"] in operations]


def test_all_operations_are_there():
    ours = {case["ours"]["op"] for case in cases().values()}
    theirs = {their["op"] for case in cases().values() for their in case["theirs"]}
    assert len(cells()) > 250
    assert len(cases()) == 660 and len(ours) >= 14 and len(theirs - {None}) >= 15


@pytest.mark.parametrize("ident", cases())
def test_verdict(ident):
    case, got = cases()[ident], answer(ident)
    if ident in LOSSES:
        assert case["verdict"] == "ok" and got["verdict"] == "incompatible"
    elif case["verdict"] in LATER:
        assert got["verdict"] == "ok"
    elif case["verdict"] in LOST:
        assert (got["verdict"], got["code"]) == ("error", LOST[case["verdict"]][0])
    else:
        assert got["verdict"] == case["verdict"], got


@pytest.mark.parametrize("cell", cells(), ids="-".join)
def test_cell(cell):
    base, ours, theirs = cell
    case = next(c for c in cases().values() if named(c)[:2] == (base, ours))
    got = ask(place((f"bases/{base}", f"states/{base}--{theirs}", f"pool/{base}")), case["txn"],
              case["read_version"], case["affected"], case["fri"])
    due = {"R": "retryable", "I": "incompatible"}.get(cells()[cell], "ok")
    assert got["verdict"] == ("incompatible" if cell in CELL_LOSSES else due), got


@pytest.mark.parametrize("ident", [i for i, c in cases().items()
                                   if c["verdict"] in ("retryable", "incompatible")])
def test_the_winner_is_named(ident):
    """By operation and version, and with a rule and a reason."""
    error, got = cases()[ident]["error"], answer(ident)
    assert got["rule"] and got["text"]
    winner = re.search(r"concurrent (?:transaction )?([A-Z]\w+) at version (\d+)", error)
    version = re.search(r"version (\d+)", error)
    if winner:
        assert (got["operation"], got["version"]) == (winner.group(1), int(winner.group(2)))
    elif version:
        assert got["version"] == int(version.group(1))


@pytest.mark.parametrize("ident", taken("Delete", "Update"))
def test_deletion_vectors_are_merged(ident):
    """Just those that the reference merged, and with the same rows."""
    after = {f["id"]: f for f in cases()[ident]["facts"]["fragments"]}
    merged = {d["fragment"]: d for d in answer(ident)["deletions"]}
    new = {i for i, f in after.items() if f.get("deletion_file", {}).get("new")}
    assert new == {i for i, d in merged.items() if not d["whole"]}
    for number, deletion in merged.items():
        assert deletion["whole"] == (number not in after)
        if not deletion["whole"]:
            assert deletion["deleted"] == after[number]["deleted"]


@pytest.mark.parametrize("ident", taken("CreateIndex"))
def test_coverage_is_withdrawn(ident):
    """What is left of the bitmaps of new entries is what the reference stored."""
    after = {i["uuid"]: i for i in cases()[ident]["facts"]["indices"]}
    for index in answer(ident)["indices"]:
        if index["uuid"] in after and after[index["uuid"]]["name"] != "__lance_mem_wal":
            stored = after[index["uuid"]]["fragment_bitmap"]
            assert index["fragments"] == stored


@pytest.mark.parametrize("ident", taken("CreateIndex"))
def test_superseded_entries_are_gone(ident):
    after = {i["uuid"] for i in cases()[ident]["facts"]["indices"]}
    assert not after & set(answer(ident)["superseded"])
