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
#define USUAL_SIZE_MAX   6u  /* a tag of one byte, a value of 35 bits */
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

/* Numbers are taken from where `at` is; false when they are not all there. A manifest has millions
 * of them, most of one byte or two: no cursor is kept in memory for those. */
static inline bool
take_varint(struct slice in, size_t *at, uint64_t *ret_value)
{
	size_t left = in.size - *at;
	struct cursor slow;

	if (left > 0 && in.data[*at] < 0x80) {
		*ret_value = in.data[*at];
		*at += 1;
		return true;
	}
	if (left > 1 && in.data[*at + 1] < 0x80) {
		*ret_value = (uint64_t)(in.data[*at] & 0x7f) | (uint64_t)in.data[*at + 1] << 7;
		*at += 2;
		return true;
	}
	slow = (struct cursor){ .in = in, .at = *at };
	*ret_value = cursor_varint(&slow);
	*at = slow.at;
	return !slow.bad;
}

static inline bool
take_value(struct slice in, enum pb_wire wire, size_t *at, uint64_t *ret_value)
{
	size_t size = wire == PB_FIXED64 ? sizeof(uint64_t) : sizeof(uint32_t);

	if (wire == PB_VARINT || wire == PB_BYTES)
		return take_varint(in, at, ret_value);
	if (in.size - *at < size)
		return false;
	*ret_value = wire == PB_FIXED64 ? load_u64(in.data + *at) : load_u32(in.data + *at);
	*at += size;
	return true;
}

/* Reads the head of the field at `start` of a message that ends at `end`; `head` begins there. */
static int
parse_head(struct slice head, uint64_t start, uint64_t end, struct pb_field *ret_field,
           struct lancet_error *err)
{
	uint64_t tag, value;
	size_t at = 0;
	uint32_t number;
	enum pb_wire wire;

	if (!take_varint(head, &at, &tag))
		return lancet_fail(err, LANCET_CORRUPT, "field at byte %" PRIu64 ": bad tag",
		                   start);
	if (tag >> 3 == 0 || tag >> 3 > FIELD_NUMBER_MAX)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "field at byte %" PRIu64 ": number %" PRIu64, start, tag >> 3);
	number = (uint32_t)(tag >> 3);
	wire = (enum pb_wire)(tag & 7);
	if (wire != PB_VARINT && wire != PB_FIXED64 && wire != PB_BYTES && wire != PB_FIXED32)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "field %" PRIu32 " at byte %" PRIu64 ": wire type %u", number,
		                   start, (unsigned)wire);
	if (!take_value(head, wire, &at, &value))
		return lancet_fail(err, LANCET_CORRUPT,
		                   "field %" PRIu32 " at byte %" PRIu64
		                   ": value is cut or too long",
		                   number, start);
	if (wire == PB_BYTES && value > end - (start + at))
		return lancet_fail(err, LANCET_CORRUPT,
		                   "field %" PRIu32 " at byte %" PRIu64 ": %" PRIu64
		                   " bytes, %" PRIu64 " left",
		                   number, start, value, end - (start + at));
	ret_field->number = number;
	ret_field->wire = wire;
	ret_field->value = value;
	ret_field->start = start;
	ret_field->offset = start + at;
	ret_field->end = start + at + (wire == PB_BYTES ? value : 0);
	return LANCET_OK;
}

/* The next field if it is one of those that a manifest has by the million: its number is below 16,
 * it is a varint of a few bytes or a content, and the window has HEAD_SIZE_MAX bytes of it and
 * more. False: pbscan_next has to look. */
static inline bool
next_usual(struct pbscan *scan, struct pb_field *ret_field)
{
	uint64_t skip = scan->at - scan->window_at, value, offset;
	unsigned wire, shift = 7;
	const uint8_t *head;
	size_t size = 2;

	if (skip >= scan->window_size || scan->window_size - skip < HEAD_SIZE_MAX)
		return false;
	head = scan->window + skip;
	wire = head[0] & 7u;
	if (head[0] >= 0x80 || head[0] < 8 || (wire != PB_VARINT && wire != PB_BYTES))
		return false;
	value = head[1] & 0x7f;
	for (; head[size - 1] >= 0x80; size++, shift += 7) {
		if (size == USUAL_SIZE_MAX)
			return false;
		value |= (uint64_t)(head[size] & 0x7f) << shift;
	}
	offset = scan->at + size;
	if (wire == PB_BYTES && value > scan->end - offset)
		return false;
	ret_field->number = head[0] >> 3;
	ret_field->wire = (enum pb_wire)wire;
	ret_field->value = value;
	ret_field->start = scan->at;
	ret_field->offset = offset;
	ret_field->end = wire == PB_BYTES ? offset + value : offset;
	scan->at = ret_field->end;
	return true;
}

int
pbscan_next(struct pbscan *scan, struct pb_field *ret_field, bool *ret_more,
            struct lancet_error *err)
{
	uint64_t left = scan->end - scan->at;
	struct slice head;

	if (left == 0 || next_usual(scan, ret_field)) {
		*ret_more = left != 0;
		return LANCET_OK;
	}
	TRY(view(scan, scan->at, left < HEAD_SIZE_MAX ? (size_t)left : HEAD_SIZE_MAX, &head, err));
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
	if (next_usual(scan, ret_field))
		*ret_more = true;
	else
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
