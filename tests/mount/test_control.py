"""Control files: what programs really send, who may write, and what each way of writing gets."""
import errno
import json
import os
import stat
import subprocess
import sys

from controllib import (Held, Writer, ask, errors, jobs, must_fail, newest, parked, refuse, result,
                        send, shell, state)
from mountlib import (NOBODY, ROOT, Mount, Skip, case, check, equal, main, need, place, read,
                      regular_files, run, sample, succeed, unpack, values)


def tags(mount):
    return set(os.listdir(mount.point / "tags")) - {"opening", "audited"}


@case()
def usage_and_last_result():
    with Mount(sample()) as mount:
        names = set(os.listdir(mount.point / "ctl"))
        check({"tag", "delete", "use", "cancel", "wait", "jobs", "stage", "errors", "stats"} <= names,
              str(names))
        for name in names - {"jobs", "stage", "errors", "stats"}:
            usage = read(mount.point / "ctl" / name).decode()
            check(usage.startswith("usage: ") and "{" not in usage.replace("{}", ""),
                  f"{name}: {usage}")
        send(mount.point / "ctl/tag", "create name=v1 version=2")
        shown = read(mount.point / "ctl/tag").decode()
        answer = json.loads(shown[shown.index("{"):])
        equal((answer["ok"], answer["command"], answer["job"]), (True, "tag", 1), "last result")
        equal(os.readlink(mount.point / "tags/v1"), "../versions/2", "the tag")


@case()
def shells():
    """A write that fails is a command that fails; each line runs."""
    for program in ("bash", "dash"):
        with Mount(sample()) as mount:
            need(program)
            equal(shell(program, "echo create name=a > ctl/tag", mount)[0], 0, program)
            status, text = shell(program, "echo create name=a > ctl/tag", mount)
            check(status != 0 and "error" in text, f"{program}: {status} {text}")
            equal(shell(program, "printf 'create name=b\\ncreate name=c\\n' > ctl/tag", mount)[0],
                  0, f"{program}: two lines in one printf")
            equal(shell(program, "printf 'create name=' > ctl/tag", mount)[0], 0, "no newline")
            equal(shell(program, "exec 3>ctl/tag; echo create name=d >&3; echo create name=e >&3",
                        mount)[0], 0, f"{program}: one handle")
            equal(shell(program, "echo create name=f >> ctl/tag", mount)[0], 0, "appending")
            equal(shell(program, "cat > ctl/tag <<-END\n\tcreate name=g\n\tcreate name=h\nEND\n",
                        mount)[0], 0, f"{program}: a here-document")
            status, text = shell(program, "exec 3<>ctl/tag; echo create name=i >&3; cat <&3 | "
                                 "grep -q '\"name\": \"i\"'", mount)
            equal(status, 0, f"{program}: the result of its own command")
            equal(tags(mount), set("abcdefghi"), program)
            equal([e[4] for e in errors(mount)], ["exists", "unfinished"], "errors")


@case()
def stops_at_the_first_failure():
    """Programs that hand over several lines at once don't go on behind one that failed."""
    lines = "create name=a\\ncreate name=a\\ncreate name=z\\n"
    with Mount(sample()) as mount:
        for writer in (f"dash -c \"printf '{lines}'\"", f"printf '{lines}' | cat",
                       f"printf '{lines}' | dd status=none"):
            status, _ = shell("bash", f"set -o pipefail; {writer} > ctl/tag", mount)
            check(status != 0, writer)
            equal(tags(mount), {"a"}, writer)
            send(mount.point / "ctl/tag", "delete name=a")


@case()
def programs():
    """jq, python, tee, dd, cat, cp, sed: with what they send, and whether they notice."""
    home = place("lines")
    (home / "a").write_text("create name=file\n")
    python = sys.executable
    good = {
        "jq": "jq -nr '\"create name=jq\"' > ctl/tag",
        "python": f"{python} -c 'open(\"ctl/tag\", \"w\").write(\"create name=python\\n\")'",
        "tee": "echo create name=tee | tee ctl/tag >/dev/null",
        "tee-a": "echo create name=tee-a | tee -a ctl/tag >/dev/null",
        "dd": "echo create name=dd | dd of=ctl/tag status=none",
        "dd-seek": "echo create name=dd-seek | dd of=ctl/tag bs=7 seek=3 conv=notrunc status=none",
        "dd-sync": "echo create name=dd-sync | dd of=ctl/tag conv=fsync status=none",
        "file": f"cp {home}/a ctl/tag",
        "sed": "echo create name=sed | sed -u n > ctl/tag",
    }
    with Mount(sample()) as mount:
        for name, script in good.items():
            need(script.split()[0])
            status, text = shell("bash", f"set -o pipefail; {script}", mount)
            equal((status, text), (0, ""), name)
            check(name in tags(mount), f"{name}: {tags(mount)}")
        # The same again fails: the tag is there. Python is told by close, which has to be seen.
        good["python"] = (f"{python} -c 'with open(\"ctl/tag\", \"w\") as f: "
                          "f.write(\"create name=python\\n\")'")
        for name, script in good.items():
            status, text = shell("bash", f"set -o pipefail; {script}", mount)
            check(status != 0 and text, f"{name} again: {status} {text}")


@case()
def payloads_are_split_anywhere():
    """Many lines through the buffers of jq and python: 4096 and 8192 bytes, in the middle of lines."""
    with Mount(sample()) as mount:
        status, text = shell("bash", "jq -nr 'range(60) | \"create name=jq-\\(.) version=2\" + "
                             "\" \" * 300' > ctl/tag", mount)
        equal(status, 0, text)
        with open(mount.point / "ctl/tag", "w", encoding="utf-8") as file:
            for number in range(60):
                file.write(f"create name=py-{number} {' ' * 300} version=3\n")
        equal(len(tags(mount)), 120, "tags")
        equal(os.readlink(mount.point / "tags/py-59"), "../versions/3", "the last one")
        equal(jobs(mount), list(range(21, 121)), "jobs that are kept")


@case()
def only_a_newline_runs():
    """Nothing does because of flush, fsync, truncate, seek or close."""
    with Mount(sample()) as mount:
        fd = os.open(mount.point / "ctl/tag", os.O_RDWR | os.O_TRUNC)
        os.write(fd, b"create na")
        os.close(os.dup(fd))
        os.fsync(fd)
        os.ftruncate(fd, 0)
        os.lseek(fd, 1234, os.SEEK_SET)
        equal(os.write(fd, b"me=one version=2"), 16, "the rest")
        equal(tags(mount), set(), "not yet")
        equal(os.pwrite(fd, b"\ncreate name=two\n", 10), 1, "the first line only")
        equal(tags(mount), {"one"}, "at its newline")
        for offset in (5, 0, 99999):
            got = os.pread(fd, 1 << 16, offset)
            check(got.startswith(b"{") if offset == 5 else got == b"", f"{offset}: {got}")
        os.write(fd, b"create name=two")
        os.close(fd)
        equal(tags(mount), {"one"}, "after close")
        cells = errors(mount)[-1]
        equal((cells[1], cells[2], cells[3], cells[4]),
              (str(os.getuid()), str(os.getpid()), "ctl/tag", "unfinished"), "note")


@case()
def limits_of_a_line():
    with Mount(sample()) as mount:
        tag = mount.point / "ctl/tag"
        line = "create name=long version=2"
        send(tag, line + " " * (4095 - len(line)))
        refuse({errno.E2BIG}, lambda: send(tag, line + " " * (4096 - len(line))), "4097 bytes")
        equal(must_fail(errno.E2BIG, tag, "x" * 10000)["code"], "limit", "code")
        with open(tag, "wb", buffering=0) as file:
            refuse({errno.E2BIG}, lambda: file.write(b"x" * 5000), "no newline in sight")
            refuse({errno.E2BIG}, lambda: file.write(b" create name=tail\n"), "its tail")
            file.write(b"create name=next\n")
        equal(tags(mount), {"long", "next"}, "tags")
        for wrong in ("", "   ", "create", "create name=a name=b", "create nam=a", "drop name=a",
                      "create name='a", "name=a"):
            equal(must_fail(errno.EINVAL, tag, wrong)["code"], "invalid", wrong)
        must_fail(errno.ENOENT, tag, "create name=a version=99")
        must_fail(errno.EEXIST, tag, "create name=long version=2")


@case()
def nothing_else_works():
    """Other names and operations are refused as such, and change nothing."""
    no = {errno.EPERM, errno.EACCES}
    with Mount(sample()) as mount:
        ctl = mount.point / "ctl"
        for call, text in (
                (lambda: os.open(ctl / "new", os.O_CREAT | os.O_WRONLY), "create"),
                (lambda: os.open(ctl / "jobs/new", os.O_CREAT | os.O_WRONLY), "create in jobs"),
                (lambda: os.mkdir(ctl / "new"), "mkdir"),
                (lambda: os.unlink(ctl / "tag"), "unlink"),
                (lambda: os.rmdir(ctl / "stage"), "rmdir"),
                (lambda: os.rename(ctl / "tag", ctl / "tug"), "rename"),
                (lambda: os.symlink("tag", ctl / "link"), "symlink"),
                (lambda: os.link(ctl / "tag", ctl / "link"), "link"),
                (lambda: os.mkfifo(ctl / "fifo"), "mkfifo"),
                (lambda: os.chmod(ctl / "tag", 0o666), "chmod"),
                (lambda: os.chmod(ctl, 0o777), "chmod of the directory"),
                (lambda: os.utime(ctl / "tag", (1, 1)), "utime"),
                (lambda: os.open(ctl / "errors", os.O_WRONLY), "errors"),
                (lambda: os.open(ctl / "stats", os.O_RDWR), "stats")):
            refuse(no, call, text)
        send(ctl / "tag", "create name=a")
        refuse(no, lambda: os.open(ctl / "jobs/1/state", os.O_WRONLY), "state")
        refuse({errno.ENOENT}, lambda: os.stat(ctl / "new"), "no such control file")
        refuse({errno.ENOENT}, lambda: os.stat(ctl / "jobs/2"), "no such job")
        refuse(no, lambda: os.rename(ctl / "tag", mount.point / "tag"), "out of ctl")
        refuse({errno.EROFS}, lambda: os.rename(mount.point / "latest", mount.point / "tag"), "else")


@case()
def private():
    with Mount(sample()) as mount:
        send(mount.point / "ctl/tag", "create name=a")
        (mount.point / "ctl/stage/file").write_text("x")
        for path in [mount.point / "ctl", *(mount.point / "ctl").rglob("*")]:
            info = os.stat(path)
            equal(info.st_mode & 0o077, 0, f"{path}: others")
            equal(info.st_uid, os.getuid(), f"{path}: owner")
            equal(info.st_mode & 0o700, 0o700 if stat.S_ISDIR(info.st_mode) else 0o600, path)
            check(stat.S_ISDIR(info.st_mode) or info.st_size == 0 or path.name == "file", path)
        equal(os.stat(mount.point / "ctl/tag").st_ino, os.stat(mount.point / "ctl/tag").st_ino,
              "the number stays")


@case()
def a_handle_that_is_passed_on():
    """The uid is looked at for each write, not for open alone."""
    if not ROOT:
        raise Skip("only root can become somebody else")
    with Mount(sample(), "allow_other") as mount:
        fd = os.open(mount.point / "ctl/tag", os.O_RDWR)
        done = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                               "--clear-groups", "sh", "-c",
                               f"exec 3>&{fd}; echo create name=a >&3"], pass_fds=(fd,),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=20,
                              check=False)
        check(done.returncode != 0 and b"error" in done.stderr, repr(done))
        equal(tags(mount), set(), "nothing ran")
        os.close(fd)
        with open(mount.point / "ctl/stage/x", "wb") as staged:
            done = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                                   "--clear-groups", "sh", "-c", "echo mine >&3"],
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=20,
                                  check=False, preexec_fn=lambda: os.dup2(staged.fileno(), 3,
                                                                          inheritable=True),
                                  close_fds=False)
        check(done.returncode != 0, "a staged file that was passed on")
        equal(read(mount.point / "ctl/stage/x"), b"", "its bytes")
        equal(errors(mount)[-1][1:2] + errors(mount)[-1][4:5], [str(NOBODY), "denied"], "noted")
        check(run(["ls", mount.point / "ctl"], user=True).returncode != 0, "others don't look")
    with Mount(sample(), "allow_other", f"uid={NOBODY}") as mount:
        succeed(["sh", "-c", "echo create name=b > ctl/tag"], user=True, cwd=mount.point)
        equal(tags(mount), {"b"}, "whose the mount is by uid=")


@case()
def read_only():
    dataset = sample()
    with Mount(dataset, "ro") as mount:
        check(read(mount.point / "ctl/tag").startswith(b"usage"), "can be read")
        equal(os.listdir(mount.point / "ctl/jobs"), [], "jobs")
        check(b"lancefs_requests_total" in read(mount.point / "ctl/stats"), "stats")
        refuse({errno.EROFS}, lambda: send(mount.point / "ctl/tag", "create name=a"), "a command")
        refuse({errno.EROFS}, lambda: (mount.point / "ctl/stage/x").write_text("x"), "staging")
        equal(tags(mount), set(), "tags")
    with Mount(dataset, "view=dataset") as mount:
        check(not (mount.point / "ctl").exists(), "only the dataset")


@case()
def commits_are_seen_at_once():
    with Mount(sample()) as mount:
        before = values(read(mount.point / "latest/summary"))
        answer = result(mount.point / "ctl/delete", "row_addrs=0:1,2;1:0 message=cleaning")
        equal((answer["operation"], answer["version"], answer["deleted_rows"]), ("Delete", "7", 3),
              f"{answer}")
        equal(newest(mount), 7, "latest")
        check("7" in os.listdir(mount.point / "versions"), "listed")
        after = values(read(mount.point / "latest/summary"))
        equal(int(after["rows"]), int(before["rows"]) - 3, "rows")
        equal(values(read(mount.point / "current/summary"))["version"], "6", "current stays")
        send(mount.point / "ctl/set", "config.owner='the team'")
        equal(read(mount.point / "latest/config/owner"), b"the team", "config")
        send(mount.point / "ctl/restore", "version=6")
        equal(values(read(mount.point / "latest/summary"))["rows"], before["rows"], "restored")
        stats = read(mount.point / "ctl/stats").decode()
        check("lancefs_commits_total 3" in stats and "lancefs_commands_total 3" in stats, stats)


@case()
def use_moves_current():
    dataset = sample()
    with Mount(dataset) as mount:
        def version():
            return int(values(read(mount.point / "current/summary"))["version"])
        use = mount.point / "ctl/use"
        equal(version(), 6, "at first")
        answer = result(use, "version=2")
        equal((answer["current"], answer["before"]), ("2", "6"), f"{answer}")
        equal(version(), 2, "moved")
        equal(version(), int(values(read(mount.point / "versions/2/summary"))["version"]), "same")
        send(use, "tag=audited")
        equal(version(), 4, "a tag")
        send(use, "latest")
        equal(version(), 6, "newest")
        live = next((mount.point / "current/dataset/data").iterdir())
        for path in ("current/summary", "current/fragments", f"current/dataset/data/{live.name}",
                     f"versions/6/dataset/data/{live.name}"):
            fd = os.open(mount.point / path, os.O_RDONLY)
            equal(must_fail(errno.EBUSY, use, "version=5")["code"], "busy", path)
            equal(version(), 6, "stays")
            os.close(fd)
        fd = os.open(mount.point / "versions/6/summary", os.O_RDONLY)
        send(use, "version=5")
        os.close(fd)
        equal(version(), 5, "what is open elsewhere is no matter")
        fd = os.open(mount.point / "current/summary", os.O_RDONLY)
        send(use, "version=3 force=true")
        equal(version(), 3, "by force")
        check(b"version: 5" in os.read(fd, 4096), "who reads on reads what he opened")
        os.close(fd)
        for wrong, number in (("version=99", errno.ENOENT), ("tag=nope", errno.ENOENT),
                              ("run", errno.EINVAL), ("version=1 latest", errno.EINVAL)):
            must_fail(number, use, wrong)
        equal(version(), 3, "after failures")


@case()
def branches():
    dataset = unpack("fixtures", "branches.lance") / "branches.lance"
    with Mount(dataset) as mount:
        dev = mount.point / "branches/dev"
        check("tag" in os.listdir(dev / "ctl"), "a branch has its own")
        send(dev / "ctl/tag", "create name=here version=2")
        equal(os.readlink(mount.point / "tags/here"), "../branches/dev/versions/2", "its tag")
        equal(values(read(dev / "current/summary"))["version"], "3", "current of the branch")
        main_version = values(read(mount.point / "current/summary"))["version"]
        send(dev / "ctl/use", "version=2")
        equal(values(read(dev / "current/summary"))["version"], "2", "moved")
        equal(values(read(mount.point / "current/summary"))["version"], main_version, "main stays")
        equal(len(os.listdir(dev / "ctl/jobs")), 2, "its jobs")
        equal(os.listdir(mount.point / "ctl/jobs"), [], "and not those of main")
        must_fail(errno.EEXIST, dev / "ctl/tag", "create name=here version=2")
        equal(errors(mount)[-1][3], "branches/dev/ctl/tag", "path in errors")
        (dev / "ctl/stage/x").write_text("x")
        equal(os.listdir(mount.point / "ctl/stage"), [], "its stage")
    with Mount(dataset, "branch=dev") as mount:
        send(mount.point / "ctl/tag", "create name=there version=2")
        equal(os.readlink(mount.point / "tags/there"), "../versions/2", "the branch as root")
        must_fail(errno.EEXIST, mount.point / "ctl/tag", "create name=there version=2")
        equal(errors(mount)[-1][3], "ctl/tag", "path in errors")


@case()
def failures_of_reads_are_noted():
    dataset = sample()
    lost = max((dataset / "_deletions").iterdir(), key=lambda p: p.stat().st_mtime)
    lost.unlink()
    with Mount(dataset) as mount:
        shown = next(p for p in mount.point.glob("versions/*/dataset/_deletions/*")
                     if p.name == lost.name)
        refuse({errno.EIO}, lambda: read(shown), "lost")
        cells = errors(mount)[-1]
        equal(cells[1:3], [str(os.getuid()), str(os.getpid())], "who")
        check(lost.name in cells[3] and cells[4] == "io", f"{cells}")


@case()
def two_writers():
    """Of one file: neither waits for the other in the kernel."""
    with Mount(sample(), Held.stage()) as mount, Held(mount) as held:
        append = mount.point / "ctl/append"
        first = Writer(append, held.line)
        parked(mount, 1)
        second = Writer(append, held.line)
        equal(parked(mount, 2), [1, 2], "both are jobs")
        fd = os.open(append, os.O_RDWR | os.O_TRUNC)
        os.ftruncate(fd, 0)
        check(os.read(fd, 100).startswith(b"usage"), "it can be read")
        os.close(fd)
        os.stat(append)
        must_fail(errno.EINVAL, append, "nonsense")
        equal(shell("bash", "echo nonsense > ctl/append", mount)[0], 1, "and written")
        send(mount.point / "ctl/tag", "create name=quick")
        equal((state(mount, 1), state(mount, 2)), ("running", "queued"), "lanes")
        held.release()
        equal(first.end(), 0, "the first")
        equal(second.end(), errno.ENOENT, "the payload was used by the first")
        equal(newest(mount), 7, "versions")


@case()
def the_same_token():
    """One commit, whoever sends it again, and through whatever mount."""
    dataset = sample()
    line = "config.owner=me token=only-once"
    with Mount(dataset) as mount, Mount(dataset) as other:
        first = result(mount.point / "ctl/set", line)
        equal(first["version"], "7", f"{first}")
        for point in (mount.point, other.point):
            equal(result(point / "ctl/set", line)["version"], "7", "again")
    with Mount(dataset) as mount:
        answer = result(mount.point / "ctl/set", line)
        equal((answer["version"], answer["found"]), ("7", True), f"{answer}")
        equal(newest(mount), 7, "versions")


@case()
def removed_versions():
    """The kernel forgets what it kept of them, and what is open below them says that it is gone."""
    with Mount(sample()) as mount:
        for version in (1, 2, 5, 6):
            read(mount.point / f"versions/{version}/summary")
        fd = os.open(mount.point / "versions/2", os.O_RDONLY | os.O_DIRECTORY)
        answer = result(mount.point / "ctl/cleanup", "keep=1 older_than=0s dry_run=true")
        check(os.path.exists(mount.point / "versions/2/summary"), f"a dry run: {answer}")
        answer = result(mount.point / "ctl/cleanup", "keep=1 older_than=0s dry_run=false")
        equal(sorted(answer["versions"]), ["2", "3", "5"], "1 and 4 are tagged")
        equal(sorted(os.listdir(mount.point / "versions")), ["1", "4", "6"], "versions")
        for version in (2, 3, 5):
            refuse({errno.ENOENT}, lambda v=version: os.stat(mount.point / f"versions/{v}"), "gone")
        refuse({errno.ESTALE, errno.ENOENT},
               lambda: os.open("fragments.tsv", os.O_RDONLY, dir_fd=fd), "below an open path")
        os.close(fd)
        read(mount.point / "versions/1/summary")


@case()
def a_branch_that_is_made_anew():
    with Mount(sample()) as mount:
        branch = mount.point / "branches/x"
        for row in (21, 22):
            send(mount.point / "ctl/branch", "create name=x version=3")
            equal(values(read(branch / "current/summary"))["version"], "3", "current")
            send(branch / "ctl/delete", f"row_addrs=0:{row}")
            deleted = read(branch / "versions/4/fragments/0/deleted_rows").split()
            check(str(row).encode() in deleted, f"{row}: {deleted}")
            send(branch / "ctl/use", "latest")
            send(mount.point / "ctl/branch", "delete name=x")
            refuse({errno.ENOENT}, lambda: os.stat(branch), "gone at once")
        equal(errors(mount), [], "errors")


@case()
def ordinary_user():
    """All of it without privileges, on a dataset of one's own."""
    dataset = sample()
    if ROOT:
        succeed(["chown", "-R", f"{NOBODY}:{NOBODY}", dataset.parent])
    with Mount(dataset, user=True) as mount:
        script = ("cp \"$0\" ctl/stage/rows; echo file=rows > ctl/append; "
                  "echo create name=mine > ctl/tag; echo latest > ctl/use; cat ctl/append")
        data = max((dataset / "data").iterdir(), key=lambda p: p.stat().st_size)
        out = succeed(["sh", "-ec", f"cd '{mount.point}'; {script}", data], user=True)
        check('"version": "7"' in out, out)
        check("7" in succeed(["cat", f"{mount.point}/current/summary"], user=True).split(), "moved")


def pins(dataset):
    return [p.stem for p in (dataset / "_refs/tags").iterdir() if p.stem.startswith("lancefs-pin-")]


@case()
def snapshot_is_pinned():
    """As long as the mount lives, whatever version current/ shows."""
    dataset = sample()
    with Mount(dataset, "snapshot", "version=2") as mount:
        equal([p.rsplit("-", 1)[1] for p in pins(dataset)], ["2"], "pinned before it answers")
        check("pinned" in mount.log() and "pylance" in mount.log(), mount.log())
        stored = json.loads(read(dataset / f"_refs/tags/{pins(dataset)[0]}.json"))
        check(stored["version"] == 2 and stored["metadata"]["lancefs.expires"], f"{stored}")
        answer = result(mount.point / "ctl/cleanup", "keep=1 older_than=0s dry_run=false")
        check("2" not in answer["versions"], f"{answer}")
        send(mount.point / "ctl/use", "latest")
        equal([p.rsplit("-", 1)[1] for p in pins(dataset)], ["6"], "follows")
    equal(pins(dataset), [], "gone at exit")
    for option in ("ro", "view=dataset"):
        done = run([mount.command()[0], "-o", f"snapshot,{option}", dataset, place("mnt")])
        check(done.returncode == 1 and "snapshot" in done.stderr, repr(done))


@case()
def pins_of_the_dead_expire():
    """Those whose time is over go with the next writable mount, and no others."""
    dataset = sample()
    with Mount(dataset, "snapshot") as mount:
        mount.ended_well = False
        mount.daemon.kill()
        mount.daemon.wait()
    left = dataset / f"_refs/tags/{pins(dataset)[0]}.json"
    with Mount(dataset):
        check(left.exists(), "its time is not over")
    stored = json.loads(left.read_text())
    stored["metadata"]["lancefs.expires"] = "2020-01-01T00:00:00Z"
    left.write_text(json.dumps(stored))
    with Mount(dataset, "ro"):
        check(left.exists(), "a mount that is read-only leaves it")
    with Mount(dataset):
        check(not left.exists(), "its time is over")
        equal(len(list((dataset / "_refs/tags").iterdir())), 2, "the user's tags")


@case(120)
def looking_is_cheap():
    """A walk of all of it ends, and leaves nothing running."""
    with Mount(sample()) as mount:
        send(mount.point / "ctl/tag", "create name=a")
        for path in regular_files(mount.point / "ctl"):
            read(path)
        equal(len(jobs(mount)), 1, "jobs")
        equal(ask(mount.point / "ctl/wait", "job=1")[0], 0, "still answers")


main()
