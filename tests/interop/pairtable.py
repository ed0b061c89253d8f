"""Pairs of operations and the verdict due to the second, from the format facts' conflict matrix.

A line is: the second operation, the letter (C compatible, R retryable, I incompatible), for a
refusal the word for its rule, and after the colon the first operations. Both read version 4. A
word @dataset after the second operation chooses the dataset, else the pairs take turns. With a !
the reference accepts the pair and loses something without a word.
"""

LINES = """
append C: append2 del_f0 del_f2whole ci_value ci_replace rw_01 rw_23 merge retype upd_f0
append C: upd_f2whole updcol_f0v proj_extra proj_rename proj_value cfg_k9 fm_1 dr_f0v ov_f0v ub_a
append C: reserve
append R nullability: merge_np proj_null proj_np
append I operation: ovw restore
append@memwal I operation: mw_6

del_f0 C: append del_f0x del_f1 del_f2whole upd_f0x upd_f2 ups_1_301 updcol_f2v ci_value ci_drop
del_f0 C: rw_23 proj_value proj_null cfg_k0 fm_1 dr_f2v ov_f0v ov_f0vx ub_a reserve
del_f0lo C: del_f0hi upd_f0hi del_f0x
del_f0whole C: append del_f2whole rw_23 dr_f2v
del_f0 R same_rows: del_f0 del_f0y upd_f0y del_f0lo ups_4_300
del_f0 R same_fragment: del_f0whole upd_f0whole updcol_f0v updcol_f0n rw_01 dr_f0v dr_f0n
del_f0whole R same_fragment: del_f0 del_f0whole upd_f0 updcol_f0v rw_01
del_f0 R operation: merge merge_np retype
del_f0 I operation: ovw restore
del_f0@memwal I operation: mw_6

ovw C: append del_f0 upd_f0 updcol_f0v ci_value rw_01 merge restore proj_extra cfg_k0 fm_1 dr_f0v
ovw C: ov_f0v ub_a reserve
ovw R overwritten: ovw
ovw@memwal I operation: mw_6
ovw_k0 C: append cfg_k9 sm_a
ovw_k0 R overwritten: ovw
ovw_k0 I config_key: cfg_k0 cfg_delk0

ci_value C: append del_f0 del_f0whole del_f2whole upd_f0 upd_f2whole updcol_f0v updcol_f0n ci_name
ci_value C: ci_replace ci_drop merge merge_np proj_extra proj_null cfg_k9 fm_1 dr_f0n ov_f0v
ci_value C: ub_a reserve
ci_value I index_field!: proj_value retype
ci_value01 C: rw_23
ci_value@indexed C: rw_01v0
ci_replace C: upd_f0 updcol_f0v dr_f0v ci_value
ci_drop@indexed C: rw_01 ci_value append
ci_value R index_name: ci_value ci_value01
ci_replace@indexed R index_name: ci_replace ci_drop
ci_drop@indexed R index_name: ci_replace
ci_value R index_field: dr_f0v
ci_name R index_field: dr_f0n
ci_value R rewritten_coverage: rw_01
ci_value01 R rewritten_coverage: rw_01 rw_all
ci_ngram@indexed R rewritten_coverage: rw_01v0 rw_01
ci_memwal R rewritten_coverage: rw_01
ci_memwal R mem_wal: merge
ci_memwal R index_name: ci_memwal
ci_value I operation: ovw restore
ci_value@memwal I mem_wal: mw_6

rw_01 C: append del_f2whole del_f3 upd_f2 upd_f2whole updcol_f2v rw_23 proj_extra proj_null cfg_k9
rw_01 C: fm_1 dr_f2v ov_f2v ub_a reserve ci_value23
rw_01@indexed C: ci_drop rw_23v0
rw_01v0@indexed C: ci_value ci_value23 append del_f3 rw_23
rw_01@memwal C: mw_6
rw_01 R same_fragment: del_f0 del_f1 del_f0whole upd_f0 upd_f0whole updcol_f0v dr_f0v ov_f0v rw_01
rw_01 R same_fragment: rw_all
rw_01 R rewritten_coverage: ci_value ci_value01 ci_memwal
rw_01v0@indexed R rewritten_coverage: ci_memwal
rw_01v0@indexed R reuse_history: rw_23v0
rw_01 R operation: merge merge_np
rw_01 I operation: ovw restore

merge C: ci_value cfg_k9 tm_t9 ub_a reserve
merge_np C: ci_value cfg_k9
merge R operation: append del_f2whole rw_01 merge upd_f2whole dr_f0v ov_f0v
merge R metadata: fm_1 sm_a
merge R mem_wal: ci_memwal
merge I operation: ovw restore proj_extra
merge_np@plain I operation: proj_np

restore C: append del_f0 ovw ci_value rw_01 merge restore upd_f0 upd_f2whole proj_extra cfg_k9
restore C: tm_t9 dr_f0v ov_f0v ub_a reserve
restore I metadata: fm_1 sm_a
restore@memwal I operation: mw_6

reserve C: append del_f0 ci_value rw_01 merge upd_f0 proj_extra cfg_k9 dr_f0v ov_f0v ub_a
reserve I operation: ovw restore
reserve@memwal C: append

upd_f0 C: append del_f0x del_f1 del_f2whole upd_f0x upd_f2 upd_f2whole updcol_f2v ci_value ci_drop
upd_f0 C: rw_23 proj_extra proj_rename cfg_k9 fm_1 dr_f2v ov_f0vx ov_f2v ub_a reserve
upd_f0lo C: del_f0hi upd_f0hi
updcol_f0v C: append del_f2whole upd_f2 updcol_f2v ci_value rw_23 proj_extra cfg_k9 dr_f2v ov_f2v
upd_f0 R same_rows: upd_f0 upd_f0y del_f0y del_f0
upd_f0 R same_fragment: del_f0whole upd_f0whole updcol_f0v updcol_f0n rw_01 dr_f0v dr_f0n
updcol_f0v R same_fragment: del_f0 upd_f0 updcol_f0n rw_01 dr_f0n del_f0whole
upd_f0 R overlaid_rows: ov_f0v
updcol_f0v R same_field: ov_f0v ov_f0vx
updcol_f0v R schema_field: proj_value
upd_f0 R nullability: proj_null proj_np
upd_f0 R operation: merge retype
upd_f0 I operation: ovw restore
upd_f0@memwal C: mw_6
ups_1_300@keyed R inserted_keys: append ups_x_300
ups_1_300@keyed C: ups_1_301 del_f2whole
upd_f2@keyed C: ups_1_300
ups_1_300@keyed R inserted_keys: upd_f2

proj_extra C: append del_f0 upd_f0 updcol_f0v ci_value ci_name rw_01 cfg_k9 fm_1 dr_f0v ov_f0v
proj_extra C: ub_a reserve
proj_null C: del_f0 ci_value rw_01
proj_extra R operation: merge merge_np proj_rename proj_extra
proj_null R nullability: append upd_f0 updcol_f0v dr_f0v ov_f0v
proj_extra I operation: ovw restore
proj_extra@memwal I operation: mw_6

cfg_k9 C: append del_f0 ovw ci_value rw_01 merge restore upd_f0 proj_extra cfg_k0 fm_1 sm_a tm_t9
cfg_k9 C: dr_f0v ov_f0v ub_a reserve
cfg_k9@memwal C: mw_6
cfg_delk0 C: cfg_delk0
fm_1 C: fm_2 sm_a cfg_k0 append
tm_t9 C: tm_t0 cfg_k9 sm_a
cfg_replace C: fm_1
cfg_k0 I config_key: ovw_k0 cfg_k0 cfg_delk0
cfg_delk0 I config_key: cfg_k0 ovw_k0
fm_1 I metadata: ovw restore fm_1b
sm_a I metadata: ovw restore sm_b
fm_1 R metadata: merge
sm_a R metadata: merge
tm_t9 I metadata: tm_replace
tm_t0 I metadata: tm_t0

dr_f0v C: append del_f0 del_f2whole upd_f2 updcol_f0n updcol_f2v ci_name rw_23 proj_extra cfg_k9
dr_f0v C: fm_1 dr_f0n dr_f2v ov_f0v ub_a reserve
dr_f0v R same_fragment: upd_f0 rw_01
dr_f0v R same_field: updcol_f0v dr_f0v
dr_f0v R index_field: ci_value
dr_f0v R nullability: proj_null proj_np
dr_f0v R operation: merge
dr_f0v I removed_fragment: del_f0whole upd_f0whole
dr_f0v I schema_field: proj_value
dr_f0v I operation: ovw restore
dr_f0v@memwal I operation: mw_6

ov_f0v C: append del_f0x del_f2whole upd_f0x upd_f2 ci_value rw_23 proj_extra cfg_k9 fm_1 dr_f0v
ov_f0v C: ov_f0v ov_f0vx ub_a reserve updcol_f0n updcol_f0v del_f0
ov_f0v R removed_fragment: del_f0whole upd_f0whole
ov_f0v R overlaid_rows: upd_f0
ov_f0v R same_fragment: rw_01
ov_f0v R nullability: proj_null proj_np
ov_f0v R operation: merge
ov_f0v I operation: ovw restore
ov_f0v@memwal I operation: mw_6

mw_6@memwal C: upd_f0 rw_01 ci_value cfg_k9 ub_a
mw_6@memwal I operation: append del_f0 ovw restore proj_extra dr_f0v ov_f0v

ub_a C: append del_f0 ovw ci_value rw_01 merge restore upd_f0 proj_extra cfg_k9 dr_f0v ov_f0v ub_b
ub_a C: reserve
ub_a@memwal C: mw_6
ub_a I base: ub_a ub_asame ub_p1same
"""
TURNS = ("stable_indexed", "plain", "indexed", "stable")
NEEDS_INDEX = {"ci_drop", "ci_replace"}


class Pair:
    def __init__(self, kind, first, second, letter, rule=""):
        self.kind, self.first, self.second = kind, first, second
        self.letter, self.rule = letter, rule.removesuffix("!")
        self.theirs = "C" if rule.endswith("!") else letter
        self.name = f"{kind}-{second}-after-{first}"


def _pairs():
    count = 0
    for line in filter(None, LINES.splitlines()):
        head, _, firsts = line.partition(":")
        second, letter, *rule = head.split()
        second, _, kind = second.partition("@")
        for first in firsts.split():
            turns = TURNS[::2] if {first, second} & NEEDS_INDEX else TURNS
            yield Pair(kind or turns[count % len(turns)], first, second, letter, *rule)
            count += 1


PAIRS = {pair.name: pair for pair in _pairs()}


# ---- the cells ------------------------------------------------------------------------------

OPERATIONS = ("Append", "Delete", "Overwrite", "CreateIndex", "Rewrite", "Merge", "Restore",
              "ReserveFragments", "Update", "Project", "UpdateConfig", "DataReplacement",
              "DataOverlay", "UpdateMemWalState", "UpdateBases")
# By second and first operation, the letters that the facts' rules can give.
CELLS = """
Append             C  C  I  C  C  CR I  C  C   CR  C  C  C  I   C
Delete             C  CR I  C  CR R  I  C  CR  C   C  CR C  I   C
Overwrite          C  C  RI C  C  C  C  C  C   C   CI C  C  I   C
CreateIndex        C  C  I  CR CR CR I  C  C   C   C  CR C  CI  C
Rewrite            C  CR I  CR CR R  I  C  CR  C   C  CR CR C   C
Merge              R  R  I  CR R  R  I  C  R   I   CR R  R  I   C
Restore            C  C  C  C  C  C  C  C  C   C   CI C  C  I   C
ReserveFragments   C  C  I  C  C  C  I  C  C   C   C  C  C  C   C
Update             CR CR I  C  CR R  I  C  CR  CR  C  CR CR CRI C
Project            CR C  I  C  C  R  I  C  CR  R   C  CR CR I   C
UpdateConfig       C  C  CI C  C  CR CI C  C   C   CI C  C  C   C
DataReplacement    C  CI I  CR CR R  I  C  CRI CRI C  CR C  I   C
DataOverlay        C  CR I  C  CR R  I  C  CR  CR  C  C  C  I   C
UpdateMemWalState  I  I  I  CRI C I  I  C  CRI I   C  I  I  CRI C
UpdateBases        C  C  C  C  C  C  C  C  C   C   C  C  C  C   CI
"""
# Those that nobody can make with pylance: test_commit_facts.py has them, from the reference's own
# engine. The same holds for Clone, which only ever makes the first version, and for operations
# that are not known; and for tagged histories and trims, whose rules are inside of these cells.
ELSEWHERE = {
    "an index of MemWAL with progress in it": {
        ("UpdateMemWalState", "CreateIndex"): "RI", ("UpdateMemWalState", "Update"): "RI",
        ("Update", "UpdateMemWalState"): "RI", ("UpdateMemWalState", "UpdateMemWalState"): "CRI"},
    "a table with MemWAL takes no new columns": {("UpdateMemWalState", "Merge"): "I",
                                                 ("Merge", "UpdateMemWalState"): "I"},
    "an Overwrite of pylance sets no keys": {("Overwrite", "Overwrite"): "I"},
    "the index of MemWAL is there before its progress": {("CreateIndex",
                                                          "UpdateMemWalState"): "C"},
}


def cells():
    """{(second, first): letters}."""
    rows = (line.split() for line in CELLS.strip().splitlines())
    return {(second, first): letters for second, *row in rows
            for first, letters in zip(OPERATIONS, row, strict=True)}
