"""Many writers of one dataset at once, and what it holds afterwards.

    soak.py [--seconds 600] [--seed N] [--plain] [--kills 200] [--keep DIR]

Writers through the control files of two mounts and pylance in processes of its own append, delete,
update, set keys, tag and restore. Then every version is held against a replay of the stored
transactions and against the logs of the writers: each acknowledged change is one version, each
version is somebody's. Last come commands whose daemon or program is killed while they run
(soakkill.py). Wants abs_top_builddir in the environment, and /dev/fuse.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import lance

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mount"))
import mountlib  # noqa: E402
from mountlib import Mount, check, equal, place  # noqa: E402
from soakmodel import Model  # noqa: E402
from soakwriter import FORMAT, table  # noqa: E402

WRITERS = 4  # of each kind
FIRST_ROWS, FIRST_FRAGMENT = 200, 20
PAUSES = {True: 0.05, False: 0.4}  # seconds at most after a change: pylance would leave little room
GRACE = 120  # seconds that the writers have for the end of what they do
LIMIT = 900  # seconds at most for all the rest
SCANS = 12  # versions that are read row by row


def make(stable, rows=FIRST_ROWS):
    """A dataset whose version 1 has rows with ids from 0."""
    path = place("soak") / "ds.lance"
    lance.write_dataset(table(range(rows)), str(path), max_rows_per_file=FIRST_FRAGMENT,
                        enable_stable_row_ids=stable, data_storage_version=FORMAT)
    return path


def opened(path, version=None):
    return lance.dataset(str(path), version=version, session=lance.Session())


# ---- writers --------------------------------------------------------------------------------

class Writers:
    """The processes; their logs are read when all have ended."""

    def __init__(self, path, mounts, stable, seconds, seed):
        self.home, self.seconds, self.processes = place("logs"), seconds, []
        points = [mount.point for mount in mounts]
        for number in range(1, 2 * WRITERS + 1):
            through = number <= WRITERS
            plan = {"number": number, "dataset": str(path), "stable": stable, "seconds": seconds,
                    "seed": seed, "log": str(self.log(number)), "scratch": str(self.home),
                    "pause": PAUSES[through], "lancet": mountlib.installed("lancet"),
                    "mount": str(points[number % 2]) if through else None,
                    "other": str(points[1 - number % 2]) if through else None}
            self.processes.append(subprocess.Popen(
                [sys.executable, HERE / "soakwriter.py", json.dumps(plan)],
                stdin=subprocess.DEVNULL, stderr=open(self.log(number).with_suffix(".err"), "wb"),
                env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1")))

    def log(self, number):
        return self.home / f"{number}.log"

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        for process in self.processes:
            process.kill()
            process.wait(20)

    def lines(self):
        """What all of them did; every one must have come to its end."""
        deadline = time.monotonic() + self.seconds + GRACE
        out = []
        for number, process in enumerate(self.processes, 1):
            try:
                process.wait(max(1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise AssertionError(f"writer {number} hangs") from None
        for number, process in enumerate(self.processes, 1):
            lines = [json.loads(text) for text in self.log(number).read_text().splitlines()]
            bad = [line["broken"] for line in lines if "broken" in line]
            error = self.log(number).with_suffix(".err").read_text(errors="replace")
            check(not bad and process.returncode == 0,
                  f"writer {number}: {process.returncode}\n{''.join(bad)}{error[-2000:]}")
            check(lines and "end" in lines[-1], f"the log of writer {number} has no end")
            out += lines[:-1]
        return out


def by_version(lines):
    """{version: line} of what was acknowledged."""
    out = {}
    for line in lines:
        if "version" in line:
            number = int(line["version"])
            check(number not in out, f"version {number} is {out.get(number)} and {line}")
            out[number] = line
    return out


# ---- what is there afterwards ---------------------------------------------------------------

def check_rows(path, model, newest):
    """Rows, ids, addresses and versions of some versions, and of the last one, by pylance."""
    for number in sorted({*range(1, newest, max(1, newest // SCANS)), newest}):
        ds = opened(path, number)
        ds.validate()
        due = model.scan(number)
        names = ["id", "value", "name"]
        if model.stable:
            names += ["_row_created_at_version", "_row_last_updated_at_version"]
        rows = ds.scanner(columns=names, with_row_id=True, with_row_address=True,
                          scan_in_order=True).to_table().to_pylist()
        wrong = [(got, row) for got, row in zip(rows, due) if got != row][:3]
        check(len(rows) == len(due) and not wrong,
              f"version {number}: {len(rows)} rows instead of {len(due)}; {wrong}")
        equal(ds.count_rows(), len(due), f"version {number}: rows")


def check_tags(path, lines):
    """Each name that was acknowledged and not taken away again, with its version; no others."""
    due = {}
    for line in lines:
        if line["kind"] == "tag" and "refused" not in line:
            if "gone" in line:
                check(due.pop(line["tag"], None) is not None, f"{line['tag']} was not there")
                continue
            check(line["tag"] not in due, f"{line['tag']} was made twice: {line}")
            due[line["tag"]] = int(line["at"])
    stored = {p.stem: json.loads(p.read_text())["version"]
              for p in (path / "_refs/tags").glob("*.json")}
    equal(stored, due, "tags")
    equal({name: tag["version"] for name, tag in opened(path).tags.list().items()}, due,
          "tags, as pylance lists them")
    for line in lines:
        check("refused" not in line or line["kind"] != "tag" or line["tag"] in due,
              f"refused as if it were there: {line}")


def check_mounts(mounts, model, newest):
    """Both show the newest version, with its row ids and deleted rows."""
    for mount in mounts:
        equal(os.readlink(mount.point / "latest"), f"versions/{newest}", "latest")
        home = mount.point / "latest/fragments"
        state = model.states[newest]
        equal({int(n) for n in os.listdir(home) if n.isdigit()}, set(state.fragments), "fragments")
        for ident, rows in state.fragments.items():
            lines = (home / str(ident) / "lineage/_rowid").read_text().split()
            equal([int(line) for line in lines], [row[0] for row in rows.rows], f"{ident}: ids")
            deleted = (home / str(ident) / "deleted_rows").read_text().split() \
                if rows.deleted else []
            equal({int(line) for line in deleted}, rows.deleted, f"{ident}: deleted rows")


def account(lines):
    """Counts by who and kind: acknowledged, refused, rebased, with several attempts."""
    out = []
    for who, kind in sorted({(line["by"], line["kind"]) for line in lines}):
        mine = [line for line in lines if (line["by"], line["kind"]) == (who, kind)]
        refused = Counter(line["refused"] for line in mine if "refused" in line)
        out.append(f"# {who:8} {kind:8} {len(mine) - refused.total():6} done, "
                   f"{sum('rebased_over' in line for line in mine):5} rebased, "
                   f"{sum(line.get('attempts', 1) > 1 for line in mine):5} tried again, "
                   f"refused {dict(refused)}")
    return "\n".join(out)


def soak(seconds, seed, stable):
    """The whole of it; the account of what was done, or an exception."""
    path = make(stable)
    with Mount(path) as one, Mount(path) as two:
        with Writers(path, (one, two), stable, seconds, seed) as writers:
            lines = writers.lines()
        print(account(lines), flush=True)
        wanted = by_version(lines)
        model = Model(path, stable, range(FIRST_ROWS))
        model.replay(wanted)
        newest = max(model.states)
        check_mounts((one, two), model, newest)
    check_rows(path, model, newest)
    check_tags(path, lines)
    for number in range(1, 2 * WRITERS + 1):
        check(any(line["writer"] == number for line in wanted.values()), f"{number} did nothing")
    check(any("rebased_over" in line for line in lines), "nothing was put on other commits")
    return f"{newest} versions, {len(model.states[newest].live())} rows, {len(lines)} changes"


def passes(name, call, seconds):
    """Says what came of it; after so many seconds all daemons are killed, which ends it."""
    trouble = mountlib.run_case(lambda: print(f"# {call()}"), seconds)
    print(f"{'not ' if trouble else ''}ok - {name}\n{trouble or ''}".rstrip(), flush=True)
    return not trouble


def main():
    import soakkill  # which needs this module
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--plain", action="store_true", help="without stable row ids")
    parser.add_argument("--kills", type=int, default=200, help="commands that are cut off")
    parser.add_argument("--keep", metavar="DIR", help="for the datasets and logs of a failure")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"# seed {given.seed}", flush=True)
    parts = {
        soak: (given.seconds, lambda: soak(given.seconds, given.seed, not given.plain)),
        soakkill.kills: (given.kills, lambda: soakkill.kills(given.kills, given.seed,
                                                             not given.plain))}
    try:
        failed = [part.__name__ for part, (size, call) in parts.items()
                  if size > 0 and not passes(part.__name__, call, LIMIT + size)]
        if failed and given.keep:
            shutil.copytree(mountlib.SCRATCH, given.keep, symlinks=True, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("mnt-*"))
    finally:
        mountlib.kill_daemons()
        for point, *_ in mountlib.mounts(mountlib.SCRATCH):
            mountlib.unmount_by_force(point)
    sys.exit(len(failed) > 0)


if __name__ == "__main__":
    main()
