/* Update: rows that moved to new fragments, or columns that were written anew in theirs.
 *
 * Images of fragments that stay bring files and a deletion file; their rows, the versions of these
 * and their overlays are those of the newest version, which others may have changed. Format facts:
 * effect per operation, updates.
 */
#include "op_update.h"

#include <inttypes.h>

#include "draft_lineage.h"
#include "draft_mem_wal.h"
#include "draft_prune.h"
#include "fragment_changes.h"
#include "fragment_checks.h"
#include "operation.h"
#include "util/macros.h"

typedef Lance__Table__DataFragment Fragment;

/* Fragments that rows were taken from, and those that changed in place. */
static int
fill_lists(struct draft *draft, struct update_lists *lists, struct lancet_error *err)
{
	const Update *message = draft->message->update;
	struct arena *arena = &draft->arena;
	size_t sources = message->n_removed_fragment_ids + message->n_updated_fragments;

	*lists = (struct update_lists){
		.in_place = message->update_mode ==
			    LANCE__TABLE__TRANSACTION__UPDATE_MODE__REWRITE_COLUMNS
	};
	if (!numbers_reserve(&lists->sources, sources, arena) ||
		!numbers_reserve(&lists->updated, message->n_updated_fragments, arena) ||
		!numbers_reserve(&lists->modified, message->n_fields_modified, arena) ||
		!numbers_reserve(&lists->whole, message->n_new_fragments, arena))
		return draft_no_memory(err);
	for (size_t i = 0; i < message->n_removed_fragment_ids; i++)
		numbers_put(&lists->sources, message->removed_fragment_ids[i]);
	for (size_t i = 0; i < message->n_updated_fragments; i++) {
		numbers_put(&lists->sources, message->updated_fragments[i]->id);
		numbers_put(&lists->updated, message->updated_fragments[i]->id);
	}
	for (size_t i = 0; i < message->n_fields_modified; i++)
		numbers_put(&lists->modified, message->fields_modified[i]);
	numbers_sort(&lists->sources);
	numbers_sort(&lists->updated);
	numbers_sort(&lists->modified);
	if (lists->sources.count < sources)
		return lancet_fail(err, LANCET_CORRUPT, "a fragment is listed twice");
	return LANCET_OK;
}

static int
check_image(struct draft *draft, const Fragment *image, const struct numbers *field_ids,
	struct lancet_error *err)
{
	struct arena arena = { 0 };
	const Fragment *current = NULL;
	size_t place;
	bool whole;
	int rc;

	TRY(checks_place(draft, image->id, &place, err));
	rc = draft_look(draft, place, &arena, &current, err);
	if (rc == LANCET_OK)
		rc = checks_image(draft, image, current, field_ids, err);
	if (rc == LANCET_OK)
		rc = checks_deletion(draft, image, current, &whole, err);
	arena_release(&arena);
	return rc;
}

int
op_update_check(struct draft *draft, struct lancet_error *err)
{
	const Update *message = draft->message->update;
	struct update_lists lists;
	struct numbers field_ids;
	size_t place;

	TRY(fill_lists(draft, &lists, err));
	TRY(checks_fields(draft, NULL, 0, &field_ids, err));
	for (size_t i = 0; i < message->n_removed_fragment_ids; i++)
		TRY(checks_place(draft, message->removed_fragment_ids[i], &place, err));
	for (size_t i = 0; i < message->n_updated_fragments; i++)
		TRY(check_image(draft, message->updated_fragments[i], &field_ids, err));
	for (size_t i = 0; i < message->n_new_fragments; i++)
		TRY(checks_new(draft, message->new_fragments[i], &field_ids, err));
	return update_check_offsets(draft, &lists, err);
}

/* The overlays' values of columns that were written anew are older than the columns. */
static void
bury_overlays(Fragment *fragment, const struct numbers *fields)
{
	size_t kept = 0;

	for (size_t i = 0; i < fragment->n_overlays; i++) {
		Lance__Table__DataFile *file = fragment->overlays[i]->data_file;
		bool live = file == NULL;

		for (size_t k = 0; file != NULL && k < file->n_fields; k++) {
			if (file->fields[k] >= 0 &&
				numbers_find(fields, (uint64_t)file->fields[k]) != SIZE_MAX)
				file->fields[k] = FIELD_TOMBSTONE;
			live = live || file->fields[k] >= 0;
		}
		if (live)
			fragment->overlays[kept++] = fragment->overlays[i];
	}
	fragment->n_overlays = kept;
}

/* Columns that have got other files, whether the message says so or not. */
static int
note_changes(struct draft *draft, Fragment *current, const Fragment *image,
	const struct update_lists *lists, struct fragment_changes *changes,
	struct lancet_error *err)
{
	Fragment after = *image; /* but for its overlays, which are none of its business */
	struct numbers fields;

	after.overlays = current->overlays;
	after.n_overlays = current->n_overlays;
	TRY(changes_note(changes, draft, current, &after, err));
	if (!lists->in_place || current->n_overlays == 0)
		return LANCET_OK;
	TRY(changed_fields(current, &after, &draft->arena, &fields, err));
	bury_overlays(current, &fields);
	bury_overlays(current, &lists->modified);
	return LANCET_OK;
}

static int
apply_image(struct draft *draft, const Fragment *image, const struct update_lists *lists,
	struct fragment_changes *changes, struct lancet_error *err)
{
	Fragment *current;
	size_t place;
	bool whole;

	TRY(checks_place(draft, image->id, &place, err));
	TRY(draft_edit(draft, place, &current, err));
	TRY(checks_deletion(draft, image, current, &whole, err));
	TRY(note_changes(draft, current, image, lists, changes, err));
	current->files = image->files;
	current->n_files = image->n_files;
	current->deletion_file = image->deletion_file;
	if (current->physical_rows == 0)
		current->physical_rows = image->physical_rows;
	if (whole)
		draft_remove(draft, place);
	return LANCET_OK;
}

static int
apply_images(struct draft *draft, const struct update_lists *lists, struct lancet_error *err)
{
	const Update *message = draft->message->update;
	struct fragment_changes changes = { 0 };
	int rc = LANCET_OK;

	for (size_t i = 0; i < message->n_updated_fragments && rc == LANCET_OK; i++)
		rc = apply_image(draft, message->updated_fragments[i], lists, &changes, err);
	if (rc == LANCET_OK)
		rc = changes_uncover(&changes, draft, err);
	changes_release(&changes);
	return rc;
}

static int
apply_old(struct draft *draft, const struct update_lists *lists, struct lancet_error *err)
{
	const Update *message = draft->message->update;
	size_t place;

	TRY(apply_images(draft, lists, err));
	TRY(update_stamp_offsets(draft, lists, err));
	for (size_t i = 0; i < message->n_removed_fragment_ids; i++) {
		TRY(checks_place(draft, message->removed_fragment_ids[i], &place, err));
		draft_remove(draft, place);
	}
	if (lists->modified.count > 0 && lists->updated.count > 0)
		TRY(draft_uncover(draft, &lists->modified, &lists->updated, err));
	return LANCET_OK;
}

static int
apply_new(struct draft *draft, struct update_lists *lists, struct lancet_error *err)
{
	const Update *message = draft->message->update;

	for (size_t i = 0; i < message->n_new_fragments; i++) {
		Fragment *added;
		bool whole;

		TRY(draft_add(draft, message->new_fragments[i], &added, err));
		TRY(lineage_moved(draft, added, &lists->sources, &whole, err));
		if (whole)
			numbers_put(&lists->whole, added->id);
	}
	numbers_sort(&lists->whole);
	return LANCET_OK;
}

int
op_update_apply(struct draft *draft, struct lancet_error *err)
{
	struct update_lists lists;

	TRY(fill_lists(draft, &lists, err));
	TRY(update_note_overlays(draft, &lists, err));
	TRY(apply_old(draft, &lists, err));
	TRY(apply_new(draft, &lists, err));
	TRY(update_cover(draft, &lists, err));
	TRY(draft_prune(draft, err));
	return mem_wal_advance(draft, err);
}
