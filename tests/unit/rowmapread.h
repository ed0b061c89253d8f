/* Row maps made by hand, opened and asked for rows. */
#ifndef TESTS_ROWMAPREAD_H
#define TESTS_ROWMAPREAD_H

#include "core/rowmap.h"
#include "rowmapmade.h"

#include <inttypes.h>

#define REQUEST_ROWS 1700u /* lines of mapping.tsv in 128 KiB */

static inline int
open_bytes_as(struct slice bytes, const struct lancet_transition *transition,
	struct rowmap **ret_map, struct lancet_error *err)
{
	struct source *src = source_memory_new(bytes, NULL);
	int rc = rowmap_open(src, transition, ret_map, err);

	source_unref(src);
	return rc;
}

static inline struct rowmap *
open_made(const struct map_made *made)
{
	struct rowmap *map = NULL;
	struct lancet_error err = { 0 };

	ck_assert_msg(
		open_bytes_as(buf_slice(&made->bytes), &made->transition, &map, &err) == LANCET_OK,
		"%s", err.text);
	return map;
}

/* Asks for rows, and holds the answers against those of all rows. */
static inline void
check_rows(struct rowmap *map, const uint64_t *rows, size_t count, const uint64_t *wanted)
{
	uint64_t *row_addrs = calloc(count + 1, sizeof(*row_addrs));
	struct lancet_error err = { 0 };

	ck_assert_msg(
		rowmap_locate(map, rows, count, row_addrs, &err) == LANCET_OK, "%s", err.text);
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(row_addrs[i] == wanted[rows[i]],
			"row %" PRIu64 " is at %" PRIx64 ", wanted at %" PRIx64, rows[i],
			row_addrs[i], wanted[rows[i]]);
	free(row_addrs);
}

static inline void
check_range(struct rowmap *map, uint64_t first, uint64_t end, uint64_t step, const uint64_t *wanted)
{
	uint64_t *rows = calloc((size_t)(end / step) + 1, sizeof(*rows));
	size_t count = 0;

	for (uint64_t row = first; row < end; row += step)
		rows[count++] = row;
	check_rows(map, rows, count, wanted);
	free(rows);
}

#endif
