/* Project: fields are dropped, renamed, or get other metadata.
 *
 * Data files stay as they are: a field that is gone is a column nobody reads. A file or overlay
 * with no other columns goes, unless it has the lineage of the rows. The message has no schema
 * metadata, so that of the table stays. Format facts: Project.
 */
#include "operation.h"

#include <inttypes.h>
#include <stdlib.h>

#include "draft_prune.h"
#include "draft_schema.h"
#include "file/field.h"
#include "fragment_checks.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

#define LINEAGE_FIRST (-3) /* field ids of lineage columns */
#define LINEAGE_LAST  (-5)

typedef Lance__File__Field Field;
typedef Lance__Table__DataFile DataFile;
typedef Lance__Table__DataFragment Fragment;
typedef Lance__Table__DataOverlayFile Overlay;

static int
check_field(const Field *field, const Field *current, bool keeps_nulls, struct lancet_error *err)
{
	struct slice name = slice_of(field->name.data, field->name.len);

	if (current == NULL)
		return lancet_fail(err, LANCET_INVALID,
			"field %" PRId32 " (%.*s) is not in the schema", field->id,
			FIELD_TEXT(name));
	if (field->parent_id != current->parent_id ||
		!slice_equal(slice_of(field->logical_type.data, field->logical_type.len),
			slice_of(current->logical_type.data, current->logical_type.len)))
		return lancet_fail(err, LANCET_INVALID,
			"field %" PRId32 " (%.*s) has another type or parent", field->id,
			FIELD_TEXT(name));
	if (keeps_nulls && current->nullable && !field->nullable)
		return lancet_fail(err, LANCET_INVALID,
			"field %" PRId32 " (%.*s) can't be null any more, though nullability "
			"is said to be kept",
			field->id, FIELD_TEXT(name));
	return LANCET_OK;
}

int
op_project_check(struct draft *draft, struct lancet_error *err)
{
	const Lance__Table__Transaction__Project *message = draft->message->project;
	const Lance__Table__Manifest *head = draft->head;
	lancet_autofree const Field **current = NULL;

	if (message->n_schema == 0)
		return lancet_fail(err, LANCET_INVALID, "no field is left");
	TRY(draft_schema_check(draft, message->schema, message->n_schema, err));
	TRY(fields_by_id(head->fields, head->n_fields, &current, err));
	for (size_t i = 0; i < message->n_schema; i++) {
		const Field *field = message->schema[i];

		TRY(check_field(field, field_with_id(current, head->n_fields, field->id),
			message->preserves_nullability, err));
	}
	return LANCET_OK;
}

/* Ids of the new schema, ascending. */
struct live_fields {
	const Field **fields;
	size_t count;
};

static bool
file_is_live(const struct live_fields *live, const DataFile *file)
{
	for (size_t i = 0; file != NULL && i < file->n_fields; i++) {
		int32_t id = file->fields[i];

		if ((id <= LINEAGE_FIRST && id >= LINEAGE_LAST) ||
			field_with_id(live->fields, live->count, id) != NULL)
			return true;
	}
	return false;
}

static bool
fragment_is_live(const struct live_fields *live, const Fragment *fragment)
{
	for (size_t i = 0; i < fragment->n_files; i++)
		if (!file_is_live(live, fragment->files[i]))
			return false;
	for (size_t i = 0; i < fragment->n_overlays; i++)
		if (!file_is_live(live, fragment->overlays[i]->data_file))
			return false;
	return true;
}

static int
drop_files(struct draft *draft, const struct live_fields *live, Fragment *fragment,
	struct lancet_error *err)
{
	DataFile **files = draft_alloc(draft, (fragment->n_files + 1) * sizeof(*files));
	Overlay **overlays = draft_alloc(draft, (fragment->n_overlays + 1) * sizeof(*overlays));
	size_t file_count = 0, overlay_count = 0;

	if (files == NULL || overlays == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < fragment->n_files; i++)
		if (file_is_live(live, fragment->files[i]))
			files[file_count++] = fragment->files[i];
	for (size_t i = 0; i < fragment->n_overlays; i++)
		if (file_is_live(live, fragment->overlays[i]->data_file))
			overlays[overlay_count++] = fragment->overlays[i];
	fragment->files = files;
	fragment->n_files = file_count;
	fragment->overlays = overlays;
	fragment->n_overlays = overlay_count;
	return LANCET_OK;
}

static int
drop_from(
	struct draft *draft, const struct live_fields *live, size_t place, struct lancet_error *err)
{
	struct arena scratch = { 0 };
	const Fragment *stored = NULL;
	Fragment *fragment;
	int rc = draft_look(draft, place, &scratch, &stored, err);
	bool whole = rc != LANCET_OK || fragment_is_live(live, stored);

	arena_release(&scratch);
	if (whole)
		return rc;
	TRY(draft_edit(draft, place, &fragment, err));
	return drop_files(draft, live, fragment, err);
}

int
op_project_apply(struct draft *draft, struct lancet_error *err)
{
	const Lance__Table__Transaction__Project *message = draft->message->project;
	struct live_fields live = { .count = message->n_schema };
	int rc;

	TRY(draft_schema_set(draft, message->schema, message->n_schema, err));
	TRY(fields_by_id(message->schema, message->n_schema, &live.fields, err));
	rc = LANCET_OK;
	for (size_t i = 0; i < draft->fragment_count && rc == LANCET_OK; i++)
		if (!draft->fragments[i].removed)
			rc = drop_from(draft, &live, i, err);
	free(live.fields);
	return rc == LANCET_OK ? draft_prune(draft, err) : rc;
}
