"""Histories damaged by chance: programs and model find the same faults, and follow the same rows.

Records are changed, left out, repeated and put in another order, or bytes of the whole are turned
over. Whatever comes of it is a history that two decoders must understand alike.
"""
import random
import shutil

import pytest

import make_reuse
import programs
import reuse
import reusechecks
from archives import dataset
from facts import Version
from make_reuse import Content
from wire import Corrupt

SEEDS = range(120)
BASES = ("fixtures/fri_tagged", "fixtures/fri_legacy", "fixtures-written/wv_tagged_chain",
         "fixtures-rust/fri_mixed", "fixtures-rust/fri_partition")
MOST_ROWS = 400  # of a fragment, to be translated


def change_number(rng, record, _):
    side = rng.choice((record.sources, record.destinations))
    if side:
        digest, place = rng.choice(side), rng.randrange(3)
        digest[place] = max(0, digest[place] + rng.choice((-1, 1, 5, 100, 1 << 32)))


def drop_fragment(rng, record, _):
    side = rng.choice((record.sources, record.destinations))
    if side:
        side.remove(rng.choice(side))


def borrow_fragment(rng, record, content):
    other = rng.choice(records(content))
    theirs = rng.choice((other.sources, other.destinations))
    if theirs:
        rng.choice((record.sources, record.destinations)).append(list(rng.choice(theirs)))


def shuffle_fragments(rng, record, _):
    rng.shuffle(rng.choice((record.sources, record.destinations)))


def shuffle_records(rng, _, content):
    rng.shuffle(content.transitions)


def repeat_record(rng, record, content):
    if record in content.transitions:
        content.transitions.append(record)


def drop_record(rng, record, content):
    if record in content.transitions and len(records(content)) > 1:
        content.transitions.remove(record)


def change_mapping(rng, record, _):
    for arm in record.arms:
        arm[1] = flipped(rng, arm[1])


def flipped(rng, raw):
    """With one bit turned over."""
    out = bytearray(raw)
    if out:
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


CHANGES = (change_number, drop_fragment, borrow_fragment, shuffle_fragments, shuffle_records,
           repeat_record, drop_record, change_mapping)


def records(content):
    return content.transitions + [g for _, groups in content.versions for g in groups]


def damaged(rng, raw):
    """The history with one to three changes, or with some bits turned over or cut off."""
    if rng.random() < 0.3:
        for _ in range(rng.choice((1, 1, 2, 4))):
            raw = flipped(rng, raw)
        return raw[:rng.randrange(len(raw))] if rng.random() < 0.2 else raw
    content = Content(raw)
    for _ in range(rng.choice((1, 1, 2, 3))):
        rng.choice(CHANGES)(rng, rng.choice(records(content)), content)
    return content.encode()


def addresses(*models):
    """Rows of every fragment of the histories, and some behind the last."""
    rows = {}
    for model in models:
        for fragment, count in model.fragments().items():
            rows[fragment] = max(rows.get(fragment, 0), min(count, MOST_ROWS) + 2)
    return [(f << 32) + o for f, count in rows.items() if f < 1 << 32 for o in range(count)]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_damage(seed, scratch):
    rng = random.Random(seed)
    root = shutil.copytree(dataset(rng.choice(BASES)).path, scratch / "ds.lance", symlinks=True)
    before = reuse.History(Version(root, make_reuse.newest(root)))
    make_reuse.put(root, damaged(rng, before.content))
    tree = programs.ShowTree(root)
    try:
        model = reuse.History(Version(root, make_reuse.newest(root)))
    except Corrupt:
        reusechecks.nothing(tree, "latest", reusechecks.errno_of(Corrupt()))
        return
    reusechecks.history(tree, "latest", model, frozenset(range(len(model.transitions))))
    reusechecks.translation(root, model, addresses(before, model))
