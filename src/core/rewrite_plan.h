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
	lancet_deletion *deletion; /* counted; of rewrite_deletion, NULL until it is needed */
	uint64_t live_rows, bytes;
	bool has_overlays;
};

struct rewrite_output {
	uint64_t id;   /* reserved; 0 until then */
	uint64_t rows;
	uint64_t bytes; /* of its file, once written */
	struct Lance__Table__DataFragment *message; /* in change->arena, once written */
};

struct rewrite_task {
	struct rewrite_source *sources;
	size_t source_count;
	struct rewrite_output *outputs;
	struct lineage_out *lineages; /* of the outputs, while they are written; else NULL */
	size_t output_count;
	uint64_t live_rows;
	const struct rewrite_order *order; /* NULL: the order that the rows have */
	/* Partition: the label of each physical row of the sources; NULL: ordered. */
	struct row_labels *labels;
	/* Partition that the reuse history records: its row map, once that is written. */
	char map_id[37];
	uint64_t map_size; /* bytes */
};

/* A task whose rows get another order: who writes its outputs and sets their messages, and who
 * frees its labels. */
struct rewrite_order {
	int (*write)(lancet_rewrite *rewrite, struct rewrite_task *task,
		const struct lancet_rewrite_run *run, lancet_change *change,
		struct lancet_error *err);
	/* Labels of physical rows of the sources, from `first` on; LANCET_NO_LABEL: deleted. */
	int (*labels)(const struct rewrite_task *task, uint64_t first, size_t count, uint16_t *into,
		struct lancet_error *err);
	/* What the rows of an output have in common, as JSON. */
	struct slice (*describe)(const struct rewrite_task *task, size_t output);
	void (*release)(struct rewrite_task *task);
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
/* Once all outputs are written and the change has its message, but ids that are not theirs yet:
 * index files are read, rewritten_indices and the reuse entry are there for a rehearsal. */
int remap_prepare(struct remap_plan *plan, const lancet_rewrite *rewrite, lancet_change *change,
	const struct lancet_rewrite_run *run, struct lancet_error *err);
/* Once they have their ids: index files, and what remap_prepare has said of them. */
int remap_finish(struct remap_plan *plan, const lancet_rewrite *rewrite, lancet_change *change,
	const struct lancet_rewrite_run *run, struct lancet_error *err);
/* "indices": [ … ] for the plan, given the tasks. */
int remap_json(const struct remap_plan *plan, const lancet_rewrite *rewrite, struct buf *into,
	struct lancet_error *err);

/* rewrite_plan.c */

/* Without tasks. */
int rewrite_new(lancet_version *read, lancet_rewrite **ret_rewrite, struct lancet_error *err);
/* A task more, with room for its sources. */
int rewrite_add_task(lancet_rewrite *rewrite, size_t source_count, struct rewrite_task **ret_task,
	struct lancet_error *err);
/* Takes the last task back. */
void rewrite_drop_task(lancet_rewrite *rewrite);
void rewrite_free_lineages(struct rewrite_task *task);
/* UNSUPPORTED: the version, or a column by name, can't be written. Nothing is. */
int rewrite_check_writable(lancet_version *read, struct lancet_error *err);
/* The ordinal of ids[number]. INVALID: the one before it is not below it; NOT_FOUND: there is no
 * such fragment. */
int rewrite_find_chosen(lancet_version *read, const uint64_t *ids, size_t number,
	uint64_t *ret_ordinal, struct lancet_error *err);
/* Opens the fragment and counts it; nothing else of the source is opened. */
int rewrite_source_init(struct rewrite_source *source, lancet_version *read, uint64_t ordinal,
	struct lancet_error *err);
/* Makes room for outputs of these rows. */
int rewrite_set_outputs(struct rewrite_task *task, const uint64_t *rows, size_t count,
	struct lancet_error *err);
/* Once all tasks have their sources and outputs. */
void rewrite_count(lancet_rewrite *rewrite);
/* Physical rows of all sources. */
uint64_t rewrite_source_rows(const struct rewrite_task *task);
/* The source's deletion vector, loaded once; for one thread at a time. */
int rewrite_deletion(struct rewrite_source *source, struct lancet_error *err);
/* Those of all sources. */
int rewrite_deletions(const struct rewrite_task *task, struct lancet_error *err);

/* rewrite_run.c: writes the outputs of all tasks with the run's workers and memory, and sets their
 * messages; their lineage is placed before. */
int rewrite_write(lancet_rewrite *rewrite, const struct lancet_rewrite_run *run,
	lancet_change *change, struct lancet_error *err);

#endif
