"""Data files of random types, nulls, sizes and encodings: `lancet rows` gives what pylance reads."""
import random
import subprocess

import lance
import pyarrow as pa
import pytest

import generate
import programs

SEEDS = range(90)  # of each version: 360 files


def rows(path, **options):
    command = [programs.program("lancet"), "rows", str(path), "format=arrow"]
    command += [f"{name}={value}" for name, value in options.items()]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert done.stderr == b""
    with pa.ipc.open_stream(done.stdout) as stream:
        result = stream.read_all()
    result.validate(full=True)
    return result


def plain(table):
    """Dictionaries of batches differ in what they hold: only their values count."""
    columns = [pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], column.type.value_type)
               if pa.types.is_dictionary(column.type) else column for column in table.columns]
    return pa.table(columns, names=table.column_names).combine_chunks()


def check_same(ours, theirs):
    assert ours.schema.equals(theirs.schema, check_metadata=True)
    assert ours.num_rows == theirs.num_rows
    ours, theirs = plain(ours), plain(theirs)
    for name in ours.column_names:
        if not ours[name].equals(theirs[name]):
            for row, (mine, want) in enumerate(zip(ours[name].to_pylist(), theirs[name].to_pylist())):
                assert repr(mine) == repr(want), f"{name}, row {row}"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("version", generate.VERSIONS)
def test_generated_files_are_read(version, seed, scratch):
    path = str(scratch / "generated.lance")
    table = generate.table(version, seed)
    dataset = lance.write_dataset(table, path, data_storage_version=version, max_rows_per_group=1024)
    check_same(rows(path), dataset.to_table())

    rng = random.Random(seed)
    first = rng.randrange(table.num_rows)
    count = rng.randrange(1, table.num_rows - first + 1)
    check_same(rows(path, offset=first, limit=count), dataset.to_table(offset=first, limit=count))
    some = sorted(rng.sample(range(table.num_rows), min(20, table.num_rows)))
    check_same(rows(path, row_ids=",".join(map(str, some))), dataset.take(some))
