/* Values through an encoder and back through the decoder of what it wrote, chunk by chunk. */
#ifndef TESTS_ENCODED_H
#define TESTS_ENCODED_H

#include "encodedequal.h"
#include "file/codec.h"
#include "file/encode.h"

struct encoded {
	struct array_budget budget;
	struct array in, out, items;
	struct arena arena;
	struct scratch scratch;
	struct mini_plan plan;
	struct buf buffers[ENCODE_BUFFERS_MAX];
	uint64_t size;    /* bytes of all buffers, padded to 8, and of the dictionary */
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
	return tried;
}

#define encoded_open(encoded, message, place, version, ret_codec)                                  \
	ENCODED_OK(encoded, codec_open(buf_slice(message), place, version, 0, &(encoded)->arena,   \
				    ret_codec, &(encoded)->err))

/* All chunks of the plan, decoded to `out`; indices when there is a dictionary. */
static inline void
encoded_chunks(struct encoded *encoded, const struct codec *codec, uint64_t count)
{
	struct slice slices[ENCODE_BUFFERS_MAX];

	ck_assert_uint_eq(codec->buffers, encoded->plan.buffer_count);
	for (uint64_t first = 0, done; first < count; first += done) {
		struct codec_buffers in = { slices, encoded->plan.buffer_count, 0 };

		done = encoded_chunk(encoded, first, count - first);
		for (unsigned i = 0; i < encoded->plan.buffer_count; i++)
			slices[i] = buf_slice(&encoded->buffers[i]);
		ENCODED_OK(encoded, codec_decode_mini(codec, &in, done, &encoded->scratch,
					    &encoded->out, &encoded->err));
	}
	ck_assert_uint_eq(encoded->out.length, count);
}

static inline void
encoded_dictionary(struct encoded *encoded, enum file_version version)
{
	const struct field *field = encoded->in.field;
	const struct codec *codec;

	encoded_open(encoded, &encoded->plan.dictionary_message, CODEC_BLOCK, version, &codec);
	if (field->kind == FIELD_DICTIONARY)
		field = &field->children[0];
	ENCODED_OK(encoded, array_init(&encoded->items, field, &encoded->budget, &encoded->err));
	ENCODED_OK(encoded, codec_decode_block(codec, buf_slice(&encoded->plan.dictionary),
				    encoded->plan.dictionary_items, &encoded->scratch,
				    &encoded->items, &encoded->err));
	encoded->size += encoded->plan.dictionary.size;
	buf_put_text(&encoded->words, ", dictionary ");
	codec_describe(codec, &encoded->words);
}

static inline bool
encoded_same(const struct encoded *encoded, uint64_t index, uint64_t out)
{
	const struct array *in = &encoded->in, *items = &encoded->items;
	uint64_t item;

	if (encoded->plan.dictionary_items == 0 || !array_is_valid(in, index))
		return values_equal(in, index, &encoded->out, out);
	item = array_unsigned(&encoded->out, out);
	if (item >= items->length)
		return false;
	if (in->field->kind == FIELD_DICTIONARY)
		return values_equal(&in->children[0], array_unsigned(in, index), items, item);
	return values_equal(in, index, items, item);
}

/* Slots [first, first + count) go through mini-blocks and come back as they were. */
static inline void
encoded_round(struct encoded *encoded, enum file_version version, uint64_t first, uint64_t count)
{
	struct encode_values values = { version, encoded->in.field, &encoded->in, first, count };
	const struct field *field = encoded->in.field;
	const struct codec *codec;

	ENCODED_OK(encoded, mini_plan_make(&values, &encoded->plan, &encoded->err));
	encoded_open(encoded, &encoded->plan.message, CODEC_MINI, version, &codec);
	codec_describe(codec, &encoded->words);
	if (encoded->plan.dictionary_items > 0) {
		encoded_dictionary(encoded, version);
		field = field_unsigned((uint32_t)codec->bits);
	}
	buf_put_byte(&encoded->words, '\0');
	ENCODED_OK(encoded, array_init(&encoded->out, field, &encoded->budget, &encoded->err));
	encoded_chunks(encoded, codec, count);
	for (uint64_t i = 0; i < count; i++)
		if (!encoded_same(encoded, first + i, i))
			ck_abort_msg("%s: value %llu", (const char *)encoded->words.data,
				(unsigned long long)i);
}

#endif
