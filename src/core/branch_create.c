/* Making a branch: a shallow clone in a directory of its own, then the branch's file.
 *
 * The file is what makes it a branch, so it comes last and takes its name only when that is free.
 * When something fails in between, a directory is left that nobody sees: whoever makes the same
 * branch from the same version takes it over, and deleting the branch removes it. Format facts:
 * branches, clone.
 */
#include "branch_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <uuid/uuid.h>

#include <lancet/commit.h>
#include "cleanup.h"
#include "lance/transaction.pb-c.h"
#include "manifest_write.h"
#include "operation.h"
#include "refs.h"
#include "transaction.h"
#include "util/macros.h"
#include "util/text.h"

#pragma GCC diagnostic ignored "-Wmissing-braces" /* of protobuf-c's macros */

#define FILE_NAME_MAX 255
#define UUID_SIZE     36

typedef Lance__Table__Transaction__Clone Clone;

struct creation {
	struct lancet_dataset *source;
	lancet_version *version; /* the one that is cloned */
	const char *name;
	const char *message; /* may be NULL */
	char *location;      /* of the source */
	char uuid[UUID_SIZE + 1];
	struct store *store; /* of the branch's directory */
	char directory[STORE_KEY_MAX + 1];
	uint8_t *bytes; /* the encoded transaction */
	size_t size;
};

static int
check_name(const char *name, struct lancet_error *err)
{
	lancet_autofree char *key = NULL;

	if (!branch_name_is_valid(slice_text(name)))
		return lancet_fail(err, LANCET_INVALID,
			"\"%.200s\" is no name for a branch: parts of letters, digits, '.', '-' "
			"and "
			"'_' with '/' between, without '..', or '.lock' at the end, and not "
			"\"main\"",
			name);
	key = ref_key_of_name(REFS_BRANCHES, slice_text(name));
	if (key == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "branch %s", name);
	if (strlen(key + sizeof(REFS_BRANCHES)) > FILE_NAME_MAX)
		return lancet_fail(
			err, LANCET_INVALID, "\"%.64s...\" is too long for a branch", name);
	return LANCET_OK;
}

/* The directories that a dataset makes for itself. */
static bool
is_inner(struct slice part)
{
	static const char *const names[] = { "data", VERSIONS_DIR, "_transactions", "_deletions",
		"_indices", "_fri", "_blobs", "_refs", "_mem_wal", "_bt" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (slice_equal(part, slice_text(names[i])))
			return true;
	return false;
}

/* Branch "a" keeps its files in tree/a/data: that can't be the directory of a branch "a/data". */
static int
check_place(struct lancet_dataset *root, const char *name, struct lancet_error *err)
{
	for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		lancet_autofree char *above = strndup(name, (size_t)(slash - name));
		bool is_dataset = false;

		if (above == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "branch %s", name);
		if (!is_inner(slice_of(slash + 1, strcspn(slash + 1, "/"))))
			continue;
		TRY(branch_has_directory(root, above, &is_dataset, err));
		if (is_dataset)
			return lancet_fail(err, LANCET_EXISTS,
				"the directory of a branch %s is a part of branch %s", name, above);
	}
	return LANCET_OK;
}

static int
check_free(struct lancet_dataset *root, const char *name, struct lancet_error *err)
{
	lancet_autofree char *key = NULL;

	TRY(branch_find_file(root, name, &key, err));
	if (key != NULL)
		return lancet_fail(err, LANCET_EXISTS, "there is a branch %s", name);
	return check_place(root, name, err);
}

/* Clone{shallow, of this version of that path}: what a branch begins with. */
static void
fill_clone(const struct creation *creation, Clone *clone)
{
	struct lancet_bytes branch = lancet_dataset_branch_name(creation->source);

	lance__table__transaction__clone__init(clone);
	clone->is_shallow = true;
	if (branch.size > 0) {
		clone->ref_name_presence_case =
			LANCE__TABLE__TRANSACTION__CLONE__REF_NAME_PRESENCE_REF_NAME;
		clone->ref_name =
			(ProtobufCBinaryData){ branch.size, (uint8_t *)(uintptr_t)branch.data };
	}
	clone->ref_version = creation->version->info.number;
	clone->ref_path =
		(ProtobufCBinaryData){ strlen(creation->location), (uint8_t *)creation->location };
	clone->branch_name_presence_case =
		LANCE__TABLE__TRANSACTION__CLONE__BRANCH_NAME_PRESENCE_BRANCH_NAME;
	clone->branch_name = (ProtobufCBinaryData){ strlen(creation->name),
		(uint8_t *)(uintptr_t)creation->name };
}

static int
encode(struct creation *creation, const Lance__Table__Transaction *message,
	struct lancet_error *err)
{
	creation->size = protobuf_c_message_get_packed_size(&message->base);
	creation->bytes = malloc(creation->size + 1);
	if (creation->bytes == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "a transaction");
	(void)protobuf_c_message_pack(&message->base, creation->bytes);
	return LANCET_OK;
}

static int
publish(struct creation *creation, struct draft *draft, const char *transaction_file,
	const struct splice *manifest, struct lancet_error *err)
{
	struct slice bytes = slice_of(creation->bytes, creation->size);
	struct publish publish;
	char key[128];
	int rc;

	(void)snprintf(key, sizeof(key), "_transactions/%s", transaction_file);
	publish_init(&publish, creation->store, true);
	rc = publish_add(&publish, key, &bytes, 1, PUBLISH_NEW, err);
	for (size_t i = 0; i < draft->file_count && rc == LANCET_OK; i++)
		rc = publish_add(&publish, draft->files[i].key, &draft->files[i].content, 1,
			PUBLISH_NEW, err);
	if (rc == LANCET_OK)
		rc = publish_name_all(&publish, err);
	if (rc == LANCET_OK)
		rc = manifest_write_publish(draft, manifest, creation->store, true, err);
	if (rc != LANCET_OK && !draft->published)
		publish_undo(&publish);
	publish_release(&publish);
	return rc;
}

static int
write_clone(struct creation *creation, struct draft *draft, struct lancet_error *err)
{
	struct splice manifest = { 0 };
	struct timespec now;
	char file[96];
	int rc;

	(void)snprintf(file, sizeof(file), "%" PRIu64 "-%s.txn", draft->message->read_version,
		creation->uuid);
	(void)clock_gettime(CLOCK_REALTIME, &now);
	TRY(operation_apply(draft, err));
	TRY(draft_finish(draft, now.tv_sec, (int32_t)now.tv_nsec, err));
	TRY(encode(creation, draft->message, err));
	rc = manifest_write_prepare(
		draft, slice_of(creation->bytes, creation->size), file, &manifest, err);
	if (rc == LANCET_OK)
		rc = publish(creation, draft, file, &manifest, err);
	splice_release(&manifest);
	if (rc == LANCET_OK)
		manifest_write_hint(creation->store, draft->number);
	return rc;
}

static int
make_clone(struct creation *creation, struct lancet_error *err)
{
	Lance__Table__Transaction message = LANCE__TABLE__TRANSACTION__INIT;
	Lance__File__StringEntry property = LANCE__FILE__STRING_ENTRY__INIT;
	Lance__File__StringEntry *properties[] = { &property };
	struct draft draft;
	uuid_t uuid;
	Clone clone;
	int rc;

	uuid_generate_random(uuid);
	uuid_format(uuid, creation->uuid);
	fill_clone(creation, &clone);
	message.read_version = creation->version->info.number;
	message.uuid = (ProtobufCBinaryData){ UUID_SIZE, (uint8_t *)creation->uuid };
	message.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_CLONE;
	message.clone = &clone;
	if (creation->message != NULL) {
		property.key = (ProtobufCBinaryData){ strlen(LANCET_MESSAGE_PROPERTY),
			(uint8_t *)(uintptr_t)LANCET_MESSAGE_PROPERTY };
		property.value = (ProtobufCBinaryData){ strlen(creation->message),
			(uint8_t *)(uintptr_t)creation->message };
		message.n_transaction_properties = 1;
		message.transaction_properties = properties;
	}
	TRY(draft_init(&draft, NULL, creation->version, NULL, err));
	draft.message = &message;
	rc = write_clone(creation, &draft, err);
	draft_release(&draft);
	return rc;
}

static bool
text_equal(ProtobufCBinaryData stored, const char *text)
{
	return slice_equal(slice_of(stored.data, stored.len), slice_text(text));
}

static bool
is_same_clone(const struct creation *creation, lancet_version *version)
{
	lancet_transaction *transaction = NULL;
	const Clone *clone;
	bool same = false;

	if (lancet_transaction_open(version, &transaction, NULL) != LANCET_OK)
		return false;
	if (transaction->message->operation_case == LANCE__TABLE__TRANSACTION__OPERATION_CLONE) {
		clone = transaction->message->clone;
		same = clone->is_shallow && clone->ref_version == creation->version->info.number &&
		       text_equal(clone->ref_path, creation->location) &&
		       clone->branch_name_presence_case != 0 &&
		       text_equal(clone->branch_name, creation->name);
	}
	lancet_transaction_free(transaction);
	return same;
}

/* LANCET_OK when the only version of the directory is the clone that is wanted. */
static int
take_over(struct creation *creation, const struct cleanup_version *entry, struct lancet_error *err)
{
	struct cleanup_dir dir = { creation->store, dataset_root(creation->source),
		creation->directory };
	lancet_version *version = NULL;
	bool same = false;

	if (cleanup_version_load(&dir, entry, &version, NULL) == LANCET_OK)
		same = entry->number == creation->version->info.number &&
		       is_same_clone(creation, version);
	lancet_version_unref(version);
	if (same)
		return LANCET_OK;
	return lancet_fail(err, LANCET_EXISTS,
		BRANCH_TREE "/%s holds a dataset that is no branch: deleting the branch removes it",
		creation->name);
}

/* Another one may make the same branch at the same time, and a killed one may have begun it. */
static int
clone_or_take_over(struct creation *creation, struct lancet_error *err)
{
	struct cleanup_versions versions = { 0 };
	struct lancet_error why = { 0 };
	int rc;

	TRY(cleanup_versions_list(&versions, creation->store, err));
	rc = versions.count == 0 ? make_clone(creation, &why) : LANCET_EXISTS;
	if (rc == LANCET_EXISTS && versions.count == 0) {
		free(versions.list);
		versions = (struct cleanup_versions){ 0 };
		TRY(cleanup_versions_list(&versions, creation->store, err));
	}
	if (rc == LANCET_EXISTS && versions.count > 0)
		rc = take_over(creation, &versions.list[versions.count - 1], err);
	else if (rc != LANCET_OK && err != NULL)
		*err = why;
	free(versions.list);
	return rc;
}

/* NOT_FOUND, and the branch is taken back, when a cleanup has removed its source meanwhile. */
static int
check_source_stays(const struct creation *creation, struct lancet_error *err)
{
	struct stat st;
	int rc = lancet_dataset_manifest_stat(
		creation->source, creation->version->info.number, &st, err);

	if (rc == LANCET_NOT_FOUND)
		(void)lancet_branch_delete(dataset_root(creation->source), creation->name, NULL);
	return rc;
}

static int
create(struct creation *creation, struct lancet_error *err)
{
	const struct lancet_version_info *info = &creation->version->info;

	if (snprintf(creation->directory, sizeof(creation->directory), BRANCH_TREE "/%s",
		    creation->name) >= (int)sizeof(creation->directory))
		return lancet_fail(err, LANCET_INVALID, "the name of the branch is too long");
	TRY(dataset_location(creation->source, &creation->location, err));
	if (!text_is_utf8(slice_text(creation->location)))
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"a dataset whose path is no UTF-8 can't have branches: they hold the path");
	TRY(store_sub_open(dataset_base(dataset_root(creation->source))->store, creation->directory,
		&creation->store, err));
	TRY(clone_or_take_over(creation, err));
	TRY(branch_file_create(creation->source, creation->name, info->number,
		(uint64_t)info->manifest_stat.st_size, err));
	return check_source_stays(creation, err);
}

int
lancet_branch_create(lancet_dataset *dataset, const char *name, uint64_t version,
	const char *message, struct lancet_error *err)
{
	struct creation creation = { .source = dataset, .name = name, .message = message };
	int rc;

	TRY(check_name(name, err));
	if (message != NULL && !text_is_utf8(slice_text(message)))
		return lancet_fail(err, LANCET_INVALID, "the message is no UTF-8");
	TRY(check_free(dataset_root(dataset), name, err));
	TRY(lancet_version_open(dataset, version, &creation.version, err));
	rc = create(&creation, err);
	store_unref(creation.store);
	lancet_version_unref(creation.version);
	free(creation.location);
	free(creation.bytes);
	return rc;
}
