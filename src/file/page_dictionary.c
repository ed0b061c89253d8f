/* Expanding page dictionaries; see page_dictionary.h.
 *
 * Indices become 32-bit ones first, 0 under nulls, and are compared with the number of items at
 * once: the gathering itself has no checks. A dictionary field keeps keys, but has one dictionary
 * for all pages: a table translates the items of this page, each when it is first met.
 */
#include "page_dictionary.h"

#include <inttypes.h>

#include "layout.h"
#include "util/bits.h"
#include "util/macros.h"

#define ITEMS_SIZE_MAX ((size_t)1 << 30) /* bytes; the writer's own limit is 8 MiB */
#define KEY_UNKNOWN    UINT32_MAX

void
page_dictionary_release(struct page_dictionary *dictionary)
{
	array_release(&dictionary->items);
	dictionary->loaded = false;
}

static int
decode_items(struct page_reader *reader, struct page_dictionary *dictionary, struct buf *bytes,
	struct lancet_error *err)
{
	uint64_t size;

	if (dictionary->buffer >= reader->page->buffer_count)
		return lancet_fail(err, LANCET_CORRUPT, "no buffer %zu", dictionary->buffer);
	size = reader->page->buffers[dictionary->buffer].size;
	if (!buf_reserve(bytes, (size_t)size))
		return buf_check(bytes, "items", err);
	TRY(page_read(reader, dictionary->buffer, 0, (size_t)size, bytes->data, err));
	return codec_decode_block(dictionary->codec, slice_of(bytes->data, (size_t)size),
		dictionary->count, reader->scratch, &dictionary->items, err);
}

static int
load_items(struct page_reader *reader, struct page_dictionary *dictionary, struct lancet_error *err)
{
	const struct field *field = reader->leaf;
	struct buf *bytes;
	int rc;

	if (dictionary->loaded)
		return LANCET_OK;
	if (field->kind == FIELD_DICTIONARY)
		field = &field->children[0];
	if (dictionary->count >= KEY_UNKNOWN)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " items", dictionary->count);
	dictionary->budget = (struct array_budget){ .limit = ITEMS_SIZE_MAX };
	TRY(array_init(&dictionary->items, field, &dictionary->budget, err));
	bytes = scratch_take(reader->scratch, 0);
	if (bytes == NULL) {
		rc = lancet_fail(err, LANCET_LIMIT, "too many buffers in use");
	} else {
		rc = decode_items(reader, dictionary, bytes, err);
		scratch_give(reader->scratch);
	}
	dictionary->loaded = rc == LANCET_OK;
	if (rc != LANCET_OK)
		array_release(&dictionary->items);
	return lancet_wrap(err, rc, "dictionary");
}

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

/* The first values of an array that has none: its dictionary becomes that of the page, if the keys
 * have room for it and most of it will be used. */
static bool
can_adopt(const struct array *items, uint64_t count, const struct array *out)
{
	unsigned bits = out->field->bits - (out->field->is_signed ? 1 : 0);

	return out->children[0].length == 0 && out->lookup == NULL && items->length <= count &&
	       items->length - 1 <= (bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX);
}

/* Item numbers to keys of `out`. */
static int
translate(const struct array *items, uint32_t *wide, uint64_t count, uint32_t *table,
	struct array *out, struct lancet_error *err)
{
	memset(table, 0xff, (size_t)items->length * sizeof(*table));
	for (uint64_t i = 0; i < count; i++) {
		uint32_t *key = &table[wide[i]];
		uint64_t found;

		if (*key == KEY_UNKNOWN) {
			TRY(array_dictionary_key(out, items, wide[i], &found, err));
			if (found >= KEY_UNKNOWN)
				return lancet_fail(err, LANCET_LIMIT, "too many distinct values");
			*key = (uint32_t)found;
		}
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
append_keys(struct page_reader *reader, const struct array *items, uint32_t *wide, uint64_t count,
	struct array *out, struct lancet_error *err)
{
	unsigned width = out->field->bits / 8;
	uint64_t first = out->length;
	struct buf *table = scratch_take(reader->scratch, 0);
	uint8_t *place;
	int rc;

	if (table == NULL)
		return lancet_fail(err, LANCET_LIMIT, "too many buffers in use");
	if (can_adopt(items, count, out))
		rc = array_append_range(&out->children[0], items, 0, items->length, err);
	else if (!buf_reserve(table, (size_t)items->length * sizeof(uint32_t)))
		rc = buf_check(table, "keys", err);
	else
		rc = translate(items, wide, count, (uint32_t *)table->data, out, err);
	scratch_give(reader->scratch);
	TRY(rc);
	TRY(array_extend_fixed(out, out->field->bits, count, &place, err));
	narrow(wide, width, count, place);
	for (uint64_t i = 0; out->children[0].null_count > 0 && i < count; i++) {
		if (!array_is_valid(&out->children[0], wide[i]))
			TRY(array_set_null(out, first + i, err));
	}
	return LANCET_OK;
}

static int
append_wide(struct page_reader *reader, const struct array *items, uint32_t *wide, uint64_t count,
	const uint8_t *validity, struct array *out, struct lancet_error *err)
{
	uint32_t max = clear_nulls(wide, count, validity);

	if (items->length == 0) {
		if (count > 0 && (validity == NULL || bits_count(validity, 0, count) > 0))
			return lancet_fail(err, LANCET_CORRUPT, "values of an empty dictionary");
		return array_append_nulls(out, count, err);
	}
	if (max >= items->length)
		return lancet_fail(err, LANCET_CORRUPT,
			"item %" PRIu32 " of a dictionary of %" PRIu64, max, items->length);
	if (out->field->kind == FIELD_DICTIONARY)
		return append_keys(reader, items, wide, count, out, err);
	return array_append_gather(out, items, wide, count, err);
}

int
page_dictionary_append(struct page_reader *reader, struct page_dictionary *dictionary,
	const struct array *indices, const uint8_t *validity, struct array *out,
	struct lancet_error *err)
{
	uint64_t count = indices->length;
	struct buf *wide;
	int rc;

	TRY(load_items(reader, dictionary, err));
	wide = scratch_take(reader->scratch, 0);
	if (wide == NULL)
		return lancet_fail(err, LANCET_LIMIT, "too many buffers in use");
	if (count == 0) {
		rc = LANCET_OK;
	} else if (buf_reserve(wide, (size_t)count * sizeof(uint32_t))) {
		widen(indices->data.data, indices->field->bits / 8, count, (uint32_t *)wide->data);
		rc = append_wide(reader, &dictionary->items, (uint32_t *)wide->data, count,
			validity, out, err);
	} else {
		rc = buf_check(wide, "indices", err);
	}
	scratch_give(reader->scratch);
	return rc;
}
