"""The model of the reuse history says what the references say: reuse.py may then be compared with.

The Rust reference dumps every record, row map and translation; pylance has remap_row_addrs for
histories of version 0, and for the partitions made by hand the notes have the labels.
"""
import numpy as np
import pytest

import archives
import expected
import reuse
from archives import dataset

IDS = [ident for ident in archives.dataset_ids()
       if reuse.has_history(dataset(ident).facts(dataset(ident).latest))]
BY_RUST = [ident for ident in IDS if not dataset(ident).by_pylance]
BY_PYLANCE = [ident for ident in IDS if dataset(ident).by_pylance]


def accounts(data):
    """(facts, the reference's account, branch) of every version with a history."""
    for branch in (None, *data.branches()):
        for number, account in data.accounts(branch).items():
            if account is not None and account.get("frag_reuse") is not None:
                yield data.facts(number, branch), account, branch


def digests(dumped):
    return [(d["id"], d["physical_rows"], d["num_deleted_rows"]) for d in dumped]


def check_record(history, number, dumped):
    """One record as dumped; `dumped` has the keys of a transition."""
    transition = history.transitions[number]
    assert [d.key() for d in transition.sources] == digests(dumped["sources"])
    assert [d.key() for d in transition.destinations] == digests(dumped["destinations"])
    if transition.kind == reuse.ORDERED:
        surviving = dumped["mapping"]["surviving"]
        assert len(transition.surviving) == surviving["bytes"]
        assert history.survivors(number).tolist() == expected.ranges(surviving["addresses"])
        return
    mapping = dumped["mapping"]
    assert (transition.map_id, transition.map_bytes, transition.base) == \
        (mapping["map_id"], mapping["map_size_bytes"], mapping["base_id"])
    check_map(history.row_map(number), mapping["map"])
    for source, start in zip(transition.sources, transition.starts().tolist()):
        nulls = history.row_map(number).nulls[start:start + source.rows]
        assert nulls.sum() == source.deleted


def check_map(rows, dumped):
    labels = [reuse.NO_LABEL if v is None else v for v in expected.runs(dumped["labels"])]
    assert np.where(rows.nulls, reuse.NO_LABEL, rows.labels).tolist() == labels
    assert (rows.block_rows, rows.blocks, rows.width, rows.rows) == tuple(
        dumped[k] for k in ("block_rows", "num_blocks", "num_destinations", "total_rows"))
    before = np.vstack([np.zeros((1, rows.width), np.int64), rows.counts[:-1]])
    assert before.tolist() == dumped["counters_at_block"]
    assert rows.counts[-1].tolist() == dumped["totals"]


def records(dumped):
    """{stored name: record} with the keys of a transition."""
    out = {}
    for i, version in enumerate(dumped["legacy_versions"]):
        for j, group in enumerate(version["groups"]):
            out[f"legacy_versions[{i}].groups[{j}]"] = {
                "sources": group["old"], "destinations": group["new"],
                "mapping": {"surviving": group["surviving"]}}
    out |= {f"transitions[{i}]": t for i, t in enumerate(dumped["transitions"])}
    return out


@pytest.mark.parametrize("ident", BY_RUST)
def test_records_and_order(ident):
    seen = 0
    for facts, account, _ in accounts(dataset(ident)):
        history, dumped = reuse.of(facts), account["frag_reuse"]
        assert history.index_version == dumped["index_version"]
        assert history.external == (dumped["location"] != "inline")
        assert history.interpretable and not any(t.fault for t in history.transitions)
        stored = records(dumped)
        assert {t.name for t in history.transitions} == set(stored)
        for number, transition in enumerate(history.transitions):
            check_record(history, number, stored[transition.name])
            line = dumped["lineage_order"][number]
            assert transition.kind == line["kind"]
            assert [d.key() for d in transition.sources] == digests(line["sources"])
            assert [d.key() for d in transition.destinations] == digests(line["destinations"])
            assert (transition.dataset_version if transition.legacy else None) == \
                line["legacy_dataset_version"]
            seen += 1
        assert len(history.transitions) == len(dumped["lineage_order"])
    assert seen


@pytest.mark.parametrize("ident", BY_RUST)
def test_translations(ident):
    """Every offset of every fragment that the history knows, at every version."""
    data = dataset(ident)
    for facts, _, branch in accounts(data):
        history, seen = reuse.of(facts), set()
        for fragment, dumped in data.translations(branch)[facts.version].items():
            rows = range(fragment << 32, (fragment << 32) + dumped["rows"])
            got = [current for _, current in history.translate_all(rows)]
            assert got == expected.translated(dumped["tagged"]), f"{facts.version} {fragment}"
            seen.add(fragment)
        assert seen == set(history.fragments())


@pytest.mark.parametrize("ident", BY_PYLANCE)
def test_remapping_by_pylance(ident):
    """Old addresses as pylance remaps them at the latest version, and labels as they were made."""
    data = dataset(ident)
    history = reuse.of(data.facts(data.latest))
    assert not any(t.fault for t in history.transitions)
    moves = data.expected.get("remap_row_addrs_at_latest") or data.notes.get("moves") or []
    for (old, new), (_, got) in zip(moves, history.translate_all([old for old, _ in moves])):
        assert got == new, old
    labels = data.notes.get("labels")
    if labels:
        rows = history.row_map(0)
        assert [None if null else label for label, null
                in zip(rows.labels.tolist(), rows.nulls)] == labels
    assert moves or labels or history.transitions, "nothing to compare with"
