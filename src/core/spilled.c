/* Readers of a spilled column, shared without a lock; see spilled.h. */
#include "spilled.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "repeats.h"
#include "util/macros.h"

#define POOL_SIZE  8u
#define PIECE_ROWS 4096u /* decoded and checked together */
/* Values of a piece, and what their page may need besides: a limit, not a need. */
#define PIECE_BYTES (UINT64_C(64) << 20)

/* What is decoded: 64 bits each. Its name is for messages. */
static const struct field lineage_field = {
	.kind = FIELD_FIXED,
	.id = FIELD_NO_ID,
	.name = { (const uint8_t *)"lineage", 7 },
	.logical_type = { (const uint8_t *)"uint64", 6 },
	.format = "L",
	.bits = 64,
};

/* What one thread reads with. */
struct spilled_reader {
	struct field_reader *fields;
	struct array values;
	struct array_budget budget;
};

struct spilled {
	struct datafile *file;
	uint32_t column;
	uint64_t rows;
	bool unique;
	_Atomic(struct spilled_reader *) pool[POOL_SIZE];
	_Atomic uint64_t decoded;
};

static void
reader_free(struct spilled_reader *reader)
{
	if (reader == NULL)
		return;
	array_release(&reader->values);
	field_reader_free(reader->fields);
	free(reader);
}

static int
reader_new(
	const struct spilled *spilled, struct spilled_reader **ret_reader, struct lancet_error *err)
{
	const struct column_place place = { spilled->file, spilled->column };
	struct spilled_reader *reader = calloc(1, sizeof(*reader));
	int rc;

	if (reader == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "reader of a column");
	reader->budget.limit = PIECE_BYTES;
	rc = array_init(&reader->values, &lineage_field, &reader->budget, err);
	if (rc == LANCET_OK)
		rc = field_reader_open(&lineage_field, &place, spilled->rows, &reader->fields, err);
	if (rc != LANCET_OK) {
		reader_free(reader);
		return rc;
	}
	*ret_reader = reader;
	return LANCET_OK;
}

static int
take_reader(struct spilled *spilled, struct spilled_reader **ret_reader, struct lancet_error *err)
{
	for (size_t i = 0; i < POOL_SIZE; i++) {
		struct spilled_reader *reader =
			atomic_exchange_explicit(&spilled->pool[i], NULL, memory_order_acquire);

		if (reader != NULL) {
			*ret_reader = reader;
			return LANCET_OK;
		}
	}
	return reader_new(spilled, ret_reader, err);
}

static void
give_reader(struct spilled *spilled, struct spilled_reader *reader)
{
	for (size_t i = 0; i < POOL_SIZE; i++) {
		struct spilled_reader *none = NULL;

		if (atomic_compare_exchange_strong_explicit(&spilled->pool[i], &none, reader,
			    memory_order_release, memory_order_relaxed))
			return;
	}
	reader_free(reader);
}

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

static int
check_column(struct datafile *file, uint32_t column, uint64_t rows, struct lancet_error *err)
{
	const struct file_column *pages;

	if (column >= datafile_column_count(file))
		return lancet_fail(err, LANCET_CORRUPT, "no column %" PRIu32 ", it has %" PRIu32,
			column, datafile_column_count(file));
	TRY(datafile_column(file, column, &pages, err));
	if (pages->length != rows)
		return lancet_fail(err, LANCET_CORRUPT,
			"column %" PRIu32 ": %" PRIu64 " values for %" PRIu64 " rows", column,
			pages->length, rows);
	return check_type(file, column, err);
}

int
spilled_open(struct datafile *file, uint32_t column, uint64_t rows, bool unique,
	struct spilled **ret_spilled, struct lancet_error *err)
{
	struct spilled *spilled;
	struct spilled_reader *first = NULL;
	int rc;

	TRY(check_column(file, column, rows, err));
	spilled = calloc(1, sizeof(*spilled));
	if (spilled == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "spilled column");
	spilled->file = datafile_ref(file);
	spilled->column = column;
	spilled->rows = rows;
	spilled->unique = unique;
	rc = reader_new(spilled, &first, err);
	if (rc != LANCET_OK) {
		spilled_free(spilled);
		return rc;
	}
	atomic_init(&spilled->pool[0], first);
	*ret_spilled = spilled;
	return LANCET_OK;
}

void
spilled_free(struct spilled *spilled)
{
	if (spilled == NULL)
		return;
	for (size_t i = 0; i < POOL_SIZE; i++)
		reader_free(atomic_load(&spilled->pool[i]));
	datafile_unref(spilled->file);
	free(spilled);
}

static int
read_piece(const struct spilled *spilled, struct spilled_reader *reader,
	const struct row_range *ranges, size_t count, size_t rows, uint64_t *values,
	struct lancet_error *err)
{
	uint64_t repeated;

	array_reset(&reader->values);
	TRY(field_reader_read(reader->fields, ranges, count, &reader->values, err));
	if (reader->values.length != rows)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " values for %zu rows",
			reader->values.length, rows);
	if (reader->values.null_count != 0)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " nulls from row %" PRIu64 " on",
			reader->values.null_count, ranges[0].first);
	memcpy(values, reader->values.data.data, rows * sizeof(*values));
	if (spilled->unique && repeats_find(values, rows, &repeated))
		return lancet_fail(err, LANCET_CORRUPT,
			"row id %" PRIu64 " comes twice from row %" PRIu64 " on", repeated,
			ranges[0].first);
	return LANCET_OK;
}

/* Cuts the ranges into pieces: a long range is read bit by bit, short ones several together. */
static int
read_pieces(const struct spilled *spilled, struct spilled_reader *reader,
	const struct row_range *ranges, size_t count, uint64_t *values, struct lancet_error *err)
{
	struct row_range piece[64];
	size_t used = 0, rows = 0;

	for (size_t i = 0; i < count; i++) {
		struct row_range left = ranges[i];

		while (left.count > 0) {
			size_t room = PIECE_ROWS - rows;
			size_t part = left.count < room ? (size_t)left.count : room;

			piece[used++] = (struct row_range){ left.first, part };
			left.first += part;
			left.count -= part;
			rows += part;
			if (rows < PIECE_ROWS && used < ARRAY_SIZE(piece))
				continue;
			TRY(read_piece(spilled, reader, piece, used, rows, values, err));
			values += rows;
			used = rows = 0;
		}
	}
	return used == 0 ? LANCET_OK : read_piece(spilled, reader, piece, used, rows, values, err);
}

int
spilled_read(struct spilled *spilled, const struct row_range *ranges, size_t count,
	uint64_t *values, struct lancet_error *err)
{
	struct spilled_reader *reader = NULL;
	uint64_t before;
	int rc;

	TRY(take_reader(spilled, &reader, err));
	before = field_reader_decoded(reader->fields);
	rc = read_pieces(spilled, reader, ranges, count, values, err);
	atomic_fetch_add_explicit(&spilled->decoded, field_reader_decoded(reader->fields) - before,
		memory_order_relaxed);
	if (rc == LANCET_OK)
		give_reader(spilled, reader);
	else
		reader_free(reader);
	return rc;
}

uint64_t
spilled_decoded(const struct spilled *spilled)
{
	return atomic_load_explicit(&spilled->decoded, memory_order_relaxed);
}
