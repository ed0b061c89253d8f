/* What index entries say after their fragments were rewritten.
 *
 * Files that hold row ids answer for the new fragments as they did for the old ones. Files that
 * hold addresses do so when they were rewritten, too, or when the reuse history tells where the
 * rows went; then they keep the old fragments in their bitmaps. Format facts: rewrites and index
 * bitmaps.
 */
#include "rewrite_parts.h"

#include <inttypes.h>

#include "conflict_rules.h"
#include "draft_index.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

#define UUID_SIZE        16u
#define REWRITE_WORK_MAX (UINT64_C(1) << 31) /* fragments looked up */
#define REWRITTEN_MAX    4096u               /* each is looked for among all entries */

typedef Lance__Table__DataFragment Fragment;
typedef Lance__Table__IndexMetadata Entry;
typedef Lance__Table__Transaction__Rewrite__RewrittenIndex Rewritten;

static const Lance__Table__Transaction__Rewrite *
message_of(const struct rewrite *rewrite)
{
	return rewrite->draft->message->rewrite;
}

static bool
is_uuid(const Lance__Table__UUID *uuid)
{
	return uuid != NULL && uuid->uuid.len == UUID_SIZE;
}

static bool
same_uuid(const Lance__Table__UUID *a, const Lance__Table__UUID *b)
{
	return is_uuid(a) && is_uuid(b) && memcmp(a->uuid.data, b->uuid.data, UUID_SIZE) == 0;
}

static int
check_rewritten(const struct rewrite *rewrite, size_t at, struct lancet_error *err)
{
	const Lance__Table__Transaction__Rewrite *message = message_of(rewrite);
	const Rewritten *rewritten = message->rewritten_indices[at];

	if (!is_uuid(rewritten->old_id) || !is_uuid(rewritten->new_id))
		return lancet_fail(err, LANCET_INVALID, "rewritten index %zu: no UUIDs", at);
	if (draft_index_find(rewrite->draft, rewritten->new_id) != SIZE_MAX)
		return lancet_fail(
			err, LANCET_INVALID, "rewritten index %zu: its new UUID is in use", at);
	for (size_t i = 0; i < at; i++)
		if (same_uuid(message->rewritten_indices[i]->old_id, rewritten->old_id) ||
			same_uuid(message->rewritten_indices[i]->new_id, rewritten->new_id))
			return lancet_fail(err, LANCET_INVALID,
				"rewritten index %zu: the same as index %zu", at, i);
	return LANCET_OK;
}

int
rewrite_indices_check(const struct rewrite *rewrite, struct lancet_error *err)
{
	size_t count = message_of(rewrite)->n_rewritten_indices;

	if (count > REWRITTEN_MAX)
		return lancet_fail(err, LANCET_LIMIT, "%zu rewritten indices", count);
	if (rewrite->old_count > 0 &&
		rewrite->draft->index_count > REWRITE_WORK_MAX / rewrite->old_count)
		return lancet_fail(err, LANCET_LIMIT, "%zu index entries and %zu fragments",
			rewrite->draft->index_count, rewrite->old_count);
	if (count > 0 && rewrite->carries)
		return lancet_fail(err, LANCET_INVALID,
			"index files are rewritten, and the reuse history is to translate them");
	if (count > 0 && rewrite->tagged)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"index files can't be rewritten beside a tagged reuse history: record "
			"transitions instead");
	for (size_t i = 0; i < count; i++)
		TRY(check_rewritten(rewrite, i, err));
	return LANCET_OK;
}

static const Rewritten *
find_rewritten(const struct rewrite *rewrite, const Entry *entry)
{
	const Lance__Table__Transaction__Rewrite *message = message_of(rewrite);

	for (size_t i = 0; i < message->n_rewritten_indices; i++)
		if (same_uuid(message->rewritten_indices[i]->old_id, entry->uuid))
			return message->rewritten_indices[i];
	return NULL;
}

/* Takes the old fragments out; how many were in. */
static size_t
take_old(const struct rewrite_step *step, roaring_bitmap_t *covered)
{
	size_t inside = 0;

	for (size_t i = 0; i < step->group.old_count; i++)
		inside += roaring_bitmap_remove_checked(
			covered, (uint32_t)step->group.old_fragments[i]->id);
	return inside;
}

static int
swap(const struct rewrite_step *step, const Entry *entry, roaring_bitmap_t *covered,
	struct lancet_error *err)
{
	size_t inside = take_old(step, covered);

	if (inside != 0 && inside != step->group.old_count)
		return lancet_fail(err, LANCET_INVALID,
			"the group of fragment %" PRIu64 " is only in part covered by index %.*s: "
			"rewrite what is covered apart from the rest",
			step->group.old_fragments[0]->id,
			(int)(entry->name.len < 80 ? entry->name.len : 80),
			(const char *)entry->name.data);
	for (size_t i = 0; i < step->group.new_count && inside != 0; i++)
		roaring_bitmap_add(covered, (uint32_t)step->new_ids[i]);
	return LANCET_OK;
}

/* The group has overlays on fields of the index that came after it. */
static bool
folds_newer(const struct rewrite_step *step, const Entry *entry, const struct numbers *fields)
{
	for (size_t i = 0; i < step->group.old_count; i++) {
		const Fragment *fragment = step->current[i];

		for (size_t k = 0; k < fragment->n_overlays; k++)
			if (fragment->overlays[k]->committed_version > entry->dataset_version &&
				file_has_field(fields, fragment->overlays[k]->data_file))
				return true;
	}
	return false;
}

/* Overlays told which values the index does not know; in the new files nothing does. */
static int
take_folded(const struct rewrite *rewrite, const Entry *entry, roaring_bitmap_t *covered,
	struct lancet_error *err)
{
	struct arena scratch = { 0 };
	struct numbers fields = { 0 };
	int rc = LANCET_OK;

	for (size_t i = 0; i < rewrite->count && rc == LANCET_OK; i++) {
		const struct rewrite_step *step = &rewrite->steps[i];

		if (!step->has_overlays)
			continue;
		if (fields.values == NULL)
			rc = entry_fields(entry, rewrite->draft->origin, &scratch, &fields, err);
		if (rc != LANCET_OK || !folds_newer(step, entry, &fields))
			continue;
		(void)take_old(step, covered);
		for (size_t k = 0; k < step->group.new_count; k++)
			roaring_bitmap_remove(covered, (uint32_t)step->new_ids[k]);
	}
	arena_release(&scratch);
	return rc;
}

static int
move_coverage(const struct rewrite *rewrite, const Entry *entry, bool rewritten,
	roaring_bitmap_t *covered, struct lancet_error *err)
{
	bool by_ids = rewrite->draft->stable_row_ids && !index_entry_holds_addresses(entry);

	for (size_t i = 0; i < rewrite->count; i++) {
		if (rewritten || by_ids)
			TRY(swap(&rewrite->steps[i], entry, covered, err));
		else if (rewrite->draft->stable_row_ids)
			(void)take_old(&rewrite->steps[i], covered);
	}
	return take_folded(rewrite, entry, covered, err);
}

static int
put_rewritten(
	struct draft *draft, size_t place, const Rewritten *rewritten, struct lancet_error *err)
{
	Entry *entry;

	TRY(draft_index_edit(draft, place, &entry, err));
	entry->uuid = rewritten->new_id;
	entry->files = rewritten->new_index_files;
	entry->n_files = rewritten->n_new_index_files;
	if (rewritten->new_index_details != NULL)
		entry->index_details = rewritten->new_index_details;
	entry->index_version_presence_case =
		LANCE__TABLE__INDEX_METADATA__INDEX_VERSION_PRESENCE_INDEX_VERSION;
	entry->index_version = (int32_t)rewritten->new_index_version;
	/* The new files are in the dataset itself. */
	entry->base_id_presence_case = LANCE__TABLE__INDEX_METADATA__BASE_ID_PRESENCE__NOT_SET;
	return LANCET_OK;
}

static int
apply_known(const struct rewrite *rewrite, size_t place, const Rewritten *rewritten,
	roaring_bitmap_t *covered, struct lancet_error *err)
{
	const Entry *entry = rewrite->draft->indices[place].message;
	roaring_bitmap_t *before = roaring_bitmap_copy(covered);
	bool changed;
	int rc;

	if (before == NULL)
		return draft_no_memory(err);
	rc = move_coverage(rewrite, entry, rewritten != NULL, covered, err);
	changed = !roaring_bitmap_equals(before, covered);
	roaring_bitmap_free(before);
	if (rc == LANCET_OK && changed)
		rc = draft_index_store(rewrite->draft, place, covered, err);
	return rc;
}

static int
apply_entry(const struct rewrite *rewrite, size_t place, struct lancet_error *err)
{
	const Rewritten *rewritten =
		find_rewritten(rewrite, rewrite->draft->indices[place].message);
	roaring_bitmap_t *covered = NULL;
	int rc;

	TRY(draft_index_fragments(rewrite->draft, place, &covered, err));
	if (covered == NULL)
		return rewritten == NULL ? LANCET_OK
					 : lancet_fail(err, LANCET_INVALID,
						   "what a rewritten index covers is not known");
	rc = apply_known(rewrite, place, rewritten, covered, err);
	roaring_bitmap_free(covered);
	if (rc == LANCET_OK && rewritten != NULL)
		rc = put_rewritten(rewrite->draft, place, rewritten, err);
	return rc;
}

int
rewrite_indices_apply(const struct rewrite *rewrite, struct lancet_error *err)
{
	const struct draft *draft = rewrite->draft;

	if (rewrite->tagged)
		return LANCET_OK;
	for (size_t i = 0; i < draft->index_count; i++)
		if (!draft->indices[i].removed && !index_entry_is_system(draft->indices[i].message))
			TRY(apply_entry(rewrite, i, err));
	return LANCET_OK;
}
