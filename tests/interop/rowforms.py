"""Rows as text, read back: JSON lines and CSV against the Arrow values that they stand for.

The rules are those of lancet(1), read in the other direction: text to value.
"""
import base64
import datetime
import json
import re
from decimal import Decimal

import numpy as np
import pyarrow as pa

T = pa.types
SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def json_rows(raw):
    """[dict] of JSON lines; no line may say a key twice."""
    def pairs(items):
        assert len({k for k, _ in items}) == len(items), f"repeated key: {items}"
        return dict(items)
    text = raw.decode("utf-8")
    assert text == "" or text.endswith("\n")
    return [json.loads(line, object_pairs_hook=pairs, parse_float=Float)
            for line in text.split("\n")[:-1]]


class Float(str):
    """The text of a number that has a point or an exponent."""


def csv_rows(raw):
    """[[text, or None where there is nothing between the commas]], after RFC 4180."""
    rows, row, at, text = [], [], 0, raw.decode("utf-8")
    while at < len(text):
        quoted = text[at] == '"'
        if quoted:
            end = at + 1
            while text[end] != '"' or text[end + 1] == '"':
                end += 2 if text[end] == '"' else 1
            row.append(text[at + 1:end].replace('""', '"'))
            end += 1
        else:
            end = re.compile(r"[,\n]").search(text, at).start()
            assert '"' not in text[at:end], text[at:end]
            row.append(text[at:end] or None)
        if text[end] == "\n":
            rows.append(row)
            row = []
        else:
            assert text[end] == ","
            if text[end + 1] == "\n":
                row.append(None)
                rows.append(row)
                row, end = [], end + 1
        at = end + 1
    assert row == []
    return rows


# ---- values -------------------------------------------------------------------------------

def number(text, kind):
    """The value of a floating-point number, as its own type holds it."""
    value = NOT_FINITE[text] if text in NOT_FINITE else float(text)
    return {16: np.float16, 32: np.float32, 64: np.float64}[kind.bit_width](value)


def moment(text, unit):
    """The count of a timestamp; a zone is a distance from UTC."""
    plain, zone, distance = re.fullmatch(r"(.*?)(Z|([+-]\d\d:\d\d))?", text).groups()
    fraction = plain.partition(".")[2]
    assert len(fraction) == DIGITS[unit], text
    value = int(np.datetime64(plain, unit).astype(np.int64))
    if distance:
        sign = -1 if distance[0] == "-" else 1
        value -= sign * (int(distance[1:3]) * 3600 + int(distance[4:6]) * 60) * SECOND[unit]
    return value, zone


def check_zone(zone, kind):
    if kind.tz is None:
        assert zone is None
    elif re.fullmatch(r"[+-]\d\d:\d\d", kind.tz) and kind.tz[1:] != "00:00":
        assert zone == kind.tz
    else:
        assert zone == "Z"


def clock(text, unit):
    hours, minutes, seconds = text.split(":")
    whole, _, fraction = seconds.partition(".")
    assert len(fraction) == DIGITS[unit], text
    total = int(hours) * 3600 + int(minutes) * 60 + int(whole)
    return total * SECOND[unit] + int(fraction or 0)


def duration(text, unit):
    sign, whole, fraction = re.fullmatch(r"(-?)PT(\d+)(?:\.(\d+))?S", text).groups()
    assert len(fraction or "") == DIGITS[unit], text
    value = int(whole) * SECOND[unit] + int(fraction or 0)
    return -value if sign else value


def same_scalar(text, scalar):
    """Text of a flat value, without the quotes that JSON has around some."""
    kind = scalar.type
    if T.is_boolean(kind):
        return text == ("true" if scalar.as_py() else "false")
    if T.is_integer(kind):
        return text == str(scalar.as_py())
    if T.is_floating(kind):
        assert text in NOT_FINITE or "." in text or "e" in text, text
        got, want = number(text, kind), scalar.as_py()
        return (np.isnan(got) and np.isnan(want)) or \
            (got == want and np.signbit(got) == np.signbit(want))
    if T.is_decimal(kind):
        return Decimal(text) == scalar.as_py() and \
            (len(text.partition(".")[2]) == max(kind.scale, 0))
    if T.is_date(kind):
        return datetime.date.fromisoformat(text) == scalar.as_py()
    if T.is_time(kind):
        return clock(text, kind.unit) == scalar.value
    if T.is_timestamp(kind):
        value, zone = moment(text, kind.unit)
        check_zone(zone, kind)
        return value == scalar.value
    if T.is_duration(kind):
        return duration(text, kind.unit) == scalar.value
    if isinstance(scalar.as_py(), bytes):
        return base64.b64decode(text, validate=True) == scalar.as_py()
    raise AssertionError(f"type {kind}")


def is_json(kind):
    return isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "arrow.json"


def is_bfloat16(field):
    """pyarrow knows no such type: it has the two bytes, and the field says what they are."""
    return (field.metadata or {}).get(b"ARROW:extension:name") == b"lance.bfloat16"


def same_bfloat16(got, scalar):
    if not scalar.is_valid:
        return got is None
    want = np.frombuffer(b"\0\0" + scalar.as_py(), "<f4")[0]
    return number(got, pa.float32()) == want


def same_json(got, scalar):
    """A value of parsed JSON."""
    kind = scalar.type
    if not scalar.is_valid:
        return got is None
    if is_json(kind):
        return got == json.loads(scalar.as_py(), parse_float=Float)
    if isinstance(kind, pa.BaseExtensionType):
        return same_json(got, scalar.value)
    if T.is_dictionary(kind):
        return same_json(got, scalar.value)
    if T.is_string(kind) or T.is_large_string(kind):
        return isinstance(got, str) and not isinstance(got, Float) and got == scalar.as_py()
    if T.is_map(kind):
        entries = list(scalar.values)
        return len(got) == len(entries) and all(
            list(g) == ["key", "value"] and same_json(g["key"], e[0]) and
            same_json(g["value"], e[1]) for g, e in zip(got, entries))
    if T.is_struct(kind):
        return list(got) == [f.name for f in kind] and \
            all(same_json(got[f.name], scalar[i]) for i, f in enumerate(kind))
    if T.is_list(kind) or T.is_large_list(kind) or T.is_fixed_size_list(kind):
        items = list(scalar.values)
        if is_bfloat16(kind.value_field):
            return len(got) == len(items) and all(map(same_bfloat16, got, items))
        return len(got) == len(items) and all(map(same_json, got, items))
    literal = T.is_boolean(kind) or T.is_integer(kind) or \
        (T.is_floating(kind) and not (isinstance(got, str) and got in NOT_FINITE))
    assert (isinstance(got, (bool, int, Float))) == literal, f"{got!r} for {kind}"
    return same_scalar({True: "true", False: "false"}[got] if isinstance(got, bool) else str(got),
                       scalar)


def is_nested(kind):
    return T.is_nested(kind) or is_json(kind)


def same_csv(got, scalar):
    kind = scalar.type
    if not scalar.is_valid:
        return got is None
    if T.is_dictionary(kind):
        return same_csv(got, scalar.value)
    if is_nested(kind):
        return same_json(json.loads(got, parse_float=Float), scalar)
    if isinstance(kind, pa.BaseExtensionType):
        return same_csv(got, scalar.value)
    if T.is_string(kind) or T.is_large_string(kind):
        return got == scalar.as_py()
    return same_scalar(got, scalar)


def check_json(raw, table):
    rows = json_rows(raw)
    assert len(rows) == table.num_rows
    for field, column in zip(table.schema, table.columns):
        same = same_bfloat16 if is_bfloat16(field) else same_json
        for at, scalar in enumerate(column):
            assert same(rows[at][field.name], scalar), \
                f"row {at}, {field.name}: {rows[at][field.name]!r} is not {scalar!r}"
    for row in rows:
        assert list(row) == table.column_names


def check_csv(raw, table):
    if not table.column_names:
        assert raw == b"\n"
        return
    header, *rows = csv_rows(raw)
    assert [name or "" for name in header] == table.column_names
    assert len(rows) == table.num_rows
    for at, field in enumerate(table.schema):
        same = same_bfloat16 if is_bfloat16(field) else same_csv
        for line, scalar in zip(rows, table.column(at)):
            assert len(line) == len(header)
            assert same(line[at], scalar), f"{field.name}: {line[at]!r} is not {scalar!r}"
