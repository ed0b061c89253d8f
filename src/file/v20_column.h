/* A column of a 2.0 file over all its pages; keeps the page in use open. */
#ifndef FILE_V20_COLUMN_H
#define FILE_V20_COLUMN_H

#include "v20.h"

struct v20_column {
	struct datafile *file; /* counted; NULL: nothing is open */
	const struct file_column *column;
	const struct field *field;
	struct scratch *scratch;
	uint64_t *item_firsts; /* of a list column: of each page, and behind the last one */
	struct v20_page page;
	size_t page_index; /* of `page`; SIZE_MAX: none is open */
	struct buf ranges; /* those of one page */
};

/* Column `index` of the file as values of `field`: CORRUPT when it has not `rows` of them. */
int v20_column_init(struct v20_column *column, struct datafile *file, uint32_t index,
	const struct field *field, uint64_t rows, struct scratch *scratch,
	struct lancet_error *err);
void v20_column_release(struct v20_column *column);
/* Ranges ascend and are within the rows, in all that follows. */
int v20_column_read(struct v20_column *column, const struct row_range *ranges, size_t count,
	struct array *out, struct lancet_error *err);
/* A column of lists: finds the items of its pages; *ret_items is their number. */
int v20_column_count_items(
	struct v20_column *column, uint64_t *ret_items, struct lancet_error *err);
/* Appends lists without their items; these are in `items` afterwards, as struct row_range,
 * neighbours joined. */
int v20_column_read_lists(struct v20_column *column, const struct row_range *ranges, size_t count,
	struct array *out, struct buf *items, struct lancet_error *err);
/* A struct's header column says nothing, but must be one. */
int v20_column_check_header(const struct v20_column *column, struct lancet_error *err);

/* Appends a range, or lengthens the last one when it ends there. */
void v20_add_range(struct buf *ranges, uint64_t first, uint64_t count);

/* The position and size that a blob column has for each value. */
extern const struct field v20_blob_field;
/* Appends the bytes of blobs, which lie anywhere in the file, to out, an array of VARIABLE.
 * `places`, of v20_blob_field, is working memory. */
int v20_column_read_blobs(struct v20_column *column, const struct row_range *ranges, size_t count,
	struct array *places, struct array *out, struct lancet_error *err);

#endif
