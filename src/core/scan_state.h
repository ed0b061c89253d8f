/* Inside of a scan: what its two ways through the rows share.
 *
 * A batch is made in two steps: which physical rows of which fragments it has, and the values of
 * these rows, column by column. The first is scan.c for whole fragments and scan_rows.c for rows
 * that are asked for by id; the second is scan_read.c for both.
 */
#ifndef CORE_SCAN_STATE_H
#define CORE_SCAN_STATE_H

#include <lancet/scan.h>
#include "column.h"
#include "data_schema.h"
#include "file_pool.h"
#include "fragment_data.h"

#define SCAN_BATCH_ROWS     8192u
#define SCAN_BATCH_ROWS_MAX (1u << 20)
#define SCAN_BATCH_BYTES    ((size_t)64 << 20)
#define SCAN_ROW_BYTES      ((size_t)2 << 30)
#define SCAN_FRAGMENTS      16u /* kept open for rows by id */

/* Values of a row that are no column of a data file. */
enum scan_lineage { SCAN_ROW_ID, SCAN_CREATED_AT, SCAN_LAST_UPDATED_AT, SCAN_ROW_ADDRESS };
#define SCAN_LINEAGE 4

struct scan_column {
	const struct field *field;
	bool is_lineage;
	enum scan_lineage lineage;
	size_t root;   /* of schema.tree, when it is no lineage */
	bool has_json; /* to be turned into text */
};

/* A fragment in use; everything but the fragment is opened when it is needed. */
struct scan_fragment {
	lancet_fragment *fragment; /* NULL: a free place */
	uint64_t ordinal;
	uint64_t used; /* larger = used later */
	lancet_deletion *deletion;
	struct fragment_data *data;
	lancet_column *lineage[SCAN_LINEAGE - 1];
};

/* Physical rows, ascending. */
struct scan_selection {
	struct row_range *ranges;
	size_t count, capacity;
	uint64_t rows;
};

struct scan_rows;
struct scan_where;

struct lancet_scan {
	lancet_version *version;
	struct data_schema schema;
	struct scan_column *columns;
	const struct field **fields; /* of the columns */
	size_t column_count;
	struct file_pool pool;
	struct scan_fragment fragments[SCAN_FRAGMENTS];
	uint64_t clock;
	struct array *arrays; /* of the batch at hand, by column */
	struct array_budget budget;
	uint64_t *fragment_ordinals; /* asked for, or NULL: all */
	uint64_t fragment_count;
	uint64_t offset, limit; /* rows still to step over, to give */
	uint64_t batch_rows;    /* as asked for */
	uint64_t rows_now;      /* of the next batch: fewer while rows are wide */
	size_t batch_bytes, row_bytes;
	/* Whole fragments. */
	uint64_t at;  /* of fragment_ordinals */
	uint64_t row; /* next physical row of that fragment */
	struct scan_selection selection;
	struct scan_rows *by_id;  /* or rows by id */
	struct scan_where *where; /* or those with a condition */
};

/* scan_schema.c: the columns of the options. */
int scan_columns_init(
	lancet_scan *scan, const struct lancet_scan_options *options, struct lancet_error *err);

/* scan.c */

uint64_t scan_ordinal(const lancet_scan *scan); /* of the fragment at hand */
/* The next batch of live rows of a fragment, from scan->row on; *ret_rows 0: there are no more. */
int scan_fragment_next(lancet_scan *scan, struct scan_fragment *fragment, uint64_t *ret_rows,
	struct lancet_error *err);
/* The selected rows of the fragment as a batch. */
int scan_fill(lancet_scan *scan, struct scan_fragment *fragment, struct lancet_error *err);

/* scan_fragment.c */

/* The fragment, from those in use; valid until the next call. */
int scan_fragment_get(lancet_scan *scan, uint64_t ordinal, struct scan_fragment **ret_fragment,
	struct lancet_error *err);
int scan_fragment_deletion(struct scan_fragment *fragment, struct lancet_error *err);
void scan_fragment_release(struct scan_fragment *fragment);
/* Appends rows of a column to out. */
int scan_fragment_read(lancet_scan *scan, struct scan_fragment *fragment,
	const struct scan_column *column, const struct row_range *ranges, size_t count,
	struct array *out, struct lancet_error *err);

/* scan_read.c */

int scan_select(
	struct scan_selection *selection, uint64_t first, uint64_t count, struct lancet_error *err);
/* As many rows from the front of another one, and taking them off there. */
int scan_select_first(struct scan_selection *selection, const struct scan_selection *from,
	uint64_t rows, struct lancet_error *err);
void scan_deselect(struct scan_selection *selection, uint64_t rows);
/* Starts a batch of at most `rows` rows: empty arrays. */
int scan_begin(lancet_scan *scan, uint64_t rows, struct lancet_error *err);
/* Appends the rows to all columns. */
int scan_append(lancet_scan *scan, struct scan_fragment *fragment, const struct row_range *ranges,
	size_t count, struct lancet_error *err);
/* After all rows: turns JSON into text, and remembers how wide the rows were. */
int scan_end(lancet_scan *scan, uint64_t rows, struct lancet_error *err);
/* The next batch has twice the rows, if rows as wide as those of this one leave room for them. */
void scan_adapt(lancet_scan *scan, uint64_t rows);
/* After LANCET_LIMIT: halves the rows of the next batch; false when they can't be fewer. */
bool scan_shorten(lancet_scan *scan, uint64_t rows);
void scan_drop(lancet_scan *scan);

/* scan_rows.c */

int scan_rows_open(lancet_scan *scan, const uint64_t *ids, size_t count, struct lancet_error *err);
void scan_rows_free(struct scan_rows *rows);
/* Fills the arrays; *ret_rows 0: there are no more. */
int scan_rows_next(lancet_scan *scan, uint64_t *ret_rows, struct lancet_error *err);

/* scan_where.c */

int scan_where_open(lancet_scan *scan, const char *where, struct lancet_error *err);
void scan_where_free(struct scan_where *where);
int scan_where_next(lancet_scan *scan, uint64_t *ret_rows, struct lancet_error *err);

/* scan_ids.c: the address of each id, or SCAN_NO_ADDRESS when no live row has it. */
#define SCAN_NO_ADDRESS UINT64_MAX
int scan_ids_resolve(lancet_scan *scan, const uint64_t *ids, size_t count, uint64_t *addresses,
	struct lancet_error *err);

#endif
