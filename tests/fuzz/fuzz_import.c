/* Text as rows of many types: refused, or arrays that fit together, whose text is read as the same
 * rows again.
 *
 * The first byte chooses the form and the column that a single one is read as, or all of them; the
 * second one how large batches may be.
 */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "../helpers/arraycheck.h"
#include "../helpers/importfields.h"
#include "core/arrow_export.h"
#include "core/import.h"
#include "core/json_text.h"
#include "util/macros.h"
#include <lancet/rowtext.h>

#define TEXT_MAX      (1u << 16)
#define COST_BASE     ((size_t)24 << 20) /* blocks that files are read in, and budgets */
#define COST_PER_BYTE 512u
#define AGAIN_LIMIT   ((size_t)256 << 20)

static const struct import_field stored[] = {
	{ "i", "int32", -1, false, NULL },
	{ "u", "uint64", -1, false, NULL },
	{ "f", "float", -1, false, NULL },
	{ "d", "double", -1, false, NULL },
	{ "h", "halffloat", -1, false, NULL },
	{ "g", "fixed_size_binary:2", -1, false, "lance.bfloat16" },
	{ "b", "bool", -1, false, NULL },
	{ "t", "string", -1, false, NULL },
	{ "y", "binary", -1, false, NULL },
	{ "x", "decimal:128:20:3", -1, false, NULL },
	{ "X", "decimal:256:60:-2", -1, false, NULL },
	{ "D", "date32:day", -1, false, NULL },
	{ "E", "date64:ms", -1, false, NULL },
	{ "T", "time32:ms", -1, false, NULL },
	{ "s", "timestamp:us:-", -1, false, NULL },
	{ "S", "timestamp:ns:+08:00", -1, false, NULL },
	{ "U", "duration:ns", -1, false, NULL },
	{ "j", "json", -1, false, "lance.json" },
	{ "v", "fixed_size_list:int16:2", -1, false, NULL },
	{ "w", "dict:string:int8:false", -1, false, NULL },
	{ "n", "null", -1, false, NULL },
	{ "l", "list", -1, false, NULL },
	{ "item", "struct", 21, false, NULL },
	{ "a", "int8", 22, false, NULL },
	{ "b", "large_string", 22, false, NULL },
	{ "m", "map", -1, false, NULL },
	{ "entries", "struct", 25, false, NULL },
	{ "key", "string", 26, false, NULL },
	{ "value", "list", 26, false, NULL },
	{ "item", "bool", 28, false, NULL },
};
#define ROOTS 23u

struct form {
	bool csv;
	size_t budget;
	uint64_t batch;
};

static int
write_text(void *context, const void *data, size_t size)
{
	struct buf *into = context;

	buf_put(into, data, size);
	return (int)into->failed;
}

/* The text of a batch, without the header that CSV has. */
static int
print_batch(const struct field_tree *tree, struct array *columns, uint64_t rows, bool csv,
	struct buf *into, struct lancet_error *err)
{
	const struct lancet_output out = { write_text, into };
	const struct lancet_rowtext_cut all = { 0 };
	const struct field *fields[ROOTS];
	struct ArrowSchema schema;
	struct ArrowArray batch;
	lancet_rowtext *writer = NULL;
	size_t before = into->size;
	int rc = LANCET_OK;

	for (size_t i = 0; rc == LANCET_OK && i < tree->root_count; i++) {
		fields[i] = &tree->roots[i];
		rc = json_text_convert(&columns[i], err);
	}
	TRY(rc);
	TRY(arrow_export_schema(fields, tree->root_count, NULL, 0, &schema, err));
	rc = lancet_rowtext_open(
		&schema, csv ? LANCET_CSV : LANCET_JSON_LINES, all, &out, &writer, err);
	if (rc == LANCET_OK && before > 0)
		into->size = before;
	if (rc == LANCET_OK)
		rc = arrow_export_batch(columns, tree->root_count, rows, &batch, err);
	if (rc == LANCET_OK) {
		rc = lancet_rowtext_write(writer, &batch, err);
		batch.release(&batch);
	}
	lancet_rowtext_free(writer);
	schema.release(&schema);
	return rc;
}

static int
take_batch(const struct field_tree *tree, const struct form *form, struct row_source *source,
	struct buf *into, uint64_t *ret_rows, struct lancet_error *err)
{
	struct array_budget budget = { .limit = form->budget };
	struct array columns[ROOTS];
	size_t made = 0;
	int rc = LANCET_OK;

	while (rc == LANCET_OK && made < tree->root_count) {
		rc = array_init(&columns[made], &tree->roots[made], &budget, err);
		made += rc == LANCET_OK;
	}
	if (rc == LANCET_OK)
		rc = source->ops->next(source, columns, form->batch, ret_rows, err);
	for (size_t i = 0; rc == LANCET_OK && i < tree->root_count; i++) {
		fuzz_expect(columns[i].length == *ret_rows);
		fuzz_expect(arraycheck(&columns[i]));
	}
	budget.limit = AGAIN_LIMIT;
	if (rc == LANCET_OK && *ret_rows > 0)
		rc = print_batch(tree, columns, *ret_rows, form->csv, into, err);
	for (size_t i = 0; i < made; i++)
		array_release(&columns[i]);
	return rc;
}

static int
take_all(const struct field_tree *tree, const struct form *form, struct slice text,
	struct buf *into, struct lancet_error *err)
{
	struct row_source *source = NULL;
	int file = memfd_create("rows", MFD_CLOEXEC), rc;
	uint64_t rows = 0;

	fuzz_expect(file >= 0 && write(file, text.data, text.size) == (ssize_t)text.size &&
		    lseek(file, 0, SEEK_SET) == 0);
	rc = (form->csv ? import_csv_open : import_json_open)(tree, file, &source, err);
	do {
		if (rc == LANCET_OK)
			rc = take_batch(tree, form, source, into, &rows, err);
	} while (rc == LANCET_OK && rows > 0);
	if (source != NULL)
		source->ops->free(source);
	(void)close(file);
	return rc;
}

/* What was printed is read again, in batches of another size. */
static void
check_again(const struct field_tree *tree, bool csv, struct slice printed, struct lancet_error *err)
{
	const struct form form = { csv, AGAIN_LIMIT, 7 };
	struct buf again = { 0 };
	int rc = take_all(tree, &form, printed, &again, err);

	fuzz_expect(rc == LANCET_OK || rc == LANCET_NO_MEMORY);
	fuzz_expect(rc != LANCET_OK || slice_equal(buf_slice(&again), printed));
	buf_release(&again);
}

static void
try_tree(struct field_tree *tree, uint8_t kind, uint8_t size, struct slice text)
{
	const struct form form = { kind & 1, (size_t)8192 << (size & 7), 1 + (size >> 3) };
	struct buf printed = { 0 };
	struct lancet_error err = { 0 };
	unsigned which = kind >> 1;
	struct field *roots = tree->roots;
	size_t count = tree->root_count;
	int rc;

	if (which < count) {
		tree->roots += which;
		tree->root_count = 1;
	}
	rc = take_all(tree, &form, text, &printed, &err);
	if (rc == LANCET_OK && printed.size > 0 && printed.failed == LANCET_OK)
		check_again(tree, form.csv, buf_slice(&printed), &err);
	fuzz_expect(rc == LANCET_OK || printed.failed != LANCET_OK || err.text[0] != '\0');
	fuzz_expect(rc == LANCET_OK || rc == LANCET_INVALID || rc == LANCET_LIMIT ||
		    rc == LANCET_NO_MEMORY);
	tree->roots = roots;
	tree->root_count = count;
	buf_release(&printed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(COST_BASE + COST_PER_BYTE * size);
	struct field_tree tree;

	if (size < 2 || size > TEXT_MAX)
		return 0;
	if (import_fields_tree(stored, ARRAY_SIZE(stored), &tree, NULL) == LANCET_OK) {
		fuzz_expect(tree.root_count == ROOTS);
		try_tree(&tree, data[0], data[1], slice_of(data + 2, size - 2));
		fuzz_check(&guard);
		field_tree_release(&tree);
	}
	fuzz_end(&guard);
	return 0;
}
