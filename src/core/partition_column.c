/* Labels from the values of a column; see partition.h. */
#include "partition.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fragment_data.h"
#include "rewrite_write.h"
#include "util/macros.h"
#include "value_labels.h"

#define VALUES_BYTES ((size_t)32 << 20) /* read at once; one value may take more */
#define VALUE_BYTES  ((size_t)2 << 30)
#define FIRST_ROWS   UINT64_C(1024)
#define ROWS_MAX     UINT64_C(65536)

struct labelling {
	struct rewrite_task *task;
	const struct lancet_rewrite_run *run;
	struct data_schema schema; /* the column alone */
	struct value_labels *values;
	uint64_t rows; /* to read at once */
	uint64_t done; /* physical rows of all sources */
	uint64_t all;
	uint16_t *found;   /* of the rows that were read */
	uint16_t *numbers; /* of all rows of a batch: with those that are deleted */
	struct rewrite_batch batch;
};

static int
number_rows(struct labelling *labelling, const struct array *values, uint64_t at,
	struct lancet_error *err)
{
	const struct rewrite_batch *batch = &labelling->batch;
	size_t count = (size_t)(batch->end - at), place = 0;

	if (values != NULL)
		TRY(value_labels_number(labelling->values, values, labelling->found, err));
	memset(labelling->numbers, 0xff, count * sizeof(*labelling->numbers));
	for (size_t i = 0; i < batch->count; i++) {
		memcpy(labelling->numbers + (batch->ranges[i].first - at), labelling->found + place,
			(size_t)batch->ranges[i].count * sizeof(*labelling->found));
		place += (size_t)batch->ranges[i].count;
	}
	return partition_put(labelling->task->labels, labelling->numbers, count, err);
}

/* *ret_end is `at` when the rows were too many for the memory. */
static int
label_batch(struct labelling *labelling, struct fragment_data *data, uint64_t at, uint64_t *ret_end,
	struct lancet_error *err)
{
	struct rewrite_batch *batch = &labelling->batch;
	struct array_budget budget = { .limit = batch->rows == 1 ? VALUE_BYTES : VALUES_BYTES };
	struct array values;
	int rc;

	*ret_end = batch->end;
	if (batch->rows == 0)
		return number_rows(labelling, NULL, at, err);
	TRY(array_init(&values, &labelling->schema.tree.roots[0], &budget, err));
	rc = fragment_data_read(data, 0, batch->ranges, batch->count, &values, err);
	if (rc == LANCET_LIMIT && batch->rows > 1) {
		labelling->rows = batch->rows / 2;
		*ret_end = at;
		rc = LANCET_OK;
	} else if (rc == LANCET_OK) {
		if (budget.used < VALUES_BYTES / 8 && labelling->rows < ROWS_MAX)
			labelling->rows *= 2;
		rc = number_rows(labelling, &values, at, err);
	}
	array_release(&values);
	return rc;
}

static int
label_rows(struct labelling *labelling, struct rewrite_source *source, struct fragment_data *data,
	struct lancet_error *err)
{
	const struct lancet_rewrite_run *run = labelling->run;
	struct rewrite_piece piece = {
		.end = lancet_fragment_info(source->fragment)->physical_rows
	};
	uint64_t end;

	for (uint64_t at = 0; at < piece.end; at = end) {
		TRY(rewrite_check_cancelled(run, err));
		TRY(rewrite_batch(source, &piece, at, labelling->rows, &labelling->batch, err));
		TRY(label_batch(labelling, data, at, &end, err));
		labelling->done += end - at;
		if (run->progress != NULL && end > at)
			run->progress(run->context, labelling->done, labelling->all, "rows");
	}
	return LANCET_OK;
}

static int
label_source(struct labelling *labelling, struct rewrite_source *source, struct lancet_error *err)
{
	struct file_pool pool = { 0 };
	struct fragment_data *data;
	int rc;

	TRY(rewrite_deletion(source, err));
	TRY(fragment_data_open(source->fragment, &labelling->schema, &pool, &data, err));
	rc = label_rows(labelling, source, data, err);
	fragment_data_free(data);
	return rc == LANCET_OK ? rc
			       : lancet_wrap(err, rc, "fragment %" PRIu64,
					 lancet_fragment_info(source->fragment)->id);
}

/* Texts come by number, and have to come by output. */
static int
set_texts(struct labelling *labelling, struct lancet_error *err)
{
	struct row_labels *labels = labelling->task->labels;
	size_t count = value_labels_count(labelling->values);
	lancet_autofree size_t *ends = calloc(count + 1, sizeof(*ends));
	lancet_autofree uint16_t *numbers = calloc(count + 1, sizeof(*numbers));
	struct buf texts = { 0 };
	int rc;

	labels->ends = calloc(count + 1, sizeof(*labels->ends));
	if (ends == NULL || numbers == NULL || labels->ends == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "values");
	rc = value_labels_json(labelling->values, &texts, ends, err);
	for (size_t i = 0; i < count; i++)
		numbers[labels->places[i]] = (uint16_t)i;
	for (size_t i = 0; i < count && rc == LANCET_OK; i++) {
		size_t start = numbers[i] == 0 ? 0 : ends[numbers[i] - 1];

		buf_put(&labels->texts, texts.data + start, ends[numbers[i]] - start);
		labels->ends[i] = labels->texts.size;
	}
	buf_release(&texts);
	return rc == LANCET_OK ? buf_check(&labels->texts, "values", err) : rc;
}

static int
label_all(struct labelling *labelling, lancet_version *read, const char *name,
	struct lancet_error *err)
{
	const struct lancet_bytes column = { (const uint8_t *)name, strlen(name) };
	struct rewrite_task *task = labelling->task;

	TRY(data_schema_init(&labelling->schema, read, &column, 1, FIELD_BLOB_DESCRIPTIONS, err));
	TRY(value_labels_new(&labelling->schema.tree.roots[0], &labelling->values, err));
	labelling->rows = FIRST_ROWS;
	labelling->found = calloc(2 * ROWS_MAX, sizeof(*labelling->found));
	labelling->numbers = calloc(2 * ROWS_MAX + REWRITE_RANGES, sizeof(*labelling->numbers));
	if (labelling->found == NULL || labelling->numbers == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "values");
	labelling->all = rewrite_source_rows(task);
	for (size_t i = 0; i < task->source_count; i++)
		TRY(label_source(labelling, &task->sources[i], err));
	TRY(value_labels_order(labelling->values, task->labels->places, err));
	return set_texts(labelling, err);
}

int
partition_by_column(lancet_version *read, const char *name, struct rewrite_task *task,
	const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	struct labelling *labelling = calloc(1, sizeof(*labelling));
	struct lancet_error failure = { 0 };
	int rc;

	if (labelling == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "values");
	labelling->task = task;
	labelling->run = run;
	rc = label_all(labelling, read, name, &failure);
	value_labels_free(labelling->values);
	data_schema_release(&labelling->schema);
	free(labelling->found);
	free(labelling->numbers);
	free(labelling);
	if (rc == LANCET_OK)
		return rc;
	if (err != NULL)
		*err = failure;
	return rc == LANCET_LIMIT ? lancet_wrap(err, rc, "by=%.60s", name) : rc;
}
