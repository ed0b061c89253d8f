"""What fri/ of a version must show, given the model of its history.

A check takes a tree (programs.ShowTree or programs.MountTree), the path of the version in it and
the model, and asserts. What is damaged must fail with the errno that is due, and nothing else.
"""
import errno
import os
import random
import re
import subprocess

import numpy as np

import checks
import formats
import programs
import reuse
from formats import WIDE, num, wide

ALL_FILES = {"kind", "info.json", "sources.tsv", "destinations.tsv"}
FILES = {reuse.ORDERED: ALL_FILES | {"mapping.tsv", "surviving_rows"},
         reuse.PARTITION: ALL_FILES | {"mapping.tsv", "labels.u16", "counts.tsv", "row_map_file"},
         reuse.UNKNOWN: ALL_FILES}
LOOKS = 12  # reads at random offsets of each file


def errno_of(fault):
    if isinstance(fault, OSError):
        return errno.EIO
    return errno.EOPNOTSUPP if isinstance(fault, reuse.Unsupported) else errno.EUCLEAN


def file_is(tree, path, want):
    """The bytes of a file: its size before it is read, pieces of it, the whole."""
    if isinstance(tree, programs.MountTree):
        rng = random.Random(path)
        with open(tree.path / path, "rb", buffering=0) as file:
            assert os.fstat(file.fileno()).st_size == len(want), path
            for _ in range(LOOKS if want else 0):
                at = rng.randrange(len(want))
                size = rng.choice((1, 21, 4096, 100_000))
                assert os.pread(file.fileno(), size, at) == want[at:at + size], f"{path} at {at}"
            assert os.pread(file.fileno(), 10, len(want)) == b"", path
    assert tree.read(path) == want, path


# ---- the history --------------------------------------------------------------------------

def history(tree, at, model, skipped=frozenset()):
    """All of fri/; of the transitions in `skipped` only what is small."""
    here = f"{at}/fri"
    faulty = [t for t in model.transitions if t.fault is not None]
    assert set(tree.list(here)) == \
        {"info.json", "transitions", "graph.dot"} | ({"error"} if faulty else set())
    numbers = [str(i) for i in range(len(model.transitions))]
    assert sorted(tree.list(f"{here}/transitions"), key=int) == numbers
    info(tree, here, model)
    graph(tree, here, model)
    if faulty:
        text = tree.read(f"{here}/error").decode()
        for transition in faulty:
            assert transition.name in text
    for number in range(len(model.transitions)):
        transition_files(tree, f"{here}/transitions/{number}", model, number, number in skipped)


def info(tree, here, model):
    """info.json; a history with a contradiction in it fails, and says which records."""
    corrupt = [t for t in model.transitions if isinstance(t.fault, reuse.Corrupt)]
    if corrupt:
        failure = checks.fails(tree, f"{here}/info.json", errno.EUCLEAN)
        if isinstance(tree, programs.ShowTree):
            assert any(names_records(failure.strerror, t) for t in corrupt), failure.strerror
        return
    got = formats.load_json(tree.read(f"{here}/info.json"), "reuse")
    entry = model.entry
    assert num(got["index_version"]) == model.index_version
    assert got["uuid"] == entry.uuid
    assert wide(got["dataset_version"]) == entry.dataset_version
    details = got["details"]
    assert details["location"] == ("external" if model.external else "inline")
    assert num(details["bytes"]) == len(model.content)
    if model.external:
        assert details["path"].endswith(model.details_path)
    assert num(got["legacy_versions"]) == model.legacy_versions
    assert num(got["tagged_transitions"]) == model.tagged_transitions
    assert num(got["transitions"]) == len(model.transitions)
    assert got["interpretable"] is model.interpretable
    needs(got, model)


def needs(got, model):
    """Each transition is needed or not; nothing may be said of a history not understood."""
    if not model.interpretable:
        assert got["needed"] is None and got["not_needed"] is None
        return
    names = {s.name for s in model.facts.segments if not s.name.startswith("__lance_")}
    needed = [num(n["transition"]) for n in got["needed"]]
    spare = [num(n) for n in got["not_needed"]]
    assert sorted(set(needed) | set(spare)) == list(range(len(model.transitions)))
    assert not set(needed) & set(spare)
    for line in got["needed"]:
        assert line["indices"] and set(line["indices"]) <= names


def names_records(text, transition):
    """A fault names its record, and another one where two contradict each other."""
    return transition.name in text and \
        (not transition.others or any(other in text for other in transition.others))


def graph(tree, here, model):
    """Every fragment and transition, and the edges between them."""
    text = tree.read(f"{here}/graph.dot").decode()
    assert text.startswith("digraph ") and text.endswith("}\n")
    nodes = re.findall(r"^\s*([ft]\d+) \[", text, re.M)
    edges = re.findall(r"^\s*([ft]\d+) -> ([ft]\d+)", text, re.M)
    want, fragments = [], set()
    for number, transition in enumerate(model.transitions):
        want += [(f"f{s.id}", f"t{number}") for s in transition.sources]
        want += [(f"t{number}", f"f{d.id}") for d in transition.destinations]
        fragments |= {d.id for d in [*transition.sources, *transition.destinations]}
    assert len(nodes) == len(set(nodes))
    assert set(nodes) == {f"f{i}" for i in fragments} | \
        {f"t{n}" for n in range(len(model.transitions))}
    assert sorted(edges) == sorted(want)


def nothing(tree, at, *codes):
    """fri/ of a history that can't be read at all: it says why, and what to do."""
    here = f"{at}/fri"
    names = set(tree.list(here))
    assert {"error", "info.json"} <= names
    assert tree.read(f"{here}/error")
    checks.fails(tree, f"{here}/info.json", *codes)
    for name in ("graph.dot", "transitions"):
        if name in names:
            with_errno(lambda name=name: tree.read(f"{here}/{name}") if "." in name
                       else tree.list(f"{here}/{name}"), codes)


def with_errno(call, codes):
    try:
        call()
    except OSError as error:
        assert error.errno in codes, error
        return
    raise AssertionError("no error")


# ---- one transition -----------------------------------------------------------------------

def transition_files(tree, here, model, number, small=False):
    transition = model.transitions[number]
    listed = set(tree.list(here))
    if transition.fault is None:
        assert listed == FILES[transition.kind], here
    else:
        assert ALL_FILES | {"error"} <= listed
        assert names_records(tree.read(f"{here}/error").decode(), transition)
        assert listed & {"mapping.tsv"} == set() or \
            not isinstance(transition.fault, reuse.Unsupported)
    words = [transition.kind, "legacy"] if transition.legacy else [transition.kind]
    if not isinstance(transition.fault, reuse.Corrupt):
        assert tree.read(f"{here}/kind").decode() == " ".join(words) + "\n"
    transition_info(tree, here, model, number)
    digests(tree, f"{here}/sources.tsv", transition.sources)
    digests(tree, f"{here}/destinations.tsv", transition.destinations)
    if small:
        return
    if model.fault(number) is not None:
        damaged(tree, here, model, number, listed)
    elif transition.kind == reuse.ORDERED:
        file_is(tree, f"{here}/mapping.tsv", mapping_bytes(transition, model.mapping(number)))
        file_is(tree, f"{here}/surviving_rows",
                formats.column_bytes(model.survivors(number), WIDE))
    else:
        file_is(tree, f"{here}/mapping.tsv", mapping_bytes(transition, model.mapping(number)))
        rows = model.row_map(number)
        file_is(tree, f"{here}/labels.u16", label_bytes(rows))
        assert tree.read(f"{here}/counts.tsv") == count_bytes(rows)
        file_is(tree, f"{here}/row_map_file", model.map_file(number).read_bytes())


def transition_info(tree, here, model, number):
    transition = model.transitions[number]
    got = formats.load_json(tree.read(f"{here}/info.json"), "transition")
    assert num(got["transition"]) == number
    assert got["record"] == transition.name
    assert got["legacy"] is transition.legacy
    if transition.legacy:
        assert wide(got["dataset_version"]) == transition.dataset_version
    if transition.fault is not None:
        assert transition.name in str(got["fault"])
        return
    assert got["kind"] == transition.kind
    assert got.get("fault") is None
    assert [num(got[k]) for k in ("sources", "destinations", "source_rows", "live_rows",
                                  "deleted_rows")] == \
        [len(transition.sources), len(transition.destinations), transition.source_rows,
         transition.live_rows, transition.source_rows - transition.live_rows]
    if transition.kind == reuse.ORDERED:
        assert num(got["surviving_bytes"]) == len(transition.surviving)
    else:
        place = got["map"]
        assert (place["id"], num(place["bytes"])) == (transition.map_id, transition.map_bytes)
        if transition.base is None or transition.base in model.facts.bases:
            assert place["path"].endswith(transition.map_path)
        assert (None if place["base"] is None else num(place["base"])) == transition.base


def digests(tree, path, side):
    file_is(tree, path, formats.number_table({
        "fragment": [d.id for d in side], "physical_rows": [d.rows for d in side],
        "deleted_rows": [d.deleted for d in side]}))


def damaged(tree, here, model, number, listed):
    """No file of a damaged mapping is wrong: it fails, or is what the row map says."""
    fault = model.fault(number)
    code = errno_of(fault)
    transition = model.transitions[number]
    if transition.kind == reuse.PARTITION and transition.fault is None:
        checks.fails(tree, f"{here}/mapping.tsv", code)
        try:
            rows = model.row_map(number)
        except reuse.Corrupt:
            rows = None
        labels, counts = (None, None) if rows is None else (rows.labels, rows.counts)
        fails_or_is(tree, f"{here}/labels.u16", code, labels is not None and label_bytes(rows))
        fails_or_is(tree, f"{here}/counts.tsv", code, counts is not None and count_bytes(rows))
        return
    for name in ("mapping.tsv", "surviving_rows", "labels.u16", "counts.tsv"):
        if name in listed:
            checks.fails(tree, f"{here}/{name}", code)


def fails_or_is(tree, path, code, want):
    """`want` is False where nothing can be had."""
    try:
        got = tree.read(path)
    except OSError as error:
        assert error.errno == code, f"{path}: {error}"
        return
    assert want is not False and got == want, path


# ---- bytes --------------------------------------------------------------------------------

def mapping_bytes(transition, mapping):
    ids = np.array([s.id for s in transition.sources], np.uint64)
    rows = [s.rows for s in transition.sources]
    offsets = [np.arange(n, dtype=np.uint64) for n in rows]
    gone = mapping == np.uint64(reuse.NO_ROW)
    absent = np.uint64(formats.NO_NUMBER)
    return formats.number_table({
        "source_fragment": np.repeat(ids, rows),
        "source_offset": np.concatenate([reuse.EMPTY, *offsets]),
        "destination_fragment": np.where(gone, absent, mapping >> np.uint64(32)),
        "destination_offset": np.where(gone, absent, mapping & np.uint64(0xFFFFFFFF))})


def label_bytes(rows):
    return np.where(rows.nulls, reuse.NO_LABEL, rows.labels).astype("<u2").tobytes()


def count_bytes(rows):
    columns = {("block", WIDE): np.arange(rows.blocks, dtype=np.uint64)}
    columns |= {f"destination_{d}": rows.counts[:, d] for d in range(rows.width)}
    return formats.number_table(columns)


# ---- translation --------------------------------------------------------------------------

def run_translate(path, addresses, *selection):
    done = subprocess.run([programs.program("lancet"), "translate", str(path), "file=-",
                           *selection], input="".join(f"{a}\n" for a in addresses).encode(),
                          capture_output=True, timeout=60, check=False)
    assert not programs.SANITIZER.search(done.stderr), done.stderr.decode(errors="replace")
    return done


def translate(path, addresses, *selection):
    """A word or an address for each, of `lancet translate`."""
    done = run_translate(path, addresses, *selection)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == (1 if "failed" in lines else 0), done.stderr
    assert done.stderr.count(b"\n") == done.returncode
    assert len(lines) == len(addresses), done.stderr
    return [int(line) if line.isdigit() else line for line in lines]


def translation(path, model, addresses, *selection, healthy=None):
    """Each address as the model has it.

    What the model loses to a damaged row map may be known where only another part of it is damaged:
    then it is as the model of the healthy history has it.
    """
    due = words(model, addresses)
    sound = words(healthy, addresses) if healthy is not None else due
    for address, got, want, other in zip(addresses, translate(path, addresses, *selection), due,
                                         sound):
        assert got == want or want == "failed" and got == other, \
            f"{address >> 32}:{address & 0xFFFFFFFF}: {got}, not {want}"


def words(model, addresses):
    return [current if fate == "current" else fate
            for fate, current in model.translate_all(addresses)]
