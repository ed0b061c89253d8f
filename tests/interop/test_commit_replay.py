"""Versions that the reference made, made again.

A version of a dataset of the shared test data is taken away with all later ones, and its
transaction is committed by tests/helpers/commit. What that makes must hold what the reference's
version held: row ids and row versions, marks, flags, files, schema, index coverage.
"""
import functools
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest

import archives
import commits
import facts
import reuse

OPERATIONS = {"Append", "Delete", "Overwrite", "Merge", "Restore", "ReserveFragments", "Update"}
VERSIONS_MAX = 12  # of one dataset, the last ones
# Older releases gave other row versions.
OLD = "era_"
# Its flags were set by hand.
HAND_MADE = {("fixtures/fri_tagged_after_legacy", 6)}
# Preconditions in a form that nobody can evaluate.
REFUSED = {("fixtures-written/wv_preconditions", 2)}


@functools.cache
def original(ident, number):
    return facts.version(archives.Dataset(ident).path, number)


def numbers(ident):
    """Versions made by one of the operations on the version before."""
    found = facts.manifests(archives.Dataset(ident).path)
    return [n for n in list(found)[-VERSIONS_MAX:]
            if n - 1 in found and original(ident, n).transaction is not None and
            original(ident, n).transaction.operation in OPERATIONS and
            (ident, n) not in HAND_MADE | REFUSED]


@functools.cache
def cases():
    made = {ident: numbers(ident) for ident in archives.dataset_ids()
            if not ident.split("/")[1].startswith(OLD)}
    return {ident: found for ident, found in made.items() if found}


def without(source, number):
    """A copy of the dataset before the version was made."""
    path = Path(tempfile.mkdtemp(dir=archives.scratch()))
    shutil.copytree(source, path, dirs_exist_ok=True, copy_function=os.link)
    for later, manifest in facts.manifests(path).items():
        if later >= number:
            transaction = facts.version(source, later).transaction_file
            if transaction:
                (path / "_transactions" / transaction).unlink(missing_ok=True)
            manifest.unlink()
    return path


def account(path, number, before):
    """The reference stores bitmaps as a legacy history translates them, we as they were."""
    held = commits.account(path, number, before)
    version = facts.version(path, number)
    if reuse.has_history(version) and any(
            s.name == "__lance_frag_reuse" and not s.index_version for s in version.segments):
        held["indices"] = sorted(held["indices"])
    return held


@pytest.mark.parametrize("ident", cases())
def test_versions_are_made_again(ident):
    source = archives.Dataset(ident).path
    before = commits.files(source)
    for number in cases()[ident]:
        transaction = original(ident, number).transaction
        path = without(source, number)
        got = commits.commit(path, transaction.raw, transaction.read_version)
        assert (got["code"], got["version"]) == ("ok", number), got
        want, have = account(source, number, before), account(path, number, before)
        for key, value in want.items():
            assert have[key] == value, (number, transaction.operation, key)
        shutil.rmtree(path)


def test_there_is_enough_of_each():
    found = Counter(original(ident, number).transaction.operation
                    for ident, made in cases().items() for number in made)
    assert set(found) == OPERATIONS
    assert found["Update"] > 50 and found["Append"] > 50 and found["Merge"] >= 10
