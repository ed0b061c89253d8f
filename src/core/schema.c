/* The schema as a flat list of fields with their depths, made when first asked for.
 *
 * The tree is told by parent ids alone, and a parent comes before its children. Old manifests
 * repeat ids: a parent id then means the first field that has it. Nothing here recurses, so
 * nesting costs nothing; beyond DEPTH_MAX it is refused because what is made of a schema may
 * recurse. Format facts: schema.
 */
#include "schema.h"

#include <inttypes.h>
#include <stdlib.h>

#include "entries.h"
#include "file/field_parents.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"
#include "util/slice.h"
#include "version.h"

#define DEPTH_MAX 512u

struct schema {
	struct arena arena;
	struct lancet_field *fields;
	size_t count;
};

int
schema_parents(const Lance__Table__Manifest *manifest, size_t **ret_parents,
               struct lancet_error *err)
{
	int rc = field_parents(manifest->fields, manifest->n_fields, ret_parents, err);

	return lancet_wrap(err, rc, "schema");
}

int
schema_check(const struct Lance__Table__Manifest *manifest, struct lancet_error *err)
{
	size_t *parents;

	TRY(schema_parents(manifest, &parents, err));
	free(parents);
	return LANCET_OK;
}

static struct lancet_bytes
bytes_of(ProtobufCBinaryData data)
{
	return (struct lancet_bytes){ data.data, data.len };
}

static int
fill_field(struct schema *schema, size_t index, size_t parent, const Lance__File__Field *stored,
           struct lancet_error *err)
{
	struct lancet_field *field = &schema->fields[index];

	field->id = stored->id;
	field->parent_id = stored->parent_id;
	field->depth = parent == schema->count ? 0 : schema->fields[parent].depth + 1;
	if (field->depth >= DEPTH_MAX)
		return lancet_fail(err, LANCET_LIMIT, "schema: field %" PRId32 ": %u levels deep",
		                   stored->id, DEPTH_MAX);
	field->name = bytes_of(stored->name);
	field->logical_type = bytes_of(stored->logical_type);
	field->nullable = stored->nullable;
	field->encoding = (uint32_t)stored->encoding;
	return entries_sort(&schema->arena, stored->metadata, stored->n_metadata, &field->metadata,
	                    &field->metadata_count, err);
}

static int
fill_schema(struct schema *schema, const Lance__Table__Manifest *manifest, struct lancet_error *err)
{
	lancet_autofree size_t *parents = NULL;

	TRY(schema_parents(manifest, &parents, err));
	schema->count = manifest->n_fields;
	schema->fields = arena_zalloc(&schema->arena, schema->count, sizeof(*schema->fields));
	if (schema->fields == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "schema: %zu fields", schema->count);
	for (size_t i = 0; i < schema->count; i++)
		TRY(fill_field(schema, i, parents[i], manifest->fields[i], err));
	return LANCET_OK;
}

void
version_schema_free(void *schema)
{
	struct schema *made = schema;

	if (made == NULL)
		return;
	arena_release(&made->arena);
	free(made);
}

static int
make_schema(const Lance__Table__Manifest *manifest, struct schema **ret_schema,
            struct lancet_error *err)
{
	struct schema *schema = calloc(1, sizeof(*schema));
	int rc;

	if (schema == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "schema");
	rc = fill_schema(schema, manifest, err);
	if (rc != LANCET_OK) {
		version_schema_free(schema);
		return rc;
	}
	*ret_schema = schema;
	return LANCET_OK;
}

int
lancet_version_fields(lancet_version *version, const struct lancet_field **ret_fields,
                      size_t *ret_count, struct lancet_error *err)
{
	struct schema *schema = atomic_load(&version->schema);
	void *before = NULL;

	if (schema == NULL) {
		TRY(make_schema(version->message, &schema, err));
		if (!atomic_compare_exchange_strong(&version->schema, &before, schema)) {
			version_schema_free(schema);
			schema = before;
		}
	}
	*ret_fields = schema->fields;
	*ret_count = schema->count;
	return LANCET_OK;
}
