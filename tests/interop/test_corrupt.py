"""Broken datasets: what is broken fails alone, with the right error, and the rest reads as before.

corrupt.json says for each case which parts must fail and which must be read; CASE/healthy.json
holds pylance's values from before the damage. Whatever the case, the daemon lives through a read
of everything, stays small, writes nothing and shows nothing from outside the dataset.
"""
import errno
import json
import os
import shutil
import stat
import struct
from pathlib import Path

import pytest

import archives
import checks
import expected
import facts as tablefacts
import formats
import programs
import reuse
import reusechecks
import snapshot
from facts import HIDDEN, lineage_name
from wire import Corrupt

MOST_MEMORY = 256 << 20
MOST_READ = 64 << 20
WALK_SECONDS = 60
SYMLINK_OUT = "data_symlink_out-358"
OUTSIDE = b"a file outside of every dataset, never to be shown\n"
# Parts that nothing in the tree shows yet; each stays out of the assertions for its own reason.
NOT_SHOWN_YET = {
    "write": "nothing can be committed yet",
}
KNOWN_PARTS = {"open", "latest", "list_versions", "older", "fragments", "lineage",
               "lineage_other", "deletions", "indices", "transactions", "tags", "other_tags",
               "data", "fri", *NOT_SHOWN_YET}
# Cases whose lineage is due to fail and that pylance reads all the same, as we do: what is broken is
# another column, whose neighbours stay readable. The values must be those from before the damage.
LINEAGE_IS_WHOLE = {"data_column_metadata_garbage-353": "the metadata of a user's column"}
# No mount at all: nothing to show, or a newest version that this build must not read.
NOT_MOUNTED = {"versions_dir_empty-322": None, "dataset_is_file-323": None,
               "flag_fragment_tree-343": "fragment_tree"}
CODES = {
    "manifest_corrupt": {errno.EUCLEAN}, "lineage_corrupt": {errno.EUCLEAN},
    "data_corrupt": {errno.EUCLEAN}, "deletion_corrupt": {errno.EUCLEAN},
    "index_corrupt": {errno.EUCLEAN}, "txn_corrupt": {errno.EUCLEAN},
    "fri_corrupt": {errno.EUCLEAN}, "ref_corrupt": {errno.EUCLEAN},
    "path_escape": {errno.EUCLEAN}, "too_large": {errno.EFBIG, errno.EUCLEAN},
    "missing_file": {errno.EIO}, "unsupported_feature": {errno.EOPNOTSUPP}, "none": set(),
    "not_a_dataset": {errno.EUCLEAN, errno.ENOENT, errno.ENOTDIR},
}
ANYWHERE = {errno.EUCLEAN, errno.EIO, errno.EOPNOTSUPP, errno.EFBIG, errno.ELOOP,
            errno.ENAMETOOLONG}


def load_cases():
    root = archives.unpacked("corrupt")
    return {case["name"]: case for case in json.loads((root / "corrupt.json").read_text())}


CASES = load_cases()
MOUNTED = [name for name in CASES if name not in NOT_MOUNTED]


def has_tree(fields):
    """Whether the parent of each field is one that stands before it."""
    known = {-1}
    for field in fields:
        if field.parent not in known:
            return False
        known.add(field.id)
    return True


class Case:
    def __init__(self, name):
        self.name, self.spec = name, CASES[name]
        home = archives.unpacked("corrupt") / name
        self.path = home / "ds.lance"
        self.healthy = json.loads((home / "healthy.json").read_text())
        self.versions = sorted(int(v) for v in self.healthy["versions"])
        self.newest = self.versions[-1]
        errors = self.spec["error"]
        errors = [errors] if isinstance(errors, str) else errors
        self.codes = set().union(*(CODES[e] for e in errors))
        self.must_fail, self.must_read = set(self.spec["must_fail"]), set(self.spec["must_read"])
        assert self.must_fail | self.must_read <= KNOWN_PARTS

    def facts(self, number):
        """The facts of a version, None when its manifest is broken."""
        found = tablefacts.manifests(self.path)
        try:
            facts = tablefacts.Version(self.path, found[number])
        except (Corrupt, KeyError, RecursionError):
            return None
        whole = facts.version == number and not facts.refused and has_tree(facts.fields)
        return facts if whole else None

    def readable(self):
        return [n for n in self.versions if self.facts(n) is not None]


def unbroken(fragment, healthy):
    """Whether the fragment decodes to the values it had when it was healthy."""
    if fragment.rows != healthy["physical_rows"] or \
            isinstance(fragment.deleted_offsets(), Exception):
        return False
    gone = set(fragment.deleted_offsets())
    for key, what in expected.ROWS.items():
        values = fragment.lineage(what)
        if not isinstance(values, list):
            return False
        live = [v for o, v in enumerate(values) if o not in gone]
        if not expected.failed(healthy["rows"][key]) and \
                not expected.same_array(live, healthy["rows"][key]):
            return False
    return True


def pairs(case, number):
    """(fragment, its healthy values) of a version, by id."""
    facts = case.facts(number)
    healthy = {f["id"]: f for f in case.healthy["versions"][str(number)]["fragments"]}
    return [(f, healthy[f.id]) for f in facts.fragments if f.id in healthy]


# ---- parts that must be read --------------------------------------------------------------

def read_fragments(tree, case, number, at):
    healthy = case.healthy["versions"][str(number)]
    rows = formats.tsv(tree.read(f"{at}/fragments.tsv"), "fragments.tsv")
    assert [tuple(int(r[c]) for c in ("fragment", "physical_rows", "deleted_rows"))
            for r in rows] == [(f["id"], f["physical_rows"], f["num_deletions"])
                               for f in healthy["fragments"]]
    got = formats.summary(tree.read(f"{at}/summary"))
    assert int(got["rows"]) == healthy["rows"]


def read_lineage(tree, case, number, at):
    """All fragments as before. An older version may have a broken carrier in common with the newest
    one; its columns then fail there, too.
    """
    if case.name in LINEAGE_IS_WHOLE:
        whole_lineage(tree, case, number, at)
        return
    for fragment, healthy in pairs(case, number):
        shared = number != case.newest and "lineage" in case.must_fail and \
            any(fragment.placement(w) == "column" for w in HIDDEN)
        assert shared or unbroken(fragment, healthy), f"fragment {fragment.id} is broken"
        checks.lineage(tree, at, fragment)


def read_lineage_other(tree, case, number, at):
    whole = [f for f, healthy in pairs(case, number) if unbroken(f, healthy)]
    assert whole, "no fragment is left whole"
    for fragment in whole:
        checks.lineage(tree, at, fragment)


def read_deletions(tree, case, number, at):
    for fragment, healthy in pairs(case, number):
        if "deleted_offsets" in healthy:
            assert expected.same_array(fragment.deleted_offsets(), healthy["deleted_offsets"])
        checks.deleted_rows(tree, at, fragment)


def read_older(tree, case):
    """Every version but the newest, unless its own manifest is the broken one."""
    older = [n for n in case.readable() if n != case.newest]
    assert older
    clashing = {2} if case.name == "version_two_names-318" else set()
    for number in sorted(set(older) - clashing):
        at = f"versions/{number}"
        read_fragments(tree, case, number, at)
        read_lineage(tree, case, number, at)
        read_deletions(tree, case, number, at)


def read_tags(tree, case):
    names = tree.list("tags")
    for name, number in case.healthy["tags"].items():
        assert name in names
        assert tree.link(f"tags/{name}").endswith(f"versions/{number}")


def check_must_read(tree, case):
    at = f"versions/{case.newest}"
    if "list_versions" in case.must_read:
        assert tree.list("versions") == [str(n) for n in case.versions]
    if "latest" in case.must_read:
        assert tree.link("latest") == at
        assert formats.summary(tree.read("latest/summary"))["rows"] == \
            str(case.healthy["versions"][str(case.newest)]["rows"])
        assert tree.list("current")
    if "older" in case.must_read:
        read_older(tree, case)
    for part, check in (("fragments", read_fragments), ("lineage", read_lineage),
                        ("lineage_other", read_lineage_other), ("deletions", read_deletions)):
        if part in case.must_read:
            check(tree, case, case.newest, at)
    if case.must_read & {"tags", "other_tags"}:
        read_tags(tree, case)
    if "tags" in case.must_read:
        healthy = {formats.encode_name(b) for b in case.healthy["branches"]}
        assert healthy <= set(tree.list("branches"))


# ---- parts that must fail -----------------------------------------------------------------

def fail_version(tree, case, number):
    """A version whose manifest is broken is listed, explains itself and is passed over."""
    at = f"versions/{number}"
    assert str(number) in tree.list("versions")
    names = tree.list(at)
    assert "error" in names and len(tree.read(f"{at}/error")) > 0
    found = tablefacts.manifests(case.path)[number]
    assert tree.read(f"{at}/manifest.raw") == found.read_bytes()
    checks.fails(tree, f"{at}/summary", errno.ENOENT, *case.codes)
    if number == case.newest:
        newest = max(case.readable())
        assert tree.link("latest") == f"versions/{newest}"
        assert formats.summary(tree.read("current/summary"))["version"] == str(newest)


def fail_lineage(tree, case, at):
    """At least one lineage file of each broken fragment; what can be read is right."""
    broken = [f for f, healthy in pairs(case, case.newest) if not unbroken(f, healthy)]
    if case.name in LINEAGE_IS_WHOLE:
        whole_lineage(tree, case, case.newest, at)
        return
    assert broken, "no fragment is broken"
    for fragment in broken:
        failed = set()
        for what in [w for w in HIDDEN if fragment.placement(w) is not None]:
            values = fragment.lineage(what)
            path = f"{at}/fragments/{fragment.id}/lineage/{lineage_name(what)}"
            if isinstance(values, list):
                assert tree.read(path) == formats.column_bytes(values, formats.WIDE)
            else:
                checks.fails(tree, path, *case.codes)
                failed.add(path)
        if failed or isinstance(fragment.deleted_offsets(), Exception):
            table = f"{at}/fragments/{fragment.id}/lineage/all.tsv"
            checks.fails(tree, table, *case.codes)
            failed.add(table)
        assert failed, f"all of broken fragment {fragment.id} is shown"


def whole_lineage(tree, case, number, at):
    """Live rows have the values from before the damage; no facts can be had of them."""
    for fragment, healthy in pairs(case, number):
        gone = set(fragment.deleted_offsets())
        for key, what in expected.ROWS.items():
            if fragment.placement(what) is None:
                continue
            raw = tree.read(f"{at}/fragments/{fragment.id}/lineage/{lineage_name(what)}.u64")
            values = struct.unpack(f"<{len(raw) // 8}Q", raw)
            live = [v for o, v in enumerate(values) if o not in gone]
            assert len(values) == fragment.rows
            assert expected.same_array(live, healthy["rows"][key]), f"{fragment.id} {what}"


def fail_deletions(tree, case, at):
    broken = [f for f, _ in pairs(case, case.newest)
              if isinstance(f.deleted_offsets(), Exception)]
    assert broken
    for fragment in broken:
        checks.fails(tree, f"{at}/fragments/{fragment.id}/deleted_rows", *case.codes)


def fail_data(tree, case, at):
    """Some fragment's rows can't be read."""
    failed = 0
    for fragment, _ in pairs(case, case.newest):
        try:
            tree.read(f"{at}/fragments/{fragment.id}/head.jsonl")
        except OSError as error:
            assert error.errno in case.codes
            failed += 1
    assert failed


def fail_indices(tree, case, at):
    if "error" in tree.list(at):
        return
    with pytest.raises(OSError) as refused:
        tree.list(f"{at}/indices")
    assert refused.value.errno in case.codes


def history(case):
    """The model of the newest version's history, an exception where it can't be had, or None."""
    facts = case.facts(case.newest)
    try:
        if facts is None or not reuse.has_history(facts):
            return None
    except (Corrupt, ValueError):
        return None  # what is broken is the index section, or an entry of it
    try:
        return reuse.of(facts)
    except (Corrupt, OSError, reuse.Unsupported) as error:
        return error


def check_history(tree, case, at):
    """fri/ as far as it is sound; where it must fail, something of it does."""
    model = history(case)
    if model is None or "error" in tree.list(at):
        assert "fri" not in case.must_fail
        return
    if isinstance(model, Exception):
        faults = [model]
        reusechecks.nothing(tree, at, *case.codes)
    else:
        faults = [model.fault(k) for k in range(len(model.transitions)) if model.fault(k)]
        reusechecks.history(tree, at, model)
    assert {reusechecks.errno_of(fault) for fault in faults} <= case.codes
    assert faults or "fri" not in case.must_fail


def check_must_fail(tree, case):
    at = f"versions/{case.newest}"
    if "latest" in case.must_fail:
        fail_version(tree, case, case.newest)
    if "older" in case.must_fail:
        broken = [n for n in case.versions if case.facts(n) is None]
        assert broken and case.newest not in broken
        for number in broken:
            fail_version(tree, case, number)
    if "lineage" in case.must_fail:
        fail_lineage(tree, case, at)
    if "deletions" in case.must_fail:
        fail_deletions(tree, case, at)
    if "indices" in case.must_fail:
        fail_indices(tree, case, at)
    if "data" in case.must_fail:
        fail_data(tree, case, at)
    if "transactions" in case.must_fail:
        checks.fails(tree, f"{at}/transaction.json", *case.codes)
    check_history(tree, case, at)


# ---- whatever the case --------------------------------------------------------------------

def check_nothing_invented(tree, case):
    """Deleted rows of the newest version, where they can be read, are those on disk.

    A deletion file without its flag must not bring its rows back, for one.
    """
    facts, at = case.facts(case.newest), f"versions/{case.newest}"
    if facts is None or "error" in tree.list(at):
        return
    for fragment in facts.fragments:
        offsets = fragment.deleted_offsets()
        if fragment.deletion is None or isinstance(offsets, Exception):
            continue
        try:
            raw = tree.read(f"{at}/fragments/{fragment.id}/deleted_rows")
        except OSError as error:
            assert error.errno in case.codes
            continue
        assert formats.column(raw, formats.NARROW) == offsets


def outside_files():
    """Contents that no file of the tree may have."""
    system = [Path(p) for p in ("/etc/passwd", "/etc/hostname")]
    return {OUTSIDE} | {p.read_bytes() for p in system if p.exists() and p.stat().st_size > 4}


def read_some(path, limit=MOST_READ):
    """Up to `limit` bytes of a file; no more than its size says."""
    with open(path, "rb", buffering=0) as file:
        size, pieces, total = os.fstat(file.fileno()).st_size, [], 0
        while total < limit:
            piece = file.read(1 << 20)
            if not piece:
                due = 0 if programs.is_computed(path) else total
                assert size == due, f"{path}: size {size}, {total} bytes"
                break
            pieces.append(piece)
            total += len(piece)
        return b"".join(pieces)


def walk_everything(tree):
    """Each file is read or fails as a broken one may, and none comes from outside."""
    secrets = outside_files()
    for path, entry in tree.walk():
        if isinstance(entry, OSError):
            assert entry.errno in ANYWHERE, f"{path}: {entry}"
            continue
        assert entry.name not in (".", "..") and "/" not in entry.name
        try:
            mode = tree.lstat(path).st_mode
            if stat.S_ISREG(mode):
                assert read_some(tree.path / path) not in secrets, f"{path} is from outside"
            elif stat.S_ISLNK(mode):
                assert not tree.link(path).startswith("/")
            else:
                assert stat.S_ISDIR(mode), f"{path}: a special file"
        except OSError as error:
            assert error.errno in ANYWHERE, f"{path}: {error}"


@pytest.fixture
def case(request):
    """The case; the link out of its dataset leads to a file of ours, which no read may reach."""
    case = Case(request.param)
    if case.name == SYMLINK_OUT:
        outside = archives.scratch() / "outside"
        outside.write_bytes(OUTSIDE)
        os.utime(outside, (1, 2))
        for path in case.path.rglob("*"):
            if path.is_symlink():
                path.unlink()
                path.symlink_to(outside)
        yield case
        assert outside.stat().st_atime == 1 or os.statvfs(outside).f_flag & os.ST_NOATIME
        return
    yield case


@pytest.mark.mount
@pytest.mark.parametrize("case", MOUNTED, indirect=True)
def test_mounted(case):
    programs.need_fuse()
    before = snapshot.of(case.path)
    with programs.MountTree(case.path, limit=WALK_SECONDS) as tree:
        check_must_read(tree, case)
        check_must_fail(tree, case)
        check_nothing_invented(tree, case)
        walk_everything(tree)
        assert tree.alive()
        if not programs.under_sanitizer("lancefs"):
            assert tree.peak_memory() < MOST_MEMORY
        assert tree.list("versions")
    assert snapshot.changes(before, snapshot.of(case.path)) == []


@pytest.mark.mount
@pytest.mark.parametrize("case", NOT_MOUNTED, indirect=True)
def test_not_mounted(case):
    """Exit 32 and one line that says why; older versions of a refused newest one can be mounted."""
    programs.need_fuse()
    with pytest.raises(programs.MountFailed) as refused:
        with programs.MountTree(case.path):
            pass
    assert refused.value.status == 32
    assert len(refused.value.text.splitlines()) == 1, refused.value.text
    flag = NOT_MOUNTED[case.name]
    if flag is not None:
        assert flag in refused.value.text
        older = case.readable()[-1]
        with programs.MountTree(case.path, f"version={older}", limit=WALK_SECONDS) as tree:
            read_older(tree, case)
            walk_everything(tree)


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_show(case):
    """`lancet show` ends with 0 or 1 and one line, and shows what is whole."""
    tree = programs.ShowTree(case.path)
    at = f"versions/{case.newest}"
    if case.name in NOT_MOUNTED:
        with pytest.raises(OSError) as refused:
            tree.read(f"{at}/summary")
        assert refused.value.errno in case.codes
        if NOT_MOUNTED[case.name] is not None:
            assert NOT_MOUNTED[case.name] in refused.value.strerror
            number = case.readable()[-1]
            older = programs.ShowTree(case.path, f"version={number}")
            read_fragments(older, case, number, f"versions/{number}")
    for path in ("summary", "schema.json", "fragments.tsv", "files.tsv", "transaction.json",
                 "manifest.raw"):
        try:
            tree.read(f"{at}/{path}")
        except OSError as error:
            assert error.errno in ANYWHERE | {errno.ENOENT, errno.ENOTDIR}, f"{path}: {error}"
    if "fragments" in case.must_read:
        read_fragments(tree, case, case.newest, at)
    if case.name not in NOT_MOUNTED:
        check_history(tree, case, at)
    if "deletions" in case.must_fail:
        fail_deletions(tree, case, at)
    if "lineage" in case.must_fail:
        if case.name in LINEAGE_IS_WHOLE:
            whole_lineage(tree, case, case.newest, at)
            return
        broken = next(f for f, healthy in pairs(case, case.newest) if not unbroken(f, healthy))
        assert [w for w in HIDDEN if broken.placement(w) is not None]
        try:
            tree.read(f"{at}/fragments/{broken.id}/lineage/all.tsv")
        except OSError as error:
            assert error.errno in case.codes
        else:
            raise AssertionError("a broken fragment's lineage is shown")
    if case.name not in NOT_MOUNTED and "older" in case.must_read:
        number = case.readable()[0]
        read_fragments(tree, case, number, f"versions/{number}")


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("fri_")])
def test_translation(name):
    """An address whose way leads through the damage fails or is unknown; others are as ever."""
    case = Case(name)
    model, live = history(case), {f.id: f.rows for f in case.facts(case.newest).fragments}
    rows = model.fragments() if isinstance(model, reuse.History) else live | {0: 5, 1: 5}
    old = [(f << 32) + o for f, count in rows.items() for o in range(count)]
    if isinstance(model, reuse.History):
        reusechecks.translation(case.path, model, old)
        return
    done = reusechecks.run_translate(case.path, old)
    assert done.returncode == 1
    for address, line in zip(old, done.stdout.decode().split()):
        assert line == (str(address) if address >> 32 in live else "failed")


def test_every_case_is_run():
    """The table above names cases that exist, and the archive holds no other dataset."""
    assert set(NOT_MOUNTED) <= set(CASES)
    on_disk = {p.name for p in archives.unpacked("corrupt").iterdir() if p.is_dir()}
    assert on_disk == set(CASES)


@pytest.mark.mount
def test_symlink_followed_into_allowed_directory(scratch):
    """With follow= the same link is followed, and only into that directory."""
    programs.need_fuse()
    case = Case(SYMLINK_OUT)
    copy = Path(shutil.copytree(case.path, scratch / "ds.lance", symlinks=True))
    link = next(p for p in copy.rglob("*") if p.is_symlink())
    allowed = scratch / "allowed"
    allowed.mkdir()
    (allowed / "target").write_bytes(OUTSIDE)
    link.unlink()
    link.symlink_to(allowed / "target")
    path = f"versions/{case.newest}/dataset/data/{link.name}"
    with programs.MountTree(copy, f"follow={allowed}") as tree:
        assert tree.read(path) == OUTSIDE
    other = scratch / "other"
    other.mkdir()
    with programs.MountTree(copy, f"follow={other}") as tree:
        checks.fails(tree, path, errno.EUCLEAN, errno.EIO, errno.ELOOP)
