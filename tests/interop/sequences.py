"""Row id sequences, version runs, deletion vectors and fragment bitmaps, decoded once more.

Values only, no speed: the tests compare every row of every fixture with these, and
test_oracle.py compares these with what pylance and the Rust reference say.
Format facts: row ids and row versions, deletion files.
"""
import io
import struct

import pyarrow as pa
import pyarrow.ipc

from wire import Corrupt, Message

MOST_ROWS = 4_000_000  # far above any fixture; a bomb is corrupt here


def _array(buf):
    message = Message(buf)
    for number, code in ((1, "H"), (2, "I")):
        inner = message.sub(number)
        if inner is not None:
            return [inner.uint(1) + v for v in _unpacked(inner.bytes(2), code)]
    inner = message.sub(3)
    return _unpacked(inner.bytes(2), "Q") if inner is not None else []


def _unpacked(raw, code):
    width = struct.calcsize("<" + code)
    if len(raw) % width:
        raise Corrupt("array bytes are no multiple of the width")
    return list(struct.unpack(f"<{len(raw) // width}{code}", raw))


def _span(message):
    start, end = message.uint(1), message.uint(2)
    if end < start:
        raise Corrupt("range ends before it starts")
    if end - start > MOST_ROWS:
        raise Corrupt("range is absurd")
    return start, end


def _holes(message):
    start, end = _span(message)
    holes = _array(message.bytes(3)) if message.has(3) else None
    if holes is None:
        raise Corrupt("range without its holes")
    if any(b <= a for a, b in zip(holes, holes[1:])) or any(not start <= h < end for h in holes):
        raise Corrupt("hole outside its range or out of order")
    gone = set(holes)
    return [v for v in range(start, end) if v not in gone]


def _bitmap(message):
    start, end = _span(message)
    bits = message.bytes(3)
    if len(bits) != (end - start + 7) // 8:
        raise Corrupt("bitmap length")
    if bits and (end - start) % 8 and bits[-1] >> ((end - start) % 8):
        raise Corrupt("padding bits")
    return [v for v in range(start, end) if bits[(v - start) // 8] >> ((v - start) % 8) & 1]


def _sorted(buf):
    values = _array(buf)
    if any(b <= a for a, b in zip(values, values[1:])):
        raise Corrupt("sorted array is not")
    return values


def _segment(message):
    for number, kind, value in message.fields:
        if kind != 2 or number > 5:
            raise Corrupt("unknown segment")
        if number == 1:
            return list(range(*_span(Message(value))))
        if number == 2:
            return _holes(Message(value))
        if number == 3:
            return _bitmap(Message(value))
        return _sorted(value) if number == 4 else _array(value)
    return []


def row_ids(buf, rows):
    """The row ids of a fragment of `rows` rows."""
    message, ids = Message(buf), []
    if any(number != 1 or kind != 2 for number, kind, _ in message.fields):
        raise Corrupt("row id sequence holds something else")
    for segment in message.subs(1):
        ids += _segment(segment)
    if len(ids) != rows or any(v >> 64 for v in ids):
        raise Corrupt(f"{len(ids)} row ids for {rows} rows")
    return ids


def version_runs(buf, rows):
    """The version of each of `rows` rows: only the size of a run's span counts."""
    versions = []
    for run in Message(buf).subs(1):
        span = run.sub(1)
        versions += [run.uint(2)] * (len(_segment(span)) if span is not None else 0)
        if len(versions) > MOST_ROWS:
            break
    if len(versions) != rows:
        raise Corrupt(f"{len(versions)} versions for {rows} rows")
    return versions


def roaring(raw):
    """A portable 32-bit roaring bitmap as an ascending list."""
    out, size = roaring_prefix(raw)
    if size != len(raw):
        raise Corrupt("bytes behind the bitmap")
    return out


def roaring_prefix(raw):
    """The bitmap that `raw` starts with, as an ascending list, and its bytes."""
    try:
        return _roaring(raw)
    except (struct.error, IndexError) as error:
        raise Corrupt("bitmap cut short") from error


def _roaring(raw):
    cookie = struct.unpack_from("<I", raw)[0]
    if cookie == 12346:
        count, at, runs = struct.unpack_from("<I", raw, 4)[0], 8, b""
    elif cookie & 0xFFFF == 12347:
        count = (cookie >> 16) + 1
        runs = raw[4:4 + (count + 7) // 8]
        at = 4 + len(runs)
    else:
        raise Corrupt("bitmap cookie")
    if count > 65536:
        raise Corrupt("bitmap containers")
    heads = [struct.unpack_from("<HH", raw, at + 4 * i) for i in range(count)]
    at += 4 * count
    places = None
    if not runs or count >= 4:
        places = struct.unpack_from(f"<{count}I", raw, at)
        at += 4 * count
    out = []
    for i, (key, size) in enumerate(heads):
        high, before = key << 16, len(out)
        if places is not None and places[i] != at:
            raise Corrupt("bitmap container is not at its offset")
        if runs and runs[i // 8] >> (i % 8) & 1:
            pieces = struct.unpack_from("<H", raw, at)[0]
            pairs = [struct.unpack_from("<HH", raw, at + 2 + 4 * j) for j in range(pieces)]
            out += [high + v for start, more in pairs for v in range(start, start + more + 1)]
            at += 2 + 4 * pieces
        elif size + 1 > 4096:
            words = struct.unpack_from("<8192B", raw, at)
            out += [high + v for v in range(65536) if words[v >> 3] >> (v & 7) & 1]
            at += 8192
        else:
            out += [high + v for v in struct.unpack_from(f"<{size + 1}H", raw, at)]
            at += 2 * (size + 1)
        if len(out) > MOST_ROWS:
            raise Corrupt("bitmap is absurd")
        if len(out) - before != size + 1:
            raise Corrupt("bitmap container of another size")
    if any(b <= a for a, b in zip(out, out[1:])):
        raise Corrupt("bitmap is not what it says")
    return out, at


def deleted_rows(raw, kind, rows):
    """The offsets in a deletion file, ascending."""
    if kind == "bitmap":
        offsets = roaring(raw)
    else:
        try:
            reader = pyarrow.ipc.open_file(io.BytesIO(raw))
            table = reader.read_all()
        except (pa.ArrowException, OSError, ValueError) as error:
            raise Corrupt(f"deletion file: {error}") from error
        if table.num_columns != 1 or table.schema.field(0).type != pa.uint32():
            raise Corrupt("deletion file schema")
        if table.column(0).null_count:
            raise Corrupt("deletion file holds nulls")
        offsets = sorted(table.column(0).to_pylist())
    if offsets and offsets[-1] >= rows:
        raise Corrupt("deleted offset past the rows")
    return offsets
