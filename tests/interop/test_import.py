"""Rows of text read back: what `rows` prints, and what other programs write.

`importrows` reads text by the schema of a dataset and prints it again, so a dataset's own rows
have to come out as they went in, in both forms and from one to the other.
"""
import csv
import datetime
import decimal
import io
import json
import random
import subprocess
import threading
from pathlib import Path

import duckdb
import lance
import pyarrow as pa
import pyarrow.csv
import pytest

import archives
import generate
import programs
from archives import dataset

READABLE = [i for i in archives.dataset_ids() if not dataset(i).refused()]
SEEDS = range(60)
FORMS = ("jsonl", "csv")


def rows(path, form, *words):
    done = subprocess.run([programs.program("lancet"), "rows", path, f"format={form}", "blobs=bytes", *words],
                          timeout=120, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert not programs.SANITIZER.search(done.stderr), done.stderr.decode(errors="replace")
    return done


def imported(path, text, *words):
    """Exit status, standard output and error of importrows."""
    program = Path(programs.program("lancet")).parent / "tests/helpers/importrows"
    done = subprocess.run([program, path, *words], timeout=120, capture_output=True, check=False, input=text)
    assert not programs.SANITIZER.search(done.stderr), done.stderr.decode(errors="replace")
    return done


def taken(path, text, *words):
    done = imported(path, text, *words)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


def check_round_trip(path, *words, **limits):
    texts = {}
    for form in FORMS:
        done = rows(path, form, *words, **limits)
        if done.returncode != 0:
            return
        texts[form] = done.stdout
    # The version and branch choose the schema, too; what is shown of the rows does not.
    words = [word for word in words if word.startswith(("version=", "branch="))]
    for form in FORMS:
        for other in FORMS:
            got = taken(path, texts[form], form, f"as={other}", *words)
            assert got == texts[other], f"{form} to {other}"


# ---- our own text -------------------------------------------------------------------------

def kept_apart(data, number, branch):
    """The bytes of blobs of the second kind lie elsewhere: a dataset that has them takes no text."""
    schema = lance.dataset(str(data.root(branch)), version=number).schema
    return any(getattr(field.type, "extension_name", "") == "lance.blob.v2" or
               (field.metadata or {}).get(b"ARROW:extension:name") == b"lance.blob.v2" for field in schema)


@pytest.mark.parametrize("ident", READABLE)
def test_fixtures(ident):
    data = dataset(ident)
    for branch in (None, *data.branches()):
        for number in data.spread(3) if branch is None else data.numbers(branch)[-1:]:
            words = [f"version={number}", *([f"branch={branch}"] if branch else [])]
            if kept_apart(data, number, branch):
                done = imported(data.path, b"{}", "jsonl", *words)
                assert done.stderr.startswith(b"importrows: unsupported: column \"blob"), done.stderr
                continue
            check_round_trip(data.path, *words, "limit=300")


@pytest.mark.parametrize("seed", SEEDS)
def test_types(seed, scratch):
    """Random schemas and values."""
    version = generate.VERSIONS[seed % len(generate.VERSIONS)]
    path = scratch / "types.lance"
    lance.write_dataset(generate.table(version, 9000 + seed), str(path), data_storage_version=version)
    check_round_trip(path, "limit=500")


# ---- text of others -----------------------------------------------------------------------

def flat_table():
    """Types that every writer of CSV has."""
    moment = datetime.datetime(2026, 11, 30, 7, 30, 5, 250000)
    return pa.table({
        "id": pa.array([1, -2, None, 2**63 - 1], pa.int64()),
        "small": pa.array([0, 255, 7, None], pa.uint8()),
        "real": pa.array([1.5, -0.1, None, 1e300], pa.float64()),
        "single": pa.array([0.1, None, 3.0, -1e-20], pa.float32()),
        "flag": pa.array([True, None, False, True]),
        "text": pa.array(["plain", 'say "hi", you', "two\nlines", None]),
        "day": pa.array([datetime.date(2026, 11, 30), None, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
        "at": pa.array([moment, None, datetime.datetime(1970, 1, 1), moment.replace(microsecond=0)],
                       pa.timestamp("us")),
        "clock": pa.array([datetime.time(1, 2, 3, 4), None, datetime.time(0), datetime.time(23, 59, 59)],
                          pa.time64("us")),
        "price": pa.array([decimal.Decimal("12.50"), None, decimal.Decimal("-0.01"), decimal.Decimal(0)],
                          pa.decimal128(10, 2)),
    })


def written(scratch, table, **options):
    """The table as a dataset, and what its rows are as text."""
    path = scratch / "others.lance"
    lance.write_dataset(table, str(path), mode="overwrite", **options)
    done = rows(path, "jsonl")
    assert done.returncode == 0, done.stderr
    return path, done.stdout


def test_csv_of_pyarrow(scratch):
    path, want = written(scratch, flat_table())
    for style in ("needed", "all_valid"):
        text = io.BytesIO()
        pyarrow.csv.write_csv(flat_table(), text, pyarrow.csv.WriteOptions(quoting_style=style))
        assert taken(path, text.getvalue(), "csv", "as=jsonl") == want


def test_csv_of_duckdb(scratch):
    table = flat_table()
    path, want = written(scratch, table)
    out = scratch / "others.csv"
    with duckdb.connect() as connection:
        connection.register("t", table)
        connection.execute(f"copy (select * from t) to '{out}' (header)")
        assert taken(path, out.read_bytes(), "csv", "as=jsonl") == want
        connection.execute(f"copy (select * from t) to '{out}' (header, force_quote *)")
        assert taken(path, out.read_bytes(), "csv", "as=jsonl") == want


def test_json_of_duckdb(scratch):
    """Nested values, and maps as objects."""
    table = pa.table({
        "list": pa.array([[1, None], [], None], pa.list_(pa.int32())),
        "point": pa.array([{"x": 1.5, "name": "a"}, None, {"x": None, "name": ""}]),
        "map": pa.array([[("a", 1), ("b", None)], [], None], pa.map_(pa.string(), pa.int64())),
        "at": pa.array([0, None, 10**15], pa.timestamp("us", "UTC")),
        "price": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3.00")], pa.decimal128(18, 2)),
    })
    path, want = written(scratch, table, data_storage_version="2.2")
    out = scratch / "others.jsonl"
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        connection.register("t", table)
        connection.execute(f"copy (select * from t) to '{out}' (format json)")
    assert taken(path, out.read_bytes(), "jsonl") == want


def test_csv_of_python(scratch):
    """The csv module quotes all or little, with line ends of two bytes."""
    table = pa.table({"n": pa.array([1, None, -5], pa.int16()), "t": pa.array(['a "b"', "x,\r\ny", "z"])})
    path, want = written(scratch, table)
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC):
        text = io.StringIO()
        writer = csv.DictWriter(text, ["t", "n"], quoting=quoting)
        writer.writeheader()
        writer.writerows(table.to_pylist())
        for mark in ("", "\ufeff"):
            assert taken(path, (mark + text.getvalue()).encode(), "csv", "as=jsonl") == want


def test_json_of_python(scratch):
    table = pa.table({
        "real": pa.array([float("nan"), float("inf"), -float("inf"), 0.1, None, 5.0]),
        "text": pa.array(["\u00e9\U0001f600\n\0", "", None, "\\", '"', "/"]),
        "big": pa.array([2**64 - 1, 0, None, 1, 2**53 + 1, 5], pa.uint64()),
    })
    path, want = written(scratch, table)
    for ascii_only in (True, False):
        text = "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in table.to_pylist())
        assert taken(path, text.encode(), "jsonl") == want


def test_json_columns_are_stored_as_by_the_reference(scratch):
    """Values of JSON columns, in both forms, against what pylance reads of its own."""
    values = ['{"b":[1,-1,0.5,1e20],"a":{"z":null,"y":"\\u00e9\\n"}}', "[]", '"text"', "12345678901234567890",
              "-129", "1.0", "true", None]
    path, want = written(scratch, pa.table({"j": pa.array(values, pa.json_())}), data_storage_version="2.2")
    text = "".join(f'{{"j": {"null" if value is None else value}}}\n' for value in values)
    assert taken(path, text.encode(), "jsonl") == want
    text = io.StringIO()
    csv.writer(text).writerows([["j"], *[[value] for value in values[:-1]]])
    assert taken(path, text.getvalue().encode(), "csv", "as=jsonl") == want[:want.rindex(b"{")]


def numeral(rng, kind):
    """A number in one of the spellings that a column of the kind takes."""
    if pa.types.is_integer(kind):
        bits = kind.bit_width
        low, high = (-2**(bits - 1), 2**(bits - 1) - 1) if pa.types.is_signed_integer(kind) else (0, 2**bits - 1)
        value = rng.choice((low, high, rng.randint(low, high), rng.randint(low, high) >> rng.randrange(bits)))
        return f"{value:0{rng.randrange(4)}d}"
    digits = "".join(rng.choices("0123456789", k=rng.randrange(1, 22)))
    point = rng.randrange(len(digits) + 1)
    text = rng.choice(("", "-")) + digits[:point] + rng.choice((".", "." if point else "")) + digits[point:]
    return text + rng.choice(("", f"e{rng.randrange(-30, 16)}", f"E{rng.randrange(-300, 280)}"
                              if kind == pa.float64() else ""))


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(),
                                  pa.uint64(), pa.float32(), pa.float64()], ids=str)
def test_numbers_are_those_of_pyarrow(kind, scratch):
    """Each text as the value that Arrow's CSV reader makes of it, to the last bit."""
    rng = random.Random(f"numbers {kind}")
    text = "v\n" + "".join(numeral(rng, kind) + "\n" for _ in range(5000))
    table = pyarrow.csv.read_csv(io.BytesIO(text.encode()),
                                 convert_options=pyarrow.csv.ConvertOptions(column_types={"v": kind}))
    path, want = written(scratch, table)
    assert taken(path, text.encode(), "csv", "as=jsonl") == want


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_appended_rows_are_the_same(version, scratch):
    """The rows of a dataset, appended to it as text: pylance reads them again."""
    table = flat_table().append_column("v", pa.array([[1, 2], [3, 4], None, [5.5, -1]], pa.list_(pa.float32(), 2)))
    table = table.append_column("l", pa.array([[1, None], [], None, [2]], pa.list_(pa.int16())))
    table = table.append_column("w", pa.array(["x", "y", None, "x"]).dictionary_encode())
    if version == "2.2":
        table = table.append_column("j", pa.array(['{"a":[1.5],"b":1}', None, '"x"', "-7"], pa.json_()))
    path, want = written(scratch, table, data_storage_version=version)
    for form in FORMS:
        (scratch / f"in.{form}").write_bytes(rows(path, form, "limit=4").stdout)
        done = subprocess.run([programs.program("lancet"), "append", path, f"file={scratch}/in.{form}"],
                              timeout=60, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b""), done.stderr
    got = lance.dataset(str(path)).to_table()
    assert got.num_rows == 3 * len(table)
    for at in (4, 8):
        assert got.slice(at, 4).to_pylist() == got.slice(0, 4).to_pylist()
    assert rows(path, "jsonl").stdout == want * 3


def test_a_refused_file_adds_nothing(scratch):
    path, want = written(scratch, flat_table())
    text = rows(path, "csv").stdout + b"1,2,3\n"
    (scratch / "bad.csv").write_bytes(text)
    before = sorted(file.name for file in Path(path).rglob("*"))
    done = subprocess.run([programs.program("lancet"), "append", path, f"file={scratch}/bad.csv"],
                          timeout=60, capture_output=True, check=False)
    assert done.returncode == 1 and b"line 7: 3 cells, 10 expected" in done.stderr, done.stderr
    assert sorted(file.name for file in Path(path).rglob("*")) == before
    assert rows(path, "jsonl").stdout == want


# ---- pipes and memory ---------------------------------------------------------------------

def test_a_pipe_in_pieces(scratch):
    """Bytes that come one after the other, over a pipe, are the same rows."""
    path, want = written(scratch, flat_table())
    text = rows(path, "csv").stdout
    program = Path(programs.program("lancet")).parent / "tests/helpers/importrows"
    with subprocess.Popen([program, path, "csv", "as=jsonl"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as child:
        timer = threading.Timer(60, child.kill)
        timer.start()
        for at in range(0, len(text), 3):
            child.stdin.write(text[at:at + 3])
            child.stdin.flush()
        child.stdin.close()
        got = child.stdout.read()
        child.wait(60)
        timer.cancel()
    assert got == want


@pytest.mark.parametrize("form", FORMS)
def test_memory_is_bounded(form, scratch):
    """Fifty times the budget in rows, of a few bytes and of a lot."""
    path, _ = written(scratch, pa.table({"n": [1], "t": ["x"]}))
    header = "n,t\n" if form == "csv" else ""
    line = "%d,%s\n" if form == "csv" else '{"n":%d,"t":"%s"}\n'
    piece = "".join(line % (i, "x" * (i % 50 if i % 1000 else 100000)) for i in range(20000))
    program = Path(programs.program("lancet")).parent / "tests/helpers/importrows"
    limit = "" if programs.under_sanitizer("lancet") else "ulimit -v 100000; "
    command = f"{limit}exec '{program}' '{path}' {form} quiet budget=4000000 batch=1000000"
    done = subprocess.run(["sh", "-c", command], input=(header + piece * 70).encode(), capture_output=True,
                          timeout=120, check=False)
    assert done.stderr == b"" and done.stdout.startswith(b"1400000 rows, "), (done.stdout, done.stderr)
