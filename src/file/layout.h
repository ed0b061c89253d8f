/* Page layouts of 2.1 and later, behind one interface: structural encodings are plug-ins.
 *
 * A page_reader is one page opened for one thread: what finding rows needs (chunk words, repetition
 * index, dictionary) is read once, then only the chunks that hold the asked rows. Format facts:
 * page layouts.
 */
#ifndef FILE_LAYOUT_H
#define FILE_LAYOUT_H

#include "codec.h"
#include "levels.h"

/* Rows [first, first + count); lists of them are ascending and do not overlap, counts >= 1. */
struct row_range {
	uint64_t first, count;
};

struct page_reader {
	const struct layout *layout;
	struct datafile *file; /* borrowed, like all below */
	enum file_version version;
	const struct page *page;
	const struct field *leaf;
	uint64_t
		scale; /* stored rows for each row: product of the dimensions of structural lists */
	struct scratch *scratch;
	struct arena arena; /* codecs and state of the layout */
	struct layers layers;
	void *state;
};

struct layout {
	const char *name; /* "mini_block", "full_zip", "constant", "blob", "sparse" */
	/* Appends the rows (numbered in the page, stored rows, i.e. times scale) to out. */
	int (*read)(struct page_reader *reader, const struct row_range *ranges, size_t count,
		struct leaf_out *out, struct lancet_error *err);
	void (*describe)(const struct page_reader *reader, struct buf *out);
	/* Nulls among the slots of the leaf when the layout knows without reading values; false if
	 * not. */
	bool (*null_count)(const struct page_reader *reader, uint64_t *ret_nulls);
	void (*release)(struct page_reader *reader); /* what is not in the arena */
};

/* Decodes the page's encoding, finds the layout and opens it. */
int page_reader_open(struct page_reader *reader, struct datafile *file, const struct page *page,
	const struct field *leaf, struct scratch *scratch, struct lancet_error *err);
int page_reader_read(struct page_reader *reader, const struct row_range *ranges, size_t count,
	struct leaf_out *out, struct lancet_error *err);
void page_reader_release(struct page_reader *reader);

/* For layouts: bytes [offset, offset + size) of buffer `index` of the page. CORRUPT beyond it. */
int page_read(struct page_reader *reader, size_t index, uint64_t offset, size_t size, void *into,
	struct lancet_error *err);

/* A leaf column over all its pages; keeps the page in use open. */
struct leaf_reader {
	struct datafile *file;
	const struct file_column *column;
	const struct field *leaf;
	uint64_t scale;
	struct scratch *scratch;
	struct page_reader page;
	size_t page_index; /* SIZE_MAX = none is open */
};

int leaf_reader_init(struct leaf_reader *reader, struct datafile *file, uint32_t column,
	const struct field *leaf, struct scratch *scratch, struct lancet_error *err);
void leaf_reader_release(struct leaf_reader *reader);
uint64_t leaf_reader_rows(const struct leaf_reader *reader);
/* CORRUPT when a range passes the rows of the column. */
int leaf_reader_read(struct leaf_reader *reader, const struct row_range *ranges, size_t count,
	struct leaf_out *out, struct lancet_error *err);

#endif
