/* What is spliced is copied from the scan's window while it is there; only fields longer than the
 * window are read on their own.
 */
#include "pbrest.h"

#include "util/macros.h"
#include "util/pballoc.h"

/* Messages cost 3 to 5 times their bytes when decoded, empty sub-messages up to 89 times. */
#define ARENA_PER_BYTE  32u
#define ARENA_BASE_SIZE (64u * 1024)

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
	ProtobufCAllocator allocator = pb_allocator(arena);
	ProtobufCMessage *message;

	TRY(buf_check(rest, type->short_name, err));
	arena->limit = ARENA_PER_BYTE * rest->size + ARENA_BASE_SIZE;
	message = protobuf_c_message_unpack(type, &allocator, rest->size,
	                                    rest->size == 0 ? (const uint8_t *)"" : rest->data);
	if (message == NULL && arena->full)
		return lancet_fail(err, LANCET_LIMIT,
		                   "%s: %zu bytes decode to more than %zu or there is no memory",
		                   type->short_name, rest->size, arena->limit);
	if (message == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "%s: not decodable", type->short_name);
	arena->limit = 0;
	*(void **)ret_message = message;
	return LANCET_OK;
}
