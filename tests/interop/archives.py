"""The test data unpacked, and the names of its datasets.

The archives are unpacked once, when pytest starts, because the names in them are the tests'
parameters. The directory can be entered by any user: copies are made as an ordinary one.
"""
import atexit
import functools
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import facts
import wire

DATA = Path(__file__).resolve().parent.parent / "data"
GROUPS = ("fixtures", "fixtures-rust", "fixtures-written")


@functools.cache
def scratch():
    """A directory of this run, removed at its end."""
    path = Path(tempfile.mkdtemp(prefix="lancefs-interop-")).resolve()
    path.chmod(0o755)
    owner = os.getpid()

    def remove():
        if os.getpid() == owner:
            shutil.rmtree(path, ignore_errors=True)
    atexit.register(remove)
    return path


@functools.cache
def unpacked(name):
    """The directory of one archive, its stored absolute paths pointing at where it lies."""
    archive = DATA / f"{name}.tar.xz"
    subprocess.run(["tar", "--no-same-owner", "-C", scratch(), "-xJf", archive],
                   check=True, timeout=120)
    root = scratch() / name
    # The broken datasets were each made alone in /fixtures, the others side by side.
    for home in [p for p in root.iterdir() if p.is_dir()] if name == "corrupt" else [root]:
        wire.relocate(home)
    return root


@functools.cache
def dataset_ids():
    """"group/name" of every dataset of the three groups."""
    return [f"{group}/{path.name.removesuffix('.lance')}"
            for group in GROUPS for path in sorted(unpacked(group).glob("*.lance"))]


class Dataset:
    """One dataset and the reference's account of it."""

    def __init__(self, ident):
        self.id = ident
        self.group, self.name = ident.split("/", 1)
        home = unpacked(self.group)
        self.path = home / f"{self.name}.lance"
        self._home = home
        self.expected = json.loads((home / f"{self.name}.expected.json").read_text())
        notes = home / f"{self.name}.notes.json"
        self.notes = json.loads(notes.read_text()) if notes.exists() else {}

    @property
    def by_pylance(self):
        return self.group == "fixtures"

    def root(self, branch=None):
        return self.path / "tree" / branch if branch else self.path

    def facts(self, number, branch=None):
        return facts.version(self.root(branch), number)

    def numbers(self, branch=None):
        """The versions that the reference lists, ascending."""
        return sorted(self.accounts(branch))

    def _by_rust(self, branch):
        name = self.name if branch is None else f"{self.name}.{branch.replace('/', '_')}"
        return json.loads((self._home / f"{name}.expected.json").read_text())

    @functools.cache
    def translations(self, branch=None):
        """{version: {fragment: what the Rust reference translates its addresses to}}."""
        found = self._by_rust(branch).get("translations", {})
        return {int(v): {int(f): t for f, t in dump.items()} for v, dump in found.items()}

    @functools.cache
    def accounts(self, branch=None):
        """{version: the reference's account, or None where it is only listed}."""
        if not self.by_pylance:
            return {int(v): dump for v, dump in self._by_rust(branch)["versions"].items()}
        if "open" in self.expected:
            return {int(v): None if "error" in d else d
                    for v, d in self.expected["by_number"].items()}
        lines = self.expected["versions"] if branch is None else \
            self.expected["branch_versions"][branch]
        return {v["version"]: v.get("detail") for v in lines}

    @functools.cache
    def branches(self):
        if self.by_pylance:
            return sorted(self.expected.get("branches") or {})
        at = self.path / "_refs" / "branches"
        names = [p.stem.replace("%2F", "/") for p in at.glob("*.json")] if at.is_dir() else []
        return sorted(names)

    @functools.cache
    def tags(self):
        """{tag: (branch or None, version)}; None where pylance can't list them."""
        tags = self.expected.get("tags") or {}
        if isinstance(tags.get("error"), str):
            return None
        if self.by_pylance:
            return {name: (tag["branch"], tag["version"]) for name, tag in tags.items()}
        # The Rust account has no branch; the reference file does.
        refs = self.path / "_refs" / "tags"
        return {name: (json.loads((refs / f"{name}.json").read_text())["branch"], number)
                for name, number in tags.items()}

    @property
    def latest(self):
        return self.numbers()[-1]

    def refused(self):
        """The reader flags, by name, for which the newest version must be refused."""
        return self.facts(self.latest).refused

    def spread(self, limit):
        """All versions, or `limit` of them, the first and the last among them."""
        numbers = self.numbers()
        if len(numbers) <= limit:
            return numbers
        step = (len(numbers) - 1) / (limit - 1)
        return sorted({numbers[round(i * step)] for i in range(limit)})


@functools.cache
def dataset(ident):
    return Dataset(ident)
