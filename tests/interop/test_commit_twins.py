"""What pylance does live, made again: each of its transactions is committed to a copy by us.

pylance works on one copy of a dataset; the transactions of the versions it made are committed to
the other copy, which has the same files. Every version must hold the same there, and the rows and
answers of indices must be those of the first copy in the end.
"""
import json
import os
import shutil

import lance
import pyarrow as pa
import pytest
from lance.file import LanceFileWriter
from lance.fragment import DataFile

import commits
import facts
import wire

OP = lance.LanceOperation
BASES = ("addr", "lfri", "memwal", "spill", "stable", "tfri")
REUSE, MEM_WAL = "__lance_frag_reuse", "__lance_mem_wal"
PRIMARY = "lance-schema:unenforced-primary-key"
CLUSTERING = "lance-schema:unenforced-clustering-key:position"
ALL = 1000  # rows of a fragment: all there are


def commit(ds, operation):
    lance.LanceDataset.commit(ds, operation, read_version=ds.version)


def settings(**changes):
    """Values are maps, or by a field's id."""
    def run(ds):
        commit(ds, OP.UpdateConfig(**{
            name: {i: OP.UpdateMap(m) for i, m in change.items()} if 0 in change or 1 in change
            else OP.UpdateMap(change, "replaced" in change)
            for name, change in changes.items()}))
    return run


def replace(name, count):
    """Other values for a column of some fragments, in a file of their own."""
    def run(ds):
        groups = []
        number = [f.name() for f in ds.lance_schema.fields()].index(name)
        for fragment in ds.get_fragments()[:count]:
            rows, path = fragment.physical_rows, f"{name}-{fragment.fragment_id}.lance"
            with LanceFileWriter(f"{ds.uri}/data/{path}", pa.schema([(name, pa.int64())]),
                                 version="2.1") as file:
                file.write_batch(pa.record_batch([pa.array(range(rows))], names=[name]))
            size = os.path.getsize(f"{ds.uri}/data/{path}")
            groups.append(OP.DataReplacementGroup(
                fragment.fragment_id, DataFile(path, [number], [0], 2, 1, size, None)))
        commit(ds, OP.DataReplacement(groups))
    return run


def compact(**options):
    return lambda ds: ds.optimize.compact_files(target_rows_per_fragment=ALL, **options)


LIVE = {
    "config": settings(config_updates={"a": "1", "k0": None}),
    "maps": settings(config_updates={"replaced": "1"}, table_metadata_updates={"q": "2"},
                     schema_metadata_updates={"x": "y"}),
    "primary": settings(field_metadata_updates={0: {PRIMARY: "true"}}),
    "clustering": settings(field_metadata_updates={1: {CLUSTERING: "2"}}),
    "drop": lambda ds: ds.drop_columns(["value"]),
    "drop_indexed": lambda ds: ds.drop_columns(["id"]),
    "rename": lambda ds: ds.alter_columns({"path": "name", "name": "label"}),
    "index": lambda ds: ds.create_scalar_index("value", "BTREE"),
    "bitmap": lambda ds: ds.create_scalar_index("name", "BITMAP", name="more_idx"),
    "anew": lambda ds: ds.create_scalar_index("id", "BTREE", name="id_idx", replace=True),
    "drop_index": lambda ds: ds.drop_index("id_idx"),
    "segment": lambda ds: ds.optimize.optimize_indices(num_indices_to_merge=0),
    "merge": lambda ds: ds.optimize.optimize_indices(num_indices_to_merge=9),
    "compact": compact(),
    "compact_later": compact(defer_index_remap=True),
    "replace_indexed": replace("id", 2),
    "replace_all": replace("value", 99),
    "delete": lambda ds: ds.delete("id % 3 = 0"),
    "update": lambda ds: ds.update({"value": "7"}, where="id % 5 = 0"),
}
REFUSED = {  # by the reference
    ("compact", "tfri"): "requires defer_index_remap",
    ("compact_later", "stable"): "stable row IDs", ("compact_later", "spill"): "stable row IDs",
}
PAIRS = [(base, name) for base in BASES for name in LIVE if (name, base) not in REFUSED]


def reuse_entry(version):
    """The entry as it is stored, if this version made it."""
    for segment in version.segments:
        if segment.name == REUSE and segment.dataset_version == version.version - 1:
            return segment.raw
    return None


def again(base, live):
    """pylance's copy and ours, and the versions that were made."""
    theirs, ours = (commits.stage([f"bases/{base}"]) for _ in range(2))
    ds = lance.dataset(str(theirs))
    first = ds.version
    LIVE[live](ds)
    last = lance.dataset(str(theirs)).version
    assert last > first
    for name in ("data", "_indices", "_deletions"):
        if (theirs / name).is_dir():
            shutil.copytree(theirs / name, ours / name, dirs_exist_ok=True)
    for number in range(first + 1, last + 1):
        version = facts.version(theirs, number)
        words = []
        if version.transaction.operation == "Rewrite" and reuse_entry(version):
            entry = ours.with_suffix(".reuse")
            entry.write_bytes(reuse_entry(version))
            words = [f"reuse={entry}"]
        result = commits.commit(ours, version.transaction.raw, version.transaction.read_version,
                                *words)
        assert (result["code"], result["version"]) == ("ok", number), result
    return theirs, ours, range(first + 1, last + 1)


def comparable(path, number):
    got = commits.account(path, number, set())
    entries = got.pop("indices")
    got["indices"] = sorted(json.dumps([None if e["name"].startswith("__lance_") else uuid, e])
                            for uuid, e in entries.items())
    for key in ("new_files", "new_deletion_files"):
        del got[key]
    return got


def catchup(path, number):
    """What the MemWAL's entry says, its UUID and time apart."""
    for segment in facts.version(path, number).segments:
        if segment.name == MEM_WAL:
            details = wire.decode(segment.details)
            return sorted(repr(field) for field in details if field[0] != 12)  # false, or absent
    return None


@pytest.mark.parametrize("base,live", PAIRS)
def test_twin(base, live):
    theirs, ours, numbers = again(base, live)
    for number in numbers:
        assert comparable(ours, number) == comparable(theirs, number)
        assert catchup(ours, number) == catchup(theirs, number)
    one, other = lance.dataset(str(theirs)), lance.dataset(str(ours))
    other.validate()
    assert other.to_table() == one.to_table()
    for value in range(0, 70, 7):
        for column in set(one.schema.names) & {"id", "value"}:
            wanted = f"{column} = {value}"
            assert other.to_table(filter=wanted) == one.to_table(filter=wanted)


@pytest.mark.parametrize("live,base", REFUSED)
def test_refused_live(live, base):
    """What there is no twin of."""
    with pytest.raises(OSError, match=REFUSED[live, base]):
        LIVE[live](lance.dataset(str(commits.stage([f"bases/{base}"]))))
