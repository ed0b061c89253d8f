/* Some columns of all outputs of a pass, from all sources; see partition_write.h. */
#include "partition_write.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fragment_data.h"
#include "util/macros.h"

#define ROWS_AT_ONCE 65536u
#define FIRST_ROWS   UINT64_C(1024)
#define ROOM         4u /* an array grows by doubling, and has more than values */
#define ROW_BYTES    ((size_t)2 << 30)

struct scatter {
	struct partition_pass *pass;
	struct fragment_data *data;
	uint64_t fragment;
	uint64_t first_row; /* of the source in hand, counted through all of them */
	uint64_t rows;      /* physical ones of it */
	uint64_t *limits;   /* rows to read at once, by column of the group */
	uint64_t label_row; /* of the first label in hand */
	size_t label_count;
	size_t range_count, picked; /* of the batch */
	uint32_t *starts;           /* by output of the pass, in order; one more than outputs */
	uint16_t labels[ROWS_AT_ONCE];
	uint16_t targets[ROWS_AT_ONCE]; /* outputs of the pass that the rows of the batch go to */
	uint32_t order[ROWS_AT_ONCE];
	struct row_range ranges[ROWS_AT_ONCE];
};

/* The label of a row of the source; some behind it are read along. */
static int
load_labels(struct scatter *scatter, uint64_t row, struct lancet_error *err)
{
	uint64_t left = scatter->rows - row;

	if (row >= scatter->label_row && row - scatter->label_row < scatter->label_count)
		return LANCET_OK;
	scatter->label_row = row;
	scatter->label_count = left < ROWS_AT_ONCE ? (size_t)left : ROWS_AT_ONCE;
	return row_labels_read(scatter->pass->task->labels, scatter->first_row + row,
		scatter->label_count, scatter->labels, err);
}

static void
pick_row(struct scatter *scatter, uint64_t row, uint16_t target)
{
	struct row_range *last = &scatter->ranges[scatter->range_count];

	scatter->targets[scatter->picked++] = target;
	if (scatter->range_count > 0 && last[-1].first + last[-1].count == row)
		last[-1].count++;
	else
		scatter->ranges[scatter->range_count++] = (struct row_range){ row, 1 };
}

/* At most `limit` rows from `at` on that go to outputs of the pass. */
static int
pick(struct scatter *scatter, uint64_t at, uint64_t limit, uint64_t *ret_end,
	struct lancet_error *err)
{
	const struct partition_pass *pass = scatter->pass;
	uint64_t end;

	scatter->picked = scatter->range_count = 0;
	TRY(load_labels(scatter, at, err));
	end = scatter->label_row + scatter->label_count;
	for (; at < end && scatter->picked < limit; at++) {
		uint16_t label = scatter->labels[at - scatter->label_row];

		if (label != LANCET_NO_LABEL && label >= pass->first &&
			label - pass->first < pass->count)
			pick_row(scatter, at, (uint16_t)(label - pass->first));
	}
	*ret_end = at;
	return LANCET_OK;
}

static int
put_sorted(
	struct scatter *scatter, size_t root, const struct array *sorted, struct lancet_error *err)
{
	const struct partition_pass *pass = scatter->pass;

	for (size_t i = 0; i < pass->count; i++) {
		uint32_t first = scatter->starts[i], count = scatter->starts[i + 1] - first;

		if (count > 0)
			TRY(file_writer_put(fragment_writer_file(pass->writers[i]), root, sorted,
				first, count, err));
	}
	return LANCET_OK;
}

static int
put_values(
	struct scatter *scatter, size_t root, const struct array *values, struct lancet_error *err)
{
	struct array_budget budget = { .limit = SIZE_MAX };
	struct array sorted;
	int rc;

	partition_sort(scatter->targets, scatter->picked, scatter->pass->count, scatter->starts,
		scatter->order);
	/* All go to one output. */
	if (scatter->starts[scatter->targets[0] + 1u] - scatter->starts[scatter->targets[0]] ==
		scatter->picked)
		return put_sorted(scatter, root, values, err);
	TRY(array_init(&sorted, values->field, &budget, err));
	rc = array_append_gather(&sorted, values, scatter->order, scatter->picked, err);
	if (rc == LANCET_OK)
		rc = put_sorted(scatter, root, &sorted, err);
	array_release(&sorted);
	return rc;
}

/* *limit becomes what rows as wide as these allow; false: they were too many. */
static bool
adapt(const struct scatter *scatter, int rc, size_t used, uint64_t *limit)
{
	uint64_t rows = scatter->picked, fit = ROWS_AT_ONCE;

	if (rc == LANCET_LIMIT && rows > 1) {
		*limit = rows / 2;
		return false;
	}
	if (used > 0)
		fit = (uint64_t)scatter->pass->batch_bytes * ROOM / 2 * rows / used;
	fit = fit > 4 * rows ? 4 * rows : fit;
	fit = fit > ROWS_AT_ONCE ? ROWS_AT_ONCE : fit;
	/* Few may have been all that there were. */
	if (rows == *limit || fit < *limit)
		*limit = fit == 0 ? 1 : fit;
	return true;
}

/* Puts the next rows of a column. *ret_end is `at` when they were too many. */
static int
put_batch(struct scatter *scatter, size_t root, uint64_t *limit, uint64_t at, uint64_t *ret_end,
	struct lancet_error *err)
{
	struct partition_pass *pass = scatter->pass;
	struct array_budget budget = { .limit = ROOM * pass->batch_bytes };
	struct lancet_error failure = { 0 };
	struct array values;
	int rc;

	TRY(pick(scatter, at, *limit, ret_end, err));
	if (scatter->picked == 0)
		return rewrite_crew_step(&pass->crew, 0, err);
	if (scatter->picked == 1 && budget.limit < ROW_BYTES)
		budget.limit = ROW_BYTES;
	TRY(array_init(&values, &pass->schema.tree.roots[root], &budget, err));
	rc = fragment_data_read(
		scatter->data, root, scatter->ranges, scatter->range_count, &values, &failure);
	if (!adapt(scatter, rc, budget.used, limit)) {
		*ret_end = at;
		rc = LANCET_OK;
	} else if (rc != LANCET_OK) {
		*err = failure;
		(void)lancet_wrap(err, rc, "fragment %" PRIu64, scatter->fragment);
	} else {
		rc = put_values(scatter, root, &values, err);
		if (rc == LANCET_OK)
			rc = rewrite_crew_step(&pass->crew, scatter->picked, err);
	}
	array_release(&values);
	return rc;
}

static int
put_source(struct scatter *scatter, const struct rewrite_source *source, size_t first, size_t count,
	struct lancet_error *err)
{
	const struct lancet_fragment_info *info = lancet_fragment_info(source->fragment);
	struct file_pool pool = { 0 };
	int rc;

	scatter->fragment = info->id;
	scatter->rows = info->physical_rows;
	scatter->label_count = 0;
	TRY(fragment_data_open(
		source->fragment, &scatter->pass->schema, &pool, &scatter->data, err));
	rc = LANCET_OK;
	for (size_t i = 0; i < count; i++) {
		uint64_t end;

		for (uint64_t at = 0; at < scatter->rows && rc == LANCET_OK; at = end)
			rc = put_batch(scatter, first + i, &scatter->limits[i], at, &end, err);
	}
	fragment_data_free(scatter->data);
	scatter->first_row += scatter->rows;
	return rc;
}

static int
put_sources(struct scatter *scatter, size_t first, size_t count, struct lancet_error *err)
{
	const struct partition_pass *pass = scatter->pass;

	for (size_t i = 0; i < count; i++)
		scatter->limits[i] = FIRST_ROWS;
	for (size_t i = 0; i < pass->task->source_count; i++)
		TRY(put_source(scatter, &pass->task->sources[i], first, count, err));
	for (size_t i = 0; i < pass->count; i++)
		for (size_t k = 0; k < count; k++)
			TRY(file_writer_end(
				fragment_writer_file(pass->writers[i]), first + k, err));
	return LANCET_OK;
}

int
partition_scatter(struct partition_pass *pass, size_t first, size_t count, struct lancet_error *err)
{
	struct scatter *scatter = calloc(1, sizeof(*scatter));
	int rc;

	if (scatter == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns of new fragments");
	scatter->pass = pass;
	scatter->limits = calloc(count + 1, sizeof(*scatter->limits));
	scatter->starts = calloc(pass->count + 2, sizeof(*scatter->starts));
	if (scatter->limits == NULL || scatter->starts == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "columns of new fragments");
	else
		rc = put_sources(scatter, first, count, err);
	free(scatter->limits);
	free(scatter->starts);
	free(scatter);
	return rc;
}
