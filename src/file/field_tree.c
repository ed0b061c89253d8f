/* The tree of fields of field.h, made from a flat list.
 *
 * Parents are found by id, among the fields before; of equal ids, which old writers left behind,
 * the first one counts. Then each field is filled from the top down, with what its type implies
 * below it. Recursion follows the nesting and ends at FIELD_DEPTH_MAX. Format facts: schema to
 * columns.
 */
#include "field.h"

#include <inttypes.h>
#include <stdlib.h>

#include "field_links.h"
#include "field_metadata.h"
#include "field_logical.h"
#include "lance/file.pb-c.h"
#include "util/macros.h"

struct builder {
	struct field_tree *tree;
	const struct field_links *links;
	Lance__File__Field *const *stored;
	enum field_blobs blobs;
};

static int build_stored(struct builder *b, struct field *field, size_t index, unsigned depth,
	struct lancet_error *err);

static int
no_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "schema");
}

static int
make_children(struct builder *b, struct field *field, size_t count, struct lancet_error *err)
{
	field->children = arena_zalloc(&b->tree->arena, count, sizeof(*field->children));
	if (field->children == NULL)
		return no_memory(err);
	field->child_count = count;
	for (size_t i = 0; i < count; i++) {
		field->children[i].id = FIELD_NO_ID;
		field->children[i].parent = field;
	}
	return LANCET_OK;
}

static int
build_children(struct builder *b, struct field *field, size_t index, unsigned depth,
	struct lancet_error *err)
{
	size_t next = b->links->nodes[index].first_child;

	TRY(make_children(b, field, b->links->nodes[index].child_count, err));
	for (size_t i = 0; i < field->child_count; i++) {
		TRY(build_stored(b, &field->children[i], next, depth + 1, err));
		next = b->links->nodes[next].next;
	}
	return LANCET_OK;
}

/* The storage that a logical type names; a field of it holds no children yet. */
static int
set_type(struct builder *b, struct field *field, struct slice text, struct slice *ret_inner,
	struct lancet_error *err)
{
	struct logical_type type;

	TRY(logical_parse(text, &b->tree->arena, &type, err));
	field->kind = type.kind;
	field->format = type.format;
	field->bits = type.bits;
	field->dimension = type.dimension;
	field->large = type.large;
	field->is_signed = type.is_signed;
	field->logical_type = text;
	*ret_inner = type.inner;
	return type.is_bfloat16 ? field_metadata_bfloat16(field, &b->tree->arena, err) : LANCET_OK;
}

/* What may be an item of a fixed-size list: numbers, lists of them, and structs. */
static int
check_items(const struct field *list, struct lancet_error *err)
{
	const struct field *item = &list->children[0];
	uint64_t total = list->dimension;

	if (item->kind != FIELD_FIXED && item->kind != FIELD_STRUCT &&
		item->kind != FIELD_FIXED_LIST)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"field %.*s: fixed-size lists of %.*s are not supported",
			FIELD_TEXT(list->name), FIELD_TEXT(item->logical_type));
	for (; item->kind == FIELD_FIXED_LIST; item = &item->children[0]) {
		total *= item->dimension;
		if (total > INT32_MAX)
			return lancet_fail(err, LANCET_UNSUPPORTED,
				"field %.*s: %" PRIu64 " items in one value are not supported",
				FIELD_TEXT(list->name), total);
	}
	return LANCET_OK;
}

/* A field that no schema lists: the item of a fixed-size list, the values of a dictionary. */
static int
build_implied(struct builder *b, struct field *field, const char *name, struct slice type,
	unsigned depth, struct lancet_error *err)
{
	struct slice inner;

	if (depth >= FIELD_DEPTH_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "fields are nested deeper than %u levels",
			FIELD_DEPTH_MAX);
	field->ordinal = b->tree->count++;
	field->name = slice_text(name);
	field->nullable = true;
	TRY(set_type(b, field, type, &inner, err));
	switch (field->kind) {
	case FIELD_FIXED_LIST:
		TRY(make_children(b, field, 1, err));
		TRY(build_implied(b, &field->children[0], "item", inner, depth + 1, err));
		return check_items(field, err);
	case FIELD_NULL:
	case FIELD_FIXED:
	case FIELD_VARIABLE:
		return LANCET_OK;
	default:
		return lancet_fail(err, LANCET_UNSUPPORTED, "%.*s as a part of %.*s",
			FIELD_TEXT(type), FIELD_TEXT(field->parent->name));
	}
}

/* The parts of a blob's description, as the reference shows them. */
static int
build_description(struct builder *b, struct field *field, struct lancet_error *err)
{
	static const struct {
		const char *name, *type;
	} v1[] = { { "position", "uint64" }, { "size", "uint64" } },
	  v2[] = { { "kind", "uint8" }, { "position", "uint64" }, { "size", "uint64" },
		  { "blob_id", "uint32" }, { "blob_uri", "string" } };
	bool is_v1 = field->blob == FIELD_BLOB_V1;
	size_t count = is_v1 ? ARRAY_SIZE(v1) : ARRAY_SIZE(v2);

	field->kind = FIELD_STRUCT;
	field->format = "+s";
	field->large = false;
	TRY(make_children(b, field, count, err));
	for (size_t i = 0; i < count; i++) {
		struct field *part = &field->children[i];

		TRY(build_implied(b, part, is_v1 ? v1[i].name : v2[i].name,
			slice_text(is_v1 ? v1[i].type : v2[i].type), 1, err));
		part->nullable = is_v1;
	}
	return is_v1 ? LANCET_OK : field_metadata_blob_v2(field, &b->tree->arena, err);
}

static int
build_blob(struct builder *b, struct field *field, size_t children, struct lancet_error *err)
{
	if (field->blob == FIELD_BLOB_V1 && children > 0)
		return lancet_fail(err, LANCET_CORRUPT, "field %.*s: a blob with %zu children",
			FIELD_TEXT(field->name), children);
	if (field->blob == FIELD_BLOB_V1 && b->blobs == FIELD_BLOB_BYTES)
		return LANCET_OK;
	return build_description(b, field, err);
}

static int
check_map(const struct field *map, struct lancet_error *err)
{
	const struct field *entries = &map->children[0];

	if (entries->kind != FIELD_STRUCT || entries->child_count != 2 || entries->packed ||
		entries->blob != FIELD_NO_BLOB)
		return lancet_fail(err, LANCET_CORRUPT,
			"field %.*s: the entries of a map are no struct of two fields",
			FIELD_TEXT(map->name));
	return LANCET_OK;
}

/* Children by the kind of the field: stored ones, or those that its type implies. */
static int
build_below(struct builder *b, struct field *field, size_t index, struct slice inner,
	unsigned depth, struct lancet_error *err)
{
	size_t stored = b->links->nodes[index].child_count;
	bool implied =
		field->kind == FIELD_DICTIONARY || (field->kind == FIELD_FIXED_LIST && stored == 0);
	size_t wanted = 0;

	if (field->blob != FIELD_NO_BLOB)
		return build_blob(b, field, stored, err);
	if (field->kind == FIELD_STRUCT)
		return build_children(b, field, index, depth, err);
	if (field->kind == FIELD_LIST || field->kind == FIELD_MAP ||
		(field->kind == FIELD_FIXED_LIST && stored > 0))
		wanted = 1;
	if (stored != wanted)
		return lancet_fail(err, LANCET_CORRUPT,
			"field %.*s: %.*s with %zu children, %zu expected", FIELD_TEXT(field->name),
			FIELD_TEXT(field->logical_type), stored, wanted);
	if (implied) {
		bool is_list = field->kind == FIELD_FIXED_LIST;

		TRY(make_children(b, field, 1, err));
		TRY(build_implied(b, &field->children[0], is_list ? "item" : "values", inner,
			depth + 1, err));
	} else if (wanted == 1) {
		TRY(build_children(b, field, index, depth, err));
	}
	if (field->kind == FIELD_FIXED_LIST && !slice_equal(field->children[0].logical_type, inner))
		return lancet_fail(err, LANCET_CORRUPT, "field %.*s: %.*s with items of %.*s",
			FIELD_TEXT(field->name), FIELD_TEXT(field->logical_type),
			FIELD_TEXT(field->children[0].logical_type));
	if (field->kind == FIELD_MAP)
		return check_map(field, err);
	return field->kind == FIELD_FIXED_LIST ? check_items(field, err) : LANCET_OK;
}

static int
copy_text(struct builder *b, ProtobufCBinaryData text, struct slice *ret_copy,
	struct lancet_error *err)
{
	const uint8_t *copy = arena_copy(&b->tree->arena, text.data, text.len);

	if (copy == NULL)
		return no_memory(err);
	*ret_copy = slice_of(copy, text.len);
	return LANCET_OK;
}

static int
build_stored(struct builder *b, struct field *field, size_t index, unsigned depth,
	struct lancet_error *err)
{
	const Lance__File__Field *stored = b->stored[index];
	struct slice type, inner;
	int rc;

	if (depth >= FIELD_DEPTH_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "fields are nested deeper than %u levels",
			FIELD_DEPTH_MAX);
	field->ordinal = b->tree->count++;
	field->id = stored->id;
	field->nullable = stored->nullable;
	TRY(copy_text(b, stored->name, &field->name, err));
	TRY(copy_text(b, stored->logical_type, &type, err));
	TRY(field_metadata_fill(field, stored, &b->tree->arena, err));
	rc = set_type(b, field, type, &inner, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "field %.*s", FIELD_TEXT(field->name));
	TRY(field_metadata_flags(field, err));
	return build_below(b, field, index, inner, depth, err);
}

int
field_tree_init(struct field_tree *tree, struct Lance__File__Field *const *stored, size_t count,
	enum field_blobs blobs, struct lancet_error *err)
{
	struct field_tree made = { 0 };
	struct field_links links = { 0 };
	struct builder b = { &made, &links, stored, blobs };
	struct field top = { 0 };
	size_t next;
	int rc = field_links_init(&links, stored, count, err);

	if (rc == LANCET_OK)
		rc = make_children(&b, &top, links.root_count, err);
	next = links.first_root;
	for (size_t i = 0; rc == LANCET_OK && i < top.child_count; i++) {
		top.children[i].parent = NULL;
		rc = build_stored(&b, &top.children[i], next, 0, err);
		next = links.nodes[next].next;
	}
	field_links_release(&links);
	if (rc != LANCET_OK) {
		arena_release(&made.arena);
		return lancet_wrap(err, rc, "schema");
	}
	made.roots = top.children;
	made.root_count = top.child_count;
	*tree = made;
	return LANCET_OK;
}

void
field_tree_release(struct field_tree *tree)
{
	if (tree == NULL)
		return;
	arena_release(&tree->arena);
	*tree = (struct field_tree){ 0 };
}
