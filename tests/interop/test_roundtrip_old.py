"""What we append and compact is read by older releases of pylance, as what pylance wrote is.

LANCEFS_OLD_PYTHON lists interpreters that have one, with a colon between them; a release is asked
for the file versions that it knows: 0.20 for 2.0, 0.38 for 2.1, 4.0 for all. ./quickstart check has
all three. Without it all of this is skipped. In the build directory, for one release:

    python3 -m venv old && old/bin/pip install pylance==0.38.3 pyarrow numpy
    LANCEFS_OLD_PYTHON=$PWD/old/bin/python make check-interop-old
"""
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

import comparedatasets
import comparefiles
import lance
import schemas
import test_roundtrip
from commandline import result

PYTHONS = [path for path in os.environ.get("LANCEFS_OLD_PYTHON", "").split(":") if path]
FIRST, END = map(int, os.environ.get("LANCEFS_ROUNDTRIP_SEEDS", "0:40").split(":"))
# Both releases of 2.1 and later misread a page whose lists have none but null items, in files that they wrote
# themselves, too: the first page of these has one such row.
MISREAD = {("2.1", 16)}
# Where the release can't read much of what pylance 14.0.2 writes nothing would be compared.
LEAST_READ = 0.5

pytestmark = pytest.mark.skipif(not PYTHONS, reason="LANCEFS_OLD_PYTHON is not set")


def known_versions(python):
    done = subprocess.run([python, "-c", "import lance; print(lance.__version__)"], timeout=60,
                          capture_output=True, check=True)
    release = tuple(map(int, done.stdout.decode().split(".")[:2]))
    return [v for v, since in (("2.0", (0, 16)), ("2.1", (0, 38)), ("2.2", (4, 0)))
            if release >= since]


def made(home, version, seed):
    """Appended by both; then compacted, ours by us and theirs by pylance."""
    home.mkdir()
    rows, rng = schemas.table(version, seed), random.Random(seed)
    try:
        ours, theirs = test_roundtrip.two_datasets(home, rows, version, rng)
    except OSError:  # what pylance itself can't append
        return None
    if rng.random() < 0.5:
        for path in (ours, theirs):
            lance.dataset(str(path)).delete("key % 4 = 1")
        result(ours, "compact", "target_rows=500")
        lance.dataset(str(theirs)).optimize.compact_files(target_rows_per_fragment=500)
    return str(ours), str(theirs)


@pytest.mark.parametrize("python", PYTHONS, ids=lambda path: Path(path).parts[-3])
def test_releases_before(python, scratch):
    asked = unread = 0
    wrong = {}
    comparer = comparefiles.Comparer(python, comparedatasets.__file__)
    for version in known_versions(python):
        for seed in range(FIRST, END):
            home = scratch / f"{version} {seed}"
            pair = made(home, version, seed)
            if pair is None:
                continue
            said = comparer.compare(*pair)
            asked += 1
            unread += said == "unread" or (said or "").startswith("pylance ended")
            if said not in (None, "unread") and (version, seed) not in MISREAD:
                wrong[version, seed] = said
            shutil.rmtree(home)
    comparer.close()
    assert not wrong
    assert asked - unread >= LEAST_READ * asked
