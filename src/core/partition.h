/* Inside of a partition: rows of all sources go to one output for each label, in the order that
 * they have.
 *
 * Labels are numbers as they are met, by row: two bytes each. Which output a number means is known
 * once all rows have theirs; outputs come in the order of their values, or labels.
 */
#ifndef CORE_PARTITION_H
#define CORE_PARTITION_H

#include <lancet/transition.h>
#include "label_spool.h"
#include "rewrite_crew.h"
#include "rewrite_plan.h"

#define PARTITION_NUMBERS 65535u /* LANCET_NO_LABEL is none */

struct row_labels {
	struct label_spool numbers;              /* of each physical row of the sources */
	uint64_t rows[PARTITION_NUMBERS];        /* with this number */
	uint16_t places[PARTITION_NUMBERS + 1u]; /* the output of a number; of none, none */
	/* By output: what its rows have in common, as JSON; that of output i ends at ends[i]. */
	struct buf texts;
	size_t *ends;
};

/* Which output a physical row goes to; LANCET_NO_LABEL: deleted. Rows are numbered through the
 * sources in order. */
int row_labels_read(const struct row_labels *labels, uint64_t first, size_t count, uint16_t *into,
	struct lancet_error *err);
/* Sorts rows by the outputs that they go to, each in the order that they have: those of output i
 * are order[starts[i]] to order[starts[i + 1]]. Those with LANCET_NO_LABEL are left out. */
void partition_sort(
	const uint16_t *labels, size_t count, size_t outputs, uint32_t *starts, uint32_t *order);

/* partition_column.c: numbers each row by its value; sets places and texts. INVALID: no such
 * column; LIMIT: more than 65535 values. */
int partition_by_column(lancet_version *read, const char *name, struct rewrite_task *task,
	const struct lancet_rewrite_run *run, struct lancet_error *err);
/* partition_file.c: the same with labels of a file, which is read from its beginning. INVALID: what
 * is wrong with it and where. */
int partition_by_file(int fd, enum lancet_label_format format, struct rewrite_task *task,
	const struct lancet_rewrite_run *run, struct lancet_error *err);
/* Puts labels of the next rows, and counts them. */
int partition_put(
	struct row_labels *labels, const uint16_t *numbers, size_t count, struct lancet_error *err);

/* partition_write.c */
int partition_write(lancet_rewrite *rewrite, struct rewrite_task *task,
	const struct lancet_rewrite_run *run, lancet_change *change, struct lancet_error *err);

/* partition_lineage.c: row ids and versions of all outputs, in their new order, and where they are
 * kept. */
int partition_lineage(lancet_rewrite *rewrite, struct rewrite_task *task,
	const struct lancet_rewrite_run *run, struct lancet_error *err);

#endif
