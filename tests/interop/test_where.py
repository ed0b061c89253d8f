"""Conditions: the rows that the reference finds, for thousands of them."""
import json
import random
import subprocess

import lance
import pytest

import conditions
import programs

SEEDS = range(24)
EACH = 90


def found(path, where, *words):
    """Row ids, or the text of a refusal."""
    done = subprocess.run([programs.program("lancet"), "rows", path, "where=" + where,
                           "columns=_rowid", *words], timeout=60, capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)
    assert not programs.SANITIZER.search(done.stderr), done.stderr.decode(errors="replace")
    if done.returncode != 0:
        return done.stderr.decode()
    return [int(json.loads(line)["_rowid"]) for line in done.stdout.splitlines()]


def reference(data, where):
    """Row ids, or None when it refuses."""
    try:
        return data.to_table(filter=where, columns=["_rowid"])["_rowid"].to_pylist()
    except (ValueError, OSError):
        return None


@pytest.fixture(scope="module", params=SEEDS)
def made(request, tmp_path_factory):
    rng = random.Random(request.param)
    path = str(tmp_path_factory.mktemp("where") / "t.lance")
    data = lance.write_dataset(
        conditions.table(rng, 300), path, max_rows_per_file=rng.choice([70, 130, 300]),
        data_storage_version=rng.choice(["2.1", "2.2"]),
        enable_stable_row_ids=rng.random() < 0.5)
    data.delete(f"small = {rng.randint(-4, 4)}")
    return request.param, path, lance.dataset(path)


def test_rows_are_those_of_the_reference(made):
    seed, path, data = made
    maker = conditions.Conditions(random.Random(seed + 1000))
    compared = 0
    for _ in range(EACH):
        where = maker.condition(maker.rng.choice([0, 0, 1, 2, 3]))
        want = reference(data, where)
        if want is None:
            continue
        assert found(path, where) == want, where
        compared += 1
    assert compared >= EACH * 0.8
