/* Values of every type go through mini-blocks and come back, whatever encoding was chosen. */
#include "encoded.h"
#include "encodedvalues.h"

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

static struct field texts[] = { { .kind = FIELD_VARIABLE } };
static const struct field dictionary = {
	.kind = FIELD_DICTIONARY, .bits = 16, .children = texts, .child_count = 1
};

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
	{ "dictionary", &dictionary },
};

/* Counts at the borders of units, chunks and samples. */
static const uint64_t counts[] = { 1, 2, 3, 256, 1023, 1024, 1025, 2500 };

START_TEST(values_come_back)
{
	uint64_t state = 88172645463325252u + (uint64_t)_i;

	for (unsigned round = 0; round < ARRAY_SIZE(counts) * SHAPES * 4; round++) {
		enum shape shape = (enum shape)(round % SHAPES);
		uint64_t count = counts[round / SHAPES % ARRAY_SIZE(counts)];
		uint64_t first = round % 3 * 5;
		struct encoded encoded;

		encoded_init(&encoded, types[_i].field);
		fill_values(&encoded.in, shape, first + count, &state);
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
