#!/usr/bin/env python3
"""Decoding of data files against pylance's scan of the same file, in one run.

usage: scan.py [--work DIR] [--rounds N] [--only NAME[,NAME]] [--versions V[,V]] [--small] [--markdown FILE]

Each case is a dataset of one column in one fragment, made once below DIR. Peers and we take turns; medians are
compared. Both read through their public interface, from the page cache, and drop the batches; start and imports
are not counted. Single-threaded: both are held to one core, pylance with one thread of each kind. Two threads: both
to two cores. SCAN names our side (tests/bench/scan). Needs pylance (run it with that Python) and taskset.
"""
import argparse
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile

import benchtable

SCAN = os.environ.get("SCAN", "scan")
ROWS = []

PEER = """
import sys, time
import lance
path, column, rounds, rows_file = sys.argv[1:5]
rows = None
if rows_file:
    import numpy
    rows = numpy.fromfile(rows_file, dtype="<u8").tolist()
for _ in range(int(rounds)):
    dataset = lance.dataset(path)
    start = time.perf_counter()
    if rows is None:
        count = sum(batch.num_rows for batch in dataset.scanner(columns=[column]).to_batches())
    else:
        count = dataset.take(rows, columns=[column]).num_rows
    print(f"{time.perf_counter() - start:.9f} {count}")
for line in open("/proc/self/status"):
    if line.startswith("VmHWM:"):
        print("peak", line.split()[1])
"""


def words(generator, count, size):
    return ["".join(generator.choices("abcdefghijklmnop", k=size)) for _ in range(count)]


def column_of(name, count):
    import numpy
    import pyarrow
    numbers = numpy.random.default_rng(7)
    generator = random.Random(7)
    some_words = words(generator, 1000, 24)
    texts = words(generator, 4096, 40)
    makers = {
        "row ids, sorted with holes": lambda: pyarrow.array(
            numpy.cumsum(numbers.integers(1, 4, count)).astype("u8")),
        "row ids, shuffled": lambda: pyarrow.array(numbers.permutation(count).astype("u8")),
        "versions, long runs": lambda: pyarrow.array(numpy.repeat(
            numpy.arange(count // 5000 + 1), 5000)[:count].astype("u8")),
        "versions, constant": lambda: pyarrow.array(numpy.full(count, 7, dtype="u8")),
        "uint64, full width": lambda: pyarrow.array(numbers.integers(0, 2**64, count, dtype="u8")),
        "int32, small": lambda: pyarrow.array(numbers.integers(-500, 500, count).astype("i4")),
        "int32, nullable": lambda: pyarrow.array(
            numbers.integers(0, 1000, count).astype("i4"), mask=numbers.random(count) < 0.2),
        "int16": lambda: pyarrow.array(numbers.integers(0, 5000, count).astype("i2")),
        "float32": lambda: pyarrow.array(numbers.random(count).astype("f4")),
        "double, nullable": lambda: pyarrow.array(numbers.random(count), mask=numbers.random(count) < 0.2),
        "bool": lambda: pyarrow.array(numbers.random(count) < 0.5),
        "decimal128": lambda: pyarrow.array(numbers.integers(0, 10**9, count)).cast(pyarrow.decimal128(20, 0)),
        "timestamp": lambda: pyarrow.array(numbers.integers(1_700_000_000, 1_800_000_000, count)).cast(
            pyarrow.timestamp("us")),
        "text, few distinct": lambda: pyarrow.array(generator.choices(some_words, k=count // 4)),
        "text, random": lambda: pyarrow.array([texts[i % 4096][i % 7:] + str(i) for i in range(count // 4)]),
        "text, nullable": lambda: pyarrow.array(
            [None if i % 5 == 0 else texts[i % 4096] + str(i) for i in range(count // 4)]),
        "binary, 1 KiB": lambda: pyarrow.array([generator.randbytes(1024) for _ in range(count // 64)]),
        "vectors, 128 floats": lambda: pyarrow.FixedSizeListArray.from_arrays(
            pyarrow.array(numbers.random(count // 64 * 128).astype("f4")), 128),
        "list of int32": lambda: pyarrow.ListArray.from_arrays(
            pyarrow.array(numpy.concatenate([[0], numpy.cumsum(numbers.integers(0, 8, count // 4))]).astype("i4")),
            pyarrow.array(numbers.integers(0, 1000, count * 2).astype("i4"))),
        "struct of three": lambda: pyarrow.StructArray.from_arrays(
            [pyarrow.array(numbers.integers(0, 1000, count // 2)), pyarrow.array(numbers.random(count // 2)),
             pyarrow.array(numbers.random(count // 2) < 0.5)], ["a", "b", "c"]),
    }
    return makers if name is None else makers[name]()


def dataset(work, name, version, count):
    import lance
    import pyarrow
    path = os.path.join(work, f"{name.replace(' ', '_').replace(',', '')}_{version}_{count}.lance")
    if not os.path.isdir(path):
        nullable = "nullable" in name
        values = column_of(name, count)
        schema = pyarrow.schema([pyarrow.field("c", values.type, nullable=nullable)])
        table = pyarrow.table([values], schema=schema)
        lance.write_dataset(table, path, data_storage_version=version, max_rows_per_file=2**40,
                            max_rows_per_group=65536)
    return path


def run(command, cores, environment):
    output = subprocess.run(["taskset", "-c", cores] + command, check=True, text=True, capture_output=True,
                            env={**os.environ, **environment}).stdout.splitlines()
    rounds = [line.split() for line in output[:-1]]
    return [float(time) for time, _ in rounds], int(rounds[-1][1]), int(output[-1].split()[1]) / 1024


def compare(name, path, threads, rounds, aim, rows_file=""):
    cores = "0" if threads == 1 else "0,1"
    limits = {"LANCE_CPU_THREADS": "1", "LANCE_IO_THREADS": "1", "TOKIO_WORKER_THREADS": "1",
              "RAYON_NUM_THREADS": "1"} if threads == 1 else {}
    ours, theirs = [], []
    for _ in range(3):
        mine, count, memory = run([SCAN, path, "c", str(threads), str(rounds)] + ([rows_file] if rows_file else []),
                                  cores, {})
        peer, peer_count, peer_memory = run([sys.executable, "-c", PEER, path, "c", str(rounds), rows_file], cores,
                                            limits)
        if count != peer_count:
            raise SystemExit(f"{name}: {count} rows, pylance reads {peer_count}")
        ours += mine[1:] or mine
        theirs += peer[1:] or peer
    ratio = statistics.median(theirs) / statistics.median(ours)
    ROWS.append((name, threads, count, statistics.median(ours), statistics.median(theirs), ratio, aim, memory,
                 peer_memory))
    print(f"{name:42} {threads} {count:9} rows {statistics.median(ours) * 1e3:10.3f} ms"
          f" {statistics.median(theirs) * 1e3:10.3f} ms {ratio:7.2f}x  aim >= {aim:g}"
          f"  {'met' if ratio >= aim else 'MISSED'}  peak {memory:.0f} / {peer_memory:.0f} MiB", flush=True)


def measure_scans(work, versions, count, rounds, names):
    for name in column_of(None, 1000):
        if names and not any(wanted in name for wanted in names):
            continue
        aim = 2 if name.startswith(("row ids", "versions")) else 1
        for version in versions:
            path = dataset(work, name, version, count)
            for threads in (1, 2):
                compare(f"{name}, {version}", path, threads, rounds, aim)


def measure_takes(work, versions, count, rounds):
    generator = random.Random(11)
    rows_file = os.path.join(work, "rows")
    with open(rows_file, "wb") as file:
        for row in sorted(generator.sample(range(count), 1000)):
            file.write(struct.pack("<Q", row))
    for name in ("row ids, shuffled", "text, random"):
        for version in versions:
            size = count if name.startswith("row ids") else count * 4
            compare(f"1,000 rows of {name}, {version}", dataset(work, name, version, size), 1, rounds, 3, rows_file)


def write_markdown(path):
    with open(path, "w") as file:
        benchtable.write(file, "| column, file version | threads | rows | ours, ms | pylance, ms | ratio | aim | |"
                       " peak MiB, ours / pylance |", (
            (name, threads, f"{count:,}", f"{mine * 1e3:.2f}", f"{peer * 1e3:.2f}", f"{ratio:.2f}x", f">= {aim:g}",
             benchtable.verdict(ratio, aim), f"{memory:.0f} / {peer_memory:.0f}")
            for name, threads, count, mine, peer, ratio, aim, memory, peer_memory in ROWS))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="parts of names of columns, or take")
    parser.add_argument("--versions", default="2.0,2.1,2.2,2.3")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--markdown")
    args = parser.parse_args()
    work = args.work or tempfile.mkdtemp(prefix="lancet-scan-")
    os.makedirs(work, exist_ok=True)
    versions = args.versions.split(",")
    names = args.only.split(";") if args.only else []
    scans, takes = (100_000, 100_000) if args.small else (4_000_000, 8_000_000)
    try:
        if names != ["take"]:
            measure_scans(work, versions, scans, args.rounds, names)
        if not names or "take" in names:
            measure_takes(work, versions, takes, args.rounds)
    finally:
        if args.markdown:
            write_markdown(args.markdown)


if __name__ == "__main__":
    main()
