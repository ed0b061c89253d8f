/* Inside of writing the outputs of a rewrite: which rows of which sources an output has, and the
 * work on them.
 *
 * Columns are written one after the other, so that memory is a few pages and not a page for each
 * column. What one worker does at a time is a few columns of one output: it goes through the
 * sources once for them.
 */
#ifndef CORE_REWRITE_WRITE_H
#define CORE_REWRITE_WRITE_H

#include "data_schema.h"
#include "file_pool.h"
#include "fragment_write.h"
#include "rewrite_crew.h"
#include "rewrite_plan.h"

/* Rows of one source that are rows of one output: the live ones of [first, end). */
struct rewrite_piece {
	size_t source;       /* of the task */
	uint64_t first, end; /* physical; both ends are live */
	uint64_t live;
	bool whole; /* all rows that the source has, and none is deleted */
};

/* The pieces of live rows [from, from + count) of the sources, allocated. The deletion vectors of
 * the sources are loaded. */
int rewrite_pieces(const struct rewrite_task *task, uint64_t from, uint64_t count,
	struct rewrite_piece **ret_pieces, size_t *ret_count, struct lancet_error *err);

#define REWRITE_RANGES 4096u /* of a batch */
struct rewrite_batch {
	struct row_range ranges[REWRITE_RANGES];
	size_t count;
	uint64_t rows, end; /* live ones, and behind the last one */
};
/* At most `rows` live rows from physical row `at` of the piece on. */
int rewrite_batch(const struct rewrite_source *source, const struct rewrite_piece *piece,
	uint64_t at, uint64_t rows, struct rewrite_batch *ret_batch, struct lancet_error *err);

/* What all work on the outputs of a change shares. */
struct rewrite_work {
	lancet_rewrite *rewrite;
	lancet_change *change;
	struct rewrite_crew crew;
	struct data_schema schema;
	enum file_version version; /* of the new files */
	unsigned kinds;            /* of lineage_kinds */
	size_t batch_bytes; /* decoded bytes that are read at once, and that make a page, about */
	size_t root_group;  /* columns that are written side by side */
};

/* Columns [first, first + count) of an output, from all its pieces. */
struct rewrite_unit {
	struct rewrite_task *task;
	const struct rewrite_piece *pieces;
	size_t piece_count;
	size_t first, count; /* roots of the schema */
	struct file_writer *writer;
};

/* rewrite_unit.c; err is not NULL. */
int rewrite_unit_write(
	struct rewrite_work *work, const struct rewrite_unit *unit, struct lancet_error *err);

/* rewrite_queue.c: parts of the work, for one worker each. */

/* An output whose columns are being written. */
struct rewrite_file {
	struct rewrite_running *running;
	size_t number; /* of the output in its task */
	struct fragment_writer *writer;
	struct rewrite_piece *pieces;
	size_t piece_count;
	size_t next_root; /* the first that nobody has taken */
	size_t busy;      /* workers at it */
	struct rewrite_file *next;
};

/* A task that is being written. */
struct rewrite_running {
	struct rewrite_task *task; /* NULL: none */
	uint64_t *first_rows;      /* of each output, among the live rows */
	bool opened;               /* its sources are, and the outputs counted */
	bool placed;               /* what becomes of row ids and versions is known */
	size_t lineages_taken, lineages_done, files_taken, files_done;
	struct rewrite_file *files; /* with columns that nobody has taken */
};

#define REWRITE_RUNNING 2u
struct rewrite_queue {
	struct rewrite_task *tasks;
	size_t count, next;
	size_t root_count, root_group;
	bool lineage; /* outputs have row ids and versions */
	struct rewrite_running running[REWRITE_RUNNING];
};

enum rewrite_part_kind {
	REWRITE_WAIT, /* for what others are doing */
	REWRITE_END,
	REWRITE_OPEN,
	REWRITE_LINEAGE,
	REWRITE_FILE,
	REWRITE_COLUMNS,
};
struct rewrite_part {
	enum rewrite_part_kind kind;
	struct rewrite_running *running;
	size_t number;             /* LINEAGE, FILE: of the output */
	struct rewrite_file *file; /* COLUMNS */
	size_t first, count;       /* COLUMNS: roots */
};

/* The next part that can be done. */
struct rewrite_part rewrite_queue_take(struct rewrite_queue *queue);
/* A file that was opened has columns to take. */
void rewrite_queue_add(struct rewrite_running *running, struct rewrite_file *file);
/* Columns were written; true: all of the file are. */
bool rewrite_queue_written(const struct rewrite_queue *queue, struct rewrite_file *file);

#endif
