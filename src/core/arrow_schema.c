/* Fields as Arrow schemas; see arrow_export.h.
 *
 * JSON is stored as binary in a form of its own and read as text: its field says so here, as the
 * reference's does, and json_text.c turns the values.
 */
#include "arrow_export.h"

#include <limits.h>
#include <stdlib.h>

#include "json_text.h"
#include "util/macros.h"

struct schema_owner {
	struct buf name, metadata;
	struct ArrowSchema dictionary;
	struct ArrowSchema **child_pointers;
	struct ArrowSchema children[];
};

static void
schema_release_callback(struct ArrowSchema *schema)
{
	struct schema_owner *owner = schema->private_data;

	for (int64_t i = 0; i < schema->n_children; i++) {
		if (schema->children[i]->release != NULL)
			schema->children[i]->release(schema->children[i]);
	}
	if (schema->dictionary != NULL && schema->dictionary->release != NULL)
		schema->dictionary->release(schema->dictionary);
	buf_release(&owner->name);
	buf_release(&owner->metadata);
	free(owner->child_pointers);
	free(owner);
	schema->release = NULL;
}

static int
schema_owner_new(size_t child_count, struct ArrowSchema *schema, struct lancet_error *err)
{
	struct schema_owner *owner =
		calloc(1, sizeof(*owner) + child_count * sizeof(owner->children[0]));
	struct ArrowSchema **pointers = calloc(child_count + 1, sizeof(struct ArrowSchema *));

	if (owner == NULL || pointers == NULL) {
		free(owner);
		free(pointers);
		return lancet_fail(err, LANCET_NO_MEMORY, "Arrow schema");
	}
	for (size_t i = 0; i < child_count; i++)
		pointers[i] = &owner->children[i];
	owner->child_pointers = pointers;
	*schema = (struct ArrowSchema){
		.format = "+s",
		.n_children = (int64_t)child_count,
		.children = pointers,
		.release = schema_release_callback,
		.private_data = owner,
	};
	return LANCET_OK;
}

/* Names are ended by NUL here: one that holds NUL is cut there, which is all that the interface can
 * say. */
static int
put_name(struct ArrowSchema *schema, struct slice name, struct lancet_error *err)
{
	struct schema_owner *owner = schema->private_data;

	buf_put_slice(&owner->name, name);
	buf_put_byte(&owner->name, '\0');
	TRY(buf_check(&owner->name, "name of a field", err));
	schema->name = (const char *)owner->name.data;
	return LANCET_OK;
}

static void
put_length(struct buf *into, size_t length)
{
	int32_t number = (int32_t)length;

	if (length > INT32_MAX)
		into->failed = LANCET_LIMIT;
	buf_put(into, &number, sizeof(number));
}

static void
put_bytes(struct buf *into, struct slice bytes)
{
	put_length(into, bytes.size);
	buf_put_slice(into, bytes);
}

static int
end_metadata(struct ArrowSchema *schema, struct lancet_error *err)
{
	struct schema_owner *owner = schema->private_data;

	TRY(buf_check(&owner->metadata, "metadata of a field", err));
	if (owner->metadata.size > 0)
		schema->metadata = (const char *)owner->metadata.data;
	return LANCET_OK;
}

static int
put_metadata(struct ArrowSchema *schema, const struct field *field, struct lancet_error *err)
{
	struct buf *into = &((struct schema_owner *)schema->private_data)->metadata;
	bool json = json_text_is_for(field);

	if (field->metadata_count > 0)
		put_length(into, field->metadata_count);
	for (size_t i = 0; i < field->metadata_count; i++) {
		const struct field_entry *entry = &field->metadata[i];
		bool renamed = json && slice_equal(entry->key, slice_text(EXTENSION_KEY));

		put_bytes(into, entry->key);
		put_bytes(into, renamed ? slice_text(JSON_READ_AS) : entry->value);
	}
	return end_metadata(schema, err);
}

static int
export_field(const struct field *field, struct ArrowSchema *into, struct lancet_error *err)
{
	bool dictionary = field->kind == FIELD_DICTIONARY;
	struct schema_owner *owner;
	int rc = schema_owner_new(dictionary ? 0 : field->child_count, into, err);

	if (rc != LANCET_OK)
		return rc;
	owner = into->private_data;
	into->format = json_text_is_for(field) ? "u" : field->format;
	into->flags = field->nullable ? ARROW_FLAG_NULLABLE : 0;
	rc = put_name(into, field->name, err);
	if (rc == LANCET_OK)
		rc = put_metadata(into, field, err);
	if (rc == LANCET_OK && dictionary) {
		rc = export_field(&field->children[0], &owner->dictionary, err);
		into->dictionary = rc == LANCET_OK ? &owner->dictionary : NULL;
	}
	for (int64_t i = 0; rc == LANCET_OK && i < into->n_children; i++)
		rc = export_field(&field->children[i], into->children[i], err);
	if (rc != LANCET_OK)
		into->release(into);
	return rc;
}

static int
put_table_metadata(struct ArrowSchema *schema, const struct lancet_entry *metadata, size_t count,
	struct lancet_error *err)
{
	struct buf *into = &((struct schema_owner *)schema->private_data)->metadata;

	if (count > 0)
		put_length(into, count);
	for (size_t i = 0; i < count; i++) {
		put_bytes(into, slice_of(metadata[i].key.data, metadata[i].key.size));
		put_bytes(into, slice_of(metadata[i].value.data, metadata[i].value.size));
	}
	return end_metadata(schema, err);
}

int
arrow_export_schema(const struct field *const *fields, size_t count,
	const struct lancet_entry *metadata, size_t metadata_count, struct ArrowSchema *ret_schema,
	struct lancet_error *err)
{
	struct ArrowSchema schema = { 0 };
	int rc = schema_owner_new(count, &schema, err);

	if (rc != LANCET_OK)
		return rc;
	rc = put_name(&schema, slice_text(""), err);
	if (rc == LANCET_OK)
		rc = put_table_metadata(&schema, metadata, metadata_count, err);
	for (size_t i = 0; rc == LANCET_OK && i < count; i++)
		rc = export_field(fields[i], schema.children[i], err);
	if (rc != LANCET_OK) {
		schema.release(&schema);
		return rc;
	}
	*ret_schema = schema;
	return LANCET_OK;
}
