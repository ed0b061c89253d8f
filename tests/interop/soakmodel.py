"""What a dataset must hold after soak.py, by the transactions that its versions store.

States are replayed one transaction after the other, without a look at how a commit is made by
anybody. Each is then held against the manifest of its version, and against what the writer of the
version wanted: the rows, keys and versions of its log. Facts: manifest, transactions, row lineage.
"""
from pathlib import Path

import facts
import sequences
import soakwriter
from wire import ManifestFile, Message

NUMBERS = {name: number for number, name in facts.OPERATIONS.items()}
KINDS = {"append": "Append", "delete": "Delete", "update": "Update", "set": "UpdateConfig",
         "unset": "UpdateConfig", "restore": "Restore"}
MAPS = {"config": (16, 6), "metadata": (19, 7), "schema_metadata": (5, 8)}
LINEAGE = ("row_ids", "created_at", "last_updated_at")


class Wrong(Exception):
    """A version that is not as it must be."""


def need(condition, text):
    if not condition:
        raise Wrong(text)


class Stored:
    """A version as its manifest has it; fragments stay bytes until somebody looks."""

    def __init__(self, root, number, path):
        self.root, self.number = Path(root), number
        file = ManifestFile(path.read_bytes())
        message = file.message
        self.version, self.reader_flags = message.uint(3), message.uint(9)
        self.next_row_id, self.max_fragment = message.uint(14), message.uint(11)
        self.maps = {name: message.map(field) for name, (field, _) in MAPS.items()}
        self.fragments = message.raws(2)
        raw = file.section("transaction")
        if raw is None:
            raw = (self.root / "_transactions" / message.text(12)).read_bytes()
        self.transaction = facts.Transaction(raw)
        self.operation = Message(raw).sub(NUMBERS[self.transaction.operation])

    def backing(self, base, path):
        need(base is None, f"{path} is in base {base}")
        return self.root / path


class Rows:
    """The rows of a fragment; never changed, so that states share them.

    A row is (row id, created at, last updated at, id, value).
    """

    def __init__(self, ident, rows, deleted=frozenset()):
        self.ident, self.rows, self.deleted = ident, rows, deleted

    def live(self):
        """{offset: row}"""
        return {o: row for o, row in enumerate(self.rows) if o not in self.deleted}


class State:
    def __init__(self, fragments, maps, next_row_id, max_fragment):
        self.fragments, self.maps = fragments, maps
        self.next_row_id, self.max_fragment = next_row_id, max_fragment

    def changed(self, **new):
        return State(**(self.__dict__ | new))

    def live(self):
        """{(fragment, offset): row}, in the order of a scan."""
        return {(f.ident, o): row for f in self.fragments.values() for o, row in f.live().items()}


def pairs(message, number):
    return [(m.text(1), m.text(2) if m.has(2) else None) for m in message.subs(number)]


class Model:
    """Replays the versions of a dataset in order; `wanted` has a line of a log for each of them."""

    def __init__(self, root, stable, ids):
        self.root, self.stable, self.states, self.seen = Path(root), stable, {}, set()
        self.manifests = facts.manifests(root)
        rows = [(i, 1, 1, i, i * 10) for i in ids]
        first = self.stored(1)
        fragments, at = {}, 0
        for raw in first.fragments:
            fragment = facts.Fragment(first, Message(raw))
            fragments[fragment.id] = self.place(fragment.id, rows[at:at + fragment.rows])
            at += fragment.rows
        need(at == len(rows), f"{at} rows at first")
        self.states[1] = State(fragments, dict(first.maps), len(rows) if stable else 0,
                               max(fragments))
        self.compare(first, self.states[1])

    def stored(self, number):
        return Stored(self.root, number, self.manifests[number])

    def place(self, ident, rows):
        """Without stable row ids a row's id is where it is, and it has no versions."""
        if not self.stable:
            rows = [((ident << 32) + o, None, None, *row[3:]) for o, row in enumerate(rows)]
        return Rows(ident, rows)

    def replay(self, wanted):
        """All versions; {version: line} has one for each but the first."""
        newest = max(self.manifests)
        need(list(self.manifests) == list(range(1, newest + 1)),
             f"versions are not contiguous: {list(self.manifests)}")
        uuids = {}
        for number in range(2, newest + 1):
            stored = self.stored(number)
            uuid = stored.transaction.uuid
            need(uuid not in uuids, f"version {number} has the transaction of {uuids.get(uuid)}")
            uuids[uuid] = number
            need(number in wanted, f"version {number} is nobody's: {stored.transaction.operation}")
            try:
                self.step(stored, wanted[number])
            except Wrong as error:
                raise Wrong(f"version {number} of {wanted[number]}: {error}") from error
        strange = {n: line["name"] for n, line in wanted.items() if n not in self.manifests}
        need(not strange, f"acknowledged and not there: {strange}")
        return self.states[newest]

    def step(self, stored, line):
        number, before = stored.number, self.states[stored.number - 1]
        operation, transaction = stored.operation, stored.transaction
        need(stored.version == number, f"the manifest says {stored.version}")
        need(transaction.operation == KINDS[line["kind"]], f"operation {transaction.operation}")
        need(transaction.read_version < number, f"read version {transaction.read_version}")
        need(transaction.uuid == line.get("uuid", transaction.uuid), f"uuid {transaction.uuid}")
        if line["by"] == "mount":
            name = transaction.properties.get("__lance_commit_message")
            need(name == line["name"], f"the message is {name}")
        after = getattr(self, line["kind"])(number, before, operation, line["wanted"])
        if "unchanged" in line["wanted"]:
            ident, read = line["wanted"]["unchanged"], line["wanted"]["since"]
            need(self.states[read].fragments.get(ident) is before.fragments.get(ident),
                 f"fragment {ident} is not as in version {read}")
        self.states[number] = after
        self.compare(stored, after)

    # ---- operations: what the transaction does, and whether it is what was wanted ---------------

    def added(self, number, state, fragments, rows):
        """New fragments behind the others; `rows` have no ids and versions yet, or all of them."""
        new, at, ident = dict(state.fragments), 0, state.max_fragment
        for count in (m.uint(4) for m in fragments):
            ident += 1
            new[ident] = self.place(ident, rows[at:at + count])
            at += count
        need(at == len(rows), f"{at} new rows instead of {len(rows)}")
        return state.changed(fragments=new, max_fragment=ident)

    def append(self, number, before, operation, wanted):
        first = before.next_row_id
        rows = [(first + at, number, number, i, i * 10) for at, i in enumerate(wanted["ids"])]
        after = self.added(number, before, operation.subs(1), rows)
        return after.changed(next_row_id=first + len(rows)) if self.stable else after

    def marked(self, before, images, gone):
        """(state, what was live and is not) with the deletion files of the transaction.

        The reference names a fragment in both lists that another delete has taken the rest of.
        """
        fragments = dict(before.fragments)
        for message in images:
            image = facts.Fragment(self, message)
            need(image.id in fragments, f"there is no fragment {image.id}")
            old = fragments[image.id]
            deleted = frozenset(image.deleted_offsets())
            need(image.rows == len(old.rows) and image.deleted == len(deleted),
                 f"fragment {image.id} has {image.rows} rows, {image.deleted} of them deleted")
            need(deleted >= old.deleted or image.id in gone,
                 f"rows of fragment {image.id} are back")
            if deleted != old.deleted:
                fragments[image.id] = Rows(old.ident, old.rows, deleted)
        for ident in gone:
            need(fragments.pop(ident, None) is not None, f"there is no fragment {ident}")
        after = before.changed(fragments=fragments)
        left = after.live()
        return after, {place: row for place, row in before.live().items() if place not in left}

    def backing(self, base, path):
        need(base is None, f"{path} is in base {base}")
        return self.root / path

    def delete(self, number, before, operation, wanted):
        gone = operation.ints(2)
        after, rows = self.marked(before, operation.subs(1), gone)
        if "addresses" in wanted:
            due = {tuple(a) for a in wanted["addresses"]} & set(before.live())
            need(set(rows) == due, f"deleted {sorted(rows)} instead of {sorted(due)}")
            return after
        column, key = (0, "row_ids") if "row_ids" in wanted else (3, "ids")
        need(due_rows(before, column, wanted[key]) == rows, f"deleted {rows}")
        return after

    def update(self, number, before, operation, wanted):
        after, rows = self.marked(before, operation.subs(2), operation.ints(1))
        need(due_rows(before, 3, wanted["ids"]) == rows, f"updated {rows}")
        moved = list(rows.values())
        if self.stable:
            by_id = {row[0]: row for row in moved}
            order = [i for m in operation.subs(3)
                     for i in sequences.row_ids(m.bytes(5), m.uint(4))]
            need(sorted(order) == sorted(by_id), f"row ids {order} of {sorted(by_id)}")
            moved = [by_id[i] for i in order]
        new = [(i, created, number, ident, wanted["value"]) for i, created, _, ident, _ in moved]
        return self.added(number, after, operation.subs(3), new)

    def set(self, number, before, operation, wanted):
        maps, told = dict(before.maps), []
        for name, (_, field) in MAPS.items():
            change = operation.sub(field)
            if change is None:
                continue
            need(not change.uint(2), "the map is replaced")
            told += [(name, key, value) for key, value in pairs(change, 1)]
            new = dict(maps[name]) | {k: v for _, k, v in told if v is not None}
            maps[name] = {k: v for k, v in new.items() if (name, k, None) not in told}
        old = [("config", key, value) for key, value in pairs(operation, 1)] + \
            [("config", key.decode(), None) for key in operation.raws(2)]
        need(not old, f"an old form: {old}")
        need(told == [(wanted["map"], wanted["key"], wanted["value"])], f"changes {told}")
        return before.changed(maps=maps)

    unset = set

    def restore(self, number, before, operation, wanted):
        need(operation.uint(1) == wanted["version"], f"restores {operation.uint(1)}")
        return self.states[wanted["version"]].changed(
            next_row_id=before.next_row_id, max_fragment=before.max_fragment)

    # ---- what is stored -------------------------------------------------------------------------

    def compare(self, stored, state):
        need((stored.next_row_id, stored.max_fragment) == (state.next_row_id, state.max_fragment),
             f"counters {(stored.next_row_id, stored.max_fragment)} instead of "
             f"{(state.next_row_id, state.max_fragment)}")
        need(stored.maps == state.maps, f"{stored.maps} instead of {state.maps}")
        need(len(stored.fragments) == len(state.fragments), f"{len(stored.fragments)} fragments")
        for raw, rows in zip(stored.fragments, state.fragments.values()):
            if (raw, id(rows)) not in self.seen:
                self.compare_fragment(facts.Fragment(stored, Message(raw)), rows)
                self.seen.add((raw, id(rows)))

    def compare_fragment(self, fragment, rows):
        need((fragment.id, fragment.rows) == (rows.ident, len(rows.rows)),
             f"fragment {fragment.id} of {fragment.rows} rows instead of {rows.ident}")
        need(frozenset(fragment.deleted_offsets()) == rows.deleted,
             f"fragment {fragment.id}: {fragment.deleted_offsets()} are deleted")
        for at, what in enumerate(LINEAGE if self.stable else ()):
            due = [row[at] for row in rows.rows]
            need(fragment.lineage(what) == due, f"fragment {fragment.id}: {what} is "
                 f"{fragment.lineage(what)} instead of {due}")

    def scan(self, number):
        """The rows of a version as pylance gives them, as dicts."""
        names = ("_rowid", *(("_row_created_at_version", "_row_last_updated_at_version")
                             if self.stable else ()), "id", "value")
        out = []
        for place, row in self.states[number].live().items():
            values = row if self.stable else (row[0], *row[3:])
            out.append(dict(zip(names, values)) | {
                "name": soakwriter.name_of(row[3]), "_rowaddr": (place[0] << 32) + place[1]})
        return out


def due_rows(state, column, values):
    return {place: row for place, row in state.live().items() if row[column] in set(values)}
