"""The live files of a version: what files.tsv lists and dataset/ holds, derived from the facts."""
import json
from pathlib import Path

from wire import Message

FRI = "__lance_frag_reuse"
HINT = "_versions/latest_version_hint.json"


class LiveFile:
    def __init__(self, kind, path, backing, fragment=None, base=None):
        self.kind, self.path, self.backing = kind, path, Path(backing)
        self.fragment, self.base = fragment, base

    def key(self):
        return self.kind, self.fragment, self.base, self.path


def live_files(facts, dataset_root):
    """Every file that the version needs, but blob files, whose names are not in the manifest."""
    out = []
    for fragment in facts.fragments:
        for kind, files in (("data", fragment.files),
                            ("overlay", [o.file for o in fragment.overlays])):
            for file in files:
                path = f"data/{file.path}"
                out.append(LiveFile(kind, path, facts.backing(file.base, path), fragment.id,
                                    file.base))
        deletion = fragment.deletion
        if deletion is not None:
            out.append(LiveFile("deletion", deletion.path,
                                facts.backing(deletion.base, deletion.path), fragment.id,
                                deletion.base))
    for segment in facts.segments:
        out += _index_files(facts, segment)
    transaction = facts.root / "_transactions" / facts.transaction_file
    if facts.transaction_file and transaction.is_file():
        out.append(LiveFile("transaction", f"_transactions/{facts.transaction_file}", transaction))
    out.append(LiveFile("manifest", f"_versions/{facts.path.name}", facts.path))
    for name, tag in tag_files(dataset_root).items():
        if (tag.get("branch"), tag["version"]) == (facts.branch, facts.version):
            out.append(LiveFile("ref", f"_refs/tags/{name}",
                                Path(dataset_root) / "_refs" / "tags" / name))
    return out


def tag_files(root):
    """{file name: its JSON} of the tags that can be read."""
    out = {}
    for path in Path(root, "_refs", "tags").glob("*.json"):
        try:
            out[path.name] = json.loads(path.read_text())
        except (ValueError, RecursionError):
            continue
    return {n: t for n, t in out.items() if isinstance(t, dict) and "version" in t}


def _index_files(facts, segment):
    front = f"_indices/{segment.uuid}"
    home = facts.backing(segment.base, front)
    names = sorted(segment.files) or \
        sorted(p.name for p in home.iterdir() if p.is_file()) if home.is_dir() else []
    out = [LiveFile("fri_details" if segment.name == FRI else "index", f"{front}/{n}", home / n,
                    base=segment.base) for n in names]
    if segment.name == FRI:
        out += [LiveFile("row_map", f"_fri/{map_id}/stable_partition.lance",
                         facts.backing(base, f"_fri/{map_id}/stable_partition.lance"), base=base)
                for map_id, base in row_maps(fri_content(facts, segment))]
    return out


def fri_content(facts, segment):
    """The InlineContent bytes of a fragment reuse entry, wherever they are."""
    entry = next(m for m in Message(facts._file.section("index")).subs(1)
                 if m.text(3) == FRI)
    details = Message(entry.sub(6).bytes(2))
    if details.has(1):
        return details.bytes(1)
    external = details.sub(2)
    path = facts.backing(segment.base, f"_indices/{segment.uuid}") / external.text(1)
    offset = external.uint(2)
    return path.read_bytes()[offset:offset + external.uint(3)]


def row_maps(content):
    """(map id, base) of each stable partition in a reuse history."""
    out = []
    for transition in Message(content).subs(2):
        partition = transition.sub(4)
        if partition is not None:
            out.append((partition.text(1), partition.uint(3) if partition.has(3) else None))
    return out


def is_blob(path):
    """Whether a path below a dataset is a blob file."""
    parts = path.split("/")
    return parts[0] == "_blobs" or parts[0] == "data" and path.endswith(".blob")


def blob_files(facts):
    """{path: backing file} of the blob files that belong to the version."""
    out = {}
    for fragment in facts.fragments:
        for file in fragment.files:
            side = facts.backing(file.base, f"data/{file.path.removesuffix('.lance')}")
            if side.is_dir():
                stem = file.path.removesuffix(".lance")
                out |= {f"data/{stem}/{p.relative_to(side)}": p
                        for p in side.rglob("*") if p.is_file()}
    managed = facts.root / "_blobs"
    if managed.is_dir():
        out |= {f"_blobs/{p.relative_to(managed)}": p for p in managed.rglob("*") if p.is_file()}
    return out
