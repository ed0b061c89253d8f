"""Torn heads are set aside so that pylance goes on; fragments that lost a file are found."""
import lance
import pyarrow as pa
import pytest

import liblancet
import maintenance


def two_versions(path):
    lance.write_dataset(pa.table({"a": range(1000)}), path)
    ds = lance.write_dataset(pa.table({"a": range(1000)}), path, mode="append")
    return path / "_versions" / f"{2**64 - 1 - 2}.manifest", ds


@pytest.mark.parametrize("left", [0, 1, 15, 100, -1])
def test_pylance_commits_after_a_torn_head(scratch, left):
    path = scratch / "x.lance"
    manifest, _ = two_versions(path)
    manifest.write_bytes(manifest.read_bytes()[:left])
    with pytest.raises(Exception):
        lance.dataset(path).to_table()
    with maintenance.Dataset(path) as ours:
        assert ours.repair_torn_head() == (2, f"{manifest.name}.torn")
    assert lance.dataset(path).version == 1
    ds = lance.write_dataset(pa.table({"a": [5]}), path, mode="append")
    assert ds.version == 2 and ds.count_rows() == 1001
    with maintenance.Dataset(path) as ours, pytest.raises(liblancet.Error, match="NOT_FOUND"):
        ours.repair_torn_head()


def test_zeros_are_torn_though_pylance_opens_them(scratch):
    path = scratch / "x.lance"
    manifest, _ = two_versions(path)
    manifest.write_bytes(bytes(manifest.stat().st_size))
    with maintenance.Dataset(path) as ours:
        assert ours.repair_torn_head()[0] == 2
    assert lance.dataset(path).count_rows() == 1000


def break_nothing(_):
    pass


def lose(file):
    file.unlink()


def cut(file):
    file.write_bytes(file.read_bytes()[:-1])


def grow(file):
    file.write_bytes(file.read_bytes() + b"x")


def spoil(file):
    file.write_bytes(bytes(file.stat().st_size))


@pytest.mark.parametrize("harm", [break_nothing, lose, cut, grow, spoil])
def test_broken_data_files_are_found(scratch, harm):
    path = scratch / "x.lance"
    _, ds = two_versions(path)
    harm(path / "data" / ds.get_fragment(1).data_files()[0].path)
    with maintenance.Dataset(path) as ours:
        assert ours.broken_fragments() == ([] if harm is break_nothing else [1])


@pytest.mark.parametrize("harm", [break_nothing, lose, cut, spoil])
def test_broken_deletion_files_are_found(scratch, harm):
    path = scratch / "x.lance"
    _, ds = two_versions(path)
    ds.delete("a = 3")
    harm(next((path / "_deletions").glob("0-*")))
    with maintenance.Dataset(path) as ours:
        assert ours.broken_fragments() == ([] if harm is break_nothing else [0])
