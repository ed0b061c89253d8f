"""What the rows are after the operations of pairops, computed without any file.

A row has values by field id, and its lineage: row id, and the versions that made and last changed
it. Where it lies is not followed: an operation names rows by their ids, and the fragment of an id
is where version 4 has it.
"""
import pairops

COLUMNS = {0: "id", 1: "value", 2: "name", 3: "extra"}


class Row:
    def __init__(self, ident, add, row_id, version):
        self.values = {0: ident, 1: ident * 10 + add, 2: f"n{ident}", 3: ident % 5}
        self.row_id, self.created, self.updated = row_id, version, version
        self.overlaid = False


class Table:
    """Of version 4, or of an earlier one."""

    def __init__(self, version=pairops.READ):
        self.columns, self.next_row_id = dict(COLUMNS), 0
        self.rows = {}
        self.add(range(20), 0, 1)
        if version > 1:
            self.add(range(20, 40), 0, 2)

    def add(self, ids, add, version):
        for ident in ids:
            self.rows[ident] = Row(ident, add, self.next_row_id, version)
            self.next_row_id += 1

    def change(self, ids, version, field, value):
        """`value`: a function of the row's id."""
        for ident in set(ids) & set(self.rows):
            row = self.rows[ident]
            row.values[field] = value(ident)
            row.updated = version

    def column(self, field, name, value, version):
        self.columns[field] = name
        self.change(self.rows, version, field, value)

    def table(self):
        """[{column: value}] by id."""
        return [{name: row.values.get(field) for field, name in self.columns.items()}
                for _, row in sorted(self.rows.items())]

    def lineage(self):
        return [(ident, row.row_id, row.created, row.updated)
                for ident, row in sorted(self.rows.items())]


def append(first, count=3):
    return lambda t, v: t.add(range(first, first + count), 0, v)


def delete(*ids):
    def effect(t, _):
        for ident in ids:
            t.rows.pop(ident, None)
    return effect


def update(*ids):
    return lambda t, v: t.change(ids, v, 1, lambda i: i * 10 + 1)


def upsert(old, new):
    def effect(t, v):
        t.change([old], v, 1, lambda i: i * 10 + 5)
        t.add([new], 5, v)
    return effect


def overwrite(t, v):
    t.rows, t.columns = {}, dict(COLUMNS)
    t.add(range(70, 75), 7, v)


def update_column(column, *ids):
    if column == "name":
        return lambda t, v: t.change(ids, v, 2, lambda i: f"m{i}")
    return lambda t, v: t.change(ids, v, 1, lambda i: i * 10 + 2)


def replace(*fragments, column="value"):
    def effect(t, v):
        for ident in list(t.rows):
            if ident // 10 not in fragments:
                continue
            row = t.rows[ident]
            row.updated = v
            if column == "name":
                row.values[2] = f"r{ident}"
            elif not row.overlaid:  # by an overlay that came after what the replacement read
                row.values[1] = ident * 10 + 3
    return effect


def overlay(fragment, *offsets):
    def effect(t, v):
        ids = [fragment * 10 + o for o in offsets]
        t.change(ids, v, 1, lambda i: i * 10 + 4)
        for ident in set(ids) & set(t.rows):
            t.rows[ident].overlaid = True
    return effect


def merge(name):
    """Computed from version 4."""
    return lambda t, v: t.column(4, name, lambda i: i * 20, v)


def retype(t, v):
    """A column of another type is a field of its own."""
    t.columns = {(4 if f == 1 else f): name for f, name in t.columns.items()}
    t.change(t.rows, v, 4, lambda i: i * 10)


def drop(field):
    return lambda t, _: t.columns.pop(field)


def rename(field, name):
    return lambda t, _: t.columns.update({field: name})


def restore(t, _):
    old = Table(pairops.RESTORED)
    t.rows, t.columns = old.rows, old.columns


def nothing(_table, _version):
    pass


EFFECTS = {
    "append": append(100), "append2": append(200, 2),
    "del_f0": delete(4, 5), "del_f0x": delete(8, 9), "del_f0y": delete(5, 6),
    "del_f0whole": delete(*range(10)), "del_f0lo": delete(*range(5)),
    "del_f0hi": delete(*range(5, 10)), "del_f1": delete(17), "del_f2whole": delete(*range(20, 30)),
    "del_f3": delete(33),
    "upd_f0": update(4, 5), "upd_f0x": update(8, 9), "upd_f0y": update(5, 6),
    "upd_f0whole": update(*range(10)), "upd_f0lo": update(*range(5)),
    "upd_f0hi": update(*range(5, 10)), "upd_f1": update(17, 18),
    "upd_f2": update(21, 24), "upd_f2whole": update(*range(20, 30)),
    "ups_1_300": upsert(1, 300), "ups_4_300": upsert(4, 300),
    "ups_1_301": upsert(11, 301), "ups_x_300": upsert(11, 300),
    "ovw": overwrite, "ovw_k0": overwrite,
    "updcol_f0v": update_column("value", 4, 5), "updcol_f0n": update_column("name", 4, 5),
    "updcol_f2v": update_column("value", 21, 24),
    "updcol_f0all": update_column("value", *range(10)),
    "dr_f0v": replace(0), "dr_f0n": replace(0, column="name"), "dr_f2v": replace(2),
    "ov_f0v": overlay(0, 4, 5), "ov_f0vx": overlay(0, 8, 9), "ov_f2v": overlay(2, 1, 2),
    "merge": merge("m1"), "merge_np": merge("m2"), "retype": retype,
    "proj_extra": drop(3), "proj_value": drop(1), "proj_name": drop(2),
    "proj_rename": rename(3, "other"), "restore": restore,
}
# Offsets of fragments that an operation takes out of them.
TAKEN = {
    "del_f0": {0: {4, 5}}, "del_f0x": {0: {8, 9}}, "del_f0y": {0: {5, 6}},
    "del_f0whole": {0: set(range(10))}, "del_f0lo": {0: set(range(5))},
    "del_f0hi": {0: set(range(5, 10))}, "del_f1": {1: {7}}, "del_f2whole": {2: set(range(10))},
    "del_f3": {3: {3}},
    "upd_f0": {0: {4, 5}}, "upd_f0x": {0: {8, 9}}, "upd_f0y": {0: {5, 6}},
    "upd_f0whole": {0: set(range(10))}, "upd_f0lo": {0: set(range(5))},
    "upd_f0hi": {0: set(range(5, 10))}, "upd_f1": {1: {7, 8}},
    "upd_f2": {2: {1, 4}}, "upd_f2whole": {2: set(range(10))},
    "ups_1_300": {0: {1}}, "ups_4_300": {0: {4}}, "ups_1_301": {1: {1}}, "ups_x_300": {1: {1}},
}


def after(*steps):
    """The table after (key, version that it made) on version 4."""
    table = Table()
    for key, version in steps:
        EFFECTS.get(key, nothing)(table, version)
    return table


def merged(first, second):
    """(fragments whose deletion vectors have both, those of which nothing is left)."""
    one, two = TAKEN.get(first, {}), TAKEN.get(second, {})
    both = set(one) & set(two)
    whole = {f for f in both if len(one[f] | two[f]) == 10}
    return both - whole, whole
