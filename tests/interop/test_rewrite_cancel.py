"""Compactions and partitions of `lancet` that get a signal while they run: they leave no file and
no version; killed, they leave temporary files that a cleanup takes away, and nothing else."""
import json
import random
import signal
import subprocess
import time
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest

import programs
from commandline import opened, result
from places import LINEAGE, fresh
from racemodel import files_of
from test_rewrite_damage import files_of as all_files

ROWS, COLUMNS, PER_FRAGMENT = 300_000, 8, 20_000
COMMANDS = {"compact": ["compact", "binary_copy=never"], "partition": ["partition", "by=k"]}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
TRIES = 8


@pytest.fixture(scope="module", params=("untagged", "stable"))
def table(request):
    rng, path = np.random.default_rng(1), fresh()
    columns = {f"c{i}": rng.integers(0, 1 << 60, ROWS) for i in range(COLUMNS)}
    lance.write_dataset(pa.table({"k": pa.array(rng.integers(0, 5, ROWS)), **columns}), path,
                        max_rows_per_file=PER_FRAGMENT,
                        enable_stable_row_ids=request.param == "stable")
    opened(path).create_scalar_index("c0", "BTREE")
    opened(path).delete("k = 3 and c1 % 2 = 0")
    return path


def started(path, words):
    return subprocess.Popen([programs.program("lancet"), words[0], path, *words[1:]],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def sizes(path):
    """Of its data files, those without their names as well."""
    found = 0
    for file in (Path(path) / "data").iterdir():
        try:
            found += file.stat().st_size
        except FileNotFoundError:
            pass
    return found


def interrupted(path, words, number, grown):
    """The exit status and what it said, when the signal came once so many bytes were there."""
    before = sizes(path)
    process = started(path, words)
    while sizes(path) - before < grown and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert not programs.SANITIZER.search(err), err
    return process.returncode, out


def content(path):
    ds = opened(path)
    names = [*ds.schema.names, *(LINEAGE if ds.has_stable_row_ids else [])]
    ds.validate()
    return ds.to_table(columns=names).sort_by("c0")


def whole(path, words):
    """The bytes of a run that comes to its end; the dataset is as before."""
    before = opened(path).version
    written = result(path, *words)["bytes_after"]
    opened(path, before).restore()
    return written


@pytest.mark.parametrize("name", COMMANDS)
def test_signals_leave_no_trace(table, name):
    words, rng, stopped = COMMANDS[name], random.Random(name), 0
    want = content(table)
    written = whole(table, words)
    for at in range(TRIES):
        before, version = all_files(table), opened(table).version
        status, out = interrupted(table, words, SIGNALS[at % len(SIGNALS)],
                                  rng.random() * written * 0.8)
        if status == 0:
            opened(table, version).restore()
            continue
        said = json.loads(out)
        assert (status, said["errno"], said["code"]) == (1, "ECANCELED", "cancelled"), said
        # Between its two versions it has come too late for the first one.
        assert opened(table).version in (version, version + 1)
        if opened(table).version == version:
            assert all_files(table) == before
            stopped += 1
    assert stopped >= 2
    assert content(table) == want


@pytest.mark.parametrize("name", COMMANDS)
def test_a_kill_leaves_what_a_cleanup_takes_away(table, name):
    words, rng, left = COMMANDS[name], random.Random(name), 0
    want = content(table)
    written = whole(table, words)
    for _ in range(TRIES // 2):
        before, version = set(all_files(table)), opened(table).version
        status, _ = interrupted(table, words, signal.SIGKILL, rng.random() * written * 0.8)
        if status == 0:
            opened(table, version).restore()
            continue
        assert status == -signal.SIGKILL
        named = {str(file.relative_to(table)) for kind in ("_versions", "_transactions")
                 for file in (Path(table) / kind).iterdir() if not file.name.startswith(".tmp-")}
        orphans = set(all_files(table)) - before - named
        left += len(orphans)
        said = result(table, "cleanup", "keep=1000", "delete_unverified=true",
                      "dry_run=false")
        assert said["removed_files"] == len(orphans), (said, orphans)
        assert set(all_files(table)) == before | named
        assert opened(table).version <= version + 1
    assert left > 0
    assert content(table) == want
