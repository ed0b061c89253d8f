/* One column of a data file by its metadata: which pages it has, and where their buffers lie.
 *
 * Everything is checked here against the file it lies in; what the encodings of the pages say is
 * left to those who decode them. Format facts: ColumnMetadata, bounds checks.
 */
#ifndef FILE_FILE_COLUMN_H
#define FILE_FILE_COLUMN_H

#include <lancet/error.h>
#include "util/arena.h"
#include "util/slice.h"

enum file_version { FILE_LEGACY, FILE_2_0, FILE_2_1, FILE_2_2, FILE_2_3 };

/* Of the two numbers in a file's footer and in manifests; false: not a known version. */
bool file_version_of(uint64_t major, uint64_t minor, enum file_version *ret_version);

struct page_buffer {
	uint64_t offset, size; /* bytes; inside the file, and below its metadata */
};

struct page {
	uint64_t first;  /* sum of the lengths of the pages before */
	uint64_t length; /* as stored: rows, items (2.0), rows x dimensions (structural FSL) */
	uint64_t priority;
	const struct page_buffer *buffers;
	size_t buffer_count;
	struct slice type;     /* of the Any, without the leading slash: what the version demands */
	struct slice encoding; /* its value: ArrayEncoding, PageLayout or PlanarLayout */
};

struct file_column {
	uint32_t index;
	bool is_blob; /* a blob column by the column's own encoding (2.0) */
	const struct page *pages;
	size_t page_count;
	uint64_t length; /* sum over pages, <= INT64_MAX */
};

/* Fills column (index is set) from its ColumnMetadata, into the arena. `limit` is where the
 * metadata of the file begins. CORRUPT or, by name, UNSUPPORTED. */
int file_column_parse(struct slice metadata, enum file_version version, uint64_t limit,
	struct arena *arena, struct file_column *column, struct lancet_error *err);

/* The last page that begins at or before the stored row, which is below the column's length; pages
 * without rows come before it. */
size_t file_column_find_page(const struct file_column *column, uint64_t row);

#endif
