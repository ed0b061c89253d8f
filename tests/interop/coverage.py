"""What each index of a version answers for, decided once more.

Every fragment that is answered for carries the (segment, stored id) pairs that it owes this to, so
that nothing is found by marking as the programs under test do. test_index_coverage.py holds this
model against the Rust reference's bitmaps and pylance's own. Format facts: coverage seen by
readers, v0 writer contract, trim.
"""
import functools

import reuse
from wire import Corrupt

KINDS = ("BTree", "Bitmap", "LabelList", "NGram", "ZoneMap", "BloomFilter", "RTree")


class Coverage:
    """Of one index. Segments are numbered as stored; `None` is all of them.

    What is wrong with the history is raised.
    """

    def __init__(self, facts, name):
        self.segments = [s for s in facts.segments if s.name == name]
        self.live = {f.id for f in facts.fragments}
        self.unknown = any(s.bitmap is None for s in self.segments)
        self.owed = {}
        if name.startswith("__lance_") or not reuse.has_history(facts):
            self._direct()
            return
        history = reuse.of(facts)
        transitions = [t for t in history.transitions if t.legacy or history.index_version]
        for transition in transitions:
            if isinstance(transition.fault, Corrupt):
                raise transition.fault
        if not history.interpretable:
            return
        if history.index_version == 0:
            self._legacy(sorted(transitions, key=lambda t: (t.record, t.group)))
        else:
            self._tagged(transitions)

    def covered(self, segment=None):
        return sorted(f for f, owed in self.owed.items()
                      if segment is None or any(s == segment for s, _ in owed))

    def unindexed(self, segment=None):
        return sorted(self.live - set(self.covered(segment)))

    def retired(self, segment=None):
        return sorted({stored for owed in self.owed.values() for s, stored in owed
                       if stored not in self.live and segment in (None, s)})

    def _named(self, number):
        return set(self.segments[number].bitmap or [])

    def _keep(self, owed):
        for fragment, pairs in owed.items():
            if fragment in self.live and pairs:
                self.owed[fragment] = self.owed.get(fragment, set()) | pairs

    def _direct(self):
        for number in range(len(self.segments)):
            self._keep({f: {(number, f)} for f in self._named(number)})

    def _legacy(self, groups):
        for number in range(len(self.segments)):
            held = {f: {(number, f)} for f in self._named(number)}
            for group in groups:
                taken = [held.pop(d.id, None) for d in group.sources]
                if None not in taken:
                    for digest in group.destinations:
                        held[digest.id] = held.get(digest.id, set()).union(*taken)
            self._keep(held)

    def _tagged(self, transitions):
        makers = {d.id: t for t in transitions for d in t.destinations}
        mentioned = set(makers) | {d.id for t in transitions for d in t.sources}
        direct = {}
        for number, segment in enumerate(self.segments):
            named = self._named(number)
            if translates(segment) or not named - self.live and not named & mentioned:
                for fragment in named:
                    direct.setdefault(fragment, set()).add((number, fragment))

        @functools.cache
        def owed(fragment):
            if fragment in direct:
                return frozenset(direct[fragment])
            maker = makers.get(fragment)
            parts = [owed(d.id) for d in maker.sources] if maker is not None else []
            return frozenset().union(*parts) if parts and all(parts) else frozenset()
        self._keep({f: owed(f) for f in self.live})


def translates(segment):
    kind = (segment.type_url or "").rpartition(".")[2].removesuffix("IndexDetails")
    if kind == "Inverted":
        return not segment.files or "metadata.lance" in segment.files
    if kind == "Vector":
        return not segment.files or {"index.idx", "auxiliary.idx"} <= set(segment.files)
    return kind in KINDS


# ---- which transitions are needed ---------------------------------------------------------

def needs(facts):
    """{(transition, index name): downstream only} of what may not be dropped."""
    history, out = reuse.of(facts), {}
    names = {s.name for s in facts.segments if not s.name.startswith("__lance_")}
    for name in sorted(names):
        segments = [s for s in facts.segments if s.name == name and s.bitmap is not None]
        needed = {n for n in range(len(history.transitions))
                  if _is_needed(history, n, segments, {f.id for f in facts.fragments})}
        units = {_unit(history, n) for n in needed}
        for number in range(len(history.transitions)):
            if _unit(history, number) in units:
                out[number, name] = False
        todo = [n for n, other in out if other == name]
        while todo:
            for after in _consumers(history, todo.pop()):
                for number in range(len(history.transitions)):
                    same = _unit(history, number) == _unit(history, after)
                    if same and (number, name) not in out:
                        out[number, name] = True
                        todo.append(number)
    return out


def _unit(history, number):
    """Legacy versions are kept or dropped whole."""
    transition = history.transitions[number]
    return number if history.index_version else ("version", transition.record)


def _consumers(history, number):
    made = {d.id for d in history.transitions[number].destinations}
    return [n for n, t in enumerate(history.transitions) if made & {d.id for d in t.sources}]


def _leads_to(history, number):
    """The fragments that it made and all that were made of them."""
    out, todo = set(), [number]
    while todo:
        here = todo.pop()
        out |= {d.id for d in history.transitions[here].destinations}
        todo += _consumers(history, here)
    return out


def _is_needed(history, number, segments, live):
    transition = history.transitions[number]
    sources = {d.id for d in transition.sources}
    named = any(sources & set(s.bitmap) for s in segments)
    if transition.legacy:
        after = _leads_to(history, number)
        if any(after & set(s.bitmap) and s.dataset_version <= transition.dataset_version
               for s in segments):
            return True
    if not history.index_version:
        return named
    mentioned = {d.id for t in history.transitions for d in [*t.sources, *t.destinations]}
    usable = [s for s in segments if translates(s)
              or not set(s.bitmap) - live and not set(s.bitmap) & mentioned]
    direct = set().union(*(s.bitmap for s in usable))
    return named and any(d.id not in direct for d in transition.destinations)
