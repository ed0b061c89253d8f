/* Reads rows of text by the schema of a dataset and prints them again.
 *
 *     importrows DATASET csv|jsonl [as=csv|jsonl] [version=N] [branch=NAME] [batch=ROWS]
 *                [budget=BYTES] [quiet]
 *
 * Rows come from standard input. Errors are one line on stderr and exit status 1; with `quiet`
 * nothing is printed but the number of rows and batches.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lancet/rowtext.h>

#include "arraycheck.h"
#include "core/arrow_export.h"
#include "core/data_schema.h"
#include "core/import.h"
#include "core/json_text.h"
#include "util/macros.h"

struct options {
	const char *path, *format, *as, *branch;
	uint64_t version, batch, budget;
	bool quiet;
};

struct job {
	const struct options *options;
	const struct field_tree *tree;
	const struct field **fields;
	struct array *columns;
	struct array_budget budget;
	lancet_rowtext *writer;
	uint64_t rows, batches;
};

static int
print(void *context, const void *data, size_t size)
{
	(void)context;
	return fwrite(data, 1, size, stdout) == size ? LANCET_OK : LANCET_IO;
}

static const struct lancet_output standard_output = { print, NULL };

static int
make_columns(struct job *job, struct lancet_error *err)
{
	for (size_t i = 0; i < job->tree->root_count; i++)
		TRY(array_init(&job->columns[i], &job->tree->roots[i], &job->budget, err));
	return LANCET_OK;
}

/* Prints the columns, which are empty and new then. */
static int
print_batch(struct job *job, uint64_t rows, struct lancet_error *err)
{
	size_t count = job->tree->root_count;
	struct ArrowArray batch;
	int rc;

	job->budget.limit = (size_t)1 << 40; /* what JSON takes as text is not what is tested */
	for (size_t i = 0; i < count; i++)
		TRY(json_text_convert(&job->columns[i], err));
	TRY(arrow_export_batch(job->columns, count, rows, &batch, err));
	rc = lancet_rowtext_write(job->writer, &batch, err);
	batch.release(&batch);
	for (size_t i = 0; i < count; i++)
		array_release(&job->columns[i]);
	job->budget.limit = job->options->budget;
	return rc == LANCET_OK ? make_columns(job, err) : rc;
}

static int
take_batch(struct job *job, uint64_t rows, struct lancet_error *err)
{
	job->batches++;
	job->rows += rows;
	for (size_t i = 0; i < job->tree->root_count; i++) {
		struct array *column = &job->columns[i];

		if (column->length != rows || !arraycheck(column))
			return lancet_fail(err, LANCET_CORRUPT,
				"column %zu: an array that does not fit together", i);
		if (job->options->quiet)
			array_reset(column);
	}
	return job->options->quiet ? LANCET_OK : print_batch(job, rows, err);
}

static int
copy_rows(struct job *job, struct row_source *source, struct lancet_error *err)
{
	uint64_t rows;

	do {
		TRY(source->ops->next(source, job->columns, job->options->batch, &rows, err));
		if (rows > 0)
			TRY(take_batch(job, rows, err));
	} while (rows > 0);
	return LANCET_OK;
}

static int
open_writer(struct job *job, struct ArrowSchema *schema, struct lancet_error *err)
{
	const struct lancet_rowtext_cut all = { 0 };
	enum lancet_rowtext_form form =
		strcmp(job->options->as, "csv") == 0 ? LANCET_CSV : LANCET_JSON_LINES;

	for (size_t i = 0; i < job->tree->root_count; i++)
		job->fields[i] = &job->tree->roots[i];
	TRY(arrow_export_schema(job->fields, job->tree->root_count, NULL, 0, schema, err));
	return job->options->quiet ? LANCET_OK
				   : lancet_rowtext_open(schema, form, all, &standard_output,
					     &job->writer, err);
}

static int
run(struct job *job, struct lancet_error *err)
{
	struct ArrowSchema schema = { 0 };
	struct row_source *source = NULL;
	int rc = make_columns(job, err);

	if (rc == LANCET_OK)
		rc = open_writer(job, &schema, err);
	if (rc == LANCET_OK && strcmp(job->options->format, "csv") == 0)
		rc = import_csv_open(job->tree, STDIN_FILENO, &source, err);
	else if (rc == LANCET_OK)
		rc = import_json_open(job->tree, STDIN_FILENO, &source, err);
	if (rc == LANCET_OK)
		rc = copy_rows(job, source, err);
	if (source != NULL)
		source->ops->free(source);
	lancet_rowtext_free(job->writer);
	if (schema.release != NULL)
		schema.release(&schema);
	for (size_t i = 0; i < job->tree->root_count; i++)
		array_release(&job->columns[i]);
	return rc;
}

static int
run_version(const struct options *options, lancet_version *version, struct lancet_error *err)
{
	struct job job = { .options = options, .budget = { .limit = options->budget } };
	struct data_schema schema;
	int rc;

	TRY(data_schema_init(&schema, version, NULL, 0, FIELD_BLOB_BYTES, err));
	job.tree = &schema.tree;
	job.columns = calloc(schema.tree.root_count + 1, sizeof(*job.columns));
	job.fields = calloc(schema.tree.root_count + 1, sizeof(*job.fields));
	rc = job.columns != NULL && job.fields != NULL
		     ? run(&job, err)
		     : lancet_fail(err, LANCET_NO_MEMORY, "columns");
	free(job.columns);
	free(job.fields);
	data_schema_release(&schema);
	if (rc == LANCET_OK && options->quiet)
		printf("%" PRIu64 " rows, %" PRIu64 " batches\n", job.rows, job.batches);
	return rc;
}

static int
run_dataset(const struct options *options, struct lancet_error *err)
{
	lancet_dataset *dataset, *branch = NULL;
	lancet_version *version = NULL;
	struct lancet_bytes name = { (const uint8_t *)options->branch, strlen(options->branch) };
	uint64_t number = options->version;
	int rc;

	TRY(lancet_dataset_open(options->path, NULL, &dataset, err));
	rc = name.size == 0 ? LANCET_OK : lancet_dataset_branch(dataset, name, &branch, err);
	if (rc == LANCET_OK && number == 0)
		rc = lancet_dataset_latest(branch != NULL ? branch : dataset, &number, err);
	if (rc == LANCET_OK)
		rc = lancet_version_open(branch != NULL ? branch : dataset, number, &version, err);
	if (rc == LANCET_OK)
		rc = run_version(options, version, err);
	lancet_version_unref(version);
	lancet_dataset_unref(branch);
	lancet_dataset_unref(dataset);
	return rc;
}

static bool
parse_option(const char *word, struct options *options)
{
	if (strncmp(word, "as=", 3) == 0)
		options->as = word + 3;
	else if (strncmp(word, "branch=", 7) == 0)
		options->branch = word + 7;
	else if (strncmp(word, "version=", 8) == 0)
		options->version = strtoull(word + 8, NULL, 10);
	else if (strncmp(word, "batch=", 6) == 0)
		options->batch = strtoull(word + 6, NULL, 10);
	else if (strncmp(word, "budget=", 7) == 0)
		options->budget = strtoull(word + 7, NULL, 10);
	else if (strcmp(word, "quiet") == 0)
		options->quiet = true;
	else
		return false;
	return true;
}

int
main(int argc, char **argv)
{
	struct options options = { .branch = "", .batch = 8192, .budget = (uint64_t)64 << 20 };
	struct lancet_error err = { 0 };
	int rc;

	for (int i = 3; i < argc; i++)
		if (!parse_option(argv[i], &options))
			argc = 0;
	if (argc < 3) {
		fprintf(stderr, "usage: importrows DATASET csv|jsonl [as=csv|jsonl] [version=N] "
				"[branch=NAME] [batch=ROWS] [budget=BYTES] [quiet]\n");
		return EXIT_FAILURE;
	}
	options.path = argv[1];
	options.format = argv[2];
	options.as = options.as == NULL ? options.format : options.as;
	rc = run_dataset(&options, &err);
	if (rc == LANCET_OK && fflush(stdout) == 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "importrows: %s: %s\n", lancet_code_name(err.code), err.text);
	return EXIT_FAILURE;
}
