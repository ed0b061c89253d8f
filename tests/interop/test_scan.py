"""Rows through liblancet against pylance's scan of the same version, compared as Arrow.

Schema, types, metadata and values, nulls and deletions included, of every version of every dataset,
whole and fragment by fragment; lineage columns; rows by id; blobs; what is told of columns. What
pylance 14.0.2 can't read is listed by name with its reason, and has to fail here, too.
"""
import random

import pyarrow as pa
import pyarrow.compute  # noqa: F401  for pa.compute
import pytest

import archives
import facts
import liblancet
import peer
from archives import dataset

LINEAGE = ["_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version"]
ALL = archives.dataset_ids()
# (dataset, versions): why pylance 14.0.2 can't scan them.
NOT_SCANNED = {
    ("fixtures/fri_stable_flag512", 4): "reader flag reuse_with_stable_row_ids",
    **{("fixtures/era_0_30_0_stable", n): "a deletion vector with offsets past the rows, by a bug "
       "of that release" for n in range(6, 11)},
}
# The user columns can be scanned, the row ids not.
NO_ROW_IDS = {
    **{("fixtures/era_0_30_0_stable", n): "row id segments with holes outside of their range, by a "
       "bug of that release" for n in (11, 12)},
}


def lines(data):
    """(branch, version) of everything that can be opened, detached versions too."""
    for branch in (None, *data.branches()):
        for number in data.numbers(branch):
            yield branch, number
    for number in facts.detached_manifests(data.path):
        yield None, number


def same_values(got, want):
    """Equal as Arrow has it; NaN is equal to itself."""
    if got.equals(want):
        return True
    left, right = got.to_pylist(), want.to_pylist()
    return len(left) == len(right) and all(
        a == b or repr(a) == repr(b) for a, b in zip(left, right))


def check_table(got, want):
    assert got.schema.equals(want.schema, check_metadata=True), \
        f"{got.schema}\nis not\n{want.schema}"
    assert got.num_rows == want.num_rows
    for name, mine, theirs in zip(got.column_names, got.columns, want.columns):
        assert same_values(mine, theirs), f"column {name}"


def quoted(names):
    """Columns for pylance's scanner, whatever is in their names."""
    return {n: f"`{n}`" for n in names} if any("." in n for n in names) else list(names)


def scanned(ds, names):
    return ds.scanner(columns=quoted(names)).to_table()


def check_fragments(version, ds, want):
    """Each fragment alone gives its part; pylance's row addresses tell which that is."""
    ids = [f.fragment_id for f in ds.get_fragments()]
    if len(set(ids)) != len(ids):
        return  # addresses don't tell fragments that an old writer gave one id
    owners = pa.array([a >> 32 for a in want["_rowaddr"].to_pylist()], pa.uint64())
    for ordinal, ident in enumerate(ids):
        got, _ = version.table(columns=want.column_names, fragments=[ordinal])
        check_table(got, want.filter(pa.compute.equal(owners, ident)))


def check_parts(version, want, seed):
    """Any offset, limit and size of batches; the columns in another order."""
    chance = random.Random(seed)
    names = chance.sample(want.column_names, min(4, want.num_columns))
    offset = chance.randrange(want.num_rows + 2)
    limit = chance.randrange(want.num_rows + 2)
    rows = chance.choice((1, 2, 7, 100, 1000)) if want.num_rows < 3000 else 1000
    got, sizes = version.table(columns=names, offset=offset, limit=limit, batch_rows=rows)
    check_table(got, want.select(names).slice(offset, limit))
    assert all(n <= rows for n in sizes)


def fails_alike(version, ds, names):
    """Pylance can't read these columns, and we call them damaged."""
    assert peer.answer(lambda: scanned(ds, names))[0] == "error"
    with pytest.raises(liblancet.Error) as refused:
        version.table(columns=names)
    assert refused.value.code == "CORRUPT"


def check_rows(version, ds, seed):
    names = [f.name() for f in ds.lance_schema.fields()]
    want = scanned(ds, names + LINEAGE)
    got, _ = version.table(columns=want.column_names)
    check_table(got, want)
    check_fragments(version, ds, want)
    check_parts(version, want, seed)


def check_version(data, branch, number):
    ds = peer.opened(data.root(branch), number)
    names = [f.name() for f in ds.lance_schema.fields()]
    with liblancet.Version(data.path, number, branch) as version:
        if (data.id, number) in NOT_SCANNED:
            fails_alike(version, ds, names)
            return
        got, _ = version.table()
        check_table(got, scanned(ds, names))
        if (data.id, number) in NO_ROW_IDS:
            fails_alike(version, ds, ["_rowid"])
        else:
            check_rows(version, ds, f"{data.id} {branch} {number}")


@pytest.mark.parametrize("ident", ALL)
def test_every_version(ident):
    data = dataset(ident)
    refused = refused_versions(data)
    for branch, number in lines(data):
        if (ident, number) not in refused:
            check_version(data, branch, number)


def refused_versions(data):
    """Versions that can't be opened at all, by us or by pylance."""
    refused = {(data.id, number) for number in data.numbers() if data.facts(number).refused}
    for ident, number in refused:
        assert (ident, number) in NOT_SCANNED
        assert peer.answer(lambda n=number: peer.opened(data.path, n))[0] == "error"
        with pytest.raises(liblancet.Error) as error:
            with liblancet.Version(data.path, number):
                pass
        assert error.value.code == "UNSUPPORTED"
    return refused


def test_lists_name_what_exists():
    for ident, number in (*NOT_SCANNED, *NO_ROW_IDS):
        assert number in dataset(ident).numbers()


# ---- rows by id ---------------------------------------------------------------------------

def wanted_ids(live, chance):
    """Ids in no order, some twice, some that no row has."""
    some = chance.sample(live, min(len(live), 300))
    some += chance.choices(some, k=min(len(some), 20)) if some else []
    chance.shuffle(some)
    return some


@pytest.mark.parametrize("ident", ALL)
def test_rows_by_id(ident):
    """Against pylance's take by row id, which leaves out what isn't there and keeps the order."""
    data = dataset(ident)
    chance = random.Random(ident)
    for number in data.spread(6):
        if (ident, number) in NOT_SCANNED or (ident, number) in NO_ROW_IDS:
            continue
        ds = peer.opened(data.path, number)
        names = [f.name() for f in ds.lance_schema.fields()]
        live = scanned(ds, ["_rowid"])["_rowid"].to_pylist()
        ids = wanted_ids(live, chance)
        with liblancet.Version(data.path, number) as version:
            for batch in (0, 1 + len(ids) // 3):
                got, _ = version.table(columns=[*names, "_rowid"], row_ids=ids,
                                       batch_rows=batch)
                assert got["_rowid"].to_pylist() == ids
                want = ds._take_rows(ids, columns=quoted(names)) if ids else \
                    scanned(ds, names).slice(0, 0)
                # what is taken has no metadata of the table
                check_table(got.select(names),
                            want.replace_schema_metadata(got.schema.metadata))
            missing = absent(ds, live)
            got, _ = version.table(columns=["_rowid"], row_ids=[*missing, *ids[:3], *missing])
            assert got["_rowid"].to_pylist() == ids[:3]


def absent(ds, live):
    """Ids of deleted rows, and of none."""
    known, out = set(live), [(1 << 64) - 1, 0xfffffffe << 32]
    if not ds.has_stable_row_ids:
        out += [f.fragment_id << 32 | 0xffffffff for f in ds.get_fragments()]
    top = max(live, default=0) + 10
    return out + [i for i in range(top if top < 1000 else 0) if i not in known]


# ---- blobs, columns -----------------------------------------------------------------------

@pytest.mark.parametrize("ident", [i for i in ALL if "blob_v1" in i])
def test_blob_bytes(ident):
    """Blobs of the first kind can be read as what they hold."""
    data = dataset(ident)
    for number in data.numbers():
        ds = peer.opened(data.path, number)
        columns = peer.blob_columns(ds)
        assert columns
        with liblancet.Version(data.path, number) as version:
            got, _ = version.table(columns=columns, blobs=1)
        for column in columns:
            assert got.schema.field(column).type == ds.schema.field(column).type
            want = peer.blobs(ds, column, got.num_rows)
            assert [v or b"" for v in got[column].to_pylist()] == [v or b"" for v in want]


@pytest.mark.parametrize("ident", ALL)
def test_columns_are_told(ident):
    """Every column of every data file, with the fields and numbers of the manifest."""
    data = dataset(ident)
    for number in data.spread(5):
        known = data.facts(number)
        if known.refused:
            continue
        types = {f.id: f.type for f in known.fields}
        with liblancet.Version(data.path, number) as version:
            for ordinal, fragment in enumerate(known.fragments):
                told = version.columns(ordinal)
                want = [(file.path, field, column) for file in fragment.files
                        for field, column in zip(file.fields, file.columns or [-1] * 999)
                        if column >= 0 or file.format == "0.1"]
                assert [(c["path"], c["field"], c["column"]) for c in told] == want
                for column in told:
                    check_told(column, known, fragment, types)


def check_told(column, known, fragment, types):
    file = next(f for f in fragment.files if f.path == column["path"])
    size = known.backing(file.base, f"data/{file.path}").stat().st_size
    assert column["bytes"] <= size
    assert column["file_version"] == file.format
    if column["field"] in types:
        assert column["type"] == types[column["field"]]
        assert column["name"] not in ("", "-")
    elif column["field"] in (-3, -4, -5):
        assert column["type"] == "uint64" and column["name"] in LINEAGE
    else:
        assert (column["name"], column["type"]) == ("-", "-")
    assert column["pages"] == 0 or column["encodings"] not in ("", "-")
    assert column["nulls"] is None or 0 <= column["nulls"]


# ---- broken datasets ----------------------------------------------------------------------

def corrupt_cases():
    return sorted(p.name for p in archives.unpacked("corrupt").iterdir() if p.is_dir())


@pytest.mark.parametrize("name", corrupt_cases())
def test_broken_datasets(name):
    """A scan ends with the rows or with an error that says why, whatever is broken."""
    path = archives.unpacked("corrupt") / name / "ds.lance"
    for number in range(1, 12):
        try:
            with liblancet.Version(path, number) as version:
                version.table()
                version.table(columns=LINEAGE)
        except liblancet.Error as error:
            assert error.code in ("CORRUPT", "IO", "UNSUPPORTED", "LIMIT", "NOT_FOUND"), error


def test_broken_data_is_told():
    path = archives.unpacked("corrupt") / "data_zero_bytes-348" / "ds.lance"
    with pytest.raises(liblancet.Error) as broken:
        with liblancet.Version(path, 3) as version:
            version.table()
    assert broken.value.code == "CORRUPT" and "data/" in broken.value.text


# ---- JSON ---------------------------------------------------------------------------------

JSON = ['{"a": 1, "b": [true, null, 1.5, "x\\"y\\u00e9\\n"], "c": {"d": {}}}', None, "[]", '"s"',
        "12345678901234567890", "-5", "1e300", "null", "0.1", "1E2", '{"b":1,"a":2}', "-0.0",
        "123456789012345678901234567890", '{"\\u0001":"\\ud83d\\ude00/"}', "-9223372036854775808",
        *(f"{m}e{e}" for m in ("1", "-1.5", "1.2345678901234567", "9.999999999999999")
          for e in range(-310, 309, 7)),
        *(repr(2.0 ** e) for e in range(-1074, 1024, 11)),
        *(f'"{chr(c)}"' for c in range(32, 300) if chr(c) not in '"\\'),
        *(f'"\\u{c:04x}"' for c in range(32))]


@pytest.mark.parametrize("version", ["2.1", "2.2", "2.3"])
def test_json_reads_as_text(version, scratch):
    """JSON at the top, in structs and in lists: spelled as pylance spells it."""
    kind = pa.json_(pa.utf8())
    column = pa.ExtensionArray.from_storage(kind, pa.array(JSON, pa.utf8()))
    offsets = pa.array(range(0, len(JSON) + 1, 2), pa.int32())
    table = pa.table({
        "j": column,
        "s": pa.StructArray.from_arrays([column, pa.array(range(len(JSON)))], names=["x", "y"])})
    lists = pa.table({"l": pa.ListArray.from_arrays(offsets, column)})
    for name, data in (("flat", table), ("lists", lists)):
        path = scratch / f"{name}.lance"
        ds = peer.lance.write_dataset(data, str(path), data_storage_version=version)
        with liblancet.Version(path, 1) as opened:
            check_rows(opened, ds, name)
            got, _ = opened.table(row_ids=[5, 3, 5, 0])
            check_table(got, ds._take_rows([5, 3, 5, 0]))
