/* Which message opens which layout: rows for each case of the page messages. Tests compare them
 * with the messages, so that a new case is not overlooked. */
#ifndef FILE_LAYOUT_CASES_H
#define FILE_LAYOUT_CASES_H

#include "layout.h"

struct layout_case {
	int pb_case;
	const char *name;
	/* The message has this case set; it is in the reader's arena. */
	int (*open)(struct page_reader *reader, const void *message, struct lancet_error *err);
};

extern const struct layout_case page_layout_cases[]; /* PageLayout.layout */
extern const size_t page_layout_cases_count;
extern const struct layout_case planar_structure_cases[]; /* PlanarLayout.structure.structure */
extern const size_t planar_structure_cases_count;
extern const struct layout_case planar_dense_cases[]; /* PlanarLayout.values.values, if dense */
extern const size_t planar_dense_cases_count;

/* Opens a PageLayout message for a reader that has everything but its layout. */
int page_layout_open(struct page_reader *reader, struct slice message, struct lancet_error *err);

/* layout_miniblock.c, layout_fullzip.c, layout_constant.c, layout_blob.c: a case each. Those of 2.3
 * get the PlanarLayout. */
int layout_open_mini_block(struct page_reader *, const void *page_layout, struct lancet_error *);
int layout_open_chunked(struct page_reader *, const void *planar_layout, struct lancet_error *);
int layout_open_full_zip(struct page_reader *, const void *page_layout, struct lancet_error *);
int layout_open_zipped(struct page_reader *, const void *planar_layout, struct lancet_error *);
int layout_open_constant(struct page_reader *, const void *page_layout, struct lancet_error *);
int layout_open_scalar(struct page_reader *, const void *planar_layout, struct lancet_error *);
int layout_open_none(struct page_reader *, const void *planar_layout, struct lancet_error *);
int layout_open_blob(struct page_reader *, const void *page_layout, struct lancet_error *);

/* layers_init from the layers of a message (an enum is an int). */
#define LAYOUT_LAYERS(reader, message, err)                                                        \
	layers_init(&(reader)->layers, (const int *)(message)->layers, (message)->n_layers,        \
		(reader)->leaf, err)

/* CORRUPT when the page has another number of buffers than its layout needs. */
int layout_check_buffers(const struct page_reader *reader, size_t needed, struct lancet_error *err);
/* False when only the values tell; 0 nulls when there are no definition levels. */
bool layout_null_count(const struct page_reader *reader, uint64_t *ret_nulls);

#endif
