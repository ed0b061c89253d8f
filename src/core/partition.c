/* Partition: the plan. All chosen fragments are one task, whose rows go where their labels say. */
#include "partition.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fragment_write.h"
#include "util/jsonw.h"
#include "util/macros.h"
#include "version.h"

#define LABELS_AT_ONCE 8192u

int
partition_put(
	struct row_labels *labels, const uint16_t *numbers, size_t count, struct lancet_error *err)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] != LANCET_NO_LABEL)
			labels->rows[numbers[i]]++;
	return label_spool_put(&labels->numbers, numbers, count, err);
}

int
row_labels_read(const struct row_labels *labels, uint64_t first, size_t count, uint16_t *into,
	struct lancet_error *err)
{
	TRY(label_spool_read(&labels->numbers, first, count, into, err));
	for (size_t i = 0; i < count; i++)
		into[i] = labels->places[into[i]];
	return LANCET_OK;
}

void
partition_sort(
	const uint16_t *labels, size_t count, size_t outputs, uint32_t *starts, uint32_t *order)
{
	uint32_t at = 0;

	memset(starts, 0, (outputs + 1) * sizeof(*starts));
	for (size_t i = 0; i < count; i++)
		if (labels[i] != LANCET_NO_LABEL)
			starts[labels[i]]++;
	for (size_t i = 0; i <= outputs; i++) {
		uint32_t rows = starts[i];

		starts[i] = at;
		at += rows;
	}
	for (size_t i = 0; i < count; i++)
		if (labels[i] != LANCET_NO_LABEL)
			order[starts[labels[i]]++] = (uint32_t)i;
	/* Each start is at its end now, which is where the next one began. */
	memmove(starts + 1, starts, outputs * sizeof(*starts));
	starts[0] = 0;
}

static int
read_labels(const struct rewrite_task *task, uint64_t first, size_t count, uint16_t *into,
	struct lancet_error *err)
{
	return row_labels_read(task->labels, first, count, into, err);
}

static void
release(struct rewrite_task *task)
{
	struct row_labels *labels = task->labels;

	label_spool_release(&labels->numbers);
	buf_release(&labels->texts);
	free(labels->ends);
	free(labels);
}

static struct slice
describe(const struct rewrite_task *task, size_t number)
{
	const struct row_labels *labels = task->labels;
	size_t start = number == 0 ? 0 : labels->ends[number - 1];

	return slice_of(labels->texts.data + start, labels->ends[number] - start);
}

static const struct rewrite_order partition_order = {
	.write = partition_write,
	.labels = read_labels,
	.describe = describe,
	.release = release,
};

/* Rows of fragments that an index answers for and of others would be mixed: then it could answer
 * for none of them. */
static int
check_source(const lancet_rewrite *rewrite, const struct rewrite_task *task, size_t number,
	struct lancet_error *err)
{
	const struct rewrite_source *source = &task->sources[number], *first = &task->sources[0];
	uint64_t id = lancet_fragment_info(source->fragment)->id;
	const char *why;

	if (!remap_allows(rewrite->remap, source->ordinal, &why))
		return lancet_fail(err, LANCET_UNSUPPORTED, "fragment %" PRIu64 ": %s", id, why);
	if (source->has_overlays && !rewrite->read->info.stable_row_ids)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"fragment %" PRIu64
			": it has overlays, which a reuse history can't lead through: compact it "
			"first",
			id);
	if (remap_coverage(rewrite->remap, source->ordinal) ==
		remap_coverage(rewrite->remap, first->ordinal))
		return LANCET_OK;
	return lancet_fail(err, LANCET_INVALID,
		"fragments %" PRIu64 " and %" PRIu64
		": other index segments answer for one than for the other, and their rows can't be "
		"mixed: choose by fragments=, or optimize the indices first",
		lancet_fragment_info(first->fragment)->id, id);
}

static int
add_sources(lancet_rewrite *rewrite, const struct lancet_partition_options *options, size_t count,
	struct rewrite_task **ret_task, struct lancet_error *err)
{
	struct rewrite_task *task;

	TRY(rewrite_add_task(rewrite, count, &task, err));
	for (size_t i = 0; i < count; i++) {
		uint64_t ordinal = i;

		if (options->fragments != NULL)
			TRY(rewrite_find_chosen(
				rewrite->read, options->fragments, i, &ordinal, err));
		TRY(rewrite_source_init(&task->sources[i], rewrite->read, ordinal, err));
		TRY(check_source(rewrite, task, i, err));
	}
	*ret_task = task;
	return LANCET_OK;
}

/* Rows of each output. Numbers without rows have no output; the last numbers are the fewest. */
static int
set_outputs(struct rewrite_task *task, struct lancet_error *err)
{
	struct row_labels *labels = task->labels;
	lancet_autofree uint64_t *rows = calloc(PARTITION_NUMBERS, sizeof(*rows));
	size_t count = 0;

	if (rows == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "plan of a rewrite");
	for (size_t i = 0; i < PARTITION_NUMBERS; i++) {
		if (labels->rows[i] == 0)
			continue;
		if (labels->rows[i] > FRAGMENT_ROWS_MAX)
			return lancet_fail(err, LANCET_LIMIT,
				"%" PRIu64 " rows for one fragment, which can have %" PRIu64,
				labels->rows[i], FRAGMENT_ROWS_MAX);
		rows[labels->places[i]] = labels->rows[i];
		count++;
	}
	return rewrite_set_outputs(task, rows, count, err);
}

/* Each source has the rows of one output, in the order of outputs, and no other: nothing would
 * change. */
static int
is_done(const struct rewrite_task *task, bool *ret_done, struct lancet_error *err)
{
	uint16_t labels[LABELS_AT_ONCE];
	uint64_t row = 0;

	*ret_done = false;
	if (task->source_count != task->output_count)
		return LANCET_OK;
	for (size_t i = 0; i < task->source_count; i++) {
		const struct rewrite_source *source = &task->sources[i];

		if (lancet_fragment_info(source->fragment)->physical_rows != task->outputs[i].rows)
			return LANCET_OK;
	}
	for (size_t i = 0; i < task->source_count; i++) {
		for (uint64_t end = row + task->outputs[i].rows; row < end;) {
			size_t count =
				end - row < LABELS_AT_ONCE ? (size_t)(end - row) : LABELS_AT_ONCE;

			TRY(row_labels_read(task->labels, row, count, labels, err));
			for (size_t k = 0; k < count; k++)
				if (labels[k] != i)
					return LANCET_OK;
			row += count;
		}
	}
	*ret_done = true;
	return LANCET_OK;
}

static int
label(lancet_rewrite *rewrite, const struct lancet_partition_options *options,
	struct rewrite_task *task, const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	task->labels = calloc(1, sizeof(*task->labels));
	if (task->labels == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "plan of a rewrite");
	task->order = &partition_order;
	task->labels->places[LANCET_NO_LABEL] = LANCET_NO_LABEL;
	if (options->by != NULL)
		return partition_by_column(rewrite->read, options->by, task, run, err);
	return partition_by_file(options->labels, options->format, task, run, err);
}

static int
plan(lancet_rewrite *rewrite, const struct lancet_partition_options *options,
	const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	lancet_version *read = rewrite->read;
	size_t count = options->fragments != NULL ? options->fragment_count
						  : (size_t)read->info.fragment_count;
	struct rewrite_task *task;
	bool done;

	TRY(remap_plan_make(read, options->index_remap, true, &rewrite->remap, err));
	TRY(rewrite_check_writable(read, err));
	if (count == 0)
		return LANCET_OK;
	TRY(add_sources(rewrite, options, count, &task, err));
	TRY(label(rewrite, options, task, run, err));
	TRY(set_outputs(task, err));
	TRY(is_done(task, &done, err));
	if (done || task->output_count == 0)
		rewrite_drop_task(rewrite);
	return LANCET_OK;
}

int
lancet_partition_plan(lancet_version *read, const struct lancet_partition_options *options,
	const struct lancet_rewrite_run *run, lancet_rewrite **ret_rewrite,
	struct lancet_error *err)
{
	static const struct lancet_rewrite_run defaults = { 0 };
	lancet_rewrite *rewrite;
	int rc;

	if ((options->by != NULL) == (options->labels >= 0))
		return lancet_fail(
			err, LANCET_INVALID, "a partition is by a column, or by labels of a file");
	TRY(rewrite_new(read, &rewrite, err));
	rc = plan(rewrite, options, run != NULL ? run : &defaults, err);
	if (rc != LANCET_OK) {
		lancet_rewrite_free(rewrite);
		return rc;
	}
	rewrite_count(rewrite);
	*ret_rewrite = rewrite;
	return LANCET_OK;
}
