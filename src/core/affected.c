/* The rows of affected.h: sorted once, then a roaring bitmap for each fragment. */
#include "affected.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/macros.h"

#define FRAGMENT_NONE UINT32_MAX /* ids are below it */

struct affected_fragment {
	uint32_t id;
	roaring_bitmap_t *offsets;
};

struct affected_rows {
	struct affected_fragment *fragments; /* by id */
	size_t count;
	size_t room;
};

static int
compare_addrs(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static size_t
count_fragments(const uint64_t *row_addrs, size_t count)
{
	size_t fragments = 0;

	for (size_t i = 0; i < count; i++)
		fragments += i == 0 || row_addrs[i] >> 32 != row_addrs[i - 1] >> 32;
	return fragments;
}

static int
fill(struct affected_rows *rows, const uint64_t *row_addrs, size_t count, struct lancet_error *err)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t id = (uint32_t)(row_addrs[i] >> 32);
		struct affected_fragment *last = &rows->fragments[rows->count];

		if (id == FRAGMENT_NONE)
			return lancet_fail(err, LANCET_INVALID, "affected rows: no row address");
		if (rows->count == 0 || rows->fragments[rows->count - 1].id != id) {
			*last = (struct affected_fragment){ id, roaring_bitmap_create() };
			if (last->offsets == NULL)
				return lancet_fail(err, LANCET_NO_MEMORY, "affected rows");
			rows->count++;
		}
		roaring_bitmap_add(
			rows->fragments[rows->count - 1].offsets, (uint32_t)row_addrs[i]);
	}
	return LANCET_OK;
}

void
affected_rows_free(struct affected_rows *rows)
{
	if (rows == NULL)
		return;
	for (size_t i = 0; i < rows->count; i++)
		roaring_bitmap_free(rows->fragments[i].offsets);
	free(rows->fragments);
	free(rows);
}

int
affected_rows_empty(
	size_t fragments_max, struct affected_rows **ret_rows, struct lancet_error *err)
{
	struct affected_rows *rows = calloc(1, sizeof(*rows));

	if (rows != NULL)
		rows->fragments = calloc(fragments_max + 1, sizeof(*rows->fragments));
	if (rows == NULL || rows->fragments == NULL) {
		affected_rows_free(rows);
		return lancet_fail(err, LANCET_NO_MEMORY, "affected rows");
	}
	rows->room = fragments_max;
	*ret_rows = rows;
	return LANCET_OK;
}

void
affected_rows_put(struct affected_rows *rows, uint32_t fragment, roaring_bitmap_t *offsets)
{
	assert(rows->count < rows->room && fragment < FRAGMENT_NONE);
	assert(rows->count == 0 || rows->fragments[rows->count - 1].id < fragment);
	rows->fragments[rows->count++] = (struct affected_fragment){ fragment, offsets };
}

int
affected_rows_new(const uint64_t *row_addrs, size_t count, struct affected_rows **ret_rows,
	struct lancet_error *err)
{
	lancet_autofree uint64_t *sorted = calloc(count + 1, sizeof(*sorted));
	struct affected_rows *rows = calloc(1, sizeof(*rows));
	int rc;

	if (sorted == NULL || rows == NULL) {
		free(rows);
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu affected rows", count);
	}
	if (count > 0)
		memcpy(sorted, row_addrs, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_addrs);
	rows->fragments = calloc(count_fragments(sorted, count) + 1, sizeof(*rows->fragments));
	if (rows->fragments == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "%zu affected rows", count);
	else
		rc = fill(rows, sorted, count, err);
	if (rc != LANCET_OK) {
		affected_rows_free(rows);
		return rc;
	}
	*ret_rows = rows;
	return LANCET_OK;
}

const roaring_bitmap_t *
affected_rows_in(const struct affected_rows *rows, uint64_t fragment)
{
	size_t low = 0, high = rows->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows->fragments[middle].id < fragment)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == rows->count || rows->fragments[low].id != fragment)
		return NULL;
	return rows->fragments[low].offsets;
}
