"""fri/ of every dataset that has a history: as the references have it, through a mount.

Expected values come from reuse.py, which test_reuse_oracle.py holds against the references.
"""
import errno
import shutil

import pytest

import archives
import checks
import make_reuse
import programs
import reuse
import reusechecks
from archives import dataset
from facts import Version
from test_fixtures import READABLE, lines
from wire import encode

TAGGED_BIT = make_reuse.TAGGED
MANY_ROWS = 100_000  # of all sources: from here on only the newest version is read whole
# Versions with a history and the transitions in them, over all branches. The Rust reference lists
# as many.
SEEN = {"fixtures": (36, 157), "fixtures-rust": (47, 192), "fixtures-written": (28, 49)}

mount = pytest.mark.mount


def with_history(data):
    """(path in the tree, facts) of every version that has one."""
    return [(at, facts) for at, facts, _ in lines(data) if reuse.has_history(facts)]


IDS = [ident for ident in READABLE if with_history(dataset(ident))]
each = pytest.mark.parametrize("mounted", IDS, indirect=True)


def test_histories_are_there():
    """As many as ever: the tests below read something."""
    seen = {group: (0, 0) for group in archives.GROUPS}
    for ident in IDS:
        data = dataset(ident)
        found = with_history(data)
        versions, transitions = seen[data.group]
        seen[data.group] = (versions + len(found), transitions + sum(
            len(reuse.of(facts).transitions) for _, facts in found))
    assert seen == SEEN


@mount
@each
def test_history(mounted):
    """info.json, graph.dot, and every file of every transition."""
    tree, data = mounted
    for at, facts in with_history(data):
        model = reuse.of(facts)
        assert not any(t.fault for t in model.transitions)
        rows = sum(t.source_rows for t in model.transitions)
        whole = rows < MANY_ROWS or facts.version == data.latest
        every = set(range(len(model.transitions)))
        reusechecks.history(tree, at, model, frozenset() if whole else every)


@mount
@each
def test_versions_without_one(mounted):
    tree, data = mounted
    for at, facts, _ in lines(data):
        assert ("fri" in tree.list(at)) == reuse.has_history(facts), at
        if not reuse.has_history(facts):
            checks.fails(tree, f"{at}/fri/info.json", errno.ENOENT)


@pytest.mark.parametrize("ident", IDS)
def test_show(ident):
    """The newest history by `lancet show`."""
    data = dataset(ident)
    at, facts = [found for found in with_history(data) if found[1].branch is None][-1]
    model = reuse.of(facts)
    small = {k for k, t in enumerate(model.transitions) if t.source_rows > MANY_ROWS or k > 5}
    reusechecks.history(programs.ShowTree(data.path), at, model, small)


# ---- flags and names ----------------------------------------------------------------------

def copied(ident, scratch):
    return shutil.copytree(dataset(ident).path, scratch / "ds.lance", symlinks=True)


def model_of(root):
    """The history of the newest version as it is on disk now."""
    return reuse.History(Version(root, make_reuse.newest(root)))


@pytest.mark.parametrize("reader, writer", [(TAGGED_BIT, 0), (0, TAGGED_BIT)])
def test_tagged_in_one_word_only_is_refused(scratch, reader, writer):
    root = copied("fixtures/fri_tagged", scratch)
    make_reuse.edit(root, lambda fields, _: make_reuse.set_flags(fields, reader, writer))
    data = dataset("fixtures/fri_tagged")
    tree = programs.ShowTree(root)
    assert b"tagged_reuse_history" in tree.read(f"versions/{data.latest}/error")
    assert "fri" not in tree.list(f"versions/{data.latest}")
    done = reusechecks.run_translate(root, [0], f"version={data.latest}")
    assert done.returncode == 1 and b"EUCLEAN" in done.stderr
    assert b"tagged_reuse_history" in done.stderr
    older = data.numbers()[-2]
    reusechecks.history(tree, f"versions/{older}", reuse.of(data.facts(older)))


def test_tagged_history_without_its_flag_is_read(scratch):
    root = copied("fixtures/fri_tagged", scratch)
    make_reuse.edit(root, lambda fields, _: make_reuse.set_flags(fields, 0, 0))
    model = model_of(root)
    assert model.index_version == 1
    reusechecks.history(programs.ShowTree(root), "latest", model)
    old = [a << 32 for a in model.fragments()]
    reusechecks.translation(root, model, old)


def test_history_beside_stable_row_ids_is_refused():
    """Bit 9, by name: nothing of the newest version is shown, its history not either."""
    data = dataset("fixtures/fri_stable_flag512")
    tree = programs.ShowTree(data.path)
    checks.fails(tree, f"versions/{data.latest}/fri/info.json", errno.EOPNOTSUPP, errno.ENOENT)
    refused = checks.fails(tree, f"versions/{data.latest}/summary", errno.EOPNOTSUPP)
    assert "reuse_with_stable_row_ids" in refused.strerror
    done = reusechecks.run_translate(data.path, [0])
    assert done.returncode == 1 and b"reuse_with_stable_row_ids" in done.stderr


@pytest.mark.parametrize("ident", ["fixtures/fri_tagged", "fixtures/index_scalar"])
def test_retired_name_is_an_unknown_system_index(ident, scratch):
    """`__lance_stable_partition` is listed, and is no history, whatever it holds."""
    root, name = copied(ident, scratch), "__lance_stable_partition"
    entry = make_reuse.new_entry(b"\xff\xff not a history", 1, {0, 1}, 1, name=name)
    make_reuse.edit(root, lambda _, entries: entries.append(entry))
    tree, facts = programs.ShowTree(root), Version(root, make_reuse.newest(root))
    at = f"versions/{facts.version}"
    assert name in tree.list(f"{at}/indices/.system")
    checks.indices(tree, at, facts)
    if reuse.has_history(facts):
        reusechecks.history(tree, at, model_of(root))
    else:
        assert "fri" not in tree.list(at)


def test_type_without_its_slash_is_read(scratch):
    root = copied("fixtures/fri_legacy", scratch)
    before = model_of(root)

    def change(_, entries):
        bare = encode([[1, 2, reuse.TYPE.encode()], [2, 2, encode([[1, 2, before.content]])]])
        make_reuse.set_field(make_reuse.named(entries), 6, 2, bare)
    make_reuse.edit(root, change)
    reusechecks.history(programs.ShowTree(root), "latest", model_of(root))


def moved(source, *destinations):
    """A record that cuts a fragment of as many rows as it has destinations."""
    rows = len(destinations)
    return make_reuse.Record.ordered([[source, rows, 0]], [[d, 1, 0] for d in destinations],
                                     {source: list(range(rows))})


def test_numbering_is_by_lineage_then_as_stored(scratch):
    """What waits for nothing comes first; then, turn by turn, what each of these has let loose."""
    root = copied("fixtures/fri_tagged", scratch)
    legacy = moved(111, 112)
    legacy.arms = [[1, make_reuse.treemap({111: [0]})]]
    content = make_reuse.Content()
    content.versions = [[7, [legacy]]]
    content.transitions = [moved(103, 104), moved(102, 105), moved(101, 103), moved(100, 101, 102),
                           moved(110, 111)]
    make_reuse.put(root, content)
    model = model_of(root)
    assert [t.name for t in model.transitions] == [
        "transitions[3]", "transitions[4]", "transitions[1]", "transitions[2]",
        "legacy_versions[0].groups[0]", "transitions[0]"]
    reusechecks.history(programs.ShowTree(root), "latest", model)


def test_sources_without_a_live_row(scratch):
    """A fragment that was wholly deleted when it was rewritten maps to nothing."""
    root = copied("fixtures/fri_tagged", scratch)
    model = model_of(root)
    made = {d.id for t in model.transitions for d in t.destinations}
    live = next(f for f in model.facts.fragments if f.id not in made)
    kept = list(range(1, live.rows + 1))
    record = make_reuse.Record.ordered(
        [[1000, 7, 7], [1001, live.rows + 2, 2], [1002, 0, 0], [1003, 3, 3]],
        [[live.id, live.rows, 0]], {1001: kept})
    content = make_reuse.Content(model.content)
    content.transitions.append(record)
    make_reuse.put(root, content)
    model = model_of(root)
    assert not any(t.fault for t in model.transitions)
    number = next(k for k, t in enumerate(model.transitions) if t.sources[0].id == 1000)
    assert model.mapping(number).tolist() == [reuse.NO_ROW] * 8 + \
        [(live.id << 32) + o for o in range(live.rows)] + [reuse.NO_ROW] * 4
    reusechecks.history(programs.ShowTree(root), "latest", model)
    old = [(f << 32) + o for f, rows in ((1000, 8), (1001, live.rows + 3), (1002, 1), (1003, 4))
           for o in range(rows)]
    reusechecks.translation(root, model, old)
