"""Compactions and partitions that are cancelled while they run: by ctl/cancel and by a signal to
the one who writes the line. What is left is what was there; then the same line comes to its end."""
import errno
import json
import random
import signal
import subprocess
import sys
import time

from controllib import jobs, newest, result, send, state
from mountlib import Mount, Skip, case, check, equal, main, place, read, wait_for

try:
    import lance
    import numpy as np
    import pyarrow as pa
except ImportError:
    lance = None

ROWS, COLUMNS = 300_000, 8
LINES = {"compact": "binary_copy=never", "partition": "by=k"}
TRIES = 6


def dataset(stable):
    if lance is None:
        raise Skip(f"no pylance in {sys.executable}")
    path, rng = place("cancel") / "data.lance", np.random.default_rng(1)
    columns = {f"c{i}": rng.integers(0, 1 << 60, ROWS) for i in range(COLUMNS)}
    lance.write_dataset(pa.table({"k": pa.array(rng.integers(0, 5, ROWS)), **columns}), path,
                        max_rows_per_file=20_000, enable_stable_row_ids=stable)
    lance.dataset(path).create_scalar_index("c0", "BTREE")
    lance.dataset(path).delete("k = 3 and c1 % 2 = 0")
    return path


def files_of(path):
    return {str(file.relative_to(path)): file.lstat().st_size for file in path.rglob("*")
            if file.is_file() and file.name != "latest_version_hint.json"}


def progress(mount, job):
    words = read(mount.point / f"ctl/jobs/{job}/progress").decode().split()
    return int(words[0]) / max(1, int(words[1])) if len(words) == 3 else 0


def until(mount, job, share):
    """Until so much of it is done, or all."""
    end = time.monotonic() + 30
    while state(mount, job) in ("queued", "running") and progress(mount, job) < share:
        check(time.monotonic() < end, f"job {job} gets no further")
        time.sleep(0.002)


def check_cancelled(mount, job, before, version):
    """Whether it was; then nothing is left of it, but ids when they were reserved by then."""
    wait_for(lambda: state(mount, job) not in ("queued", "running"), f"job {job}")
    answer = json.loads(read(mount.point / f"ctl/jobs/{job}/result.json"))
    if state(mount, job) == "done":
        return False
    equal((state(mount, job), answer["errno"], answer["code"]),
          ("cancelled", "ECANCELED", "cancelled"), f"{answer}")
    wait_for(lambda: newest(mount) >= version, "versions")
    made = set(files_of(mount.dataset)) - set(before)
    check(len(made) in (0, 2) and all(name.startswith(("_versions/", "_transactions/"))
                                      for name in made), f"left behind: {made}")
    check(not set(before) - set(files_of(mount.dataset)), "files are gone")
    return True


def try_often(mount, name, cancel):
    """Cancels it at several places; each time the dataset is as it was."""
    rng, stopped, done = random.Random(name), 0, 0
    for at in range(TRIES):
        before, version = files_of(mount.dataset), newest(mount)
        job = max(jobs(mount), default=0) + 1
        if not cancel(mount, name, job, rng.random() * 0.9, at):
            done += 1
        elif check_cancelled(mount, job, before, version):
            stopped += 1
        else:
            done += 1
        if done:
            break
    check(stopped >= 2, f"{name}: {stopped} were cancelled, {done} were done")
    if not done:
        answer = result(mount.point / "ctl" / name, LINES[name])
        check("version" in answer, f"{answer}")
    lance.dataset(mount.dataset).validate()
    equal(lance.dataset(mount.dataset).count_rows(), mount.rows, "rows")


def by_file(mount, name, job, share, _):
    send(mount.point / "ctl" / name, LINES[name] + " async=true")
    until(mount, job, share)
    try:
        send(mount.point / "ctl/cancel", f"job={job}")
    except OSError as error:
        equal(error.errno, errno.EINVAL, "it had come to its end")
    return True


def by_signal(mount, name, job, share, at):
    """To the process whose write waits for it."""
    number = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)[at % 4]
    path = mount.point / "ctl" / name
    script = "import os, sys; os.write(os.open(sys.argv[1], os.O_WRONLY), sys.argv[2].encode())"
    child = subprocess.Popen([sys.executable, "-c", script, path, LINES[name] + "\n"],
                             stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: job in jobs(mount), "the job")
        until(mount, job, share)
        child.send_signal(number)
        child.wait(30)
    finally:
        child.kill()
        child.wait(30)
    return True


def mounted(stable):
    path = dataset(stable)
    mount = Mount(path)
    mount.rows = lance.dataset(path).count_rows()
    return mount


@case()
def compact_by_file():
    with mounted(True) as mount:
        try_often(mount, "compact", by_file)


@case()
def partition_by_file():
    with mounted(False) as mount:
        try_often(mount, "partition", by_file)


@case()
def compact_by_signal():
    with mounted(False) as mount:
        try_often(mount, "compact", by_signal)


@case()
def partition_by_signal():
    with mounted(True) as mount:
        try_often(mount, "partition", by_signal)


main()
