/* Trees of fields: logical types, what they imply, blobs, and stored fields that are no fields. */
#include "file/field.h"
#include "unit.h"

#include "lance/file.pb-c.h"
#include "util/buf.h"

#include <inttypes.h>

#define FIELDS_MAX 128

struct stored {
	const char *name;
	int32_t id, parent;
	const char *type;
	const char *key, *value; /* one entry of metadata, or NULL */
	const char *extension;
};

#define FIELD(name, id, parent, type)                                                              \
	{                                                                                          \
		name, id, parent, type, NULL, NULL, NULL                                           \
	}
#define TAGGED(name, id, parent, type, key, value)                                                 \
	{                                                                                          \
		name, id, parent, type, key, value, NULL                                           \
	}

struct schema {
	Lance__File__Field fields[FIELDS_MAX];
	Lance__File__StringEntry entries[FIELDS_MAX], *entry_places[FIELDS_MAX];
	Lance__File__Field *places[FIELDS_MAX];
};

static ProtobufCBinaryData
bytes_of(const char *text)
{
	return (ProtobufCBinaryData){ text == NULL ? 0 : strlen(text), (uint8_t *)text };
}

static int
make_tree(const struct stored *rows, size_t count, enum field_blobs blobs,
	struct field_tree *ret_tree, struct lancet_error *err)
{
	static struct schema schema;

	ck_assert_uint_le(count, FIELDS_MAX);
	for (size_t i = 0; i < count; i++) {
		Lance__File__Field *field = schema.places[i] = &schema.fields[i];

		lance__file__field__init(field);
		field->name = bytes_of(rows[i].name);
		field->id = rows[i].id;
		field->parent_id = rows[i].parent;
		field->logical_type = bytes_of(rows[i].type);
		field->extension_name = bytes_of(rows[i].extension);
		field->nullable = true;
		if (rows[i].key == NULL)
			continue;
		lance__file__string_entry__init(&schema.entries[i]);
		schema.entries[i].key = bytes_of(rows[i].key);
		schema.entries[i].value = bytes_of(rows[i].value);
		schema.entry_places[i] = &schema.entries[i];
		field->n_metadata = 1;
		field->metadata = &schema.entry_places[i];
	}
	return field_tree_init(ret_tree, schema.places, count, blobs, err);
}

/* name=format, marks of what is special, and the children in brackets. */
static void
show_fields(const struct field *fields, size_t count, const struct field *parent, uint32_t *ordinal,
	struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct field *field = &fields[i];

		ck_assert_ptr_eq(field->parent, parent);
		ck_assert_uint_eq(field->ordinal, (*ordinal)++);
		buf_printf(out, "%s%.*s=%s", i > 0 ? " " : "", (int)field->name.size,
			(const char *)field->name.data, field->format);
		buf_put_text(out, field->packed ? "/packed" : "");
		buf_put_text(out, field->blob == FIELD_BLOB_V1 ? "/blob" : "");
		buf_put_text(out, field->blob == FIELD_BLOB_V2 ? "/blob2" : "");
		buf_put_text(out, field_is_leaf(field) ? "" : "/inner");
		buf_put_text(out, field->nullable ? "" : "/never");
		if (field->kind == FIELD_DICTIONARY)
			buf_printf(out, "/keys%" PRIu32, field->bits);
		if (field->child_count > 0) {
			buf_put_text(out, "[");
			show_fields(field->children, field->child_count, field, ordinal, out);
			buf_put_text(out, "]");
		}
	}
}

static void
check_shown(const struct field_tree *tree, const char *wanted)
{
	struct buf shown = { 0 };
	uint32_t ordinal = 0;

	show_fields(tree->roots, tree->root_count, NULL, &ordinal, &shown);
	ck_assert_uint_eq(ordinal, tree->count);
	buf_put_byte(&shown, '\0');
	ck_assert_str_eq((const char *)shown.data, wanted);
	buf_release(&shown);
}

/* By the Arrow C Data Interface; widths by the format facts. */
static const struct {
	const char *type, *format;
	uint32_t bits;
	bool is_signed, large;
} types[] = {
	{ "null", "n", 0, false, false },
	{ "bool", "b", 1, false, false },
	{ "int8", "c", 8, true, false },
	{ "uint16", "S", 16, false, false },
	{ "int32", "i", 32, true, false },
	{ "uint64", "L", 64, false, false },
	{ "halffloat", "e", 16, false, false },
	{ "float", "f", 32, false, false },
	{ "double", "g", 64, false, false },
	{ "decimal:128:20:2", "d:20,2", 128, true, false },
	{ "decimal:128:38:-10", "d:38,-10", 128, true, false },
	{ "decimal:256:76:-128", "d:76,-128,256", 256, true, false },
	{ "date32:day", "tdD", 32, true, false },
	{ "date64:ms", "tdm", 64, true, false },
	{ "time32:s", "tts", 32, true, false },
	{ "time32:ms", "ttm", 32, true, false },
	{ "time64:us", "ttu", 64, true, false },
	{ "time64:ns", "ttn", 64, true, false },
	{ "duration:ms", "tDm", 64, true, false },
	{ "timestamp:us:-", "tsu:", 64, true, false },
	{ "timestamp:s:+08:00", "tss:+08:00", 64, true, false },
	{ "timestamp:ns:Europe/Berlin", "tsn:Europe/Berlin", 64, true, false },
	{ "timestamp:ms:--", "tsm:--", 64, true, false },
	{ "fixed_size_binary:16", "w:16", 128, false, false },
	{ "fixed_size_binary:536870911", "w:536870911", 4294967288u, false, false },
	{ "string", "u", 0, false, false },
	{ "large_string", "U", 0, false, true },
	{ "binary", "z", 0, false, false },
	{ "large_binary", "Z", 0, false, true },
	{ "json", "Z", 0, false, true },
	{ "struct", "+s", 0, false, false },
};

START_TEST(types_have_a_format_and_a_width)
{
	const struct stored row = FIELD("x", 7, -1, types[_i].type);
	struct field_tree tree;
	const struct field *field;

	ck_assert_int_eq(make_tree(&row, 1, FIELD_BLOB_BYTES, &tree, NULL), LANCET_OK);
	ck_assert_uint_eq(tree.count, 1);
	field = tree.roots;
	ck_assert_str_eq(field->format, types[_i].format);
	ck_assert_uint_eq(field->bits, types[_i].bits);
	ck_assert_int_eq(field->is_signed, types[_i].is_signed);
	ck_assert_int_eq(field->large, types[_i].large);
	ck_assert_int_eq(field->id, 7);
	ck_assert(slice_equal(field->logical_type, slice_text(types[_i].type)));
	ck_assert(field_is_leaf(field));
	field_tree_release(&tree);
}
END_TEST

static const struct {
	const char *type;
	int want;
} bad_types[] = {
	{ "", LANCET_CORRUPT },
	{ "quaternion", LANCET_UNSUPPORTED },
	{ "int32:", LANCET_UNSUPPORTED },
	{ "time32:us", LANCET_UNSUPPORTED },
	{ "decimal:32:5:1", LANCET_CORRUPT },
	{ "decimal:128:0:0", LANCET_CORRUPT },
	{ "decimal:128:39:0", LANCET_CORRUPT },
	{ "decimal:128:10", LANCET_CORRUPT },
	{ "decimal:128:10:128", LANCET_CORRUPT },
	{ "decimal:128:10:-129", LANCET_CORRUPT },
	{ "decimal:128:10:2:2", LANCET_CORRUPT },
	{ "timestamp", LANCET_CORRUPT },
	{ "timestamp:us", LANCET_CORRUPT },
	{ "timestamp:us:", LANCET_CORRUPT },
	{ "timestamp:day:-", LANCET_CORRUPT },
	{ "fixed_size_binary", LANCET_CORRUPT },
	{ "fixed_size_binary:-1", LANCET_CORRUPT },
	{ "fixed_size_binary:0", LANCET_UNSUPPORTED },
	{ "fixed_size_binary:536870912", LANCET_UNSUPPORTED },
	{ "fixed_size_list:int32:0", LANCET_CORRUPT },
	{ "fixed_size_list:int32:2147483648", LANCET_CORRUPT },
	{ "fixed_size_list:int32", LANCET_CORRUPT },
	{ "fixed_size_list:5", LANCET_CORRUPT },
	{ "fixed_size_list::5", LANCET_CORRUPT },
	{ "fixed_size_list:quaternion:5", LANCET_UNSUPPORTED },
	{ "fixed_size_list:string:5", LANCET_UNSUPPORTED },
	{ "fixed_size_list:list:5", LANCET_UNSUPPORTED },
	{ "fixed_size_list:struct:5", LANCET_UNSUPPORTED }, /* and no child */
	{ "fixed_size_list:fixed_size_list:int8:65536:65536", LANCET_UNSUPPORTED },
	{ "dict:string:int32", LANCET_CORRUPT },
	{ "dict:string:int32:maybe", LANCET_CORRUPT },
	{ "dict:string:float:false", LANCET_CORRUPT },
	{ "dict:string:decimal:128:1:1:false", LANCET_CORRUPT },
	{ "dict::int32:false", LANCET_CORRUPT },
	{ "dict:struct:int32:false", LANCET_UNSUPPORTED },
	{ "dict:dict:string:int8:false:int8:false", LANCET_UNSUPPORTED },
	{ "list", LANCET_CORRUPT },
	{ "map", LANCET_CORRUPT },
};

START_TEST(other_types_are_refused_by_name)
{
	const struct stored row = FIELD("x", 0, -1, bad_types[_i].type);
	struct field_tree tree = { 0 };
	struct lancet_error err = { 0 };

	ck_assert_msg(make_tree(&row, 1, FIELD_BLOB_BYTES, &tree, &err) == bad_types[_i].want,
		"%s: %s", bad_types[_i].type, err.text);
	ck_assert(strncmp(err.text, "schema: ", 8) == 0);
	ck_assert_ptr_null(tree.roots);
}
END_TEST

static const struct {
	const char *label, *wanted;
	size_t count;
	struct stored rows[8];
} trees[] = {
	{ "nothing", "", 0, { { 0 } } },
	{ "a list", "l=+l/inner[item=i]", 2,
		{ FIELD("l", 0, -1, "list"), FIELD("item", 1, 0, "int32") } },
	{ "lists of structs, large ones too", "l=+L/inner[item=+s/inner[a=u b=+l/inner[x=c]]]", 5,
		{ FIELD("l", 0, -1, "large_list.struct"), FIELD("item", 1, 0, "struct"),
			FIELD("a", 2, 1, "string"), FIELD("b", 3, 1, "list"),
			FIELD("x", 4, 3, "int8") } },
	{ "siblings behind a grandchild", "s=+s/inner[t=+s/inner[a=l] b=L] c=g", 5,
		{ FIELD("s", 5, -1, "struct"), FIELD("t", 6, 5, "struct"),
			FIELD("a", 7, 6, "int64"), FIELD("b", 8, 5, "uint64"),
			FIELD("c", 9, -1, "double") } },
	{ "the first of equal ids is the parent", "s=+s/inner[a=i] t=+s", 3,
		{ FIELD("s", 1, -1, "struct"), FIELD("t", 1, -1, "struct"),
			FIELD("a", 2, 1, "int32") } },
	{ "a map", "m=+m/inner[entries=+s/inner[key=u value=i]]", 4,
		{ FIELD("m", 0, -1, "map"), FIELD("entries", 1, 0, "struct"),
			FIELD("key", 2, 1, "string"), FIELD("value", 3, 1, "int32") } },
	{ "implied items, nested", "v=+w:3[item=+w:2[item=tsu:+08:00]]", 1,
		{ FIELD("v", 0, -1, "fixed_size_list:fixed_size_list:timestamp:us:+08:00:2:3") } },
	{ "items with parameters", "v=+w:4[item=d:10,-2]", 1,
		{ FIELD("v", 0, -1, "fixed_size_list:decimal:128:10:-2:4") } },
	{ "items that are an extension", "v=+w:8[item=w:2]", 1,
		{ FIELD("v", 0, -1, "fixed_size_list:lance.bfloat16:8") } },
	{ "fixed-size lists of structs", "v=+w:3/inner[item=+s/inner[a=b]]", 3,
		{ FIELD("v", 0, -1, "fixed_size_list:struct:3"), FIELD("item", 1, 0, "struct"),
			FIELD("a", 2, 1, "bool") } },
	{ "dictionaries",
		"d=C/keys8[values=u] e=s/keys16[values=tsn:a:b] f=i/keys32[values=+w:2[item=f]]", 3,
		{ FIELD("d", 0, -1, "dict:string:uint8:false"),
			FIELD("e", 1, -1, "dict:timestamp:ns:a:b:int16:true"),
			FIELD("f", 2, -1, "dict:fixed_size_list:float:2:int32:false") } },
	{ "a packed struct by key", "p=+s/packed[a=i b=f]", 3,
		{ TAGGED("p", 0, -1, "struct", "lance-encoding:packed", ""),
			FIELD("a", 1, 0, "int32"), FIELD("b", 2, 0, "float") } },
	{ "a packed struct of old", "p=+s/packed[a=i]", 2,
		{ TAGGED("p", 0, -1, "struct", "packed", "Yes"), FIELD("a", 1, 0, "int32") } },
	{ "packed, but no", "p=+s/inner[a=i]", 2,
		{ TAGGED("p", 0, -1, "struct", "packed", "0"), FIELD("a", 1, 0, "int32") } },
	{ "only structs are packed", "p=i", 1, { TAGGED("p", 0, -1, "int32", "packed", "true") } },
	{ "a blob's bytes", "b=Z/blob", 1,
		{ TAGGED("b", 0, -1, "large_binary", "lance-encoding:blob", "true") } },
	{ "lineage columns", "_rowid=L", 1, { FIELD("_rowid", -3, -1, "uint64") } },
	{ "ids of -1 that belong to no blob", "a=i b=i", 2,
		{ FIELD("a", -1, -1, "int32"), FIELD("b", -1, -1, "int32") } },
};

START_TEST(trees_follow_the_stored_fields)
{
	struct field_tree tree;
	struct lancet_error err = { 0 };

	ck_assert_msg(make_tree(trees[_i].rows, trees[_i].count, FIELD_BLOB_BYTES, &tree, &err) ==
			      LANCET_OK,
		"%s: %s", trees[_i].label, err.text);
	check_shown(&tree, trees[_i].wanted);
	field_tree_release(&tree);
}
END_TEST

static const struct {
	const char *label;
	size_t count;
	struct stored rows[4];
} no_trees[] = {
	{ "parent after its child", 2, { FIELD("a", 0, 1, "int32"), FIELD("b", 1, -1, "struct") } },
	{ "its own parent", 1, { FIELD("a", 3, 3, "struct") } },
	{ "no such parent", 1, { FIELD("a", 3, 9, "int32") } },
	{ "a number with a child", 2, { FIELD("a", 0, -1, "int32"), FIELD("b", 1, 0, "int32") } },
	{ "a list with two", 3,
		{ FIELD("a", 0, -1, "list"), FIELD("b", 1, 0, "int32"),
			FIELD("c", 2, 0, "int32") } },
	{ "a dictionary with a child", 2,
		{ FIELD("a", 0, -1, "dict:string:int8:false"), FIELD("b", 1, 0, "string") } },
	{ "a map of numbers", 2, { FIELD("a", 0, -1, "map"), FIELD("b", 1, 0, "int32") } },
	{ "a map of keys alone", 3,
		{ FIELD("a", 0, -1, "map"), FIELD("b", 1, 0, "struct"),
			FIELD("c", 2, 1, "int32") } },
	{ "items of another type", 2,
		{ FIELD("a", 0, -1, "fixed_size_list:struct:3"), FIELD("b", 1, 0, "int32") } },
	{ "a blob with a child", 2,
		{ TAGGED("a", 0, -1, "binary", "lance-encoding:blob", ""),
			FIELD("b", 1, 0, "int32") } },
};

START_TEST(what_is_no_tree_is_damage)
{
	struct field_tree tree;
	struct lancet_error err = { 0 };

	ck_assert_msg(make_tree(no_trees[_i].rows, no_trees[_i].count, FIELD_BLOB_BYTES, &tree,
			      &err) == LANCET_CORRUPT,
		"%s", no_trees[_i].label);
	ck_assert_str_ne(err.text, "");
}
END_TEST

START_TEST(nesting_has_a_limit)
{
	struct stored rows[FIELDS_MAX];
	struct field_tree tree;

	for (int32_t i = 0; i < FIELDS_MAX; i++) {
		rows[i] = (struct stored)FIELD("f", i, i - 1, "struct");
	}
	ck_assert_int_eq(
		make_tree(rows, FIELD_DEPTH_MAX, FIELD_BLOB_BYTES, &tree, NULL), LANCET_OK);
	ck_assert_uint_eq(tree.count, FIELD_DEPTH_MAX);
	field_tree_release(&tree);
	ck_assert_int_eq(make_tree(rows, FIELD_DEPTH_MAX + 1, FIELD_BLOB_BYTES, &tree, NULL),
		LANCET_CORRUPT);
}
END_TEST

/* The same of implied fields, whose depth is all in one string. */
START_TEST(nesting_of_types_has_a_limit)
{
	struct buf type = { 0 };
	struct field_tree tree;
	struct stored row = { .name = "v", .parent = -1 };

	for (unsigned i = 0; i < FIELD_DEPTH_MAX; i++)
		buf_put_text(&type, "fixed_size_list:");
	buf_put_text(&type, "int8");
	for (unsigned i = 0; i < FIELD_DEPTH_MAX; i++)
		buf_put_text(&type, ":1");
	buf_put_byte(&type, '\0');
	row.type = (const char *)type.data;
	ck_assert_int_eq(make_tree(&row, 1, FIELD_BLOB_BYTES, &tree, NULL), LANCET_CORRUPT);
	type.data[type.size - 3] = '\0'; /* one level less, and none at its front */
	row.type = (const char *)type.data + strlen("fixed_size_list:");
	ck_assert_int_eq(make_tree(&row, 1, FIELD_BLOB_BYTES, &tree, NULL), LANCET_OK);
	ck_assert_uint_eq(tree.count, FIELD_DEPTH_MAX);
	field_tree_release(&tree);
	buf_release(&type);
}
END_TEST

START_TEST(blobs_are_shown_as_the_reference_shows_them)
{
	static const struct stored v1[] = {
		TAGGED("b", 4, -1, "large_binary", "lance-encoding:blob", "true"),
		FIELD("x", 5, -1, "int32"),
	};
	/* as manifests and as footers have it */
	static const struct stored v2[] = {
		TAGGED("b", 0, -1, "struct", "ARROW:extension:name", "lance.blob.v2"),
		FIELD("data", 1, 0, "large_binary"),
		FIELD("uri", 2, 0, "string"),
		FIELD("x", 3, -1, "int32"),
	};
	static const struct stored footer[] = {
		TAGGED("b", 0, -1, "struct", "lance-encoding:blob", "true"),
		FIELD("kind", -1, -1, "uint8"),
		FIELD("position", -1, -1, "uint64"),
		FIELD("size", -1, -1, "uint64"),
		FIELD("blob_id", -1, -1, "uint32"),
		FIELD("blob_uri", -1, -1, "string"),
		FIELD("x", 3, -1, "int32"),
	};
	static const char shown[] = "b=+s/blob2[kind=C/never position=L/never size=L/never "
				    "blob_id=I/never blob_uri=u/never] x=i";
	struct field_tree tree;

	ck_assert_int_eq(
		make_tree(v1, ARRAY_SIZE(v1), FIELD_BLOB_DESCRIPTIONS, &tree, NULL), LANCET_OK);
	check_shown(&tree, "b=+s/blob[position=L size=L] x=i");
	ck_assert_int_eq(tree.roots[0].id, 4);
	ck_assert_int_eq(tree.roots[0].children[0].id, FIELD_NO_ID);
	field_tree_release(&tree);
	for (int bytes = 0; bytes < 2; bytes++) { /* v2 is a description either way */
		enum field_blobs blobs = bytes ? FIELD_BLOB_BYTES : FIELD_BLOB_DESCRIPTIONS;

		ck_assert_int_eq(make_tree(v2, ARRAY_SIZE(v2), blobs, &tree, NULL), LANCET_OK);
		check_shown(&tree, shown);
		field_tree_release(&tree);
		ck_assert_int_eq(
			make_tree(footer, ARRAY_SIZE(footer), blobs, &tree, NULL), LANCET_OK);
		check_shown(&tree, shown);
		ck_assert_uint_eq(tree.roots[0].metadata_count, 2);
		field_tree_release(&tree);
	}
}
END_TEST

START_TEST(blobs_of_other_types_are_refused)
{
	static const struct stored rows[] = {
		TAGGED("b", 0, -1, "int32", "lance-encoding:blob", "true"),
		{ "b", 0, -1, "binary", .extension = "lance.blob.v2" },
	};
	struct field_tree tree;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_int_eq(
			make_tree(&rows[i], 1, FIELD_BLOB_BYTES, &tree, NULL), LANCET_UNSUPPORTED);
}
END_TEST

/* The name of an extension is in a member of its own, in metadata, or in both. */
START_TEST(extensions_are_metadata)
{
	static const struct stored rows[] = {
		{ "a", 0, -1, "fixed_size_binary:16", .extension = "arrow.uuid" },
		TAGGED("b", 1, -1, "fixed_size_binary:16", "ARROW:extension:name", "arrow.uuid"),
		{ "c", 2, -1, "fixed_size_binary:16", "ARROW:extension:name", "other",
			"arrow.uuid" },
		{ "d", 3, -1, "fixed_size_binary:16", "zoo", "1", "arrow.uuid" },
		FIELD("e", 4, -1, "fixed_size_list:lance.bfloat16:2"),
	};
	struct field_tree tree;
	const struct field_entry *entry;

	ck_assert_int_eq(
		make_tree(rows, ARRAY_SIZE(rows), FIELD_BLOB_BYTES, &tree, NULL), LANCET_OK);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(tree.roots[i].metadata_count, i == 3 ? 2 : 1);
		entry = &tree.roots[i].metadata[0];
		ck_assert(slice_equal(entry->key, slice_text("ARROW:extension:name")));
		ck_assert(slice_equal(entry->value, slice_text("arrow.uuid")));
	}
	ck_assert(slice_equal(tree.roots[3].metadata[1].key, slice_text("zoo")));
	ck_assert_uint_eq(tree.roots[4].metadata_count, 0);
	entry = &tree.roots[4].children[0].metadata[1];
	ck_assert(slice_equal(entry->value, slice_text("lance.bfloat16")));
	field_tree_release(&tree);
}
END_TEST

START_TEST(fields_without_a_schema)
{
	static const uint32_t widths[] = { 8, 16, 32, 64, 128 };

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		ck_assert_uint_eq(field_unsigned(widths[i])->bits, widths[i]);
		ck_assert_int_eq(field_unsigned(widths[i])->kind, FIELD_FIXED);
	}
	ck_assert(!field_bytes(false)->large);
	ck_assert(field_bytes(true)->large);
	ck_assert_int_eq(field_bytes(true)->kind, FIELD_VARIABLE);
}
END_TEST

UNIT_MAIN("field", UNIT_LOOP(types_have_a_format_and_a_width, types),
	UNIT_LOOP(other_types_are_refused_by_name, bad_types),
	UNIT_LOOP(trees_follow_the_stored_fields, trees),
	UNIT_LOOP(what_is_no_tree_is_damage, no_trees), UNIT_TEST(nesting_has_a_limit),
	UNIT_TEST(nesting_of_types_has_a_limit),
	UNIT_TEST(blobs_are_shown_as_the_reference_shows_them),
	UNIT_TEST(blobs_of_other_types_are_refused), UNIT_TEST(extensions_are_metadata),
	UNIT_TEST(fields_without_a_schema))
