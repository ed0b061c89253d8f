/* Inside of a transaction, for the modules of core. */
#ifndef CORE_TRANSACTION_H
#define CORE_TRANSACTION_H

#include <lancet/transaction.h>
#include "util/arena.h"

#define OPERATION_NAME_MAX 24
/* What is read and what is written: rewrites name row ids and versions, inline ones, of all their
 * fragments before and after. */
#define TRANSACTION_SIZE_MAX ((size_t)1 << 30)

struct lancet_transaction {
	uint8_t *bytes; /* as stored; malloc */
	size_t size;
	struct arena arena;
	struct Lance__Table__Transaction *message; /* in arena */
	char operation[OPERATION_NAME_MAX];
};

/* Decodes the bytes, which it takes on success. */
int transaction_parse(uint8_t *bytes, size_t size, lancet_transaction **ret_transaction,
                      struct lancet_error *err);

#endif
