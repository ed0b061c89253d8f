"""Random columns for data files: types, nulls, nesting and encoding hints, the same for a seed on every machine."""
import datetime
import decimal
import random

import pyarrow as pa

VERSIONS = ("2.0", "2.1", "2.2", "2.3")
# Rows of a file: around the sizes of chunks and pages, and larger for types that are quick to make.
SIZES = (1, 2, 7, 63, 100, 256, 1000, 1023, 1024, 1025, 3000)
LARGE_SIZES = (5000, 20000, 70000)
NULLS = ("none", "some", "many", "runs", "all")


def nulls_of(pattern, count, rng):
    """True where the value is null."""
    if pattern == "none":
        return [False] * count
    if pattern == "all":
        return [True] * count
    if pattern == "runs":
        marks, at = [], False
        while len(marks) < count:
            marks += [at] * rng.randrange(1, 400)
            at = not at
        return marks[:count]
    return [rng.random() < {"some": 0.1, "many": 0.95}[pattern] for _ in range(count)]


# ---------------------------------------------------------------- values

def integers(bits, signed):
    def make(count, rng):
        low, high = (-2 ** (bits - 1), 2 ** (bits - 1) - 1) if signed else (0, 2 ** bits - 1)
        shape = rng.choice(("wide", "small", "constant", "runs", "few", "sorted"))
        if shape == "wide":
            return [rng.randint(low, high) for _ in range(count)]
        small = [rng.randint(max(low, -3) if rng.random() < 0.3 else 0, min(high, rng.choice((1, 20, 1000))))
                 for _ in range(count if shape in ("small", "sorted") else 6)]
        if shape == "small":
            return small
        if shape == "sorted":
            return sorted(small)
        if shape == "constant":
            return [small[0]] * count
        if shape == "few":
            return rng.choices(small, k=count)
        values = []
        while len(values) < count:
            values += [rng.choice(small)] * rng.randrange(1, 700)
        return values[:count]
    return make


def floats(count, rng):
    if rng.random() < 0.2:
        return [rng.choice((0.0, -0.0, 1.5, float("inf"), float("-inf")))] * count
    return [round(rng.uniform(-1000, 1000), rng.randrange(4)) for _ in range(count)]


def halves(count, rng):
    import numpy
    return [numpy.float16(rng.randrange(-512, 512) / 4) for _ in range(count)]


def text(count, rng):
    shape = rng.choice(("short", "long", "few", "same size", "empty", "mixed"))
    letters = "abcdefghij é漢"
    if shape == "empty":
        return [""] * count
    if shape == "few":
        pool = ["".join(rng.choices(letters, k=rng.randrange(0, 30))) for _ in range(9)]
        return rng.choices(pool, k=count)
    size = {"short": (0, 12), "long": (200, 700), "same size": (16, 16), "mixed": (0, 300)}[shape]
    if count > 3000:
        size = (0, 12)
    return ["".join(rng.choices(letters, k=rng.randint(*size))) for _ in range(count)]


def binary(count, rng):
    return [value.encode() + bytes([rng.randrange(256)]) for value in text(count, rng)]


def pick(make_one):
    return lambda count, rng: [make_one(rng) for _ in range(count)]


FLAT = {
    pa.bool_(): lambda count, rng: [rng.random() < 0.5 for _ in range(count)],
    pa.float16(): halves, pa.float32(): floats, pa.float64(): floats,
    pa.decimal128(20, 3): pick(lambda rng: decimal.Decimal(rng.randrange(-10**15, 10**15)).scaleb(-3)),
    pa.decimal256(60, 2): pick(lambda rng: decimal.Decimal(rng.randrange(-10**40, 10**40)).scaleb(-2)),
    pa.date32(): pick(lambda rng: datetime.date(1970, 1, 1) + datetime.timedelta(rng.randrange(-9000, 30000))),
    pa.date64(): pick(lambda rng: datetime.date(1970, 1, 1) + datetime.timedelta(rng.randrange(30000))),
    pa.time32("ms"): pick(lambda rng: datetime.time(rng.randrange(24), 1, 2, rng.randrange(1000) * 1000)),
    pa.time64("us"): pick(lambda rng: datetime.time(rng.randrange(24), 59, 2, rng.randrange(10**6))),
    pa.timestamp("ms"): pick(lambda rng: rng.randrange(-10**12, 10**12)),
    pa.timestamp("us", "+08:00"): pick(lambda rng: rng.randrange(10**15)),
    pa.timestamp("ns", "Europe/Vienna"): pick(lambda rng: rng.randrange(10**18)),
    pa.duration("s"): pick(lambda rng: rng.randrange(-10**6, 10**6)),
    pa.binary(3): lambda count, rng: [rng.randbytes(3) for _ in range(count)],
    pa.binary(40): lambda count, rng: [rng.randbytes(40) for _ in range(count)],
    pa.string(): text, pa.large_string(): text, pa.binary(): binary, pa.large_binary(): binary,
}
for bits in (8, 16, 32, 64):
    FLAT[getattr(pa, f"int{bits}")()] = integers(bits, True)
    FLAT[getattr(pa, f"uint{bits}")()] = integers(bits, False)


def any_nested(kind):
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_struct(kind) or pa.types.is_map(kind)


# ---------------------------------------------------------------- types

def flat_type(rng):
    return rng.choice(list(FLAT))


def vector_type(rng):
    item = rng.choice((pa.float32(), pa.float64(), pa.float16(), pa.int8(), pa.int32(), pa.bool_()))
    return pa.list_(item, rng.choice((1, 3, 8, 33, 96)))


def random_type(rng, version, depth=0):
    """A type that the version can hold; nested ones get rarer with depth."""
    roll = rng.random()
    if depth >= 3 or roll < 0.35 + depth * 0.15:
        return flat_type(rng)
    if roll < 0.60:
        return rng.choice((pa.list_, pa.large_list))(random_type(rng, version, depth + 1))
    if roll < 0.75:
        return pa.struct([pa.field(name, random_type(rng, version, depth + 1)) for name in "xyz"[:rng.randrange(1, 4)]])
    if roll < 0.88 and depth == 0:
        return vector_type(rng)
    if roll < 0.94 and depth == 0:
        return pa.dictionary(rng.choice((pa.int8(), pa.uint16(), pa.int32())), pa.string())
    if version in ("2.2", "2.3") and depth <= 1:
        return pa.map_(pa.string(), rng.choice((pa.int32(), pa.string())))
    return flat_type(rng)


def make_array(kind, count, pattern, rng, nulls_below):
    """`nulls_below` False: structs may have no nulls (2.0 can't store them)."""
    marks = nulls_of(pattern, count, rng)
    if pa.types.is_struct(kind):
        if not nulls_below:
            marks = [False] * count
        children = [make_array(field.type, count, rng.choice(NULLS), rng, nulls_below) for field in kind]
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=pa.array(marks, pa.bool_()))
    if pa.types.is_map(kind):
        return pa.array([None if null else [(f"k{i}", value) for i, value in enumerate(
            make_array(kind.item_type, rng.randrange(4), "some", rng, nulls_below).to_pylist())] for null in marks], kind)
    if pa.types.is_fixed_size_list(kind):
        items = make_array(kind.value_type, count * kind.list_size, rng.choice(("none", "none", "some")), rng,
                           nulls_below)
        return pa.FixedSizeListArray.from_arrays(items, type=kind, mask=pa.array(marks, pa.bool_()))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        sizes = [0 if null else rng.choice((0, 0, 1, 2, 5)) for null in marks]
        items = make_array(kind.value_type, sum(sizes), rng.choice(NULLS), rng, nulls_below)
        offsets, at = [0], 0
        for size in sizes:
            at += size
            offsets.append(at)
        width = pa.int64() if pa.types.is_large_list(kind) else pa.int32()
        maker = pa.LargeListArray if pa.types.is_large_list(kind) else pa.ListArray
        return maker.from_arrays(pa.array(offsets, width), items, type=kind, mask=pa.array(marks, pa.bool_()))
    if pa.types.is_dictionary(kind):
        words = [f"word {i}" * rng.randrange(1, 4) for i in range(rng.randrange(1, 100))]
        keys = pa.array([None if null else rng.randrange(len(words)) for null in marks], kind.index_type)
        return pa.DictionaryArray.from_arrays(keys, pa.array(words))
    values = FLAT[kind](count, rng)
    return pa.array([None if null else value for value, null in zip(values, marks)], kind)


HINTS = {
    "zstd": {"lance-encoding:compression": "zstd"},
    "lz4": {"lance-encoding:compression": "lz4"},
    "none": {"lance-encoding:compression": "none"},
    "fullzip": {"lance-encoding:structural-encoding": "fullzip"},
    "miniblock": {"lance-encoding:structural-encoding": "miniblock"},
    "byte stream split": {"lance-encoding:compression": "zstd", "lance-encoding:bss": "on"},
    "run length": {"lance-encoding:rle-threshold": "0.99"},
    "dictionary": {"lance-encoding:dict-divisor": "1", "lance-encoding:dict-size-ratio": "0.99"},
    "sparse": {"lance-encoding:structural-encoding": "sparse"},
}


def hints_of(version, kind, rng):
    """Vectors of bits get none: the writer refuses most hints for them."""
    if version == "2.0" or any_nested(kind) or rng.random() < 0.6:
        return None
    if pa.types.is_fixed_size_list(kind) and kind.value_type == pa.bool_():
        return None
    names = [name for name in HINTS if name != "sparse" or version == "2.3"]
    return HINTS[rng.choice(names)]


def table(version, seed):
    """One to four columns; the first seeds of each version hold every flat type in turn."""
    rng = random.Random(f"{version}/{seed}")
    flat = list(FLAT)
    kinds = [flat[seed % len(flat)]] if seed < 2 * len(flat) else []
    while len(kinds) < rng.randrange(1, 5):
        kinds.append(random_type(rng, version))
    large = not any(any_nested(kind) or pa.types.is_fixed_size_list(kind) for kind in kinds)
    count = rng.choice(LARGE_SIZES if large and rng.random() < 0.2 else SIZES)
    arrays, fields = [], []
    for i, kind in enumerate(kinds):
        pattern = rng.choice(NULLS)
        array = make_array(kind, count, pattern, rng, version != "2.0")
        required = array.null_count == 0 and rng.random() < 0.4
        arrays.append(array)
        fields.append(pa.field(f"c{i}", array.type, nullable=not required, metadata=hints_of(version, kind, rng)))
    return pa.table(arrays, schema=pa.schema(fields))
