/* A rewrite and the reuse history that it brings: both must say the same. */
#include "rewrite_parts.h"

#include <inttypes.h>

#include "conflict_rules.h"
#include "draft_index.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"

typedef Lance__Table__DataFragment Fragment;
typedef Lance__Table__IndexMetadata Entry;

static int
other(const struct rewrite_group *group, const char *what, uint64_t id, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_INVALID,
		"the group of fragment %" PRIu64 " and its record in the reuse history: %s, "
		"fragment %" PRIu64,
		group->old_fragments[0]->id, what, id);
}

static int
bind_sources(const struct rewrite_step *step, const struct lancet_transition *transition,
	struct lancet_error *err)
{
	const struct rewrite_group *group = &step->group;

	if (transition->source_count != group->old_count)
		return other(group, "not as many sources", transition->sources[0].id, err);
	for (size_t i = 0; i < group->old_count; i++) {
		const struct lancet_fragment_digest *digest = &transition->sources[i];
		const Fragment *current = step->current[i];
		uint64_t deleted = current->deletion_file == NULL
					   ? 0
					   : current->deletion_file->num_deleted_rows;

		if (digest->id != current->id)
			return other(group, "another source", digest->id, err);
		if (digest->physical_rows != current->physical_rows ||
			digest->deleted_rows > deleted)
			return other(group, "other rows", digest->id, err);
		if (digest->deleted_rows < deleted)
			return lancet_fail(err, LANCET_UNSUPPORTED,
				"fragment %" PRIu64 ": rows were deleted after it was rewritten: "
				"rewrite it again",
				digest->id);
	}
	return LANCET_OK;
}

static int
bind_destinations(const struct rewrite_group *group, const struct lancet_transition *transition,
	struct lancet_error *err)
{
	if (transition->destination_count != group->new_count)
		return other(group, "not as many destinations", group->old_fragments[0]->id, err);
	for (size_t i = 0; i < group->new_count; i++) {
		const struct lancet_fragment_digest *digest = &transition->destinations[i];
		const Fragment *fragment = group->new_fragments[i];

		if (digest->id == 0 || digest->id != fragment->id)
			return other(group, "another destination", digest->id, err);
		if (digest->physical_rows != fragment->physical_rows)
			return other(group, "other rows", digest->id, err);
		if (fragment->deletion_file != NULL)
			return other(group, "a deletion file", digest->id, err);
	}
	return LANCET_OK;
}

/* All of the group is recorded, or nothing. */
static int
bind_step(const struct rewrite *rewrite, struct rewrite_step *step, const lancet_reuse *reuse,
	struct lancet_error *err)
{
	const struct rewrite_group *group = &step->group;
	const struct reuse_transition *transition =
		reuse_consumer(reuse, group->old_fragments[0]->id);

	step->recorded = transition != NULL;
	for (size_t i = 1; i < group->old_count; i++)
		if (reuse_consumer(reuse, group->old_fragments[i]->id) != transition)
			return other(
				group, "only a part is in it", group->old_fragments[i]->id, err);
	if (transition == NULL)
		return LANCET_OK;
	if (rewrite->tagged && step->has_overlays)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"the group of fragment %" PRIu64 " has overlays, which a tagged history "
			"can't lead through",
			group->old_fragments[0]->id);
	TRY(bind_sources(step, &transition->info, err));
	return bind_destinations(group, &transition->info, err);
}

int
rewrite_bind(struct rewrite *rewrite, const struct history *history, struct lancet_error *err)
{
	size_t recorded = 0;

	for (size_t i = 0; i < rewrite->count; i++) {
		TRY(bind_step(rewrite, &rewrite->steps[i], history->reuse, err));
		recorded += rewrite->steps[i].recorded;
	}
	if (recorded != history->added)
		return lancet_fail(err, LANCET_INVALID,
			"the reuse entry records %zu rewrites, %zu of them are ours",
			history->added, recorded);
	if (!rewrite->tagged && recorded != rewrite->count)
		return lancet_fail(err, LANCET_INVALID,
			"the reuse entry records %zu of %zu rewrites", recorded, rewrite->count);
	return LANCET_OK;
}

static int
check_uncovered(const struct rewrite_group *group, const Entry *entry,
	const roaring_bitmap_t *covered, struct lancet_error *err)
{
	int size = entry->name.len < 80 ? (int)entry->name.len : 80;

	for (size_t i = 0; i < group->old_count; i++) {
		uint64_t id = group->old_fragments[i]->id;

		if (covered == NULL || roaring_bitmap_contains(covered, (uint32_t)id))
			return lancet_fail(err, LANCET_INVALID,
				"fragment %" PRIu64 " is rewritten without a record in the tagged "
				"reuse history, and index %.*s may answer for it: record a "
				"transition, or drop the index first",
				id, size, (const char *)entry->name.data);
	}
	return LANCET_OK;
}

static int
check_entry(const struct rewrite *rewrite, size_t place, struct lancet_error *err)
{
	const Entry *entry = rewrite->draft->indices[place].message;
	roaring_bitmap_t *covered = NULL;
	int rc = draft_index_fragments(rewrite->draft, place, &covered, err);

	for (size_t i = 0; i < rewrite->count && rc == LANCET_OK; i++)
		if (!rewrite->steps[i].recorded)
			rc = check_uncovered(&rewrite->steps[i].group, entry, covered, err);
	if (covered != NULL)
		roaring_bitmap_free(covered);
	return rc;
}

int
rewrite_check_unrecorded(const struct rewrite *rewrite, struct lancet_error *err)
{
	const struct draft *draft = rewrite->draft;

	for (size_t i = 0; rewrite->tagged && i < draft->index_count; i++)
		if (!draft->indices[i].removed &&
			(!index_entry_is_system(draft->indices[i].message) ||
				entry_is_named(draft->indices[i].message, REUSE_INDEX_NAME)))
			TRY(check_entry(rewrite, i, err));
	return LANCET_OK;
}
