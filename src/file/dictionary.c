/* Numbers as indices into few distinct ones: only in runs of numbers; values of pages have
 * dictionaries by their layout. Format facts: 2.3 unsigned-sequence grammar. */
#include "number_run.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "encodings.h"
#include "util/cursor.h"
#include "util/macros.h"

#define ITEMS_MAX  4096u
#define INDEX_BITS 32u

static int
dictionary_open(const struct Lance__Encodings21__CompressiveEncoding *message, struct slice bytes,
	struct arena *arena, struct number_run *run, struct lancet_error *err)
{
	const struct Lance__Encodings21__Dictionary *dictionary = message->dictionary;

	(void)bytes;
	run->items = dictionary->num_dictionary_items;
	if (run->items == 0 || run->items > ITEMS_MAX)
		return lancet_fail(
			err, LANCET_CORRUPT, "dictionary: %" PRIu64 " numbers", run->items);
	TRY(number_part_open(slice_of(dictionary->indices.data, dictionary->indices.len),
		INDEX_BITS, arena, &run->inner, err));
	TRY(number_part_open(slice_of(dictionary->items.data, dictionary->items.len), run->bits,
		arena, &run->second, err));
	run->has_buffer = run->inner->has_buffer || run->second->has_buffer;
	return LANCET_OK;
}

static int
cut(const struct number_run *run, struct slice in, struct slice *ret_indices,
	struct slice *ret_items, struct lancet_error *err)
{
	struct cursor c = { .in = in };
	uint64_t indices_size, items_size;

	*ret_indices = *ret_items = (struct slice){ 0 };
	if (!run->has_buffer)
		return LANCET_OK;
	indices_size = cursor_u64(&c);
	items_size = cursor_u64(&c);
	*ret_indices = cursor_take(&c, indices_size);
	*ret_items = cursor_take(&c, items_size);
	if (c.bad || cursor_left(&c) != 0)
		return lancet_fail(err, LANCET_CORRUPT,
			"dictionary: %" PRIu64 " and %" PRIu64 " bytes in a buffer of %zu",
			indices_size, items_size, in.size);
	return LANCET_OK;
}

/* Replaces indices by what they stand for; false when one is out of range. */
static bool
look_up(uint64_t *numbers, uint64_t count, const struct array *items)
{
	const uint64_t *known = (const uint64_t *)(const void *)items->data.data;
	uint64_t highest = 0;

	for (uint64_t i = 0; i < count; i++)
		highest = numbers[i] > highest ? numbers[i] : highest;
	if (highest >= items->length)
		return false;
	for (uint64_t i = 0; i < count; i++)
		numbers[i] = known[numbers[i]];
	return true;
}

static int
dictionary_decode(const struct number_run *run, uint64_t count, struct slice in,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	size_t first = out->data.size;
	struct slice indices_in, items_in;
	struct array items;
	int rc;

	TRY(cut(run, in, &indices_in, &items_in, err));
	TRY(array_init(&items, field_unsigned(64), out->budget, err));
	rc = number_run_decode(run->second, run->items, items_in, scratch, &items, err);
	if (rc == LANCET_OK)
		rc = number_run_decode(run->inner, count, indices_in, scratch, out, err);
	if (rc == LANCET_OK &&
		!look_up((uint64_t *)(void *)(out->data.data + first), count, &items))
		rc = lancet_fail(err, LANCET_CORRUPT,
			"dictionary: an index beyond %" PRIu64 " numbers", run->items);
	array_release(&items);
	return rc;
}

const struct number_kind number_dictionary = {
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_DICTIONARY,
	.composite = true,
	.open = dictionary_open,
	.decode = dictionary_decode,
};

const struct encoding encoding_dictionary = {
	.name = "dictionary",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_DICTIONARY,
	.places = 0,
};
