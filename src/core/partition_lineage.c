/* Row ids and versions of a partition's outputs: those of their rows, in the order of the sources;
 * see partition.h.
 *
 * All sources are read once for each kind; values of one chunk go to their outputs together.
 */
#include "partition.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"
#include "version.h"

#define ROWS 65536u /* at once */

struct spreading {
	struct rewrite_task *task;
	uint64_t first; /* row of the sources, of the one in hand */
	uint64_t values[ROWS], sorted[ROWS];
	uint16_t labels[ROWS];
	uint32_t order[ROWS];
	uint32_t *starts; /* by output, in order; one more than outputs */
};

/* Values of the same output lie together then, each in their order. */
static void
sort_values(struct spreading *spreading, size_t count)
{
	size_t outputs = spreading->task->output_count;

	partition_sort(spreading->labels, count, outputs, spreading->starts, spreading->order);
	for (size_t i = 0; i < spreading->starts[outputs]; i++)
		spreading->sorted[i] = spreading->values[spreading->order[i]];
}

static int
spread(struct spreading *spreading, enum lancet_lineage which, struct lancet_error *err)
{
	struct rewrite_task *task = spreading->task;

	for (size_t i = 0; i < task->output_count; i++) {
		uint32_t first = spreading->starts[i], count = spreading->starts[i + 1] - first;

		if (count > 0)
			TRY(lineage_out_put(
				&task->lineages[i], which, spreading->sorted + first, count, err));
	}
	return LANCET_OK;
}

static int
spread_kind(struct spreading *spreading, const struct lineage_source *source,
	enum lancet_lineage which, uint64_t rows, struct lancet_error *err)
{
	const struct rewrite_task *task = spreading->task;

	for (uint64_t first = 0; first < rows; first += ROWS) {
		size_t count = rows - first < ROWS ? (size_t)(rows - first) : ROWS;

		TRY(lineage_source_read(source, which, first, count, spreading->values, err));
		TRY(row_labels_read(
			task->labels, spreading->first + first, count, spreading->labels, err));
		sort_values(spreading, count);
		TRY(spread(spreading, which, err));
	}
	return LANCET_OK;
}

static int
spread_source(struct spreading *spreading, const struct rewrite_source *source, unsigned kinds,
	struct lancet_error *err)
{
	const struct lancet_fragment_info *info = lancet_fragment_info(source->fragment);
	struct lineage_source *stored;
	int rc;

	TRY(lineage_source_open(source->fragment, &stored, err));
	rc = LANCET_OK;
	for (unsigned i = 0; i < LINEAGE_KINDS && rc == LANCET_OK; i++)
		if ((kinds >> i & 1) != 0)
			rc = spread_kind(spreading, stored, (enum lancet_lineage)i,
				info->physical_rows, err);
	lineage_source_free(stored);
	spreading->first += info->physical_rows;
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "fragment %" PRIu64, info->id);
}

static int
spread_all(struct spreading *spreading, unsigned kinds, const struct lancet_rewrite_run *run,
	struct lancet_error *err)
{
	struct rewrite_task *task = spreading->task;

	for (size_t i = 0; i < task->output_count; i++)
		TRY(lineage_out_init(&task->lineages[i], kinds, err));
	for (size_t i = 0; i < task->source_count; i++) {
		TRY(rewrite_check_cancelled(run, err));
		TRY(spread_source(spreading, &task->sources[i], kinds, err));
	}
	for (size_t i = 0; i < task->output_count; i++)
		TRY(lineage_out_end(&task->lineages[i], err));
	return LANCET_OK;
}

int
partition_lineage(lancet_rewrite *rewrite, struct rewrite_task *task,
	const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	unsigned kinds = lineage_kinds(rewrite->read);
	struct spreading *spreading;
	int rc = LANCET_NO_MEMORY;

	if (kinds == 0)
		return LANCET_OK;
	task->lineages = calloc(task->output_count + 1, sizeof(*task->lineages));
	spreading = calloc(1, sizeof(*spreading));
	if (spreading != NULL)
		spreading->starts = calloc(task->output_count + 2, sizeof(*spreading->starts));
	if (task->lineages == NULL || spreading == NULL || spreading->starts == NULL) {
		(void)lancet_fail(err, rc, "row ids and versions");
	} else {
		spreading->task = task;
		rc = spread_all(spreading, kinds, run, err);
	}
	if (spreading != NULL)
		free(spreading->starts);
	free(spreading);
	TRY(rc);
	return lineage_place(rewrite->read, task->lineages, task->output_count, true, err);
}
