/* FSST: the table, expansion of every code, values that are damaged. */
#include "codecs.h"

#include "file/fsst.h"

#define TABLE_SIZE 2312

/* Symbol i is i + 1 bytes of 'a' + i. */
static void
make_table(uint8_t *table, unsigned count)
{
	memset(table, 0, TABLE_SIZE);
	table[0] = (uint8_t)count;
	table[3] = 1; /* on */
	memcpy(table + 4, "TSSF", 4);
	for (unsigned i = 0; i < count; i++) {
		unsigned size = i % 8 + 1;

		memset(table + 8 + 8 * i, 'a' + (int)(i % 26), size);
		table[8 + 8 * count + i] = (uint8_t)size;
	}
}

static int
parse(const uint8_t *bytes, size_t size, struct fsst_table *table)
{
	uint8_t *exact = malloc(size == 0 ? 1 : size);
	int rc;

	memcpy(exact, bytes, size);
	rc = fsst_table_parse(slice_of(exact, size), table, NULL);
	free(exact);
	return rc;
}

START_TEST(tables_are_checked)
{
	uint8_t bytes[TABLE_SIZE + 1] = { 0 };
	struct fsst_table table;

	make_table(bytes, 3);
	ck_assert_int_eq(parse(bytes, TABLE_SIZE, &table), LANCET_OK);
	ck_assert(!table.stored);
	ck_assert_uint_eq(table.symbols[2].size, 3);
	ck_assert_uint_eq(table.symbols[3].size, 0);
	ck_assert_int_eq(parse(bytes, TABLE_SIZE - 1, &table), LANCET_CORRUPT);
	ck_assert_int_eq(parse(bytes, TABLE_SIZE + 1, &table), LANCET_CORRUPT);
	ck_assert_int_eq(parse(bytes, 0, &table), LANCET_CORRUPT);
	bytes[3] = 0;
	ck_assert_int_eq(parse(bytes, TABLE_SIZE, &table), LANCET_OK);
	ck_assert(table.stored);
	bytes[8 + 24] = 0;
	ck_assert_int_eq(parse(bytes, TABLE_SIZE, &table), LANCET_CORRUPT);
	bytes[8 + 24] = 9;
	ck_assert_int_eq(parse(bytes, TABLE_SIZE, &table), LANCET_CORRUPT);
	make_table(bytes, 255);
	ck_assert_int_eq(parse(bytes, TABLE_SIZE, &table), LANCET_OK);
	ck_assert_uint_eq(table.symbols[254].size, 254 % 8 + 1);
	bytes[7] = 'G';
	ck_assert_int_eq(parse(bytes, TABLE_SIZE, &table), LANCET_CORRUPT);
}
END_TEST

/* Fsst { symbol_table #1, values #2: Variable { offsets #1: Flat 32 } } */
static struct buf
make_message(unsigned symbols, bool on)
{
	struct buf message = { 0 }, fsst = { 0 }, inner = from_hex("12060a040a020820");
	uint8_t table[TABLE_SIZE];

	make_table(table, symbols);
	table[3] = on;
	put_head(&fsst, 1, TABLE_SIZE);
	buf_put(&fsst, table, TABLE_SIZE);
	put_message(&fsst, 2, &inner);
	put_message(&message, 6, &fsst);
	return message;
}

static int
open_fsst(struct codec_rig *rig, enum codec_place place, bool on)
{
	struct buf message = make_message(8, on);
	int rc;

	rig->budget.limit = (size_t)16 << 20;
	ck_assert_int_eq(array_init(&rig->out, &codec_text, &rig->budget, NULL), LANCET_OK);
	rc = codec_open(
		buf_slice(&message), place, FILE_2_2, 0, &rig->arena, &rig->codec, &rig->err);
	buf_release(&message);
	return rc;
}

static const struct {
	const char *label, *value;
	bool stored;
	enum lancet_code want;
	const char *out;
} values[] = {
	{ "nothing", "", false, LANCET_OK, "" },
	{ "one symbol", "00", false, LANCET_OK, "a" },
	{ "the longest", "07", false, LANCET_OK, "hhhhhhhh" },
	{ "four and one", "0001020303", false, LANCET_OK, "abbcccdddddddd" },
	{ "nine", "000000000000000001", false, LANCET_OK, "aaaaaaaabb" },
	{ "an escape", "ff7a", false, LANCET_OK, "z" },
	{ "an escaped escape", "00ffff00", false, LANCET_OK,
		"a\xff"
		"a" },
	{ "an escape in each place", "ff7a000000ff7a0000ff7a00ff7a", false, LANCET_OK,
		"zaaazaazaz" },
	{ "escaped codes without a symbol", "ff08ff09000000000000", false, LANCET_OK,
		"\x08\x09"
		"aaaaaa" },
	{ "an escape at the end", "00ff", false, LANCET_CORRUPT, "" },
	{ "an escape in front of nothing", "ff", false, LANCET_CORRUPT, "" },
	{ "a code without a symbol", "08", false, LANCET_CORRUPT, "" },
	{ "one among four", "00000800", false, LANCET_CORRUPT, "" },
	{ "the last code", "0000000000fe", false, LANCET_CORRUPT, "" },
	{ "as it is", "00ff", true, LANCET_OK, "" },
};

START_TEST(values_are_expanded)
{
	struct codec_rig rig = { 0 };
	int rc;

	ck_assert_int_eq(open_fsst(&rig, CODEC_VARIABLE, !values[_i].stored), LANCET_OK);
	rig.buffers[rig.buffer_count++] = exact_hex(values[_i].value);
	rc = rig_decode(&rig, 1);
	ck_assert_msg(rc == (int)values[_i].want, "%s: %s", values[_i].label, rig.err.text);
	if (rc == LANCET_OK && !values[_i].stored)
		ck_assert(slice_equal(array_bytes(&rig.out, 0), slice_text(values[_i].out)));
	if (rc == LANCET_OK && values[_i].stored)
		ck_assert(slice_equal(array_bytes(&rig.out, 0), rig.buffers[0]));
	rig_release(&rig);
}
END_TEST

/* Values are expanded together, but each for itself. */
START_TEST(an_escape_does_not_reach_into_the_next_value)
{
	struct codec_rig rig = { 0 };

	ck_assert_int_eq(open_fsst(&rig, CODEC_VARIABLE, true), LANCET_OK);
	rig.buffers[rig.buffer_count++] = exact_hex("00ff");
	rig.buffers[rig.buffer_count++] = exact_hex("7a0000000000000000");
	ck_assert_int_eq(rig_decode(&rig, 2), LANCET_CORRUPT);
	rig.buffers[0].size = 1;
	array_reset(&rig.out);
	ck_assert_int_eq(rig_decode(&rig, 2), LANCET_CORRUPT); /* 7a is no symbol */
	rig.buffers[1].size = 0;
	array_reset(&rig.out);
	ck_assert_int_eq(rig_decode(&rig, 2), LANCET_OK);
	rig_release(&rig);
}
END_TEST

/* 3 values: "ab", none, "hh…" twice */
#define CHUNK "10000000 12000000 12000000 14000000 0001 0707"

START_TEST(chunks_are_expanded)
{
	struct codec_rig rig = { 0 };

	ck_assert_int_eq(open_fsst(&rig, CODEC_MINI, true), LANCET_OK);
	rig.buffers[rig.buffer_count++] = exact_hex(CHUNK);
	ck_assert_int_eq(rig_decode(&rig, 3), LANCET_OK);
	ck_assert_int_eq(rig_decode(&rig, 3), LANCET_OK);
	ck_assert_uint_eq(rig.out.length, 6);
	ck_assert_uint_eq(rig.scratch.decoded, 6);
	for (uint64_t i = 0; i < 6; i += 3) {
		ck_assert(slice_equal(array_bytes(&rig.out, i), slice_text("abb")));
		ck_assert_uint_eq(array_bytes(&rig.out, i + 1).size, 0);
		ck_assert(
			slice_equal(array_bytes(&rig.out, i + 2), slice_text("hhhhhhhhhhhhhhhh")));
	}
	rig_release(&rig);
}
END_TEST

static const struct {
	const struct field *from, *out;
} width_pairs[] = {
	{ &codec_text, &codec_text },
	{ &codec_large_text, &codec_text },
	{ &codec_text, &codec_large_text },
	{ &codec_large_text, &codec_large_text },
};

/* Values in groups, one longer than a group; nulls come along; offsets of both widths. */
START_TEST(nulls_and_long_values_are_kept)
{
	struct array_budget budget = { .limit = (size_t)64 << 20 };
	uint8_t bytes[TABLE_SIZE], codes[40000];
	struct fsst_table table;
	struct array from, out;

	make_table(bytes, 8);
	ck_assert_int_eq(parse(bytes, TABLE_SIZE, &table), LANCET_OK);
	memset(codes, 7, sizeof(codes));
	ck_assert_int_eq(array_init(&from, width_pairs[_i].from, &budget, NULL), LANCET_OK);
	ck_assert_int_eq(array_init(&out, width_pairs[_i].out, &budget, NULL), LANCET_OK);
	for (size_t i = 0; i < 3000; i++)
		ck_assert_int_eq(array_append_bytes(&from,
					 slice_of(codes, i == 1500 ? sizeof(codes) : i % 30), NULL),
			LANCET_OK);
	for (size_t i = 0; i < 3000; i += 30)
		ck_assert_int_eq(array_set_null(&from, i, NULL), LANCET_OK);
	ck_assert_int_eq(fsst_append(&table, &from, &out, NULL), LANCET_OK);
	ck_assert_uint_eq(out.length, 3000);
	ck_assert_uint_eq(out.null_count, 100);
	for (size_t i = 0; i < 3000; i++) {
		ck_assert_int_eq(array_is_valid(&out, i), i % 30 != 0);
		ck_assert_uint_eq(
			array_bytes(&out, i).size, i == 1500 ? 8 * sizeof(codes) : 8 * (i % 30));
	}
	array_release(&from);
	array_release(&out);
	ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(expansion_stops_at_the_budget)
{
	struct codec_rig rig = { 0 };
	uint8_t codes[4000];
	struct slice value = slice_of(codes, sizeof(codes));

	memset(codes, 7, sizeof(codes));
	ck_assert_int_eq(open_fsst(&rig, CODEC_VARIABLE, true), LANCET_OK);
	rig.budget.limit = 20000;
	ck_assert_int_eq(
		codec_decode_values(rig.codec, &value, 1, &rig.scratch, &rig.out, &rig.err),
		LANCET_LIMIT);
	rig_release(&rig);
}
END_TEST

static const struct codec_row refused[] = {
	{ "a short table", "320f 0a03545454 1208 1206 0a04 0a020820", CODEC_MINI, 0, &codec_text, 0,
		{ "" }, LANCET_CORRUPT, "fsst: a symbol table of 3 bytes, 2312 expected" },
	{ "no table", "320a 1208 1206 0a04 0a020820", CODEC_MINI, 0, &codec_text, 0, { "" },
		LANCET_CORRUPT, "fsst: a symbol table of 0 bytes" },
	{ "a block", "320a 1208 1206 0a04 0a020820", CODEC_BLOCK, 0, &codec_text, 0, { "" },
		LANCET_CORRUPT, "fsst as the encoding of a block" },
};

START_TEST(what_makes_no_sense_is_refused)
{
	run_codec_row(&refused[_i]);
}
END_TEST

UNIT_MAIN("fsst", UNIT_TEST(tables_are_checked), UNIT_LOOP(values_are_expanded, values),
	UNIT_TEST(an_escape_does_not_reach_into_the_next_value), UNIT_TEST(chunks_are_expanded),
	UNIT_LOOP(nulls_and_long_values_are_kept, width_pairs),
	UNIT_TEST(expansion_stops_at_the_budget),
	UNIT_LOOP(what_makes_no_sense_is_refused, refused))
