/* Inside of what becomes of indices when fragments are rewritten.
 *
 * Each segment of a user index has a fate. Where rows have stable ids, files that hold them answer
 * for the new fragments as they did for the old ones; a B-tree that holds addresses gets new files;
 * other files with addresses lose the fragments. Elsewhere the reuse history says where the rows
 * went, for the kinds that can follow it. Format facts: rewrites and index bitmaps, fragment reuse
 * index, remap without sorting again.
 */
#ifndef CORE_REMAP_H
#define CORE_REMAP_H

#include "index_set.h"
#include "rewrite_plan.h"

struct index_reach;
struct row_moves;

enum remap_fate {
	REMAP_KEEPS,    /* row ids: nothing happens to the files */
	REMAP_REWRITES, /* new files, with new addresses */
	REMAP_FOLLOWS,  /* the reuse history translates addresses */
	REMAP_LOSES,    /* it does not answer for the new fragments */
};

struct remap_segment {
	const struct lancet_index *index;
	const struct lancet_index_segment *segment;
	enum remap_fate fate;
	const char *why; /* REMAP_LOSES: static */
	bool touched;    /* REMAP_REWRITES: it answers for a rewritten fragment, as prepared */
	uint8_t new_uuid[16]; /* of its new files */
};

/* Bits by ordinal. */
enum {
	REMAP_COVERED = 1, /* a user index answers for it */
	REMAP_NAMED = 2,   /* a bitmap of any entry has it, the reuse history's too */
};

struct remap_plan {
	lancet_version *read; /* counted */
	enum lancet_index_remap mode;
	bool partition;
	bool stable;  /* row ids */
	bool tagged;  /* the reuse history, or there was such a one */
	bool records; /* it may be recorded where rows go */
	struct remap_segment *segments;
	size_t segment_count;
	uint32_t *classes; /* by ordinal: remap_coverage */
	uint32_t class_end;
	uint8_t *marks;
	uint16_t *reasons; /* by ordinal: why it is not rewritten, 1 + the place; 0: it may be */
	char **texts;
	size_t text_count;
	struct row_moves *moves; /* once some segment is to be rewritten */
};

/* Visits the segments, each with what its index reaches; not followed yet. Ends with the first
 * failure. */
typedef int (*remap_visitor)(void *context, const struct remap_segment *segment,
	struct index_reach *reach, struct lancet_error *err);
int remap_visit(const struct remap_plan *plan, remap_visitor visitor, void *context,
	struct lancet_error *err);

/* remap_mark.c: fills classes, marks and reasons. */
int remap_mark(struct remap_plan *plan, struct lancet_error *err);

/* Whether some source of the task has one of the marks. */
bool remap_task_is(const struct remap_plan *plan, const struct rewrite_task *task, unsigned marks);
/* Whether the reuse history gets to know where the rows of the task went: a partition then needs
 * its row map. In a legacy history all tasks are recorded or none. */
bool remap_records(const struct remap_plan *plan, const lancet_rewrite *rewrite,
	const struct rewrite_task *task);

/* remap_history.c: sets change->reuse_entry when there is something to record. */
int remap_history(const struct remap_plan *plan, const lancet_rewrite *rewrite,
	lancet_change *change, struct lancet_error *err);
/* Appends the offsets of the source's rows that are not deleted, as a portable bitmap; its deletion
 * vector is loaded. */
int remap_survivors(
	const struct rewrite_source *source, struct buf *into, struct lancet_error *err);

/* remap_moves.c: new addresses of rows. */
int row_moves_make(
	const lancet_rewrite *rewrite, struct row_moves **ret_moves, struct lancet_error *err);
void row_moves_free(struct row_moves *moves);
/* CORRUPT: the address of a row that a source does not have. */
int row_moves_check(const struct row_moves *moves, const uint64_t *addresses, size_t count,
	struct lancet_error *err);
/* Replaces addresses of rewritten rows; those of deleted rows and of other fragments stay. */
int row_moves_apply(
	const struct row_moves *moves, uint64_t *addresses, size_t count, struct lancet_error *err);

/* remap_btree.c */

/* Whether the files of the segment are those of a B-tree that can be written anew, else why not. */
int remap_btree_check(lancet_version *read, const struct lancet_index_segment *segment,
	const char **ret_why, struct lancet_error *err);

#define BTREE_DATA_FILE   "page_data.lance"
#define BTREE_LOOKUP_FILE "page_lookup.lance"

/* One segment on its way into new files. */
struct btree_writing {
	lancet_change *change;
	const struct lancet_rewrite_run *run;
	const struct row_moves *moves;
	const struct remap_segment *segment;
	uint64_t chunk_rows;             /* read at once */
	uint64_t data_size, lookup_size; /* bytes; set by remap_btree_write */
};
/* Reads all of both files, since what can't be read is not to be found out after ids are reserved.
 * CORRUPT, by the file. */
int remap_btree_prove(
	struct btree_writing *writing, lancet_version *read, struct lancet_error *err);
/* Writes its files below the new UUID; they belong to the change. */
int remap_btree_write(
	struct btree_writing *writing, lancet_version *read, struct lancet_error *err);

/* remap_entries.c: these for each segment with that fate that answers for a rewritten fragment; the
 * message names them from the beginning, and their sizes in the end. */
int remap_btrees_prepare(struct remap_plan *plan, const lancet_rewrite *rewrite,
	lancet_change *change, const struct lancet_rewrite_run *run, struct lancet_error *err);
int remap_btrees_write(const struct remap_plan *plan, lancet_change *change,
	const struct lancet_rewrite_run *run, struct lancet_error *err);

#endif
