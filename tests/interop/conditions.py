"""Random tables of scalar columns, and random conditions on them that the reference accepts, too."""
import datetime
import decimal
import math

import numpy as np
import pyarrow as pa

DAY = datetime.date(2020, 2, 28)
NOON = datetime.datetime(2020, 2, 28, 12, 30, 15)
OPERATORS = ["=", "<>", "!=", "<", "<=", ">", ">="]


def decimals(scale):
    return [decimal.Decimal(n).scaleb(-scale) for n in (-1250, -1, 0, 1, 5, 100, 150, 2000, 99999)]


def moments(unit):
    step = {"s": datetime.timedelta(seconds=1), "ms": datetime.timedelta(milliseconds=1),
            "us": datetime.timedelta(microseconds=1)}[unit]
    return [NOON + n * step for n in (-3, -1, 0, 1, 2, 90000)] + \
        [datetime.datetime(1969, 12, 31, 23, 59, 59), datetime.datetime(1970, 1, 1)]


def dates():
    return [DAY + datetime.timedelta(days=n) for n in (-400, -1, 0, 1, 2)] + \
        [datetime.date(1969, 12, 31), datetime.date(1970, 1, 1)]


def spread(bits, signed):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return [n for n in (low, low + 1, -7, -1, 0, 1, 2, 3, 10, 100, high - 1, high)
            if low <= n <= high]


FLOATS = [-1e300, -2.5, -1.0, -0.0, 0.0, 0.1, 0.5, 1.0, 1.5, 2.5, 1e300, math.inf, -math.inf,
          math.nan]
# Some rules of the reference are its own, and lancet(1) says so: a literal is rounded to a narrow
# column in most places, -0 is below 0 between columns of two types, and of two times of different
# units the finer one is cut.
NARROW = [x for x in FLOATS if not 1e10 < abs(x) < math.inf and x != 0.1
          and not (x == 0 and math.copysign(1, x) < 0)]
TEXTS = ["", "a", "A", "ab", "abc", "b", "a%b", "a_b", "é", "ée", "日本", "it's", "z" * 40]
BYTES = [b"", b"\x00", b"a", b"ab", b"\xff", b"\xff\x00", b"abc"]

# name: type, values; small numbers of their own for arithmetic
COLUMNS = {
    "flag": (pa.bool_(), [True, False]),
    "other_flag": (pa.bool_(), [True, False]),
    **{f"i{bits}": (getattr(pa, f"int{bits}")(), spread(bits, True)) for bits in (8, 16, 32, 64)},
    **{f"u{bits}": (getattr(pa, f"uint{bits}")(), spread(bits, False)) for bits in (8, 16, 32, 64)},
    "small": (pa.int32(), list(range(-4, 5))),
    "long": (pa.int64(), list(range(-4, 5))),
    "f16": (pa.float16(), [np.float16(x) for x in NARROW]),
    "f32": (pa.float32(), NARROW),
    "f64": (pa.float64(), FLOATS),
    "calm": (pa.float64(), [-2.5, -1.0, 0.0, 0.5, 1.0, 2.5]),
    "text": (pa.string(), TEXTS),
    "large_text": (pa.large_string(), TEXTS),
    "word": (pa.dictionary(pa.int16(), pa.string()), TEXTS[1:6]),
    "bytes": (pa.binary(), BYTES),
    "large_bytes": (pa.large_binary(), BYTES),
    "pair": (pa.binary(2), [b"ab", b"\x00\x00", b"\xff\xff", b"ba"]),
    "day": (pa.date32(), dates()),
    "day64": (pa.date64(), dates()),
    "ts_s": (pa.timestamp("s"), moments("s")),
    "ts_ms": (pa.timestamp("ms"), moments("ms")),
    "ts_us": (pa.timestamp("us"), moments("us")),
    "ts_utc": (pa.timestamp("us", "UTC"), moments("us")),
    "ts_east": (pa.timestamp("ms", "+02:00"), moments("ms")),
    "time_s": (pa.time32("s"), [datetime.time(0), datetime.time(1, 2, 3), datetime.time(23, 59)]),
    "time_us": (pa.time64("us"), [datetime.time(0), datetime.time(1, 2, 3, 4)]),
    "span": (pa.duration("ms"), [datetime.timedelta(seconds=n) for n in (-1, 0, 1, 5)]),
    "money": (pa.decimal128(10, 2), decimals(2)),
    "fine": (pa.decimal128(20, 3), decimals(3)),
    "vast": (pa.decimal256(50, 2), decimals(2)),
}
# Columns that the reference compares with each other without rounding one of them.
GROUPS = [
    ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "small", "long"],
    ["f32", "calm", "small"], ["f16", "small"], ["f64"], ["text", "large_text"],
    ["bytes", "large_bytes"], ["ts_s"], ["ts_ms"], ["ts_us"], ["ts_utc"], ["ts_east"],
    ["money", "fine", "vast", "small", "long"], ["day", "day64"], ["time_s"], ["span"], ["word"],
]


def table(rng, rows):
    arrays = {}
    for name, (kind, values) in COLUMNS.items():
        nulls = rng.choice([0.0, 0.2, 0.7])
        picked = [None if rng.random() < nulls else rng.choice(values) for _ in range(rows)]
        if pa.types.is_dictionary(kind):
            arrays[name] = pa.array(picked, kind.value_type).dictionary_encode().cast(kind)
        else:
            arrays[name] = pa.array(picked, kind)
    inner = [None if rng.random() < 0.2 else
             {"x": rng.choice([None, 1, 2, 3]), "y": rng.choice([None, *TEXTS[:4]])}
             for _ in range(rows)]
    arrays["nest"] = pa.array(inner, pa.struct([("x", pa.int32()), ("y", pa.string())]))
    arrays["items"] = pa.array([rng.choice([None, [], [1], [1, None]]) for _ in range(rows)],
                               pa.list_(pa.int32()))
    return pa.table(arrays)


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def literal(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, np.integer)):
        return str(value)
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, datetime.datetime):
        return f"timestamp '{value}'"
    if isinstance(value, datetime.date):
        return f"date '{value}'"
    raise TypeError(value)


# For these the reference has no literal; it takes -2^63 and more digits than a double for doubles.
WITHOUT = {"time_s", "time_us", "span", "money", "fine", "vast"}


def constant(rng, name):
    """A literal for comparisons with the column, or None."""
    if name in ("money", "fine", "vast"):
        return str(rng.randint(-13, 30))
    if name in WITHOUT:
        return None
    values = [v for v in COLUMNS[name][1] if not isinstance(v, (float, np.floating))
              or math.isfinite(v)]
    values = [v for v in values if not isinstance(v, int) or v != -(1 << 63)]
    return literal(rng.choice(values))


class Conditions:
    def __init__(self, rng):
        self.rng = rng

    def group(self):
        return self.rng.choice(GROUPS)

    def comparison(self):
        rng = self.rng
        left = rng.choice(self.group()) if rng.random() < 0.9 else "flag"
        right = constant(rng, left) if rng.random() < 0.7 else None
        if right is None:
            friends = [g for g in GROUPS if left in g] or [["flag", "other_flag"]]
            right = rng.choice(rng.choice(friends))
        sides = [left, right]
        rng.shuffle(sides)
        return f"{sides[0]} {rng.choice(OPERATORS)} {sides[1]}"

    def arithmetic(self):
        rng = self.rng
        name = rng.choice(["small", "long", "calm", "money", "fine"])
        operator = rng.choice("+-*" if name in ("money", "fine") else "+-*/%")
        number = str(rng.choice([1, 2, 3, 7]))
        if name == "calm":
            number = rng.choice(["0.5", "2", "3.25", "calm"])
        if name in ("small", "long") and rng.random() < 0.3 and operator in "+-*":
            number = rng.choice(["small", "long"])
        value = f"{name} {operator} {number}"
        if rng.random() < 0.3:
            value = f"-({value})"
        if rng.random() < 0.3:
            value = f"({value}) + 1"
        limit = "0.5" if name == "calm" else str(rng.randint(-4, 4))
        return f"{value} {rng.choice(OPERATORS)} {limit}"

    def membership(self):
        rng = self.rng
        name = rng.choice([n for n in COLUMNS if constant(rng, n) is not None])
        items = [constant(rng, name) for _ in range(rng.choice([1, 2, 3, 7, 12]))]
        if rng.random() < 0.2:
            items.append("NULL")
        return f"{name} {rng.choice(['in', 'NOT IN'])} ({', '.join(items)})"

    def between(self):
        rng = self.rng
        name = rng.choice([n for n in COLUMNS if constant(rng, n) is not None])
        word = rng.choice(["between", "not between"])
        return f"{name} {word} {constant(rng, name)} and {constant(rng, name)}"

    def like(self):
        rng = self.rng
        parts = [rng.choice(["%", "_", "a", "b", "é", "\\%", "\\_", "A", "日"])
                 for _ in range(rng.randint(0, 4))]
        name = rng.choice(["text", "large_text", "word", "nest.y", "text || 'b'"])
        return f"{name} {rng.choice(['like', 'not like'])} {quoted(''.join(parts))}"

    def null(self):
        name = self.rng.choice([*COLUMNS, "nest", "nest.x", "items"])
        return f"{name} is {self.rng.choice(['', 'not '])}null"

    def truth(self):
        rng = self.rng
        operand = rng.choice(["flag", f"({self.comparison()})"])
        return f"{operand} is {rng.choice(['', 'not '])}{rng.choice(['true', 'false'])}"

    def simple(self):
        rng = self.rng
        return rng.choice([self.comparison, self.comparison, self.arithmetic, self.membership,
                           self.between, self.like, self.null, self.truth,
                           lambda: rng.choice(["flag", "not flag", "true", "false"]),
                           lambda: f"nest.x {rng.choice(OPERATORS)} {rng.randint(0, 4)}"])()

    def condition(self, depth):
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return self.simple()
        form = rng.random()
        if form < 0.15:
            return f"not ({self.condition(depth - 1)})"
        word = rng.choice(["and", "or", "AND", "OR"])
        parts = [self.condition(depth - 1) for _ in range(rng.choice([2, 2, 3]))]
        text = f" {word} ".join(parts)
        return f"({text})" if form < 0.6 else text
