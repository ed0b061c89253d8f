"""What pylance makes of a dataset directory, in a form that two directories can be compared by.

An answer is ("ok", value) or ("error", class of the error): where pylance can't do something with
the original (a fixture may be made so), it has to fail alike with a copy.
"""
import datetime
import warnings

import lance
import pyarrow as pa

warnings.simplefilter("ignore")
VERSION_COLUMNS = ["_row_created_at_version", "_row_last_updated_at_version"]


def answer(call):
    try:
        return "ok", call()
    except BaseException as error:  # a panic of the library is a BaseException
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return "error", type(error).__name__


def opened(path, version=None):
    """Opened afresh: nothing that another open of the same path has cached is used."""
    return lance.dataset(str(path), version=version, session=lance.Session())


def rows(ds):
    """All rows in scan order with their ids, addresses and, with stable ids, both versions."""
    columns = [f.name() for f in ds.lance_schema.fields()]
    quoted = {name: f"`{name}`" for name in columns}
    scanner = ds.scanner(columns=quoted if any("." in n for n in columns) else columns,
                         with_row_id=True, with_row_address=True)
    table = scanner.to_table()
    if ds.has_stable_row_ids:
        extra = ds.scanner(columns=VERSION_COLUMNS).to_table()
        for name in VERSION_COLUMNS:
            table = table.append_column(name, extra[name])
    return table


def schema(ds):
    """The fields; metadata sorted, since pylance gives it in no order."""
    def pairs(metadata):
        return sorted((metadata or {}).items())
    return [(f.name, str(f.type), f.nullable, pairs(f.metadata)) for f in ds.schema], \
        pairs(ds.schema.metadata)


def blob_columns(ds):
    out = []
    for field in ds.schema:
        meta = {k.decode(): v.decode("utf-8", "replace") for k, v in (field.metadata or {}).items()}
        if any("blob" in k or "blob" in v for k, v in meta.items()) or \
                "blob" in str(getattr(field.type, "extension_name", "")):
            out.append(field.name)
    return out


def blobs(ds, column, count=None):
    """The bytes of the blobs of a column, by row."""
    indices = list(range(ds.count_rows() if count is None else count))
    return [blob.readall() if blob is not None else None
            for blob in ds.take_blobs(column, indices=indices)]


def content(ds):
    """Everything that must be equal between a dataset and a copy of one of its versions."""
    return {
        "rows": answer(lambda: rows(ds)),
        "count": answer(ds.count_rows),
        "schema": answer(lambda: schema(ds)),
        "fragments": answer(lambda: [(f.fragment_id, f.physical_rows, f.num_deletions)
                                     for f in ds.get_fragments()]),
        "config": answer(lambda: dict(ds.config())),
        "metadata": answer(lambda: dict(ds.metadata)),
        "indices": answer(lambda: sorted(
            (d.name, d.index_type, str(s.uuid), sorted(s.fragment_ids))
            for d in ds.describe_indices() for s in d.segments)),
        "transaction": answer(lambda: ds.read_transaction(ds.version).uuid),
        "validate": answer(lambda: ds.validate() or "ok"),
        "blobs": {c: answer(lambda c=c: blobs(ds, c)) for c in blob_columns(ds)},
    }


def same_answer(got, want):
    if isinstance(want, tuple) and isinstance(want[1], pa.Table) and got[0] == "ok":
        # repr, because equals() holds NaN to be unlike itself
        return got[1].schema.equals(want[1].schema) and \
            (got[1].equals(want[1]) or repr(got[1].to_pylist()) == repr(want[1].to_pylist()))
    return got == want


def differences(got, want):
    """The keys under which two contents differ."""
    out = []
    for key, value in want.items():
        if not same_answer(got[key], value):
            out.append(f"{key}: {str(got[key])[:300]} is not {str(value)[:300]}")
    return out


# ---- indices ------------------------------------------------------------------------------

def sample_value(ds, column):
    table = ds.to_table(columns={"value": f"`{column}`"})
    values = [v for v in table["value"].to_pylist() if v is not None and v != []]
    return values[len(values) // 2] if values else None


def literal(value):
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def index_query(ds, index):
    """The rows that one query which uses the index finds, and whether the plan names it."""
    column, kind = index.field_names[0], index.index_type
    value = sample_value(ds, column)
    if value is None:
        return None
    if kind.startswith("IVF"):
        found = ds.to_table(nearest={"column": column, "q": value, "k": 5}, with_row_id=True)
        return sorted(found["_rowid"].to_pylist())
    if kind == "Inverted":
        found = ds.to_table(full_text_query=value.split()[0], with_row_id=True)
        return sorted(found["_rowid"].to_pylist())
    text = f"`{column}` = {literal(value)}"
    if kind == "LabelList":
        text = f"array_has_any(`{column}`, [{literal(value[0])}])"
    elif kind == "NGram":
        text = f"contains(`{column}`, {literal(value[:4])})"
    scanner = ds.scanner(filter=text, with_row_id=True)
    used = "ScalarIndexQuery" in scanner.explain_plan(True)
    return used, sorted(scanner.to_table()["_rowid"].to_pylist())


def index_queries(ds):
    indices = [d for d in ds.describe_indices() if not d.name.startswith("__lance_")]
    return {d.name: answer(lambda d=d: index_query(ds, d)) for d in indices}


# ---- using a copy -------------------------------------------------------------------------

def first_rows(ds, count, outside_blobs):
    """Rows to append: the first ones, as they are; blobs as their bytes, or new ones."""
    table = ds.to_table(limit=count)
    for column in blob_columns(ds):
        at, field = table.schema.get_field_index(column), ds.schema.field(column)
        values = [b"new"] * len(table) if outside_blobs else blobs(ds, column, len(table))
        plain = pa.types.is_large_binary(field.type)
        array = pa.array(values, field.type) if plain else lance.blob_array(values)
        table = table.set_column(at, field, array)
    return table


def append(path, outside_blobs):
    ds = opened(path)
    table = first_rows(ds, 3, outside_blobs)
    done = lance.write_dataset(table, str(path), mode="append")
    return done.version - ds.version, done.count_rows() - ds.count_rows(), len(table)


def clean_up(path):
    """Old versions go; what stays is whole."""
    ds = opened(path)
    count = ds.count_rows()
    ds.cleanup_old_versions(older_than=datetime.timedelta(0), delete_unverified=True,
                            error_if_tagged_old_versions=False)
    after = opened(path)
    return after.count_rows() == count, after.to_table().num_rows == count


def use(path, outside_blobs=False):
    """Scan, take by row id, query indices, tag, append, clean up: the answers, in order.

    With `outside_blobs` the bytes of the blobs are no part of the dataset and aren't read.
    """
    ds = opened(path)
    ids = answer(lambda: ds.to_table(columns=[], with_row_id=True)["_rowid"].to_pylist())
    few = ids[1][::max(1, len(ids[1]) // 5)] if ids[0] == "ok" else []
    out = {
        "scan": answer(lambda: ds.to_table().num_rows),
        "take": answer(lambda: ds._take_rows(few).num_rows == len(few)),
        "queries": index_queries(ds),
        "tag": answer(lambda: ds.tags.create("tag-of-the-copy", ds.version)),
        "tagged": answer(lambda: ds.tags.list()["tag-of-the-copy"]["version"] == ds.version),
        "append": answer(lambda: append(path, outside_blobs)),
        "queries after append": answer(lambda: index_queries(opened(path))),
        "cleanup": answer(lambda: clean_up(path)),
        "after": answer(lambda: opened(path).validate() or "ok"),
    }
    return out
