/* Row maps: where rows went, and maps that are none. */
#include "core/rowmap.h"
#include "realmaps.h"
#include "rowmapread.h"
#include "unit.h"

#include <inttypes.h>
#include <pthread.h>

#define THREADS 4

/* ---- maps of the reference -------------------------------------------------------------- */

static struct lancet_transition
real_transition(const struct real_map *real, size_t bytes)
{
	struct lancet_transition transition = {
		.mapping = LANCET_STABLE_PARTITION,
		.sources = real->source,
		.source_count = real->sources,
		.destinations = real->destination,
		.destination_count = real->destinations,
		.map_bytes = bytes,
	};

	for (size_t i = 0; i < real->sources; i++)
		transition.source_rows += real->source[i].physical_rows;
	for (size_t i = 0; i < real->destinations; i++)
		transition.live_rows += real->destination[i].physical_rows;
	return transition;
}

/* By the definition: earlier rows with the same label. */
static void
address_rows(const struct real_map *real, size_t rows, uint64_t *row_addrs)
{
	uint64_t next[3];

	for (size_t i = 0; i < real->destinations; i++)
		next[i] = real->destination[i].id << 32;
	for (size_t i = 0; i < rows; i++) {
		char label = real->labels[i];

		row_addrs[i] = label == '-' ? LANCET_NO_ROW : next[label - '0']++;
	}
}

static void
check_stored(const struct real_map *real, struct rowmap *map, size_t rows)
{
	uint64_t blocks = rowmap_block_count(map);
	lancet_autofree uint32_t *counts = calloc(blocks * 3, sizeof(*counts));
	uint16_t labels[512];
	struct buf shown = { 0 };

	ck_assert_uint_eq(rowmap_block_rows(map), real->block_rows);
	ck_assert_uint_eq(blocks, (rows + real->block_rows - 1) / real->block_rows);
	ck_assert_int_eq(rowmap_labels(map, 0, rows, labels, NULL), LANCET_OK);
	for (size_t i = 0; i < rows; i++)
		ck_assert_uint_eq(labels[i], real->labels[i] == '-'
						     ? LANCET_NO_LABEL
						     : (unsigned)(real->labels[i] - '0'));
	ck_assert_int_eq(rowmap_labels(map, rows / 2, 3, labels, NULL), LANCET_OK);
	ck_assert_uint_eq(labels[1] == LANCET_NO_LABEL, real->labels[rows / 2 + 1] == '-');
	ck_assert_int_eq(rowmap_counts(map, 0, blocks, counts, NULL), LANCET_OK);
	for (size_t i = 0; i < real->destinations; i++)
		buf_printf(&shown, "%s0", i > 0 ? " " : "");
	for (size_t i = 0; i < (blocks - 1) * real->destinations; i++)
		buf_printf(&shown, " %" PRIu32, counts[i]);
	buf_put_byte(&shown, '\0');
	ck_assert_str_eq((const char *)shown.data, real->counters);
	buf_release(&shown);
}

START_TEST(maps_of_the_reference_say_what_it_says)
{
	const struct real_map *real = &real_maps[_i];
	size_t rows = strlen(real->labels);
	struct buf bytes = from_hex(real->hex);
	struct lancet_transition transition = real_transition(real, bytes.size);
	struct rowmap *map = NULL;
	struct lancet_error err = { 0 };
	uint64_t wanted[512] = { 0 };

	address_rows(real, rows, wanted);
	ck_assert_msg(open_bytes_as(buf_slice(&bytes), &transition, &map, &err) == LANCET_OK, "%s",
		err.text);
	check_range(map, 0, rows, 1, wanted);
	for (uint64_t row = 0; row < rows; row++)
		check_range(map, row, row + 1, 1, wanted);
	check_stored(real, map, rows);
	rowmap_free(map);
	buf_release(&bytes);
}
END_TEST

/* ---- rows by any choice ----------------------------------------------------------------- */

static const struct map_spec shapes[] = {
	{ .rows = 0, .block_rows = 65536, .destinations = 2 },
	{ .rows = 1, .block_rows = 1, .destinations = 1 },
	{ .rows = 1000, .block_rows = 64, .destinations = 3 },
	{ .rows = 5000, .block_rows = 1, .destinations = 5 },
	{ .rows = 100000, .block_rows = 7, .destinations = 3 },
	{ .rows = 150000, .block_rows = 1024, .destinations = 9 },
	{ .rows = 200000, .block_rows = 65536, .destinations = 16 },
	{ .rows = 200000, .block_rows = 4000000000, .destinations = 4 }, /* one block */
	{ .rows = 250000, .block_rows = 100000, .destinations = 5 },
	{ .rows = 131072, .block_rows = 65536, .destinations = 65535 }, /* too many for marks */
	{ .rows = 20000, .block_rows = 16, .destinations = 1000 }, /* counts of 5 MB: not kept */
};

static void
check_random(struct rowmap *map, const struct map_spec *spec, const uint64_t *wanted)
{
	uint64_t state = 7 + spec->rows, rows[300];

	for (unsigned i = 0; i < 20; i++) {
		uint64_t row = 0;
		size_t count = 0;

		while (count < ARRAY_SIZE(rows) && row < spec->rows) {
			rows[count++] = row;
			row += next_random(&state) % (i % 2 == 0 ? 40 : 1 + spec->rows / 100);
		}
		check_rows(map, rows, count, wanted);
	}
}

START_TEST(rows_are_found_by_any_choice)
{
	const struct map_spec *spec = &shapes[_i];
	struct map_made *made = map_make(spec);
	struct rowmap *map = open_made(made);

	check_random(map, spec, made->row_addrs);
	for (uint64_t step = 1; step < 100000; step *= 17)
		check_range(map, step / 2, spec->rows, step, made->row_addrs);
	for (uint64_t row = 0; row < spec->rows; row += REQUEST_ROWS) {
		uint64_t left = spec->rows - row;

		check_range(map, row, row + (left < REQUEST_ROWS ? left : REQUEST_ROWS), 1,
			made->row_addrs);
	}
	for (uint64_t row = spec->rows; row > spec->rows / 2; row -= 1 + spec->rows / 10)
		check_range(map, row - 1, row, 1, made->row_addrs);
	rowmap_free(map);
	map_free(made);
}
END_TEST

/* ---- threads ----------------------------------------------------------------------- */

struct shared {
	struct rowmap *map;
	const struct map_made *made;
};

static void *
locate_some(void *user)
{
	const struct shared *shared = user;
	uint64_t state = (uintptr_t)&state | 1;

	for (unsigned i = 0; i < 200; i++) {
		uint64_t first = next_random(&state) % 199000;
		uint64_t rows[1000], row_addrs[1000];

		for (uint64_t j = 0; j < 1000; j++)
			rows[j] = first + j;
		if (rowmap_locate(shared->map, rows, 1000, row_addrs, NULL) != LANCET_OK ||
			memcmp(row_addrs, shared->made->row_addrs + first, sizeof(row_addrs)) != 0)
			return user;
	}
	return NULL;
}

START_TEST(many_threads_read_one_map)
{
	const struct map_spec spec = { .rows = 200000, .block_rows = 50000, .destinations = 7 };
	struct map_made *made = map_make(&spec);
	struct shared shared = { open_made(made), made };
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, locate_some, &shared), 0);
	for (size_t i = 0; i < THREADS; i++) {
		void *failed = &shared;

		ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
		ck_assert_ptr_null(failed);
	}
	rowmap_free(shared.map);
	map_free(made);
}
END_TEST

/* ---- maps that are none ----------------------------------------------------------------- */

#define SHAPE .rows = 100, .block_rows = 40, .destinations = 3

static const struct {
	struct map_spec spec;
	int want;
	const char *text;
} broken[] = {
	{ { SHAPE, .name = "labels" }, LANCET_CORRUPT, "its column is labels, not label" },
	{ { SHAPE, .type = "int16" }, LANCET_CORRUPT, "column label is of type int16, not uint16" },
	{ { SHAPE, .not_null = true }, LANCET_CORRUPT, "column label has no nulls" },
	{ { SHAPE, .two_fields = true }, LANCET_CORRUPT, "2 columns, one expected" },
	{ { SHAPE, .stored_rows = 1 }, LANCET_CORRUPT,
		"101 rows, the transition's sources have 100" },
	{ { SHAPE, .column_rows = -1 }, LANCET_CORRUPT, "column 0: 99 values for 100 rows" },
	{ { SHAPE, .source_rows = 2 }, LANCET_CORRUPT,
		"100 rows, the transition's sources have 102" },
	{ { SHAPE, .map_bytes = 1 }, LANCET_CORRUPT, "619 bytes, the transition says 620" },
	{ { SHAPE, .index = "" }, LANCET_CORRUPT,
		"the schema has no lance:stable_partition:counts_buffer_index" },
	{ { SHAPE, .index = "1 " }, LANCET_CORRUPT,
		"lance:stable_partition:counts_buffer_index is \"1 \"" },
	{ { SHAPE, .index = "4294967296" }, LANCET_CORRUPT,
		"lance:stable_partition:counts_buffer_index is \"4294967296\"" },
	{ { SHAPE, .index = "2" }, LANCET_CORRUPT, "global buffer 2 of 2" },
	{ { SHAPE, .index = "0" }, LANCET_CORRUPT, "counts: magic is 1c0a4f0a" },
	{ { SHAPE, .counts_size = -40 }, LANCET_CORRUPT, "counts: 24 bytes, 28 needed" },
	{ { SHAPE, .counts_size = -1 }, LANCET_CORRUPT,
		"counts: 35 bytes for 3 blocks and 3 destinations" },
	{ { SHAPE, .counts_size = 4 }, LANCET_CORRUPT,
		"counts: 40 bytes for 3 blocks and 3 destinations" },
	{ { SHAPE, .patch_word = 1, .patch_value = 0 }, LANCET_CORRUPT,
		"counts: magic is 00000000" },
	{ { SHAPE, .patch_word = 2, .patch_value = 2 }, LANCET_UNSUPPORTED, "counts: version 2" },
	{ { SHAPE, .patch_word = 3, .patch_value = 1 }, LANCET_UNSUPPORTED,
		"counts: representation 1" },
	{ { SHAPE, .patch_word = 4, .patch_value = 0 }, LANCET_CORRUPT,
		"counts: 0 destinations, the transition has 3" },
	{ { SHAPE, .patch_word = 4, .patch_value = 4 }, LANCET_CORRUPT,
		"counts: 4 destinations, the transition has 3" },
	{ { SHAPE, .patch_word = 5, .patch_value = 0 }, LANCET_CORRUPT,
		"counts: blocks of no rows" },
	{ { SHAPE, .patch_word = 5, .patch_value = 60 }, LANCET_CORRUPT,
		"counts: 36 bytes for 2 blocks and 3 destinations" },
	{ { SHAPE, .patch_word = 6, .patch_value = 101 }, LANCET_CORRUPT,
		"counts: 101 rows, the transition's sources have 100" },
	{ { SHAPE, .patch_word = 7, .patch_value = 0x10000000 }, LANCET_CORRUPT,
		"counts: 1152921504606847076 rows, the transition's sources have 100" },
	{ { SHAPE, .patch_word = 11, .patch_value = 1 }, LANCET_CORRUPT,
		"counts: block 1: destination 0 falls from 26 to 1" },
	{ { SHAPE, .patch_word = 8, .patch_value = 32 }, LANCET_CORRUPT,
		"counts: block 0: 41 labels in 40 rows" },
	{ { SHAPE, .destination_rows = 1 }, LANCET_CORRUPT,
		"counts: 22 rows of destination 2, it has 23" },
	{ { .rows = 10, .block_rows = 10, .destinations = 65536 }, LANCET_CORRUPT,
		"counts: 65536 destinations, the transition has 65536" },
	{ { .rows = 0, .block_rows = 10, .destinations = 2, .destination_rows = 1 }, LANCET_CORRUPT,
		"counts: 0 rows of destination 1, it has 1" },
};

START_TEST(what_is_no_row_map_of_the_transition_is_refused)
{
	struct map_made *made = map_make(&broken[_i].spec);
	struct rowmap *map = NULL;
	struct lancet_error err = { 0 };

	ck_assert_int_eq(open_bytes_as(buf_slice(&made->bytes), &made->transition, &map, &err),
		broken[_i].want);
	ck_assert_str_eq(err.text, broken[_i].text);
	ck_assert_ptr_null(map);
	map_free(made);
}
END_TEST

START_TEST(a_map_that_is_cut_is_corrupt)
{
	const struct map_spec spec = { SHAPE };
	struct map_made *made = map_make(&spec);
	size_t size = made->bytes.size;

	for (size_t cut = 1; cut <= size; cut++) {
		struct rowmap *map = NULL;

		made->transition.map_bytes = size - cut;
		ck_assert_int_eq(open_bytes_as(slice_of(made->bytes.data, size - cut),
					 &made->transition, &map, NULL),
			LANCET_CORRUPT);
	}
	map_free(made);
}
END_TEST

START_TEST(a_data_file_of_the_legacy_format_is_no_map)
{
	struct buf bytes = make_legacy((const int32_t[]){ 0, 9 }, 2);
	const struct lancet_transition transition = { .map_bytes = bytes.size };
	struct rowmap *map = NULL;
	struct lancet_error err = { 0 };

	ck_assert_int_eq(open_bytes_as(buf_slice(&bytes), &transition, &map, &err), LANCET_CORRUPT);
	ck_assert_str_eq(err.text, "a data file of version 0.1");
	buf_release(&bytes);
}
END_TEST

/* ---- labels against counts -------------------------------------------------------------- */

/* The counts of the shape's blocks end elsewhere when one label is another one: rows of that block
 * can't be located, all others can. A label that is no destination fails to be read as well. */
static const struct {
	unsigned add;
	const char *located, *read; /* NULL: reads all the same */
} changes[] = {
	{ 1, "block 1: labels count 51 rows of destination 0 up to its end, its counts say 52",
		NULL },
	{ 3, "row 50: label 3 of 3 destinations", "row 50: label 3 of 3 destinations" },
	{ 65000, "row 50: label 65000 of 3 destinations", "row 50: label 65000 of 3 destinations" },
};

START_TEST(labels_that_contradict_the_counts_fail_their_block)
{
	const struct map_spec spec = { SHAPE, .label_row = 50, .label_add = changes[_i].add };
	struct map_made *made = map_make(&spec);
	struct rowmap *map = open_made(made);
	struct lancet_error err = { 0 };
	const uint64_t rows[] = { 3, 41, 99 };
	uint64_t row_addrs[3];
	uint16_t labels[100];
	int rc;

	ck_assert_uint_eq(made->labels[50], 0);
	check_range(map, 0, 40, 1, made->row_addrs);
	check_range(map, 80, 100, 1, made->row_addrs);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(rowmap_locate(map, rows, 3, row_addrs, &err), LANCET_CORRUPT);
		ck_assert_str_eq(err.text, changes[_i].located);
	}
	ck_assert_int_eq(rowmap_labels(map, 51, 49, labels, NULL), LANCET_OK);
	rc = rowmap_labels(map, 0, 100, labels, &err);
	ck_assert_int_eq(rc, changes[_i].read == NULL ? LANCET_OK : LANCET_CORRUPT);
	if (changes[_i].read != NULL)
		ck_assert_str_eq(err.text, changes[_i].read);
	rowmap_free(map);
	map_free(made);
}
END_TEST

/* A long block isn't answered from its sound beginning: what a row becomes must not depend on what
 * was asked before. */
START_TEST(a_block_is_checked_to_its_end_before_it_answers)
{
	const struct map_spec spec = { .rows = 300000,
		.block_rows = 150000,
		.destinations = 3,
		.label_row = 149999,
		.label_add = 1 };
	struct map_made *made = map_make(&spec);
	struct rowmap *map = open_made(made);
	const uint64_t row = 10;
	uint64_t row_addr;

	ck_assert_uint_lt(made->labels[149999], 2);
	ck_assert_int_eq(rowmap_locate(map, &row, 1, &row_addr, NULL), LANCET_CORRUPT);
	check_range(map, 150000, 300000, 1, made->row_addrs);
	rowmap_free(map);
	map_free(made);
}
END_TEST

UNIT_MAIN("rowmap", UNIT_LOOP(maps_of_the_reference_say_what_it_says, real_maps),
	UNIT_LOOP(rows_are_found_by_any_choice, shapes), UNIT_TEST(many_threads_read_one_map),
	UNIT_LOOP(what_is_no_row_map_of_the_transition_is_refused, broken),
	UNIT_TEST(a_map_that_is_cut_is_corrupt),
	UNIT_TEST(a_data_file_of_the_legacy_format_is_no_map),
	UNIT_LOOP(labels_that_contradict_the_counts_fail_their_block, changes),
	UNIT_TEST(a_block_is_checked_to_its_end_before_it_answers))
