/* Bytes of 2.0 pages, see v20_write_bytes.h. */
#include "v20_write_bytes.h"

#include "util/macros.h"

int
v20_put_bytes(struct page_out *page, const struct field *field, struct slice bytes,
	struct buf *into, struct lancet_error *err)
{
	unsigned index;
	struct buf *buffer = v20_new_buffer(page, &index, err);

	(void)field;
	if (buffer == NULL)
		return LANCET_LIMIT;
	buf_put_slice(buffer, bytes);
	v20_message_flat(into, 8, index, NULL);
	return buf_check(buffer, "bytes of values", err);
}
