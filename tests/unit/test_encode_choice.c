/* Which encoding wins for what, and how small it gets: bits of a value are counted, not guessed. */
#include "encoded.h"
#include "encodedvalues.h"

static const struct field row_ids = {
	.kind = FIELD_FIXED, .bits = 64, .name = { (const uint8_t *)"_rowid", 6 }
};
static const struct field versions = { .kind = FIELD_FIXED,
	.bits = 64,
	.name = { (const uint8_t *)"_row_last_updated_at_version", 28 } };
static const struct field u8 = { .kind = FIELD_FIXED, .bits = 8 };
static const struct field u32 = { .kind = FIELD_FIXED, .bits = 32 };
static const struct field u64 = { .kind = FIELD_FIXED, .bits = 64 };
static const struct field text = { .kind = FIELD_VARIABLE };

struct made {
	uint64_t base, range, count;
	double share; /* of ascending values that are there; 0: shuffled */
};

static void
fill_made(struct array *array, const struct made *made)
{
	uint64_t state = UINT64_C(88172645463325252), id = made->base;

	for (uint64_t count = made->count; count > 0; id++) {
		double draw = (double)(random_u64(&state) >> 11) / (double)(UINT64_C(1) << 53);

		if (made->share == 0)
			put_u64(array, made->base + random_u64(&state) % made->range);
		else if (draw < made->share)
			put_u64(array, id);
		else
			continue;
		count--;
	}
}

static double
bits_of(const struct field *field, const struct made *made, enum file_version version,
	struct buf *words)
{
	struct encoded encoded;
	double bits;

	encoded_init(&encoded, field);
	fill_made(&encoded.in, made);
	encoded_round(&encoded, version, 0, made->count);
	/* the plan's own size has the layout's share of chunks, too */
	bits = 8.0 * (double)(encoded.plan.size > encoded.size ? encoded.plan.size : encoded.size) /
	       (double)made->count;
	buf_put_slice(words, buf_slice(&encoded.words));
	encoded_release(&encoded);
	return bits;
}

/* Shuffled: within 2 % of the logarithm of the range, whatever it is and wherever it begins. */
static const struct {
	struct made made;
	double entropy; /* bits */
} shuffled[] = {
	{ { 0, 8000000, 300000, 0 }, 22.9316 },
	{ { 0, 1000000, 300000, 0 }, 19.9316 },
	{ { 1000000, 1000000, 300000, 0 }, 19.9316 },
	{ { 3000000, 1000000, 300000, 0 }, 19.9316 },
	{ { 7000000, 1000000, 300000, 0 }, 19.9316 },
	{ { UINT64_C(1) << 40, 1 << 23, 300000, 0 }, 23.0000 },
	{ { (UINT64_C(1) << 40) + 12345, 1 << 23, 300000, 0 }, 23.0000 },
	{ { 123456789, 1 << 21, 300000, 0 }, 21.0000 },
	{ { 5000000000, 10000000, 300000, 0 }, 23.2535 },
	{ { UINT64_C(1) << 63, UINT64_C(1) << 36, 300000, 0 }, 36.0000 },
};

static void
check_shuffled(enum file_version version, const struct made *made, double most)
{
	struct buf words = { 0 };
	double bits = bits_of(&row_ids, made, version, &words);

	ck_assert_msg(
		bits <= most, "%s: %.3f bits, %.3f allowed", (const char *)words.data, bits, most);
	buf_release(&words);
}

START_TEST(shuffled_ids_are_near_their_entropy)
{
	check_shuffled(FILE_2_1, &shuffled[_i].made, 1.02 * shuffled[_i].entropy);
	check_shuffled(FILE_2_2, &shuffled[_i].made, 1.02 * shuffled[_i].entropy);
}
END_TEST

static const struct {
	const char *label;
	const struct field *field;
	struct made made;
	enum file_version version;
	double most; /* bits of a value */
	const char *words;
} chosen[] = {
	{ "ids with holes", &row_ids, { 2000000, 0, 300000, 0.7 }, FILE_2_1, 4.5,
		"general(zstd, byte_stream_split 64)" },
	{ "ids with holes", &row_ids, { 2000000, 0, 300000, 0.7 }, FILE_2_2, 4.5,
		"general(zstd, byte_stream_split 64)" },
	{ "ids with few holes", &row_ids, { 2000000, 0, 300000, 0.999 }, FILE_2_2, 0.3,
		"general(zstd, byte_stream_split 64)" },
	{ "ids without holes", &row_ids, { 2000000, 0, 300000, 1 }, FILE_2_2, 0.2,
		"general(zstd, byte_stream_split 64)" },
	{ "user ids with holes", &u64, { 2000000, 0, 300000, 0.7 }, FILE_2_2, 6.5,
		"general(zstd, byte_stream_split 64)" },
	{ "ten versions", &versions, { 3, 10, 300000, 0 }, FILE_2_1, 3.5,
		"general(zstd, byte_stream_split 64)" },
	{ "ten versions", &versions, { 3, 10, 300000, 0 }, FILE_2_2, 3.5,
		"general(zstd, byte_stream_split 64)" },
	{ "one version", &versions, { 3, 1, 300000, 0 }, FILE_2_1, 0.05, "general(zstd, byte" },
	{ "small range", &row_ids, { 0, 1 << 20, 300000, 0 }, FILE_2_2, 20.2,
		"inline_bitpacking 64" },
	/* two planes tell the same there, which costs a bit */
	{ "across 2^24", &row_ids, { 16000000, 1000000, 300000, 0 }, FILE_2_2, 21.1,
		"general(zstd, byte_stream_split 64)" },
	{ "bytes", &u8, { 0, 16, 300000, 0 }, FILE_2_2, 4.2, "inline_bitpacking 8" },
	{ "everything", &u32, { 0, UINT64_C(1) << 32, 300000, 0 }, FILE_2_2, 32.1, "flat 32" },
	{ "few far apart", &u64, { 0, 1 << 20, 5, 0 }, FILE_2_2, 200, "" },
	{ "one value", &u64, { 7, 1, 1, 0 }, FILE_2_2, 500, "" },
};

START_TEST(numbers_are_small)
{
	struct buf words = { 0 };
	double bits = bits_of(chosen[_i].field, &chosen[_i].made, chosen[_i].version, &words);

	ck_assert_msg(bits <= chosen[_i].most, "%s: %.3f bits of %s", chosen[_i].label, bits,
		(const char *)words.data);
	ck_assert_msg(
		strncmp((const char *)words.data, chosen[_i].words, strlen(chosen[_i].words)) == 0,
		"%s: %s", chosen[_i].label, (const char *)words.data);
	buf_release(&words);
}
END_TEST

static const struct {
	const char *label, *format;
	unsigned range, count;
	enum file_version version;
	double most; /* bytes of a value */
	const char *words;
} texts[] = {
	{ "words", "category number %u", 50, 20000, FILE_2_1, 0.85, ", dictionary variable(32)" },
	{ "words", "category number %u", 50, 20000, FILE_2_2, 0.80, "" },
	{ "addresses", "https://example.org/items/%u/details.html", 1 << 30, 20000, FILE_2_1, 14,
		"" },
	{ "many in a dictionary", "a long and unchanging text before number %u", 3000, 20000,
		FILE_2_2, 3, ", dictionary general(zstd, variable(32))" },
	{ "short", "%u", 10, 50, FILE_2_2, 6.1, "variable(32)" },
};

START_TEST(texts_are_small)
{
	uint64_t state = 88172645463325252u;
	struct encoded encoded;
	char value[80];

	encoded_init(&encoded, &text);
	for (unsigned i = 0; i < texts[_i].count; i++) {
		snprintf(value, sizeof(value), texts[_i].format,
			(unsigned)(random_u64(&state) % texts[_i].range));
		put_text(&encoded.in, value);
	}
	encoded_round(&encoded, texts[_i].version, 0, texts[_i].count);
	ck_assert_msg((double)encoded.size <= texts[_i].most * texts[_i].count,
		"%s: %.3f bytes of %s", texts[_i].label, (double)encoded.size / texts[_i].count,
		(const char *)encoded.words.data);
	ck_assert_msg(strstr((const char *)encoded.words.data, texts[_i].words) != NULL, "%s: %s",
		texts[_i].label, (const char *)encoded.words.data);
	encoded_release(&encoded);
}
END_TEST

/* What a field wishes for wins where it makes anything smaller. */
static const struct {
	const char *wish, *words;
} wishes[] = {
	{ NULL, "general(zstd, byte_stream_split 64)" },
	{ "none", "inline_bitpacking 64" },
	{ "zstd", "general(zstd, byte_stream_split 64)" },
	{ "lz4", "general(lz4, byte_stream_split 64)" },
	{ "nonsense", "general(zstd, byte_stream_split 64)" },
};

START_TEST(wishes_are_heard)
{
	const struct made made = { 1000000, 0, 20000, 0.7 };
	struct field_entry entry = { slice_text("lance-encoding:compression"), { 0 } };
	struct field field = u64;
	struct buf words = { 0 };

	if (wishes[_i].wish != NULL) {
		entry.value = slice_text(wishes[_i].wish);
		field.metadata = &entry;
		field.metadata_count = 1;
	}
	(void)bits_of(&field, &made, FILE_2_2, &words);
	ck_assert_str_eq((const char *)words.data, wishes[_i].words);
	buf_release(&words);
}
END_TEST

UNIT_MAIN("encode_choice", UNIT_LOOP(shuffled_ids_are_near_their_entropy, shuffled),
	UNIT_LOOP(numbers_are_small, chosen), UNIT_LOOP(texts_are_small, texts),
	UNIT_LOOP(wishes_are_heard, wishes))
