/* The transaction that made a version: inline in its manifest (field 23, or 21 of older writers),
 * or a file.
 *
 * Format facts: Transactions. The name of a transaction file is never mapped to version - 1.
 */
#ifndef LANCET_TRANSACTION_H
#define LANCET_TRANSACTION_H

#include "version.h"

typedef struct lancet_transaction lancet_transaction;

/* NOT_FOUND when none was recorded; CORRUPT when neither place can be decoded; IO when the only
 * place is a file that is gone. */
LANCET_API int lancet_transaction_open(lancet_version *version,
                                       lancet_transaction **ret_transaction,
                                       struct lancet_error *err);
LANCET_API void lancet_transaction_free(lancet_transaction *transaction);
/* True when the manifest records one, inline or as a file; opens nothing. */
LANCET_API bool lancet_version_has_transaction(const lancet_version *version);
LANCET_API uint64_t lancet_transaction_read_version(const lancet_transaction *transaction);
LANCET_API struct lancet_bytes lancet_transaction_uuid(const lancet_transaction *transaction);
/* "Append", …, "Unknown(N)" with the field number; "Unknown" without any operation. */
LANCET_API const char *lancet_transaction_operation(const lancet_transaction *transaction);
/* The message's bytes as stored. */
LANCET_API struct lancet_bytes lancet_transaction_bytes(const lancet_transaction *transaction);
/* transaction.json of SPEC section 4. */
LANCET_API int lancet_transaction_json(const lancet_transaction *transaction,
                                       const struct lancet_output *out, struct lancet_error *err);

#endif
