"""New versions and tags made by others are there at the next look; what is immutable stays."""
import errno
import os
import subprocess
import sys

from mountlib import (Mount, Skip, case, check, current_version, equal, main, manifest, place,
                      read, refused, sample, take_away, wait_for)

APPEND = """
import sys, lance, pyarrow as pa
ds = lance.dataset(sys.argv[1])
lance.write_dataset(ds.to_table(limit=3), sys.argv[1], mode="append")
print(lance.dataset(sys.argv[1]).version)
"""
TAG = """
import sys, lance
ds = lance.dataset(sys.argv[1])
ds.tags.create("made-now", ds.version)
"""


def versions(mount):
    return [int(n) for n in os.listdir(mount.point / "versions")]


@case()
def appear_at_once():
    dataset = sample()
    put_back = take_away(dataset, 4, 5, 6)
    with Mount(dataset) as mount:
        for new in (4, 5, 6):
            # All the ways to miss it first: none of them may be remembered.
            for _ in range(3):
                path = mount.point / f"versions/{new}"
                refused({errno.ENOENT}, lambda p=path: os.stat(p), "stat")
                refused({errno.ENOENT}, lambda p=path: read(p / "summary"), "read")
            equal(versions(mount), list(range(1, new)), "listing before")
            equal(os.readlink(mount.point / "latest"), f"versions/{new - 1}", "latest before")
            put_back(new)
            check(read(mount.point / f"versions/{new}/summary"), "there at once")
            equal(versions(mount), list(range(1, new + 1)), "listing after")
            equal(os.readlink(mount.point / "latest"), f"versions/{new}", "latest after")
            equal(read(mount.point / "latest/summary"),
                  read(mount.point / f"versions/{new}/summary"), "through latest")
            equal(current_version(mount.point), 3, "current is frozen")


@case()
def numeric_order():
    dataset = sample()
    for number in range(7, 13):
        (dataset / "_versions" / f"{2**64 - 1 - number}.manifest").write_bytes(b"torn")
    with Mount(dataset) as mount:
        equal(versions(mount), list(range(1, 13)), "listed in numeric order")
        equal(os.readlink(mount.point / "latest"), "versions/6", "latest passes over torn ones")


@case()
def tags_follow():
    dataset = sample()
    tags = dataset / "_refs/tags"
    with Mount(dataset) as mount:
        equal(sorted(os.listdir(mount.point / "tags")), ["audited", "opening"], "tags")
        equal(os.readlink(mount.point / "tags/audited"), "../versions/4", "target")
        refused({errno.ENOENT}, lambda: os.lstat(mount.point / "tags/v1.0"), "not yet")
        text = read(tags / "opening.json")
        (tags / "v1.0.json").write_bytes(text)
        equal(os.readlink(mount.point / "tags/v1.0"), "../versions/1", "a new tag")
        (tags / "v1.0.json").write_bytes(text.replace(b'"version": 1', b'"version": 3'))
        equal(os.readlink(mount.point / "tags/v1.0"), "../versions/3", "a moved tag")
        equal(read(mount.point / "tags/v1.0/summary"), read(mount.point / "versions/3/summary"),
              "through the tag")
        (tags / "v1.0.json").unlink()
        refused({errno.ENOENT}, lambda: os.lstat(mount.point / "tags/v1.0"), "a deleted tag")
        (tags / "gone.json").write_bytes(text.replace(b'"version": 1', b'"version": 77'))
        equal(os.readlink(mount.point / "tags/gone"), "../versions/77", "a dangling tag")
        refused({errno.ENOENT}, lambda: os.stat(mount.point / "tags/gone"), "dangling")


@case()
def removed_versions():
    dataset = sample()
    with Mount(dataset) as mount:
        held = open(mount.point / "versions/1/schema.json", "rb")
        before = read(mount.point / "versions/1/schema.json")
        os.listdir(mount.point / "versions/1")
        manifest(dataset, 1).unlink()
        equal(versions(mount), [2, 3, 4, 5, 6], "listing")
        equal(held.read(), before, "an open file reads on")
        held.close()
        refused({errno.ENOENT, errno.ESTALE},
                lambda: read(mount.point / "versions/1/fragments.tsv"), "a path below it")
        check(read(mount.point / "versions/2/summary"), "its neighbour")
        manifest(dataset, 6).unlink()
        refused({errno.ESTALE}, lambda: os.lstat(mount.point / "current"),
                "current/ was not asked to move")


@case()
def written_by_pylance():
    done = subprocess.run([sys.executable, "-c", "import lance"], capture_output=True, timeout=60,
                          check=False)
    if done.returncode != 0:
        raise Skip(f"no pylance in {sys.executable}")
    dataset = sample()
    with Mount(dataset) as mount:
        for expected in (7, 8):
            refused({errno.ENOENT}, lambda n=expected: os.stat(mount.point / f"versions/{n}"),
                    "not yet")
            done = subprocess.run([sys.executable, "-c", APPEND, dataset], check=True, timeout=60,
                                  capture_output=True, text=True)
            equal(int(done.stdout), expected, "pylance appended")
            equal(os.readlink(mount.point / "latest"), f"versions/{expected}", "latest")
            check(read(mount.point / f"versions/{expected}/summary"), "the new version")
        subprocess.run([sys.executable, "-c", TAG, dataset], check=True, timeout=60)
        equal(os.readlink(mount.point / "tags/made-now"), "../versions/8", "the new tag")
        equal(current_version(mount.point), 6, "current")


@case()
def listings_are_whole():
    """While another process makes versions, a listing is never half old and half new."""
    dataset, stop = sample(), place("stop") / "stop"
    put_back = take_away(dataset, 2, 3, 4, 5, 6)
    child = os.fork()
    if child == 0:
        try:
            while not stop.exists():
                for number in (2, 3, 4, 5, 6):
                    put_back(number)
                for number in (6, 5, 4, 3, 2):
                    manifest(dataset, number).unlink()
        finally:
            os._exit(0)
    try:
        with Mount(dataset, "version=1") as mount:
            for _ in range(300):
                found = versions(mount)
                equal(found, list(range(1, len(found) + 1)), "a listing with holes")
                link = os.readlink(mount.point / "latest")
                check(link in {f"versions/{n}" for n in range(1, 7)}, link)
    finally:
        stop.touch()
        wait_for(lambda: os.waitpid(child, os.WNOHANG)[0] == child, "the writer ends")


main()
