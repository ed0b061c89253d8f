/* Full-zip pages (2.1, 2.2) and zipped values (2.3): each entry is a control word with its levels,
 * then the bytes of its value. An index tells where rows begin when entries differ in size. Only
 * the bytes of the asked rows are read. Format facts: full-zip layout.
 */
#ifndef FILE_FULLZIP_H
#define FILE_FULLZIP_H

#include "layout.h"

struct Lance__Encodings23__Values__Zipped;

/* What the messages of 2.1, 2.2 and 2.3 say alike. */
struct fullzip_spec {
	uint32_t bits_repetition, bits_definition;
	bool variable; /* `bits` are those of a length, else those of a value */
	uint32_t bits;
	uint32_t items;           /* entries */
	uint64_t rows;            /* of the page; the index has one place more */
	size_t first_buffer;      /* of the page: the entries; the index follows */
	struct slice compression; /* message */
};

struct fullzip;

/* reader->layers are set before; all zero for values that have no levels. Everything is in the
 * reader's arena. */
int fullzip_open(struct page_reader *reader, const struct fullzip_spec *spec,
	struct fullzip **ret_fullzip, struct lancet_error *err);
int fullzip_read(struct page_reader *reader, struct fullzip *fullzip,
	const struct row_range *ranges, size_t count, struct leaf_out *out,
	struct lancet_error *err);
/* For values without levels: appends the values of the ranges to `out`. */
int fullzip_read_values(struct page_reader *reader, struct fullzip *fullzip,
	const struct row_range *ranges, size_t count, struct array *out, struct lancet_error *err);
/* The value encoding in words, as it stands inside of "full_zip(…)". */
void fullzip_describe(const struct fullzip *fullzip, struct buf *out);

/* Compression, counts and sizes that a 2.3 message has, whatever its structure; rows are the
 * caller's. */
int fullzip_spec_zipped(const struct Lance__Encodings23__Values__Zipped *message,
	struct fullzip_spec *ret_spec, struct lancet_error *err);

#endif
