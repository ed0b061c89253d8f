/* Reads one top-level field, whatever the version of the files that hold its columns.
 *
 * A reader belongs to one thread at a time; files are shared. Columns of one field may lie in
 * several files of a fragment, and some may be missing: those read as null.
 */
#ifndef FILE_READER_H
#define FILE_READER_H

#include "array.h"
#include "datafile.h"
#include "layout.h"

/* Where the column of a field is; `file` NULL: nowhere, all its values are null. */
struct column_place {
	struct datafile *file;
	uint32_t column; /* of the file; for a legacy file the field id */
};

struct field_reader;

/* `places` is indexed by the ordinals of the tree that `field` (a root) belongs to, and is not
 * kept; field and files are: files are counted. `rows`: physical rows of the fragment; CORRUPT when
 * a column has another number of rows. UNSUPPORTED: columns of one field in files of the
 * legacy, 2.0 and later formats mixed. */
int field_reader_open(const struct field *field, const struct column_place *places, uint64_t rows,
	struct field_reader **ret_reader, struct lancet_error *err);
void field_reader_free(struct field_reader *reader);
/* Appends the rows to out, an array of the field. CORRUPT: damage; LIMIT: more than the budget of
 * out allows (ask for fewer rows); INVALID: beyond the rows. */
int field_reader_read(struct field_reader *reader, const struct row_range *ranges, size_t count,
	struct array *out, struct lancet_error *err);
/* Values that were decoded so far, for counted tests. */
uint64_t field_reader_decoded(const struct field_reader *reader);

/* What columns.tsv says of one column: page count, encoded bytes, encodings in words (distinct
 * ones, in order, joined with "; "), and the null count when the layouts tell it without decoding.
 */
struct column_description {
	uint64_t pages, bytes;
	bool has_null_count;
	uint64_t null_count;
};
int column_describe(struct datafile *file, uint32_t column, const struct field *field,
	struct column_description *ret_description, struct buf *text, struct lancet_error *err);

/* The 2.0 and legacy readers behind field_reader (v20_reader.c, legacy_reader.c), and that of 2.1
 * and later (nested_reader.c). */
struct field_reader_ops {
	int (*open)(const struct field *field, const struct column_place *places, uint64_t rows,
		struct scratch *scratch, void **ret_state, struct lancet_error *err);
	int (*read)(void *state, const struct row_range *ranges, size_t count, struct array *out,
		struct lancet_error *err);
	void (*free)(void *state);
};
extern const struct field_reader_ops legacy_reader_ops, v20_reader_ops, nested_reader_ops;

#endif
