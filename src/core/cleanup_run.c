/* Removing what a plan says, one version after the other, oldest first.
 *
 * Of each version first the files go that it was the last to name, then its manifest: whenever it
 * ends, what is left are whole versions, the one that it ended in, and nothing that nobody names.
 * Before each one it is looked whether a tag, a branch or a new version has come to need it, or a
 * file of it; then that stays. Nothing can be locked here, so whoever makes a tag has to look
 * whether its version is still there afterwards. Format facts: cleanup.
 */
#include "cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "publish.h"
#include "refs.h"
#include "util/macros.h"

#define SETTLED_SECONDS 2 /* covers file systems whose times have whole seconds */

/* What the two directories of refs looked like; all zero when they are not there. */
struct refs_stamp {
	struct timespec changed[2];
	ino_t inodes[2];
	bool settled; /* they had not changed just before: later changes get other times */
};

struct run {
	lancet_cleanup *cleanup;
	struct cleanup_refs refs;
	struct refs_stamp stamp;
	uint64_t removed, bytes, done;
	int rc; /* the first failure to remove something */
	struct lancet_error first;
	bool names_changed; /* of versions */
};

static void
stamp_refs(struct lancet_dataset *dataset, struct refs_stamp *ret_stamp)
{
	static const char *const dirs[2] = { REFS_TAGS, REFS_BRANCHES };
	struct store *store = dataset_base(dataset_root(dataset))->store;
	time_t now = time(NULL);

	*ret_stamp = (struct refs_stamp){ .settled = true };
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		struct stat st;

		if (store_stat(store, dirs[i], &st, NULL) != LANCET_OK)
			continue;
		ret_stamp->changed[i] = st.st_mtim;
		ret_stamp->inodes[i] = st.st_ino;
		ret_stamp->settled &= st.st_mtim.tv_sec < now - SETTLED_SECONDS;
	}
}

static bool
stamps_match(const struct refs_stamp *a, const struct refs_stamp *b)
{
	return a->settled && b->settled && memcmp(a->inodes, b->inodes, sizeof(a->inodes)) == 0 &&
	       memcmp(a->changed, b->changed, sizeof(a->changed)) == 0;
}

/* The version, and all that it names, stays. */
static int
retain(lancet_cleanup *cleanup, struct cleanup_version *entry, struct lancet_error *err)
{
	lancet_version *version = NULL;
	int rc = cleanup_version_load(&cleanup->own, entry, &version, err);

	if (rc == LANCET_OK)
		rc = cleanup_mark(&cleanup->files, version, CLEANUP_STAYS, err);
	lancet_version_unref(version);
	if (rc == LANCET_NOT_FOUND) /* removed by somebody else */
		rc = cleanup_forgive(err);
	TRY(rc);
	entry->goes = false;
	return LANCET_OK;
}

/* Versions that got a tag or a branch. */
static int
look_at_refs(struct run *run, bool always, struct lancet_error *err)
{
	lancet_cleanup *cleanup = run->cleanup;
	struct refs_stamp stamp;

	stamp_refs(cleanup->own.dataset, &stamp);
	if (!always && stamps_match(&stamp, &run->stamp))
		return LANCET_OK;
	TRY(cleanup_refs_load(&run->refs, cleanup->own.dataset, err));
	for (size_t i = 0; i < cleanup->versions.count; i++) {
		struct cleanup_version *entry = &cleanup->versions.list[i];

		if (entry->goes && cleanup_refs_have(&run->refs, entry->number))
			TRY(retain(cleanup, entry, err));
	}
	run->stamp = stamp;
	return LANCET_OK;
}

/* Versions that were committed since. */
static int
look_at_newer(lancet_cleanup *cleanup, struct lancet_error *err)
{
	for (;;) {
		struct cleanup_version entry = { .number = cleanup->newest + 1 };
		char path[MANIFEST_PATH_MAX];
		struct stat st;
		int rc = dataset_find_manifest(
			cleanup->own.dataset, entry.number, path, &st, NULL, err);

		if (rc == LANCET_NOT_FOUND)
			return cleanup_forgive(err);
		TRY(rc);
		(void)snprintf(entry.name, sizeof(entry.name), "%s", path + sizeof(VERSIONS_DIR));
		TRY(retain(cleanup, &entry, err));
		cleanup->newest++;
	}
}

static bool
is_known(const struct cleanup_versions *versions, uint64_t number)
{
	size_t low = 0, high = versions->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (versions->list[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < versions->count && versions->list[low].number == number;
}

static bool
is_known_dir(const struct cleanup_dirs *dirs, const char *path)
{
	for (size_t i = 0; i < dirs->count; i++)
		if (strcmp(dirs->dirs[i].path, path) == 0)
			return true;
	return false;
}

static int
look_at_dirs(lancet_cleanup *cleanup, struct lancet_error *err)
{
	struct cleanup_dirs now = { 0 };
	int rc = cleanup_dirs_find(&now, cleanup->own.dataset, err);

	for (size_t i = 0; i < now.count && rc == LANCET_OK; i++)
		if (!is_known_dir(&cleanup->dirs, now.dirs[i].path))
			rc = cleanup_keep_dir(&cleanup->files, &now.dirs[i], err);
	cleanup_dirs_release(&now);
	return rc;
}

/* All that has come since the plan: detached versions and branches too. */
static int
look_at_all(struct run *run, struct lancet_error *err)
{
	lancet_cleanup *cleanup = run->cleanup;
	struct cleanup_versions now = { 0 };
	int rc = cleanup_versions_list(&now, cleanup->own.store, err);

	for (size_t i = 0; i < now.count && rc == LANCET_OK; i++)
		if (!is_known(&cleanup->versions, now.list[i].number))
			rc = retain(cleanup, &now.list[i], err);
	if (rc == LANCET_OK && now.numbered > 0 &&
		now.list[now.numbered - 1].number > cleanup->newest)
		cleanup->newest = now.list[now.numbered - 1].number;
	free(now.list);
	TRY(rc);
	TRY(look_at_dirs(cleanup, err));
	return look_at_refs(run, true, err);
}

static int
look_again(struct run *run, struct lancet_error *err)
{
	TRY(look_at_newer(run->cleanup, err));
	return look_at_refs(run, false, err);
}

static bool
still_goes(const lancet_cleanup *cleanup, const struct cleanup_item *item)
{
	const struct cleanup_entry *entry;

	if (item->place != CLEANUP_STAYS && !cleanup->versions.list[item->place].goes)
		return false;
	if (item->entry == UINT32_MAX)
		return true;
	entry = &cleanup->files.entries[item->entry];
	return !entry->kept && !(entry->kind == CLEANUP_ROW_MAP && cleanup->files.keep_row_maps);
}

/* False when it could not be removed; one that is gone already is fine. */
static bool
remove_item(struct run *run, const struct cleanup_item *item)
{
	lancet_cleanup *cleanup = run->cleanup;
	struct lancet_error why = { 0 };
	int rc = store_remove(cleanup->own.store, item->file.path, &why);

	if (rc == LANCET_OK) {
		run->removed++;
		run->bytes += item->file.bytes;
		run->names_changed |= item->entry == UINT32_MAX;
	} else if (rc != LANCET_NOT_FOUND && run->rc == LANCET_OK) {
		run->rc = rc;
		run->first = why;
	}
	return rc == LANCET_OK || rc == LANCET_NOT_FOUND;
}

/* The directories of an index, a row map or sidecars go when nothing is left in them. */
static void
remove_empty_dirs(struct run *run, const struct cleanup_item *item)
{
	const lancet_cleanup *cleanup = run->cleanup;
	char dir[STORE_KEY_MAX + 1];
	size_t size = store_dir_size(item->file.path);

	for (; size > 0; size = store_dir_size(dir)) {
		memcpy(dir, item->file.path, size);
		dir[size] = '\0';
		if (strchr(dir, '/') == NULL || strncmp(dir, "_refs", 5) == 0 ||
			store_remove_dir(cleanup->own.store, dir, NULL) != LANCET_OK)
			return;
	}
}

static bool
is_last_of_dir(const lancet_cleanup *cleanup, size_t at)
{
	const char *path = cleanup->items[at].file.path;
	size_t size = store_dir_size(path);

	if (at + 1 == cleanup->count)
		return true;
	const char *next = cleanup->items[at + 1].file.path;
	return store_dir_size(next) != size || memcmp(next, path, size) != 0;
}

/* The items from `at` on that go with one version, or with none; *ret_end is the next one's. */
static int
remove_group(struct run *run, size_t at, size_t *ret_end, struct lancet_error *err)
{
	lancet_cleanup *cleanup = run->cleanup;
	uint32_t place = cleanup->items[at].place;
	bool sound = true;

	TRY(look_again(run, err));
	for (; at < cleanup->count && cleanup->items[at].place == place; at++) {
		const struct cleanup_item *item = &cleanup->items[at];

		if (place == CLEANUP_STAYS)
			TRY(cleanup_check_cancelled(cleanup, err));
		if (item->entry == UINT32_MAX)
			TRY(look_again(run, err));
		if (still_goes(cleanup, item) && (item->entry != UINT32_MAX || sound))
			sound &= remove_item(run, item);
		if (item->entry != UINT32_MAX && is_last_of_dir(cleanup, at))
			remove_empty_dirs(run, item);
		cleanup_report(cleanup, ++run->done, cleanup->count, "files");
	}
	*ret_end = at;
	return LANCET_OK;
}

static int
remove_all(struct run *run, struct lancet_error *err)
{
	lancet_cleanup *cleanup = run->cleanup;

	TRY(look_at_all(run, err));
	for (size_t at = 0; at < cleanup->count;) {
		TRY(cleanup_check_cancelled(cleanup, err));
		TRY(remove_group(run, at, &at, err));
	}
	return LANCET_OK;
}

int
lancet_cleanup_run(lancet_cleanup *cleanup, uint64_t *ret_removed, uint64_t *ret_bytes,
	struct lancet_error *err)
{
	struct run run = { .cleanup = cleanup };
	int rc = remove_all(&run, err);

	if (run.names_changed && rc == LANCET_OK)
		rc = store_sync_dir(cleanup->own.store, VERSIONS_DIR, err);
	free(run.refs.versions);
	*ret_removed = run.removed;
	*ret_bytes = run.bytes;
	if (rc != LANCET_OK || run.rc == LANCET_OK)
		return rc;
	if (err != NULL)
		*err = run.first;
	return run.rc;
}
