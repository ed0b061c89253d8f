/* Row lineage as it is encoded: bytes that the reference wrote for the same rows, and what is read
 * back of all other forms. */
#include "unit.h"

#include <stdio.h>

#include "core/sequence.h"
#include "core/sequence_write.h"
#include "util/source.h"

#define IDS_MAX 4000

static void
expect_bytes(const struct buf *got, const char *hex)
{
	char text[512] = "";

	ck_assert_int_eq(got->failed, LANCET_OK);
	ck_assert_uint_lt(2 * got->size, sizeof(text));
	for (size_t i = 0; i < got->size; i++)
		snprintf(text + 2 * i, 3, "%02x", got->data[i]);
	ck_assert_str_eq(text, hex);
}

/* The encoded ids start, start + step, … without those in `left_out`. */
static size_t
fill(uint64_t *ids, uint64_t start, uint64_t end, uint64_t step, const uint64_t *left_out,
	size_t left_count)
{
	size_t count = 0;

	for (uint64_t id = start; id < end; id += step) {
		bool skip = false;

		for (size_t i = 0; i < left_count; i++)
			skip = skip || left_out[i] == id;
		if (!skip)
			ids[count++] = id;
	}
	return count;
}

static const struct {
	const char *label;
	uint64_t ids[12];
	size_t count;
	const char *hex;
} known[] = {
	{ "fresh", { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 }, 10, "0a040a02100a" },
	{ "a bitmap", { 2, 5, 8 }, 3, "0a091a07080210091a0149" },
	{ "one", { 1 }, 1, "0a060a0408011002" },
	{ "none", { 0 }, 0, "0a020a00" },
	{ "not in order", { 9, 8 }, 2, "0a0c2a0a0a080808120401000000" },
	{ "the last id of all", { UINT64_MAX }, 1,
		"0a132211"
		"0a0f08ffffffffffffffffff0112020000" },
};

START_TEST(forms_are_those_of_the_reference)
{
	struct buf bytes = { 0 };

	rowids_put(&bytes, known[_i].ids, known[_i].count);
	expect_bytes(&bytes, known[_i].hex);
	buf_release(&bytes);
}
END_TEST

/* 40 rows after ten were deleted and the fragment was compacted */
START_TEST(rows_that_are_left_of_a_range)
{
	static const uint64_t gone[] = { 1, 2, 5, 7, 8, 11, 13, 17, 19, 23 };
	struct buf bytes = { 0 };
	uint64_t ids[40];

	rowids_put(&bytes, ids, fill(ids, 0, 40, 1, gone, ARRAY_SIZE(gone)));
	expect_bytes(&bytes, "0a0b1a0910281a0559d675ffff");
	buf_release(&bytes);
}
END_TEST

START_TEST(ranges_follow_each_other)
{
	struct buf bytes = { 0 };

	rowids_put_range(&bytes, 1, 1);
	rowids_put_range(&bytes, 5, 1);
	expect_bytes(&bytes, "0a060a04080110020a060a0408051006");
	buf_release(&bytes);
}
END_TEST

static const struct {
	const char *label;
	uint64_t start, end, step;
	enum segment_kind kind;
} shapes[] = {
	{ "a range", 7, 2007, 1, SEGMENT_RANGE },
	{ "every second one", 100, 4100, 2, SEGMENT_BITMAP },
	{ "one in 100", 0, 100000, 100, SEGMENT_SORTED },
	{ "one in 70000", 5, 70000000, 70000, SEGMENT_SORTED },
	{ "far apart", 1, UINT64_C(1) << 62, UINT64_C(1) << 55, SEGMENT_SORTED },
};

static struct source *
source_of(const struct buf *bytes)
{
	struct source *src = source_memory_new(buf_slice(bytes), NULL);

	ck_assert_ptr_nonnull(src);
	return src;
}

static void
expect_ids(const char *label, const struct buf *bytes, const uint64_t *ids, size_t count)
{
	struct sequence *sequence = NULL;
	struct source *src = source_of(bytes);
	struct lancet_error err = { 0 };
	uint64_t got[IDS_MAX];

	ck_assert_msg(sequence_open(&rowids_ops, src, count, &sequence, &err) == LANCET_OK,
		"%s: %s", label, err.text);
	ck_assert_int_eq(sequence_read(sequence, 0, count, got, &err), LANCET_OK);
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(got[i] == ids[i], "%s: row %zu", label, i);
	sequence_free(sequence);
	source_unref(src);
}

static enum segment_kind
kind_of(const struct buf *bytes)
{
	return (enum segment_kind)(bytes->data[bytes->data[1] < 0x80 ? 2 : 3] >> 3);
}

START_TEST(ids_are_read_back)
{
	uint64_t ids[IDS_MAX];
	size_t count = fill(ids, shapes[_i].start, shapes[_i].end, shapes[_i].step, NULL, 0);
	struct buf bytes = { 0 };

	rowids_put(&bytes, ids, count);
	expect_ids(shapes[_i].label, &bytes, ids, count);
	if (bytes.size < 16384)
		ck_assert_msg(kind_of(&bytes) == shapes[_i].kind, "%s: %d", shapes[_i].label,
			(int)kind_of(&bytes));
	/* and when they don't ascend */
	bytes.size = 0;
	ids[0] = ids[count - 1] + 1;
	rowids_put(&bytes, ids, count);
	ck_assert_int_eq(bytes.data[bytes.data[1] < 0x80 ? 2 : 3] >> 3, SEGMENT_ARRAY);
	expect_ids(shapes[_i].label, &bytes, ids, count);
	buf_release(&bytes);
}
END_TEST

/* Few holes cost less than a bit for every id, as long as they are few. */
START_TEST(holes_are_listed_while_they_are_few)
{
	static const uint64_t gone[] = { 3, 500, 700, 1999 };
	uint64_t ids[IDS_MAX];
	size_t count = fill(ids, 0, 2001, 1, gone, ARRAY_SIZE(gone));
	struct buf bytes = { 0 };

	rowids_put(&bytes, ids, count);
	ck_assert_int_eq(kind_of(&bytes), SEGMENT_HOLES);
	expect_ids("holes", &bytes, ids, count);
	buf_release(&bytes);
}
END_TEST

START_TEST(equal_versions_are_one_run)
{
	struct version_runs runs = { 0 };
	struct sequence *sequence = NULL;
	struct source *src;
	uint64_t got[9];

	version_runs_put(&runs, 4, 1);
	version_runs_put(&runs, 6, 1);
	version_runs_end(&runs);
	expect_bytes(&runs.bytes, "0a080a040a02100a1001");
	version_runs_release(&runs);

	runs = (struct version_runs){ 0 };
	version_runs_put(&runs, 2, 7);
	version_runs_put(&runs, 0, 8);
	version_runs_put(&runs, 3, 7);
	version_runs_put(&runs, 4, UINT64_MAX);
	version_runs_end(&runs);
	src = source_of(&runs.bytes);
	ck_assert_int_eq(sequence_open(&row_versions_ops, src, 9, &sequence, NULL), LANCET_OK);
	ck_assert_int_eq(sequence_read(sequence, 0, 9, got, NULL), LANCET_OK);
	for (size_t i = 0; i < 9; i++)
		ck_assert_uint_eq(got[i], i < 5 ? 7 : UINT64_MAX);
	sequence_free(sequence);
	source_unref(src);
	version_runs_release(&runs);
}
END_TEST

UNIT_MAIN("sequence_write", UNIT_LOOP(forms_are_those_of_the_reference, known),
	UNIT_TEST(rows_that_are_left_of_a_range), UNIT_TEST(ranges_follow_each_other),
	UNIT_LOOP(ids_are_read_back, shapes), UNIT_TEST(holes_are_listed_while_they_are_few),
	UNIT_TEST(equal_versions_are_one_run))
