/* Reading computed records at any byte offset.
 *
 * With a width the record is offset / width. Without one, an index holds where every
 * RECORDS_STEP-th record begins; it is made once by rendering everything a block at a time, and is
 * kept as a text so that the cache can hold it.
 */
#ifndef FS_RECORDS_H
#define FS_RECORDS_H

#include "node.h"
#include "textcache.h"

/* LANCET_LIMIT when it would take more bytes than one text may. */
int records_index(const struct records *records, struct text **ret_index, struct lancet_error *err);
/* The size of header and records. */
uint64_t records_index_size(const struct text *index);
/* [offset, offset + size) must lie within header and records; index is NULL when they have a width.
 */
int records_read(const struct records *records, const struct text *index, uint64_t offset,
	size_t size, uint8_t *into, struct lancet_error *err);
void records_release(struct records *records);

#endif
