/* Inside of a planned rewrite: what planning, writing, lineage and index work hand on.
 *
 * A task is one group of the Rewrite: sources in order, and outputs that together have their live
 * rows. In an ordered task the rows keep their order and the outputs are cuts of it; in a partition
 * each output has the rows with one label.
 */
#ifndef CORE_REWRITE_PLAN_H
#define CORE_REWRITE_PLAN_H

#include <lancet/column.h>
#include <lancet/rewrite.h>
#include "change.h"
#include "lineage_out.h"

struct Lance__Table__DataFragment;
struct remap_plan;
struct row_labels;

struct rewrite_source {
	lancet_fragment *fragment; /* counted */
	uint64_t ordinal;          /* in read */
	lancet_deletion *deletion; /* counted; NULL until it is needed */
	uint64_t live_rows, bytes;
	bool has_overlays;
};

struct rewrite_output {
	uint64_t id;   /* reserved; 0 until then */
	uint64_t rows;
	uint64_t bytes; /* of its file, once written */
	struct lineage_out lineage;
	struct Lance__Table__DataFragment *message; /* in change->arena, once written */
};

struct rewrite_task {
	struct rewrite_source *sources;
	size_t source_count;
	struct rewrite_output *outputs;
	size_t output_count;
	/* Partition: the label of each physical row of the sources; NULL: ordered. */
	struct row_labels *labels;
};

struct lancet_rewrite {
	lancet_version *read; /* counted */
	struct rewrite_task *tasks;
	size_t task_count;
	struct remap_plan *remap;
	enum lancet_binary_copy binary_copy;
	struct lancet_rewrite_totals totals;
};

/* remap.c: what becomes of the indices. */

/* Decides by domain and table: UNSUPPORTED when deferred remap is asked for with stable row ids. */
int remap_plan_make(lancet_version *read, enum lancet_index_remap mode, bool partition,
	struct remap_plan **ret_plan, struct lancet_error *err);
void remap_plan_free(struct remap_plan *plan);
/* Fragments with equal answers may share a group: the set of user index segments that cover it, by
 * effective coverage on a tagged table, as a small number. */
uint32_t remap_coverage(const struct remap_plan *plan, uint64_t ordinal);
/* Whether a fragment may be rewritten at all, else why not (in words, static or of the plan). */
bool remap_allows(const struct remap_plan *plan, uint64_t ordinal, const char **ret_why);
/* Once all outputs are written and have their ids: index files, rewritten_indices of the message,
 * the reuse entry of the change; row maps of partitions. */
int remap_finish(struct remap_plan *plan, const lancet_rewrite *rewrite, lancet_change *change,
	const struct lancet_rewrite_run *run, struct lancet_error *err);
/* "indices": [ … ] for the plan, given the tasks. */
int remap_json(const struct remap_plan *plan, const lancet_rewrite *rewrite, struct buf *into,
	struct lancet_error *err);

/* row_labels.h (partition.c): which output a physical row goes to; LANCET_NO_LABEL: deleted. Rows
 * are numbered through the sources in order. */
int row_labels_read(const struct row_labels *labels, uint64_t first, size_t count, uint16_t *into,
	struct lancet_error *err);
void row_labels_free(struct row_labels *labels);

/* rewrite_run.c: writes the outputs of all tasks with the run's workers and memory, and sets their
 * messages; their lineage is placed before. */
int rewrite_write(lancet_rewrite *rewrite, const struct lancet_rewrite_run *run,
	lancet_change *change, struct lancet_error *err);

#endif
