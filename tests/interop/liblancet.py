"""liblancet through its C interface: scans as Arrow record batches.

Arrow's C Data Interface carries the batches into pyarrow, so what a test compares is what any other
program would get.
"""
import ctypes
import os
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_size_t, c_uint64, c_void_p

import pyarrow as pa

ALL_ROWS = (1 << 64) - 1
FATES = ("current", "deleted", "unknown", "failed")
CODES = ("OK IO NOT_FOUND EXISTS CORRUPT UNSUPPORTED INVALID BUSY CONFLICT PRECONDITION CLEANED "
         "READ_ONLY DENIED LIMIT NO_MEMORY CANCELLED").split()


class Error(Exception):
    def __init__(self, code, text):
        super().__init__(f"{CODES[code]}: {text}")
        self.code, self.text = CODES[code], text


class _Error(ctypes.Structure):
    _fields_ = [("code", c_int), ("os_errno", c_int), ("text", ctypes.c_char * 480)]


class _Options(ctypes.Structure):
    _fields_ = [("columns", POINTER(c_char_p)), ("column_count", c_size_t),
                ("fragments", POINTER(c_uint64)), ("fragment_count", c_size_t),
                ("row_ids", POINTER(c_uint64)), ("row_id_count", c_size_t), ("where", c_char_p),
                ("offset", c_uint64), ("limit", c_uint64), ("batch_rows", c_uint64),
                ("batch_bytes", c_size_t), ("row_bytes", c_size_t), ("blobs", c_int)]


class _Struct(ctypes.Structure):
    """Room for an ArrowSchema or an ArrowArray, which pyarrow takes over."""
    _fields_ = [("words", c_uint64 * 10)]


def _library():
    """$LIBLANCET, else the one of the build directory."""
    path = os.environ.get("LIBLANCET")
    if path is None and "abs_top_builddir" in os.environ:
        path = os.path.join(os.environ["abs_top_builddir"], ".libs", "liblancet.so")
    if path is None:
        raise AssertionError("set LIBLANCET to the path of liblancet.so, or abs_top_builddir")
    return ctypes.CDLL(path)


LIB = _library()
for name in ("lancet_scan_free", "lancet_version_unref", "lancet_dataset_unref",
             "lancet_fragment_unref"):
    getattr(LIB, name).restype = None
    getattr(LIB, name).argtypes = [c_void_p]
LIB.lancet_fragment_columns.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p]


def _call(function, *arguments):
    error = _Error()
    code = function(*arguments, byref(error))
    if code != 0:
        assert error.code == code and error.text, "an error that doesn't explain itself"
        raise Error(code, error.text.decode("utf-8", "replace"))


def _numbers(values):
    return None if values is None else (c_uint64 * len(values))(*values)


class Version:
    """One version of a dataset or branch, as a context."""

    def __init__(self, path, number, branch=None):
        self.path, self.number, self.branch = os.fsencode(path), number, branch
        self._handles = []

    def _open(self, function, *arguments, release):
        handle = c_void_p()
        _call(function, *arguments, byref(handle))
        self._handles.append((release, handle))
        return handle

    def __enter__(self):
        dataset = self._open(LIB.lancet_dataset_open, c_char_p(self.path), None,
                             release=LIB.lancet_dataset_unref)
        if self.branch is not None:
            name = self.branch.encode()
            text = (c_void_p * 2)(ctypes.cast(c_char_p(name), c_void_p), len(name))
            dataset = self._open(LIB.lancet_dataset_branch, dataset,
                                 _Bytes.from_buffer_copy(text),
                                 release=LIB.lancet_dataset_unref)
        self.handle = self._open(LIB.lancet_version_open, dataset, c_uint64(self.number),
                                 release=LIB.lancet_version_unref)
        return self

    def __exit__(self, *_):
        while self._handles:
            release, handle = self._handles.pop()
            release(handle)

    def schema(self, columns=None, blobs=0):
        scan = Scan(self, columns=columns, blobs=blobs)
        try:
            return scan.schema
        finally:
            scan.close()

    def table(self, **options):
        """All rows of a scan, in one table, and how many rows each batch had."""
        scan = Scan(self, **options)
        try:
            batches = list(scan)
            return pa.Table.from_batches(batches, scan.schema), [len(b) for b in batches]
        finally:
            scan.close()

    def translate(self, addresses):
        """(fate, current address or None) of each row address."""
        asked = (c_uint64 * max(1, len(addresses)))(*addresses)
        current, fates = (c_uint64 * len(asked))(), (ctypes.c_uint8 * len(asked))()
        _call(LIB.lancet_translate, self.handle, asked, c_size_t(len(addresses)), current, fates)
        out = [(FATES[fate], address if address != ALL_ROWS else None)
               for fate, address in zip(fates, current)]
        return out[:len(addresses)]

    def columns(self, ordinal):
        """What lancet_fragment_columns tells of a fragment, a dictionary for each column."""
        fragment = c_void_p()
        _call(LIB.lancet_fragment_open, self.handle, c_uint64(ordinal), byref(fragment))
        out = []

        def note(_, info):
            out.append(info.contents.facts())
            return 0
        try:
            _call(LIB.lancet_fragment_columns, fragment,
                  ctypes.cast(_INFO_FN(note), c_void_p), None)
        finally:
            LIB.lancet_fragment_unref(fragment)
        return out


class _Bytes(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class _ColumnInfo(ctypes.Structure):
    _fields_ = [("field", ctypes.c_int32), ("column", ctypes.c_int32), ("name", c_char_p),
                ("type", c_char_p), ("path", _Bytes), ("file_version", c_char_p),
                ("pages", c_uint64), ("bytes", c_uint64), ("encodings", c_char_p),
                ("has_null_count", c_bool), ("null_count", c_uint64)]

    def facts(self):
        out = {n: getattr(self, n) for n in ("field", "column", "pages", "bytes")}
        for name in ("name", "type", "file_version", "encodings"):
            out[name] = getattr(self, name).decode("utf-8", "surrogateescape")
        out["path"] = ctypes.string_at(self.path.data, self.path.size).decode()
        out["nulls"] = self.null_count if self.has_null_count else None
        return out


_INFO_FN = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(_ColumnInfo))


class Scan:
    """The batches of lancet_scan_*; `close` it."""

    def __init__(self, version, columns=None, fragments=None, row_ids=None, offset=0,
                 limit=ALL_ROWS, batch_rows=0, batch_bytes=0, blobs=0):
        names = None
        if columns is not None:
            names = (c_char_p * (len(columns) + 1))(*[c.encode() for c in columns])
        options = _Options(names, len(columns or ()), _numbers(fragments), len(fragments or ()),
                           _numbers(row_ids), len(row_ids or ()), None, offset, limit, batch_rows,
                           batch_bytes, 0, blobs)
        if row_ids is not None and not row_ids:
            options.row_ids = (c_uint64 * 1)()
        self._scan = c_void_p()
        _call(LIB.lancet_scan_open, version.handle, byref(options), byref(self._scan))
        place = _Struct()
        _call(LIB.lancet_scan_schema, self._scan, byref(place))
        self.schema = pa.Schema._import_from_c(ctypes.addressof(place))

    def __iter__(self):
        while True:
            place, more = _Struct(), c_bool()
            _call(LIB.lancet_scan_next, self._scan, byref(place), byref(more))
            if not more.value:
                return
            batch = pa.RecordBatch._import_from_c(ctypes.addressof(place), self.schema)
            assert batch.num_rows > 0, "an empty batch"
            batch.validate(full=True)
            yield batch

    def close(self):
        if self._scan:
            LIB.lancet_scan_free(self._scan)
            self._scan = None
