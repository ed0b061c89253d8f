/* Inside of the conflict check: what a rule sees, and the rules.
 *
 * A rule returns LANCET_OK and leaves the verdict as it is when the two are compatible. The
 * letters are those of the conflict matrix in the format facts.
 */
#ifndef CORE_CONFLICT_RULES_H
#define CORE_CONFLICT_RULES_H

#include "reuse.h"
#include "touched.h"
#include "util/roaringx.h"

struct Lance__Table__DataFile;
struct conflict;
struct rebase;
struct rebase_index;

struct clash {
	struct rebase *rebase;
	const struct touched *ours, *theirs;
	uint64_t version; /* that theirs made */
	struct conflict *conflict;
	struct lancet_error *err;
};

typedef int conflict_rule(struct clash *clash);

/* The verdict, unless there is one. They return LANCET_OK. */
int clash_retry(struct clash *clash, const char *rule, const char *fmt, ...) LANCET_PRINTF(3, 4);
int clash_refuse(struct clash *clash, const char *rule, const char *fmt, ...) LANCET_PRINTF(3, 4);
bool clash_decided(const struct clash *clash);

/* The rule of a pair; ours is known. */
conflict_rule *conflict_rule_of(enum operation_kind ours, enum operation_kind theirs);
/* Rules that hold before the matrix and in both directions: g1, g2, g3. */
int rule_schema_changes(struct clash *clash);

/* conflict_matrix.c: C, R, I */
int rule_compatible(struct clash *clash);
int rule_retry(struct clash *clash);
int rule_refuse(struct clash *clash);
/* conflict_delete_update.c: o, d1, u1, u2 */
int rule_fragments(struct clash *clash);
int rule_deletions(struct clash *clash);
int rule_inserted_keys(struct clash *clash);
int rule_updates(struct clash *clash);
/* conflict_keys.c: whether two filters of inserted keys may have one in common */
int clash_inserted_keys(struct clash *clash);
/* conflict_index.c: i1, i4, i5 both ways */
int rule_indices(struct clash *clash);
int rule_index_update(struct clash *clash);
int rule_index_replacement(struct clash *clash);
int rule_replacement_index(struct clash *clash);
/* conflict_rewrite.c: i2, w1, w2 */
int rule_index_rewrite(struct clash *clash);
int rule_rewrite_index(struct clash *clash);
int rule_rewrites(struct clash *clash);
/* conflict_schema.c: i3 both ways, CreateIndex over Project, u3, f3 */
int rule_index_merge(struct clash *clash);
int rule_merge_index(struct clash *clash);
int rule_index_project(struct clash *clash);
int rule_update_project(struct clash *clash);
int rule_replacement_project(struct clash *clash);
/* conflict_config.c: v1, v2, v3, k1 */
int rule_overwrites(struct clash *clash);
int rule_overwrite_config(struct clash *clash);
int rule_config_overwrite(struct clash *clash);
int rule_configs(struct clash *clash);
/* conflict_replacement.c: f1, f2, f4 */
int rule_replacement_delete(struct clash *clash);
int rule_replacement_update(struct clash *clash);
int rule_replacements(struct clash *clash);
/* conflict_overlay.c: u4, f5, f6 */
int rule_update_overlay(struct clash *clash);
int rule_overlay_delete(struct clash *clash);
int rule_overlay_update(struct clash *clash);
/* conflict_memwal.c: m1, m1*, i6 */
int rule_shards(struct clash *clash);
int rule_index_shards(struct clash *clash);
/* conflict_bases.c: b1 */
int rule_bases(struct clash *clash);

/* Parts of conflict_finish. `clash->theirs` is NULL there: the newest version is to blame, or the
 * commit that a mark names. */
int finish_deletions(struct clash *clash);
int finish_overlays(struct clash *clash);
int finish_index(struct clash *clash);
int finish_rewrite(struct clash *clash);
int finish_bases(struct clash *clash);

/* rebase.c: LIMIT: comparing many index entries with many fragments or fields went on for too long.
 */
int rebase_work(struct rebase *rebase, size_t steps, struct lancet_error *err);
/* Notes that they changed a fragment of ours, by its place in touched.modified. */
void rebase_mark_fragment(struct clash *clash, size_t place);
void rebase_release_deletions(struct rebase *rebase);
/* Takes fragments away from an index of ours. */
int rebase_withdraw(
	struct rebase_index *index, const struct numbers *fragments, struct lancet_error *err);
/* Adds their progress to what our MemWAL entry starts with. */
int rebase_add_progress(struct clash *clash);
/* The fragment of the version; NULL when there is none. The second has the counts as they are
 * stored, and opens no file. */
int rebase_fragment(lancet_version *version, uint64_t id, lancet_fragment **ret_fragment,
	struct lancet_error *err);
int rebase_fragment_stored(lancet_version *version, uint64_t id, lancet_fragment **ret_fragment,
	struct lancet_error *err);
/* conflict_columns.c: takes fragments away from our indices whose columns a Merge took from other
 * files. */
int rebase_withdraw_changed(struct clash *clash);

/* conflict_history.c: the reuse history of the newest version, NULL when it has none that could be
 * built on. */
int rebase_history(struct rebase *rebase, lancet_reuse **ret_reuse, struct lancet_error *err);
/* What the entry that ours carries records; NULL without an entry. */
int rebase_records(struct rebase *rebase, lancet_reuse **ret_records, struct lancet_error *err);
bool rebase_is_tagged(const struct rebase *rebase);
bool history_is_tagged(lancet_version *version);
/* Whether a transition of the history is this group, or consumes all of its old fragments. */
bool history_has_group(const lancet_reuse *reuse, const struct rewrite_group *group);
/* The encoded legacy versions of a history, in stored order. CORRUPT: it can't be walked. */
int history_versions(struct slice content, struct arena *arena, struct texts *ret_versions,
	struct lancet_error *err);
/* Adds what the fragments were made of, as far as the history goes back. */
void history_add_sources(const lancet_reuse *reuse, roaring_bitmap_t *fragments);

/* conflict_rewrite.c: whether the file has one of the fields; NULL: no file. */
bool file_has_field(const struct numbers *fields, const struct Lance__Table__DataFile *file);

/* conflict_index.c */
bool entry_is_named(const struct Lance__Table__IndexMetadata *entry, const char *name);
bool entry_is_kind(const struct Lance__Table__IndexMetadata *entry, const char *kind);
/* Fragments of its bitmap, NULL when it has none; freed by the caller. */
int entry_fragments(const struct Lance__Table__IndexMetadata *entry,
	roaring_bitmap_t **ret_fragments, struct lancet_error *err);
/* The fields of the entry, and all that are below them in the version. */
int entry_fields(const struct Lance__Table__IndexMetadata *entry, lancet_version *version,
	struct arena *arena, struct numbers *ret_fields, struct lancet_error *err);

#endif
