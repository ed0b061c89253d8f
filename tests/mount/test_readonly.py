"""Nothing can be changed, and looking changes nothing; modes say what a copy needs."""
import errno
import json
import os
import stat
import sys

from mountlib import (ROOT, USER, Mount, Skip, case, check, equal, main, place, refused,
                      run, sample, succeed, walk)

REFUSALS = {errno.EROFS}
# What an ordinary user is told: the kernel's permission check may come first.
USER_REFUSALS = {errno.EROFS, errno.EACCES, errno.EPERM}
ATTEMPTS = r"""
import errno, json, os, sys
root = sys.argv[1]
def at(path): return os.path.join(root, path)
live = at("versions/1/dataset/data/" + sorted(os.listdir(at("versions/1/dataset/data")))[0])
files = {"README": at("README.txt"), "rendered": at("versions/1/summary"), "live": live,
         "current": at("current/dataset/_versions/" +
                       sorted(os.listdir(at("current/dataset/_versions")))[0])}
directories = {"root": root, "versions": at("versions"), "version": at("versions/1"),
               "live": at("versions/1/dataset/data"), "tags": at("tags")}
got = {}
def attempt(name, call):
    try:
        call()
    except OSError as error:
        got[name] = error.errno
    else:
        got[name] = 0
for name, path in files.items():
    attempt("open " + name, lambda: os.open(path, os.O_WRONLY))
    attempt("open rw " + name, lambda: os.open(path, os.O_RDWR | os.O_APPEND))
    attempt("open trunc " + name, lambda: os.open(path, os.O_WRONLY | os.O_TRUNC))
    attempt("truncate " + name, lambda: os.truncate(path, 0))
    attempt("unlink " + name, lambda: os.unlink(path))
    attempt("rename " + name, lambda: os.rename(path, path + "2"))
    attempt("link " + name, lambda: os.link(path, path + "2"))
    attempt("chmod " + name, lambda: os.chmod(path, 0o777))
    attempt("chown " + name, lambda: os.chown(path, os.getuid(), os.getgid()))
    attempt("utime " + name, lambda: os.utime(path, (1, 1)))
    attempt("utime now " + name, lambda: os.utime(path))
    attempt("setxattr " + name, lambda: os.setxattr(path, "user.x", b"y"))
    attempt("removexattr " + name, lambda: os.removexattr(path, "user.x"))
for name, path in directories.items():
    new = os.path.join(path, "new")
    attempt("create " + name, lambda: os.open(new, os.O_CREAT | os.O_WRONLY))
    attempt("create excl " + name, lambda: os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR))
    attempt("mkdir " + name, lambda: os.mkdir(new))
    attempt("symlink " + name, lambda: os.symlink("x", new))
    attempt("mkfifo " + name, lambda: os.mkfifo(new))
    attempt("mknod " + name, lambda: os.mknod(new, 0o600 | 0o100000))
    attempt("chmod dir " + name, lambda: os.chmod(path, 0o777))
    attempt("utime dir " + name, lambda: os.utime(path, (1, 1)))
    attempt("rmdir " + name, lambda: os.rmdir(path))
for name in ("latest", "tags/opening"):
    attempt("unlink " + name, lambda: os.unlink(at(name)))
    attempt("rename " + name, lambda: os.rename(at(name), at(name) + "2"))
attempt("rename directory", lambda: os.rename(at("versions/1"), at("versions/9")))
print(json.dumps(got))
"""
# Refused for a reason of its own, before anybody asks the file system: it is a mount point.
OTHER = {"rmdir root": {errno.EBUSY, errno.EROFS}}


def attempts(point, user):
    command = [sys.executable, "-c", ATTEMPTS, point]
    if user and run(command[:1] + ["-c", "pass"], user=True).returncode != 0:
        command[0] = "/usr/bin/python3"  # one that everybody may run
    return json.loads(succeed(command, user=user))


@case()
def root_gets_erofs():
    if not ROOT:
        raise Skip("root passes the permission check, others don't")
    for options in ((), ("ro",)):
        with Mount(sample(), *options) as mount:
            for name, number in attempts(mount.point, user=False).items():
                allowed = OTHER.get(name, REFUSALS)
                check(number in allowed, f"{options} {name}: {errno.errorcode.get(number, number)}")


@case()
def users_get_a_refusal():
    options = ("allow_other",) if ROOT else ()
    for more in ((), ("ro",)):
        with Mount(sample(), *options, *more) as mount:
            for name, number in attempts(mount.point, user=True).items():
                allowed = USER_REFUSALS | OTHER.get(name, set())
                check(number in allowed, f"{more} {name}: {errno.errorcode.get(number, number)}")
    with Mount(sample(), user=True) as mount:
        for name, number in attempts(mount.point, user=True).items():
            allowed = USER_REFUSALS | OTHER.get(name, set())
            check(number in allowed, f"own mount, {name}: {errno.errorcode.get(number, number)}")


@case()
def no_extended_attributes():
    with Mount(sample()) as mount:
        for path in ("README.txt", "versions/1", "versions/1/summary", "current/dataset/data"):
            try:
                equal(os.listxattr(mount.point / path), [], path)
            except OSError as error:
                equal(error.errno, errno.EOPNOTSUPP, path)
            refused({errno.EOPNOTSUPP, errno.ENODATA},
                    lambda p=path: os.getxattr(mount.point / p, "user.lance"), path)


@case()
def write_bits():
    """Only directories below dataset/ have them, what the backing files have, and ctl/."""
    dataset = sample()
    for path in dataset.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    with Mount(dataset) as mount:
        copies = 0
        for path, entry in walk(mount.point):
            info = entry.stat(follow_symlinks=False)
            if stat.S_ISLNK(info.st_mode):
                continue
            relative = str(path.relative_to(mount.point))
            if relative.split("/")[0] == "ctl":
                continue
            below = "/dataset/" in relative or relative.endswith("/dataset")
            if stat.S_ISDIR(info.st_mode) and below:
                copies += 1
                equal(info.st_mode & 0o700, 0o700, f"{relative}: a copy has to be writable")
            else:
                equal(info.st_mode & 0o222, 0, f"{relative}: write bits")
        check(copies > 10, "directories of datasets were seen")
        equal(os.stat(mount.point).st_mode & 0o222, 0, "the root")
    for path in dataset.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


@case()
def a_copy_can_be_written():
    options = ("allow_other",) if ROOT else ()
    with Mount(sample(), *options) as mount:
        for version in ("versions/2", "versions/6", "current"):
            copy = place("copy", owner=USER) / "copy"
            succeed(["cp", "-a", mount.point / version / "dataset", copy], user=True)
            succeed(["sh", "-ec", 'find "$0" -type d | while read -r d; do : >"$d/new"; done;'
                     'rm -r "$0"', copy], user=True)


def snapshot(root):
    """Every attribute of every entry; reading it leaves the access times alone."""
    out = {}

    def visit(path):
        info = os.lstat(path)
        out[path] = (info.st_mode, info.st_ino, info.st_nlink, info.st_uid, info.st_gid,
                     info.st_size, info.st_atime_ns, info.st_mtime_ns, info.st_ctime_ns)
        if stat.S_ISDIR(info.st_mode):
            quietly = os.O_NOATIME if ROOT or info.st_uid == os.geteuid() else 0
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | quietly)
            try:
                names = os.listdir(fd)
            finally:
                os.close(fd)
            for name in names:
                visit(os.path.join(path, name))
    visit(str(root))
    return out


LOOK = ('find "$0" -ls >/dev/null; find "$0" -type f -exec cat {} + >/dev/null;'
        'find "$0" -type l -exec readlink {} + >/dev/null; ls -lRL "$0" >/dev/null;'
        'du -sb "$0" >/dev/null; df "$0" >/dev/null; tar -C "$0" -cf - . >/dev/null;'
        'grep -rc x "$0" >/dev/null')


@case()
def looking_changes_nothing():
    """Names, sizes and all three times of the dataset and its neighbours, access times included."""
    dataset = sample()
    (dataset.parent / "neighbour").write_text("n")
    before = snapshot(dataset.parent)
    with Mount(dataset) as mount:
        for _ in range(2):
            succeed(["sh", "-ec", LOOK, mount.point], seconds=50)
    after = snapshot(dataset.parent)
    changed = [f"{p}: {before.get(p)} {after.get(p)}" for p in sorted(before.keys() | after.keys())
               if before.get(p) != after.get(p)]
    equal(changed, [], "changed")


@case()
def read_permission_is_enough():
    """A user who owns nothing of it sees everything and changes nothing, not even times."""
    dataset = sample()
    if ROOT:
        succeed(["chmod", "-R", "a-w,a+rX", dataset])
    before = {p: s[:6] + s[7:] for p, s in snapshot(dataset).items()}
    with Mount(dataset, user=True) as mount:
        succeed(["sh", "-ec", LOOK, mount.point], user=True, seconds=50)
    after = {p: s[:6] + s[7:] for p, s in snapshot(dataset).items()}
    equal(after, before, "changed")
    if ROOT:
        succeed(["chmod", "-R", "u+w", dataset])


main()
