/* Shredding: the examples of the format facts, what lies under nulls, and random nesting that
 * comes back from its levels. */
#include "arraytext.h"
#include "file/shred.h"

#include <inttypes.h>
#include <stdio.h>

#define LEVELS_MAX 12
#define DEPTH_MAX  6

static const struct {
	const char *label, *fields, *values;
	uint64_t first, count;
	const char *layers; /* from the leaf outwards */
	const char *rep, *def;
	const char *slots; /* of the leaf, "-" for nulls */
} rows[] = {
	{ "no nulls", "i", "1 2 3", 0, 3, "1", "", "", "1 2 3" },
	{ "nulls", "i", "1 - 3", 0, 3, "3", "", "010", "1 - 3" },
	{ "rows without the null", "i", "1 - 3 4", 2, 2, "1", "", "", "3 4" },
	{ "the type of nulls", "n", "- -", 0, 2, "3", "", "11", "- -" },
	{ "lists of lists", "lli", "[[1 -] - []] - [] [[2]]", 0, 4, "366", "2011222", "0123450",
		"1 - 2" },
	{ "lists in structs", "sli", "{[1 -]} - {-} {[]} {[3]}", 0, 5, "363", "101111", "014230",
		"1 - 3" },
	{ "structs in lists", "lsi", "[{1} - {-}] - [] [{2}]", 0, 4, "336", "100111", "021340",
		"1 0 - 2" },
	{ "some rows of lists", "lli", "[[1 -] - []] - [] [[2]]", 2, 2, "125", "22", "10", "2" },
	{ "lists without nulls", "lli", "[[1 2] [3]] [[4]] [[5] [6 7]]", 0, 3, "122", "2012210", "",
		"1 2 3 4 5 6 7" },
	{ "large lists", "Li", "[1 2] [3]", 0, 2, "12", "101", "", "1 2 3" },
	{ "lists that are null only", "li", "[1 2] - [3]", 0, 3, "14", "1011", "0010", "1 2 3" },
	{ "lists that are empty only", "li", "[1 2] [] [3]", 0, 3, "15", "1011", "0010", "1 2 3" },
	{ "no slots", "lt", "[] - []", 0, 3, "16", "111", "212", "" },
	{ "a null struct between lists", "lsli", "[{[7]} {-} -] - []", 0, 3, "1636", "21122",
		"01345", "7" },
	{ "nested structs", "ssi", "{{1}} {{-}} {-} -", 0, 4, "333", "", "0123", "1 - 0 0" },
	{ "a map", "msi", "[{1} {2}] - []", 0, 3, "116", "1011", "0012", "1 2" },
	{ "fixed-size lists", "fsi", "[{1} {-}] - [- {5}]", 0, 3, "333", "", "013320",
		"1 - 0 0 0 5" },
	{ "fixed-size lists of such", "ffsi", "[[{1} {2}] -] -", 0, 2, "1333", "", "00223333",
		"1 2 0 0 0 0 0 0" },
	{ "items under a null list", "li", "[1] <8 9> [2]", 0, 3, "14", "111", "010", "1 2" },
	{ "lists under a null list", "lli", "[[1] [2 3]] <[8] [9]> [[4]]", 0, 3, "124", "21022",
		"00010", "1 2 3 4" },
	{ "items under a null struct", "sli", "{[1]} ([8 9]) {[2]}", 0, 3, "143", "111", "020",
		"1 2" },
	{ "a value under a null struct", "si", "{1} (8) {2}", 0, 3, "13", "", "010", "1 8 2" },
	{ "nulls under a null list only", "li", "[1] <- -> [2]", 0, 3, "34", "111", "020", "1 2" },
	{ "lists in structs that are not null", "sli", "{[1 2]} {[3]}", 0, 2, "143", "101", "000",
		"1 2 3" },
	{ "structs in lists that are not null", "lsi", "[{1} {2}] [{3}]", 0, 2, "112", "101", "",
		"1 2 3" },
	{ "lists of lists below a struct", "slli", "{[[1 2] [3]]}", 0, 1, "1443", "201", "000",
		"1 2 3" },
	{ "structs in fixed-size lists", "fsi", "[{1} {2}]", 0, 1, "133", "", "00", "1 2" },
	{ "texts with gaps", "lt", "['a'] <'x'> ['bc' 'd']", 0, 3, "14", "1110", "0100",
		"'a' 'bc' 'd'" },
};

static void
digits(const uint16_t *levels, uint64_t count, char *text)
{
	for (uint64_t i = 0; levels != NULL && i < count; i++)
		*text++ = (char)('0' + levels[i]);
	*text = '\0';
}

static void
show_slots(const struct shred *shred, struct buf *text)
{
	for (uint64_t i = shred->first; i < shred->first + shred->visible; i++) {
		buf_put_text(text, i == shred->first ? "" : " ");
		if (!array_is_valid(shred->values, i))
			buf_put_text(text, "-");
		else if (shred->values->field->kind == FIELD_VARIABLE)
			buf_printf(text, "'%.*s'", (int)array_bytes(shred->values, i).size,
				(const char *)array_bytes(shred->values, i).data);
		else
			buf_printf(text, "%" PRIu64, array_unsigned(shred->values, i));
	}
	buf_put_byte(text, '\0');
}

START_TEST(rows_become_levels)
{
	struct field fields[DEPTH_MAX];
	const struct field *leaf = field_chain(fields, rows[_i].fields);
	struct array_budget budget = { .limit = 1 << 20 };
	struct lancet_error err = { 0 };
	struct array array;
	struct shred shred = { 0 };
	struct buf slots = { 0 };
	char text[3][2 * LEVELS_MAX] = { { 0 } };

	ck_assert_int_eq(array_init(&array, fields, &budget, &err), LANCET_OK);
	array_put_text(&array, rows[_i].values);
	for (int round = 0; round < 2; round++) /* memory that was used before */
		ck_assert_msg(shred_make(&shred, &array, leaf, rows[_i].first, rows[_i].count,
				      &err) == LANCET_OK,
			"%s: %s", rows[_i].label, err.text);
	for (unsigned i = 0; i < shred.layers.count; i++)
		text[0][i] = (char)('0' + shred.layers.kinds[i]);
	digits(shred.rep, shred.entries, text[1]);
	digits(shred.def, shred.entries, text[2]);
	show_slots(&shred, &slots);
	ck_assert_msg(
		strcmp(text[0], rows[_i].layers) == 0, "%s: layers %s", rows[_i].label, text[0]);
	ck_assert_msg(
		strcmp(text[1], rows[_i].rep) == 0, "%s: repetition %s", rows[_i].label, text[1]);
	ck_assert_msg(
		strcmp(text[2], rows[_i].def) == 0, "%s: definition %s", rows[_i].label, text[2]);
	ck_assert_msg(strcmp((char *)slots.data, rows[_i].slots) == 0, "%s: slots %s",
		rows[_i].label, (char *)slots.data);
	buf_release(&slots);
	shred_release(&shred);
	array_release(&array);
	ck_assert_uint_eq(budget.used, 0);
}
END_TEST

/* What the levels of a page say of the layers above the leaf, as unravelling reads them. */
static void
check_same(const struct shred *shred, const struct array *array, const struct field *leaf)
{
	struct array_budget budget = { .limit = 1 << 26 };
	struct level_run run = { shred->rep, shred->def, shred->entries };
	struct lancet_error err = { 0 };
	struct leaf_out out;
	uint64_t visible;

	ck_assert_int_eq(leaf_out_init(&out, leaf, &budget, &err), LANCET_OK);
	ck_assert_msg(levels_count_visible(&shred->layers, &run, &visible, &err) == LANCET_OK, "%s",
		err.text);
	ck_assert_uint_eq(visible, shred->visible);
	ck_assert_int_eq(array_append_range(&out.leaf, shred->values, shred->first, visible, &err),
		LANCET_OK);
	ck_assert_msg(
		levels_unravel(&shred->layers, &run, &out, &err) == LANCET_OK, "%s", err.text);
	for (size_t i = out.nest_count + 1; i-- > 0; array = &array->children[0]) {
		const struct array *got = i == 0 ? &out.leaf : &out.nests[i - 1];

		ck_assert_uint_eq(got->length, array->length);
		ck_assert_uint_eq(got->null_count, array->null_count);
		for (uint64_t at = 0; at < got->length; at++)
			if (array_is_valid(got, at) != array_is_valid(array, at))
				ck_abort_msg("value %" PRIu64 " of layer %zu", at, i);
		ck_assert_uint_eq(got->offsets.size, array->offsets.size);
		if (got->offsets.size > 0)
			ck_assert_mem_eq(got->offsets.data, array->offsets.data, got->offsets.size);
	}
	leaf_out_release(&out);
}

static uint64_t
draw(uint64_t *random, uint64_t below)
{
	*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*random >> 33) % below;
}

/* One random value; nulls have nothing below them but what their kind demands. */
static void
put_random(struct array *array, uint64_t *random, uint64_t nulls)
{
	const struct field *field = array->field;
	uint64_t items = field->kind == FIELD_STRUCT ? 1 : draw(random, 4);

	if (nulls > 0 && draw(random, nulls) == 0 && field->kind != FIELD_STRUCT) {
		ck_assert_int_eq(array_append_nulls(array, 1, NULL), LANCET_OK);
		return;
	}
	if (field->kind == FIELD_FIXED) {
		ck_assert_int_eq(
			array_append_fixed(array, 32, (const uint8_t *)random, 1, NULL), LANCET_OK);
		return;
	}
	for (uint64_t i = 0; i < items; i++)
		put_random(&array->children[0], random, nulls);
	ck_assert_int_eq(field->kind == FIELD_STRUCT ? array_extend(array, 1, NULL)
						     : array_append_list(array, items, NULL),
		LANCET_OK);
}

static const char *const nestings[] = { "i", "li", "lli", "llli", "Lsi", "slli", "lsli", "lslsi" };

START_TEST(random_nesting_comes_back)
{
	for (uint64_t seed = 0; seed < 12; seed++) {
		struct field fields[DEPTH_MAX];
		const struct field *leaf = field_chain(fields, nestings[_i]);
		struct array_budget budget = { .limit = 1 << 26 };
		struct lancet_error err = { 0 };
		struct array array;
		struct shred shred = { 0 };
		uint64_t random = seed;

		ck_assert_int_eq(array_init(&array, fields, &budget, &err), LANCET_OK);
		for (uint64_t i = 0; i < 1 + seed * 130; i++)
			put_random(&array, &random, seed % 4 * 3);
		ck_assert_msg(shred_make(&shred, &array, leaf, 0, array.length, &err) == LANCET_OK,
			"%s", err.text);
		check_same(&shred, &array, leaf);
		shred_release(&shred);
		array_release(&array);
	}
}
END_TEST

static const struct {
	const char *fields, *values;
	uint64_t first, count, entries, want;
} within[] = {
	{ "i", "1 2 3 4", 0, 4, 1, 4 }, /* no levels, no limit */
	{ "i", "1 - 3 4", 0, 4, 2, 2 },
	{ "i", "1 - 3 4", 1, 1, 0, 1 },
	{ "li", "[1 2] [3] [4 5] [6]", 0, 4, 100, 4 },
	{ "li", "[1 2] [3] [4 5] [6]", 0, 4, 9, 3 },
	{ "li", "[1 2] [3] [4 5] [6]", 2, 2, 4, 1 },
	{ "li", "[1 2 3 4 5 6 7] [3]", 0, 2, 4, 1 },
	{ "fsi", "[{1} -] [{1} -] [{1} -] -", 0, 4, 5, 2 },
};

START_TEST(rows_are_cut_by_their_entries)
{
	struct field fields[DEPTH_MAX];
	const struct field *leaf = field_chain(fields, within[_i].fields);
	struct array_budget budget = { .limit = 1 << 20 };
	struct array array;

	ck_assert_int_eq(array_init(&array, fields, &budget, NULL), LANCET_OK);
	array_put_text(&array, within[_i].values);
	ck_assert_uint_eq(shred_rows_within(&array, leaf, within[_i].first, within[_i].count,
				  within[_i].entries),
		within[_i].want);
	array_release(&array);
}
END_TEST

UNIT_MAIN("shred", UNIT_LOOP(rows_become_levels, rows),
	UNIT_LOOP(random_nesting_comes_back, nestings),
	UNIT_LOOP(rows_are_cut_by_their_entries, within))
