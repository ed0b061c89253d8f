"""The little of protobuf and of the manifest container that the tests need for themselves.

A message is a list of [number, wire type, value]: value is an int for the wire types 0, 1 and 5
and bytes for 2, in the order of the bytes, unknown fields included. Everything here is
independent of the programs under test; what it reads is held against pylance's own account in
test_oracle.py. Format facts: manifest file layout, Manifest message.
"""
import struct

MAGIC = b"LANC"
FOOTER = struct.Struct("<qhh4s")
SECTIONS = {"index": 6, "transaction_old": 21, "transaction": 23}


class Corrupt(Exception):
    """The bytes break a rule of the format."""


def put_varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def take_varint(buf, at):
    value = shift = 0
    while True:
        if at >= len(buf) or shift > 63:
            raise Corrupt("varint runs past its end")
        byte = buf[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & ((1 << 64) - 1), at
        shift += 7


def decode(buf):
    fields, at = [], 0
    while at < len(buf):
        key, at = take_varint(buf, at)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise Corrupt("field number 0")
        if kind == 0:
            value, at = take_varint(buf, at)
        else:
            if kind == 2:
                size, at = take_varint(buf, at)
            elif kind in (1, 5):
                size = 8 if kind == 1 else 4
            else:
                raise Corrupt(f"wire type {kind}")
            if size > len(buf) - at:
                raise Corrupt("field runs past its end")
            value, at = bytes(buf[at:at + size]), at + size
            if kind != 2:
                value = int.from_bytes(value, "little")
        fields.append([number, kind, value])
    return fields


def encode(fields):
    out = bytearray()
    for number, kind, value in fields:
        out += put_varint(number << 3 | kind)
        if kind == 0:
            out += put_varint(value)
        elif kind == 2:
            out += put_varint(len(value)) + value
        else:
            out += value.to_bytes(8 if kind == 1 else 4, "little")
    return bytes(out)


class Message:
    """Reading access by field number; the last of a repeated scalar wins, as protobuf has it."""

    def __init__(self, buf):
        self.fields = decode(buf)

    def _last(self, number, kind):
        for num, wire_kind, value in reversed(self.fields):
            if num == number:
                if wire_kind != kind:
                    raise Corrupt(f"field {number} has wire type {wire_kind}")
                return value
        return None

    def uint(self, number, default=0):
        value = self._last(number, 0)
        return default if value is None else value

    def int32(self, number, default=0):
        value = self._last(number, 0)
        if value is None:
            return default
        value &= 0xFFFFFFFF
        return value - (1 << 32) if value >> 31 else value

    def bytes(self, number, default=b""):
        value = self._last(number, 2)
        return default if value is None else value

    def text(self, number, default=""):
        value = self._last(number, 2)
        return default if value is None else value.decode("utf-8", "surrogateescape")

    def has(self, number):
        return any(num == number for num, _, _ in self.fields)

    def sub(self, number):
        value = self._last(number, 2)
        return None if value is None else Message(value)

    def subs(self, number):
        out = []
        for num, kind, value in self.fields:
            if num == number:
                if kind != 2:
                    raise Corrupt(f"field {number} has wire type {kind}")
                out.append(Message(value))
        return out

    def raws(self, number):
        return [value for num, kind, value in self.fields if num == number and kind == 2]

    def ints(self, number):
        """A packed or unpacked repeated int32."""
        out = []
        for num, kind, value in self.fields:
            if num != number:
                continue
            if kind == 0:
                out.append(value)
            at = 0
            while kind == 2 and at < len(value):
                item, at = take_varint(value, at)
                out.append(item)
        return [v - (1 << 64) if v >> 63 else v for v in out]

    def map(self, number):
        return {m.text(1): m.bytes(2).decode("utf-8", "surrogateescape") for m in self.subs(number)}


class ManifestFile:
    """The sections and the Manifest message of one manifest file."""

    def __init__(self, raw):
        if len(raw) < FOOTER.size:
            raise Corrupt("shorter than a footer")
        at, self.major, self.minor, magic = FOOTER.unpack(raw[-FOOTER.size:])
        if magic != MAGIC:
            raise Corrupt("no magic")
        if at < 0 or at + 4 > len(raw) - FOOTER.size:
            raise Corrupt("manifest position")
        size = struct.unpack_from("<I", raw, at)[0]
        if size == 0 or at + 4 + size + FOOTER.size != len(raw):
            raise Corrupt("manifest length")
        self.head = raw[:at]
        self.body = raw[at + 4:at + 4 + size]
        self.message = Message(self.body)

    def section(self, name):
        """The bytes of a section, None when the manifest has none."""
        number = SECTIONS[name]
        if not self.message.has(number):
            return None
        at = self.message.uint(number)
        if at + 4 > len(self.head):
            raise Corrupt(f"{name} section position")
        size = struct.unpack_from("<I", self.head, at)[0]
        if at + 4 + size > len(self.head):
            raise Corrupt(f"{name} section length")
        return self.head[at + 4:at + 4 + size]

    def rebuilt(self, fields, sections):
        """The file with other manifest fields and other section bytes."""
        placed = [(self.message.uint(SECTIONS[name]), name) for name in sections]
        head = self.head[:min(placed)[0]] if placed else self.head
        where = {}
        for _, name in sorted(placed):
            where[SECTIONS[name]] = len(head)
            head += struct.pack("<I", len(sections[name])) + sections[name]
        body = encode([[n, k, where.get(n, v)] for n, k, v in fields])
        return (head + struct.pack("<I", len(body)) + body +
                FOOTER.pack(len(head), self.major, self.minor, MAGIC))


# ---- stored absolute paths ----------------------------------------------------------------

# Where a transaction keeps absolute paths: {operation: (message field, text field)}; a message
# field of None means that the operation itself holds the text.
PATHS_IN_OPERATIONS = {102: (5, 4), 113: (None, 4), 114: (1, 4)}
BASE_PATHS = 18


def _moved(buf, number, old, new):
    """The message with `old` at the front of text field `number` replaced by `new`."""
    fields = decode(buf)
    for field in fields:
        if field[0] == number and field[1] == 2:
            for prefix in (b"", b"file://"):
                if field[2] == prefix + old or field[2].startswith(prefix + old + b"/"):
                    field[2] = prefix + new + field[2][len(prefix + old):]
    return encode(fields)


def _moved_transaction(buf, old, new):
    fields = decode(buf)
    for field in fields:
        place = PATHS_IN_OPERATIONS.get(field[0])
        if place is None:
            continue
        inner, text = place
        if inner is None:
            field[2] = _moved(field[2], text, old, new)
            continue
        operation = decode(field[2])
        for item in operation:
            if item[0] == inner:
                item[2] = _moved(item[2], text, old, new)
        field[2] = encode(operation)
    return encode(fields)


def _moved_manifest(raw, old, new):
    file = ManifestFile(raw)
    sections = {name: file.section(name) for name in SECTIONS}
    sections = {name: body for name, body in sections.items() if body is not None}
    for name in sections:
        if name != "index":
            sections[name] = _moved_transaction(sections[name], old, new)
    fields = file.message.fields
    for field in fields:
        if field[0] == BASE_PATHS:
            field[2] = _moved(field[2], 4, old, new)
    return file.rebuilt(fields, sections)


def relocate(root, old="/fixtures"):
    """Point the absolute paths stored below `root`, a copy of the test data, at `root` itself.

    The data was made at `old`. Manifests, inline transactions and transaction files are the
    places; every length prefix and section offset follows. Returns the number of files changed.
    """
    old, new, changed = old.encode(), str(root.resolve()).encode(), 0
    for path in sorted(root.rglob("*")):
        mover = {".manifest": _moved_manifest, ".txn": _moved_transaction}.get(path.suffix)
        if mover is None or not path.is_file():
            continue
        raw = path.read_bytes()
        if old in raw:
            try:
                moved = mover(raw, old, new)
            except Corrupt:
                continue  # a broken manifest of the corrupt cases stays as it is
            if moved != raw:
                path.write_bytes(moved)
                changed += 1
    return changed
