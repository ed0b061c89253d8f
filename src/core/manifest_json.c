/* manifest.json of SPEC section 4: a manifest without its fragments and fields.
 *
 * The keys that SPEC names are always there, null when the manifest does not say; what else it says
 * follows, then what this build does not know.
 */
#include <lancet/version.h>

#include "lance/table.pb-c.h"
#include "pbjson.h"
#include "util/cursor.h"
#include "util/macros.h"
#include "util/source.h"
#include "version.h"

#define PREFIX_SIZE 4u

static struct slice
slice_of_data(ProtobufCBinaryData data)
{
	return slice_of(data.data, data.len);
}

static struct slice
slice_of_bytes(struct lancet_bytes bytes)
{
	return slice_of(bytes.data, bytes.size);
}

static void
put_text_or_null(struct jsonw *w, const char *key, bool present, struct slice text)
{
	if (present)
		jsonw_slice(w, key, text);
	else
		jsonw_null(w, key);
}

static void
put_flags(struct jsonw *w, const char *key, uint64_t flags)
{
	char name[32];

	jsonw_object(w, key);
	jsonw_u64_text(w, "raw", flags);
	jsonw_array(w, "names");
	for (unsigned bit = 0; bit < 64; bit++)
		if (flags >> bit & 1)
			jsonw_text(w, NULL, lancet_flag_name(bit, name));
	jsonw_end(w);
	jsonw_end(w);
}

static int
put_writer(struct jsondoc *doc, const Lance__Table__Manifest__WriterVersion *writer,
           struct lancet_error *err)
{
	struct jsonw *w = &doc->w;

	if (writer == NULL) {
		jsonw_null(w, "writer");
		return LANCET_OK;
	}
	jsonw_object(w, "writer");
	jsonw_slice(w, "library", slice_of_data(writer->library));
	jsonw_slice(w, "version", slice_of_data(writer->version));
	put_text_or_null(w, "prerelease", writer->prerelease_presence_case != 0,
	                 slice_of_data(writer->prerelease));
	put_text_or_null(w, "build_metadata", writer->build_metadata_presence_case != 0,
	                 slice_of_data(writer->build_metadata));
	TRY(pbjson_unknown(doc, &writer->base, NULL, err));
	jsonw_end(w);
	return LANCET_OK;
}

static void
put_base_paths(struct jsonw *w, const lancet_version *version)
{
	jsonw_array(w, "base_paths");
	for (size_t i = 0; i < version->info.base_path_count; i++) {
		const struct lancet_base_path *path = &version->base_paths[i];

		jsonw_object(w, NULL);
		jsonw_u64(w, "id", path->id);
		put_text_or_null(w, "name", path->name.size > 0, slice_of_bytes(path->name));
		jsonw_slice(w, "path", slice_of_bytes(path->path));
		jsonw_bool(w, "is_dataset_root", path->is_dataset_root);
		jsonw_end(w);
	}
	jsonw_end(w);
}

/* Where a section's length prefix stands, and what it says: null when it can't be read or lies. */
static void
put_section(struct jsonw *w, const char *key, const lancet_version *version, bool present,
            uint64_t offset)
{
	uint64_t end = version->file->size;
	uint8_t prefix[PREFIX_SIZE];
	bool fits = end >= PREFIX_SIZE && offset <= end - PREFIX_SIZE;

	if (!present) {
		jsonw_null(w, key);
		return;
	}
	jsonw_object(w, key);
	jsonw_u64(w, "offset", offset);
	if (fits && source_read_at(version->file, offset, PREFIX_SIZE, prefix, NULL) == LANCET_OK &&
	    load_u32(prefix) <= end - PREFIX_SIZE - offset)
		jsonw_u64(w, "bytes", load_u32(prefix));
	else
		jsonw_null(w, "bytes");
	jsonw_end(w);
}

static void
put_sections(struct jsonw *w, const lancet_version *version)
{
	const Lance__Table__Manifest *message = version->message;

	jsonw_object(w, "sections");
	put_section(w, "index_section", version, version->has_index_section,
	            version->index_section);
	put_section(w, "transaction_section", version,
	            message->transaction_section_presence_case != 0, message->transaction_section);
	if (message->transaction_section_deprecated_presence_case != 0)
		put_section(w, "transaction_section_deprecated", version, true,
		            message->transaction_section_deprecated);
	jsonw_object(w, "manifest");
	jsonw_u64(w, "offset", version->message_offset - PREFIX_SIZE);
	jsonw_u64(w, "bytes", version->message_size);
	jsonw_end(w);
	jsonw_end(w);
}

static int
put_origin(struct jsondoc *doc, const lancet_version *version, struct lancet_error *err)
{
	const Lance__Table__Manifest *message = version->message;
	struct jsonw *w = &doc->w;

	jsonw_u64_text(w, "version", message->version);
	if (message->timestamp != NULL)
		pbjson_time(w, "timestamp", message->timestamp->seconds, message->timestamp->nanos);
	else
		jsonw_null(w, "timestamp");
	TRY(put_writer(doc, message->writer_version, err));
	put_flags(w, "reader_flags", message->reader_feature_flags);
	put_flags(w, "writer_flags", message->writer_feature_flags);
	jsonw_u64_text(w, "next_row_id", message->next_row_id);
	if (message->max_fragment_id_presence_case != 0)
		jsonw_u64(w, "max_fragment_id", message->max_fragment_id);
	else
		jsonw_null(w, "max_fragment_id");
	if (message->data_format != NULL)
		return pbjson_message(doc, "data_format", &message->data_format->base, err);
	jsonw_null(w, "data_format");
	return LANCET_OK;
}

static int
put_content(struct jsondoc *doc, const lancet_version *version, struct lancet_error *err)
{
	static const struct {
		const char *key;
		enum lancet_map map;
	} maps[] = {
		{ "config", LANCET_CONFIG },
		{ "table_metadata", LANCET_TABLE_METADATA },
		{ "schema_metadata", LANCET_SCHEMA_METADATA },
	};
	const Lance__Table__Manifest *message = version->message;
	const struct lancet_version_info *info = &version->info;
	struct jsonw *w = &doc->w;

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		pbjson_entries(doc, maps[i].key, version->maps[maps[i].map],
		               version->map_counts[maps[i].map]);
		TRY(jsondoc_flush(doc, err));
	}
	put_base_paths(w, version);
	put_text_or_null(w, "branch", message->branch_presence_case != 0,
	                 slice_of_bytes(info->branch));
	put_text_or_null(w, "tag", info->tag.size > 0, slice_of_bytes(info->tag));
	put_text_or_null(w, "transaction_file", info->transaction_file.size > 0,
	                 slice_of_bytes(info->transaction_file));
	put_sections(w, version);
	if (message->version_aux_data != 0)
		jsonw_u64_text(w, "version_aux_data", message->version_aux_data);
	if (message->max_allocated_field_id_presence_case != 0)
		jsonw_i64(w, "max_allocated_field_id", message->max_allocated_field_id);
	return pbjson_unknown(doc, &message->base, NULL, err);
}

int
lancet_version_manifest_json(lancet_version *version, const struct lancet_output *out,
                             struct lancet_error *err)
{
	struct jsondoc doc;
	int rc;

	jsondoc_begin(&doc, out);
	rc = put_origin(&doc, version, err);
	if (rc == LANCET_OK)
		rc = put_content(&doc, version, err);
	return jsondoc_end(&doc, rc, err);
}
