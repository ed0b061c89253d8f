"""A loss of power at any moment of an operation: pylance opens every state that it may leave.

tests/helpers/powerstates does the operation over a storage that keeps a log, and makes the states:
what was not synced is whole, absent, zero or torn at 512 bytes, names of a directory that was not
synced are there or not, in any combination. Of each state pylance must say what it says of the
dataset before the operation, or of one where it has done the same itself; the latter, once the
operation has returned. A sync that is left out must show.
"""
import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import archives
from commandline import result

SEED, STATES = 14, 150       # how many states of an operation are opened
EACH, EACH_MUTANT = 128, 24  # how many are made after each change of the storage
GO_ON = 10                   # of so many states one is committed to
HINT = "_versions/latest_version_hint.json"
LEFTOVERS = ("data/", "_deletions/", "_transactions/", "_indices/", "_fri/", "tree/b/")


def rows(first, count):
    ids = range(first, first + count)
    return pa.table({"id": pa.array(ids, pa.int64()), "name": [f"n{i}" for i in ids],
                     "price": [i / 2 for i in ids]})


def manifest(number):
    return f"_versions/{2**64 - 1 - number}.manifest"


def files(path):
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


# ---- datasets --------------------------------------------------------------------------------

def three_versions(path):
    """Rows in two fragments, some of which are deleted, and an index."""
    ds = lance.write_dataset(rows(0, 40), path, max_rows_per_file=20, enable_stable_row_ids=True)
    ds.delete("id in (3, 25)")
    ds.create_scalar_index("id", "BTREE")
    ds.tags.create("first", 1)


def two_deletes(path):
    three_versions(path)
    lance.dataset(path).delete("id = 4")


def overwritten(path):
    """Of the first version nothing is in the last one, of the second one its rows."""
    lance.write_dataset(rows(0, 10), path)
    lance.write_dataset(rows(50, 40), path, mode="overwrite")
    lance.write_dataset(rows(90, 5), path, mode="append")


def keyed(path):
    """No stable row ids: where rows go is recorded, for an index that finds them by that."""
    data = rows(0, 40).append_column("k", pa.array(["ab"[i % 2] for i in range(40)]))
    ds = lance.write_dataset(data, path, max_rows_per_file=20)
    ds.delete("id in (3, 25)")
    ds.create_scalar_index("id", "BTREE")


def torn(path):
    three_versions(path)
    (path / manifest(4)).write_bytes((path / manifest(3)).read_bytes()[:100])


# ---- what pylance says -----------------------------------------------------------------------

def content(ds):
    return {"rows": ds.to_table(with_row_id=True).to_pylist(), "schema": str(ds.schema),
            "found": ds.to_table(filter="id in (1, 3, 22, 33, 39)").to_pylist(),
            "config": ds.config(), "indices": sorted(i.name for i in ds.describe_indices())}


def observe(path):
    """What the dataset and its branches are now; None when pylance can't open it."""
    try:
        ds = lance.dataset(path)
        branches = sorted(ds.branches.list())
        return {"versions": [v["version"] for v in ds.versions()], **content(ds),
                "tags": {name: tag["version"] for name, tag in ds.tags.list().items()},
                "branches": {b: content(ds.checkout_version((b, None))) for b in branches}}
    except Exception:  # pylint: disable=broad-except  it has no class of its own
        return None


def pylance_goes_on(path):
    """Unless it can't open the dataset, it makes the next version of it."""
    if observe(path) is None:
        return
    old = lance.dataset(path)
    new = lance.write_dataset(old.to_table().slice(0, 1), path, mode="append")
    new.validate()
    assert new.version == old.version + 1 and new.count_rows() == old.count_rows() + 1
    assert old.to_table() == lance.dataset(path, version=old.version).to_table()


# ---- operations ------------------------------------------------------------------------------

class Operation:
    """What the helper is told, and the same as pylance does it.

    `reserves`: a version that reserves ids of fragments comes first, and may stay alone.
    `idle` are the numbers of syncs that another one makes good before anything shows; `least` is
    how many states there must be at least.
    """

    def __init__(self, name, words, same, build=three_versions, idle=(), least=75,
                 reserves=False):
        self.name, self.words, self.same, self.build = name, words.split(), same, build
        self.idle, self.least, self.reserves = idle, least, reserves


OPERATIONS = [
    Operation("config", "config 3 color blue",
              lambda path: lance.dataset(path).update_config({"color": "blue"})),
    Operation("append", "append 3 FILE",
              lambda path: lance.write_dataset(rows(0, 20), path, mode="append")),
    Operation("delete", "delete 3 0:1,5-7;1:2",
              lambda path: lance.dataset(path).delete("id in (1, 5, 6, 7, 22)")),
    Operation("merged delete", "delete 3 0:1,5-7",
              lambda path: lance.dataset(path).delete("id in (1, 5, 6, 7)"), two_deletes),
    Operation("restore", "restore 3 1", lambda path: lance.dataset(path, version=1).restore()),
    Operation("drop column", "drop_column 3 price",
              lambda path: lance.dataset(path).drop_columns(["price"])),
    Operation("drop index", "drop_index 3 id_idx",
              lambda path: lance.dataset(path).drop_index("id_idx")),
    Operation("append rows", "append_rows 3 ROWS",
              lambda path: lance.write_dataset(rows(40, 5), path, mode="append")),
    Operation("delete where", "delete_where 3 id%4=1",
              lambda path: lance.dataset(path).delete("id % 4 = 1")),
    Operation("update", "update 3 price=price+1 id<5",
              lambda path: lance.dataset(path).update({"price": "price + 1"}, where="id < 5")),
    Operation("compact", "compact 3 auto 1000 0,1",
              lambda path: lance.dataset(path).optimize.compact_files(
                  target_rows_per_fragment=1000), reserves=True),
    Operation("deferred compact", "compact 3 defer 1000 0,1",
              lambda path: lance.dataset(path).optimize.compact_files(
                  target_rows_per_fragment=1000, defer_index_remap=True), keyed, reserves=True),
    # It has no partition: what ours makes of it when nothing goes wrong.
    Operation("partition", "partition 3 auto k 0,1",
              lambda path: result(path, "partition", "by=k"), keyed, reserves=True),
    Operation("tag create", "tag_create second 2",
              lambda path: lance.dataset(path).tags.create("second", 2), least=6),
    Operation("tag move", "tag_move first 2",
              lambda path: lance.dataset(path).tags.update("first", 2), least=5),
    Operation("tag delete", "tag_delete first",
              lambda path: lance.dataset(path).tags.delete("first"), least=2),
    Operation("branch create", "branch_create b 2",
              lambda path: lance.dataset(path).create_branch("b", 2),
              # tree/b, with _transactions in it; it is synced again with _versions.
              idle=(3,), least=50),
    Operation("cleanup", "cleanup 1",
              lambda path: lance.dataset(path).cleanup_old_versions(retain_versions=1),
              overwritten, least=25),
    # It has no repair: without the torn head is what the dataset must become.
    Operation("repair", "repair", lambda path: (path / manifest(4)).unlink(), torn, least=4),
]


class Scene:
    """The dataset of an operation, before it and after pylance has done the same."""

    def __init__(self, operation, home):
        self.operation, self.home = operation, home
        self.start, twin = home / "start.lance", home / "twin.lance"
        operation.build(self.start)
        shutil.copytree(self.start, twin)
        operation.same(twin)
        self.before, self.after = observe(self.start), observe(twin)
        self.files = files(self.start)
        self.old = {v: content(lance.dataset(self.start, version=v))
                    for v in (self.before or self.after)["versions"]}
        first = lance.dataset(self.start, version=1).get_fragments()[0].data_files()[0].path
        lines = home / "rows"
        lines.write_text("".join(json.dumps(row) + "\n" for row in rows(40, 5).to_pylist()))
        names = {"FILE": str(self.start / "data" / first), "ROWS": str(lines)}
        self.words = [names.get(w, w) for w in operation.words]
        self.reserved = max((self.before or self.after)["versions"]) + 1 \
            if operation.reserves else None

    def run(self, each, when, dropped=0):
        return Run(self, each, when, dropped)


class Run:
    """The states of one run, as a context; the latest come first."""

    def __init__(self, scene, each, when, dropped):
        self.scene, self.path = scene, scene.home / f"run{dropped}"
        command = [os.path.join(os.environ["abs_top_builddir"], "tests/helpers/powerstates"),
                   scene.start, self.path, str(dropped), str(each), when, *scene.words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        *lines, syncs = (self.path / "states").read_text().splitlines()
        self.syncs = int(syncs)
        self.states = [(self.path / name, int(last) >= int(end))
                       for name, last, end in reversed([line.split() for line in lines])]
        self.states.sort(key=lambda state: not state[1])
        self.final = files(self.path / "work")
        self.reserved = manifest(scene.reserved) if scene.reserved else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)

    def fault(self, state, done):
        """What is wrong with a state, or None; `done`: it is one after the operation returned."""
        scene, found = self.scene, observe(state)
        made = found == scene.after
        if not made and done:
            return f"not as it was said: {found}"
        if not made and found != scene.before and not self.is_between(found):
            return f"neither old nor new: {found}"
        for version, want in scene.old.items():
            if found and version not in found["versions"]:
                continue
            try:
                if content(lance.dataset(state, version=version)) != want:
                    return f"version {version} is another one"
            except Exception as error:  # pylint: disable=broad-except
                if version in scene.after["versions"]:
                    return f"version {version}: {error}"
        return self.fault_of_files(files(state), made)

    def is_between(self, found):
        """Of a cleanup that has come to some of the versions, or with ids reserved."""
        before, after = self.scene.before, self.scene.after
        if self.scene.reserved is not None:
            return found == {**before, "versions": before["versions"] + [self.scene.reserved]}
        return None not in (found, before) and {**found, "versions": 0} == \
            {**before, "versions": 0} == {**after, "versions": 0} and \
            set(after["versions"]) <= set(found["versions"]) <= set(before["versions"])

    def fault_of_files(self, found, made):
        before, final = self.scene.files, self.final
        reserving = found.get(self.reserved, b"")
        for name in before.keys() | final.keys() | found.keys():
            here = found.get(name)
            if name.startswith("_transactions/") and Path(name).name.encode() in reserving and \
                    here != final.get(name):
                return f"{name} is not whole"
            if name.endswith(HINT) or here == before.get(name) and (name in before or not made):
                continue
            if name == self.reserved and here == final.get(name):
                continue
            # A torn head has two names, or one, or none, until the directory is synced.
            if here == final.get(name) and (made or name in before or name.endswith(".torn")):
                continue
            if name in before:
                return f"{name} is not as it was"
            if made and name in final and not name.endswith(".torn"):
                return f"{name} is not whole"
            if here is not None and not name.startswith(LEFTOVERS) and \
                    not Path(name).name.startswith(".tmp-"):
                return f"{name} should not be there"
        return None


@pytest.fixture(scope="module", params=OPERATIONS, ids=lambda o: o.name.replace(" ", "_"))
def scene(request):
    home = archives.scratch() / "powerloss" / request.param.name.replace(" ", "_")
    home.mkdir(parents=True)
    return Scene(request.param, home)


def test_every_state_is_old_or_new(scene):
    assert scene.before != scene.after
    with scene.run(EACH, "all") as run:
        states = run.states
        assert len(states) >= scene.operation.least
        assert states[0][1] and not states[-1][1]
        if len(states) > STATES:
            ends = [state for state in states if state[1]]
            rest = [state for state in states if not state[1]]
            states = ends + random.Random(SEED).sample(rest, STATES - len(ends))
        for i, (state, done) in enumerate(states):
            fault = run.fault(state, done)
            assert fault is None, f"{state.name}: {fault}"
            if i % GO_ON == 0:
                pylance_goes_on(state)
        assert files(run.path / "start") == scene.files


def shows(scene, dropped, when):
    with scene.run(EACH_MUTANT, when, dropped) as run:
        return any(run.fault(state, done) for state, done in run.states)


def test_every_sync_is_needed(scene):
    with scene.run(1, "end") as run:
        syncs = run.syncs
    assert syncs > 0
    for dropped in range(1, syncs + 1):
        shown = any(shows(scene, dropped, when) for when in ("end", "all"))
        assert shown != (dropped in scene.operation.idle), \
            f"sync {dropped} of {syncs}: {'needed' if shown else 'can be left out'}"
