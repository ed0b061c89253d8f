"""Random schemas of all types that data files hold, and rows with the values that are easy to lose.

Beside what generate.py has: NaN, negative zero and the ends of every range, long texts, vectors in
lists and vectors of vectors, dictionaries of all kinds, packed structs, blobs, extension types, the
null type, and fields below others that can't be null. The same for a seed on every machine.
"""
import decimal
import math
import random

import numpy as np
import pyarrow as pa

import generate

VERSIONS = ("2.0", "2.1", "2.2")
SIZES = (0, 1, 2, 9, 64, 300, 1000, 1000, 1025, 4096, 5000)
MANY = 100_000
UNITS = ("s", "ms", "us", "ns")
PACKED = {"lance-encoding:packed": "true"}
BLOB = {"lance-encoding:blob": "true"}
BFLOAT16 = {"ARROW:extension:name": "lance.bfloat16", "ARROW:extension:metadata": ""}

INTEGERS = {getattr(pa, f"{sign}int{bits}")(): (sign, bits)
            for sign in ("", "u") for bits in (8, 16, 32, 64)}
FLOATS = {pa.float16(): "<u2", pa.float32(): "<u4", pa.float64(): "<u8"}
# Of those with 64 bits all are good; the others have bounds.
WIDE = [pa.duration(unit) for unit in UNITS] + \
    [pa.timestamp(unit, zone) for unit in UNITS for zone in (None, "UTC", "-03:30")]
DECIMALS = (pa.decimal128(1, 0), pa.decimal128(18, 18), pa.decimal128(38, 10), pa.decimal128(9, -3),
            pa.decimal256(39, 0), pa.decimal256(76, 20))
CLOCKS = {pa.time32("s"): 86400, pa.time32("ms"): 86400 * 10**3, pa.time64("us"): 86400 * 10**6,
          pa.time64("ns"): 86400 * 10**9}
TEXTS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
FIXED = tuple(pa.binary(size) for size in (1, 2, 7, 16, 129, 5000))
FLAT = (pa.bool_(), *INTEGERS, *FLOATS, *WIDE, *DECIMALS, *CLOCKS, pa.date32(), pa.date64(), *TEXTS,
        *FIXED)
ITEMS = (pa.float16(), pa.float32(), pa.float64(), pa.int8(), pa.uint8(), pa.int16(), pa.int64(),
         pa.bool_(), pa.timestamp("us"), pa.date32(), pa.decimal128(20, 2))
KEYS = (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(),
        pa.uint64())


# ---- values ---------------------------------------------------------------------------------

def integers(low, high, count, rng):
    """rng.randint for many at once."""
    span = high - low + 1
    if span > 2**64:
        return [rng.randint(low, high) for _ in range(count)]
    words = np.frombuffer(rng.randbytes(8 * count), "<u8")
    if span < 2**64:
        words = words % np.uint64(span)
    return [low + word for word in words.tolist()]


def numbers(low, high, count, rng):
    """Of the whole range, of few values, in runs, or in order; the ends among them."""
    shape = rng.choice(("wide", "ends", "small", "few", "runs", "ordered", "steps"))
    if shape == "wide":
        return integers(low, high, count, rng)
    if shape == "ends":
        return rng.choices((low, high, low + 1, high - 1, 0 if low <= 0 else low), k=count)
    near = [min(high, max(low, value)) for value in integers(-9, 60, count, rng)]
    if shape == "small":
        return near
    if shape == "few":
        pool = [rng.randint(low, high) for _ in range(rng.choice((1, 2, 40)))]
        return rng.choices(pool, k=count)
    if shape == "runs":
        found = []
        while len(found) < count:
            found += [rng.randint(low, high)] * rng.randint(1, 600)
        return found[:count]
    if shape == "ordered":
        return sorted(near)
    step = max(1, (high - low) // (count + 1) // rng.choice((1, 1000)))
    return [min(high, low + i * step) for i in range(count)]


def floats(kind, count, rng):
    """Any bits, NaN of both signs among them, or round values with a few odd ones."""
    code, size = FLOATS[kind], int(FLOATS[kind][-1])
    if rng.random() < 0.4:
        return np.frombuffer(rng.randbytes(count * size), code).view(code.replace("u", "f"))
    odd = (0.0, -0.0, math.inf, -math.inf, math.nan, -math.nan)
    found = [rng.choice(odd) if rng.random() < 0.3 else rng.randrange(-400, 400) / 4
             for _ in range(count)]
    return np.array(found, code.replace("u", "f"))


def texts(kind, count, rng):
    shape = rng.choice(("short", "empty", "few", "long", "very long", "same size", "same start"))
    raw = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    letters = "abcdefg é漢\0"
    if shape == "few":
        pool = ["".join(rng.choices(letters, k=rng.randint(0, 40))) for _ in range(12)]
        found = rng.choices(pool, k=count)
    elif shape in ("long", "very long") and count <= 1100:
        most, odds = (9000, 0.1) if shape == "long" else (150_000, 8 / (count + 8))
        found = [rng.choice(letters) * (rng.randint(most // 3, most) if rng.random() < odds else
                                        rng.randint(0, 9)) for _ in range(count)]
    elif shape == "same start":
        found = [f"https://example.org/some/path/{i}" for i in integers(0, count, count, rng)]
    else:
        low, high = {"empty": (0, 0), "same size": (16, 16)}.get(shape, (0, 14))
        found = ["".join(rng.choices(letters, k=rng.randint(low, high))) for _ in range(count)]
    return [v.encode() + b"\xff" * (len(v) % 3) for v in found] if raw else found


def stored(kind, code, values, marks):
    """An array of a type whose values are integers of that width in memory."""
    plain = pa.array(np.array(values, code), mask=np.array(marks, bool))
    return pa.Array.from_buffers(kind, len(values), plain.buffers(), plain.null_count)


def decimals(kind, count, rng):
    top = 10 ** kind.precision - 1
    wide = decimal.Context(prec=80)
    return [decimal.Decimal(v).scaleb(-kind.scale, wide) for v in numbers(-top, top, count, rng)]


def flat(kind, count, marks, rng):
    if kind in INTEGERS:
        sign, bits = INTEGERS[kind]
        low, high = (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return stored(kind, f"<{'u' if sign else 'i'}{bits // 8}", numbers(low, high, count, rng),
                      marks)
    if kind in FLOATS:
        return pa.array(floats(kind, count, rng), kind, mask=np.array(marks, bool))
    if kind in WIDE:
        return stored(kind, "<i8", numbers(-(2**63), 2**63 - 1, count, rng), marks)
    if kind in CLOCKS:
        code = "<i4" if pa.types.is_time32(kind) else "<i8"
        return stored(kind, code, numbers(0, CLOCKS[kind] - 1, count, rng), marks)
    if kind == pa.date32():
        return stored(kind, "<i4", numbers(-(2**31), 2**31 - 1, count, rng), marks)
    if kind == pa.date64():
        days = numbers(-(10**6), 10**6, count, rng)
        return stored(kind, "<i8", [day * 86_400_000 for day in days], marks)
    if kind in TEXTS:
        values = texts(kind, count, rng)
    elif kind in FIXED:
        pool = [rng.randbytes(kind.byte_width) for _ in range(9)]
        values = rng.choices(pool, k=count) if kind.byte_width > 200 or rng.random() < 0.4 else \
            [rng.randbytes(kind.byte_width) for _ in range(count)]
    elif kind in DECIMALS or pa.types.is_decimal(kind):
        values = decimals(kind, count, rng)
    else:
        assert kind == pa.bool_()
        values = [v == 1 for v in numbers(0, 1, count, rng)]
    return pa.array([None if null else value for value, null in zip(values, marks)], kind)


# ---- arrays ---------------------------------------------------------------------------------

def marks_of(field, count, rng, version):
    """Which values are null: none where the field, or structs of 2.0, can't be."""
    if not field.nullable or (version == "2.0" and pa.types.is_struct(field.type)):
        return [False] * count
    return generate.nulls_of(rng.choice(generate.NULLS), count, rng)


def list_array(kind, count, marks, rng, version):
    most = rng.choice((1, 3, 8, 40)) if count <= 1100 else 3
    sizes = [0 if null or rng.random() < 0.3 else size
             for null, size in zip(marks, integers(0, most, count, rng))]
    items = array(kind.value_field, sum(sizes), rng, version)
    large = pa.types.is_large_list(kind)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype("i8" if large else "i4")
    maker = pa.LargeListArray if large else pa.ListArray
    return maker.from_arrays(pa.array(offsets), items, type=kind, mask=pa.array(marks, pa.bool_()))


def map_array(kind, count, marks, rng, version):
    sizes = [0 if null else rng.randint(0, 3) for null in marks]
    keys = pa.array([f"key {i}" for size in sizes for i in range(size)], kind.key_type)
    items = array(kind.item_field, sum(sizes), rng, version)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype("i4")
    pairs = pa.StructArray.from_arrays([keys, items], fields=[kind.key_field, kind.item_field])
    valid = pa.py_buffer(np.packbits(~np.array(marks, bool), bitorder="little"))
    return pa.Array.from_buffers(kind, count, [valid, pa.py_buffer(offsets)], children=[pairs])


def dictionary_array(kind, count, marks, rng):
    words = min(count, rng.choice((1, 3, 90))) or 1
    values = flat(kind.value_type, words, [False] * words, rng)
    keys = [None if null else key
            for null, key in zip(marks, integers(0, words - 1, count, rng))]
    return pa.DictionaryArray.from_arrays(pa.array(keys, kind.index_type), values)


def array(field, count, rng, version):
    kind, marks = field.type, marks_of(field, count, rng, version)
    if pa.types.is_null(kind):
        return pa.nulls(count)
    if pa.types.is_struct(kind):
        children = [array(below, count, rng, version) for below in kind]
        return pa.StructArray.from_arrays(children, fields=list(kind),
                                          mask=pa.array(marks, pa.bool_()))
    if pa.types.is_map(kind):
        return map_array(kind, count, marks, rng, version)
    if pa.types.is_fixed_size_list(kind):
        items = array(kind.value_field, count * kind.list_size, rng, version)
        return pa.FixedSizeListArray.from_arrays(items, type=kind, mask=pa.array(marks, pa.bool_()))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return list_array(kind, count, marks, rng, version)
    if pa.types.is_dictionary(kind):
        return dictionary_array(kind, count, marks, rng)
    if isinstance(kind, pa.JsonType):
        texts_ = [None if null else f'{{"n":{i},"t":["a{i % 3}",null]}}'
                  for i, null in enumerate(marks)]
        return pa.ExtensionArray.from_storage(kind, pa.array(texts_, kind.storage_type))
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(
            kind, array(pa.field("", kind.storage_type, field.nullable), count, rng, version))
    return flat(kind, count, marks, rng)


# ---- types ----------------------------------------------------------------------------------

def below(name, kind, rng, version):
    """A field below another, mostly one that can be null."""
    return pa.field(name, kind, nullable=rng.random() < 0.8)


def vector(rng, version):
    kind = rng.choice(ITEMS)
    size = rng.choice((1, 2, 3, 16, 33, 128))
    if rng.random() < 0.15 and version != "2.0":
        kind, size = pa.list_(kind, rng.choice((1, 2, 5))), min(size, 16)
    return pa.list_(kind, size)


def keyed(rng):
    values = rng.choice((pa.string(), pa.string(), pa.large_string(), pa.binary(), pa.int64(),
                         pa.float64()))
    return pa.dictionary(rng.choice(KEYS), values)


def kind_of(rng, version, depth=0):
    roll = rng.random()
    if depth >= 4 or roll < 0.30 + depth * 0.12:
        return rng.choice(FLAT)
    if roll < 0.55:
        maker = rng.choice((pa.list_, pa.list_, pa.large_list))
        return maker(below("item", kind_of(rng, version, depth + 1), rng, version))
    if roll < 0.74:
        names = rng.sample(("x", "y", "z", "a b", "é"), rng.randint(1, 4))
        return pa.struct([below(name, kind_of(rng, version, depth + 1), rng, version)
                          for name in names])
    if roll < 0.86:
        return vector(rng, version)
    if roll < 0.91:
        return keyed(rng)
    if version == "2.2":
        item = below("value", kind_of(rng, version, depth + 2), rng, version)
        return pa.map_(pa.string(), item)
    return rng.choice(FLAT)


def packed(rng):
    kinds = rng.sample([k for k in (*INTEGERS, *FLOATS, pa.date32(), pa.timestamp("us"))],
                       rng.randint(1, 4))
    return pa.struct([pa.field(f"p{i}", kind, nullable=False) for i, kind in enumerate(kinds)])


def special(name, rng, version):
    """A column of one of the kinds that only a whole column can be."""
    what = rng.choice(("null", "packed", "json", "bfloat16", "uuid", "tensor",
                       *(["blob"] if version != "2.2" else [])))
    if what == "null":
        return pa.field(name, pa.null())
    if what == "packed":
        return pa.field(name, packed(rng), nullable=False, metadata=PACKED)
    if what == "blob":
        return pa.field(name, pa.large_binary(), metadata=BLOB)
    if what == "bfloat16":
        return pa.field(name, pa.binary(2), metadata=BFLOAT16)
    kind = {"json": pa.json_(), "uuid": pa.uuid(),
            "tensor": pa.fixed_shape_tensor(pa.float32(), (2, 3))}[what]
    return pa.field(name, kind)


def column(name, rng, version):
    if rng.random() < 0.12:
        return special(name, rng, version)
    kind = kind_of(rng, version)
    nullable, hints = rng.random() < 0.8, generate.hints_of(version, kind, rng)
    if pa.types.is_fixed_size_list(kind) and (
            pa.types.is_fixed_size_list(kind.value_type) or version == "2.2"):
        hints = None  # pylance ends for some of them
    return pa.field(name, kind, nullable=nullable, metadata=hints)


def table(version, seed):
    """A column "key" that counts the rows, and one to four others."""
    rng = random.Random(f"schemas {version} {seed}")
    fields = [column(f"c{i}", rng, version) for i in range(rng.randint(1, 4))]
    if seed % 25 == 24:
        count, fields = MANY, [pa.field("c0", rng.choice((pa.int32(), pa.float64(), pa.string(),
                                                          pa.list_(pa.int16()))))]
    else:
        count = rng.choice(SIZES)
        if any(generate.any_nested(field.type) for field in fields):
            count = min(count, 1025)
    columns = [pa.array(range(count), pa.int64())]
    columns += [array(field, count, rng, version) for field in fields]
    return pa.table(columns, schema=pa.schema([pa.field("key", pa.int64()), *fields]))


def copied(rows):
    """The same rows and nothing of what they are a slice of, which pylance can't always write.

    take() alone reads past the end of slices of vectors of vectors, and a stream alone has values
    that aren't aligned.
    """
    into = pa.BufferOutputStream()
    with pa.ipc.new_stream(into, rows.schema) as writer:
        writer.write_table(rows)
    return pa.ipc.open_stream(into.getvalue()).read_all().take(pa.array(range(len(rows)), "i8"))
