"""Changes and their commits through liblancet's C interface."""
import ctypes
import json
import os
from contextlib import contextmanager
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_int32, c_size_t, c_uint, c_uint64, \
    c_void_p

import liblancet
from liblancet import LIB

CONFIG, TABLE_METADATA, SCHEMA_METADATA, FIELD_METADATA = range(4)


class _Result(ctypes.Structure):
    _fields_ = [("version", c_uint64), ("read_version", c_uint64), ("rebased_over", c_uint64),
                ("attempts", c_uint), ("found", c_bool), ("durable", c_bool),
                ("uuid", ctypes.c_char * 37), ("operation", c_char_p),
                ("conflict_version", c_uint64), ("conflict_operation", c_char_p),
                ("conflict_rule", c_char_p), ("failed_field", c_int32),
                ("failed_fragment", c_uint64), ("stored", c_void_p), ("stored_size", c_size_t)]


class _Set(ctypes.Structure):
    _fields_ = [("where", c_int), ("field", c_char_p), ("key", c_char_p), ("value", c_char_p)]


LIB.lancet_change_free.restype = None
LIB.lancet_change_free.argtypes = [c_void_p]
LIB.lancet_commit.argtypes = [c_void_p, c_void_p, POINTER(_Result), c_void_p]
for _name in ("lancet_change_parse", "lancet_change_json"):
    getattr(LIB, _name).argtypes = [c_void_p, c_char_p, c_size_t, c_void_p, c_void_p]


class Change:
    """A change, to be committed once; released with the context."""

    def __init__(self, handle, rows=None):
        self.handle, self.rows = handle, rows

    def __enter__(self):
        return self

    def __exit__(self, *_):
        LIB.lancet_change_free(self.handle)

    def __bool__(self):
        return bool(self.handle)

    def commit(self):
        result = _Result()
        liblancet._call(LIB.lancet_commit, self.handle, None, byref(result))
        self.stored = ctypes.string_at(result.stored, result.stored_size)
        return result


@contextmanager
def _dataset(path):
    handle = c_void_p()
    liblancet._call(LIB.lancet_dataset_open, c_char_p(os.fsencode(path)), None, byref(handle))
    try:
        yield handle
    finally:
        LIB.lancet_dataset_unref(handle)


def parse(path, raw):
    change = c_void_p()
    with _dataset(path) as dataset:
        liblancet._call(LIB.lancet_change_parse, dataset, raw, c_size_t(len(raw)), byref(change))
    return Change(change)


def from_json(path, document):
    """`document`: text, bytes, or what json.dumps takes."""
    if not isinstance(document, (str, bytes)):
        document = json.dumps(document)
    raw = document.encode() if isinstance(document, str) else document
    change = c_void_p()
    with _dataset(path) as dataset:
        liblancet._call(LIB.lancet_change_json, dataset, raw, c_size_t(len(raw)), byref(change))
    return Change(change)


def _on(path, version, function, *arguments, rows=False):
    """A change that is built on a version; with the number of rows where the builder tells it."""
    change, count = c_void_p(), c_uint64()
    with liblancet.Version(path, version) as read:
        liblancet._call(function, read.handle, *arguments, byref(change),
                        *([byref(count)] if rows else []))
    return Change(change, count.value if rows else None)


def delete_ids(path, version, text):
    return _on(path, version, LIB.lancet_change_delete_ids, text.encode(), rows=True)


def delete_addrs(path, version, text):
    return _on(path, version, LIB.lancet_change_delete_addrs, text.encode(), rows=True)


def append_file(path, version, file):
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return _on(path, version, LIB.lancet_change_append_file, c_int(descriptor), rows=True)
    finally:
        os.close(descriptor)


def settings(path, version, *wanted):
    """`wanted`: (where, field, key, value)."""
    def raw(text):
        return None if text is None else text.encode()
    rows = (_Set * len(wanted))(*[_Set(w, raw(f), raw(k), raw(v)) for w, f, k, v in wanted])
    return _on(path, version, LIB.lancet_change_settings, rows, c_size_t(len(wanted)))


def drop_columns(path, version, *columns):
    names = (c_char_p * (len(columns) + 1))(*[c.encode() for c in columns], None)
    return _on(path, version, LIB.lancet_change_drop_columns, names)


def rename_column(path, version, column, to):
    return _on(path, version, LIB.lancet_change_rename_column, column.encode(), to.encode())


def drop_index(path, version, name):
    return _on(path, version, LIB.lancet_change_drop_index, name.encode())


def restore(path, version, restored):
    return _on(path, version, LIB.lancet_change_restore, c_uint64(restored))


def drop_fragments(path, version, *ids):
    return _on(path, version, LIB.lancet_change_drop_fragments, (c_uint64 * len(ids))(*ids),
               c_size_t(len(ids)), rows=True)
