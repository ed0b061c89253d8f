/* By name at the top and in structs, by position where a type has its children: append_match.h. */
#include "append_match.h"

#include <stdio.h>

#include "util/buf.h"
#include "util/macros.h"

#define PATH_SIZE_MAX 300u

struct match {
	int32_t *ids;
	struct lancet_error *err;
};

/* "a.b.c", the end of it when it is long. */
static int
fail(const struct match *match, enum lancet_code code, const struct field *field, const char *why)
{
	const struct field *chain[FIELD_DEPTH_MAX + 1];
	struct buf path = { 0 };
	size_t depth = 0;
	int rc;

	for (; field != NULL && depth < ARRAY_SIZE(chain); field = field->parent)
		chain[depth++] = field;
	while (depth-- > 0) {
		buf_put_slice(&path, chain[depth]->name);
		if (depth > 0)
			buf_put_byte(&path, '.');
	}
	rc = buf_check(&path, "column", match->err);
	if (rc == LANCET_OK)
		rc = lancet_fail(match->err, code, "column \"%.*s\": %s",
			path.size < PATH_SIZE_MAX ? (int)path.size : (int)PATH_SIZE_MAX,
			(const char *)path.data, why);
	buf_release(&path);
	return rc;
}

static int
fail_type(const struct match *match, const struct field *file, const struct field *schema)
{
	char why[200];

	(void)snprintf(why, sizeof(why), "the file has %.*s, the dataset %.*s",
		FIELD_TEXT(file->logical_type), FIELD_TEXT(schema->logical_type));
	return fail(match, LANCET_INVALID, file, why);
}

/* The child of that name; NULL when there is none. */
static const struct field *
find_named(const struct field *fields, size_t count, struct slice name)
{
	for (size_t i = 0; i < count; i++) {
		if (slice_equal(fields[i].name, name))
			return &fields[i];
	}
	return NULL;
}

static int match_field(
	const struct match *match, const struct field *file, const struct field *schema);

/* Each field of the file has one in the schema, and no two the same. */
static int
match_named(const struct match *match, const struct field *file, size_t file_count,
	const struct field *schema, size_t schema_count)
{
	for (size_t i = 0; i < file_count; i++) {
		const struct field *field = find_named(schema, schema_count, file[i].name);

		if (field == NULL)
			return fail(
				match, LANCET_INVALID, &file[i], "the dataset has no such column");
		if (find_named(file, i, file[i].name) != NULL)
			return fail(match, LANCET_INVALID, &file[i], "the file has it twice");
		TRY(match_field(match, &file[i], field));
	}
	return LANCET_OK;
}

static int
match_children(const struct match *match, const struct field *file, const struct field *schema)
{
	if (file->kind != FIELD_STRUCT) {
		if (file->child_count != schema->child_count)
			return fail_type(match, file, schema);
		for (size_t i = 0; i < file->child_count; i++)
			TRY(match_field(match, &file->children[i], &schema->children[i]));
		return LANCET_OK;
	}
	for (size_t i = 0; i < schema->child_count; i++) {
		if (find_named(file->children, file->child_count, schema->children[i].name) == NULL)
			return fail(
				match, LANCET_INVALID, &schema->children[i], "the file lacks it");
	}
	return match_named(
		match, file->children, file->child_count, schema->children, schema->child_count);
}

static int
match_field(const struct match *match, const struct field *file, const struct field *schema)
{
	if (file->blob == FIELD_BLOB_V2 || schema->blob == FIELD_BLOB_V2)
		return fail(match, LANCET_UNSUPPORTED, file,
			"a blob that has files of its own, which this build does not append");
	if (file->id < 0 && file->id != FIELD_NO_ID)
		return fail(match, LANCET_UNSUPPORTED, file,
			"a column of row lineage, which an append must not bring");
	if (file->kind != schema->kind || !slice_equal(file->logical_type, schema->logical_type) ||
		file->packed != schema->packed || file->blob != schema->blob)
		return fail_type(match, file, schema);
	if (file->nullable && !schema->nullable)
		return fail(match, LANCET_INVALID, file,
			"it is nullable in the file, and must not be in the dataset");
	match->ids[file->ordinal] = file->id == FIELD_NO_ID ? FIELD_NO_ID : schema->id;
	return match_children(match, file, schema);
}

int
append_match(const struct field_tree *file, const struct field_tree *schema, int32_t *ids,
	struct lancet_error *err)
{
	const struct match match = { .ids = ids, .err = err };

	for (uint32_t i = 0; i < file->count; i++)
		ids[i] = FIELD_NO_ID;
	for (size_t i = 0; i < file->root_count; i++) {
		if (file->roots[i].id < 0 && file->roots[i].id != FIELD_NO_ID)
			return fail(&match, LANCET_UNSUPPORTED, &file->roots[i],
				"a column of row lineage, which an append must not bring");
	}
	TRY(match_named(&match, file->roots, file->root_count, schema->roots, schema->root_count));
	for (size_t i = 0; i < schema->root_count; i++) {
		const struct field *root = &schema->roots[i];

		if (!root->nullable &&
			find_named(file->roots, file->root_count, root->name) == NULL)
			return fail(&match, LANCET_INVALID, root,
				"the file lacks it, and it can't be null");
	}
	return LANCET_OK;
}
