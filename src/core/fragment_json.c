/* info.json of a fragment: SPEC section 4.
 *
 * Live fields of a data file are those that the schema, or the fragment's lineage, still reads from
 * it; tombstones and dropped columns are dead. Sizes that the manifest does not record are asked of
 * the storage, and null when it has no answer.
 */
#include "fragment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fieldnames.h"
#include "lance/table.pb-c.h"
#include "names.h"
#include "pbjson.h"
#include "util/pbunpack.h"
#include "util/cursor.h"
#include "util/macros.h"
#include "util/roaringx.h"
#include "version.h"

#define METADATA_NUMBER 16u /* of DataFragment: reserved, entries of a text map */

/* What the parts of the document need. */
struct describe {
	struct jsondoc *doc;
	lancet_fragment *fragment;
	struct field_names names;
	struct lancet_error *err;
};

/* Where the file lies in its base; a path that nothing can be opened by is shown as it is. */
static void
put_path(const struct describe *describe, const struct lancet_data_file *file)
{
	struct jsonw *w = &describe->doc->w;
	const struct lancet_base_path *base = file->has_base
		? version_base_path(describe->fragment->version, file->base_id)
		: NULL;
	struct buf path = { 0 };

	if (base == NULL || base->is_dataset_root)
		buf_put_text(&path, "data/");
	buf_put(&path, file->path.data, file->path.size);
	jsonw_buf(w, "path", &path);
}

static void
put_file_version(struct jsonw *w, const struct lancet_data_file *file)
{
	char text[32];

	if (file->major == 0)
		(void)snprintf(text, sizeof(text), "%s", file->minor == 3 ? "2.0" : "0.1");
	else
		(void)snprintf(text, sizeof(text), "%" PRIu32 ".%" PRIu32, file->major,
		               file->minor);
	jsonw_text(w, "file_version", text);
}

static void
put_size(const struct describe *describe, const struct lancet_data_file *file)
{
	struct jsonw *w = &describe->doc->w;
	lancet_autofree char *path = NULL;
	const lancet_base *base;
	struct stat st;

	if (file->size != 0)
		jsonw_u64(w, "bytes", file->size);
	else if (lancet_data_file_path(describe->fragment->version, file, &base, &path, NULL) ==
	                 LANCET_OK &&
	         lancet_base_stat(base, path, &st, NULL) == LANCET_OK)
		jsonw_u64(w, "bytes", (uint64_t)st.st_size);
	else
		jsonw_null(w, "bytes");
}

static bool
is_live(const struct describe *describe, int32_t id)
{
	const struct lancet_sequence *lineage = describe->fragment->info.lineage;

	if (id <= FIELD_ROW_ID && id >= FIELD_LAST_UPDATED_AT)
		return lineage[FIELD_ROW_ID - id].placement == LANCET_COLUMN;
	return id >= 0 && field_names_find(&describe->names, id) != NULL;
}

static void
put_field_ids(const struct describe *describe, const char *key, const struct lancet_data_file *file,
              bool live)
{
	struct jsonw *w = &describe->doc->w;

	jsonw_array(w, key);
	for (size_t i = 0; i < file->field_count; i++)
		if (is_live(describe, file->fields[i]) == live)
			jsonw_i64(w, NULL, file->fields[i]);
	jsonw_end(w);
}

static int
put_file(const struct describe *describe, const struct lancet_data_file *file)
{
	struct jsonw *w = &describe->doc->w;

	put_path(describe, file);
	pbjson_base(w, file->has_base, file->base_id);
	put_file_version(w, file);
	put_size(describe, file);
	jsonw_array(w, "fields");
	for (size_t i = 0; i < file->field_count; i++) {
		jsonw_object(w, NULL);
		jsonw_i64(w, "id", file->fields[i]);
		field_names_put(&describe->names, w, file->fields[i]);
		if (i < file->column_index_count)
			jsonw_i64(w, "column", file->column_indices[i]);
		else
			jsonw_null(w, "column");
		jsonw_end(w);
		TRY(jsondoc_flush(describe->doc, describe->err));
	}
	jsonw_end(w);
	put_field_ids(describe, "live_fields", file, true);
	put_field_ids(describe, "dead_fields", file, false);
	return jsondoc_flush(describe->doc, describe->err);
}

static int
put_files(const struct describe *describe)
{
	const struct lancet_fragment_info *info = &describe->fragment->info;
	struct jsonw *w = &describe->doc->w;

	jsonw_array(w, "data_files");
	for (size_t i = 0; i < info->file_count; i++) {
		jsonw_object(w, NULL);
		TRY(put_file(describe, &info->files[i]));
		jsonw_end(w);
	}
	jsonw_end(w);
	return LANCET_OK;
}

static void
put_deletion(struct jsonw *w, const struct lancet_fragment_info *info)
{
	const struct lancet_deletion_file *deletion = &info->deletion;
	char path[DELETION_PATH_MAX];

	if (!info->has_deletion_file) {
		jsonw_null(w, "deletion_file");
		return;
	}
	deletion_path_format(info->id, deletion->read_version, deletion->id, deletion->is_bitmap,
	                     path);
	jsonw_object(w, "deletion_file");
	jsonw_text(w, "path", path);
	jsonw_text(w, "kind", deletion->is_bitmap ? "bitmap" : "arrow");
	jsonw_u64_text(w, "read_version", deletion->read_version);
	jsonw_u64_text(w, "id", deletion->id);
	jsonw_u64(w, "deleted_rows", info->deleted_rows);
	pbjson_base(w, deletion->has_base, deletion->base_id);
	jsonw_end(w);
}

/* Rows per bitmap; null for a damaged one. */
static void
put_coverage(struct jsonw *w, const struct lancet_overlay *overlay)
{
	jsonw_bool(w, "shared", overlay->shared);
	jsonw_array(w, "covered_rows");
	for (size_t i = 0; i < overlay->coverage_count; i++) {
		struct slice bitmap =
			slice_of(overlay->coverage[i].data, overlay->coverage[i].size);
		uint64_t rows;
		size_t size;

		if (roaringx_measure(bitmap, &size, &rows, NULL) == LANCET_OK &&
		    size == bitmap.size)
			jsonw_u64(w, NULL, rows);
		else
			jsonw_null(w, NULL);
	}
	jsonw_end(w);
}

static int
put_overlays(const struct describe *describe)
{
	const struct lancet_fragment_info *info = &describe->fragment->info;
	struct jsonw *w = &describe->doc->w;

	jsonw_array(w, "overlays");
	for (size_t i = 0; i < info->overlay_count; i++) {
		const struct lancet_overlay *overlay = &info->overlays[i];

		jsonw_object(w, NULL);
		TRY(put_file(describe, &overlay->file));
		jsonw_u64_text(w, "committed_version", overlay->committed_version);
		put_coverage(w, overlay);
		jsonw_end(w);
	}
	jsonw_end(w);
	return LANCET_OK;
}

static void
put_lineage(struct jsonw *w, const struct lancet_fragment_info *info)
{
	static const char *const keys[FRAGMENT_LINEAGE] = {
		[LANCET_ROW_ID] = "row_ids",
		[LANCET_CREATED_AT] = "created_at",
		[LANCET_LAST_UPDATED_AT] = "last_updated_at",
	};

	jsonw_object(w, "lineage");
	for (size_t i = 0; i < FRAGMENT_LINEAGE; i++) {
		jsonw_object(w, keys[i]);
		jsonw_text(w, "placement", lancet_placement_name(info->lineage[i].placement));
		jsonw_u64(w, "bytes", info->lineage[i].bytes);
		jsonw_end(w);
	}
	jsonw_end(w);
	if (info->retired_external)
		jsonw_bool(w, "retired_external", true);
}

static bool
is_not_metadata(uint32_t number)
{
	return number != METADATA_NUMBER;
}

static int
decode_entry(const ProtobufCMessageUnknownField *field, struct arena *arena,
             Lance__File__StringEntry **ret_entry, struct lancet_error *err)
{
	struct cursor c = { .in = slice_of(field->data, field->len) };

	if (field->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
		return lancet_fail(err, LANCET_CORRUPT, "metadata: wire type %d",
		                   (int)field->wire_type);
	(void)cursor_varint(&c); /* protobuf-c keeps the length before the bytes */
	return pb_unpack(&lance__file__string_entry__descriptor, cursor_take(&c, cursor_left(&c)),
	                 arena, ret_entry, err);
}

/* The entries of the reserved map. A field of that number which is something else spoils all of it:
 * it then stays among the unknown ones. */
static int
decode_metadata(const ProtobufCMessage *message, struct arena *arena,
                Lance__File__StringEntry **entries, size_t *ret_count, struct lancet_error *err)
{
	size_t count = 0;

	for (unsigned i = 0; i < message->n_unknown_fields; i++)
		if (message->unknown_fields[i].tag == METADATA_NUMBER)
			TRY(decode_entry(&message->unknown_fields[i], arena, &entries[count++],
			                 err));
	*ret_count = count;
	return LANCET_OK;
}

static int
put_metadata(const struct describe *describe)
{
	const ProtobufCMessage *message = &describe->fragment->message->base;
	lancet_autofree Lance__File__StringEntry **entries =
		calloc(message->n_unknown_fields + (size_t)1, sizeof(Lance__File__StringEntry *));
	struct arena arena = { 0 };
	struct lancet_error damage = { 0 };
	size_t count = 0;
	bool decoded;
	int rc;

	if (entries == NULL)
		return lancet_fail(describe->err, LANCET_NO_MEMORY, "%u unknown fields",
		                   message->n_unknown_fields);
	decoded = decode_metadata(message, &arena, entries, &count, &damage) == LANCET_OK;
	rc = pbjson_map(describe->doc, "metadata", entries, decoded ? count : 0, describe->err);
	arena_release(&arena);
	TRY(rc);
	return pbjson_unknown(describe->doc, message, decoded ? is_not_metadata : NULL,
	                      describe->err);
}

static int
put_fragment(const struct describe *describe)
{
	const struct lancet_fragment_info *info = &describe->fragment->info;
	struct jsonw *w = &describe->doc->w;

	jsonw_u64(w, "id", info->id);
	jsonw_u64(w, "physical_rows", info->physical_rows);
	jsonw_u64(w, "deleted_rows", info->deleted_rows);
	jsonw_u64(w, "live_rows", info->physical_rows - info->deleted_rows);
	TRY(put_files(describe));
	put_deletion(w, info);
	TRY(put_overlays(describe));
	put_lineage(w, info);
	return put_metadata(describe);
}

int
lancet_fragment_json(lancet_fragment *fragment, const struct lancet_output *out,
                     struct lancet_error *err)
{
	struct jsondoc doc;
	struct describe describe = { .doc = &doc, .fragment = fragment, .err = err };
	int rc;

	TRY(field_names_load(fragment->version, &describe.names, err));
	jsondoc_begin(&doc, out);
	rc = put_fragment(&describe);
	field_names_release(&describe.names);
	return jsondoc_end(&doc, rc, err);
}
