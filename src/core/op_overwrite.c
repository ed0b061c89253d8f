/* Overwrite: new rows and a new schema in the place of everything.
 *
 * What belongs to the table stays: config, table metadata, bases, marks. Format facts: effect per
 * operation, assignment.
 */
#include "operation.h"

#include <inttypes.h>

#include "draft_lineage.h"
#include "draft_map.h"
#include "draft_schema.h"
#include "fragment_checks.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

typedef Lance__Table__Transaction__Overwrite Overwrite;

/* The schema in the message is the new one; files of fields that it does not have are nonsense. */
static int
check_fragments(struct draft *draft, const Overwrite *message, struct lancet_error *err)
{
	struct numbers ids = { 0 };

	if (!numbers_reserve(&ids, message->n_schema, &draft->arena))
		return draft_no_memory(err);
	for (size_t i = 0; i < message->n_schema; i++)
		if (message->schema[i]->id >= 0)
			numbers_put(&ids, (uint64_t)message->schema[i]->id);
	numbers_sort(&ids);
	for (size_t i = 0; i < message->n_fragments; i++)
		TRY(checks_new(draft, message->fragments[i], &ids, err));
	return LANCET_OK;
}

int
op_overwrite_check(struct draft *draft, struct lancet_error *err)
{
	const Overwrite *message = draft->message->overwrite;

	if (draft->newest != NULL && message->n_initial_bases > 0)
		return lancet_fail(err, LANCET_INVALID,
			"initial_bases are for a new dataset: add bases with UpdateBases");
	TRY(draft_schema_check(draft, message->schema, message->n_schema, err));
	TRY(checks_new_fields(draft, message->schema, message->n_schema, false, err));
	return check_fragments(draft, message, err);
}

static void
remove_all(struct draft *draft)
{
	for (size_t i = 0; i < draft->fragment_count; i++)
		if (!draft->fragments[i].removed)
			draft_remove(draft, i);
	for (size_t i = 0; i < draft->index_count; i++)
		if (!draft->indices[i].removed)
			draft_index_remove(draft, i);
}

static int
add_all(struct draft *draft, const Overwrite *message, struct lancet_error *err)
{
	for (size_t i = 0; i < message->n_fragments; i++) {
		Lance__Table__DataFragment fragment = *message->fragments[i];
		Lance__Table__DataFragment *added;

		fragment.id = 0; /* always a fresh one */
		TRY(draft_add(draft, &fragment, &added, err));
		TRY(lineage_fresh(draft, added, err));
	}
	return LANCET_OK;
}

static int
set_maps(struct draft *draft, const Overwrite *message, struct lancet_error *err)
{
	Lance__Table__Manifest *head = draft->head;

	TRY(draft_map_put(draft, &head->schema_metadata, &head->n_schema_metadata,
		message->schema_metadata, message->n_schema_metadata, true, err));
	draft->changed |= DRAFT_SCHEMA_METADATA;
	if (message->n_config_upsert_values == 0)
		return LANCET_OK;
	draft->changed |= DRAFT_CONFIG;
	return draft_map_put(draft, &head->config, &head->n_config, message->config_upsert_values,
		message->n_config_upsert_values, false, err);
}

int
op_overwrite_apply(struct draft *draft, struct lancet_error *err)
{
	const Overwrite *message = draft->message->overwrite;
	Lance__Table__Manifest *head = draft->head;

	TRY(draft_indices(draft, err));
	remove_all(draft);
	TRY(add_all(draft, message, err));
	TRY(draft_schema_set(draft, message->schema, message->n_schema, err));
	fields_raise_mark(draft);
	if (message->n_initial_bases > 0) {
		head->base_paths = message->initial_bases;
		head->n_base_paths = message->n_initial_bases;
		draft->changed |= DRAFT_BASE_PATHS;
	}
	return set_maps(draft, message, err);
}
