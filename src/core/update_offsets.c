/* Which rows an Update wrote anew in place: sets of row offsets, by fragment, in two forms. */
#include "op_update.h"

#include <inttypes.h>

#include "draft_lineage.h"
#include "util/macros.h"
#include "util/roaringx.h"
#include "version.h"

typedef int visitor(struct draft *draft, const struct update_lists *lists, uint64_t fragment,
	const roaring_bitmap_t *offsets, struct lancet_error *err);

static int
visit_bitmap(struct draft *draft, const struct update_lists *lists, visitor *visit,
	const Lance__Table__Transaction__Update__OffsetBitmapEntry *entry, struct lancet_error *err)
{
	roaring_bitmap_t *offsets = NULL;
	int rc = roaringx_load(slice_of(entry->value.data, entry->value.len), UINT64_C(1) << 32,
		UINT64_C(1) << 32, &offsets, err);

	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "offsets of fragment %" PRIu64, entry->key);
	rc = visit(draft, lists, entry->key, offsets, err);
	roaring_bitmap_free(offsets);
	return rc;
}

static int
visit_list(struct draft *draft, const struct update_lists *lists, visitor *visit,
	const Lance__Table__Transaction__Update__OffsetsEntry *entry, struct lancet_error *err)
{
	roaring_bitmap_t *offsets = roaring_bitmap_create();
	int rc;

	if (offsets == NULL)
		return draft_no_memory(err);
	if (entry->value != NULL)
		roaring_bitmap_add_many(offsets, entry->value->n_values, entry->value->values);
	rc = visit(draft, lists, entry->key, offsets, err);
	roaring_bitmap_free(offsets);
	return rc;
}

static int
visit_all(struct draft *draft, const struct update_lists *lists, visitor *visit,
	struct lancet_error *err)
{
	const Update *message = draft->message->update;

	/* The older form counts where the newer one is not used. */
	for (size_t i = 0; i < message->n_updated_fragment_offset_bitmaps; i++)
		TRY(visit_bitmap(
			draft, lists, visit, message->updated_fragment_offset_bitmaps[i], err));
	if (message->n_updated_fragment_offset_bitmaps > 0)
		return LANCET_OK;
	for (size_t i = 0; i < message->n_updated_fragment_offsets; i++)
		TRY(visit_list(draft, lists, visit, message->updated_fragment_offsets[i], err));
	return LANCET_OK;
}

static int
check(struct draft *draft, const struct update_lists *lists, uint64_t id,
	const roaring_bitmap_t *offsets, struct lancet_error *err)
{
	uint32_t rows;

	if (numbers_find(&lists->updated, id) == SIZE_MAX)
		return lancet_fail(err, LANCET_INVALID,
			"fragment %" PRIu64 " has changed rows and is not updated", id);
	rows = draft->origin->spans[draft->fragments[draft_find(draft, id)].stored].physical_rows;
	/* 0: not counted */
	if (rows == 0 || roaring_bitmap_is_empty(offsets) || roaring_bitmap_maximum(offsets) < rows)
		return LANCET_OK;
	return lancet_fail(err, LANCET_CORRUPT,
		"fragment %" PRIu64 ": row %" PRIu32 " of %" PRIu32 " was changed", id,
		roaring_bitmap_maximum(offsets), rows);
}

int
update_check_offsets(
	struct draft *draft, const struct update_lists *lists, struct lancet_error *err)
{
	return visit_all(draft, lists, check, err);
}

static int
stamp(struct draft *draft, const struct update_lists *lists, uint64_t id,
	const roaring_bitmap_t *offsets, struct lancet_error *err)
{
	size_t place = draft_find(draft, id);

	(void)lists;
	if (place == SIZE_MAX) /* none of its rows is left */
		return LANCET_OK;
	return lineage_stamp_offsets(draft, place, offsets, false, err);
}

int
update_stamp_offsets(
	struct draft *draft, const struct update_lists *lists, struct lancet_error *err)
{
	return draft->stable_row_ids ? visit_all(draft, lists, stamp, err) : LANCET_OK;
}
