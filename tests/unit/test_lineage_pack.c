/* Values packed block by block: they come back, and take few bytes. */
#include "core/lineage_pack.h"
#include "unit.h"

#include <string.h>

#define VALUES_MAX 20000u

static uint64_t
scramble(uint64_t n)
{
	n = (n ^ n >> 31) * UINT64_C(0x7fb5d329728ea185);
	return n ^ n >> 27;
}

static uint64_t
ascending(uint64_t i)
{
	return 7 + i;
}

static uint64_t
equal(uint64_t i)
{
	(void)i;
	return 4;
}

static uint64_t
with_holes(uint64_t i)
{
	return 3 * i + scramble(i) % 3;
}

static uint64_t
shuffled(uint64_t i)
{
	return scramble(i) % 100000;
}

static uint64_t
few(uint64_t i)
{
	return 1 + scramble(i) % 6;
}

static uint64_t
any(uint64_t i)
{
	return scramble(i + 1);
}

static uint64_t
falling(uint64_t i)
{
	return UINT64_MAX - i;
}

static uint64_t
rising_to_the_end(uint64_t i)
{
	return UINT64_MAX - (VALUES_MAX - 1) + i;
}

static uint64_t
extremes(uint64_t i)
{
	return i % 2 == 0 ? 0 : UINT64_MAX;
}

static uint64_t
mixed(uint64_t i)
{
	return i / 1500 % 2 == 0 ? 10 * i : shuffled(i);
}

static const struct {
	const char *label;
	uint64_t (*value)(uint64_t);
	unsigned bits; /* of one value, at most, beside 24 bytes a block */
} patterns[] = {
	{ "ascending", ascending, 0 },
	{ "equal", equal, 0 },
	{ "with holes", with_holes, 3 },
	{ "shuffled", shuffled, 17 },
	{ "few", few, 3 },
	{ "any", any, 64 },
	{ "falling", falling, 10 },
	{ "rising to the end", rising_to_the_end, 0 },
	{ "extremes", extremes, 64 },
	{ "mixed", mixed, 17 },
};

/* Puts as many at once as a pseudo-random number says, now and then none. */
static void
fill(struct lineage_pack *pack, uint64_t (*value)(uint64_t), uint64_t count)
{
	uint64_t values[3000];

	for (uint64_t round = 0; pack->count < count; round++) {
		uint64_t at = pack->count, left = count - at;
		uint64_t step = scramble(round + 5) % (round % 2 == 0 ? 3 : 3000);

		step = step < left ? step : left;
		for (uint64_t i = 0; i < step; i++)
			values[i] = value(at + i);
		ck_assert_int_eq(lineage_pack_put(pack, values, step, NULL), LANCET_OK);
	}
}

START_TEST(values_come_back)
{
	static const uint64_t counts[] = { 1, 1023, 1024, 1025, 5000, VALUES_MAX };
	static uint64_t got[VALUES_MAX], want[VALUES_MAX];

	for (uint64_t i = 0; i < VALUES_MAX; i++)
		want[i] = patterns[_i].value(i);
	for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
		struct lineage_pack pack = { 0 };

		fill(&pack, patterns[_i].value, counts[c]);
		lineage_pack_read(&pack, 0, counts[c], got);
		ck_assert_mem_eq(got, want, counts[c] * sizeof(*got));
		for (uint64_t k = 0; k < 200; k++) {
			uint64_t first = scramble(k) % counts[c];
			size_t count = scramble(k + 99) % (counts[c] - first + 1);

			lineage_pack_read(&pack, first, count, got);
			ck_assert_mem_eq(got, want + first, count * sizeof(*got));
		}
		lineage_pack_release(&pack);
	}
}
END_TEST

START_TEST(values_take_few_bits)
{
	struct lineage_pack pack = { 0 };
	uint64_t rows = 50 * VALUES_MAX, allowed;

	for (uint64_t at = 0; at < rows; at += PACK_BLOCK) {
		uint64_t values[PACK_BLOCK];
		uint64_t block = rows - at < PACK_BLOCK ? rows - at : PACK_BLOCK;

		for (uint64_t i = 0; i < block; i++)
			values[i] = patterns[_i].value(at + i);
		ck_assert_int_eq(lineage_pack_put(&pack, values, block, NULL), LANCET_OK);
	}
	/* Room that is not used yet included. */
	allowed = 2 * (rows * patterns[_i].bits / 8 + (rows / PACK_BLOCK + 1) * 24) + 20000;
	ck_assert_msg(lineage_pack_footprint(&pack) <= allowed, "%s: %zu bytes, %zu are allowed",
		patterns[_i].label, lineage_pack_footprint(&pack), (size_t)allowed);
	lineage_pack_release(&pack);
}
END_TEST

START_TEST(few_values_take_little)
{
	struct lineage_pack pack = { 0 };

	fill(&pack, any, 10);
	ck_assert_uint_le(lineage_pack_footprint(&pack), 16 * sizeof(uint64_t));
	lineage_pack_release(&pack);
}
END_TEST

START_TEST(columns_are_estimated)
{
	struct lineage_pack pack = { 0 };

	ck_assert_uint_eq(lineage_pack_column_bytes(&pack), 0);
	fill(&pack, shuffled, VALUES_MAX);
	ck_assert_uint_ge(lineage_pack_column_bytes(&pack), VALUES_MAX * 16 / 8);
	ck_assert_uint_le(lineage_pack_column_bytes(&pack), VALUES_MAX * 17 / 8 + 100);
	lineage_pack_release(&pack);
	fill(&pack, equal, VALUES_MAX);
	ck_assert_uint_le(lineage_pack_column_bytes(&pack), 20 * 16);
	lineage_pack_release(&pack);
}
END_TEST

UNIT_MAIN("lineage_pack", UNIT_LOOP(values_come_back, patterns),
	UNIT_LOOP(values_take_few_bits, patterns), UNIT_TEST(few_values_take_little),
	UNIT_TEST(columns_are_estimated))
