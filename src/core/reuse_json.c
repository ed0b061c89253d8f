/* info.json of the reuse history and of one transition. SPEC section 4.
 *
 * The history's own fails when a transition contradicts itself or another, because whatever it said
 * of the whole would be wrong; a transition's says what was decoded, and its fault.
 */
#include "reuse.h"

#include "index_set.h"
#include "jsondoc.h"
#include "lance/table.pb-c.h"
#include "pbjson_parts.h"
#include "pbrest.h"
#include "util/macros.h"
#include "util/pbscan.h"
#include "version.h"

#define KNOWN_RECORDS    2u          /* fields of InlineContent: 1 legacy, 2 tagged */
#define UNKNOWN_SIZE_MAX (32u << 20) /* bytes of unknown records that are shown */

static void
put_base(struct jsonw *w, bool has_base, uint32_t base_id)
{
	if (has_base)
		jsonw_u64(w, "base", base_id);
	else
		jsonw_null(w, "base");
}

/* Where the file of the details lies in its base. */
static void
put_details_path(struct jsonw *w, const lancet_version *version, const struct lancet_reuse *reuse)
{
	struct lancet_bytes name = reuse->info.details_path;
	struct buf path = { 0 };

	if (!reuse->info.external) {
		jsonw_null(w, "path");
		return;
	}
	index_directory_put(&path, version, reuse->info.entry);
	buf_put_byte(&path, '/');
	buf_put(&path, name.data, name.size);
	if (path.failed == LANCET_OK)
		jsonw_slice(w, "path", buf_slice(&path));
	else
		w->out->failed = path.failed;
	buf_release(&path);
}

static void
put_entry(struct jsonw *w, const lancet_version *version, const struct lancet_reuse *reuse)
{
	const struct lancet_index_segment *entry = reuse->info.entry;

	jsonw_i64(w, "index_version", reuse->info.index_version);
	jsonw_text(w, "uuid", entry->uuid_text);
	jsonw_u64_text(w, "dataset_version", entry->dataset_version);
	pbjson_millis(w, "created_at", entry->has_created_at, entry->created_at);
	jsonw_object(w, "details");
	jsonw_text(w, "location", reuse->info.external ? "external" : "inline");
	put_details_path(w, version, reuse);
	jsonw_u64(w, "bytes", reuse->info.details_bytes);
	put_base(w, entry->has_base, entry->base_id);
	jsonw_end(w);
	jsonw_u64(w, "legacy_versions", reuse->info.legacy_versions);
	jsonw_u64(w, "tagged_transitions", reuse->info.tagged_transitions);
	jsonw_u64(w, "transitions", reuse->info.transition_count);
	jsonw_bool(w, "interpretable", reuse->info.interpretable);
}

/* Records of the history that this build does not know: nothing may be concluded from the others.
 */
static int
put_unknown(struct jsondoc *doc, const struct lancet_reuse *reuse, struct lancet_error *err)
{
	const ProtobufCMessageDescriptor *type =
		&lance__table__fragment_reuse_index_details__inline_content__descriptor;
	struct pbmem scan = { .in = reuse->content };
	struct buf rest = { .limit = UNKNOWN_SIZE_MAX };
	struct arena arena = { 0 };
	const ProtobufCMessage *message = NULL;
	struct pb_field field;
	bool more = true;
	int rc = LANCET_OK;

	while (rc == LANCET_OK && more) {
		rc = pbmem_next(&scan, &field, &more, err);
		if (rc == LANCET_OK && more && field.number > KNOWN_RECORDS)
			buf_put(&rest, reuse->content.data + field.start,
				(size_t)(field.end - field.start));
	}
	if (rc == LANCET_OK)
		rc = pbrest_decode(&rest, type, &arena, &message, err);
	if (rc == LANCET_OK)
		rc = pbjson_unknown(doc, message, NULL, err);
	arena_release(&arena);
	buf_release(&rest);
	return rc;
}

int
lancet_reuse_json(
	lancet_version *version, const struct lancet_output *out, struct lancet_error *err)
{
	lancet_reuse *reuse = NULL;
	struct jsondoc doc;
	int rc;

	TRY(lancet_version_reuse(version, &reuse, err));
	if (reuse->fault.code != LANCET_OK)
		return lancet_fail(err, reuse->fault.code, "%s", reuse->fault.text);
	jsondoc_begin(&doc, out);
	put_entry(&doc.w, version, reuse);
	rc = put_unknown(&doc, reuse, err);
	return jsondoc_end(&doc, rc, err);
}

static void
put_record(struct jsonw *w, const struct lancet_transition *transition)
{
	char name[64];

	reuse_record_name(transition, name);
	jsonw_text(w, "kind", lancet_mapping_name(transition->mapping));
	jsonw_bool(w, "legacy", transition->legacy);
	jsonw_text(w, "record", name);
	if (transition->legacy)
		jsonw_u64_text(w, "dataset_version", transition->dataset_version);
}

/* Rows that absurd digests did not let be counted are null. */
static void
put_rows(struct jsonw *w, const struct lancet_transition *transition)
{
	static const char *const keys[] = { "source_rows", "live_rows", "deleted_rows" };
	const uint64_t rows[] = { transition->source_rows, transition->live_rows,
		transition->source_rows - transition->live_rows };
	bool counted = transition->fault == LANCET_OK || transition->source_rows > 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (counted)
			jsonw_u64(w, keys[i], rows[i]);
		else
			jsonw_null(w, keys[i]);
	}
}

/* A path that nothing can be opened by is null. */
static void
put_map(struct jsonw *w, lancet_version *version, const struct lancet_transition *transition)
{
	lancet_autofree char *path = NULL;
	const lancet_base *base;

	jsonw_object(w, "map");
	jsonw_slice(w, "id", slice_of(transition->map_id.data, transition->map_id.size));
	(void)lancet_row_map_path(version, transition, &base, &path, NULL);
	jsonw_text(w, "path", path);
	jsonw_u64(w, "bytes", transition->map_bytes);
	put_base(w, transition->has_base, transition->base_id);
	jsonw_end(w);
}

int
lancet_transition_json(lancet_version *version, size_t transition, const struct lancet_output *out,
	struct lancet_error *err)
{
	const struct reuse_transition *stored;
	lancet_reuse *reuse = NULL;
	struct jsondoc doc;

	TRY(lancet_version_reuse(version, &reuse, err));
	if (transition >= reuse->info.transition_count)
		return lancet_fail(err, LANCET_INVALID, "no transition %zu", transition);
	stored = &reuse->transitions[transition];
	jsondoc_begin(&doc, out);
	jsonw_u64(&doc.w, "transition", transition);
	put_record(&doc.w, &stored->info);
	jsonw_u64(&doc.w, "sources", stored->info.source_count);
	jsonw_u64(&doc.w, "destinations", stored->info.destination_count);
	put_rows(&doc.w, &stored->info);
	if (stored->info.mapping == LANCET_ORDERED_COMPACTION)
		jsonw_u64(&doc.w, "surviving_bytes", stored->surviving.size);
	else if (stored->info.mapping == LANCET_STABLE_PARTITION)
		put_map(&doc.w, version, &stored->info);
	jsonw_text(&doc.w, "fault", stored->info.fault_text);
	return jsondoc_end(&doc, LANCET_OK, err);
}
