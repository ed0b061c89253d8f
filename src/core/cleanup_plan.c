/* What a cleanup would remove: which versions go, and which files only they need.
 *
 * A version goes when every filter that was given agrees; the newest one, tagged ones and those
 * that branches were made from never do. Format facts: cleanup.
 */
#include "cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/macros.h"

#define DAY                UINT64_C(86400)
#define OLDER_THAN_DEFAULT (14 * DAY)
#define UNVERIFIED_AGE     (7 * DAY)

/* The filters, as points in time and places in the list of versions. */
struct policy {
	const struct lancet_cleanup_options *options;
	bool has_before;
	int64_t before_seconds; /* a version must be older than this to go */
	long before_nanos;
	size_t kept_from; /* versions from this place on stay */
	const struct cleanup_refs *refs;
};

int
cleanup_check_cancelled(const lancet_cleanup *cleanup, struct lancet_error *err)
{
	if (cleanup->options.cancelled == NULL ||
		!cleanup->options.cancelled(cleanup->options.context))
		return LANCET_OK;
	return lancet_fail(err, LANCET_CANCELLED, "the cleanup was cancelled");
}

void
cleanup_report(const lancet_cleanup *cleanup, uint64_t done, uint64_t total, const char *unit)
{
	if (cleanup->options.progress != NULL)
		cleanup->options.progress(cleanup->options.context, done, total, unit);
}

static void
policy_init(struct policy *policy, const lancet_cleanup *cleanup,
	const struct lancet_cleanup_options *options, const struct cleanup_refs *refs)
{
	uint64_t older_than = options->has_older_than ? options->older_than : OLDER_THAN_DEFAULT;
	size_t count = cleanup->versions.numbered;
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	*policy = (struct policy){ .options = options, .refs = refs };
	policy->has_before =
		options->has_older_than || (options->keep == 0 && options->versions == NULL);
	policy->before_seconds = older_than > (uint64_t)now.tv_sec
					 ? INT64_MIN
					 : (int64_t)((uint64_t)now.tv_sec - older_than);
	policy->before_nanos = now.tv_nsec;
	policy->kept_from = count > 0 ? count - 1 : 0; /* the newest one stays */
	if (options->keep > 0)
		policy->kept_from = options->keep < count ? count - (size_t)options->keep : 0;
}

static bool
is_chosen(const struct lancet_cleanup_options *options, uint64_t number)
{
	for (size_t i = 0; i < options->version_count; i++)
		if (options->versions[i] == number)
			return true;
	return options->versions == NULL;
}

static bool
may_go(const struct policy *policy, size_t place, const struct lancet_version_info *info)
{
	if (place >= policy->kept_from || !is_chosen(policy->options, info->number) ||
		cleanup_refs_have(policy->refs, info->number))
		return false;
	if (!policy->has_before)
		return true;
	return info->timestamp_seconds < policy->before_seconds ||
	       (info->timestamp_seconds == policy->before_seconds &&
		       info->timestamp_nanos < policy->before_nanos);
}

/* NOT_FOUND: one that was asked for is not there. */
static int
check_chosen(const lancet_cleanup *cleanup, const struct lancet_cleanup_options *options,
	struct lancet_error *err)
{
	for (size_t i = 0; options->versions != NULL && i < options->version_count; i++) {
		struct stat st;

		TRY(lancet_dataset_manifest_stat(
			cleanup->own.dataset, options->versions[i], &st, err));
	}
	return LANCET_OK;
}

static int
fail_unread(struct lancet_error *why, int rc, struct lancet_error *err)
{
	if (rc == LANCET_CORRUPT)
		return lancet_fail(err, rc,
			"%s: nothing is removed while a version can't be read (repair sets a torn "
			"newest one aside)",
			why->text);
	if (err != NULL)
		*err = *why;
	return rc;
}

static int
mark_version(lancet_cleanup *cleanup, const struct policy *policy, size_t place,
	struct lancet_error *err)
{
	struct cleanup_version *entry = &cleanup->versions.list[place];
	bool detached = place >= cleanup->versions.numbered;
	lancet_version *version = NULL;
	struct lancet_error why = { 0 };
	int rc = cleanup_version_load(&cleanup->own, entry, &version, &why);

	if (rc == LANCET_NOT_FOUND && place + 1 != cleanup->versions.numbered)
		return LANCET_OK; /* somebody else removed it since the listing */
	if (rc == LANCET_OK) {
		entry->bytes = (uint64_t)version->info.manifest_stat.st_size;
		entry->goes = !detached && may_go(policy, place, &version->info);
		rc = cleanup_mark(&cleanup->files, version,
			entry->goes ? (uint32_t)place : CLEANUP_STAYS, &why);
		if (rc != LANCET_OK)
			(void)lancet_wrap(&why, rc, VERSIONS_DIR "/%s", entry->name);
	}
	lancet_version_unref(version);
	return rc == LANCET_OK ? rc : fail_unread(&why, rc, err);
}

static int
mark_own(lancet_cleanup *cleanup, const struct policy *policy, struct lancet_error *err)
{
	struct cleanup_versions *versions = &cleanup->versions;

	for (size_t i = 0; i < versions->count; i++) {
		TRY(cleanup_check_cancelled(cleanup, err));
		TRY(mark_version(cleanup, policy, i, err));
		cleanup->going_count += versions->list[i].goes;
		cleanup_report(cleanup, i + 1, versions->count, "versions");
	}
	if (versions->numbered > 0)
		cleanup->newest = versions->list[versions->numbered - 1].number;
	return LANCET_OK;
}

static int
mark_family(lancet_cleanup *cleanup, struct lancet_error *err)
{
	TRY(cleanup_dirs_find(&cleanup->dirs, cleanup->own.dataset, err));
	for (size_t i = 0; i < cleanup->dirs.count; i++) {
		struct lancet_error why = { 0 };
		int rc = cleanup_keep_dir(&cleanup->files, &cleanup->dirs.dirs[i], &why);

		TRY(cleanup_check_cancelled(cleanup, err));
		if (rc != LANCET_OK)
			return fail_unread(&why, rc, err);
	}
	return LANCET_OK;
}

/* Whether a file goes, with which version, and why. */
static bool
judge(const lancet_cleanup *cleanup, const struct cleanup_entry *entry, int64_t old_before,
	struct cleanup_item *item)
{
	bool named = entry->last > 0;

	if (entry->kept || (entry->kind == CLEANUP_ROW_MAP && cleanup->files.keep_row_maps))
		return false;
	item->place = named ? entry->last - 1 : CLEANUP_STAYS;
	if (named)
		item->file.reason = LANCET_UNREFERENCED;
	else if (entry->kind == CLEANUP_LEFTOVER)
		item->file.reason = LANCET_TEMPORARY;
	else
		item->file.reason = LANCET_ABANDONED;
	item->file.path = entry->path;
	item->file.bytes = entry->bytes;
	return named || cleanup->options.delete_unverified || entry->changed < old_before;
}

static int
add_manifest(lancet_cleanup *cleanup, size_t place, struct lancet_error *err)
{
	const struct cleanup_version *entry = &cleanup->versions.list[place];
	char path[MANIFEST_PATH_MAX];
	const char *copy;

	(void)snprintf(path, sizeof(path), VERSIONS_DIR "/%s", entry->name);
	copy = arena_copy(&cleanup->arena, path, strlen(path) + 1);
	if (copy == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu versions", place);
	cleanup->items[cleanup->count++] = (struct cleanup_item){
		.file = { copy, entry->bytes, LANCET_OLD_VERSION },
		.place = (uint32_t)place,
		.entry = UINT32_MAX,
	};
	return LANCET_OK;
}

/* Those of no version first, then by version; its manifest comes last. */
static int
compare_items(const void *left, const void *right)
{
	const struct cleanup_item *a = left, *b = right;
	uint32_t first = a->place + 1, second = b->place + 1; /* CLEANUP_STAYS is 0 */

	if (first != second)
		return first < second ? -1 : 1;
	if ((a->entry == UINT32_MAX) != (b->entry == UINT32_MAX))
		return a->entry == UINT32_MAX ? 1 : -1;
	return strcmp(a->file.path, b->file.path);
}

static int
make_items(lancet_cleanup *cleanup, struct lancet_error *err)
{
	int64_t old_before = (int64_t)time(NULL) - (int64_t)UNVERIFIED_AGE;
	size_t going = 0;

	cleanup->items =
		calloc(cleanup->files.count + cleanup->going_count + 1, sizeof(*cleanup->items));
	cleanup->going = calloc(cleanup->going_count + 1, sizeof(*cleanup->going));
	if (cleanup->items == NULL || cleanup->going == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu files", cleanup->files.count);
	for (size_t i = 0; i < cleanup->files.count; i++) {
		struct cleanup_item *item = &cleanup->items[cleanup->count];

		item->entry = (uint32_t)i;
		cleanup->count += judge(cleanup, &cleanup->files.entries[i], old_before, item);
	}
	for (size_t i = 0; i < cleanup->versions.count; i++)
		if (cleanup->versions.list[i].goes) {
			cleanup->going[going++] = cleanup->versions.list[i].number;
			TRY(add_manifest(cleanup, i, err));
		}
	if (cleanup->count > 1)
		qsort(cleanup->items, cleanup->count, sizeof(*cleanup->items), compare_items);
	return LANCET_OK;
}

static int
plan(lancet_cleanup *cleanup, const struct lancet_cleanup_options *options,
	struct cleanup_refs *refs, struct lancet_error *err)
{
	struct policy policy;

	TRY(cleanup_files_list(&cleanup->files, cleanup->own.dataset, err));
	TRY(cleanup_refs_load(refs, cleanup->own.dataset, err));
	TRY(check_chosen(cleanup, options, err));
	TRY(cleanup_versions_list(&cleanup->versions, cleanup->own.store, err));
	if (cleanup->versions.count >= CLEANUP_STAYS)
		return lancet_fail(err, LANCET_LIMIT, "too many versions");
	policy_init(&policy, cleanup, options, refs);
	TRY(mark_own(cleanup, &policy, err));
	TRY(mark_family(cleanup, err));
	return make_items(cleanup, err);
}

int
lancet_cleanup_plan(lancet_dataset *dataset, const struct lancet_cleanup_options *options,
	lancet_cleanup **ret_cleanup, struct lancet_error *err)
{
	lancet_cleanup *cleanup = calloc(1, sizeof(*cleanup));
	struct cleanup_refs refs = { 0 };
	int rc;

	if (cleanup == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "a cleanup");
	cleanup->options = *options;
	cleanup->options.versions = NULL;
	cleanup->own.dataset = lancet_dataset_ref(dataset);
	cleanup->own.store = store_ref(dataset_base(dataset)->store);
	cleanup->own.path = strdup(dataset_base(dataset)->identity);
	rc = cleanup->own.path != NULL ? plan(cleanup, options, &refs, err)
				       : lancet_fail(err, LANCET_NO_MEMORY, "a cleanup");
	free(refs.versions);
	if (rc != LANCET_OK) {
		lancet_cleanup_free(cleanup);
		return rc;
	}
	*ret_cleanup = cleanup;
	return LANCET_OK;
}

void
lancet_cleanup_free(lancet_cleanup *cleanup)
{
	if (cleanup == NULL)
		return;
	cleanup_files_release(&cleanup->files);
	cleanup_dirs_release(&cleanup->dirs);
	arena_release(&cleanup->arena);
	store_unref(cleanup->own.store);
	lancet_dataset_unref(cleanup->own.dataset);
	free(cleanup->own.path);
	free(cleanup->versions.list);
	free(cleanup->items);
	free(cleanup->going);
	free(cleanup);
}

size_t
lancet_cleanup_count(const lancet_cleanup *cleanup)
{
	return cleanup->count;
}

const struct lancet_cleanup_file *
lancet_cleanup_file(const lancet_cleanup *cleanup, size_t index)
{
	return &cleanup->items[index].file;
}

const uint64_t *
lancet_cleanup_versions(const lancet_cleanup *cleanup, size_t *ret_count)
{
	*ret_count = cleanup->going_count;
	return cleanup->going;
}
