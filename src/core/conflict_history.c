/* The reuse history of the newest version, as far as conflict rules ask it, and what ours carries.
 * One that is damaged or not understood counts as none: then nothing is taken to be recorded. */
#include "conflict.h"
#include "conflict_rules.h"

#include "index_set.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"

#define FLAG_TAGGED_HISTORY (UINT64_C(1) << 10)

int
rebase_history(struct rebase *rebase, lancet_reuse **ret_reuse, struct lancet_error *err)
{
	struct lancet_error cause = { 0 };
	lancet_reuse *reuse = NULL;
	int rc = lancet_version_reuse(rebase->newest, &reuse, &cause);

	if (rc == LANCET_NOT_FOUND || rc == LANCET_CORRUPT || rc == LANCET_UNSUPPORTED ||
		(rc == LANCET_OK && !reuse->info.interpretable)) {
		*ret_reuse = NULL;
		return LANCET_OK;
	}
	if (rc != LANCET_OK) {
		if (err != NULL)
			*err = cause;
		return rc;
	}
	*ret_reuse = reuse;
	return LANCET_OK;
}

int
rebase_records(struct rebase *rebase, lancet_reuse **ret_records, struct lancet_error *err)
{
	struct arena arena = { 0 };
	struct reuse_details details;
	int rc = LANCET_OK;

	if (rebase->reuse_entry.size > 0 && rebase->records == NULL) {
		rc = reuse_details_load(rebase->read, &rebase->carried, &arena, &details, err);
		if (rc == LANCET_OK)
			rc = reuse_parse(details.content, rebase->carried.index_version,
				&rebase->records, err);
		arena_release(&arena);
	}
	*ret_records = rebase->records;
	return rc;
}

/* A table stays tagged when its entry is gone; and one that is not understood is tagged, too. */
bool
history_is_tagged(lancet_version *version)
{
	const struct lancet_index *indices;
	size_t count;

	if ((lancet_version_info(version)->writer_flags & FLAG_TAGGED_HISTORY) != 0)
		return true;
	if (lancet_version_indices(version, &indices, &count, NULL) != LANCET_OK)
		return false;
	for (size_t i = 0; i < count; i++)
		if (index_is_reuse(indices[i].name) && indices[i].segments[0]->index_version > 0)
			return true;
	return false;
}

bool
rebase_is_tagged(const struct rebase *rebase)
{
	return history_is_tagged(rebase->newest);
}

bool
history_has_group(const lancet_reuse *reuse, const struct rewrite_group *group)
{
	const struct lancet_transition *transition;
	const struct reuse_transition *consumer;

	if (group->old_count == 0)
		return true;
	consumer = reuse == NULL ? NULL : reuse_consumer(reuse, group->old_fragments[0]->id);
	if (consumer == NULL || consumer->info.fault != LANCET_OK)
		return false;
	transition = &consumer->info;
	if (transition->source_count != group->old_count ||
		transition->destination_count != group->new_count)
		return false;
	for (size_t i = 0; i < group->old_count; i++)
		if (transition->sources[i].id != group->old_fragments[i]->id)
			return false;
	for (size_t i = 0; i < group->new_count; i++)
		if (transition->destinations[i].id != group->new_fragments[i]->id)
			return false;
	return true;
}

void
history_add_sources(const lancet_reuse *reuse, roaring_bitmap_t *fragments)
{
	for (size_t i = reuse->info.transition_count; i > 0; i--) {
		const struct lancet_transition *transition = &reuse->transitions[i - 1].info;
		bool stale = false;

		for (size_t k = 0; k < transition->destination_count && !stale; k++)
			stale = roaring_bitmap_contains(
				fragments, (uint32_t)transition->destinations[k].id);
		for (size_t k = 0; k < transition->source_count && stale; k++)
			roaring_bitmap_add(fragments, (uint32_t)transition->sources[k].id);
	}
}
