/* Shared readers of a column; see column_pool.h. */
#include "column_pool.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"

/* Values of one read, and what their page may need besides: a limit, not a need. */
#define READ_BYTES (UINT64_C(64) << 20)

int
column_check(struct datafile *file, uint32_t column, uint64_t rows, struct lancet_error *err)
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
	return LANCET_OK;
}

static void
reader_free(struct column_reader *reader)
{
	if (reader == NULL)
		return;
	array_release(&reader->values);
	field_reader_free(reader->fields);
	free(reader);
}

static int
reader_new(
	const struct column_pool *pool, struct column_reader **ret_reader, struct lancet_error *err)
{
	const struct column_place place = { pool->file, pool->column };
	struct column_reader *reader = calloc(1, sizeof(*reader));
	int rc;

	if (reader == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "reader of a column");
	reader->budget.limit = READ_BYTES;
	rc = array_init(&reader->values, pool->field, &reader->budget, err);
	if (rc == LANCET_OK)
		rc = field_reader_open(pool->field, &place, pool->rows, &reader->fields, err);
	if (rc != LANCET_OK) {
		reader_free(reader);
		return rc;
	}
	*ret_reader = reader;
	return LANCET_OK;
}

int
column_pool_init(struct column_pool *pool, struct datafile *file, uint32_t column,
	const struct field *field, uint64_t rows, struct lancet_error *err)
{
	struct column_reader *first;
	int rc;

	*pool = (struct column_pool){
		.file = datafile_ref(file), .column = column, .field = field, .rows = rows
	};
	rc = reader_new(pool, &first, err);
	if (rc != LANCET_OK) {
		column_pool_release(pool);
		return rc;
	}
	atomic_init(&pool->readers[0], first);
	return LANCET_OK;
}

void
column_pool_release(struct column_pool *pool)
{
	if (pool == NULL)
		return;
	for (size_t i = 0; i < COLUMN_POOL_SIZE; i++)
		reader_free(atomic_exchange(&pool->readers[i], NULL));
	datafile_unref(pool->file);
	pool->file = NULL;
}

int
column_pool_take(
	struct column_pool *pool, struct column_reader **ret_reader, struct lancet_error *err)
{
	for (size_t i = 0; i < COLUMN_POOL_SIZE; i++) {
		struct column_reader *reader =
			atomic_exchange_explicit(&pool->readers[i], NULL, memory_order_acquire);

		if (reader != NULL) {
			*ret_reader = reader;
			return LANCET_OK;
		}
	}
	return reader_new(pool, ret_reader, err);
}

void
column_pool_give(struct column_pool *pool, struct column_reader *reader, int rc)
{
	uint64_t decoded = field_reader_decoded(reader->fields);

	atomic_fetch_add_explicit(&pool->decoded, decoded - reader->counted, memory_order_relaxed);
	reader->counted = decoded;
	for (size_t i = 0; rc == LANCET_OK && i < COLUMN_POOL_SIZE; i++) {
		struct column_reader *none = NULL;

		if (atomic_compare_exchange_strong_explicit(&pool->readers[i], &none, reader,
			    memory_order_release, memory_order_relaxed))
			return;
	}
	reader_free(reader);
}

int
column_reader_read(struct column_reader *reader, const struct row_range *ranges, size_t count,
	size_t rows, struct lancet_error *err)
{
	array_reset(&reader->values);
	TRY(field_reader_read(reader->fields, ranges, count, &reader->values, err));
	if (reader->values.length != rows)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " values for %zu rows",
			reader->values.length, rows);
	return LANCET_OK;
}

uint64_t
column_pool_decoded(const struct column_pool *pool)
{
	return atomic_load_explicit(&pool->decoded, memory_order_relaxed);
}
