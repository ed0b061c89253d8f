/* info.json of the reuse history and of one transition. SPEC section 4.
 *
 * The history's own fails when a transition contradicts itself or another, because whatever it said
 * of the whole would be wrong; a transition's says what was decoded, and its fault.
 */
#include "reuse.h"

#include <stdlib.h>

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
	jsonw_buf(w, "path", &path);
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
	pbjson_base(w, entry->has_base, entry->base_id);
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

/* What lancet_reuse_needs said. Whoever looks at the documents of 100,000 transitions asks for it
 * as often. */
struct reuse_needs {
	struct lancet_reuse_need *list; /* by transition */
	size_t count;
	bool known; /* false: the history is not understood, or the bitmap of an index is damaged */
};

void
reuse_needs_free(struct reuse_needs *needs)
{
	if (needs != NULL)
		free(needs->list);
	free(needs);
}

static int
make_needs(lancet_version *version, struct reuse_needs **ret_needs, struct lancet_error *err)
{
	struct reuse_needs *needs = calloc(1, sizeof(*needs));
	struct lancet_error why = { 0 };
	int rc;

	if (needs == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "needed transitions: out of memory");
	rc = lancet_reuse_needs(version, &needs->list, &needs->count, &why);
	if (rc == LANCET_NO_MEMORY || rc == LANCET_IO) {
		free(needs);
		if (err != NULL)
			*err = why;
		return rc;
	}
	needs->known = rc == LANCET_OK;
	*ret_needs = needs;
	return LANCET_OK;
}

static int
find_needs(lancet_version *version, struct lancet_reuse *reuse,
	const struct reuse_needs **ret_needs, struct lancet_error *err)
{
	struct reuse_needs *kept = atomic_load(&reuse->needs), *made = NULL;

	if (kept == NULL) {
		TRY(make_needs(version, &made, err));
		if (atomic_compare_exchange_strong(&reuse->needs, &kept, made))
			kept = made;
		else
			reuse_needs_free(made);
	}
	*ret_needs = kept;
	return LANCET_OK;
}

/* The first need of a transition, or of one behind it. */
static size_t
first_need(const struct reuse_needs *needs, size_t transition)
{
	size_t low = 0, high = needs->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (needs->list[middle].transition < transition)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The names of the indices that need a transition, from its first need on; *ret_downstream when
 * none needs it for its own sake. Returns where the next transition's needs begin. */
static size_t
put_names(struct jsonw *w, const char *key, const struct lancet_index *indices,
	const struct reuse_needs *needs, size_t transition, size_t at, bool *ret_downstream)
{
	*ret_downstream = true;
	jsonw_array(w, key);
	for (; at < needs->count && needs->list[at].transition == transition; at++) {
		struct lancet_bytes name = indices[needs->list[at].index].name;

		jsonw_slice(w, NULL, slice_of(name.data, name.size));
		*ret_downstream &= needs->list[at].downstream;
	}
	jsonw_end(w);
	return at;
}

static int
put_needed(struct jsondoc *doc, const struct lancet_index *indices, const struct reuse_needs *needs,
	struct lancet_error *err)
{
	struct jsonw *w = &doc->w;
	bool downstream;

	jsonw_array(w, "needed");
	for (size_t at = 0; at < needs->count;) {
		size_t transition = needs->list[at].transition;

		jsonw_object(w, NULL);
		jsonw_u64(w, "transition", transition);
		at = put_names(w, "indices", indices, needs, transition, at, &downstream);
		jsonw_bool(w, "downstream", downstream);
		jsonw_end(w);
		TRY(jsondoc_flush(doc, err));
	}
	jsonw_end(w);
	return LANCET_OK;
}

static int
put_not_needed(struct jsondoc *doc, size_t transition_count, const struct reuse_needs *needs,
	struct lancet_error *err)
{
	size_t at = 0;

	jsonw_array(&doc->w, "not_needed");
	for (size_t i = 0; i < transition_count; i++) {
		if (at == needs->count || needs->list[at].transition != i)
			jsonw_u64(&doc->w, NULL, i);
		while (at < needs->count && needs->list[at].transition == i)
			at++;
		TRY(jsondoc_flush(doc, err));
	}
	jsonw_end(&doc->w);
	return LANCET_OK;
}

static int
put_needs(struct jsondoc *doc, lancet_version *version, struct lancet_reuse *reuse,
	struct lancet_error *err)
{
	const struct lancet_index *indices;
	const struct reuse_needs *needs;
	size_t count;

	TRY(lancet_version_indices(version, &indices, &count, err));
	TRY(find_needs(version, reuse, &needs, err));
	if (!needs->known) {
		jsonw_null(&doc->w, "needed");
		jsonw_null(&doc->w, "not_needed");
		return LANCET_OK;
	}
	TRY(put_needed(doc, indices, needs, err));
	return put_not_needed(doc, reuse->info.transition_count, needs, err);
}

static int
put_needed_by(struct jsondoc *doc, lancet_version *version, struct lancet_reuse *reuse,
	size_t transition, struct lancet_error *err)
{
	const struct lancet_index *indices;
	const struct reuse_needs *needs;
	bool downstream;
	size_t count;

	TRY(lancet_version_indices(version, &indices, &count, err));
	TRY(find_needs(version, reuse, &needs, err));
	if (!needs->known)
		jsonw_null(&doc->w, "needed_by");
	else
		(void)put_names(&doc->w, "needed_by", indices, needs, transition,
			first_need(needs, transition), &downstream);
	return LANCET_OK;
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
	rc = put_needs(&doc, version, reuse, err);
	if (rc == LANCET_OK)
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
	pbjson_base(w, transition->has_base, transition->base_id);
	jsonw_end(w);
}

int
lancet_transition_json(lancet_version *version, size_t transition, const struct lancet_output *out,
	struct lancet_error *err)
{
	const struct reuse_transition *stored;
	lancet_reuse *reuse = NULL;
	struct jsondoc doc;
	int rc;

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
	rc = put_needed_by(&doc, version, reuse, transition, err);
	jsonw_text(&doc.w, "fault", stored->info.fault_text);
	return jsondoc_end(&doc, rc, err);
}
