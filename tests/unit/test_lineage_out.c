/* Lineage of new fragments: what is carried over, and where it goes. */
#include "core/change.h"
#include "core/fragment.h"
#include "core/lineage_out.h"
#include "core/sequence.h"
#include "core/sequence_write.h"
#include "core/version.h"
#include "encode.h"
#include "lance/table.pb-c.h"
#include "sources.h"
#include "unit.h"

#include <stdio.h>

#define COLUMN(arm) LANCE__TABLE__DATA_FRAGMENT__##arm

static uint64_t
scramble(uint64_t n)
{
	n = (n ^ n >> 31) * UINT64_C(0x7fb5d329728ea185);
	return n ^ n >> 27;
}

/* A version that has nothing but what placing asks for. */
struct table {
	lancet_version version;
	struct lancet_entry config[2];
};

static struct lancet_bytes
text_bytes(const char *text)
{
	return (struct lancet_bytes){ (const uint8_t *)text, strlen(text) };
}

static void
make_table(struct table *table, const char *format, const char *spill, const char *most)
{
	*table = (struct table){ .version.info = { .stable_row_ids = true,
					 .storage_version = text_bytes(format) } };
	table->version.maps[LANCET_CONFIG] = table->config;
	if (spill != NULL)
		table->config[table->version.map_counts[LANCET_CONFIG]++] =
			(struct lancet_entry){ text_bytes("lance.row_lineage.spill"),
				text_bytes(spill) };
	if (most != NULL)
		table->config[table->version.map_counts[LANCET_CONFIG]++] =
			(struct lancet_entry){ text_bytes("lance.row_lineage.inline_max_bytes"),
				text_bytes(most) };
}

/* Ids that are not in order, versions that are equal. */
static void
fill(struct lineage_out *out, uint64_t rows)
{
	ck_assert_int_eq(lineage_out_init(out, 7, NULL), LANCET_OK);
	for (uint64_t i = 0; i < rows; i++) {
		uint64_t id = scramble(i) % 1000000, made = 3, changed = 4;

		ck_assert_int_eq(lineage_out_put(out, LANCET_ROW_ID, &id, 1, NULL), LANCET_OK);
		ck_assert_int_eq(
			lineage_out_put(out, LANCET_CREATED_AT, &made, 1, NULL), LANCET_OK);
		ck_assert_int_eq(
			lineage_out_put(out, LANCET_LAST_UPDATED_AT, &changed, 1, NULL), LANCET_OK);
	}
	ck_assert_int_eq(lineage_out_end(out, NULL), LANCET_OK);
	ck_assert_uint_eq(out->rows, rows);
}

static const struct {
	const char *label, *format, *spill, *most;
	uint64_t rows;
	bool may_spill, ids_spill, versions_spill;
} rules[] = {
	{ "no config", "2.2", NULL, NULL, 100000, true, false, false },
	{ "not asked for", "2.2", "false", "0", 1000, true, false, false },
	{ "over the default", "2.2", "true", NULL, 60000, true, true, false },
	{ "under the default", "2.2", "true", NULL, 50000, true, false, false },
	{ "in capitals", "2.0", "TRUE", "100", 1000, true, true, false },
	{ "everything", "2.1", "True", "0", 1000, true, true, true },
	{ "a number with a sign", "2.1", "true", "+0040", 1000, true, true, false },
	{ "what the commit assigns", "2.2", "true", "0", 1000, false, false, false },
	{ "format 0.1", "0.1", "true", "0", 1000, true, false, false },
};

START_TEST(sequences_spill_by_the_config)
{
	struct lineage_out out;
	struct table table;

	make_table(&table, rules[_i].format, rules[_i].spill, rules[_i].most);
	fill(&out, rules[_i].rows);
	ck_assert_int_eq(
		lineage_place(&table.version, &out, 1, rules[_i].may_spill, NULL), LANCET_OK);
	ck_assert_msg(
		out.sequences[LANCET_ROW_ID].spilled == rules[_i].ids_spill, "%s", rules[_i].label);
	ck_assert_msg(out.sequences[LANCET_CREATED_AT].spilled == rules[_i].versions_spill, "%s",
		rules[_i].label);
	ck_assert_msg(out.sequences[LANCET_LAST_UPDATED_AT].spilled == rules[_i].versions_spill,
		"%s", rules[_i].label);
	lineage_out_release(&out);
}
END_TEST

START_TEST(the_limit_itself_is_enough)
{
	struct buf bytes = { 0 };
	uint64_t ids[1000];

	for (uint64_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = scramble(i) % 1000000;
	rowids_put(&bytes, ids, ARRAY_SIZE(ids));
	for (unsigned less = 0; less < 2; less++) {
		struct lineage_out out;
		struct table table;
		char most[20];

		(void)snprintf(most, sizeof(most), "%zu", bytes.size - less);
		make_table(&table, "2.2", "true", most);
		fill(&out, ARRAY_SIZE(ids));
		ck_assert_int_eq(lineage_place(&table.version, &out, 1, true, NULL), LANCET_OK);
		ck_assert(out.sequences[LANCET_ROW_ID].spilled == (less == 1));
		lineage_out_release(&out);
	}
	buf_release(&bytes);
}
END_TEST

START_TEST(a_limit_that_is_no_number_is_refused)
{
	static const char *const texts[] = { "", "many", "-1", "12k", "+", "99999999999999999999" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct lancet_error err = { 0 };
		struct lineage_out out;
		struct table table;

		make_table(&table, "2.2", "true", texts[i]);
		fill(&out, 10);
		ck_assert_int_eq(
			lineage_place(&table.version, &out, 1, true, &err), LANCET_INVALID);
		ck_assert_ptr_nonnull(strstr(err.text, "inline_max_bytes"));
		lineage_out_release(&out);
	}
}
END_TEST

/* A short sequence goes the way of the long one beside it, unless it is smaller inline. */
START_TEST(outputs_of_a_task_go_one_way_where_they_can)
{
	struct lineage_out outs[3];
	struct table table;
	uint64_t ids[500];

	make_table(&table, "2.2", "true", "8000");
	fill(&outs[0], 5000);
	fill(&outs[1], 1000);
	ck_assert_int_eq(lineage_out_init(&outs[2], 1, NULL), LANCET_OK);
	for (uint64_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = 70 + i;
	ck_assert_int_eq(
		lineage_out_put(&outs[2], LANCET_ROW_ID, ids, ARRAY_SIZE(ids), NULL), LANCET_OK);
	ck_assert_int_eq(lineage_out_end(&outs[2], NULL), LANCET_OK);
	ck_assert_int_eq(lineage_place(&table.version, outs, 3, true, NULL), LANCET_OK);
	ck_assert(outs[0].sequences[LANCET_ROW_ID].spilled);
	ck_assert(outs[1].sequences[LANCET_ROW_ID].spilled);
	ck_assert(!outs[2].sequences[LANCET_ROW_ID].spilled);
	ck_assert(!outs[0].sequences[LANCET_CREATED_AT].spilled);
	for (size_t i = 0; i < ARRAY_SIZE(outs); i++)
		lineage_out_release(&outs[i]);
}
END_TEST

START_TEST(what_spills_is_read_again)
{
	uint64_t values[300];
	struct lineage_out out;
	struct table table;

	make_table(&table, "2.2", "true", "0");
	fill(&out, 5000);
	ck_assert_int_eq(lineage_place(&table.version, &out, 1, true, NULL), LANCET_OK);
	for (uint64_t at = 0; at + 300 <= 5000; at += 217) {
		ck_assert_int_eq(
			lineage_out_read(&out, LANCET_ROW_ID, at, 300, values, NULL), LANCET_OK);
		for (uint64_t i = 0; i < 300; i++)
			ck_assert_uint_eq(values[i], scramble(at + i) % 1000000);
	}
	ck_assert_int_eq(
		lineage_out_read(&out, LANCET_ROW_ID, 4990, 11, values, NULL), LANCET_INVALID);
	lineage_out_release(&out);
}
END_TEST

static void
check_inline(const struct sequence_ops *ops, ProtobufCBinaryData bytes, uint64_t rows,
	const uint64_t *want)
{
	struct source *source = source_memory_new(slice_of(bytes.data, bytes.len), NULL);
	struct sequence *sequence = NULL;
	uint64_t got[100];

	ck_assert_int_eq(sequence_open(ops, source, rows, &sequence, NULL), LANCET_OK);
	ck_assert_int_eq(sequence_read(sequence, 0, rows, got, NULL), LANCET_OK);
	ck_assert_mem_eq(got, want, rows * sizeof(*want));
	sequence_free(sequence);
	source_unref(source);
}

/* Fragment 7 as test_column.c has it: ids and created-at versions inline, no others. */
struct stored {
	struct lancet_version version;
	struct lancet_fragment fragment;
	Lance__Table__DataFragment message;
	struct buf manifest;
	struct test_source *src;
};

/* Ids 0 to 9 less what the hex says, and "6 rows v1, 2 rows v2, 2 rows v3" as the reference wrote
 * them. */
#define IDS "0a040a02100a"
#define VERSIONS                                                                                   \
	"0a0c0a081a06100a1a02d90210010a0b0a071a0510031a01051002"                                   \
	"0a080a040a0210021003"

static void
make_stored(struct stored *s)
{
	*s = (struct stored){ .manifest = from_hex(IDS VERSIONS) };
	lance__table__data_fragment__init(&s->message);
	s->src = test_source_new(buf_slice(&s->manifest), 0, NULL);
	s->version.info.stable_row_ids = true;
	s->version.file = &s->src->base;
	s->fragment.version = &s->version;
	s->fragment.message = &s->message;
	s->fragment.info.id = 7;
	s->fragment.info.physical_rows = 10;
	s->fragment.info.lineage[LANCET_ROW_ID].placement = LANCET_INLINE;
	s->fragment.lineage[LANCET_ROW_ID] = (struct fragment_inline){ 0, 6, true };
	s->fragment.info.lineage[LANCET_CREATED_AT].placement = LANCET_INLINE;
	s->fragment.lineage[LANCET_CREATED_AT] =
		(struct fragment_inline){ 6, s->manifest.size - 6, true };
	s->fragment.info.lineage[LANCET_LAST_UPDATED_AT].placement = LANCET_DEFAULT;
}

static void
release_stored(struct stored *s)
{
	source_unref(&s->src->base);
	buf_release(&s->manifest);
}

START_TEST(rows_keep_what_their_fragment_says)
{
	static const uint64_t ids[] = { 5, 6, 7, 8, 9, 0, 1 }, made[] = { 1, 2, 2, 3, 3, 1, 1 },
			      changed[] = { 1, 1, 1, 1, 1, 1, 1 };
	Lance__Table__DataFragment fragment;
	struct lancet_change change = { 0 };
	struct lineage_source *source;
	struct lineage_out out;
	struct stored s;

	make_stored(&s);
	ck_assert_uint_eq(lineage_kinds(&s.version), 7);
	ck_assert_int_eq(lineage_source_open(&s.fragment, &source, NULL), LANCET_OK);
	ck_assert_int_eq(lineage_out_init(&out, 7, NULL), LANCET_OK);
	ck_assert_int_eq(lineage_out_rows(&out, source, 5, 5, NULL, NULL), LANCET_OK);
	ck_assert_int_eq(lineage_out_rows(&out, source, 0, 2, NULL, NULL), LANCET_OK);
	ck_assert_int_eq(lineage_out_rows(&out, source, 5, 6, NULL, NULL), LANCET_INVALID);
	lineage_source_free(source);
	ck_assert_int_eq(lineage_out_end(&out, NULL), LANCET_OK);
	ck_assert_int_eq(lineage_place(&s.version, &out, 1, true, NULL), LANCET_OK);
	lance__table__data_fragment__init(&fragment);
	ck_assert_int_eq(lineage_out_store(&out, &change, &fragment, NULL), LANCET_OK);
	check_inline(&rowids_ops, fragment.inline_row_ids, 7, ids);
	check_inline(&row_versions_ops, fragment.inline_created_at_versions, 7, made);
	check_inline(&row_versions_ops, fragment.inline_last_updated_at_versions, 7, changed);
	lineage_out_release(&out);
	arena_release(&change.arena);
	release_stored(&s);
}
END_TEST

START_TEST(lineage_that_is_missing_is_no_default)
{
	struct lancet_error err = { 0 };
	struct lineage_source *source;
	struct stored s;

	make_stored(&s);
	s.fragment.info.lineage[LANCET_ROW_ID].placement = LANCET_NONE;
	ck_assert_int_eq(lineage_source_open(&s.fragment, &source, &err), LANCET_CORRUPT);
	ck_assert_str_eq(err.text, "fragment 7: _rowid: absent, on a dataset with stable row ids");
	release_stored(&s);
	make_stored(&s);
	s.fragment.info.physical_rows = 11;
	ck_assert_int_eq(lineage_source_open(&s.fragment, &source, &err), LANCET_CORRUPT);
	release_stored(&s);
}
END_TEST

START_TEST(spilled_sequences_are_columns_of_the_message)
{
	Lance__Table__DataFragment fragment;
	struct lancet_change change = { 0 };
	struct lineage_out out;
	struct table table;

	make_table(&table, "2.2", "true", "0");
	fill(&out, 50);
	ck_assert_int_eq(lineage_place(&table.version, &out, 1, true, NULL), LANCET_OK);
	lance__table__data_fragment__init(&fragment);
	ck_assert_int_eq(lineage_out_store(&out, &change, &fragment, NULL), LANCET_OK);
	ck_assert_int_eq(fragment.row_id_sequence_case, COLUMN(ROW_ID_SEQUENCE_COLUMN_ROW_IDS));
	ck_assert_int_eq(fragment.created_at_version_sequence_case,
		COLUMN(CREATED_AT_VERSION_SEQUENCE_COLUMN_CREATED_AT_VERSIONS));
	ck_assert_int_eq(fragment.last_updated_at_version_sequence_case,
		COLUMN(LAST_UPDATED_AT_VERSION_SEQUENCE_COLUMN_LAST_UPDATED_AT_VERSIONS));
	lineage_out_release(&out);
	arena_release(&change.arena);
}
END_TEST

START_TEST(kinds_have_the_same_rows)
{
	struct lineage_out out;
	uint64_t ids[2] = { 1, 2 };

	ck_assert_int_eq(lineage_out_init(&out, 8, NULL), LANCET_INVALID);
	ck_assert_int_eq(lineage_out_init(&out, 3, NULL), LANCET_OK);
	ck_assert_int_eq(lineage_out_put(&out, LANCET_ROW_ID, ids, 2, NULL), LANCET_OK);
	ck_assert_int_eq(lineage_out_put(&out, LANCET_CREATED_AT, ids, 1, NULL), LANCET_OK);
	ck_assert_int_eq(
		lineage_out_put(&out, LANCET_LAST_UPDATED_AT, ids, 1, NULL), LANCET_INVALID);
	ck_assert_int_eq(lineage_out_end(&out, NULL), LANCET_INVALID);
	lineage_out_release(&out);
}
END_TEST

/* 20 million shuffled rows with three versions: what is held follows the bits, not the rows. */
START_TEST(memory_follows_the_bits_of_the_values)
{
	const uint64_t rows = 20000000;
	struct lineage_out out;
	size_t held = 0;

	ck_assert_int_eq(lineage_out_init(&out, 7, NULL), LANCET_OK);
	for (uint64_t at = 0; at < rows; at += 4000) {
		uint64_t ids[4000], versions[4000];

		for (uint64_t i = 0; i < 4000; i++) {
			ids[i] = scramble(at + i) % rows;
			versions[i] = 1 + ids[i] % 3;
		}
		ck_assert_int_eq(lineage_out_put(&out, LANCET_ROW_ID, ids, 4000, NULL), LANCET_OK);
		ck_assert_int_eq(
			lineage_out_put(&out, LANCET_CREATED_AT, versions, 4000, NULL), LANCET_OK);
		ck_assert_int_eq(
			lineage_out_put(&out, LANCET_LAST_UPDATED_AT, versions, 4000, NULL),
			LANCET_OK);
	}
	for (unsigned i = 0; i < LINEAGE_KINDS; i++)
		held += out.sequences[i].pack.bits.size;
	ck_assert_uint_le(held, rows * (25 + 2 + 2) / 8 + 1000);
	lineage_out_release(&out);
}
END_TEST

UNIT_MAIN("lineage_out", UNIT_LOOP(sequences_spill_by_the_config, rules),
	UNIT_TEST(the_limit_itself_is_enough), UNIT_TEST(a_limit_that_is_no_number_is_refused),
	UNIT_TEST(outputs_of_a_task_go_one_way_where_they_can),
	UNIT_TEST(what_spills_is_read_again), UNIT_TEST(rows_keep_what_their_fragment_says),
	UNIT_TEST(lineage_that_is_missing_is_no_default),
	UNIT_TEST(spilled_sequences_are_columns_of_the_message),
	UNIT_TEST(kinds_have_the_same_rows), UNIT_TEST(memory_follows_the_bits_of_the_values))
