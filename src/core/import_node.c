/* What is known of fields before rows come; see import_value.h. */
#include "import_value.h"

#include <stdlib.h>

#include "json_text.h"
#include "util/jsonw.h"
#include "util/macros.h"
#include "util/text.h"

#define ONE_LIMIT ((size_t)1 << 30) /* bytes of a dictionary's value in hand: no limit of its own  \
				     */

static bool
has_extension(const struct field *field, const char *name)
{
	for (size_t i = 0; i < field->metadata_count; i++) {
		if (slice_equal(field->metadata[i].key, slice_text(EXTENSION_KEY)))
			return slice_equal(field->metadata[i].value, slice_text(name));
	}
	return false;
}

static int
set_name(struct import_node *node, struct arena *arena, struct lancet_error *err)
{
	struct slice name = node->field->name;
	struct buf text = { 0 };
	int rc = LANCET_OK;

	node->name = name;
	if (text_is_utf8(name))
		return LANCET_OK;
	buf_put_text(&text, "base64:");
	jsonw_put_base64(&text, name);
	if (text.failed == LANCET_OK)
		node->name = slice_of(arena_copy(arena, text.data, text.size), text.size);
	if (text.failed != LANCET_OK || node->name.data == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "names of columns");
	buf_release(&text);
	return rc;
}

static const struct {
	enum arrow_kind kind;
	enum import_form form;
	import_parse *parse;
} forms[] = {
	{ ARROW_NULL, IMPORT_NULL, NULL },
	{ ARROW_BOOL, IMPORT_SCALAR, import_parse_bool },
	{ ARROW_INT, IMPORT_SCALAR, import_parse_int },
	{ ARROW_FLOAT, IMPORT_SCALAR, import_parse_float },
	{ ARROW_DECIMAL, IMPORT_SCALAR, import_parse_decimal },
	{ ARROW_DATE, IMPORT_SCALAR, import_parse_date },
	{ ARROW_TIME, IMPORT_SCALAR, import_parse_time },
	{ ARROW_TIMESTAMP, IMPORT_SCALAR, import_parse_timestamp },
	{ ARROW_DURATION, IMPORT_SCALAR, import_parse_duration },
	{ ARROW_TEXT, IMPORT_TEXT, NULL },
	{ ARROW_BINARY, IMPORT_BINARY, NULL },
	{ ARROW_FIXED_BINARY, IMPORT_FIXED_BINARY, NULL },
};

/* Fields without children of their own, by their type in Arrow. */
static int
set_leaf(struct import_node *node, struct lancet_error *err)
{
	const struct field *field = node->field;
	const struct ArrowSchema schema = { .format = field->format, .name = "" };

	TRY(arrow_type_of(&schema, &node->type, err));
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (forms[i].kind != node->type.kind)
			continue;
		node->form = forms[i].form;
		node->parse = forms[i].parse;
	}
	if (json_text_is_for(field))
		node->form = IMPORT_JSON_BINARY;
	else if (node->form == IMPORT_TEXT && has_extension(field, JSON_READ_AS))
		node->form = IMPORT_JSON_TEXT;
	if (node->form == IMPORT_FIXED_BINARY && field->bits == 16 &&
		has_extension(field, "lance.bfloat16")) {
		node->form = IMPORT_SCALAR;
		node->parse = import_parse_bfloat16;
	}
	node->takes_empty = node->form == IMPORT_TEXT || node->form == IMPORT_BINARY;
	return LANCET_OK;
}

static int
compare_names(const void *a, const void *b)
{
	const struct import_node *const *x = a, *const *y = b;

	return slice_compare((*x)->name, (*y)->name);
}

static int node_init(struct import_node *node, const struct field *field, struct arena *arena,
	struct lancet_error *err);

static int
set_children(struct import_node *node, const struct field *fields, size_t count,
	struct arena *arena, struct lancet_error *err)
{
	node->children = arena_zalloc(arena, count, sizeof(*node->children));
	node->by_name = arena_zalloc(arena, count, sizeof(struct import_node *));
	if (count > 0 && (node->children == NULL || node->by_name == NULL))
		return lancet_fail(err, LANCET_NO_MEMORY, "columns");
	node->child_count = count;
	for (size_t i = 0; i < count; i++) {
		TRY(node_init(&node->children[i], &fields[i], arena, err));
		node->by_name[i] = &node->children[i];
	}
	if (count > 0)
		qsort(node->by_name, count, sizeof(struct import_node *), compare_names);
	return LANCET_OK;
}

/* The entries of a map have names that rows of text do not show. */
static int
set_map(struct import_node *node, struct lancet_error *err)
{
	struct import_node *entries = &node->children[0];

	if (node->child_count != 1 || entries->child_count != 2)
		return lancet_fail(err, LANCET_CORRUPT, "a map without key and value");
	entries->nullable = entries->children[0].nullable = false;
	entries->children[0].name = slice_text("key");
	entries->children[1].name = slice_text("value");
	entries->by_name[0] = &entries->children[0];
	entries->by_name[1] = &entries->children[1];
	return LANCET_OK;
}

static int
set_dictionary(struct import_node *node, struct arena *arena, struct lancet_error *err)
{
	TRY(set_children(node, node->field->children, 1, arena, err));
	node->form = IMPORT_DICTIONARY;
	node->values = &node->children[0];
	node->takes_empty = node->values->takes_empty;
	node->one_budget.limit = ONE_LIMIT;
	return array_init(&node->one, node->values->field, &node->one_budget, err);
}

static int
set_nested(struct import_node *node, enum import_form form, struct arena *arena,
	struct lancet_error *err)
{
	node->form = form;
	return set_children(node, node->field->children, node->field->child_count, arena, err);
}

static int
set_form(struct import_node *node, struct arena *arena, struct lancet_error *err)
{
	switch (node->field->kind) {
	case FIELD_LIST:
		return set_nested(node, IMPORT_LIST, arena, err);
	case FIELD_FIXED_LIST:
		return set_nested(node, IMPORT_FIXED_LIST, arena, err);
	case FIELD_STRUCT:
		if (node->field->blob != FIELD_NO_BLOB)
			return lancet_fail(err, LANCET_UNSUPPORTED,
				"blobs that are kept apart don't come from text");
		return set_nested(node, IMPORT_STRUCT, arena, err);
	case FIELD_MAP:
		TRY(set_nested(node, IMPORT_MAP, arena, err));
		return set_map(node, err);
	case FIELD_DICTIONARY:
		return set_dictionary(node, arena, err);
	default:
		return set_leaf(node, err);
	}
}

static int
node_init(struct import_node *node, const struct field *field, struct arena *arena,
	struct lancet_error *err)
{
	int rc;

	node->field = field;
	node->nullable = field->nullable;
	TRY(set_name(node, arena, err));
	rc = set_form(node, arena, err);
	return lancet_wrap(err, rc, "column \"%.*s\"", FIELD_TEXT(node->name));
}

int
import_node_init(struct import_node *root, const struct field_tree *schema, struct arena *arena,
	struct lancet_error *err)
{
	*root = (struct import_node){ .form = IMPORT_STRUCT };
	return set_children(root, schema->roots, schema->root_count, arena, err);
}

void
import_node_release(struct import_node *root)
{
	for (size_t i = 0; i < root->child_count; i++)
		import_node_release(&root->children[i]);
	array_release(&root->one);
	buf_release(&root->text);
}

struct import_node *
import_node_find(struct import_node *parent, struct slice name)
{
	size_t from = 0, to = parent->child_count;

	if (parent->likely < to && slice_equal(parent->children[parent->likely].name, name))
		return &parent->children[parent->likely++];
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = slice_compare(parent->by_name[middle]->name, name);

		if (order == 0) {
			parent->likely = (size_t)(parent->by_name[middle] - parent->children) + 1;
			return parent->by_name[middle];
		}
		if (order < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}
