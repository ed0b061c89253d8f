/* Removing a branch: first its file, then what is in its directory.
 *
 * Branches nest by their names only, so the directory of one may lie in that of another: wherever
 * there is a dataset of its own further down, that stays, with the directories on the way. The
 * versions go last: as long as they are there, what a removal has left that was stopped can be
 * removed by doing it again. Format facts: branches.
 */
#include "branch_write.h"

#include <stdio.h>
#include <stdlib.h>

#include <lancet/refs.h>
#include "ref_write.h"
#include "store_write.h"
#include "util/macros.h"

#define DEPTH_MAX 64

/* What still needs the branch, as text. */
static int
list_needs(
	struct lancet_dataset *root, const char *name, struct buf *needs, struct lancet_error *err)
{
	struct lancet_branch_list branches;
	struct lancet_tag_list tags;
	int rc = LANCET_OK;

	TRY(lancet_dataset_branches(root, &branches, err));
	for (size_t i = 0; i < branches.count && rc == LANCET_OK; i++) {
		const struct lancet_branch *branch = &branches.branches[i];

		if (strcmp(branch->name, name) == 0)
			continue;
		if (branch->code != LANCET_OK)
			rc = lancet_fail(
				err, branch->code, "%s: it may need the branch", branch->error);
		else if (branch->parent != NULL && strcmp(branch->parent, name) == 0)
			buf_printf(
				needs, "%sbranch %s", needs->size == 0 ? "" : ", ", branch->name);
	}
	lancet_branch_list_release(&branches);
	TRY(rc);
	TRY(lancet_dataset_tags(root, &tags, err));
	for (size_t i = 0; i < tags.count && rc == LANCET_OK; i++) {
		const struct lancet_tag *tag = &tags.tags[i];

		if (tag->code != LANCET_OK)
			rc = lancet_fail(err, tag->code, "%s: it may be of the branch", tag->error);
		else if (tag->branch != NULL && strcmp(tag->branch, name) == 0)
			buf_printf(needs, "%stag %s", needs->size == 0 ? "" : ", ", tag->name);
	}
	lancet_tag_list_release(&tags);
	return rc;
}

static int
check_not_needed(struct lancet_dataset *root, const char *name, struct lancet_error *err)
{
	struct buf needs = { 0 };
	int rc = list_needs(root, name, &needs, err);

	buf_put_byte(&needs, '\0');
	if (rc == LANCET_OK)
		rc = buf_check(&needs, "refs of a branch", err);
	if (rc == LANCET_OK && needs.size > 1)
		rc = lancet_fail(err, LANCET_BUSY,
			"branch %s is still needed by %.300s: delete that first", name,
			(const char *)needs.data);
	buf_release(&needs);
	return rc;
}

struct names {
	char **list;
	size_t count, capacity;
};

static int
add_name(void *context, const char *name, bool is_dir)
{
	struct names *names = context;

	(void)is_dir;
	if (names->count == names->capacity) {
		size_t more = names->count == 0 ? 32 : 2 * names->count;
		void *grown = reallocarray(names->list, more, sizeof(*names->list));

		if (grown == NULL)
			return LANCET_NO_MEMORY;
		names->list = grown;
		names->capacity = more;
	}
	names->list[names->count] = strdup(name);
	if (names->list[names->count] == NULL)
		return LANCET_NO_MEMORY;
	names->count++;
	return LANCET_OK;
}

static void
names_release(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
}

static int remove_below(struct store *store, const char *path, unsigned depth, bool *ret_empty,
	struct lancet_error *err);

/* Whether a dataset of its own lies in the directory: another branch, or what may become one. */
static int
is_dataset(struct store *store, const char *path, bool *ret_is, struct lancet_error *err)
{
	char versions[STORE_KEY_MAX + 1];
	struct stat st;
	int rc;

	if (snprintf(versions, sizeof(versions), "%s/" VERSIONS_DIR, path) >= (int)sizeof(versions))
		return lancet_fail(err, LANCET_LIMIT, "%s: the path is too long", path);
	rc = store_stat(store, versions, &st, err);
	*ret_is = rc == LANCET_OK && S_ISDIR(st.st_mode);
	if (rc == LANCET_NOT_FOUND && err != NULL)
		*err = (struct lancet_error){ 0 };
	return rc == LANCET_NOT_FOUND ? LANCET_OK : rc;
}

/* A file, a link, or a directory with all that is in it. *ret_gone: nothing had to stay. */
static int
remove_one(struct store *store, const char *path, unsigned depth, bool *ret_gone,
	struct lancet_error *err)
{
	struct lancet_error why = { 0 };
	bool kept = false;
	int rc = store_remove(store, path, &why);

	*ret_gone = true;
	if (rc == LANCET_OK || rc == LANCET_NOT_FOUND)
		return LANCET_OK;
	if (rc != LANCET_CORRUPT) {
		if (err != NULL)
			*err = why;
		return rc;
	}
	TRY(is_dataset(store, path, &kept, err));
	*ret_gone = !kept;
	if (kept)
		return LANCET_OK;
	TRY(remove_below(store, path, depth + 1, ret_gone, err));
	if (!*ret_gone)
		return LANCET_OK;
	rc = store_remove_dir(store, path, err);
	*ret_gone = rc == LANCET_OK;
	return rc;
}

static int
remove_named(struct store *store, const char *path, const struct names *names, bool versions,
	unsigned depth, bool *ret_empty, struct lancet_error *err)
{
	char inner[STORE_KEY_MAX + 1];

	for (size_t i = 0; i < names->count; i++) {
		bool gone;

		if ((strcmp(names->list[i], VERSIONS_DIR) == 0) != versions)
			continue;
		if (snprintf(inner, sizeof(inner), "%s/%s", path, names->list[i]) >=
			(int)sizeof(inner))
			return lancet_fail(err, LANCET_LIMIT, "%s: the path is too long", path);
		TRY(remove_one(store, inner, depth, &gone, err));
		*ret_empty &= gone;
	}
	return LANCET_OK;
}

/* What lies in a directory, versions last. */
static int
remove_below(struct store *store, const char *path, unsigned depth, bool *ret_empty,
	struct lancet_error *err)
{
	struct names names = { 0 };
	int rc;

	if (depth > DEPTH_MAX)
		return lancet_fail(err, LANCET_LIMIT, "%s: nested too deep", path);
	*ret_empty = true;
	rc = store_list(store, path, add_name, &names, err);
	if (rc == LANCET_NO_MEMORY)
		rc = lancet_fail(err, rc, "%s: its names", path);
	if (rc == LANCET_OK)
		rc = remove_named(store, path, &names, false, depth, ret_empty, err);
	if (rc == LANCET_OK)
		rc = remove_named(store, path, &names, true, depth, ret_empty, err);
	names_release(&names);
	return rc;
}

/* The directory and those above it that it leaves empty; what can't be removed is not. */
static void
remove_empty(struct store *store, const char *path)
{
	char dir[STORE_KEY_MAX + 1];
	size_t size = strlen(path);

	for (; size > strlen(BRANCH_TREE); size = store_dir_size(dir)) {
		memcpy(dir, path, size);
		dir[size] = '\0';
		if (store_remove_dir(store, dir, NULL) != LANCET_OK)
			break;
	}
	(void)store_sync_dir(store, BRANCH_TREE, NULL);
}

static int
remove_directory(struct store *store, const char *name, struct lancet_error *err)
{
	char path[STORE_KEY_MAX + 1];
	bool empty = false;
	int rc;

	(void)snprintf(path, sizeof(path), BRANCH_TREE "/%s", name); /* fits: its versions do */
	rc = remove_below(store, path, 1, &empty, err);
	if (rc == LANCET_OK && empty)
		remove_empty(store, path);
	return rc;
}

int
lancet_branch_delete(lancet_dataset *dataset, const char *name, struct lancet_error *err)
{
	struct lancet_dataset *root = dataset_root(dataset);
	struct store *store = dataset_base(root)->store;
	lancet_autofree char *key = NULL;
	bool has_directory = false;
	int rc = LANCET_OK;

	if (!branch_name_is_valid(slice_text(name)))
		return lancet_fail(err, LANCET_INVALID, "\"%.200s\" is no name of a branch", name);
	TRY(branch_find_file(root, name, &key, err));
	TRY(branch_has_directory(root, name, &has_directory, err));
	if (key == NULL && !has_directory)
		return lancet_fail(err, LANCET_NOT_FOUND, "no branch \"%.200s\"", name);
	TRY(check_not_needed(root, name, err));
	if (key != NULL)
		TRY(ref_remove(store, key, err));
	if (has_directory)
		rc = remove_directory(store, name, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc,
			"branch %s is no more, but its directory is: delete it again", name);
	return LANCET_OK;
}
