/* info.json of an index and of one segment. SPEC section 4.
 *
 * What is damaged in one segment (its bitmap, its details) shows as null there and leaves the
 * others alone; a damaged reuse history only hides what the segments cover.
 */
#include "index_set.h"

#include "fieldnames.h"
#include "index_reach.h"
#include "lance/table.pb-c.h"
#include "pbjson.h"
#include "util/macros.h"
#include "version.h"

static struct slice
slice_of_bytes(struct lancet_bytes bytes)
{
	return slice_of(bytes.data, bytes.size);
}

static void
put_fields(struct jsonw *w, const char *key, const struct field_names *names, const int32_t *ids,
           size_t count)
{
	jsonw_array(w, key);
	for (size_t i = 0; i < count; i++) {
		jsonw_object(w, NULL);
		jsonw_i64(w, "id", ids[i]);
		field_names_put(names, w, ids[i]);
		jsonw_end(w);
	}
	jsonw_end(w);
}

/* What an index and a segment of it have in common. */
static void
put_kind(struct jsonw *w, const struct field_names *names,
         const struct lancet_index_segment *segment)
{
	jsonw_slice(w, "name", slice_of_bytes(segment->name));
	if (segment->type_url.size > 0)
		jsonw_slice(w, "type_url", slice_of_bytes(segment->type_url));
	else
		jsonw_null(w, "type_url");
	put_fields(w, "fields", names, segment->fields, segment->field_count);
}

static void
put_files(struct jsonw *w, const struct lancet_index_segment *segment)
{
	if (!segment->has_files) {
		jsonw_null(w, "files");
		return;
	}
	jsonw_array(w, "files");
	for (size_t i = 0; i < segment->file_count; i++) {
		jsonw_object(w, NULL);
		jsonw_slice(w, "path", slice_of_bytes(segment->files[i].path));
		jsonw_u64(w, "bytes", segment->files[i].size);
		jsonw_end(w);
	}
	jsonw_end(w);
}

/* What all segments of a document are rendered with. */
struct context {
	const lancet_version *version;
	struct field_names names;
	struct index_reach *reach; /* NULL when the coverage can't be found out */
};

static void
put_extent(struct jsonw *w, const struct index_extent *extent)
{
	if (!extent->known) {
		jsonw_null(w, "covered_rows");
		jsonw_null(w, "retired_fragments");
		return;
	}
	jsonw_u64(w, "covered_rows", extent->rows);
	jsonw_u64(w, "retired_fragments", extent->retired);
}

static int
put_segment(struct jsondoc *doc, const struct context *context,
            const struct lancet_index_segment *info, struct lancet_error *err)
{
	const struct index_segment *segment = (const struct index_segment *)info;
	struct jsonw *w = &doc->w;
	struct index_extent extent;

	TRY(index_extent_of(context->version, context->reach, info, &extent, err));
	jsonw_text(w, "uuid", info->uuid_text);
	jsonw_u64_text(w, "dataset_version", info->dataset_version);
	if (info->has_index_version)
		jsonw_i64(w, "index_version", info->index_version);
	else
		jsonw_null(w, "index_version");
	pbjson_millis(w, "created_at", info->has_created_at, info->created_at);
	put_files(w, info);
	put_extent(w, &extent);
	pbjson_base(w, info->has_base, info->base_id);
	put_fields(w, "covering_fields", &context->names, segment->message->covering_fields,
	           segment->message->n_covering_fields);
	TRY(pbjson_unknown(doc, &segment->message->base, NULL, err));
	return jsondoc_flush(doc, err);
}

static int
put_index(struct jsondoc *doc, const struct context *context, const struct lancet_index *index,
          struct lancet_error *err)
{
	put_kind(&doc->w, &context->names, index->segments[0]);
	jsonw_array(&doc->w, "segments");
	for (size_t i = 0; i < index->segment_count; i++) {
		jsonw_object(&doc->w, NULL);
		TRY(put_segment(doc, context, index->segments[i], err));
		jsonw_end(&doc->w);
	}
	jsonw_end(&doc->w);
	return LANCET_OK;
}

static int
put_one_segment(struct jsondoc *doc, const struct context *context,
                const struct lancet_index_segment *info, struct lancet_error *err)
{
	const struct index_segment *segment = (const struct index_segment *)info;

	put_kind(&doc->w, &context->names, info);
	TRY(put_segment(doc, context, info, err));
	if (segment->message->index_details != NULL)
		return pbjson_any(doc, "details", segment->message->index_details, err);
	jsonw_null(&doc->w, "details");
	return LANCET_OK;
}

static int
context_load(lancet_version *version, const struct lancet_index *index, struct context *context,
             struct lancet_error *err)
{
	struct lancet_error damage = { 0 };
	int rc;

	*context = (struct context){ .version = version };
	TRY(field_names_load(version, &context->names, err));
	rc = index_reach_open(version, index, &context->reach, &damage);
	if (rc != LANCET_NO_MEMORY)
		return LANCET_OK;
	field_names_release(&context->names);
	return lancet_fail(err, rc, "%s", damage.text);
}

int
lancet_index_json(lancet_version *version, const struct lancet_index *index,
                  const struct lancet_index_segment *segment, const struct lancet_output *out,
                  struct lancet_error *err)
{
	struct context context;
	struct jsondoc doc;
	int rc;

	TRY(context_load(version, index, &context, err));
	jsondoc_begin(&doc, out);
	rc = segment != NULL ? put_one_segment(&doc, &context, segment, err)
			     : put_index(&doc, &context, index, err);
	index_reach_free(context.reach);
	field_names_release(&context.names);
	return jsondoc_end(&doc, rc, err);
}
