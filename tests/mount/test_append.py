"""Rows of staged files: `cp rows.csv ctl/stage/`, and a line for `ctl/append`."""
import errno
import json
import os

from controllib import must_fail, newest, result, shell
from mountlib import Mount, case, check, equal, main, place, read, sample


def files(dataset):
    return sorted((str(p), p.stat().st_size) for p in dataset.rglob("*") if p.is_file())


def last_rows(mount):
    """The rows of the newest fragment."""
    fragments = mount.point / f"versions/{newest(mount)}/fragments"
    last = max(int(name) for name in os.listdir(fragments) if name.isdigit())
    return [json.loads(line) for line in read(fragments / f"{last}/head.jsonl").splitlines()]


@case()
def copied_and_named():
    """What a shell user does, with each kind of text."""
    texts = {"rows.csv": "name,id,price\nplum,1000,1.5\n\"fig, dried\",1001,\n",
             "rows.jsonl": '{"id": 1000, "name": "plum", "price": 1.5}\n'
                           '{"id": 1001, "name": "fig, dried"}\n',
             "rows": "id,name,price\n1000,plum,1.5\n1001,\"fig, dried\",\n"}
    source = place("rows")
    for name, text in texts.items():
        (source / name).write_text(text)
        with Mount(sample()) as mount:
            number, _ = shell("bash", f"cp {source}/{name} ctl/stage/ && "
                              f"echo 'file={name}' > ctl/append", mount)
            equal(number, 0, name)
            equal(newest(mount), 7, "versions")
            equal(os.listdir(mount.point / "ctl/stage"), [], "used up")
            equal(last_rows(mount), [{"id": 1000, "name": "plum", "price": 1.5},
                                     {"id": 1001, "name": "fig, dried", "price": None}], name)


@case()
def counts_and_formats():
    with Mount(sample()) as mount:
        stage, append = mount.point / "ctl/stage", mount.point / "ctl/append"
        (stage / "a").write_text("id\n7\n8\n9\n")
        answer = result(append, "file=a format=csv")
        equal((answer["appended_rows"], answer["fragments"], answer["version"]), (3, 1, "7"),
              "counts")
        check(answer["bytes"] > 0, f"{answer}")
        (stage / "b").write_text("id\n")
        answer = result(append, "file=b")
        equal((answer["appended_rows"], answer["fragments"], answer["bytes"]), (0, 0, 0), "no rows")
        check("version" not in answer, f"no version: {answer}")
        equal(newest(mount), 7, "versions")


@case()
def what_does_not_fit():
    """Nothing changes, the file stays, and the message says where."""
    dataset = sample()
    bad = {"a": ("id,name\n1,x\ny,z\n", "line 3, column \"id\""),
           "b": ("name\nx\n", "column \"id\""),
           "c": ('{"id": 1}\n{"id": 1.5}\n', "line 2, column \"id\""),
           "d": ("id,color\n1,red\n", "\"color\""),
           "e": ("\0\1\2\3", "neither like Arrow nor like text")}
    with Mount(dataset) as mount:
        before = files(dataset)
        for name, (text, word) in bad.items():
            (mount.point / "ctl/stage" / name).write_text(text)
            answer = must_fail(errno.EINVAL, mount.point / "ctl/append", f"file={name}")
            check(word in answer["error"], f"{answer}")
        equal(sorted(os.listdir(mount.point / "ctl/stage")), sorted(bad), "kept")
        equal(files(dataset), before, "the dataset")
        equal(newest(mount), 6, "versions")


main()
