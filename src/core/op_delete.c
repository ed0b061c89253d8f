/* Delete: deletion vectors that took rows in, and whole fragments. */
#include "operation.h"

#include <inttypes.h>

#include "fragment_checks.h"
#include "draft_prune.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

typedef Lance__Table__DataFragment Fragment;

static int
check_updated(struct draft *draft, const Fragment *image, struct lancet_error *err)
{
	struct arena arena = { 0 };
	const Fragment *current = NULL;
	size_t place;
	bool whole;
	int rc;

	TRY(checks_place(draft, image->id, &place, err));
	rc = draft_look(draft, place, &arena, &current, err);
	if (rc == LANCET_OK && image->deletion_file == NULL)
		rc = lancet_fail(
			err, LANCET_INVALID, "fragment %" PRIu64 ": no deletion file", image->id);
	if (rc == LANCET_OK)
		rc = checks_deletion(draft, image, current, &whole, err);
	arena_release(&arena);
	return rc;
}

int
op_delete_check(struct draft *draft, struct lancet_error *err)
{
	const Lance__Table__Transaction__Delete *message = draft->message->delete_;
	size_t place;

	for (size_t i = 0; i < message->n_updated_fragments; i++)
		TRY(check_updated(draft, message->updated_fragments[i], err));
	for (size_t i = 0; i < message->n_deleted_fragment_ids; i++)
		TRY(checks_place(draft, message->deleted_fragment_ids[i], &place, err));
	return LANCET_OK;
}

/* Of the image only the deletion file counts: others may have changed the rest meanwhile. */
static int
apply_updated(struct draft *draft, const Fragment *image, struct lancet_error *err)
{
	Fragment *current;
	size_t place;
	bool whole;

	TRY(checks_place(draft, image->id, &place, err));
	TRY(draft_edit(draft, place, &current, err));
	TRY(checks_deletion(draft, image, current, &whole, err));
	if (whole)
		draft_remove(draft, place);
	else
		current->deletion_file = image->deletion_file;
	return LANCET_OK;
}

int
op_delete_apply(struct draft *draft, struct lancet_error *err)
{
	const Lance__Table__Transaction__Delete *message = draft->message->delete_;
	size_t place;

	for (size_t i = 0; i < message->n_updated_fragments; i++)
		TRY(apply_updated(draft, message->updated_fragments[i], err));
	for (size_t i = 0; i < message->n_deleted_fragment_ids; i++) {
		TRY(checks_place(draft, message->deleted_fragment_ids[i], &place, err));
		draft_remove(draft, place);
	}
	return draft_prune(draft, err);
}
