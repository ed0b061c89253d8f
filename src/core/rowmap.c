/* Opening row maps, and their labels and counts as they are stored; see rowmap.h. */
#include "rowmap.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lance/file.pb-c.h"
#include "rowmap_parts.h"
#include "util/bits.h"
#include "util/macros.h"

static const struct field label_field = {
	.kind = FIELD_FIXED,
	.id = FIELD_NO_ID,
	.name = { (const uint8_t *)"label", 5 },
	.logical_type = { (const uint8_t *)"uint16", 6 },
	.format = "S",
	.bits = 16,
	.nullable = true,
};

static int
check_field(const Lance__File__Field *stored, struct lancet_error *err)
{
	struct slice name = slice_of(stored->name.data, stored->name.len);
	struct slice type = slice_of(stored->logical_type.data, stored->logical_type.len);

	if (!slice_equal(name, label_field.name))
		return lancet_fail(
			err, LANCET_CORRUPT, "its column is %.*s, not label", FIELD_TEXT(name));
	if (!slice_equal(type, label_field.logical_type))
		return lancet_fail(err, LANCET_CORRUPT, "column label is of type %.*s, not uint16",
			FIELD_TEXT(type));
	if (!stored->nullable)
		return lancet_fail(err, LANCET_CORRUPT, "column label has no nulls");
	return LANCET_OK;
}

static int
check_file(
	struct datafile *file, const struct lancet_transition *transition, struct lancet_error *err)
{
	struct Lance__File__Field *const *fields;
	size_t count;
	uint64_t rows;

	if (datafile_version(file) == FILE_LEGACY)
		return lancet_fail(err, LANCET_CORRUPT, "a data file of version %s",
			file_version_name(FILE_LEGACY));
	TRY(datafile_fields(file, &fields, &count, err));
	if (count != 1)
		return lancet_fail(err, LANCET_CORRUPT, "%zu columns, one expected", count);
	TRY(check_field(fields[0], err));
	TRY(datafile_row_count(file, &rows, err));
	if (rows != transition->source_rows)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " rows, the transition's sources have %" PRIu64, rows,
			transition->source_rows);
	return column_check(file, 0, rows, err);
}

static int
make_bases(struct rowmap *map, const struct lancet_transition *transition, struct lancet_error *err)
{
	size_t count = transition->destination_count;

	map->bases = malloc((count + 1) * sizeof(*map->bases));
	if (map->bases == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu destinations", count);
	for (size_t i = 0; i < count; i++)
		map->bases[i] = transition->destinations[i].id << 32;
	map->bases[count] = LANCET_NO_ROW;
	return LANCET_OK;
}

static int
fill(struct rowmap *map, struct source *file, const struct lancet_transition *transition,
	struct lancet_error *err)
{
	if (file->size != transition->map_bytes)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " bytes, the transition says %" PRIu64, file->size,
			transition->map_bytes);
	TRY(datafile_open(file, &map->file, err));
	TRY(check_file(map->file, transition, err));
	TRY(rowmap_counts_init(&map->counts, map->file, transition, err));
	TRY(make_bases(map, transition, err));
	TRY(rowmap_marks_init(map, err));
	return column_pool_init(
		&map->labels, map->file, 0, &label_field, transition->source_rows, err);
}

int
rowmap_open(struct source *file, const struct lancet_transition *transition,
	struct rowmap **ret_map, struct lancet_error *err)
{
	struct rowmap *map = calloc(1, sizeof(*map));
	int rc;

	if (map == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "row map");
	rc = fill(map, file, transition, err);
	if (rc != LANCET_OK) {
		rowmap_free(map);
		return rc;
	}
	*ret_map = map;
	return LANCET_OK;
}

void
rowmap_free(struct rowmap *map)
{
	if (map == NULL)
		return;
	rowmap_marks_release(map);
	column_pool_release(&map->labels);
	rowmap_counts_release(&map->counts);
	datafile_unref(map->file);
	free(map->bases);
	free(map);
}

/* Puts `null` where the bitmap says so. */
static void
set_nulls(const uint8_t *validity, size_t count, uint16_t null, uint16_t *labels)
{
	for (size_t i = 0; i < count; i += 8) {
		size_t end = count - i < 8 ? count : i + 8;

		if (validity[i / 8] == 0xff)
			continue;
		for (size_t j = i; j < end; j++)
			labels[j] = bits_get(validity, j) ? labels[j] : null;
	}
}

/* Labels that are no destination, nulls included. */
static lancet_hot size_t
count_beyond(const uint16_t *labels, size_t count, uint32_t destinations)
{
	uint32_t beyond = 0;

	for (size_t i = 0; i < count; i++)
		beyond += labels[i] >= destinations;
	return beyond;
}

static int
fail_beyond(const struct rowmap *map, const struct array *values, uint64_t first,
	struct lancet_error *err)
{
	uint64_t at = 0;

	while (!array_is_valid(values, at) || array_unsigned(values, at) < map->counts.destinations)
		at++;
	return lancet_fail(err, LANCET_CORRUPT,
		"row %" PRIu64 ": label %" PRIu64 " of %" PRIu32 " destinations", first + at,
		array_unsigned(values, at), map->counts.destinations);
}

int
rowmap_decode(struct rowmap *map, struct column_reader *reader, uint64_t first, size_t count,
	uint16_t null, uint16_t *labels, struct lancet_error *err)
{
	const struct row_range range = { first, count };
	const struct array *values = &reader->values;

	assert(count > 0 && count <= ROWMAP_PIECE_ROWS && null >= map->counts.destinations);
	TRY(column_reader_read(reader, &range, 1, count, err));
	memcpy(labels, values->data.data, count * sizeof(*labels));
	if (values->null_count > 0)
		set_nulls(values->validity.data, count, null, labels);
	if (count_beyond(labels, count, map->counts.destinations) != values->null_count)
		return fail_beyond(map, values, first, err);
	return LANCET_OK;
}

static int
read_labels(struct rowmap *map, struct column_reader *reader, uint64_t first, size_t count,
	uint16_t *labels, struct lancet_error *err)
{
	while (count > 0) {
		size_t part = count < ROWMAP_PIECE_ROWS ? count : ROWMAP_PIECE_ROWS;

		TRY(rowmap_decode(map, reader, first, part, LANCET_NO_LABEL, labels, err));
		first += part;
		labels += part;
		count -= part;
	}
	return LANCET_OK;
}

int
rowmap_labels(struct rowmap *map, uint64_t first, size_t count, uint16_t *labels,
	struct lancet_error *err)
{
	struct column_reader *reader;
	int rc;

	assert(first <= map->counts.rows && count <= map->counts.rows - first);
	TRY(column_pool_take(&map->labels, &reader, err));
	rc = read_labels(map, reader, first, count, labels, err);
	column_pool_give(&map->labels, reader, rc);
	return rc;
}

uint32_t
rowmap_block_rows(const struct rowmap *map)
{
	return map->counts.block_rows;
}

uint64_t
rowmap_block_count(const struct rowmap *map)
{
	return map->counts.blocks;
}

int
rowmap_counts(struct rowmap *map, uint64_t first_block, size_t block_count, uint32_t *counts,
	struct lancet_error *err)
{
	return rowmap_counts_read(&map->counts, first_block, block_count, counts, err);
}

uint64_t
rowmap_decoded(const struct rowmap *map)
{
	return column_pool_decoded(&map->labels);
}
