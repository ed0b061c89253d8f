"""Tags and branches that we write, as pylance reads them, and the other way round."""
import json
import re
import shutil
from datetime import timedelta

import lance
import pyarrow as pa
import pytest

import archives
import facts
import liblancet
import maintenance
import programs
import snapshot
import wire


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


# ---- branches -----------------------------------------------------------------------------

# pylance brings entries of old writers to today's form and drops what it does not know; we keep the
# stored bytes.
OTHER_FORM = re.compile("era_|unknown_fields")

# Of a manifest: when it was made, by whom, under which uuid, and where its sections lie.
OWN_FIELDS = {6, 7, 12, 13, 21, 23}
TRANSACTION_UUID = 2
ENTRY_UUID, ENTRY_NAME, ENTRY_VERSION = 1, 3, 7


def entry_of(message):
    """An index entry; that of a tagged reuse history gets a uuid of its own in each clone."""
    tagged = message.text(ENTRY_NAME) == "__lance_frag_reuse" and message.uint(ENTRY_VERSION) != 0
    return sorted(f for f in map(tuple, message.fields) if not (tagged and f[0] == ENTRY_UUID))


def unordered(message, inner=None):
    return repr(sorted((n, k, unordered(v) if n == inner else v) for n, k, v in
                       wire.decode(message)))


def whole(field):
    """A field of the manifest; inside of schema fields, fragments and overlays (11) the order of
    fields means nothing."""
    number, kind, value = field
    return number, kind, unordered(value, 11 if number == 2 else None) if number < 3 else value


def account_of(root, number):
    """(manifest, index entries, transaction) of a clone, without what has to differ."""
    file = wire.ManifestFile(facts.manifests(root)[number].read_bytes())
    index = file.section("index")
    transaction = wire.Message(file.section("transaction"))
    return (sorted(whole(f) for f in file.message.fields if f[0] not in OWN_FIELDS),
            sorted(entry_of(e) for e in wire.Message(index).subs(1)) if index else [],
            sorted(tuple(f) for f in transaction.fields if f[0] != TRANSACTION_UUID))


def branch_like_pylance(path, source, version):
    """A branch of that version, made by pylance and then by us at the same place."""
    accounts, texts = [], []
    aside = path.with_name("aside")
    for maker in ("theirs", "ours"):
        kept = shutil.copytree(path, aside)
        try:
            if maker == "theirs":
                ds = lance.dataset(path)
                ds = ds.checkout_version((source, version))
                ds.create_branch("twin/one", (source, version))
            else:
                with maintenance.Dataset(path, source) as ours:
                    ours.branch_create("twin/one", version)
            accounts.append(account_of(path / "tree" / "twin" / "one", version))
            texts.append((path / "_refs/branches/twin%2Fone.json").read_text())
        finally:
            shutil.rmtree(path)
            kept.rename(path)
    return accounts, texts


BRANCHABLE = [i for i in archives.dataset_ids()
              if i.startswith("fixtures/") and not OTHER_FORM.search(i)]


@pytest.mark.parametrize("ident", BRANCHABLE)
def test_a_branch_is_the_clone_that_pylance_makes(scratch, ident):
    data = archives.dataset(ident)
    path = programs.copy_away(data.path, scratch / data.path.name)
    try:
        version = lance.dataset(path).version
        lance.dataset(path).to_table()
    except Exception:  # pylance can't read it, so neither can it clone it
        return
    if "flag_writer" in ident:
        with maintenance.Dataset(path) as ours:
            with pytest.raises(liblancet.Error, match="UNSUPPORTED"):
                ours.branch_create("new", version)
        assert not (path / "tree").exists()
        return
    (theirs, ours), (their_file, our_file) = branch_like_pylance(path, None, version)
    for what, their, our in zip(("manifest", "indices", "transaction"), theirs, ours):
        assert our == their, what
    for text in (their_file, our_file):
        made = json.loads(text)
        assert [pair[0] for pair in made["identifier"]["version_mapping"]] == [version]
    same = [re.sub(r'"[0-9a-f]{32}"|"createAt": \d+', "", text) for text in (their_file, our_file)]
    assert same[1] == same[0]


@pytest.mark.parametrize("ident", [i for i in archives.dataset_ids() if i not in BRANCHABLE])
def test_any_branch_reads(scratch, ident):
    data = archives.dataset(ident)
    path = programs.copy_away(data.path, scratch / data.path.name)
    try:
        ds = lance.dataset(path)
        rows = ds.to_table()
        ds.validate()
    except Exception:
        return
    with maintenance.Dataset(path) as ours:
        ours.branch_create("new", ds.version)
    branch = ds.checkout_version(("new", None))
    assert repr(branch.to_table().to_pylist()) == repr(rows.to_pylist())
    branch.validate()


def test_branches_of_branches(path):
    ds = lance.dataset(path)
    with maintenance.Dataset(path) as ours:
        ours.branch_create("a", 2, "a message")
    branch = lance.write_dataset(pa.table({"a": [7]}), ds.checkout_version(("a", None)),
                                 mode="append")
    assert branch.version == 3 and branch.to_table()["a"].to_pylist() == [0, 1, 7]
    branch.delete("a = 1")
    with maintenance.Dataset(path, "a") as ours:
        ours.branch_create("a/b", 4)
    accounts, texts = branch_like_pylance(path, "a", 4)
    assert accounts[0] == accounts[1]
    assert [json.loads(t)["identifier"]["version_mapping"][0] for t in texts] == \
        [json.loads((path / "_refs/branches/a.json").read_text())
         ["identifier"]["version_mapping"][0]] * 2
    leaf = ds.checkout_version(("a/b", None))
    assert leaf.to_table()["a"].to_pylist() == [0, 7]
    leaf.create_branch("c")
    made = ds.branches.list()
    assert {name: len(b["branch_identifier"]) for name, b in made.items()} == \
        {"a": 1, "a/b": 2, "c": 3}
    transaction = branch.checkout_version(2).read_transaction(2)
    assert transaction.transaction_properties["__lance_commit_message"] == "a message"


def test_branch_names_that_are_taken(path):
    lance.dataset(path).create_branch("dev")
    with maintenance.Dataset(path) as ours:
        for name, code in (("dev", "EXISTS"), ("dev/data", "EXISTS"), ("dev/_versions", "EXISTS"),
                           ("dev/_deletions/x", "EXISTS"), ("main", "INVALID"),
                           ("a..b", "INVALID"), ("/a", "INVALID"), ("", "INVALID"),
                           ("x" * 300, "INVALID")):
            with pytest.raises(liblancet.Error, match=code):
                ours.branch_create(name, 1)
        with pytest.raises(liblancet.Error, match="NOT_FOUND"):
            ours.branch_create("new", 9)
        ours.branch_create("data", 1)
    assert sorted(lance.dataset(path).branches.list()) == ["data", "dev"]


def test_deleting_branches(path):
    ds = lance.dataset(path)
    dev = ds.create_branch("dev")
    ds.create_branch("dev/x")
    dev.create_branch("other")
    ds.tags.create("t", ("dev/x", 3))
    with maintenance.Dataset(path) as ours:
        with pytest.raises(liblancet.Error, match="BUSY.*branch other"):
            ours.branch_delete("dev")
        with pytest.raises(liblancet.Error, match="BUSY.*tag t"):
            ours.branch_delete("dev/x")
        with pytest.raises(liblancet.Error, match="NOT_FOUND"):
            ours.branch_delete("nothing")
        ours.branch_delete("other")
        ours.branch_delete("dev")
        assert sorted(ds.branches.list()) == ["dev/x"]
        assert ds.checkout_version(("dev/x", None)).count_rows() == 3
        assert [p.name for p in (path / "tree" / "dev").iterdir()] == ["x"]
        ours.tag_delete("t")
        ours.branch_delete("dev/x")
    assert ds.branches.list() == {}
    assert list((path / "tree").iterdir()) == []


def test_a_directory_without_a_branch_is_taken_over_or_removed(path):
    with maintenance.Dataset(path) as ours:
        ours.branch_create("dev", 2)
        (path / "_refs/branches/dev.json").unlink()
        with pytest.raises(liblancet.Error, match="EXISTS.*tree/dev.*deleting the branch"):
            ours.branch_create("dev", 3)
        before = snapshot.of(path / "tree")
        ours.branch_create("dev", 2)
        assert snapshot.changes(before, snapshot.of(path / "tree")) == []
        assert lance.dataset(path).checkout_version(("dev", None)).count_rows() == 2
        (path / "_refs/branches/dev.json").unlink()
        ours.branch_delete("dev")
        assert not (path / "tree" / "dev").exists()
        ours.branch_create("dev", 3)
    assert lance.dataset(path).checkout_version(("dev", None)).count_rows() == 3


def test_a_branch_file_of_old_writers_gets_the_identifier_that_pylance_makes_up(path):
    ds = lance.dataset(path)
    old = ds.create_branch("old", 2)
    file = path / "_refs/branches/old.json"
    text = json.loads(file.read_text())
    del text["identifier"]
    file.write_text(json.dumps(text))
    made_up = ds.branches.list()["old"]["branch_identifier"]
    with maintenance.Dataset(path, "old") as ours:
        ours.branch_create("new", old.version)
    mapping = json.loads((path / "_refs/branches/new.json").read_text())["identifier"]
    assert [tuple(pair) for pair in mapping["version_mapping"][:-1]] == \
        [tuple(pair) for pair in made_up]
