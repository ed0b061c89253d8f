/* Columns by name: exactly, or else, when there is only one, without regard to the case of ASCII
 * letters, as the reference does. Lineage columns are roots behind those of the schema.
 */
#include "predicate_parts.h"

#include <stdlib.h>
#include <strings.h>

#include "util/macros.h"

static const char *const lineage_names[PREDICATE_LINEAGE] = { "_rowid", "_row_created_at_version",
	"_row_last_updated_at_version", "_rowaddr" };

static bool
equals_any_case(struct slice a, struct slice b)
{
	return a.size == b.size && (a.size == 0 || strncasecmp((const char *)a.data,
							   (const char *)b.data, a.size) == 0);
}

/* The place of a name in a list of fields; `count` when there is none. */
static int
find(const struct expression *column, struct slice name, const struct field *fields, size_t count,
	size_t *ret_place, struct lancet_error *err)
{
	size_t found = count;

	for (size_t i = 0; i < count; i++) {
		if (!slice_equal(fields[i].name, name))
			continue;
		*ret_place = i;
		return LANCET_OK;
	}
	for (size_t i = 0; i < count; i++) {
		if (!equals_any_case(fields[i].name, name))
			continue;
		if (found < count)
			return lancet_fail(err, LANCET_INVALID,
				"at %u: column \"%.*s\": several differ from it in case only",
				column->place, FIELD_TEXT(name));
		found = i;
	}
	*ret_place = found;
	return LANCET_OK;
}

static int
refuse_name(const struct expression *column, unsigned part, struct lancet_error *err)
{
	if (part == 0)
		return lancet_fail(err, LANCET_INVALID,
			"at %u: column \"%.*s\": there is none (text is written in 'quotes')",
			column->place, FIELD_TEXT(column->path[0]));
	return lancet_fail(err, LANCET_INVALID, "at %u: \"%.*s\" has no field \"%.*s\"",
		column->place, FIELD_TEXT(column->path[part - 1]), FIELD_TEXT(column->path[part]));
}

static bool
is_lineage(struct slice name, size_t *ret_which)
{
	for (size_t i = 0; i < ARRAY_SIZE(lineage_names); i++) {
		if (!slice_equal(name, slice_text(lineage_names[i])))
			continue;
		*ret_which = i;
		return true;
	}
	return false;
}

static int
follow_path(struct predicate *predicate, struct expression *column, struct lancet_error *err)
{
	const struct field_tree *schema = predicate->schema;
	const struct field *fields = schema->roots;
	size_t count = schema->root_count, place = 0;

	column->fields =
		arena_zalloc(&predicate->arena, column->path_size, sizeof(*column->fields));
	if (column->fields == NULL)
		return predicate_out_of_memory(err);
	for (unsigned i = 0; i < column->path_size; i++) {
		TRY(find(column, column->path[i], fields, count, &place, err));
		if (place == count)
			return refuse_name(column, i, err);
		if (i == 0)
			column->root = place;
		column->fields[i] = &fields[place];
		count = 0;
		if (column->fields[i]->kind == FIELD_STRUCT &&
			column->fields[i]->blob == FIELD_NO_BLOB) {
			fields = column->fields[i]->children;
			count = column->fields[i]->child_count;
		}
	}
	column->type = type_of_field(column->fields[column->path_size - 1]);
	return LANCET_OK;
}

int
predicate_find_column(
	struct predicate *predicate, struct expression *column, struct lancet_error *err)
{
	size_t which;

	if (column->path_size > 1 || !is_lineage(column->path[0], &which))
		return follow_path(predicate, column, err);
	column->root = predicate->schema->root_count + which;
	column->type = (struct value_type){ .class = VALUE_UINT };
	return LANCET_OK;
}

int
predicate_bind_column(
	struct predicate *predicate, struct expression *column, struct lancet_error *err)
{
	TRY(predicate_find_column(predicate, column, err));
	predicate->uses[column->root] = true;
	return LANCET_OK;
}

bool
predicate_wants(const struct predicate *predicate, struct slice name)
{
	for (const struct expression *at = predicate->columns; at != NULL; at = at->next_column) {
		if (equals_any_case(at->path[0], name))
			return true;
	}
	return false;
}

const char *
predicate_lineage_name(size_t which)
{
	return lineage_names[which];
}
