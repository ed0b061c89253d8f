"""Partition through its control file: staged labels, results, and what the tree shows of it."""
import errno
import os
import struct
import sys

from controllib import must_fail, newest, result, shell
from mountlib import Mount, Skip, case, check, equal, main, place, read, sample

try:
    import lance
    import pyarrow as pa
except ImportError:
    lance = None

NO_LABEL = 0xFFFF


def dataset():
    """Fragments 0 and 1 of 30 rows and 20, of which some are deleted; no stable row ids."""
    if lance is None:
        raise Skip(f"no pylance in {sys.executable}")
    path = place("partition") / "data.lance"
    data = pa.table({"id": pa.array(range(50)), "k": [("b", "a", None)[i % 3] for i in range(50)]})
    lance.write_dataset(data, path, max_rows_per_file=30)
    lance.dataset(path).delete("id % 10 = 4")
    return path


def column(mount, version, fragment, name):
    lines = read(mount.point / f"versions/{version}/fragments/{fragment}/{name}").split()
    return [int(line) for line in lines]


def staged(mount, labels):
    with open(mount.point / "ctl/stage/labels", "wb") as file:
        file.write(struct.pack(f"<{len(labels)}H", *labels))


@case()
def by_a_column():
    with Mount(dataset()) as mount:
        control = mount.point / "ctl/partition"
        plan = result(control, "by=k dry_run=true")
        equal([d["value"] for d in plan["plan"][0]["destinations"]], ["a", "b", None], "values")
        equal((newest(mount), "version" in plan), (2, False), "a plan makes no version")
        made = result(control, "by=k")
        equal((made["version"], made["rows"], made["deleted_rows_removed"]), ("4", 45, 5), "made")
        check("flag 1024" in made["note"], made["note"])
        here = mount.point / "versions/4/fri/transitions/0"
        equal(read(here / "kind"), b"stable_partition\n", "kind")
        labels = [NO_LABEL if i % 10 == 4 else (1, 0, 2)[i % 3] for i in range(50)]
        equal(read(here / "labels.u16"), struct.pack("<50H", *labels), "labels")
        destinations = [d["fragment"] for d in made["plan"][0]["destinations"]]
        next_row = [0] * 3
        lines = read(here / "mapping.tsv").decode().splitlines()
        for line, label in zip(lines[-50:], labels):
            to = ["-", "-"]
            if label != NO_LABEL:
                to = [str(destinations[label]), str(next_row[label])]
                next_row[label] += 1
            equal(line.split()[-2:], to, line)
        again = result(control, "by=k")
        equal(("version" in again, newest(mount)), (False, 4), "nothing to do")


@case()
def by_staged_labels():
    """The labels of one partition are those of another: what the tree shows can be staged."""
    source = dataset()
    with Mount(source) as mount:
        result(mount.point / "ctl/partition", "by=k")
        labels = read(mount.point / "versions/4/fri/transitions/0/labels.u16")
    with Mount(dataset()) as mount:
        control = mount.point / "ctl/partition"
        (mount.point / "ctl/stage/labels").write_bytes(labels)
        number, said = shell("bash", "echo 'labels=labels' > ctl/partition", mount)
        equal(number, 0, said)
        equal(os.listdir(mount.point / "ctl/stage"), [], "a used file goes")
        equal(read(mount.point / "versions/4/fri/transitions/0/labels.u16"), labels, "labels")
        staged(mount, [1] * 44)
        answer = must_fail(errno.EINVAL, control, "labels=labels")
        check("44 labels for 45 rows" in answer["error"], answer["error"])
        equal(os.listdir(mount.point / "ctl/stage"), ["labels"], "one that was not used stays")
        must_fail(errno.EINVAL, control, "run")
        must_fail(errno.ENOENT, control, "labels=none")
        equal(newest(mount), 4, "no version")


@case()
def row_ids_go_with_their_rows():
    with Mount(sample()) as mount:
        before = [column(mount, 6, f, "lineage/_rowid") for f in (0, 1, 2)]
        gone = [column(mount, 6, f, "deleted_rows") for f in (0, 1, 2)]
        rows = [None if at in deleted else row
                for ids, deleted in zip(before, gone) for at, row in enumerate(ids)]
        staged(mount, [at % 2 for at in range(len(rows))])
        made = result(mount.point / "ctl/partition", "labels=labels fragments=0-2")
        equal((made["row_ids"], made["reuse_recorded"], "note" in made), ("kept", False, False),
              "no history")
        for parity, destination in enumerate(made["plan"][0]["destinations"]):
            equal(column(mount, 8, destination["fragment"], "lineage/_rowid"),
                  [row for row in rows[parity::2] if row is not None], f"row ids of {parity}")
        check(not (mount.point / "versions/8/fri").exists(), "no fri/")


if __name__ == "__main__":
    main()
