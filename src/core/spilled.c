/* Spilled columns, read in pieces by shared readers; see spilled.h. */
#include "spilled.h"

#include <inttypes.h>
#include <stdlib.h>

#include "column_pool.h"
#include "repeats.h"
#include "util/macros.h"

/* What is decoded: 64 bits each. Its name is for messages. */
static const struct field lineage_field = {
	.kind = FIELD_FIXED,
	.id = FIELD_NO_ID,
	.name = { (const uint8_t *)"lineage", 7 },
	.logical_type = { (const uint8_t *)"uint64", 6 },
	.format = "L",
	.bits = 64,
};

struct spilled {
	struct column_pool pool;
	bool unique;
};

/* The type that the file itself says the column has. A schema that can't be read says nothing, and
 * says nothing about this column. */
static int
check_type(struct datafile *file, uint32_t column, struct lancet_error *err)
{
	struct field_tree tree;
	lancet_autofree int32_t *columns = NULL;
	const struct field *found = NULL;
	uint64_t rows;
	int rc;

	if (datafile_schema(file, FIELD_BLOB_DESCRIPTIONS, &tree, &rows, NULL) != LANCET_OK)
		return LANCET_OK;
	columns = calloc((size_t)tree.count + 1, sizeof(*columns));
	if (columns == NULL) {
		field_tree_release(&tree);
		return lancet_fail(err, LANCET_NO_MEMORY, "columns of a file");
	}
	datafile_number_columns(datafile_version(file), &tree, columns);
	for (size_t i = 0; i < tree.root_count; i++) {
		if (columns[tree.roots[i].ordinal] == (int64_t)column)
			found = &tree.roots[i];
	}
	rc = LANCET_OK;
	if (found != NULL && !slice_equal(found->logical_type, slice_text("uint64")))
		rc = lancet_fail(err, LANCET_CORRUPT, "column %" PRIu32 " is of type %.*s", column,
			found->logical_type.size < 60 ? (int)found->logical_type.size : 60,
			(const char *)found->logical_type.data);
	field_tree_release(&tree);
	return rc;
}

int
spilled_open(struct datafile *file, uint32_t column, uint64_t rows, bool unique,
	struct spilled **ret_spilled, struct lancet_error *err)
{
	struct spilled *spilled;
	int rc;

	TRY(column_check(file, column, rows, err));
	TRY(check_type(file, column, err));
	spilled = calloc(1, sizeof(*spilled));
	if (spilled == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "spilled column");
	spilled->unique = unique;
	rc = column_pool_init(&spilled->pool, file, column, &lineage_field, rows, err);
	if (rc != LANCET_OK) {
		free(spilled);
		return rc;
	}
	*ret_spilled = spilled;
	return LANCET_OK;
}

void
spilled_free(struct spilled *spilled)
{
	if (spilled == NULL)
		return;
	column_pool_release(&spilled->pool);
	free(spilled);
}

static int
check_unique(const uint64_t *values, size_t rows, uint64_t first_row, bool *ret_ascend,
	struct lancet_error *err)
{
	uint64_t repeated;

	*ret_ascend = true;
	for (size_t i = 0; i < rows; i += REPEATS_MAX) {
		size_t block = rows - i < REPEATS_MAX ? rows - i : REPEATS_MAX;
		bool ascend = values_ascend(values + i, block);

		*ret_ascend &= ascend && (i == 0 || values[i - 1] < values[i]);
		if (!ascend && repeats_find(values + i, block, &repeated))
			return lancet_fail(err, LANCET_CORRUPT,
				"row id %" PRIu64 " comes twice from row %" PRIu64 " on", repeated,
				first_row);
	}
	return LANCET_OK;
}

static int
read_piece(const struct spilled *spilled, struct column_reader *reader,
	const struct row_range *ranges, size_t count, size_t rows, uint64_t *values,
	bool *ret_ascend, struct lancet_error *err)
{
	TRY(column_reader_read(reader, ranges, count, rows, err));
	if (reader->values.null_count != 0)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " nulls from row %" PRIu64 " on",
			reader->values.null_count, ranges[0].first);
	memcpy(values, reader->values.data.data, rows * sizeof(*values));
	if (spilled->unique)
		return check_unique(values, rows, ranges[0].first, ret_ascend, err);
	*ret_ascend = false;
	return LANCET_OK;
}

/* Cuts the ranges into pieces: a long range is read bit by bit, short ones several together. */
static int
read_pieces(const struct spilled *spilled, struct column_reader *reader,
	const struct row_range *ranges, size_t count, uint64_t *values, bool *ret_ascend,
	struct lancet_error *err)
{
	struct row_range piece[64];
	size_t used = 0, rows = 0, pieces = 0;

	for (size_t i = 0; i < count; i++) {
		struct row_range left = ranges[i];

		while (left.count > 0) {
			size_t room = SPILLED_BLOCK_ROWS - rows;
			size_t part = left.count < room ? (size_t)left.count : room;

			piece[used++] = (struct row_range){ left.first, part };
			left.first += part;
			left.count -= part;
			rows += part;
			if (rows < SPILLED_BLOCK_ROWS && used < ARRAY_SIZE(piece))
				continue;
			TRY(read_piece(
				spilled, reader, piece, used, rows, values, ret_ascend, err));
			pieces++;
			values += rows;
			used = rows = 0;
		}
	}
	if (used > 0)
		TRY(read_piece(spilled, reader, piece, used, rows, values, ret_ascend, err));
	*ret_ascend &= pieces + (used > 0) == 1;
	return LANCET_OK;
}

int
spilled_read(struct spilled *spilled, const struct row_range *ranges, size_t count,
	uint64_t *values, bool *ret_ascend, struct lancet_error *err)
{
	struct column_reader *reader;
	bool ascend = false;
	int rc;

	TRY(column_pool_take(&spilled->pool, &reader, err));
	rc = read_pieces(spilled, reader, ranges, count, values, &ascend, err);
	column_pool_give(&spilled->pool, reader, rc);
	if (ret_ascend != NULL)
		*ret_ascend = ascend;
	return rc;
}

uint64_t
spilled_decoded(const struct spilled *spilled)
{
	return column_pool_decoded(&spilled->pool);
}
