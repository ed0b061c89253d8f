/* Levels are packed or become runs, whichever is smaller, and come back from every block. */
#include "encoded.h"
#include "encodedvalues.h"

enum pattern { ALL_ZERO, ALL_HIGH, ALTERNATING, RARE, RANDOM_3, RANDOM_16, PATTERNS };

static uint16_t
level(enum pattern pattern, uint64_t index, uint64_t *state)
{
	uint64_t random = random_u64(state);

	switch (pattern) {
	case ALL_HIGH:
		return 5;
	case ALTERNATING:
		return index & 1;
	case RARE:
		return random % 500 == 0;
	case RANDOM_3:
		return random % 3;
	case RANDOM_16:
		return (uint16_t)random;
	default:
		return 0;
	}
}

static const uint64_t blocks[] = { 1, 2, 511, 1023, 1024, 1025, 2000, 20000 };

static void
check_blocks(enum file_version version, const uint16_t *levels, uint64_t count, uint64_t block)
{
	struct array_budget budget = { .limit = (size_t)1 << 24 };
	struct lancet_error err = { 0 };
	struct level_plan plan;
	struct scratch scratch = { 0 };
	const struct codec *codec;
	struct arena arena = { 0 };
	struct buf into = { 0 };
	struct array out;

	VALUES_OK(level_plan_make(version, levels, count, block, &plan, &err));
	VALUES_OK(codec_open(
		buf_slice(&plan.message), CODEC_BLOCK, version, 0, &arena, &codec, &err));
	VALUES_OK(array_init(&out, field_unsigned(16), &budget, &err));
	for (uint64_t first = 0; first < count; first += block) {
		uint64_t some = count - first < block ? count - first : block;

		into.size = 0;
		VALUES_OK(level_plan_block(&plan, levels + first, some, &into, &err));
		ck_assert_uint_le(into.size, 2 * some + 8);
		VALUES_OK(codec_decode_block(codec, buf_slice(&into), some, &scratch, &out, &err));
	}
	ck_assert_mem_eq(out.data.data, levels, count * sizeof(*levels));
	array_release(&out);
	buf_release(&into);
	level_plan_release(&plan);
	scratch_release(&scratch);
	arena_release(&arena);
}

START_TEST(levels_come_back)
{
	uint64_t state = 88172645463325252u;
	static uint16_t levels[20000];

	for (uint64_t i = 0; i < ARRAY_SIZE(levels); i++)
		levels[i] = level((enum pattern)_i, i, &state);
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		check_blocks(FILE_2_1, levels, blocks[i], blocks[i]);
		check_blocks(FILE_2_2, levels, blocks[i], blocks[i]);
		check_blocks(FILE_2_1, levels, ARRAY_SIZE(levels), blocks[i]);
		check_blocks(FILE_2_2, levels, ARRAY_SIZE(levels), blocks[i]);
	}
}
END_TEST

/* Old readers of 2.1 don't know runs as levels. */
static const struct {
	enum pattern pattern;
	enum file_version version;
	uint8_t first; /* of the message: the kind of encoding */
	uint64_t most; /* bytes of 1,024 levels */
} chosen[] = {
	{ ALL_ZERO, FILE_2_1, 0x22, 128 },
	{ ALL_ZERO, FILE_2_2, 0x42, 23 },
	{ RARE, FILE_2_1, 0x22, 128 },
	{ RARE, FILE_2_2, 0x42, 60 },
	{ ALTERNATING, FILE_2_2, 0x22, 128 },
	{ RANDOM_3, FILE_2_2, 0x22, 256 },
	{ RANDOM_16, FILE_2_2, 0x0a, 2048 },
};

START_TEST(levels_are_small)
{
	uint64_t state = 88172645463325252u;
	struct lancet_error err = { 0 };
	struct level_plan plan;
	struct buf into = { 0 };
	uint16_t levels[1024];

	for (uint64_t i = 0; i < ARRAY_SIZE(levels); i++)
		levels[i] = level(chosen[_i].pattern, i, &state);
	VALUES_OK(level_plan_make(chosen[_i].version, levels, 1024, 1024, &plan, &err));
	VALUES_OK(level_plan_block(&plan, levels, 1024, &into, &err));
	ck_assert_uint_eq(plan.message.data[0], chosen[_i].first);
	ck_assert_uint_le(into.size, chosen[_i].most);
	buf_release(&into);
	level_plan_release(&plan);
}
END_TEST

static const int patterns[PATTERNS];

UNIT_MAIN(
	"encode_levels", UNIT_LOOP(levels_come_back, patterns), UNIT_LOOP(levels_are_small, chosen))
