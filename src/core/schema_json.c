/* schema.json: all that is stored of each field, in stored order; logical types as they are, known
 * or not. What a field does not carry is left out, except for the keys every field has. The list is
 * flat, so it does not matter how deep the fields are nested.
 */
#include <lancet/version.h>

#include "lance/table.pb-c.h"
#include "pbjson_parts.h"
#include "util/macros.h"
#include "version.h"

static struct slice
slice_of_binary(ProtobufCBinaryData data)
{
	return slice_of(data.data, data.len);
}

/* An enum by its name, or by number when it has none. */
static void
put_enum(struct jsonw *w, const char *key, const ProtobufCEnumDescriptor *type, int number)
{
	const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(type, number);

	if (value != NULL)
		jsonw_text(w, key, value->name);
	else
		jsonw_i64(w, key, number);
}

/* Where format 0.1 keeps the values; later formats leave the message empty. */
static void
put_dictionary(struct jsonw *w, const Lance__File__Dictionary *dictionary)
{
	jsonw_object(w, "dictionary");
	jsonw_i64_text(w, "offset", dictionary->offset);
	jsonw_i64_text(w, "length", dictionary->length);
	jsonw_end(w);
}

static void
put_keys(struct jsonw *w, const Lance__File__Field *field)
{
	if (field->unenforced_primary_key)
		jsonw_bool(w, "unenforced_primary_key", true);
	if (field->unenforced_primary_key_position != 0)
		jsonw_u64(w, "unenforced_primary_key_position",
		          field->unenforced_primary_key_position);
	if (field->unenforced_clustering_key)
		jsonw_bool(w, "unenforced_clustering_key", true);
	if (field->unenforced_clustering_key_position != 0)
		jsonw_u64(w, "unenforced_clustering_key_position",
		          field->unenforced_clustering_key_position);
}

static int
put_field(struct jsondoc *doc, const Lance__File__Field *field, struct lancet_error *err)
{
	struct jsonw *w = &doc->w;

	jsonw_object(w, NULL);
	jsonw_i64(w, "id", field->id);
	jsonw_i64(w, "parent_id", field->parent_id);
	jsonw_slice(w, "name", slice_of_binary(field->name));
	jsonw_slice(w, "type", slice_of_binary(field->logical_type));
	jsonw_bool(w, "nullable", field->nullable);
	TRY(pbjson_map(doc, "metadata", field->metadata, field->n_metadata, err));
	if (field->type != LANCE__FILE__FIELD__TYPE__PARENT)
		put_enum(w, "node", &lance__file__field__type__descriptor, (int)field->type);
	if (field->encoding != LANCE__FILE__ENCODING__NONE)
		put_enum(w, "encoding", &lance__file__encoding__descriptor, (int)field->encoding);
	if (field->dictionary != NULL)
		put_dictionary(w, field->dictionary);
	if (field->extension_name.len > 0)
		jsonw_slice(w, "extension_name", slice_of_binary(field->extension_name));
	put_keys(w, field);
	TRY(pbjson_unknown(doc, &field->base, NULL, err));
	jsonw_end(w);
	return jsondoc_flush(doc, err);
}

static int
put_schema(struct jsondoc *doc, const lancet_version *version, struct lancet_error *err)
{
	const Lance__Table__Manifest *message = version->message;

	jsonw_array(&doc->w, "fields");
	for (size_t i = 0; i < message->n_fields; i++)
		TRY(put_field(doc, message->fields[i], err));
	jsonw_end(&doc->w);
	pbjson_entries(doc, "metadata", version->maps[LANCET_SCHEMA_METADATA],
	               version->map_counts[LANCET_SCHEMA_METADATA]);
	return LANCET_OK;
}

int
lancet_version_schema_json(lancet_version *version, const struct lancet_output *out,
                           struct lancet_error *err)
{
	struct jsondoc doc;

	jsondoc_begin(&doc, out);
	return jsondoc_end(&doc, put_schema(&doc, version, err), err);
}
