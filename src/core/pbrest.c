/* What is spliced is copied from the scan's window while it is there; only fields longer than the
 * window are read on their own.
 */
#include "pbrest.h"

#include "util/macros.h"

int
pbrest_add(struct buf *rest, struct pbscan *scan, const struct pb_field *field,
           struct lancet_error *err)
{
	uint64_t size = field->end - field->start;
	struct slice bytes;

	if (rest->failed != LANCET_OK)
		return LANCET_OK;
	if (scan->src->data != NULL || size <= scan->window_max) {
		TRY(pbscan_bytes(scan, field->start, (size_t)size, &bytes, err));
		buf_put_slice(rest, bytes);
		return LANCET_OK;
	}
	if (!buf_reserve(rest, (size_t)size))
		return LANCET_OK;
	TRY(source_read_at(scan->src, field->start, (size_t)size, rest->data + rest->size, err));
	rest->size += (size_t)size;
	return LANCET_OK;
}

int
pbrest_decode(const struct buf *rest, const ProtobufCMessageDescriptor *type, struct arena *arena,
              void *ret_message, struct lancet_error *err)
{
	TRY(buf_check(rest, type->short_name, err));
	return pb_unpack(type, buf_slice(rest), arena, ret_message, err);
}
