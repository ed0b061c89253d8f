/* Fragments that a scan has open, and the values of their rows. */
#include "scan_state.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"

void
scan_fragment_release(struct scan_fragment *fragment)
{
	fragment_data_free(fragment->data);
	for (size_t i = 0; i < ARRAY_SIZE(fragment->lineage); i++)
		lancet_column_free(fragment->lineage[i]);
	lancet_deletion_unref(fragment->deletion);
	lancet_fragment_unref(fragment->fragment);
	*fragment = (struct scan_fragment){ 0 };
}

/* Whole fragments come one after the other and are not wanted again. */
static size_t
places(const lancet_scan *scan)
{
	return scan->by_id == NULL ? 1 : SCAN_FRAGMENTS;
}

int
scan_fragment_get(lancet_scan *scan, uint64_t ordinal, struct scan_fragment **ret_fragment,
	struct lancet_error *err)
{
	struct scan_fragment *oldest = &scan->fragments[0];

	for (size_t i = 0; i < places(scan); i++) {
		struct scan_fragment *fragment = &scan->fragments[i];

		if (fragment->fragment != NULL && fragment->ordinal == ordinal) {
			fragment->used = ++scan->clock;
			*ret_fragment = fragment;
			return LANCET_OK;
		}
		if (fragment->used < oldest->used)
			oldest = fragment;
	}
	scan_fragment_release(oldest);
	TRY(lancet_fragment_open(scan->version, ordinal, &oldest->fragment, err));
	oldest->ordinal = ordinal;
	oldest->used = ++scan->clock;
	*ret_fragment = oldest;
	return LANCET_OK;
}

static int
wrap(const struct scan_fragment *fragment, int rc, struct lancet_error *err)
{
	return lancet_wrap(
		err, rc, "fragment %" PRIu64, lancet_fragment_info(fragment->fragment)->id);
}

int
scan_fragment_deletion(struct scan_fragment *fragment, struct lancet_error *err)
{
	int rc = LANCET_OK;

	if (fragment->deletion == NULL)
		rc = lancet_deletion_open(fragment->fragment, &fragment->deletion, err);
	return rc == LANCET_OK ? rc : wrap(fragment, rc, err);
}

static void
put_addresses(const struct lancet_fragment_info *info, const struct row_range *ranges, size_t count,
	uint64_t *values)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t address = (info->id << 32) + ranges[i].first;

		for (uint64_t j = 0; j < ranges[i].count; j++)
			values[j] = address + j;
		values += ranges[i].count;
	}
}

/* Without stable row ids no version of a row is known, and the reference says 1. */
static int
put_lineage(struct scan_fragment *fragment, enum scan_lineage which, const struct row_range *ranges,
	size_t count, uint64_t rows, uint64_t *values, struct lancet_error *err)
{
	const struct lancet_fragment_info *info = lancet_fragment_info(fragment->fragment);
	const enum lancet_lineage stored[] = { [SCAN_ROW_ID] = LANCET_ROW_ID,
		[SCAN_CREATED_AT] = LANCET_CREATED_AT,
		[SCAN_LAST_UPDATED_AT] = LANCET_LAST_UPDATED_AT };

	if (which == SCAN_ROW_ADDRESS) {
		put_addresses(info, ranges, count, values);
		return LANCET_OK;
	}
	if (info->lineage[stored[which]].placement == LANCET_NONE && which != SCAN_ROW_ID) {
		for (uint64_t i = 0; i < rows; i++)
			values[i] = 1;
		return LANCET_OK;
	}
	if (fragment->lineage[which] == NULL)
		TRY(lancet_column_open(
			fragment->fragment, stored[which], &fragment->lineage[which], err));
	return column_read_ranges(fragment->lineage[which], ranges, count, values, err);
}

static int
read_lineage(struct scan_fragment *fragment, enum scan_lineage which,
	const struct row_range *ranges, size_t count, struct array *out, struct lancet_error *err)
{
	uint64_t rows = 0;
	uint8_t *place;

	for (size_t i = 0; i < count; i++)
		rows += ranges[i].count;
	TRY(array_extend_fixed(out, 64, rows, &place, err));
	return put_lineage(fragment, which, ranges, count, rows, (uint64_t *)(void *)place, err);
}

int
scan_fragment_read(lancet_scan *scan, struct scan_fragment *fragment,
	const struct scan_column *column, const struct row_range *ranges, size_t count,
	struct array *out, struct lancet_error *err)
{
	int rc = LANCET_OK;

	if (column->is_lineage) {
		rc = read_lineage(fragment, column->lineage, ranges, count, out, err);
		return rc; /* what can fail there names the fragment */
	}
	if (fragment->data == NULL)
		rc = fragment_data_open(
			fragment->fragment, &scan->schema, &scan->pool, &fragment->data, err);
	if (rc == LANCET_OK)
		rc = fragment_data_read(fragment->data, column->root, ranges, count, out, err);
	return rc == LANCET_OK ? rc : wrap(fragment, rc, err);
}
