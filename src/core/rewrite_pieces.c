/* Live rows of sources, counted through deletion vectors. */
#include "rewrite_write.h"

#include <inttypes.h>
#include <stdlib.h>

#include "deletion.h"
#include "util/macros.h"

static uint64_t
physical_rows(const struct rewrite_source *source)
{
	return lancet_fragment_info(source->fragment)->physical_rows;
}

static uint64_t
deleted_below(const struct rewrite_source *source, uint64_t offset)
{
	return source->deletion == NULL ? 0 : deletion_rank(source->deletion, offset);
}

/* The offset of the live row with this number: the least one up to which so many are live. */
static uint64_t
find_live(const struct rewrite_source *source, uint64_t number)
{
	uint64_t low = number, high = physical_rows(source) - 1;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (middle + 1 - deleted_below(source, middle + 1) > number)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static struct rewrite_piece
make_piece(const struct rewrite_task *task, size_t number, uint64_t first, uint64_t count)
{
	const struct rewrite_source *source = &task->sources[number];
	struct rewrite_piece piece = { .source = number, .live = count };

	piece.whole = count == physical_rows(source);
	piece.first = find_live(source, first);
	piece.end = find_live(source, first + count - 1) + 1;
	return piece;
}

int
rewrite_pieces(const struct rewrite_task *task, uint64_t from, uint64_t count,
	struct rewrite_piece **ret_pieces, size_t *ret_count, struct lancet_error *err)
{
	struct rewrite_piece *pieces = calloc(task->source_count + 1, sizeof(*pieces));
	size_t found = 0;

	if (pieces == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "rows of a new fragment");
	for (size_t i = 0; i < task->source_count && count > 0; i++) {
		uint64_t live = task->sources[i].live_rows, take;

		if (from >= live) {
			from -= live;
			continue;
		}
		take = live - from < count ? live - from : count;
		pieces[found++] = make_piece(task, i, from, take);
		count -= take;
		from = 0;
	}
	*ret_pieces = pieces;
	*ret_count = found;
	return LANCET_OK;
}

static void
add_range(struct rewrite_batch *batch, uint64_t first, uint64_t end)
{
	if (first >= end)
		return;
	batch->ranges[batch->count++] = (struct row_range){ first, end - first };
	batch->rows += end - first;
}

/* Between the deleted rows. */
int
rewrite_batch(const struct rewrite_source *source, const struct rewrite_piece *piece, uint64_t at,
	uint64_t rows, struct rewrite_batch *batch, struct lancet_error *err)
{
	uint64_t number = deleted_below(source, at), left;
	uint32_t deleted[REWRITE_RANGES];
	size_t count = REWRITE_RANGES;

	batch->count = 0;
	batch->rows = 0;
	left = deleted_below(source, piece->end) - number;
	if (left < count)
		count = (size_t)left;
	if (count > 0)
		TRY(lancet_deletion_select(source->deletion, number, count, deleted, err));
	for (size_t i = 0; i < count && batch->rows < rows; i++) {
		uint64_t end = deleted[i];

		if (end - at > rows - batch->rows) {
			end = at + rows - batch->rows;
			add_range(batch, at, end);
			at = end;
			break;
		}
		add_range(batch, at, end);
		at = end + 1;
	}
	/* All deleted rows of the piece are behind: the rest is one range. */
	if (count == left && batch->rows < rows && at < piece->end) {
		uint64_t more = rows - batch->rows, end = piece->end;

		if (end - at > more)
			end = at + more;
		if (batch->count < REWRITE_RANGES) {
			add_range(batch, at, end);
			at = end;
		}
	}
	batch->end = at;
	return LANCET_OK;
}
