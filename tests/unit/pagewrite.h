/* Fields of any nesting with random values, written as pages of 2.1 and 2.2 and read back through
 * the file reader. */
#ifndef TESTS_PAGEWRITE_H
#define TESTS_PAGEWRITE_H

#include "file/page_out.h"
#include "file/layout.h"

#define WRITE_COLUMNS_MAX 64

/* Columns of one field on their way into a file. */
struct page_written {
	struct buf file;
	struct buf pages[WRITE_COLUMNS_MAX]; /* ColumnMetadata's pages */
	size_t columns;                      /* the one being written, from 1 */
	uint64_t lengths[WRITE_COLUMNS_MAX]; /* sums over the pages */
	uint64_t page_counts[WRITE_COLUMNS_MAX];
	unsigned layouts; /* bit 1 << case for each layout that was seen */
};

/* Takes a page over, for page_sink. */
int page_written_put(void *context, struct page_out *page, struct lancet_error *err);
/* Columns of all leaves below `field`, rows [first, first + count). */
int page_written_add(struct page_written *written, enum file_version version,
	const struct array *root, const struct field *field, uint64_t first, uint64_t count,
	struct lancet_error *err);
void page_written_release(struct page_written *written);
/* Reads the ranges of the one field of the file; `rows` are all it has. */
int page_written_read(struct page_written *written, enum file_version version,
	const struct field *field, uint64_t rows, const struct row_range *ranges, size_t count,
	struct array *out, struct lancet_error *err);
/* What a reader sees: nulls hide what is below them, also those among a dictionary's values. */
bool same_value(const struct array *a, uint64_t i, const struct array *b, uint64_t j);

#endif
