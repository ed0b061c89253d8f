/* The columns of a scan: fields of the schema, and the lineage of rows by its reserved names. */
#include "scan_state.h"

#include <stdlib.h>

#include "json_text.h"
#include "util/macros.h"
#include "version.h"

#define LINEAGE_FIELD(text)                                                                        \
	{                                                                                          \
		.kind = FIELD_FIXED, .id = FIELD_NO_ID,                                            \
		.name = { (const uint8_t *)(text), sizeof(text) - 1 },                             \
		.logical_type = { (const uint8_t *)"uint64", 6 }, .format = "L", .bits = 64,       \
		.nullable = true                                                                   \
	}

/* Nullable, since the reference says so; none ever is null. */
static const struct field lineage_fields[SCAN_LINEAGE] = {
	[SCAN_ROW_ID] = LINEAGE_FIELD("_rowid"),
	[SCAN_CREATED_AT] = LINEAGE_FIELD("_row_created_at_version"),
	[SCAN_LAST_UPDATED_AT] = LINEAGE_FIELD("_row_last_updated_at_version"),
	[SCAN_ROW_ADDRESS] = LINEAGE_FIELD("_rowaddr"),
};

static bool
is_lineage(struct slice name, enum scan_lineage *ret_lineage)
{
	for (size_t i = 0; i < SCAN_LINEAGE; i++) {
		if (slice_equal(name, lineage_fields[i].name)) {
			*ret_lineage = (enum scan_lineage)i;
			return true;
		}
	}
	return false;
}

static int
allocate(lancet_scan *scan, size_t count, struct lancet_error *err)
{
	scan->columns = calloc(count + 1, sizeof(*scan->columns));
	scan->fields = calloc(count + 1, sizeof(*scan->fields));
	scan->arrays = calloc(count + 1, sizeof(*scan->arrays));
	if (scan->columns == NULL || scan->fields == NULL || scan->arrays == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "scan of %zu columns", count);
	return LANCET_OK;
}

static void
add_column(lancet_scan *scan, struct scan_column column)
{
	column.has_json = json_text_is_in(column.field);
	scan->fields[scan->column_count] = column.field;
	scan->columns[scan->column_count++] = column;
}

static int
init_all(lancet_scan *scan, enum field_blobs blobs, struct lancet_error *err)
{
	struct data_schema *schema = &scan->schema;

	TRY(data_schema_init(schema, scan->version, NULL, 0, blobs, err));
	TRY(allocate(scan, schema->tree.root_count, err));
	for (size_t i = 0; i < schema->tree.root_count; i++)
		add_column(
			scan, (struct scan_column){ .field = &schema->tree.roots[i], .root = i });
	return LANCET_OK;
}

static struct scan_column
find_column(const lancet_scan *scan, struct slice name)
{
	const struct field_tree *tree = &scan->schema.tree;
	struct scan_column column = { 0 };

	if (is_lineage(name, &column.lineage)) {
		column.is_lineage = true;
		column.field = &lineage_fields[column.lineage];
		return column;
	}
	while (!slice_equal(tree->roots[column.root].name, name))
		column.root++;
	column.field = &tree->roots[column.root];
	return column;
}

static int
refuse_twice(const struct lancet_scan_options *options, struct lancet_error *err)
{
	for (size_t i = 0; i < options->column_count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (strcmp(options->columns[i], options->columns[j]) == 0)
				return lancet_fail(err, LANCET_INVALID, "column \"%.200s\" twice",
					options->columns[i]);
		}
	}
	return LANCET_OK;
}

static int
init_named(lancet_scan *scan, const struct lancet_scan_options *options, struct lancet_error *err)
{
	size_t count = options->column_count, user = 0;
	lancet_autofree struct lancet_bytes *names = calloc(count + 1, sizeof(*names));
	enum scan_lineage lineage;

	if (names == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "scan of %zu columns", count);
	TRY(refuse_twice(options, err));
	for (size_t i = 0; i < count; i++) {
		struct slice name = slice_text(options->columns[i]);

		if (!is_lineage(name, &lineage))
			names[user++] = (struct lancet_bytes){ name.data, name.size };
	}
	TRY(data_schema_init(
		&scan->schema, scan->version, names, user, (enum field_blobs)options->blobs, err));
	TRY(allocate(scan, count, err));
	for (size_t i = 0; i < count; i++)
		add_column(scan, find_column(scan, slice_text(options->columns[i])));
	return LANCET_OK;
}

int
scan_columns_init(
	lancet_scan *scan, const struct lancet_scan_options *options, struct lancet_error *err)
{
	_Static_assert((int)FIELD_BLOB_BYTES == (int)LANCET_BLOB_BYTES, "one order");
	if (options->columns == NULL)
		return init_all(scan, (enum field_blobs)options->blobs, err);
	return init_named(scan, options, err);
}
