#!/usr/bin/env python3
"""Makes sample.lance, the dataset that the first command of the README mounts.

usage: make_sample.py [DIRECTORY]           (pylance 14.0.2; default: beside this file)

A small price list with a history that has something of everything to look at:
version 1 created, 2 rows appended, 3 prices updated, 4 rows deleted, 5 an index, 6 rows appended
after the index; tag `opening` on 1, tag `audited` on 4. Stable row ids, so each row keeps its id
through the update and knows the versions that made and last changed it.
"""
import shutil
import sys
from pathlib import Path

import lance
import pyarrow as pa

FRUIT = ("apple", "banana", "cherry", "date", "elderberry", "fig", "grape", "kiwi", "lemon",
         "mango", "nectarine", "orange", "papaya", "quince", "raspberry", "strawberry")


def rows(first, count):
    ids = range(first, first + count)
    return pa.table({
        "id": pa.array(ids, pa.int64()),
        "name": pa.array([f"{FRUIT[i % len(FRUIT)]} {i // len(FRUIT) + 1}" for i in ids]),
        "price": pa.array([round(0.5 + i * 37 % 100 / 10, 2) for i in ids], pa.float64()),
    }, schema=pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string()),
                         pa.field("price", pa.float64())],
                        metadata={"about": "a price list, made up"}))


def main(target):
    shutil.rmtree(target, ignore_errors=True)
    ds = lance.write_dataset(rows(0, 48), str(target), enable_stable_row_ids=True,
                             data_storage_version="2.2")
    ds.tags.create("opening", 1)
    ds = lance.write_dataset(rows(48, 32), str(target), mode="append")
    ds.update({"price": "price * 2"}, where="price < 1.5")
    ds.delete("id % 7 = 3")
    ds.tags.create("audited", ds.version)
    ds.create_scalar_index("id", "BTREE")
    lance.write_dataset(rows(80, 16), str(target), mode="append")
    ds = lance.dataset(str(target))
    ds.validate()
    for version in ds.versions():
        print(version["version"], version["metadata"]["total_rows"], "rows")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent) / "sample.lance")
