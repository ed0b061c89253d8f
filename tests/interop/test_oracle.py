"""The expected values are right: two independent accounts of every dataset agree.

facts.py decodes the manifests; pylance 14.0.2 and the Rust reference wrote the expected.json
files. No program of this project runs here. Everything else in this directory may then compare
with either account.
"""
import pytest

import archives
import expected
import live
from archives import dataset

def differences(data, branch=None):
    out = []
    for number, account in data.accounts(branch).items():
        facts = data.facts(number, branch)
        if facts.version != number:
            out.append(f"version {number} says it is {facts.version}")
        if account is not None and not expected.failed(account):
            check = expected.check_pylance if data.by_pylance else expected.check_rust
            out += [f"version {number}: {d}" for d in check(facts, account)]
    return out


@pytest.mark.parametrize("ident", archives.dataset_ids())
def test_accounts_agree(ident):
    data = dataset(ident)
    assert differences(data) == []
    for branch in data.branches():
        assert differences(data, branch) == []


def check_tracked(data, want):
    """Against pylance's own list, which has no refs, row maps and its own words for kinds.

    It names the transaction file of the manifest even where that isn't there.
    """
    tracked = data.expected["tracked_files_latest"]
    if isinstance(tracked, dict):
        assert tracked["count"] == len([f for f in want if f.kind not in ("ref", "row_map")])
        return
    words = {"data": "data file", "overlay": "data file", "deletion": "deletion file",
             "index": "index file", "fri_details": "index file", "manifest": "manifest",
             "transaction": "transaction file"}
    ours = {(words[f.kind], f.path) for f in want if f.kind in words}
    theirs = {(kind, path if kind != "data file" or path.startswith("data/") else f"data/{path}")
              for kind, path in tracked
              if kind != "transaction file" or (data.path / path).is_file()}
    assert ours == theirs


@pytest.mark.parametrize("ident", archives.dataset_ids())
def test_live_files(ident):
    """Every file that a version needs is there, and the latest's are those that pylance tracks."""
    data = dataset(ident)
    for branch in (None, *data.branches()):
        for number in data.numbers(branch):
            for file in live.live_files(data.facts(number, branch), data.path):
                assert file.backing.is_file(), file.path
    if data.by_pylance and "tracked_files_latest" in data.expected:
        check_tracked(data, live.live_files(data.facts(data.latest), data.path))
