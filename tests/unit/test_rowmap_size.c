/* Counts of a row map that are too many: gigabytes that are refused without being read. */
#include "core/rowmap.h"
#include "rowmapmade.h"
#include "unit.h"

#include <inttypes.h>

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

UNIT_MAIN("rowmap_size", UNIT_TEST(more_than_4_gib_of_counts_are_too_many))
