/* A transaction from a document in the form of transaction.json: the way back from
 * lancet_transaction_json. SPEC section 4.
 *
 * "format" and "operation" are held against what is read; "evaluated" of a precondition says
 * nothing that is not known. "uuid", "read_version", "tag", "properties", "preconditions" and
 * "unknown" may be left out.
 */
#ifndef CORE_TRANSACTION_FROMJSON_H
#define CORE_TRANSACTION_FROMJSON_H

#include <stdbool.h>

#include <lancet/error.h>
#include "util/arena.h"
#include "util/slice.h"

#define TRANSACTION_JSON_MAX ((size_t)64 << 20) /* bytes */

struct Lance__Table__Transaction;

struct transaction_document {
	struct Lance__Table__Transaction *message; /* in the arena */
	bool has_uuid, has_read_version;
};

/* INVALID: with the place in the document; UNSUPPORTED: an operation, or a form of the document,
 * that is not known; LIMIT: too long. */
int transaction_from_json(struct slice text, struct arena *arena,
	struct transaction_document *ret_document, struct lancet_error *err);

#endif
