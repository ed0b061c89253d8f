#!/usr/bin/env python3
"""Mounted trees against pylance, the native tree and libfuse's passthrough_ll, in one run.

usage: mount.py [--work DIR] [--rounds N] [--only NAME[,NAME]] [--small] [--markdown FILE]

Peers and we take turns round by round; medians are compared, and what is printed is the ratio. Datasets
are made once below DIR and used again. --small shrinks them, to try the script. passthrough_ll is built from the
example source that libfuse3-dev installs. LANCEFS names the daemon, LANCET the program without a mount. Needs
pylance (run it with that Python), fuse3, gcc, tar, findutils.
"""
import argparse
import contextlib
import gc
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import benchtable

LANCEFS = os.environ.get("LANCEFS", "lancefs")
LANCET = os.environ.get("LANCET", "lancet")
EXAMPLE = "/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c"
ROWS = []


def record(name, ours, peer, peer_name, aim, better):
    """One line of the table; `better` says what of ours/peer counts as met: '<=' or '>='."""
    ratio = ours / peer if peer else float("nan")
    met = ratio <= aim if better == "<=" else ratio >= aim
    ROWS.append((name, ours, peer, peer_name, ratio, f"{better} {aim:g}", met))
    print(f"{name:44} {ours:12.6g} {peer:12.6g}  {ratio:8.3f}x {peer_name:16} aim {better} {aim:g}"
          f"  {'met' if met else 'MISSED'}", flush=True)


def record_limit(name, value, limit, unit):
    ROWS.append((name, value, limit, unit, value / limit, f"<= {limit:g} {unit}", value <= limit))
    print(f"{name:44} {value:12.6g} {unit:12} {'':25} aim <= {limit:g}"
          f"  {'met' if value <= limit else 'MISSED'}", flush=True)


def wait_mounted(path, process):
    for _ in range(2000):
        if os.path.ismount(path):
            return
        if process.poll() is not None:
            raise SystemExit(f"{process.args}: ended with {process.returncode}")
        time.sleep(0.005)
    raise SystemExit(f"{path}: not mounted after 10 s")


@contextlib.contextmanager
def mounted(command, mountpoint):
    os.makedirs(mountpoint, exist_ok=True)
    process = subprocess.Popen(command + [mountpoint], stdout=subprocess.DEVNULL)
    try:
        wait_mounted(mountpoint, process)
        yield process
    finally:
        subprocess.run(["fusermount3", "-u", "-z", mountpoint], check=False)
        process.wait(timeout=60)


def ours(dataset, mountpoint, *options):
    return mounted([LANCEFS, "-f", *options, dataset], mountpoint)


class Passthrough:
    """libfuse's own example, mounted over one directory."""

    def __init__(self, work):
        self.program = os.path.join(work, "passthrough_ll")
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "fuse3"], check=True, text=True,
                               capture_output=True).stdout.split()
        subprocess.run(["gcc", "-O2", "-w", EXAMPLE, "-o", self.program, *flags], check=True)

    def over(self, directory, mountpoint):
        return mounted([self.program, "-f", "-o", f"source={directory},cache=always"], mountpoint)


def timed(call, *args):
    gc.collect()
    start = time.perf_counter()
    call(*args)
    return time.perf_counter() - start


def shell(*command):
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


# ---------------------------------------------------------------- datasets

def make_fragments(path, count):
    import lance
    import pyarrow as pa
    lance.write_dataset(pa.table({"id": pa.array(range(count), pa.int64())}), path,
                        max_rows_per_file=1, enable_stable_row_ids=True)


def make_versions(path, count):
    import lance
    import pyarrow as pa
    dataset = lance.write_dataset(pa.table({"id": pa.array([0], pa.int64())}), path)
    for i in range(count - 1):
        dataset.update_config({"n": str(i)})


def make_wide(path, megabytes):
    import lance
    import numpy as np
    import pyarrow as pa
    values = np.random.default_rng(7).integers(0, 2**63, megabytes << 17, dtype=np.int64)
    lance.write_dataset(pa.table({"value": values}), path, max_rows_per_file=1 << 30)


def make_shuffled(path, rows):
    """8 fragments whose inline row ids are in random order: updated in random order, then compacted."""
    import lance
    import numpy as np
    import pyarrow as pa
    order = np.random.default_rng(11).permutation(8 * rows).astype(np.int64)
    lance.write_dataset(pa.table({"id": np.arange(8 * rows, dtype=np.int64)}), path,
                        max_rows_per_file=rows, enable_stable_row_ids=True)
    dataset = lance.dataset(path)
    updated = pa.table({"id": order})
    dataset.merge_insert("id").when_matched_update_all().execute(updated)
    lance.dataset(path).optimize.compact_files(target_rows_per_fragment=rows)


def dataset(work, name, maker, size):
    path = os.path.join(work, f"{name}_{size}.lance")
    if not os.path.exists(path):
        print(f"# making {os.path.basename(path)}", flush=True)
        try:
            maker(path, size)
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise
    return path


# ---------------------------------------------------------------- what is measured

def newest(mountpoint):
    return os.path.join(mountpoint, os.readlink(os.path.join(mountpoint, "latest")))


def measure_open(context, count):
    """Cold open of a version: a fresh process that prints its schema, and a fresh mount whose fragments are listed.

    The peer opens the dataset and lists its fragments; its start and imports are not counted, ours are.
    """
    path = dataset(context.work, "fragments", make_fragments, count)
    script = ("import time, lance\nstart = time.perf_counter()\n"
              f"fragments = lance.dataset({path!r}).get_fragments()\n"
              "ids = [f.fragment_id for f in fragments]\nprint(time.perf_counter() - start)")
    opened, listed, peer = [], [], []
    for _ in range(context.rounds):
        opened.append(timed(shell, LANCET, "show", path, "latest/schema.json"))
        with ours(path, context.mountpoint):
            directory = os.path.join(newest(context.mountpoint), "fragments")
            listed.append(timed(os.listdir, directory))
        peer.append(float(subprocess.run([sys.executable, "-c", script], check=True, text=True,
                                         capture_output=True).stdout))
    base = statistics.median(peer)
    record(f"open {count} fragments, whole process (s)", statistics.median(opened), base, "pylance",
           0.1 if count >= 10000 else 1, "<=")
    record(f"mounted: list {count} fragments (s)", statistics.median(listed), base, "pylance", 1, "<=")


def measure_versions(context, count):
    import lance
    path = dataset(context.work, "versions", make_versions, count)
    mine, peer = [], []
    for _ in range(context.rounds):
        with ours(path, context.mountpoint):
            mine.append(timed(os.listdir, os.path.join(context.mountpoint, "versions")))
        handle = lance.dataset(path)
        peer.append(timed(handle.version_refs))
    record(f"first ls versions/ of {count} (s)", statistics.median(mine), statistics.median(peer),
           "version_refs()", 0.2, "<=")


def measure_walks(context, count):
    path = dataset(context.work, "fragments", make_fragments, count)
    stamp = os.path.join(context.work, "stamp")
    open(stamp, "w").close()
    walks = {
        "find": (["find", "{}"], 12, 1.5),
        "find -newer": (["find", "{}", "-newer", stamp], None, 1.5),
        "ls -lR": (["ls", "-lR", "{}"], 12, 1.5),
        "du": (["du", "-s", "{}"], 12, 1.5),
        "tar": (["sh", "-c", "tar cf - {} | cat >/dev/null"], None, 5),
    }
    for name, (command, first_aim, again_aim) in walks.items():
        first, again, native = [], [], []
        for _ in range(context.rounds):
            with ours(path, context.mountpoint):
                here = [part.format(os.path.join(newest(context.mountpoint), "dataset")) for part in command]
                first.append(timed(shell, *here))
                again.append(timed(shell, *here))
            native.append(timed(shell, *[part.format(path) for part in command]))
        base = statistics.median(native)
        if first_aim:
            record(f"{name}, {count} files, first (s)", statistics.median(first), base, "native",
                   first_aim, "<=")
        record(f"{name}, {count} files, again (s)", statistics.median(again), base, "native", again_aim,
               "<=")


def read_all(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 17):
            pass


def read_random(path, count=4000):
    size = os.path.getsize(path) // 4096
    generator = random.Random(3)
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    for _ in range(count):
        os.pread(fd, 4096, generator.randrange(size) * 4096)
    os.close(fd)


def measure_reads(context, megabytes):
    path = dataset(context.work, "wide", make_wide, megabytes)
    name = os.listdir(os.path.join(path, "data"))[0]
    example = Passthrough(context.work)
    times = {key: ([], []) for key in ("sequential cold", "sequential warm", "4 KiB random cold")}
    read_all(os.path.join(path, "data", name))
    for _ in range(context.rounds):
        for side, mount in ((0, lambda: ours(path, context.mountpoint)),
                            (1, lambda: example.over(path, context.mountpoint))):
            below = "latest/dataset/data" if side == 0 else "data"
            file = os.path.join(context.mountpoint, below, name)
            with mount():
                times["sequential cold"][side].append(timed(read_all, file))
                times["sequential warm"][side].append(timed(read_all, file))
            with mount():
                times["4 KiB random cold"][side].append(timed(read_random, file))
    for key, aim in (("sequential cold", 1.5), ("4 KiB random cold", 1), ("sequential warm", 0.95)):
        mine, peer = (1 / statistics.median(values) for values in times[key])
        record(f"{key} reads ({megabytes} MiB per s or per run)", mine, peer, "passthrough_ll", aim, ">=")


def measure_row_ids(context, rows):
    path = dataset(context.work, "shuffled", make_shuffled, rows)
    generator = random.Random(5)
    for place in ("start", "end", "anywhere"):
        worst, middle = [], []
        for _ in range(context.rounds):
            with ours(path, context.mountpoint):
                fragments = os.path.join(newest(context.mountpoint), "fragments")
                files = [os.path.join(fragments, name, "lineage/_rowid") for name in os.listdir(fragments)]
                fds = [os.open(file, os.O_RDONLY) for file in files]
                for fd in fds:
                    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
                samples = []
                for _ in range(300):
                    fd = generator.choice(fds)
                    pages = os.fstat(fd).st_size // 4096
                    page = {"start": generator.randrange(min(200, pages)),
                            "end": pages - 1 - generator.randrange(min(200, pages)),
                            "anywhere": generator.randrange(pages)}[place]
                    samples.append(timed_pread(fd, page * 4096))
                for fd in fds:
                    os.close(fd)
            middle.append(statistics.median(samples))
            worst.append(sorted(samples)[int(len(samples) * 0.99)])
        record_limit(f"_rowid 4 KiB of 8 x {rows}, {place}, median", statistics.median(middle) * 1e3, 1, "ms")
        record_limit(f"_rowid 4 KiB of 8 x {rows}, {place}, 99 %", statistics.median(worst) * 1e3, 1, "ms")


def timed_pread(fd, offset):
    start = time.perf_counter()
    os.pread(fd, 4096, offset)
    return time.perf_counter() - start


def resident_kib(pid, field):
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith(field):
                return int(line.split()[1])
    return 0


def measure_memory(context, count):
    """Beside a small cache. Data files that were looked up keep their node for the life of the mount."""
    path = dataset(context.work, "fragments", make_fragments, count)
    with ours(path, context.mountpoint, "-o", "cache=1M") as process:
        for name, each in (("fragments", 64), ("dataset", 64 + 128)):
            shell("find", os.path.join(newest(context.mountpoint), name), "-newer", "/")
            limit = 16 + each * count / 2**20
            record_limit(f"resident after a walk of {name}/ ({count})",
                         resident_kib(process.pid, "VmRSS") / 1024, round(limit, 2), "MiB")


def measure_mount(context, count):
    path = dataset(context.work, "versions", make_versions, count)
    samples = []
    os.makedirs(context.mountpoint, exist_ok=True)
    for _ in range(context.rounds):
        samples.append(timed(shell, LANCEFS, path, context.mountpoint))
        shell("fusermount3", "-u", context.mountpoint)
        while os.path.ismount(context.mountpoint):
            time.sleep(0.01)
    record_limit(f"mount to first answer, {count} versions", statistics.median(samples) * 1e3, 50, "ms")


class Context:
    def __init__(self, work, rounds):
        self.work, self.rounds = work, rounds
        self.mountpoint = os.path.join(work, "mnt")


def write_markdown(path):
    with open(path, "w") as out:
        benchtable.write(out, "| measure | ours | peer | ratio | aim | |", (
            (name, f"{mine:.4g}", f"{peer:.4g} {peer_name}", f"{ratio:.3f}", aim, "met" if met else "**missed**")
            for name, mine, peer, peer_name, ratio, aim, met in ROWS))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="open,versions,walks,reads,rowids,memory,mount")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--markdown")
    args = parser.parse_args()
    work = args.work or tempfile.mkdtemp(prefix="lancefs-bench-")
    os.makedirs(work, exist_ok=True)
    context = Context(work, args.rounds)
    many, versions, rows, megabytes = (1000, 100, 10000, 32) if args.small else (100000, 10000, 1000000, 512)
    wanted = args.only.split(",")
    plan = {
        "open": lambda: [measure_open(context, n) for n in sorted({10, 1000, many})],
        "versions": lambda: [measure_versions(context, n) for n in (10, versions)],
        "walks": lambda: measure_walks(context, many),
        "reads": lambda: measure_reads(context, megabytes),
        "rowids": lambda: measure_row_ids(context, rows),
        "memory": lambda: measure_memory(context, many),
        "mount": lambda: [measure_mount(context, n) for n in (1, versions)],
    }
    try:
        for name in wanted:
            plan[name]()
    finally:
        if args.markdown:
            write_markdown(args.markdown)
        if not args.work:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
