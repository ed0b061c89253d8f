"""What the kernel keeps: requests are counted in libfuse's own log, never timed."""
import errno
import mmap
import os
import random
import time

from mountlib import (Mount, Skip, case, check, equal, main, place, read, refused, regular_files,
                      run, sample, succeed, unpack, walk)

DEBUG = ("-f", "-d")


def settled(mount, word):
    """The count once the log has stopped growing."""
    count = -1
    while count != (count := mount.requests(word)):
        time.sleep(0.1)
    return count


class Count:
    """How many requests of a kind a block causes."""

    def __init__(self, mount, *words):
        self.mount, self.words = mount, words

    def __enter__(self):
        self.before = [settled(self.mount, w) for w in self.words]
        return self

    def __exit__(self, *ignored):
        self.got = sum(settled(self.mount, w) - b for w, b in zip(self.words, self.before))


def shared_file(mount, *versions):
    """A data file that is in all of the versions, and its paths."""
    names = [set(os.listdir(mount.point / f"versions/{v}/dataset/data")) for v in versions]
    name = sorted(set.intersection(*names))[0]
    return [mount.point / f"versions/{v}/dataset/data/{name}" for v in versions]


@case()
def one_page_cache_for_all_versions():
    dataset = sample()
    with Mount(dataset, flags=DEBUG) as mount:
        one, two, three = shared_file(mount, 1, 2, 3)
        with Count(mount, "READ") as first:
            content = read(one)
        check(first.got > 0, "the first reading asks the daemon: the log shows READ")
        with Count(mount, "READ") as again:
            equal(read(two), content, "through version 2")
            equal(read(three), content, "through version 3")
            fragments = list(mount.point.glob(f"versions/*/fragments/*/files/{one.name}"))
            check(len(fragments) > 1, "also below fragments/")
            for path in fragments:
                equal(read(path), content, str(path))
        equal(again.got, 0, "READ through other versions")
        with Count(mount, "READ") as reopened:
            for _ in range(5):
                read(one)
        equal(reopened.got, 0, "READ after closing and opening again")


@case()
def rendered_text_is_kept():
    with Mount(sample(), flags=DEBUG) as mount:
        paths = [mount.point / f"versions/3/{n}" for n in
                 ("manifest.json", "schema", "fragments.tsv", "transaction.pb",
                  "fragments/0/lineage/_rowid", "fragments/0/info.json")]
        texts = [read(p) for p in paths]
        with Count(mount, "READ") as again:
            equal([read(p) for p in paths], texts, "the same again")
        equal(again.got, 0, "READ for rendered files")


@case()
def attributes_and_listings_are_kept():
    with Mount(sample(), flags=DEBUG) as mount:
        for _ in range(2):
            succeed(["find", mount.point / "versions/2", "-newer", "/etc/passwd"])
        entries = len(list(walk(mount.point / "versions/2")))
        with Count(mount, "LOOKUP", "GETATTR", "READDIR", "READDIRPLUS") as third:
            succeed(["find", mount.point / "versions/2", "-newer", "/etc/passwd"])
        # The way to the version may be asked for again; nothing below it.
        check(third.got <= 8, f"{third.got} requests for {entries} entries that were known")


@case()
def readdirplus_always():
    """A walk for names alone brings the attributes with it."""
    with Mount(sample(), flags=DEBUG) as mount:
        with Count(mount, "READDIR") as plain:
            run(["find", mount.point / "versions/4", "-type", "f"])
        equal(plain.got, 0, "plain READDIR")
        with Count(mount, "LOOKUP", "GETATTR") as stats:
            succeed(["ls", "-lR", mount.point / "versions/4"])
        # What tags can change is asked for again: summary, files.tsv, the root of dataset/.
        entries = len(list(walk(mount.point / "versions/4")))
        check(stats.got < entries / 2, f"{stats.got} requests for {entries} entries")


@case()
def absence_is_kept_where_it_lasts():
    with Mount(sample(), flags=DEBUG) as mount:
        def look():
            for name in ("nothing", "fragments/999", "dataset/data/none.lance"):
                path = mount.point / "versions/1" / name
                refused({errno.ENOENT}, lambda p=path: os.stat(p), name)
        look()
        with Count(mount, "LOOKUP") as again:
            look()
        check(again.got <= 2, f"{again.got} look-ups of names that can't appear")
        for name in ("versions/99", "tags/none"):
            with Count(mount, "LOOKUP") as live:
                for _ in range(3):
                    refused({errno.ENOENT}, lambda n=name: os.stat(mount.point / n), name)
            check(live.got >= 3, f"{name}: what may appear is looked up each time")


@case()
def links_are_not_kept():
    with Mount(sample(), flags=DEBUG) as mount:
        with Count(mount, "READLINK") as links:
            for _ in range(4):
                os.readlink(mount.point / "latest")
        equal(links.got, 4, "READLINK of latest")


@case()
def nothing_is_sent_on_close():
    with Mount(sample(), flags=DEBUG) as mount:
        read(mount.point / "versions/1/summary")
        with Count(mount, "FLUSH", "FSYNC", "POLL", "GETXATTR", "LISTXATTR") as others:
            for path in regular_files(mount.point / "versions/1")[:30]:
                read(path)
        check(others.got <= 2, f"{others.got} requests that mean nothing here")


@case()
def mapped():
    with Mount(sample()) as mount:
        version = mount.point / "versions/3"
        for path in (shared_file(mount, 1)[0], version / "fragments/0/lineage/_rowid",
                     version / "manifest.json"):
            for flags in (mmap.MAP_SHARED, mmap.MAP_PRIVATE):
                with open(path, "rb") as file:
                    with mmap.mmap(file.fileno(), 0, flags=flags, prot=mmap.PROT_READ) as area:
                        mapped_bytes = area[:]
                equal(mapped_bytes, read(path), f"{path}: mapped")


@case()
def rows_at_random():
    """Row K of a column starts at byte K * 21, wherever it is read from."""
    home = unpack("fixtures", "rowids_encodings.lance", "deletions_70k.lance")
    for name in ("rowids_encodings", "deletions_70k"):
        with Mount(home / f"{name}.lance") as mount:
            columns = sorted(mount.point.glob("current/fragments/*/lineage/_row*"))
            columns = [c for c in columns if c.suffix != ".u64"]
            check(columns, f"{name}: no columns")
            for column in columns[:6]:
                whole = read(column)
                equal(len(whole) % 21, 0, f"{column}: lines of 21 bytes")
                raw = read(column.with_name(column.name + ".u64"))
                rows = len(whole) // 21
                equal(len(raw), rows * 8, f"{column}: rows")
                chosen = random.Random(name)
                with open(column, "rb", buffering=0) as file:
                    for row in [0, rows - 1, *[chosen.randrange(rows) for _ in range(200)]]:
                        line = os.pread(file.fileno(), 21, row * 21)
                        equal(line, whole[row * 21:row * 21 + 21], f"{column}: row {row}")
                        equal(int(line), int.from_bytes(raw[row * 8:row * 8 + 8], "little"),
                              f"{column}: row {row} and its .u64")
                    equal(os.pread(file.fileno(), 21, len(whole)), b"", "at the end")


TOOLS = (
    ("wc", "-l", "FILE"), ("wc", "-c", "FILE"), ("head", "-n", "3", "FILE"),
    ("head", "-c", "50", "FILE"), ("tail", "-n", "2", "FILE"), ("tail", "-c", "33", "FILE"),
    ("tail", "-c", "+20", "FILE"), ("dd", "if=FILE", "bs=21", "skip=2", "count=2", "status=none"),
    ("cut", "-c", "1-10", "FILE"), ("awk", "{n += length($0)} END {print n}", "FILE"),
    ("grep", "-c", "", "FILE"), ("sort", "-r", "FILE"), ("sha256sum", "--", "FILE"),
    ("od", "-An", "-tx1", "FILE"), ("sed", "-n", "2p", "FILE"), ("cat", "FILE"),
    ("tac", "FILE"), ("python3", "-c", "print(len(open('FILE', 'rb').read()))"))


@case()
def everyday_tools():
    """Each gives of a file what it gives of a plain copy of it."""
    with Mount(sample()) as mount:
        copies = place("copies")
        names = ["summary", "schema", "fragments.tsv", "files.tsv", "manifest.json", "manifest.pb",
                 "transaction.json", "fragments/0/info.json", "fragments/0/deleted_rows",
                 "fragments/0/lineage/_rowid", "fragments/0/lineage/all.tsv",
                 "fragments/0/lineage/_rowid.u64"]
        data = [f"dataset/data/{n}" for n in os.listdir(mount.point / "versions/3/dataset/data")]
        for number, name in enumerate(names + data[:1]):
            path, copy = mount.point / "versions/3" / name, copies / str(number)
            copy.write_bytes(read(path))
            for tool in TOOLS:
                got, want = (run([w.replace("FILE", str(p)) for w in tool]) for p in (path, copy))
                what = f"{' '.join(tool)} of {name}"
                equal(got.returncode, 0, f"{what}: {got.stderr}")
                equal(got.stdout.replace(str(path), str(copy)), want.stdout, what)
            succeed(["cmp", path, copy])
            succeed(["diff", path, copy])
            target = copies / "cp"
            succeed(["cp", "--remove-destination", "--sparse=always", path, target])
            succeed(["cmp", path, target])


@case()
def json_tools():
    with Mount(sample()) as mount:
        files = [p for p in regular_files(mount.point) if p.suffix == ".json"
                 and "/dataset/" not in str(p)]
        check(len(files) > 30, f"{len(files)} JSON files")
        succeed(["jq", "-e", ".format", *files])
        counts = succeed(["sh", "-c", 'awk -F"\\t" "NR > 1 { sum += \\$4 } END { print sum }" '
                          f"'{mount.point}/versions/6/fragments.tsv'"])
        summary = read(mount.point / "versions/6/summary").decode()
        check(f"\nrows: {int(counts)}\n" in summary, f"{counts} rows in fragments.tsv; {summary}")


@case()
def seeking_holes():
    with Mount(sample()) as mount:
        for path in (mount.point / "versions/1/summary", shared_file(mount, 1)[0]):
            fd, size = os.open(path, os.O_RDONLY), path.stat().st_size
            equal(os.lseek(fd, 0, os.SEEK_DATA), 0, "data at the start")
            equal(os.lseek(fd, 0, os.SEEK_HOLE), size, "the hole at the end")
            refused({errno.ENXIO}, lambda f=fd, s=size: os.lseek(f, s, os.SEEK_DATA), "past it")
            os.close(fd)


@case()
def directories_can_be_rewound():
    """telldir, seekdir and small buffers: each name once, in the same order."""
    dataset = unpack("fixtures", "versions_500.lance") / "versions_500.lance"
    with Mount(dataset) as mount:
        names = os.listdir(mount.point / "versions")
        equal(names, sorted(names, key=int), "numeric order")
        check(len(names) >= 500 and len(set(names)) == len(names), f"{len(names)} names")
        directory = os.open(mount.point / "versions", os.O_RDONLY | os.O_DIRECTORY)
        equal(os.listdir(directory), names, "first")
        equal(os.listdir(directory), names, "rewound")
        os.close(directory)
        if not os.path.exists("/usr/bin/perl"):
            raise Skip("no perl to seek in a directory with")
        script = ("opendir(D, $ARGV[0]); my @p; my @n; while (1) { push @p, telldir(D); "
                  "my $n = readdir(D); last unless defined $n; push @n, $n; } "
                  "for my $i (reverse 0..$#n) { seekdir(D, $p[$i]); my $g = readdir(D); "
                  "die \"$i: $g not $n[$i]\" unless $g eq $n[$i]; } print scalar(@n);")
        equal(succeed(["perl", "-e", script, mount.point / "versions"]), str(len(names) + 2),
              "entries by seeking")


main()
