/* A change: its message, what its writer knows beside it, and the files that were written for it.
 *
 * Everything that the message refers to lies in the change's arena. A token gives the transaction
 * an uuid of its own making (RFC 9562, version 5), so that two commits with the same token are the
 * same transaction for everybody who compares uuids.
 */
#include "change.h"

#include <inttypes.h>
#include <stdlib.h>
#include <uuid/uuid.h>

#include "lance/transaction.pb-c.h"
#include "names.h"
#include "util/macros.h"
#include "util/text.h"
#include "version.h"

#define KEY_SIZE_MAX   1024u
#define VALUE_SIZE_MAX ((size_t)64 * 1024)
#define TOKEN_SIZE_MAX 1024u

/* The name space of tokens; never to be changed. */
static const uint8_t token_space[16] = { 0x5e, 0x0c, 0x9b, 0x1d, 0x3a, 0x52, 0x4f, 0x0e, 0x9d, 0x6b,
	0x2f, 0x71, 0xc4, 0x08, 0xa7, 0x36 };

int
change_no_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "change");
}

int
change_empty(lancet_dataset *dataset, lancet_change **ret_change, struct lancet_error *err)
{
	lancet_change *change = calloc(1, sizeof(*change));

	if (change == NULL)
		return change_no_memory(err);
	change->dataset = lancet_dataset_ref(dataset);
	publish_init(&change->files, dataset_base(dataset)->store, true);
	(void)pthread_mutex_init(&change->lock, NULL);
	*ret_change = change;
	return LANCET_OK;
}

static int
make_message(lancet_change *change, struct lancet_error *err)
{
	Lance__Table__Transaction *message;
	char text[UUID_TEXT_SIZE + 1];
	uint8_t uuid[16];

	uuid_generate_random(uuid);
	uuid_format(uuid, text);
	message = arena_zalloc(&change->arena, 1, sizeof(*message));
	if (message == NULL)
		return change_no_memory(err);
	lance__table__transaction__init(message);
	message->read_version = lancet_version_info(change->read)->number;
	message->uuid.len = UUID_TEXT_SIZE;
	message->uuid.data = arena_copy(&change->arena, text, UUID_TEXT_SIZE);
	if (message->uuid.data == NULL)
		return change_no_memory(err);
	change->message = message;
	return LANCET_OK;
}

int
change_new(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	lancet_change *change;
	int rc;

	TRY(change_empty(lancet_version_dataset(read), &change, err));
	change->read = lancet_version_ref(read);
	rc = make_message(change, err);
	if (rc != LANCET_OK) {
		lancet_change_free(change);
		return rc;
	}
	*ret_change = change;
	return LANCET_OK;
}

void
lancet_change_free(lancet_change *change)
{
	if (change == NULL)
		return;
	if (!change->committed)
		publish_undo(&change->files);
	publish_release(&change->files);
	(void)pthread_mutex_destroy(&change->lock);
	for (size_t i = 0; i < change->deletion_count; i++)
		roaring_bitmap_free(change->deletions[i].deleted);
	free(change->deletions);
	affected_rows_free(change->affected);
	lancet_version_unref(change->read);
	lancet_dataset_unref(change->dataset);
	arena_release(&change->arena);
	free(change->stored);
	free(change);
}

int
change_open_read(lancet_change *change, struct lancet_error *err)
{
	uint64_t number = change->message->read_version;
	int rc;

	if (change->read != NULL)
		return LANCET_OK;
	if (number == 0)
		return lancet_fail(err, LANCET_INVALID,
			"read_version is 0, which only the transaction that makes a dataset has");
	if ((number & VERSION_DETACHED_BIT) != 0)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"read_version %" PRIu64 " is a detached version, which nothing is built on",
			number);
	rc = lancet_version_open(change->dataset, number, &change->read, err);
	if (rc == LANCET_NOT_FOUND)
		return lancet_fail(err, rc,
			"version %" PRIu64
			", which the transaction has read, is gone: make the change anew on the "
			"newest version",
			number);
	return rc;
}

int
change_check_open(const lancet_change *change, struct lancet_error *err)
{
	if (!change->committed)
		return LANCET_OK;
	return lancet_fail(err, LANCET_INVALID, "the change was committed already");
}

static int
check_text(const char *what, struct slice text, size_t size_max, struct lancet_error *err)
{
	if (text.size > size_max)
		return lancet_fail(err, LANCET_INVALID, "%s: %zu bytes, at most %zu", what,
			text.size, size_max);
	if (!text_is_utf8(text))
		return lancet_fail(err, LANCET_INVALID, "%s: not UTF-8", what);
	return LANCET_OK;
}

bool
change_property(
	const struct Lance__Table__Transaction *message, const char *key, struct slice *ret_value)
{
	for (size_t i = message->n_transaction_properties; i-- > 0;) {
		const Lance__File__StringEntry *entry = message->transaction_properties[i];

		if (!slice_equal(slice_of(entry->key.data, entry->key.len), slice_text(key)))
			continue;
		*ret_value = slice_of(entry->value.data, entry->value.len);
		return true;
	}
	return false;
}

static int
copy_text(lancet_change *change, const char *text, ProtobufCBinaryData *into,
	struct lancet_error *err)
{
	size_t size = strlen(text);
	uint8_t *copy = arena_copy(&change->arena, text, size + 1);

	if (copy == NULL)
		return change_no_memory(err);
	*into = (ProtobufCBinaryData){ size, copy };
	return LANCET_OK;
}

/* All entries with the key are one new entry at the end. */
static int
put_property(lancet_change *change, Lance__File__StringEntry *entry, struct lancet_error *err)
{
	Lance__Table__Transaction *message = change->message;
	struct slice key = slice_of(entry->key.data, entry->key.len);
	size_t kept = 0;
	Lance__File__StringEntry **list;

	list = arena_zalloc(&change->arena, message->n_transaction_properties + 1, sizeof(*list));
	if (list == NULL)
		return change_no_memory(err);
	for (size_t i = 0; i < message->n_transaction_properties; i++) {
		Lance__File__StringEntry *old = message->transaction_properties[i];

		if (!slice_equal(slice_of(old->key.data, old->key.len), key))
			list[kept++] = old;
	}
	list[kept++] = entry;
	message->transaction_properties = list;
	message->n_transaction_properties = kept;
	return LANCET_OK;
}

int
lancet_change_set_property(
	lancet_change *change, const char *key, const char *value, struct lancet_error *err)
{
	Lance__File__StringEntry *entry;

	TRY(change_check_open(change, err));
	if (*key == '\0')
		return lancet_fail(err, LANCET_INVALID, "property: empty key");
	TRY(check_text("property: key", slice_text(key), KEY_SIZE_MAX, err));
	TRY(check_text("property: value", slice_text(value), VALUE_SIZE_MAX, err));
	entry = arena_zalloc(&change->arena, 1, sizeof(*entry));
	if (entry == NULL)
		return change_no_memory(err);
	lance__file__string_entry__init(entry);
	TRY(copy_text(change, key, &entry->key, err));
	TRY(copy_text(change, value, &entry->value, err));
	return put_property(change, entry, err);
}

int
change_token_check(const char *token, struct lancet_error *err)
{
	if (*token == '\0')
		return lancet_fail(err, LANCET_INVALID, "token: empty");
	return check_text("token", slice_text(token), TOKEN_SIZE_MAX, err);
}

void
change_token_uuid(struct slice token, char into[UUID_TEXT_SIZE + 1])
{
	uint8_t uuid[16];

	uuid_generate_sha1(uuid, token_space, (const char *)token.data, token.size);
	uuid_format(uuid, into);
}

int
lancet_change_set_token(lancet_change *change, const char *token, struct lancet_error *err)
{
	char uuid[UUID_TEXT_SIZE + 1];

	TRY(change_check_open(change, err));
	TRY(change_token_check(token, err));
	change_token_uuid(slice_text(token), uuid);
	TRY(lancet_change_set_property(change, LANCET_TOKEN_PROPERTY, token, err));
	return copy_text(change, uuid, &change->message->uuid, err);
}
