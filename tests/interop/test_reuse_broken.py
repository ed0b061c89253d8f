"""Histories broken by hand: what contradicts is named, and the rest is followed as before.

Each case says which records must have a fault; the model has to find the same ones before it is
believed about anything else.
"""
import errno
import shutil
import struct

import numpy as np
import pytest

import checks
import make_reuse
import programs
import reuse
import reusechecks
from archives import dataset
from facts import Version
from make_reuse import Content, Record, put
from wire import Corrupt, encode

mount = pytest.mark.mount
# Seven ordered compactions, and a chain of all kinds that is stored in lineage order.
ORDERED, CHAIN = "fixtures/fri_tagged", "fixtures-written/wv_tagged_chain"


class Broken:
    """A copy of a dataset whose newest history was changed, and models from before and after."""

    def __init__(self, ident, scratch, change, **how):
        self.root = shutil.copytree(dataset(ident).path, scratch / "ds.lance", symlinks=True)
        self.before = self.model()
        for number in range(len(self.before.transitions)):
            self.before.mapping(number)  # kept: the files may be gone soon
        content = Content(self.before.content)
        changed = change(self, content)
        put(self.root, changed if changed is not None else content, **how)

    def model(self):
        """The history as it is now."""
        return reuse.History(Version(self.root, make_reuse.newest(self.root)))

    def addresses(self):
        """All rows of all fragments, and one behind each fragment's last."""
        return [(f << 32) + o for f, rows in self.before.fragments().items()
                for o in range(rows + 1)]


def named(number):
    return f"transitions[{number}]"


# ---- contradictions among records ---------------------------------------------------------

def kept_by(broken, number):
    """{fragment: surviving offsets} of a record of the first base."""
    stored = reuse.treemap(broken.before.transitions[number].surviving)
    return {key: offsets.tolist() for key, offsets in stored.items()}


def set_survivors(content, number, kept):
    """Other survivors, as a dictionary or as bytes."""
    raw = kept if isinstance(kept, bytes) else make_reuse.treemap(kept)
    content.transitions[number].arm(f1=raw)


def consumed_twice(broken, content):
    """The second one to consume fragment 11 says the same of it as the first."""
    content.transitions[5].sources.append(list(content.transitions[4].sources[1]))
    content.transitions[5].destinations[0][1] += 13
    content.transitions[6].sources[1][1] += 13
    content.transitions[6].sources[1][2] += 13
    set_survivors(content, 5, kept_by(broken, 5) | {11: kept_by(broken, 4)[11]})


def made_twice(_, content):
    """Another record makes fragment 15 as well, from fragments that nobody knows."""
    content.transitions.append(Record.ordered([[100, 25, 0]], [[15, 25, 0]],
                                              {100: list(range(25))}))


def cycle_of_two(broken, content):
    """Fragment 16 becomes 200, which becomes a source of what makes 16."""
    kept = kept_by(broken, 6)
    kept[201] = kept.pop(16)
    set_survivors(content, 6, kept)
    set_survivors(content, 5, kept_by(broken, 5) | {200: list(range(5))})
    content.transitions[5].sources.append([200, 5, 0])
    content.transitions[5].destinations[0][1] += 5
    content.transitions[6].sources[1] = [201, 33, 3]
    content.transitions.append(Record.ordered([[16, 38, 33]], [[200, 5, 0]],
                                              {16: list(range(5))}))


def cycle_of_one(_, content):
    content.transitions[6].sources[2] = [18, 60, 55]


def cycle_with_a_tail(broken, content):
    """What comes behind a cycle is no part of it."""
    cycle_of_two(broken, content)
    content.transitions[7].destinations = [[200, 2, 0], [203, 3, 0]]
    content.transitions[5].sources[-1] = [200, 2, 0]
    content.transitions[5].destinations[0][1] -= 3
    content.transitions[7].sources[0][1:] = [35, 30]
    set_survivors(content, 5, kept_by(broken, 5) | {200: [0, 1]})
    content.transitions.append(Record.ordered([[203, 3, 0]], [[204, 3, 0]], {203: [0, 1, 2]}))


def joint_of_other_rows(_, content):
    """The destination is consumed with a row more than it was made with."""
    content.transitions[6].sources[0][1] += 1
    content.transitions[6].sources[0][2] += 1


def live_rows_off_by_one(_, content):
    content.transitions[3].destinations[0][1] += 1
    content.transitions[5].sources[1][1] += 1
    content.transitions[5].sources[1][2] += 1


def deleted_off_by_one(_, content):
    content.transitions[1].sources[1][2] += 1


def more_deleted_than_there_were(_, content):
    content.transitions[0].sources[0][2] = 7


def deleted_destination(_, content):
    content.transitions[6].destinations[0][2] = 1


def source_twice(_, content):
    content.transitions[0].sources[1][0] = content.transitions[0].sources[0][0]


def destination_twice(_, content):
    content.transitions[6].destinations = [[18, 30, 0], [18, 30, 0]]


def no_sources(_, content):
    content.transitions[0].sources = []


def id_too_large(_, content):
    content.transitions[3].sources[0][0] = 0xFFFFFFFF


def rows_too_many(_, content):
    content.transitions[3].sources[0][1:] = [1 << 32, (1 << 32) - 6]


def both_arms(_, content):
    content.transitions[2].arms.append(
        [make_reuse.PARTITION_ARM,
         encode([[1, 2, b"5b9a1e9c-3f0b-4a53-9d0e-0a5a2f1f9d00"], [2, 0, 100]])])


def arm_twice(_, content):
    content.transitions[2].arms.append(list(content.transitions[2].arms[0]))


def no_arm(_, content):
    content.transitions[2].arms.clear()


def map_id_no_uuid(_, content):
    content.transitions[1].arm(f1=b"../../data")


def map_of_no_bytes(_, content):
    content.transitions[1].arm(f2=0)


# name: (base, change, records with a fault of CORRUPT, how it is put)
RECORDS = {
    "consumed_twice": (ORDERED, consumed_twice, {named(4), named(5)}),
    "made_twice": (ORDERED, made_twice, {named(4), named(7)}),
    "cycle_of_two": (ORDERED, cycle_of_two, {named(5), named(7)}),
    "cycle_of_one": (ORDERED, cycle_of_one, {named(6)}),
    "cycle_with_a_tail": (ORDERED, cycle_with_a_tail, {named(5), named(7)}),
    "joint_of_other_rows": (ORDERED, joint_of_other_rows, {named(4), named(6)}),
    "live_rows_off_by_one": (ORDERED, live_rows_off_by_one, {named(3)}),
    "deleted_off_by_one": (ORDERED, deleted_off_by_one, {named(1)}),
    "more_deleted": (ORDERED, more_deleted_than_there_were, {named(0)}),
    "deleted_destination": (ORDERED, deleted_destination, {named(6)}),
    "source_twice": (ORDERED, source_twice, {named(0)}),
    "destination_twice": (ORDERED, destination_twice, {named(6)}),
    "no_sources": (ORDERED, no_sources, {named(0)}),
    "id_too_large": (ORDERED, id_too_large, {named(3)}),
    "rows_too_many": (ORDERED, rows_too_many, {named(3)}),
    "both_arms": (ORDERED, both_arms, {named(2)}),
    "arm_twice": (ORDERED, arm_twice, {named(2)}),
    "no_arm": (ORDERED, no_arm, {named(2)}),
    "index_version_0": (CHAIN, lambda *_: None, {named(n) for n in range(4)},
                        {"index_version": 0}),
    "map_id_no_uuid": (CHAIN, map_id_no_uuid, {named(1)}),
    "map_of_no_bytes": (CHAIN, map_of_no_bytes, {named(1)}),
}


def check_message(tree, model, due):
    """`lancet show` says which records, both of them where there are two."""
    failure = checks.fails(tree, "latest/fri/info.json", errno.EUCLEAN)
    told = [t for t in model.transitions if t.name in due and
            reusechecks.names_records(failure.strerror, t)]
    assert told, failure.strerror


def broken_record(name, scratch):
    ident, change, due, *how = RECORDS[name]
    broken = Broken(ident, scratch, change, **(how[0] if how else {}))
    model = broken.model()
    assert {t.name for t in model.transitions if isinstance(t.fault, Corrupt)} == due
    return broken, model, due


@pytest.mark.parametrize("name", RECORDS)
def test_records(name, scratch):
    broken, model, due = broken_record(name, scratch)
    tree = programs.ShowTree(broken.root)
    check_message(tree, model, due)
    reusechecks.history(tree, "latest", model)
    reusechecks.translation(broken.root, model, broken.addresses())


@mount
@pytest.mark.parametrize("name", RECORDS)
def test_records_mounted(name, scratch):
    programs.need_fuse()
    broken, model, _ = broken_record(name, scratch)
    with programs.MountTree(broken.root) as tree:
        reusechecks.history(tree, "latest", model)


# ---- survivors ----------------------------------------------------------------------------

DAMAGED = 1  # transitions[1], of the sources 2, 3 and 4


def popcount_off(broken, content):
    kept = kept_by(broken, DAMAGED)
    kept[3].pop()
    set_survivors(content, DAMAGED, kept)


def popcounts_swapped(broken, content):
    """As many survivors in all, but one too many of the second source."""
    kept = kept_by(broken, DAMAGED)
    kept[2].pop()
    kept[3] = list(range(6))
    set_survivors(content, DAMAGED, kept)


def foreign_fragment(broken, content):
    kept = kept_by(broken, DAMAGED)
    kept[5] = kept.pop(4)
    set_survivors(content, DAMAGED, kept)


def beyond_the_rows(broken, content):
    kept = kept_by(broken, DAMAGED)
    kept[3][-1] = 6
    set_survivors(content, DAMAGED, kept)


def bytes_behind(broken, content):
    set_survivors(content, DAMAGED, broken.before.transitions[DAMAGED].surviving + b"\0")


def cut_short(broken, content):
    set_survivors(content, DAMAGED, broken.before.transitions[DAMAGED].surviving[:-1])


def keys_descend(broken, content):
    kept = kept_by(broken, DAMAGED)
    raw = len(kept).to_bytes(8, "little") + b"".join(
        key.to_bytes(4, "little") + make_reuse.roaring(kept[key])
        for key in sorted(kept, reverse=True))
    set_survivors(content, DAMAGED, raw)


def nothing_stored(_, content):
    set_survivors(content, DAMAGED, b"")


def bitmaps_without_end(_, content):
    set_survivors(content, DAMAGED, (1 << 60).to_bytes(8, "little"))


def runs_of_all_numbers(broken, content):
    """Every 32-bit number survives, in half a megabyte."""
    keys = b"".join(struct.pack("<HH", key, 0xFFFF) for key in range(1 << 16))
    first = 4 + (1 << 13) + 2 * len(keys)
    places = b"".join(struct.pack("<I", first + 6 * key) for key in range(1 << 16))
    full = struct.pack("<I", 12347 | 0xFFFF << 16) + b"\xff" * (1 << 13) + keys + places + \
        struct.pack("<HHH", 1, 0, 0xFFFF) * (1 << 16)
    pieces = [struct.pack("<I", key) + full for key in sorted(kept_by(broken, DAMAGED))]
    set_survivors(content, DAMAGED, struct.pack("<Q", len(pieces)) + b"".join(pieces))


SURVIVORS = [bitmaps_without_end, runs_of_all_numbers, popcount_off, popcounts_swapped,
             foreign_fragment, beyond_the_rows, bytes_behind, cut_short, keys_descend,
             nothing_stored]


@pytest.mark.parametrize("change", SURVIVORS, ids=lambda c: c.__name__)
def test_survivors(change, scratch):
    """Only the rows that go through the damaged transition are lost."""
    broken = Broken(ORDERED, scratch, change)
    model = broken.model()
    assert [t.name for k, t in enumerate(model.transitions) if model.fault(k)] == [named(DAMAGED)]
    tree = programs.ShowTree(broken.root)
    reusechecks.history(tree, "latest", model)
    number = next(k for k, t in enumerate(model.transitions) if t.name == named(DAMAGED))
    failure = checks.fails(tree, f"latest/fri/transitions/{number}/surviving_rows", errno.EUCLEAN)
    assert named(DAMAGED) in failure.strerror or f"transitions/{number}" in failure.strerror
    reusechecks.translation(broken.root, model, broken.addresses())


# ---- row maps -----------------------------------------------------------------------------

def size_off(by):
    def change(broken, content):
        size = broken.before.transitions[2].map_bytes
        content.transitions[1].arm(f2=size + by)
    return change


def unknown_base(_, content):
    content.transitions[1].arm(f3=77)


def map_gone(broken, _):
    broken.before.map_file(2).unlink()


def rewritten(edit_labels=None, edit_counts=None):
    """The same map but for what an edit does to its labels or to the bytes of its counts."""
    def change(broken, content):
        rows = broken.before.row_map(2)
        labels = [None if null else label for label, null
                  in zip(rows.labels.tolist(), rows.nulls.tolist())]
        matrix = make_reuse.counts(labels, rows.width, 10)
        labels = edit_labels(labels) if edit_labels else labels
        matrix = edit_counts(matrix) if edit_counts else matrix
        path = broken.before.map_file(2)
        path.unlink()
        content.transitions[1].arm(f2=make_reuse.write_map(path, labels, matrix))
    return change


def swapped(labels):
    """Two labels of different blocks change places: all totals stay as they are."""
    first = next(i for i, v in enumerate(labels[:10]) if v is not None)
    last = max(i for i, v in enumerate(labels) if v not in (None, labels[first]))
    labels[first], labels[last] = labels[last], labels[first]
    return labels


def beyond(labels):
    at = next(i for i, v in enumerate(labels) if v is not None)
    labels[at] = 3
    return labels


def one_null_more(labels):
    at = next(i for i, v in enumerate(labels) if v is not None)
    labels[at] = None
    return labels


def one_row_more(labels):
    return labels + [None]


def head(**changes):
    """Changes fields of the counts' header, by offset."""
    def change(matrix):
        out = bytearray(matrix)
        for place, new in changes.items():
            at, width = (int(n) for n in place[1:].split("_"))
            out[at:at + width] = new.to_bytes(width, "little")
        return bytes(out)
    return change


def last_cells_swapped(matrix):
    cells = np.frombuffer(matrix, "<u4", offset=28).reshape(-1, 3).copy()
    cells[-1, [0, 1]] = cells[-1, [1, 0]]
    return matrix[:28] + cells.tobytes()


def falling(matrix):
    cells = np.frombuffer(matrix, "<u4", offset=28).reshape(-1, 3).copy()
    cells[[1, 2]] = cells[[2, 1]]
    return matrix[:28] + cells.tobytes()


MAPS = {
    "size_one_more": (size_off(1), errno.EUCLEAN),
    "size_one_less": (size_off(-1), errno.EUCLEAN),
    "unknown_base": (unknown_base, errno.EUCLEAN),
    "map_gone": (map_gone, errno.EIO),
    "labels_swapped": (rewritten(swapped), errno.EUCLEAN),
    "label_beyond": (rewritten(beyond), errno.EUCLEAN),
    "one_null_more": (rewritten(one_null_more), errno.EUCLEAN),
    "one_row_more": (rewritten(one_row_more), errno.EUCLEAN),
    "magic": (rewritten(None, head(_0_4=0x43505355)), errno.EUCLEAN),
    "counts_version": (rewritten(None, head(_4_4=2)), errno.EOPNOTSUPP),
    "sparse_counts": (rewritten(None, head(_8_4=1)), errno.EOPNOTSUPP),
    "one_destination_more": (rewritten(None, head(_12_4=4)), errno.EUCLEAN),
    "blocks_of_no_rows": (rewritten(None, head(_16_4=0)), errno.EUCLEAN),
    "blocks_of_other_rows": (rewritten(None, head(_16_4=11)), errno.EUCLEAN),
    "another_number_of_rows": (rewritten(None, head(_20_8=57)), errno.EUCLEAN),
    "rows_without_end": (rewritten(None, head(_20_8=1 << 62)), errno.EUCLEAN),
    "last_cells_swapped": (rewritten(None, last_cells_swapped), errno.EUCLEAN),
    "falling_counts": (rewritten(None, falling), errno.EUCLEAN),
    "counts_cut": (rewritten(None, lambda m: m[:-1]), errno.EUCLEAN),
    "bytes_behind_counts": (rewritten(None, lambda m: m + b"\0"), errno.EUCLEAN),
    "no_counts": (rewritten(None, lambda m: m[:27]), errno.EUCLEAN),
}


@mount
@pytest.mark.parametrize("name", MAPS)
def test_row_maps(name, scratch):
    """A damaged map loses its own transition's rows, never shows a wrong one, and nothing else."""
    programs.need_fuse()
    change, code = MAPS[name]
    broken = Broken(CHAIN, scratch, change)
    healthy, model = broken.before, broken.model()
    faulty = [t.name for k, t in enumerate(model.transitions) if model.fault(k)]
    assert faulty == [named(1)]
    assert reusechecks.errno_of(model.fault(2)) == code
    tree = programs.ShowTree(broken.root)
    reusechecks.history(tree, "latest", model)
    reusechecks.translation(broken.root, model, broken.addresses(), healthy=healthy)
    with programs.MountTree(broken.root) as tree:
        reusechecks.history(tree, "latest", model)


# ---- unknown parts ------------------------------------------------------------------------

def test_unknown_mapping(scratch):
    """A transition with a field from the future is listed, and its rows are unknown."""
    def change(_, content):
        content.transitions[1].extra.append([9, 2, b"from the future"])
    broken = Broken(CHAIN, scratch, change)
    model = broken.model()
    assert not model.interpretable
    assert [t.name for t in model.transitions if t.fault] == [named(1)]
    tree = programs.ShowTree(broken.root)
    reusechecks.history(tree, "latest", model)
    assert tree.read("latest/fri/transitions/2/kind") == b"unknown\n"
    reusechecks.translation(broken.root, model, broken.addresses())


def test_unknown_record(scratch):
    """A record from the future beside the others: they are followed, nothing may be built on it."""
    def change(_, content):
        content.extra.append([3, 2, b"from the future"])
    broken = Broken(CHAIN, scratch, change)
    model = broken.model()
    assert not model.interpretable and not any(t.fault for t in model.transitions)
    reusechecks.history(programs.ShowTree(broken.root), "latest", model)
    reusechecks.translation(broken.root, model, broken.addresses())


# ---- the whole history --------------------------------------------------------------------

def content_as_is(broken, _):
    return broken.before.content


def two_entries(broken):
    make_reuse.edit(broken.root, lambda _, entries: entries.append(
        make_reuse.new_entry(broken.before.content, 1, {0}, 1)))


def details(raw):
    def change(broken):
        make_reuse.edit(broken.root, lambda _, entries: make_reuse.set_details(
            make_reuse.named(entries), raw(broken.before.content)))
    return change


def type_url(text):
    def change(broken):
        def edit(_, entries):
            make_reuse.set_field(make_reuse.named(entries), 6, 2, encode(
                [[1, 2, text], [2, 2, encode([[1, 2, broken.before.content]])]]))
        make_reuse.edit(broken.root, edit)
    return change


def external(path, extra=0, offset=0):
    """Details that are said to be in a file of the entry's directory, which is there."""
    def change(broken):
        put(broken.root, broken.before.content, external=True)
        details(lambda content: encode([[2, 2, encode(
            [[1, 2, path], [2, 0, offset], [3, 0, len(content) + extra]])]]))(broken)
    return change


def external_gone(broken):
    put(broken.root, broken.before.content, external=True)
    facts = Version(broken.root, make_reuse.newest(broken.root))
    entry = next(s for s in facts.segments if s.name == reuse.NAME)
    (broken.root / "_indices" / entry.uuid / "details.binpb").unlink()


def index_version(number):
    return lambda broken: put(broken.root, broken.before.content, index_version=number)


WHOLE = {
    "two_entries": (two_entries, errno.EUCLEAN),
    "both_contents": (details(lambda c: encode([[1, 2, c], [2, 2, b""]])), errno.EUCLEAN),
    "no_content": (details(lambda c: b""), errno.EUCLEAN),
    "record_is_no_message": (details(lambda c: encode([[1, 2, c + b"\x12\x02\x0a\xff"]])),
                             errno.EUCLEAN),
    "other_type": (type_url(b"/lance.table.BTreeIndexDetails"), errno.EUCLEAN),
    "type_with_a_host": (type_url(b"lance.table.FragmentReuseIndexDetailsX"), errno.EUCLEAN),
    "external_one_more": (external(b"details.binpb", 1), errno.EUCLEAN),
    "external_one_less": (external(b"details.binpb", -1), errno.EUCLEAN),
    "external_behind": (external(b"details.binpb", 0, 1), errno.EUCLEAN),
    "external_dotdot": (external(b"../details.binpb"), errno.EUCLEAN),
    "external_absolute": (external(b"/etc/hostname"), errno.EUCLEAN),
    "external_gone": (external_gone, errno.EIO),
    "index_version_2": (index_version(2), errno.EOPNOTSUPP),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_history(name, scratch):
    """fri/ explains itself, everything below it fails alike, and the version is read."""
    change, code = WHOLE[name]
    broken = Broken(CHAIN, scratch, content_as_is)
    change(broken)
    with pytest.raises((Corrupt, OSError, reuse.Unsupported)) as refused:
        broken.model()
    assert reusechecks.errno_of(refused.value) == code
    reusechecks.nothing(programs.ShowTree(broken.root), "latest", code)
    live = next(f for f in broken.before.facts.fragments)
    done = reusechecks.run_translate(broken.root, [live.id << 32, 0])
    assert done.returncode == 1 or done.stdout.split() == [b"%d" % (live.id << 32), b"failed"]
