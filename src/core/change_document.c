/* Changes from documents: an encoded Transaction, or the JSON that shows one.
 *
 * Neither is believed. The message has to be one that this build knows whole, its uuid becomes part
 * of a file's name, and the files it names are opened.
 */
#include "change.h"

#include <inttypes.h>
#include <uuid/uuid.h>

#include "lance/transaction.pb-c.h"
#include "names.h"
#include "operations.h"
#include "transaction_fromjson.h"
#include "transaction_sound.h"
#include "util/macros.h"
#include "util/pbunpack.h"

#define DOCUMENT_MAX ((size_t)256 << 20) /* bytes of an encoded message */

typedef Lance__Table__Transaction transaction;

/* An operation that is not known, alone or beside one that is. */
static int
check_operation(const transaction *message, struct lancet_error *err)
{
	for (unsigned i = 0; i < message->base.n_unknown_fields; i++) {
		uint32_t number = message->base.unknown_fields[i].tag;

		if (number >= OPERATION_NUMBER_MIN)
			return lancet_fail(err, LANCET_UNSUPPORTED,
				"transaction: operation Unknown(%" PRIu32
				") can't be committed: this build does not know it",
				number);
	}
	if (operation_find((uint32_t)message->operation_case) == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "transaction: no operation");
	return LANCET_OK;
}

/* Names of files are made of it. */
static int
check_uuid(const transaction *message, int code, struct lancet_error *err)
{
	char text[UUID_TEXT_SIZE + 1] = "", plain[UUID_TEXT_SIZE + 1] = "";
	uint8_t uuid[16];

	if (message->uuid.len == UUID_TEXT_SIZE) {
		memcpy(text, message->uuid.data, UUID_TEXT_SIZE);
		if (uuid_parse(text, uuid) == 0)
			uuid_format(uuid, plain);
	}
	if (text[0] == '\0' || strcmp(text, plain) != 0)
		return lancet_fail(
			err, code, "transaction: uuid is no UUID in lower-case text with hyphens");
	return LANCET_OK;
}

/* `code` is what a document of its kind fails with. */
static int
accept(lancet_change *change, int code, struct lancet_error *err)
{
	TRY(check_operation(change->message, err));
	TRY(check_uuid(change->message, code, err));
	TRY(change_open_read(change, err));
	return transaction_sound(change->read, change->message, true, err);
}

static int
parse(lancet_change *change, struct slice bytes, struct lancet_error *err)
{
	int rc;

	if (bytes.size > DOCUMENT_MAX)
		return lancet_fail(err, LANCET_LIMIT, "transaction: %zu bytes, at most %zu",
			bytes.size, DOCUMENT_MAX);
	rc = pb_unpack(&lance__table__transaction__descriptor, bytes, &change->arena,
		&change->message, err);
	if (rc != LANCET_OK)
		return rc;
	return accept(change, LANCET_CORRUPT, err);
}

int
lancet_change_parse(lancet_dataset *dataset, const void *bytes, size_t size,
	lancet_change **ret_change, struct lancet_error *err)
{
	lancet_change *change;
	int rc;

	TRY(change_empty(dataset, &change, err));
	rc = parse(change, slice_of(bytes, size), err);
	if (rc != LANCET_OK)
		lancet_change_free(change);
	else
		*ret_change = change;
	return rc;
}

static int
give_uuid(lancet_change *change, struct lancet_error *err)
{
	char text[UUID_TEXT_SIZE + 1];
	uint8_t uuid[16];

	uuid_generate_random(uuid);
	uuid_format(uuid, text);
	change->message->uuid.data = arena_copy(&change->arena, text, UUID_TEXT_SIZE);
	if (change->message->uuid.data == NULL)
		return change_no_memory(err);
	change->message->uuid.len = UUID_TEXT_SIZE;
	return LANCET_OK;
}

static int
read_json(lancet_change *change, struct slice text, struct lancet_error *err)
{
	struct transaction_document document;

	TRY(transaction_from_json(text, &change->arena, &document, err));
	change->message = document.message;
	if (!document.has_uuid)
		TRY(give_uuid(change, err));
	if (!document.has_read_version)
		TRY(lancet_dataset_latest(change->dataset, &change->message->read_version, err));
	return accept(change, LANCET_INVALID, err);
}

int
lancet_change_json(lancet_dataset *dataset, const char *text, size_t size,
	lancet_change **ret_change, struct lancet_error *err)
{
	lancet_change *change;
	int rc;

	TRY(change_empty(dataset, &change, err));
	rc = read_json(change, slice_of(text, size), err);
	if (rc != LANCET_OK)
		lancet_change_free(change);
	else
		*ret_change = change;
	return rc;
}
