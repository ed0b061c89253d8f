/* Arrow files and streams as rows of many types: refused, or arrays that fit together.
 *
 * The first byte chooses the column that the dataset has, or all of them; the second one how large
 * batches may be.
 */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "../helpers/arraycheck.h"
#include "core/import.h"
#include "core/import_arrow.h"
#include "lance/file.pb-c.h"
#include "util/macros.h"

#define FILE_MAX      (1u << 16)
#define MEMORY        ((size_t)4 << 20) /* bytes of dictionaries, of packed buffers */
#define COST_BASE     ((size_t)32 << 20)
#define COST_PER_BYTE 256u
#define ROWS_MAX      100000u

static const struct stored {
	const char *name, *type, *extension;
	int parent;
	bool needed;
} stored[] = {
	{ "i", "int32", NULL, -1, false },
	{ "q", "int32", NULL, -1, true },
	{ "f", "double", NULL, -1, false },
	{ "b", "bool", NULL, -1, false },
	{ "t", "string", NULL, -1, false },
	{ "T", "large_string", NULL, -1, false },
	{ "y", "binary", NULL, -1, false },
	{ "x", "decimal:256:60:2", NULL, -1, false },
	{ "s", "timestamp:us:UTC", NULL, -1, false },
	{ "u", "fixed_size_binary:16", "arrow.uuid", -1, false },
	{ "j", "json", "lance.json", -1, false },
	{ "v", "fixed_size_list:float:3", NULL, -1, false },
	{ "w", "dict:string:int8:false", NULL, -1, false },
	{ "n", "null", NULL, -1, false },
	{ "l", "list.struct", NULL, -1, false },
	{ "item", "struct", NULL, 14, false },
	{ "a", "int8", NULL, 15, true },
	{ "b", "large_string", NULL, 15, false },
	{ "m", "map", NULL, -1, false },
	{ "entries", "struct", NULL, 18, true },
	{ "key", "string", NULL, 19, true },
	{ "value", "large_list", NULL, 19, false },
	{ "item", "bool", NULL, 21, false },
};
#define FIELDS ARRAY_SIZE(stored)
#define ROOTS  16u

static ProtobufCBinaryData
bytes_of(const char *text)
{
	return (ProtobufCBinaryData){ strlen(text), (uint8_t *)text };
}

static int
make_tree(struct field_tree *tree)
{
	Lance__File__Field fields[FIELDS], *places[FIELDS];
	Lance__File__StringEntry entries[FIELDS], *entry_places[FIELDS];

	for (size_t i = 0; i < FIELDS; i++) {
		places[i] = &fields[i];
		lance__file__field__init(&fields[i]);
		fields[i].name = bytes_of(stored[i].name);
		fields[i].id = (int32_t)i;
		fields[i].parent_id = stored[i].parent;
		fields[i].logical_type = bytes_of(stored[i].type);
		fields[i].nullable = !stored[i].needed;
		if (stored[i].extension == NULL)
			continue;
		lance__file__string_entry__init(&entries[i]);
		entries[i].key = bytes_of("ARROW:extension:name");
		entries[i].value = bytes_of(stored[i].extension);
		entry_places[i] = &entries[i];
		fields[i].n_metadata = 1;
		fields[i].metadata = &entry_places[i];
	}
	return field_tree_init(tree, places, FIELDS, FIELD_BLOB_BYTES, NULL);
}

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
	if (make_tree(&tree) == LANCET_OK) {
		fuzz_expect(tree.root_count == ROOTS);
		try_tree(&tree, data[0], data[1], data + 2, size - 2);
		field_tree_release(&tree);
	}
	fuzz_end(&guard);
	return 0;
}
