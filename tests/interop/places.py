"""Where tests put datasets of their own, and the columns that all rows have."""
import shutil
import tempfile
from pathlib import Path

import archives

LINEAGE = ["_rowid", "_row_created_at_version", "_row_last_updated_at_version"]


def fresh():
    """A path for a dataset."""
    return str(Path(tempfile.mkdtemp(dir=archives.scratch())) / "data.lance")


def copy_of(path):
    copy = fresh()
    shutil.copytree(path, copy)
    return copy


def columns_of(ds, names=None):
    """All columns or these, and behind them ids and versions where rows keep some."""
    return [*(ds.schema.names if names is None else names),
            *(LINEAGE if ds.has_stable_row_ids else [])]
