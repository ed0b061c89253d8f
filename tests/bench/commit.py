#!/usr/bin/env python3
"""Commits against pylance's, in one run.

usage: commit.py [--work DIR] [--rounds N] [--fragments N[,N]] [--only KIND[,KIND]] [--small] [--markdown FILE]

KIND is append (a transaction whose data file is there), file (rows that are written, too), delete (one row of one
fragment), config (one key). Three programs commit in turns, each on a copy of the dataset: ours without a sync, ours
with all of them, and pylance, which never syncs. Each does so with a handle that it keeps and with one opened for every
commit. The first commit of each program is not counted. Fragments that no commit touches have no data file. What
came of it is read by pylance and must be the same on all sides. COMMIT names our side (tests/bench/commit). Needs
pylance (run it with that Python).
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import uuid

import benchtable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
from wire import encode  # noqa: E402

COMMIT = os.environ.get("COMMIT", "commit")
ROWS = 10  # of a fragment
KINDS = ("append", "file", "delete", "config")
MOST_ROUNDS = 50
AIM, SYNCED_AIM, AIM_AT = 5, 1, 100_000
TABLE = []

PEER = """
import json, os, sys, time
import lance, pyarrow
from lance.fragment import FragmentMetadata
path, kept = sys.argv[1], sys.argv[2] == "kept"
table = pyarrow.table({"id": pyarrow.array(range(10), pyarrow.int64())})
def io(word):
    for line in open("/proc/self/io"):
        if line.startswith(word):
            return int(line.split()[1])
def commit(dataset, operation):
    return lance.LanceDataset.commit(dataset, operation, read_version=dataset.version)
def run(dataset, kind, operand):
    if kind == "append":
        return commit(dataset, lance.LanceOperation.Append([FragmentMetadata.from_json(operand)]))
    if kind == "file":
        return lance.write_dataset(table, dataset, mode="append")
    if kind == "delete":
        number, offset = operand.split(":")
        left = dataset.get_fragment(int(number)).delete("id = " + offset)
        return commit(dataset, lance.LanceOperation.Delete([left], [], "id = " + offset))
    dataset.update_config({"bench": operand})
    return dataset
dataset = None
for line in sys.stdin:
    kind, _, operand = line.strip().partition(" ")
    written, read = io("wchar:"), io("rchar:")
    wall, processor = time.perf_counter(), time.process_time()
    if dataset is None or not kept:
        dataset = lance.dataset(path)
    dataset = run(dataset, kind, operand)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{wall:.9f} {processor:.9f} {io('wchar:') - written} {io('rchar:') - read} - {dataset.version}", flush=True)
"""


class Program:
    """One side, which commits on its own copy of the dataset."""

    def __init__(self, base, path, command):
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(base, path)
        self.path, self.version, self.samples = path, 1, []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def commit(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if len(answer) != 6:
            raise SystemExit(f"{self.path}: no answer to {line[:60]}")
        self.version += 1
        if int(answer[5]) != self.version:
            raise SystemExit(f"{self.path}: version {answer[5]}, {self.version} is due")
        self.samples.append(answer)

    def median(self, column):
        values = [float(sample[column]) for sample in self.samples[1:] or self.samples]
        return statistics.median(values)

    def end(self):
        self.process.stdin.close()
        if self.process.wait(timeout=60) != 0:
            raise SystemExit(f"{self.path}: ended with {self.process.returncode}")


def target(number, count):
    """The fragment and the row that delete `number` is about."""
    fragment = number * 7919 % count
    earlier = sum(1 for i in range(number) if i * 7919 % count == fragment)
    return fragment, earlier % ROWS


def make_base(work, count):
    """One version with `count` fragments; the first data file stands for all that are read."""
    import lance
    import pyarrow
    path = os.path.join(work, f"base_{count}.lance")
    if os.path.exists(path):
        return path
    making = path + ".making"
    shutil.rmtree(making, ignore_errors=True)
    table = pyarrow.table({"id": pyarrow.array(range(ROWS), pyarrow.int64())})
    first = lance.write_dataset(table, making).get_fragments()[0].metadata.to_json()
    data = os.path.join(making, "data")
    original = os.path.join(data, first["files"][0]["path"])
    read = {target(i, count)[0] for i in range(MOST_ROUNDS)}
    fragments = []
    for number in range(count):
        name = f"{uuid.uuid5(uuid.NAMESPACE_OID, str(number)).hex:0>56}.lance"
        first["files"][0]["path"] = name
        fragments.append(lance.fragment.FragmentMetadata.from_json(json.dumps({**first, "id": number})))
        if number in read:
            shutil.copy(original, os.path.join(data, name))
    for number in range(MOST_ROUNDS):
        shutil.copy(original, os.path.join(data, appended(number)))
    shutil.copy(original, os.path.join(work, "rows.lance"))
    schema = lance.dataset(making).schema
    shutil.rmtree(os.path.join(making, "_versions"))
    shutil.rmtree(os.path.join(making, "_transactions"))
    lance.LanceDataset.commit(making, lance.LanceOperation.Overwrite(schema, fragments))
    os.rename(making, path)
    return path


def appended(number):
    return f"{number:0>56}.lance"


def lines(work, kind, number, count, size):
    """The line of one commit for us and for the peer."""
    if kind == "append":
        data_file = [[1, 2, appended(number).encode()], [2, 2, b"\0"], [3, 2, b"\0"], [4, 0, 2], [5, 0, 2],
                     [6, 0, size]]
        fragment = [[2, 2, encode(data_file)], [4, 0, ROWS]]
        transaction = encode([[1, 0, number + 1], [2, 2, str(uuid.uuid4()).encode()],
                              [100, 2, encode([[1, 2, encode(fragment)]])]])
        meta = {"id": 0, "files": [{"path": appended(number), "fields": [0], "column_indices": [0],
                                    "file_major_version": 2, "file_minor_version": 2, "file_size_bytes": size,
                                    "base_id": None}],
                "physical_rows": ROWS, "deletion_file": None, "row_id_meta": None}
        return "transaction " + transaction.hex(), "append " + json.dumps(meta)
    if kind == "file":
        return "file " + os.path.join(work, "rows.lance"), "file -"
    if kind == "delete":
        line = "delete {}:{}".format(*target(number, count))
        return line, line
    return f"config {number}", f"config {number}"


def facts(path):
    import lance
    dataset = lance.dataset(path)
    return dataset.version, len(dataset.get_fragments()), dataset.count_rows(), dataset.config()


def measure(work, kind, count, handle, rounds):
    base = make_base(work, count)
    places = [os.path.join(work, f"{name}.lance") for name in ("plain", "synced", "peer")]
    programs = [Program(base, place, [COMMIT, place, handle, how])
                for place, how in zip(places, ("plain", "synced"))]
    programs.append(Program(base, places[2], [sys.executable, "-W", "ignore", "-c", PEER, places[2], handle]))
    size = os.path.getsize(os.path.join(base, "data", appended(0)))
    for number in range(rounds):
        mine, theirs = lines(work, kind, number, count, size)
        for program, line in zip(programs, (mine, mine, theirs)):
            program.commit(line)
    for program in programs:
        program.end()
    came = [facts(place) for place in places]
    if came[0] != came[2] or came[1] != came[2]:
        raise SystemExit(f"{kind}, {count} fragments: {came[:2]} came out, pylance has {came[2]}")
    for place in places:
        shutil.rmtree(place)
    record(kind, count, handle, *programs)


def record(kind, count, handle, plain, synced, peer):
    TABLE.append((kind, count, handle, plain, synced, peer))
    theirs = peer.median(0)
    print(f"{kind:7} {count:7} {handle:8} ours {plain.median(0) * 1e3:8.2f} ms {theirs / plain.median(0):6.2f}x"
          f"  synced {synced.median(0) * 1e3:8.2f} ms {theirs / synced.median(0):6.2f}x"
          f"  pylance {theirs * 1e3:8.2f} ms  processor {plain.median(1) * 1e3:.2f} / {peer.median(1) * 1e3:.2f} ms"
          f"  written {plain.median(2):,.0f} / {peer.median(2):,.0f}  read {plain.median(3):,.0f} /"
          f" {peer.median(3):,.0f}  syncs {synced.median(4):.0f}", flush=True)


def verdict(count, ratio, aim):
    return f"{ratio:.2f}x {benchtable.verdict(ratio, aim if count >= AIM_AT else None)}".rstrip()


def write_markdown(path):
    with open(path, "w") as file:
        benchtable.write(file, "| commit | fragments | handle | ours, ms | synced, ms | pylance, ms | ratio | synced |"
                         " processor, ms, ours / pylance | written, ours / pylance | read, ours / pylance | syncs |", (
            (kind, f"{count:,}", handle, *(f"{side.median(0) * 1e3:.2f}" for side in (plain, synced, peer)),
             verdict(count, peer.median(0) / plain.median(0), AIM),
             verdict(count, peer.median(0) / synced.median(0), SYNCED_AIM),
             f"{plain.median(1) * 1e3:.2f} / {peer.median(1) * 1e3:.2f}",
             f"{plain.median(2):,.0f} / {peer.median(2):,.0f}",
             f"{plain.median(3):,.0f} / {peer.median(3):,.0f}", f"{synced.median(4):.0f}")
            for kind, count, handle, plain, synced, peer in TABLE))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--fragments")
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--handles", default="kept,reopened")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--markdown")
    args = parser.parse_args()
    work = args.work or tempfile.mkdtemp(prefix="lancet-commit-")
    os.makedirs(work, exist_ok=True)
    counts = args.fragments or ("10,100" if args.small else "10,1000,100000")
    try:
        for count in map(int, counts.split(",")):
            for kind in args.only.split(","):
                for handle in args.handles.split(","):
                    measure(work, kind, count, handle, min(args.rounds, MOST_ROUNDS))
    finally:
        if args.markdown:
            write_markdown(args.markdown)
        if not args.work:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
