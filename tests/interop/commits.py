"""Committing transactions with tests/helpers/commit, and what came of it.

Facts are decoded from the files here, as facts.py does; only rows, the reference's own validation
and the coverage that it gives to an index are asked of pylance, in one process for all datasets.
"""
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path

import archives
import facts
import programs
import reuse
from wire import Corrupt

COLUMNS = (("row_ids", "row_id_meta"), ("created_at", "created_at_meta"),
           ("last_updated_at", "last_updated_at_meta"))


@functools.cache
def home():
    """The corpus, unpacked."""
    subprocess.run(["tar", "--no-same-owner", "-C", archives.scratch(), "-xJf",
                    archives.DATA / "conflicts.tar.xz"], check=True, timeout=120)
    return archives.scratch() / "conflicts"


@functools.cache
def cases():
    return {case["id"]: case for case in json.loads((home() / "conflicts.json").read_text())}


def stage(layers):
    """A dataset of its own of all layers; a layer without files is no directory."""
    path = Path(tempfile.mkdtemp(dir=archives.scratch()))
    for layer in layers:
        if (home() / layer).is_dir():
            shutil.copytree(home() / layer, path, dirs_exist_ok=True)
    return path


def commit(path, transaction, read_version, *words):
    """The result of the helper; `transaction` is a path or bytes."""
    given = transaction if isinstance(transaction, bytes) else None
    done = subprocess.run(
        [programs.program("tests/helpers/commit"), path,
         "-" if given is not None else transaction, str(read_version), *words],
        input=given, timeout=60, capture_output=True, check=False)
    assert not programs.SANITIZER.search(done.stderr), done.stderr.decode(errors="replace")
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    return json.loads(done.stdout)


def commit_case(case, path):
    words = []
    if case["affected"] is not None:
        rows = path.with_suffix(".affected")
        rows.write_text("".join(f"{address}\n" for address in case["affected"]))
        words.append(f"affected={rows}")
    if case["fri"]:
        words.append(f"reuse={home() / case['fri']}")
    return commit(path, home() / case["txn"], case["read_version"], *words)


def files(path):
    return {str(p.relative_to(path)) for p in Path(path).rglob("*") if p.is_file()}


# ---- what a version holds, in the corpus' words ---------------------------------------------

def runs_of_ids(values):
    """[[start, count]] of ascending neighbours."""
    runs = []
    for value in values:
        if runs and value == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([value, 1])
    return runs


def runs_of_versions(values):
    return [[value, len(list(group))] for value, group in groupby(values)]


def _overlay(overlay):
    ranges = [runs_of_ids(offsets) for offsets in overlay.coverage]
    return {"path": overlay.file.path, "fields": overlay.file.fields,
            "committed_version": overlay.committed_version, "ranges": ranges}


def _fragment(fragment, before):
    out = {"id": fragment.id, "physical_rows": fragment.rows,
           "deleted": sorted(fragment.deleted_offsets()),
           "files": [{"path": f.path, "fields": f.fields} for f in fragment.files],
           "overlays": [_overlay(o) for o in fragment.overlays]}
    if fragment.deletion is not None:
        new = fragment.deletion.path not in before
        out["deletion_file"] = {"new": new, "num_deleted_rows": fragment.deletion.deleted}
        if not new:
            out["deletion_file"]["path"] = fragment.deletion.path
    if fragment.version.stable:
        for what, meta in COLUMNS:
            values = fragment.lineage(what)
            assert not isinstance(values, (Corrupt, OSError)), values
            out[what] = (runs_of_ids if what == "row_ids" else runs_of_versions)(values)
            if fragment.placement(what) == "column":
                out[meta] = "column"
    return out


def _frag_reuse(version):
    if not reuse.has_history(version):
        return None
    history = reuse.of(version)
    assert not [t.fault for t in history.transitions if t.fault is not None]
    stored = sorted(history.transitions, key=lambda t: (t.record, t.group))
    ids = [(t, [[s.id for s in t.sources], [d.id for d in t.destinations]]) for t in stored]
    legacy = groupby((pair for pair in ids if pair[0].legacy), lambda pair: pair[0].record)
    return {"legacy": [[groups for _, groups in record] for _, record in legacy],
            "transitions": [[t.kind, *sides] for t, sides in ids if not t.legacy]}


def account(path, number, before):
    """Everything of a version that is decoded here; `before` are the files before the commit."""
    version = facts.version(path, number)
    now = files(path)
    new = {f for f in now - before if not f.startswith(("_versions/", "_transactions/"))}
    return {"version": version.version, "read_version": version.transaction.read_version,
            "operation": version.transaction.operation,
            "fragments": [_fragment(f, before) for f in version.fragments],
            "next_row_id": version.next_row_id,
            "max_fragment_id": version.max_fragment_id,
            "reader_feature_flags": version.reader_flags,
            "writer_feature_flags": version.writer_flags,
            "indices": {s.uuid: {"name": s.name, "fields": s.fields,
                                 "dataset_version": s.dataset_version,
                                 "index_version": s.index_version,
                                 "fragment_bitmap": s.bitmap and sorted(s.bitmap)}
                        for s in version.segments},
            "config": version.config, "table_metadata": version.table_metadata,
            "schema_metadata": version.schema_metadata,
            "schema": [[f.id, f.name, f.type, f.nullable, f.metadata] for f in version.fields],
            "base_paths": {str(i): {"name": b["name"], "path": b["path"],
                                    "is_dataset_root": b["root"]}
                           for i, b in version.bases.items()},
            "frag_reuse": _frag_reuse(version),
            "num_rows": version.live_rows,
            "new_deletion_files": len({f for f in new if f.startswith("_deletions/")}),
            "new_files": len(new)}


# ---- pylance ---------------------------------------------------------------------------------

READER = '''
import hashlib, json, sys
import lance

def line(row):
    return json.dumps(row, separators=(",", ":"))

def covered(ds):
    """Without a bitmap of one index it tells of none."""
    try:
        return [[i["uuid"], sorted(i["fragment_ids"])] for i in ds.list_indices()]
    except RuntimeError as error:
        if "Fragment bitmap is required" not in str(error):
            raise
        return None

def look(path):
    ds = lance.dataset(path)
    ds.validate()
    table = ds.to_table()
    rows = sorted(line([column[i] for column in columns])
                  for columns in [[c.to_pylist() for c in table.columns]]
                  for i in range(table.num_rows))
    return {"version": ds.version, "num_rows": ds.count_rows(),
            "rows_sha256": hashlib.sha256("\\n".join(rows).encode()).hexdigest(),
            "covered": covered(ds)}

for path in json.load(sys.stdin):
    try:
        print(json.dumps(look(path)), flush=True)
    except Exception as error:
        print(json.dumps({"error": repr(error)}), flush=True)
'''


def pylance(paths):
    """What it says of the newest version of each dataset."""
    env = dict(os.environ, LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES="1")
    done = subprocess.run([sys.executable, "-c", READER], input=json.dumps([str(p) for p in paths]),
                          env=env, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
