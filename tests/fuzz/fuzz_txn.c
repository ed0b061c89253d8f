/* Bytes of a transaction, decoded and rendered as transaction.json. */
#include "fuzz.h"

#include <string.h>

#include "core/transaction.h"

#define COST_BASE     ((size_t)2 << 20)
#define COST_PER_BYTE 128u

static int
discard(void *context, const void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return LANCET_OK;
}

static void
render(const lancet_transaction *transaction)
{
	const struct lancet_output out = { discard, NULL };
	struct lancet_error err = { 0 };
	int rc = lancet_transaction_json(transaction, &out, &err);

	/* what could be decoded can be shown */
	fuzz_expect(rc == LANCET_OK || rc == LANCET_NO_MEMORY || rc == LANCET_LIMIT);
	fuzz_expect(lancet_transaction_operation(transaction)[0] != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(COST_BASE + COST_PER_BYTE * size);
	lancet_transaction *transaction = NULL;
	struct lancet_error err = { 0 };
	uint8_t *bytes = malloc(size + 1);

	if (bytes != NULL) {
		memcpy(bytes, data, size);
		if (transaction_parse(bytes, size, &transaction, &err) == LANCET_OK)
			render(transaction);
		else
			free(bytes);
		lancet_transaction_free(transaction);
	}
	fuzz_end(&guard);
	return 0;
}
