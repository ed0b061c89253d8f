/* The names in _versions/: listing them and finding the manifest of one number. Format facts:
 * manifest names.
 *
 * No manifest is opened here. A number may have two names, one of each scheme: the listing shows
 * both, and only opening the version refuses.
 */
#include "dataset.h"

#include "util/macros.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_FIRST 64

struct listing {
	struct lancet_version_list list;
	size_t capacity;
	bool detached;
	bool failed; /* no memory */
};

static int
add_entry(void *context, const char *name, bool is_dir)
{
	struct listing *listing = context;
	struct lancet_version_list *list = &listing->list;
	enum manifest_scheme scheme;
	uint64_t number;

	if (is_dir || !manifest_name_parse(name, &scheme, &number) ||
	    (scheme == MANIFEST_DETACHED) != listing->detached)
		return LANCET_OK;
	if (list->count == listing->capacity) {
		size_t more = list->count == 0 ? ENTRIES_FIRST : 2 * list->count;
		void *grown = reallocarray(list->entries, more, sizeof(*list->entries));

		if (grown == NULL) {
			listing->failed = true;
			return LANCET_NO_MEMORY;
		}
		list->entries = grown;
		listing->capacity = more;
	}
	list->entries[list->count++] = (struct lancet_version_entry){
		.number = number,
		.v1_name = scheme == MANIFEST_V1,
		.v2_name = scheme == MANIFEST_V2,
	};
	return LANCET_OK;
}

static int
compare_entries(const void *left, const void *right)
{
	uint64_t a = ((const struct lancet_version_entry *)left)->number;
	uint64_t b = ((const struct lancet_version_entry *)right)->number;

	return (a > b) - (a < b);
}

/* Sorts, and makes one entry of the two names of a number. */
static void
merge_entries(struct lancet_version_list *list)
{
	size_t kept = 0;

	if (list->count == 0)
		return;
	qsort(list->entries, list->count, sizeof(*list->entries), compare_entries);
	for (size_t i = 1; i < list->count; i++) {
		struct lancet_version_entry *last = &list->entries[kept];
		const struct lancet_version_entry *next = &list->entries[i];

		if (next->number != last->number) {
			list->entries[++kept] = *next;
			continue;
		}
		last->v1_name |= next->v1_name;
		last->v2_name |= next->v2_name;
	}
	list->count = kept + 1;
}

static int
list_versions(struct lancet_dataset *dataset, bool detached,
              struct lancet_version_list *ret_versions, struct lancet_error *err)
{
	struct listing listing = { .detached = detached };
	int rc = store_list(dataset->base->store, VERSIONS_DIR, add_entry, &listing, err);

	if (listing.failed)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "%zu versions", listing.list.count);
	if (rc != LANCET_OK) {
		free(listing.list.entries);
		return rc;
	}
	merge_entries(&listing.list);
	*ret_versions = listing.list;
	return LANCET_OK;
}

int
lancet_dataset_versions(lancet_dataset *dataset, struct lancet_version_list *ret_versions,
                        struct lancet_error *err)
{
	return list_versions(dataset, false, ret_versions, err);
}

int
lancet_dataset_detached(lancet_dataset *dataset, struct lancet_version_list *ret_versions,
                        struct lancet_error *err)
{
	return list_versions(dataset, true, ret_versions, err);
}

void
lancet_version_list_release(struct lancet_version_list *list)
{
	if (list == NULL)
		return;
	free(list->entries);
	*list = (struct lancet_version_list){ 0 };
}

/* Ends the listing at the first manifest: a dataset may have very many. */
static int
stop_at_manifest(void *context, const char *name, bool is_dir)
{
	bool *found = context;
	enum manifest_scheme scheme;
	uint64_t number;

	*found = !is_dir && manifest_name_parse(name, &scheme, &number);
	return *found ? LANCET_EXISTS : LANCET_OK;
}

int
dataset_require_manifest(struct store *store, struct lancet_error *err)
{
	bool found = false;
	int rc = store_list(store, VERSIONS_DIR, stop_at_manifest, &found, err);

	if (found)
		return LANCET_OK;
	return rc != LANCET_OK ? rc
	                       : lancet_fail(err, LANCET_NOT_FOUND, "no manifest in " VERSIONS_DIR);
}

static int
stat_name(struct lancet_dataset *dataset, enum manifest_scheme scheme, uint64_t number,
          char path[MANIFEST_PATH_MAX], struct stat *ret_stat, struct lancet_error *err)
{
	char name[MANIFEST_NAME_MAX];

	manifest_name_format(scheme, number, name);
	(void)snprintf(path, MANIFEST_PATH_MAX, VERSIONS_DIR "/%s", name);
	return store_stat(dataset->base->store, path, ret_stat, err);
}

int
dataset_find_manifest(struct lancet_dataset *dataset, uint64_t number,
                      char ret_path[MANIFEST_PATH_MAX], struct stat *ret_stat, bool *ret_clash,
                      struct lancet_error *err)
{
	bool detached = (number & VERSION_DETACHED_BIT) != 0;
	bool clash = false;
	char first[MANIFEST_PATH_MAX], second[MANIFEST_PATH_MAX];
	struct stat st, other;
	int rc = LANCET_NOT_FOUND;

	if (number != 0)
		rc = stat_name(dataset, detached ? MANIFEST_DETACHED : MANIFEST_V2, number, first,
		               &st, err);
	if (rc == LANCET_NOT_FOUND && number != 0 && !detached) {
		rc = stat_name(dataset, MANIFEST_V1, number, first, &st, err);
	} else if (rc == LANCET_OK && ret_clash != NULL && !detached) {
		rc = stat_name(dataset, MANIFEST_V1, number, second, &other, err);
		clash = rc == LANCET_OK;
		if (rc == LANCET_NOT_FOUND)
			rc = LANCET_OK;
	}
	if (rc == LANCET_NOT_FOUND)
		return lancet_fail(err, rc, "no version %" PRIu64, number);
	if (rc != LANCET_OK)
		return rc;
	memcpy(ret_path, first, sizeof(first));
	*ret_stat = st;
	if (ret_clash != NULL)
		*ret_clash = clash;
	return LANCET_OK;
}

int
lancet_dataset_manifest_stat(lancet_dataset *dataset, uint64_t number, struct stat *ret_stat,
                             struct lancet_error *err)
{
	char path[MANIFEST_PATH_MAX];

	return dataset_find_manifest(dataset, number, path, ret_stat, NULL, err);
}

int
lancet_dataset_manifest_fd(lancet_dataset *dataset, uint64_t number, int *ret_fd,
                           struct stat *ret_stat, struct lancet_error *err)
{
	char path[MANIFEST_PATH_MAX];
	struct stat st;

	TRY(dataset_find_manifest(dataset, number, path, &st, NULL, err));
	return store_open_fd(dataset->base->store, path, ret_fd, ret_stat, err);
}

int
dataset_open_manifest(struct lancet_dataset *dataset, uint64_t number, struct source **ret_source,
                      struct stat *ret_stat, char ret_name[40], struct lancet_error *err)
{
	char path[MANIFEST_PATH_MAX], v1_name[MANIFEST_NAME_MAX];
	const char *name = path + sizeof(VERSIONS_DIR);
	struct stat st;
	bool clash = false;

	TRY(dataset_find_manifest(dataset, number, path, &st, &clash, err));
	if (clash) {
		manifest_name_format(MANIFEST_V1, number, v1_name);
		return lancet_fail(err, LANCET_CORRUPT,
		                   "version %" PRIu64 " has two manifests: " VERSIONS_DIR
		                   "/%s and " VERSIONS_DIR "/%s",
		                   number, name, v1_name);
	}
	TRY(store_open_source(dataset->base->store, path, ret_source, ret_stat, err));
	memcpy(ret_name, name, strlen(name) + 1);
	return LANCET_OK;
}
