/* Rules of CreateIndex: entries of one name, and columns that change under an index that is being
 * made. */
#include "conflict.h"
#include "conflict_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "index_reach.h"
#include "lance/table.pb-c.h"
#include "lance/transaction.pb-c.h"
#include "schema.h"
#include "util/macros.h"
#include "util/roaringx.h"

typedef Lance__Table__IndexMetadata Entry;

bool
entry_is_named(const Entry *entry, const char *name)
{
	return slice_equal(slice_of(entry->name.data, entry->name.len), slice_text(name));
}

/* Type URLs are compared without regard to case. */
bool
entry_is_kind(const Entry *entry, const char *kind)
{
	char end[64];
	size_t size = (size_t)snprintf(end, sizeof(end), ".%sIndexDetails", kind);
	const Google__Protobuf__Any *details = entry->index_details;

	return details != NULL && details->type_url.len >= size &&
	       strncasecmp((const char *)details->type_url.data + details->type_url.len - size, end,
		       size) == 0;
}

int
entry_fragments(const Entry *entry, roaring_bitmap_t **ret_fragments, struct lancet_error *err)
{
	int rc;

	*ret_fragments = NULL;
	if (entry->fragment_bitmap.len == 0)
		return LANCET_OK;
	rc = roaringx_load(slice_of(entry->fragment_bitmap.data, entry->fragment_bitmap.len),
		FRAGMENT_ID_END, FRAGMENT_IDS, ret_fragments, err);
	return rc == LANCET_OK ? rc
			       : lancet_wrap(err, rc, "fragments of index %.*s",
					 (int)(entry->name.len < 80 ? entry->name.len : 80),
					 (const char *)entry->name.data);
}

/* Parents come before their children, so that one walk finds what is below the fields. */
static int
add_below(struct numbers *fields, size_t own, lancet_version *version, struct lancet_error *err)
{
	const Lance__Table__Manifest *manifest = version->message;
	struct numbers roots = { fields->values, own };
	lancet_autofree size_t *parents = NULL;
	lancet_autofree bool *inside = calloc(manifest->n_fields + 1, sizeof(*inside));

	if (inside == NULL)
		return touched_no_memory(err);
	TRY(schema_parents(manifest, &parents, err));
	for (size_t i = 0; i < manifest->n_fields; i++) {
		int32_t id = manifest->fields[i]->id;

		inside[i] = (id >= 0 && numbers_find(&roots, (uint64_t)id) != SIZE_MAX) ||
			    (parents[i] < i && inside[parents[i]]);
		if (inside[i] && id >= 0)
			numbers_put(fields, (uint64_t)id);
	}
	return LANCET_OK;
}

int
entry_fields(const Entry *entry, lancet_version *version, struct arena *arena,
	struct numbers *ret_fields, struct lancet_error *err)
{
	struct numbers fields;

	if (!numbers_reserve(&fields, entry->n_fields + version->message->n_fields, arena))
		return touched_no_memory(err);
	for (size_t i = 0; i < entry->n_fields; i++)
		if (entry->fields[i] >= 0)
			numbers_put(&fields, (uint64_t)entry->fields[i]);
	numbers_sort(&fields);
	TRY(add_below(&fields, fields.count, version, err));
	numbers_sort(&fields);
	*ret_fields = fields;
	return LANCET_OK;
}

/* They are indices of the table itself, over no columns. */
static bool
is_of_columns(const Entry *entry)
{
	return !entry_is_named(entry, REUSE_INDEX_NAME) &&
	       !entry_is_named(entry, MEM_WAL_INDEX_NAME);
}

static bool
touches_history(const struct touched *touched)
{
	return touched->adds_reuse || touched->removes_reuse;
}

static int
shared_name(struct clash *clash, struct slice name, const char *how)
{
	int shown = (int)(name.size < 80 ? name.size : 80);

	return clash_retry(
		clash, "index_name", "index %.*s %s", shown, (const char *)name.data, how);
}

/* i1 */
int
rule_indices(struct clash *clash)
{
	const struct touched *ours = clash->ours, *theirs = clash->theirs;
	struct slice common;

	if (texts_meet(&ours->new_names, &theirs->new_names, &common))
		return shared_name(clash, common, "was made");
	if (texts_meet(&ours->new_names, &theirs->removed_names, &common))
		return shared_name(clash, common, "had a segment removed");
	if (texts_meet(&ours->removed_names, &theirs->new_names, &common))
		return shared_name(clash, common, "got a segment");
	if (texts_meet(&ours->removed_uuids, &theirs->removed_uuids, NULL) &&
		ours->new_names.count + theirs->new_names.count > 0)
		return clash_retry(clash, "index_name", "a segment that we remove was removed");
	if (!touches_history(ours) || !touches_history(theirs))
		return LANCET_OK;
	if (rebase_is_tagged(clash->rebase))
		return clash_retry(
			clash, "reuse_history", "the fragment reuse history has changed");
	return LANCET_OK;
}

/* i4: what is changed in place is no longer what the index was built over. An update that names no
 * columns may have changed any. */
int
rule_index_update(struct clash *clash)
{
	const struct touched *theirs = clash->theirs;
	struct rebase *rebase = clash->rebase;
	bool any = !theirs->moves_rows && theirs->fields.count == 0;

	for (size_t i = 0; i < rebase->index_count; i++) {
		struct rebase_index *index = &rebase->indices[i];

		if (is_of_columns(index->message) &&
			(any || numbers_meet(&theirs->fields, &index->fields, NULL)))
			TRY(rebase_withdraw(index, &theirs->updated, clash->err));
	}
	return clash->ours->adds_mem_wal ? rebase_add_progress(clash) : LANCET_OK;
}

static int
replaced_field(struct clash *clash, uint64_t field)
{
	return clash_retry(clash, "index_field",
		"field %" PRIu64 ", of an index that is made, was replaced", field);
}

/* i5 */
int
rule_index_replacement(struct clash *clash)
{
	struct rebase *rebase = clash->rebase;
	bool tagged = rebase_is_tagged(rebase);
	uint64_t field;

	for (size_t i = 0; i < rebase->index_count && !clash_decided(clash); i++) {
		struct rebase_index *index = &rebase->indices[i];

		if (!numbers_meet(&clash->theirs->fields, &index->fields, &field))
			continue;
		if (tagged && index->covered != NULL)
			TRY(rebase_withdraw(index, &clash->theirs->updated, clash->err));
		else
			(void)replaced_field(clash, field);
	}
	return LANCET_OK;
}

/* i5 the other way round */
int
rule_replacement_index(struct clash *clash)
{
	const Lance__Table__Transaction__CreateIndex *message =
		clash->theirs->message->create_index;
	struct arena scratch = { 0 };
	int rc = LANCET_OK;

	for (size_t i = 0; i < message->n_new_indices && rc == LANCET_OK && !clash_decided(clash);
		i++) {
		struct numbers fields = { 0 };
		uint64_t field;

		arena_release(&scratch);
		rc = rebase_work(clash->rebase, clash->rebase->read->message->n_fields, clash->err);
		if (rc == LANCET_OK)
			rc = entry_fields(message->new_indices[i], clash->rebase->read, &scratch,
				&fields, clash->err);
		if (rc == LANCET_OK && numbers_meet(&clash->ours->fields, &fields, &field))
			(void)replaced_field(clash, field);
	}
	arena_release(&scratch);
	return rc;
}
