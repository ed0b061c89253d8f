"""Commits against what the reference 14.0.2 made of the same transactions.

Each case of the corpus is a dataset, a transaction that was built on one of its versions, and what
became of it when it was committed after the versions since: here by tests/helpers/commit. The
verdict must be the same, a version that was made must hold the same, and nothing may be there
after a refusal that was not there before.
"""
import functools
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

import commits
import facts
from test_conflicts import LOSSES

CODES = {"ok": "ok", "retryable": "busy", "incompatible": "conflict", "invalid": "invalid",
         "unsupported": "unsupported",
         "NotFound": "io",  # the transaction of a version is gone
         "DatasetNotFound": "not_found"}  # the version that was read is gone
# The reference does not read the schema's metadata back from a stored message, so its commit of one
# loses it; drop and rename in pylance keep it. It is kept here.
KEEPS_METADATA = {"Merge", "Project"}
FOLLOWS = {"Delete", "Update", "DataOverlay"}  # their read_version is that of the rebase


class Outcome:
    def __init__(self, ident):
        self.case = commits.cases()[ident]
        self.path = commits.stage(self.case["layers"])
        self.before = commits.files(self.path)
        self.result = commits.commit_case(self.case, self.path)
        self.after = commits.files(self.path)

    @property
    def made(self):
        return self.result["code"] == "ok"


@functools.cache
def outcomes():
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(commits.cases(), pool.map(Outcome, commits.cases())))


@functools.cache
def peer():
    made = {i: o for i, o in outcomes().items() if o.made}
    return dict(zip(made, commits.pylance([o.path for o in made.values()])))


def cases_that(*verdicts):
    return [i for i, c in commits.cases().items()
            if c["verdict"] in verdicts and i not in LOSSES]


@pytest.mark.parametrize("ident", commits.cases())
def test_verdict(ident):
    case, result = commits.cases()[ident], outcomes()[ident].result
    due = "conflict" if ident in LOSSES else CODES[case["verdict"]]
    assert result["code"] == due, result
    assert bool(result["conflict_version"]) == (due in ("busy", "conflict"))
    assert bool(result["conflict_rule"]) == bool(result["conflict_version"])
    assert (due == "ok") == (result["text"] == "") == (result["version"] > 0)


@pytest.mark.parametrize("ident", [i for i, c in commits.cases().items()
                                   if c["verdict"] != "ok" or i in LOSSES])
def test_a_refusal_leaves_nothing(ident):
    assert outcomes()[ident].after == outcomes()[ident].before


def wanted(case):
    """The corpus' facts, in the form of commits.account."""
    want = dict(case["facts"])
    want["fragments"] = [dict(f) for f in want["fragments"]]
    for fragment in want["fragments"]:
        fragment["overlays"] = [
            {"path": o["path"], "fields": o["fields"],
             "committed_version": o["committed_version"], "ranges": coverage(o["coverage"])}
            for o in fragment.get("overlays", [])]
        deletion = fragment.get("deletion_file")
        if deletion:
            kept = {"new", "num_deleted_rows"} | (set() if deletion["new"] else {"path"})
            fragment["deletion_file"] = {k: deletion[k] for k in kept}
    history = want.get("frag_reuse")
    want["frag_reuse"] = history and {
        "legacy": [version["groups"] for version in history["legacy"]],
        "transitions": history["transitions"]}
    want["base_paths"] = {i: {"name": b.get("name"), "path": b["path"],
                              "is_dataset_root": b["is_dataset_root"]}
                          for i, b in want["base_paths"].items()}
    return want


def coverage(stored):
    return [stored["shared"]["ranges"]] if "shared" in stored else \
        [part["ranges"] for part in stored["fields"]]


@pytest.mark.parametrize("ident", cases_that("ok"))
def test_facts(ident):
    case, outcome = commits.cases()[ident], outcomes()[ident]
    assert outcome.made, outcome.result
    got, want = commits.account(outcome.path, outcome.result["version"], outcome.before), wanted(case)
    indices = want.pop("indices")
    if case["ours"]["op"] in KEEPS_METADATA:
        assert want["schema_metadata"] == {}
        before = facts.version(outcome.path, outcome.result["version"] - 1)
        want["schema_metadata"] = before.schema_metadata
    for key in set(got) - {"indices", "new_files", "new_deletion_files"}:
        assert got[key] == want[key], key
    assert len(got["indices"]) == len(indices)
    for index in indices:
        same = {k: index[k] for k in ("name", "fields", "dataset_version", "index_version",
                                      "fragment_bitmap")}
        if index["uuid"] is None:
            assert same in got["indices"].values()
        else:
            assert got["indices"][index["uuid"]] == same


@pytest.mark.parametrize("ident", cases_that("ok"))
def test_files(ident):
    """One deletion file for each merged vector, and nothing else but what the reference wrote."""
    case, outcome = commits.cases()[ident], outcomes()[ident]
    want = case["facts"]
    new = outcome.after - outcome.before
    deletions = {f for f in new if f.startswith("_deletions/")}
    due = [f for f in want["fragments"] if f.get("deletion_file", {}).get("new")]
    assert len(deletions) == len(due) and all(f.endswith(".bin") for f in deletions)
    assert len([f for f in new if f.endswith(".manifest")]) == 1
    hint = json.loads((outcome.path / "_versions/latest_version_hint.json").read_text())
    assert hint == {"version": outcome.result["version"]}
    version = facts.version(outcome.path, outcome.result["version"])
    assert {f for f in new if f.startswith("_transactions/")} == \
        {f"_transactions/{version.transaction_file}"}
    stored = (outcome.path / "_transactions" / version.transaction_file).read_bytes()
    assert stored == version.transaction.raw
    assert not [f for f in new if "/.tmp" in f]


@pytest.mark.parametrize("ident", cases_that("ok"))
def test_the_reference_reads_it(ident):
    case, got = commits.cases()[ident], peer()[ident]
    want = case["facts"]
    assert "error" not in got, got
    assert (got["version"], got["num_rows"]) == (want["version"], want["num_rows"])
    assert got["rows_sha256"] == want["rows_sha256"]
    assert (got["covered"] is None) == any(  # then it tells of no index
        i["fragment_bitmap"] is None and i["name"] != "__lance_mem_wal" for i in want["indices"])
    covered = dict(got["covered"] or ())
    for index in want["indices"]:
        due = index.get("effective_fragment_bitmap")
        if covered and index["uuid"] is not None and due is not None:
            assert covered[index["uuid"]] == due


@pytest.mark.parametrize("ident", cases_that("ok"))
def test_path(ident):
    """It was rebased, not made anew: one attempt, over the newest version, the same transaction."""
    case, result = commits.cases()[ident], outcomes()[ident].result
    newest = case["facts"]["version"] - 1
    assert result["attempts"] == 1 and result["durable"] and not result["found"]
    assert result["rebased_over"] == (newest if newest > case["read_version"] else 0)
    assert result["read_version"] == case["facts"]["read_version"]
    assert result["read_version"] == (newest if case["ours"]["op"] in FOLLOWS
                                      else case["read_version"])
    given = facts.Transaction((commits.home() / case["txn"]).read_bytes())
    made = facts.version(outcomes()[ident].path, result["version"]).transaction
    assert result["uuid"] == given.uuid == made.uuid
    assert made.properties == given.properties
