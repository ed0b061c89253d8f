/* Writes a data file again: reads it alone, by the schema it carries, and puts what was read.
 *
 *     writefile IN OUT VERSION PAGE_BYTES [--copy] [step=N]
 *
 * Columns go one after the other, step= rows at a time (default 1000). With --copy they are taken
 * over page by page where that can be; "copied N" on standard output tells how many were. Errors
 * are one line on stderr and exit status 1; what can't be written has status 2.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/file_writer.h"
#include "util/macros.h"
#include "util/text.h"

#define BUDGET ((size_t)1 << 30)
#define STEP   1000u

struct job {
	const char *in, *out;
	struct file_writer_options options;
	uint64_t step;
	bool copy;
	struct datafile *file;
	uint64_t rows;
	struct file_writer *writer;
	struct column_place *places;
	FILE *to;
	unsigned copied;
};

static int
write_parts(void *context, const struct slice *parts, size_t count, struct lancet_error *err)
{
	struct job *job = context;

	for (size_t i = 0; i < count; i++) {
		if (fwrite(parts[i].data, 1, parts[i].size, job->to) != parts[i].size)
			return lancet_fail_errno(err, "%s", job->out);
	}
	return LANCET_OK;
}

static int
put_values(struct job *job, size_t root, struct field_reader *reader, struct array *values,
	struct lancet_error *err)
{
	for (uint64_t at = 0; at < job->rows; at += job->step) {
		uint64_t rest = job->rows - at;
		struct row_range range = { at, rest < job->step ? rest : job->step };

		array_reset(values);
		TRY(field_reader_read(reader, &range, 1, values, err));
		TRY(file_writer_put(job->writer, root, values, 0, values->length, err));
	}
	return file_writer_end(job->writer, root, err);
}

static int
do_root(struct job *job, size_t index, struct lancet_error *err)
{
	const struct field *root = &file_writer_tree(job->writer)->roots[index];
	struct array_budget budget = { .limit = BUDGET };
	struct field_reader *reader;
	struct array values;
	int rc;

	if (job->copy && file_writer_can_copy(job->writer, index, job->places)) {
		job->copied++;
		return file_writer_copy(job->writer, index, job->places, job->rows, err);
	}
	TRY(field_reader_open(root, job->places, job->rows, &reader, err));
	rc = array_init(&values, root, &budget, err);
	if (rc == LANCET_OK) {
		rc = put_values(job, index, reader, &values, err);
		array_release(&values);
	}
	field_reader_free(reader);
	return rc;
}

static int
find_places(struct job *job, struct lancet_error *err)
{
	const struct field_tree *tree = file_writer_tree(job->writer);
	lancet_autofree int32_t *columns = calloc(tree->count + 1, sizeof(*columns));

	job->places = calloc(tree->count + 1, sizeof(*job->places));
	if (columns == NULL || job->places == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns");
	datafile_number_columns(datafile_version(job->file), tree, columns);
	for (uint32_t i = 0; i < tree->count; i++) {
		bool has = columns[i] != -1;

		job->places[i] =
			(struct column_place){ has ? job->file : NULL, (uint32_t)columns[i] };
	}
	return LANCET_OK;
}

static int
write_all(struct job *job, struct lancet_error *err)
{
	struct file_sink sink = { write_parts, job };
	struct file_written written;

	TRY(datafile_row_count(job->file, &job->rows, err));
	TRY(datafile_fields(job->file, &job->options.fields, &job->options.field_count, err));
	TRY(file_writer_open(&job->options, sink, &job->writer, err));
	TRY(find_places(job, err));
	for (size_t i = 0; i < file_writer_tree(job->writer)->root_count; i++)
		TRY(do_root(job, i, err));
	TRY(file_writer_finish(job->writer, &written, err));
	printf("copied %u\n", job->copied);
	return LANCET_OK;
}

static int
do_file(struct job *job, struct lancet_error *err)
{
	struct source *src;
	struct stat st;
	int fd = open(job->in, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0 || fstat(fd, &st) != 0)
		return lancet_fail_errno(err, "%s", job->in);
	src = source_fd_new(fd, (uint64_t)st.st_size);
	rc = datafile_open(src, &job->file, err);
	source_unref(src);
	if (rc != LANCET_OK)
		return rc;
	job->to = fopen(job->out, "wbe");
	if (job->to == NULL)
		return lancet_fail_errno(err, "%s", job->out);
	rc = write_all(job, err);
	if (fclose(job->to) != 0 && rc == LANCET_OK)
		rc = lancet_fail_errno(err, "%s", job->out);
	return rc;
}

static int
parse_version(const char *word, enum file_version *ret_version, struct lancet_error *err)
{
	for (enum file_version version = FILE_LEGACY; version <= FILE_2_3; version++) {
		if (strcmp(word, file_version_name(version)) == 0) {
			*ret_version = version;
			return LANCET_OK;
		}
	}
	return lancet_fail(err, LANCET_INVALID, "unknown version %s", word);
}

static int
parse(struct job *job, char **words, int count, struct lancet_error *err)
{
	uint64_t bytes = 0;

	if (count < 4)
		return lancet_fail(err, LANCET_INVALID,
			"usage: writefile IN OUT VERSION PAGE_BYTES [--copy] [step=N]");
	job->in = words[0];
	job->out = words[1];
	TRY(parse_version(words[2], &job->options.version, err));
	if (!text_to_u64(slice_text(words[3]), &bytes))
		return lancet_fail(err, LANCET_INVALID, "\"%s\" is no number", words[3]);
	job->options.page_bytes = (size_t)bytes;
	for (int i = 4; i < count; i++) {
		if (strcmp(words[i], "--copy") == 0)
			job->copy = true;
		else if (strncmp(words[i], "step=", 5) != 0 ||
			 !text_to_u64(slice_text(words[i] + 5), &job->step) || job->step == 0)
			return lancet_fail(err, LANCET_INVALID, "unknown argument %s", words[i]);
	}
	return LANCET_OK;
}

int
main(int argc, char **argv)
{
	struct job job = { .step = STEP };
	struct lancet_error err = { 0 };
	int rc = parse(&job, argv + 1, argc - 1, &err);

	if (rc == LANCET_OK)
		rc = do_file(&job, &err);
	file_writer_free(job.writer);
	free(job.places);
	datafile_unref(job.file);
	if (rc == LANCET_OK)
		return EXIT_SUCCESS;
	fprintf(stderr, "writefile: %s: %s\n", lancet_code_name(err.code), err.text);
	return rc == LANCET_UNSUPPORTED ? 2 : EXIT_FAILURE;
}
