#!/usr/bin/env python3
"""Writing against pylance's, in one run.

usage: write.py [--work DIR] [--rows N] [--rounds N] [--only PART[;PART]] [--markdown FILE]

Columns: an Arrow file of one column, appended to an empty dataset of version 2.2, which is mostly the choice of
encodings. Jobs: append from Arrow, CSV and JSON lines, update, delete, compaction (of values, of whole pages, of rows
that are left) and partition, beside which pylance sorts and writes. PART is a part of such a name. Each side works on
its own copy of the dataset, in turns, with warm files: medians of wall time and of the processor's (user and system,
all threads), the highest resident size of the process, and bytes of new files. Ours is a process from start to end,
with all of its syncs; of pylance, which makes no sync, start and imports are not counted, except as memory. What came
of it is read by pylance and must be the same on both sides. LANCET names our side. Needs pylance (run it with that
Python).
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import benchtable

LANCET = os.environ.get("LANCET", "lancet")
SLACK = 1.01  # of bytes
FRAGMENTS = 16  # of what is compacted
TARGET = 1_048_576  # rows of a compacted fragment
TABLE = []


# ------------------------------------------------------------------------------------------- the peer's side

def batches(source):
    """A reader of the file, by its name."""
    import pyarrow
    import pyarrow.csv
    import pyarrow.json
    if source.endswith(".arrow"):
        opened = pyarrow.ipc.open_file(pyarrow.memory_map(source))
        return pyarrow.RecordBatchReader.from_batches(
            opened.schema, (opened.get_batch(i) for i in range(opened.num_record_batches)))
    schema = table_schema()
    if source.endswith(".csv"):
        return pyarrow.csv.open_csv(source, convert_options=pyarrow.csv.ConvertOptions(
            column_types=schema, strings_can_be_null=True, quoted_strings_can_be_null=False))
    return pyarrow.json.open_json(source, parse_options=pyarrow.json.ParseOptions(explicit_schema=schema))


def peer(path, what, *arguments):
    import lance
    dataset = lance.dataset(path)

    def compact(**options):
        dataset.optimize.compact_files(target_rows_per_fragment=TARGET, **options)

    def partition():
        lance.write_dataset(dataset.to_table().sort_by(arguments[0]), path, mode="overwrite")

    actions = {"append": lambda: lance.write_dataset(batches(arguments[0]), path, mode="append"),
               "update": lambda: dataset.update({arguments[0]: arguments[1]}, where=arguments[2]),
               "delete": lambda: dataset.delete(arguments[0]),
               "compact": lambda: compact(compaction_mode="reencode"),
               "copy": lambda: compact(compaction_mode="force_binary_copy"),
               "partition": partition}
    wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    actions[what]()
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(time.perf_counter() - wall, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime,
          after.ru_maxrss)


def ours(path, what, *arguments):
    words = {"append": lambda file: ["append", path, f"file={file}"],
             "update": lambda column, value, where: ["update", path, f"set={column} = {value}", f"where={where}"],
             "delete": lambda where: ["delete", path, f"where={where}"],
             "compact": lambda: ["compact", path, f"target_rows={TARGET}", "binary_copy=never"],
             "copy": lambda: ["compact", path, f"target_rows={TARGET}", "binary_copy=force"],
             "partition": lambda by: ["partition", path, f"by={by}"]}
    start = time.perf_counter()
    child = subprocess.Popen([LANCET, *words[what](*arguments)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"lancet {what}: ended with {child.returncode}")
    return time.perf_counter() - start, usage.ru_utime, usage.ru_stime, usage.ru_maxrss


def theirs(path, what, *arguments):
    done = subprocess.run([sys.executable, "-W", "ignore", os.path.abspath(__file__), "--peer", path, what, *arguments],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"pylance: {what}: {done.stderr.strip()[-500:]}")
    return tuple(map(float, done.stdout.split()))


# ------------------------------------------------------------------------------------------- what is written

def texts(numbers, count, low, high):
    """Random lowercase words, `low` to `high` bytes each."""
    import numpy
    import pyarrow
    sizes = numbers.integers(low, high + 1, count)
    offsets = numpy.concatenate([[0], numpy.cumsum(sizes)]).astype("i4")
    letters = numbers.choice(numpy.frombuffer(b"eeeetttaaooiinnsshhrrddlucmfwypvbgkjqxz  ", "u1"), offsets[-1])
    return pyarrow.Array.from_buffers(pyarrow.string(), count, [
        None, pyarrow.py_buffer(offsets.tobytes()), pyarrow.py_buffer(letters.tobytes())])


def sentences(numbers, count, low, high):
    """Texts of words that come again."""
    import pyarrow
    words = [word.as_py() for word in texts(numbers, 2000, 2, 9)]
    sizes = numbers.integers(low, high + 1, count)
    chosen = numbers.zipf(1.3, sizes.sum()) % len(words)
    ends = sizes.cumsum()
    return pyarrow.array(" ".join(words[i] for i in chosen[end - size:end]) for end, size in zip(ends, sizes))


def some_null(numbers, array, share):
    import pyarrow
    import pyarrow.compute
    return pyarrow.compute.if_else(pyarrow.array(numbers.random(len(array)) >= share), array,
                                   pyarrow.scalar(None, array.type))


def cities(numbers, count):
    import pyarrow
    names = pyarrow.array([f"city of {i * 7919 % 100003}" for i in range(300)])
    return names.take(pyarrow.array(numbers.zipf(1.4, count) % 300))


def columns(count):
    """By name: makers of the values. Texts and lists are a quarter as many."""
    import numpy
    import pyarrow
    few = count // 4
    numbers = numpy.random.default_rng(5)

    def lists(counts, items):
        offsets = numpy.concatenate([[0], numpy.cumsum(counts)]).astype("i4")
        return pyarrow.ListArray.from_arrays(pyarrow.array(offsets), items(int(offsets[-1])))

    return {
        "int32 sorted": lambda: pyarrow.array(numpy.cumsum(numbers.integers(0, 5, count)).astype("i4")),
        "int32 random": lambda: pyarrow.array(numbers.integers(-2**31, 2**31, count).astype("i4")),
        "int32 below 1000": lambda: pyarrow.array(numbers.integers(0, 1000, count).astype("i4")),
        "int32 few values": lambda: pyarrow.array((numbers.integers(1, 30, count) * 71_234_567).astype("i4")),
        "int64 sorted": lambda: pyarrow.array(numpy.cumsum(numbers.integers(1, 100, count)) + 10**15),
        "int64 counted": lambda: pyarrow.array(numpy.arange(count)),
        "int64 random": lambda: pyarrow.array(numbers.integers(-2**63, 2**63, count)),
        "int64 few values": lambda: pyarrow.array(numbers.integers(1, 100, count) * 7_123_456_789_123_457),
        "int64 runs": lambda: pyarrow.array(numpy.repeat(numbers.integers(0, 10**12, count // 50 + 1), 50)[:count]),
        "float64 random": lambda: pyarrow.array(numbers.random(count)),
        "float64 prices": lambda: pyarrow.array(numbers.integers(0, 100_000, count) / 100),
        "float32 random": lambda: pyarrow.array(numbers.random(count).astype("f4")),
        "int32 nulls": lambda: some_null(numbers, pyarrow.array(numbers.integers(0, 10**6, count).astype("i4")), 0.2),
        "float64 nulls": lambda: some_null(numbers, pyarrow.array(numbers.random(count)), 0.2),
        "bool": lambda: pyarrow.array(numbers.random(count) < 0.3),
        "text short": lambda: texts(numbers, few, 2, 12),
        "text of words": lambda: sentences(numbers, few, 4, 12),
        "text long": lambda: texts(numbers, few // 16, 300, 900),
        "text few values": lambda: cities(numbers, few),
        "text nulls": lambda: some_null(numbers, texts(numbers, few, 2, 30), 0.2),
        "lists of int32": lambda: lists(numbers.integers(0, 8, few), lambda size: pyarrow.array(
            numbers.integers(0, 1000, size).astype("i4"))),
        "lists of text": lambda: lists(numbers.integers(0, 4, few), lambda size: texts(numbers, size, 3, 10)),
        "vectors, 128 floats": lambda: pyarrow.FixedSizeListArray.from_arrays(
            pyarrow.array(numbers.random(count // 64 * 128).astype("f4")), 128),
    }


def table_schema():
    import pyarrow
    return pyarrow.schema([("id", pyarrow.int64()), ("number", pyarrow.int32()), ("price", pyarrow.float64()),
                           ("city", pyarrow.string()), ("note", pyarrow.string()), ("count", pyarrow.int64())])


def mixed(count, seed=3):
    """The rows of the jobs."""
    import numpy
    import pyarrow
    numbers = numpy.random.default_rng(seed)
    return pyarrow.table([
        pyarrow.array(numpy.arange(count)), pyarrow.array(numbers.integers(0, 1000, count).astype("i4")),
        pyarrow.array(numbers.integers(0, 100_000, count) / 100), cities(numbers, count),
        texts(numbers, count, 3, 30), some_null(numbers, pyarrow.array(numbers.integers(0, 10**6, count)), 0.1),
    ], schema=table_schema())


def put_arrow(table, path):
    import pyarrow
    with pyarrow.ipc.new_file(path, table.schema) as file:
        file.write_table(table, max_chunksize=65536)


def put_csv(table, path):
    import pyarrow.csv
    pyarrow.csv.write_csv(table, path)


def put_json(table, path):
    names = table.schema.names
    with open(path, "w") as file:
        for batch in table.to_batches(max_chunksize=65536):
            for row in zip(*(column.to_pylist() for column in batch.columns)):
                file.write(json.dumps(dict(zip(names, row))) + "\n")


def made(path, make):
    """The path, when there was something or there is now."""
    if not os.path.exists(path):
        make(path + ".making" + os.path.splitext(path)[1])
        os.rename(path + ".making" + os.path.splitext(path)[1], path)
    return path


def write(table, path, fragments=1):
    import lance
    lance.write_dataset(table, path, data_storage_version="2.2", max_rows_per_file=-(-len(table) // fragments) or 1)


def column_case(work, name, count):
    import pyarrow

    def table():
        values = columns(count)[name]()
        return pyarrow.table([values], schema=pyarrow.schema([pyarrow.field("c", values.type)]))

    stem = os.path.join(work, f"{name.replace(' ', '_').replace(',', '')}_{count}")
    file = made(stem + ".arrow", lambda path: put_arrow(table(), path))
    base = made(stem + ".lance", lambda path: write(batches(file).schema.empty_table(), path))
    return base, ("append", file)


def job_case(work, name, count):
    def base(kind, make):
        return made(os.path.join(work, f"{kind}_{count}.lance"), make)

    def deleted(path):
        import lance
        write(mixed(count), path, FRAGMENTS)
        lance.dataset(path).delete("number < 300")

    def file(ending, put):
        return made(os.path.join(work, f"rows_{count}.{ending}"), lambda path: put(mixed(count), path))

    formats = {"append, Arrow": ("arrow", put_arrow), "append, CSV": ("csv", put_csv),
               "append, JSON lines": ("jsonl", put_json)}
    if name in formats:
        return base("empty", lambda path: write(table_schema().empty_table(), path)), \
            ("append", file(*formats[name]))
    pieces = base("pieces", lambda path: write(mixed(count), path, FRAGMENTS))
    commands = {"update, 10 % of rows": ("update", "price", "1.5", "number < 100"),
                "update, all rows": ("update", "number", "7", "number >= 0"),
                "delete, 10 % of rows": ("delete", "number < 100"),
                "delete, by text": ("delete", "city = 'city of 7919'"),
                "compact": ("compact",), "compact, whole pages": ("copy",),
                "compact, 30 % deleted": ("compact",), "partition": ("partition", "city")}
    return base("deleted", deleted) if "deleted" in name else pieces, commands[name]


JOBS = ("append, Arrow", "append, CSV", "append, JSON lines", "update, 10 % of rows", "update, all rows",
        "delete, 10 % of rows", "delete, by text", "compact", "compact, whole pages", "compact, 30 % deleted",
        "partition")


# ------------------------------------------------------------------------------------------- measuring

def files_of(path):
    return {os.path.join(top, name): os.path.getsize(os.path.join(top, name))
            for top, _, names in os.walk(path) for name in names}


def run(side, base, path, command):
    """One sample: wall, user, system, KiB, bytes of files that were not there."""
    shutil.rmtree(path, ignore_errors=True)
    subprocess.run(["cp", "-al", base, path], check=True)
    before = files_of(path)
    sample = side(path, *command)
    return (*sample, sum(size for name, size in files_of(path).items() if name not in before))


def same_rows(name, *paths):
    """Whether pylance reads the same from both, in order; where either has an order of its own, the same rows."""
    import lance
    one, two = (lance.dataset(path) for path in paths)
    if name.startswith(("update", "partition")):
        return one.to_table().sort_by("id") == two.to_table().sort_by("id")
    return one.count_rows() == two.count_rows() and all(
        mine == peers for mine, peers in zip(one.to_batches(batch_size=65536), two.to_batches(batch_size=65536)))


def aside(what, *arguments):
    """In a process of its own: the programs that are measured begin with this one's resident size as their highest."""
    return json.loads(subprocess.run([sys.executable, "-W", "ignore", os.path.abspath(__file__), "--aside", what,
                                      *arguments], check=True, text=True, stdout=subprocess.PIPE).stdout)


def aside_main(what, *arguments):
    actions = {"names": lambda: [*columns(1000), *JOBS], "same": same_rows,
               "case": lambda work, name, count: (job_case if name in JOBS else column_case)(work, name, int(count))}
    print(json.dumps(actions[what](*arguments)))


def measure(work, name, count, rounds):
    base, command = aside("case", work, name, str(count))
    paths = [os.path.join(work, side + ".lance") for side in ("ours", "peer")]
    samples = [], []
    for _ in range(rounds):
        for side, path, mine in zip((ours, theirs), paths, samples):
            mine.append(run(side, base, path, command))
    if not aside("same", name, *paths):
        raise SystemExit(f"{name}: the results differ")
    for path in paths:
        shutil.rmtree(path)
    record(name, *([statistics.median(column) for column in zip(*side)] for side in samples))


def record(name, mine, peers):
    rows = [("wall, ms", mine[0] * 1e3, peers[0] * 1e3, 1), ("user, ms", mine[1] * 1e3, peers[1] * 1e3, 1),
            ("processor, ms", sum(mine[1:3]) * 1e3, sum(peers[1:3]) * 1e3, 1),
            ("peak, MiB", mine[3] / 1024, peers[3] / 1024, 1), ("bytes", mine[4], peers[4], SLACK)]
    TABLE.append((name, rows))
    print(f"{name:22}" + "".join(
        f" {what.split(',')[0]} {one:,.0f}/{two:,.0f} {two / one if one else 0:.2f}x"
        f"{'' if one <= two * slack else '!'} " for what, one, two, slack in rows), flush=True)


def write_markdown(path):
    """A cell of each measure: ours / pylance, and the ratio; bold where the aim is missed."""
    def cell(what, one, two, slack):
        text = f"{one:,.0f} / {two:,.0f}, {two / one if one else 0:.2f}x"
        return text if one <= two * slack else f"{text} **missed**"

    with open(path, "w") as file:
        benchtable.write(file, "| part | " + " | ".join(row[0] for row in TABLE[0][1]) + " |",
                         ([name, *(cell(*row) for row in rows)] for name, rows in TABLE))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="parts of names, with ; between them")
    parser.add_argument("--markdown")
    args = parser.parse_args()
    work = args.work or tempfile.mkdtemp(prefix="lancet-write-")
    os.makedirs(work, exist_ok=True)
    try:
        for name in aside("names"):
            if any(part in name for part in args.only.split(";")):
                measure(work, name, args.rows, args.rounds)
    finally:
        if args.markdown:
            write_markdown(args.markdown)
        if not args.work:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        peer(*sys.argv[2:])
    elif sys.argv[1:2] == ["--aside"]:
        aside_main(*sys.argv[2:])
    else:
        main()
