/* Finding rows: row_picks.h.
 *
 * Few stable ids are searched for all at once, which steps over runs of ids. Where the ranges hold
 * many, the ids of all rows are read in blocks and each is looked up in the ranges: memory does not
 * grow with the width of a range.
 */
#include "row_picks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "column.h"
#include "deletion.h"
#include "fragment.h"
#include "util/macros.h"
#include "version.h"

#define FEW_IDS UINT64_C(65536)
#define BLOCK   2048u /* ids read at a time */

void
row_picks_release(struct row_picks *picks)
{
	for (size_t i = 0; i < picks->count; i++) {
		if (picks->list[i].rows != NULL) /* taken by who uses them */
			roaring_bitmap_free(picks->list[i].rows);
		if (picks->list[i].deleted != NULL)
			roaring_bitmap_free(picks->list[i].deleted);
	}
	free(picks->list);
	*picks = (struct row_picks){ 0 };
}

static int
no_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "rows to delete");
}

/* The rows deleted so far, maybe none. */
static int
load_deleted(lancet_fragment *fragment, roaring_bitmap_t **ret_deleted, struct lancet_error *err)
{
	if (fragment->info.has_deletion_file)
		return deletion_load(fragment, ret_deleted, err);
	*ret_deleted = roaring_bitmap_create();
	return *ret_deleted != NULL ? LANCET_OK : no_memory(err);
}

int
row_picks_add(struct row_picks *picks, uint64_t ordinal, lancet_fragment *fragment,
	roaring_bitmap_t *rows, struct lancet_error *err)
{
	struct row_pick pick = { ordinal, fragment->info.id, fragment->info.physical_rows, rows,
		NULL };
	int rc = load_deleted(fragment, &pick.deleted, err);

	if (rc == LANCET_OK) {
		roaring_bitmap_andnot_inplace(rows, pick.deleted);
		if (picks->count == picks->capacity) {
			size_t capacity = picks->capacity == 0 ? 8 : 2 * picks->capacity;
			struct row_pick *list = realloc(picks->list, capacity * sizeof(*list));

			picks->list = list != NULL ? list : picks->list;
			picks->capacity = list != NULL ? capacity : picks->capacity;
		}
		if (picks->count == picks->capacity)
			rc = no_memory(err);
	}
	if (rc != LANCET_OK || roaring_bitmap_is_empty(rows)) {
		roaring_bitmap_free(rows);
		if (pick.deleted != NULL)
			roaring_bitmap_free(pick.deleted);
		return rc;
	}
	roaring_bitmap_or_inplace(pick.deleted, rows);
	picks->rows += roaring_bitmap_get_cardinality(rows);
	picks->list[picks->count++] = pick;
	return LANCET_OK;
}

/* All ranges from the first on that are of its fragment; *ret_next is the first that is not. */
static int
pick_in_fragment(lancet_fragment *fragment, const struct row_ranges *addrs, size_t first,
	roaring_bitmap_t *rows, size_t *ret_next, struct lancet_error *err)
{
	uint64_t id = fragment->info.id, count = fragment->info.physical_rows;
	size_t i = first;

	for (; i < addrs->count && addrs->list[i].first >> 32 == id; i++) {
		struct row_id_range range = addrs->list[i];
		uint64_t missing =
			range.first > (id << 32) + count ? range.first : (id << 32) + count;

		if (range.last >= missing)
			return lancet_fail(err, LANCET_NOT_FOUND,
				"row %" PRIu64 ": fragment %" PRIu64 " has %" PRIu64
				" rows, and none at offset %" PRIu64,
				missing, id, count, missing - (id << 32));
		roaring_bitmap_add_range_closed(rows, (uint32_t)range.first, (uint32_t)range.last);
	}
	*ret_next = i;
	return LANCET_OK;
}

static int
pick_addresses(lancet_version *version, const struct row_ranges *addrs, size_t *at,
	struct row_picks *picks, struct lancet_error *err)
{
	uint64_t addr = addrs->list[*at].first, ordinal;
	lancet_fragment *fragment = NULL;
	roaring_bitmap_t *rows;
	int rc = lancet_version_find_fragment(version, addr >> 32, &ordinal, err);

	if (rc == LANCET_NOT_FOUND)
		return lancet_fail(err, LANCET_NOT_FOUND,
			"row %" PRIu64 ": there is no fragment %" PRIu64
			" (any more: its rows were rewritten or are all deleted)",
			addr, addr >> 32);
	if (rc == LANCET_OK)
		rc = lancet_fragment_open(version, ordinal, &fragment, err);
	if (rc != LANCET_OK)
		return rc;
	rows = roaring_bitmap_create();
	if (rows == NULL)
		rc = no_memory(err);
	else
		rc = pick_in_fragment(fragment, addrs, *at, rows, at, err);
	if (rc == LANCET_OK)
		rc = row_picks_add(picks, ordinal, fragment, rows, err);
	else if (rows != NULL)
		roaring_bitmap_free(rows);
	lancet_fragment_unref(fragment);
	return rc;
}

int
row_picks_by_addr(lancet_version *version, const struct row_ranges *addrs,
	struct row_picks *ret_picks, struct lancet_error *err)
{
	struct row_picks picks = { 0 };

	for (size_t at = 0; at < addrs->count;) {
		int rc = pick_addresses(version, addrs, &at, &picks, err);

		if (rc != LANCET_OK) {
			row_picks_release(&picks);
			return rc;
		}
	}
	*ret_picks = picks;
	return LANCET_OK;
}

/* Rows of one fragment that have a wanted id. */
struct hunt {
	const struct row_ranges *ids;
	uint64_t *wanted; /* all ids of the ranges when they are few; NULL: they are many */
	size_t count;
	roaring_bitmap_t *rows;
};

static int
found(void *user, uint64_t row, size_t index, struct lancet_error *err)
{
	struct hunt *hunt = user;

	(void)index;
	if (row > UINT32_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "a fragment with row %" PRIu64, row);
	roaring_bitmap_add(hunt->rows, (uint32_t)row);
	return LANCET_OK;
}

/* Ids of one column are near each other most of the time: the range of the last one is tried
 * first. */
static void
compare_block(struct hunt *hunt, const uint64_t *values, size_t count, uint64_t row)
{
	size_t range = hunt->ids->count;

	for (size_t i = 0; i < count; i++) {
		if (range == hunt->ids->count || values[i] < hunt->ids->list[range].first ||
			values[i] > hunt->ids->list[range].last)
			range = row_ranges_find(hunt->ids, values[i]);
		if (range < hunt->ids->count && values[i] >= hunt->ids->list[range].first)
			roaring_bitmap_add(hunt->rows, (uint32_t)(row + i));
	}
}

static int
compare_all(struct hunt *hunt, const lancet_column *column, struct lancet_error *err)
{
	uint64_t rows = lancet_column_rows(column);
	uint64_t values[BLOCK];

	if (rows > UINT32_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "a fragment of %" PRIu64 " rows", rows);
	for (uint64_t row = 0; row < rows; row += BLOCK) {
		size_t count = rows - row < BLOCK ? (size_t)(rows - row) : BLOCK;

		TRY(lancet_column_read(column, row, count, values, err));
		compare_block(hunt, values, count, row);
	}
	return LANCET_OK;
}

static int
hunt_in(struct hunt *hunt, lancet_fragment *fragment, struct lancet_error *err)
{
	lancet_column *column;
	int rc;

	TRY(lancet_column_open(fragment, LANCET_ROW_ID, &column, err));
	if (hunt->wanted != NULL)
		rc = column_find(column, hunt->wanted, hunt->count, found, hunt, err);
	else
		rc = compare_all(hunt, column, err);
	lancet_column_free(column);
	return lancet_wrap(err, rc, "fragment %" PRIu64, fragment->info.id);
}

static int
hunt_fragment(lancet_version *version, uint64_t ordinal, struct hunt *hunt, struct row_picks *picks,
	struct lancet_error *err)
{
	lancet_fragment *fragment;
	int rc;

	TRY(lancet_fragment_open(version, ordinal, &fragment, err));
	hunt->rows = roaring_bitmap_create();
	rc = hunt->rows == NULL ? no_memory(err) : hunt_in(hunt, fragment, err);
	if (rc == LANCET_OK && !roaring_bitmap_is_empty(hunt->rows)) {
		(void)roaring_bitmap_run_optimize(hunt->rows);
		rc = row_picks_add(picks, ordinal, fragment, hunt->rows, err);
	} else if (hunt->rows != NULL) {
		roaring_bitmap_free(hunt->rows);
	}
	lancet_fragment_unref(fragment);
	return rc;
}

static int
list_wanted(struct hunt *hunt, struct lancet_error *err)
{
	uint64_t total = row_ranges_total(hunt->ids, FEW_IDS + 1);

	if (total > FEW_IDS)
		return LANCET_OK;
	hunt->wanted = calloc((size_t)total + 1, sizeof(*hunt->wanted));
	if (hunt->wanted == NULL)
		return no_memory(err);
	for (size_t i = 0; i < hunt->ids->count; i++) {
		struct row_id_range range = hunt->ids->list[i];

		for (uint64_t j = 0; j <= range.last - range.first; j++)
			hunt->wanted[hunt->count++] = range.first + j;
	}
	return LANCET_OK;
}

/* A row has its id in one live place only, so it ends when all are found. */
static int
hunt_all(lancet_version *version, struct hunt *hunt, struct row_picks *picks,
	struct lancet_error *err)
{
	for (uint64_t i = 0; i < version->info.fragment_count; i++) {
		if (hunt->wanted != NULL && picks->rows >= hunt->count)
			break;
		TRY(hunt_fragment(version, i, hunt, picks, err));
	}
	return LANCET_OK;
}

int
row_picks_by_id(lancet_version *version, const struct row_ranges *ids, struct row_picks *ret_picks,
	struct lancet_error *err)
{
	struct row_picks picks = { 0 };
	struct hunt hunt = { .ids = ids };
	size_t beyond = row_ranges_find(ids, version->info.next_row_id);
	int rc;

	if (!version->info.stable_row_ids)
		return row_picks_by_addr(version, ids, ret_picks, err);
	if (beyond < ids->count) {
		uint64_t first = ids->list[beyond].first;

		if (first < version->info.next_row_id)
			first = version->info.next_row_id;
		return lancet_fail(err, LANCET_NOT_FOUND,
			"row %" PRIu64 ": there is none, the next row will be %" PRIu64, first,
			version->info.next_row_id);
	}
	rc = list_wanted(&hunt, err);
	if (rc == LANCET_OK)
		rc = hunt_all(version, &hunt, &picks, err);
	free(hunt.wanted);
	if (rc != LANCET_OK) {
		row_picks_release(&picks);
		return rc;
	}
	*ret_picks = picks;
	return LANCET_OK;
}
