/* Values through an encoder and back through the decoder of what it wrote, chunk by chunk. */
#ifndef TESTS_ENCODED_H
#define TESTS_ENCODED_H

#include "file/codec.h"
#include "file/encode.h"
#include "unit.h"

struct encoded {
	struct array_budget budget;
	struct array in, out, items;
	struct arena arena;
	struct scratch scratch;
	struct mini_plan plan;
	struct buf buffers[ENCODE_BUFFERS_MAX];
	uint64_t size; /* bytes of all buffers, padded to 8 */
	uint64_t chunks;
	struct buf words; /* of the opened encoding, closed by NUL */
	struct lancet_error err;
};

#define ENCODED_OK(encoded, call) ck_assert_msg((call) == LANCET_OK, "%s", (encoded)->err.text)

static inline void
encoded_init(struct encoded *encoded, const struct field *field)
{
	*encoded = (struct encoded){ .budget = { .limit = (size_t)1 << 30 } };
	ENCODED_OK(encoded, array_init(&encoded->in, field, &encoded->budget, &encoded->err));
}

static inline void
encoded_release(struct encoded *encoded)
{
	mini_plan_release(&encoded->plan);
	for (unsigned i = 0; i < ENCODE_BUFFERS_MAX; i++)
		buf_release(&encoded->buffers[i]);
	array_release(&encoded->in);
	array_release(&encoded->out);
	array_release(&encoded->items);
	buf_release(&encoded->words);
	scratch_release(&encoded->scratch);
	arena_release(&encoded->arena);
}

static inline struct encode_values
encoded_values(
	const struct encoded *encoded, enum file_version version, uint64_t first, uint64_t count)
{
	return (struct encode_values){ version, encoded->in.field, &encoded->in, first, count };
}

/* Encodes one chunk, of fewer slots while it can't hold them; returns how many it has. */
static inline uint64_t
encoded_chunk(struct encoded *encoded, uint64_t first, uint64_t left)
{
	uint64_t count = UINT64_C(1) << encoded->plan.chunk_log2;
	uint64_t tried = left < count ? left : count;
	int rc;

	for (;; tried = count) {
		for (unsigned i = 0; i < ENCODE_BUFFERS_MAX; i++)
			encoded->buffers[i].size = 0;
		rc = mini_plan_chunk(&encoded->plan, first, tried, encoded->buffers, &encoded->err);
		if (rc != LANCET_LIMIT)
			break;
		for (; count >= tried; count /= 2)
			ck_assert_uint_gt(count, 2);
	}
	ENCODED_OK(encoded, rc);
	for (unsigned i = 0; i < ENCODE_BUFFERS_MAX; i++) {
		encoded->size += (encoded->buffers[i].size + 7) / 8 * 8;
		ck_assert(i < encoded->plan.buffer_count || encoded->buffers[i].size == 0);
	}
	encoded->chunks++;
	return tried;
}

static inline const struct codec *
encoded_open(struct encoded *encoded, struct slice message, enum codec_place place,
	enum file_version version)
{
	const struct codec *codec = NULL;

	ENCODED_OK(encoded,
		codec_open(message, place, version, 0, &encoded->arena, &codec, &encoded->err));
	return codec;
}

/* All chunks of the plan, decoded to `out`; indices when there is a dictionary. */
static inline void
encoded_chunks(struct encoded *encoded, enum file_version version, uint64_t count)
{
	const struct codec *codec =
		encoded_open(encoded, buf_slice(&encoded->plan.message), CODEC_MINI, version);
	struct slice slices[ENCODE_BUFFERS_MAX];

	codec_describe(codec, &encoded->words);
	buf_put_byte(&encoded->words, '\0');
	ck_assert_uint_eq(codec->buffers, encoded->plan.buffer_count);
	for (uint64_t first = 0, done; first < count; first += done) {
		struct codec_buffers in = { slices, encoded->plan.buffer_count, 0 };

		done = encoded_chunk(encoded, first, count - first);
		for (unsigned i = 0; i < encoded->plan.buffer_count; i++)
			slices[i] = buf_slice(&encoded->buffers[i]);
		ENCODED_OK(encoded, codec_decode_mini(codec, &in, done, &encoded->scratch,
					    &encoded->out, &encoded->err));
	}
}

static inline bool encoded_equal(
	const struct array *a, uint64_t at, const struct array *b, uint64_t bt);

static inline bool
encoded_children_equal(const struct array *a, uint64_t at, const struct array *b, uint64_t bt)
{
	uint64_t dimension = a->field->kind == FIELD_FIXED_LIST ? a->field->dimension : 1;

	for (size_t i = 0; i < a->child_count; i++)
		for (uint64_t k = 0; k < dimension; k++)
			if (!encoded_equal(&a->children[i], at * dimension + k, &b->children[i],
				    bt * dimension + k))
				return false;
	return true;
}

/* Valid values are equal, and what is null in the first one is not looked at. */
static inline bool
encoded_equal(const struct array *a, uint64_t at, const struct array *b, uint64_t bt)
{
	size_t width = a->field->bits / 8;

	if (!array_is_valid(a, at))
		return true;
	if (!array_is_valid(b, bt))
		return false;
	switch (a->field->kind) {
	case FIELD_FIXED:
		if (a->field->bits == 1)
			return array_bit(a, at) == array_bit(b, bt);
		return memcmp(a->data.data + at * width, b->data.data + bt * width, width) == 0;
	case FIELD_VARIABLE:
		return slice_equal(array_bytes(a, at), array_bytes(b, bt));
	default:
		return encoded_children_equal(a, at, b, bt);
	}
}

/* Slots [first, first + count) go through mini-blocks and come back as they were. */
static inline void
encoded_round(struct encoded *encoded, enum file_version version, uint64_t first, uint64_t count)
{
	struct encode_values values = encoded_values(encoded, version, first, count);
	const struct field *field = encoded->in.field;

	ENCODED_OK(encoded, mini_plan_make(&values, &encoded->plan, &encoded->err));
	if (encoded->plan.dictionary_items > 0)
		field = field_unsigned(32);
	ENCODED_OK(encoded, array_init(&encoded->out, field, &encoded->budget, &encoded->err));
	encoded_chunks(encoded, version, count);
	ck_assert_uint_eq(encoded->out.length, count);
	if (encoded->plan.dictionary_items > 0) {
		const struct codec *codec = encoded_open(encoded,
			buf_slice(&encoded->plan.dictionary_message), CODEC_BLOCK, version);

		ENCODED_OK(encoded, array_init(&encoded->items, encoded->in.field, &encoded->budget,
					    &encoded->err));
		ENCODED_OK(encoded, codec_decode_block(codec, buf_slice(&encoded->plan.dictionary),
					    encoded->plan.dictionary_items, &encoded->scratch,
					    &encoded->items, &encoded->err));
		buf_put_text(&encoded->words, " dictionary");
	}
	for (uint64_t i = 0; i < count; i++) {
		uint64_t index = i;

		if (!array_is_valid(&encoded->in, first + i))
			continue;
		if (encoded->plan.dictionary_items > 0) {
			index = array_unsigned(&encoded->out, i);
			ck_assert_uint_lt(index, encoded->items.length);
		}
		ck_assert_msg(
			encoded_equal(&encoded->in, first + i,
				encoded->items.field != NULL ? &encoded->items : &encoded->out,
				index),
			"%s: value %llu", (const char *)encoded->words.data, (unsigned long long)i);
	}
}

#endif
