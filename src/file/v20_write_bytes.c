/* Whole buffers compressed with zstd; see v20_write_bytes.h.
 *
 * Of such a buffer nothing can be read without all of it, so it has to be worth it: half the size
 * at most, unless the field wishes it. A part from the middle is tried first. The frame is bare,
 * which readers of every age take: what goes before it today older ones don't know. Format facts:
 * v2.0 page encodings, Flat.
 */
#include "v20_write_bytes.h"

#include <zstd.h>

#include "encode_wish.h"
#include "util/macros.h"

#define BYTES_MIN  1024u /* less is not worth a try */
#define TRIED_SIZE ((size_t)64 << 10)

static bool
is_wished(const struct field *field)
{
	return encode_wish_compression(field) == WISH_ZSTD;
}

/* What may become of `size` bytes that otherwise take `others`. */
static size_t
goal_of(const struct field *field, size_t size, uint64_t others)
{
	uint64_t goal = is_wished(field) ? others - 1 : others / 2;

	return goal < size ? (size_t)goal : size - 1;
}

/* Whether a part of the bytes, in proportion, gets below the goal. */
static bool
is_promising(struct slice bytes, size_t goal, int level, struct buf *place)
{
	struct slice part = bytes;
	size_t size;

	if (bytes.size > 4 * TRIED_SIZE)
		part = slice_of(bytes.data + (bytes.size - TRIED_SIZE) / 2, TRIED_SIZE);
	else
		return true;
	if (!buf_reserve(place, ZSTD_compressBound(part.size)))
		return false;
	size = ZSTD_compress(
		place->data, ZSTD_compressBound(part.size), part.data, part.size, level);
	/* With more bytes there are more to refer to: a little less is promising, too. */
	return !ZSTD_isError(size) &&
	       (double)size / (double)part.size < 1.2 * (double)goal / (double)bytes.size;
}

int
v20_try_zstd(struct page_out *page, const struct field *field, uint64_t bits, struct slice bytes,
	uint64_t others, struct buf *into, bool *ret_done, struct lancet_error *err)
{
	int level = encode_wish_level(field);
	struct buf place = { 0 };
	size_t goal, size;
	unsigned index;
	struct buf *buffer;

	*ret_done = false;
	if (encode_wish_compression(field) == WISH_NONE || others < 2 ||
		(bytes.size < BYTES_MIN && !is_wished(field)))
		return LANCET_OK;
	goal = goal_of(field, bytes.size, others);
	if (!is_promising(bytes, goal, level, &place)) {
		buf_release(&place);
		return LANCET_OK;
	}
	if (!buf_reserve(&place, goal)) {
		buf_release(&place);
		return lancet_fail(err, LANCET_NO_MEMORY, "compression of a page");
	}
	/* What does not fit into the goal is an error of the library's, and no page. */
	size = ZSTD_compress(place.data, goal, bytes.data, bytes.size, level);
	if (ZSTD_isError(size)) {
		buf_release(&place);
		return LANCET_OK;
	}
	place.size = size;
	buffer = v20_new_buffer(page, &index, err);
	if (buffer == NULL) {
		buf_release(&place);
		return LANCET_LIMIT;
	}
	buf_release(buffer);
	*buffer = place;
	v20_message_flat(into, bits, index, "zstd");
	*ret_done = true;
	return LANCET_OK;
}

int
v20_put_bytes(struct page_out *page, const struct field *field, uint64_t bits, struct slice bytes,
	struct buf *into, struct lancet_error *err)
{
	unsigned index;
	struct buf *buffer;
	bool done;

	TRY(v20_try_zstd(page, field, bits, bytes, bytes.size, into, &done, err));
	if (done)
		return LANCET_OK;
	buffer = v20_new_buffer(page, &index, err);
	if (buffer == NULL)
		return LANCET_LIMIT;
	buf_put_slice(buffer, bytes);
	v20_message_flat(into, bits, index, NULL);
	return buf_check(buffer, "values", err);
}
