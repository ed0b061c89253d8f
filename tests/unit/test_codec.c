/* The registry covers the message, encodings open in their places only, and what decoders promise
 * is checked behind them. */
#include "codecs.h"

#include <lance/encodings21.pb-c.h>

#define DESCRIPTOR lance__encodings21__compressive_encoding__descriptor

#define CASE(name) LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_##name

static unsigned
count_rows(int pb_case)
{
	unsigned found = 0;

	for (size_t i = 0; i < encodings_count; i++)
		found += encodings[i]->pb_case == pb_case;
	for (size_t i = 0; i < encodings_refused_count; i++)
		found += encodings_refused[i].pb_case == pb_case;
	return found;
}

START_TEST(every_case_is_read_or_refused)
{
	ck_assert_uint_eq(DESCRIPTOR.n_fields, encodings_count + encodings_refused_count);
	for (unsigned i = 0; i < DESCRIPTOR.n_fields; i++)
		ck_assert_msg(count_rows((int)DESCRIPTOR.fields[i].id) == 1,
			"%s has neither a row nor a reason", DESCRIPTOR.fields[i].name);
}
END_TEST

START_TEST(rows_are_complete)
{
	for (size_t i = 0; i < encodings_count; i++) {
		const struct encoding *row = encodings[i];
		bool values = (row->places & (CODEC_FIXED | CODEC_VARIABLE)) != 0;

		/* what only runs of numbers are made of opens nowhere else */
		ck_assert(row->name != NULL && (row->open != NULL) == (row->places != 0));
		ck_assert_str_eq(row->name,
			protobuf_c_message_descriptor_get_field(&DESCRIPTOR, (unsigned)row->pb_case)
				->name);
		ck_assert_int_eq((row->places & CODEC_MINI) != 0, row->decode_mini != NULL);
		ck_assert_int_eq((row->places & CODEC_BLOCK) != 0, row->decode_block != NULL);
		ck_assert_int_eq(values, row->decode_values != NULL);
	}
}
END_TEST

/* As the format facts list them. */
static const struct {
	int pb_case;
	unsigned places;
} placed[] = {
	{ CASE(FLAT), CODEC_MINI | CODEC_BLOCK | CODEC_FIXED },
	{ CASE(VARIABLE), CODEC_MINI | CODEC_BLOCK | CODEC_VARIABLE },
	{ CASE(CONSTANT), CODEC_BLOCK | CODEC_FIXED },
	{ CASE(OUT_OF_LINE_BITPACKING), CODEC_BLOCK },
	{ CASE(INLINE_BITPACKING), CODEC_MINI | CODEC_BLOCK },
	{ CASE(FSST), CODEC_MINI | CODEC_VARIABLE },
	{ CASE(RLE), CODEC_MINI | CODEC_BLOCK },
	{ CASE(BYTE_STREAM_SPLIT), CODEC_MINI },
	{ CASE(GENERAL), CODEC_MINI | CODEC_BLOCK | CODEC_VARIABLE },
	{ CASE(FIXED_SIZE_LIST), CODEC_MINI | CODEC_BLOCK | CODEC_FIXED },
	{ CASE(PACKED_STRUCT), CODEC_MINI | CODEC_FIXED },
	{ CASE(VARIABLE_PACKED_STRUCT), CODEC_VARIABLE },
	{ CASE(DICTIONARY), 0 },
	{ CASE(RANGE), 0 },
	{ CASE(DELTA), 0 },
};

START_TEST(encodings_have_their_places)
{
	for (size_t i = 0; i < encodings_count; i++)
		if (encodings[i]->pb_case == placed[_i].pb_case)
			ck_assert_msg(encodings[i]->places == placed[_i].places, "%s: %x",
				encodings[i]->name, encodings[i]->places);
}
END_TEST

static const struct codec_row refused[] = {
	{ "an empty message", "", CODEC_MINI, 0, &codec_u8, 0, { "" }, LANCET_CORRUPT,
		"encoding of an unknown kind" },
	{ "a case of the future", "820100", CODEC_MINI, 0, &codec_u8, 0, { "" }, LANCET_CORRUPT,
		"encoding of an unknown kind" },
	{ "a cut message", "0a05", CODEC_MINI, 0, &codec_u8, 0, { "" }, LANCET_CORRUPT,
		"not decodable" },
	{ "bits alone as a mini-block", "220808101a040a020803", CODEC_MINI, 0, &codec_u16, 0,
		{ "" }, LANCET_CORRUPT, "out_of_line_bitpacking as the encoding of a mini-block" },
	{ "planes as a block", "4a060a040a020820", CODEC_BLOCK, 0, &codec_u32, 0, { "" },
		LANCET_CORRUPT, "byte_stream_split as the encoding of a block" },
	{ "compression of values of a fixed size", "520a0a0208021a040a020840", CODEC_FIXED, 0,
		&codec_u64, 0, { "" }, LANCET_CORRUPT,
		"general as a per-value encoding of a fixed size" },
	{ "no buffer", "0a020808", CODEC_MINI, 0, &codec_u8, 1, { NULL }, LANCET_CORRUPT,
		"flat: 0 buffers, 1 needed" },
};

START_TEST(what_makes_no_sense_is_refused)
{
	run_codec_row(&refused[_i]);
}
END_TEST

/* Fixed-size lists of one item, around a flat byte. */
static int
open_nested(unsigned depth, struct arena *arena, struct lancet_error *err)
{
	struct buf message = from_hex("0a020808");
	const struct codec *codec;
	int rc;

	for (unsigned i = 0; i < depth; i++) {
		struct buf list = { 0 };

		put_number(&list, 1, 1);
		put_message(&list, 2, &message);
		put_message(&message, 11, &list);
	}
	rc = codec_open(buf_slice(&message), CODEC_MINI, FILE_2_2, 0, arena, &codec, err);
	buf_release(&message);
	return rc;
}

START_TEST(nesting_ends_at_its_limit)
{
	struct arena arena = { 0 };
	struct lancet_error err = { 0 };

	ck_assert_int_eq(open_nested(CODEC_DEPTH_MAX - 1, &arena, &err), LANCET_OK);
	ck_assert_int_eq(open_nested(CODEC_DEPTH_MAX, &arena, &err), LANCET_CORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, "nested deeper than 8"));
	ck_assert_int_eq(open_nested(1000, &arena, &err), LANCET_CORRUPT);
	arena_release(&arena);
}
END_TEST

static const struct {
	const char *message;
	enum codec_place place;
	const char *words;
} described[] = {
	{ "0a020840", CODEC_MINI, "flat 64" },
	{ "2a020820", CODEC_MINI, "inline_bitpacking 32" },
	{ "220808101a040a020803", CODEC_BLOCK, "out_of_line_bitpacking 16(to 3 bits)" },
	{ "12060a040a020820", CODEC_MINI, "variable(32)" },
	{ "12060a040a020840", CODEC_VARIABLE, "variable(64)" },
	{ "4a060a040a020840", CODEC_MINI, "byte_stream_split 64" },
	{ "1a040a020500", CODEC_BLOCK, "constant 16" },
	{ "520a0a0208021a040a020840", CODEC_MINI, "general(zstd, flat 64)" },
	{ "520e0a0208011a0812060a040a020820", CODEC_BLOCK, "general(lz4, variable(32))" },
};

START_TEST(codecs_are_told_in_words)
{
	struct codec_rig rig = { 0 };
	struct buf words = { 0 };

	ck_assert_msg(rig_open(&rig, described[_i].message, described[_i].place, 0, &codec_u8) ==
			      LANCET_OK,
		"%s", rig.err.text);
	codec_describe(rig.codec, &words);
	buf_put_byte(&words, '\0');
	ck_assert_str_eq((const char *)words.data, described[_i].words);
	buf_release(&words);
	rig_release(&rig);
}
END_TEST

/* Gives one value, whatever is asked for. */
static int
give_one(const struct codec *codec, struct slice in, uint64_t count, struct scratch *scratch,
	struct array *out, struct lancet_error *err)
{
	(void)codec;
	(void)count;
	(void)scratch;
	return array_append_fixed(out, 8, in.data, 1, err);
}

START_TEST(decoders_are_held_to_the_count)
{
	const struct encoding careless = {
		.name = "careless", .places = CODEC_BLOCK, .decode_block = give_one
	};
	const struct codec codec = { .encoding = &careless, .place = CODEC_BLOCK };
	struct array_budget budget = { .limit = 1000 };
	struct lancet_error err = { 0 };
	struct scratch scratch = { 0 };
	struct slice byte = slice_of("", 1);
	struct array out;

	ck_assert_int_eq(array_init(&out, &codec_u8, &budget, &err), LANCET_OK);
	ck_assert_int_eq(codec_decode_block(&codec, byte, 1, &scratch, &out, &err), LANCET_OK);
	ck_assert_int_eq(codec_decode_block(&codec, byte, 2, &scratch, &out, &err), LANCET_CORRUPT);
	ck_assert_str_eq(err.text, "careless: 1 values, 2 expected");
	ck_assert_int_eq(codec_decode_block(&codec, byte, 0, &scratch, &out, &err), LANCET_CORRUPT);
	array_release(&out);
	scratch_release(&scratch);
}
END_TEST

START_TEST(values_are_counted_once)
{
	struct codec_rig rig = { 0 };
	/* a zstd frame of one raw block: the bytes 1 to 8 */
	const char *frame = "0800000000000000 28b52ffd2008 410000 0102030405060708";

	ck_assert_int_eq(
		rig_open(&rig, "520a0a0208021a040a020808", CODEC_MINI, 0, &codec_u8), LANCET_OK);
	rig.buffers[rig.buffer_count++] = exact_hex(frame);
	ck_assert_int_eq(rig_decode(&rig, 8), LANCET_OK);
	ck_assert_int_eq(rig_decode(&rig, 5), LANCET_OK);
	ck_assert_uint_eq(rig.scratch.decoded, 13);
	rig_release(&rig);
}
END_TEST

UNIT_MAIN("codec", UNIT_TEST(every_case_is_read_or_refused), UNIT_TEST(rows_are_complete),
	UNIT_LOOP(encodings_have_their_places, placed),
	UNIT_LOOP(what_makes_no_sense_is_refused, refused), UNIT_TEST(nesting_ends_at_its_limit),
	UNIT_LOOP(codecs_are_told_in_words, described), UNIT_TEST(decoders_are_held_to_the_count),
	UNIT_TEST(values_are_counted_once))
