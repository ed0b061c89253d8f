"""Rows of generated schemas: appended by `lancet append` pylance reads them as its own.

Each dataset gets the same rows twice, ours from Arrow files and streams of several batches, and on
a copy pylance's own. Whole scans, ranges, single rows and filters agree, and with what was written.
More seeds on demand: LANCEFS_ROUNDTRIP_SEEDS=FIRST:END.
"""
import os
import random
import shutil
import subprocess

import lance
import pyarrow as pa
import pytest

import comparefiles
import exactly
import programs
import schemas
from commandline import opened, result

FIRST, END = map(int, os.environ.get("LANCEFS_ROUNDTRIP_SEEDS", "0:100").split(":"))
SEEDS = range(FIRST, END)
FORMS = ("file", "stream", "file zstd", "stream lz4")
# Decoded bytes of a page, and rows that are put at once.
PAGES = ((1, 1), (100, 7), (999, 1000), (5000, 64), (65536, 333), (0, 100000))


@pytest.fixture(scope="module")
def comparer():
    made = comparefiles.Comparer()
    yield made
    made.close()


def arrow_file(path, rows, rng):
    """Rows in batches of one size, which need not divide their number."""
    form, chunk = rng.choice(FORMS), rng.choice((1, 7, 100, 1000, 10**6))
    chunk = max(chunk, len(rows) // 20)
    maker = pa.ipc.new_file if form.startswith("file") else pa.ipc.new_stream
    options = pa.ipc.IpcWriteOptions(compression=(*form.split(), None)[1])
    with maker(str(path), rows.schema, options=options) as writer:
        writer.write_table(rows, max_chunksize=chunk)
    return path


def two_datasets(home, rows, version, rng):
    """Ours and theirs, each with the rows in one to three appends behind a few of pylance's."""
    ours, theirs = home / "ours.lance", home / "theirs.lance"
    at = rng.choice((0, 0, 1, 5))
    first = schemas.copied(rows.slice(0, at))
    lance.write_dataset(first, str(ours), data_storage_version=version,
                        enable_stable_row_ids=rng.random() < 0.3)
    shutil.copytree(ours, theirs)
    for left in range(rng.choice((1, 1, 2, 3)), 0, -1):
        count = max(0, len(rows) - at) // left
        part = rows.slice(at, count)
        at += count
        if count == 0:
            continue
        lance.write_dataset(schemas.copied(part), str(theirs), mode="append")
        out = result(ours, "append", f"file={arrow_file(home / f'rows{left}', part, rng)}")
        assert out["appended_rows"] == count
    return ours, theirs


def scan(ds, **more):
    return ds.scanner(blob_handling="all_binary", scan_in_order=True, **more).to_table()


def looks(ds, rng):
    """Tables read in all ways that there are."""
    yield "all", scan(ds)
    count = ds.count_rows()
    if count == 0:
        return
    picks = [rng.randrange(count) for _ in range(20)]
    yield "taken", ds.take(picks)
    first = rng.randrange(count)
    yield "range", scan(ds, offset=first, limit=rng.randint(1, count - first), batch_size=77)
    name = rng.choice(ds.schema.names)
    for text in (f"key % {rng.randint(2, 9)} = 1", f"`{name}` is null", f"key = {first}",
                 f"key > {first} and `{name}` is not null"):
        try:
            yield text, scan(ds, filter=text)
        except ValueError as error:  # not every type can be asked
            yield text, pa.table({"error": [str(error).split(",", maxsplit=1)[0]]})


def check_same(ours, theirs, seed):
    seen = [looks(opened(path), random.Random(seed)) for path in (ours, theirs)]
    for (what, got), (_, want) in zip(*seen, strict=True):
        assert exactly.tables(got, want, what) is None
    opened(ours).validate()


@pytest.mark.parametrize("version", schemas.VERSIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_appended_rows(seed, version, scratch):
    rows, rng = schemas.table(version, seed), random.Random(seed)
    ours, theirs = two_datasets(scratch, rows, version, rng)
    check_same(ours, theirs, seed)


@pytest.mark.parametrize("version", schemas.VERSIONS)
@pytest.mark.parametrize("seed", SEEDS[:26])
def test_files_in_pages_of_odd_sizes(seed, version, comparer, scratch):
    rows = schemas.table(version, seed)
    page, step = random.Random(seed).choice(PAGES if len(rows) < 2000 else PAGES[3:])
    check_written_again(comparer, scratch, rows, version, page, step)


def check_written_again(comparer, home, rows, version, page, step):
    lance.write_dataset(rows, str(home / "d.lance"), data_storage_version=version, mode="overwrite")
    for file in lance.dataset(str(home / "d.lance")).get_fragments()[:1]:
        file = home / "d.lance" / "data" / file.data_files()[0].path
        written = home / file.name
        done = subprocess.run([programs.program("tests/helpers/writefile"), file, written, version,
                               str(page), f"step={step}"], capture_output=True, timeout=120,
                              check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert comparer.compare(written, file) is None


def required(name, kind, nullable=False):
    return pa.struct([pa.field(name, kind, nullable=nullable)])


INNER = {"numbers": (pa.int32(), 5), "texts": (pa.string(), "text"), "vectors": (pa.list_(
    pa.int32(), 2), [1, 2]), "keys": (pa.dictionary(pa.int8(), pa.string()), "word"),
    "lists": (pa.list_(pa.int32()), [1, 2]), "empty lists": (pa.list_(pa.int32()), [])}


@pytest.mark.parametrize("version", ("2.1", "2.2"))
@pytest.mark.parametrize("name", INNER)
def test_nulls_around_what_cannot_be_null(name, version, comparer, scratch):
    """pylance asks for a null of each struct between the null one and such a field."""
    inner, value = INNER[name]
    where = {"first": lambda i: i < 8, "last": lambda i: i > 54, "all": lambda i: True,
             "some": lambda i: i % 3 == 0}
    for nullable in (True, False):
        kind = required("s", required("x", inner), nullable)
        deep = required("s", required("x", required("y", inner)), nullable)
        for null in where.values():
            rows = pa.table({
                "c": pa.array([None if null(i) else {"s": {"x": value}} for i in range(64)], kind),
                "d": pa.array([None if null(i) else {"s": {"x": {"y": value}}} for i in range(64)],
                              deep),
                "l": pa.array([[None if null(i) else {"s": {"x": value}}] * (i % 4)
                               for i in range(64)], pa.list_(kind))})
            for page in (1, 100, 0):
                check_written_again(comparer, scratch, rows, version, page, 7)


@pytest.mark.parametrize("version", schemas.VERSIONS)
def test_keys_of_batches_whose_words_are_the_same(version, scratch):
    """One page as long as the words of all fit: pylance doesn't unite those of pages in lists."""
    kind = pa.dictionary(pa.int8(), pa.string())
    words, batches = [f"word {i}" for i in range(90)], []
    for first in range(4):
        order = words[first * 20:] + words[:first * 20]
        keys = pa.DictionaryArray.from_arrays(pa.array([i % 90 for i in range(180)], pa.int8()),
                                              pa.array(order))
        lists = pa.ListArray.from_arrays(pa.array(range(0, 181, 2), pa.int32()), keys)
        batches.append(pa.record_batch({"c": keys[:90], "l": lists}))
    path, file = scratch / "d.lance", scratch / "rows"
    lance.write_dataset(batches[0].schema.empty_table(), str(path), data_storage_version=version)
    with pa.ipc.new_stream(str(file), batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    assert result(path, "append", f"file={file}")["fragments"] == 1
    got = opened(path).to_table()
    assert got["l"].type.value_type == kind
    assert got.to_pylist() == [row for batch in batches for row in batch.to_pylist()]
