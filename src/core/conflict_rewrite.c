/* Rules of Rewrite against indices and other rewrites: i2, w1, w2. A rewrite that is recorded in
 * the reuse history (a deferred one) leaves an index usable, since addresses are translated. */
#include "conflict.h"
#include "conflict_rules.h"

#include <inttypes.h>
#include <lancet/commit.h>
#include <stdlib.h>

#include "flags.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

typedef Lance__Table__IndexMetadata Entry;

/* Where a group's old fragments lie to an index. */
enum overlap { OVERLAP_NONE, OVERLAP_SOME, OVERLAP_ALL };

static enum overlap
overlap_of(const roaring_bitmap_t *covered, const struct rewrite_group *group)
{
	size_t inside = 0;

	for (size_t i = 0; i < group->old_count; i++) {
		uint64_t id = group->old_fragments[i]->id;

		inside += id <= UINT32_MAX && roaring_bitmap_contains(covered, (uint32_t)id);
	}
	if (inside == 0)
		return OVERLAP_NONE;
	return inside == group->old_count ? OVERLAP_ALL : OVERLAP_SOME;
}

bool
file_has_field(const struct numbers *fields, const Lance__Table__DataFile *file)
{
	for (size_t i = 0; file != NULL && i < file->n_fields; i++)
		if (file->fields[i] >= 0 &&
			numbers_find(fields, (uint64_t)file->fields[i]) != SIZE_MAX)
			return true;
	return false;
}

/* The group has overlays on columns of the index that came after it: folded into the new files,
 * nothing tells any more that the index has the old values. */
static bool
folds_newer(const struct rewrite_group *group, const struct rebase_index *index)
{
	for (size_t i = 0; i < group->old_count; i++) {
		const Lance__Table__DataFragment *fragment = group->old_fragments[i];

		for (size_t k = 0; k < fragment->n_overlays; k++)
			if (fragment->overlays[k]->committed_version >
					index->message->dataset_version &&
				file_has_field(&index->fields, fragment->overlays[k]->data_file))
				return true;
	}
	return false;
}

static int
withdraw_group(struct clash *clash, struct rebase_index *index, const struct rewrite_group *group)
{
	for (size_t i = 0; i < group->old_count; i++) {
		uint64_t id = group->old_fragments[i]->id;

		TRY(rebase_withdraw(index, &(struct numbers){ &id, 1 }, clash->err));
	}
	return LANCET_OK;
}

static int
rewritten(struct clash *clash, const char *why)
{
	return clash_retry(clash, "rewritten_coverage", "%s", why);
}

/* One recorded group. */
static int
check_recorded(struct clash *clash, struct rebase_index *index, const struct rewrite_group *group)
{
	bool inside = index->covered == NULL || overlap_of(index->covered, group) != OVERLAP_NONE;

	if (!inside)
		return LANCET_OK;
	if (entry_is_kind(index->message, "NGram"))
		return rewritten(clash, "an NGram index is not made across a rewrite");
	if (!folds_newer(group, index))
		return LANCET_OK;
	if (index->covered == NULL)
		return rewritten(clash, "overlays that came after the index were folded, and what "
					"it covers is not known");
	return withdraw_group(clash, index, group);
}

static int
check_unrecorded(
	struct clash *clash, const struct rebase_index *index, const struct rewrite_group *group)
{
	if (index->covered == NULL)
		return rewritten(
			clash, "fragments were rewritten, and what the index covers is not known");
	if (overlap_of(index->covered, group) == OVERLAP_NONE)
		return LANCET_OK;
	return clash_retry(clash, "rewritten_coverage",
		"fragments that the index covers were rewritten (the group of %" PRIu64 ")",
		group->old_fragments[0]->id);
}

struct recording {
	const lancet_reuse *reuse;
	bool tagged, all; /* all groups of theirs are recorded */
};

static int
find_recording(struct clash *clash, struct recording *ret_recording)
{
	lancet_reuse *reuse = NULL;
	bool all;

	TRY(rebase_history(clash->rebase, &reuse, clash->err));
	all = reuse != NULL;
	for (size_t i = 0; i < clash->theirs->group_count && all; i++)
		all = history_has_group(reuse, &clash->theirs->groups[i]);
	*ret_recording = (struct recording){ reuse, rebase_is_tagged(clash->rebase), all };
	return LANCET_OK;
}

/* In a tagged history each group counts for itself, in a legacy one all go together. An index of
 * unknown coverage is not followed through a tagged one. */
static bool
is_recorded(const struct recording *recording, const struct rebase_index *index,
	const struct rewrite_group *group)
{
	if (entry_is_named(index->message, REUSE_INDEX_NAME) ||
		entry_is_named(index->message, MEM_WAL_INDEX_NAME))
		return false;
	if (!recording->tagged)
		return recording->all;
	return index->covered != NULL && history_has_group(recording->reuse, group);
}

static int
check_groups(struct clash *clash, struct rebase_index *index, const struct recording *recording)
{
	for (size_t i = 0; i < clash->theirs->group_count && !clash_decided(clash); i++) {
		const struct rewrite_group *group = &clash->theirs->groups[i];

		if (is_recorded(recording, index, group))
			TRY(check_recorded(clash, index, group));
		else
			TRY(check_unrecorded(clash, index, group));
	}
	return LANCET_OK;
}

/* i2 */
int
rule_index_rewrite(struct clash *clash)
{
	struct rebase *rebase = clash->rebase;
	struct recording recording;

	TRY(find_recording(clash, &recording));
	if (recording.tagged && (clash->ours->adds_reuse || clash->ours->removes_reuse))
		for (size_t i = 0; i < clash->theirs->group_count; i++)
			if (history_has_group(recording.reuse, &clash->theirs->groups[i]))
				return clash_retry(clash, "reuse_history",
					"the fragment reuse history has grown");
	for (size_t i = 0; i < rebase->index_count && !clash_decided(clash); i++)
		TRY(check_groups(clash, &rebase->indices[i], &recording));
	return LANCET_OK;
}

/* Its files hold row addresses; all others hold row ids where the table has them. */
static bool
holds_addresses(const Entry *entry)
{
	if (entry_is_kind(entry, "BTree"))
		return entry->index_version_presence_case != 0 && entry->index_version >= 1;
	return entry_is_kind(entry, "ZoneMap") || entry_is_kind(entry, "BloomFilter") ||
	       entry_is_kind(entry, "Fm");
}

/* One group of ours under one new index of theirs. `records` are ours, NULL without. */
static int
check_group(struct clash *clash, const lancet_reuse *records, const roaring_bitmap_t *covered,
	const struct rewrite_group *group)
{
	enum overlap overlap = overlap_of(covered, group);

	if (overlap == OVERLAP_NONE ||
		(overlap == OVERLAP_ALL && history_has_group(records, group)))
		return LANCET_OK;
	return clash_retry(clash, "rewritten_coverage",
		"an index was made over fragments that we rewrite (the group of %" PRIu64 ")",
		group->old_fragments[0]->id);
}

static int
check_entry(struct clash *clash, const Entry *entry)
{
	struct rebase *rebase = clash->rebase;
	bool deferred = rebase->reuse_entry.size > 0;
	roaring_bitmap_t *covered = NULL;
	lancet_reuse *records;

	TRY(rebase_work(rebase, clash->ours->removed.count, clash->err));
	TRY(rebase_records(rebase, &records, clash->err));
	TRY(entry_fragments(entry, &covered, clash->err));
	if (covered == NULL)
		return rewritten(clash, "an index was made, and what it covers is not known");
	for (size_t i = 0; i < clash->ours->group_count && !clash_decided(clash); i++)
		(void)check_group(clash, records, covered, &clash->ours->groups[i]);
	roaring_bitmap_free(covered);
	if (deferred && lancet_version_info(rebase->read)->stable_row_ids &&
		!holds_addresses(entry))
		return rewritten(clash, "an index of row ids was made, which is not translated");
	return LANCET_OK;
}

/* w1 */
int
rule_rewrite_index(struct clash *clash)
{
	const Lance__Table__Transaction__CreateIndex *message =
		clash->theirs->message->create_index;

	if (clash->theirs->adds_reuse) {
		if (message->n_new_indices == 1 && message->n_removed_indices == 1)
			return LANCET_OK;
		return clash_refuse(
			clash, "reuse_history", "the fragment reuse history was made anew");
	}
	for (size_t i = 0; i < message->n_new_indices && !clash_decided(clash); i++)
		TRY(check_entry(clash, message->new_indices[i]));
	return LANCET_OK;
}

/* w2: transitions of ours lead from and to fragments that are not the same any more. */
int
rule_rewrites(struct clash *clash)
{
	const struct rebase *rebase = clash->rebase;
	bool tagged = rebase->reuse_entry.size > 0 && rebase->carried.index_version > 0;

	for (size_t i = 0; tagged && i < clash->ours->group_count; i++) {
		const struct rewrite_group *group = &clash->ours->groups[i];

		for (size_t k = 0; k < group->old_count + group->new_count; k++) {
			uint64_t id = k < group->old_count
					      ? group->old_fragments[k]->id
					      : group->new_fragments[k - group->old_count]->id;

			if (numbers_find(&clash->theirs->removed, id) != SIZE_MAX)
				return clash_refuse(clash, LANCET_RULE_TRANSITIONS,
					"fragment %" PRIu64 " of our transitions was rewritten",
					id);
		}
	}
	return rule_fragments(clash);
}
