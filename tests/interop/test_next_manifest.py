"""A commit that changes next to nothing, on every dataset that there is: the rest stays as it was.

tests/helpers/commit puts one key into the table's configuration. The manifest before and the one
after are taken apart here and compared field by field; then pylance opens the result, must find the
same rows and indices, and writes on top.
"""
import shutil
import tempfile
import uuid

import lance
import pytest

import archives
import commits
import facts
import wire

# Fields that every commit sets, and the configuration.
SET = {3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 21, 23}
FRAGMENTS = 2
KEY, VALUE = "lancefs.test", "1"
# Datasets that no commit may touch, by the flag or file that says so.
UNTOUCHABLE = {
    "fixtures/flag_writer_unknown": "bit_20",
    "fixtures/fri_stable_flag512": "reuse_with_stable_row_ids",
}


# Some with deleted rows, with and without indices.
OLD = ["fixtures/deletions", "fixtures/deletions_70k", "fixtures/era_0_10_18"]


def transaction(read_version):
    entry = wire.encode([[1, 2, KEY.encode()], [2, 2, VALUE.encode()]])
    update = wire.encode([[6, 2, wire.encode([[1, 2, entry]])]])
    return wire.encode([[1, 0, read_version], [2, 2, str(uuid.uuid4()).encode()],
                        [110, 2, update]])


@pytest.fixture(name="copy")
def _copy(request):
    """A copy beside the original, so that bases which are told relative to it are found."""
    home = archives.dataset(request.param).path.parent
    with tempfile.TemporaryDirectory(dir=home) as place:
        yield shutil.copytree(archives.dataset(request.param).path, f"{place}/copy",
                              symlinks=True)


def by_number(version):
    """{field: encoded occurrences} of what a commit of a configuration leaves alone."""
    out = {}
    for number, kind, value in wire.decode(version.body):
        if number not in SET:
            out.setdefault(number, []).append(wire.encode([[number, kind, value]]))
    return out


def rows_of(path, **words):
    """Rows as text, in which one NaN is like the other, or why they can't be read."""
    try:
        return repr(lance.dataset(str(path), **words).to_table().to_pylist())
    except (OSError, ValueError) as error:
        return str(type(error))


@pytest.mark.parametrize(("copy", "ident"), [(i, i) for i in archives.dataset_ids()],
                         indirect=["copy"], ids=archives.dataset_ids())
def test_the_rest_is_as_it_was(copy, ident):
    number = max(facts.manifests(copy))
    before = facts.Version(copy, facts.manifests(copy)[number])
    got = commits.commit(copy, transaction(number), number)
    if ident in UNTOUCHABLE:
        assert UNTOUCHABLE[ident] in got["text"]
        assert max(facts.manifests(copy)) == number
        return
    assert got["code"] == "ok", got
    after = facts.Version(copy, facts.manifests(copy)[number + 1])
    check_fields(before, after)
    rows = rows_of(copy)
    assert rows == rows_of(copy, version=number)
    if not rows.startswith("<class"):
        check_next(copy, after)


def check_next(copy, ours):
    """The reference goes on from ours as it does from its own."""
    lance.dataset(str(copy)).update_config({"after": "x"})
    theirs = facts.Version(copy, facts.manifests(copy)[ours.version + 1])
    assert theirs.config == ours.config | {"after": "x"}
    assert (theirs.writer_flags, theirs.reader_flags) == (ours.writer_flags, ours.reader_flags)
    assert (theirs.max_fragment_id, theirs.next_row_id) == (ours.max_fragment_id,
                                                            ours.next_row_id)
    assert [f.id for f in theirs.fragments] == [f.id for f in ours.fragments]
    assert [(f.rows, f.deleted) for f in theirs.fragments] == \
        [(f.rows, f.deleted) for f in ours.fragments]


def check_fields(before, after):
    assert after.writer[0] == "lancefs" and after.version == before.version + 1
    assert after.config == before.config | {KEY: VALUE}
    assert after.next_row_id == before.next_row_id
    last = max((f.id for f in before.fragments), default=None)
    assert after.max_fragment_id == (before.max_fragment_id if last is None else
                                     max(before.max_fragment_id or 0, last))
    was, now = by_number(before), by_number(after)
    if before.data_format is None:
        assert after.data_format is not None
        now.pop(15)
    assert was == now
    assert (after.writer_flags & ~8, after.reader_flags) == recomputed(before)
    assert [vars(s) for s in after.segments] == [vars(s) for s in before.segments]


def recomputed(version):
    """The flags of the version's content, and those that stay for ever (format facts 3.1)."""
    flags = version.writer_flags & (1 << 8 | 1 << 10 | 1 << 14 | 1 << 15)
    flags |= 1 * any(f.deletion for f in version.fragments) | version.reader_flags & 2
    flags |= 16 * bool(version.bases) | 64 * any(f.overlays for f in version.fragments)
    flags |= 2048 * any(f.placement(w) == "column" for f in version.fragments
                        for w in facts.HIDDEN)
    flags |= version.writer_flags & 128
    return flags, flags & ~(1 << 15)


def without(raw, *numbers):
    return wire.encode([f for f in wire.decode(raw) if f[0] not in numbers])


def uncounted(fragment):
    """DataFragment without physical_rows #4, its deletion file without num_deleted_rows #4."""
    return wire.encode([[n, k, without(v, 4) if n == 3 else v]
                        for n, k, v in wire.decode(fragment) if n != 4])


@pytest.mark.parametrize(("copy", "ident"), [(i, i) for i in OLD], indirect=["copy"], ids=OLD)
@pytest.mark.parametrize("writer", [True, False], ids=["some writer", "no writer"])
def test_rows_that_were_not_counted_are_counted(copy, ident, writer):
    number = max(facts.manifests(copy))
    path = facts.manifests(copy)[number]
    before = facts.Version(copy, path)
    file = wire.ManifestFile(path.read_bytes())
    fields = [[n, k, uncounted(v) if n == FRAGMENTS else v] for n, k, v in file.message.fields
              if writer or n != 13]
    sections = {n: file.section(n) for n in ("index", "transaction") if file.section(n)}
    path.unlink()
    path.write_bytes(file.rebuilt(fields, sections))
    rows = rows_of(copy)
    assert commits.commit(copy, transaction(number), number)["code"] == "ok"
    after = facts.Version(copy, facts.manifests(copy)[number + 1])
    assert [(f.id, f.rows, f.deleted) for f in after.fragments] == \
        [(f.id, f.rows, f.deleted) for f in before.fragments]
    assert any(f.deleted for f in after.fragments) == ("deletions" in ident)
    assert [s.bitmap for s in after.segments] == \
        [s.bitmap if writer else [] for s in before.segments]
    assert rows_of(copy) == rows and not rows.startswith("<class")
    lance.dataset(str(copy)).optimize.optimize_indices()
    assert rows_of(copy) == rows
