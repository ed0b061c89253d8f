/* Inside of the page writer: one page being made, and the layouts that can hold it. */
#ifndef FILE_PAGE_WRITER_H
#define FILE_PAGE_WRITER_H

#include "encode.h"
#include "page_out.h"
#include "shred.h"

struct page_job {
	enum file_version version;
	const struct field *leaf;
	bool needs_dictionary; /* or else its values are too wide for chunks */
	struct shred shred;    /* levels and values of the page */
	struct page_out out;
};

struct encode_values page_values(const struct page_job *job);
/* The layers as a packed field of a layout's message. */
void page_put_layers(struct buf *message, unsigned field, const struct layers *layers);
/* Ends out.encoding: the layout's message as a field of PageLayout. */
int page_put_layout(
	struct page_job *job, unsigned field, const struct buf *layout, struct lancet_error *err);

/* page_writer_check.c. UNSUPPORTED: nulls of a packed struct's parts, which have no place. */
int page_check_values(const struct page_job *job, struct lancet_error *err);

/* miniblock_write.c. *ret_fits is false when a chunk can't hold the levels of its values: fewer
 * rows may fit, and full-zip pages always do. LIMIT: the values alone are too wide. */
int miniblock_write(struct page_job *job, bool *ret_fits, struct lancet_error *err);
/* fullzip_write.c. */
int fullzip_write(struct page_job *job, struct lancet_error *err);
/* constant_write.c: true when the page has nothing but nulls, or can say so shorter than by values.
 */
bool constant_wants_nulls(const struct page_job *job);
int constant_write_nulls(struct page_job *job, struct lancet_error *err);
/* *ret_done is false when the values differ, or the version has no constants. */
int constant_write_value(struct page_job *job, bool *ret_done, struct lancet_error *err);

#endif
