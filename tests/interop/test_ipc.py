"""The Arrow IPC writer of liblancet against pyarrow: any type, any slice, dictionaries that change.

Batches are made by pyarrow and handed over in the C Data Interface, so what is tested doesn't
depend on what data files can hold.
"""
import ctypes
import datetime
import decimal
import io
import random
from ctypes import byref, c_int, c_size_t, c_void_p

import numpy as np
import pyarrow as pa
import pytest

import liblancet

WRITE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)


class _Output(ctypes.Structure):
    _fields_ = [("write", WRITE), ("context", c_void_p)]


class _Struct(ctypes.Structure):
    _fields_ = [("words", ctypes.c_uint64 * 10)]


def exported(what):
    room = _Struct()
    what._export_to_c(ctypes.addressof(room))
    return room


def release(room, schema):
    """Calls the release callback, which is the last but one of the words."""
    words = 9 if schema else 10
    function = ctypes.CFUNCTYPE(None, c_void_p)(room.words[words - 2])
    function(ctypes.addressof(room))


def stream(schema, batches):
    """The bytes that the writer makes."""
    pieces = []

    def write(_, data, size):
        pieces.append(ctypes.string_at(data, size))
        return 0

    out = _Output(WRITE(write), None)
    described = exported(schema)
    writer = c_void_p()
    liblancet._call(liblancet.LIB.lancet_ipc_open, byref(described), byref(out), byref(writer))
    try:
        for batch in batches:
            room = exported(batch)
            liblancet._call(liblancet.LIB.lancet_ipc_write, writer, byref(room))
            release(room, schema=False)
        liblancet._call(liblancet.LIB.lancet_ipc_finish, writer)
    finally:
        liblancet.LIB.lancet_ipc_free.argtypes = [c_void_p]
        liblancet.LIB.lancet_ipc_free(writer)
        release(described, schema=True)
    return b"".join(pieces)


def columns(rng, count):
    """name -> array of `count` values with nulls among them."""
    def some(make, kind):
        return pa.array([make() if rng.random() < 0.7 else None for _ in range(count)], kind)

    def counts(kind, most):
        wide = pa.int64() if pa.types.is_time64(kind) or not pa.types.is_time(kind) else pa.int32()
        return some(lambda: rng.randint(0, most), wide).cast(kind)

    def text():
        return "".join(rng.choices("aé€😀\n\"", k=rng.randrange(9)))

    def few(make):
        return lambda: [make() for _ in range(rng.randrange(4))]

    def small():
        return rng.randrange(100)

    out = {"null": pa.nulls(count), "bool": some(lambda: rng.random() < 0.5, pa.bool_())}
    for bits in (8, 16, 32, 64):
        out[f"i{bits}"] = some(lambda b=bits: rng.randrange(-2**(b - 1), 2**(b - 1)),
                               getattr(pa, f"int{bits}")())
        out[f"u{bits}"] = some(lambda b=bits: rng.randrange(2**b), getattr(pa, f"uint{bits}")())
    out["f16"] = some(lambda: np.float16(rng.random()), pa.float16())
    out["f32"], out["f64"] = some(rng.random, pa.float32()), some(rng.random, pa.float64())
    for kind in (pa.decimal128(38, 10), pa.decimal256(60, 3), pa.decimal128(9, -2),
                 pa.decimal32(7, 2), pa.decimal64(15, 0)):
        out[str(kind)] = some(
            lambda k=kind: decimal.Decimal(rng.randrange(-9999, 9999)).scaleb(-k.scale), kind)
    for kind in (pa.date32(), pa.date64()):
        out[str(kind)] = some(lambda: datetime.date.fromordinal(rng.randrange(1, 3652059)), kind)
    for unit in ("s", "ms", "us", "ns"):
        out[f"time {unit}"] = counts(pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit),
                                     86399)
        out[f"duration {unit}"] = counts(pa.duration(unit), 10**9)
        for zone in (None, "UTC", "+08:00"):
            out[f"timestamp {unit} {zone}"] = counts(pa.timestamp(unit, zone), 10**9)
    for kind in (pa.utf8(), pa.large_utf8()):
        out[str(kind)] = some(text, kind)
    for kind in (pa.binary(), pa.large_binary()):
        out[str(kind)] = some(lambda: rng.randbytes(rng.randrange(9)), kind)
    out["fixed"] = some(lambda: rng.randbytes(5), pa.binary(5))
    out["list"] = some(few(small), pa.list_(pa.int16()))
    out["large list"] = some(few(few(text)), pa.large_list(pa.list_(pa.utf8())))
    out["fixed list"] = some(lambda: [rng.random() < 0.5 for _ in range(5)],
                             pa.list_(pa.bool_(), 5))
    out["struct"] = some(lambda: {"a": small(), "b": {"c": text()}},
                         pa.struct([("a", pa.int8()), ("b", pa.struct([("c", pa.utf8())]))]))
    out["map"] = some(lambda: [(text(), small()) for _ in range(rng.randrange(3))],
                      pa.map_(pa.utf8(), pa.int32()))
    out["structs"] = some(few(lambda: {"n": few(small)()}),
                          pa.list_(pa.struct([("n", pa.list_(pa.int8()))])))
    out["dictionary"] = some(text, pa.utf8()).dictionary_encode()
    out["dictionaries"] = some(few(text), pa.list_(pa.dictionary(pa.int16(), pa.utf8())))
    return out


@pytest.mark.parametrize("count", [0, 1, 7, 64, 1000, 9000])
def test_types_and_slices(count):
    """Whole batches and slices come back with the same values and null counts."""
    rng = random.Random(count)
    arrays = columns(rng, count)
    fields = [pa.field(name, array.type, metadata={"of": name, "": "é"})
              for name, array in arrays.items()]
    schema = pa.schema(fields, metadata={"table": "yes"})
    whole = pa.record_batch(list(arrays.values()), schema=schema)
    batches = [whole]
    for _ in range(10):
        first = rng.randint(0, count)
        batches.append(whole.slice(first, rng.randint(0, count - first)))
    reader = pa.ipc.open_stream(io.BytesIO(stream(schema, batches)))
    assert reader.schema.equals(schema, check_metadata=True)
    got = list(reader)
    assert len(got) == len(batches)
    for one, want in zip(got, batches):
        one.validate(full=True)
        for name in arrays:
            assert one[name].equals(want[name]), name
            assert one[name].null_count == want[name].null_count, name


def test_changed_dictionaries():
    """Values that a later batch has are found; equal dictionaries are written once."""
    def batch(*values):
        return pa.record_batch([pa.array(values).dictionary_encode()], ["d"])
    batches = [batch("a", "b", None), batch("a", "b"), batch("c", "b"), batch("c", "b", "a"),
               batch("a", "b")]
    reader = pa.ipc.open_stream(io.BytesIO(stream(batches[0].schema, batches)))
    assert [b["d"].to_pylist() for b in reader] == [b["d"].to_pylist() for b in batches]
    assert reader.stats.num_dictionary_batches == 4


def test_large_dictionaries():
    """Those too large to be compared are repeated, and right."""
    values = pa.array([f"{i:07}" for i in range(700_000)])
    keys = pa.array([0, 699_999, None], pa.int32())
    one = pa.record_batch([pa.DictionaryArray.from_arrays(keys, values)], ["d"])
    reader = pa.ipc.open_stream(io.BytesIO(stream(one.schema, [one, one])))
    assert [b["d"].to_pylist() for b in reader] == [["0000000", "0699999", None]] * 2


def test_no_columns():
    """Rows without columns are still rows."""
    schema = pa.schema([])
    whole = pa.record_batch({"n": [1, 2, 3]}).select([])
    assert pa.ipc.open_stream(io.BytesIO(stream(schema, [whole]))).read_next_batch().num_rows == 3
