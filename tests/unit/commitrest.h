/* An overlay, moved rows and an index entry of the sample, put together here, of files that are
 * there. UpdateMemWalState is not among them: it needs a MemWAL index, which the sample has not.
 */
#ifndef TESTS_COMMITREST_H
#define TESTS_COMMITREST_H

#include "commitcolumns.h"

/* Rows 0 to 7 of fragment 3 get the 8 prices of fragment 2. */
static inline int
case_overlay(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	static const uint8_t offsets[] = { 0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 7, 0, 16, 0, 0, 0, 0,
		0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0 };
	Lance__Table__Transaction__DataOverlay *message;
	Lance__Table__Transaction__DataOverlayGroup *group;
	Lance__Table__DataOverlayFile *overlay;
	Fragment **image;

	TRY(change_new(read, ret_change, err));
	TRY(message_image(*ret_change, 2, &image, err));
	overlay = MADE(*ret_change, Lance__Table__DataOverlayFile);
	lance__table__data_overlay_file__init(overlay);
	overlay->data_file = prices_of(*ret_change, image[0], PRICE);
	overlay->coverage_case = LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_SHARED_OFFSET_BITMAP;
	overlay->shared_offset_bitmap =
		(ProtobufCBinaryData){ sizeof(offsets), (uint8_t *)(uintptr_t)offsets };
	group = MADE(*ret_change, Lance__Table__Transaction__DataOverlayGroup);
	lance__table__transaction__data_overlay_group__init(group);
	group->fragment_id = 3;
	group->overlays = MADE(*ret_change, Lance__Table__DataOverlayFile *);
	group->overlays[0] = overlay;
	group->n_overlays = 1;
	message = MADE(*ret_change, Lance__Table__Transaction__DataOverlay);
	lance__table__transaction__data_overlay__init(message);
	message->groups = MADE(*ret_change, Lance__Table__Transaction__DataOverlayGroup *);
	message->groups[0] = group;
	message->n_groups = 1;
	(*ret_change)->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_DATA_OVERLAY;
	(*ret_change)->message->data_overlay = message;
	return LANCET_OK;
}

static inline bool
case_overlay_holds(lancet_version *made)
{
	return fragment_has(made, 1, 1);
}

/* Rows of fragment 3 move to a new fragment, which has the same file. */
static inline int
case_update(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	Lance__Table__Transaction__Update *update;

	TRY(change_new(read, ret_change, err));
	update = MADE(*ret_change, Lance__Table__Transaction__Update);
	lance__table__transaction__update__init(update);
	update->removed_fragment_ids = MADE(*ret_change, uint64_t);
	update->removed_fragment_ids[0] = 3;
	update->n_removed_fragment_ids = 1;
	TRY(message_image(*ret_change, 3, &update->new_fragments, err));
	update->new_fragments[0]->id = 0;
	update->n_new_fragments = 1;
	(*ret_change)->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_UPDATE;
	(*ret_change)->message->update = update;
	return LANCET_OK;
}

/* The files of the index become those of an entry with another name. */
static inline int
case_index(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	Lance__Table__Transaction__CreateIndex *create;
	Lance__Table__IndexMetadata *entry;

	TRY(lancet_change_drop_index(read, "id_idx", ret_change, err));
	create = (*ret_change)->message->create_index;
	entry = MADE(*ret_change, Lance__Table__IndexMetadata);
	*entry = *create->removed_indices[0];
	entry->name = maker_text("by_id");
	create->new_indices = MADE(*ret_change, Lance__Table__IndexMetadata *);
	create->new_indices[0] = entry;
	create->n_new_indices = 1;
	return LANCET_OK;
}

static inline bool
case_index_holds(lancet_version *made)
{
	const struct lancet_index *indices;
	size_t count;

	return lancet_version_indices(made, &indices, &count, NULL) == LANCET_OK && count == 1 &&
	       slice_equal(
		       slice_of(indices[0].name.data, indices[0].name.size), slice_text("by_id"));
}

#endif
