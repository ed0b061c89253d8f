"""Damaged and hostile datasets through a mount: errors where they belong, neighbours intact."""
import errno
import os
import re
from pathlib import Path

from mountlib import (Mount, background, broken, case, check, equal, main, manifest, mount_of,
                      place, read, refused, run, sample, sanitized, unpack, wait_for, walk)

MEMORY = 256 << 20
# Broken in one place each; the daemon has to live through a walk that reads everything.
WALKED = ("base_path_self", "branch_name_hostile", "config_hostile_keys", "data_symlink_loop",
          "data_zero_bytes", "deletion_bitmap_garbage", "deletion_missing", "deletion_out_of_range",
          "deletion_roaring_run_bomb", "fri_run_bomb", "index_bitmap_garbage", "index_uuid_short",
          "manifest_old_corrupt", "path_absolute", "path_dotdot", "path_long",
          "rowids_bitmap_short", "rowids_garbage", "rowids_range_bomb", "schema_deep",
          "schema_hostile_names", "timestamp_absurd", "transaction_garbage", "version_two_names",
          "versions_bomb", "versions_dir_junk")
# What an error of a file may be: damage, absence in the storage, or a part not read by this build.
DAMAGE = {errno.EUCLEAN, errno.EIO, errno.EOPNOTSUPP, errno.EFBIG, errno.ENOENT, errno.ELOOP}


def peak(mount):
    text = read(f"/proc/{mount.pid}/status").decode()
    return int(re.search(r"VmHWM:\s+(\d+) kB", text).group(1)) << 10


def read_all(point):
    """{path: errno or None} of every file and directory; of long files the first and last MiB."""
    out = {}
    for path, entry in walk(point, lambda e: out.update({Path(e.filename): e.errno})):
        if not entry.is_file(follow_symlinks=False):
            continue
        try:
            with open(path, "rb", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                for offset in {0, max(0, size - (1 << 20))}:
                    os.pread(file.fileno(), 1 << 20, offset)
            out[path] = None
        except OSError as error:
            out[path] = error.errno
    return out


@case(150)
def walks_end_in_bounded_memory():
    for name in WALKED:
        dataset = broken(name)
        with Mount(dataset) as mount:
            for path, number in read_all(mount.point).items():
                check(number is None or number in DAMAGE,
                      f"{name}: {path}: {errno.errorcode.get(number, number)}")
            check(sanitized() or peak(mount) < MEMORY, f"{name}: {peak(mount)} bytes")
            check(read(mount.point / "README.txt"), f"{name}: alive")


@case()
def too_few_descriptors_are_no_damage():
    with Mount(sample(), files=64) as mount:
        version, held = mount.point / "versions/2", []
        os.stat(version)
        data = next((mount.point / "versions/6/fragments").glob("*/files/*"))
        try:
            while len(held) < 64:
                held.append(open(data, "rb", buffering=0))
        except OSError as error:
            equal(error.errno, errno.EMFILE, "an open too many")
        check(len(held) < 64, "the daemon has descriptors without end")
        refused({errno.EMFILE}, lambda: os.lstat(version / "summary"), "a name")
        refused({errno.EMFILE}, lambda: os.listdir(version), "a listing")
        for file in held:
            file.close()
        wait_for(lambda: os.access(version / "summary", os.R_OK), "descriptors again")
        check("error" not in os.listdir(version), "a sound version")


@case()
def readme_is_there():
    with Mount(sample()) as mount:
        text = read(mount.point / "README.txt").decode()
        for name in os.listdir(mount.point):
            check(name == "README.txt" or name in text, f"README.txt says nothing of {name}")
    with Mount(sample(), "view=dataset") as mount:
        check(not (mount.point / "README.txt").exists(), "nothing but live files in view=dataset")


@case()
def torn_head():
    for damage in (b"", b"\0" * 500, None):
        dataset = sample()
        whole = read(manifest(dataset, 6))
        damaged = whole[:len(whole) // 2] if damage is None else damage
        manifest(dataset, 6).write_bytes(damaged)
        with Mount(dataset) as mount:
            equal(os.readlink(mount.point / "latest"), "versions/5", "latest passes over it")
            equal(sorted(os.listdir(mount.point / "versions")), list("123456"), "it is listed")
            directory = mount.point / "versions/6"
            equal(sorted(os.listdir(directory)), ["error", "manifest.raw"], "what is in it")
            equal(read(directory / "manifest.raw"), damaged, "its bytes")
            check(len(read(directory / "error")) > 40, "why, and what to do")
            check(read(mount.point / "versions/5/summary"), "its neighbour")
            manifest(dataset, 6).write_bytes(whole)
            check(read(mount.point / "versions/6/summary"), "mended")
            equal(os.readlink(mount.point / "latest"), "versions/6", "latest")


@case()
def old_version_damaged():
    dataset = broken("manifest_old_corrupt")
    with Mount(dataset) as mount:
        damaged = [p.parent for p in mount.point.glob("versions/*/error")]
        equal(len(damaged), 1, "damaged versions")
        whole = [p for p in (mount.point / "versions").iterdir() if p not in damaged]
        check(whole, "its neighbours")
        for path in whole:
            check(read(path / "summary") and read(path / "fragments.tsv"), str(path))


@case()
def links_and_paths_out_are_refused():
    for name in ("data_symlink_out", "data_symlink_loop", "path_absolute", "path_dotdot"):
        dataset = broken(name)
        outside = {read(p) for p in (dataset.parent / "healthy.json", "/etc/passwd")}
        with Mount(dataset) as mount:
            failed = 0
            def note(error):
                nonlocal failed
                failed += 1
                check(error.errno in DAMAGE, f"{name}: {error}")
            for path, entry in walk(mount.point, note):
                if not entry.is_file(follow_symlinks=False):
                    continue
                try:
                    check(read(path) not in outside, f"{name}: {path} shows a file outside")
                except OSError as error:
                    failed += 1
                    check(error.errno in DAMAGE | {errno.EXDEV}, f"{name}: {path}: {error}")
            check(failed > 0, f"{name}: nothing was refused")


@case()
def lost_files_are_errors():
    """EIO and not ENOENT, so that a backup fails aloud; the neighbours are read."""
    dataset = sample()
    lost = sorted((dataset / "data").iterdir())[0]
    lost.unlink()
    with Mount(dataset) as mount:
        shown = list(mount.point.glob(f"versions/*/dataset/data/{lost.name}"))
        check(shown, "it is listed")
        for path in shown:
            refused({errno.EIO}, lambda p=path: read(p), str(path))
        done = run(["tar", "-C", shown[0].parents[1], "-cf", "/dev/null", "."])
        check(done.returncode == 0 or "nput/output error" in done.stderr, done.stderr)
        done = run(["cp", "-a", shown[0].parents[1], place("copy") / "c"])
        check(done.returncode != 0 and "nput/output error" in done.stderr, f"cp -a: {done}")
        others = [p for p in mount.point.glob("versions/*/dataset/data/*") if p not in shown]
        for path in others:
            check(read(path), str(path))


@case()
def names_are_safe():
    """No name holds a slash or hides itself; `find` and the shell get along with all of them."""
    for name in ("config_hostile_keys", "schema_hostile_names", "branch_name_hostile"):
        with Mount(broken(name)) as mount:
            for path, entry in walk(mount.point, lambda e: None):
                inside = "/dataset/" in str(path)
                check(inside or not entry.name.startswith(".") or entry.name == ".system",
                      f"{name}: {path}")
                check(len(os.fsencode(entry.name)) <= 255, f"{name}: {path}")
            done = run(["find", mount.point, "-print0"])
            check(done.returncode == 0, f"{name}: {done.stderr}")


@case()
def unicode_names():
    home = unpack("fixtures", "unicode_names.lance", "unicode_tag.lance")
    for name in ("unicode_names", "unicode_tag"):
        with Mount(home / f"{name}.lance") as mount:
            for path, _ in walk(mount.point):
                os.lstat(path)  # every listed name is found again, byte for byte


@case()
def databases_are_named():
    """A directory of datasets is refused, in words that help."""
    dataset, point = sample(), place("mnt")
    done = background(dataset.parent, point)
    check(done.returncode == 32 and "ds.lance" in done.stderr, repr(done))
    check(mount_of(point) is None, "nothing is mounted")


main()
