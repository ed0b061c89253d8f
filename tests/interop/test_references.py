"""Tags and branches that we write, as pylance reads them, and the other way round."""
import json
from datetime import timedelta

import lance
import pyarrow as pa
import pytest

import liblancet
import maintenance


@pytest.fixture
def path(scratch):
    path = scratch / "x.lance"
    for value in range(3):
        lance.write_dataset(pa.table({"a": [value]}), path,
                            mode="append" if value else "create")
    return path


def tag_file(path, name):
    return path / "_refs" / "tags" / f"{name}.json"


def test_a_tag_is_the_file_that_pylance_writes(path):
    lance.dataset(path).tags.create("theirs", 2)
    with maintenance.Dataset(path) as ours:
        ours.tag_create("ours", 2)
    texts = [tag_file(path, name).read_text() for name in ("theirs", "ours")]
    theirs, mine = (json.loads(text) for text in texts)
    for key in ("createdAt", "updatedAt"):
        assert len(mine[key]) == len(theirs[key]), "nanoseconds, UTC"
        texts[1] = texts[1].replace(mine[key], theirs[key])
    assert texts[1] == texts[0]


def test_pylance_uses_our_tags(path):
    with maintenance.Dataset(path) as ours:
        ours.tag_create("v", 1)
        ds = lance.dataset(path)
        made = ds.tags.list()["v"]
        assert (made["version"], made["branch"]) == (1, None)
        assert ds.checkout_version("v").count_rows() == 1
        ours.tag_move("v", 3)
        moved = ds.tags.list()["v"]
        assert moved["version"] == 3 and ds.checkout_version("v").count_rows() == 3
        assert moved["created_at"] == made["created_at"] < moved["updated_at"]
        ds.tags.update("v", 2)
        ours.tag_delete("v")
        assert ds.tags.list() == {}


def test_we_move_and_delete_their_tags(path):
    ds = lance.dataset(path)
    ds.tags.create("v", 1)
    with maintenance.Dataset(path) as ours:
        with pytest.raises(liblancet.Error, match="EXISTS"):
            ours.tag_create("v", 2)
        ours.tag_move("v", 2)
        assert ds.tags.list()["v"]["version"] == 2
        ours.tag_delete("v")
    assert ds.tags.list() == {}


def test_a_pin_keeps_pylance_from_removing_the_version(path):
    with maintenance.Dataset(path) as ours:
        ours.pin_create("backup", 1, 3600)
        ds = lance.dataset(path)
        assert ds.tags.list()["lancefs-pin-backup"]["metadata"].keys() == {"lancefs.expires"}
        with pytest.raises(Exception, match="tagged"):
            ds.cleanup_old_versions(older_than=timedelta(0))
        assert ours.pins_expire() == 0
        ours.pin_create("backup", 2, 1)
        file = tag_file(path, "lancefs-pin-backup")
        pin = json.loads(file.read_text())
        pin["metadata"]["lancefs.expires"] = "2020-01-01T00:00:00Z"
        file.write_text(json.dumps(pin))
        assert ours.pins_expire() == 1
    assert lance.dataset(path).tags.list() == {}


def test_tags_of_a_branch(path):
    lance.dataset(path).create_branch("dev/one")
    with maintenance.Dataset(path, "dev/one") as ours:
        ours.tag_create("t", 3)
    tag = lance.dataset(path).tags.list()["t"]
    assert (tag["branch"], tag["version"]) == ("dev/one", 3)
    assert lance.dataset(path).checkout_version("t").count_rows() == 3
    with pytest.raises(Exception, match="referenced by tags"):
        lance.dataset(path).branches.delete("dev/one")
