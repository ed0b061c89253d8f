/* An encoded page on its way into a file.
 *
 * Encoders make one page at a time from a range of a column's values and hand it over; its memory
 * is theirs and is used again for the next page.
 */
#ifndef FILE_PAGE_OUT_H
#define FILE_PAGE_OUT_H

#include "array.h"
#include "file_column.h"

#define PAGE_BUFFERS_MAX 16u

struct page_out {
	uint64_t length;   /* as ColumnMetadata has it: rows, items (2.0), rows x dimensions */
	struct buf buffers[PAGE_BUFFERS_MAX]; /* each is put at a multiple of 64 */
	size_t buffer_count;
	struct buf encoding; /* encoded ArrayEncoding (2.0) or PageLayout (2.1, 2.2), without Any */
};

/* Takes over a page that was made; the page is reset and used again afterwards. */
struct page_sink {
	int (*put)(void *context, struct page_out *page, struct lancet_error *err);
	void *context;
};

void page_out_reset(struct page_out *page); /* memory is kept */
void page_out_release(struct page_out *page);
/* LANCET_OK, or the sticky failure of one of its buffers. */
int page_out_check(const struct page_out *page, struct lancet_error *err);

/* The path of a field, "a.b.item", for messages; into is its memory. */
#define PAGE_NAME_SIZE 160u
const char *page_column_name(const struct field *field, char into[PAGE_NAME_SIZE]);

/* Pages of 2.1 and 2.2 for one leaf (page_writer.c): rows [first, first + count) of `root`, an
 * array of the top-level field above `leaf`. Usually one page; more where levels or sizes demand
 * it. A page never splits a row. `leaf` is of root's tree. UNSUPPORTED: values that the version
 * can't hold (nulls inside of packed structs, null structs without fields). */
int page_write_leaf(enum file_version version, const struct array *root, const struct field *leaf,
	uint64_t first, uint64_t count, struct page_sink sink, struct lancet_error *err);
/* UNSUPPORTED: what 2.1 or 2.2 can't hold of the field or those below it, by name. */
int page_write_check(
	enum file_version version, const struct field *root, struct lancet_error *err);

/* Pages of 2.0 for one physical column (v20_write.c): that of `field`, of root's tree, for rows
 * [first, first + count) of root; the header of a struct is the caller's. */
int v20_write_field(const struct array *root, const struct field *field, uint64_t first,
	uint64_t count, struct page_sink sink, struct lancet_error *err);
int v20_write_check(const struct field *root, struct lancet_error *err);

#endif
