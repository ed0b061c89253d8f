"""Tags, branches, cleanup and repair through liblancet's C interface."""
import ctypes
import os
from contextlib import contextmanager
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_size_t, c_uint64, c_void_p

import liblancet
from liblancet import LIB

REASONS = ("old_version", "unreferenced", "abandoned", "temporary")
PROGRESS = ctypes.CFUNCTYPE(None, c_void_p, c_uint64, c_uint64, c_char_p)


class _Options(ctypes.Structure):
    _fields_ = [("has_older_than", c_bool), ("older_than", c_uint64), ("keep", c_uint64),
                ("versions", POINTER(c_uint64)), ("version_count", c_size_t),
                ("delete_unverified", c_bool), ("cancelled", c_void_p),
                ("progress", PROGRESS), ("context", c_void_p)]


class _File(ctypes.Structure):
    _fields_ = [("path", c_char_p), ("bytes", c_uint64), ("reason", c_int)]


LIB.lancet_cleanup_free.restype = None
LIB.lancet_cleanup_free.argtypes = [c_void_p]
LIB.lancet_cleanup_count.restype = c_size_t
LIB.lancet_cleanup_count.argtypes = [c_void_p]
LIB.lancet_cleanup_file.restype = POINTER(_File)
LIB.lancet_cleanup_file.argtypes = [c_void_p, c_size_t]
LIB.lancet_cleanup_versions.restype = POINTER(c_uint64)
LIB.lancet_cleanup_versions.argtypes = [c_void_p, POINTER(c_size_t)]
_free = ctypes.CDLL(None).free
_free.argtypes = [c_void_p]


class Dataset:
    """A dataset or branch that is worked on, as a context."""

    def __init__(self, path, branch=None):
        self.path, self.branch = os.fsencode(path), branch

    def __enter__(self):
        root = c_void_p()
        liblancet._call(LIB.lancet_dataset_open, c_char_p(self.path), None, byref(root))
        self.handle = root
        if self.branch is not None:
            name = self.branch.encode()
            text = (c_void_p * 2)(ctypes.cast(c_char_p(name), c_void_p), len(name))
            self.handle = c_void_p()
            try:
                liblancet._call(LIB.lancet_dataset_branch, root,
                                liblancet._Bytes.from_buffer_copy(text), byref(self.handle))
            finally:
                LIB.lancet_dataset_unref(root)
        return self

    def __exit__(self, *_):
        LIB.lancet_dataset_unref(self.handle)

    def _run(self, function, *arguments):
        liblancet._call(function, self.handle, *arguments)

    def tag_create(self, name, version):
        self._run(LIB.lancet_tag_create, name.encode(), c_uint64(version))

    def tag_move(self, name, version):
        self._run(LIB.lancet_tag_move, name.encode(), c_uint64(version))

    def tag_delete(self, name):
        self._run(LIB.lancet_tag_delete, name.encode())

    def pin_create(self, name, version, ttl):
        self._run(LIB.lancet_pin_create, name.encode(), c_uint64(version), c_uint64(ttl))

    def pins_expire(self):
        removed = c_size_t()
        self._run(LIB.lancet_pins_expire, byref(removed))
        return removed.value

    def branch_create(self, name, version, message=None):
        self._run(LIB.lancet_branch_create, name.encode(), c_uint64(version),
                  message and message.encode())

    def branch_delete(self, name):
        self._run(LIB.lancet_branch_delete, name.encode())

    def repair_torn_head(self):
        """(version, the name that its manifest has now)"""
        version, name = c_uint64(), c_void_p()
        self._run(LIB.lancet_repair_torn_head, byref(version), byref(name))
        text = ctypes.string_at(name).decode()
        _free(name)
        return version.value, text

    def broken_fragments(self):
        ids, count = POINTER(c_uint64)(), c_size_t()
        self._run(LIB.lancet_repair_find_broken, byref(ids), byref(count))
        out = ids[:count.value]
        _free(ids)
        return out

    @contextmanager
    def cleanup(self, older_than=None, keep=0, versions=None, delete_unverified=False,
                progress=None):
        """A Cleanup that is planned, and not run; `progress(done, total, unit)`."""
        numbers = None if versions is None else (c_uint64 * max(1, len(versions)))(*versions)
        note = PROGRESS(lambda _, done, total, unit: progress(done, total, unit.decode())) \
            if progress else PROGRESS()
        options = _Options(older_than is not None, older_than or 0, keep, numbers,
                           len(versions or ()), delete_unverified, None, note, None)
        plan = c_void_p()
        self._run(LIB.lancet_cleanup_plan, byref(options), byref(plan))
        try:
            yield Cleanup(plan, note)
        finally:
            LIB.lancet_cleanup_free(plan)


class Cleanup:
    def __init__(self, plan, note):
        self._plan, self._note = plan, note  # the note must live as long as the plan
        count = c_size_t()
        numbers = LIB.lancet_cleanup_versions(plan, byref(count))
        self.versions = numbers[:count.value]
        files = [LIB.lancet_cleanup_file(plan, i).contents
                 for i in range(LIB.lancet_cleanup_count(plan))]
        self.files = [(f.path.decode(), f.bytes, REASONS[f.reason]) for f in files]
        self.paths = [path for path, _, _ in self.files]

    def run(self):
        """(files, bytes) that were removed."""
        removed, size = c_uint64(), c_uint64()
        liblancet._call(LIB.lancet_cleanup_run, self._plan, byref(removed), byref(size))
        return removed.value, size.value
