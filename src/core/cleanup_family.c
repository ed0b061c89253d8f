/* All versions that may need a file of a dataset: its own, those of its branches, and those of
 * directories below `tree` that are no branch yet, or no more.
 *
 * A branch is made as a directory first, and its file comes last: what such a directory names must
 * not go in between. Format facts: branches, cleanup.
 */
#include "cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lancet/refs.h>
#include "flags.h"
#include "util/macros.h"

#define TREE      "tree"
#define DEPTH_MAX 64 /* parts of a branch's name */

/* Directories of a dataset, which are no part of a branch's name below it. */
static const char *const inner_dirs[] = { VERSIONS_DIR, "_transactions", "_deletions", "_indices",
	"_fri", "_blobs", "_refs", "_mem_wal", "_bt" };

static void
dir_release(struct cleanup_dir *dir)
{
	store_unref(dir->store);
	lancet_dataset_unref(dir->dataset);
	free(dir->path);
}

void
cleanup_dirs_release(struct cleanup_dirs *dirs)
{
	for (size_t i = 0; i < dirs->count; i++)
		dir_release(&dirs->dirs[i]);
	free(dirs->dirs);
	*dirs = (struct cleanup_dirs){ 0 };
}

/* A branch by its name; the root's handle when there is no branch of that name. CORRUPT: there is,
 * but it is damaged. */
static int
handle_of(struct lancet_dataset *root, const char *path, struct lancet_dataset **ret_dataset,
	struct lancet_error *err)
{
	struct lancet_error why = { 0 };
	struct lancet_bytes name = { 0 };
	int rc = LANCET_NOT_FOUND;

	if (path[0] != '\0') {
		name.data = (const uint8_t *)path + sizeof(TREE);
		name.size = strlen(path + sizeof(TREE));
		rc = lancet_dataset_branch(root, name, ret_dataset, &why);
	}
	if (rc == LANCET_NOT_FOUND) {
		*ret_dataset = lancet_dataset_ref(root);
		return LANCET_OK;
	}
	if (rc != LANCET_OK && err != NULL)
		*err = why;
	return rc;
}

static int
add_dir(struct cleanup_dirs *dirs, struct lancet_dataset *root, const char *path,
	struct lancet_error *err)
{
	struct cleanup_dir dir = { .path = strdup(path) };
	int rc = dir.path != NULL ? LANCET_OK : lancet_fail(err, LANCET_NO_MEMORY, "%s", path);

	if (rc == LANCET_OK && dirs->count == dirs->capacity) {
		size_t more = dirs->count == 0 ? 8 : 2 * dirs->count;
		void *grown = reallocarray(dirs->dirs, more, sizeof(*dirs->dirs));

		if (grown != NULL) {
			dirs->dirs = grown;
			dirs->capacity = more;
		} else {
			rc = lancet_fail(err, LANCET_NO_MEMORY, "%zu branches", more);
		}
	}
	if (rc == LANCET_OK)
		rc = handle_of(root, path, &dir.dataset, err);
	if (rc == LANCET_OK && path[0] == '\0')
		dir.store = store_ref(dataset_base(root)->store);
	else if (rc == LANCET_OK)
		rc = store_sub_open(dataset_base(root)->store, path, &dir.store, err);
	if (rc != LANCET_OK) {
		dir_release(&dir);
		return rc;
	}
	dirs->dirs[dirs->count++] = dir;
	return LANCET_OK;
}

struct search {
	struct cleanup_dirs *dirs;
	struct lancet_dataset *root;
	const char *own; /* path of the dataset that is left out */
	const char *path;
	bool is_dataset; /* path has versions */
	unsigned depth;
	struct lancet_error *err;
};

static bool
is_inner(const struct search *search, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(inner_dirs); i++)
		if (strcmp(name, inner_dirs[i]) == 0)
			return search->is_dataset;
	return false;
}

static int search_below(struct search *search);

/* The data of a branch, which may be many files; or a branch whose name ends in "/data". */
static bool
holds_no_branch(const struct search *search, const char *path, const char *name)
{
	char versions[STORE_KEY_MAX + 1];
	struct stat st;

	if (!search->is_dataset || strcmp(name, "data") != 0)
		return false;
	return snprintf(versions, sizeof(versions), "%s/" VERSIONS_DIR, path) >=
		       (int)sizeof(versions) ||
	       store_stat(dataset_base(search->root)->store, versions, &st, NULL) ==
		       LANCET_NOT_FOUND;
}

static int
search_name(void *context, const char *name, bool is_dir)
{
	struct search *search = context;
	char path[STORE_KEY_MAX + 1];
	struct search inner = *search;

	if (!is_dir || is_inner(search, name))
		return LANCET_OK;
	if (snprintf(path, sizeof(path), "%s/%s", search->path, name) >= (int)sizeof(path) ||
		search->depth >= DEPTH_MAX)
		return lancet_fail(search->err, LANCET_LIMIT, "%s: directories are nested too deep",
			search->path);
	if (holds_no_branch(search, path, name))
		return LANCET_OK;
	inner.path = path;
	inner.depth++;
	return search_below(&inner);
}

static int
search_below(struct search *search)
{
	struct store *store = dataset_base(search->root)->store;
	char versions[STORE_KEY_MAX + 1];
	struct stat st;
	int rc;

	if (snprintf(versions, sizeof(versions), "%s/" VERSIONS_DIR, search->path) >=
		(int)sizeof(versions))
		return LANCET_OK;
	rc = store_stat(store, versions, &st, search->err);
	if (rc != LANCET_OK && rc != LANCET_NOT_FOUND)
		return rc;
	search->is_dataset = rc == LANCET_OK;
	(void)cleanup_forgive(search->err);
	if (search->is_dataset && strcmp(search->path, search->own) != 0)
		TRY(add_dir(search->dirs, search->root, search->path, search->err));
	rc = store_list(store, search->path, search_name, search, search->err);
	return rc == LANCET_NOT_FOUND ? cleanup_forgive(search->err) : rc;
}

int
cleanup_dirs_find(
	struct cleanup_dirs *dirs, struct lancet_dataset *dataset, struct lancet_error *err)
{
	struct lancet_dataset *root = dataset_root(dataset);
	struct search search = { .dirs = dirs,
		.root = root,
		.own = dataset_base(dataset)->identity,
		.path = TREE,
		.err = err };

	if (dataset != root)
		TRY(add_dir(dirs, root, "", err));
	return search_below(&search);
}

static int
add_version(void *context, const char *name, bool is_dir)
{
	struct cleanup_versions *versions = context;
	enum manifest_scheme scheme;
	struct cleanup_version *added;
	uint64_t number;

	if (is_dir || !manifest_name_parse(name, &scheme, &number))
		return LANCET_OK;
	if (versions->count == versions->capacity) {
		size_t more = versions->count == 0 ? 64 : 2 * versions->count;
		void *grown = reallocarray(versions->list, more, sizeof(*versions->list));

		if (grown == NULL)
			return LANCET_NO_MEMORY;
		versions->list = grown;
		versions->capacity = more;
	}
	added = &versions->list[versions->count++];
	*added = (struct cleanup_version){ .number = number };
	(void)memcpy(added->name, name, strlen(name)); /* fits: it is a manifest's name */
	versions->numbered += scheme != MANIFEST_DETACHED;
	return LANCET_OK;
}

/* Detached versions have bit 63 set, so they come last. */
static int
compare_versions(const void *left, const void *right)
{
	uint64_t a = ((const struct cleanup_version *)left)->number;
	uint64_t b = ((const struct cleanup_version *)right)->number;

	return (a > b) - (a < b);
}

int
cleanup_versions_list(
	struct cleanup_versions *versions, struct store *store, struct lancet_error *err)
{
	int rc = store_list(store, VERSIONS_DIR, add_version, versions, err);

	if (rc == LANCET_NO_MEMORY)
		return lancet_fail(err, rc, "%zu versions", versions->count);
	if (rc == LANCET_NOT_FOUND)
		return cleanup_forgive(err);
	TRY(rc);
	if (versions->count > 1)
		qsort(versions->list, versions->count, sizeof(*versions->list), compare_versions);
	for (size_t i = 1; i < versions->count; i++)
		if (versions->list[i].number == versions->list[i - 1].number)
			return lancet_fail(err, LANCET_CORRUPT,
				"version %" PRIu64 " has two manifests: " VERSIONS_DIR "/%s and %s",
				versions->list[i].number, versions->list[i - 1].name,
				versions->list[i].name);
	return LANCET_OK;
}

int
cleanup_version_load(const struct cleanup_dir *dir, const struct cleanup_version *entry,
	lancet_version **ret_version, struct lancet_error *err)
{
	char path[MANIFEST_PATH_MAX];
	lancet_version *version = NULL;
	struct source *file;
	struct stat st;
	int rc;

	(void)snprintf(path, sizeof(path), VERSIONS_DIR "/%s", entry->name);
	rc = store_open_source(dir->store, path, &file, &st, err);
	if (rc == LANCET_OK) {
		rc = version_load(
			dir->dataset, entry->number, file, &st, entry->name, &version, err);
		source_unref(file);
	}
	if (rc == LANCET_OK)
		rc = flags_check_writable(version->info.writer_flags, err);
	if (rc == LANCET_OK) {
		*ret_version = version;
		return LANCET_OK;
	}
	lancet_version_unref(version);
	return lancet_wrap(err, rc, "%s%s%s", dir->path, dir->path[0] != '\0' ? "/" : "", path);
}

int
cleanup_keep_dir(
	struct cleanup_files *files, const struct cleanup_dir *dir, struct lancet_error *err)
{
	struct cleanup_versions versions = { 0 };
	int rc = cleanup_versions_list(&versions, dir->store, err);

	for (size_t i = 0; i < versions.count && rc == LANCET_OK; i++) {
		lancet_version *version = NULL;

		rc = cleanup_version_load(dir, &versions.list[i], &version, err);
		if (rc == LANCET_NOT_FOUND) { /* somebody else removed it since the listing */
			rc = cleanup_forgive(err);
			continue;
		}
		if (rc == LANCET_OK)
			rc = cleanup_mark(files, version, CLEANUP_STAYS, err);
		lancet_version_unref(version);
	}
	free(versions.list);
	return rc;
}

static int
add_needed(struct cleanup_refs *refs, uint64_t version, struct lancet_error *err)
{
	if (refs->count == refs->capacity) {
		size_t more = refs->count == 0 ? 16 : 2 * refs->count;
		void *grown = reallocarray(refs->versions, more, sizeof(*refs->versions));

		if (grown == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "%zu refs", more);
		refs->versions = grown;
		refs->capacity = more;
	}
	refs->versions[refs->count++] = version;
	return LANCET_OK;
}

static bool
is_named(struct lancet_dataset *dataset, const char *branch)
{
	return strcmp(dataset->branch, branch != NULL ? branch : "") == 0;
}

static int
add_tags(struct cleanup_refs *refs, struct lancet_dataset *dataset, struct lancet_error *err)
{
	struct lancet_tag_list tags;
	int rc = LANCET_OK;

	TRY(lancet_dataset_tags(dataset, &tags, err));
	for (size_t i = 0; i < tags.count && rc == LANCET_OK; i++) {
		if (tags.tags[i].code != LANCET_OK)
			rc = lancet_fail(err, tags.tags[i].code, "%s: repair or delete the tag",
				tags.tags[i].error);
		else if (is_named(dataset, tags.tags[i].branch))
			rc = add_needed(refs, tags.tags[i].version, err);
	}
	lancet_tag_list_release(&tags);
	return rc;
}

static int
add_branches(struct cleanup_refs *refs, struct lancet_dataset *dataset, struct lancet_error *err)
{
	struct lancet_branch_list branches;
	int rc = LANCET_OK;

	TRY(lancet_dataset_branches(dataset, &branches, err));
	for (size_t i = 0; i < branches.count && rc == LANCET_OK; i++) {
		const struct lancet_branch *branch = &branches.branches[i];

		if (branch->code != LANCET_OK)
			rc = lancet_fail(err, branch->code, "%s: repair or delete the branch",
				branch->error);
		else if (is_named(dataset, branch->parent))
			rc = add_needed(refs, branch->parent_version, err);
	}
	lancet_branch_list_release(&branches);
	return rc;
}

static int
compare_numbers(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

int
cleanup_refs_load(
	struct cleanup_refs *refs, struct lancet_dataset *dataset, struct lancet_error *err)
{
	refs->count = 0;
	TRY(add_tags(refs, dataset, err));
	TRY(add_branches(refs, dataset, err));
	if (refs->count > 1)
		qsort(refs->versions, refs->count, sizeof(*refs->versions), compare_numbers);
	return LANCET_OK;
}

bool
cleanup_refs_have(const struct cleanup_refs *refs, uint64_t version)
{
	return refs->count > 0 && bsearch(&version, refs->versions, refs->count,
					  sizeof(*refs->versions), compare_numbers) != NULL;
}
