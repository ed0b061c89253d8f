#!/usr/bin/env python3
"""Row addresses through reuse histories against pylance's remap_row_addrs, in one run.

usage: translate.py [--work DIR] [--rounds N] [--hops N[,N]] [--only KIND[,KIND]] [--small] [--markdown FILE]

Histories over 8 fragments of 1M rows are made by hand once below DIR: chains of rewrites of all fragments into as
many new ones, each of which leaves out 1 % of the rows. KIND is legacy, ordered (tagged) or partition (tagged, rows
dealt out at random). pylance 14.0.2 remaps through legacy histories alone. All addresses of the first fragments are
followed, ascending and shuffled in one call, and some one at a time. What comes out is held against the maker's own
account. Each side is held to one core, and what counts is processor time, so that other work on the machine does not
matter much; medians are compared, the first round, which has to load the history, is told apart. Where the peer would
take too long it is not asked. TRANSLATE names our side (tests/bench/translate). Needs pylance (run it with that
Python) and taskset.
"""
import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import uuid

import benchtable
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
from wire import ManifestFile, decode, encode  # noqa: E402

TRANSLATE = os.environ.get("TRANSLATE", "translate")
FRAGMENTS = 8
BLOCK_ROWS = 65536
SINGLES = 2000
PEER_SECONDS, PEER_ROUNDS = 300, 2
MOST_BYTES = 14 << 30  # of a process
PEER_TOOK = {}  # {order: (hops, seconds of the last chain)}
ORDERED_AIM, PARTITION_AIM = 50e6, 20e6  # addresses and hops a second
ROWS, OPENED = [], []

PEER = """
import sys, time
import lance, numpy, pyarrow
path, file, step, rounds = sys.argv[1:5]
asked = numpy.fromfile(file, dtype="<u8")
step = int(step) or len(asked)
def status(word):
    for line in open("/proc/self/status"):
        if line.startswith(word):
            return int(line.split()[1])
arrays = status("VmRSS:")
start = time.process_time()
dataset = lance.dataset(path)
print(f"open {time.process_time() - start:.9f} 0")
for _ in range(int(rounds)):
    start, parts = time.process_time(), []
    for at in range(0, len(asked), step):
        parts.append(dataset.remap_row_addrs(pyarrow.array(asked[at:at + step])))
    taken = time.process_time() - start
    out = [numpy.asarray(p.drop_null()) for p in parts]
    current, total = sum(len(o) for o in out), sum(int(o.sum(dtype="u8")) for o in out)
    print(f"{taken:.9f} {current} {total & (1 << 64) - 1}", flush=True)
print("peak", status("VmHWM:") - arrays)
"""


# ---- histories ----------------------------------------------------------------------------

def roaring(mask):
    """Set bits of a mask as a bitmap of runs."""
    heads, bodies = b"", []
    for key in range(0, -(-len(mask) // 65536)):
        part = np.concatenate([[0], mask[key << 16:(key + 1) << 16].astype("i1"), [0]])
        edges = np.flatnonzero(np.diff(part))
        starts, ends = edges[::2], edges[1::2]
        if len(starts) == 0:
            continue
        heads += struct.pack("<HH", key, int((ends - starts).sum()) - 1)
        runs = np.stack([starts, ends - starts - 1], axis=1).astype("<u2")
        bodies.append(struct.pack("<H", len(starts)) + runs.tobytes())
    count = len(bodies)
    flags = bytes(0xFF if i + 8 <= count else (1 << count % 8) - 1 for i in range(0, count, 8))
    out = struct.pack("<I", 0x303B | (count - 1) << 16) + flags + heads
    at, offsets = len(out) + 4 * count, b""
    for body in bodies:
        offsets, at = offsets + struct.pack("<I", at), at + len(body)
    return out + (offsets if count >= 4 else b"") + b"".join(bodies)


def digests(number, fragments, deleted):
    return [[number, 2, encode([[1, 0, i], [2, 0, rows], [3, 0, gone]])]
            for (i, rows), gone in zip(fragments, deleted)]


def starts(fragments):
    return np.concatenate([[0], np.cumsum([rows for _, rows in fragments])]).astype("i8")


def compaction(fragments, numbers):
    """(bytes of the surviving addresses, where each row went, the new fragments' rows, deleted rows)."""
    bounds = starts(fragments)
    mask = numbers.random(bounds[-1]) >= 0.01
    parts = [mask[a:b] for a, b in zip(bounds, bounds[1:])]
    survivors = struct.pack("<Q", len(parts)) + b"".join(
        struct.pack("<I", i) + roaring(part) for (i, _), part in zip(fragments, parts))
    went = np.where(mask, np.cumsum(mask) - 1, -1)
    kept = int(mask.sum())
    sizes = [kept // FRAGMENTS + (i < kept % FRAGMENTS) for i in range(FRAGMENTS)]
    return survivors, went, sizes, [int((~part).sum()) for part in parts]


def partition(fragments, numbers):
    """The same; the labels instead of the addresses."""
    bounds = starts(fragments)
    labels = numbers.integers(0, FRAGMENTS, bounds[-1]).astype("u2")
    labels[numbers.random(len(labels)) < 0.01] = FRAGMENTS
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels, minlength=FRAGMENTS + 1)
    went = np.empty(len(labels), "i8")
    went[order] = np.arange(len(labels))
    went[labels == FRAGMENTS] = -1
    deleted = [int((labels[a:b] == FRAGMENTS).sum()) for a, b in zip(bounds, bounds[1:])]
    return labels, went, [int(n) for n in sizes[:FRAGMENTS]], deleted


def write_map(path, map_id, labels):
    import pyarrow
    from lance.file import LanceFileWriter
    where = os.path.join(path, "_fri", map_id, "stable_partition.lance")
    os.makedirs(os.path.dirname(where))
    cells = [np.bincount(labels[at:at + BLOCK_ROWS], minlength=FRAGMENTS + 1)[:FRAGMENTS]
             for at in range(0, len(labels), BLOCK_ROWS)]
    counts = b"LSPC" + struct.pack("<IIIIQ", 1, 0, FRAGMENTS, BLOCK_ROWS, len(labels)) + \
        np.cumsum(cells, axis=0).astype("<u4").tobytes()
    schema = pyarrow.schema([pyarrow.field("label", pyarrow.uint16(), True)])
    with LanceFileWriter(where, schema, version="2.2") as writer:
        column = pyarrow.array(labels, mask=labels == FRAGMENTS)
        writer.write_batch(pyarrow.record_batch([column], schema=schema))
        index = writer.add_global_buffer(counts)
        writer.add_schema_metadata("lance:stable_partition:counts_buffer_index", str(index))
    return os.path.getsize(where)


def record(path, kind, number, fragments, numbers):
    """One rewrite: its record in the history, the new fragments, where each row went."""
    rewrite = partition if kind == "partition" else compaction
    mapping, went, sizes, deleted = rewrite(fragments, numbers)
    made = [((number + 1) * FRAGMENTS + i, rows) for i, rows in enumerate(sizes)]
    if kind == "legacy":
        group = [[1, 2, mapping]] + digests(2, fragments, deleted) + digests(3, made, [0] * FRAGMENTS)
        return [1, 2, encode([[1, 0, number + 1], [3, 2, encode(group)]])], made, went
    if kind == "ordered":
        arm = [3, 2, encode([[1, 2, mapping]])]
    else:
        map_id = str(uuid.UUID(int=number + 1))
        arm = [4, 2, encode([[1, 2, map_id.encode()], [2, 0, write_map(path, map_id, mapping)]])]
    sides = digests(1, fragments, deleted) + digests(2, made, [0] * FRAGMENTS)
    return [2, 2, encode(sides + [arm])], made, went


def publish(path, kind, content, live):
    """Puts the history and the live fragments into the manifest of a dataset of one row."""
    ident = uuid.UUID(int=7)
    at = os.path.join(path, "_indices", str(ident))
    os.makedirs(at)
    with open(os.path.join(at, "details.binpb"), "wb") as file:
        file.write(content)
    details = encode([[2, 2, encode([[1, 2, b"details.binpb"], [3, 0, len(content)]])]])
    kind_url = b"/lance.table.FragmentReuseIndexDetails"
    entry = encode([[1, 2, encode([[1, 2, ident.bytes]])], [3, 2, b"__lance_frag_reuse"], [4, 0, 1],
                    [6, 2, encode([[1, 2, kind_url], [2, 2, details]])], [7, 0, int(kind != "legacy")]])
    section = encode([[1, 2, entry]])
    directory = os.path.join(path, "_versions")
    where = next(os.path.join(directory, n) for n in os.listdir(directory) if n.endswith(".manifest"))
    with open(where, "rb") as file:
        manifest = ManifestFile(file.read())
    stored = next(value for number, _, value in manifest.message.fields if number == 2)
    plain = [f for f in decode(stored) if f[0] not in (1, 4)]
    fragments = [[2, 2, encode([[1, 0, i], *plain, [4, 0, rows]])] for i, rows in live]
    flags = [] if kind == "legacy" else [[9, 0, 1 << 10], [10, 0, 1 << 10]]
    fields = [f for f in manifest.message.fields if f[0] not in (2, 6, 9, 10, 11, 23)]
    fields += fragments + flags + [[6, 0, 0], [11, 0, live[-1][0]]]
    body = encode(sorted(fields, key=lambda field: field[0]))
    with open(where, "wb") as file:
        file.write(struct.pack("<I", len(section)) + section + struct.pack("<I", len(body)) + body)
        file.write(struct.pack("<qhh4s", 4 + len(section), 0, 2, b"LANC"))


def history(work, kind, hops, rows):
    """The dataset of one chain, made unless it is there, and what is due of all addresses of its start."""
    import lance
    import pyarrow
    path = os.path.join(work, f"{kind}_{hops}_{rows}.lance")
    if not os.path.exists(path + ".json"):
        numbers = np.random.default_rng(hops)
        lance.write_dataset(pyarrow.table({"c": [1]}), path, mode="overwrite")
        fragments = [(i, rows) for i in range(FRAGMENTS)]
        where, records = np.arange(FRAGMENTS * rows), []
        for number in range(hops):
            one, fragments, went = record(path, kind, number, fragments, numbers)
            records.append(one)
            where = np.where(where >= 0, went[where], -1)
        publish(path, kind, encode(records), fragments)
        bounds, where = starts(fragments), where[where >= 0]
        place = np.searchsorted(bounds, where, "right") - 1
        ids = np.array([i for i, _ in fragments], "u8")
        current = (ids[place] << np.uint64(32)) + (where - bounds[place]).astype("u8")
        with open(path + ".json", "w") as file:
            json.dump([len(current), int(current.sum(dtype="u8"))], file)
    with open(path + ".json") as file:
        return path, json.load(file)


def address_files(work, rows):
    """{order: file} of the addresses of the first fragments."""
    out = {order: os.path.join(work, f"{order}_{rows}") for order in ("ascending", "shuffled", "single")}
    every = np.concatenate([(np.uint64(i) << np.uint64(32)) + np.arange(rows, dtype="u8")
                            for i in range(FRAGMENTS)])
    mixed = np.random.default_rng(3).permutation(every)
    for order, values in (("ascending", every), ("shuffled", mixed), ("single", mixed[:SINGLES])):
        values.astype("<u8").tofile(out[order])
    return out


# ---- measuring ----------------------------------------------------------------------------

def run(command, rounds, limits=None):
    """(opened, seconds of the first round and of the others, what came out, peak in MiB), or None."""
    held = ["taskset", "-c", "0", "prlimit", f"--data={MOST_BYTES}"]
    try:
        done = subprocess.run(held + command + [str(rounds)], text=True, check=False, capture_output=True,
                              env={**os.environ, **(limits or {})}, timeout=4 * PEER_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        print(f"  {' '.join(command[:1])}: {done.returncode}: {done.stderr.strip()[-200:]}")
        return None
    lines = [line.split() for line in done.stdout.splitlines()]
    times = [float(line[0]) for line in lines[1:-1]]
    came = {(int(line[1]), int(line[2])) for line in lines[1:-1]}
    opened = float(lines[0][1]), int(lines[0][2])
    return opened, times[0], times[1:] or times, came, int(lines[-1][1]) / 1024


def measure(kind, hops, order, path, file, due, rounds):
    step, count = ("1", SINGLES) if order == "single" else ("0", os.path.getsize(file) // 8)
    peer_limits = {"LANCE_CPU_THREADS": "1", "LANCE_IO_THREADS": "1", "TOKIO_WORKER_THREADS": "1",
                   "RAYON_NUM_THREADS": "1"}
    mine = run([TRANSLATE, path, file, step], rounds)
    if mine is None:
        raise SystemExit(f"{path}: not translated")
    if order != "single" and mine[3] != {tuple(due)}:
        raise SystemExit(f"{path}: {mine[3]} came out, {due} is due")
    peer = None
    before = PEER_TOOK.get(order, (1, 0))
    if kind == "legacy" and before[1] * hops / before[0] * PEER_ROUNDS < PEER_SECONDS:
        peer = run([sys.executable, "-W", "ignore", "-c", PEER, path, file, step], PEER_ROUNDS, peer_limits)
    if peer is not None:
        PEER_TOOK[order] = hops, statistics.median(peer[2])
        if peer[3] != mine[3]:
            raise SystemExit(f"{path}: {mine[3]} came out, pylance has {peer[3]}")
    seconds = statistics.median(mine[2])
    theirs = statistics.median(peer[2]) if peer is not None else None
    rate = count * hops / seconds
    aim = None if order == "single" else PARTITION_AIM if kind == "partition" else ORDERED_AIM
    if order == "ascending":
        OPENED.append((kind, hops, mine[0], os.path.getsize(os.path.join(
            path, "_indices", str(uuid.UUID(int=7)), "details.binpb")), map_bytes(path)))
    ROWS.append((kind, hops, order, count / seconds, rate, aim if order == "ascending" else None,
                 count / theirs if theirs else None, mine[1], peer[1] if peer else None, mine[4],
                 peer[4] if peer else None))
    against = f" pylance {count / theirs:.3g}/s, {theirs / seconds:.2f}x, first {peer[1]:.2f} s," \
              f" {peer[4]:.0f} MiB" if peer else ""
    print(f"{kind:9} {hops:4} hops {order:9} {count / seconds:10.3g}/s {rate:10.3g} hops/s"
          f" first {mine[1]:.3f} s {mine[4]:.0f} MiB{against}", flush=True)


def map_bytes(path):
    home = os.path.join(path, "_fri")
    names = os.listdir(home) if os.path.isdir(home) else []
    return sum(os.path.getsize(os.path.join(home, n, "stable_partition.lance")) for n in names)


def number(value, form="{:,.0f}"):
    return "" if value is None else form.format(value)


def write_markdown(path):
    with open(path, "w") as file:
        benchtable.write(file, "| history | hops | addresses | ours, M/s | M hops/s | aim | | pylance, M/s | ratio |"
                         " first round, s, ours / pylance | peak MiB, ours / pylance |", (
            (kind, hops, order, f"{speed / 1e6:.3g}", f"{rate / 1e6:.3g}",
             ">= " + number(aim / 1e6) if aim else "", benchtable.verdict(rate, aim),
             number(peer and peer / 1e6, "{:.3g}"), number(peer and speed / peer, "{:.2f}x"),
             f"{first:.3f} / {number(peer_first, '{:.2f}') or '-'}", f"{peak:.0f} / {number(peer_peak) or '-'}")
            for kind, hops, order, speed, rate, aim, peer, first, peer_first, peak, peer_peak in ROWS))
        file.write("\n")
        benchtable.write(file, "| history | hops | opening, ms | bytes read | of the history | of its row maps |", (
            (kind, hops, f"{seconds * 1e3:.1f}", f"{read:,}", f"{stored:,}", f"{maps:,}")
            for kind, hops, (seconds, read), stored, maps in OPENED))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--hops", default="1,10,100")
    parser.add_argument("--only", default="legacy,ordered,partition")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--markdown")
    args = parser.parse_args()
    work = args.work or tempfile.mkdtemp(prefix="lancet-translate-")
    os.makedirs(work, exist_ok=True)
    rows = 10_000 if args.small else 1_000_000
    files = address_files(work, rows)
    try:
        for kind in args.only.split(","):
            for hops in map(int, args.hops.split(",")):
                path, due = history(work, kind, hops, rows)
                for order, file in files.items():
                    measure(kind, hops, order, path, file, due, args.rounds)
    finally:
        if args.markdown:
            write_markdown(args.markdown)


if __name__ == "__main__":
    main()
