"""Every dataset of the three groups shows what pylance and the Rust reference say about it.

The bulk is read through a mount, one for each dataset; `lancet show` reads a spread of the same
paths with the same checks. Values come from facts.py, which test_oracle.py holds against the
reference's accounts.
"""
import errno
import json
import os
import stat

import pytest

import archives
import checks
import expected
import formats
import live
import programs
from archives import dataset
from facts import Fragment, Segment
from wire import ManifestFile, Message

ALL = archives.dataset_ids()
REFUSED = [ident for ident in ALL if dataset(ident).refused()]
READABLE = [ident for ident in ALL if ident not in REFUSED]
# Lineage files whose values are in a hidden column, over all datasets, versions and branches,
# counted from the references' accounts (spilled_by_accounts below): what reading them is tested on.
SPILLED_FILES = {"fixtures": 722, "fixtures-rust": 435, "fixtures-written": 47}

mount = pytest.mark.mount
each = pytest.mark.parametrize("mounted", READABLE, indirect=True)


def lines(data):
    """(path of the version in the tree, facts, branch) of every version of every branch."""
    for branch in (None, *data.branches()):
        front = f"branches/{formats.encode_name(branch)}/" if branch else ""
        for number in data.numbers(branch):
            yield f"{front}versions/{number}", data.facts(number, branch), branch


def spilled_by_accounts(data):
    """(line, version, fragment, file) of every lineage file in a column, by the references."""
    out = set()
    keys = expected.PLACEMENTS if data.by_pylance else \
        {"row_id_meta": "row_ids", "created_at_meta": "created_at",
         "last_updated_at_meta": "last_updated_at"}
    for branch in (None, *data.branches()):
        for number, account in data.accounts(branch).items():
            for fragment in (account or {}).get("fragments", []):
                meta = fragment["metadata"] if data.by_pylance else fragment
                spilled = [what for key, what in keys.items() if in_column(meta[key])]
                names = {n for what in spilled for n in checks.both_names(what)}
                names |= {"all.tsv"} if spilled else set()
                out |= {(branch, number, fragment["id"], name) for name in names}
    return out


def in_column(meta):
    if isinstance(meta, dict) and "kind" in meta:
        return meta["kind"] == "column"
    return expected.spilled_placement(meta)


def test_spilled_list():
    """Those that we take for spilled are those that the references do, and as many as ever."""
    counts = dict.fromkeys(archives.GROUPS, 0)
    for ident in ALL:
        data = dataset(ident)
        listed = spilled_by_accounts(data)
        known = {(b, f.version, *file) for _, f, b in lines(data) for file in f.column_files()
                 if data.accounts(b)[f.version] is not None}
        assert listed == known, ident
        counts[data.group] += len(listed)
    assert counts == SPILLED_FILES


def test_refused_list():
    assert REFUSED == ["fixtures/fri_stable_flag512"]


# ---- through a mount ----------------------------------------------------------------------

@mount
@each
def test_versions(mounted):
    tree, data = mounted
    names = tree.list("versions")
    assert names == [str(n) for n in data.numbers()], "all versions, in numeric order"
    assert tree.link("latest") == f"versions/{data.latest}"
    assert formats.summary(tree.read("current/summary"))["version"] == str(data.latest)
    assert tree.read("README.txt")
    for branch in data.branches():
        at = f"branches/{formats.encode_name(branch)}"
        numbers = data.numbers(branch)
        assert tree.list(f"{at}/versions") == [str(n) for n in numbers]
        assert tree.link(f"{at}/latest") == f"versions/{numbers[-1]}"
        assert formats.summary(tree.read(f"{at}/current/summary"))["branch"] == branch


def listed(tree, directory):
    """The names in a directory of the root, absent where the dataset has none of its kind."""
    return sorted(tree.list(directory)) if directory in tree.list("") else []


@mount
@each
def test_refs(mounted):
    tree, data = mounted
    assert listed(tree, "branches") == \
        sorted(formats.encode_name(b) for b in data.branches())
    tags = data.tags()
    if tags is None:  # pylance can't list them; the notes name the one that it made
        assert data.notes["tag"] in tree.list("tags")
        tags = {data.notes["tag"]: (None, 1)}
        assert set(tags) | {"plain"} == set(tree.list("tags"))
    else:
        assert listed(tree, "tags") == sorted(map(formats.encode_name, tags))
    for name, (branch, number) in tags.items():
        front = f"../branches/{formats.encode_name(branch)}/" if branch else "../"
        assert tree.link(f"tags/{formats.encode_name(name)}") == f"{front}versions/{number}"
    found = data.notes.get("detached_versions", [])
    if data.name == "wv_detached":
        found = [9223372036856010375]
    assert listed(tree, "detached") == sorted(map(str, found))


@mount
@each
def test_version_files(mounted):
    """summary, manifest, schema, settings and transaction of every version."""
    tree, data = mounted
    tags = data.tags() or {}
    for at, facts, branch in lines(data):
        checks.listing(tree, at, facts)
        here = [n for n, place in tags.items() if place == (branch, facts.version)]
        if data.tags() is not None:
            checks.summary(tree, at, facts, here)
        checks.manifest(tree, at, facts)
        checks.schema(tree, at, facts)
        checks.settings(tree, at, facts)
        checks.transaction(tree, at, facts)
        account = data.accounts(branch)[facts.version]
        if account is not None and data.by_pylance:
            rows = formats.summary(tree.read(f"{at}/summary"))["rows"]
            assert int(rows) == account["count_rows"]


@mount
@each
def test_fragments(mounted):
    tree, data = mounted
    for at, facts, _ in lines(data):
        checks.fragments_table(tree, at, facts)
        for fragment in facts.fragments:
            checks.fragment_info(tree, at, facts, fragment)
            checks.fragment_files(tree, at, facts, fragment)
            checks.deleted_rows(tree, at, fragment)


@mount
@each
def test_lineage(mounted):
    """Row ids and both versions of every physical row, wherever they are stored."""
    tree, data = mounted
    for at, facts, _ in lines(data):
        for fragment in facts.fragments:
            checks.lineage(tree, at, fragment)


@mount
@each
def test_indices(mounted):
    tree, data = mounted
    for at, facts, branch in lines(data):
        checks.indices(tree, at, facts)
        account = data.accounts(branch)[facts.version]
        if account is not None and data.by_pylance:
            shown = set(tree.list(f"{at}/indices")) if facts.segments else set()
            if ".system" in shown:
                shown |= set(tree.list(f"{at}/indices/.system"))
            assert {formats.encode_name(i["name"]) for i in account["indices"]} <= shown


@mount
@each
def test_files_table(mounted):
    """files.tsv lists exactly the live files, and dataset/ holds exactly those."""
    tree, data = mounted
    for at, facts, _ in lines(data):
        rows = formats.tsv(tree.read(f"{at}/files.tsv"), "files.tsv")
        want = live.live_files(facts, data.path)
        got = [(r["kind"], r["fragment"] and int(r["fragment"]), r["base"] and int(r["base"]),
                r["path"]) for r in rows if not live.is_blob(r["path"])]
        assert sorted(got, key=repr) == sorted((f.key() for f in want), key=repr), at
        blobs = live.blob_files(facts)
        listed = {r["path"] for r in rows if live.is_blob(r["path"])}
        assert listed == set(blobs), "blob files"
        found = {p.removeprefix(f"{at}/dataset/"): e for p, e in tree.walk(f"{at}/dataset")
                 if isinstance(e, OSError) or not e.is_dir(follow_symlinks=False)}
        assert set(found) - {live.HINT} == {f.path for f in want} | set(blobs), at
        sizes = {r["path"]: int(r["bytes"]) for r in rows}
        check_bytes(tree, f"{at}/dataset", want, blobs, sizes)
        check_stands_alone(tree, f"{at}/dataset", facts, want)


def check_bytes(tree, at, want, blobs, sizes):
    """Pass-through files have the backing's bytes, time and size."""
    rewritten = {f.path for f in want if f.kind in ("manifest", "ref", "fri_details")}
    backing = {f.path: f.backing for f in want} | blobs
    for path, source in backing.items():
        info = tree.lstat(f"{at}/{path}")
        assert stat.S_ISREG(info.st_mode), path
        assert sizes[path] == info.st_size, path
        raw = tree.read(f"{at}/{path}")
        if path not in rewritten:
            assert raw == source.read_bytes(), path
            assert info.st_mtime_ns == os.stat(source).st_mtime_ns, path


def check_stands_alone(tree, at, facts, want):
    """The manifest as stored where it needs nothing else, else without bases and branch."""
    raw = tree.read(f"{at}/_versions/{facts.path.name}")
    if not facts.bases and facts.branch is None:
        assert raw == facts.raw
    else:
        check_rewritten(raw, facts)
    for file in want:
        if file.kind == "ref":
            tag = json.loads(tree.read(f"{at}/{file.path}"))
            assert tag.get("branch") is None and tag["version"] == facts.version
            if raw != facts.raw: # a tag that needs no change keeps the size that was stored with it
                assert tag["manifestSize"] == len(raw)


def check_rewritten(raw, facts):
    """Only what names other places is gone: base paths, base ids, flag bit 4, the branch."""
    shown = ManifestFile(raw)
    message, bit = shown.message, 1 << 4
    assert not message.has(18) and not message.has(20)
    assert (message.uint(9), message.uint(10)) == \
        (facts.reader_flags & ~bit, facts.writer_flags & ~bit)
    fragments = [Fragment(facts, m) for m in message.subs(2)]
    assert [(f.id, f.rows, f.deleted) for f in fragments] == \
        [(f.id, f.rows, f.deleted) for f in facts.fragments]
    for fragment in fragments:
        files = [*fragment.files, *(o.file for o in fragment.overlays)]
        assert all(file.base is None for file in files)
        assert fragment.deletion is None or fragment.deletion.base is None
    section = shown.section("index")
    segments = [Segment(m) for m in Message(section).subs(1)] if section is not None else []
    assert [(s.uuid, s.bitmap) for s in segments] == [(s.uuid, s.bitmap) for s in facts.segments]
    assert all(s.base is None for s in segments)
    assert shown.section("transaction") == facts._file.section("transaction")
    kept = {n for n, _, _ in facts._file.message.fields} - {6, 9, 10, 18, 20, 21, 23}
    assert kept <= {n for n, _, _ in message.fields}


@mount
@each
def test_detached(mounted):
    """Detached versions have the tree of a version."""
    tree, data = mounted
    accounts = data.expected.get("detached") or []
    for number in listed(tree, "detached"):
        facts, at = data.facts(int(number)), f"detached/{number}"
        account = next((a for a in accounts if a["version"] == int(number)), None)
        if account is not None:
            assert expected.check_pylance(facts, account) == []
        checks.manifest(tree, at, facts)
        checks.fragments_table(tree, at, facts)
        for fragment in facts.fragments:
            checks.deleted_rows(tree, at, fragment)
            checks.lineage(tree, at, fragment)


@mount
@each
def test_walk(mounted):
    """Everything in the tree can be read and is as long as it says; only what must fail fails.

    Of versions_500 this walks a spread of the versions; the other tests read all of them.
    """
    tree, data = mounted
    allowed = {}
    skipped = {f"versions/{n}" for n in data.numbers()} - \
        {f"versions/{n}" for n in data.spread(100)}
    for at, facts, _ in lines(data):
        if at in skipped:
            continue
        allowed |= checks.expected_failures(at, facts)
    newest = data.facts(data.latest)
    allowed |= checks.expected_failures("current", newest)
    for branch in data.branches():
        at = f"branches/{formats.encode_name(branch)}/current"
        allowed |= checks.expected_failures(at, data.facts(data.numbers(branch)[-1], branch))
    for number in listed(tree, "detached"):
        allowed |= checks.expected_failures(f"detached/{number}", data.facts(int(number)))
    failed = set()
    for path, entry in tree.walk(skipped=skipped):
        assert not isinstance(entry, OSError), f"{path}: {entry}"
        if entry.is_symlink() or entry.is_dir():
            continue
        try:
            tree.read(path)
        except OSError as error:
            assert error.errno in allowed.get(path, ()), f"{path}: {error}"
            failed.add(path)
    assert failed == set(allowed)


# ---- through lancet show ------------------------------------------------------------------

@pytest.mark.parametrize("ident", READABLE)
def test_show(ident):
    """A spread of paths, by `lancet show`, with the checks of the mount."""
    data = dataset(ident)
    tree = programs.ShowTree(data.path)
    assert tree.list("versions") == [str(n) for n in data.numbers()]
    numbers = data.numbers()
    facts = data.facts(data.latest)
    for at in ("latest", f"versions/{data.latest}"):
        checks.manifest(tree, at, facts)
    checks.fragments_table(tree, "current", facts)
    at = f"versions/{numbers[len(numbers) // 2]}"
    facts = data.facts(numbers[len(numbers) // 2])
    checks.schema(tree, at, facts)
    checks.transaction(tree, at, facts)
    for fragment in facts.fragments[:1] + facts.fragments[1:][-1:]:
        checks.deleted_rows(tree, at, fragment)
        checks.lineage(tree, at, fragment)
    with pytest.raises(OSError) as absent:
        tree.read(f"versions/{data.latest}/no-such-file")
    assert absent.value.errno == errno.ENOENT


# ---- refused by flag ----------------------------------------------------------------------

@pytest.mark.parametrize("ident", REFUSED)
def test_refused_by_show(ident):
    """The version is refused, the flag named; older ones are read."""
    data = dataset(ident)
    tree = programs.ShowTree(data.path)
    with pytest.raises(OSError) as refused:
        tree.read(f"versions/{data.latest}/summary")
    assert refused.value.errno == errno.EOPNOTSUPP
    for name in data.refused():
        assert name in refused.value.strerror
    older = programs.ShowTree(data.path, f"version={data.numbers()[-2]}")
    for number in data.numbers()[:-1]:
        checks.summary(older, f"versions/{number}", data.facts(number))


@mount
@pytest.mark.parametrize("ident", REFUSED)
def test_refused_by_mount(ident):
    programs.need_fuse()
    data = dataset(ident)
    with pytest.raises(programs.MountFailed) as refused:
        with programs.MountTree(data.path):
            pass
    assert refused.value.status == 32
    for name in data.refused():
        assert name in refused.value.text
    older = data.numbers()[-2]
    with programs.MountTree(data.path, f"version={older}") as tree:
        assert tree.list("versions") == [str(n) for n in data.numbers()]
        assert formats.summary(tree.read("current/summary"))["version"] == str(older)
        for number in data.numbers()[:-1]:
            facts = data.facts(number)
            checks.fragments_table(tree, f"versions/{number}", facts)
            for fragment in facts.fragments:
                checks.lineage(tree, f"versions/{number}", fragment)
