"""Memory of a compaction that is given a budget: a gigabyte of values, with deleted rows and row ids that spill, under
64 MiB.

LANCEFS_MEMORY_GIB=10 makes the table larger and takes minutes; the budget may be set with LANCEFS_MEMORY_MIB. What is
counted is the resident size of a process that does nothing else, above what it had before. A build with a sanitizer
skips it, since its memory would be counted; any other has it in check-interop, and alone by
    make check-interop INTEROP_FLAGS='-k test_compaction_stays_in_its_budget'
"""
import os
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import peer
import places
import programs

BUDGET = int(os.environ.get("LANCEFS_MEMORY_MIB", "64")) << 20
SIZE = float(os.environ.get("LANCEFS_MEMORY_GIB", "1")) * 2**30
SECONDS = 120 * max(1, SIZE / 2**30)
ROWS = 250_000  # of a fragment as it is written
PROGRAM = """
import ctypes, sys
from ctypes import byref, c_char_p, c_size_t, c_uint, c_uint64, c_void_p
library, path, budget = ctypes.CDLL(sys.argv[1]), sys.argv[2].encode(), int(sys.argv[3])
class Run(ctypes.Structure):
    _fields_ = [("memory", c_size_t), ("workers", c_uint), ("cancelled", c_void_p), ("progress", c_void_p),
                ("context", c_void_p)]
def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
def call(name, *arguments):
    error = ctypes.create_string_buffer(1024)
    if getattr(library, name)(*arguments, error) != 0:
        sys.exit(f"{name}: {error.raw[8:].split(bytes(1))[0].decode()}")
dataset, version, rewrite, change = c_void_p(), c_void_p(), c_void_p(), c_void_p()
number, options, result = c_uint64(), ctypes.create_string_buffer(4096), ctypes.create_string_buffer(4096)
call("lancet_dataset_open", c_char_p(path), None, byref(dataset))
call("lancet_dataset_latest", dataset, byref(number))
call("lancet_version_open", dataset, number, byref(version))
call("lancet_compact_defaults", version, options)
c_uint64.from_buffer(options).value = 1 << 40  # target_rows: all fragments become one
call("lancet_compact_plan", version, options, byref(rewrite))
before = peak()
call("lancet_rewrite_run", rewrite, byref(Run(budget, 2)), byref(change))
after = peak()
call("lancet_commit", change, ctypes.create_string_buffer(64), result)
print(before, after)
"""


def table(number):
    """Values that take little in a file; `k` counts the rows."""
    rng = np.random.default_rng(number)
    words = pa.array([f"{i} " * 60 for i in range(100, 108)])
    columns = {"k": pa.array(np.arange(number * ROWS, (number + 1) * ROWS)),
               "text": words.take(pa.array(rng.integers(0, 8, ROWS)))}
    for i in range(8):
        columns[f"n{i}"] = pa.array(rng.integers(0, 4, ROWS))
    return pa.table(columns)


def make(path):
    """The rows of a fragment may come again: what they hold doesn't matter, but for `k`."""
    lance, number, size = peer.lance, 0, 0
    while size < SIZE:
        rows = table(number)
        lance.write_dataset(rows, path, mode="append" if number else "create", enable_stable_row_ids=True)
        number += 1
        size += rows.nbytes
    lance.dataset(path).update_config({"lance.row_lineage.spill": "true"})
    lance.dataset(path).delete("(k * 48271) % 2147483647 % 10 < 3")
    return lance.dataset(path).count_rows()


def sums(path):
    ds = peer.lance.dataset(path)
    totals = np.zeros(4, np.uint64)
    for batch in ds.scanner(columns=["k", "n3"], with_row_id=True).to_batches():
        k, n, ids = (batch.column(i).to_numpy().astype(np.uint64) for i in range(3))
        totals += np.array([k.sum(), (k * (n + 1)).sum(), ids.sum(), (k != ids).sum()], np.uint64)
    return totals.tolist()


def test_compaction_stays_in_its_budget():
    if programs.under_sanitizer("lancet"):
        pytest.skip("memory of the sanitizer")
    path = places.fresh()
    rows, before = make(path), sums(path)
    library = os.path.join(os.environ["abs_top_builddir"], ".libs", "liblancet.so")
    done = subprocess.run([sys.executable, "-c", PROGRAM, library, path, str(BUDGET)], capture_output=True, text=True,
                          timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    idle, peak = map(int, done.stdout.split())
    ds = peer.lance.dataset(path)
    fragments = ds.get_fragments()
    assert [fragment.physical_rows for fragment in fragments] == [rows]
    assert sums(path) == before
    print(f"{SIZE / 2**30:g} GiB, budget {BUDGET >> 20} MiB: {(peak - idle) >> 10} MiB")
    assert 1 << 10 < peak - idle < BUDGET >> 10, f"{peak - idle} KiB"
    shutil.rmtree(path)
