/* What reading row maps costs: bytes read, labels decoded, memory. */
#include "core/rowmap.h"
#include "rowmapread.h"
#include "sources.h"
#include "unit.h"

#include <inttypes.h>

/* ---- what is read ----------------------------------------------------------------------- */

static const struct map_spec usual = { .rows = 300000, .block_rows = 65536, .destinations = 4 };

START_TEST(opening_reads_no_label)
{
	struct map_made *made = map_make(&usual);
	struct test_source *src = test_source_new(buf_slice(&made->bytes), 0, NULL);
	struct rowmap *map = NULL;
	uint32_t counts[4];

	ck_assert_int_eq(rowmap_open(&src->base, &made->transition, &map, NULL), LANCET_OK);
	ck_assert_int_eq(rowmap_counts(map, 4, 1, counts, NULL), LANCET_OK);
	ck_assert_uint_eq(counts[3], made->destinations[3].physical_rows);
	ck_assert_uint_eq(rowmap_decoded(map), 0);
	ck_assert_msg(src->read_bytes < 8192, "%" PRIu64 " bytes", src->read_bytes);
	rowmap_free(map);
	source_unref(&src->base);
	map_free(made);
}
END_TEST

/* One after the other: each block once as a whole, and for each request what lies between a mark
 * and its first row. */
START_TEST(small_reads_decode_little_more_than_their_rows)
{
	struct map_made *made = map_make(&usual);
	struct rowmap *map = open_made(made);
	uint64_t decoded;

	check_range(map, 70000, 70001, 1, made->row_addrs);
	ck_assert_uint_eq(rowmap_decoded(map), 65536);
	check_range(map, 65536 + 1024 * 9 + 5, 65536 + 1024 * 9 + 6, 1, made->row_addrs);
	ck_assert_uint_eq(rowmap_decoded(map), 65536 + 6);
	for (uint64_t row = 0; row + REQUEST_ROWS < usual.rows; row += REQUEST_ROWS)
		check_range(map, row, row + REQUEST_ROWS, 1, made->row_addrs);
	decoded = rowmap_decoded(map);
	ck_assert_msg(decoded < 3 * usual.rows, "%" PRIu64 " decoded", decoded);
	check_range(map, 65535, 65537, 1, made->row_addrs); /* the end of a block, a beginning */
	ck_assert_uint_eq(rowmap_decoded(map) - decoded, 1024 + 1);
	rowmap_free(map);
	map_free(made);
}
END_TEST

START_TEST(labels_are_decoded_where_they_are_asked_for)
{
	struct map_made *made = map_make(&usual);
	struct rowmap *map = open_made(made);
	static uint16_t labels[100000];

	ck_assert_int_eq(rowmap_labels(map, 123456, 100000, labels, NULL), LANCET_OK);
	ck_assert_mem_eq(labels, made->labels + 123456, sizeof(labels));
	ck_assert_uint_eq(rowmap_decoded(map), 100000);
	ck_assert_int_eq(rowmap_labels(map, 300000, 0, labels, NULL), LANCET_OK);
	rowmap_free(map);
	map_free(made);
}
END_TEST

START_TEST(short_blocks_are_read_together)
{
	const struct map_spec spec = { .rows = 100000, .block_rows = 7, .destinations = 3 };
	struct map_made *made = map_make(&spec);
	struct test_source *src = test_source_new(buf_slice(&made->bytes), 0, NULL);
	struct rowmap *map = NULL;
	uint64_t before;

	ck_assert_int_eq(rowmap_open(&src->base, &made->transition, &map, NULL), LANCET_OK);
	before = src->reads;
	check_range(map, 0, spec.rows, 1, made->row_addrs);
	check_range(map, 5, spec.rows, 300, made->row_addrs);
	ck_assert_msg(src->reads - before < 100, "%" PRIu64 " reads", src->reads - before);
	rowmap_free(map);
	source_unref(&src->base);
	map_free(made);
}
END_TEST

/* ---- memory ----------------------------------------------------------------------------- */

/* Counts of 65,535 destinations at every 1,024 rows would be 33 MB; at every 8,192 they are 4. */
START_TEST(marks_are_fewer_where_they_are_long)
{
	const struct map_spec spec = { .rows = 131072, .block_rows = 65536, .destinations = 65535 };
	struct map_made *made = map_make(&spec);
	struct rowmap *map = open_made(made);

	check_range(map, 0, 1, 1, made->row_addrs);
	ck_assert_uint_eq(rowmap_decoded(map), 65536);
	check_range(map, 3 * 8192 - 1, 3 * 8192, 1, made->row_addrs);
	ck_assert_uint_eq(rowmap_decoded(map), 65536 + 8192);
	rowmap_free(map);
	map_free(made);
}
END_TEST

static const struct {
	struct map_spec spec;
	bool kept;
} matrices[] = {
	{ { .rows = 20000, .block_rows = 16, .destinations = 800 }, true },
	{ { .rows = 20000, .block_rows = 16, .destinations = 1000 }, false },
};

START_TEST(up_to_4_mib_of_counts_are_kept)
{
	const struct map_spec *spec = &matrices[_i].spec;
	struct map_made *made = map_make(spec);
	struct test_source *src = test_source_new(buf_slice(&made->bytes), 0, NULL);
	struct rowmap *map = NULL;
	uint32_t counts[1000];
	uint64_t before;

	ck_assert_int_eq(rowmap_open(&src->base, &made->transition, &map, NULL), LANCET_OK);
	before = src->read_bytes;
	ck_assert_int_eq(rowmap_counts(map, 1249, 1, counts, NULL), LANCET_OK);
	for (uint32_t i = 0; i < spec->destinations; i++)
		ck_assert_uint_eq(counts[i], made->destinations[i].physical_rows);
	ck_assert_uint_eq(src->read_bytes - before,
		matrices[_i].kept ? 0 : spec->destinations * sizeof(*counts));
	rowmap_free(map);
	source_unref(&src->base);
	map_free(made);
}
END_TEST

/* A header, nothing for a long while, and the rest of a file. */
struct gap_source {
	struct source base;
	struct slice head, tail;
	uint64_t gap, read_bytes;
};

static int
gap_read_at(struct source *src, uint64_t offset, size_t size, void *into, struct lancet_error *err)
{
	struct gap_source *file = (struct gap_source *)src;
	uint8_t *to = into;

	(void)err;
	file->read_bytes += size;
	for (size_t i = 0; i < size; i++, offset++) {
		to[i] = 0;
		if (offset < file->head.size)
			to[i] = file->head.data[offset];
		if (offset >= file->gap)
			to[i] = file->tail.data[offset - file->gap];
	}
	return LANCET_OK;
}

static void
gap_release(struct source *src)
{
	(void)src;
}

static const struct source_ops gap_ops = { gap_read_at, gap_release };

START_TEST(more_than_4_gib_of_counts_are_too_many)
{
	const uint64_t rows = (1u << 26) + 1, size = rows * 16 * 4;
	const struct map_spec spec = {
		.rows = rows, .block_rows = 1, .destinations = 16, .gap = 28 + size
	};
	struct map_made *made = map_make(&spec);
	struct gap_source file = {
		.head = buf_slice(&made->counts), .tail = buf_slice(&made->bytes), .gap = spec.gap
	};
	struct rowmap *map = NULL;
	struct lancet_error err = { 0 };

	source_init(&file.base, &gap_ops, spec.gap + made->bytes.size);
	ck_assert_int_eq(rowmap_open(&file.base, &made->transition, &map, &err), LANCET_LIMIT);
	ck_assert_str_eq(err.text, "counts: 4294967360 bytes");
	ck_assert_msg(file.read_bytes < 8192, "%" PRIu64 " bytes", file.read_bytes);
	map_free(made);
}
END_TEST

UNIT_MAIN("rowmap_cost", UNIT_TEST(opening_reads_no_label),
	UNIT_TEST(small_reads_decode_little_more_than_their_rows),
	UNIT_TEST(labels_are_decoded_where_they_are_asked_for),
	UNIT_TEST(short_blocks_are_read_together), UNIT_TEST(marks_are_fewer_where_they_are_long),
	UNIT_LOOP(up_to_4_mib_of_counts_are_kept, matrices),
	UNIT_TEST(more_than_4_gib_of_counts_are_too_many))
