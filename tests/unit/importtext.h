/* Rows of text read by a schema made by hand, and printed again as JSON lines. */
#ifndef TESTS_IMPORTTEXT_H
#define TESTS_IMPORTTEXT_H

#include "../helpers/arraycheck.h"
#include "core/arrow_export.h"
#include "core/import.h"
#include "core/json_text.h"
#include "importtree.h"

#include <lancet/rowtext.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define IMPORT_BUDGET ((size_t)64 << 20)

enum import_text { TEXT_CSV, TEXT_JSON, TEXT_ARROW };

struct import_test {
	const struct import_field *fields;
	size_t field_count;
	enum import_text form;
	size_t budget;    /* bytes; 0 = IMPORT_BUDGET */
	uint64_t batch;   /* rows at a time; 0 = 1000 */
	struct buf out;   /* what the rows are */
	uint64_t batches; /* that came */
	enum lancet_code code;
	struct lancet_error err;
};

static inline int
import_file(struct slice text)
{
	int file = memfd_create("rows", MFD_CLOEXEC);

	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(write(file, text.data, text.size), (ssize_t)text.size);
	ck_assert_int_eq(lseek(file, 0, SEEK_SET), 0);
	return file;
}

static inline int
import_write(void *context, const void *data, size_t size)
{
	buf_put(context, data, size);
	return LANCET_OK;
}

/* Prints a batch; the arrays may only be released then. */
static inline void
import_print(const struct field_tree *tree, struct array *columns, uint64_t rows, struct buf *out)
{
	const struct lancet_rowtext_cut all = { 0 };
	const struct lancet_output to = { import_write, out };
	const struct field *fields[IMPORT_COLUMNS];
	struct ArrowSchema schema;
	struct ArrowArray batch;
	lancet_rowtext *writer;

	for (size_t i = 0; i < tree->root_count; i++) {
		fields[i] = &tree->roots[i];
		ck_assert_uint_eq(columns[i].length, rows);
		ck_assert(arraycheck(&columns[i]));
		columns[i].budget->limit = SIZE_MAX / 2;
		ck_assert_int_eq(json_text_convert(&columns[i], NULL), LANCET_OK);
	}
	ck_assert_int_eq(
		arrow_export_schema(fields, tree->root_count, NULL, 0, &schema, NULL), LANCET_OK);
	ck_assert_int_eq(
		arrow_export_batch(columns, tree->root_count, rows, &batch, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_rowtext_open(&schema, LANCET_JSON_LINES, all, &to, &writer, NULL),
		LANCET_OK);
	ck_assert_int_eq(lancet_rowtext_write(writer, &batch, NULL), LANCET_OK);
	lancet_rowtext_free(writer);
	batch.release(&batch);
	schema.release(&schema);
}

static inline int
import_batches(struct import_test *test, const struct field_tree *tree, struct row_source *source)
{
	struct array_budget budget = { 0 };
	struct array columns[IMPORT_COLUMNS];
	uint64_t rows = 0;
	int rc;

	do {
		budget.limit = test->budget == 0 ? IMPORT_BUDGET : test->budget;
		for (size_t i = 0; i < tree->root_count; i++)
			ck_assert_int_eq(
				array_init(&columns[i], &tree->roots[i], &budget, NULL), LANCET_OK);
		rc = source->ops->next(
			source, columns, test->batch == 0 ? 1000 : test->batch, &rows, &test->err);
		if (rc == LANCET_OK && rows > 0) {
			test->batches++;
			import_print(tree, columns, rows, &test->out);
		}
		for (size_t i = 0; i < tree->root_count; i++)
			array_release(&columns[i]);
	} while (rc == LANCET_OK && rows > 0);
	return rc;
}

/* Reads all of `text`; test->out is NUL-terminated then, and the caller's to release. */
static inline void
import_run(struct import_test *test, struct slice text)
{
	int (*const opens[])(const struct field_tree *schema, int from,
		struct row_source **ret_source, struct lancet_error *err) = { import_csv_open,
		import_json_open, import_arrow_open };
	struct row_source *source = NULL;
	struct field_tree tree;
	int file = import_file(text), rc;

	import_tree(test->fields, test->field_count, &tree);
	rc = opens[test->form](&tree, file, &source, &test->err);
	if (rc == LANCET_OK) {
		rc = import_batches(test, &tree, source);
		source->ops->free(source);
	}
	test->code = (enum lancet_code)rc;
	buf_put_byte(&test->out, '\0');
	field_tree_release(&tree);
	(void)close(file);
}

/* `want` is the rows, or the text of an error, which has no line end. */
static inline void
import_check(const struct import_field *fields, size_t count, enum import_text form,
	struct slice text, const char *want)
{
	struct import_test test = { .fields = fields, .field_count = count, .form = form };
	size_t size = strlen(want);

	import_run(&test, text);
	if (size == 0 || want[size - 1] == '\n') {
		ck_assert_msg(test.code == LANCET_OK, "%s", test.err.text);
		ck_assert_str_eq((const char *)test.out.data, want);
	} else {
		ck_assert_str_eq(test.err.text, want);
		ck_assert_int_eq(test.code, test.err.code);
	}
	buf_release(&test.out);
}

#endif
