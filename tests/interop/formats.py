"""The file formats of the tree, read strictly: what doesn't fit the rules is an AssertionError."""
import datetime
import json
import re
import struct

import numpy as np

WIDE, NARROW = 20, 10
NO_NUMBER = (1 << 64) - 1
COLUMNS = {
    "fragments.tsv": "fragment physical_rows deleted_rows live_rows data_files overlays bytes "
                     "row_ids created_at last_updated_at".split(),
    "files.tsv": "kind fragment bytes base path".split(),
    "all.tsv": "offset row_addr _rowid created_at last_updated_at deleted".split(),
    "columns.tsv": "field column pages encoded_bytes file_version name type encodings file "
                   "null_count".split(),
}
NUMBERS = {"fragment": NARROW, "physical_rows": NARROW, "deleted_rows": NARROW,
           "live_rows": NARROW, "data_files": NARROW, "overlays": NARROW, "bytes": WIDE,
           "base": NARROW, "field": NARROW, "column": NARROW, "pages": WIDE,
           "encoded_bytes": WIDE, "null_count": WIDE}
KEYS = {  # of the JSON documents, in their order
    "manifest": "format version timestamp writer reader_flags writer_flags next_row_id "
                "max_fragment_id data_format config table_metadata schema_metadata base_paths "
                "branch tag transaction_file sections",
    "schema": "format fields metadata",
    "field": "id parent_id name type nullable metadata",
    "transaction": "format uuid read_version operation tag properties preconditions body",
    "fragment": "format id physical_rows deleted_rows live_rows data_files deletion_file overlays "
                "lineage metadata",
    "data_file": "path base file_version bytes fields",
    "deletion_file": "path kind read_version id deleted_rows base",
    "index": "format name type_url fields segments",
    "reuse": "format index_version uuid dataset_version created_at details legacy_versions "
             "tagged_transitions transitions interpretable needed not_needed",
    "transition": "format transition kind legacy record dataset_version",
    "segment": "format name type_url fields uuid dataset_version index_version created_at files "
               "covered_rows",
}
TEXT = {"kind", "path", "row_ids", "placement"}
FREE = {"columns.tsv": {"name", "type", "encodings", "file"}}  # text before the last column
SUMMARY = ("version timestamp operation writer rows deleted_rows fragments data_files bytes "
           "storage_version stable_row_ids reader_flags writer_flags relocatable branch "
           "tags").split()
ESCAPES = {"\\t": "\t", "\\n": "\n", "\\\\": "\\"}


def column(raw, width):
    """The values of a single-column file whose numbers are `width` wide."""
    line = width + 1
    assert len(raw) % line == 0, f"{len(raw)} bytes are no multiple of {line}"
    rows = [raw[i:i + line] for i in range(0, len(raw), line)]
    values = [int(row) for row in rows]
    for row, value in zip(rows, values):
        assert row == b"%*d\n" % (width, value), f"line {row!r}"
    return values


def digits(values, width):
    """A row of `width` characters for each value, right-aligned with spaces."""
    left = np.fromiter(values, np.uint64, len(values))
    out = np.full((len(left), width), ord(" "), np.uint8)
    for at in range(width - 1, -1, -1):
        shown = left > 0 if at < width - 1 else np.ones(len(left), bool)
        if not shown.any():
            break
        out[shown, at] = (left[shown] % 10 + ord("0")).astype(np.uint8)
        left //= np.uint64(10)
    assert not left.any(), f"a value is wider than {width}"
    return out


def column_bytes(values, width):
    ends = np.full((len(values), 1), ord("\n"), np.uint8)
    return np.hstack([digits(values, width), ends]).tobytes()


def u64_bytes(values):
    return struct.pack(f"<{len(values)}Q", *values)


def unescape(text):
    return re.sub(r"\\[tn\\]", lambda m: ESCAPES[m.group()], text)


def tsv(raw, name):
    """The rows of a .tsv file as dicts of text without padding, '-' as None.

    Every column but a last one of text is padded to one width in all lines, the header's too.
    """
    columns = COLUMNS[name]
    text = raw.decode("utf-8", "surrogateescape")
    assert text.endswith("\n"), f"{name} ends without a newline"
    lines = [line.split("\t") for line in text[:-1].split("\n")]
    assert [cell.strip() for cell in lines[0]] == columns, f"{name}: header {lines[0]}"
    for cell, title in zip(lines[0], columns):
        width = max(len(title), NUMBERS.get(title, 0))
        assert len(cell) == width or title not in NUMBERS, f"{name}: {title} is {len(cell)} wide"
    last_is_text = columns[-1] in TEXT or name == "fragments.tsv"
    for line in lines:
        assert len(line) == len(columns), f"{name}: {line}"
        for at, cell in enumerate(line):
            if columns[at] in FREE.get(name, ()):
                assert not cell.startswith(" ") and cell != "", f"{name}: {line}"
            elif at < len(columns) - 1 or not last_is_text:
                assert len(cell) == len(lines[0][at]), f"{name}: column {columns[at]} of {line}"
    out = []
    for line in lines[1:]:
        row = {c: unescape(cell.strip(" ")) for c, cell in zip(columns, line)}
        out.append({c: None if v == "-" else v for c, v in row.items()})
    return out


def all_tsv_bytes(raw, columns):
    """What lineage/all.tsv has to be, given its own first line for the widths of its columns.

    `columns` are the lists of numbers, None for a column that is absent in every row.
    """
    header = raw[:raw.index(b"\n")]
    cells = header.split(b"\t")
    assert [c.strip().decode() for c in cells] == COLUMNS["all.tsv"], header
    widths = [len(c) for c in cells]
    for width, at_least in zip(widths, (NARROW, WIDE, WIDE, WIDE, WIDE, 1)):
        assert width >= at_least, f"widths {widths}"
    count = next(len(c) for c in columns if c is not None)
    parts = []
    for width, values in zip(widths, columns):
        absent = np.tile(np.frombuffer(b"-".rjust(width), np.uint8), (count, 1))
        parts += [digits(values, width) if values is not None else absent,
                  np.full((count, 1), ord("\t"), np.uint8)]
    parts[-1] = np.full((count, 1), ord("\n"), np.uint8)
    return header + b"\n" + np.hstack(parts).tobytes()


def number_table(columns):
    """The bytes of a .tsv file of numbers: {title: array}, NO_NUMBER in a cell for an absent value.

    `columns` may give its own least width with a title, as (title, width).
    """
    titles = [t if isinstance(t, tuple) else (t, NARROW) for t in columns]
    widths = [max(len(title), least) for title, least in titles]
    header = "\t".join(title.rjust(width) for (title, _), width in zip(titles, widths)) + "\n"
    parts = []
    for width, values in zip(widths, columns.values()):
        values = np.asarray(values, np.uint64)
        absent = values == np.uint64(NO_NUMBER)
        cells = digits(np.where(absent, np.uint64(0), values), width)
        cells[absent] = np.frombuffer(b"-".rjust(width), np.uint8)
        parts += [cells, np.full((len(values), 1), ord("\t"), np.uint8)]
    parts[-1][:] = ord("\n")
    return header.encode() + np.hstack(parts).tobytes()


def summary(raw):
    text = raw.decode()
    assert text.endswith("\n")
    out = {}
    for line in text[:-1].split("\n"):
        key, mark, value = line.partition(":")
        assert mark and key not in out, f"summary line {line!r}"
        out[key] = value.strip()
    assert [key for key in out if key in SUMMARY] == SUMMARY, f"summary has {list(out)}"
    return out


def ordered(value, kind):
    """The keys that are there come in the order of the interface, before all others."""
    known = KEYS[kind].split()
    here = [key for key in known if key in value]
    assert list(value)[:len(here)] == here, f"{kind}: keys {list(value)}"
    return value


def load_json(raw, kind):
    """One object, two-space indent, `format` first, a newline at the end."""
    def pairs(items):
        keys = [k for k, _ in items]
        assert len(set(keys)) == len(keys), f"repeated key in {keys}"
        return dict(items)
    text = raw.decode("utf-8")
    value = json.loads(text, object_pairs_hook=pairs)
    assert isinstance(value, dict) and next(iter(value)) == "format", "format is not first"
    assert text.endswith("}\n"), "no newline at the end"
    assert len(value) == 1 or text.startswith('{\n  "format"'), text[:40]
    return ordered(value, kind)


def num(value):
    """A number that SPEC lets be either a JSON number or decimal text."""
    assert isinstance(value, int) and not isinstance(value, bool) or \
        isinstance(value, str) and value.isdigit(), f"{value!r} is no number"
    return int(value)


def wide(value):
    """A 64-bit value: decimal text."""
    assert isinstance(value, str) and (value.isdigit()), f"{value!r} is no decimal text"
    return int(value)


def flags(value):
    assert set(value) == {"raw", "names"}, value
    return wide(value["raw"]), value["names"]


def rfc3339(seconds, nanos):
    """The pattern of a timestamp: nanoseconds, UTC."""
    day = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    return f"{day:%Y-%m-%dT%H:%M:%S}.{nanos:09d}Z"


def encode_name(name):
    """A name of the dataset as a file name."""
    if name == "":
        return "%"
    raw = name.encode("utf-8", "surrogateescape")
    out = b""
    for at, byte in enumerate(raw):
        special = byte in b"/%\0" or (byte == ord(".") and at == 0)
        out += b"%%%02X" % byte if special else bytes([byte])
    return out.decode("utf-8", "surrogateescape")


def same_name(shown, name):
    """Whether `shown` is how the tree shows `name`, long names included."""
    encoded = encode_name(name).encode("utf-8", "surrogateescape")
    raw = shown.encode("utf-8", "surrogateescape")
    if len(encoded) <= 255:
        return raw == encoded
    return bool(re.fullmatch(re.escape(encoded[:200]) + rb"%~[0-9a-f]{16}", raw, re.DOTALL))


def named(names, name):
    """The one of `names` that shows `name`."""
    found = [n for n in names if same_name(n, name)]
    assert len(found) == 1, f"{name!r} is not once in {names}"
    return found[0]
