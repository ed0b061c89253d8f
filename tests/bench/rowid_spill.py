#!/usr/bin/env python3
"""What row ids and versions cost, inline and spilled, against pylance's, in one run.

usage: rowid_spill.py [--work DIR] [--fragments N] [--rows N] [--rounds N] [--only WORKLOAD[,ARM]] [--markdown FILE]

Two workloads over fragments of a million rows, each appended by itself: deleted (30 % of the rows deleted, then
compacted) and shuffled (every row rewritten in random order with the versions it had, then compacted). Two arms:
inline, and spilled with the default limit of 204,800 bytes. Either side compacts a copy of the same dataset, and what
each then costs is measured on its own result, in turns, in fresh processes with warm files; where it says so, ours is
measured on pylance's result, too. Rows are "ours / pylance: ratio" of medians, with the least in parentheses. Both
results are read by pylance and must hold the same rows, ids and versions. ROWID_SPILL names our side
(tests/bench/rowid_spill). Needs pylance (run it with that Python).
"""
import argparse
import glob
import json
import os
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import benchtable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
from wire import decode  # noqa: E402

PROGRAM = os.environ.get("ROWID_SPILL", "rowid_spill")
TARGET = 1_300_000  # rows of a compacted fragment, about: two of those that the deletions leave
DELETED = 30  # percent
SCATTER = 2_654_435_761, 4_294_967_291, 1_000_003, 1_000_000_007
TAKEN = 100  # rows
SAME_BYTES = 4096  # sizes that differ by less have no aim
CONFIG = {"lance.row_lineage.spill": "true"}
RECORDED_SIZE = 8, 1_000_000  # fragments, rows of each
RECORDED_ROWS = {"deleted": 1_400_000, "shuffled": 1_000_000}  # of a fragment after the compaction
RECORDED = {  # what the reference's own benchmark printed: the peer's inner steps that Python can't call alone
    ("deleted", "inline"): {"sequence": 0.13e-3, "lookup": 0.39e-3},
    ("deleted", "spilled"): {"sequence": 14.26e-3, "lookup": 69.01e-3},
    ("shuffled", "inline"): {"sequence": 5.32e-3, "lookup": 427.26e-3},
    ("shuffled", "spilled"): {"sequence": 14.05e-3, "lookup": 536.81e-3},
}


# ------------------------------------------------------------------------------------------- the peer's side

def number_of(path, word):
    with open(path) as file:
        return next(int(line.split()[1]) for line in file if line.startswith(word))


def peer(path, what, rounds, *arguments):
    """The same measures as those of the program, by pylance."""
    import lance
    import numpy
    import pyarrow
    names = [field.name for field in lance.dataset(path).schema]
    row = pyarrow.table({name: pyarrow.array([1], pyarrow.int64()) for name in names})
    ids = numpy.fromfile(arguments[0], "<u8").tolist() if what in ("lookup", "take") else []

    def one_fragment(dataset):
        return dataset.get_fragments()[int(arguments[0])].scanner(columns=["_rowid"]).to_table().num_rows

    def append(dataset):
        return lance.write_dataset(row, dataset, mode="append")

    def compact(dataset):
        dataset.optimize.compact_files(target_rows_per_fragment=int(arguments[0]))
        return dataset.count_rows()

    def scan(dataset):
        wanted = arguments[0].split(",")
        scanner = dataset.scanner(columns=[name for name in wanted if name != "_rowid"],
                                  with_row_id="_rowid" in wanted)
        return sum(batch.num_rows for batch in scanner.to_batches())

    actions = {"open": lambda dataset: 0, "append": append, "sequence": one_fragment,
               "lookup": lambda dataset: dataset._take_rows(ids).num_rows,
               "take": lambda dataset: dataset._take_rows(ids).num_rows, "scan": scan, "compact": compact}
    dataset = lance.dataset(path)
    if what == "take":
        actions[what](dataset)
    for _ in range(int(rounds)):
        if what not in ("append", "take", "open", "compact"):
            dataset = lance.dataset(path)
        written, wall, processor = number_of("/proc/self/io", "wchar:"), time.perf_counter(), time.process_time()
        if what in ("open", "compact"):
            dataset = lance.dataset(path)
        result = actions[what](dataset)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        if what == "append":
            dataset, result = result, 1
        print(f"{wall:.9f} {processor:.9f} {number_of('/proc/self/io', 'wchar:') - written} 0 {result}")
    print("peak", number_of("/proc/self/status", "VmHWM:"))


# ------------------------------------------------------------------------------------------- datasets

def varints(values):
    """A row of up to five bytes for each value, and which of them count."""
    import numpy
    values = values.astype("u8")
    at = numpy.arange(5, dtype="u8")
    digits = (values[:, None] >> (7 * at)) & 0x7F
    sizes = numpy.maximum(1, sum((values >> (7 * i) > 0).astype("u8") for i in at.tolist()))
    return (digits | ((at[None, :] + 1 < sizes[:, None]) * 0x80).astype("u8")).astype("u1"), \
        at[None, :] < sizes[:, None]


def version_runs(versions):
    """RowDatasetVersionSequence of these versions, a run for each stretch of equal ones."""
    import numpy
    starts = numpy.flatnonzero(numpy.concatenate([[True], versions[1:] != versions[:-1]]))
    ends = numpy.append(starts[1:], len(versions))
    (low, low_on), (high, high_on), (made, made_on) = varints(starts), varints(ends), varints(versions[starts])
    sizes = [on.sum(axis=1) for on in (low_on, high_on, made_on)]
    span = 2 + sizes[0] + sizes[1]

    def column(values):
        values = numpy.broadcast_to(numpy.asarray(values, "u1"), (len(starts),))
        return values[:, None]
    parts = [column(10), column(5 + span + sizes[2]), column(10), column(span + 2), column(10), column(span),
             column(8), low, column(16), high, column(16), made]
    # Counted from within: range = 8 low 16 high; span = 10 size range; run = 10 size span 16 version.
    on = [low_on if part is low else high_on if part is high else made_on if part is made
          else numpy.ones((len(starts), 1), bool) for part in parts]
    return numpy.concatenate(parts, axis=1)[numpy.concatenate(on, axis=1)]


def meta(kind, array):
    import lance
    return getattr(lance.fragment, kind).from_json('{"%s":[%s]}' % (
        "Inline" if kind == "RowIdMeta" else "inline", ",".join(map(str, array.tolist()))))


def make_appended(path, fragments, rows):
    import lance
    import numpy
    import pyarrow
    for i in range(fragments):
        ids = numpy.arange(i * rows, (i + 1) * rows)
        table = pyarrow.table({"id": pyarrow.array(ids), "value": pyarrow.array(ids * 3)})
        lance.write_dataset(table, path, mode="append" if i else "create", max_rows_per_file=rows,
                            enable_stable_row_ids=True)


def is_deleted(ids):
    """Of an id, or as a condition on a column: as good as at random, and the same on every machine."""
    if isinstance(ids, str):
        return f"(({ids} * {SCATTER[0]}) % {SCATTER[1]} * {SCATTER[2]}) % {SCATTER[3]} % 100 < {DELETED}"
    return ids * SCATTER[0] % SCATTER[1] * SCATTER[2] % SCATTER[3] % 100 < DELETED


def delete_rows(path, fragments, rows):
    import lance
    lance.dataset(path).delete(is_deleted("id"))


def shuffle_rows(path, fragments, rows):
    import lance
    import numpy
    import pyarrow
    order = numpy.random.RandomState(1).permutation(fragments * rows)
    dataset = lance.dataset(path)
    old = [fragment.metadata for fragment in dataset.get_fragments()]
    new = []
    for i in range(fragments):
        ids = order[i * rows:(i + 1) * rows]
        made = lance.fragment.LanceFragment.create(
            path, pyarrow.table({"id": pyarrow.array(ids), "value": pyarrow.array(ids * 3)}))
        made.id = fragments + i
        made.row_id_meta = lance.fragment.RowIdSequence(ids.tolist()).to_inline_metadata()
        versions = version_runs(ids // rows + 1)
        made.created_at_version_meta = meta("RowDatasetVersionMeta", versions)
        made.last_updated_at_version_meta = made.created_at_version_meta
        new.append(made)
    operation = lance.LanceOperation.Rewrite([lance.LanceOperation.RewriteGroup(old, new)], [])
    lance.LanceDataset.commit(dataset, operation, read_version=dataset.version)


def make_base(work, workload, arm, fragments, rows):
    """The dataset that both sides compact; kept in the directory."""
    import datetime
    import lance
    path = os.path.join(work, f"{workload}-{arm}-{fragments}x{rows}.lance")
    if os.path.exists(path):
        return path
    making = path + ".making"
    shutil.rmtree(making, ignore_errors=True)
    make_appended(making, fragments, rows)
    if arm == "spilled":
        lance.dataset(making).update_config(CONFIG)
    (delete_rows if workload == "deleted" else shuffle_rows)(making, fragments, rows)
    lance.dataset(making).cleanup_old_versions(older_than=datetime.timedelta(0), delete_unverified=True)
    os.rename(making, path)
    return path


def ids_file(work, workload, fragments, rows):
    """Ids of rows that are there."""
    path = os.path.join(work, f"{workload}.ids")
    numbers, chosen = random.Random(9), []
    while len(chosen) < TAKEN:
        one = numbers.randrange(fragments * rows)
        if workload != "deleted" or not is_deleted(one):
            chosen.append(one)
    with open(path, "wb") as file:
        file.write(struct.pack(f"<{TAKEN}Q", *chosen))
    return path


# ------------------------------------------------------------------------------------------- measuring

class Samples:
    def __init__(self):
        self.rounds, self.peak = [], 0

    def add(self, text):
        for line in text.splitlines():
            if line.startswith("peak"):
                self.peak = max(self.peak, int(line.split()[1]))
            else:
                self.rounds.append([float(word) for word in line.split()])

    def of(self, column=0):
        return statistics.median(one[column] for one in self.rounds)

    def least(self):
        return min(one[0] for one in self.rounds)


def run(side, path, what, rounds, *arguments):
    command = [PROGRAM] if side.startswith("ours") else [sys.executable, "-W", "ignore", os.path.abspath(__file__), "--peer"]
    done = subprocess.run(command + [path, what, str(rounds), *map(str, arguments)], capture_output=True, text=True,
                          timeout=1800)
    if done.returncode:
        raise SystemExit(f"{side}: {what}: {done.stderr.strip()[-500:]}")
    return done.stdout


def alone(path, *command):
    """Ours, where the peer can't be asked."""
    samples = Samples()
    samples.add(run("ours", path, *command))
    return samples


def turns(places, what, rounds, *arguments, passes=2):
    """Both sides in turns: {"ours": Samples, "peer": Samples}."""
    samples = {side: Samples() for side in places}
    for _ in range(passes):
        for side, path in places.items():
            samples[side].add(run(side, path, what, -(-rounds // passes), *arguments))
    return samples


def newest(path, folder, pattern):
    return max(glob.glob(os.path.join(path, folder, pattern)), key=lambda name: os.stat(name).st_mtime_ns, default="")


def message_of(path):
    """The newest manifest: of its message the fragments' lineage, inline bytes."""
    with open(newest(path, "_versions", "*.manifest"), "rb") as file:
        raw = file.read()
    at = struct.unpack("<q", raw[-16:-8])[0]
    size = struct.unpack("<I", raw[at:at + 4])[0]
    totals = {"message": size, "ids": 0, "versions": 0, "spilled": 0, "file": len(raw)}
    for number, _, value in decode(raw[at + 4:at + 4 + size]):
        if number != 2:
            continue
        for inner, kind, body in decode(value):
            totals["ids"] += len(body) if inner == 5 else 0
            totals["versions"] += len(body) if inner in (7, 9) else 0
            totals["spilled"] += inner in (12, 13, 14)
    return totals


def sizes_of(path, before):
    """Of the result of a compaction: bytes of everything that it wrote."""
    totals = message_of(path)
    totals["transaction"] = os.path.getsize(newest(path, "_transactions", "*.txn") or os.devnull)
    data = set(glob.glob(os.path.join(path, "data", "*.lance"))) - before
    totals["data"] = sum(map(os.path.getsize, data))
    return totals


def same_rows(paths):
    """Whether pylance reads the same rows, ids and versions from both."""
    import lance
    columns = ["id", "value", "_rowid", "_row_created_at_version", "_row_last_updated_at_version"]
    scanners = [lance.dataset(path).scanner(columns=columns, batch_size=65536).to_table() for path in paths]
    return scanners[0].equals(scanners[1])


def copied(base, path):
    shutil.rmtree(path, ignore_errors=True)
    subprocess.run(["cp", "-al", base, path], check=True)
    return path


def rows_file(work):
    """A data file of one row, as an append takes it."""
    import lance
    import pyarrow
    path = os.path.join(work, "one.lance")
    shutil.rmtree(path, ignore_errors=True)
    one = pyarrow.array([1], pyarrow.int64())
    lance.write_dataset(pyarrow.table({"id": one, "value": one}), path)
    return newest(path, "data", "*.lance")


class Table:
    def __init__(self, workload, arm, size):
        self.workload, self.arm, self.size, self.rows = workload, arm, size, []

    def add(self, name, ours, theirs, aim=1.0, note=""):
        """Both in the same unit, less is better; texts beside them."""
        ratio = theirs[0] / ours[0] if ours[0] else float("inf")
        self.rows.append((name, ours[1], theirs[1], ratio, aim, note))
        verdict = "" if aim is None else "met" if ratio >= aim else "MISSED"
        print(f"{self.workload:9}{self.arm:8} {name:34} {ours[1]:>22} {theirs[1]:>22} {ratio:9.2f}x  {verdict} {note}",
              flush=True)

    def times(self, name, samples, aim=1.0, note="", ours="ours"):
        mine, theirs = samples[ours], samples["peer"]
        text = [f"{one.of() * 1e3:.2f} ({one.least() * 1e3:.2f}) ms" for one in (mine, theirs)]
        cpu = f"processor {mine.of(1) * 1e3:.2f} / {theirs.of(1) * 1e3:.2f} ms"
        self.add(name, (mine.of(), text[0]), (theirs.of(), text[1]), aim, "; ".join(filter(None, [cpu, note])))

    def recorded(self, name, mine, theirs, aim, rows=None):
        """Ours beside what the reference's own benchmark printed; of another size it has no aim. `rows`: those that
        ours is for; where they are more than the recorded ones, the recorded time is that often as long."""
        times = round((rows or 0) / RECORDED_ROWS[self.workload]) or 1
        self.add(name, (mine.of(), f"{mine.of() * 1e3:.3f} ({mine.least() * 1e3:.3f}) ms"),
                 (times * theirs, f"{times} x {theirs * 1e3:.2f} ms, recorded"[0 if times > 1 else 4:]),
                 aim if self.size == RECORDED_SIZE else None, f"processor {mine.of(1) * 1e3:.3f} ms")

    def bytes(self, name, ours, theirs, aim=1.0, note=""):
        same = abs(ours - theirs) < SAME_BYTES
        self.add(name, (ours, f"{ours:,}"), (theirs, f"{theirs:,}"), None if same else aim, note)


def compact_both(table, work, base, rounds):
    """Compacts copies: one result of each side stays."""
    before = {os.path.join(base, "data", name) for name in os.listdir(os.path.join(base, "data"))}
    places = {side: os.path.join(work, f"{side}.lance") for side in ("ours", "peer")}
    samples, durable = {side: Samples() for side in places}, Samples()
    for _ in range(rounds):
        durable.add(run("ours", copied(base, places["ours"]), "compact", 1, TARGET, "synced"))
        for side, path in places.items():
            samples[side].add(run(side, copied(base, path), "compact", 1, TARGET, "plain"))
    if not same_rows(list(places.values())):
        raise SystemExit("the results differ")
    one = durable.rounds[0]
    table.times("compaction", samples, 1.5, f"durable {durable.of() * 1e3:.0f} ms, {one[3]:.0f} syncs")
    peaks = [samples[side].peak for side in places]
    table.add("compaction: peak memory", *[(kib, f"{kib / 1024:.0f} MiB") for kib in peaks], 4)
    sizes = [sizes_of(path, {name.replace(base, path) for name in before}) for path in places.values()]
    table.bytes("manifest file", *[one["file"] for one in sizes])
    table.bytes("of which row ids", *[one["ids"] for one in sizes])
    table.bytes("of which row versions", *[one["versions"] for one in sizes])
    table.bytes("compaction transaction file", *[one["transaction"] for one in sizes])
    table.bytes("compaction output (data files)", *[one["data"] for one in sizes])
    return places, sizes, samples["ours"].rounds[0][4]


def appends(table, work, places, rounds):
    copies = {side: copied(path, os.path.join(work, f"{side}-append.lance")) for side, path in places.items()}
    copies["ours synced"] = copied(places["ours"], os.path.join(work, "synced-append.lance"))
    copies["ours, their table"] = copied(places["peer"], os.path.join(work, "their-append.lance"))
    samples = {side: Samples() for side in copies}
    file = rows_file(work)
    for side, path in copies.items():
        how = "synced" if "synced" in side else "plain"
        samples[side].add(run(side, path, "append", rounds + 1, file, how))
        samples[side].rounds = samples[side].rounds[1:]  # the first reads the version
    mine, synced = samples["ours"], samples["ours synced"]
    aim = 5 if (table.workload, table.arm) == ("shuffled", "inline") else 1
    table.times("append commit", samples, aim,
                f"written {mine.of(2):,.0f} / {samples['peer'].of(2):,.0f}; "
                f"durable {synced.of() * 1e3:.2f} ms, {synced.of(3):.0f} syncs")
    table.times("append commit, on their table", samples, aim, ours="ours, their table")
    for path in copies.values():
        shutil.rmtree(path)


def reads(table, work, places, rounds, ids):
    both = {**places, "ours, their table": places["peer"]}
    recorded = RECORDED[table.workload, table.arm]
    spilled, shuffled = table.arm == "spilled", table.workload == "shuffled"
    samples = turns(both, "open", rounds)
    table.times("cold open", samples, 30 if shuffled and not spilled else 1)
    table.times("cold open, on their table", samples, 30 if shuffled and not spilled else 1, ours="ours, their table")
    samples = turns(places, "sequence", rounds, 0)
    last = alone(places["ours"], "last_id", rounds, 0)
    # The recorded step ends with all ids in a list, but here, where it ends with the bitmaps as they are stored.
    loaded = samples["ours"] if spilled or shuffled else last
    table.recorded("load one sequence", loaded, recorded["sequence"], 7 if spilled else 1,
                   samples["ours"].rounds[0][4])
    table.recorded("last row id of one fragment", last, recorded["sequence"], None)
    table.times("all row ids of one fragment", samples)
    table.recorded("row id index build", alone(places["ours"], "resolve", rounds, ids), recorded["lookup"], 3)
    table.times(f"first take of {TAKEN} rows by id", turns(places, "lookup", rounds, ids), 3)
    table.times(f"take of {TAKEN} rows by id", turns(places, "take", rounds, ids))
    table.times("scan of user columns", turns(places, "scan", rounds, "id,value"))
    table.times("scan with row ids", turns(places, "scan", rounds, "id,value,_rowid"))


def measure(work, workload, arm, args):
    table = Table(workload, arm, (args.fragments, args.rows))
    base = make_base(work, workload, arm, args.fragments, args.rows)
    places, sizes, rows = compact_both(table, work, base, args.compactions)
    appends(table, work, places, args.rounds)
    reads(table, work, places, args.rounds, ids_file(work, workload, args.fragments, args.rows))
    for path in places.values():
        shutil.rmtree(path)
    return table, sizes, rows


def added_bytes(tables, workload):
    """What spilling adds to the data files, per row."""
    (_, inline, rows), (table, spilled, _) = (tables[workload, arm] for arm in ("inline", "spilled"))
    mine, theirs = ((spilled[i]["data"] - inline[i]["data"]) / rows for i in (0, 1))
    table.add("bytes that spilling adds, per row", (mine, f"{mine:.3f}"), (theirs, f"{theirs:.3f}"),
              1 / 0.7 if workload == "deleted" else 1)


def write_markdown(path, tables):
    with open(path, "w") as file:
        benchtable.write(file, "| workload | arm | measure | ours | pylance | ratio | aim | | |", (
            (table.workload, table.arm, name, ours, theirs, f"{ratio:.2f}x",
             "" if aim is None else f">= {aim:.3g}x", benchtable.verdict(ratio, aim), note)
            for table, _, _ in tables.values() for name, ours, theirs, ratio, aim, note in table.rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work")
    parser.add_argument("--fragments", type=int, default=8)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--compactions", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown")
    parser.add_argument("--json")
    args = parser.parse_args()
    work = args.work or tempfile.mkdtemp(prefix="lancet-rowid-spill-")
    os.makedirs(work, exist_ok=True)
    only = args.only.split(",") if args.only else []
    tables = {}
    try:
        for workload in ("deleted", "shuffled"):
            for arm in ("inline", "spilled"):
                if all(word in (workload, arm) for word in only):
                    tables[workload, arm] = measure(work, workload, arm, args)
            if (workload, "inline") in tables and (workload, "spilled") in tables:
                added_bytes(tables, workload)
    finally:
        if args.markdown:
            write_markdown(args.markdown, tables)
        if args.json:
            with open(args.json, "w") as file:
                json.dump([[table.workload, table.arm, *row] for table, _, _ in tables.values() for row in table.rows],
                          file, indent=1)
        if not args.work:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        peer(*sys.argv[2:])
    else:
        main()
