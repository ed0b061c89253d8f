/* Arrow files and streams as rows of many types: refused, or arrays that fit together.
 *
 * The first byte chooses the column that the dataset has, or all of them; the second one how large
 * batches may be.
 */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "../helpers/arraycheck.h"
#include "../helpers/importfields.h"
#include "core/import.h"
#include "core/import_arrow.h"
#include "util/macros.h"

#define FILE_MAX      (1u << 16)
#define MEMORY        ((size_t)4 << 20) /* bytes of dictionaries, of packed buffers */
#define COST_BASE     ((size_t)32 << 20)
#define COST_PER_BYTE 256u
#define ROWS_MAX      100000u

static const struct import_field stored[] = {
	{ "i", "int32", -1, false, NULL },
	{ "q", "int32", -1, true, NULL },
	{ "f", "double", -1, false, NULL },
	{ "b", "bool", -1, false, NULL },
	{ "t", "string", -1, false, NULL },
	{ "T", "large_string", -1, false, NULL },
	{ "y", "binary", -1, false, NULL },
	{ "x", "decimal:256:60:2", -1, false, NULL },
	{ "s", "timestamp:us:UTC", -1, false, NULL },
	{ "u", "fixed_size_binary:16", -1, false, "arrow.uuid" },
	{ "j", "json", -1, false, "lance.json" },
	{ "v", "fixed_size_list:float:3", -1, false, NULL },
	{ "w", "dict:string:int8:false", -1, false, NULL },
	{ "n", "null", -1, false, NULL },
	{ "l", "list.struct", -1, false, NULL },
	{ "item", "struct", 14, false, NULL },
	{ "a", "int8", 15, true, NULL },
	{ "b", "large_string", 15, false, NULL },
	{ "m", "map", -1, false, NULL },
	{ "entries", "struct", 18, true, NULL },
	{ "key", "string", 19, true, NULL },
	{ "value", "large_list", 19, false, NULL },
	{ "item", "bool", 21, false, NULL },
};
#define ROOTS 16u

static bool
is_sound(const struct array *array)
{
	if (array->field->kind == FIELD_DICTIONARY)
		return true;
	if (!array->field->nullable && array->null_count > 0)
		return false;
	for (size_t i = 0; i < array->child_count; i++) {
		if (!is_sound(&array->children[i]))
			return false;
	}
	return true;
}

static int
take_batch(const struct field_tree *tree, struct row_source *source, uint8_t size,
	uint64_t *ret_rows, struct lancet_error *err)
{
	struct array_budget budget = { .limit = (size_t)8192 << (size & 7) };
	struct array columns[ROOTS];
	size_t made = 0;
	int rc = LANCET_OK;

	while (rc == LANCET_OK && made < tree->root_count) {
		rc = array_init(&columns[made], &tree->roots[made], &budget, err);
		made += rc == LANCET_OK;
	}
	if (rc == LANCET_OK)
		rc = source->ops->next(source, columns, 1 + (size >> 3), ret_rows, err);
	for (size_t i = 0; rc == LANCET_OK && i < tree->root_count; i++) {
		fuzz_expect(columns[i].length == *ret_rows);
		fuzz_expect(*ret_rows == 0 || (arraycheck(&columns[i]) && is_sound(&columns[i])));
	}
	for (size_t i = 0; i < made; i++)
		array_release(&columns[i]);
	return rc;
}

static void
take_all(const struct field_tree *tree, int file, uint8_t size)
{
	struct row_source *source = NULL;
	struct lancet_error err = { 0 };
	uint64_t rows = 0, all = 0;
	int rc = import_arrow_open_within(tree, file, MEMORY, &source, &err);

	do {
		if (rc == LANCET_OK)
			rc = take_batch(tree, source, size, &rows, &err);
		all += rows;
	} while (rc == LANCET_OK && rows > 0 && all < ROWS_MAX);
	fuzz_expect(rc == LANCET_OK || err.text[0] != '\0');
	if (source != NULL)
		source->ops->free(source);
}

static void
try_tree(struct field_tree *tree, uint8_t which, uint8_t size, const uint8_t *data, size_t left)
{
	struct field *roots = tree->roots;
	size_t count = tree->root_count;
	int file = memfd_create("rows", MFD_CLOEXEC);

	fuzz_expect(file >= 0 && write(file, data, left) == (ssize_t)left &&
		    lseek(file, 0, SEEK_SET) == 0);
	if (which < count) {
		tree->roots += which;
		tree->root_count = 1;
	}
	take_all(tree, file, size);
	tree->roots = roots;
	tree->root_count = count;
	(void)close(file);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(COST_BASE + COST_PER_BYTE * size);
	struct field_tree tree;

	if (size < 2 || size > FILE_MAX)
		return 0;
	if (import_fields_tree(stored, ARRAY_SIZE(stored), &tree, NULL) == LANCET_OK) {
		fuzz_expect(tree.root_count == ROOTS);
		try_tree(&tree, data[0], data[1], data + 2, size - 2);
		field_tree_release(&tree);
	}
	fuzz_end(&guard);
	return 0;
}
