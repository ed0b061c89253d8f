/* Merge: all fragments as they are to be, with columns added or written anew, and the schema.
 *
 * A fragment that is there keeps its rows, their ids and when they were made; when its files change
 * all its rows count as changed. Format facts: effect per operation, what happens to sequences.
 */
#include "operation.h"

#include <inttypes.h>
#include <stdlib.h>

#include "draft_lineage.h"
#include "draft_map.h"
#include "draft_prune.h"
#include "draft_schema.h"
#include "fragment_checks.h"
#include "fragment_changes.h"
#include "lance/transaction.pb-c.h"
#include "pbsame.h"
#include "util/macros.h"

typedef Lance__Table__DataFragment Fragment;
typedef Lance__Table__Transaction__Merge Merge;

/* Which fragments of the message are there already: the first that has the id of one. */
static int
match_fragments(
	const struct draft *draft, const Merge *message, size_t *places, struct lancet_error *err)
{
	lancet_autofree bool *seen = calloc(draft->fragment_count + 1, sizeof(*seen));
	size_t found = 0;

	if (seen == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < message->n_fragments; i++) {
		size_t place = draft_find(draft, message->fragments[i]->id);

		places[i] = place == SIZE_MAX || seen[place] ? SIZE_MAX : place;
		if (places[i] == SIZE_MAX)
			continue;
		if (found++ != i)
			return lancet_fail(err, LANCET_INVALID,
				"fragment %" PRIu64 " comes behind a new one",
				message->fragments[i]->id);
		seen[place] = true;
	}
	for (size_t i = 0; i < draft->fragment_count; i++) {
		if (!draft->fragments[i].removed && !seen[i])
			return lancet_fail(err, LANCET_INVALID,
				"fragment %" PRIu64 " is missing: all are to be listed",
				draft->fragments[i].id);
	}
	return LANCET_OK;
}

static int
list_places(
	struct draft *draft, const Merge *message, size_t **ret_places, struct lancet_error *err)
{
	size_t *places = draft_alloc(draft, (message->n_fragments + 1) * sizeof(*places));

	if (places == NULL)
		return draft_no_memory(err);
	TRY(match_fragments(draft, message, places, err));
	*ret_places = places;
	return LANCET_OK;
}

static int
check_image(struct draft *draft, size_t place, const Fragment *image, const struct numbers *ids,
	struct lancet_error *err)
{
	struct arena arena = { 0 };
	const Fragment *current = NULL;
	bool whole;
	int rc = draft_look(draft, place, &arena, &current, err);

	if (rc == LANCET_OK)
		rc = checks_image(draft, image, current, ids, err);
	if (rc == LANCET_OK)
		rc = checks_deletion(draft, image, current, &whole, err);
	arena_release(&arena);
	return rc;
}

int
op_merge_check(struct draft *draft, struct lancet_error *err)
{
	const Merge *message = draft->message->merge;
	struct numbers ids;
	size_t *places;

	if (message->n_schema == 0 && draft->head->n_fields > 0)
		return lancet_fail(err, LANCET_INVALID, "no schema");
	TRY(draft_schema_check(draft, message->schema, message->n_schema, err));
	TRY(checks_new_fields(draft, message->schema, message->n_schema, true, err));
	TRY(checks_fields(draft, message->schema, message->n_schema, &ids, err));
	TRY(list_places(draft, message, &places, err));
	for (size_t i = 0; i < message->n_fragments; i++)
		TRY(places[i] == SIZE_MAX
				? checks_new(draft, message->fragments[i], &ids, err)
				: check_image(draft, places[i], message->fragments[i], &ids, err));
	return LANCET_OK;
}

static int
apply_image(struct draft *draft, size_t place, const Fragment *image,
	struct fragment_changes *changes, struct lancet_error *err)
{
	Fragment *current;
	bool whole;

	TRY(draft_edit(draft, place, &current, err));
	TRY(changes_note(changes, draft, current, image, err));
	TRY(checks_deletion(draft, image, current, &whole, err));
	if (!pbsame_files(current, image))
		TRY(lineage_stamp(draft, current, err));
	current->files = image->files;
	current->n_files = image->n_files;
	current->overlays = image->overlays;
	current->n_overlays = image->n_overlays;
	current->deletion_file = image->deletion_file;
	current->physical_rows = image->physical_rows;
	if (whole)
		draft_remove(draft, place);
	return LANCET_OK;
}

static int
apply_all(struct draft *draft, const Merge *message, const size_t *places,
	struct fragment_changes *changes, struct lancet_error *err)
{
	for (size_t i = 0; i < message->n_fragments; i++) {
		Fragment *added;

		if (places[i] != SIZE_MAX) {
			TRY(apply_image(draft, places[i], message->fragments[i], changes, err));
			continue;
		}
		TRY(draft_add(draft, message->fragments[i], &added, err));
		TRY(lineage_fresh(draft, added, err));
	}
	return changes_uncover(changes, draft, err);
}

/* A message that says nothing of the schema's metadata, as the reference writes them, leaves it. */
static int
set_schema(struct draft *draft, const Merge *message, struct lancet_error *err)
{
	Lance__Table__Manifest *head = draft->head;

	TRY(draft_schema_set(draft, message->schema, message->n_schema, err));
	fields_raise_mark(draft);
	if (message->n_schema_metadata == 0)
		return LANCET_OK;
	draft->changed |= DRAFT_SCHEMA_METADATA;
	return draft_map_put(draft, &head->schema_metadata, &head->n_schema_metadata,
		message->schema_metadata, message->n_schema_metadata, true, err);
}

int
op_merge_apply(struct draft *draft, struct lancet_error *err)
{
	const Merge *message = draft->message->merge;
	struct fragment_changes changes = { 0 };
	size_t *places;
	int rc;

	TRY(list_places(draft, message, &places, err));
	rc = apply_all(draft, message, places, &changes, err);
	changes_release(&changes);
	if (rc != LANCET_OK)
		return rc;
	TRY(set_schema(draft, message, err));
	return draft_prune(draft, err);
}
