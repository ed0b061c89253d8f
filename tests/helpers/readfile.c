/* Reads one data file alone, by the schema it carries, and prints what is in it as JSON lines.
 *
 *     readfile FILE [rows=A-B,C,…]… [step=N] [column=NAME] [blobs=descriptions] [describe]
 *
 * rows= asks for rows A to B - 1, row C and so on, ascending; the argument may be given often, and
 * the same readers answer one after the other. Without it all rows are read, step= of them at a
 * time. A line has the column, the rows asked for, the Arrow format and the values; one of describe
 * has what column_describe says. Errors are one line on stderr and exit status 1.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arraycheck.h"
#include "file/reader.h"
#include "jsonvalues.h"
#include "util/macros.h"
#include "util/text.h"

#define BUDGET     ((size_t)1 << 30)
#define RANGES_MAX 4096u

struct options {
	const char *path, *column;
	const char **rows;
	size_t row_count;
	uint64_t step; /* 0 = all at once */
	enum field_blobs blobs;
	bool describe;
};

struct job {
	const struct options *options;
	struct datafile *file;
	struct field_tree tree;
	int32_t *columns;
	uint64_t rows;
};

static int
parse_number(struct slice text, uint64_t *ret_value, struct lancet_error *err)
{
	if (!text_to_u64(text, ret_value))
		return lancet_fail(err, LANCET_INVALID, "\"%.*s\" is no number", (int)text.size,
			(const char *)text.data);
	return LANCET_OK;
}

/* A-B or C, the latter one row. */
static int
parse_range(struct slice text, struct row_range *ret_range, struct lancet_error *err)
{
	const uint8_t *dash = memchr(text.data, '-', text.size);
	size_t head = dash == NULL ? text.size : (size_t)(dash - text.data);
	uint64_t first, end;

	TRY(parse_number(slice_of(text.data, head), &first, err));
	end = first + 1;
	if (dash != NULL)
		TRY(parse_number(slice_of(dash + 1, text.size - head - 1), &end, err));
	*ret_range = (struct row_range){ first, end - first };
	return LANCET_OK;
}

static int
parse_rows(const char *text, struct row_range *ranges, size_t *ret_count, struct lancet_error *err)
{
	size_t count = 0;

	while (*text != '\0') {
		size_t size = strcspn(text, ",");

		if (count == RANGES_MAX)
			return lancet_fail(err, LANCET_LIMIT, "more than %u ranges", RANGES_MAX);
		TRY(parse_range(slice_of(text, size), &ranges[count++], err));
		text += size + (text[size] == ',');
	}
	*ret_count = count;
	return LANCET_OK;
}

static int
print_values(const struct array *array, const char *rows, struct lancet_error *err)
{
	struct buf line = { 0 };
	struct jsonw w;
	int rc;

	jsonw_init(&w, &line);
	w.compact = true;
	jsonw_object(&w, NULL);
	jsonw_key_slice(&w, slice_text("column"));
	jsonw_slice(&w, NULL, array->field->name);
	jsonw_text(&w, "rows", rows);
	jsonw_text(&w, "format", array->field->format);
	jsonw_array(&w, "values");
	for (uint64_t i = 0; i < array->length; i++)
		jsonvalues_put(&w, array, i);
	jsonw_end(&w);
	jsonw_end(&w);
	jsonw_finish(&w);
	rc = buf_check(&line, "a line", err);
	if (rc == LANCET_OK && fwrite(line.data, 1, line.size, stdout) != line.size)
		rc = lancet_fail_errno(err, "standard output");
	buf_release(&line);
	return rc;
}

static int
read_all(
	struct job *job, struct field_reader *reader, struct array *array, struct lancet_error *err)
{
	uint64_t step = job->options->step == 0 ? job->rows : job->options->step;

	for (uint64_t at = 0; at < job->rows; at += step) {
		struct row_range range = { at, job->rows - at < step ? job->rows - at : step };

		TRY(field_reader_read(reader, &range, 1, array, err));
	}
	return LANCET_OK;
}

static int
read_rows(struct job *job, struct field_reader *reader, const char *rows, struct array *array,
	struct lancet_error *err)
{
	static struct row_range ranges[RANGES_MAX];
	size_t count = 0;

	if (rows == NULL) {
		TRY(read_all(job, reader, array, err));
	} else {
		TRY(parse_rows(rows, ranges, &count, err));
		TRY(field_reader_read(reader, ranges, count, array, err));
	}
	if (!arraycheck(array))
		return lancet_fail(err, LANCET_CORRUPT, "the decoded array does not fit together");
	return print_values(array, rows, err);
}

static int
read_field(struct job *job, const struct field *field, struct field_reader *reader,
	struct lancet_error *err)
{
	struct array_budget budget = { .limit = BUDGET };
	struct array array;
	size_t asked = job->options->row_count;
	int rc = array_init(&array, field, &budget, err);

	if (rc != LANCET_OK)
		return rc;
	for (size_t i = 0; rc == LANCET_OK && (i < asked || (i == 0 && asked == 0)); i++) {
		array_reset(&array);
		rc = read_rows(job, reader, asked == 0 ? NULL : job->options->rows[i], &array, err);
	}
	array_release(&array);
	return rc;
}

static int
describe_field(struct job *job, const struct field *field, struct lancet_error *err)
{
	struct column_description description;
	struct buf words = { 0 }, line = { 0 };
	struct jsonw w;

	if (job->columns[field->ordinal] >= 0) {
		TRY(column_describe(job->file, (uint32_t)job->columns[field->ordinal], field,
			&description, &words, err));
		jsonw_init(&w, &line);
		w.compact = true;
		jsonw_object(&w, NULL);
		jsonw_i64(&w, "number", job->columns[field->ordinal]);
		jsonw_u64(&w, "pages", description.pages);
		jsonw_u64(&w, "bytes", description.bytes);
		if (description.has_null_count)
			jsonw_u64(&w, "nulls", description.null_count);
		jsonw_key_slice(&w, slice_text("encodings"));
		jsonw_slice(&w, NULL, buf_slice(&words));
		jsonw_end(&w);
		jsonw_finish(&w);
		(void)fwrite(line.data, 1, line.size, stdout);
		buf_release(&line);
		buf_release(&words);
	}
	for (size_t i = 0; i < field->child_count; i++)
		TRY(describe_field(job, &field->children[i], err));
	return LANCET_OK;
}

static int
do_field(struct job *job, const struct field *field, const struct column_place *places,
	struct lancet_error *err)
{
	struct field_reader *reader;
	int rc;

	if (job->options->describe)
		return describe_field(job, field, err);
	TRY(field_reader_open(field, places, job->rows, &reader, err));
	rc = read_field(job, field, reader, err);
	field_reader_free(reader);
	return rc;
}

static int
do_fields(struct job *job, struct lancet_error *err)
{
	uint32_t count = job->tree.count;
	lancet_autofree struct column_place *places = calloc(count + 1, sizeof(*places));
	lancet_autofree int32_t *columns = calloc(count + 1, sizeof(*columns));

	if (places == NULL || columns == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns");
	datafile_number_columns(datafile_version(job->file), &job->tree, columns);
	job->columns = columns;
	for (uint32_t i = 0; i < count; i++) {
		bool has = columns[i] != -1 || datafile_version(job->file) == FILE_LEGACY;

		places[i] = (struct column_place){ has ? job->file : NULL, (uint32_t)columns[i] };
	}
	for (size_t i = 0; i < job->tree.root_count; i++) {
		const struct field *field = &job->tree.roots[i];

		if (job->options->column == NULL ||
			slice_equal(field->name, slice_text(job->options->column)))
			TRY(do_field(job, field, places, err));
	}
	return LANCET_OK;
}

static int
do_file(const struct options *options, struct lancet_error *err)
{
	struct job job = { .options = options };
	struct source *src;
	struct stat st;
	int fd = open(options->path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0 || fstat(fd, &st) != 0)
		return lancet_fail_errno(err, "%s", options->path);
	src = source_fd_new(fd, (uint64_t)st.st_size);
	rc = datafile_open(src, &job.file, err);
	source_unref(src);
	if (rc != LANCET_OK)
		return rc;
	rc = datafile_schema(job.file, options->blobs, &job.tree, &job.rows, err);
	if (rc == LANCET_OK)
		rc = do_fields(&job, err);
	field_tree_release(&job.tree);
	datafile_unref(job.file);
	return rc;
}

static int
parse_option(const char *word, struct options *options, struct lancet_error *err)
{
	if (strncmp(word, "rows=", 5) == 0)
		options->rows[options->row_count++] = word + 5;
	else if (strncmp(word, "step=", 5) == 0)
		return parse_number(slice_text(word + 5), &options->step, err);
	else if (strncmp(word, "column=", 7) == 0)
		options->column = word + 7;
	else if (strcmp(word, "blobs=descriptions") == 0)
		options->blobs = FIELD_BLOB_DESCRIPTIONS;
	else if (strcmp(word, "describe") == 0)
		options->describe = true;
	else
		return lancet_fail(err, LANCET_INVALID, "unknown argument %s", word);
	return LANCET_OK;
}

int
main(int argc, char **argv)
{
	lancet_autofree const char **rows = calloc((size_t)argc + 1, sizeof(*rows));
	struct options options = { .rows = rows, .blobs = FIELD_BLOB_BYTES };
	struct lancet_error err = { 0 };
	int rc = LANCET_OK;

	if (argc < 2 || rows == NULL) {
		fprintf(stderr, "usage: readfile FILE [rows=A-B,C]... [step=N] [column=NAME] "
				"[blobs=descriptions] [describe]\n");
		return EXIT_FAILURE;
	}
	options.path = argv[1];
	for (int i = 2; rc == LANCET_OK && i < argc; i++)
		rc = parse_option(argv[i], &options, &err);
	if (rc == LANCET_OK)
		rc = do_file(&options, &err);
	if (rc == LANCET_OK && fflush(stdout) != 0)
		rc = lancet_fail_errno(&err, "standard output");
	if (rc == LANCET_OK)
		return EXIT_SUCCESS;
	fprintf(stderr, "readfile: %s: %s\n", lancet_code_name(err.code), err.text);
	return EXIT_FAILURE;
}
