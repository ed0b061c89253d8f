/* Finding and decoding the transaction of a version.
 *
 * A copy in the manifest is preferred to the file, since it costs no further file; the file counts
 * when the copy is damaged. A transaction that can't be read is no harm to its version. Format
 * facts: transactions, manifest file layout.
 */
#include "transaction.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lance/transaction.pb-c.h"
#include "operations.h"
#include "util/pbborrow.h"
#include "util/macros.h"
#include "version.h"

#define DIRECTORY      "_transactions/"
#define NAME_SHOWN_MAX 80u

/* The operation's name. One that is not known leaves an unknown field; of several the last counts.
 */
static void
name_operation(const Lance__Table__Transaction *message, char into[OPERATION_NAME_MAX])
{
	const struct operation *known = operation_find((uint32_t)message->operation_case);
	uint32_t number = 0;

	for (unsigned i = 0; i < message->base.n_unknown_fields; i++)
		if (message->base.unknown_fields[i].tag >= OPERATION_NUMBER_MIN)
			number = message->base.unknown_fields[i].tag;
	if (known != NULL)
		(void)snprintf(into, OPERATION_NAME_MAX, "%s", known->name);
	else if (number != 0)
		(void)snprintf(into, OPERATION_NAME_MAX, "Unknown(%" PRIu32 ")", number);
	else
		(void)snprintf(into, OPERATION_NAME_MAX, "Unknown");
}

int
transaction_parse(uint8_t *bytes, size_t size, lancet_transaction **ret_transaction,
                  struct lancet_error *err)
{
	lancet_transaction *transaction = calloc(1, sizeof(*transaction));
	int rc;

	if (transaction == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "transaction");
	rc = pb_unpack_borrowing(&lance__table__transaction__descriptor, slice_of(bytes, size),
	               &transaction->arena, &transaction->message, err);
	if (rc != LANCET_OK) {
		lancet_transaction_free(transaction);
		return rc;
	}
	transaction->bytes = bytes;
	transaction->size = size;
	name_operation(transaction->message, transaction->operation);
	*ret_transaction = transaction;
	return LANCET_OK;
}

void
lancet_transaction_free(lancet_transaction *transaction)
{
	if (transaction == NULL)
		return;
	arena_release(&transaction->arena);
	free(transaction->bytes);
	free(transaction);
}

static int
open_inline(lancet_version *version, lancet_transaction **ret_transaction, struct lancet_error *err)
{
	lancet_autofree uint8_t *bytes = NULL;
	size_t size;

	TRY(version_section_load(version, version->transaction_section, TRANSACTION_SIZE_MAX,
	                         &bytes, &size, err));
	TRY(transaction_parse(bytes, size, ret_transaction, err));
	(void)lancet_steal(&bytes);
	return LANCET_OK;
}

static int
load_file(struct store *store, const char *key, uint8_t **ret_bytes, size_t *ret_size,
          struct lancet_error *err)
{
	struct source *source;
	struct stat st;
	int rc;

	TRY(store_open_source(store, key, &source, &st, err));
	if (source->size > TRANSACTION_SIZE_MAX)
		rc = lancet_fail(err, LANCET_LIMIT, "%" PRIu64 " bytes, limit %zu", source->size,
		                 TRANSACTION_SIZE_MAX);
	else
		rc = source_load(source, 0, (size_t)source->size, ret_bytes, err);
	if (rc == LANCET_OK)
		*ret_size = (size_t)source->size;
	source_unref(source);
	return rc;
}

static int
open_file(lancet_version *version, lancet_transaction **ret_transaction, struct lancet_error *err)
{
	struct lancet_bytes name = version->info.transaction_file;
	const struct lancet_base *base = dataset_base(version->dataset);
	lancet_autofree uint8_t *bytes = NULL;
	lancet_autofree char *key = NULL;
	size_t size;

	TRY(store_key_check(slice_of(name.data, name.size), err));
	if (memchr(name.data, '/', name.size) != NULL)
		return lancet_fail(err, LANCET_CORRUPT, "a path, not a name");
	key = malloc(sizeof(DIRECTORY) + name.size);
	if (key == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "name of %zu bytes", name.size);
	(void)snprintf(key, sizeof(DIRECTORY) + name.size, DIRECTORY "%.*s", (int)name.size,
	               (const char *)name.data);
	TRY(load_file(base->store, key, &bytes, &size, err));
	TRY(transaction_parse(bytes, size, ret_transaction, err));
	(void)lancet_steal(&bytes);
	return LANCET_OK;
}

/* Neither place gave it: what is reported is damage, unless the storage failed us. */
static int
neither(const lancet_version *version, const struct lancet_error *in_manifest,
        const struct lancet_error *in_file, struct lancet_error *err)
{
	struct lancet_bytes name = version->info.transaction_file;
	int shown = (int)(name.size < NAME_SHOWN_MAX ? name.size : NAME_SHOWN_MAX);
	const struct lancet_error *cause = in_file;
	int rc;

	if (in_file->code == LANCET_OK)
		cause = in_manifest;
	else if (in_manifest->code != LANCET_OK &&
	         (in_file->code == LANCET_NOT_FOUND || in_file->code == LANCET_CORRUPT))
		cause = in_manifest;
	if (in_manifest->code == LANCET_OK)
		rc = lancet_fail(err, cause->code, DIRECTORY "%.*s: %s", shown,
		                 (const char *)name.data, in_file->text);
	else if (in_file->code == LANCET_OK)
		rc = lancet_fail(err, cause->code, "inline transaction: %s", in_manifest->text);
	else
		rc = lancet_fail(err, cause->code,
		                 "inline transaction: %.150s; " DIRECTORY "%.*s: %.150s",
		                 in_manifest->text, shown, (const char *)name.data, in_file->text);
	if (err != NULL)
		err->os_errno = cause->os_errno;
	return rc;
}

bool
lancet_version_has_transaction(const lancet_version *version)
{
	return version->has_transaction_section || version->info.transaction_file.size > 0;
}

int
lancet_transaction_open(lancet_version *version, lancet_transaction **ret_transaction,
                        struct lancet_error *err)
{
	struct lancet_error in_manifest = { 0 };
	struct lancet_error in_file = { 0 };

	if (!lancet_version_has_transaction(version))
		return lancet_fail(err, LANCET_NOT_FOUND,
		                   "version %" PRIu64 ": no transaction recorded",
		                   version->info.number);
	if (version->has_transaction_section &&
	    open_inline(version, ret_transaction, &in_manifest) == LANCET_OK)
		return LANCET_OK;
	if (version->info.transaction_file.size > 0 &&
	    open_file(version, ret_transaction, &in_file) == LANCET_OK)
		return LANCET_OK;
	if (in_file.code == LANCET_NOT_FOUND && in_manifest.code == LANCET_OK) {
		in_file.code = LANCET_IO; /* the manifest names it: it is lost */
		in_file.os_errno = EIO;
	}
	return neither(version, &in_manifest, &in_file, err);
}

uint64_t
lancet_transaction_read_version(const lancet_transaction *transaction)
{
	return transaction->message->read_version;
}

struct lancet_bytes
lancet_transaction_uuid(const lancet_transaction *transaction)
{
	ProtobufCBinaryData uuid = transaction->message->uuid;

	return (struct lancet_bytes){ uuid.data, uuid.len };
}

const char *
lancet_transaction_operation(const lancet_transaction *transaction)
{
	return transaction->operation;
}

struct lancet_bytes
lancet_transaction_bytes(const lancet_transaction *transaction)
{
	return (struct lancet_bytes){ transaction->bytes, transaction->size };
}
