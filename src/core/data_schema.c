/* From the stored list of fields to the tree that is read; see data_schema.h. */
#include "data_schema.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lance/table.pb-c.h"
#include "schema.h"
#include "util/macros.h"
#include "version.h"

typedef Lance__File__Field stored_field;

static bool
is_named(const stored_field *field, const struct lancet_bytes *names, size_t count)
{
	struct slice name = slice_of(field->name.data, field->name.len);

	if (names == NULL)
		return true;
	for (size_t i = 0; i < count; i++) {
		if (slice_equal(name, slice_of(names[i].data, names[i].size)))
			return true;
	}
	return false;
}

/* The first top-level field with a name: of two with one name the other can't be asked for. */
static bool
has_name(const Lance__Table__Manifest *manifest, const size_t *parents, struct lancet_bytes name)
{
	for (size_t i = 0; i < manifest->n_fields; i++) {
		if (parents[i] == manifest->n_fields && is_named(manifest->fields[i], &name, 1))
			return true;
	}
	return false;
}

static int
check_names(const Lance__Table__Manifest *manifest, const size_t *parents,
	const struct lancet_bytes *names, size_t count, struct lancet_error *err)
{
	for (size_t i = 0; names != NULL && i < count; i++) {
		if (!has_name(manifest, parents, names[i]))
			return lancet_fail(err, LANCET_INVALID, "no column \"%.*s\"",
				names[i].size < 200 ? (int)names[i].size : 200,
				(const char *)names[i].data);
	}
	return LANCET_OK;
}

/* A field is taken when its parent is; parents come before their children. */
static int
select_fields(const Lance__Table__Manifest *manifest, const struct lancet_bytes *names,
	size_t name_count, stored_field **selected, size_t *ret_count, struct lancet_error *err)
{
	size_t count = manifest->n_fields, taken_count = 0;
	lancet_autofree size_t *parents = NULL;
	lancet_autofree bool *taken = calloc(count + 1, sizeof(*taken));

	if (taken == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "schema: %zu fields", count);
	TRY(schema_parents(manifest, &parents, err));
	TRY(check_names(manifest, parents, names, name_count, err));
	for (size_t i = 0; i < count; i++) {
		taken[i] = parents[i] == count ? is_named(manifest->fields[i], names, name_count)
					       : taken[parents[i]];
		if (taken[i])
			selected[taken_count++] = manifest->fields[i];
	}
	*ret_count = taken_count;
	return LANCET_OK;
}

static int
compare_ids(const void *left, const void *right)
{
	const struct data_schema_id *a = left;
	const struct data_schema_id *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

static void
list_field(struct data_schema *schema, const struct field *field)
{
	schema->fields[field->ordinal] = field;
	if (field->id >= 0)
		schema->ids[schema->id_count++] =
			(struct data_schema_id){ field->id, field->ordinal };
	for (size_t i = 0; i < field->child_count; i++)
		list_field(schema, &field->children[i]);
}

static int
list_fields(struct data_schema *schema, struct lancet_error *err)
{
	size_t count = schema->tree.count, kept = 0;

	schema->fields = calloc(count + 1, sizeof(*schema->fields));
	schema->ids = calloc(count + 1, sizeof(*schema->ids));
	if (schema->fields == NULL || schema->ids == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "schema: %zu fields", count);
	for (size_t i = 0; i < schema->tree.root_count; i++)
		list_field(schema, &schema->tree.roots[i]);
	qsort(schema->ids, schema->id_count, sizeof(*schema->ids), compare_ids);
	for (size_t i = 0; i < schema->id_count; i++) {
		if (kept == 0 || schema->ids[i].id != schema->ids[kept - 1].id)
			schema->ids[kept++] = schema->ids[i];
	}
	schema->id_count = kept;
	return LANCET_OK;
}

int
data_schema_init(struct data_schema *schema, lancet_version *version,
	const struct lancet_bytes *names, size_t name_count, enum field_blobs blobs,
	struct lancet_error *err)
{
	const Lance__Table__Manifest *manifest = version->message;
	lancet_autofree stored_field **selected =
		calloc(manifest->n_fields + 1, sizeof(stored_field *));
	size_t count = 0;
	int rc;

	if (selected == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "schema: %zu fields", manifest->n_fields);
	TRY(select_fields(manifest, names, name_count, selected, &count, err));
	*schema = (struct data_schema){ 0 };
	TRY(field_tree_init(&schema->tree, selected, count, blobs, err));
	rc = list_fields(schema, err);
	if (rc != LANCET_OK)
		data_schema_release(schema);
	return rc;
}

void
data_schema_release(struct data_schema *schema)
{
	free(schema->fields);
	free(schema->ids);
	field_tree_release(&schema->tree);
	*schema = (struct data_schema){ 0 };
}

bool
data_schema_find(const struct data_schema *schema, int32_t id, uint32_t *ret_ordinal)
{
	size_t low = 0, high = schema->id_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (schema->ids[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == schema->id_count || schema->ids[low].id != id)
		return false;
	*ret_ordinal = schema->ids[low].ordinal;
	return true;
}

uint32_t
data_schema_end(const struct field *field)
{
	while (field->child_count > 0)
		field = &field->children[field->child_count - 1];
	return field->ordinal + 1;
}
