/* Values of every type go through mini-blocks and come back, whatever encoding was chosen. */
#include "encoded.h"

#include <stdio.h>

static const struct field u8 = { .kind = FIELD_FIXED, .bits = 8 };
static const struct field u16 = { .kind = FIELD_FIXED, .bits = 16 };
static const struct field u32 = { .kind = FIELD_FIXED, .bits = 32 };
static const struct field u64 = { .kind = FIELD_FIXED, .bits = 64 };
static const struct field decimal = { .kind = FIELD_FIXED, .bits = 128 };
static const struct field odd = { .kind = FIELD_FIXED, .bits = 56 };
static const struct field wide = { .kind = FIELD_FIXED, .bits = 800 };
static const struct field boolean = { .kind = FIELD_FIXED, .bits = 1 };
static const struct field text = { .kind = FIELD_VARIABLE };
static const struct field large_text = { .kind = FIELD_VARIABLE, .large = true };
static struct field of_u32[] = { { .kind = FIELD_FIXED, .bits = 32 } };
static struct field of_bits[] = { { .kind = FIELD_FIXED, .bits = 1 } };
static struct field lists[] = {
	{ .kind = FIELD_FIXED_LIST, .dimension = 3, .children = of_u32, .child_count = 1 },
	{ .kind = FIELD_FIXED_LIST, .dimension = 3, .children = of_bits, .child_count = 1 },
};
static const struct field matrix = {
	.kind = FIELD_FIXED_LIST, .dimension = 5, .children = lists, .child_count = 1
};
static const struct field bit_matrix = {
	.kind = FIELD_FIXED_LIST, .dimension = 2, .children = lists + 1, .child_count = 1
};
static struct field packed_children[] = {
	{ .kind = FIELD_FIXED, .bits = 16 },
	{ .kind = FIELD_FIXED_LIST, .dimension = 3, .children = of_u32, .child_count = 1 },
	{ .kind = FIELD_FIXED, .bits = 8 },
};
static const struct field packed = {
	.kind = FIELD_STRUCT, .packed = true, .children = packed_children, .child_count = 3
};

/* What values look like. */
enum shape { ZEROES, RANDOM, SMALL, RUNS, FEW, ASCENDING, SHAPES };

static uint64_t
random_u64(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static uint64_t
number(enum shape shape, uint64_t index, uint64_t *state)
{
	uint64_t random = random_u64(state);

	switch (shape) {
	case RANDOM:
		return random;
	case SMALL:
		return random % 1000;
	case RUNS:
		return index / 300 * 77;
	case FEW:
		return random % 7 * UINT64_C(0x0101010101010101);
	case ASCENDING:
		return index * 3 + random % 3;
	default:
		return 0;
	}
}

static void fill(struct array *array, enum shape shape, uint64_t count, uint64_t *state);

static void
fill_fixed(struct array *array, enum shape shape, uint64_t count, uint64_t *state)
{
	uint8_t value[128] = { 0 };

	for (uint64_t i = 0; i < count; i++) {
		uint64_t low = number(shape, i, state);

		for (unsigned k = 0; k < sizeof(value) && shape == RANDOM; k += 8)
			memcpy(value + k, &(uint64_t){ random_u64(state) }, 8);
		memcpy(value, &low, sizeof(low));
		if (array->field->bits == 1)
			ck_assert_int_eq(
				array_append_bits(array, value, low & 7, 1, NULL), LANCET_OK);
		else
			ck_assert_int_eq(
				array_append_fixed(array, array->field->bits, value, 1, NULL),
				LANCET_OK);
	}
}

static void
fill_text(struct array *array, enum shape shape, uint64_t count, uint64_t *state)
{
	char value[64];

	for (uint64_t i = 0; i < count; i++) {
		int size = snprintf(
			value, sizeof(value), "a%llx", (unsigned long long)number(shape, i, state));

		if (shape == ZEROES)
			size = 0;
		ck_assert_int_eq(
			array_append_bytes(array, slice_of(value, (size_t)size), NULL), LANCET_OK);
	}
}

static void
fill(struct array *array, enum shape shape, uint64_t count, uint64_t *state)
{
	uint64_t items = array->field->kind == FIELD_FIXED_LIST ? array->field->dimension : 1;

	if (array->field->kind == FIELD_FIXED) {
		fill_fixed(array, shape, count, state);
		return;
	}
	if (array->field->kind == FIELD_VARIABLE) {
		fill_text(array, shape, count, state);
		return;
	}
	for (size_t i = 0; i < array->child_count; i++)
		fill(&array->children[i], shape, count * items, state);
	ck_assert_int_eq(array_extend(array, count, NULL), LANCET_OK);
}

static void
make_nulls(struct array *array, uint64_t *state)
{
	for (uint64_t i = 0; i < array->length; i++)
		if (random_u64(state) % 5 == 0)
			ck_assert_int_eq(array_set_null(array, i, NULL), LANCET_OK);
}

static const struct {
	const char *label;
	const struct field *field;
} types[] = {
	{ "u8", &u8 },
	{ "u16", &u16 },
	{ "u32", &u32 },
	{ "u64", &u64 },
	{ "128 bits", &decimal },
	{ "56 bits", &odd },
	{ "800 bits", &wide },
	{ "bits", &boolean },
	{ "text", &text },
	{ "large text", &large_text },
	{ "lists of lists", &matrix },
	{ "lists of bits", &bit_matrix },
	{ "packed", &packed },
};

/* Counts at the borders of units, chunks and samples. */
static const uint64_t counts[] = { 1, 2, 3, 255, 256, 257, 1023, 1024, 1025, 5000 };

START_TEST(values_come_back)
{
	uint64_t state = 88172645463325252u + (uint64_t)_i;

	for (unsigned round = 0; round < ARRAY_SIZE(counts) * SHAPES * 4; round++) {
		enum shape shape = (enum shape)(round % SHAPES);
		uint64_t count = counts[round / SHAPES % ARRAY_SIZE(counts)];
		uint64_t first = round % 3 * 5;
		struct encoded encoded;

		encoded_init(&encoded, types[_i].field);
		fill(&encoded.in, shape, first + count, &state);
		if (round / (SHAPES * ARRAY_SIZE(counts)) % 2 == 1)
			make_nulls(&encoded.in, &state);
		if (round % 4 == 3 && encoded.in.field->kind == FIELD_FIXED_LIST)
			make_nulls(&encoded.in.children[0], &state);
		encoded_round(&encoded,
			round < ARRAY_SIZE(counts) * SHAPES * 2 ? FILE_2_1 : FILE_2_2, first,
			count);
		encoded_release(&encoded);
	}
}
END_TEST

UNIT_MAIN("encode_mini", UNIT_LOOP(values_come_back, types))
