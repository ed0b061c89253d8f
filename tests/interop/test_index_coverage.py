"""What indices still cover through the reuse history, and which transitions they need.

The model of coverage.py is held against the references first: `effective_fragment_bitmap` of the
Rust reference is the stored bitmap where the version has no history, what a legacy history makes of
it, and by index name what a tagged one does. Only the last leaves out fragments that are no longer
live, so all are compared with those taken out. pylance's describe_indices gives the same and does
not list an index that a tagged history leaves nothing of.
"""
import ctypes
import random
import shutil

import lance
import pytest

import archives
import checks
import coverage
import expected
import facts
import formats
import liblancet
import make_reuse
import programs
import reuse
from archives import dataset
from make_reuse import Content, Record

ALL = [i for i in archives.dataset_ids() if not dataset(i).refused()]
BY_RUST = [i for i in ALL if not dataset(i).by_pylance]
BY_PYLANCE = [i for i in ALL if dataset(i).by_pylance and "versions" in dataset(i).expected]
WITH_HISTORY = [i for i in ALL if reuse.has_history(dataset(i).facts(dataset(i).latest))]


def versions(data):
    """(facts, the reference's account, branch) of every version with indices."""
    for branch in (None, *data.branches()):
        for number, account in data.accounts(branch).items():
            if isinstance(account, dict) and isinstance(account.get("indices"), list):
                yield data.facts(number, branch), account, branch


def live(version):
    return {f.id for f in version.fragments}


@pytest.mark.parametrize("ident", BY_RUST)
def test_model_is_what_the_rust_reference_says(ident):
    for version, account, _ in versions(dataset(ident)):
        for name in {i["name"] for i in account["indices"]}:
            listed = [i for i in account["indices"] if i["name"] == name]
            model = coverage.Coverage(version, name)
            assert [s.uuid for s in model.segments] == [i["uuid"] for i in listed]
            for number, index in enumerate(listed):
                if index.get("effective_fragment_bitmap") is None:
                    continue
                effective = set(expected.ranges(index["effective_fragment_bitmap"]))
                assert model.covered(number) == sorted(effective & live(version))


def described(version, indices):
    """{segment uuid: fragments} of the user indices; what is not listed covers nothing."""
    listed = {s["uuid"]: s["fragment_ids"] for i in indices for s in i["segments"]}
    return {s.uuid: sorted(set(listed.get(s.uuid, [])) & live(version))
            for s in version.segments if not s.name.startswith("__lance_")}


def by_model(version):
    out = {}
    for name in {s.name for s in version.segments if not s.name.startswith("__lance_")}:
        model = coverage.Coverage(version, name)
        out |= {s.uuid: model.covered(n) for n, s in enumerate(model.segments)}
    return out


@pytest.mark.parametrize("ident", BY_PYLANCE)
def test_model_is_what_pylance_says(ident):
    for version, account, _ in versions(dataset(ident)):
        known = {s["uuid"] for i in account["indices"] for s in i["segments"]}
        theirs = described(version, account["indices"])
        for uuid, ours in by_model(version).items():
            # Without a tagged history an index that pylance has no reader for is not listed either.
            if uuid in known or reuse.has_history(version):
                assert theirs[uuid] == ours


def test_translated_coverage_is_tested():
    """So many segments of the fixtures cover what their stored bitmap does not name."""
    count = 0
    for ident in ALL:
        for version, _, _ in versions(dataset(ident)):
            stored = {s.uuid: set(s.bitmap or []) for s in version.segments}
            count += sum(bool(set(c) - stored[u]) for u, c in by_model(version).items())
    assert count >= 100


# ---- which transitions are needed ---------------------------------------------------------

class _Need(ctypes.Structure):
    _fields_ = [("transition", ctypes.c_size_t), ("index", ctypes.c_size_t),
                ("downstream", ctypes.c_bool)]


def needs(path, number):
    """What lancet_reuse_needs says, with the names of the indices, which come in byte order."""
    names = sorted({s.name.encode() for s in facts.version(path, number).segments})
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    with liblancet.Version(path, number) as version:
        found, count = ctypes.POINTER(_Need)(), ctypes.c_size_t()
        liblancet._call(liblancet.LIB.lancet_reuse_needs, version.handle, ctypes.byref(found),
                        ctypes.byref(count))
        out = [(n.transition, names[n.index].decode(), n.downstream)
               for n in found[:count.value]]
        free(found)
    assert out == sorted(out, key=lambda n: (n[0], n[1].encode()))
    return {(transition, name): downstream for transition, name, downstream in out}


def fragments_of(history, numbers):
    return [[sorted(d.id for d in side) for side in (history.transitions[n].sources,
                                                     history.transitions[n].destinations)]
            for n in numbers]


def test_the_reference_trims_what_no_index_needs():
    """fri_trimmed was trimmed by the Rust reference, twice: by what it kept we know the rest."""
    data = dataset("fixtures-rust/fri_trimmed")
    for before, after in ((10, 11), (12, 13)):
        history = reuse.of(data.facts(before))
        needed = sorted({transition for transition, _ in needs(data.path, before)})
        kept = data.facts(after)
        left = reuse.of(kept) if reuse.has_history(kept) else None
        assert fragments_of(history, needed) == \
            (fragments_of(left, range(len(left.transitions))) if left else [])
    assert len(history.transitions) == 1


@pytest.mark.parametrize("ident", WITH_HISTORY)
def test_needs_of_the_fixtures(ident):
    data = dataset(ident)
    for number in data.numbers():
        if reuse.has_history(data.facts(number)):
            assert needs(data.path, number) == coverage.needs(data.facts(number))


# ---- made by chance -----------------------------------------------------------------------

class _Index(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("name_size", ctypes.c_size_t),
                ("is_system", ctypes.c_bool), ("segments", ctypes.POINTER(ctypes.c_void_p)),
                ("segment_count", ctypes.c_size_t)]


def ours(path, number):
    """{index: [(covered, unindexed, retired) of all segments, of each]} of the user indices.

    None in place of what has no known coverage.
    """
    out = {}
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    with liblancet.Version(path, number) as version:
        indices, count = ctypes.POINTER(_Index)(), ctypes.c_size_t()
        liblancet._call(liblancet.LIB.lancet_version_indices, version.handle,
                        ctypes.byref(indices), ctypes.byref(count))

        def ask(index, segment, which):
            ids, found = ctypes.POINTER(ctypes.c_uint32)(), ctypes.c_size_t()
            liblancet._call(liblancet.LIB.lancet_index_coverage, version.handle,
                            ctypes.byref(index), ctypes.c_void_p(segment), which,
                            ctypes.byref(ids), ctypes.byref(found))
            listed = ids[:found.value]
            free(ids)
            return listed

        def ask_all(index, segment):
            try:
                return tuple(ask(index, segment, which) for which in range(3))
            except liblancet.Error as error:
                assert error.code == "NOT_FOUND", error
                return None
        for index in indices[:count.value]:
            if not index.is_system:
                segments = index.segments[:index.segment_count]
                out[index.name[:index.name_size].decode()] = \
                    [ask_all(index, segment) for segment in (None, *segments)]
    return out


def expected_coverage(version):
    out = {}
    for name in {s.name for s in version.segments if not s.name.startswith("__lance_")}:
        model = coverage.Coverage(version, name)
        out[name] = [
            None if (model.unknown if n is None else model.segments[n].bitmap is None) else
            (model.covered(n), model.unindexed(n), model.retired(n))
            for n in (None, *range(len(model.segments)))]
    return out


class Scene:
    """A history, indices and live fragments, made by chance."""

    KINDS = ("btree", "btree", "btree", "BITMAP", "ZONEMAP", "BLOOMFILTER", "fm")

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.index_version = self.rng.choice((None, 0, 1, 1))
        self.rows = {f: self.rng.randrange(1, 20) for f in range(self.rng.randrange(2, 6))}
        self.here = set(self.rows)
        self.steps = [self._rewrite() for _ in range(self.rng.randrange(1, 7))]
        self.ever = sorted({*self.rows, *range(90, 93)})
        gone = {f for f in self.here if self.rng.random() < .1}
        back = {f for f in self.rows if self.rng.random() < .05}
        self.live = sorted((self.here - gone) | back | {90, 91}) if self.rng.random() < .9 else \
            sorted(self.rng.sample(self.ever, len(self.ever) // 2))
        self.segments = []
        for name in "xyz"[:self.rng.randrange(1, 4)]:
            kind = self.rng.choice(self.KINDS)  # pylance lists an index of one kind only
            self.segments += [(name, kind, *self._segment())
                              for _ in range(self.rng.randrange(1, 4))]

    def _rewrite(self):
        sources = self.rng.sample(sorted(self.here), min(len(self.here), self.rng.randrange(1, 4)))
        deleted = [self.rng.randrange(self.rows[f]) for f in sources]
        left = sum(self.rows[f] for f in sources) - sum(deleted)
        parts = min(left, self.rng.randrange(1, 3))
        first = max(self.rows) + 1
        sizes = [left // parts] * (parts - 1) + [left - left // parts * (parts - 1)]
        made = dict(zip(range(first, first + parts), sizes))
        record = Record.ordered(
            [[f, self.rows[f], d] for f, d in zip(sources, deleted)],
            [[f, n, 0] for f, n in made.items()],
            {f: list(range(d, self.rows[f])) for f, d in zip(sources, deleted)})
        self.rows |= made
        self.here = self.here - set(sources) | set(made)
        return record

    def _segment(self):
        """Bitmap, dataset version."""
        share = self.rng.choice((.3, .7, 1))
        among = self.ever if self.rng.random() < .5 else [f for f in self.ever if f < 5]
        bitmap = [f for f in among if self.rng.random() < share]
        unknown = self.index_version == 1 and self.rng.random() < .05  # else pylance gives up
        return None if unknown else bitmap, self.rng.randrange(1, 14)

    def content(self):
        """Legacy versions first, of one or two groups each; not always in lineage order."""
        out, steps = Content(), list(self.steps)
        if self.rng.random() < .2:
            self.rng.shuffle(steps)
        legacy = len(steps) if self.index_version == 0 else self.rng.choice((0, 0, 1, 2))
        version = 0
        while steps and legacy > 0:
            groups = steps[:min(legacy, self.rng.choice((1, 1, 2)))]
            for group in groups:
                group.arms = [[1, make_reuse.Message(group.arms[0][1]).bytes(1)]]
            version += self.rng.randrange(1, 4)
            out.versions.append([version, groups])
            steps, legacy = steps[len(groups):], legacy - len(groups)
        out.transitions = steps
        return out.encode()


class Lab:
    """A dataset whose newest manifest is made anew for each scene.

    pylance says what indices cover by the manifest alone; there is one index of each kind to take
    the entries from.
    """

    def __init__(self, root):
        self.root = root
        make_reuse.Dataset(root, 1, "2.1").create()
        ds = make_reuse.opened(root)
        for kind in ("BITMAP", "ZONEMAP", "BLOOMFILTER"):
            ds.create_scalar_index("id", kind, name=kind)
        ds.add_columns({"text": "'t' || cast(id as string)"})
        ds = make_reuse.opened(root)
        ds.create_scalar_index("text", lance.indices.IndexConfig(index_type="fm", parameters={}),
                               name="fm")
        self.manifest = make_reuse.newest(root)
        self.raw = self.manifest.read_bytes()

    def make(self, scene):
        self.manifest.write_bytes(self.raw)

        def change(fields, entries):
            kinds = {make_reuse.value(e, 3).decode().replace("id_idx", "btree"): e
                     for e in entries}
            one = make_reuse.decode(make_reuse.value(fields, 2))
            fields[:] = [f for f in fields if f[0] != 2]
            for fragment in scene.live:
                make_reuse.set_field(one, 1, 0, fragment)
                fields.append([2, 2, make_reuse.encode(one)])
            make_reuse.set_field(fields, 11, 0, 1000)
            entries[:] = [self._entry(kinds[kind], name, bitmap, version, scene.rng)
                          for name, kind, bitmap, version in scene.segments]
            if scene.index_version is not None:
                entries.append(make_reuse.new_entry(scene.content(), scene.index_version,
                                                    scene.ever, 20, rng=scene.rng))
            if scene.index_version == 1:
                make_reuse.set_flags(fields, make_reuse.TAGGED, make_reuse.TAGGED)
        make_reuse.edit(self.root, change)
        return facts.Version(self.root, self.manifest)

    @staticmethod
    def _entry(like, name, bitmap, version, rng):
        entry = [list(f) for f in like]
        uuid = make_reuse.encode([[1, 2, rng.randbytes(16)]])
        stored = None if bitmap is None else make_reuse.roaring(bitmap)
        for number, kind, value in ((1, 2, uuid), (3, 2, name.encode()), (4, 0, version),
                                    (5, 2, stored)):
            make_reuse.set_field(entry, number, kind, value)
        return entry


def pylance_covers(root, version):
    indices = [{"segments": [{"uuid": str(s.uuid), "fragment_ids": s.fragment_ids}
                             for s in i.segments]}
               for i in make_reuse.opened(root).describe_indices()]
    return described(version, indices)


SCENES = 400


def test_scenes_made_by_chance(scratch):
    """pylance, the model and lancet_index_coverage agree; the model and lancet_reuse_needs too."""
    lab = Lab(scratch / "lab.lance")
    translated = retired = lost = split = needed = downstream = 0
    for seed in range(SCENES):
        version = lab.make(Scene(seed))
        model = by_model(version)
        assert pylance_covers(lab.root, version) == model, seed
        found = ours(lab.root, version.version)
        assert found == expected_coverage(version), seed
        for segment in version.segments:
            covered = set(model.get(segment.uuid, []))
            stored = set(segment.bitmap or [])
            translated += bool(covered - stored)
            lost += segment.uuid in model and not covered and bool(stored & live(version))
        for parts in found.values():
            retired += parts[0] is not None and bool(parts[0][2])
            together = [set(p[0]) for p in parts[1:] if p is not None]
            split += any(a & b for n, a in enumerate(together) for b in together[:n])
        if reuse.has_history(version):
            want = coverage.needs(version)
            assert needs(lab.root, version.version) == want, seed
            needed += bool(want)
            downstream += any(want.values())
    counts = (translated, retired, lost, split, needed, downstream)
    assert min(counts) >= 20, counts


@pytest.mark.parametrize("seed", range(10))
def test_scenes_are_shown(seed, scratch):
    lab = Lab(scratch / "lab.lance")
    for number in range(4):
        version = lab.make(Scene(1000 + 10 * seed + number))
        for name in {s.name for s in version.segments if s.name != reuse.NAME}:
            checks.coverage_files(
                programs.ShowTree(lab.root), f"versions/{version.version}/indices/{name}",
                version, [s for s in version.segments if s.name == name])


# ---- made by pylance ----------------------------------------------------------------------

def grow(made, rng, tagged):
    """Commits by chance; indices are left behind, catch up, and are made anew."""
    if tagged:
        make_reuse.tag(made.root)
    for _ in range(14):
        what = rng.choice(("append", "append", "delete", "compact", "compact", "index",
                           "optimize", "optimize", "partition"))
        ds = make_reuse.opened(made.root)
        if what == "index":
            kind = rng.choice(("BITMAP", "ZONEMAP", "BTREE"))
            ds.create_scalar_index("part", kind, name=rng.choice(("a", "b")), replace=True)
        elif what == "optimize":
            ds.optimize.optimize_indices(num_indices_to_merge=rng.choice((0, 0, 1)))
        elif what != "partition":
            getattr(made, what)()
        elif tagged:
            made.partition()


@pytest.mark.parametrize("seed", range(24))
def test_indices_left_behind(seed, scratch):
    root = scratch / "grown.lance"
    made = make_reuse.Dataset(root, seed, make_reuse.STORAGE[seed % 3])
    made.create()
    grow(made, random.Random(seed), tagged=seed % 2 == 1)
    for number, path in sorted(facts.manifests(root).items()):
        version = facts.Version(root, path)
        ds = lance.dataset(str(root), version=number, session=lance.Session())
        listed = ds.describe_indices()
        indices = [{"segments": [{"uuid": str(s.uuid), "fragment_ids": s.fragment_ids}
                                 for s in i.segments]} for i in listed]
        model = by_model(version)
        assert described(version, indices) == model
        assert ours(root, number) == expected_coverage(version)
        if reuse.has_history(version):
            found = needs(root, number)
            assert found == coverage.needs(version)
            check_trim(root, number, {transition for transition, _ in found}, scratch / "trimmed")
        for index in listed:
            if not index.name.startswith("__lance_"):
                check_rows(root, number, index.name, index.num_rows_indexed)


def check_trim(root, number, needed, copy):
    """Without what no index needs, each covers as much as before and finds what a scan finds."""
    history = reuse.of(facts.version(root, number))
    dropped = {t.name for n, t in enumerate(history.transitions) if n not in needed}
    if not dropped:
        return
    shutil.copytree(root, copy)
    for newer, path in facts.manifests(copy).items():
        if newer > number:
            path.unlink()
    for hint in (copy / "_versions").glob("*.json"):
        hint.unlink()
    content = Content(history.content)
    content.versions = [[version, [g for j, g in enumerate(groups)
                                   if f"legacy_versions[{i}].groups[{j}]" not in dropped]]
                        for i, (version, groups) in enumerate(content.versions)]
    content.versions = [v for v in content.versions if v[1]]
    content.transitions = [t for i, t in enumerate(content.transitions)
                           if f"transitions[{i}]" not in dropped]
    before = pylance_covers(copy, facts.version(copy, number))
    make_reuse.put(copy, content)
    assert pylance_covers(copy, facts.version(copy, number)) == before
    ds = make_reuse.opened(copy)
    ids = ds.to_table(columns=["id"])["id"].to_pylist()
    for query in [f"id = {i}" for i in random.Random(number).sample(range(max(ids) + 1), 40)] + \
            [f"part = {part}" for part in range(4)]:
        by_index, by_scan = (ds.to_table(columns=["id"], filter=query, use_scalar_index=use)
                             for use in (True, False))
        assert sorted(by_index["id"].to_pylist()) == sorted(by_scan["id"].to_pylist()), query
    shutil.rmtree(copy)


def check_rows(root, number, name, rows):
    """covered_rows against pylance's own count of the rows that the index is about."""
    info = formats.load_json(programs.ShowTree(root).read(
        f"versions/{number}/indices/{formats.encode_name(name)}/info.json"), "index")
    covered = [s["covered_rows"] for s in info["segments"]]
    if len(covered) == 1:
        assert covered == [rows]
    else:  # fragments may be covered by several
        assert max(covered) <= rows <= sum(covered)
