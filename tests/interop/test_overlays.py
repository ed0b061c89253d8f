"""Overlays on columns of every shape, made with pylance and read by both.

A struct's parts are replaced one by one, lists and vectors as a whole; overlays lie over each other
and over deleted rows. Rows come by scan and by id.
"""
import os
import random
import warnings

import lance
import pyarrow as pa
import pytest
from lance import LanceOperation
from lance.file import LanceFileWriter

import liblancet
import peer
import test_scan

warnings.simplefilter("ignore")
INNER = pa.struct([("p", pa.int64()), ("q", pa.string())])
RECORD = pa.struct([("x", pa.int32()), ("y", pa.string()), ("in", INNER)])
ROWS, EACH = 40, 20
# Field ids as they are given out: parents before their children.
LEAVES = {"x": [2], "y": [3], "in": [5, 6], "l": [8], "v": [9]}
PARENTS = {"x": [1], "y": [1], "in": [1, 4], "l": [7], "v": []}


class Maker:
    """One dataset; `seed` decides its values and what the overlays cover."""

    def __init__(self, path, version, seed):
        self.path, self.version = path, version
        self.chance = random.Random(seed)
        self.nulls = version != "2.0"  # structs can't be null there
        self.count = 0

    def inner(self, row):
        if self.nulls and self.chance.random() < .2:
            return None
        return {"p": self.chance.choice((None, row)), "q": self.chance.choice((None, f"q{row}"))}

    def record(self, row, names=("x", "y", "in")):
        if self.nulls and self.chance.random() < .2:
            return None
        values = {"x": self.chance.choice((None, row)), "y": self.chance.choice((None, f"y{row}")),
                  "in": self.inner(row)}
        return {n: values[n] for n in names}

    def base(self):
        rows = range(ROWS)
        table = pa.table({
            "i": pa.array(rows, pa.int32()), "s": pa.array(map(self.record, rows), RECORD),
            "l": pa.array([self.chance.choice((None, [], [i, None])) for i in rows],
                          pa.list_(pa.int32())),
            "v": pa.array([[i, i + 1] for i in rows], pa.list_(pa.float32(), 2))})
        return lance.write_dataset(table, str(self.path), max_rows_per_file=EACH,
                                   data_storage_version=self.version)

    def data_file(self, name, names):
        parents = sorted({p for n in names for p in PARENTS[n]}) if self.version == "2.0" else []
        fields = sorted(parents + [i for n in names for i in LEAVES[n]])
        major, minor = (int(n) for n in self.version.split("."))
        return lance.fragment.DataFile(name, fields, list(range(len(fields))), major, minor,
                                       os.path.getsize(self.path / "data" / name))

    def overlay(self, ds, column, names, values):
        """Values for that many rows of one fragment."""
        name, self.count = f"overlay{self.count}.lance", self.count + 1
        schema = pa.schema([pa.field(column, values.type)])
        with LanceFileWriter(str(self.path / "data" / name), schema,
                             version=self.version) as writer:
            writer.write_batch(pa.record_batch([values], schema=schema))
        offsets = sorted(self.chance.sample(range(EACH), len(values)))
        file = LanceOperation.DataOverlayFile(self.data_file(name, names), offsets)
        group = LanceOperation.DataOverlayGroup(self.chance.randrange(ROWS // EACH), [file])
        return lance.LanceDataset.commit(ds, LanceOperation.DataOverlay([group]),
                                         read_version=ds.version)

    def make(self):
        ds = self.base()
        for names in (["x"], ["y"], ["in"], ["x", "in"], ["x", "y", "in"]):
            kind = pa.struct([RECORD.field(n) for n in names])
            values = [self.record(900 + i, names) for i in range(self.chance.randrange(3, 9))]
            ds = self.overlay(ds, "s", names, pa.array(values, kind))
        values = [self.chance.choice((None, [], [7] * i)) for i in range(6)]
        ds = self.overlay(ds, "l", ["l"], pa.array(values, pa.list_(pa.int32())))
        values = [self.chance.choice((None, [-i, i])) for i in range(6)]
        ds = self.overlay(ds, "v", ["v"], pa.array(values, pa.list_(pa.float32(), 2)))
        ds.delete("i in (3, 4, 25)")
        return peer.opened(self.path).version


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
def test_overlays(version, seed, scratch):
    path = scratch / "ds.lance"
    newest = Maker(path, version, f"{version} {seed}").make()
    assert newest == 9
    for number in range(1, newest + 1):
        ds = peer.opened(path, number)
        with liblancet.Version(path, number) as opened:
            test_scan.check_rows(opened, ds, f"{version} {seed} {number}")
            ids = test_scan.scanned(ds, ["_rowid"])["_rowid"].to_pylist()
            random.Random(seed).shuffle(ids)
            got, _ = opened.table(row_ids=ids)
            test_scan.check_table(got, ds._take_rows(ids))
