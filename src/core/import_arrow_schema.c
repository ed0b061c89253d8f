/* The schema of an Arrow file held against that of the dataset; see import_arrow.h.
 *
 * Names count at the top and in structs, positions where a type has its children. What a nullable
 * field declares is no matter here: nulls are looked for among the values, since most programs call
 * all of their columns nullable. Recursion follows the fields of the dataset.
 */
#include "import_arrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "json_text.h"
#include "util/macros.h"

#define DETAILS_KEY "ARROW:extension:metadata"

enum { SCHEMA_ENDIANNESS, SCHEMA_FIELDS };
enum { STORED_NAME, STORED_DICTIONARY = 4, STORED_CHILDREN, STORED_METADATA };
enum { ENTRY_KEY, ENTRY_VALUE };

struct match {
	struct import_columns *columns;
	bool *matched; /* by ordinal */
	struct lancet_error *err;
};

void
import_path(const struct field *field, char into[IMPORT_PATH_MAX])
{
	const struct field *chain[FIELD_DEPTH_MAX + 1];
	size_t depth = 0, size = 0;

	for (; field != NULL && depth < ARRAY_SIZE(chain); field = field->parent)
		chain[depth++] = field;
	into[0] = '\0';
	while (depth-- > 0 && size < IMPORT_PATH_MAX) {
		int more = snprintf(into + size, IMPORT_PATH_MAX - size, "%.*s%s",
			FIELD_TEXT(chain[depth]->name), depth > 0 ? "." : "");

		size += more < 0 ? 0 : (size_t)more;
	}
}

static int
fail(const struct match *match, const struct field *field, const char *why)
{
	char path[IMPORT_PATH_MAX];

	import_path(field, path);
	return lancet_fail(match->err, LANCET_INVALID, "column \"%s\": %s", path, why);
}

static int
fail_type(const struct match *match, const struct field *field, const char *words)
{
	char why[200];

	(void)snprintf(why, sizeof(why), "the file has %s, the dataset %.*s", words,
		FIELD_TEXT(field->logical_type));
	return fail(match, field, why);
}

static int
no_memory(const struct match *match)
{
	return lancet_fail(match->err, LANCET_NO_MEMORY, "columns of an Arrow file");
}

static struct slice
stored_entry(const struct flattable *stored, const char *key)
{
	struct flatvector entries = flatview_vector(stored, STORED_METADATA, 4);
	struct slice value = { 0 };

	for (uint32_t i = 0; i < entries.count && !stored->view->bad; i++) {
		struct flattable entry = flatvector_table(&entries, i);

		if (slice_equal(flatview_string(&entry, ENTRY_KEY), slice_text(key)))
			value = flatview_string(&entry, ENTRY_VALUE);
	}
	return value;
}

static struct slice
field_entry(const struct field *field, const char *key)
{
	for (size_t i = 0; i < field->metadata_count; i++) {
		if (slice_equal(field->metadata[i].key, slice_text(key)))
			return field->metadata[i].value;
	}
	return (struct slice){ 0 };
}

/* Many programs drop extensions: only two that differ are a contradiction. */
static int
match_extension(
	const struct match *match, const struct flattable *stored, const struct field *field)
{
	struct slice name = stored_entry(stored, EXTENSION_KEY);
	struct slice wanted = field_entry(field, EXTENSION_KEY);
	char why[200];

	if (name.size == 0 || wanted.size == 0 ||
		(json_text_is_for(field) && slice_equal(name, slice_text(JSON_READ_AS))))
		return LANCET_OK;
	if (slice_equal(name, wanted)) {
		struct slice details = stored_entry(stored, DETAILS_KEY);
		struct slice wanted_details = field_entry(field, DETAILS_KEY);

		if (details.size == 0 || wanted_details.size == 0 ||
			slice_equal(details, wanted_details))
			return LANCET_OK;
		return fail(match, field, "the parameters of its extension type are others");
	}
	(void)snprintf(why, sizeof(why), "the file has extension type %.*s, the dataset %.*s",
		FIELD_TEXT(name), FIELD_TEXT(wanted));
	return fail(match, field, why);
}

static int match_field(const struct match *match, const struct flattable *stored,
	const struct field *field, struct import_column *column);

/* Room for one column too many, at which matching ends. */
static size_t
at_most(uint32_t stored, size_t fields)
{
	return stored <= fields ? stored : fields + 1;
}

static int
make_children(const struct match *match, struct import_column *column, size_t count)
{
	column->children =
		arena_zalloc(&match->columns->arena, count + 1, sizeof(*column->children));
	column->child_count = count;
	return column->children == NULL ? no_memory(match) : LANCET_OK;
}

/* Usually they come in the same order. */
static const struct field *
find_named(const struct field *fields, size_t count, size_t guess, struct slice name)
{
	if (guess < count && slice_equal(fields[guess].name, name))
		return &fields[guess];
	for (size_t i = 0; i < count; i++) {
		if (slice_equal(fields[i].name, name))
			return &fields[i];
	}
	return NULL;
}

static int
fail_unknown(const struct match *match, const struct field *parent, struct slice name)
{
	char why[200];

	if (parent == NULL)
		return lancet_fail(match->err, LANCET_INVALID,
			"column \"%.*s\": the dataset has no such column", FIELD_TEXT(name));
	(void)snprintf(
		why, sizeof(why), "the dataset has no part \"%.*s\" of it", FIELD_TEXT(name));
	return fail(match, parent, why);
}

/* Each column of the file has a field, no two the same; fields that it lacks may be null. With more
 * columns than fields there is one too many among the first. */
static int
match_named(const struct match *match, const struct flatvector *stored, const struct field *parent,
	const struct field *fields, size_t field_count, struct import_column *columns)
{
	for (uint32_t i = 0; i < stored->count; i++) {
		struct flattable column = flatvector_table(stored, i);
		struct slice name = flatview_string(&column, STORED_NAME);
		const struct field *field = find_named(fields, field_count, i, name);

		if (field == NULL)
			return fail_unknown(match, parent, name);
		if (match->matched[field->ordinal])
			return fail(match, field, "the file has it twice");
		match->matched[field->ordinal] = true;
		TRY(match_field(match, &column, field, &columns[i]));
	}
	for (size_t i = 0; i < field_count; i++) {
		if (!fields[i].nullable && !match->matched[fields[i].ordinal])
			return fail(match, &fields[i], "the file lacks it, and it can't be null");
	}
	return LANCET_OK;
}

static int
match_children(const struct match *match, const struct flattable *stored, const struct field *field,
	struct import_column *column)
{
	struct flatvector children = flatview_vector(stored, STORED_CHILDREN, 4);

	if (column->type.layout == IMPORT_NULLS)
		return LANCET_OK;
	if (field->kind == FIELD_STRUCT) {
		TRY(make_children(match, column, at_most(children.count, field->child_count)));
		return match_named(match, &children, field, field->children, field->child_count,
			column->children);
	}
	if (column->type.layout < IMPORT_LISTS)
		return children.count == 0 ? LANCET_OK
					   : fail_type(match, field, "a type with children");
	if (children.count != field->child_count)
		return fail_type(match, field, column->type.words);
	TRY(make_children(match, column, children.count));
	for (uint32_t i = 0; i < children.count; i++) {
		struct flattable child = flatvector_table(&children, i);

		TRY(match_field(match, &child, &field->children[i], &column->children[i]));
	}
	return LANCET_OK;
}

/* The entries of a map are a struct whose two parts have many names. */
static int
match_entries(const struct match *match, const struct flattable *stored,
	const struct field *entries, struct import_column *column)
{
	struct flatvector parts = flatview_vector(stored, STORED_CHILDREN, 4);

	TRY(make_children(match, column, 2));
	if (parts.count != 2)
		return fail_type(match, entries->parent, "a map without keys and values");
	for (uint32_t i = 0; i < 2; i++) {
		struct flattable part = flatvector_table(&parts, i);

		TRY(match_field(match, &part, &entries->children[i], &column->children[i]));
	}
	return LANCET_OK;
}

/* Values that are stored as themselves. */
static int
match_values(const struct match *match, const struct flattable *stored, const struct field *field,
	struct import_column *column)
{
	int rc = import_type_of(stored, &column->type, match->err);
	char path[IMPORT_PATH_MAX];

	column->field = field;
	if (rc != LANCET_OK) {
		import_path(field, path);
		return lancet_wrap(match->err, rc, "column \"%s\"", path);
	}
	if (!import_type_fits(&column->type, field))
		return fail_type(match, field, column->type.words);
	if (field->parent != NULL && field->parent->kind == FIELD_MAP &&
		column->type.layout == IMPORT_STRUCTS)
		return match_entries(match, stored, field, column);
	return match_children(match, stored, field, column);
}

static int
match_dictionary(const struct match *match, const struct flattable *stored,
	const struct flattable *encoding, const struct field *field, struct import_column *column)
{
	struct import_columns *columns = match->columns;
	struct import_dictionary *dictionary =
		arena_zalloc(&columns->arena, 1, sizeof(*dictionary));
	struct import_dictionary **place = &columns->dictionaries;

	if (dictionary == NULL)
		return no_memory(match);
	TRY(import_type_of_keys(encoding, &column->type, match->err));
	if (field->kind == FIELD_DICTIONARY)
		field = &field->children[0];
	dictionary->id = flatview_i64(encoding, 0, 0);
	TRY(match_values(match, stored, field, &dictionary->values));
	TRY(array_init(&dictionary->items, field, &columns->budget, match->err));
	while (*place != NULL)
		place = &(*place)->next;
	*place = dictionary;
	column->dictionary = dictionary;
	return LANCET_OK;
}

static int
match_field(const struct match *match, const struct flattable *stored, const struct field *field,
	struct import_column *column)
{
	struct flattable encoding = flatview_table(stored, STORED_DICTIONARY);

	column->field = field;
	if (!flattable_present(stored))
		return lancet_fail(match->err, LANCET_CORRUPT, "the schema is damaged");
	TRY(match_extension(match, stored, field));
	if (flattable_present(&encoding))
		return match_dictionary(match, stored, &encoding, field, column);
	if (field->kind != FIELD_DICTIONARY)
		return match_values(match, stored, field, column);
	column->type = (struct import_type){ .layout = IMPORT_PLAIN };
	TRY(make_children(match, column, 1));
	return match_values(match, stored, &field->children[0], &column->children[0]);
}

static int
match_schema(const struct match *match, const struct flattable *schema)
{
	struct import_columns *columns = match->columns;
	struct flatvector fields = flatview_vector(schema, SCHEMA_FIELDS, 4);

	if (flatview_i16(schema, SCHEMA_ENDIANNESS, 0) != 0)
		return lancet_fail(match->err, LANCET_UNSUPPORTED, "an Arrow file in big-endian");
	columns->count = at_most(fields.count, columns->tree->root_count);
	columns->columns =
		arena_zalloc(&columns->arena, columns->count + 1, sizeof(*columns->columns));
	if (columns->columns == NULL)
		return no_memory(match);
	return match_named(match, &fields, NULL, columns->tree->roots, columns->tree->root_count,
		columns->columns);
}

int
import_columns_init(struct import_columns *columns, const struct flattable *schema,
	const struct field_tree *tree, size_t memory, struct lancet_error *err)
{
	lancet_autofree bool *matched = calloc(tree->count + (size_t)1, sizeof(*matched));
	const struct match match = { columns, matched, err };
	int rc;

	*columns = (struct import_columns){ .budget.limit = memory, .tree = tree };
	if (matched == NULL)
		return no_memory(&match);
	rc = match_schema(&match, schema);
	if (schema->view->bad && rc != LANCET_NO_MEMORY)
		rc = lancet_fail(err, LANCET_CORRUPT, "the schema is damaged");
	if (rc != LANCET_OK)
		import_columns_release(columns);
	return rc;
}

void
import_columns_release(struct import_columns *columns)
{
	for (struct import_dictionary *d = columns->dictionaries; d != NULL; d = d->next)
		array_release(&d->items);
	arena_release(&columns->arena);
	*columns = (struct import_columns){ 0 };
}
