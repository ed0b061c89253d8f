/* Inside of fullzip: the opened page. */
#ifndef FILE_FULLZIP_PAGE_H
#define FILE_FULLZIP_PAGE_H

#include "fullzip.h"

struct fullzip {
	const struct codec *codec;
	bool variable;
	bool plain;                  /* entries are nothing but values as Arrow has them */
	unsigned control;            /* bytes of a control word: 0, 1, 2 or 4 */
	uint32_t bits_rep, bits_def; /* in the control word */
	uint64_t size;               /* bytes of a value, or of a length */
	uint64_t rows, data_size, items;
	unsigned index_width; /* bytes; 0 = rows are all of one size */
	size_t buffer;        /* of the page; the index follows */
};

static inline uint64_t
fullzip_row_size(const struct fullzip *fullzip)
{
	return fullzip->control + fullzip->size;
}

/* Decodes entries, whole rows of them. The levels are appended to rep and def (arrays of
 * field_unsigned(16), untouched where there are none), the slots to `out`. */
int fullzip_decode(const struct fullzip *fullzip, const struct layers *layers, struct slice bytes,
	struct scratch *scratch, struct array *rep, struct array *def, struct array *out,
	struct lancet_error *err);

#endif
