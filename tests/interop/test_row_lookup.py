"""Rows by id, again and again in one version: the searches of the first requests and the table that later ones use give
the rows that pylance takes.

The ids are out of order, some rows are deleted, some were updated and left dead rows with their ids behind, and some
ids were never given.
"""
import random

import pyarrow as pa
import pytest

import liblancet
import peer

ROWS = 3000
REQUESTS = 6


def shuffled(path, spilled):
    """Two fragments whose ids are out of order, then deletions and an update."""
    lance = peer.lance
    ds = lance.write_dataset(pa.table({"k": pa.array(range(ROWS))}), str(path), max_rows_per_file=ROWS // 2,
                             enable_stable_row_ids=True)
    order = list(range(ROWS))
    random.Random(4).shuffle(order)
    new = []
    for part in (order[:ROWS // 3], order[ROWS // 3:]):
        made = lance.fragment.LanceFragment.create(str(path), pa.table({"k": pa.array(part)}))
        made.row_id_meta = lance.fragment.RowIdSequence(part).to_inline_metadata()
        new.append(made)
    operation = lance.LanceOperation.Update(removed_fragment_ids=[0, 1], new_fragments=new, update_mode="rewrite_rows")
    ds = lance.LanceDataset.commit(ds, operation, read_version=ds.version)
    if spilled:
        ds.update_config({"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "0"})
        lance.dataset(str(path)).optimize.compact_files(target_rows_per_fragment=ROWS)
        ds = lance.dataset(str(path))
    ds.delete("k % 7 = 3")
    lance.dataset(str(path)).update({"k": "k + 1000000"}, where="k % 11 = 5")
    return lance.dataset(str(path))


@pytest.mark.parametrize("spilled", [False, True])
def test_rows_by_id_again(spilled, scratch):
    ds = shuffled(scratch / "d.lance", spilled)
    chance = random.Random(8)
    with liblancet.Version(scratch / "d.lance", ds.version) as version:
        for number in range(REQUESTS):
            ids = [chance.randrange(ROWS + 50) for _ in range(1 + 400 * number)]
            got, _ = version.table(columns=["k", "_rowid", "_rowaddr"], row_ids=ids)
            want = ds._take_rows(ids, columns={name: f"`{name}`" for name in ("k", "_rowid", "_rowaddr")})
            assert got.num_rows > 0 or number == 0
            for name in ("k", "_rowid", "_rowaddr"):
                assert got[name].to_pylist() == want[name].to_pylist(), (number, name)
