"""Staged files: every way in which programs make them, their limits, and what becomes of them."""
import errno
import os
import shutil
import stat
import subprocess
import sys
import time

from controllib import Held, must_fail, newest, refuse, result, send, shell
from mountlib import (Mount, case, check, equal, main, need, place, read, run, sample, succeed,
                      walk)


def payload(size=300_000):
    path = place("payload") / "rows.bin"
    path.write_bytes(os.urandom(size))
    return path


@case()
def programs():
    """cp, dd, tee, cat, python, rsync, install, mv, truncate, touch: the bytes arrive."""
    source = payload()
    wanted = read(source)
    scripts = {
        "cp": "cp $0 stage/$1",
        "cp-a": "cp -a $0 stage/$1",
        "cp-p": "cp -p $0 stage/$1",
        "dd": "dd if=$0 of=stage/$1 bs=7777 status=none conv=fsync",
        "dd-direct": "dd if=$0 of=stage/$1 bs=1M status=none conv=notrunc",
        "tee": "tee stage/$1 < $0 > /dev/null",
        "cat": "cat $0 > stage/$1",
        "append": "head -c 1000 $0 > stage/$1; tail -c +1001 $0 >> stage/$1",
        "python": f"{sys.executable} -c 'import shutil, sys; shutil.copyfile(*sys.argv[1:])' $0 "
                  "stage/$1",
        "rsync": "rsync -a $0 stage/$1",
        "rsync-inplace": "rsync --inplace $0 stage/$1",
        "install": "install -m 600 $0 stage/$1",
        "mv-inside": "cp $0 stage/.$1.part; mv stage/.$1.part stage/$1",
        "mv-replaces": "echo old > stage/$1; cp $0 stage/.$1; mv -f stage/.$1 stage/$1",
        "truncate": "cp $0 stage/$1; echo more >> stage/$1; truncate -s 300000 stage/$1",
        "overwrite": "head -c 400000 /dev/zero > stage/$1; cp $0 stage/$1",
    }
    with Mount(sample()) as mount:
        for name, script in scripts.items():
            need(script.split()[0])
            done = run(["sh", "-ec", script, source, name], cwd=mount.point / "ctl")
            equal((done.returncode, done.stderr), (0, ""), name)
            check(read(mount.point / "ctl/stage" / name) == wanted, f"{name}: bytes")
            equal(os.stat(mount.point / "ctl/stage" / name).st_size, len(wanted), f"{name}: size")
        equal(sorted(os.listdir(mount.point / "ctl/stage")), sorted(scripts), "names")
        stage = mount.point / "ctl/stage"
        equal(os.stat(stage / "cp-p").st_mtime_ns, os.stat(source).st_mtime_ns, "mtime of cp -p")
        equal(stat.S_IMODE(os.stat(stage / "cp-a").st_mode), 0o600, "mode: for nobody else")
        succeed(["cp", stage / "cp", source.parent / "back"])
        check(read(source.parent / "back") == wanted, "and back")
        succeed(["rm", *stage.iterdir()])
        equal(os.listdir(stage), [], "removed")


@case()
def as_a_file():
    """What programs expect of a file that they write, read, seek in and replace."""
    with Mount(sample()) as mount:
        stage = mount.point / "ctl/stage"
        with open(stage / "a", "w+b", buffering=0) as file:
            file.write(b"0123456789")
            file.seek(3)
            file.write(b"xyz")
            equal(os.pread(file.fileno(), 20, 0), b"012xyz6789", "read while it is open")
            file.truncate(5)
            equal(os.fstat(file.fileno()).st_size, 5, "truncated")
            os.pwrite(file.fileno(), b"end", 100_000)
            equal(os.lseek(file.fileno(), 5, os.SEEK_DATA) > 0, True, "SEEK_DATA")
            os.unlink(stage / "a")
            equal(os.fstat(file.fileno()).st_size, 100_003, "without a name")
            equal(os.pread(file.fileno(), 3, 100_000), b"end", "read without a name")
        refuse({errno.ENOENT}, lambda: os.stat(stage / "a"), "gone")
        fd = os.open(stage / "b", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        os.close(fd)
        refuse({errno.EEXIST}, lambda: os.open(stage / "b", os.O_CREAT | os.O_EXCL), "exclusive")
        os.utime(stage / "b", ns=(10**18, 10**18 + 5))
        equal(os.stat(stage / "b").st_mtime_ns, 10**18 + 5, "times")
        os.utime(stage / "b")
        check(abs(os.stat(stage / "b").st_mtime - time.time()) < 60, "times: now")
        os.chmod(stage / "b", 0o400)
        equal(stat.S_IMODE(os.stat(stage / "b").st_mode), 0o400, "mode")
        os.chown(stage / "b", os.getuid(), os.getgid())
        name = "n" * 255
        (stage / name).write_text("long")
        equal(sorted(os.listdir(stage)), sorted(["b", name]), "a long name")
        odd = "blank \n\u00e4 %"
        (stage / odd).write_text("odd")
        equal(read(stage / odd), b"odd", "an odd name")
        refuse({errno.ENAMETOOLONG}, lambda: (stage / ("n" * 256)).write_text(""), "too long")


@case()
def no_directories_and_no_links():
    no = {errno.EPERM, errno.EACCES}
    with Mount(sample()) as mount:
        stage = mount.point / "ctl/stage"
        (stage / "a").write_text("a")
        for call, text in ((lambda: os.mkdir(stage / "d"), "mkdir"),
                           (lambda: os.symlink("a", stage / "s"), "symlink"),
                           (lambda: os.link(stage / "a", stage / "l"), "link"),
                           (lambda: os.mkfifo(stage / "f"), "fifo"),
                           (lambda: os.rename(stage / "a", mount.point / "ctl/tag"), "rename out"),
                           (lambda: os.rename(mount.point / "ctl/tag", stage / "a"), "rename in"),
                           (lambda: os.rename(stage / "a", mount.point / "a"), "rename far out")):
            refuse(no | {errno.EXDEV}, call, text)
        refuse({errno.EOPNOTSUPP}, lambda: os.setxattr(stage / "a", "user.x", b"y"), "xattr")
        equal(read(stage / "a"), b"a", "it is still there")


@case()
def limited():
    source = payload(60_000)
    with Mount(sample(), "stage_max=100K") as mount:
        stage = mount.point / "ctl/stage"
        succeed(["cp", source, stage / "a"])
        done = run(["cp", source, stage / "b"])
        check(done.returncode != 0 and "No space left" in done.stderr, repr(done))
        os.unlink(stage / "b")
        refuse({errno.ENOSPC}, lambda: os.truncate(stage / "a", 200_000), "truncate")
        os.truncate(stage / "a", 10)
        succeed(["cp", source, stage / "b"])
        check(read(stage / "b") == read(source), "space that was given back")


@case()
def rm_of_everything():
    """It is the one place where `rm -rf MOUNTPOINT` removes something."""
    dataset = sample()
    before = sorted(str(p) for p in dataset.rglob("*"))
    with Mount(dataset) as mount:
        (mount.point / "ctl/stage/a").write_text("a")
        names = [p for p, _ in walk(mount.point)]
        done = run(["rm", "-rf", mount.point])
        check(done.returncode != 0, "rm fails")
        equal(os.listdir(mount.point / "ctl/stage"), [], "staged files")
        left = [p for p, _ in walk(mount.point)]
        equal(set(names) - set(left), {mount.point / "ctl/stage/a"}, "what is missing")
    equal(sorted(str(p) for p in dataset.rglob("*")), before, "the dataset")


@case()
def where_they_are():
    """In a private directory that is made when it is needed, and gone at exit."""
    home = place("stage")
    dataset = sample()
    with Mount(dataset, f"stage={home}") as mount:
        equal(os.listdir(home), [], "nothing before it is needed")
        (mount.point / "ctl/stage/secret").write_text("s")
        kept = os.listdir(home)
        equal(len(kept), 1, "a directory")
        equal(stat.S_IMODE(os.stat(home / kept[0]).st_mode), 0o700, "private")
    equal(os.listdir(home), [], "gone at exit")
    with Mount(dataset, env={"TMPDIR": str(home)}) as mount:
        (mount.point / "ctl/stage/x").write_text("x")
        equal(len(os.listdir(home)), 1, "in TMPDIR")
    equal(os.listdir(home), [], "gone at exit")
    with Mount(dataset, f"stage={home}") as mount:
        (mount.point / "ctl/stage/x").write_text("x")
        left = home / os.listdir(home)[0]
        mount.ended_well = False
        mount.daemon.kill()
        mount.daemon.wait()
    check(left.exists(), "a killed daemon leaves it")
    os.utime(left, (1, 1))
    with Mount(dataset, f"stage={home}"):
        equal(os.listdir(home), [], "and the next one removes it")
    done = run([str(mount.command()[0]), "-o", f"stage={home}/none", dataset, place("mnt")])
    check(done.returncode == 1 and "stage=" in done.stderr, repr(done))


@case()
def payloads_are_used_once():
    with Mount(sample()) as mount:
        data = max((mount.dataset / "data").iterdir(), key=lambda p: p.stat().st_size)
        stage, append = mount.point / "ctl/stage", mount.point / "ctl/append"
        shutil.copy(data, stage / "rows.lance")
        answer = result(append, "file=rows.lance")
        check(answer["appended_rows"] > 0 and answer["version"] == "7", f"{answer}")
        equal(os.listdir(stage), [], "used up")
        must_fail(errno.ENOENT, append, "file=rows.lance")
        (stage / "junk").write_text("no Lance file at all")
        answer = must_fail(errno.EUCLEAN, append, "file=junk format=lance")
        equal(os.listdir(stage), ["junk"], f"kept after a failure: {answer}")
        must_fail(errno.EINVAL, append, "file=../../etc/passwd")
        must_fail(errno.EINVAL, append, f"file={stage}/junk")
        equal(newest(mount), 7, "versions")
        transaction = mount.point / "versions/7/transaction.json"
        succeed(["cp", transaction, stage / "again.json"])
        number, _ = shell("bash", "echo file=again.json > ctl/commit", mount)
        check(number in (0, 1), "a document is read")


@case()
def replaced_while_it_is_used():
    """What is removed after its use is the file that was used, and not one that took its name."""
    with Mount(sample(), Held.stage()) as mount, Held(mount, "rows") as held:
        stage = mount.point / "ctl/stage"
        with subprocess.Popen(["bash", "-c", f"echo {held.line} > ctl/append"],
                              cwd=mount.point) as writer:
            time.sleep(0.5)
            (stage / "new").write_text("another")
            os.rename(stage / "new", stage / "rows")
            held.release()
            equal(writer.wait(20), 0, "the command")
        equal(newest(mount), 7, "committed")
        equal(read(stage / "rows"), b"another", "stays")
        send(mount.point / "ctl/tag", "create name=end")


main()
