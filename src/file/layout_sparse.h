/* Sparse pages of 2.3: which slots are null or hold items is told by their positions. */
#ifndef FILE_LAYOUT_SPARSE_H
#define FILE_LAYOUT_SPARSE_H

#include "layout.h"

struct Lance__Encodings23__PlanarLayout;

extern const struct layout layout_sparse;

/* The message has structure and values, and its structure is sparse. */
int sparse_open(struct page_reader *reader, const struct Lance__Encodings23__PlanarLayout *message,
	struct lancet_error *err);

#endif
