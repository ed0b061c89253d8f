/* Finding the version that was committed with a token.
 *
 * The uuid follows from the token, and the names of transaction files hold it, so one listing tells
 * of every commit that was begun with the token, and of the version it was built on. Which version
 * it made, if any, is found by looking at those that follow: a file may be what an attempt has left
 * that was killed. Commits of the last 24 hours count.
 */
#include "commit_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dataset.h"
#include "transaction.h"
#include "util/macros.h"
#include "util/text.h"
#include "version.h"

#define TRANSACTIONS_DIR "_transactions"
#define SECONDS_MAX      (24 * 60 * 60)
#define FILES_MAX        1000u

struct search {
	struct slice uuid;
	uint64_t *read_versions; /* of the files found; malloc */
	size_t count;
};

/* "READ_VERSION-UUID.txn" and "READ_VERSION-UUID.N.txn" */
static bool
parse_name(const char *name, struct slice uuid, uint64_t *ret_read_version)
{
	const char *dash = strchr(name, '-');
	size_t size = strlen(name);

	return dash != NULL && size > 4 && strcmp(name + size - 4, ".txn") == 0 &&
	       strlen(dash + 1) > uuid.size && slice_equal(slice_of(dash + 1, uuid.size), uuid) &&
	       dash[1 + uuid.size] == '.' &&
	       text_to_u64(slice_of(name, (size_t)(dash - name)), ret_read_version);
}

static int
note_file(void *context, const char *name, bool is_dir)
{
	struct search *search = context;
	uint64_t read_version;

	if (is_dir || search->count == FILES_MAX || !parse_name(name, search->uuid, &read_version))
		return LANCET_OK;
	search->read_versions[search->count++] = read_version;
	return LANCET_OK;
}

static int
descending(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a < b) - (a > b);
}

static bool
is_recent(const lancet_version *version)
{
	const struct lancet_version_info *info = &version->info;
	int64_t made = info->has_timestamp ? info->timestamp_seconds
					   : (int64_t)info->manifest_stat.st_mtim.tv_sec;

	return made >= (int64_t)time(NULL) - SECONDS_MAX;
}

static bool
has_uuid(lancet_version *version, struct slice uuid)
{
	struct lancet_bytes file = version->info.transaction_file, found;
	lancet_transaction *transaction;
	bool same;

	/* The file's name says no without anything being decoded. */
	if (memmem(file.data, file.size, uuid.data, uuid.size) == NULL ||
		lancet_transaction_open(version, &transaction, NULL) != LANCET_OK)
		return false;
	found = lancet_transaction_uuid(transaction);
	same = slice_equal(slice_of(found.data, found.size), uuid);
	lancet_transaction_free(transaction);
	return same;
}

/* The first version after `read_version`, and before `end`, that has the uuid; NULL: none. A
 * version that can't be opened is none that was ever acknowledged, or a cleaned one. */
static lancet_version *
find_after(lancet_dataset *dataset, const struct lancet_version_list *list, struct slice uuid,
	uint64_t read_version, uint64_t end)
{
	for (size_t i = 0; i < list->count; i++) {
		uint64_t number = list->entries[i].number;
		lancet_version *version;

		if (number <= read_version || number >= end ||
			lancet_version_open(dataset, number, &version, NULL) != LANCET_OK)
			continue;
		if (has_uuid(version, uuid))
			return version;
		lancet_version_unref(version);
	}
	return NULL;
}

static int
find_in(lancet_dataset *dataset, const struct search *search, lancet_version **ret_version,
	struct lancet_error *err)
{
	struct lancet_version_list list;
	lancet_version *version = NULL;
	uint64_t end = UINT64_MAX;

	TRY(lancet_dataset_versions(dataset, &list, err));
	for (size_t i = 0; i < search->count && version == NULL; i++) {
		version = find_after(dataset, &list, search->uuid, search->read_versions[i], end);
		end = search->read_versions[i] + 1;
	}
	lancet_version_list_release(&list);
	if (version != NULL && is_recent(version)) {
		*ret_version = version;
		return LANCET_OK;
	}
	lancet_version_unref(version);
	return lancet_fail(err, LANCET_NOT_FOUND, "no version of the last 24 hours has it");
}

int
commit_find_uuid(lancet_dataset *dataset, struct slice uuid, lancet_version **ret_version,
	struct lancet_error *err)
{
	struct search search = { .uuid = uuid };
	int rc;

	search.read_versions = calloc(FILES_MAX, sizeof(*search.read_versions));
	if (search.read_versions == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "search for a token");
	rc = store_list(dataset_base(dataset)->store, TRANSACTIONS_DIR, note_file, &search, err);
	qsort(search.read_versions, search.count, sizeof(*search.read_versions), descending);
	if (rc == LANCET_OK)
		rc = find_in(dataset, &search, ret_version, err);
	free(search.read_versions);
	return rc;
}

int
lancet_commit_find_token(
	lancet_dataset *dataset, const char *token, uint64_t *ret_version, struct lancet_error *err)
{
	char uuid[UUID_TEXT_SIZE + 1];
	lancet_version *version;
	int rc;

	TRY(change_token_check(token, err));
	change_token_uuid(slice_text(token), uuid);
	rc = commit_find_uuid(dataset, slice_text(uuid), &version, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "token %.64s", token);
	*ret_version = version->info.number;
	lancet_version_unref(version);
	return LANCET_OK;
}
