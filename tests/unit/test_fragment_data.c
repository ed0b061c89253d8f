/* Which file has which column, by the lists of the manifest, and lists that contradict the files.
 */
#include "scandata.h"
#include "unit.h"

#include <lancet/scan.h>

#define NUMBERS_MAX 4u

struct file_lists {
	const char *name;
	size_t field_count, column_count;
	int32_t fields[NUMBERS_MAX], columns[NUMBERS_MAX];
	unsigned major, minor;
};

static const struct {
	const char *label;
	uint64_t rows;
	size_t count;
	struct file_lists files[2];
	int code;
	const char *text; /* of the failure */
	uint64_t first_a; /* else the first value of each column; 0 = null */
	uint64_t first_b;
} listings[] = {
	{ "two files", 5, 2,
		{ { "x.lance", 1, 1, { 0 }, { 0 }, 2, 2 },
			{ "y.lance", 1, 1, { 1 }, { 0 }, 2, 0 } },
		LANCET_OK, NULL, 100, 200 },
	{ "one file for two fields", 5, 1, { { "x.lance", 2, 2, { 0, 1 }, { 0, 0 }, 2, 2 } },
		LANCET_OK, NULL, 100, 100 },
	{ "2.0 by its other name", 5, 1, { { "y.lance", 1, 1, { 0 }, { 0 }, 0, 3 } }, LANCET_OK,
		NULL, 200, 0 },
	{ "superseded", 5, 2,
		{ { "x.lance", 2, 2, { -2, 1 }, { 0, 0 }, 2, 2 },
			{ "y.lance", 1, 1, { 0 }, { 0 }, 2, 0 } },
		LANCET_OK, NULL, 200, 100 },
	{ "unknown negative ids", 5, 1, { { "x.lance", 3, 3, { -9, 0, -3 }, { 7, 0, 8 }, 2, 2 } },
		LANCET_OK, NULL, 100, 0 },
	{ "no column", 5, 1, { { "x.lance", 2, 2, { 0, 1 }, { -1, 0 }, 2, 2 } }, LANCET_OK, NULL, 0,
		100 },
	{ "fewer indices", 5, 1, { { "x.lance", 2, 1, { 0, 1 }, { 0 }, 2, 2 } }, LANCET_OK, NULL,
		100, 0 },
	{ "no files", 5, 0, { { 0 } }, LANCET_OK, NULL, 0, 0 },
	{ "fields of no schema", 5, 1, { { "gone.lance", 1, 1, { 77 }, { 0 }, 2, 2 } }, LANCET_OK,
		NULL, 0, 0 },
	{ "one field twice", 5, 2,
		{ { "x.lance", 1, 1, { 0 }, { 0 }, 2, 2 },
			{ "y.lance", 1, 1, { 0 }, { 0 }, 2, 0 } },
		LANCET_OK, NULL, 100, 0 },
	{ "no legacy file", 5, 1, { { "x.lance", 1, 0, { 0 }, { 0 }, 0, 2 } }, LANCET_CORRUPT,
		"fragment 0: column a: data/x.lance: recorded as version 0.2, the file is 2.2", 0,
		0 },
	{ "no such column", 5, 1, { { "x.lance", 1, 1, { 0 }, { 1 }, 2, 2 } }, LANCET_CORRUPT,
		"fragment 0: column a: data/x.lance: column 1 of a file that has 1", 0, 0 },
	{ "more rows", 6, 1, { { "x.lance", 1, 1, { 0 }, { 0 }, 2, 2 } }, LANCET_CORRUPT,
		"fragment 0: column a: data/x.lance: field a: column 0: 5 rows, 6 expected", 0, 0 },
	{ "fewer rows", 4, 1, { { "y.lance", 1, 1, { 0 }, { 0 }, 2, 0 } }, LANCET_CORRUPT,
		"fragment 0: column a: data/y.lance: field a: column 0: 5 values, 4 expected", 0,
		0 },
	{ "lost", 5, 1, { { "gone.lance", 1, 1, { 0 }, { 0 }, 2, 2 } }, LANCET_IO,
		"fragment 0: column a: data/gone.lance: the file is gone", 0, 0 },
	{ "outside", 5, 1, { { "../x.lance", 1, 1, { 0 }, { 0 }, 2, 2 } }, LANCET_CORRUPT, NULL, 0,
		0 },
};

static void
put_list(struct buf *b, unsigned field, const int32_t *numbers, size_t count)
{
	struct buf list = { 0 };

	for (size_t i = 0; i < count; i++)
		put_varint(&list, (uint64_t)(int64_t)numbers[i]);
	put_message(b, field, &list);
}

static void
put_file(struct buf *fragment, const struct file_lists *lists)
{
	struct buf message = { 0 };

	put_head(&message, 1, strlen(lists->name));
	buf_put_text(&message, lists->name);
	put_list(&message, 2, lists->fields, lists->field_count);
	put_list(&message, 3, lists->columns, lists->column_count);
	put_number(&message, 4, lists->major);
	put_number(&message, 5, lists->minor);
	put_message(fragment, 2, &message);
}

static struct tree
make_dataset(const struct file_lists *files, size_t count, uint64_t rows)
{
	struct tree tree = tree_new();
	struct buf manifest = { 0 }, fragment = { 0 };

	scandata_file(&tree, "x.lance", 2, 5, 100, false);
	scandata_file(&tree, "y.lance", 0, 5, 200, false);
	scandata_field(&manifest, "a", 0);
	scandata_field(&manifest, "b", 1);
	for (size_t i = 0; i < count; i++)
		put_file(&fragment, &files[i]);
	put_number(&fragment, 4, rows);
	put_message(&manifest, 2, &fragment);
	put_number(&manifest, 3, 1);
	buf_put(&manifest, "\x6a\x07\x0a\x05lance", 9); /* writer_version #13 */
	scandata_manifest(&tree, &manifest);
	buf_release(&manifest);
	return tree;
}

static void
check_first(const struct ArrowArray *column, uint64_t want)
{
	const uint8_t *valid = column->buffers[0];

	if (want == 0)
		ck_assert(valid != NULL && column->null_count == column->length);
	else
		ck_assert_uint_eq(*(const uint64_t *)column->buffers[1], want);
}

static int
scan_once(lancet_version *version, struct ArrowArray *ret_batch, struct lancet_error *err)
{
	lancet_scan *scan = NULL;
	bool more = false;
	int rc = lancet_scan_open(version, NULL, &scan, err);

	if (rc == LANCET_OK)
		rc = lancet_scan_next(scan, ret_batch, &more, err);
	ck_assert_int_eq(more, rc == LANCET_OK);
	lancet_scan_free(scan);
	return rc;
}

START_TEST(columns_are_found_by_the_lists_of_the_manifest)
{
	struct tree tree = make_dataset(listings[_i].files, listings[_i].count, listings[_i].rows);
	lancet_dataset *dataset = open_dataset(&tree);
	lancet_version *version = NULL;
	struct lancet_error err = { 0 };
	struct ArrowArray batch;
	int rc;

	ck_assert_int_eq(lancet_version_open(dataset, 1, &version, NULL), LANCET_OK);
	rc = scan_once(version, &batch, &err);
	ck_assert_msg(rc == listings[_i].code, "%s: %d: %s", listings[_i].label, rc, err.text);
	if (rc == LANCET_OK) {
		check_first(batch.children[0], listings[_i].first_a);
		check_first(batch.children[1], listings[_i].first_b);
		batch.release(&batch);
	} else {
		ck_assert_ptr_nonnull(strstr(err.text, "fragment 0"));
	}
	if (listings[_i].text != NULL)
		ck_assert_str_eq(err.text, listings[_i].text);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

struct told {
	struct lancet_column_info infos[8];
	char text[8][64];
	size_t count;
};

static int
note(void *user, const struct lancet_column_info *info)
{
	struct told *told = user;

	snprintf(told->text[told->count], sizeof(told->text[0]), "%d %d %s %s %s %s %d",
		(int)info->field, (int)info->column, info->name, info->type, info->file_version,
		info->encodings, (int)info->pages);
	told->infos[told->count++] = *info;
	return told->count == 3 ? 77 : LANCET_OK;
}

START_TEST(columns_are_described_for_people)
{
	static const struct file_lists files[] = {
		{ "x.lance", 2, 2, { 0, -2 }, { 0, 0 }, 2, 2 },
		{ "y.lance", 4, 4, { 1, -3, -9, 77 }, { 0, 0, -1, 0 }, 2, 0 },
	};
	struct tree tree = make_dataset(files, 2, 5);
	lancet_dataset *dataset = open_dataset(&tree);
	lancet_version *version = NULL;
	lancet_fragment *fragment = NULL;
	struct lancet_error err = { 0 };
	struct told told = { .count = 0 };

	ck_assert_int_eq(lancet_version_open(dataset, 1, &version, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_fragment_open(version, 0, &fragment, NULL), LANCET_OK);
	ck_assert_msg(lancet_fragment_columns(fragment, note, &told, &err) == 77, "%s", err.text);
	ck_assert_uint_eq(told.count, 3);
	ck_assert_str_eq(told.text[0], "0 0 a uint64 2.2 mini_block(flat 64) 1");
	ck_assert_str_eq(told.text[1], "-2 0 - - 2.2 mini_block(flat 64) 1");
	ck_assert_uint_eq(told.infos[0].bytes, 4 + 8 + 40);
	told.count = 3; /* no end from the callback any more */
	ck_assert_int_eq(lancet_fragment_columns(fragment, note, &told, &err), LANCET_OK);
	ck_assert_uint_eq(told.count, 8);
	ck_assert_str_eq(told.text[5], "1 0 b uint64 2.0 flat 64 1");
	ck_assert_str_eq(told.text[6], "-3 0 _rowid uint64 2.0 flat 64 1");
	ck_assert_str_eq(told.text[7], "77 0 - - 2.0 flat 64 1");
	lancet_fragment_unref(fragment);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

UNIT_MAIN("fragment_data", UNIT_LOOP(columns_are_found_by_the_lists_of_the_manifest, listings),
	UNIT_TEST(columns_are_described_for_people))
