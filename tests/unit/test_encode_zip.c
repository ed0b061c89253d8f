/* Single values of full-zip pages, and values that make up a page alone. */
#include "encoded.h"
#include "encodedvalues.h"

static struct field of_u32[] = { { .kind = FIELD_FIXED, .bits = 32 } };
static struct field of_bits[] = { { .kind = FIELD_FIXED, .bits = 1 } };
static const struct field u64 = { .kind = FIELD_FIXED, .bits = 64 };
static const struct field boolean = { .kind = FIELD_FIXED, .bits = 1 };
static const struct field hash = { .kind = FIELD_FIXED, .bits = 256 };
static const struct field wide = { .kind = FIELD_FIXED, .bits = 4096 };
static const struct field text = { .kind = FIELD_VARIABLE };
static const struct field large_text = { .kind = FIELD_VARIABLE, .large = true };
static const struct field vector = {
	.kind = FIELD_FIXED_LIST, .dimension = 100, .children = of_u32, .child_count = 1
};
static const struct field bit_vector = {
	.kind = FIELD_FIXED_LIST, .dimension = 2051, .children = of_bits, .child_count = 1
};
static struct field row_children[] = {
	{ .kind = FIELD_FIXED, .bits = 16 },
	{ .kind = FIELD_VARIABLE },
	{ .kind = FIELD_FIXED_LIST, .dimension = 3, .children = of_u32, .child_count = 1 },
	{ .kind = FIELD_VARIABLE, .large = true },
};
static const struct field rows = {
	.kind = FIELD_STRUCT, .packed = true, .children = row_children, .child_count = 4
};

struct zipped {
	struct encoded base;
	struct zip_plan plan;
	struct buf bytes;
	struct slice *values;
};

/* Values of all slots; null ones of variable size have none. */
static size_t
take_values(struct zipped *zipped, uint64_t first, uint64_t count)
{
	struct buf ends = { 0 };
	size_t taken = 0, start = 0;

	for (uint64_t i = 0; i < count; i++) {
		if (zipped->plan.variable && !array_is_valid(&zipped->base.in, first + i))
			continue;
		VALUES_OK(zip_plan_value(&zipped->plan, i, &zipped->bytes, NULL));
		buf_put(&ends, &zipped->bytes.size, sizeof(zipped->bytes.size));
	}
	taken = ends.size / sizeof(size_t);
	zipped->values = calloc(taken + 1, sizeof(*zipped->values));
	for (size_t i = 0; i < taken; i++) {
		size_t end = ((const size_t *)(const void *)ends.data)[i];

		zipped->values[i] = slice_of(zipped->bytes.data + start, end - start);
		if (!zipped->plan.variable)
			ck_assert_uint_eq(8 * zipped->values[i].size, zipped->plan.bits);
		start = end;
	}
	buf_release(&ends);
	return taken;
}

static void
check_values(struct zipped *zipped, uint64_t first, uint64_t count, size_t taken)
{
	const struct array *in = &zipped->base.in, *out = &zipped->base.out;
	uint64_t at = 0;

	ck_assert_uint_eq(out->length, taken);
	for (uint64_t i = first; i < first + count; i++) {
		if (zipped->plan.variable && !array_is_valid(in, i))
			continue;
		if (!values_equal(in, i, out, at++))
			ck_abort_msg("%s: value %llu", (const char *)zipped->base.words.data,
				(unsigned long long)i);
	}
}

static void
zip_round(struct zipped *zipped, enum file_version version, uint64_t first, uint64_t count)
{
	struct encoded *base = &zipped->base;
	struct encode_values values = { version, base->in.field, &base->in, first, count };
	const struct codec *codec;
	size_t taken;

	ENCODED_OK(base, zip_plan_make(&values, &zipped->plan, &base->err));
	taken = take_values(zipped, first, count);
	encoded_open(base, &zipped->plan.message,
		zipped->plan.variable ? CODEC_VARIABLE : CODEC_FIXED, version, &codec);
	codec_describe(codec, &base->words);
	buf_put_byte(&base->words, '\0');
	ENCODED_OK(base, array_init(&base->out, base->in.field, &base->budget, &base->err));
	ENCODED_OK(base, codec_decode_values(codec, zipped->values, taken, &base->scratch,
				 &base->out, &base->err));
	check_values(zipped, first, count, taken);
}

static void
zip_release(struct zipped *zipped)
{
	zip_plan_release(&zipped->plan);
	buf_release(&zipped->bytes);
	free(zipped->values);
	encoded_release(&zipped->base);
}

static const struct {
	const char *label;
	const struct field *field;
	enum file_version version;
} types[] = {
	{ "wide", &wide, FILE_2_1 },
	{ "vectors", &vector, FILE_2_1 },
	{ "bits", &bit_vector, FILE_2_2 },
	{ "text", &text, FILE_2_1 },
	{ "large text", &large_text, FILE_2_2 },
	{ "rows", &rows, FILE_2_2 },
};

START_TEST(values_come_back_one_by_one)
{
	uint64_t state = 88172645463325252u;

	for (unsigned round = 0; round < 3 * SHAPES; round++) {
		struct zipped zipped = { 0 };

		encoded_init(&zipped.base, types[_i].field);
		fill_values(&zipped.base.in, (enum shape)(round % SHAPES), 100, &state);
		if (round >= SHAPES)
			make_nulls(&zipped.base.in, &state);
		if (round >= 2 * SHAPES && types[_i].field == &vector)
			make_nulls(&zipped.base.in.children[0], &state);
		zip_round(&zipped, types[_i].version, round % 3, 95);
		zip_release(&zipped);
	}
}
END_TEST

static const struct {
	const char *part;
	unsigned times, random; /* repeats of the part, random bytes behind them */
	const char *words;
} long_texts[] = {
	{ "some text that comes again and again, ", 60, 20, "general(zstd, variable(32))" },
	{ "text of a few words ", 15, 8, "fsst(variable(32))" },
	{ "", 0, 400, "variable(32)" },
};

START_TEST(long_texts_are_small)
{
	uint64_t state = 88172645463325252u;
	struct zipped zipped = { 0 };

	encoded_init(&zipped.base, &text);
	for (unsigned i = 0; i < 500; i++) {
		struct buf value = { 0 };

		for (unsigned k = 0; k < long_texts[_i].times; k++)
			buf_put_text(&value, long_texts[_i].part);
		for (unsigned k = 0; k < long_texts[_i].random; k++)
			buf_put_byte(&value, (uint8_t)(random_u64(&state) >> 20));
		VALUES_OK(array_append_bytes(&zipped.base.in, buf_slice(&value), NULL));
		buf_release(&value);
	}
	zip_round(&zipped, FILE_2_1, 0, 500);
	ck_assert_str_eq((const char *)zipped.base.words.data, long_texts[_i].words);
	zip_release(&zipped);
}
END_TEST

static const struct {
	const struct field *field;
	enum shape shape;
	enum file_version version;
	bool zips;
} wanted[] = {
	{ &u64, RANDOM, FILE_2_2, false },
	{ &boolean, RANDOM, FILE_2_2, false },
	{ &hash, RANDOM, FILE_2_2, false },
	{ &wide, RANDOM, FILE_2_2, true },
	{ &vector, RANDOM, FILE_2_1, true },
	{ &bit_vector, RANDOM, FILE_2_1, true },
	{ &text, RANDOM, FILE_2_1, false },
	{ &rows, ZEROES, FILE_2_2, true },
};

START_TEST(wide_values_are_zipped)
{
	uint64_t state = 88172645463325252u;
	struct encoded encoded;
	struct encode_values values = { wanted[_i].version, wanted[_i].field, &encoded.in, 0, 10 };

	encoded_init(&encoded, wanted[_i].field);
	fill_values(&encoded.in, wanted[_i].shape, 10, &state);
	ck_assert_int_eq(encode_wants_zip(&values), wanted[_i].zips);
	encoded_release(&encoded);
}
END_TEST

START_TEST(rows_of_variable_size_need_2_2)
{
	struct zipped zipped = { 0 };
	struct encode_values values = { FILE_2_1, &rows, &zipped.base.in, 0, 0 };

	encoded_init(&zipped.base, &rows);
	ck_assert_int_eq(
		zip_plan_make(&values, &zipped.plan, &zipped.base.err), LANCET_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(zipped.base.err.text, "2.2"));
	encoded_release(&zipped.base);
}
END_TEST

UNIT_MAIN("encode_zip", UNIT_LOOP(values_come_back_one_by_one, types),
	UNIT_LOOP(long_texts_are_small, long_texts), UNIT_LOOP(wide_values_are_zipped, wanted),
	UNIT_TEST(rows_of_variable_size_need_2_2))
