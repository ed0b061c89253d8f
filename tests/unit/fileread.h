/* Data files that were written into memory, read again. */
#ifndef TESTS_FILEREAD_H
#define TESTS_FILEREAD_H

#include "counted.h"
#include "filewritten.h"
#include "shown.h"

/* Opens the bytes. */
static inline void
written_open(struct written *written)
{
	struct counted_source *source = counted_new(buf_slice(&written->bytes));
	int32_t *columns;

	ck_assert_int_eq(datafile_open(&source->base, &written->file, NULL), LANCET_OK);
	source_unref(&source->base);
	ck_assert_int_eq(datafile_schema(written->file, FIELD_BLOB_BYTES, &written->tree,
				 &written->rows, NULL),
		LANCET_OK);
	written->places = calloc(written->tree.count + 1, sizeof(*written->places));
	columns = calloc(written->tree.count + 1, sizeof(*columns));
	datafile_number_columns(datafile_version(written->file), &written->tree, columns);
	for (uint32_t i = 0; i < written->tree.count; i++)
		written->places[i] = (struct column_place){
			columns[i] < 0 ? NULL : written->file,
			(uint32_t)columns[i],
		};
	free(columns);
}

/* Ends the file and opens it. */
static inline void
written_end(struct written *written)
{
	struct lancet_error err = { 0 };

	ck_assert_msg(file_writer_finish(written->writer, &written->end, &err) == LANCET_OK, "%s",
		err.text);
	ck_assert_uint_eq(written->end.size, written->bytes.size);
	written_open(written);
	ck_assert_uint_eq(written->rows, written->end.rows);
}

static inline void
written_close(struct written *written)
{
	field_tree_release(&written->tree);
	datafile_unref(written->file);
	free(written->places);
}

static inline void
written_free(struct written *written)
{
	file_writer_free(written->writer);
	written_close(written);
	buf_release(&written->bytes);
}

static inline void
show_values(const struct array *array, struct buf *out)
{
	for (uint64_t i = 0; i < array->length; i++) {
		show_value(array, i, out);
		buf_put_byte(out, ' ');
	}
}

/* Values of a top-level column as text, appended. */
static inline void
written_show_rows(const struct written *written, size_t root, uint64_t first, uint64_t count,
	struct buf *text)
{
	const struct field *field = &written->tree.roots[root];
	struct array_budget budget = { .limit = SIZE_MAX };
	struct row_range range = { first, count };
	struct field_reader *reader;
	struct array array;

	ck_assert_int_eq(
		field_reader_open(field, written->places, written->rows, &reader, NULL), LANCET_OK);
	ck_assert_int_eq(array_init(&array, field, &budget, NULL), LANCET_OK);
	if (count > 0)
		ck_assert_int_eq(field_reader_read(reader, &range, 1, &array, NULL), LANCET_OK);
	show_values(&array, text);
	array_release(&array);
	field_reader_free(reader);
}

static inline struct buf
written_show(const struct written *written, size_t root)
{
	struct buf text = { 0 };

	written_show_rows(written, root, 0, written->rows, &text);
	return text;
}

#endif
