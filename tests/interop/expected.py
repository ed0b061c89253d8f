"""The expected.json files: what pylance 14.0.2 and the Rust reference say about the datasets.

`check_pylance` and `check_rust` hold the facts of one version against the reference's account of
it, everything that the account has. Their differences come back as a list of sentences.
"""
import hashlib
import json
import struct

from wire import Corrupt

PLACEMENTS = {"row_id_meta": "row_ids", "created_at_version_meta": "created_at",
              "last_updated_at_version_meta": "last_updated_at"}
ROWS = {"rowid": "row_ids", "created_at": "created_at", "last_updated_at": "last_updated_at"}


class Differences(list):
    def hold(self, what, got, want):
        if got != want:
            self.append(f"{what}: {str(got)[:300]} is not {str(want)[:300]}")


def failed(value):
    return isinstance(value, dict) and set(value) == {"error"}


def same_array(values, want):
    """Compare a list with the reference's array: a list, or counts with a digest."""
    if isinstance(want, list):
        return list(values) == want
    raw = struct.pack(f"<{len(values)}Q", *values)
    return (len(values) == want["n"] and not want["nulls"] and
            hashlib.sha256(raw).hexdigest() == want["sha256"])


def spilled_placement(meta):
    """Whether pylance's JSON of a lineage sequence says that it is in a column."""
    if isinstance(meta, str):
        return meta.lower() == "column"
    return isinstance(meta, dict) and any(k.lower() == "column" for k in meta)


# ---- pylance ------------------------------------------------------------------------------

def check_pylance(facts, detail):
    out = Differences()
    out.hold("version", facts.version, detail["version"])
    out.hold("stable row ids", facts.stable, detail["has_stable_row_ids"])
    if facts.data_format is not None:
        out.hold("storage version", facts.data_format, detail["data_storage_version"])
    for name in ("config", "table_metadata"):
        if not any(isinstance(v, dict) for v in detail[name].values()):
            out.hold(name, getattr(facts, name), detail[name])
    out.hold("rows", facts.live_rows, detail["count_rows"])
    out.hold("base paths", {str(i): (b["name"], b["root"]) for i, b in facts.bases.items()},
             {i: (b["name"], b["is_dataset_root"]) for i, b in detail["base_paths"].items()})
    top = [{"name": f.name, "id": f.id} for f in facts.fields if f.parent == -1]
    out.hold("fields", top, detail["fields"])
    _pylance_transaction(out, facts, detail["transaction"])
    _pylance_indices(out, facts, detail["indices"])
    if "fragments" not in detail:
        out.hold("fragment ids", [f.id for f in facts.fragments], detail["fragment_ids"])
        return out
    out.hold("fragments", [f.id for f in facts.fragments], [f["id"] for f in detail["fragments"]])
    for fragment, want in zip(facts.fragments, detail["fragments"]):
        _pylance_fragment(out, fragment, want)
    return out


def _pylance_transaction(out, facts, want):
    if failed(want):
        return
    got = facts.transaction
    if want is None or got is None:
        out.hold("transaction", got, want)
        return
    out.hold("transaction uuid", got.uuid, want["uuid"])
    out.hold("transaction read_version", got.read_version, want["read_version"])
    if want["operation"] != "BaseOperation":  # pylance's word for those that it has no class for
        out.hold("operation", got.operation, want["operation"])
    if not any(isinstance(v, dict) for v in want["properties"].values()):
        out.hold("properties", got.properties, want["properties"])


def _pylance_indices(out, facts, want):
    listed = {s.name for s in facts.segments}
    for index in want:
        if index["name"] not in listed:
            out.append(f"index {index['name']} is not in the index section")
        segments = {s.uuid: s for s in facts.segments if s.name == index["name"]}
        for segment in index["segments"]:
            mine = segments.get(segment["uuid"])
            if mine is None:
                out.append(f"index segment {segment['uuid']} is not in the index section")
                continue
            out.hold(f"{index['name']} dataset version", mine.dataset_version,
                     segment["dataset_version"])
            out.hold(f"{index['name']} index version", mine.index_version,
                     segment["index_version"])


def _pylance_fragment(out, fragment, want):
    name = f"fragment {fragment.id}"
    out.hold(f"{name} rows", (fragment.rows, fragment.deleted),
             (want["physical_rows"], want["num_deletions"]))
    meta = want["metadata"]
    _pylance_files(out, name, fragment, meta)
    for key, what in PLACEMENTS.items():
        inline = meta[key]
        if inline is None:
            ok = fragment.placement(what) in ("default", "address", None)
        elif "json_chars" in inline:
            word = "Inline" if key == "row_id_meta" else "inline"
            text = json.dumps({word: list(fragment.inline_bytes(what))}, sort_keys=True)
            ok = hashlib.sha256(text.encode()).hexdigest() == inline["sha256"]
        elif spilled_placement(inline):
            ok = fragment.placement(what) == "column"
        else:
            ok = bytes(next(iter(inline.values()))) == fragment.inline_bytes(what)
        if not ok:
            out.append(f"{name}: {key} is placed or stored otherwise")
    offsets = fragment.deleted_offsets()
    if "deleted_offsets" in want and not failed(want["deleted_offsets"]):
        if not same_array(offsets, want["deleted_offsets"]):
            out.append(f"{name}: deleted offsets differ")
    if isinstance(offsets, Corrupt):
        if not failed(want["rows"]["rowaddr"]):
            out.append(f"{name}: pylance reads the deletion file, we say {offsets}")
        return
    _pylance_rows(out, name, fragment, want, set(offsets))


def _pylance_files(out, name, fragment, meta):
    got = [(f.path, f.fields, f.columns, f.major, f.minor, f.base) for f in fragment.files]
    want = [(f["path"], f["fields"], f["column_indices"] or [], f["file_major_version"],
             f["file_minor_version"], f["base_id"]) for f in meta["files"]]
    out.hold(f"{name} files", got, want)
    deletion = meta["deletion_file"]
    if deletion is None or fragment.deletion is None:
        out.hold(f"{name} deletion file", fragment.deletion, deletion)
        return
    mine = fragment.deletion
    out.hold(f"{name} deletion file",
             (mine.kind, mine.read_version, mine.id, mine.deleted, mine.base),
             (deletion["file_type"], deletion["read_version"], deletion["id"],
              deletion["num_deleted_rows"], deletion["base_id"]))


def _pylance_rows(out, name, fragment, want, deleted):
    for key, what in ROWS.items():
        values = fragment.lineage(what)
        if values is None:
            continue
        wanted = want["rows"].get(key)
        if isinstance(values, Exception):
            if not failed(wanted):
                out.append(f"{name} {key}: pylance reads it, we say {values}")
            continue
        live = [v for offset, v in enumerate(values) if offset not in deleted]
        if failed(wanted):
            continue
        if not same_array(live, wanted):
            out.append(f"{name} {key}: live rows differ")
        physical = want.get("physical", {}).get(key)
        if physical is not None and not failed(physical) and not same_array(values, physical):
            out.append(f"{name} {key}: physical rows differ")


# ---- the Rust reference -------------------------------------------------------------------

def ranges(want):
    return [v for start, count in want["ranges"] for v in range(start, start + count)]


def runs(want):
    return [v for v, count in want["runs"] for _ in range(count)]


def translated(want):
    """One address, or None, for each row of a translation."""
    return [None if start is None else start + i for start, count in want for i in range(count)]


def check_rust(facts, dump):
    out = Differences()
    for name in ("version", "config", "table_metadata", "schema_metadata", "next_row_id",
                 "max_fragment_id", "branch"):
        out.hold(name, getattr(facts, name), dump[name])
    out.hold("timestamp", facts.seconds * 10**9 + facts.nanos, dump["timestamp_nanos"])
    out.hold("flags", (facts.reader_flags, facts.writer_flags),
             (dump["reader_feature_flags"], dump["writer_feature_flags"]))
    out.hold("data format", facts.data_format, dump["data_storage_format"]["version"])
    out.hold("rows", facts.live_rows, dump["num_rows"])
    out.hold("transaction file", facts.transaction_file, dump["transaction_file"] or "")
    out.hold("manifest", facts.path.name, dump["manifest_file"])
    writer = dump["writer_version"]
    out.hold("writer", facts.writer, writer and (writer["library"], writer["version"]))
    out.hold("fields", [(f.id, f.parent, f.name, f.type, f.nullable, f.metadata)
                        for f in facts.fields], flat_fields(dump["schema"]))
    transaction = dump["transaction"]
    out.hold("transaction", facts.transaction and
             (facts.transaction.uuid, facts.transaction.read_version, facts.transaction.operation),
             transaction and
             (transaction["uuid"], transaction["read_version"], transaction["operation"]))
    _rust_indices(out, facts, dump["indices"])
    out.hold("fragments", [f.id for f in facts.fragments], [f["id"] for f in dump["fragments"]])
    for fragment, want in zip(facts.fragments, dump["fragments"]):
        _rust_fragment(out, fragment, want)
    return out


def flat_fields(fields):
    out = []
    for f in fields:
        out.append((f["id"], f["parent_id"], f["name"], f["logical_type"], f["nullable"],
                    f["metadata"]))
        out += flat_fields(f["children"])
    return out


def _rust_indices(out, facts, want):
    got = [(s.name, s.uuid, s.fields, s.dataset_version, s.index_version, s.bitmap, s.type_url,
            s.created_at, s.base) for s in facts.segments]
    out.hold("indices", got, [
        (i["name"], i["uuid"], i["fields"], i["dataset_version"], i["index_version"],
         ranges(i["fragment_bitmap"]) if i["fragment_bitmap"] is not None else None,
         i["type_url"], i["created_at_ms"], i["base_id"]) for i in want])


def _rust_fragment(out, fragment, want):
    name = f"fragment {fragment.id}"
    out.hold(f"{name} rows", fragment.rows, want["physical_rows"])
    out.hold(f"{name} files", [(f.path, f.fields, f.columns, f.size, f.base)
                               for f in fragment.files],
             [(f["path"], f["fields"], f["column_indices"], f["file_size_bytes"], f["base_id"])
              for f in want["files"]])
    out.hold(f"{name} overlays", [(o.committed_version, o.file.path, o.coverage)
                                  for o in fragment.overlays],
             [(o["committed_version"], o["data_file"]["path"], coverage(o["coverage"]))
              for o in want["overlays"]])
    deletion, mine = want["deletion_file"], fragment.deletion
    out.hold(f"{name} deletion file", mine and (mine.path, mine.deleted, mine.base),
             deletion and (deletion["path"], deletion["num_deleted_rows"], deletion["base_id"]))
    if "deleted" in want:
        out.hold(f"{name} deleted", fragment.deleted_offsets(), ranges(want["deleted"]))
    for key, what, spread in (("row_ids", "row_ids", ranges), ("created_at", "created_at", runs),
                              ("last_updated_at", "last_updated_at", runs)):
        meta = want["row_id_meta" if key == "row_ids" else key + "_meta"]
        placement = fragment.placement(what)
        out.hold(f"{name} {key} placement", placement if placement in ("inline", "column")
                 else None, meta and meta["kind"])
        values = fragment.lineage(what)
        if meta is not None and meta["kind"] == "inline":
            out.hold(f"{name} {key} bytes", len(fragment.inline_bytes(what)), meta["bytes"])
        if values is not None and want.get(key) is not None:
            out.hold(f"{name} {key}", values, spread(want[key]))


def coverage(want):
    if "per_field" in want:
        return [ranges(r) for r in want["per_field"]]
    return [ranges(next(iter(want.values())))]
