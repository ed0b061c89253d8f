"""Data files written again by the file writer: pylance reads of them what it reads of the original.

Samples of every encoding, the data files of all sample datasets, and files of random types are
read by our reader and written in every version that can hold them, with large and small pages, and
page by page. Then pylance and our reader read both.
"""
import random
import subprocess

import pytest
from lance.file import LanceFileReader, LanceFileWriter

import archives
import comparefiles
import generate
import programs

VERSIONS = ("2.0", "2.1", "2.2")
# Decoded bytes of a page, and rows that are put at once.
PAGES = ((0, 1000), (700, 100), (20000, 333))
# What can't be written, and where.
REFUSED = {
    "fixed-size lists of structs": ("2.0", "2.1"),
    "maps": ("2.0", "2.1"),
    "null structs": ("2.0",),
    "such values in packed structs": ("2.0", "2.1"),
    "lists of blobs": ("2.1", "2.2"),
    "blobs of format v2": VERSIONS,
    "booleans in packed structs": ("2.1", "2.2"),
}
# Samples with one column that is not copied.
NOT_COPIED = ("blob_", "compaction_with_lineage_v22", "fsl_struct_", "list_struct_list_")
CHUNKS = 16
SEEDS = range(34)  # of each version read, in each version written: 306 files


@pytest.fixture(scope="module")
def comparer():
    made = comparefiles.Comparer()
    yield made
    made.close()


def writefile(original, written, version, page, *words):
    """What the program said; None when it refused, by name, what the version can't hold."""
    done = subprocess.run([programs.program("tests/helpers/writefile"), original, written, version,
                           str(page), *words], capture_output=True, timeout=120, check=False)
    said = done.stderr.decode(errors="replace")
    if done.returncode == 2 and any(version in refused and reason in said
                                    for reason, refused in REFUSED.items()):
        assert said.startswith("writefile: unsupported: column ")
        return None
    assert (done.returncode, said) == (0, "")
    return done.stdout.decode()


def readfile(path):
    done = subprocess.run([programs.program("readfile"), path, "step=501"], capture_output=True,
                          timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def check_same(comparer, written, original):
    assert readfile(written) == readfile(original)
    assert comparer.compare(written, original) is None


SAMPLES = sorted(path for path in archives.unpacked("encodings").glob("*.lance")
                 if path.name != "legacy_v1.lance")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("original", SAMPLES, ids=lambda path: path.stem)
def test_samples_written_again(original, version, comparer, tmp_path):
    written = tmp_path / "written.lance"
    for page, step in PAGES:
        if writefile(original, written, version, page, f"step={step}") is None:
            return
        check_same(comparer, written, original)


@pytest.mark.parametrize("original", SAMPLES, ids=lambda path: path.stem)
def test_samples_copied(original, comparer, tmp_path):
    """Page by page, where it can be: not blobs, nor what pylance can't read of several pages."""
    version = ".".join(map(str, file_version(original)))
    if version == "2.3":
        return
    written = tmp_path / "written.lance"
    said = writefile(original, written, version, 0, "--copy")
    if said is None:  # columns of other types are not written at all
        return
    columns = len(LanceFileReader(str(original)).metadata().schema)
    cant = sum(original.name.startswith(name) for name in NOT_COPIED)
    assert said == f"copied {columns - cant}\n"
    check_same(comparer, written, original)


def file_version(path):
    metadata = LanceFileReader(str(path)).metadata()
    pair = metadata.major_version, metadata.minor_version
    return (2, 0) if pair == (0, 3) else pair


def stored_files():
    """The data files of all sample datasets, of the formats that are written.

    Columns of an overlay's file have different lengths: that is not a file of rows.
    """
    found = []
    for group in archives.GROUPS:
        for path in sorted(archives.unpacked(group).glob("**/data/*.lance")):
            tail = path.read_bytes()[-8:]
            if "overlay" in str(path.relative_to(archives.unpacked(group))):
                continue
            if tail[4:] == b"LANC" and tail[:4] in (b"\0\0\3\0", b"\2\0\0\0", b"\2\0\1\0", b"\2\0\2\0"):
                found.append((path, "2.0" if tail[0] == 0 else f"2.{tail[2]}"))
    return found


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_files_of_datasets(chunk, comparer, tmp_path):
    files = stored_files()
    assert len(files) > 1000
    written = tmp_path / "written.lance"
    rng = random.Random(chunk)
    for original, version in files[chunk::CHUNKS]:
        words = rng.choice((["0", "--copy"], ["0"], ["100", "step=7"]))
        if writefile(original, written, version, *words) is not None:
            check_same(comparer, written, original)


@pytest.mark.parametrize("made", VERSIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_types(seed, made, comparer, tmp_path):
    table = generate.table(made, seed)
    original, written = tmp_path / "original.lance", tmp_path / "written.lance"
    with LanceFileWriter(str(original), table.schema, version=made) as writer:
        writer.write_batch(table)
    for version in VERSIONS:
        page = random.Random(seed).choice(("0", "3000", "50000"))
        if writefile(original, written, version, page) is not None:
            check_same(comparer, written, original)
