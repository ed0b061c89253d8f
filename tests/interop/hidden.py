"""Spilled lineage columns, read by pylance's file reader at the place that the manifest gives.

The column is located by its physical number alone. What a reader must refuse is Corrupt here.
"""
import functools

import pyarrow as pa
from lance.file import LanceFileReader

from wire import Corrupt


def _children(kind):
    if pa.types.is_struct(kind):
        return [kind.field(i) for i in range(kind.num_fields)]
    if pa.types.is_map(kind):
        return [kind.key_field, kind.item_field]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [kind.value_field]
    return []


def _width(field, old):
    """Physical columns of a field: in 2.0 files what nests has one of its own."""
    metadata = field.metadata or {}
    if b"lance-encoding:packed" in metadata or b"packed" in metadata or \
            b"lance-encoding:blob" in metadata:
        return 1
    below = sum(_width(child, old) for child in _children(field.type))
    return max(1, below + (1 if old and below else 0))


@functools.lru_cache(maxsize=256)
def _table(path, stamp):
    del stamp  # a file that was changed is another file
    return LanceFileReader(str(path)).read_all().to_table()


def _read(path, column, old):
    try:
        table = _table(path, path.stat().st_mtime_ns)
    except OSError as error:
        if error.errno is not None:
            raise
        raise Corrupt(f"{path.name}: {error}") from error
    except BaseException as error:  # a panic of the library is a BaseException
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        raise Corrupt(f"{path.name}: {error}") from error
    at = 0
    for number, field in enumerate(table.schema):
        if at == column and field.type == pa.uint64():
            return table.column(number)
        at += _width(field, old)
    raise Corrupt(f"{path.name}: column {column} of {at} is no u64")


def carrier(fragment, field):
    """The file of the only column with this field id, and its number."""
    found = [(file, number) for file in fragment.files
             for number, ident in enumerate(file.fields) if ident == field]
    if len(found) != 1:
        raise Corrupt(f"{len(found)} carriers of {field}")
    file, number = found[0]
    if file.format == "0.1":
        raise Corrupt("a legacy carrier")
    if number >= len(file.columns) or file.columns[number] < 0:
        raise Corrupt(f"no column for {field}")
    return file, file.columns[number]


def values(version, fragment, field, unique):
    """One value for each physical row; OSError when the file is not there."""
    file, number = carrier(fragment, field)
    if file.base is not None and file.base not in version.bases:
        raise Corrupt(f"no base {file.base}")
    path = version.backing(file.base, f"data/{file.path}")
    if path.is_symlink():
        raise Corrupt(f"{path.name} leads elsewhere")
    column = _read(path, number, file.format == "2.0")
    if column.null_count or len(column) != fragment.rows:
        raise Corrupt(f"{len(column)} values, {column.null_count} nulls, {fragment.rows} rows")
    out = column.to_pylist()
    if unique and len(set(out)) != len(out):
        raise Corrupt("a row id comes twice")
    return out
