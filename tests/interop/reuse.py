"""The fragment reuse history of a version, decoded once more: what became of each row of a rewrite.

A model without speed, independent of the programs under test: test_reuse_oracle.py holds it against
the Rust reference's account and pylance's own remapping. Labels and global buffers are read by
pylance's file reader; everything else is decoded here. Format facts: fragment reuse index.
"""
import functools
import re
import struct
import uuid as uuids
from collections import deque

import numpy as np
from lance.file import LanceFileReader

import sequences
from wire import Corrupt, Message

NAME = "__lance_frag_reuse"
TYPE = "lance.table.FragmentReuseIndexDetails"
ORDERED, PARTITION, UNKNOWN = "ordered_compaction", "stable_partition", "unknown"
NO_ROW = (1 << 64) - 1
NO_LABEL = (1 << 16) - 1
COUNTS_KEY = b"lance:stable_partition:counts_buffer_index"
COUNTS_HEAD = struct.Struct("<4sIIIIQ")
MOST_FRAGMENT = 0xFFFFFFFF
FATES = ("current", "deleted", "unknown", "failed")
EMPTY = np.array([], np.uint64)


class Unsupported(Exception):
    """What a newer writer made."""


class Digest:
    def __init__(self, message):
        self.id, self.rows, self.deleted = message.uint(1), message.uint(2), message.uint(3)

    def key(self):
        return self.id, self.rows, self.deleted


class Transition:
    """One record. `fault` is what is wrong with it or None, `others` are records it contradicts."""

    def __init__(self, sources, destinations):
        self.sources = [Digest(m) for m in sources]
        self.destinations = [Digest(m) for m in destinations]
        self.kind, self.legacy, self.record, self.group = ORDERED, False, 0, 0
        self.dataset_version, self.surviving = 0, b""
        self.map_id, self.map_bytes, self.base = None, 0, None
        self.strange, self.fault, self.others = False, None, set()

    @property
    def name(self):
        return f"legacy_versions[{self.record}].groups[{self.group}]" if self.legacy else \
            f"transitions[{self.record}]"

    @property
    def source_rows(self):
        return sum(s.rows for s in self.sources)

    @property
    def live_rows(self):
        return sum(s.rows - s.deleted for s in self.sources)

    @property
    def map_path(self):
        return f"_fri/{self.map_id}/stable_partition.lance"

    def starts(self):
        """The number of the first row of each source, and of the row behind the last."""
        return np.cumsum([0] + [s.rows for s in self.sources], dtype=np.uint64)

    def fail(self, fault, other=None):
        """The first fault stands, but for one of something that is only not understood."""
        if self.fault is None or isinstance(self.fault, Unsupported):
            self.fault = fault
            self.others = {other.name} if other is not None else set()
        elif other is not None and self.others:
            self.others.add(other.name)


# ---- records ------------------------------------------------------------------------------

def _legacy(versions):
    for record, version in enumerate(versions):
        for group, message in enumerate(version.subs(3)):
            out = Transition(message.subs(2), message.subs(3))
            out.legacy, out.record, out.group = True, record, group
            out.dataset_version, out.surviving = version.uint(1), message.bytes(1)
            yield out


def _tagged(messages):
    for record, message in enumerate(messages):
        out = Transition(message.subs(1), message.subs(2))
        out.record = record
        unknown = {number for number, _, _ in message.fields} - {1, 2, 3, 4}
        mappings = [(number, value) for number, _, value in message.fields if number in (3, 4)]
        if unknown:
            out.kind, out.strange = UNKNOWN, True
            out.fail(Unsupported(f"fields {sorted(unknown)}"))
        elif len(mappings) != 1:
            out.kind = UNKNOWN if not mappings else PARTITION if mappings[0][0] == 4 else ORDERED
            out.fail(Corrupt(f"{len(mappings)} mappings"))
        if mappings and not unknown:
            _mapping(out, *mappings[0])
        yield out


def _mapping(transition, number, raw):
    message = Message(raw)
    if number == 3:
        transition.surviving = message.bytes(1)
        return
    transition.kind = PARTITION
    transition.map_id, transition.map_bytes = message.text(1), message.uint(2)
    transition.base = message.uint(3) if message.has(3) else None


def is_uuid(text):
    """Hyphenated, bare, braced or as a URN, as the reference's parser takes it."""
    try:
        uuids.UUID(text)
    except ValueError:
        return False
    return True


def _check_alone(transition):
    """What one record says of itself."""
    for side, digests in (("sources", transition.sources), ("destinations",
                                                            transition.destinations)):
        ids = [d.id for d in digests]
        if len(set(ids)) != len(ids):
            transition.fail(Corrupt(f"a fragment is twice in the {side}"))
        for digest in digests:
            if digest.id >= MOST_FRAGMENT or digest.rows >= 1 << 32:
                transition.fail(Corrupt(f"fragment {digest.id} of {digest.rows} rows"))
            if digest.deleted > digest.rows or side == "destinations" and digest.deleted:
                transition.fail(Corrupt(f"{digest.deleted} rows of {digest.id} are deleted"))
    if not transition.sources:
        transition.fail(Corrupt("no sources"))
    made = sum(d.rows for d in transition.destinations)
    if transition.kind != UNKNOWN and transition.live_rows != made:
        transition.fail(Corrupt("live rows and destinations disagree"))
    if transition.kind == PARTITION and transition.map_id is not None and \
            (not is_uuid(transition.map_id) or transition.map_bytes == 0):
        transition.fail(Corrupt(f"row map {transition.map_id!r}"))
    if transition.kind == ORDERED and transition.fault is None:
        try:
            surviving_rows(transition)
        except Corrupt as error:
            transition.fail(error)


def _contradict(transitions, text):
    for one in transitions:
        for other in transitions:
            if one is not other:
                one.fail(Corrupt(text), other)


def _check_together(transitions):
    """Each fragment is made once and consumed once, and has the same rows there."""
    made, used = {}, {}
    for transition in transitions:
        for mentions, side in ((made, transition.destinations), (used, transition.sources)):
            for digest in side:
                mentions.setdefault(digest.id, []).append((transition, digest))
    for mentions, what in ((made, "made"), (used, "consumed")):
        for ident, found in mentions.items():
            _contradict([t for t, _ in found], f"{ident} is {what} twice")
    for ident, makers in made.items():
        for transition, digest in used.get(ident, []):
            for maker, before in makers:
                if before.rows != digest.rows:
                    _contradict([maker, transition], f"{ident} has other rows")


def _in_lineage_order(transitions):
    """What makes a fragment comes before what consumes it, else as stored; then what is left over.

    Records that lie on a cycle get a fault, those behind one don't.
    """
    makers = {}
    for at, transition in enumerate(transitions):
        for digest in transition.destinations:
            makers.setdefault(digest.id, set()).add(at)
    before = [set().union(*(makers.get(d.id, set()) for d in t.sources)) for t in transitions]
    behind = [[] for _ in transitions]
    for at, needed in enumerate(before):
        for maker in needed:
            behind[maker].append(at)
    missing = [len(needed) for needed in before]
    queue, order = deque(at for at, count in enumerate(missing) if count == 0), []
    while queue:
        at = queue.popleft()
        order.append(at)
        for user in behind[at]:
            missing[user] -= 1
            if missing[user] == 0:
                queue.append(user)
    left = sorted(set(range(len(transitions))) - set(order))
    reach = {at: _reach(behind, at) for at in left}
    for at in left:
        if at in reach[at]:
            for other in sorted(reach[at] & set(left) - {at}):
                if at in reach[other]:
                    transitions[at].fail(Corrupt("a cycle"), transitions[other])
            transitions[at].fail(Corrupt("a cycle of its own"))
    return [transitions[at] for at in order + left]


def _reach(behind, start):
    reached, todo = set(), list(behind[start])
    while todo:
        here = todo.pop()
        if here not in reached:
            reached.add(here)
            todo += behind[here]
    return reached


# ---- where rows went ----------------------------------------------------------------------

@functools.lru_cache(maxsize=256)
def treemap(raw):
    """{high 32 bits: ascending low ones} of a 64-bit Roaring bitmap, all of `raw`."""
    if len(raw) < 8:
        raise Corrupt("treemap cut short")
    count, at, out, last = struct.unpack_from("<Q", raw)[0], 8, {}, -1
    if count > len(raw) // 12:
        raise Corrupt(f"{count} bitmaps in {len(raw)} bytes")
    for _ in range(count):
        if at + 4 > len(raw):
            raise Corrupt("treemap cut short")
        key = struct.unpack_from("<I", raw, at)[0]
        if key <= last:
            raise Corrupt("treemap keys out of order")
        offsets, size = sequences.roaring_prefix(raw[at + 4:])
        out[key] = np.array(offsets, np.uint64)
        at, last = at + 4 + size, key
    if at != len(raw):
        raise Corrupt("bytes behind the treemap")
    return out


def surviving_rows(transition):
    """(source, its surviving offsets) in the order of the source list."""
    stored = treemap(transition.surviving)
    if set(stored) - {s.id for s in transition.sources}:
        raise Corrupt("survivors of a fragment that is no source")
    out = []
    for source in transition.sources:
        offsets = stored.get(source.id, EMPTY)
        if len(offsets) != source.rows - source.deleted or \
                len(offsets) and int(offsets[-1]) >= source.rows:
            raise Corrupt(f"survivors of {source.id}")
        out.append((source, offsets))
    return out


class RowMap:
    """The file of a stable partition: labels, and the counts before the end of each block.

    `fault` is what is wrong with it; what could be read all the same is not None.
    """

    def __init__(self, path, transition):
        self.fault = self.labels = self.counts = None
        try:
            size = path.stat().st_size
            if size != transition.map_bytes:
                raise Corrupt(f"{size} bytes, {transition.map_bytes} recorded")
            self._load(path, transition)
        except (FileNotFoundError, Corrupt, Unsupported) as error:
            self.fault = error
        except BaseException as error:  # a panic of the library is a BaseException
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            self.fault = Corrupt(f"{path.name}: {error}")

    def _load(self, path, transition):
        reader = LanceFileReader(str(path))
        schema = reader.metadata().schema
        if len(schema) != 1 or schema[0].name != "label" or str(schema[0].type) != "uint16" or \
                not schema[0].nullable:
            raise Corrupt(f"columns {schema}")
        where = (schema.metadata or {}).get(COUNTS_KEY, b"")
        if not re.fullmatch(rb"\d+", where):
            raise Corrupt("no counts")
        self._counts(bytes(reader.read_global_buffer(int(where))), transition)
        if reader.num_rows() != self.rows:
            raise Corrupt(f"{reader.num_rows()} labels of {self.rows} rows")
        column = reader.read_all().to_table().column(0).combine_chunks()
        self.nulls = np.asarray(column.is_null())
        self.labels = np.asarray(column.fill_null(NO_LABEL))
        self._conserved()

    def _counts(self, raw, transition):
        if len(raw) < COUNTS_HEAD.size:
            raise Corrupt("counts cut short")
        magic, version, form, self.width, self.block_rows, self.rows = COUNTS_HEAD.unpack_from(raw)
        if magic == b"LSPC" and (version, form) != (1, 0):
            raise Unsupported(f"version {version} of the counts, {form}")
        if magic != b"LSPC" or self.block_rows == 0 or \
                not 0 < self.width <= 65535 or self.rows != transition.source_rows or \
                self.width != len(transition.destinations):
            raise Corrupt("the head of the counts")
        self.blocks = -(-self.rows // self.block_rows)
        if len(raw) != COUNTS_HEAD.size + 4 * self.blocks * self.width:
            raise Corrupt("length of the counts")
        cells = np.frombuffer(raw, "<u4", offset=COUNTS_HEAD.size)
        self.counts = cells.reshape(self.blocks, self.width).astype(np.int64)
        if (np.diff(self.counts, axis=0) < 0).any():
            raise Corrupt("counts that fall")
        last = self.counts[-1].tolist() if self.blocks else [0] * self.width
        if last != [d.rows for d in transition.destinations]:
            raise Corrupt("the last counts are not the rows of the destinations")

    def _conserved(self):
        """Labels say what the counts of their block say."""
        if (self.labels[~self.nulls] >= self.width).any():
            raise Corrupt("a label beyond the destinations")
        for block in range(self.blocks):
            part = slice(0, (block + 1) * self.block_rows)
            found = np.bincount(self.labels[part][~self.nulls[part]], minlength=self.width)
            if found.tolist() != self.counts[block].tolist():
                raise Corrupt(f"the counts of block {block}")


def _addresses(digest):
    return np.arange(digest.rows, dtype=np.uint64) + np.uint64(digest.id << 32)


class History:
    """The history of a version; Corrupt, Unsupported or OSError when there is none to be had."""

    def __init__(self, facts):
        self.facts = facts
        entries = [(s, m) for s, m in zip(facts.segments, _entries(facts)) if s.name == NAME]
        if len(entries) != 1:
            raise Corrupt(f"{len(entries)} entries")
        self.entry, message = entries[0]
        self.index_version = self.entry.index_version
        details = message.sub(6)
        if details is None or not details.text(1).endswith(TYPE) or \
                details.text(1) not in (TYPE, "/" + TYPE):
            raise Corrupt("type of the details")
        self._find(Message(details.bytes(2)))
        if self.index_version not in (0, 1):
            raise Unsupported(f"index_version {self.index_version}")
        self._parse()

    def _find(self, details):
        if [n for n, _, _ in details.fields] not in ([1], [2]):
            raise Corrupt("not one content")
        self.external = details.has(2)
        if not self.external:
            self.details_path, self.content = None, details.bytes(1)
            return
        place = details.sub(2)
        self.details_path = place.text(1)
        if ".." in self.details_path.split("/") or self.details_path.startswith("/"):
            raise Corrupt("hostile path")
        home = self.facts.backing(self.entry.base, f"_indices/{self.entry.uuid}")
        raw = (home / self.details_path).read_bytes()
        offset, size = place.uint(2), place.uint(3)
        if offset + size > len(raw):
            raise Corrupt("the details are cut")
        self.content = raw[offset:offset + size]

    def _parse(self):
        content = Message(self.content)
        versions, tagged = content.subs(1), content.subs(2)
        self.legacy_versions, self.tagged_transitions = len(versions), len(tagged)
        stored = [*_legacy(versions), *_tagged(tagged)]
        for transition in stored:
            if not transition.legacy and self.index_version == 0:
                transition.fail(Corrupt("a transition under index version 0"))
            _check_alone(transition)
        _check_together(stored)
        self.transitions = _in_lineage_order(stored)
        self.interpretable = {n for n, _, _ in content.fields} <= {1, 2} and \
            not any(t.strange for t in stored)
        self.users = {}
        for at, transition in enumerate(self.transitions):
            for place, source in enumerate(transition.sources):
                self.users.setdefault(source.id, (at, place))
        self._live = {f.id: f.rows for f in self.facts.fragments}

    # ---- one transition, by its number in lineage order -----------------------------------

    def map_file(self, number):
        transition = self.transitions[number]
        if transition.base is not None and transition.base not in self.facts.bases:
            raise Corrupt(f"no base {transition.base}")
        return self.facts.backing(transition.base, transition.map_path)

    @functools.cache
    def row_map(self, number):
        return RowMap(self.map_file(number), self.transitions[number])

    @functools.cache
    def fault(self, number):
        """What is wrong with a transition, its row map included, or None."""
        try:
            self.mapping(number)
        except (Corrupt, OSError, Unsupported) as error:
            return error
        return None

    def survivors(self, number):
        """The address of every surviving source row, in the order that they were written in."""
        return np.concatenate([offsets + np.uint64(source.id << 32) for source, offsets
                               in surviving_rows(self.transitions[number])])

    @functools.cache
    def mapping(self, number):
        """The new address of every source row, or NO_ROW; an exception when it can't be had."""
        transition = self.transitions[number]
        if transition.fault is not None:
            raise transition.fault
        out = np.full(transition.source_rows, NO_ROW, np.uint64)
        if transition.kind == PARTITION:
            rows = self.row_map(number)
            if rows.fault is not None:
                raise rows.fault
            for label, destination in enumerate(transition.destinations):
                out[(rows.labels == label) & ~rows.nulls] = _addresses(destination)
            return out
        kept = [offsets + start for start, (_, offsets)
                in zip(transition.starts(), surviving_rows(transition))]
        written = [_addresses(d) for d in transition.destinations]
        out[np.concatenate(kept).astype(np.int64)] = np.concatenate([EMPTY, *written])
        return out

    # ---- the whole way --------------------------------------------------------------------

    def translate(self, address):
        """("current", address), ("deleted", None), ("unknown", None) or ("failed", None)."""
        return self.translate_all([address])[0]

    def translate_all(self, addresses):
        here = np.array(addresses, np.uint64)
        fates, todo = np.zeros(len(here), np.uint8), np.arange(len(here))
        while len(todo):
            fragments = here[todo] >> np.uint64(32)
            todo = np.concatenate([self._follow(int(f), todo[fragments == f], here, fates)
                                   for f in np.unique(fragments)])
        return [(FATES[fate], address if fate == 0 else None)
                for fate, address in zip(fates.tolist(), here.tolist())]

    def _follow(self, fragment, which, here, fates):
        """One hop of some addresses of one fragment; returns those that are on their way still."""
        offsets = here[which] & np.uint64(0xFFFFFFFF)
        if fragment in self._live:
            fates[which[offsets >= self._live[fragment]]] = FATES.index("unknown")
            return which[:0]
        number, place = self.users.get(fragment, (None, None))
        if number is None or isinstance(self.transitions[number].fault, Unsupported):
            fates[which] = FATES.index("unknown")
            return which[:0]
        transition = self.transitions[number]
        if transition.fault is None:
            beyond = offsets >= transition.sources[place].rows
            fates[which[beyond]] = FATES.index("unknown")
            which, offsets = which[~beyond], offsets[~beyond]
        if self.fault(number) is not None:
            fates[which] = FATES.index("failed")
            return which[:0]
        rows = (offsets + transition.starts()[place]).astype(np.int64)
        here[which] = self.mapping(number)[rows]
        gone = here[which] == np.uint64(NO_ROW)
        fates[which[gone]] = FATES.index("deleted")
        return which[~gone]

    def fragments(self):
        """{id: rows} of every fragment that the history or the version knows."""
        out = {}
        for transition in self.transitions:
            out |= {d.id: d.rows for d in [*transition.sources, *transition.destinations]}
        return out | self._live


def _entries(facts):
    return Message(facts._file.section("index")).subs(1)


def has_history(facts):
    return any(s.name == NAME for s in facts.segments)


@functools.lru_cache(maxsize=256)
def of(facts):
    return History(facts)
