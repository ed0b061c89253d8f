"""Files that are made when they are opened, head.jsonl and columns.tsv: as a shell user meets them."""
import errno
import json
import os
import shutil

from mountlib import Mount, case, check, equal, main, place, read, refused, run, sample, succeed

COMPUTED = {"columns.tsv", "head.jsonl"}  # of a fragment


def shown(mount, version=6, fragment=0):
    return mount.point / f"versions/{version}/fragments/{fragment}"


@case()
def ordinary_tools_read_them():
    """Whatever the size of 0 says: from the start, from the end, by pipes and at offsets."""
    with Mount(sample()) as mount:
        for name in sorted(COMPUTED):
            path = shown(mount) / name
            equal(os.stat(path).st_size, 0, f"{name}: size")
            raw = read(path)
            check(len(raw) > 100 and raw.endswith(b"\n"), f"{name}: {raw[:100]!r}")
            equal(succeed(["cat", path]).encode(), raw, f"cat {name}")
            lines = raw.decode().splitlines()
            equal(succeed(["head", "-n", "1", path]).rstrip("\n"), lines[0], f"head {name}")
            equal(succeed(["tail", "-n", "1", path]).rstrip("\n"), lines[-1], f"tail {name}")
            equal(int(succeed(["wc", "-l", path]).split()[0]), len(lines), f"wc {name}")
            copy = place("copy") / name
            succeed(["cp", path, copy])
            equal(read(copy), raw, f"cp {name}")
            with open(path, "rb", buffering=0) as file:
                equal(os.pread(file.fileno(), 30, 50), raw[50:80], f"{name}: at an offset")
                equal(os.pread(file.fileno(), 30, len(raw)), b"", f"{name}: at its end")
                equal(os.fstat(file.fileno()).st_size, 0, f"{name}: size while open")


@case()
def heads_are_json_lines():
    with Mount(sample()) as mount:
        names = succeed(["jq", "-r", ".name", shown(mount) / "head.jsonl"]).splitlines()
        lines = [json.loads(line) for line in read(shown(mount) / "head.jsonl").splitlines()]
        equal(names, [line["name"] for line in lines], "names by jq")
        rows = {int(line.split("\t")[0]): int(line.split("\t")[3]) for line in
                read(mount.point / "versions/6/fragments.tsv").decode().splitlines()[1:]}
        for fragment, live in rows.items():
            head = read(shown(mount, fragment=fragment) / "head.jsonl")
            equal(head.count(b"\n"), min(live, 100), f"lines of fragment {fragment}")


@case()
def columns_have_names_and_sizes():
    with Mount(sample()) as mount:
        text = read(shown(mount) / "columns.tsv").decode()
        header, *rows = [line.split("\t") for line in text.splitlines()]
        equal([cell.strip() for cell in header],
              ["field", "column", "pages", "encoded_bytes", "file_version", "name", "type",
               "encodings", "file", "null_count"], "header")
        equal([row[5] for row in rows], ["id", "name", "price"], "names")
        for row in rows:
            check(int(row[3]) > 0 and row[7] and row[8].endswith(".lance"), f"{row}")
        fixed = {tuple(len(cell) for cell in line[:5]) for line in [header, *rows]}
        equal(len(fixed), 1, "numbers are padded to one width")


@case()
def looking_opens_no_data_file():
    """Listings and attributes are had without the data files; opening one says that it is lost."""
    dataset = sample()
    shutil.rmtree(dataset / "data")
    with Mount(dataset) as mount:
        listed = succeed(["ls", "-lR", mount.point / "versions"])
        for name in COMPUTED:
            check(name in listed, f"{name} is listed")
            refused({errno.EIO}, lambda n=name: read(shown(mount) / n), name)
        check(read(shown(mount) / "info.json"), "its neighbour")
        check(read(shown(mount) / "lineage/_rowid"), "its neighbour")


@case()
def they_are_kept():
    """Made once: a second opening asks the storage for nothing, within the budget of the cache."""
    dataset = sample()
    with Mount(dataset) as mount:
        before = {name: read(shown(mount) / name) for name in COMPUTED}
        shutil.move(dataset / "data", dataset / "aside")
        for name, raw in before.items():
            equal(read(shown(mount) / name), raw, f"{name} from the cache")
            refused({errno.EIO}, lambda n=name: read(shown(mount, version=2) / n), "another one")
        shutil.move(dataset / "aside", dataset / "data")
        for name in COMPUTED:
            check(read(shown(mount, version=2) / name), f"{name}, once the data is back")


def damage(path, how):
    raw = bytearray(read(path))
    how(raw)
    path.chmod(0o644)
    path.write_bytes(raw)


DAMAGES = {
    "cut": lambda raw: raw.__delitem__(slice(len(raw) // 2, None)),
    "no magic": lambda raw: raw.__setitem__(slice(-4, None), b"LANX"),
    "offsets": lambda raw: raw.__setitem__(slice(-40, -16), b"\xff" * 24),
    "column metadata": lambda raw: raw.__setitem__(slice(len(raw) - 700, len(raw) - 100),
                                                   b"\xff" * 600),
    "empty": lambda raw: raw.clear(),
}


@case(120)
def damaged_data_fails_there_only():
    """EUCLEAN for what needs the file; everything beside it and other fragments are read."""
    for label, how in DAMAGES.items():
        dataset = sample()
        with Mount(dataset) as mount:
            name = os.listdir(shown(mount) / "files")[0]
        damage(dataset / "data" / name, how)
        with Mount(dataset) as mount:
            for computed in COMPUTED:
                refused({errno.EUCLEAN}, lambda c=computed: read(shown(mount) / c),
                        f"{label}: {computed}")
                check(name in mount.log() or "fragment 0" in mount.log(), f"the log: {mount.log()}")
            for path in ("info.json", "lineage/_rowid", "lineage/all.tsv", "deleted_rows",
                         f"files/{name}"):
                read(shown(mount) / path)
            for computed in COMPUTED:
                check(read(shown(mount, fragment=1) / computed), "another fragment")


def spoil_offsets(raw):
    """The last offsets of the column `name`, which lie before its first text."""
    first = raw.index(b"banana 1")
    raw[first - 64:first - 8] = b"\xff" * 56


@case()
def pages_beyond_repair_leave_the_columns():
    """Values that can't be decoded are an error of head.jsonl; what the file says of itself isn't."""
    dataset = sample()
    with Mount(dataset) as mount:
        name = os.listdir(shown(mount) / "files")[0]
        whole = read(shown(mount) / "columns.tsv")
    damage(dataset / "data" / name, spoil_offsets)
    with Mount(dataset) as mount:
        equal(read(shown(mount) / "columns.tsv"), whole, "columns.tsv")
        refused({errno.EUCLEAN}, lambda: read(shown(mount) / "head.jsonl"), "head.jsonl")
        done = run(["cat", shown(mount) / "head.jsonl"])
        check(done.returncode == 1 and "Structure needs cleaning" in done.stderr, done.stderr)


main()
