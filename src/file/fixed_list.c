/* Lists of a fixed length as values: `dimension` items for each, possibly lists themselves.
 *
 * Nested messages are the layers, outermost first; the innermost is flat, or constant without a
 * value, which says that all items are null and stores none. A layer may keep the validity of its
 * items. In a mini-block each of these bitmaps is a buffer before the one of the items; in the
 * per-value form all of them lie in front of the value's items, padded to bytes; a block is a row
 * of such values, unless items alone are in it. The validity of the lists themselves is told by
 * levels. Format facts: FixedSizeList.
 */
#include "encodings.h"

#include <inttypes.h>
#include <stdio.h>

#include <lance/encodings21.pb-c.h>

#include "util/bits.h"
#include "util/macros.h"

struct fixed_list {
	bool has_validity;        /* of this layer's items */
	const struct codec *leaf; /* NULL: all items are null */
	uint64_t leaves;          /* innermost items of a value */
	uint64_t value_bytes;     /* per-value form */
};

static bool
is_list(const struct codec *codec)
{
	return codec != NULL &&
	       codec->encoding->pb_case ==
		       LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FIXED_SIZE_LIST;
}

static const struct fixed_list *
list_of(const struct codec *codec)
{
	return codec->state;
}

/* A single value is where all that may be inside is allowed, whatever the place of the whole. */
static int
open_items(struct slice message, unsigned depth, struct arena *arena, struct codec *codec,
	struct lancet_error *err)
{
	const Lance__Encodings21__CompressiveEncoding *unpacked;

	TRY(codec_unpack(message, arena, &unpacked, err));
	switch (unpacked->compression_case) {
	case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_CONSTANT:
		if (unpacked->constant->field_value_case ==
			LANCE__ENCODINGS21__CONSTANT__FIELD_VALUE__NOT_SET)
			return LANCET_OK;
		return lancet_fail(err, LANCET_CORRUPT, "fixed_size_list: a constant value");
	case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FLAT:
	case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FIXED_SIZE_LIST:
		return codec_open(
			message, CODEC_FIXED, codec->version, depth + 1, arena, &codec->inner, err);
	default:
		return lancet_fail(
			err, LANCET_CORRUPT, "fixed_size_list: items neither flat nor lists");
	}
}

/* Adds up what a value of all layers from here inwards is made of. This one's state is not yet in
 * its codec. */
static int
measure(struct codec *codec, struct fixed_list *list, struct lancet_error *err)
{
	const struct codec *layer = codec;
	uint64_t items = 1, bits;

	for (; is_list(layer); layer = layer->inner) {
		bool has_validity =
			layer == codec ? list->has_validity : list_of(layer)->has_validity;

		if (__builtin_mul_overflow(items, layer->parameter, &items) || items > INT64_MAX)
			return lancet_fail(err, LANCET_CORRUPT, "fixed_size_list: too many items");
		if (has_validity) {
			list->value_bytes += bits_size(items);
			codec->buffers++;
		}
	}
	list->leaf = layer;
	list->leaves = items;
	if (layer == NULL)
		return LANCET_OK;
	if (layer->bits == 1 && codec->buffers > 0 && codec->place == CODEC_BLOCK)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"fixed_size_list: single bits with validity in a block, which nobody "
			"reads");
	if (__builtin_mul_overflow(items, layer->bits, &bits) || bits > INT64_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "fixed_size_list: too many items");
	codec->bits = bits;
	codec->buffers++;
	list->value_bytes += bits_size(bits);
	return LANCET_OK;
}

static int
describe(struct codec *codec, struct arena *arena, struct lancet_error *err)
{
	char words[48];
	int size = snprintf(words, sizeof(words), "%" PRIu64 "%s%s", codec->parameter,
		list_of(codec)->has_validity ? " nullable" : "",
		codec->inner == NULL ? " nulls" : "");

	codec->words = arena_copy(arena, words, (size_t)size + 1);
	if (codec->words == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encodings of a page");
	return LANCET_OK;
}

static int
fixed_list_open(const struct Lance__Encodings21__CompressiveEncoding *message, unsigned depth,
	struct arena *arena, struct codec *codec, struct lancet_error *err)
{
	const struct Lance__Encodings21__FixedSizeList *stored = message->fixed_size_list;
	struct fixed_list *list = arena_zalloc(arena, 1, sizeof(*list));

	if (list == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encodings of a page");
	if (stored->items_per_value == 0)
		return lancet_fail(err, LANCET_CORRUPT, "fixed_size_list: no items");
	TRY(open_items(
		slice_of(stored->values.data, stored->values.len), depth, arena, codec, err));
	codec->parameter = stored->items_per_value;
	list->has_validity = stored->has_validity;
	TRY(measure(codec, list, err));
	codec->state = list;
	return describe(codec, arena, err);
}

/* The arrays of all layers grow by what `count` values have of them; the one of the leaf is left to
 * the caller, who puts *ret_items into it. */
static int
extend_layers(const struct codec *codec, uint64_t count, struct array *out, struct array **ret_leaf,
	uint64_t *ret_items, struct lancet_error *err)
{
	for (; is_list(codec); codec = codec->inner) {
		if (out->field->kind != FIELD_FIXED_LIST)
			return lancet_fail(err, LANCET_CORRUPT,
				"fixed_size_list: lists where the type has none");
		if (out->field->dimension != codec->parameter)
			return lancet_fail(err, LANCET_CORRUPT,
				"fixed_size_list: %" PRIu64 " items, %" PRIu64 " expected",
				codec->parameter, out->field->dimension);
		TRY(array_extend(out, count, err));
		if (__builtin_mul_overflow(count, codec->parameter, &count))
			return lancet_fail(err, LANCET_LIMIT, "fixed_size_list: too many items");
		out = &out->children[0];
	}
	*ret_leaf = out;
	*ret_items = count;
	return LANCET_OK;
}

static int
append_leaves(const struct codec *leaf, struct slice in, uint64_t items, struct array *out,
	struct lancet_error *err)
{
	uint64_t bits;

	if (__builtin_mul_overflow(items, leaf->bits, &bits) || bits_size(bits) > in.size)
		return lancet_fail(err, LANCET_CORRUPT,
			"fixed_size_list: %zu bytes for %" PRIu64 " items of %" PRIu64 " bits",
			in.size, items, leaf->bits);
	return array_append_fixed(out, (uint32_t)leaf->bits, in.data, items, err);
}

/* Of the last `count` items. */
static int
set_validity(struct array *items, uint64_t count, struct slice bitmap, struct lancet_error *err)
{
	if (bitmap.size < bits_size(count))
		return lancet_fail(err, LANCET_CORRUPT,
			"fixed_size_list: %zu bytes tell the validity of %" PRIu64 " items",
			bitmap.size, count);
	return array_set_validity(items, count, bitmap.data, 0, err);
}

static int
fixed_list_decode_mini(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	const struct codec *leaf = list_of(codec)->leaf;
	const struct slice *bitmap = in->buffers + in->taken;
	struct array *leaves;
	uint64_t items;

	(void)scratch;
	in->taken += codec->buffers;
	TRY(extend_layers(codec, count, out, &leaves, &items, err));
	if (leaf == NULL)
		TRY(array_append_nulls(leaves, items, err));
	else
		TRY(append_leaves(leaf, in->buffers[in->taken - 1], items, leaves, err));
	for (; is_list(codec); codec = codec->inner) {
		count *= codec->parameter;
		out = &out->children[0];
		if (list_of(codec)->has_validity)
			TRY(set_validity(out, count, *bitmap++, err));
	}
	return LANCET_OK;
}

/* The bitmaps that lie at `offset` of each value, `each` bits, are put one behind the other and
 * become the validity of the items. */
static int
gather_validity(const struct slice *values, size_t count, uint64_t offset, uint64_t each,
	struct scratch *scratch, struct array *items, struct lancet_error *err)
{
	size_t size = (size_t)bits_size(count * each);
	struct buf *bitmap;
	int rc;

	TRY(codec_take_buffer(scratch, &bitmap, err));
	buf_fill(bitmap, 0, size);
	rc = buf_check(bitmap, "validity of items", err);
	for (size_t i = 0; rc == LANCET_OK && i < count; i++)
		bits_copy(bitmap->data, i * each, values[i].data + offset, 0, each);
	if (rc == LANCET_OK)
		rc = set_validity(items, count * each, buf_slice(bitmap), err);
	scratch_give(scratch);
	return rc;
}

static int
gather_leaves(const struct codec *leaf, const struct slice *values, size_t count, uint64_t each,
	struct array *out, struct lancet_error *err)
{
	size_t size = (size_t)bits_size(each * leaf->bits);
	uint8_t *place;

	if (leaf->bits == 1) {
		for (size_t i = 0; i < count; i++)
			TRY(array_append_bits(
				out, values[i].data + values[i].size - size, 0, each, err));
		return LANCET_OK;
	}
	TRY(array_extend_fixed(out, (uint32_t)leaf->bits, count * each, &place, err));
	for (size_t i = 0; i < count; i++)
		memcpy(place + i * size, values[i].data + values[i].size - size, size);
	return LANCET_OK;
}

static int
fixed_list_decode_values(const struct codec *codec, const struct slice *values, size_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	const struct fixed_list *list = list_of(codec);
	uint64_t offset = 0, each = 1, items;
	struct array *leaves;

	for (size_t i = 0; i < count; i++)
		if (values[i].size != list->value_bytes)
			return lancet_fail(err, LANCET_CORRUPT,
				"fixed_size_list: a value of %zu bytes, %" PRIu64 " expected",
				values[i].size, list->value_bytes);
	TRY(extend_layers(codec, count, out, &leaves, &items, err));
	if (list->leaf == NULL)
		TRY(array_append_nulls(leaves, items, err));
	else
		TRY(gather_leaves(list->leaf, values, count, list->leaves, leaves, err));
	for (; is_list(codec); codec = codec->inner) {
		each *= codec->parameter;
		out = &out->children[0];
		if (!list_of(codec)->has_validity)
			continue;
		TRY(gather_validity(values, count, offset, each, scratch, out, err));
		offset += bits_size(each);
	}
	return LANCET_OK;
}

static int
decode_row_of_values(const struct codec *codec, struct slice in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	size_t each = (size_t)list_of(codec)->value_bytes;
	struct slice *values;
	struct buf *room;
	int rc;

	TRY(codec_take_buffer(scratch, &room, err));
	if (!buf_reserve(room, (size_t)count * sizeof(*values))) {
		rc = buf_check(room, "fixed_size_list", err);
		scratch_give(scratch);
		return rc;
	}
	values = (struct slice *)(void *)room->data;
	for (size_t i = 0; i < count; i++)
		values[i] = slice_of(in.data + i * each, each);
	rc = fixed_list_decode_values(codec, values, (size_t)count, scratch, out, err);
	scratch_give(scratch);
	return rc;
}

static int
fixed_list_decode_block(const struct codec *codec, struct slice in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	const struct codec *leaf = list_of(codec)->leaf;
	uint64_t each = list_of(codec)->value_bytes;
	struct array *leaves;
	uint64_t size, items;

	if (codec->buffers == (leaf == NULL ? 0 : 1)) { /* no validity of items */
		TRY(extend_layers(codec, count, out, &leaves, &items, err));
		return leaf == NULL ? array_append_nulls(leaves, items, err)
				    : append_leaves(leaf, in, items, leaves, err);
	}
	if (__builtin_mul_overflow(count, each, &size) || size > in.size ||
		count > SIZE_MAX / sizeof(struct slice))
		return lancet_fail(err, LANCET_CORRUPT,
			"fixed_size_list: %zu bytes for %" PRIu64 " values of %" PRIu64, in.size,
			count, each);
	return decode_row_of_values(codec, in, count, scratch, out, err);
}

const struct encoding encoding_fixed_list = {
	.name = "fixed_size_list",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FIXED_SIZE_LIST,
	.places = CODEC_MINI | CODEC_BLOCK | CODEC_FIXED,
	.open = fixed_list_open,
	.decode_mini = fixed_list_decode_mini,
	.decode_block = fixed_list_decode_block,
	.decode_values = fixed_list_decode_values,
};
