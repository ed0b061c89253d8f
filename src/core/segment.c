/* Parsing of U64Segment messages, and ranges and arrays of values.
 *
 * A repeated field counts as protobuf has it: another arm of a oneof replaces the earlier one, the
 * same arm is merged into it, the last scalar stays. Format facts: RowIdSequence.
 */
#include "segment.h"

#include "util/cursor.h"
#include "util/macros.h"
#include "util/pbscan.h"

#include <assert.h>
#include <inttypes.h>

/* Heads are read in small bites, or the payload behind them would come along. */
#define HEAD_WINDOW 64u
/* Bytes of a range whose ends take ten bytes each. */
#define PLAIN_MAX 24u
/* Elements that a walk over a whole array holds at once. */
#define BLOCK_VALUES 512u

static int
wrong_wire(const struct pb_field *field, const char *where, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_CORRUPT, "%s: field %" PRIu32 " has wire type %u", where,
		field->number, (unsigned)field->wire);
}

/* U16Array, U32Array, U64Array: { base #1, payload #2 }; the last has no base. */
static int
parse_array_body(struct source *src, const struct pb_field *message, struct segment_array *array,
	struct lancet_error *err)
{
	struct pbscan scan = { 0 };
	struct pb_field field;
	int rc = pbscan_init(&scan, src, message->offset, message->value, HEAD_WINDOW, err);

	while (pbscan_step(&scan, &field, &rc, err)) {
		if (field.number == 1 && array->width != 8) {
			if (field.wire != PB_VARINT)
				rc = wrong_wire(&field, "array", err);
			else
				array->base = field.value;
		} else if (field.number == 2) {
			if (field.wire != PB_BYTES) {
				rc = wrong_wire(&field, "array", err);
			} else {
				array->offset = field.offset;
				array->size = field.value;
			}
		}
	}
	pbscan_release(&scan);
	return rc;
}

static int
parse_array(struct source *src, const struct pb_field *message, struct segment_array *array,
	struct lancet_error *err)
{
	static const unsigned widths[] = { 0, 2, 4, 8 };
	struct pbscan scan = { 0 };
	struct pb_field field;
	int rc = pbscan_init(&scan, src, message->offset, message->value, HEAD_WINDOW, err);

	while (pbscan_step(&scan, &field, &rc, err)) {
		if (field.number >= ARRAY_SIZE(widths))
			continue;
		if (field.wire != PB_BYTES) {
			rc = wrong_wire(&field, "encoded array", err);
			break;
		}
		if (array->width != widths[field.number])
			*array = (struct segment_array){ .width = widths[field.number] };
		rc = parse_array_body(src, &field, array, err);
	}
	pbscan_release(&scan);
	if (rc == LANCET_OK && array->width == 0)
		rc = lancet_fail(err, LANCET_CORRUPT, "encoded array of an unknown width");
	if (rc == LANCET_OK && array->size % array->width != 0)
		rc = lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " bytes of %u-byte elements, not a multiple", array->size,
			array->width);
	return rc;
}

/* Range, RangeWithHoles, RangeWithBitmap: { start #1, end #2, holes or bitmap #3 }. */
static int
parse_range_field(struct source *src, const struct pb_field *field, struct segment *seg,
	struct lancet_error *err)
{
	if (field->number == 1 || field->number == 2) {
		if (field->wire != PB_VARINT)
			return wrong_wire(field, "range", err);
		*(field->number == 1 ? &seg->start : &seg->end) = field->value;
		return LANCET_OK;
	}
	if (field->number != 3 || seg->kind == SEGMENT_RANGE)
		return LANCET_OK;
	if (field->wire != PB_BYTES)
		return wrong_wire(field, "range", err);
	if (seg->kind == SEGMENT_HOLES)
		return parse_array(src, field, &seg->array, err);
	seg->bits_offset = field->offset;
	seg->bits_size = field->value;
	return LANCET_OK;
}

static int
parse_range(struct source *src, const struct pb_field *message, struct segment *seg,
	struct lancet_error *err)
{
	struct pbscan scan = { 0 };
	struct pb_field field;
	int rc = pbscan_init(&scan, src, message->offset, message->value, HEAD_WINDOW, err);

	while (pbscan_step(&scan, &field, &rc, err)) {
		rc = parse_range_field(src, &field, seg, err);
	}
	pbscan_release(&scan);
	return rc;
}

/* What the lengths alone tell, once all fields are known. */
static int
finish(struct segment *seg, struct lancet_error *err)
{
	uint64_t span = seg->end - seg->start;

	if (seg->kind == SEGMENT_NONE)
		return lancet_fail(err, LANCET_CORRUPT, "unknown kind of segment");
	if (seg->kind == SEGMENT_SORTED || seg->kind == SEGMENT_ARRAY) {
		seg->length = seg->array.size / seg->array.width;
		seg->counted = true;
		return LANCET_OK;
	}
	if (seg->end < seg->start)
		return lancet_fail(err, LANCET_CORRUPT,
			"range ends at %" PRIu64 ", before its start %" PRIu64, seg->end,
			seg->start);
	seg->length = span;
	seg->counted = true;
	if (seg->kind == SEGMENT_HOLES) {
		uint64_t holes;

		if (seg->array.width == 0)
			return lancet_fail(
				err, LANCET_CORRUPT, "range with holes has no holes field");
		holes = seg->array.size / seg->array.width;
		if (holes > span)
			return lancet_fail(err, LANCET_CORRUPT,
				"%" PRIu64 " holes in a range of %" PRIu64, holes, span);
		seg->length = span - holes;
	} else if (seg->kind == SEGMENT_BITMAP) {
		seg->counted = false;
		if (seg->bits_size != span / 8 + (span % 8 != 0))
			return lancet_fail(err, LANCET_CORRUPT,
				"bitmap of %" PRIu64 " bytes for a range of %" PRIu64,
				seg->bits_size, span);
	}
	return LANCET_OK;
}

/* What nearly all runs of versions are: one range with both its ends, in memory. False: it is to be
 * walked, and *seg is of no use. */
static bool
parse_plain(const struct source *src, uint64_t offset, uint64_t size, struct segment *seg)
{
	struct cursor c = { .at = 0 };

	if (src->data == NULL || size > PLAIN_MAX || offset > src->size ||
		size > src->size - offset)
		return false;
	c.in = slice_of(src->data + offset, (size_t)size);
	if (cursor_u8(&c) != 0x0a || cursor_u8(&c) + UINT64_C(2) != size || cursor_u8(&c) != 0x08)
		return false;
	*seg = (struct segment){ .kind = SEGMENT_RANGE, .start = cursor_varint(&c) };
	if (cursor_u8(&c) != 0x10)
		return false;
	seg->end = cursor_varint(&c);
	return !c.bad && cursor_left(&c) == 0;
}

static int
walk_arms(struct source *src, uint64_t offset, uint64_t size, struct segment *seg,
	struct lancet_error *err)
{
	struct pbscan scan = { 0 };
	struct pb_field field;
	int rc = pbscan_init(&scan, src, offset, size, HEAD_WINDOW, err);

	*seg = (struct segment){ .kind = SEGMENT_NONE };
	while (pbscan_step(&scan, &field, &rc, err)) {
		if (field.number > SEGMENT_ARRAY)
			continue;
		if (field.wire != PB_BYTES) {
			rc = wrong_wire(&field, "segment", err);
			break;
		}
		if (seg->kind != (enum segment_kind)field.number)
			*seg = (struct segment){ .kind = (enum segment_kind)field.number };
		rc = field.number < SEGMENT_SORTED ? parse_range(src, &field, seg, err)
						   : parse_array(src, &field, &seg->array, err);
	}
	pbscan_release(&scan);
	return rc;
}

int
segment_parse(struct source *src, uint64_t offset, uint64_t size, struct segment *ret_segment,
	struct lancet_error *err)
{
	struct segment seg;

	if (!parse_plain(src, offset, size, &seg))
		TRY(walk_arms(src, offset, size, &seg, err));
	TRY(finish(&seg, err));
	*ret_segment = seg;
	return LANCET_OK;
}

/* Widens `count` packed elements at the end of values' storage to 64 bits, front to back: an
 * element's 8 bytes end at or before the next packed one, so nothing unread is overwritten. */
static int
widen(const struct segment_array *array, const uint8_t *packed, size_t count, uint64_t *values,
	struct lancet_error *err)
{
	for (size_t i = 0; i < count; i++, packed += array->width) {
		uint64_t stored = array->width == 2   ? load_u16(packed)
				  : array->width == 4 ? load_u32(packed)
						      : load_u64(packed);

		if (__builtin_add_overflow(array->base, stored, &values[i]))
			return lancet_fail(err, LANCET_CORRUPT,
				"base %" PRIu64 " + %" PRIu64 " passes 64 bits", array->base,
				stored);
	}
	return LANCET_OK;
}

int
segment_array_read(struct source *src, const struct segment_array *array, uint64_t first,
	size_t count, uint64_t *values, struct lancet_error *err)
{
	size_t size = count * array->width;
	uint8_t *packed = (uint8_t *)values + count * sizeof(*values) - size;

	assert(first <= array->size / array->width && count <= array->size / array->width - first);
	TRY(source_read_at(src, array->offset + first * array->width, size, packed, err));
	return widen(array, packed, count, values, err);
}

/* Checks that the values ascend, also over the border to the element before them. */
static int
check_ascending(struct source *src, const struct segment_array *array, uint64_t first, size_t count,
	const uint64_t *values, uint64_t *decoded, struct lancet_error *err)
{
	uint64_t before;

	if (first > 0 && count > 0) {
		TRY(segment_array_read(src, array, first - 1, 1, &before, err));
		++*decoded;
		if (before >= values[0])
			return lancet_fail(err, LANCET_CORRUPT,
				"sorted array does not ascend at element %" PRIu64, first);
	}
	for (size_t i = 1; i < count; i++) {
		if (values[i - 1] >= values[i])
			return lancet_fail(err, LANCET_CORRUPT,
				"sorted array does not ascend at element %" PRIu64, first + i);
	}
	return LANCET_OK;
}

int
segment_read(struct source *src, const struct segment *seg, const uint64_t *ranks, uint64_t first,
	size_t count, uint64_t *values, uint64_t *decoded, struct lancet_error *err)
{
	assert(seg->counted && first <= seg->length && count <= seg->length - first);
	if (count == 0)
		return LANCET_OK;
	switch (seg->kind) {
	case SEGMENT_HOLES:
		return segment_holes_read(src, seg, first, count, values, decoded, err);
	case SEGMENT_BITMAP:
		return segment_bitmap_read(src, seg, ranks, first, count, values, decoded, err);
	case SEGMENT_SORTED:
	case SEGMENT_ARRAY:
		*decoded += count;
		TRY(segment_array_read(src, &seg->array, first, count, values, err));
		return seg->kind == SEGMENT_ARRAY ? LANCET_OK
						  : check_ascending(src, &seg->array, first, count,
							    values, decoded, err);
	case SEGMENT_RANGE:
	case SEGMENT_NONE:
		break;
	}
	for (size_t i = 0; i < count; i++)
		values[i] = seg->start + first + i;
	*decoded += count;
	return LANCET_OK;
}

int
segment_validate(struct source *src, const struct segment *seg, struct lancet_error *err)
{
	uint64_t block[BLOCK_VALUES];
	uint64_t decoded = 0;

	if (seg->kind == SEGMENT_HOLES)
		return segment_holes_validate(src, seg, err);
	if (seg->kind != SEGMENT_SORTED && seg->kind != SEGMENT_ARRAY)
		return LANCET_OK;
	for (uint64_t at = 0; at < seg->length; at += BLOCK_VALUES) {
		uint64_t left = seg->length - at;

		TRY(segment_read(src, seg, NULL, at,
			left < BLOCK_VALUES ? (size_t)left : BLOCK_VALUES, block, &decoded, err));
	}
	return LANCET_OK;
}
