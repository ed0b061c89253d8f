"""Backup programs: what they copy is whole, and the second time they read only what is new."""
import json
import os
import shutil
import signal
import subprocess
import sys

from mountlib import (COMPUTED, ROOT, USER, Mount, Skip, case, check, current_version, equal, main,
                      need, place, read, regular_files, run, sample, succeed, take_away, wait_for)

OPTIONS = ("allow_other",) if ROOT else ()


def same_tree(source, copy, what):
    """Names, bytes, modes of files and modification times."""
    done = run(["rsync", "-rlptnic", "--delete", f"{source}/", f"{copy}/"])
    equal((done.returncode, done.stdout), (0, ""), f"{what}: {done.stderr}")
    check(len(regular_files(copy)) > 5, f"{what}: hardly anything was copied")


@case()
def tar_and_compare():
    need("tar")
    with Mount(sample(), *OPTIONS) as mount:
        for version in ("versions/3", "versions/6", "current"):
            home = place("tar", owner=USER)
            archive, source = home / "a.tar", mount.point / version / "dataset"
            done = run(["tar", "-C", source, "-cf", archive, "."], user=True)
            equal((done.returncode, done.stderr), (0, ""), "tar -c")
            done = run(["tar", "-C", source, "-df", archive], user=True)
            equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "tar -d")
            (home / "out").mkdir()
            if ROOT:
                os.chown(home / "out", USER, USER)
            succeed(["tar", "-C", home / "out", "-xpf", archive], user=True)
            succeed(["diff", "-r", source, home / "out"])


@case()
def tar_of_everything():
    """Also of the tables and columns: sizes are true, so nothing is padded or cut."""
    with Mount(sample()) as mount:
        archive = place("tar") / "a.tar"
        done = run(["tar", "-C", mount.point, "-cf", archive, "."])
        equal((done.returncode, done.stderr), (0, ""), "tar -c of the whole mount")
        done = run(["tar", "-C", mount.point, "-df", archive])
        equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "tar -d")


@case()
def rsync_twice():
    need("rsync")
    with Mount(sample(), *OPTIONS) as mount:
        for path in ("versions/4/dataset", "versions/4", "current/dataset"):
            copy = place("rsync", owner=USER) / "copy"
            first = succeed(["rsync", "-ai", f"{mount.point}/{path}/", copy], user=True)
            check(first.count("\n") > 5, first)
            for more in ("-ai", "-aic"):
                again = succeed(["rsync", more, f"{mount.point}/{path}/", copy], user=True)
                equal(again, "", f"rsync {more} of {path} again")
            succeed(["diff", "-r", *[f"--exclude={name}" for name in COMPUTED],
                     mount.point / path, copy])
            sizes = {p.stat().st_size for p in copy.rglob("*") if p.name in COMPUTED}
            check(sizes <= {0}, f"what is computed has no size to copy by: {sizes}")


@case()
def copy_with_cp():
    with Mount(sample(), *OPTIONS) as mount:
        copy = place("cp", owner=USER) / "copy"
        succeed(["cp", "-a", mount.point / "current/dataset", copy], user=True)
        same_tree(mount.point / "current/dataset", copy, "cp -a")
        links = [p for p in copy.rglob("*") if p.is_symlink()]
        equal(links, [], "links in a copy")


# ---- the second backup --------------------------------------------------------------------

class Restic:
    name = "restic"

    def __init__(self):
        self.program, self.home = need("restic"), place("restic")
        self.env = {**os.environ, "RESTIC_PASSWORD": "p", "HOME": str(self.home),
                    "RESTIC_REPOSITORY": str(self.home / "repo")}
        succeed([self.program, "init"], env=self.env)

    def backup(self, path):
        """(new, changed, unmodified) files."""
        out = succeed([self.program, "backup", "--no-cache", "--json", path], env=self.env)
        summary = next(m for m in map(json.loads, out.splitlines())
                       if m["message_type"] == "summary")
        return tuple(summary[f"files_{k}"] for k in ("new", "changed", "unmodified"))

    def restored(self, path):
        target = self.home / "out"
        shutil.rmtree(target, ignore_errors=True)
        succeed([self.program, "restore", "--no-cache", "latest", "--target", target],
                env=self.env)
        return target / str(path).lstrip("/")


class Borg:
    name = "borg"

    def __init__(self):
        self.program, self.home, self.count = need("borg"), place("borg"), 0
        self.env = {**os.environ, "BORG_BASE_DIR": str(self.home), "HOME": str(self.home),
                    "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes", "LANG": "C.UTF-8",
                    "BORG_RELOCATED_REPO_ACCESS_IS_OK": "yes"}
        succeed([self.program, "init", "-e", "none", self.home / "repo"], env=self.env)

    def backup(self, path):
        self.count += 1
        done = run([self.program, "create", "--list", f"{self.home}/repo::a{self.count}", path],
                   env=self.env)
        equal(done.returncode, 0, f"borg: {done.stderr}")
        marks = [line[0] for line in done.stderr.splitlines() if line[1:2] == " "]
        return marks.count("A"), marks.count("M") + marks.count("C"), marks.count("U")

    def restored(self, path):
        target = self.home / "out"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        succeed([self.program, "extract", f"{self.home}/repo::a{self.count}"], env=self.env,
                cwd=target)
        return target / str(path).lstrip("/")


def names(path):
    return {str(p.relative_to(path)) for p in regular_files(path)}


def check_counts(tool, got, files, new, what):
    """borg reads the files with the newest time of an archive again, to be safe: one of them."""
    spare = 1 if tool.name == "borg" else 0
    changed_or_new = got[0] + got[1]
    check(new <= changed_or_new <= new + spare, f"{tool.name}, {what}: {got} with {new} new files")
    equal(sum(got), files, f"{tool.name}, {what}: files")


def incremental(tool):
    """Backups of current/dataset: again, after a remount, and after two new versions."""
    dataset, point = sample(), place("mnt")
    put_back = take_away(dataset, 5, 6)
    path = point / "current/dataset"
    with Mount(dataset, point=point):
        before = names(path)
        check_counts(tool, tool.backup(path), len(before), len(before), "first")
        check_counts(tool, tool.backup(path), len(before), 0, "again")
    with Mount(dataset, point=point):
        check_counts(tool, tool.backup(path), len(before), 0, "after a remount")
        same_tree(path, tool.restored(path), f"{tool.name}, restored")
    put_back(5)
    with Mount(dataset, point=point) as mount:
        after = names(path)
        new = after - before
        check(new, "version 5 has files that version 4 has not")
        check_counts(tool, tool.backup(path), len(after), len(new), "new version, remounted")
        same_tree(path, tool.restored(path), f"{tool.name}, version 5 restored")
        put_back(6)
        mount.daemon.send_signal(signal.SIGHUP)
        wait_for(lambda: current_version(point) == 6, "current moves")
        last = names(path)
        check_counts(tool, tool.backup(path), len(last), len(last - after), "new version, SIGHUP")
        same_tree(path, tool.restored(path), f"{tool.name}, version 6 restored")


@case(100)
def restic_reads_only_what_is_new():
    incremental(Restic())


@case(100)
def borg_reads_only_what_is_new():
    incremental(Borg())


@case()
def tar_incremental():
    dataset, point, home = sample(), place("mnt"), place("tar")
    put_back = take_away(dataset, 6)

    def level():
        out = succeed(["tar", "--no-check-device", "-g", home / "snar", "-C", point / "current",
                       "-cvf", home / "level.tar", "dataset"])
        return {line for line in out.splitlines() if not line.endswith("/")}

    with Mount(dataset, point=point):
        first = {f"dataset/{n}" for n in names(point / "current/dataset")}
        equal(level(), first, "level 0")
        equal(level(), set(), "again")
    with Mount(dataset, point=point):
        equal(level(), set(), "after a remount")
    put_back(6)
    with Mount(dataset, point=point):
        last = {f"dataset/{n}" for n in names(point / "current/dataset")}
        got = level()
        check(last - first <= got, f"new files that were left out: {last - first - got}")
        equal(got - last, set(), "files that are not there")
        equal({n for n in got & first if "/data/" in n}, set(), "data files saved again")


@case()
def nothing_is_read_again():
    """A second backup after a remount sends no READ: attributes are enough."""
    tool, dataset, point = Restic(), sample(), place("mnt")
    for remounted in (False, True):
        with Mount(dataset, point=point, flags=("-f", "-d")) as mount:
            tool.backup(point / "current/dataset")
            if remounted:
                equal(mount.requests("READ"), 0, "READ requests of the second backup")
            else:
                check(mount.requests("READ") > 0, "the first one reads")


@case()
def pylance_opens_the_copies():
    done = subprocess.run([sys.executable, "-c", "import lance"], capture_output=True, timeout=60,
                          check=False)
    if done.returncode != 0:
        raise Skip(f"no pylance in {sys.executable}")
    script = ("import sys, lance; ds = lance.dataset(sys.argv[1], version=int(sys.argv[2]) "
              "if sys.argv[2] != '-' else None); print(ds.version, ds.count_rows(), "
              "ds.to_table(with_row_id=True).to_pydict())")
    dataset = sample()
    with Mount(dataset) as mount:
        for version in (2, 4, 6):
            copy = place("copy") / "copy.lance"
            succeed(["cp", "-a", mount.point / f"versions/{version}/dataset", copy])
            want = succeed([sys.executable, "-c", script, dataset, version])
            check(want.startswith(f"{version} "), want[:80])
            for path in (copy, mount.point / f"versions/{version}/dataset"):
                equal(succeed([sys.executable, "-c", script, path, "-"]), want, str(path))
        check(read(mount.point / "current/summary"), "serves on")


main()
