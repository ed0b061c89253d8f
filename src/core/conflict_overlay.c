/* Rules of DataOverlay, which gives some cells of a fragment new values: u4, f5, f6. Rows that an
 * update moved out of the fragment don't take such values along. */
#include "conflict.h"
#include "conflict_rules.h"

#include <inttypes.h>

#include "deletion.h"
#include "fragment.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"
#include "util/roaringx.h"

typedef Lance__Table__Transaction__DataOverlay Message;
typedef Lance__Table__Transaction__DataOverlayGroup Group;
typedef Lance__Table__DataOverlayFile Overlay;

#define OFFSETS_END (UINT64_C(1) << 32)

/* Bitmap `i` of the overlay; false when there are no more. */
static bool
get_bitmap(const Overlay *overlay, size_t i, struct slice *ret_bytes)
{
	const Lance__Table__FieldCoverage *by_field;

	if (overlay->coverage_case ==
		LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_SHARED_OFFSET_BITMAP) {
		*ret_bytes = slice_of(
			overlay->shared_offset_bitmap.data, overlay->shared_offset_bitmap.len);
		return i == 0;
	}
	if (overlay->coverage_case != LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_FIELD_COVERAGE)
		return false;
	by_field = overlay->field_coverage;
	if (i >= by_field->n_offset_bitmaps)
		return false;
	*ret_bytes = slice_of(by_field->offset_bitmaps[i].data, by_field->offset_bitmaps[i].len);
	return true;
}

/* Whether the overlay covers one of the rows; rows NULL: any row at all. */
static int
overlay_covers(const Overlay *overlay, const roaring_bitmap_t *rows, bool *ret_covers,
	struct lancet_error *err)
{
	struct slice bytes;

	*ret_covers = false;
	for (size_t i = 0; !*ret_covers && get_bitmap(overlay, i, &bytes); i++) {
		roaring_bitmap_t *bitmap;
		int rc = roaringx_load(bytes, OFFSETS_END, OFFSETS_END, &bitmap, err);

		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "overlay");
		*ret_covers = rows == NULL ? !roaring_bitmap_is_empty(bitmap)
					   : roaring_bitmap_intersect(bitmap, rows);
		roaring_bitmap_free(bitmap);
	}
	return LANCET_OK;
}

static int
group_covers(const Group *group, const roaring_bitmap_t *rows, bool *ret_covers,
	struct lancet_error *err)
{
	*ret_covers = false;
	for (size_t i = 0; i < group->n_overlays && !*ret_covers; i++)
		TRY(overlay_covers(group->overlays[i], rows, ret_covers, err));
	return LANCET_OK;
}

static bool
has_field(const Group *group, const struct numbers *fields)
{
	for (size_t i = 0; i < group->n_overlays; i++) {
		const Lance__Table__DataFile *file = group->overlays[i]->data_file;

		for (size_t k = 0; file != NULL && k < file->n_fields; k++)
			if (file->fields[k] >= 0 &&
				numbers_find(fields, (uint64_t)file->fields[k]) != SIZE_MAX)
				return true;
	}
	return false;
}

/* Rows that moved, or all of the fragment when they are not known. */
static int
check_moved(struct clash *clash, const Group *group)
{
	const struct affected_rows *affected = clash->rebase->affected;
	bool whole = affected == NULL ||
		     numbers_find(&clash->ours->removed, group->fragment_id) != SIZE_MAX;
	const roaring_bitmap_t *rows =
		whole ? NULL : affected_rows_in(affected, group->fragment_id);
	bool covers = false;

	if (whole || rows != NULL)
		TRY(group_covers(group, rows, &covers, clash->err));
	if (!covers)
		return LANCET_OK;
	return clash_retry(clash, "overlaid_rows",
		"rows of fragment %" PRIu64 ", which we move, got new values", group->fragment_id);
}

/* u4 */
int
rule_update_overlay(struct clash *clash)
{
	const Message *message = clash->theirs->message->data_overlay;
	const struct touched *ours = clash->ours;

	for (size_t i = 0; i < message->n_groups && !clash_decided(clash); i++) {
		const Group *group = message->groups[i];

		if (numbers_find(&ours->modified, group->fragment_id) == SIZE_MAX)
			continue;
		if (ours->moves_rows)
			TRY(check_moved(clash, group));
		else if (has_field(group, &ours->fields))
			(void)clash_retry(clash, "same_field",
				"a field of fragment %" PRIu64 " that we change got new values",
				group->fragment_id);
	}
	return LANCET_OK;
}

/* f5 */
int
rule_overlay_delete(struct clash *clash)
{
	uint64_t id;

	if (!numbers_meet(&clash->ours->updated, &clash->theirs->removed, &id))
		return LANCET_OK;
	return clash_retry(clash, "removed_fragment", "fragment %" PRIu64 " was removed", id);
}

/* f6 */
int
rule_overlay_update(struct clash *clash)
{
	const struct touched *ours = clash->ours, *theirs = clash->theirs;
	size_t at = 0, place;

	TRY(rule_overlay_delete(clash));
	while (!clash_decided(clash) && theirs->moves_rows &&
		numbers_common(&ours->modified, &theirs->updated, &at, &place))
		rebase_mark_fragment(clash, place);
	return LANCET_OK;
}

/* NULL when nothing is deleted, or the fragment is not there. */
static int
load_vector(lancet_version *version, uint64_t id, roaring_bitmap_t **ret_vector, bool *ret_there,
	struct lancet_error *err)
{
	lancet_fragment *fragment = NULL;
	int rc = LANCET_OK;

	*ret_vector = NULL;
	TRY(rebase_fragment(version, id, &fragment, err));
	*ret_there = fragment != NULL;
	if (fragment != NULL && fragment->info.has_deletion_file)
		rc = deletion_load(fragment, ret_vector, err);
	lancet_fragment_unref(fragment);
	return rc;
}

/* Rows that left the fragment since we read it; NULL: none. */
static int
moved_rows(struct clash *clash, uint64_t id, roaring_bitmap_t **ret_moved)
{
	roaring_bitmap_t *before = NULL, *now = NULL;
	bool there = false;
	int rc;

	TRY(load_vector(clash->rebase->newest, id, &now, &there, clash->err));
	if (!there)
		return clash_retry(
			clash, "removed_fragment", "fragment %" PRIu64 " was removed", id);
	rc = load_vector(clash->rebase->read, id, &before, &there, clash->err);
	if (rc != LANCET_OK) {
		if (now != NULL)
			roaring_bitmap_free(now);
		return rc;
	}
	if (now != NULL && before != NULL)
		roaring_bitmap_andnot_inplace(now, before);
	if (before != NULL)
		roaring_bitmap_free(before);
	*ret_moved = now;
	return LANCET_OK;
}

static int
finish_group(struct clash *clash, const Group *group)
{
	size_t place = numbers_find(&clash->ours->modified, group->fragment_id);
	const struct rebase_mark *mark = &clash->rebase->marks[place];
	roaring_bitmap_t *moved = NULL;
	bool covers = false;
	int rc;

	if (mark->version == 0)
		return LANCET_OK;
	clash->conflict->version = mark->version;
	clash->conflict->operation = operation_kind_name(mark->kind);
	TRY(moved_rows(clash, group->fragment_id, &moved));
	if (moved == NULL)
		return LANCET_OK;
	rc = group_covers(group, moved, &covers, clash->err);
	roaring_bitmap_free(moved);
	if (rc != LANCET_OK || !covers)
		return rc;
	return clash_retry(clash, "overlaid_rows",
		"rows of fragment %" PRIu64 " that we give new values have moved",
		group->fragment_id);
}

int
finish_overlays(struct clash *clash)
{
	const Message *message = clash->ours->message->data_overlay;

	for (size_t i = 0; i < message->n_groups && !clash_decided(clash); i++)
		TRY(finish_group(clash, message->groups[i]));
	return LANCET_OK;
}
