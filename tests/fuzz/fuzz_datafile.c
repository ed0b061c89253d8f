/* A whole data file over any bytes: its schema, what its columns are made of, and rows of each
 * field at the front, in the middle and at the end. */
#include "fuzz.h"

#include "../helpers/arraycheck.h"
#include "file/reader.h"

#define READ_MAX 1000u /* rows; more make values longer, not other */
/* What the values of one read may cost, and beside it: working memory of decompressors, and what
 * stays with a page, such as its dictionary. */
#define BUDGET   ((size_t)16 << 20)
#define COST_MAX (((size_t)512 << 20))

static void
expect_reason(int rc, const struct lancet_error *err)
{
	fuzz_expect(rc == LANCET_OK || rc == LANCET_CORRUPT || rc == LANCET_UNSUPPORTED ||
		    rc == LANCET_LIMIT || rc == LANCET_NO_MEMORY);
	fuzz_expect(rc == LANCET_OK || err->text[0] != '\0');
}

static int
read_rows(struct field_reader *reader, struct array *array, uint64_t rows, struct lancet_error *err)
{
	uint64_t count = rows < READ_MAX ? rows : READ_MAX;
	const struct row_range front = { 0, count };
	/* Single rows before and behind a range that were read already, or may have been. */
	const struct row_range some[] = { { rows / 3, 1 }, { rows / 2, 1 + rows / 64 % READ_MAX },
		{ rows - 1, 1 } };
	bool apart = rows / 3 < rows / 2 && rows / 2 + some[1].count < rows;
	int rc;

	rc = field_reader_read(reader, &front, 1, array, err);
	if (rc != LANCET_OK)
		return rc;
	fuzz_expect(arraycheck(array) && array->length == count);
	rc = apart ? field_reader_read(reader, some, 3, array, err)
		   : field_reader_read(reader, &some[2], 1, array, err);
	if (rc == LANCET_OK)
		fuzz_expect(arraycheck(array));
	return rc;
}

static void
read_field(const struct field *field, const struct column_place *places, uint64_t rows,
	const struct fuzz_guard *guard)
{
	struct array_budget budget = { .limit = BUDGET };
	struct lancet_error err = { 0 };
	struct field_reader *reader;
	struct array array;
	int rc = field_reader_open(field, places, rows, &reader, &err);

	expect_reason(rc, &err);
	if (rc != LANCET_OK)
		return;
	rc = array_init(&array, field, &budget, &err);
	if (rc == LANCET_OK) {
		rc = rows == 0 ? LANCET_OK : read_rows(reader, &array, rows, &err);
		expect_reason(rc, &err);
		fuzz_check(guard);
		array_release(&array);
	}
	field_reader_free(reader);
}

static void
describe_field(struct datafile *file, const struct field *field, const int32_t *columns)
{
	struct column_description description;
	struct lancet_error err = { 0 };
	struct buf words = { 0 };
	int rc;

	if (columns[field->ordinal] >= 0) {
		rc = column_describe(
			file, (uint32_t)columns[field->ordinal], field, &description, &words, &err);
		/* fewer columns than the schema has */
		fuzz_expect(rc != LANCET_INVALID ||
			    (uint32_t)columns[field->ordinal] >= datafile_column_count(file));
		fuzz_expect(rc == LANCET_OK || err.text[0] != '\0');
		buf_release(&words);
	}
	for (size_t i = 0; i < field->child_count; i++)
		describe_field(file, &field->children[i], columns);
}

static void
read_fields(struct datafile *file, const struct field_tree *tree, uint64_t rows,
	const struct fuzz_guard *guard)
{
	struct column_place *places = calloc((size_t)tree->count + 1, sizeof(*places));
	int32_t *columns = calloc((size_t)tree->count + 1, sizeof(*columns));
	bool is_legacy = datafile_version(file) == FILE_LEGACY;

	if (places != NULL && columns != NULL) {
		datafile_number_columns(datafile_version(file), tree, columns);
		for (uint32_t i = 0; i < tree->count; i++) {
			bool has = is_legacy ||
				   (columns[i] >= 0 &&
					   (uint32_t)columns[i] < datafile_column_count(file));

			places[i] =
				(struct column_place){ has ? file : NULL, (uint32_t)columns[i] };
		}
		for (size_t i = 0; i < tree->root_count; i++) {
			describe_field(file, &tree->roots[i], columns);
			read_field(&tree->roots[i], places, rows, guard);
		}
	}
	free(places);
	free(columns);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(COST_MAX);
	enum field_blobs blobs = size % 2 == 0 ? FIELD_BLOB_BYTES : FIELD_BLOB_DESCRIPTIONS;
	struct source *src = source_memory_new(slice_of(data, size), NULL);
	struct lancet_error err = { 0 };
	struct datafile *file;
	struct field_tree tree;
	uint64_t rows;
	int rc;

	if (src == NULL)
		return 0;
	rc = datafile_open(src, &file, &err);
	source_unref(src);
	expect_reason(rc, &err);
	if (rc != LANCET_OK)
		return 0;
	rc = datafile_schema(file, blobs, &tree, &rows, &err);
	expect_reason(rc, &err);
	if (rc == LANCET_OK) {
		read_fields(file, &tree, rows, &guard);
		field_tree_release(&tree);
	}
	datafile_unref(file);
	fuzz_end(&guard);
	return 0;
}
