/* The walk over the fields of a message; see pbscan.h.
 *
 * A field's head (tag and varint or fixed value, at most 20 bytes) is all that must be at hand;
 * contents are stepped over. The window is refilled with 4 KiB after a jump and with twice as much
 * each time the walk turns out to be sequential, so neither long contents nor many small ones cost
 * needless reads.
 */
#include "pbscan.h"

#include "cursor.h"
#include "macros.h"

#include <inttypes.h>
#include <stdlib.h>

#define WINDOW_DEFAULT   (256u * 1024)
#define READ_SIZE_MIN    4096u
#define HEAD_SIZE_MAX    20u /* two varints of 10 bytes */
#define FIELD_NUMBER_MAX ((1u << 29) - 1)

int
pbscan_init(struct pbscan *scan, struct source *src, uint64_t offset, uint64_t size,
            size_t window_max, struct lancet_error *err)
{
	if (offset > src->size || size > src->size - offset)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "message: %" PRIu64 " bytes at %" PRIu64
		                   " pass the end at %" PRIu64,
		                   size, offset, src->size);
	if (window_max == 0)
		window_max = WINDOW_DEFAULT;
	if (window_max > size)
		window_max = (size_t)size;
	*scan = (struct pbscan){
		.src = src,
		.at = offset,
		.end = offset + size,
		.window_max = window_max < HEAD_SIZE_MAX ? HEAD_SIZE_MAX : window_max,
		.window_at = offset,
		.read_size = READ_SIZE_MIN,
	};
	return LANCET_OK;
}

void
pbscan_release(struct pbscan *scan)
{
	if (scan == NULL)
		return;
	free(scan->window);
	scan->window = NULL;
	scan->window_size = 0;
}

/* Makes the window start at `offset` and hold at least `needed` bytes, all of them before
 * scan->end. */
static int
refill(struct pbscan *scan, uint64_t offset, size_t needed, struct lancet_error *err)
{
	uint64_t left = scan->end - offset;
	uint64_t window_end = scan->window_at + scan->window_size;
	/* a content that straddles the window's end is no jump */
	bool sequential = offset >= scan->window_at && offset <= window_end + READ_SIZE_MIN;
	size_t size;

	if (scan->window == NULL) {
		scan->window = malloc(scan->window_max);
		if (scan->window == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "message: window of %zu bytes",
			                   scan->window_max);
	} else {
		scan->read_size = sequential ? scan->read_size * 2 : READ_SIZE_MIN;
	}
	if (scan->read_size > scan->window_max)
		scan->read_size = scan->window_max;
	size = scan->read_size < needed ? needed : scan->read_size;
	if (size > left)
		size = (size_t)left;
	scan->window_size = 0;
	TRY(source_read_at(scan->src, offset, size, scan->window, err));
	scan->window_at = offset;
	scan->window_size = size;
	return LANCET_OK;
}

/* At least `needed` bytes at `offset`, both known to lie within the message, and what else is at
 * hand. */
static int
view(struct pbscan *scan, uint64_t offset, size_t needed, struct slice *ret_view,
     struct lancet_error *err)
{
	uint64_t skip;

	if (scan->src->data != NULL) {
		*ret_view = slice_of(scan->src->data + offset, (size_t)(scan->end - offset));
		return LANCET_OK;
	}
	if (offset < scan->window_at || offset > scan->window_at + scan->window_size ||
	    needed > scan->window_at + scan->window_size - offset)
		TRY(refill(scan, offset, needed, err));
	skip = offset - scan->window_at;
	*ret_view = slice_of(scan->window + skip, scan->window_size - (size_t)skip);
	return LANCET_OK;
}

/* A varint; most tags and values are one byte long, and a manifest has millions of them. */
static inline uint64_t
take_varint(struct cursor *c)
{
	struct cursor slow;
	uint64_t value;

	if (c->at < c->in.size && c->in.data[c->at] < 0x80)
		return c->in.data[c->at++];
	slow = *c; /* a copy, so that c itself can stay in registers */
	value = cursor_varint(&slow);
	*c = slow;
	return value;
}

/* Reads the head of the field at `start` of a message that ends at `end`; `head` begins there. */
static inline int
parse_head(struct slice head, uint64_t start, uint64_t end, struct pb_field *ret_field,
           struct lancet_error *err)
{
	struct cursor c = { .in = head };
	struct pb_field field = { .start = start };
	uint64_t tag = take_varint(&c);

	if (c.bad)
		return lancet_fail(err, LANCET_CORRUPT, "field at byte %" PRIu64 ": bad tag",
		                   start);
	if (tag >> 3 == 0 || tag >> 3 > FIELD_NUMBER_MAX)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "field at byte %" PRIu64 ": number %" PRIu64, start, tag >> 3);
	field.number = (uint32_t)(tag >> 3);
	field.wire = (enum pb_wire)(tag & 7);
	switch (field.wire) {
	case PB_VARINT:
	case PB_BYTES:
		field.value = take_varint(&c);
		break;
	case PB_FIXED64:
		field.value = cursor_u64(&c);
		break;
	case PB_FIXED32:
		field.value = cursor_u32(&c);
		break;
	default:
		return lancet_fail(err, LANCET_CORRUPT,
		                   "field %" PRIu32 " at byte %" PRIu64 ": wire type %u",
		                   field.number, start, (unsigned)(tag & 7));
	}
	if (c.bad)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "field %" PRIu32 " at byte %" PRIu64
		                   ": value is cut or too long",
		                   field.number, start);
	field.offset = field.end = start + c.at;
	if (field.wire == PB_BYTES) {
		if (field.value > end - field.offset)
			return lancet_fail(err, LANCET_CORRUPT,
			                   "field %" PRIu32 " at byte %" PRIu64 ": %" PRIu64
			                   " bytes, %" PRIu64 " left",
			                   field.number, start, field.value, end - field.offset);
		field.end += field.value;
	}
	*ret_field = field;
	return LANCET_OK;
}

int
pbscan_next(struct pbscan *scan, struct pb_field *ret_field, bool *ret_more,
            struct lancet_error *err)
{
	uint64_t left = scan->end - scan->at;
	uint64_t skip = scan->at - scan->window_at;
	struct slice head;

	if (left == 0) {
		*ret_more = false;
		return LANCET_OK;
	}
	if (skip < scan->window_size && scan->window_size - skip >= HEAD_SIZE_MAX)
		head = slice_of(scan->window + skip, HEAD_SIZE_MAX);
	else
		TRY(view(scan, scan->at, left < HEAD_SIZE_MAX ? (size_t)left : HEAD_SIZE_MAX, &head,
		         err));
	TRY(parse_head(head, scan->at, scan->end, ret_field, err));
	scan->at = ret_field->end;
	*ret_more = true;
	return LANCET_OK;
}

int
pbscan_next_inside(struct pbscan *scan, uint64_t end, struct pb_field *ret_field, bool *ret_more,
                   struct lancet_error *err)
{
	uint64_t start = scan->at;

	if (start == end) {
		*ret_more = false;
		return LANCET_OK;
	}
	TRY(pbscan_next(scan, ret_field, ret_more, err));
	if (!*ret_more)
		return lancet_fail(err, LANCET_CORRUPT, "message at %" PRIu64 ": cut short", start);
	if (ret_field->end > end)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "field %" PRIu32 " at byte %" PRIu64 " passes its message's end",
		                   ret_field->number, ret_field->start);
	return LANCET_OK;
}

bool
pbscan_step(struct pbscan *scan, struct pb_field *ret_field, int *rc, struct lancet_error *err)
{
	bool more = false;

	if (*rc == LANCET_OK)
		*rc = pbscan_next(scan, ret_field, &more, err);
	return *rc == LANCET_OK && more;
}

int
pbscan_bytes(struct pbscan *scan, uint64_t offset, size_t size, struct slice *ret_bytes,
             struct lancet_error *err)
{
	struct slice bytes;

	if (offset > scan->end || size > scan->end - offset)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "message: %zu bytes at %" PRIu64
		                   " pass its end at %" PRIu64,
		                   size, offset, scan->end);
	if (scan->src->data == NULL && size > scan->window_max)
		return lancet_fail(err, LANCET_INVALID, "message: %zu bytes, window has %zu", size,
		                   scan->window_max);
	TRY(view(scan, offset, size, &bytes, err));
	*ret_bytes = slice_of(bytes.data, size);
	return LANCET_OK;
}

int
pbmem_next(struct pbmem *scan, struct pb_field *ret_field, bool *ret_more,
           struct lancet_error *err)
{
	struct slice head;

	if (scan->at == scan->in.size) {
		*ret_more = false;
		return LANCET_OK;
	}
	head = slice_of(scan->in.data + scan->at, scan->in.size - scan->at);
	TRY(parse_head(head, scan->at, scan->in.size, ret_field, err));
	scan->at = (size_t)ret_field->end;
	*ret_more = true;
	return LANCET_OK;
}
