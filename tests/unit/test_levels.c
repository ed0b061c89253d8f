/* Levels: the examples of the format facts, levels that contradict themselves, and random nesting
 * that is written as levels and as what should come out at once. */
#include "pages.h"

static struct field nest_a[5], nest_b[5], nest_c[5];

/* A chain of fields from the top down to a 32-bit leaf: l = list, s = struct, m = map, f = list of
 * two. Returns the leaf. */
static const struct field *
chain(struct field *fields, const char *kinds)
{
	size_t count = strlen(kinds);

	for (size_t i = 0; i <= count; i++) {
		struct field *field = &fields[i];

		*field = (struct field){ .id = FIELD_NO_ID, .ordinal = (uint32_t)i };
		field->kind = i == count        ? FIELD_FIXED
			      : kinds[i] == 'l' ? FIELD_LIST
			      : kinds[i] == 'm' ? FIELD_MAP
			      : kinds[i] == 'f' ? FIELD_FIXED_LIST
						: FIELD_STRUCT;
		field->bits = i == count ? 32 : 0;
		field->dimension = field->kind == FIELD_FIXED_LIST ? 2 : 0;
		field->parent = i == 0 ? NULL : &fields[i - 1];
		field->children = i == count ? NULL : &fields[i + 1];
		field->child_count = i == count ? 0 : 1;
	}
	return &fields[count];
}

#define ENTRIES_MAX 12

static const struct {
	const char *label, *fields;
	int kinds[4];
	size_t kind_count;
	size_t count;
	uint16_t rep[ENTRIES_MAX], def[ENTRIES_MAX];
	bool no_rep, no_def;
	enum lancet_code want;
	const char *text;
} runs[] = {
	{ "[[1,null], null, []], null, [], [[2]]", "ll", { 3, 6, 6 }, 3, 7, { 2, 0, 1, 1, 2, 2, 2 },
		{ 0, 1, 2, 3, 4, 5, 0 }, .text = "0 - 0 | 2 - 0 1 | 3 - 0 1" },
	{ "{l:[1,null]}, null, {l:null}, {l:[]}, {l:[3]}", "sl", { 3, 6, 3 }, 3, 6,
		{ 1, 0, 1, 1, 1, 1 }, { 0, 1, 4, 2, 3, 0 },
		.text = "0 - 0 | 2 - - 0 1 | v - v v v" },
	{ "[{1}, null, {null}], null, [], [{2}]", "ls", { 3, 3, 6 }, 3, 6, { 1, 0, 0, 1, 1, 1 },
		{ 0, 2, 1, 3, 4, 0 }, .text = "0 - - 0 | v - v v | 3 - 0 1" },
	{ "a map of valid keys", "ms", { 1, 1, 6 }, 3, 5, { 1, 0, 1, 1, 1 }, { 0, 0, 1, 2, 0 },
		.text = "0 0 0 | v v v | 2 - 0 1" },
	{ "fixed-size lists of structs", "fs", { 3, 3, 3 }, 3, 6, { 0 }, { 0, 1, 3, 3, 2, 0 },
		.no_rep = true, .text = "0 - - - - 0 | v v - - - v | v - v" },
	{ "fixed-size lists of fixed-size lists", "ffs", { 1, 3, 3, 3 }, 4, 8, { 0 },
		{ 0, 1, 0, 0, 3, 3, 3, 3 }, .no_rep = true,
		.text = "0 0 0 0 0 0 0 0 | v - v v - - - - | v v - - | v -" },
	{ "nothing is null", "ss", { 3, 3, 3 }, 3, 3, { 0 }, { 0 }, .no_rep = true,
		.text = "0 0 0 | v v v | v v v" },
	{ "nested structs", "ss", { 3, 3, 3 }, 3, 4, { 0 }, { 0, 1, 2, 3 }, .no_rep = true,
		.text = "0 - - - | v v - - | v v v -" },
	{ "structs above a leaf without nulls", "s", { 1, 3 }, 2, 3, { 0 }, { 0, 1, 0 },
		.no_rep = true, .text = "0 0 0 | v - v" },
	{ "lists without definition levels", "ll", { 1, 2, 2 }, 3, 6, { 2, 0, 1, 2, 2, 1 }, { 0 },
		.no_def = true, .text = "0 0 0 0 0 0 | 2 1 1 1 1 | 2 1 2" },
	{ "lists that may be null only", "l", { 1, 4 }, 2, 4, { 1, 0, 1, 1 }, { 0, 0, 1, 0 },
		.text = "0 0 0 | 2 - 1" },
	{ "lists that may be empty only", "l", { 1, 5 }, 2, 4, { 1, 0, 1, 1 }, { 0, 0, 1, 0 },
		.text = "0 0 0 | 2 0 1" },
	{ "a null struct between two lists", "lsl", { 1, 6, 3, 6 }, 4, 5, { 2, 1, 1, 2, 2 },
		{ 0, 3, 2, 4, 5 }, .text = "0 | 1 - 0 | v - v | 3 - 0" },
	{ "no rows", "l", { 3, 6 }, 2, 0, { 0 }, { 0 }, .text = " |" },
	{ "a level of no list", "l", { 1, 6 }, 2, 2, { 1, 2 }, { 0 }, .want = LANCET_CORRUPT,
		.text = "repetition level 2 in 1 lists" },
	{ "a first entry inside of a row", "ll", { 1, 6, 6 }, 3, 2, { 1, 2 }, { 0 },
		.want = LANCET_CORRUPT, .text = "begins no row" },
	{ "a definition level of no layer", "l", { 1, 6 }, 2, 2, { 1, 1 }, { 0, 3 },
		.want = LANCET_CORRUPT, .text = "definition level 3 of 2" },
	{ "an item of a null list", "l", { 1, 6 }, 2, 2, { 1, 0 }, { 1, 0 }, .want = LANCET_CORRUPT,
		.text = "an item outside of a list" },
	{ "an item of an empty list", "l", { 1, 6 }, 2, 2, { 1, 0 }, { 2, 0 },
		.want = LANCET_CORRUPT, .text = "an item outside of a list" },
	{ "a null list as an item", "l", { 1, 6 }, 2, 2, { 1, 0 }, { 0, 1 }, .want = LANCET_CORRUPT,
		.text = "an item outside of a list" },
	{ "a null inner list as an item", "ll", { 1, 6, 6 }, 3, 3, { 2, 0, 2 }, { 0, 1, 0 },
		.want = LANCET_CORRUPT, .text = "an item outside of a list" },
	{ "an outer null list inside of a row", "ll", { 1, 6, 6 }, 3, 2, { 2, 1 }, { 0, 3 },
		.want = LANCET_CORRUPT, .text = "an item outside of a list" },
	{ "lists without repetition levels", "l", { 1, 6 }, 2, 2, { 0 }, { 0 }, .no_rep = true,
		.want = LANCET_CORRUPT, .text = "without repetition" },
	{ "half a fixed-size list", "fs", { 3, 3, 3 }, 3, 3, { 0 }, { 0, 1, 0 }, .no_rep = true,
		.want = LANCET_CORRUPT, .text = "3 items in fixed-size lists of 2" },
};

static int
unravel(const struct layers *layers, const struct level_run *run, struct leaf_out *out,
	struct lancet_error *err)
{
	uint64_t visible;
	uint8_t *place;

	TRY(levels_count_visible(layers, run, &visible, err));
	TRY(array_extend_fixed(&out->leaf, 32, visible, &place, err));
	if (visible > 0)
		memset(place, 0, (size_t)visible * 4);
	return levels_unravel(layers, run, out, err);
}

START_TEST(levels_become_validity_and_lengths)
{
	const struct field *leaf = chain(nest_a, runs[_i].fields);
	struct array_budget budget = { .limit = 1 << 20 };
	struct lancet_error err = { 0 };
	struct level_run run = { .rep = runs[_i].no_rep ? NULL : runs[_i].rep,
		.def = runs[_i].no_def ? NULL : runs[_i].def,
		.count = runs[_i].count };
	struct layers layers;
	struct leaf_out out;
	struct buf text = { 0 };
	int rc;

	ck_assert_int_eq(
		layers_init(&layers, runs[_i].kinds, runs[_i].kind_count, leaf, &err), LANCET_OK);
	ck_assert_int_eq(leaf_out_init(&out, leaf, &budget, &err), LANCET_OK);
	rc = unravel(&layers, &run, &out, &err);
	ck_assert_msg(rc == (int)runs[_i].want, "%s: %d %s", runs[_i].label, rc, err.text);
	render_leaf_out(&out, &text);
	if (rc == LANCET_OK)
		ck_assert_msg(strcmp((const char *)text.data, runs[_i].text) == 0, "%s: %s",
			runs[_i].label, (const char *)text.data);
	else
		ck_assert_msg(strstr(err.text, runs[_i].text) != NULL, "%s: %s", runs[_i].label,
			err.text);
	buf_release(&text);
	leaf_out_release(&out);
	ck_assert_uint_eq(budget.used, 0);
}
END_TEST

static const struct {
	const char *label, *fields;
	int kinds[4];
	size_t kind_count;
	enum lancet_code want;
	const char *text;
} wrong_layers[] = {
	{ "too few", "l", { 3 }, 1, LANCET_CORRUPT, "nested deeper" },
	{ "none", "", { 0 }, 0, LANCET_CORRUPT, "nested deeper" },
	{ "too many", "l", { 3, 6, 6 }, 3, LANCET_CORRUPT, "3 layers, the field has 2" },
	{ "a list for a struct", "s", { 3, 6 }, 2, LANCET_CORRUPT, "layer 1 is a list" },
	{ "a struct for a list", "l", { 3, 3 }, 2, LANCET_CORRUPT, "layer 1 is no list" },
	{ "a list as the leaf", "", { 6 }, 1, LANCET_CORRUPT, "layer 0 is a list" },
	{ "kind 0", "", { 0 }, 1, LANCET_CORRUPT, "kind 0" },
	{ "kind 7", "", { 7 }, 1, LANCET_CORRUPT, "kind 7" },
	{ "kind -1", "", { -1 }, 1, LANCET_CORRUPT, "kind -1" },
	{ "lists of fixed-size lists", "lfs", { 3, 3, 3, 6 }, 4, LANCET_UNSUPPORTED, "fixed-size" },
};

START_TEST(layers_fit_the_field)
{
	struct lancet_error err = { 0 };
	struct layers layers;

	ck_assert_int_eq(layers_init(&layers, wrong_layers[_i].kinds, wrong_layers[_i].kind_count,
				 chain(nest_b, wrong_layers[_i].fields), &err),
		wrong_layers[_i].want);
	ck_assert_msg(strstr(err.text, wrong_layers[_i].text) != NULL, "%s: %s",
		wrong_layers[_i].label, err.text);
}
END_TEST

/* Random values of list<struct<list<int32>>>: definition levels 1 null item, 2 null and 3 empty
 * inner list, 4 null struct, 5 null and 6 empty outer list. */
struct maker {
	uint64_t random;
	uint16_t rep[20000], def[20000];
	uint64_t count;
	struct buf leaf, inner, middle, outer;
};

static unsigned
draw(struct maker *maker, unsigned below)
{
	maker->random =
		maker->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(maker->random >> 33) % below;
}

static void
add_entry(struct maker *maker, uint16_t rep, uint16_t def)
{
	maker->rep[maker->count] = rep;
	maker->def[maker->count++] = def;
}

static void
make_inner(struct maker *maker, uint16_t rep)
{
	unsigned items = draw(maker, 4);

	buf_put_text(&maker->middle, items == 3 && draw(maker, 3) == 0 ? " -" : " v");
	if (maker->middle.data[maker->middle.size - 1] == '-') {
		buf_put_text(&maker->inner, " -");
		add_entry(maker, rep, 4);
		return;
	}
	if (items == 0) {
		bool null = draw(maker, 2) == 0;

		buf_put_text(&maker->inner, null ? " -" : " 0");
		add_entry(maker, rep, null ? 2 : 3);
		return;
	}
	buf_printf(&maker->inner, " %u", items);
	for (unsigned i = 0; i < items; i++) {
		bool null = draw(maker, 3) == 0;

		buf_put_text(&maker->leaf, null ? " -" : " 0");
		add_entry(maker, i == 0 ? rep : 0, null ? 1 : 0);
	}
}

static void
make_row(struct maker *maker)
{
	unsigned items = draw(maker, 5);

	if (items == 0) {
		bool null = draw(maker, 2) == 0;

		buf_put_text(&maker->outer, null ? " -" : " 0");
		add_entry(maker, 2, null ? 5 : 6);
		return;
	}
	buf_printf(&maker->outer, " %u", items);
	for (unsigned i = 0; i < items; i++)
		make_inner(maker, i == 0 ? 2 : 1);
}

static const uint64_t seeds[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

START_TEST(random_nesting_comes_back)
{
	const int kinds[] = { 3, 6, 3, 6 };
	const struct field *leaf = chain(nest_c, "lsl");
	struct maker *maker = calloc(1, sizeof(*maker));
	struct array_budget budget = { .limit = 1 << 24 };
	struct buf text = { 0 }, want = { 0 };
	struct lancet_error err = { 0 };
	struct layers layers;
	struct leaf_out out;

	maker->random = seeds[_i];
	ck_assert_int_eq(layers_init(&layers, kinds, 4, leaf, &err), LANCET_OK);
	ck_assert_int_eq(leaf_out_init(&out, leaf, &budget, &err), LANCET_OK);
	for (int part = 0; part < 3; part++) { /* what is there already stays */
		struct level_run run = { maker->rep, maker->def, 0 };

		maker->count = 0;
		for (int i = 0; i < 1 + part * 700; i++)
			make_row(maker);
		run.count = maker->count;
		ck_assert_int_eq(unravel(&layers, &run, &out, &err), LANCET_OK);
	}
	render_leaf_out(&out, &text);
	buf_put_slice(&want, buf_slice(&maker->leaf));
	buf_put_text(&want, " |");
	buf_put_slice(&want, buf_slice(&maker->inner));
	buf_put_text(&want, " |");
	buf_put_slice(&want, buf_slice(&maker->middle));
	buf_put_text(&want, " |");
	buf_put_slice(&want, buf_slice(&maker->outer));
	buf_put_byte(&want, '\0');
	ck_assert_str_eq((const char *)text.data, (const char *)want.data + (want.data[1] != '|'));
	buf_release(&text);
	buf_release(&want);
	buf_release(&maker->leaf);
	buf_release(&maker->inner);
	buf_release(&maker->middle);
	buf_release(&maker->outer);
	free(maker);
	leaf_out_release(&out);
	ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(bitmaps_are_written_whole)
{
	uint16_t levels[1100];
	uint8_t bitmap[1100 / 8 + 2];
	uint64_t ones = 0;

	for (unsigned i = 0; i < 1100; i++)
		levels[i] = (uint16_t)(i * 7 % 5);
	for (unsigned count = 0; count <= 1100; count += 11) {
		memset(bitmap, 0xff, sizeof(bitmap));
		levels_bitmap(levels, count, 2, bitmap);
		ones = 0;
		for (unsigned i = 0; i < count; i++) {
			ck_assert_int_eq(bitmap[i / 8] >> i % 8 & 1, levels[i] <= 2);
			ones += levels[i] <= 2;
		}
		if (count % 8 != 0)
			ck_assert_int_eq(bitmap[count / 8] >> count % 8, 0);
		ck_assert_int_eq(bitmap[(count + 7) / 8], 0xff);
		ck_assert_uint_eq(levels_count_up_to(levels, count, 2), ones);
	}
}
END_TEST

START_TEST(more_levels_than_16_bits_count)
{
	uint16_t *levels = calloc(200000, sizeof(*levels));

	levels[5] = 9;
	levels[199999] = 1;
	ck_assert_uint_eq(levels_count_up_to(levels, 200000, 0), 199998);
	ck_assert_uint_eq(levels_count_up_to(levels, 200000, 8), 199999);
	free(levels);
}
END_TEST

UNIT_MAIN("levels", UNIT_LOOP(levels_become_validity_and_lengths, runs),
	UNIT_LOOP(layers_fit_the_field, wrong_layers), UNIT_LOOP(random_nesting_comes_back, seeds),
	UNIT_TEST(bitmaps_are_written_whole), UNIT_TEST(more_levels_than_16_bits_count))
