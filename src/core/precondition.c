/* Preconditions are not evaluated yet: a transaction that has any is refused. */
#include "precondition.h"

#include "lance/transaction.pb-c.h"
#include "transaction.h"

int
preconditions_open(const lancet_transaction *transaction, lancet_version *read,
	struct preconditions **ret_preconditions, struct lancet_error *err)
{
	(void)read;
	*ret_preconditions = NULL;
	if (transaction->message->n_preconditions == 0)
		return LANCET_OK;
	return lancet_fail(
		err, LANCET_UNSUPPORTED, "the transaction has preconditions, which can't be held");
}

void
preconditions_free(struct preconditions *preconditions)
{
	(void)preconditions;
}

int
preconditions_check(const struct preconditions *preconditions, lancet_version *current,
	struct precondition_failure *ret_failure, struct lancet_error *err)
{
	(void)preconditions;
	(void)current;
	(void)ret_failure;
	return lancet_fail(err, LANCET_UNSUPPORTED, "preconditions can't be held");
}

uint64_t
preconditions_broken_by(const struct preconditions *preconditions, lancet_version *current)
{
	(void)preconditions;
	(void)current;
	return 0;
}

int
preconditions_encode(lancet_version *read, const char *text, struct arena *arena,
	struct slice **ret_list, size_t *ret_count, struct lancet_error *err)
{
	(void)read;
	(void)text;
	(void)arena;
	(void)ret_list;
	(void)ret_count;
	return lancet_fail(err, LANCET_UNSUPPORTED, "preconditions can't be held");
}
