"""The conflict check against what the reference 14.0.2 did with the same transactions.

A case is a dataset in layers, a transaction that was built on one of its versions, and what became
of it when it was committed after the versions since. tests/helpers/conflict holds the transaction
against those versions; nothing is committed here.
"""
import functools
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import archives
import programs

# The reference takes these and loses something without a word: they are refused.
LOSSES = {
    "1544-tfri-ci_val01-vs-proj_value": "an index on a field that was dropped",
    "1553-tfri-ci_val23-vs-proj_value": "an index on a field that was dropped",
}
# The conflict check passes, as it does in the reference: what refuses them comes later.
LATER = {"invalid": "the build refuses what the message asks of the newest version",
         "unsupported": "the build has no way to maintain the reuse history"}
# Nothing can be said without these.
LOST = {"NotFound": ("io", "the transaction of a version is gone"),
        "DatasetNotFound": ("not_found", "the version that was read is gone")}


@functools.cache
def home():
    subprocess.run(["tar", "--no-same-owner", "-C", archives.scratch(), "-xJf",
                    archives.DATA / "conflicts.tar.xz"], check=True, timeout=120)
    return archives.scratch() / "conflicts"


@functools.cache
def cases():
    return {case["id"]: case for case in json.loads((home() / "conflicts.json").read_text())}


@functools.cache
def place(layers):
    """One dataset of all layers; a layer without files is no directory."""
    path = Path(tempfile.mkdtemp(dir=archives.scratch()))
    for layer in layers:
        if (home() / layer).is_dir():
            shutil.copytree(home() / layer, path, dirs_exist_ok=True)
    return path


@functools.cache
def answer(ident):
    case = cases()[ident]
    words = [place(tuple(case["layers"])), home() / case["txn"], str(case["read_version"])]
    if case["affected"] is not None:
        rows = archives.scratch() / "affected"
        rows.write_text("".join(f"{address}\n" for address in case["affected"]))
        words.append(f"affected={rows}")
    if case["fri"]:
        words.append(f"reuse={home() / case['fri']}")
    done = subprocess.run([programs.program("tests/helpers/conflict"), *words], timeout=60,
                          capture_output=True, check=False)
    assert not programs.SANITIZER.search(done.stderr), done.stderr.decode(errors="replace")
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def taken(*operations):
    """Cases that the reference committed and that are no losses, of these operations of ours."""
    return [ident for ident, case in cases().items()
            if case["verdict"] == "ok" and ident not in LOSSES
            and case["ours"]["op"] in operations]


def test_all_operations_are_there():
    ours = {case["ours"]["op"] for case in cases().values()}
    theirs = {their["op"] for case in cases().values() for their in case["theirs"]}
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


@pytest.mark.parametrize("ident", [i for i, c in cases().items()
                                   if c["verdict"] in ("retryable", "incompatible")])
def test_the_winner_is_named(ident):
    """By operation and version, and with a rule and a reason."""
    error, got = cases()[ident]["error"], answer(ident)
    assert got["rule"] and got["text"]
    named = re.search(r"concurrent (?:transaction )?([A-Z]\w+) at version (\d+)", error)
    version = re.search(r"version (\d+)", error)
    if named:
        assert (got["operation"], got["version"]) == (named.group(1), int(named.group(2)))
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
