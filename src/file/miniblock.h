/* Mini-block pages (2.1, 2.2) and chunked values (2.3): values in chunks of a few KiB.
 *
 * What finds rows is kept for the whole page: where each chunk begins, its first value and its
 * first row. Reading decodes each chunk that is needed once. Format facts: mini-block layout.
 */
#ifndef FILE_MINIBLOCK_H
#define FILE_MINIBLOCK_H

#include "layout.h"

/* What the messages of 2.1, 2.2 and 2.3 say alike. Messages of size 0 are absent. */
struct miniblock_spec {
	struct slice repetition, definition, compression, dictionary;
	uint64_t dictionary_items;
	uint64_t buffers; /* value buffers of each chunk */
	uint64_t items;   /* slots of the leaf */
	uint64_t rows;    /* of the page; without repetition levels the same as items */
	uint32_t index_depth;
	bool large; /* 32-bit words and sizes */
};

struct miniblock;

/* reader->layers are set before; all zero for values that have no levels. Buffers 0, 1 and, with a
 * dictionary, 2 of the page are the chunk words, the chunks and the dictionary. */
int miniblock_open(struct page_reader *reader, const struct miniblock_spec *spec,
	struct miniblock **ret_miniblock, struct lancet_error *err);
/* What is not in the reader's arena; NULL is fine. */
void miniblock_release(struct miniblock *miniblock);
int miniblock_read(struct page_reader *reader, struct miniblock *miniblock,
	const struct row_range *ranges, size_t count, struct leaf_out *out,
	struct lancet_error *err);
/* For values without levels: appends the slots of the ranges (lists of ranges as those of rows) to
 * `out`. Under slots whose bit of `validity` is 0, counted from 0 along the ranges, the indices of
 * a page dictionary are not looked at; NULL = all are valid. */
int miniblock_read_values(struct page_reader *reader, struct miniblock *miniblock,
	const struct row_range *ranges, size_t count, const uint8_t *validity, struct array *out,
	struct lancet_error *err);
/* The value encoding and the dictionary in words, as they stand inside of "mini_block(…)". */
void miniblock_describe(const struct miniblock *miniblock, struct buf *out);

#endif
