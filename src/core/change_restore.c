/* Restore: an old version is published again. Format facts: Restore. */
#include "change_build.h"

#include "lance/transaction.pb-c.h"
#include "util/macros.h"

static int
build(lancet_change *change, uint64_t version, struct lancet_error *err)
{
	Lance__Table__Transaction__Restore *restore =
		change_alloc(change, 1, sizeof(*restore), err);
	lancet_version *restored;

	if (restore == NULL)
		return LANCET_NO_MEMORY;
	TRY(lancet_version_open(change->dataset, version, &restored, err));
	lancet_version_unref(restored);
	lance__table__transaction__restore__init(restore);
	restore->version = version;
	change->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_RESTORE;
	change->message->restore = restore;
	return LANCET_OK;
}

int
lancet_change_restore(lancet_version *read, uint64_t version, lancet_change **ret_change,
	struct lancet_error *err)
{
	lancet_change *change;

	TRY(change_new(read, &change, err));
	return change_built(change, build(change, version, err), ret_change);
}
