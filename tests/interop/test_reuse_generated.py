"""Histories made by pylance and by hand: every row is found again by its value.

Each row has an id that no other has. What a row was at its old address it must be at the new one,
and what was deleted must be gone: no decoder has a say in that.
"""
import lance
import pytest

import facts
import make_reuse
import programs
import reuse
import reusechecks

SEEDS = range(60)
BLOCKS = (4, 7, 65536)

pytestmark = pytest.mark.mount


class Rows:
    """{address: id} of all rows that there ever were, and of those that each version has."""

    def __init__(self, root):
        self.ids, self.live = {}, {}
        for number in facts.manifests(root):
            ds = lance.dataset(str(root), version=number, session=lance.Session())
            table = ds.scanner(columns=["id"], with_row_address=True).to_table()
            here = dict(zip(table["_rowaddr"].to_pylist(), table["id"].to_pylist()))
            assert all(self.ids.setdefault(a, i) == i for a, i in here.items())
            self.live[number] = here
        self.newest = self.live[max(self.live)]
        self._last = {a >> 32: n for n in sorted(self.live) for a in self.live[n]}

    def deleted_when_rewritten(self, address):
        """Whether the row was deleted in the last version that had any row of its fragment."""
        return address not in self.live[self._last[address >> 32]]


def check_mapping(rows, transition, mapping):
    """Every row of the sources that we know of went where a row of that id is, or was deleted."""
    for source, start in zip(transition.sources, transition.starts().tolist()):
        for offset in range(source.rows):
            old, new = (source.id << 32) + offset, int(mapping[start + offset])
            if new == reuse.NO_ROW:
                assert rows.deleted_when_rewritten(old), old
            else:
                assert rows.ids[old] == rows.ids[new], old
                assert not rows.deleted_when_rewritten(old), old


def parse_mapping(raw):
    """The destinations in mapping.tsv, without a look at the model."""
    out = []
    for line in raw.decode().splitlines()[1:]:
        fragment, offset = line.split("\t")[2:]
        out.append(reuse.NO_ROW if fragment.strip() == "-" else
                   (int(fragment) << 32) + int(offset))
    return out


def check_translation(root, rows, model):
    """Every address that a row ever had, by `lancet translate`."""
    present = set(rows.newest.values())
    old = sorted(rows.ids)
    found = reusechecks.translate(root, old)
    fates = {"deleted": 0, "unknown": 0, "current": 0}
    for address, got in zip(old, found):
        ident = rows.ids[address]
        if got == "deleted":
            assert ident not in present
        elif got == "unknown":
            assert model.translate(address)[0] == "unknown"
        else:
            assert rows.ids[got] == ident
            assert (got in rows.newest) == (ident in present)
        fates[got if isinstance(got, str) else "current"] += 1
    return fates


def check_queries(root, rows):
    """pylance finds rows by the index through the same history: it is one that it understands."""
    ds = make_reuse.opened(root)
    ids = sorted(rows.newest.items(), key=lambda pair: pair[1])
    for address, ident in ids[::max(1, len(ids) // 8)]:
        found = ds.scanner(filter=f"id = {ident}", with_row_address=True).to_table()
        assert found["_rowaddr"].to_pylist() == [address]


def check_all(root):
    rows = Rows(root)
    model = reuse.History(facts.Version(root, make_reuse.newest(root)))
    check_queries(root, rows)
    fates = check_translation(root, rows, model)
    with programs.MountTree(root) as tree:
        reusechecks.history(tree, "latest", model)
        for number, transition in enumerate(model.transitions):
            raw = tree.read(f"latest/fri/transitions/{number}/mapping.tsv")
            check_mapping(rows, transition, parse_mapping(raw))
        for number in sorted(rows.live)[:-1]:
            older = facts.Version(root, facts.manifests(root)[number])
            if reuse.has_history(older):
                every = frozenset(range(1000))
                reusechecks.history(tree, f"versions/{number}", reuse.History(older), every)
    return model, fates


@pytest.mark.parametrize("seed", SEEDS)
def test_generated(seed, scratch):
    programs.need_fuse()
    root = scratch / "ds.lance"
    made = make_reuse.history(root, seed)
    model, fates = check_all(root)
    assert model.transitions and fates["current"]
    partitions = [t for t in model.transitions if t.kind == reuse.PARTITION]
    assert len(partitions) == made.partitions


@pytest.mark.parametrize("storage", make_reuse.STORAGE)
@pytest.mark.parametrize("block_rows", BLOCKS)
def test_chain_of_both_kinds(block_rows, storage, scratch):
    """Legacy compaction, partition, ordered compaction, partition, with deletions in between."""
    programs.need_fuse()
    made = make_reuse.Dataset(scratch / "ds.lance", f"{block_rows}/{storage}", storage)
    made.create(5)
    for step in (made.compact, lambda: made.partition(block_rows, storage)) * 2:
        made.delete(0.15)
        step()
    model, fates = check_all(made.root)
    kinds = [t.kind for t in model.transitions]
    assert kinds.count(reuse.PARTITION) == 2 and reuse.ORDERED in kinds
    assert model.transitions[0].legacy and fates["current"] and fates["deleted"]
    assert fates["unknown"] == 0
