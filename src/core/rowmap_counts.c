/* Reading and checking the counts of a row map; see rowmap_counts.h.
 *
 *     "LSPC" | u32 version | u32 representation | u32 destinations | u32 rows of a block |
 *     u64 rows | u32 cells, block by block
 */
#include "rowmap_counts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "util/cursor.h"
#include "util/macros.h"
#include "util/text.h"

#define INDEX_KEY        "lance:stable_partition:counts_buffer_index"
#define MAGIC            0x4350534cu /* "LSPC" */
#define HEADER_SIZE      28u
#define DESTINATIONS_MAX 65535u
#define KEPT_MAX         (UINT64_C(4) << 20) /* bytes that stay in memory */
#define CELLS_MAX        (UINT64_C(4) << 30) /* bytes; all are read when a map is opened */
#define VIEW_SIZE        65536u              /* bytes of a view, unless one row is longer */

static int
find_buffer(struct datafile *file, struct page_buffer *ret_place, struct lancet_error *err)
{
	struct slice text = { 0 };
	uint64_t index;
	int rc = datafile_metadata(file, slice_text(INDEX_KEY), &text, err);

	if (rc == LANCET_NOT_FOUND)
		return lancet_fail(err, LANCET_CORRUPT, "the schema has no %s", INDEX_KEY);
	TRY(rc);
	if (!text_to_u64(text, &index) || index > UINT32_MAX)
		return lancet_fail(
			err, LANCET_CORRUPT, "%s is \"%.*s\"", INDEX_KEY, FIELD_TEXT(text));
	return datafile_global_buffer(file, (uint32_t)index, ret_place, err);
}

static int
check_header(struct cursor *c, struct lancet_error *err)
{
	uint32_t magic = cursor_u32(c);
	uint32_t version = cursor_u32(c);
	uint32_t representation = cursor_u32(c);

	if (magic != MAGIC)
		return lancet_fail(err, LANCET_CORRUPT, "magic is %08" PRIx32, magic);
	if (version != 1)
		return lancet_fail(err, LANCET_UNSUPPORTED, "version %" PRIu32, version);
	if (representation != 0)
		return lancet_fail(
			err, LANCET_UNSUPPORTED, "representation %" PRIu32, representation);
	return LANCET_OK;
}

static int
parse_shape(struct rowmap_counts *counts, struct slice header,
	const struct lancet_transition *transition, struct lancet_error *err)
{
	struct cursor c = { .in = header };
	uint32_t destinations;

	TRY(check_header(&c, err));
	destinations = cursor_u32(&c);
	counts->block_rows = cursor_u32(&c);
	counts->rows = cursor_u64(&c);
	assert(!c.bad && cursor_left(&c) == 0);
	if (destinations == 0 || destinations > DESTINATIONS_MAX ||
		destinations != transition->destination_count)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu32 " destinations, the transition has %zu", destinations,
			transition->destination_count);
	if (counts->block_rows == 0)
		return lancet_fail(err, LANCET_CORRUPT, "blocks of no rows");
	if (counts->rows != transition->source_rows)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " rows, the transition's sources have %" PRIu64, counts->rows,
			transition->source_rows);
	counts->destinations = destinations;
	counts->blocks =
		counts->rows / counts->block_rows + (counts->rows % counts->block_rows != 0);
	return LANCET_OK;
}

static int
check_size(const struct rowmap_counts *counts, uint64_t size, struct lancet_error *err)
{
	uint64_t wanted;

	if (__builtin_mul_overflow(
		    counts->blocks, counts->destinations * (uint64_t)sizeof(uint32_t), &wanted) ||
		wanted != size)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " bytes for %" PRIu64 " blocks and %" PRIu32 " destinations",
			size, counts->blocks, counts->destinations);
	if (size > CELLS_MAX)
		return lancet_fail(err, LANCET_LIMIT, "%" PRIu64 " bytes", size);
	return LANCET_OK;
}

int
rowmap_counts_read(const struct rowmap_counts *counts, uint64_t first, size_t count, uint32_t *into,
	struct lancet_error *err)
{
	size_t cells = count * counts->destinations;

	assert(first <= counts->blocks && count <= counts->blocks - first);
	if (counts->cells != NULL) {
		memcpy(into, counts->cells + (first + 1) * counts->destinations,
			cells * sizeof(*into));
		return LANCET_OK;
	}
	return source_read_at(counts->source,
		counts->offset + first * counts->destinations * sizeof(*into),
		cells * sizeof(*into), into, err);
}

/* ---- a view of rows --------------------------------------------------------------------- */

void
counts_view_release(struct counts_view *view)
{
	free(view->cells);
	view->cells = NULL;
	view->count = 0;
}

static uint64_t
view_rows(const struct rowmap_counts *counts)
{
	uint64_t rows = VIEW_SIZE / sizeof(uint32_t) / counts->destinations;

	return rows > 0 ? rows : 1;
}

/* Row 0, before all blocks, is not stored. */
static int
view_move(struct counts_view *view, uint64_t block, struct lancet_error *err)
{
	const struct rowmap_counts *counts = view->counts;
	uint64_t room = view_rows(counts), left = counts->blocks + 1 - block;
	uint64_t count = left < room ? left : room;
	uint32_t *at;

	if (view->cells == NULL)
		view->cells = calloc((size_t)room * counts->destinations, sizeof(*view->cells));
	if (view->cells == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "counts");
	at = view->cells;
	view->count = 0;
	if (block == 0) {
		memset(at, 0, counts->destinations * sizeof(*at));
		at += counts->destinations;
	}
	TRY(rowmap_counts_read(counts, block == 0 ? 0 : block - 1,
		(size_t)(block == 0 ? count - 1 : count), at, err));
	view->first = block;
	view->count = count;
	return LANCET_OK;
}

int
counts_view_before(struct counts_view *view, uint64_t block, const uint32_t **ret_row,
	struct lancet_error *err)
{
	const struct rowmap_counts *counts = view->counts;
	int rc;

	assert(block <= counts->blocks);
	if (counts->cells != NULL) {
		*ret_row = counts->cells + block * counts->destinations;
		return LANCET_OK;
	}
	if (block < view->first || block - view->first >= view->count) {
		rc = view_move(view, block, err);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "counts");
	}
	*ret_row = view->cells + (block - view->first) * counts->destinations;
	return LANCET_OK;
}

/* ---- the pass when they are opened ------------------------------------------------------ */

/* Rows of the block that have a label; *ret_falls: a count is below the one before. */
static lancet_hot uint64_t
rise(const uint32_t *before, const uint32_t *after, size_t count, bool *ret_falls)
{
	uint64_t sum = 0;
	uint32_t falls = 0;

	for (size_t i = 0; i < count; i++) {
		falls |= after[i] < before[i];
		sum += after[i] - before[i];
	}
	*ret_falls = falls != 0;
	return sum;
}

static int
check_block(const struct rowmap_counts *counts, uint64_t block, const uint32_t *before,
	const uint32_t *after, struct lancet_error *err)
{
	uint64_t left = counts->rows - block * counts->block_rows;
	uint64_t length = left < counts->block_rows ? left : counts->block_rows;
	bool falls;
	uint64_t labels = rise(before, after, counts->destinations, &falls);
	size_t at = 0;

	if (falls) {
		while (after[at] >= before[at])
			at++;
		return lancet_fail(err, LANCET_CORRUPT,
			"block %" PRIu64 ": destination %zu falls from %" PRIu32 " to %" PRIu32,
			block, at, before[at], after[at]);
	}
	if (labels > length)
		return lancet_fail(err, LANCET_CORRUPT,
			"block %" PRIu64 ": %" PRIu64 " labels in %" PRIu64 " rows", block, labels,
			length);
	return LANCET_OK;
}

static int
check_end(
	const struct lancet_transition *transition, const uint32_t *last, struct lancet_error *err)
{
	for (size_t i = 0; i < transition->destination_count; i++) {
		if (last[i] != transition->destinations[i].physical_rows)
			return lancet_fail(err, LANCET_CORRUPT,
				"%" PRIu32 " rows of destination %zu, it has %" PRIu64, last[i], i,
				transition->destinations[i].physical_rows);
	}
	return LANCET_OK;
}

static int
check_blocks(const struct rowmap_counts *counts, const struct lancet_transition *transition,
	struct counts_view *view, uint32_t *before, struct lancet_error *err)
{
	for (uint64_t block = 0; block < counts->blocks; block++) {
		const uint32_t *after;

		TRY(counts_view_before(view, block + 1, &after, err));
		TRY(check_block(counts, block, before, after, err));
		memcpy(before, after, counts->destinations * sizeof(*before));
	}
	return check_end(transition, before, err);
}

static int
check_cells(const struct rowmap_counts *counts, const struct lancet_transition *transition,
	struct lancet_error *err)
{
	lancet_autofree uint32_t *before = calloc(counts->destinations, sizeof(*before));
	struct counts_view view = { .counts = counts };
	int rc;

	if (before == NULL)
		return lancet_fail(
			err, LANCET_NO_MEMORY, "%" PRIu32 " destinations", counts->destinations);
	rc = check_blocks(counts, transition, &view, before, err);
	counts_view_release(&view);
	return rc;
}

static int
keep_cells(struct rowmap_counts *counts, uint64_t size, struct lancet_error *err)
{
	size_t row = counts->destinations * sizeof(uint32_t);
	uint32_t *cells;
	int rc;

	if (size > KEPT_MAX)
		return LANCET_OK;
	cells = malloc(row + (size_t)size);
	if (cells == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%" PRIu64 " bytes", size);
	memset(cells, 0, row);
	rc = source_read_at(
		counts->source, counts->offset, (size_t)size, cells + counts->destinations, err);
	if (rc != LANCET_OK)
		free(cells);
	else
		counts->cells = cells;
	return rc;
}

static int
open_buffer(struct rowmap_counts *counts, const struct page_buffer *place,
	const struct lancet_transition *transition, struct lancet_error *err)
{
	uint8_t header[HEADER_SIZE];

	if (place->size < HEADER_SIZE)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " bytes, %u needed", place->size,
			HEADER_SIZE);
	TRY(source_read_at(counts->source, place->offset, HEADER_SIZE, header, err));
	TRY(parse_shape(counts, slice_of(header, HEADER_SIZE), transition, err));
	TRY(check_size(counts, place->size - HEADER_SIZE, err));
	counts->offset = place->offset + HEADER_SIZE;
	TRY(keep_cells(counts, place->size - HEADER_SIZE, err));
	return check_cells(counts, transition, err);
}

int
rowmap_counts_init(struct rowmap_counts *counts, struct datafile *file,
	const struct lancet_transition *transition, struct lancet_error *err)
{
	struct page_buffer place;
	int rc;

	*counts = (struct rowmap_counts){ .source = datafile_source(file) };
	TRY(find_buffer(file, &place, err));
	rc = open_buffer(counts, &place, transition, err);
	if (rc == LANCET_OK)
		return LANCET_OK;
	rowmap_counts_release(counts);
	return lancet_wrap(err, rc, "counts");
}

void
rowmap_counts_release(struct rowmap_counts *counts)
{
	free(counts->cells);
	counts->cells = NULL;
}
