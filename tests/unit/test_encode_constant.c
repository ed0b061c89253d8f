/* Pages of one value: which are, and what is stored of them. */
#include "encoded.h"
#include "encodedvalues.h"

#include "file/constant_value.h"

static const struct field u64 = { .kind = FIELD_FIXED, .bits = 64 };
static const struct field hash = { .kind = FIELD_FIXED, .bits = 320 };
static const struct field boolean = { .kind = FIELD_FIXED, .bits = 1 };
static const struct field text = { .kind = FIELD_VARIABLE };
static const struct field large_text = { .kind = FIELD_VARIABLE, .large = true };
static struct field of_u32[] = { { .kind = FIELD_FIXED, .bits = 32 } };
static const struct field vector = {
	.kind = FIELD_FIXED_LIST, .dimension = 3, .children = of_u32, .child_count = 1
};

static const struct {
	const char *label;
	const struct field *field;
	enum shape shape;
	enum file_version version;
	bool constant, in_message;
} made[] = {
	{ "zeroes", &u64, ZEROES, FILE_2_2, true, true },
	{ "zeroes of 2.1", &u64, ZEROES, FILE_2_1, false, false },
	{ "different", &u64, ASCENDING, FILE_2_2, false, false },
	{ "40 bytes", &hash, ZEROES, FILE_2_2, true, false },
	{ "false", &boolean, ZEROES, FILE_2_2, true, true },
	{ "true and false", &boolean, RANDOM, FILE_2_2, false, false },
	{ "no text", &text, ZEROES, FILE_2_2, true, false },
	{ "no large text", &large_text, ZEROES, FILE_2_2, true, false },
	{ "texts", &text, ASCENDING, FILE_2_2, false, false },
	{ "one text", &text, RUNS, FILE_2_2, true, false },
	{ "vectors", &vector, ZEROES, FILE_2_2, false, false },
};

static void
check_value(const struct encoded *encoded, struct slice stored, bool in_message)
{
	struct array_budget budget = { .limit = 1 << 20 };
	struct array value;

	VALUES_OK(array_init(&value, encoded->in.field, &budget, NULL));
	VALUES_OK(in_message ? constant_value_put(stored, &value, NULL)
			     : constant_value_load(stored, &value, NULL));
	for (uint64_t i = 0; i < encoded->in.length; i++)
		ck_assert(values_equal(&encoded->in, i, &value, 0));
	array_release(&value);
}

/* In every second round some are null, which changes nothing. */
START_TEST(constants_are_seen)
{
	for (int round = 0; round < 2; round++) {
		uint64_t state = 88172645463325252u;
		struct encoded encoded;
		struct encode_values values = { made[_i].version, made[_i].field, &encoded.in, 3,
			200 };
		struct buf value = { 0 };
		bool constant, in_message;

		encoded_init(&encoded, made[_i].field);
		fill_values(&encoded.in, made[_i].shape, 210, &state);
		if (round == 1)
			make_nulls(&encoded.in, &state);
		VALUES_OK(encode_constant(&values, &constant, &in_message, &value, &encoded.err));
		ck_assert_int_eq(constant, made[_i].constant);
		ck_assert_int_eq(in_message, made[_i].in_message);
		if (constant)
			check_value(&encoded, buf_slice(&value), in_message);
		buf_release(&value);
		encoded_release(&encoded);
	}
}
END_TEST

START_TEST(nothing_but_nulls_is_no_constant)
{
	struct encoded encoded;
	struct encode_values values = { FILE_2_2, &u64, &encoded.in, 0, 10 };
	struct buf value = { 0 };
	bool constant, in_message;

	encoded_init(&encoded, &u64);
	VALUES_OK(array_append_nulls(&encoded.in, 10, NULL));
	VALUES_OK(encode_constant(&values, &constant, &in_message, &value, &encoded.err));
	ck_assert(!constant);
	values.count = 0;
	VALUES_OK(encode_constant(&values, &constant, &in_message, &value, &encoded.err));
	ck_assert(!constant);
	encoded_release(&encoded);
}
END_TEST

UNIT_MAIN("encode_constant", UNIT_LOOP(constants_are_seen, made),
	UNIT_TEST(nothing_but_nulls_is_no_constant))
