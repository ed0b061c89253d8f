"""Attributes: exact sizes, stable and unique inode numbers, types, times, blocks, df."""
import ctypes
import os
import shutil
import stat

from mountlib import (Mount, case, check, equal, is_computed, main, manifest, place, read, run,
                      sample, space_out, succeed, unpack, walk)

FIXTURES = ("branches", "deletions_stable", "detached", "fri_tagged_after_legacy", "index_scalar",
            "lineage_compact", "overlay_sparse", "schema_evolve", "unicode_names", "metadata",
            "rowids_encodings", "era_0_10_18", "emptied")
TYPES = {stat.S_IFDIR: "d", stat.S_IFREG: "f", stat.S_IFLNK: "l"}
_fixtures = []


def fixtures():
    """(name, dataset); unpacked once."""
    if not _fixtures:
        home = unpack("fixtures", *[f"{n}.lance" for n in FIXTURES])
        for name in FIXTURES:
            space_out(home / f"{name}.lance")
            _fixtures.append((name, home / f"{name}.lance"))
    return _fixtures


def entry_type(entry):
    """What d_type says; no attribute is asked for."""
    return "d" if entry.is_dir(follow_symlinks=False) else \
        "l" if entry.is_symlink() else "f" if entry.is_file(follow_symlinks=False) else "?"


def check_entry(path, entry):
    """The rules that hold for everything."""
    info = os.lstat(path)
    equal(entry.inode(), info.st_ino, f"{path}: d_ino and st_ino")
    equal(entry_type(entry), TYPES[stat.S_IFMT(info.st_mode)], f"{path}: d_type")
    equal(info.st_nlink, 1, f"{path}: links")
    equal(info.st_ctime_ns, info.st_mtime_ns, f"{path}: ctime and mtime")
    check(0 < info.st_ino < 2**63, f"{path}: inode {info.st_ino}")
    check(info.st_blocks >= 0 and info.st_blksize > 0, f"{path}: blocks")
    if stat.S_ISREG(info.st_mode):
        try:
            raw = read(path)
        except OSError:
            return info  # what can't be read is the business of other tests
        due = 0 if is_computed(path) else len(raw)
        equal(info.st_size, due, f"{path}: size and bytes")
        equal(os.lstat(path).st_size, due, f"{path}: size after reading")
        if is_computed(path):
            return info
        if "/dataset/" not in str(path) and "/files/" not in str(path):
            check(info.st_blocks >= len(raw) // 512, f"{path}: {info.st_blocks} blocks")
    elif stat.S_ISLNK(info.st_mode):
        equal(info.st_size, len(os.readlink(path)), f"{path}: size of a link")
    return info


class Dirent(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_uint64), ("off", ctypes.c_int64), ("size", ctypes.c_uint16),
                ("type", ctypes.c_uint8), ("name", ctypes.c_char * 256)]


def listing(directory):
    """[(d_ino, name)] as readdir(3) gives them: Python leaves the dots out."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.opendir.restype, libc.opendir.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    libc.readdir.restype, libc.readdir.argtypes = ctypes.POINTER(Dirent), [ctypes.c_void_p]
    libc.closedir.argtypes = [ctypes.c_void_p]
    stream, found = libc.opendir(os.fsencode(directory)), []
    check(stream, f"{directory}: {os.strerror(ctypes.get_errno())}")
    while entry := libc.readdir(stream):
        found.append((entry.contents.ino, os.fsdecode(entry.contents.name)))
    libc.closedir(stream)
    return found


def check_dots(directory):
    """In a listing, too, a directory and the one above have the numbers that stat gives."""
    listed = {name: number for number, name in listing(directory)}
    equal(listed.get("."), os.lstat(directory).st_ino, f"{directory}: d_ino of .")
    if not os.path.ismount(directory):
        equal(listed.get(".."), os.lstat(directory.parent).st_ino, f"{directory}: d_ino of ..")


@case()
def dots_have_the_numbers_of_their_directories():
    for name in (None, "branches", "index_scalar"):
        dataset = dict(fixtures())[name] if name else sample()
        for options in ((), ("view=dataset",)):
            with Mount(dataset, *options) as mount:
                check_dots(mount.point)
                below = [p for p, e in walk(mount.point) if e.is_dir(follow_symlinks=False)]
                check(below, f"{name}: no directories")
                for directory in below:
                    check_dots(directory)


def survey(point):
    """{path: stat} of everything, each entry checked."""
    return {str(p.relative_to(point)): check_entry(p, e) for p, e in walk(point)}


def check_inodes(found):
    """No number for two directories; one for each backing file; none shared by unlike things."""
    owners = {}
    for path, info in found.items():
        owners.setdefault(info.st_ino, []).append(path)
    for number, paths in owners.items():
        kinds = {stat.S_IFMT(found[p].st_mode) for p in paths}
        if len(paths) > 1:
            equal(kinds, {stat.S_IFREG}, f"inode {number} of {paths[:4]}")
            infos = {(found[p].st_size, found[p].st_mtime_ns) for p in paths}
            equal(len(infos), 1, f"inode {number} of {paths[:4]}: different files")


@case(120)
def every_entry_of_many_datasets():
    for name, dataset in [("sample", sample()), *fixtures()]:
        with Mount(dataset) as mount:
            found = survey(mount.point)
        check(len(found) > 60, f"{name}: only {len(found)} entries")
        check_inodes(found)


@case()
def find_sees_no_loop():
    for name, dataset in [("sample", sample()), *fixtures()[:3]]:
        with Mount(dataset) as mount:
            done = run(["find", mount.point, "-ls"])
            equal((done.returncode, done.stderr), (0, ""), f"find, {name}")
            done = run(["find", "-L", mount.point / "tags", mount.point / "latest", "-type", "f"])
            check("loop" not in done.stderr, done.stderr)


@case()
def one_device():
    with Mount(sample()) as mount:
        equal({os.lstat(p).st_dev for p, _ in walk(mount.point)}, {os.stat(mount.point).st_dev},
              "devices")


def identity(info):
    return (info.st_ino, info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns,
            info.st_blocks, info.st_uid, info.st_gid, info.st_nlink)


@case()
def stable_over_remounts():
    for name, dataset in [("sample", sample()), *fixtures()[:4]]:
        seen = []
        for flags in (("-f",), ("-f", "-s"), ("-f",)):
            with Mount(dataset, flags=flags) as mount:
                seen.append({p: identity(i) for p, i in survey(mount.point).items()})
        for other in seen[1:]:
            changed = [p for p in seen[0].keys() | other.keys() if seen[0].get(p) != other.get(p)]
            equal(changed, [], f"{name}: changed over a remount")


@case()
def the_same_on_another_disk():
    """Numbers are made of what a file is, not of where the dataset lies."""
    one, other = sample(), place("other") / "name.lance"
    shutil.copytree(one, other)
    seen = []
    for dataset in (one, other):
        with Mount(dataset) as mount:
            seen.append({p: i.st_ino for p, i in survey(mount.point).items()})
    equal(seen[0], seen[1], "inode numbers")


@case()
def shared_files_are_one():
    dataset = sample()
    with Mount(dataset) as mount:
        for file in sorted((dataset / "data").iterdir()):
            shown = [*mount.point.glob(f"versions/*/dataset/data/{file.name}"),
                     *mount.point.glob(f"current/dataset/data/{file.name}"),
                     *mount.point.glob(f"versions/*/fragments/*/files/{file.name}"),
                     *mount.point.glob(f"current/fragments/*/files/{file.name}")]
            check(len(shown) > 2, f"{file.name} is in {len(shown)} places")
            equal(len({p.stat().st_ino for p in shown}), 1, f"{file.name}: inode numbers")
            for path in shown:
                equal(read(path), read(file), str(path))
        version = mount.point / "versions/3"
        live = [p.stat().st_ino for p in version.glob("dataset/_deletions/0-*")]
        equal([(version / "fragments/0/deletion_file").stat().st_ino], live, "a deletion file")


@case()
def live_files_look_like_the_backing_ones():
    dataset = sample()
    with Mount(dataset) as mount:
        checked = 0
        for path, entry in walk(mount.point / "versions"):
            backing = dataset / str(path).split("/dataset/", 1)[-1]
            if "/dataset/" not in str(path) or not entry.is_file() or not backing.exists():
                continue
            if "/_refs/" in str(path):
                continue  # made for the copy, with the size of the manifest there
            got, want = path.stat(), backing.stat()
            equal((got.st_size, got.st_mtime_ns, got.st_blocks, stat.S_IMODE(got.st_mode)),
                  (want.st_size, want.st_mtime_ns, want.st_blocks, stat.S_IMODE(want.st_mode)),
                  str(path))
            checked += 1
        check(checked > 30, f"only {checked} files")
        times = [p.stat().st_mtime_ns for p in
                 (mount.point / "current/dataset").rglob("*") if p.is_file()]
        equal(len(set(times)), len(times), "live files with times of their own")


@case()
def times_of_versions():
    dataset = sample()
    with Mount(dataset) as mount:
        for version in range(1, 7):
            directory = mount.point / f"versions/{version}"
            equal(directory.stat().st_mtime_ns, manifest(dataset, version).stat().st_mtime_ns,
                  f"version {version} and its manifest")
        stamps = {(mount.point / f"versions/{v}/summary").stat().st_mtime_ns for v in range(1, 7)}
        equal(len(stamps), 6, "rendered files have their version's time")
    # Looking at a version directory opens no manifest: a torn one has its time, too.
    manifest(dataset, 6).write_bytes(b"")
    with Mount(dataset) as mount:
        equal((mount.point / "versions/6").stat().st_mtime_ns,
              manifest(dataset, 6).stat().st_mtime_ns, "a torn version")


@case()
def free_space():
    dataset = sample()
    with Mount(dataset) as mount:
        live = sum(p.stat().st_size for p in (mount.point / "latest/dataset").resolve().rglob("*")
                   if p.is_file())
        got, backing = os.statvfs(mount.point), os.statvfs(dataset)
        used = (got.f_blocks - got.f_bfree) * got.f_frsize
        check(live <= used <= live + got.f_frsize, f"{used} bytes used, {live} are live")
        free, real = got.f_bavail * got.f_frsize, backing.f_bavail * backing.f_frsize
        check(abs(free - real) < 2**30, f"{free} bytes free, {real} below")
        equal(got.f_namemax, 255, "longest name")
        check(got.f_files > 0, "number of files")


@case()
def sizes_of_everything_add_up():
    """du knows what cp will copy."""
    with Mount(sample()) as mount:
        copy = place("copy") / "c"
        succeed(["cp", "-a", mount.point / "versions/3/dataset", copy])
        source = mount.point / "versions/3/dataset"
        sums = [sum(f.stat().st_size for f in p.rglob("*") if f.is_file()) for p in (source, copy)]
        equal(sums[0], sums[1], "bytes")
        used = int(succeed(["du", "-s", source]).split()[0])
        check(used > 0, "du is not 0")


main()
