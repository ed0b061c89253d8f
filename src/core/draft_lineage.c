/* Row ids and row versions of fragments that a commit makes or changes. */
#include "draft_lineage.h"

#include <inttypes.h>
#include <stdlib.h>

#include <lancet/column.h>
#include "lance/table.pb-c.h"
#include "sequence.h"
#include "sequence_write.h"
#include "util/macros.h"
#include "util/pbscan.h"

#define BLOCK_ROWS 65536u /* ids that are looked up together */

/* Where a fragment has the three sequences. */
#define IDS(arm)     LANCE__TABLE__DATA_FRAGMENT__ROW_ID_SEQUENCE_##arm
#define MADE(arm)    LANCE__TABLE__DATA_FRAGMENT__CREATED_AT_VERSION_SEQUENCE_##arm
#define CHANGED(arm) LANCE__TABLE__DATA_FRAGMENT__LAST_UPDATED_AT_VERSION_SEQUENCE_##arm

typedef Lance__Table__DataFragment Fragment;

/* Moves the bytes into the arena; the buffer is released. */
static int
keep(struct draft *draft, struct buf *bytes, ProtobufCBinaryData *ret_bytes,
	struct lancet_error *err)
{
	int rc = buf_check(bytes, "row lineage", err);
	uint8_t *copy = NULL;

	if (rc == LANCET_OK) {
		copy = draft_copy(draft, bytes->data == NULL ? (const uint8_t *)"" : bytes->data,
			bytes->size);
		if (copy == NULL)
			rc = draft_no_memory(err);
	}
	if (rc == LANCET_OK)
		*ret_bytes = (ProtobufCBinaryData){ bytes->size, copy };
	buf_release(bytes);
	return rc;
}

static int
set_created(struct draft *draft, Fragment *fragment, struct version_runs *runs,
	struct lancet_error *err)
{
	version_runs_end(runs);
	TRY(keep(draft, &runs->bytes, &fragment->inline_created_at_versions, err));
	fragment->created_at_version_sequence_case = MADE(INLINE_CREATED_AT_VERSIONS);
	return LANCET_OK;
}

static int
set_changed(struct draft *draft, Fragment *fragment, struct version_runs *runs,
	struct lancet_error *err)
{
	version_runs_end(runs);
	TRY(keep(draft, &runs->bytes, &fragment->inline_last_updated_at_versions, err));
	fragment->last_updated_at_version_sequence_case = CHANGED(INLINE_LAST_UPDATED_AT_VERSIONS);
	return LANCET_OK;
}

int
lineage_stamp(struct draft *draft, Fragment *fragment, struct lancet_error *err)
{
	struct version_runs runs = { 0 };

	if (!draft->stable_row_ids)
		return LANCET_OK;
	version_runs_put(&runs, fragment->physical_rows, draft->number);
	return set_changed(draft, fragment, &runs, err);
}

/* Ids for the last `count` rows, behind those that are there. */
static int
add_ids(struct draft *draft, Fragment *fragment, uint64_t count, struct lancet_error *err)
{
	struct buf bytes = { 0 };

	if (count > UINT64_MAX - draft->next_row_id)
		return lancet_fail(err, LANCET_LIMIT, "no row ids are left");
	if (fragment->row_id_sequence_case == IDS(INLINE_ROW_IDS))
		buf_put(&bytes, fragment->inline_row_ids.data, fragment->inline_row_ids.len);
	rowids_put_range(&bytes, draft->next_row_id, count);
	TRY(keep(draft, &bytes, &fragment->inline_row_ids, err));
	fragment->row_id_sequence_case = IDS(INLINE_ROW_IDS);
	draft->next_row_id += count;
	return LANCET_OK;
}

static bool
has_lineage(const Fragment *fragment)
{
	return fragment->row_id_sequence_case != IDS(_NOT_SET) ||
	       fragment->created_at_version_sequence_case != MADE(_NOT_SET) ||
	       fragment->last_updated_at_version_sequence_case != CHANGED(_NOT_SET);
}

static int
check_unstable(const Fragment *fragment, struct lancet_error *err)
{
	if (!has_lineage(fragment))
		return LANCET_OK;
	return lancet_fail(err, LANCET_INVALID,
		"fragment %" PRIu64 " has row ids or row versions, but the dataset has no stable "
		"row ids",
		fragment->id);
}

static int
fresh(struct draft *draft, Fragment *fragment, struct lancet_error *err)
{
	struct version_runs runs = { 0 };

	TRY(add_ids(draft, fragment, fragment->physical_rows, err));
	version_runs_put(&runs, fragment->physical_rows, draft->number);
	TRY(set_created(draft, fragment, &runs, err));
	return lineage_stamp(draft, fragment, err);
}

int
lineage_fresh(struct draft *draft, Fragment *fragment, struct lancet_error *err)
{
	if (!draft->stable_row_ids)
		return check_unstable(fragment, err);
	if (fragment->row_id_sequence_case != IDS(_NOT_SET))
		return lancet_fail(err, LANCET_INVALID,
			"fragment %" PRIu64 " of new rows has row ids: the commit assigns them",
			fragment->id);
	return fresh(draft, fragment, err);
}

/* One segment of a list of ids, which is counted and not looked into. */
static int
count_segment(struct source *src, const struct pb_field *field, uint64_t rows, uint64_t *count,
	struct lancet_error *err)
{
	struct segment segment;

	if (field->number != 1 || field->wire != PB_BYTES)
		return lancet_fail(err, LANCET_CORRUPT, "field %" PRIu32 " of wire type %d",
			field->number, (int)field->wire);
	TRY(segment_parse(src, field->offset, field->value, &segment, err));
	TRY(segment_count(src, &segment, NULL, err));
	if (segment.length > rows - *count)
		return lancet_fail(err, LANCET_CORRUPT, "more than the %" PRIu64 " rows", rows);
	*count += segment.length;
	return LANCET_OK;
}

static int
count_ids(struct source *src, uint64_t rows, uint64_t *ret_count, struct lancet_error *err)
{
	struct pbscan scan = { 0 };
	struct pb_field field;
	int rc = pbscan_init(&scan, src, 0, src->size, 0, err);

	*ret_count = 0;
	while (rc == LANCET_OK && pbscan_step(&scan, &field, &rc, err))
		rc = count_segment(src, &field, rows, ret_count, err);
	pbscan_release(&scan);
	return rc;
}

int
lineage_open_ids(const Fragment *fragment, struct sequence **ret_sequence, uint64_t *ret_count,
	struct lancet_error *err)
{
	const ProtobufCBinaryData *bytes = &fragment->inline_row_ids;
	struct source *src = source_memory_new(slice_of(bytes->data, bytes->len), NULL);
	int rc;

	if (src == NULL)
		return draft_no_memory(err);
	rc = count_ids(src, fragment->physical_rows, ret_count, err);
	if (rc == LANCET_OK)
		rc = sequence_open(&rowids_ops, src, *ret_count, ret_sequence, err);
	source_unref(src);
	return rc;
}

struct wanted_id {
	uint64_t id;
	size_t row;
};

/* Work space of one block of ids. */
struct block {
	uint64_t ids[BLOCK_ROWS], sorted[BLOCK_ROWS], versions[BLOCK_ROWS];
	struct wanted_id wanted[BLOCK_ROWS];
};

static int
compare_ids(const void *left, const void *right)
{
	const struct wanted_id *a = left;
	const struct wanted_id *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

static int
sort_block(const struct draft *draft, struct block *block, size_t count, struct lancet_error *err)
{
	for (size_t i = 0; i < count; i++)
		block->wanted[i] = (struct wanted_id){ block->ids[i], i };
	if (!sequence_ascends(block->ids, count))
		qsort(block->wanted, count, sizeof(block->wanted[0]), compare_ids);
	for (size_t i = 0; i < count; i++) {
		block->sorted[i] = block->wanted[i].id;
		if (i > 0 && block->sorted[i] == block->sorted[i - 1])
			return lancet_fail(err, LANCET_CORRUPT, "row id %" PRIu64 " comes twice",
				block->sorted[i]);
	}
	if (block->sorted[count - 1] >= draft->next_row_id)
		return lancet_fail(err, LANCET_INVALID, "row id %" PRIu64 " was never given",
			block->sorted[count - 1]);
	return LANCET_OK;
}

/* Rows that nobody has are new. */
static int
created_block(struct draft *draft, const struct numbers *sources, struct block *block, size_t count,
	struct version_runs *runs, struct lancet_error *err)
{
	TRY(sort_block(draft, block, count, err));
	TRY(created_find(draft, sources, block->sorted, count, block->versions, err));
	for (size_t i = 0; i < count; i++)
		block->ids[block->wanted[i].row] = block->versions[i];
	for (size_t i = 0; i < count; i++)
		version_runs_put(runs, 1, block->ids[i] == 0 ? draft->number : block->ids[i]);
	return LANCET_OK;
}

static int
created_runs(struct draft *draft, const struct numbers *sources, struct sequence *ids,
	uint64_t carried, struct version_runs *runs, struct lancet_error *err)
{
	lancet_autofree struct block *block = malloc(sizeof(*block));

	if (block == NULL)
		return draft_no_memory(err);
	for (uint64_t row = 0; row < carried; row += BLOCK_ROWS) {
		uint64_t left = carried - row;
		size_t count = left < BLOCK_ROWS ? (size_t)left : BLOCK_ROWS;

		TRY(sequence_read(ids, row, count, block->ids, err));
		TRY(created_block(draft, sources, block, count, runs, err));
	}
	return LANCET_OK;
}

/* Rows that brought their ids inline: the first `carried` ones. */
static int
moved_inline(struct draft *draft, Fragment *fragment, const struct numbers *sources,
	struct sequence *ids, uint64_t carried, struct lancet_error *err)
{
	bool column =
		fragment->created_at_version_sequence_case == MADE(COLUMN_CREATED_AT_VERSIONS);
	uint64_t added = fragment->physical_rows - carried;
	struct version_runs runs = { 0 };
	int rc = LANCET_OK;

	if (column && added > 0)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " rows are new, and created-at is a column already", added);
	if (!column)
		rc = created_runs(draft, sources, ids, carried, &runs, err);
	if (rc == LANCET_OK && added > 0)
		rc = add_ids(draft, fragment, added, err);
	if (rc == LANCET_OK && !column) {
		version_runs_put(&runs, added, draft->number);
		rc = set_created(draft, fragment, &runs, err);
	}
	version_runs_release(&runs);
	return rc;
}

static int
check_created(const Fragment *fragment, struct lancet_error *err)
{
	const ProtobufCBinaryData *bytes = &fragment->inline_created_at_versions;
	struct sequence *sequence = NULL;
	struct source *src;
	uint64_t first;
	int rc;

	if (fragment->created_at_version_sequence_case == MADE(COLUMN_CREATED_AT_VERSIONS))
		return LANCET_OK;
	if (fragment->created_at_version_sequence_case == MADE(_NOT_SET))
		return lancet_fail(
			err, LANCET_CORRUPT, "row ids are a column, created-at is missing");
	src = source_memory_new(slice_of(bytes->data, bytes->len), NULL);
	if (src == NULL)
		return draft_no_memory(err);
	rc = sequence_open(&row_versions_ops, src, fragment->physical_rows, &sequence, err);
	if (rc == LANCET_OK) /* counts what was not counted yet */
		rc = sequence_read(sequence, 0, 1, &first, err);
	source_unref(src);
	sequence_free(sequence);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "created-at");
}

static int
moved(struct draft *draft, Fragment *fragment, const struct numbers *sources, bool *ret_whole,
	struct lancet_error *err)
{
	struct sequence *ids = NULL;
	uint64_t carried = 0;
	int rc;

	*ret_whole = true;
	if (fragment->row_id_sequence_case == IDS(COLUMN_ROW_IDS))
		return check_created(fragment, err);
	rc = lineage_open_ids(fragment, &ids, &carried, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "row ids");
	rc = moved_inline(draft, fragment, sources, ids, carried, err);
	sequence_free(ids);
	*ret_whole = carried == fragment->physical_rows;
	return rc;
}

int
lineage_moved(struct draft *draft, Fragment *fragment, const struct numbers *sources,
	bool *ret_whole, struct lancet_error *err)
{
	int rc;

	*ret_whole = false;
	if (!draft->stable_row_ids)
		return check_unstable(fragment, err);
	if (fragment->row_id_sequence_case == IDS(_NOT_SET))
		return fresh(draft, fragment, err);
	rc = moved(draft, fragment, sources, ret_whole, err);
	if (rc == LANCET_OK)
		rc = lineage_stamp(draft, fragment, err);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "new fragment %" PRIu64, fragment->id);
}

/* A fragment as it is stored in the version that the draft starts from. */
static int
open_changed(
	struct draft *draft, size_t place, lancet_column **ret_column, struct lancet_error *err)
{
	lancet_fragment *fragment = NULL;
	int rc;

	TRY(lancet_fragment_open(draft->origin, draft->fragments[place].stored, &fragment, err));
	rc = lancet_column_open(fragment, LANCET_LAST_UPDATED_AT, ret_column, err);
	lancet_fragment_unref(fragment);
	return rc;
}

static int
stamped_runs(struct draft *draft, const lancet_column *column, const roaring_bitmap_t *offsets,
	struct version_runs *runs, struct lancet_error *err)
{
	lancet_autofree uint64_t *values = malloc(BLOCK_ROWS * sizeof(*values));
	uint64_t rows = lancet_column_rows(column);

	if (values == NULL)
		return draft_no_memory(err);
	for (uint64_t row = 0; row < rows; row += BLOCK_ROWS) {
		size_t count = rows - row < BLOCK_ROWS ? (size_t)(rows - row) : BLOCK_ROWS;

		TRY(lancet_column_read(column, row, count, values, err));
		for (size_t i = 0; i < count; i++)
			version_runs_put(runs, 1,
				roaring_bitmap_contains(offsets, (uint32_t)(row + i))
					? draft->number
					: values[i]);
	}
	return LANCET_OK;
}

int
lineage_stamp_offsets(struct draft *draft, size_t place, const roaring_bitmap_t *offsets,
	bool always, struct lancet_error *err)
{
	struct version_runs runs = { 0 };
	lancet_column *column = NULL;
	Fragment *fragment;
	int rc;

	if (!draft->stable_row_ids || roaring_bitmap_is_empty(offsets))
		return LANCET_OK;
	TRY(draft_edit(draft, place, &fragment, err));
	if (fragment->last_updated_at_version_sequence_case == CHANGED(_NOT_SET) && !always)
		return LANCET_OK;
	if (roaring_bitmap_maximum(offsets) >= fragment->physical_rows)
		return lancet_fail(err, LANCET_CORRUPT,
			"fragment %" PRIu64 ": row %" PRIu32 " of %" PRIu64 " was changed",
			fragment->id, roaring_bitmap_maximum(offsets), fragment->physical_rows);
	TRY(open_changed(draft, place, &column, err));
	rc = stamped_runs(draft, column, offsets, &runs, err);
	lancet_column_free(column);
	if (rc == LANCET_OK)
		rc = set_changed(draft, fragment, &runs, err);
	version_runs_release(&runs);
	return rc;
}
