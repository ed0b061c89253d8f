"""Compaction through its control file: plans, results, and what the tree shows afterwards."""
import errno
import json
import os
import subprocess

from controllib import ask, jobs, must_fail, newest, result, shell, state
from mountlib import Mount, case, check, equal, main, read, sample, wait_for


def listed(mount, name):
    return sorted(int(n) for n in os.listdir(mount.point / name))


def column(mount, version, fragment, name):
    lines = read(mount.point / f"versions/{version}/fragments/{fragment}/{name}").split()
    return [int(line) for line in lines]


@case()
def planned_and_carried_out():
    """Three fragments of the sample have few rows, and are side by side with the same index."""
    with Mount(sample()) as mount:
        control = mount.point / "ctl/compact"
        plan = result(control, "dry_run=true")
        equal((plan["tasks"], plan["fragments_removed"], plan["rows"]), (1, 3, 69), "the plan")
        equal([s["fragment"] for s in plan["plan"][0]["sources"]], [0, 1, 2], "its sources")
        equal([d["rows"] for d in plan["plan"][0]["destinations"]], [69], "destinations")
        equal((newest(mount), "version" in plan), (6, False), "a plan makes no version")

        ids = [column(mount, 6, f, "lineage/_rowid") for f in (0, 1, 2)]
        deleted = [column(mount, 6, f, "deleted_rows") for f in (0, 1, 2)]
        live = [row for rows, gone in zip(ids, deleted)
                for at, row in enumerate(rows) if at not in gone]
        made = result(control, "run")
        equal((made["version"], made["read_version"]), ("8", "6"), "the new version")
        equal((made["deleted_rows_removed"], made["row_ids"]), (19, "kept"), "counts")
        fragment = made["plan"][0]["destinations"][0]["fragment"]
        equal(listed(mount, "versions/8/fragments"), [3, fragment], "fragments")
        equal(listed(mount, "versions/7/fragments"), [0, 1, 2, 3], "ids are reserved before")
        equal(column(mount, 8, fragment, "lineage/_rowid"), live, "row ids")

        again = result(control, "run")
        equal((again["tasks"], "version" in again, newest(mount)), (0, False, 8), "nothing to do")


@case()
def by_shell_and_job():
    with Mount(sample()) as mount:
        number, said = shell("bash", "echo 'target_rows=60 async=true' > ctl/compact", mount)
        equal(number, 0, said)
        wait_for(lambda: state(mount, jobs(mount)[-1]) == "done", "the job")
        job = mount.point / f"ctl/jobs/{jobs(mount)[-1]}"
        answer = json.loads(read(job / "result.json"))
        equal((answer["ok"], answer["operation"]), (True, "Rewrite"), "result")
        done, total, unit = read(job / "progress").decode().split()
        equal((done, unit), (total, "values"), "progress")
        check(int(total) > 0 and int(total) % answer["rows"] == 0, f"{total} values")
        usage = read(mount.point / "ctl/compact").decode()
        check("index_remap=auto|defer|skip" in usage and '"Rewrite"' in usage, usage)


@case()
def refused():
    with Mount(sample()) as mount:
        control = mount.point / "ctl/compact"
        must_fail(errno.EINVAL, control, "target_rows=many")
        must_fail(errno.EINVAL, control, "fragments=3-1")
        must_fail(errno.EINVAL, control, "rows=5")
        must_fail(errno.ENOENT, control, "fragments=0,77")
        number, answer = ask(control, "index_remap=defer")
        equal((number, answer["code"]), (errno.EOPNOTSUPP, "unsupported"), answer["error"])
        equal(newest(mount), 6, "versions")
    with Mount(sample(), "ro") as mount:
        done = subprocess.run(["bash", "-c", "echo run > ctl/compact"], cwd=mount.point,
                              capture_output=True, timeout=20, check=False)
        check(done.returncode != 0, "a mount that is read-only")


main()
