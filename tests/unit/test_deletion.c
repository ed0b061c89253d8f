/* Deletion vectors: both file formats, what is refused, and the set as the rest of the library sees
 * it. */
#include "arrow_files.h"
#include "core/deletion.h"
#include "core/fragment.h"
#include "encode.h"
#include "sources.h"
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <lancet/column.h>

/* As from_hex, with ~ for four zero bytes. */
static struct buf
from_short_hex(const char *hex)
{
	struct buf b = { 0 };

	while (hex[0] != '\0') {
		if (hex[0] == '~') {
			buf_fill(&b, 0, 4);
			hex++;
		} else {
			const char pair[3] = { hex[0], hex[1], '\0' };

			buf_put_byte(&b, (uint8_t)strtoul(pair, NULL, 16));
			hex += 2;
		}
	}
	return b;
}

static int
parse_arrow(struct slice bytes, uint64_t rows, roaring_bitmap_t **ret_set, struct lancet_error *err)
{
	struct test_source *src = test_source_new(bytes, 0, NULL);
	int rc = deletion_arrow_parse(&src->base, rows, ret_set, err);

	source_unref(&src->base);
	return rc;
}

static const struct {
	const char *label, *hex;
	uint64_t rows;
	size_t count;
	uint32_t offsets[3];
} readable[] = {
	{ "plain", arrow_plain, 10, 3, { 1, 5, 9 } },
	{ "stored", arrow_stored, 10, 3, { 1, 5, 9 } },
	{ "zstd", arrow_zstd, 1000, 2, { 3, 8 } },
	{ "lz4", arrow_lz4, 1000, 2, { 3, 8 } },
	{ "empty", arrow_empty, 10, 0, { 0 } },
};

START_TEST(arrow_files_give_the_set_of_their_values)
{
	struct buf file = from_short_hex(readable[_i].hex);
	struct lancet_error err = { 0 };
	roaring_bitmap_t *set = NULL;

	ck_assert_msg(parse_arrow(buf_slice(&file), readable[_i].rows, &set, &err) == LANCET_OK,
		"%s: %s", readable[_i].label, err.text);
	ck_assert_uint_eq(roaring_bitmap_get_cardinality(set), readable[_i].count);
	for (size_t i = 0; i < readable[_i].count; i++)
		ck_assert(roaring_bitmap_contains(set, readable[_i].offsets[i]));
	roaring_bitmap_free(set);
	buf_release(&file);
}
END_TEST

static const struct {
	const char *label, *hex;
	uint64_t rows;
	const char *reason;
} refused[] = {
	{ "offset past the rows", arrow_plain, 9, "row offset 9 of 9 rows" },
	{ "packed offset past the rows", arrow_zstd, 8, "1000 deleted of 8 rows" },
	{ "more values than rows", arrow_lz4, 999, "1000 deleted of 999 rows" },
	{ "nullable column", arrow_nullable, 10, "nullable" },
	{ "nulls", arrow_nulls, 10, "nulls" },
	{ "signed column", arrow_signed_column, 10, "not uint32" },
	{ "wide column", arrow_wide_column, 10, "not uint32" },
	{ "other name", arrow_other_name, 10, "not row_id" },
	{ "metadata", arrow_annotated, 10, "metadata" },
	{ "two batches", arrow_two_batches, 10, "2 record batches" },
	{ "nothing", "", 10, "0 bytes" },
	{ "the other format", "3a3000000100000000000100100000000100040041525241", 10,
		"not an Arrow" },
};

START_TEST(arrow_files_of_another_shape_are_refused)
{
	struct buf file = from_short_hex(refused[_i].hex);
	struct lancet_error err = { 0 };
	roaring_bitmap_t *set = NULL;

	ck_assert_msg(parse_arrow(buf_slice(&file), refused[_i].rows, &set, &err) == LANCET_CORRUPT,
		"%s", refused[_i].label);
	ck_assert_msg(strstr(err.text, refused[_i].reason) != NULL, "%s: %s", refused[_i].label,
		err.text);
	buf_release(&file);
}
END_TEST

/* Any cut is refused. Any changed byte may change the values or be of no matter, but never what is
 * safe. */
START_TEST(arrow_files_may_be_cut_or_changed_anywhere)
{
	struct buf file = from_short_hex(readable[_i].hex);

	for (size_t size = 0; size < file.size; size++) {
		roaring_bitmap_t *set = NULL;

		if (parse_arrow(slice_of(file.data, size), readable[_i].rows, &set, NULL) !=
			LANCET_CORRUPT)
			ck_abort_msg("cut at %zu", size);
	}
	for (size_t i = 0; i < 8 * file.size; i++) {
		roaring_bitmap_t *set = NULL;
		int rc;

		file.data[i / 8] ^= (uint8_t)(1 << i % 8);
		rc = parse_arrow(buf_slice(&file), readable[_i].rows, &set, NULL);
		if (rc == LANCET_OK && !roaring_bitmap_is_empty(set))
			ck_assert_uint_lt(roaring_bitmap_maximum(set), readable[_i].rows);
		if (rc == LANCET_OK)
			roaring_bitmap_free(set);
		else
			ck_assert_int_eq(rc, LANCET_CORRUPT);
		file.data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	buf_release(&file);
}
END_TEST

/* 10,000 even offsets below 20,000, as the reference writes them: one bitset container. */
START_TEST(roaring_files_give_their_set)
{
	struct buf file = from_hex("3a3000000100000000000f2710000000");
	struct source *src;
	roaring_bitmap_t *set;

	buf_fill(&file, 0x55, 2500);
	buf_fill(&file, 0, 8192 - 2500);
	ck_assert_uint_eq(file.size, 8208);
	src = source_memory_new(buf_slice(&file), NULL);
	ck_assert_int_eq(deletion_bitmap_parse(src, 20000, 10000, &set, NULL), LANCET_OK);
	ck_assert_uint_eq(roaring_bitmap_get_cardinality(set), 10000);
	ck_assert(roaring_bitmap_contains(set, 19998) && !roaring_bitmap_contains(set, 19999));
	roaring_bitmap_free(set);
	ck_assert_int_eq(deletion_bitmap_parse(src, 19998, 10000, &set, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(deletion_bitmap_parse(src, 20000, 100, &set, NULL), LANCET_CORRUPT);
	source_unref(src);
	buf_release(&file);
}
END_TEST

/* A set of random runs and single offsets in [0, rows), as an overlay's coverage. */
static roaring_bitmap_t *
random_set(uint64_t *random, uint32_t rows, uint8_t *expected)
{
	roaring_bitmap_t *set = roaring_bitmap_create();

	for (int i = 0; i < 400; i++) {
		uint32_t first = (uint32_t)(next_random(random) % rows);
		uint32_t count = i % 5 == 0 ? (uint32_t)(next_random(random) % 3000) : 1;

		for (uint32_t j = first; j < rows && j - first < count; j++) {
			expected[j] = 1;
			roaring_bitmap_add(set, j);
		}
	}
	return set;
}

static void
check_set(const lancet_deletion *set, const uint8_t *expected, uint32_t rows, uint64_t *random)
{
	uint32_t *offsets = calloc(rows + 1, sizeof(*offsets));
	uint32_t *got = calloc(rows + 1, sizeof(*got));
	uint8_t *marks = calloc(rows, 1);
	size_t count = 0;

	for (uint32_t i = 0; i < rows; i++) {
		if (expected[i])
			offsets[count++] = i;
	}
	ck_assert_uint_eq(lancet_deletion_count(set), count);
	for (int i = 0; i < 300; i++) {
		uint64_t first = i == 0 ? 0 : next_random(random) % (count + 1);
		size_t more = i == 0 ? count : next_random(random) % (count - first + 1);

		ck_assert_int_eq(lancet_deletion_select(set, first, more, got, NULL), LANCET_OK);
		ck_assert(more == 0 || memcmp(got, offsets + first, more * sizeof(*got)) == 0);
		first = i == 0 ? 0 : next_random(random) % rows;
		more = i == 0 ? rows : next_random(random) % (rows - first + 1);
		lancet_deletion_marks(set, first, more, marks);
		ck_assert(more == 0 || memcmp(marks, expected + first, more) == 0);
	}
	ck_assert_int_eq(lancet_deletion_select(set, count, 1, got, NULL), LANCET_INVALID);
	ck_assert_int_eq(lancet_deletion_select(set, 1, count, got, NULL), LANCET_INVALID);
	free(offsets);
	free(got);
	free(marks);
}

START_TEST(sets_select_and_mark_like_a_plain_array)
{
	const uint32_t rows = 300000;
	uint8_t *expected = calloc(rows, 1);
	uint64_t random = 77;
	roaring_bitmap_t *made = random_set(&random, rows, expected);
	size_t size = roaring_bitmap_portable_size_in_bytes(made);
	char *bytes = malloc(size);
	struct lancet_bytes coverage = { (const uint8_t *)bytes, size };
	struct lancet_overlay overlay = { .coverage = &coverage, .coverage_count = 1 };
	struct lancet_fragment fragment = {
		.info = { .id = 4,
			.physical_rows = rows,
			.overlays = &overlay,
			.overlay_count = 1 },
	};
	struct lancet_error err = { 0 };
	lancet_deletion *set;

	roaring_bitmap_portable_serialize(made, bytes);
	ck_assert_int_eq(lancet_coverage_open(&fragment, 0, 0, &set, NULL), LANCET_OK);
	check_set(set, expected, rows, &random);
	lancet_deletion_unref(set);
	ck_assert_int_eq(lancet_coverage_open(&fragment, 0, 1, &set, NULL), LANCET_INVALID);
	ck_assert_int_eq(lancet_coverage_open(&fragment, 1, 0, &set, NULL), LANCET_INVALID);
	fragment.info.physical_rows = roaring_bitmap_maximum(made);
	ck_assert_int_eq(lancet_coverage_open(&fragment, 0, 0, &set, &err), LANCET_CORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, "fragment 4: overlay 0: bitmap 0: "));
	roaring_bitmap_free(made);
	free(bytes);
	free(expected);
}
END_TEST

/* Offsets {1, 4} of an overlay, as the reference stored them. */
START_TEST(coverage_reads_as_the_reference_wrote_it)
{
	struct buf hex = from_hex("3a30000001000000000001001000000001000400");
	struct lancet_bytes coverage = { hex.data, hex.size };
	struct lancet_overlay overlay = { .coverage = &coverage, .coverage_count = 1 };
	struct lancet_fragment fragment = {
		.info = { .physical_rows = 5, .overlays = &overlay, .overlay_count = 1 },
	};
	uint32_t offsets[2];
	lancet_deletion *set;

	ck_assert_int_eq(lancet_coverage_open(&fragment, 0, 0, &set, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_deletion_select(set, 0, 2, offsets, NULL), LANCET_OK);
	ck_assert(offsets[0] == 1 && offsets[1] == 4);
	lancet_deletion_unref(set);
	buf_release(&hex);
}
END_TEST

/* What the reference says is deleted in version 6 of the sample. */
static const struct {
	uint64_t fragment;
	size_t count;
	uint32_t offsets[11];
} sample[] = {
	{ 0, 11, { 0, 3, 10, 11, 17, 19, 24, 31, 38, 45, 46 } },
	{ 1, 6, { 4, 9, 11, 17, 18, 25 } },
	{ 2, 2, { 3, 7 } },
	{ 3, 0, { 0 } },
};

static lancet_fragment *
open_sample(uint64_t id)
{
	lancet_dataset *dataset;
	lancet_version *version;
	lancet_fragment *fragment;
	uint64_t ordinal;

	ck_assert_int_eq(
		lancet_dataset_open(UNIT_DATA_DIR "/sample.lance", NULL, &dataset, NULL), 0);
	ck_assert_int_eq(lancet_version_open(dataset, 6, &version, NULL), 0);
	ck_assert_int_eq(lancet_version_find_fragment(version, id, &ordinal, NULL), 0);
	ck_assert_int_eq(lancet_fragment_open(version, ordinal, &fragment, NULL), 0);
	lancet_version_unref(version);
	lancet_dataset_unref(dataset);
	return fragment;
}

START_TEST(fragments_give_the_rows_the_reference_deleted)
{
	lancet_fragment *fragment = open_sample(sample[_i].fragment);
	uint32_t offsets[11];
	lancet_deletion *set;

	ck_assert_int_eq(lancet_deletion_open(fragment, &set, NULL), LANCET_OK);
	ck_assert_uint_eq(lancet_deletion_count(set), sample[_i].count);
	ck_assert_int_eq(
		lancet_deletion_select(set, 0, sample[_i].count, offsets, NULL), LANCET_OK);
	ck_assert(sample[_i].count == 0 ||
		  memcmp(offsets, sample[_i].offsets, sample[_i].count * sizeof(*offsets)) == 0);
	lancet_deletion_unref(set);
	lancet_fragment_unref(fragment);
}
END_TEST

START_TEST(deletion_files_are_held_to_what_the_manifest_says)
{
	lancet_fragment *fragment = open_sample(0);
	struct lancet_error err = { 0 };
	lancet_deletion *set;
	uint64_t rows;

	ck_assert_int_eq(fragment_deleted_rows(fragment, &rows, NULL), LANCET_OK);
	ck_assert_uint_eq(rows, 11);
	fragment->info.deletion.deleted_rows = 12;
	ck_assert_int_eq(lancet_deletion_open(fragment, &set, &err), LANCET_CORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, "_deletions/0-"));
	ck_assert_ptr_nonnull(strstr(err.text, ": 11 deleted rows, the manifest records 12"));
	fragment->info.deletion.deleted_rows = 0; /* not recorded */
	ck_assert_int_eq(lancet_deletion_open(fragment, &set, NULL), LANCET_OK);
	lancet_deletion_unref(set);
	fragment->info.deletion.is_bitmap = true; /* another name: no such file */
	ck_assert_int_eq(lancet_deletion_open(fragment, &set, &err), LANCET_IO);
	ck_assert_int_eq(lancet_error_errno(&err), EIO);
	lancet_fragment_unref(fragment);
}
END_TEST

UNIT_MAIN("deletion", UNIT_LOOP(arrow_files_give_the_set_of_their_values, readable),
	UNIT_LOOP(arrow_files_of_another_shape_are_refused, refused),
	UNIT_LOOP(arrow_files_may_be_cut_or_changed_anywhere, readable),
	UNIT_TEST(roaring_files_give_their_set), UNIT_TEST(sets_select_and_mark_like_a_plain_array),
	UNIT_TEST(coverage_reads_as_the_reference_wrote_it),
	UNIT_LOOP(fragments_give_the_rows_the_reference_deleted, sample),
	UNIT_TEST(deletion_files_are_held_to_what_the_manifest_says))
