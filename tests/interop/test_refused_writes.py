"""Writes that fail for what they are given or where they go: named, and nothing is left."""
import io
import subprocess

import lance
import numpy as np
import pyarrow as pa
import pytest

import programs
from commandline import opened, refusal, result
from test_append import content

FILE_LIMIT = 100  # KiB; the dataset below takes more
LONG = [f"a text of {i} that lies outside of its view" for i in range(20)]


def test_views_that_contradict_their_values(scratch):
    """A view repeats the first four bytes of a long value."""
    path = scratch / "d.lance"
    lance.write_dataset(pa.table({"s": LONG[:1]}), str(path))
    rows = pa.table({"s": pa.array(LONG, pa.string_view())})
    out = io.BytesIO()
    with pa.ipc.new_stream(out, rows.schema) as writer:
        writer.write_table(rows)
    whole = out.getvalue()
    file = scratch / "rows"
    file.write_bytes(whole)
    assert result(path, "append", f"file={file}")["appended_rows"] == len(LONG)
    assert opened(path).to_table()["s"].to_pylist() == LONG[:1] + LONG
    size = len(LONG[7])
    view = size.to_bytes(4, "little") + LONG[7][:4].encode()
    assert whole.count(view) > 7
    at = whole.index(view)
    file.write_bytes(whole[:at + 4] + b"b" + whole[at + 5:])
    before = content(path)
    said = refusal(path, "append", f"file={file}")
    assert said["code"] == "corrupt" and 'column "s": a view of a value' in said["error"], said
    assert content(path) == before


@pytest.mark.parametrize("words", [("compact", "binary_copy=never"), ("partition", "by=g"),
                                   ("update", "set=g = 1", "where=g >= 0"),
                                   ("append", "file=ROWS")],
                         ids=lambda words: words[0])
def test_a_limit_of_file_sizes(scratch, words):
    """The signal that comes with it ends nothing before the files are removed."""
    path = scratch / "d.lance"
    numbers = np.random.default_rng(5).integers(0, 1 << 60, 40000)
    rows = pa.table({"x": numbers, "g": pa.array([0] * len(numbers), pa.int32())})
    lance.write_dataset(rows, str(path), max_rows_per_file=len(numbers) // 2)
    file = scratch / "rows.arrow"
    with pa.OSFile(str(file), "wb") as out, pa.ipc.new_file(out, rows.schema) as writer:
        writer.write_table(rows)
    before = content(path)
    done = subprocess.run(
        ["bash", "-c", f'ulimit -f {FILE_LIMIT}; exec "$@"', "-", programs.program("lancet"),
         words[0], path, *(word.replace("ROWS", str(file)) for word in words[1:])],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1 and b"lancet: EFBIG: " in done.stderr, done
    assert content(path) == before


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
@pytest.mark.parametrize("words", [("compact", "binary_copy=never"), ("partition", "by=name"),
                                   ("update", "set=price = 1", "where=id >= 0")],
                         ids=lambda words: words[0])
def test_damaged_columns_stop_rewrites(scratch, version, words):
    """Whatever is cut off a data file, its rows are named as broken, and never dropped."""
    path = scratch / "d.lance"
    for first in (0, 50):
        rows = pa.table({"id": range(first, first + 50), "name": ["ab"[i % 2] for i in range(50)],
                         "price": [i / 3 for i in range(50)]})
        lance.write_dataset(rows, str(path), mode="append" if first else "create",
                            data_storage_version=version)
    file = sorted((path / "data").iterdir())[0]
    whole = file.read_bytes()
    for kept in (0, 3, 40, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:kept])
        before = content(path)
        said = refusal(path, *words)
        assert said["code"] in ("corrupt", "io") and file.name in said["error"], said
        assert content(path) == before, (words, kept)
