/* A file's own schema as a tree, its rows, and which column a field has; see datafile.h. Format
 * facts: schema to columns.
 */
#include "datafile.h"

#include "legacy_meta.h"
#include "stored_schema.h"
#include "util/macros.h"

int
datafile_row_count(struct datafile *file, uint64_t *ret_rows, struct lancet_error *err)
{
	const struct legacy_meta *meta;
	struct page_buffer place;

	if (datafile_version(file) == FILE_LEGACY) {
		TRY(datafile_legacy(file, &meta, err));
		*ret_rows = meta->rows;
		return LANCET_OK;
	}
	TRY(datafile_global_buffer(file, 0, &place, err));
	return stored_rows(datafile_source(file), place.offset, place.size, ret_rows, err);
}

int
datafile_schema(struct datafile *file, enum field_blobs blobs, struct field_tree *ret_tree,
	uint64_t *ret_rows, struct lancet_error *err)
{
	struct Lance__File__Field *const *fields;
	size_t count;
	uint64_t rows;

	TRY(datafile_row_count(file, &rows, err));
	TRY(datafile_fields(file, &fields, &count, err));
	TRY(field_tree_init(ret_tree, fields, count, blobs, err));
	*ret_rows = rows;
	return LANCET_OK;
}

struct numbering {
	enum file_version version;
	int32_t *columns;
	int32_t next;
};

/* The tree is no deeper than FIELD_DEPTH_MAX, and so is this recursion. */
static void
number_fields(struct numbering *n, const struct field *fields, size_t count, bool owned)
{
	for (size_t i = 0; i < count; i++) {
		const struct field *field = &fields[i];
		bool is_leaf = field_is_leaf(field);
		bool has_column = !owned && (is_leaf || n->version == FILE_2_0);

		if (n->version == FILE_LEGACY)
			n->columns[field->ordinal] = field->id == FIELD_NO_ID ? -1 : field->id;
		else
			n->columns[field->ordinal] = has_column ? n->next++ : -1;
		number_fields(n, field->children, field->child_count, owned || is_leaf);
	}
}

void
datafile_number_columns(enum file_version version, const struct field_tree *tree, int32_t *columns)
{
	struct numbering n = { .version = version, .columns = columns };

	number_fields(&n, tree->roots, tree->root_count, false);
}
