"""`lancet rows` against pylance: the same rows in every format, whatever is asked for."""
import errno
import io
import os
import pty
import random
import re
import subprocess
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest

import archives
import generate
import peer
import programs
import rowforms
from archives import dataset

READABLE = [i for i in archives.dataset_ids() if not dataset(i).refused()]
MOST_MEMORY = 128 << 20
SEEDS = range(40)


def run(path, *words, **more):
    done = subprocess.run([programs.program("lancet"), "rows", path, *words], timeout=120,
                          capture_output=True, check=False, stdin=subprocess.DEVNULL, **more)
    assert not programs.SANITIZER.search(done.stderr), done.stderr.decode(errors="replace")
    return done


def rows(path, *words):
    done = run(path, *words)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode(errors="replace")
    return done.stdout


def arrow(path, *words):
    table = pa.ipc.open_stream(io.BytesIO(rows(path, "format=arrow", *words))).read_all()
    table.validate(full=True)
    return table


def refused(path, *words):
    """The errno and text of a failure: one line."""
    done = run(path, *words)
    text = done.stderr.decode()
    assert done.returncode == 1 and text.count("\n") == 1 and text.startswith("lancet: "), text
    return getattr(errno, text.split(": ")[1]), text


# ---- every dataset ------------------------------------------------------------------------

def lines(data):
    for branch in (None, *data.branches()):
        for number in data.spread(4) if branch is None else data.numbers(branch)[-1:]:
            words = [f"version={number}", *([f"branch={branch}"] if branch else [])]
            yield number, branch, words


@pytest.mark.parametrize("ident", READABLE)
def test_fixtures(ident):
    """Each version in each format; where pylance can't read one, neither do we."""
    data = dataset(ident)
    for number, branch, words in lines(data):
        kind, want = peer.answer(lambda: peer.opened(data.root(branch), number).to_table())
        if kind != "ok":
            assert refused(data.path, *words)[0] in (errno.EUCLEAN, errno.EIO)
            continue
        got = arrow(data.path, *words)
        assert got.schema.equals(want.schema, check_metadata=True), got.schema
        assert peer.same_answer(("ok", got), ("ok", want)), f"version {number}"
        few = want.slice(0, min(300, want.num_rows))
        rowforms.check_json(rows(data.path, *words, "limit=300"), few)
        rowforms.check_csv(rows(data.path, *words, "limit=300", "format=csv"), few)


# ---- all types ----------------------------------------------------------------------------

@pytest.mark.parametrize("seed", SEEDS)
def test_types(seed, scratch):
    """Random schemas and values: text says what pylance reads."""
    version = generate.VERSIONS[seed % len(generate.VERSIONS)]
    path = scratch / "types.lance"
    ds = lance.write_dataset(generate.table(version, 7000 + seed), str(path),
                             data_storage_version=version)
    want = ds.to_table(limit=400)
    assert peer.same_answer(("ok", arrow(path, "limit=400")), ("ok", want))
    rowforms.check_json(rows(path, "limit=400"), want)
    rowforms.check_csv(rows(path, "limit=400", "format=csv"), want)


def extremes():
    """The ends of what each type can hold."""
    days = [-719162, 0, 2932896]  # years 1 and 9999, as far as Python's dates go
    return {
        "i64": pa.array([-2**63, 2**63 - 1, None]), "u64": pa.array([0, 2**64 - 1, None], pa.uint64()),
        "f16": pa.array(np.array([6e-8, 65504, np.nan], "f2")),
        "f32": pa.array([1e-45, 3.4028235e38, float("-inf")], pa.float32()),
        "f64": pa.array([5e-324, 1.7976931348623157e308, -0.0]),
        "text": pa.array(["", "\0\r\n\t\"\\,'", "\U0010ffff\u2028é"]),
        "binary": pa.array([b"", bytes(range(256)), None]),
        "date": pa.array(days, pa.date32()), "none": pa.nulls(3),
        **{f"t_{u}": pa.array([0, 86400 * rowforms.SECOND[u] - 1, None],
                              pa.int32() if u in ("s", "ms") else pa.int64())
           .cast(pa.time32(u) if u in ("s", "ms") else pa.time64(u)) for u in rowforms.SECOND},
        **{f"ts_{u}_{z}": pa.array([-1, 1, None], pa.int64()).cast(pa.timestamp(u, z))
           for u in rowforms.SECOND for z in (None, "UTC", "-03:30", "Asia/Tokyo")},
        **{f"d_{u}": pa.array([-2**63 + 1, 2**63 - 1, None], pa.int64()).cast(pa.duration(u))
           for u in rowforms.SECOND},
    }


def test_extremes(scratch):
    path = scratch / "extremes.lance"
    want = pa.table(extremes())
    lance.write_dataset(want, str(path), data_storage_version="2.2")
    assert arrow(path).schema.equals(want.schema)
    rowforms.check_json(rows(path), want)
    rowforms.check_csv(rows(path, "format=csv"), want)


def test_json_values(scratch):
    """JSON columns are JSON in JSON."""
    path = scratch / "json.lance"
    texts = ['{"a": [1, 2.5, null], "b": {"c": "é\\n\\u0000"}}', None, '"text"', "[]", "-7", "true"]
    lance.write_dataset(pa.table({"j": pa.array(texts, pa.json_())}), str(path),
                        data_storage_version="2.2")
    want = lance.dataset(str(path)).to_table()
    assert arrow(path).equals(want)
    rowforms.check_json(rows(path), want)
    rowforms.check_csv(rows(path, "format=csv"), want)
    assert rows(path, "limit=1") == b'{"j":{"a":[1,2.5,null],"b":{"c":"\xc3\xa9\\n\\u0000"}}}\n'


@pytest.mark.parametrize("name", ["blob_v1_2_0", "blob_v1_2_1"])
def test_blobs(name):
    """Descriptions, or the bytes."""
    data = dataset(f"fixtures/{name}")
    ds = peer.opened(data.path)
    column = peer.blob_columns(ds)[0]
    want = peer.blobs(ds, column)
    got = arrow(data.path, "blobs=bytes", f"columns={column}")[column].to_pylist()
    assert [v or b"" for v in got] == [v or b"" for v in want]
    shown = [row[column] for row in rowforms.json_rows(rows(data.path, f"columns={column}"))]
    assert {tuple(value) for value in shown if value is not None} == {("position", "size")}


# ---- what is asked for --------------------------------------------------------------------

@pytest.fixture(scope="module")
def numbered():
    """30,000 rows in three fragments, some deleted, with stable row ids."""
    path = archives.scratch() / "numbered.lance"
    ds = None
    for first in range(0, 30000, 10000):
        count = np.arange(first, first + 10000)
        table = pa.table({"n": count, "a,b": pa.array(count.astype(str)), "v": count * 0.5})
        ds = lance.write_dataset(table, str(path), mode="append" if ds else "create",
                                 enable_stable_row_ids=True, data_storage_version="2.2")
    ds.delete("n % 7 = 3 or n between 9000 and 11000")
    return path, lance.dataset(str(path))


@pytest.mark.parametrize("limit, offset", [(0, 0), (1, 0), (5, 8990), (10, 9999), (20000, 5000),
                                           (None, 25000), (3, 10**9), (None, 0)])
def test_limit_and_offset(numbered, limit, offset):
    path, ds = numbered
    words = ([f"limit={limit}"] if limit is not None else []) + [f"offset={offset}"]
    whole = ds.to_table()
    want = whole.slice(offset, limit) if limit is not None else whole.slice(offset)
    assert arrow(path, *words).equals(want)
    rowforms.check_csv(rows(path, "format=csv", *words), want)


def test_columns(numbered):
    path, ds = numbered
    want = ds.to_table()
    got = arrow(path, "columns=v,a\\,b,_rowid")
    assert got.column_names == ["v", "a,b", "_rowid"]
    assert got["a,b"].equals(want["a,b"]) and got["v"].equals(want["v"])
    assert got["_rowid"].equals(ds.scanner(columns=["n"], with_row_id=True).to_table()["_rowid"])
    assert refused(path, "columns=n,absent") [0] == errno.EINVAL
    assert "absent" in refused(path, "columns=n,absent")[1]
    for word in ("columns=", "columns=n,,v", "columns=n,"):
        assert refused(path, word)[0] == errno.EINVAL


def test_row_ids(numbered):
    """In the order asked for; ids that no live row has are left out."""
    path, ds = numbered
    ids = ds.scanner(columns=["n"], with_row_id=True).to_table()
    where = dict(zip(ids["_rowid"].to_pylist(), ids["n"].to_pylist()))
    chosen = random.Random(3).sample(range(31000), 500)
    got = arrow(path, "columns=n", "row_ids=" + ",".join(map(str, chosen)))["n"].to_pylist()
    assert got == [where[i] for i in chosen if i in where]
    got = arrow(path, "columns=n", "row_ids=8995-11005,4,0-2")["n"].to_pylist()
    assert got == [where[i] for i in (*range(8995, 11006), 4, 0, 1, 2) if i in where]
    assert arrow(path, "row_ids=40000").num_rows == 0
    for word in ("row_ids=", "row_ids=x", "row_ids=5-2", "row_ids=1,,2", "row_ids=-3",
                 "row_ids=18446744073709551616"):
        assert refused(path, word)[0] == errno.EINVAL
    assert "empty" in refused(path, "row_ids=1,,2")[1]
    assert refused(path, "row_ids=0-18446744073709551615")[0] == errno.EFBIG


@pytest.mark.parametrize("words", [["limit=x"], ["limit=-1"], ["offset="], ["format=xml"],
                                   ["blobs=some"], ["where=n"], ["n"], ["limit=1", "limit=2"],
                                   ["version=0"], ["version=1", "limit=1", "version=2"],
                                   ["tag=a", "tag=a"]])
def test_words_that_make_no_sense(numbered, words):
    assert refused(numbered[0], *words)[0] == errno.EINVAL


def test_absent_version(numbered):
    assert refused(numbered[0], "version=999")[0] == errno.ENOENT
    assert refused(numbered[0].parent, "limit=1")[0] == errno.ENOENT


def test_empty_tables():
    """No rows: no lines, CSV's header alone, a stream of a schema."""
    data = dataset("fixtures/emptied")
    assert rows(data.path) == b""
    table = arrow(data.path)
    assert table.num_rows == 0
    assert rowforms.csv_rows(rows(data.path, "format=csv")) == [table.column_names]


# ---- where it goes ------------------------------------------------------------------------

@pytest.mark.parametrize("form", ["jsonl", "csv", "arrow"])
@pytest.mark.parametrize("ignored", [False, True])
def test_a_reader_that_goes_away(numbered, form, ignored):
    """No word on standard error, whether or not the caller has SIGPIPE ignored."""
    with subprocess.Popen([programs.program("lancet"), "rows", numbered[0], f"format={form}"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          restore_signals=not ignored) as process:
        assert len(process.stdout.read(10)) == 10
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) in (0, -13)


def test_no_arrow_on_a_terminal(numbered):
    terminal, end = pty.openpty()
    command = [programs.program("lancet"), "rows", numbered[0], "limit=1"]
    try:
        done = subprocess.run([*command, "format=arrow"], stdout=end, stderr=subprocess.PIPE,
                              timeout=30, check=False)
        assert done.returncode == 1 and b"EINVAL" in done.stderr and b"terminal" in done.stderr
        done = subprocess.run(command, stdout=end, stderr=subprocess.PIPE, timeout=30, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert os.read(terminal, 100).startswith(b'{"n":0,')
    finally:
        os.close(end)
        os.close(terminal)


def test_a_full_disk(numbered):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([programs.program("lancet"), "rows", numbered[0]], stdout=full,
                              stderr=subprocess.PIPE, timeout=30, check=False)
    assert done.returncode == 1 and b"ENOSPC" in done.stderr


def test_duckdb_reads_the_text(numbered, scratch):
    """Another program finds the same numbers in CSV and JSON lines."""
    import duckdb
    path, ds = numbered
    want = (ds.count_rows(), int(np.sum(ds.to_table()["n"].to_numpy())))
    for form, reader in (("csv", "read_csv"), ("jsonl", "read_json")):
        file = scratch / f"rows.{form}"
        file.write_bytes(rows(path, f"format={form}"))
        query = f"select count(*), sum(n)::bigint from {reader}('{file}')"
        assert duckdb.connect().execute(query).fetchone() == want


# ---- memory -------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def large():
    """A column of 300 MB: texts of 100,000 bytes that don't compress to nothing."""
    path = archives.scratch() / "large.lance"
    rng = np.random.default_rng(5)

    def batches():
        for _ in range(30):
            block = rng.integers(97, 123, 10_000_000, dtype=np.uint8).tobytes().decode()
            yield pa.record_batch({"text": [block[i:i + 100_000]
                                            for i in range(0, len(block), 100_000)]})
    lance.write_dataset(batches(), str(path), schema=pa.schema([("text", pa.utf8())]),
                        data_storage_version="2.2")
    return path


def peak(command):
    """Bytes that came out, and the most memory that the process had while they did."""
    count = most = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        while piece := process.stdout.read(1 << 20):
            count += len(piece)
            status = Path(f"/proc/{process.pid}/status").read_text()
            used = re.search(r"^VmHWM:\s*(\d+) kB$", status, re.M)
            most = max(most, int(used.group(1)) * 1024 if used else 0)
    assert process.returncode == 0 and most > 0
    return count, most


@pytest.mark.parametrize("form", ["jsonl", "csv", "arrow"])
def test_memory_is_bounded(large, form):
    count, memory = peak([programs.program("lancet"), "rows", large, f"format={form}"])
    assert count > 300_000_000
    if not programs.under_sanitizer("lancet"):
        assert memory < MOST_MEMORY, f"{memory >> 20} MiB"
