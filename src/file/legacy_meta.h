/* What a legacy data file says of itself behind its pages: its batches, and where the table of its
 * pages and its schema are. Format facts: legacy data files. */
#ifndef FILE_LEGACY_META_H
#define FILE_LEGACY_META_H

#include "util/source.h"

#define LEGACY_FOOTER_SIZE 16u /* i64 place of the metadata, u16 major, u16 minor, "LANC" */

struct legacy_meta {
	uint64_t page_table; /* bytes from the start of the file; not checked */
	uint64_t manifest;   /* of the message with the schema; not checked */
	uint32_t *offsets;   /* batch_count + 1 rows: the first is 0, they never fall */
	size_t batch_count;
	uint64_t rows;
};

/* Reads the metadata that the footer points at. */
int legacy_meta_init(struct legacy_meta *meta, struct source *src, struct lancet_error *err);
void legacy_meta_release(struct legacy_meta *meta);
/* The place of a message behind its u32 length; CORRUPT when it passes the footer. */
int legacy_message(struct source *src, uint64_t place, uint64_t *ret_offset, uint32_t *ret_size,
	struct lancet_error *err);

#endif
