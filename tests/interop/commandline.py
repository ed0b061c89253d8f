"""`lancet COMMAND` and small datasets for it, made by pylance."""
import errno
import json
import subprocess

import lance
import pyarrow as pa

import programs

SECONDS = 60
PROPERTY = "__lance_commit_message"


def run(path, *words, text=None, seconds=SECONDS):
    """The finished process of one command; nothing of a sanitizer may be in what it says."""
    name, *rest = words
    done = subprocess.run([programs.program("lancet"), name, path, *rest], timeout=seconds,
                          input=text, capture_output=True, check=False,
                          **({} if text is not None else {"stdin": subprocess.DEVNULL}))
    assert not programs.SANITIZER.search(done.stderr), done.stderr.decode(errors="replace")
    return done


def result(path, *words, text=None):
    """The result of a command that succeeds."""
    done = run(path, *words, text=text)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode(errors="replace")
    out = json.loads(done.stdout)
    assert out["ok"] is True and out["command"] == words[0] and out["format"] == 1
    assert out["seconds"] >= 0 and "errno" not in out and "error" not in out
    return out


def refusal(path, *words, text=None):
    """The result of one that fails: JSON on standard output, one line for people on the other."""
    done = run(path, *words, text=text)
    message = done.stderr.decode(errors="replace")
    assert done.returncode == 1, done.stdout
    out = json.loads(done.stdout)
    assert out["ok"] is False and "version" not in out
    assert message == f"lancet: {out['errno']}: {out['error']}\n"
    assert hasattr(errno, out["errno"]) and out["error"].startswith(words[0] + ": ")
    return out


def opened(path, version=None):
    """Nothing that another open of the same path has cached is used."""
    return lance.dataset(str(path), version=version, session=lance.Session())


def table(first, count):
    """Rows whose values follow from their id."""
    ids = range(first, first + count)
    return pa.table({"id": pa.array(ids, pa.int64()), "name": [f"n{i}" for i in ids],
                     "price": pa.array([i / 2 for i in ids]),
                     "place": pa.array([{"x": i, "y": str(i)} for i in ids])})


def make(path, stable=True, fragments=4, rows=25):
    """Version 1 has fragments of so many rows; ids count from 0, and are the row ids, too."""
    lance.write_dataset(table(0, fragments * rows), str(path), max_rows_per_file=rows,
                        enable_stable_row_ids=stable)
    return path


def ids(path, version=None):
    ds = opened(path, version)
    ds.validate()
    return sorted(ds.to_table(columns=["id"])["id"].to_pylist())


def properties(path, version):
    return opened(path).read_transaction(version).transaction_properties
