/* New addresses of rewritten rows; see remap.h.
 *
 * In an ordered task the k-th live row of the sources is the k-th row of the outputs, which is
 * found without looking at others. In a partition the rows before it that have its label count: so
 * the addresses asked for are sorted, and the labels are read once for all of them.
 */
#include "remap.h"

#include <inttypes.h>
#include <stdlib.h>

#include <lancet/transition.h>
#include "util/macros.h"
#include "util/rankset.h"

#define LABELS_AT_ONCE 8192u

struct move_source {
	uint64_t fragment, rows;
	const struct rewrite_task *task;
	struct buf survivors; /* offsets of the rows that are not deleted, as a bitmap */
	struct rankset *ranks;
	uint64_t first_row; /* physical rows of the task's sources before it */
	uint64_t first_live;
};

struct row_moves {
	struct move_source *sources; /* by fragment */
	size_t count;
	bool labelled;
};

/* An address that a partition moves. */
struct wanted {
	const struct rewrite_task *task;
	uint64_t row; /* of the task's sources, physical */
	size_t place; /* in the addresses */
};

static int
no_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "new addresses of rows");
}

static int
by_fragment(const void *a, const void *b)
{
	uint64_t left = ((const struct move_source *)a)->fragment;
	uint64_t right = ((const struct move_source *)b)->fragment;

	return left < right ? -1 : left > right;
}

static int
add_source(struct row_moves *moves, const struct rewrite_source *from,
	const struct move_source *source, struct lancet_error *err)
{
	struct move_source *added = &moves->sources[moves->count++];

	*added = *source;
	if (added->task->order != NULL)
		return LANCET_OK;
	TRY(remap_survivors(from, &added->survivors, err));
	return rankset_open(buf_slice(&added->survivors), added->rows, &added->ranks, err);
}

static int
add_task(struct row_moves *moves, const struct rewrite_task *task, struct lancet_error *err)
{
	uint64_t row = 0, live = 0;

	for (size_t i = 0; i < task->source_count; i++) {
		struct rewrite_source *source = &task->sources[i];
		const struct lancet_fragment_info *info = lancet_fragment_info(source->fragment);

		TRY(rewrite_deletion(source, err));
		TRY(add_source(moves, source,
			&(struct move_source){
				.fragment = info->id,
				.rows = info->physical_rows,
				.task = task,
				.first_row = row,
				.first_live = live,
			},
			err));
		row += info->physical_rows;
		live += info->physical_rows - lancet_deletion_count(source->deletion);
	}
	for (size_t i = 0; i < task->output_count; i++)
		live -= task->outputs[i].rows;
	moves->labelled |= task->order != NULL;
	return live == 0 ? LANCET_OK
			 : lancet_fail(err, LANCET_INVALID,
				   "outputs of a rewrite don't have the rows of its sources");
}

static int
add_tasks(struct row_moves *moves, const lancet_rewrite *rewrite, struct lancet_error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < rewrite->task_count; i++)
		count += rewrite->tasks[i].source_count;
	moves->sources = calloc(count + 1, sizeof(*moves->sources));
	if (moves->sources == NULL)
		return no_memory(err);
	for (size_t i = 0; i < rewrite->task_count; i++)
		TRY(add_task(moves, &rewrite->tasks[i], err));
	qsort(moves->sources, moves->count, sizeof(*moves->sources), by_fragment);
	return LANCET_OK;
}

int
row_moves_make(
	const lancet_rewrite *rewrite, struct row_moves **ret_moves, struct lancet_error *err)
{
	struct row_moves *moves = calloc(1, sizeof(*moves));
	int rc;

	if (moves == NULL)
		return no_memory(err);
	rc = add_tasks(moves, rewrite, err);
	if (rc != LANCET_OK) {
		row_moves_free(moves);
		return rc;
	}
	*ret_moves = moves;
	return LANCET_OK;
}

void
row_moves_free(struct row_moves *moves)
{
	if (moves == NULL)
		return;
	for (size_t i = 0; i < moves->count; i++) {
		rankset_free(moves->sources[i].ranks);
		buf_release(&moves->sources[i].survivors);
	}
	free(moves->sources);
	free(moves);
}

static const struct move_source *
find_source(const struct row_moves *moves, uint64_t address)
{
	const struct move_source key = { .fragment = address >> 32 };

	return moves->count == 0 ? NULL
				 : bsearch(&key, moves->sources, moves->count,
					   sizeof(*moves->sources), by_fragment);
}

/* The address of a row of the outputs, counted through them. */
static uint64_t
output_address(const struct rewrite_task *task, uint64_t row)
{
	size_t i = 0;

	while (row >= task->outputs[i].rows)
		row -= task->outputs[i++].rows;
	return task->outputs[i].id << 32 | row;
}

/* Of a row of an ordered task; that of a deleted one stays. */
static uint64_t
live_address(const struct move_source *source, uint64_t address)
{
	uint32_t offset = (uint32_t)address;
	uint64_t rank;

	rankset_ranks(source->ranks, &offset, 1, &rank);
	return rank == RANKSET_ABSENT ? address
				      : output_address(source->task, source->first_live + rank);
}

static int
check_offset(const struct move_source *source, uint64_t address, struct lancet_error *err)
{
	if ((uint32_t)address < source->rows)
		return LANCET_OK;
	return lancet_fail(err, LANCET_CORRUPT,
		"row %" PRIu32 " of fragment %" PRIu64 ", which has %" PRIu64, (uint32_t)address,
		source->fragment, source->rows);
}

int
row_moves_check(const struct row_moves *moves, const uint64_t *addresses, size_t count,
	struct lancet_error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct move_source *source = find_source(moves, addresses[i]);

		if (source != NULL)
			TRY(check_offset(source, addresses[i], err));
	}
	return LANCET_OK;
}

static int
by_row(const void *a, const void *b)
{
	const struct wanted *left = a, *right = b;

	if (left->task != right->task)
		return left->task < right->task ? -1 : 1;
	return left->row < right->row ? -1 : left->row > right->row;
}

/* The wanted rows with this label that are at `row`; how many there are. */
static size_t
move_wanted(const struct wanted *wanted, size_t count, uint64_t row, uint64_t address,
	uint64_t *addresses)
{
	size_t moved = 0;

	for (; moved < count && wanted[moved].row == row; moved++)
		if (address != LANCET_NO_ROW)
			addresses[wanted[moved].place] = address;
	return moved;
}

/* Goes over the labels of one task, whose rows are wanted in ascending order. */
static int
sweep(const struct wanted *wanted, size_t count, uint64_t *addresses, uint64_t *counters,
	struct lancet_error *err)
{
	const struct rewrite_task *task = wanted[0].task;
	uint64_t row = 0, end = wanted[count - 1].row + 1;
	uint16_t labels[LABELS_AT_ONCE];
	size_t at = 0;

	while (row < end) {
		size_t read = end - row < LABELS_AT_ONCE ? (size_t)(end - row) : LABELS_AT_ONCE;

		TRY(task->order->labels(task, row, read, labels, err));
		for (size_t i = 0; i < read; i++, row++) {
			uint16_t label = labels[i];
			uint64_t address = LANCET_NO_ROW;

			if (label != LANCET_NO_LABEL && label >= task->output_count)
				return lancet_fail(
					err, LANCET_CORRUPT, "label %u of a row", (unsigned)label);
			if (label != LANCET_NO_LABEL)
				address = task->outputs[label].id << 32 | counters[label]++;
			at += move_wanted(wanted + at, count - at, row, address, addresses);
		}
	}
	return LANCET_OK;
}

static int
sweep_all(struct wanted *wanted, size_t count, uint64_t *addresses, struct lancet_error *err)
{
	size_t end;

	qsort(wanted, count, sizeof(*wanted), by_row);
	for (size_t at = 0; at < count; at = end) {
		lancet_autofree uint64_t *counters =
			calloc(wanted[at].task->output_count + 1, sizeof(*counters));

		if (counters == NULL)
			return no_memory(err);
		for (end = at; end < count && wanted[end].task == wanted[at].task;)
			end++;
		TRY(sweep(wanted + at, end - at, addresses, counters, err));
	}
	return LANCET_OK;
}

static int
apply(const struct row_moves *moves, uint64_t *addresses, size_t count, struct wanted *wanted,
	struct lancet_error *err)
{
	size_t wanted_count = 0;

	for (size_t i = 0; i < count; i++) {
		const struct move_source *source = find_source(moves, addresses[i]);
		uint64_t offset = (uint32_t)addresses[i];

		if (source == NULL)
			continue;
		TRY(check_offset(source, addresses[i], err));
		if (source->task->order != NULL)
			wanted[wanted_count++] =
				(struct wanted){ source->task, source->first_row + offset, i };
		else
			addresses[i] = live_address(source, addresses[i]);
	}
	return wanted_count == 0 ? LANCET_OK : sweep_all(wanted, wanted_count, addresses, err);
}

int
row_moves_apply(
	const struct row_moves *moves, uint64_t *addresses, size_t count, struct lancet_error *err)
{
	struct wanted *wanted = NULL;
	int rc;

	if (moves->labelled) {
		wanted = calloc(count + 1, sizeof(*wanted));
		if (wanted == NULL)
			return no_memory(err);
	}
	rc = apply(moves, addresses, count, wanted, err);
	free(wanted);
	return rc;
}
