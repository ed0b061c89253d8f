/* Where rows went: by the counts before them, and by counting the labels from there.
 *
 * A block that nobody has read yet is walked from its start to its end, and has to arrive at its
 * own counts; on the way, marks are left: the counts at every so many rows. From then on a read
 * begins at the mark before its first row and ends at its last, so that small reads one after the
 * other cost little more than their rows. Where marks would take too much memory, or blocks are
 * short, each read walks whole blocks. Labels are decoded in pieces, for as many rows ahead as will
 * be needed. Format facts: translation, row map file.
 */
#include "rowmap.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "rowmap_parts.h"
#include "util/macros.h"

#define MARK_ROWS_MIN  1024u
#define MARK_CELLS_MAX (UINT64_C(1) << 20) /* of all blocks: 4 MiB */
#define GAP_MAX        1024u /* rows that nobody asked for, decoded rather than stepped over */

struct walk {
	struct rowmap *map;
	struct column_reader *reader;
	struct counts_view view;
	uint32_t *counters; /* rows of each destination before `row`, and something for deleted rows
			     */
	uint64_t row;
	const uint64_t *asked; /* those that are not answered yet */
	size_t left;
	uint64_t *row_addrs;
	uint16_t *labels; /* of rows [labels_first, labels_end); deleted ones have the one behind
			     all */
	uint64_t labels_first, labels_end;
};

/* ---- marks ------------------------------------------------------------------------------ */

static uint64_t
block_start(const struct rowmap *map, uint64_t block)
{
	return block * map->counts.block_rows;
}

static uint64_t
block_end(const struct rowmap *map, uint64_t block)
{
	uint64_t start = block_start(map, block), left = map->counts.rows - start;

	return start + (left < map->counts.block_rows ? left : map->counts.block_rows);
}

/* Marks inside a block of so many rows. */
static uint64_t
mark_count(uint64_t mark_rows, uint64_t block_rows)
{
	return (block_rows - 1) / mark_rows;
}

int
rowmap_marks_init(struct rowmap *map, struct lancet_error *err)
{
	const struct rowmap_counts *counts = &map->counts;
	uint64_t longest = counts->block_rows < counts->rows ? counts->block_rows : counts->rows;
	uint64_t rows = MARK_ROWS_MIN, cells;

	for (; rows < longest; rows *= 2) {
		if (!__builtin_mul_overflow(mark_count(rows, longest) * counts->destinations,
			    counts->blocks, &cells) &&
			cells <= MARK_CELLS_MAX)
			break;
	}
	if (rows >= longest)
		return LANCET_OK;
	map->marks = calloc((size_t)counts->blocks, sizeof(*map->marks));
	if (map->marks == NULL)
		return lancet_fail(
			err, LANCET_NO_MEMORY, "marks of %" PRIu64 " blocks", counts->blocks);
	map->mark_rows = rows;
	return LANCET_OK;
}

void
rowmap_marks_release(struct rowmap *map)
{
	for (uint64_t i = 0; map->marks != NULL && i < map->counts.blocks; i++)
		free(atomic_load_explicit(&map->marks[i], memory_order_relaxed));
	free((void *)map->marks);
	map->marks = NULL;
}

static uint32_t *
marks_of(const struct rowmap *map, uint64_t block)
{
	if (map->mark_rows == 0)
		return NULL;
	return atomic_load_explicit(&map->marks[block], memory_order_acquire);
}

static void
keep_marks(struct rowmap *map, uint64_t block, uint32_t *marks)
{
	uint32_t *none = NULL;

	if (!atomic_compare_exchange_strong_explicit(
		    &map->marks[block], &none, marks, memory_order_release, memory_order_relaxed))
		free(marks); /* another thread was here meanwhile, and found the same */
}

static int
new_marks(const struct rowmap *map, uint64_t block, uint32_t **ret_marks, struct lancet_error *err)
{
	uint64_t rows = block_end(map, block) - block_start(map, block);
	uint64_t cells = mark_count(map->mark_rows, rows) * map->counts.destinations;

	*ret_marks = malloc((size_t)(cells + 1) * sizeof(**ret_marks));
	if (*ret_marks == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%" PRIu64 " marks", cells);
	return LANCET_OK;
}

/* ---- labels ----------------------------------------------------------------------------- */

/* The row up to which labels from walk->row on are decoded at once. Long blocks are pieces enough;
 * of short ones, those that will be walked next are read with the one that ends at `end`. */
static uint64_t
decode_end(const struct walk *walk, uint64_t end)
{
	const struct rowmap *map = walk->map;
	uint64_t last = walk->row + ROWMAP_PIECE_ROWS;
	size_t i = 0;

	while (map->mark_rows == 0 && end < last) {
		uint64_t block;

		while (i < walk->left && walk->asked[i] < end)
			i++;
		if (i == walk->left)
			break;
		block = walk->asked[i] / map->counts.block_rows;
		if (block_start(map, block) > end + GAP_MAX)
			break;
		end = block_end(map, block);
	}
	return end < last ? end : last;
}

/* Labels from walk->row on, at most up to `stop`; those up to `end` will be needed next. */
static int
labels_here(struct walk *walk, uint64_t stop, uint64_t end, const uint16_t **ret_labels,
	size_t *ret_count, struct lancet_error *err)
{
	assert(walk->row >= walk->labels_first); /* asked rows ascend */
	if (walk->row >= walk->labels_end) {
		end = decode_end(walk, end);
		walk->labels_end = 0;
		TRY(rowmap_decode(walk->map, walk->reader, walk->row, (size_t)(end - walk->row),
			(uint16_t)walk->map->counts.destinations, walk->labels, err));
		walk->labels_first = walk->row;
		walk->labels_end = end;
	}
	if (stop > walk->labels_end)
		stop = walk->labels_end;
	*ret_labels = walk->labels + (walk->row - walk->labels_first);
	*ret_count = (size_t)(stop - walk->row);
	return LANCET_OK;
}

/* ---- walking ---------------------------------------------------------------------------- */

/* Answers the asked rows among the next `count`, and counts their labels. */
static lancet_hot void
count_labels(struct walk *walk, const uint16_t *labels, size_t count)
{
	const uint64_t *bases = walk->map->bases, *asked = walk->asked;
	uint32_t *counters = walk->counters;
	uint64_t *row_addrs = walk->row_addrs;
	size_t at = 0, left = walk->left;

	for (size_t i = 0; i < count; i++) {
		uint16_t label = labels[i];

		while (at < left && asked[at] == walk->row + i)
			row_addrs[at++] = bases[label] | counters[label];
		counters[label]++;
	}
	walk->asked += at;
	walk->row_addrs += at;
	walk->left -= at;
	walk->row += count;
}

static int
fail_counts(
	const struct walk *walk, uint64_t block, const uint32_t *wanted, struct lancet_error *err)
{
	size_t at = 0;

	while (walk->counters[at] == wanted[at])
		at++;
	return lancet_fail(err, LANCET_CORRUPT,
		"block %" PRIu64 ": labels count %" PRIu32 " rows of destination %zu up to its "
		"end, its counts say %" PRIu32,
		block, walk->counters[at], at, wanted[at]);
}

static int
check_end(struct walk *walk, uint64_t block, struct lancet_error *err)
{
	const uint32_t *wanted;

	TRY(counts_view_before(&walk->view, block + 1, &wanted, err));
	if (memcmp(wanted, walk->counters, walk->map->counts.destinations * sizeof(*wanted)) != 0)
		return fail_counts(walk, block, wanted, err);
	return LANCET_OK;
}

/* Walks on to `end`. `marks`: to be filled, or NULL. */
static int
walk_to(struct walk *walk, uint64_t start, uint64_t end, uint32_t *marks, struct lancet_error *err)
{
	const struct rowmap *map = walk->map;
	uint64_t mark = start + map->mark_rows;

	while (walk->row < end) {
		uint64_t stop = marks != NULL && mark < end ? mark : end;
		const uint16_t *labels;
		size_t count;

		TRY(labels_here(walk, stop, end, &labels, &count, err));
		count_labels(walk, labels, count);
		if (walk->row != mark || walk->row == end || marks == NULL)
			continue;
		memcpy(marks, walk->counters, map->counts.destinations * sizeof(*marks));
		marks += map->counts.destinations;
		mark += map->mark_rows;
	}
	return LANCET_OK;
}

static int
walk_new_block(struct walk *walk, uint64_t block, struct lancet_error *err)
{
	struct rowmap *map = walk->map;
	uint32_t *marks = NULL;
	int rc;

	if (map->mark_rows != 0)
		TRY(new_marks(map, block, &marks, err));
	rc = walk_to(walk, block_start(map, block), block_end(map, block), marks, err);
	if (rc == LANCET_OK)
		rc = check_end(walk, block, err);
	if (rc == LANCET_OK && marks != NULL)
		keep_marks(map, block, marks);
	else
		free(marks);
	return rc;
}

/* Puts the walk at that row, which is the start of the block or a mark inside of it. */
static int
turn_to(struct walk *walk, uint64_t block, uint64_t row, const uint32_t *marks,
	struct lancet_error *err)
{
	const struct rowmap *map = walk->map;
	uint64_t inside = row - block_start(map, block);
	const uint32_t *before;

	if (walk->row == row)
		return LANCET_OK;
	if (inside == 0)
		TRY(counts_view_before(&walk->view, block, &before, err));
	else
		before = marks + (inside / map->mark_rows - 1) * map->counts.destinations;
	memcpy(walk->counters, before, map->counts.destinations * sizeof(*before));
	walk->row = row;
	return LANCET_OK;
}

/* Answers the first asked row, which is in the block, and those behind it that are better walked to
 * than begun anew. */
static int
walk_from_mark(struct walk *walk, uint64_t block, const uint32_t *marks, struct lancet_error *err)
{
	const struct rowmap *map = walk->map;
	uint64_t start = block_start(map, block), stop = block_end(map, block);
	uint64_t inside = walk->asked[0] - start;
	uint64_t end = walk->asked[0] + 1;

	for (size_t i = 1; i < walk->left && walk->asked[i] < stop; i++) {
		if (walk->asked[i] > end + map->mark_rows)
			break;
		end = walk->asked[i] + 1;
	}
	TRY(turn_to(walk, block, start + inside - inside % map->mark_rows, marks, err));
	return walk_to(walk, start, end, NULL, err);
}

/* Answers at least the first asked row. */
static int
locate_some(struct walk *walk, struct lancet_error *err)
{
	struct rowmap *map = walk->map;
	uint64_t block = walk->asked[0] / map->counts.block_rows;
	const uint32_t *marks;

	assert(walk->asked[0] < map->counts.rows);
	marks = marks_of(map, block);
	if (marks != NULL)
		return walk_from_mark(walk, block, marks, err);
	TRY(turn_to(walk, block, block_start(map, block), NULL, err));
	return walk_new_block(walk, block, err);
}

int
rowmap_locate(struct rowmap *map, const uint64_t *rows, size_t count, uint64_t *row_addrs,
	struct lancet_error *err)
{
	struct walk walk = { .map = map,
		.view = { .counts = &map->counts },
		.row = UINT64_MAX,
		.asked = rows,
		.left = count,
		.row_addrs = row_addrs };
	int rc = LANCET_OK;

	walk.counters = calloc((size_t)map->counts.destinations + 1, sizeof(*walk.counters));
	walk.labels = malloc(ROWMAP_PIECE_ROWS * sizeof(*walk.labels));
	if (walk.counters == NULL || walk.labels == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "labels");
	else
		rc = column_pool_take(&map->labels, &walk.reader, err);
	while (rc == LANCET_OK && walk.left > 0)
		rc = locate_some(&walk, err);
	if (walk.reader != NULL)
		column_pool_give(&map->labels, walk.reader, rc);
	counts_view_release(&walk.view);
	free(walk.counters);
	free(walk.labels);
	return rc;
}
