/* 256-bit numbers, against numbers small enough to be told otherwise, and at their ends. */
#include "unit.h"

#include "util/wide.h"

/* "-123" */
static struct wide
wide_text(const char *text)
{
	struct wide value = wide_of(0);
	bool negative = *text == '-';

	for (const char *at = text + negative; *at != '\0'; at++) {
		ck_assert(wide_scale(value, 1, &value));
		ck_assert(negative ? wide_subtract(value, wide_of(*at - '0'), &value)
				   : wide_add(value, wide_of(*at - '0'), &value));
	}
	return value;
}

#define MOST  "57896044618658097711785492504343953926634992332820282019728792003956564819967"
#define LEAST "-57896044618658097711785492504343953926634992332820282019728792003956564819968"

/* "": it needs more bits */
static const struct {
	const char *left, *right, *sum, *difference, *product, *quotient, *rest;
} operations[] = {
	{ "7", "2", "9", "5", "14", "3", "1" },
	{ "-7", "2", "-5", "-9", "-14", "-3", "-1" },
	{ "7", "-2", "5", "9", "-14", "-3", "1" },
	{ "-7", "-2", "-9", "-5", "14", "3", "-1" },
	{ "0", "-5", "-5", "5", "0", "0", "0" },
	{ "18446744073709551615", "18446744073709551615", "36893488147419103230", "0",
		"340282366920938463426481119284349108225", "1", "0" },
	{ "340282366920938463463374607431768211456", "18446744073709551616",
		"340282366920938463481821351505477763072",
		"340282366920938463444927863358058659840",
		"6277101735386680763835789423207666416102355444464034512896",
		"18446744073709551616", "0" },
	{ "1000000000000000000000000000000000000000000000000000000000000000000000000001",
		"10000000000000000000000000000000000000",
		"1000000000000000000000000000000000000010000000000000000000000000000000000001",
		"999999999999999999999999999999999999990000000000000000000000000000000000001", "",
		"100000000000000000000000000000000000000", "1" },
	{ MOST, "1", "",
		"57896044618658097711785492504343953926634992332820282019728792003956564819966",
		MOST, MOST, "0" },
	{ LEAST, "1",
		"-57896044618658097711785492504343953926634992332820282019728792003956564819967",
		"", LEAST, LEAST, "0" },
	{ LEAST, "-1", "",
		"-57896044618658097711785492504343953926634992332820282019728792003956564819967",
		"", "", "" },
	{ MOST, LEAST, "-1", "", "", "0", MOST },
	{ LEAST, MOST, "-1", "", "", "-1", "-1" },
};

static void
check(bool ok, struct wide got, const char *want, const char *what)
{
	ck_assert_msg(ok == (*want != '\0'), "%d: %s", ok, what);
	if (ok)
		ck_assert_msg(wide_compare(got, wide_text(want)) == 0, "%s", what);
}

START_TEST(results_are_exact_or_told_to_be_none)
{
	struct wide left = wide_text(operations[_i].left), right = wide_text(operations[_i].right);
	struct wide result, rest;

	check(wide_add(left, right, &result), result, operations[_i].sum, "sum");
	check(wide_subtract(left, right, &result), result, operations[_i].difference, "difference");
	check(wide_multiply(left, right, &result), result, operations[_i].product, "product");
	check(wide_divide(left, right, &result, &rest), result, operations[_i].quotient,
		"quotient");
	if (*operations[_i].rest != '\0')
		ck_assert_int_eq(wide_compare(rest, wide_text(operations[_i].rest)), 0);
}
END_TEST

static const struct {
	const char *value;
	unsigned digits;
	const char *want;
	bool exact;
} rounded[] = {
	{ "1505", 1, "151", false },
	{ "-1505", 1, "-151", false },
	{ "1504", 1, "150", false },
	{ "1500", 2, "15", true },
	{ "1449", 2, "14", false },
	{ "1450", 2, "15", false },
	{ "5", 1, "1", false },
	{ "49", 2, "0", false },
	{ "50", 2, "1", false },
	{ "0", 40, "0", true },
	{ "7", 80, "0", false },
	{ "7", 0, "7", true },
};

START_TEST(halves_are_rounded_away_from_zero)
{
	bool exact;

	ck_assert_int_eq(
		wide_compare(wide_round(wide_text(rounded[_i].value), rounded[_i].digits, &exact),
			wide_text(rounded[_i].want)),
		0);
	ck_assert_int_eq(exact, rounded[_i].exact);
}
END_TEST

START_TEST(digits_are_counted_by_size)
{
	ck_assert(wide_has_digits(wide_text("99"), 2) && !wide_has_digits(wide_text("100"), 2));
	ck_assert(wide_has_digits(wide_text("-99"), 2) && !wide_has_digits(wide_text("-100"), 2));
	ck_assert(!wide_has_digits(wide_text(LEAST), WIDE_DIGITS));
	ck_assert(wide_has_digits(wide_text(LEAST), 80));
}
END_TEST

START_TEST(narrow_values_are_told_from_wide_ones)
{
	uint8_t bytes[32];
	int64_t number = 0;
	uint64_t size = 0;

	ck_assert(wide_to_i64(wide_of(INT64_MIN), &number) && number == INT64_MIN);
	ck_assert(!wide_to_i64(wide_of_unsigned(UINT64_C(1) << 63), &number));
	ck_assert(wide_to_u64(wide_of_unsigned(UINT64_MAX), &size) && size == UINT64_MAX);
	ck_assert(!wide_to_u64(wide_of(-1), &size));
	ck_assert(wide_store(wide_text("-170141183460469231731687303715884105728"), 128, bytes));
	ck_assert_int_eq(wide_compare(wide_load(bytes, 128),
				 wide_text("-170141183460469231731687303715884105728")),
		0);
	ck_assert(!wide_store(wide_text("170141183460469231731687303715884105728"), 128, bytes));
	ck_assert(wide_store(wide_text(LEAST), 256, bytes));
	ck_assert_int_eq(wide_compare(wide_load(bytes, 256), wide_text(LEAST)), 0);
	ck_assert(wide_to_double(wide_text("-18446744073709551616")) == -0x1p64);
}
END_TEST

UNIT_MAIN("wide", UNIT_LOOP(results_are_exact_or_told_to_be_none, operations),
	UNIT_LOOP(halves_are_rounded_away_from_zero, rounded),
	UNIT_TEST(digits_are_counted_by_size), UNIT_TEST(narrow_values_are_told_from_wide_ones))
