/* Expanding indices; see indexed.h.
 *
 * Indices become 32-bit ones first, 0 under nulls, and are compared with the number of items at
 * once: the gathering itself has no checks. A dictionary field keeps keys, but has one dictionary
 * for all pages: a table translates the items at hand, each when it is first met. Format facts:
 * dictionary columns.
 */
#include "indexed.h"

#include <inttypes.h>

#include "encodings.h"
#include "util/bits.h"
#include "util/macros.h"

#define KEY_UNKNOWN UINT32_MAX
#define KEY_NULL    (UINT32_MAX - 1)

/* What does not fit is UINT32_MAX: beyond the items of any dictionary. */
lancet_hot static void
widen(const uint8_t *from, unsigned width, uint64_t count, uint32_t *wide)
{
	uint16_t narrow;
	uint64_t value;

	switch (width) {
	case 1:
		for (uint64_t i = 0; i < count; i++)
			wide[i] = from[i];
		break;
	case 2:
		for (uint64_t i = 0; i < count; i++) {
			memcpy(&narrow, from + i * 2, 2);
			wide[i] = narrow;
		}
		break;
	case 4:
		memcpy(wide, from, (size_t)count * 4);
		break;
	default:
		for (uint64_t i = 0; i < count; i++) {
			memcpy(&value, from + i * 8, 8);
			wide[i] = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
		}
	}
}

/* Index 0 under nulls. Returns the largest one. */
lancet_hot static uint32_t
clear_nulls(uint32_t *wide, uint64_t count, const struct array *indices)
{
	uint32_t max = 0;

	if (indices->null_count > 0) {
		for (uint64_t i = 0; i < count; i++)
			wide[i] &= 0 - (uint32_t)bits_get(indices->validity.data, i);
	}
	for (uint64_t i = 0; i < count; i++)
		max = wide[i] > max ? wide[i] : max;
	return max;
}

/* Item numbers to keys of `out`, KEY_NULL for null items. */
static int
translate(const struct array *items, uint32_t *wide, uint64_t count, uint32_t *table,
	struct array *out, struct lancet_error *err)
{
	memset(table, 0xff, (size_t)items->length * sizeof(*table));
	for (uint64_t i = 0; i < count; i++) {
		uint32_t *key = &table[wide[i]];
		uint64_t found = KEY_NULL;

		if (*key == KEY_UNKNOWN && array_is_valid(items, wide[i])) {
			TRY(array_dictionary_key(out, items, wide[i], &found, err));
			if (found >= KEY_NULL)
				return lancet_fail(err, LANCET_LIMIT, "too many distinct values");
		}
		if (*key == KEY_UNKNOWN)
			*key = (uint32_t)found;
		wide[i] = *key;
	}
	return LANCET_OK;
}

static void
narrow(const uint32_t *wide, unsigned width, uint64_t count, uint8_t *place)
{
	if (width == 1) {
		for (uint64_t i = 0; i < count; i++)
			place[i] = (uint8_t)wide[i];
		return;
	}
	for (uint64_t i = 0; i < count; i++) {
		uint64_t key = wide[i];

		memcpy(place + i * width, &key, width);
	}
}

static int
append_keys(const struct array *items, uint32_t *wide, uint64_t count, struct buf *table,
	struct array *out, struct lancet_error *err)
{
	uint64_t first = out->length;
	uint8_t *place;

	if (!buf_reserve(table, (size_t)items->length * sizeof(uint32_t)))
		return buf_check(table, "keys", err);
	TRY(translate(items, wide, count, (uint32_t *)(void *)table->data, out, err));
	TRY(array_extend_fixed(out, out->field->bits, count, &place, err));
	for (uint64_t i = 0; items->null_count > 0 && i < count; i++) {
		if (wide[i] != KEY_NULL)
			continue;
		wide[i] = 0;
		TRY(array_set_null(out, first + i, err));
	}
	narrow(wide, out->field->bits / 8, count, place);
	return LANCET_OK;
}

static int
append_wide(const struct array *items, const struct array *indices, uint32_t *wide,
	struct buf *table, struct array *out, struct lancet_error *err)
{
	uint64_t count = indices->length, first = out->length;
	uint32_t max = clear_nulls(wide, count, indices);

	if (items->length == 0 && indices->null_count == count)
		return array_append_nulls(out, count, err);
	if (max >= items->length)
		return lancet_fail(err, LANCET_CORRUPT,
			"item %" PRIu32 " of a dictionary of %" PRIu64, max, items->length);
	if (out->field->kind == FIELD_DICTIONARY)
		TRY(append_keys(items, wide, count, table, out, err));
	else
		TRY(array_append_gather(out, items, wide, count, err));
	if (indices->null_count == 0)
		return LANCET_OK;
	if (items->null_count == 0)
		return array_set_validity(out, count, indices->validity.data, 0, err);
	for (uint64_t i = 0; i < count; i++) {
		if (!array_is_valid(indices, i))
			TRY(array_set_null(out, first + i, err));
	}
	return LANCET_OK;
}

int
indexed_append(const struct array *items, const struct array *indices, struct scratch *scratch,
	struct array *out, struct lancet_error *err)
{
	uint64_t count = indices->length;
	struct buf *wide, *table;
	int rc;

	if (count == 0)
		return LANCET_OK;
	if (items->length >= KEY_NULL || count > SIZE_MAX / sizeof(uint32_t))
		return lancet_fail(
			err, LANCET_LIMIT, "a dictionary of %" PRIu64 " values", items->length);
	TRY(codec_take_buffer(scratch, &wide, err));
	rc = codec_take_buffer(scratch, &table, err);
	if (rc == LANCET_OK) {
		(void)buf_reserve(wide, (size_t)count * sizeof(uint32_t));
		rc = buf_check(wide, "indices", err);
		if (rc == LANCET_OK) {
			widen(indices->data.data, indices->field->bits / 8, count,
				(uint32_t *)(void *)wide->data);
			rc = append_wide(
				items, indices, (uint32_t *)(void *)wide->data, table, out, err);
		}
		scratch_give(scratch);
	}
	scratch_give(scratch);
	return rc;
}
