/* DataOverlay: newer values for some cells of fragments.
 *
 * Overlays get the number of the version that they are committed in, which tells their order; that
 * their index entries are older than they are is seen by it, too. Format facts: overlays.
 */
#include "operation.h"

#include <inttypes.h>

#include "draft_index.h"
#include "draft_lineage.h"
#include "format.h"
#include "fragment_checks.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

typedef Lance__Table__DataFile DataFile;
typedef Lance__Table__DataFragment Fragment;
typedef Lance__Table__DataOverlayFile Overlay;
typedef Lance__Table__Transaction__DataOverlay Message;
typedef Lance__Table__Transaction__DataOverlayGroup Group;

static int
check_distinct(const DataFile *file, struct lancet_error *err)
{
	struct arena scratch = { 0 };
	struct numbers fields = { 0 };
	int rc = LANCET_OK;

	if (!numbers_reserve(&fields, file->n_fields, &scratch))
		rc = draft_no_memory(err);
	for (size_t i = 0; i < file->n_fields && rc == LANCET_OK; i++)
		numbers_put(&fields, (uint64_t)file->fields[i]);
	numbers_sort(&fields);
	if (rc == LANCET_OK && fields.count != file->n_fields)
		rc = lancet_fail(err, LANCET_INVALID, "a field is overlaid twice");
	arena_release(&scratch);
	return rc;
}

static int
check_fields(const DataFile *file, struct lancet_error *err)
{
	enum file_version format;

	if (!file_version_of(file->file_major_version, file->file_minor_version, &format) ||
		format == FILE_LEGACY)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"overlays in files of version %" PRIu32 ".%" PRIu32,
			file->file_major_version, file->file_minor_version);
	for (size_t i = 0; i < file->n_fields; i++)
		if (file->fields[i] < 0)
			return lancet_fail(err, LANCET_INVALID,
				"field id %" PRId32 " can't be overlaid", file->fields[i]);
	return check_distinct(file, err);
}

/* Adds the offsets of one bitmap to `all`. */
static int
add_offsets(
	ProtobufCBinaryData bytes, uint64_t rows, roaring_bitmap_t *all, struct lancet_error *err)
{
	roaring_bitmap_t *offsets;
	int rc = roaringx_load(slice_of(bytes.data, bytes.len), rows, rows, &offsets, err);

	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "offsets of %" PRIu64 " rows", rows);
	roaring_bitmap_or_inplace(all, offsets);
	roaring_bitmap_free(offsets);
	return LANCET_OK;
}

static int
add_coverage(const Overlay *overlay, uint64_t rows, roaring_bitmap_t *all, struct lancet_error *err)
{
	const Lance__Table__FieldCoverage *each = overlay->field_coverage;

	switch (overlay->coverage_case) {
	case LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_SHARED_OFFSET_BITMAP:
		return add_offsets(overlay->shared_offset_bitmap, rows, all, err);
	case LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_FIELD_COVERAGE:
		if (each->n_offset_bitmaps != overlay->data_file->n_fields)
			return lancet_fail(err, LANCET_INVALID, "%zu sets of offsets, %zu fields",
				each->n_offset_bitmaps, overlay->data_file->n_fields);
		for (size_t i = 0; i < each->n_offset_bitmaps; i++)
			TRY(add_offsets(each->offset_bitmaps[i], rows, all, err));
		return LANCET_OK;
	default:
		return lancet_fail(err, LANCET_INVALID, "no offsets");
	}
}

static int
check_overlay(const struct draft *draft, const Overlay *overlay, uint64_t rows,
	const struct numbers *field_ids, roaring_bitmap_t *all, struct lancet_error *err)
{
	if (overlay->data_file == NULL)
		return lancet_fail(err, LANCET_INVALID, "no data file");
	TRY(checks_file(draft, overlay->data_file, field_ids, err));
	TRY(check_fields(overlay->data_file, err));
	return add_coverage(overlay, rows, all, err);
}

/* All rows that the overlays of the group have values for; freed by the caller. */
static int
group_offsets(const struct draft *draft, const Group *group, uint64_t rows,
	const struct numbers *field_ids, roaring_bitmap_t **ret_offsets, struct lancet_error *err)
{
	roaring_bitmap_t *all = roaring_bitmap_create();
	int rc = all == NULL ? draft_no_memory(err) : LANCET_OK;

	for (size_t i = 0; i < group->n_overlays && rc == LANCET_OK; i++) {
		rc = check_overlay(draft, group->overlays[i], rows, field_ids, all, err);
		if (rc != LANCET_OK)
			(void)lancet_wrap(err, rc, "fragment %" PRIu64 ": overlay %zu",
				group->fragment_id, i);
	}
	if (rc == LANCET_OK && roaring_bitmap_is_empty(all))
		rc = lancet_fail(err, LANCET_INVALID, "fragment %" PRIu64 ": nothing is overlaid",
			group->fragment_id);
	if (rc == LANCET_OK)
		*ret_offsets = all;
	else if (all != NULL)
		roaring_bitmap_free(all);
	return rc;
}

static int
check_group(const struct draft *draft, const Group *group, const struct numbers *field_ids,
	struct lancet_error *err)
{
	struct arena scratch = { 0 };
	const Fragment *fragment = NULL;
	roaring_bitmap_t *offsets = NULL;
	uint64_t rows = 0;
	size_t place;
	int rc;

	TRY(checks_place(draft, group->fragment_id, &place, err));
	rc = draft_look(draft, place, &scratch, &fragment, err);
	if (rc == LANCET_OK)
		rows = fragment->physical_rows;
	arena_release(&scratch);
	if (rc == LANCET_OK && rows == 0)
		rc = lancet_fail(err, LANCET_UNSUPPORTED,
			"fragment %" PRIu64 " does not say how many rows it has",
			group->fragment_id);
	if (rc == LANCET_OK)
		rc = group_offsets(draft, group, rows, field_ids, &offsets, err);
	if (rc == LANCET_OK)
		roaring_bitmap_free(offsets);
	return rc;
}

int
op_data_overlay_check(struct draft *draft, struct lancet_error *err)
{
	const Message *message = draft->message->data_overlay;
	struct numbers field_ids;

	TRY(draft_indices(draft, err));
	if (draft_has_tagged_entry(draft))
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"the dataset has a tagged fragment reuse history, which nobody can keep "
			"right beside overlays: rewrite the columns instead");
	TRY(checks_fields(draft, NULL, 0, &field_ids, err));
	for (size_t i = 0; i < message->n_groups; i++)
		TRY(check_group(draft, message->groups[i], &field_ids, err));
	return LANCET_OK;
}

/* Behind the overlays there are, as of the new version. */
static int
add_overlays(struct draft *draft, Fragment *fragment, const Group *group, struct lancet_error *err)
{
	size_t count = fragment->n_overlays + group->n_overlays;
	Overlay **list = draft_alloc(draft, (count + 1) * sizeof(*list));

	if (list == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < fragment->n_overlays; i++)
		list[i] = fragment->overlays[i];
	for (size_t i = 0; i < group->n_overlays; i++) {
		Overlay *copy = draft_copy(draft, group->overlays[i], sizeof(*copy));

		if (copy == NULL)
			return draft_no_memory(err);
		copy->committed_version = draft->number;
		list[fragment->n_overlays + i] = copy;
	}
	fragment->overlays = list;
	fragment->n_overlays = count;
	return LANCET_OK;
}

static int
overlay(struct draft *draft, const Group *group, const struct numbers *field_ids,
	struct lancet_error *err)
{
	roaring_bitmap_t *offsets;
	Fragment *fragment;
	size_t place;
	int rc;

	TRY(checks_place(draft, group->fragment_id, &place, err));
	TRY(draft_edit(draft, place, &fragment, err));
	TRY(group_offsets(draft, group, fragment->physical_rows, field_ids, &offsets, err));
	rc = add_overlays(draft, fragment, group, err);
	if (rc == LANCET_OK && draft->stable_row_ids)
		rc = lineage_stamp_offsets(draft, place, offsets, true, err);
	roaring_bitmap_free(offsets);
	return rc;
}

int
op_data_overlay_apply(struct draft *draft, struct lancet_error *err)
{
	const Message *message = draft->message->data_overlay;
	struct numbers field_ids;

	TRY(checks_fields(draft, NULL, 0, &field_ids, err));
	for (size_t i = 0; i < message->n_groups; i++)
		TRY(overlay(draft, message->groups[i], &field_ids, err));
	return LANCET_OK;
}
