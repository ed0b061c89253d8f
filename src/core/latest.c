/* Finding a version by its place in time. Format facts: finding the latest version.
 *
 * The hint file is never looked at. An answer is remembered together with the directory's times;
 * it stands as long as they, the manifest's own attributes and the absence of the next number
 * are unchanged. A directory that changed moments ago is not remembered, since a later change
 * may get the same time stamp.
 */
#include "dataset.h"

#include "util/macros.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define SETTLED_SECONDS 2 /* covers file systems whose times have whole seconds */

static bool
same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool
same_state(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       same_time(a->st_mtim, b->st_mtim) && same_time(a->st_ctim, b->st_ctim);
}

static bool
memo_stands(struct lancet_dataset *dataset, const struct latest_memo *memo,
            const struct stat *directory)
{
	char path[MANIFEST_PATH_MAX];
	struct stat st;

	return memo->valid && same_state(&memo->directory, directory) &&
	       store_stat(dataset->base->store, memo->path, &st, NULL) == LANCET_OK &&
	       same_state(&memo->file, &st) &&
	       dataset_find_manifest(dataset, memo->number + 1, path, &st, NULL, NULL) ==
	               LANCET_NOT_FOUND;
}

static void
memo_put(struct lancet_dataset *dataset, uint64_t number, const struct stat *directory,
         time_t listed_at)
{
	struct latest_memo memo = { .number = number, .directory = *directory };

	memo.valid = directory->st_mtim.tv_sec < listed_at - SETTLED_SECONDS &&
	             directory->st_ctim.tv_sec < listed_at - SETTLED_SECONDS &&
	             dataset_find_manifest(dataset, number, memo.path, &memo.file, NULL, NULL) ==
	                     LANCET_OK;
	(void)pthread_mutex_lock(&dataset->latest_lock);
	dataset->latest = memo;
	(void)pthread_mutex_unlock(&dataset->latest_lock);
}

/* What a search from the newest version down asks of each one that can be read. */
struct search {
	bool has_time;
	int64_t seconds;
	int32_t nanos;
	size_t passed; /* how many were unreadable or gone */
	struct lancet_error first; /* why the newest of them was */
};

static bool
is_wanted(const struct search *search, const struct lancet_version_info *info)
{
	if (!search->has_time)
		return true;
	if (!info->has_timestamp || info->timestamp_seconds > search->seconds)
		return false;
	return info->timestamp_seconds < search->seconds || info->timestamp_nanos <= search->nanos;
}

/* Torn manifests are passed over; one that this build must not read is not torn, and ends the
 * search. */
static int
search_down(struct lancet_dataset *dataset, const struct lancet_version_list *list,
            struct search *search, uint64_t *ret_number, struct lancet_error *err)
{
	for (size_t i = list->count; i-- > 0;) {
		struct lancet_version *version;
		struct lancet_error why = { 0 };
		bool wanted;
		int rc = lancet_version_open(dataset, list->entries[i].number, &version, &why);

		if (rc == LANCET_CORRUPT || rc == LANCET_NOT_FOUND) {
			if (search->passed++ == 0)
				search->first = why;
			continue;
		}
		if (rc != LANCET_OK) {
			if (err != NULL)
				*err = why;
			return rc;
		}
		wanted = is_wanted(search, lancet_version_info(version));
		lancet_version_unref(version);
		if (wanted) {
			*ret_number = list->entries[i].number;
			return LANCET_OK;
		}
	}
	return LANCET_NOT_FOUND;
}

int
lancet_dataset_latest(lancet_dataset *dataset, uint64_t *ret_number, struct lancet_error *err)
{
	struct lancet_version_list list;
	struct latest_memo memo;
	struct search search = { 0 };
	struct stat directory;
	uint64_t number = 0;
	time_t now = time(NULL);
	int rc;

	TRY(store_stat(dataset->base->store, VERSIONS_DIR, &directory, err));
	(void)pthread_mutex_lock(&dataset->latest_lock);
	memo = dataset->latest;
	(void)pthread_mutex_unlock(&dataset->latest_lock);
	if (memo_stands(dataset, &memo, &directory)) {
		*ret_number = memo.number;
		return LANCET_OK;
	}
	TRY(lancet_dataset_versions(dataset, &list, err));
	rc = search_down(dataset, &list, &search, &number, err);
	lancet_version_list_release(&list);
	if (rc == LANCET_NOT_FOUND && search.passed > 0)
		return lancet_fail(err, rc, "no readable version: %s", search.first.text);
	if (rc == LANCET_NOT_FOUND)
		return lancet_fail(err, rc, "no version");
	if (rc != LANCET_OK)
		return rc;
	if (search.passed == 0) /* a torn head may be completed without a change of the directory */
		memo_put(dataset, number, &directory, now);
	*ret_number = number;
	return LANCET_OK;
}

int
lancet_dataset_as_of(lancet_dataset *dataset, int64_t seconds, int32_t nanos, uint64_t *ret_number,
                     struct lancet_error *err)
{
	struct search search = { .has_time = true, .seconds = seconds, .nanos = nanos };
	struct lancet_version_list list;
	int rc;

	TRY(lancet_dataset_versions(dataset, &list, err));
	rc = search_down(dataset, &list, &search, ret_number, err);
	lancet_version_list_release(&list);
	if (rc == LANCET_NOT_FOUND)
		return lancet_fail(err, rc, "no readable version at or before that time");
	return rc;
}
