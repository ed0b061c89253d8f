/* Restore: an old version becomes the newest one.
 *
 * The draft starts anew from the manifest of the old version. Marks never go back, and what a
 * writer must know of the table stays known. Format facts: effect per operation.
 */
#include "operation.h"

#include <inttypes.h>
#include <stdlib.h>

#include "flags.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"
#include "util/pbunpack.h"

static int
check_flags(const lancet_version *newest, const lancet_version *old, struct lancet_error *err)
{
	if (newest->info.stable_row_ids && !old->info.stable_row_ids)
		return lancet_fail(err, LANCET_INVALID,
			"version %" PRIu64 " has no stable row ids, which can't be given up",
			old->info.number);
	if ((newest->info.writer_flags & FLAG_NON_REUSABLE_FIELD_IDS) != 0 &&
		(old->info.writer_flags & FLAG_NON_REUSABLE_FIELD_IDS) == 0)
		return lancet_fail(err, LANCET_INVALID,
			"version %" PRIu64 " is from before field ids were never used again",
			old->info.number);
	return LANCET_OK;
}

static int
open_restored(const struct draft *draft, lancet_version **ret_version, struct lancet_error *err)
{
	uint64_t number = draft->message->restore->version;
	int rc = lancet_version_open(
		lancet_version_dataset(draft->newest), number, ret_version, err);

	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "version to restore");
}

int
op_restore_check(struct draft *draft, struct lancet_error *err)
{
	lancet_version *old = NULL;
	int rc;

	if (draft->newest == NULL)
		return lancet_fail(err, LANCET_INVALID, "there is nothing to restore");
	TRY(open_restored(draft, &old, err));
	rc = check_flags(draft->newest, old, err);
	lancet_version_unref(old);
	return rc;
}

/* The message moves into the arena of the new draft. */
static int
take_message(struct draft *to, const struct draft *from, struct lancet_error *err)
{
	const ProtobufCMessage *message = &from->message->base;
	size_t size = protobuf_c_message_get_packed_size(message);
	lancet_autofree uint8_t *bytes = malloc(size + 1);

	if (bytes == NULL)
		return draft_no_memory(err);
	(void)protobuf_c_message_pack(message, bytes);
	return pb_unpack(&lance__table__transaction__descriptor, slice_of(bytes, size), &to->arena,
		&to->message, err);
}

/* No field id of any version comes again. */
static int
keep_field_mark(struct draft *draft, struct lancet_error *err)
{
	const Lance__Table__Manifest *newest = draft->newest->message;
	Lance__Table__Manifest *head = draft->head;

	(void)err;
	if (newest->max_allocated_field_id_presence_case == 0 ||
		(head->max_allocated_field_id_presence_case != 0 &&
			head->max_allocated_field_id >= newest->max_allocated_field_id))
		return LANCET_OK;
	head->max_allocated_field_id_presence_case = newest->max_allocated_field_id_presence_case;
	head->max_allocated_field_id = newest->max_allocated_field_id;
	draft->changed |= DRAFT_FIELD_MARK;
	return LANCET_OK;
}

int
op_restore_apply(struct draft *draft, struct lancet_error *err)
{
	struct draft restored = { 0 };
	lancet_version *old = NULL;
	int rc;

	TRY(open_restored(draft, &old, err));
	rc = draft_init(&restored, draft->newest, old, NULL, err);
	lancet_version_unref(old);
	if (rc != LANCET_OK)
		return rc;
	restored.rebase = draft->rebase;
	rc = take_message(&restored, draft, err);
	if (rc == LANCET_OK)
		rc = keep_field_mark(&restored, err);
	if (rc != LANCET_OK) {
		draft_release(&restored);
		return rc;
	}
	draft_release(draft);
	*draft = restored;
	return LANCET_OK;
}
