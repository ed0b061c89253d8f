"""The command line: what is refused, with which status and words, and what each option does."""
import os
import re
import stat
import subprocess

from mountlib import (NOBODY, ROOT, USER, Background, Mount, Skip, background, broken, case, check,
                      current_version, equal, installed, main, mount_of, need, place, read, run,
                      sample, succeed, unpack, values)

FSTAB_WORDS = ("defaults,auto,noauto,user,nouser,users,nofail,_netdev,comment=a b,"
               "x-systemd.automount,x-systemd.idle-timeout=10min,x-gvfs-show,nosuid,nodev,suid,"
               "dev,noexec,exec,noatime,atime")


def refuse(status, words, *arguments, lines=1, **more):
    """The status, one line on stderr that holds the words, and nothing mounted."""
    before = len(open("/proc/self/mountinfo", encoding="utf-8", errors="replace").readlines())
    done = background(*arguments, **more)
    what = f"lancefs {' '.join(map(str, arguments))}: {done.stderr!r}"
    equal(done.returncode, status, what)
    check(done.stdout == "", f"{what}: {done.stdout!r} on stdout")
    check(words in done.stderr, f"{what}: no {words!r}")
    if lines is not None:
        equal(done.stderr.count("\n"), lines, f"{what}: lines")
        check(done.stderr.startswith("lancefs: "), what)
    after = len(open("/proc/self/mountinfo", encoding="utf-8", errors="replace").readlines())
    equal(after, before, f"{what}: mounts")


@case()
def usage_and_version():
    done = background("-V")
    check(done.returncode == 0 and re.fullmatch(r"lancefs \S+\n", done.stdout), repr(done))
    done = background("-h")
    check(done.returncode == 0 and done.stdout.startswith("usage: lancefs"), repr(done))
    refuse(1, "usage: lancefs", lines=None)
    refuse(1, "usage: lancefs", "only-one", lines=None)
    refuse(1, "too many: three", "one", "two", "three")


@case()
def wrong_options():
    dataset, point = sample(), place("mnt")
    for option, words in (("frobnicate", "frobnicate"), ("version=abc", "version=abc"),
                          ("version=0", "version=0"), ("asof=yesterday", "asof=yesterday"),
                          ("view=tree", "view=tree"), ("version=1,tag=opening", "only one"),
                          ("cache=lots", "cache=lots"), ("uid=me", "uid=me"),
                          ("gid=-1", "gid=-1"), ("umask=9", "umask=9"), ("umask=", "umask="),
                          ("follow=relative", "follow=relative"), ("jobs=0", "jobs="),
                          ("max_threads=9999", "max_threads="), ("allow_others", "allow_others")):
        refuse(1, words, "-o", option, dataset, point)
    refuse(1, "-Q", "-Q", dataset, point)


@case()
def what_is_not_there():
    dataset, point, file = sample(), place("mnt"), place("file") / "f"
    file.write_text("no dataset")
    for option, words in (("version=99", "99"), ("tag=nope", "nope"), ("branch=nope", "nope"),
                          ("asof=2001-01-01T00:00:00Z", "2001")):
        refuse(32, words, "-o", option, dataset, point)
    refuse(32, "gone", place("x") / "gone", point)
    refuse(32, str(file), file, point)
    refuse(32, "empty", place("empty"), point)
    refuse(32, "gone", dataset, place("x") / "gone")
    refuse(32, str(file), dataset, file)
    # A directory of datasets is no dataset: the words lead to one.
    refuse(32, "ds.lance", dataset.parent, point)


@case()
def unsupported_reader_flag():
    dataset, point = broken("flag_fragment_tree"), place("mnt")
    refuse(32, "fragment_tree", dataset, point)
    newest = max(2**64 - 1 - int(n.split(".")[0]) for n in os.listdir(dataset / "_versions")
                 if n.endswith(".manifest"))
    refuse(32, "fragment_tree", "-o", f"version={newest}", dataset, point)
    with Background("-o", f"version={newest - 1}", dataset, point, point=point):
        equal(current_version(point), newest - 1, "an older version")


@case()
def no_permission():
    if not ROOT:
        raise Skip("needs root to make a dataset that the user may not read")
    dataset, point = sample(), place("mnt", owner=NOBODY)
    dataset.chmod(0o700)
    refuse(1, "ds.lance", dataset, point, user=True)
    dataset.chmod(0o755)
    refuse(32, "can't be mounted", dataset, place("not yours"), user=True, lines=None)
    with open("/etc/fuse.conf", encoding="utf-8") as conf:
        if re.search(r"^\s*user_allow_other", conf.read(), re.M):
            raise Skip("user_allow_other is set here")
    refuse(32, "user_allow_other", "-o", "allow_other", dataset, point, user=True, lines=None)


@case()
def overlap_is_refused():
    dataset, point = sample(), place("mnt")
    other = unpack("fixtures", "multi_base.lance", "multi_base.one", "multi_base.two")
    link = place("link") / "to"
    link.symlink_to(dataset)
    for source, target in ((dataset, dataset), (dataset, dataset / "data"), (link, dataset),
                           (dataset, link), (dataset, dataset.parent), (dataset, link / "data"),
                           (other / "multi_base.lance", other / "multi_base.one"),
                           (other / "multi_base.lance", other)):
        refuse(32, "overmount", source, target)
    if ROOT:
        for source, target in ((dataset, point), (dataset / "data", point),
                               (dataset.parent, point)):
            succeed(["mount", "--bind", source, point])
            try:
                refuse(32, "overmount", dataset, point)
                if source != dataset / "data":
                    inside = point if source == dataset else point / "ds.lance"
                    refuse(32, "overmount", inside, dataset / "data")
            finally:
                succeed(["umount", point])
    # A neighbour whose name begins alike is no overlap.
    beside = dataset.parent / "ds.lance-mnt"
    beside.mkdir()
    with Background(dataset, beside, point=beside):
        pass


@case()
def overmount_reads_below_itself():
    dataset = sample()
    before = {p.name: read(p) for p in (dataset / "data").iterdir()}
    with Background("-o", "overmount", dataset, dataset, point=dataset):
        check(not (dataset / "_versions").exists(), "the mount covers the dataset")
        shown = dataset / "current/dataset/data"
        for name in os.listdir(shown):
            equal(read(shown / name), before[name], name)
    check((dataset / "_versions").exists(), "uncovered again")


@case()
def relative_paths():
    dataset = sample()
    home = dataset.parent
    (home / "mnt").mkdir()
    with Background("ds.lance", "mnt", point=home / "mnt", cwd=home):
        equal(mount_of(home / "mnt")[2], str(dataset), "the source")
        check((home / "mnt/README.txt").exists(), "mounted where it was said")
    with Background("../ds.lance/.", "../mnt/", point=home / "mnt", cwd=dataset):
        check((home / "mnt/README.txt").exists(), "mounted where it was said")
    with Background("-s", "./ds.lance", "./mnt", point=home / "mnt", cwd=home):
        equal(current_version(home / "mnt"), 6, "single-threaded")


@case()
def answers_at_once():
    """Success means that the first look succeeds."""
    dataset, point = sample(), place("mnt")
    for _ in range(10):
        with Background(dataset, point, point=point):
            equal(os.listdir(point / "versions"), [str(n) for n in range(1, 7)], "versions")
            check(read(point / "README.txt").startswith(b"This is a Lance dataset"), "README")


@case()
def kernel_flags():
    dataset = sample()
    with Mount(dataset) as mount:
        flags = mount_of(mount.point)[3]
        check({"rw", "nosuid", "nodev"} <= set(flags), f"default flags: {flags}")
        equal(mount_of(mount.point)[1:3], ("fuse.lancefs", str(dataset)), "type and source")
    with Mount(dataset, "ro", "noexec", "noatime", "suid", "dev") as mount:
        flags = mount_of(mount.point)[3]
        check({"ro", "nosuid", "nodev", "noexec", "noatime"} <= set(flags), f"flags: {flags}")
    with Mount(dataset, "ro", "rw") as mount:
        check("rw" in mount_of(mount.point)[3], "the last word counts")


@case()
def fstab_words():
    dataset, point = sample(), place("mnt")
    with Background("-o", FSTAB_WORDS, dataset, point, point=point):
        equal(current_version(point), 6, "mounted")


@case()
def source_name():
    dataset = sample()
    for given, shown in ((r"fsname=a\,b c\\d", "a,b c\\d"), ("fsname=prices", "prices")):
        with Mount(dataset, given) as mount:
            equal(mount_of(mount.point)[2], shown, given)
    odd = dataset.parent / "with, comma and blank.lance"
    os.rename(dataset, odd)
    point = odd.parent / "mount, here"
    point.mkdir()
    with Mount(odd, point=point):
        equal(mount_of(point)[2], str(odd), "the default is the dataset's path")


@case()
def owner_and_modes():
    dataset = sample()
    os.chmod(next((dataset / "data").iterdir()), 0o640)
    name = next(p.name for p in (dataset / "data").iterdir() if p.stat().st_mode & 0o777 == 0o640)
    uid = 1234 if ROOT else os.geteuid()  # others but root could not look
    with Mount(dataset, f"uid={uid}", "gid=2345", "umask=027") as mount:
        for path in (".", "README.txt", "latest", "versions/3", "versions/3/summary",
                     "current/dataset/data"):
            info = os.lstat(mount.point / path)
            equal((info.st_uid, info.st_gid), (uid, 2345), path)
            if not stat.S_ISLNK(info.st_mode):
                equal(info.st_mode & 0o027, 0, f"{path}: umask")
    with Mount(dataset) as mount:
        shown = [p for p in mount.point.glob(f"versions/*/dataset/data/{name}")]
        check(shown, "the file is live somewhere")
        for path in shown:
            equal(stat.S_IMODE(path.stat().st_mode), 0o640, "the backing mode")
            equal((path.stat().st_uid, path.stat().st_gid),
                  (dataset.stat().st_uid, dataset.stat().st_gid), "the backing owner")


@case()
def other_users():
    if not ROOT:
        raise Skip("needs root and another user")
    dataset = sample()
    with Mount(dataset) as mount:
        done = run(["ls", mount.point], user=True)
        check(done.returncode != 0 and "ermission" in done.stderr, f"only the owner: {done}")
    with Mount(dataset, "allow_other") as mount:
        succeed(["cat", mount.point / "current/summary"], user=True)
    with Mount(dataset, user=True) as mount:
        check(run(["ls", mount.point]).returncode != 0, "root is another user too")
        succeed(["cat", mount.point / "current/summary"], user=True)


@case()
def chosen_version():
    dataset = sample()
    stamps = {}
    with Mount(dataset) as mount:
        equal(current_version(mount.point), 6, "newest")
        for version in range(1, 7):
            stamps[version] = values(read(mount.point / f"versions/{version}/summary"))["timestamp"]
    for option, wanted in (("version=2", 2), ("tag=opening", 1), ("tag=audited", 4),
                           (f"asof={stamps[3]}", 3), ("asof=2100-01-01T00:00:00Z", 6)):
        with Mount(dataset, option) as mount:
            equal(current_version(mount.point), wanted, option)
            equal(os.readlink(mount.point / "latest"), "versions/6", f"{option}: latest")


@case()
def chosen_branch():
    dataset = unpack("fixtures", "branches.lance") / "branches.lance"
    with Mount(dataset, "branch=dev") as mount:
        equal(sorted(os.listdir(mount.point / "versions")), ["1", "2", "3"], "versions of dev")
        equal(values(read(mount.point / "current/summary"))["branch"], "dev", "branch")
        check(not (mount.point / "branches").exists(), "no branches below a branch")
        equal(os.readlink(mount.point / "tags/on-dev"), "../versions/2", "tag of dev")
    with Mount(dataset, "branch=team/exp-2", "version=4") as mount:
        equal(sorted(os.listdir(mount.point / "versions")), ["3", "4", "5"], "versions")
        equal(current_version(mount.point), 4, "version of a branch")
    with Mount(dataset) as mount:
        equal(os.readlink(mount.point / "tags/on-dev"), "../branches/dev/versions/2", "tag")
        equal(sorted(os.listdir(mount.point / "branches")), ["dev", "team%2Fexp-2"], "branches")


@case()
def only_the_dataset():
    dataset = sample()
    with Mount(dataset) as whole, Mount(dataset, "view=dataset", "version=5") as view:
        inside = whole.point / "versions/5/dataset"
        succeed(["diff", "-r", inside, view.point])
        equal(sorted(os.listdir(view.point)), sorted(os.listdir(inside)), "the root")
        check("ro" in mount_of(view.point)[3], "implies ro")


@case()
def links_out_of_the_dataset():
    dataset = sample()
    outside = place("outside")
    file = max((dataset / "data").iterdir(), key=lambda p: p.stat().st_size)
    content = read(file)
    (outside / file.name).write_bytes(content)
    file.unlink()
    file.symlink_to(outside / file.name)

    def shown(mount):
        return next(mount.point.glob(f"versions/*/dataset/data/{file.name}"))

    with Mount(dataset) as mount:
        try:
            got = read(shown(mount))
        except OSError as error:
            check(error.errno is not None, repr(error))
        else:
            raise AssertionError(f"{len(got)} bytes from outside")
    with Mount(dataset, f"follow={place('elsewhere')}:{outside}") as mount:
        equal(read(shown(mount)), content, "the bytes through follow=")


@case()
def interrupted():
    """A parent that is told to stop before the mount answers exits with 8; no mount stays."""
    dataset, point = sample(), place("mnt")
    need("strace")
    command = [installed("lancefs"), dataset, point]
    syscall = "mount" if ROOT else "openat"
    slow = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={syscall}", "-e",
            f"inject={syscall}:delay_enter={1500000 if ROOT else 40000}"]
    started = subprocess.Popen([*slow, *map(str, command)], stdin=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    parent = None
    for _ in range(200):
        children = read(f"/proc/{started.pid}/task/{started.pid}/children").split()
        if children and read(f"/proc/{int(children[0])}/comm").strip() == b"lancefs":
            grandchildren = read(
                f"/proc/{int(children[0])}/task/{int(children[0])}/children").split()
            if grandchildren:
                parent = int(children[0])
                break
        subprocess.run(["sleep", "0.02"], check=True)
    check(parent is not None, "the parent waits for the daemon")
    os.kill(parent, 2)
    started.wait(timeout=30)
    equal(started.returncode, 8, "exit status")
    started.stderr.close()
    check(mount_of(point) is None, "nothing stays mounted")


USERS = f"uid={USER}"  # what the ordinary user is called in options


@case()
def ordinary_user_from_start_to_end():
    dataset, point = sample(), place("mnt", owner=USER)
    with Background("-o", USERS, dataset, point, point=point, user=True):
        text = succeed(["cat", point / "current/summary"], user=True)
        check("version:" in text, text)
        copy = place("copy", owner=USER) / "copy.lance"
        succeed(["cp", "-a", point / "current/dataset", copy], user=True)
        succeed(["touch", copy / "data/new"], user=True)
    check(mount_of(point) is None, "unmounted")


main()
