/* Row maps on their way to storage; see rowmap_write.h.
 *
 *     "LSPC" | u32 version | u32 representation | u32 destinations | u32 rows of a block |
 *     u64 rows | u32 cells, block by block
 */
#include "rowmap_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "change.h"
#include "file/file_writer.h"
#include "lance/file.pb-c.h"
#include "rowmap.h"
#include "util/macros.h"

#define INDEX_KEY      "lance:stable_partition:counts_buffer_index"
#define BLOCK_ROWS     65536u
#define BLOCK_ROWS_MAX (UINT32_C(1) << 31)
#define CELLS_MAX      (UINT64_C(4) << 20) /* bytes, where blocks can be larger instead */
#define LABELS_AT_ONCE 65536u

struct map_writing {
	const struct rowmap_labels *labels;
	struct store_writer *into;
	uint64_t size;
	uint32_t block_rows;
	uint32_t *counters; /* by destination */
	struct buf counts;
	uint16_t *read; /* LABELS_AT_ONCE */
};

void
rowmap_key(const char *map_id, char into[ROWMAP_KEY_SIZE])
{
	(void)snprintf(into, ROWMAP_KEY_SIZE, "_fri/%.36s/stable_partition.lance", map_id);
}

uint32_t
rowmap_choose_block(uint64_t rows, uint32_t destinations)
{
	uint32_t block = BLOCK_ROWS;

	while (block < BLOCK_ROWS_MAX && block < rows &&
		(rows / block + 1) * destinations * sizeof(uint32_t) > CELLS_MAX)
		block *= 2;
	return block;
}

static int
put_parts(void *context, const struct slice *parts, size_t count, struct lancet_error *err)
{
	struct map_writing *writing = context;

	TRY(store_writer_put_parts(writing->into, parts, count, err));
	for (size_t i = 0; i < count; i++)
		writing->size += parts[i].size;
	return LANCET_OK;
}

static void
put_u32(struct buf *into, uint32_t value)
{
	const uint8_t bytes[] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
		(uint8_t)(value >> 24) };

	buf_put(into, bytes, sizeof(bytes));
}

static void
put_header(struct map_writing *writing)
{
	struct buf *counts = &writing->counts;

	buf_put_text(counts, "LSPC");
	put_u32(counts, 1);
	put_u32(counts, 0);
	put_u32(counts, writing->labels->destinations);
	put_u32(counts, writing->block_rows);
	put_u32(counts, (uint32_t)writing->labels->rows);
	put_u32(counts, (uint32_t)(writing->labels->rows >> 32));
}

/* Counts the labels of rows from `first` on; what is full becomes a row of cells. */
static int
count_labels(struct map_writing *writing, uint64_t first, size_t count, struct lancet_error *err)
{
	const struct rowmap_labels *labels = writing->labels;

	for (size_t i = 0; i < count; i++) {
		uint16_t label = writing->read[i];

		if (label != LANCET_NO_LABEL && label >= labels->destinations)
			return lancet_fail(err, LANCET_CORRUPT,
				"row %" PRIu64 ": label %u of %" PRIu32 " destinations", first + i,
				(unsigned)label, labels->destinations);
		if (label != LANCET_NO_LABEL)
			writing->counters[label]++;
		if ((first + i + 1) % writing->block_rows != 0 && first + i + 1 != labels->rows)
			continue;
		for (uint32_t k = 0; k < labels->destinations; k++)
			put_u32(&writing->counts, writing->counters[k]);
	}
	return buf_check(&writing->counts, "counts", err);
}

/* Appends labels to the array: a deleted row is null, its slot zero. */
static int
append_labels(struct array *array, const uint16_t *labels, size_t count, struct lancet_error *err)
{
	uint8_t validity[LABELS_AT_ONCE / 8] = { 0 };
	bool nulls = false;
	uint8_t *place;

	TRY(array_extend_fixed(array, 16, count, &place, err));
	for (size_t i = 0; i < count; i++) {
		bool deleted = labels[i] == LANCET_NO_LABEL;
		uint16_t label = deleted ? 0 : labels[i];

		place[2 * i] = (uint8_t)label;
		place[2 * i + 1] = (uint8_t)(label >> 8);
		validity[i / 8] |= (uint8_t)(!deleted << i % 8);
		nulls |= deleted;
	}
	return nulls ? array_set_validity(array, count, validity, 0, err) : LANCET_OK;
}

static int
put_labels(struct map_writing *writing, struct file_writer *file, struct array *array,
	struct lancet_error *err)
{
	const struct rowmap_labels *labels = writing->labels;

	for (uint64_t first = 0; first < labels->rows; first += LABELS_AT_ONCE) {
		uint64_t left = labels->rows - first;
		size_t count = left < LABELS_AT_ONCE ? (size_t)left : LABELS_AT_ONCE;

		TRY(labels->read(labels->context, first, count, writing->read, err));
		TRY(count_labels(writing, first, count, err));
		array_reset(array);
		TRY(append_labels(array, writing->read, count, err));
		TRY(file_writer_put(file, 0, array, 0, count, err));
	}
	return LANCET_OK;
}

static int
put_file(struct map_writing *writing, struct file_writer *file, struct lancet_error *err)
{
	struct array_budget budget = { .limit = SIZE_MAX };
	struct file_written written;
	struct array array;
	uint32_t index;
	char text[16];
	int rc;

	put_header(writing);
	TRY(array_init(&array, &file_writer_tree(file)->roots[0], &budget, err));
	rc = put_labels(writing, file, &array, err);
	array_release(&array);
	TRY(rc);
	TRY(file_writer_buffer(file, buf_slice(&writing->counts), &index, err));
	(void)snprintf(text, sizeof(text), "%" PRIu32, index);
	TRY(file_writer_metadata(file, INDEX_KEY, text, err));
	return file_writer_finish(file, &written, err);
}

static int
open_writer(struct map_writing *writing, enum file_version version, struct file_writer **ret_file,
	struct lancet_error *err)
{
	static uint8_t name[] = "label", type[] = "uint16";
	Lance__File__Field field;
	Lance__File__Field *const fields[] = { &field };
	const struct file_writer_options options = {
		.version = version,
		.fields = fields,
		.field_count = 1,
	};

	lance__file__field__init(&field);
	field.name = (ProtobufCBinaryData){ sizeof(name) - 1, name };
	field.logical_type = (ProtobufCBinaryData){ sizeof(type) - 1, type };
	field.parent_id = -1;
	field.nullable = true;
	return file_writer_open(&options, (struct file_sink){ put_parts, writing }, ret_file, err);
}

static int
write_map(struct map_writing *writing, enum file_version version, struct lancet_error *err)
{
	struct file_writer *file;
	int rc;

	writing->counters = calloc(writing->labels->destinations, sizeof(*writing->counters));
	writing->read = calloc(LABELS_AT_ONCE, sizeof(*writing->read));
	if (writing->counters == NULL || writing->read == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "labels");
	TRY(open_writer(writing, version, &file, err));
	rc = put_file(writing, file, err);
	file_writer_free(file);
	return rc;
}

int
rowmap_write(struct lancet_change *change, const char *map_id, enum file_version version,
	const struct rowmap_labels *labels, uint64_t *ret_size, struct lancet_error *err)
{
	struct map_writing writing = { .labels = labels };
	char key[ROWMAP_KEY_SIZE];
	int rc;

	rowmap_key(map_id, key);
	writing.block_rows = rowmap_choose_block(labels->rows, labels->destinations);
	TRY(publish_open(&change->files, key, PUBLISH_NEW, &writing.into, err));
	rc = write_map(&writing, version, err);
	buf_release(&writing.counts);
	free(writing.counters);
	free(writing.read);
	*ret_size = writing.size;
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "row map");
}

static int
differs(const uint16_t *stored, const uint16_t *wanted, uint64_t first, struct lancet_error *err)
{
	size_t i = 0;

	while (stored[i] == wanted[i])
		i++;
	return lancet_fail(err, LANCET_CORRUPT,
		"row %" PRIu64 " has label %u instead of %u in the file that was written",
		first + i, (unsigned)stored[i], (unsigned)wanted[i]);
}

static int
compare(struct rowmap *map, const struct rowmap_labels *labels, uint16_t *stored, uint16_t *wanted,
	struct lancet_error *err)
{
	for (uint64_t first = 0; first < labels->rows; first += LABELS_AT_ONCE) {
		uint64_t left = labels->rows - first;
		size_t count = left < LABELS_AT_ONCE ? (size_t)left : LABELS_AT_ONCE;

		TRY(labels->read(labels->context, first, count, wanted, err));
		TRY(rowmap_labels(map, first, count, stored, err));
		if (memcmp(stored, wanted, count * sizeof(*stored)) != 0)
			return differs(stored, wanted, first, err);
	}
	return LANCET_OK;
}

/* The counts of each block are those of its labels, and the last ones those of the destinations. */
static int
compare_counts(struct rowmap *map, const struct rowmap_labels *labels, uint16_t *wanted,
	uint32_t *counters, uint32_t *stored, struct lancet_error *err)
{
	uint32_t block_rows = rowmap_block_rows(map);
	uint64_t row = 0;

	for (uint64_t block = 0; block < rowmap_block_count(map); block++) {
		uint64_t end = labels->rows - row < block_rows ? labels->rows : row + block_rows;

		while (row < end) {
			size_t count =
				end - row < LABELS_AT_ONCE ? (size_t)(end - row) : LABELS_AT_ONCE;

			TRY(labels->read(labels->context, row, count, wanted, err));
			for (size_t i = 0; i < count; i++)
				if (wanted[i] != LANCET_NO_LABEL)
					counters[wanted[i]]++;
			row += count;
		}
		TRY(rowmap_counts(map, block, 1, stored, err));
		if (memcmp(stored, counters, labels->destinations * sizeof(*stored)) != 0)
			return lancet_fail(err, LANCET_CORRUPT,
				"counts of block %" PRIu64 " are not those of its labels", block);
	}
	return LANCET_OK;
}

int
rowmap_prove(struct source *file, const struct lancet_transition *transition,
	const struct rowmap_labels *labels, struct lancet_error *err)
{
	lancet_autofree uint16_t *stored = calloc(LABELS_AT_ONCE, sizeof(*stored));
	lancet_autofree uint16_t *wanted = calloc(LABELS_AT_ONCE, sizeof(*wanted));
	lancet_autofree uint32_t *cells = calloc(2 * (size_t)labels->destinations, sizeof(*cells));
	struct rowmap *map;
	int rc;

	if (stored == NULL || wanted == NULL || cells == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "labels");
	rc = rowmap_open(file, transition, &map, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "the row map that was written");
	rc = compare(map, labels, stored, wanted, err);
	if (rc == LANCET_OK)
		rc = compare_counts(map, labels, wanted, cells, cells + labels->destinations, err);
	rowmap_free(map);
	return rc;
}
