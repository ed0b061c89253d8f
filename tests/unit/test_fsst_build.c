/* Symbol tables that were learnt are tables that readers take, and give back every byte. */
#include "encodedvalues.h"
#include "file/fsst.h"
#include "file/fsst_build.h"

/* Values of the sample, and those that are compressed by its symbols. */
static const struct {
	const char *label;
	const char *sample; /* repeated */
	unsigned times;
	size_t least; /* bytes saved of 100 */
} made[] = {
	{ "nothing", "", 0, 0 },
	{ "empty values", "", 100, 0 },
	{ "one byte", "x", 1000, 0 },
	{ "one value", "hello, world", 1, 0 },
	{ "all the same", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 200, 85 },
	{ "pairs", "abababababababab", 200, 80 },
	{ "address", "https://example.org/items/details.html", 100, 80 },
};

static struct fsst_symbols *
learn(const char *value, unsigned times)
{
	struct slice *sample = calloc(times + 1, sizeof(*sample));
	struct fsst_symbols *symbols = NULL;

	for (unsigned i = 0; i < times; i++)
		sample[i] = slice_text(value);
	VALUES_OK(fsst_symbols_make(sample, times, &symbols, NULL));
	free(sample);
	return symbols;
}

/* The value as codes and back, by the table as it is stored; returns the number of codes. */
static size_t
round_trip(const struct fsst_symbols *symbols, struct slice value)
{
	static const struct field text = { .kind = FIELD_VARIABLE };
	struct array_budget budget = { .limit = (size_t)64 << 20 };
	struct array from, out;
	struct fsst_table parsed;
	struct buf table = { 0 }, codes = { 0 };
	size_t size;

	fsst_symbols_put(symbols, &table);
	VALUES_OK(fsst_table_parse(buf_slice(&table), &parsed, NULL));
	fsst_compress(symbols, value, &codes);
	size = codes.size;
	ck_assert_uint_le(size, 2 * value.size);
	VALUES_OK(array_init(&from, &text, &budget, NULL));
	VALUES_OK(array_init(&out, &text, &budget, NULL));
	VALUES_OK(array_append_bytes(&from, buf_slice(&codes), NULL));
	VALUES_OK(fsst_append(&parsed, &from, &out, NULL));
	ck_assert(slice_equal(array_bytes(&out, 0), value));
	array_release(&from);
	array_release(&out);
	buf_release(&table);
	buf_release(&codes);
	return size;
}

START_TEST(what_was_learnt_is_short)
{
	struct fsst_symbols *symbols = learn(made[_i].sample, made[_i].times);
	struct slice value = slice_text(made[_i].sample);

	if (made[_i].least > 0)
		ck_assert_uint_le(
			100 * round_trip(symbols, value), (100 - made[_i].least) * value.size);
	free(symbols);
}
END_TEST

/* Bytes that no sample had, zeroes, escapes, parts of symbols at the end. */
static const struct {
	const char *label;
	uint8_t bytes[32];
	size_t size;
} hostile[] = {
	{ "nothing", { 0 }, 0 },
	{ "a zero", { 0 }, 1 },
	{ "zeroes", { 0 }, 20 },
	{ "the escape", { 255 }, 1 },
	{ "escapes", { 255, 255, 255, 255, 255, 255, 255, 255, 255 }, 9 },
	{ "a part of a symbol", { 'h', 't', 't' }, 3 },
	{ "one byte of it", { 'h' }, 1 },
	{ "a zero behind it", { 'h', 't', 't', 'p', 0 }, 5 },
	{ "codes", { 0, 1, 2, 3, 4, 5, 6, 7, 8, 253, 254, 255, 0, 1 }, 14 },
};

START_TEST(hostile_values_come_back)
{
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		struct fsst_symbols *symbols = learn(made[i].sample, made[i].times);

		round_trip(symbols, slice_of(hostile[_i].bytes, hostile[_i].size));
		free(symbols);
	}
}
END_TEST

START_TEST(random_values_come_back)
{
	uint64_t state = UINT64_C(88172645463325252) + (uint64_t)_i;
	struct slice sample[64];
	uint8_t bytes[64][300];
	struct fsst_symbols *symbols;

	for (unsigned i = 0; i < 64; i++) {
		sample[i] = slice_of(bytes[i], random_u64(&state) % 300);
		for (unsigned k = 0; k < 300; k++)
			bytes[i][k] = (uint8_t)(random_u64(&state) % (2u << _i % 8));
	}
	VALUES_OK(fsst_symbols_make(sample, 64, &symbols, NULL));
	for (unsigned i = 0; i < 64; i++)
		round_trip(symbols, sample[i]);
	free(symbols);
}
END_TEST

static const int rounds[32];

UNIT_MAIN("fsst_build", UNIT_LOOP(what_was_learnt_is_short, made),
	UNIT_LOOP(hostile_values_come_back, hostile), UNIT_LOOP(random_values_come_back, rounds))
