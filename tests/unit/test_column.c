/* Lineage columns by placement: where the values come from, and what is an error and never a
 * default. */
#include "core/fragment.h"
#include "core/version.h"
#include "encode.h"
#include "lance/table.pb-c.h"
#include "sources.h"
#include "unit.h"

#include <lancet/column.h>

/* A fragment that was never on disk: fields of info and of the message are set by each test. */
struct made {
	struct lancet_version version;
	struct lancet_fragment fragment;
	Lance__Table__DataFragment message;
	Lance__Table__ExternalFile external;
	struct buf manifest;
	struct test_source *src;
};

static void
make(struct made *m, const char *manifest_hex, uint64_t rows)
{
	*m = (struct made){ .manifest = from_hex(manifest_hex) };
	lance__table__data_fragment__init(&m->message);
	lance__table__external_file__init(&m->external);
	m->src = test_source_new(buf_slice(&m->manifest), 0, NULL);
	m->version.info.stable_row_ids = true;
	m->version.file = &m->src->base;
	m->fragment.version = &m->version;
	m->fragment.message = &m->message;
	m->fragment.info.id = 7;
	m->fragment.info.physical_rows = rows;
	m->fragment.info.lineage[LANCET_ROW_ID].placement = LANCET_NONE;
	m->fragment.info.lineage[LANCET_CREATED_AT].placement = LANCET_DEFAULT;
	m->fragment.info.lineage[LANCET_LAST_UPDATED_AT].placement = LANCET_DEFAULT;
}

static void
place_inline(struct made *m, enum lancet_lineage which, uint64_t offset, uint64_t size)
{
	m->fragment.info.lineage[which].placement = LANCET_INLINE;
	m->fragment.lineage[which] = (struct fragment_inline){ offset, size, true };
}

/* (row of a long array of u64) * 3, byte by byte. */
static uint8_t
triple_byte(uint64_t at)
{
	return (uint8_t)(at / 8 * 3 >> 8 * (at % 8));
}

static void
unmake(struct made *m)
{
	source_unref(&m->src->base);
	buf_release(&m->manifest);
}

static void
check_refused(struct made *m, enum lancet_lineage which, int code, const char *text)
{
	struct lancet_error err = { 0 };
	lancet_column *column = NULL;

	ck_assert_int_eq(lancet_column_open(&m->fragment, which, &column, &err), code);
	ck_assert_str_eq(err.text, text);
	ck_assert_ptr_null(column);
}

START_TEST(row_addresses_need_no_sequence)
{
	struct made m;
	lancet_column *column;
	uint64_t values[3];

	make(&m, "", 100);
	m.version.info.stable_row_ids = false;
	m.fragment.info.lineage[LANCET_ROW_ID].placement = LANCET_ADDRESS;
	m.fragment.info.lineage[LANCET_CREATED_AT].placement = LANCET_NONE;
	ck_assert_int_eq(lancet_column_open(&m.fragment, LANCET_ROW_ID, &column, NULL), LANCET_OK);
	ck_assert_uint_eq(lancet_column_rows(column), 100);
	ck_assert_int_eq(lancet_column_read(column, 97, 3, values, NULL), LANCET_OK);
	ck_assert_uint_eq(values[0], (UINT64_C(7) << 32) + 97);
	ck_assert_uint_eq(values[2], (UINT64_C(7) << 32) + 99);
	ck_assert_int_eq(lancet_column_read(column, 98, 3, values, NULL), LANCET_INVALID);
	lancet_column_free(column);
	check_refused(&m, LANCET_CREATED_AT, LANCET_NOT_FOUND,
		"fragment 7: _row_created_at_version: needs stable row ids");
	unmake(&m);
}
END_TEST

START_TEST(absent_versions_are_one_and_absent_ids_are_corrupt)
{
	struct made m;
	lancet_column *column;
	uint64_t values[2] = { 0 };

	make(&m, "", 10);
	ck_assert_int_eq(lancet_column_open(&m.fragment, LANCET_CREATED_AT, &column, NULL), 0);
	ck_assert_int_eq(lancet_column_read(column, 8, 2, values, NULL), LANCET_OK);
	ck_assert(values[0] == 1 && values[1] == 1);
	ck_assert_int_eq(lancet_column_read(column, 9, 2, values, NULL), LANCET_INVALID);
	lancet_column_free(column);
	check_refused(&m, LANCET_ROW_ID, LANCET_CORRUPT,
		"fragment 7: _rowid: absent, on a dataset with stable row ids");
	unmake(&m);
}
END_TEST

START_TEST(inline_sequences_are_read_where_they_lie)
{
	struct made m;
	lancet_column *column;
	uint64_t values[3];

	/* two bytes of something else, ids {2, 5, 8}, versions 7 7 7, two bytes more */
	make(&m,
		"dead"
		"0a091a07080210091a0149"
		"0a080a040a0210031007"
		"beef",
		3);
	place_inline(&m, LANCET_ROW_ID, 2, 11);
	place_inline(&m, LANCET_LAST_UPDATED_AT, 13, 10);
	ck_assert_int_eq(lancet_column_open(&m.fragment, LANCET_ROW_ID, &column, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_column_read(column, 0, 3, values, NULL), LANCET_OK);
	ck_assert(values[0] == 2 && values[1] == 5 && values[2] == 8);
	lancet_column_free(column);
	ck_assert_int_eq(lancet_column_open(&m.fragment, LANCET_LAST_UPDATED_AT, &column, NULL), 0);
	ck_assert_int_eq(lancet_column_read(column, 2, 1, values, NULL), LANCET_OK);
	ck_assert_uint_eq(values[0], 7);
	lancet_column_free(column);
	m.fragment.info.physical_rows = 4;
	check_refused(&m, LANCET_ROW_ID, LANCET_CORRUPT, "fragment 7: _rowid: 3 values for 4 rows");
	place_inline(&m, LANCET_ROW_ID, 2, 0);
	check_refused(&m, LANCET_ROW_ID, LANCET_CORRUPT, "fragment 7: _rowid: 0 values for 4 rows");
	unmake(&m);
}
END_TEST

static const uint64_t long_rows[] = { 0, 50000000, 100000000 - 195 };

START_TEST(a_long_sequence_costs_the_same_at_any_row)
{
	const uint64_t rows = 100000000;
	struct buf array = { 0 };
	struct made m;
	lancet_column *column;
	uint64_t values[195];

	put_head(&array, 2, rows * 8);
	wrap_head(&array, 3, rows * 8); /* of 64 bits */
	wrap_head(&array, 5, rows * 8); /* an array */
	wrap_head(&array, 1, rows * 8); /* a segment */
	make(&m, "", rows);
	source_unref(&m.src->base);
	m.src = test_source_new(buf_slice(&array), rows * 8, triple_byte);
	m.version.file = &m.src->base;
	place_inline(&m, LANCET_ROW_ID, 0, array.size + rows * 8);
	ck_assert_int_eq(lancet_column_open(&m.fragment, LANCET_ROW_ID, &column, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_column_read(column, long_rows[_i], 195, values, NULL), LANCET_OK);
	for (uint64_t i = 0; i < 195; i++)
		ck_assert_uint_eq(values[i], (long_rows[_i] + i) * 3);
	ck_assert_uint_le(m.src->read_bytes, 64 << 10);
	lancet_column_free(column);
	unmake(&m);
	buf_release(&array);
}
END_TEST

START_TEST(retired_arms_are_refused_by_name)
{
	struct made m;
	lancet_column *column;
	uint64_t value;

	make(&m, "0a040a021001", 1);
	m.message.external_row_ids = &m.external;
	m.message.external_created_at_versions = &m.external;
	check_refused(&m, LANCET_ROW_ID, LANCET_UNSUPPORTED,
		"fragment 7: _rowid: stored as external_row_ids (field 6), a retired form");
	check_refused(&m, LANCET_CREATED_AT, LANCET_UNSUPPORTED,
		"fragment 7: _row_created_at_version: stored as external_created_at_versions "
		"(field 10), a retired form");
	ck_assert_int_eq(lancet_column_open(&m.fragment, LANCET_LAST_UPDATED_AT, &column, NULL), 0);
	lancet_column_free(column);
	m.message.external_last_updated_at_versions = &m.external;
	check_refused(&m, LANCET_LAST_UPDATED_AT, LANCET_UNSUPPORTED,
		"fragment 7: _row_last_updated_at_version: stored as "
		"external_last_updated_at_versions (field 8), a retired form");
	place_inline(&m, LANCET_ROW_ID, 0, 6); /* a sequence beside it is what counts */
	ck_assert_int_eq(lancet_column_open(&m.fragment, LANCET_ROW_ID, &column, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_column_read(column, 0, 1, &value, NULL), LANCET_OK);
	lancet_column_free(column);
	unmake(&m);
}
END_TEST

static const int32_t user_fields[] = { 0, 1 };
static const int32_t carrier_fields[] = { 0, -3, -9, -4 };
static const int32_t twice_fields[] = { -3, 0, -3 };
static const int32_t columns[] = { 0, 1, 2, 3 };
static const int32_t no_columns[] = { 0, -1, -1, 3 };

#define PATH(text)                                                                                 \
	{                                                                                          \
		(const uint8_t *)(text), sizeof(text) - 1                                          \
	}
#define USER                                                                                       \
	{                                                                                          \
		PATH("u.lance"), user_fields, 2, columns, 2, 2, 1, 0, false, 0                     \
	}
#define CARRIER(path, n, indices, index_count, major, minor)                                       \
	{                                                                                          \
		PATH(path), carrier_fields, n, indices, index_count, major, minor, 0, false, 0     \
	}

static const struct {
	const char *label;
	struct lancet_data_file files[2];
	enum lancet_lineage which;
	int code;
	const char *text;
} carriers[] = {
	{ "none", { USER, USER }, LANCET_ROW_ID, LANCET_CORRUPT,
		"fragment 7: _rowid: marked as spilled, but no data file carries field -3" },
	{ "not this one", { USER, CARRIER("c.lance", 4, columns, 4, 2, 1) }, LANCET_LAST_UPDATED_AT,
		LANCET_CORRUPT,
		"fragment 7: _row_last_updated_at_version: marked as spilled, but no data file "
		"carries "
		"field -5" },
	{ "two files",
		{ CARRIER("a.lance", 4, columns, 4, 2, 1),
			CARRIER("c.lance", 2, columns, 2, 2, 1) },
		LANCET_ROW_ID, LANCET_CORRUPT,
		"fragment 7: _rowid: spilled, and 2 columns carry field -3: a.lance, c.lance" },
	{ "one file twice",
		{ USER, { PATH("c.lance"), twice_fields, 3, columns, 3, 2, 1, 0, false, 0 } },
		LANCET_ROW_ID, LANCET_CORRUPT,
		"fragment 7: _rowid: spilled, and 2 columns carry field -3: c.lance, c.lance" },
	{ "fewer column indices", { USER, CARRIER("c.lance", 4, columns, 1, 2, 1) }, LANCET_ROW_ID,
		LANCET_CORRUPT,
		"fragment 7: _rowid: spilled to c.lance, which has 1 column indices for 4 fields" },
	{ "no column", { USER, CARRIER("c.lance", 4, no_columns, 4, 2, 1) }, LANCET_ROW_ID,
		LANCET_CORRUPT, "fragment 7: _rowid: spilled to c.lance, column -1" },
	{ "legacy file", { USER, CARRIER("c.lance", 4, columns, 4, 0, 2) }, LANCET_ROW_ID,
		LANCET_CORRUPT,
		"fragment 7: _rowid: spilled to c.lance, a legacy data file (0.2)" },
};

START_TEST(spilled_columns_need_one_carrier)
{
	struct made m;

	make(&m, "", 10);
	m.fragment.info.files = carriers[_i].files;
	m.fragment.info.file_count = 2;
	m.fragment.info.lineage[carriers[_i].which].placement = LANCET_COLUMN;
	check_refused(&m, carriers[_i].which, carriers[_i].code, carriers[_i].text);
	unmake(&m);
}
END_TEST

/* Rows of the sample's version 6 and their ids, as the reference reads them. */
static const struct {
	uint64_t fragment, row, id;
} sample[] = {
	{ 0, 1, 1 },
	{ 0, 47, 47 },
	{ 1, 0, 48 },
	{ 1, 31, 79 },
	{ 2, 0, 0 },
	{ 2, 1, 11 },
	{ 2, 4, 46 },
	{ 2, 5, 57 },
	{ 2, 6, 65 },
	{ 3, 0, 80 },
	{ 3, 15, 95 },
};

START_TEST(fragments_give_the_ids_the_reference_gives)
{
	lancet_dataset *dataset;
	lancet_version *version;
	lancet_fragment *fragment;
	lancet_column *column;
	uint64_t ordinal, id;

	ck_assert_int_eq(
		lancet_dataset_open(UNIT_DATA_DIR "/sample.lance", NULL, &dataset, NULL), 0);
	ck_assert_int_eq(lancet_version_open(dataset, 6, &version, NULL), 0);
	ck_assert_int_eq(
		lancet_version_find_fragment(version, sample[_i].fragment, &ordinal, NULL), 0);
	ck_assert_int_eq(lancet_fragment_open(version, ordinal, &fragment, NULL), 0);
	lancet_fragment_unref(lancet_fragment_ref(fragment));
	ck_assert_int_eq(lancet_column_open(fragment, LANCET_ROW_ID, &column, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_column_read(column, sample[_i].row, 1, &id, NULL), LANCET_OK);
	ck_assert_uint_eq(id, sample[_i].id);
	lancet_column_free(column);
	lancet_fragment_unref(fragment);
	lancet_version_unref(version);
	lancet_dataset_unref(dataset);
}
END_TEST

UNIT_MAIN("column", UNIT_TEST(row_addresses_need_no_sequence),
	UNIT_TEST(absent_versions_are_one_and_absent_ids_are_corrupt),
	UNIT_TEST(inline_sequences_are_read_where_they_lie),
	UNIT_LOOP(a_long_sequence_costs_the_same_at_any_row, long_rows),
	UNIT_TEST(retired_arms_are_refused_by_name),
	UNIT_LOOP(spilled_columns_need_one_carrier, carriers),
	UNIT_LOOP(fragments_give_the_ids_the_reference_gives, sample))
