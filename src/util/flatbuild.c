/* The writer of flatbuild.h. Layout: a vtable of 16-bit offsets, then its table, which begins with
 * the distance between the two; scalars are aligned to their own size, counted from place 0.
 */
#include "flatbuild.h"

#include <assert.h>

#include "macros.h"

static void
put_number(struct buf *out, uint64_t value, unsigned size)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	buf_put(out, bytes, size);
}

/* Zeros until `ahead` bytes further on the size is a multiple of `alignment`. */
static void
pad(struct buf *out, size_t ahead, size_t alignment)
{
	size_t over = (out->size + ahead) % alignment;

	if (over != 0)
		buf_fill(out, 0, alignment - over);
}

void
flatbuild_begin(struct buf *out)
{
	assert(out->size == 0);
	put_number(out, 0, 4);
}

/* Offsets of the fields in their table, the widest first so that no room is lost between them. */
static unsigned
place_fields(struct flatfield *fields, size_t count)
{
	unsigned at = 4;

	for (unsigned size = 8; size > 0; size /= 2) {
		for (size_t i = 0; i < count; i++) {
			if (fields[i].size != size)
				continue;
			fields[i].at = at;
			at += size;
		}
	}
	return at;
}

size_t
flatbuild_table(struct buf *out, struct flatfield *fields, size_t count)
{
	unsigned slots = 0, table_size = place_fields(fields, count);
	size_t vtable, table;

	for (size_t i = 0; i < count; i++)
		slots = fields[i].slot >= slots ? fields[i].slot + 1 : slots;
	/* behind the distance, the fields of the table begin at a multiple of 8 */
	pad(out, 4 + 2 * (size_t)slots + 4, 8);
	vtable = out->size;
	table = vtable + 4 + 2 * (size_t)slots;
	put_number(out, 4 + 2 * slots, 2);
	put_number(out, table_size, 2);
	for (unsigned slot = 0; slot < slots; slot++) {
		unsigned at = 0;

		for (size_t i = 0; i < count; i++)
			at = fields[i].slot == slot ? (unsigned)fields[i].at : at;
		put_number(out, at, 2);
	}
	put_number(out, table - vtable, 4);
	for (unsigned size = 8; size > 0; size /= 2) {
		for (size_t i = 0; i < count; i++) {
			if (fields[i].size == size)
				put_number(out, fields[i].value, size);
		}
	}
	for (size_t i = 0; i < count; i++)
		fields[i].at += table;
	return table;
}

void
flatbuild_refer(struct buf *out, size_t at, size_t target)
{
	uint64_t distance = target - at;

	if (out->failed != LANCET_OK)
		return;
	assert(at < target && target <= out->size && at + 4 <= out->size);
	if (distance > INT32_MAX) {
		out->failed = LANCET_LIMIT;
		return;
	}
	for (unsigned i = 0; i < 4; i++)
		out->data[at + i] = (uint8_t)(distance >> (8 * i));
}

size_t
flatbuild_vector(struct buf *out, const void *elements, size_t count, size_t size, size_t alignment)
{
	size_t at;

	pad(out, 4, alignment < 4 ? 4 : alignment);
	at = out->size;
	if (count > INT32_MAX / size && out->failed == LANCET_OK)
		out->failed = LANCET_LIMIT;
	put_number(out, count, 4);
	if (elements == NULL)
		buf_fill(out, 0, count * size);
	else
		buf_put(out, elements, count * size);
	return at;
}

size_t
flatbuild_string(struct buf *out, struct slice text)
{
	size_t at = flatbuild_vector(
		out, text.data != NULL ? (const void *)text.data : "", text.size, 1, 4);

	buf_put_byte(out, 0);
	return at;
}
