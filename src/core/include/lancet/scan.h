/* Rows of a version: batches of decoded columns in the Arrow C Data layout.
 *
 * A scan goes through the fragments in their order, or through rows that are asked for by id, and
 * leaves deleted rows out. It holds one batch at a time: memory is bounded by the options, not by
 * the dataset. A scan belongs to one thread at a time; several scans of one version may run side by
 * side.
 */
#ifndef LANCET_SCAN_H
#define LANCET_SCAN_H

#include "arrow.h"
#include "fragment.h"

typedef struct lancet_scan lancet_scan;

/* Blob columns: where their bytes are (position and size, as the reference reads them by default),
 * or the bytes themselves as binary. */
enum lancet_blobs { LANCET_BLOB_DESCRIPTIONS, LANCET_BLOB_BYTES };

struct lancet_scan_options {
	/* Top-level column names in the order of the result; NULL: all of the schema. The names
	 * "_rowid", "_rowaddr", "_row_created_at_version" and "_row_last_updated_at_version" give
	 * the lineage of each row. */
	const char *const *columns;
	size_t column_count;
	/* Fragment ordinals to read, ascending; NULL: all. Not together with row_ids. */
	const uint64_t *fragments;
	size_t fragment_count;
	/* Rows in the order asked for: stable row ids, or row addresses on a dataset without them.
	 * An id that no live row has is left out, as the reference does. NULL: all rows. */
	const uint64_t *row_ids;
	size_t row_id_count;
	/* Only rows for which the condition is true (lancet(1) has the language). NULL: all. Not
	 * together with row_ids. */
	const char *where;
	uint64_t offset;     /* rows to step over, of those that would be given */
	uint64_t limit;      /* rows at most; UINT64_MAX: no limit. 0 is none. */
	uint64_t batch_rows; /* rows of a batch at most; 0: 8,192 */
	/* Decoded bytes of a batch, about: a batch of wide rows is shortened. 0: 64 MiB. */
	size_t batch_bytes;
	/* A row that takes more than a batch may have so many by itself, else it is LIMIT. 0: 2
	 * GiB. */
	size_t row_bytes;
	enum lancet_blobs blobs;
};

/* INVALID: an unknown column, by name; UNSUPPORTED: a type or encoding that is refused, by name.
 * options NULL: everything. */
LANCET_API int lancet_scan_open(lancet_version *version, const struct lancet_scan_options *options,
	lancet_scan **ret_scan, struct lancet_error *err);
LANCET_API void lancet_scan_free(lancet_scan *scan);
/* The schema of every batch, a struct; the caller releases it. */
LANCET_API int lancet_scan_schema(
	lancet_scan *scan, struct ArrowSchema *ret_schema, struct lancet_error *err);
/* The next batch (length >= 1), a struct array; the caller releases it, and it may outlive the
 * scan. *ret_more false: there are no more rows, and ret_batch is untouched. After an error the
 * scan may only be freed. */
LANCET_API int lancet_scan_next(
	lancet_scan *scan, struct ArrowArray *ret_batch, bool *ret_more, struct lancet_error *err);

typedef int (*lancet_batch_fn)(
	void *user, const struct ArrowArray *batch, struct lancet_error *err);
/* Calls `fn` with every batch that is left, borrowed. What fn returns other than LANCET_OK ends it
 * and is returned. */
LANCET_API int lancet_scan_each(
	lancet_scan *scan, lancet_batch_fn fn, void *user, struct lancet_error *err);

/* One stored column of a fragment's data file, for people. */
struct lancet_column_info {
	int32_t field;
	int32_t column;           /* physical number in the file; a legacy file has none: -1 */
	const char *name;         /* dotted path of the field; "-" for a tombstone or unknown id */
	const char *type;         /* its logical type, or "-" */
	struct lancet_bytes path; /* of the data file, as stored */
	const char *file_version; /* "0.1", "2.0" … */
	uint64_t pages, bytes;    /* encoded bytes */
	const char *encodings;    /* in words, distinct ones joined with "; " */
	bool has_null_count;      /* known without decoding values */
	uint64_t null_count;
};
typedef int (*lancet_column_info_fn)(void *user, const struct lancet_column_info *info);

/* Calls `fn` for every column of every data file, in stored order. What fn returns other than 0
 * ends the walk and is returned. */
LANCET_API int lancet_fragment_columns(
	lancet_fragment *fragment, lancet_column_info_fn fn, void *user, struct lancet_error *err);

#endif
