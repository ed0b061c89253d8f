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
clear_nulls(uint32_t *wide, uint64_t count, const uint8_t *validity)
{
	uint32_t max = 0;

	for (uint64_t i = 0; validity != NULL && i < count; i += 8) {
		unsigned bits = validity[i / 8];

		if (bits == 0xff)
			continue;
		for (uint64_t j = i; j < i + 8 && j < count; j++, bits >>= 1)
			wide[j] &= 0 - (uint32_t)(bits & 1);
	}
	for (uint64_t i = 0; i < count; i++)
		max = wide[i] > max ? wide[i] : max;
	return max;
}

/* The first values of an array that has none: its dictionary becomes that of the items, if the keys
 * have room for it and most of it will be used. Null items never get there: a later value is looked
 * up by its bytes, and those of a null are none. */
static bool
can_adopt(const struct array *items, uint64_t count, const struct array *out)
{
	unsigned bits = out->field->bits - (out->field->is_signed ? 1 : 0);

	return out->children[0].length == 0 && out->lookup == NULL && items->null_count == 0 &&
	       items->length <= count &&
	       items->length - 1 <= (bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX);
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

lancet_hot static void
narrow(const uint32_t *wide, unsigned width, uint64_t count, uint8_t *place)
{
	switch (width) {
	case 1:
		for (uint64_t i = 0; i < count; i++)
			place[i] = (uint8_t)wide[i];
		break;
	case 2:
		for (uint64_t i = 0; i < count; i++) {
			uint16_t key = (uint16_t)wide[i];

			memcpy(place + i * 2, &key, 2);
		}
		break;
	case 4:
		memcpy(place, wide, (size_t)count * 4);
		break;
	default:
		for (uint64_t i = 0; i < count; i++) {
			uint64_t key = wide[i];

			memcpy(place + i * 8, &key, 8);
		}
	}
}

static int
append_keys(const struct array *items, uint32_t *wide, uint64_t count, struct buf *table,
	struct array *out, struct lancet_error *err)
{
	uint64_t first = out->length;
	uint8_t *place;

	if (can_adopt(items, count, out)) {
		TRY(array_append_range(&out->children[0], items, 0, items->length, err));
	} else {
		if (!buf_reserve(table, (size_t)items->length * sizeof(uint32_t)))
			return buf_check(table, "keys", err);
		TRY(translate(items, wide, count, (uint32_t *)(void *)table->data, out, err));
	}
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
append_wide(const struct array *items, uint32_t *wide, uint64_t count, const uint8_t *validity,
	struct buf *table, struct array *out, struct lancet_error *err)
{
	uint32_t max = clear_nulls(wide, count, validity);

	if (items->length == 0) {
		if (validity == NULL || bits_count(validity, 0, count) > 0)
			return lancet_fail(err, LANCET_CORRUPT, "values of an empty dictionary");
		return array_append_nulls(out, count, err);
	}
	if (max >= items->length)
		return lancet_fail(err, LANCET_CORRUPT,
			"item %" PRIu32 " of a dictionary of %" PRIu64, max, items->length);
	if (out->field->kind == FIELD_DICTIONARY)
		return append_keys(items, wide, count, table, out, err);
	return array_append_gather(out, items, wide, count, err);
}

int
indexed_gather(const struct array *items, const struct array *indices, const uint8_t *validity,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
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
			rc = append_wide(items, (uint32_t *)(void *)wide->data, count, validity,
				table, out, err);
		}
		scratch_give(scratch);
	}
	scratch_give(scratch);
	return rc;
}

int
indexed_append(const struct array *items, const struct array *indices, struct scratch *scratch,
	struct array *out, struct lancet_error *err)
{
	const uint8_t *validity = indices->null_count == 0 ? NULL : indices->validity.data;
	uint64_t first = out->length;

	TRY(indexed_gather(items, indices, validity, scratch, out, err));
	if (validity == NULL)
		return LANCET_OK;
	if (items->null_count == 0)
		return array_set_validity(out, indices->length, validity, 0, err);
	for (uint64_t i = 0; i < indices->length; i++) {
		if (!array_is_valid(indices, i))
			TRY(array_set_null(out, first + i, err));
	}
	return LANCET_OK;
}
