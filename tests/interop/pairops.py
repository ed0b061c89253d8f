"""Operations as pylance makes them, each on a handle of the version that it reads.

The dataset has ids 0 to 39 in four fragments; version 4 is the one that everything is built on.
Each operation is a function of the handle that commits once: it fails where the reference refuses
it, and never begins again by itself.
"""
import datetime
import uuid
from pathlib import Path

import lance
import pyarrow as pa
from lance.file import LanceFileWriter
from lance.fragment import write_fragments
from lance.optimize import Compaction

READ = 4
RESTORED = 1
BASES = {"plain": (False, ()), "stable": (True, ()), "indexed": (False, ("id",)),
         "stable_indexed": (True, ("id",)), "keyed": (True, ()), "memwal": (False, ())}
KEY = "lance-schema:unenforced-primary-key"
SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("value", pa.int64()),
                    pa.field("name", pa.string()), pa.field("extra", pa.int32())])
VALUE, NAME = 1, 2  # ids of fields


def table(ids, add=0, schema=SCHEMA):
    ids = list(ids)
    rows = {"id": ids, "value": [i * 10 + add for i in ids], "name": [f"n{i}" for i in ids],
            "extra": [i % 5 for i in ids]}
    return pa.table(rows, schema=schema)


def make(path, kind):
    """Versions: 1 two fragments, 2 two more, 3 a setting, 4 another one or an index."""
    stable, indexed = BASES[kind]
    schema = SCHEMA
    if kind == "keyed":
        schema = schema.set(0, schema.field(0).with_metadata({KEY: "true"}))
    lance.write_dataset(table(range(20), schema=schema), path, max_rows_per_file=10,
                        enable_stable_row_ids=stable, data_storage_version="2.1")
    ds = lance.write_dataset(table(range(20, 40), schema=schema), path, max_rows_per_file=10,
                             mode="append")
    ds.update_config({"k0": "0", "k1": "1"})
    if indexed:
        ds.create_scalar_index("id", "BTREE", name="id_idx")
    elif kind == "memwal":
        ds.initialize_mem_wal(unsharded=True)
    else:
        ds.update_metadata({"t0": "0"})
    assert ds.version == READ


def opened(path, version=None):
    """Nothing that another open of the same path has cached is used."""
    return lance.dataset(str(path), version=version, session=lance.Session())


def commit(ds, operation, version=READ):
    return lance.LanceDataset.commit(ds, operation, read_version=version)


# ---- rows -----------------------------------------------------------------------------------

def append(first, count=3):
    return lambda ds: ds.insert(table(range(first, first + count), schema=ds.schema))


def delete(where):
    return lambda ds: ds.delete(where, conflict_retries=0)


def update(where):
    """Rows that move."""
    return lambda ds: ds.update({"value": "value + 1"}, where=where, conflict_retries=0,
                                retry_timeout=datetime.timedelta(seconds=5))


def upsert(*ids):
    """Inserts what is not there; tells the keys that it added when the table has a primary key."""
    return lambda ds: (ds.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
                       .conflict_retries(0).execute(table(ids, 5, schema=ds.schema)))


def overwrite(ds):
    fragments = write_fragments(table(range(70, 75), 7), ds, schema=SCHEMA, mode="overwrite")
    commit(ds, lance.LanceOperation.Overwrite(SCHEMA, fragments))


# ---- columns --------------------------------------------------------------------------------

def update_column(fragment, column, *ids):
    """Values in place."""
    def operation(ds):
        values = {"id": pa.array(ids, pa.int64()),
                  column: pa.array([f"m{i}" for i in ids]) if column == "name" else
                  pa.array([i * 10 + 2 for i in ids], pa.int64())}
        image, fields, offsets = ds.get_fragment(fragment).update_columns(
            pa.table(values), left_on="id", right_on="id", with_offsets=True)
        commit(ds, lance.LanceOperation.Update(
            updated_fragments=[image], fields_modified=fields, update_mode="rewrite_columns",
            updated_fragment_offsets={fragment: offsets}))
    return operation


def data_file(ds, column, values):
    """One column in a file of its own."""
    field = next(f for f in ds.lance_schema.fields() if f.name() == column)
    name = f"{uuid.uuid4()}.lance"
    path = Path(ds.uri) / "data" / name
    with LanceFileWriter(str(path), version="2.1") as writer:
        writer.write_batch(pa.table({column: pa.array(values, ds.schema.field(column).type)}))
    return lance.fragment.DataFile(name, [field.id()], [0], 2, 1, path.stat().st_size)


def replace(*fragments, column="value"):
    def operation(ds):
        groups = []
        for fragment in fragments:
            ids = range(fragment * 10, fragment * 10 + 10)
            values = [f"r{i}" for i in ids] if column == "name" else [i * 10 + 3 for i in ids]
            groups.append(lance.LanceOperation.DataReplacementGroup(
                fragment, data_file(ds, column, values)))
        commit(ds, lance.LanceOperation.DataReplacement(groups))
    return operation


def overlay(fragment, *offsets):
    def operation(ds):
        file = data_file(ds, "value", [(fragment * 10 + o) * 10 + 4 for o in offsets])
        commit(ds, lance.LanceOperation.DataOverlay([lance.LanceOperation.DataOverlayGroup(
            fragment, [lance.LanceOperation.DataOverlayFile(file, list(offsets))])]))
    return operation


def merge_unproven(ds):
    """A column more, without the word that no column got stricter."""
    fragments, schema = [], None
    for fragment in ds.get_fragments():
        image, schema = fragment.merge_columns(lambda batch: pa.record_batch(
            {"m2": pa.compute.multiply(batch["value"], 2)}), columns=["value"])
        fragments.append(image)
    commit(ds, lance.LanceOperation.Merge(fragments, schema))


def project_unproven(ds):
    commit(ds, lance.LanceOperation.Project(ds.lance_schema))


# ---- indices, compaction --------------------------------------------------------------------

def index(column, kind="BTREE", name=None, replace=True):
    return lambda ds: ds.create_scalar_index(column, kind, name=name or f"{column}_idx",
                                             replace=replace)


def partial_index(column, *fragments):
    def operation(ds):
        built = ds.create_index_uncommitted(column, "BTREE", name=f"{column}_idx",
                                            fragment_ids=list(fragments))
        commit(ds, lance.LanceOperation.CreateIndex([built], []))
    return operation


def compact(target, first, **options):
    """The first group of fragments, or another one, in that many rows."""
    def operation(ds):
        plan = Compaction.plan(ds, {"target_rows_per_fragment": target, **options})
        tasks = {min(f.id for f in task.fragments): task for task in plan.tasks}
        Compaction.commit(ds, [tasks[first].execute(ds)], options)
    return operation


LIVE = {
    "append": append(100), "append2": append(200, 2),
    "del_f0": delete("id in (4, 5)"), "del_f0x": delete("id in (8, 9)"),
    "del_f0y": delete("id in (5, 6)"), "del_f0whole": delete("id < 10"),
    "del_f0lo": delete("id < 5"), "del_f0hi": delete("id >= 5 and id < 10"),
    "del_f1": delete("id = 17"), "del_f2whole": delete("id >= 20 and id < 30"),
    "del_f3": delete("id = 33"),
    "upd_f0": update("id in (4, 5)"), "upd_f0x": update("id in (8, 9)"),
    "upd_f0y": update("id in (5, 6)"), "upd_f0whole": update("id < 10"),
    "upd_f0lo": update("id < 5"), "upd_f0hi": update("id >= 5 and id < 10"),
    "upd_f2": update("id in (21, 24)"),
    "upd_f2whole": update("id >= 20 and id < 30"), "upd_f1": update("id in (17, 18)"),
    "ups_1_300": upsert(1, 300), "ups_4_300": upsert(4, 300),
    "ups_1_301": upsert(11, 301), "ups_x_300": upsert(11, 300),
    "ovw": overwrite,
    "updcol_f0v": update_column(0, "value", 4, 5), "updcol_f0n": update_column(0, "name", 4, 5),
    "updcol_f2v": update_column(2, "value", 21, 24), "updcol_f0all": update_column(
        0, "value", *range(10)),
    "dr_f0v": replace(0), "dr_f0n": replace(0, column="name"), "dr_f2v": replace(2),
    "ov_f0v": overlay(0, 4, 5), "ov_f0vx": overlay(0, 8, 9), "ov_f2v": overlay(2, 1, 2),
    "merge": lambda ds: ds.add_columns({"m1": "value * 2"}), "merge_np": merge_unproven,
    "retype": lambda ds: ds.alter_columns({"path": "value", "data_type": pa.int32()}),
    "proj_extra": lambda ds: ds.drop_columns(["extra"]),
    "proj_value": lambda ds: ds.drop_columns(["value"]),
    "proj_name": lambda ds: ds.drop_columns(["name"]),
    "proj_rename": lambda ds: ds.alter_columns({"path": "extra", "name": "other"}),
    "proj_null": lambda ds: ds.alter_columns({"path": "extra", "nullable": False}),
    "proj_np": project_unproven,
    "restore": lambda ds: commit(ds, lance.LanceOperation.Restore(RESTORED)),
    "ci_value": index("value"), "ci_name": index("name"), "ci_bitmap": index("extra", "BITMAP"),
    "ci_value01": partial_index("value", 0, 1), "ci_value23": partial_index("value", 2, 3),
    "ci_ngram": index("name", "NGRAM", "ng_idx"), "ci_replace": index("id"),
    "ci_drop": lambda ds: ds.drop_index("id_idx"),
    "ci_memwal": lambda ds: ds.initialize_mem_wal(unsharded=True),
    "rw_01": compact(20, 0), "rw_23": compact(20, 2), "rw_all": compact(40, 0),
    "rw_01v0": compact(20, 0, defer_index_remap=True),
    "rw_23v0": compact(20, 2, defer_index_remap=True),
    "cfg_k0": lambda ds: ds.update_config({"k0": "x"}),
    "cfg_k9": lambda ds: ds.update_config({"k9": "x"}),
    "cfg_delk0": lambda ds: ds.delete_config_keys(["k0"]),
    "cfg_delk1": lambda ds: ds.delete_config_keys(["k1"]),
    "tm_t0": lambda ds: ds.update_metadata({"t0": "x"}),
    "tm_t9": lambda ds: ds.update_metadata({"t9": "x"}),
    "tm_replace": lambda ds: ds.update_metadata({"t7": "x"}, replace=True),
    "sm_a": lambda ds: ds.update_schema_metadata({"sa": "x"}),
    "sm_b": lambda ds: ds.update_schema_metadata({"sb": "x"}),
    "fm_1": lambda ds: ds.update_field_metadata({"value": {"fa": "x"}}),
    "fm_1b": lambda ds: ds.update_field_metadata({"value": {"fb": "x"}}),
    "fm_2": lambda ds: ds.update_field_metadata({"name": {"fa": "x"}}),
    "ub_a": lambda ds: ds.add_bases([lance.DatasetBasePath("/p1", name="a")]),
    "ub_b": lambda ds: ds.add_bases([lance.DatasetBasePath("/p2", name="b")]),
    "ub_asame": lambda ds: ds.add_bases([lance.DatasetBasePath("/p3", name="a")]),
    "ub_p1same": lambda ds: ds.add_bases([lance.DatasetBasePath("/p1", name="c")]),
}
