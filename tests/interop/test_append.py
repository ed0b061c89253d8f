"""`lancet append` of Arrow files and streams: what pylance reads afterwards.

Expected values are those that were written; row ids and versions are those of pylance's own append
to a copy.
"""
import decimal
import os
import resource
import shutil
import signal
import subprocess
import time
import uuid

import duckdb
import lance
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pytest

import generate
import programs
from commandline import make, opened, refusal, result, run, table

VERSIONS = ("2.0", "2.1", "2.2")
FORMS = ("file", "stream", "file zstd", "file lz4", "stream zstd", "stream lz4", "stream V4",
         "stream before 0.15")


def options(form, **more):
    packed = form.split()[1] if form.split()[1:] in (["zstd"], ["lz4"]) else None
    return pa.ipc.IpcWriteOptions(
        compression=packed, use_legacy_format="0.15" in form,
        metadata_version=pa.ipc.MetadataVersion.V4 if form.endswith(("V4", "0.15"))
        else pa.ipc.MetadataVersion.V5, **more)


def write(path, rows, form="file", chunk=None, **more):
    """A table as an Arrow file or stream in batches of `chunk` rows."""
    maker = pa.ipc.new_file if form.startswith("file") else pa.ipc.new_stream
    with pa.OSFile(str(path), "wb") as out, \
            maker(out, rows.schema, options=options(form, **more)) as writer:
        writer.write_table(rows, max_chunksize=chunk)
    return path


def same(got, want):
    """Equal as Arrow has it; NaN is equal to itself."""
    assert got.column_names == want.column_names and len(got) == len(want)
    for name in want.column_names:
        left, right = got[name].combine_chunks(), want[name].combine_chunks()
        assert left.equals(right) or repr(left.to_pylist()) == repr(right.to_pylist()), name


def dataset(path, rows, version="2.2", **more):
    lance.write_dataset(rows, str(path), data_storage_version=version, **more)
    return path


def content(path):
    return {str(p.relative_to(path)): p.read_bytes() if p.is_file() else None
            for p in sorted(path.rglob("*"))}


def appended(path, file, before, *words, **more):
    """Appends, and gives the new rows as pylance reads them."""
    out = result(path, "append", f"file={file}", *words, **more)
    ds = opened(path)
    ds.validate()
    assert out["operation"] == "Append" and out["appended_rows"] == ds.count_rows() - before
    new = ds.get_fragments()[-out["fragments"]:]
    assert out["bytes"] == sum(f.data_files()[0].file_size_bytes for f in new)
    assert out["bytes"] == sum((path / "data" / f.data_files()[0].path).stat().st_size for f in new)
    return ds.to_table().slice(before)


def refused(path, file, *words, **more):
    before = content(path)
    out = refusal(path, "append", f"file={file}", *words, **more)
    assert content(path) == before
    return out


# ---- values -------------------------------------------------------------------------------

@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("seed", range(48))
def test_generated_rows(scratch, version, seed):
    rows = generate.table(version, seed)
    path = dataset(scratch / "d.lance", rows.slice(0, 3), version)
    before = min(3, len(rows))
    file = write(scratch / "rows", rows.unify_dictionaries(), FORMS[seed % len(FORMS)],
                 (None, 7, 1000)[seed % 3])
    if len(rows) == 0:
        assert result(path, "append", f"file={file}")["appended_rows"] == 0
        return
    got = appended(path, file, before)
    same(got, rows)
    # taken one by one, which goes another way than scanning
    picks = list(range(before, before + len(rows), max(1, len(rows) // 13)))
    same(opened(path).take(picks), rows.take([i - before for i in picks]))


WORDS = [None if i % 7 == 3 else f"word {i % 11} é" * (i % 4) for i in range(500)]
BYTES = [w and w.encode("utf-16") for w in WORDS]
LISTS = [None if i % 5 == 2 else list(range(i % 4)) for i in range(500)]
TEXTS = [None if i % 5 == 2 else WORDS[i:i + i % 4] for i in range(500)]
CENTS = [None if i % 9 == 4 else decimal.Decimal(i * (-1) ** i).scaleb(-2) for i in range(500)]
INSTANTS = [None if i % 9 == 4 else 1700000000000000 + i for i in range(500)]


CONVERTED = {  # type in the dataset, array in the file
    "large text to text": (pa.string(), pa.array(WORDS, pa.large_string())),
    "text to large text": (pa.large_string(), pa.array(WORDS)),
    "views to text": (pa.string(), pa.array(WORDS, pa.string_view())),
    "views to binary": (pa.binary(), pa.array(BYTES, pa.binary_view())),
    "large binary": (pa.binary(), pa.array(BYTES, pa.large_binary())),
    "to large binary": (pa.large_binary(), pa.array(BYTES)),
    "keys to text": (pa.string(), pa.array(WORDS).dictionary_encode()),
    "keys to large text": (pa.large_string(), pa.array(WORDS).dictionary_encode()),
    "keys to binary": (pa.binary(), pa.array(BYTES).dictionary_encode()),
    "keys to numbers": (pa.int64(), pa.array([None, 5, 7, 5] * 20, pa.int64()).dictionary_encode()),
    "small keys to text": (pa.string(), pa.array(WORDS).dictionary_encode().cast(
        pa.dictionary(pa.int8(), pa.string()))),
    "text to keys": (pa.dictionary(pa.int16(), pa.string()), pa.array(WORDS)),
    "views to keys": (pa.dictionary(pa.int16(), pa.string()), pa.array(WORDS, pa.string_view())),
    "keys to other keys": (pa.dictionary(pa.uint8(), pa.string()), pa.array(WORDS).dictionary_encode()),
    "keys of large text to keys": (pa.dictionary(pa.int32(), pa.string()), pa.array(
        WORDS, pa.large_string()).dictionary_encode()),
    "lists of keys": (pa.list_(pa.string()), pa.array(TEXTS, pa.list_(pa.dictionary(
        pa.int32(), pa.string())))),
    "large lists to lists": (pa.list_(pa.int32()), pa.array(LISTS, pa.large_list(pa.int32()))),
    "lists to large lists": (pa.large_list(pa.int32()), pa.array(LISTS, pa.list_(pa.int32()))),
    "list views": (pa.list_(pa.int32()), pa.array(LISTS, pa.list_view(pa.int32()))),
    "large list views": (pa.list_(pa.string()), pa.array(TEXTS, pa.large_list_view(pa.string()))),
    "narrower decimals": (pa.decimal128(20, 2), pa.array(CENTS, pa.decimal128(10, 2))),
    "decimals of 32 bits": (pa.decimal128(20, 2), pa.array(CENTS, pa.decimal32(9, 2))),
    "decimals of 64 bits": (pa.decimal256(50, 2), pa.array(CENTS, pa.decimal64(18, 2))),
    "decimals to wide ones": (pa.decimal256(50, 2), pa.array(CENTS, pa.decimal128(30, 2))),
    "instants of another zone": (pa.timestamp("us", "UTC"), pa.array(
        INSTANTS, pa.timestamp("us", "Europe/Vienna"))),
    "nothing but null": (pa.string(), pa.nulls(9)),
    "null lists": (pa.list_(pa.int8()), pa.nulls(9)),
    "null keys": (pa.dictionary(pa.int16(), pa.string()), pa.nulls(9)),
    "null vectors": (pa.list_(pa.float32(), 3), pa.nulls(9)),
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("form", ("file", "stream zstd"))
@pytest.mark.parametrize("name", CONVERTED)
def test_types_that_hold_the_same_values(scratch, name, form, version):
    kind, array = CONVERTED[name]
    path = dataset(scratch / "d.lance", pa.table({"c": pa.array([None], kind)}), version)
    file = write(scratch / "rows", pa.table({"c": array}), form, chunk=170)
    got = appended(path, file, 1)
    assert got.schema.field("c").type == kind
    want = array.cast(kind) if pa.types.is_timestamp(kind) else array
    assert got["c"].to_pylist() == want.to_pylist()


@pytest.mark.parametrize("version", VERSIONS)
def test_slices_and_hidden_values(scratch, version):
    """Offsets that don't begin at 0, bits that don't, and values under nulls."""
    mask = np.array([i % 3 == 0 for i in range(1000)])
    words = pa.array([f"w{i}" * (i % 5) for i in range(1000)])
    hidden = pa.Array.from_buffers(pa.string(), 1000, [
        pa.py_buffer(np.packbits(~mask, bitorder="little")), *words.buffers()[1:]])
    offsets = pa.py_buffer(np.arange(0, 3003, 3, dtype=np.int32))
    lists = pa.Array.from_buffers(
        pa.list_(pa.int64()), 1000, [hidden.buffers()[0], offsets],
        children=[pa.array(range(3000))])
    rows = pa.table({"s": hidden, "l": lists, "b": pa.array(~mask), "i": pa.array(range(1000))})
    path = dataset(scratch / "d.lance", rows.slice(0, 1), version)
    for at, first in enumerate((0, 5, 333)):
        file = write(scratch / f"rows{at}", rows.slice(first, 600))
        before = opened(path).count_rows()
        assert appended(path, file, before).to_pylist() == rows.slice(first, 600).to_pylist()


@pytest.mark.parametrize("form", ("stream", "file", "stream lz4"))
def test_dictionaries_that_grow_and_change(scratch, form):
    kind = pa.dictionary(pa.int32(), pa.string())
    words = [["a", "b"], ["a", "b", "c"], ["a", "b", "c", None, "d"]]
    if form.startswith("stream"):
        words.append(["x", "a"])  # replaced, which files can't
    batches = [pa.record_batch({"c": pa.DictionaryArray.from_arrays(
        pa.array([0, None, 1, len(w) - 1], pa.int32()), pa.array(w))}) for w in words]
    want = [row for batch in batches for row in batch.to_pylist()]
    maker = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
    with pa.OSFile(str(scratch / "rows"), "wb") as out, maker(
            out, batches[0].schema, options=options(form, emit_dictionary_deltas=True)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    for stored in (kind, pa.string(), pa.dictionary(pa.int8(), pa.large_string())):
        path = dataset(scratch / f"{stored}.lance".replace("<", "").replace(">", ""),
                       pa.table({"c": pa.array([None], stored)}))
        assert appended(path, scratch / "rows", 1).to_pylist() == want


def test_columns_in_another_order_and_missing_ones(scratch):
    parts = pa.struct([("x", pa.int32()), ("y", pa.string()), ("z", pa.list_(pa.int8()))])
    rows = pa.table({"a": pa.array([1], pa.int64()), "b": ["x"],
                     "p": pa.array([{"x": 1, "y": "2", "z": [3]}], parts)})
    path = dataset(scratch / "d.lance", rows)
    other = pa.struct([("y", pa.large_string()), ("x", pa.int32())])
    file = write(scratch / "rows", pa.table({
        "p": pa.array([{"y": "a", "x": 4}, None, {"y": None, "x": None}], other),
        "a": pa.array([7, 8, 9], pa.int64())}))
    assert appended(path, file, 1).to_pylist() == [
        {"a": 7, "b": None, "p": {"x": 4, "y": "a", "z": None}},
        {"a": 8, "b": None, "p": None},
        {"a": 9, "b": None, "p": {"x": None, "y": None, "z": None}}]


def test_extension_types(scratch):
    ids = [uuid.UUID(int=i).bytes for i in range(5)]
    rows = pa.table({"u": pa.ExtensionArray.from_storage(pa.uuid(), pa.array(ids, pa.binary(16)))})
    path = dataset(scratch / "d.lance", rows)
    assert appended(path, write(scratch / "with", rows), 5).equals(rows)
    plain = pa.table({"u": pa.array(ids, pa.binary(16))})  # as programs leave it that know none
    assert appended(path, write(scratch / "without", plain), 10).equals(rows)
    field = pa.field("u", pa.binary(16), metadata={"ARROW:extension:name": "other.id"})
    other = pa.table([plain["u"]], schema=pa.schema([field]))
    assert "extension type other.id, the dataset arrow.uuid" in \
        refused(path, write(scratch / "other", other))["error"]


def test_json_columns(scratch):
    texts = ['{"a":1,"b":[null,true,"é"]}', None, "3.5", '"text"', "[]"]
    rows = pa.table({"j": pa.ExtensionArray.from_storage(pa.json_(), pa.array(texts))})
    path = dataset(scratch / "d.lance", rows)
    want = opened(path).to_table()["j"].to_pylist()
    assert appended(path, write(scratch / "rows", rows), 5)["j"].to_pylist() == want
    plain = pa.table({"j": pa.array(texts, pa.large_string())})
    assert appended(path, write(scratch / "plain", plain), 10)["j"].to_pylist() == want
    broken = pa.table({"j": ["{}", "{", "1"]})
    assert 'row 2, column "j": ' in refused(path, write(scratch / "broken", broken))["error"]


@pytest.mark.parametrize("version", ("2.0", "2.1"))
def test_blobs(scratch, version):
    field = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    rows = pa.table([pa.array([b"abc", None, b"", b"x" * 100_000], pa.large_binary())],
                    schema=pa.schema([field]))
    path = dataset(scratch / "d.lance", rows, version)
    result(path, "append", f"file={write(scratch / 'rows', rows)}")
    found = opened(path).take_blobs("b", indices=list(range(8)))
    assert [b and b.readall() for b in found] == 2 * rows["b"].to_pylist()


def test_blobs_with_files_of_their_own_are_refused(scratch):
    field = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    rows = pa.table([pa.array([b"abc"], pa.large_binary())], schema=pa.schema([field]))
    path = dataset(scratch / "d.lance", rows, "2.2")
    out = refused(path, write(scratch / "rows", rows))
    assert out["errno"] == "EOPNOTSUPP" and "column b: blobs" in out["error"]


def test_vectors_of_structs(scratch):
    kind = pa.list_(pa.struct([("x", pa.int32()), ("y", pa.string())]), 2)
    rows = pa.table({"f": pa.array([[{"x": 1, "y": "a"}, {"x": None, "y": "b"}], None] * 50, kind)})
    path = dataset(scratch / "d.lance", rows.slice(0, 1))
    assert appended(path, write(scratch / "rows", rows, chunk=7), 1).to_pylist() == rows.to_pylist()


@pytest.mark.parametrize("form", ("arrow", "csv", "json"))
def test_a_signal_ends_waiting_for_a_pipe(scratch, form):
    path = make(scratch / "d.lance")
    before = content(path)
    with subprocess.Popen([programs.program("lancet"), "append", path, "file=-", f"format={form}"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 1
        finally:
            process.kill()
        assert b"ECANCELED" in process.stderr.read()
    assert content(path) == before


@pytest.mark.parametrize("version", VERSIONS)
def test_what_other_programs_write(scratch, version):
    query = """select i as id, case when i % 3 = 0 then null else 'n' || i end as name,
               i / 7.0::double as d, (i * 0.01)::decimal(12, 2) as m, i % 2 = 0 as b,
               date '2020-01-01' + i::int as day, timestamp '2020-01-01' + interval (i) second as t,
               [i, i + 1] as l, {'x': i, 'y': 'v' || i} as s from range(3000) r(i)"""
    found = duckdb.sql(query).to_arrow_table()
    path = dataset(scratch / "d.lance", found.slice(0, 1), version)
    got = appended(path, write(scratch / "duck", found, "stream", 500), 1)
    assert got.to_pylist() == found.to_pylist()
    for at, packed in enumerate(("lz4", "zstd", "uncompressed")):
        before = opened(path).count_rows()
        pyarrow.feather.write_feather(found, str(scratch / packed), compression=packed)
        assert appended(path, scratch / packed, before).to_pylist() == found.to_pylist(), at


# ---- row ids, versions, fragments ---------------------------------------------------------

@pytest.mark.parametrize("stable", (True, False))
def test_ids_and_versions_are_those_of_pylance(scratch, stable):
    ours, theirs = make(scratch / "ours.lance", stable=stable), scratch / "theirs.lance"
    shutil.copytree(ours, theirs)
    file = write(scratch / "rows", table(100, 2500), "stream", 400)
    for _ in range(2):
        assert result(ours, "append", f"file={file}")["fragments"] == 1
        lance.write_dataset(table(100, 2500), str(theirs), mode="append")
    columns = ["id", "_rowid", "_rowaddr"] + \
        (["_row_created_at_version", "_row_last_updated_at_version"] if stable else [])
    seen = [opened(path).scanner(columns=columns).to_table() for path in (ours, theirs)]
    assert seen[0].equals(seen[1])
    # and pylance goes on from there
    lance.write_dataset(table(5100, 3), str(ours), mode="append")
    ds = opened(ours)
    ds.validate()
    assert ds.count_rows() == 5103


def test_fragments_end_where_those_of_pylance_do(scratch):
    rows = pa.table({"n": pa.array(np.arange(2_500_000, dtype=np.int32))})
    path = dataset(scratch / "d.lance", rows.slice(0, 1))
    out = result(path, "append", f"file={write(scratch / 'rows', rows, chunk=70_000)}")
    assert out["fragments"] == 3
    ds = opened(path)
    assert [f.physical_rows for f in ds.get_fragments()] == \
        [1, 1_048_576, 1_048_576, 2_500_000 - 2 * 1_048_576]
    assert ds.to_table().slice(1).equals(rows)


# ---- refusals -----------------------------------------------------------------------------

def test_what_does_not_fit_is_named(scratch):
    fields = [pa.field("id", pa.int32(), nullable=False), pa.field("s", pa.string()),
              pa.field("l", pa.list_(pa.field("item", pa.struct([
                  pa.field("k", pa.string(), nullable=False), pa.field("v", pa.int8())]))))]
    first = pa.table([[1], ["a"], [[{"k": "x", "v": 1}]]], schema=pa.schema(fields))
    path = dataset(scratch / "d.lance", first)
    loose = [f.with_nullable(True) for f in fields]
    loose[2] = pa.field("l", pa.list_(pa.struct([("k", pa.string()), ("v", pa.int8())])))
    ids, words = pa.array([2, 3], pa.int32()), pa.array(["b", "c"])
    cases = [
        ({"id": ids, "x": words}, 'column "x": the dataset has no such column'),
        ({"s": words}, 'column "id": the file lacks it, and it can\'t be null'),
        ({"id": ids.cast(pa.int64())}, 'column "id": the file has int64, the dataset int32'),
        ({"id": ids, "s": ids}, 'column "s": the file has int32, the dataset string'),
        ({"id": ids, "s": words.cast(pa.binary())}, 'column "s": the file has binary, the dataset string'),
        ({"id": ids, "l": pa.array([[1], []])}, 'column "l.item": the file has int64, the dataset struct'),
        ({"id": ids, "l": words}, 'column "l": the file has string, the dataset list.struct'),
        ({"id": pa.array([5, 6, None], pa.int32())}, 'row 3, column "id": null'),
        ({"id": ids, "l": pa.array([[], [{"k": "a"}, {"k": None}]], loose[2].type)},
         'row 2, column "l.item.k": null'),
        ({"id": ids, "l": pa.array([[{"v": 1}], []], pa.list_(pa.struct([("v", pa.int8())])))},
         'column "l.item.k": the file lacks it'),
        ({"id": ids, "l": pa.array([[{"k": "a", "w": 1}], []])},
         'column "l.item": the dataset has no part "w" of it'),
    ]
    for columns, text in cases:
        columns = pa.table(columns)
        for form in ("file", "stream zstd"):
            out = refused(path, write(scratch / "rows", columns, form))
            assert text in out["error"] and out["errno"] == "EINVAL", out
    twice = pa.table([ids, ids], schema=pa.schema([loose[0], loose[0]]))
    assert 'column "id": the file has it twice' in refused(path, write(scratch / "rows", twice))["error"]
    wrong = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(np.array([0, 1, 3, 4], "<i4")),
                                                   pa.py_buffer(b"a\xc3\x28b")])
    out = refused(path, write(scratch / "rows", pa.table({"id": pa.array([1, 2, 3], pa.int32()), "s": wrong})))
    assert 'row 2, column "s": the text is no UTF-8' in out["error"]
    cut = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(np.array([0, 2, 4], "<i4")),
                                                 pa.py_buffer("aéb".encode())])
    out = refused(path, write(scratch / "rows", pa.table({"id": ids, "s": cut})))
    assert 'row 1, column "s": the text is no UTF-8' in out["error"]
    # what can't be seen below a null may be null
    hidden = pa.StructArray.from_arrays(
        [pa.array([None, "k"]), pa.array([None, 1], pa.int8())], ["k", "v"], mask=pa.array([True, False]))
    good = pa.table({"id": ids, "l": pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), hidden)})
    assert appended(path, write(scratch / "rows", good), 1)["l"].to_pylist() == [[None], [{"k": "k", "v": 1}]]


def test_a_bad_value_after_much_that_was_written(scratch):
    """Pages are in the data file by then, and it goes."""
    rows = pa.table({"id": pa.array([None if i == 29_999 else i for i in range(30_000)], pa.int64()),
                     "b": pa.array([os.urandom(1000) for _ in range(30_000)])})
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("b", pa.binary())])
    path = dataset(scratch / "d.lance", pa.table([[1], [b"x"]], schema=schema))
    out = refused(path, write(scratch / "rows", rows, chunk=5000))
    assert 'row 30000, column "id": null' in out["error"]


@pytest.mark.parametrize("version", ("0.1", "2.3"))
def test_versions_that_are_not_written(scratch, version):
    rows = pa.table({"n": pa.array([1, 2], pa.int32())})
    path = dataset(scratch / "d.lance", rows, "legacy" if version == "0.1" else version)
    out = refused(path, write(scratch / "rows", rows))
    assert out["errno"] == "EOPNOTSUPP" and f"version {version}" in out["error"]


def test_columns_that_are_not_written(scratch):
    rows = pa.table({"s": pa.array([{"x": 1}], pa.struct([("x", pa.int32())]))})
    path = dataset(scratch / "d.lance", rows, "2.0")
    null = pa.table({"s": pa.array([None, {"x": 1}], pa.struct([("x", pa.int32())]))})
    out = refused(path, write(scratch / "rows", null))
    assert out["errno"] == "EOPNOTSUPP" and "s" in out["error"]


@pytest.mark.parametrize("form", ("file", "stream", "file lz4"))
def test_files_that_are_cut(scratch, form):
    rows = pa.table({"n": pa.array(range(300)), "s": pa.array(WORDS[:300]).dictionary_encode()})
    path = dataset(scratch / "d.lance", pa.table({"n": [1], "s": ["a"]}))
    whole = write(scratch / "whole", rows, form, 100).read_bytes()
    ends = sorted({len(whole) - 1, *range(1, len(whole), len(whole) // 40)})
    accepted = 0
    for end in ends:
        (scratch / "cut").write_bytes(whole[:end])
        done = run(path, "append", f"file={scratch / 'cut'}", "format=arrow")
        accepted += done.returncode == 0  # a stream may end between two messages
        assert done.returncode in (0, 1)
    assert accepted <= (4 if form == "stream" else 0)
    assert opened(path).count_rows() % 100 in (1,)


# ---- where rows come from -----------------------------------------------------------------

def pipe(path, data, *words):
    return run(path, "append", "file=-", *words, text=data)


@pytest.mark.parametrize("form", FORMS)
def test_pipes(scratch, form):
    path = make(scratch / "d.lance")
    data = write(scratch / "rows", table(100, 50), form, 20).read_bytes()
    done = pipe(path, data, "format=arrow")
    assert done.returncode == 0, done.stderr
    assert opened(path).to_table().slice(100).equals(table(100, 50))
    before = content(path)
    done = pipe(path, data)
    assert done.returncode == 1 and b"say format=" in done.stderr
    assert content(path) == before


def test_a_descriptor_that_is_in_the_middle(scratch):
    path = make(scratch / "d.lance")
    data = write(scratch / "rows", table(100, 50)).read_bytes()
    (scratch / "behind").write_bytes(b"a line\n" + data)
    script = 'read -r line && "$0" append "$1" file=-'
    with open(scratch / "behind", "rb") as file:
        done = subprocess.run(["bash", "-c", script, programs.program("lancet"), path], stdin=file,
                              timeout=60, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert opened(path).to_table().slice(100).equals(table(100, 50))


def test_other_commits_while_rows_come(scratch):
    """The input is read once: the append is put on top of what was committed meanwhile."""
    path = make(scratch / "d.lance")
    data = write(scratch / "rows", table(100, 50), "stream", 10).read_bytes()
    with subprocess.Popen([programs.program("lancet"), "append", path, "file=-", "format=arrow"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            process.stdin.write(data[:len(data) // 2])
            process.stdin.flush()
            ds = opened(path)
            ds.delete("id = 3")
            lance.write_dataset(table(1000, 5), ds, mode="append")
            out, err = process.communicate(data[len(data) // 2:], timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, err
    assert b'"rebased_over": "3"' in out or b'"read_version": "3"' in out, out
    ds = opened(path)
    ds.validate()
    assert sorted(ds.to_table()["id"].to_pylist()) == \
        sorted([i for i in range(150) if i != 3] + list(range(1000, 1005)))


def test_a_dry_run_is_not_known(scratch):
    """Rows are checked by writing them: nothing pretends to do it without."""
    path = make(scratch / "d.lance")
    file = write(scratch / "rows", table(100, 5))
    assert refused(path, file, "dry_run=true")["errno"] == "EINVAL"


@pytest.mark.parametrize("form", ("one batch", "many packed batches"))
def test_memory_does_not_depend_on_the_rows(scratch, form):
    """Where no sanitizer is built in: it reserves more than the limit. Alone: -k test_memory_does."""
    if programs.under_sanitizer("lancet"):
        pytest.skip("memory of the sanitizer")
    count = 40_000_000 if form == "one batch" else 20_000_000
    path = dataset(scratch / "d.lance", pa.table({"n": pa.array([1], pa.int64())}))
    rows = pa.table({"n": np.arange(count, dtype=np.int64)})
    one = form == "one batch"
    write(scratch / "rows", rows, "file" if one else "stream zstd", None if one else 1_000_000)
    limit = 256 << 20
    done = subprocess.run(
        [programs.program("lancet"), "append", path, f"file={scratch / 'rows'}"], timeout=120,
        capture_output=True, check=False, stdin=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert done.returncode == 0, done.stderr
    ds = opened(path)
    assert ds.count_rows() == count + 1
    assert sum_of(ds) == count * (count - 1) // 2 + 1
    (scratch / "rows").unlink()


def sum_of(ds):
    return sum(int(batch["n"].to_numpy().sum()) for batch in ds.to_batches())
