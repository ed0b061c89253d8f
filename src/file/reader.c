/* Readers of fields: which of the three families of formats a field's columns are in, and what is
 * the same for all of them. See reader.h.
 */
#include "reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"

struct field_reader {
	const struct field *field;
	const struct field_reader_ops *ops; /* NULL: no file has a column, all is null */
	void *state;
	uint64_t rows;
	struct datafile **files; /* counted, those of all places */
	size_t file_count;
	struct scratch scratch;
};

static const struct field_reader_ops *
ops_of(enum file_version version)
{
	switch (version) {
	case FILE_LEGACY:
		return &legacy_reader_ops;
	case FILE_2_0:
		return &v20_reader_ops;
	default:
		return &nested_reader_ops;
	}
}

/* Ordinals of a field and what is below it follow each other. */
static uint32_t
last_ordinal(const struct field *field)
{
	while (field->child_count > 0)
		field = &field->children[field->child_count - 1];
	return field->ordinal;
}

static int
keep_files(struct field_reader *reader, const struct column_place *places, struct lancet_error *err)
{
	uint32_t first = reader->field->ordinal;
	uint32_t last = last_ordinal(reader->field);

	reader->files = calloc((size_t)(last - first) + 1, sizeof(struct datafile *));
	if (reader->files == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns of a field");
	for (uint32_t i = first; i <= last; i++) {
		struct datafile *file = places[i].file;
		size_t count = reader->file_count;
		const struct field_reader_ops *ops;

		if (file == NULL || (count > 0 && reader->files[count - 1] == file))
			continue;
		ops = ops_of(datafile_version(file));
		if (reader->ops != NULL && reader->ops != ops)
			return lancet_fail(err, LANCET_UNSUPPORTED,
				"columns in a file of version %s and in one of %s",
				file_version_name(datafile_version(reader->files[0])),
				file_version_name(datafile_version(file)));
		reader->ops = ops;
		reader->files[reader->file_count++] = datafile_ref(file);
	}
	return LANCET_OK;
}

int
field_reader_open(const struct field *field, const struct column_place *places, uint64_t rows,
	struct field_reader **ret_reader, struct lancet_error *err)
{
	struct field_reader *reader = calloc(1, sizeof(*reader));
	int rc;

	if (reader == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "reader of a field");
	reader->field = field;
	reader->rows = rows;
	rc = keep_files(reader, places, err);
	if (rc == LANCET_OK && reader->ops != NULL)
		rc = reader->ops->open(field, places, rows, &reader->scratch, &reader->state, err);
	if (rc != LANCET_OK) {
		field_reader_free(reader);
		return lancet_wrap(err, rc, "field %.*s", FIELD_TEXT(field->name));
	}
	*ret_reader = reader;
	return LANCET_OK;
}

void
field_reader_free(struct field_reader *reader)
{
	if (reader == NULL)
		return;
	if (reader->state != NULL)
		reader->ops->free(reader->state);
	for (size_t i = 0; i < reader->file_count; i++)
		datafile_unref(reader->files[i]);
	free((void *)reader->files);
	scratch_release(&reader->scratch);
	free(reader);
}

static int
check_ranges(const struct field_reader *reader, const struct row_range *ranges, size_t count,
	uint64_t *ret_total, struct lancet_error *err)
{
	uint64_t end = 0, total = 0;

	for (size_t i = 0; i < count; i++) {
		const struct row_range *range = &ranges[i];

		if (range->first < end || range->count == 0)
			return lancet_fail(err, LANCET_INVALID,
				"rows from %" PRIu64 " behind %" PRIu64, range->first, end);
		if (range->first > reader->rows || range->count > reader->rows - range->first)
			return lancet_fail(err, LANCET_INVALID,
				"%" PRIu64 " rows from %" PRIu64 " of %" PRIu64, range->count,
				range->first, reader->rows);
		end = range->first + range->count;
		total += range->count;
	}
	*ret_total = total;
	return LANCET_OK;
}

int
field_reader_read(struct field_reader *reader, const struct row_range *ranges, size_t count,
	struct array *out, struct lancet_error *err)
{
	uint64_t before = out->length;
	uint64_t total = 0;
	int rc;

	TRY(check_ranges(reader, ranges, count, &total, err));
	if (total == 0)
		return LANCET_OK;
	if (reader->ops == NULL)
		return array_append_nulls(out, total, err);
	rc = reader->ops->read(reader->state, ranges, count, out, err);
	if (rc == LANCET_OK && out->length - before != total)
		rc = lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " values in %" PRIu64 " rows",
			out->length - before, total);
	return lancet_wrap(err, rc, "field %.*s", FIELD_TEXT(reader->field->name));
}

uint64_t
field_reader_decoded(const struct field_reader *reader)
{
	return reader->scratch.decoded;
}
