/* Branches. Format facts: branches.
 *
 * A branch is a file of its own and a directory tree/NAME. What is wrong with either is kept
 * with the branch, so that one damaged branch is listed and fails alone. Parents are only names:
 * one that is gone is no damage, but branches that are their own ancestors are.
 */
#include <lancet/refs.h>

#include "dataset.h"
#include "refs.h"
#include "util/json.h"
#include "util/macros.h"

#include <stdlib.h>
#include <string.h>

#define TREE_DIR    "tree/"
#define PARENTS_MAX 1000 /* beyond these a cycle that leads back is not looked for */

static void
branch_release(struct lancet_branch *branch)
{
	free(branch->name);
	free(branch->parent);
}

void
lancet_branch_list_release(struct lancet_branch_list *list)
{
	if (list == NULL)
		return;
	for (size_t i = 0; i < list->count; i++)
		branch_release(&list->branches[i]);
	free(list->branches);
	*list = (struct lancet_branch_list){ 0 };
}

static void
branch_fail(struct lancet_branch *branch, int code, const char *text)
{
	struct lancet_error why = { 0 };

	(void)lancet_fail(&why, code, "%s", text);
	ref_keep_error(&why, code, &branch->code, branch->error, sizeof(branch->error));
}

static int
branch_parse(struct json_object *root, struct lancet_branch *branch, struct lancet_error *err)
{
	TRY(json_get_u64(root, "parentVersion", &branch->parent_version, err));
	TRY(ref_get_u64(root, "createAt", &branch->created_at, err));
	TRY(ref_get_u64(root, "manifestSize", &branch->manifest_size, err));
	TRY(ref_get_text(root, "parentBranch", &branch->parent, err));
	if (branch->parent != NULL && !branch_name_is_valid(slice_text(branch->parent)))
		return lancet_fail(err, LANCET_CORRUPT, "\"parentBranch\" is no name of a branch");
	return LANCET_OK;
}

static int
directory_check(struct store *store, const char *name, struct lancet_error *err)
{
	struct buf path = { 0 };
	struct stat st = { 0 };
	int rc;

	buf_put_text(&path, TREE_DIR);
	buf_put_text(&path, name);
	buf_put_byte(&path, '\0');
	rc = buf_check(&path, "branch", err);
	if (rc == LANCET_OK)
		rc = store_stat(store, (const char *)path.data, &st, err);
	buf_release(&path);
	if (rc == LANCET_NOT_FOUND || (rc == LANCET_OK && !S_ISDIR(st.st_mode)))
		return lancet_fail(err, LANCET_CORRUPT, "the directory " TREE_DIR "%s is missing",
		                   name);
	return rc;
}

/* Fills all but the name; what is wrong goes into the branch itself. */
static void
branch_load(struct store *store, const char *key, bool is_valid, struct lancet_branch *branch)
{
	struct json_object *root = NULL;
	struct lancet_error why = { 0 };
	int rc = ref_load(store, key, &root, &branch->file_stat, &why);

	if (rc == LANCET_OK)
		rc = branch_parse(root, branch, &why);
	json_free(root);
	if (rc == LANCET_OK && !is_valid)
		rc = lancet_fail(&why, LANCET_CORRUPT, "not a valid name of a branch");
	if (rc == LANCET_OK)
		rc = directory_check(store, branch->name, &why);
	if (rc == LANCET_OK)
		return;
	(void)lancet_wrap(&why, rc, "%s", key);
	ref_keep_error(&why, rc, &branch->code, branch->error, sizeof(branch->error));
}

/* The branch of one file. NO_MEMORY only: all else is the branch's own trouble. */
static int
branch_of_stem(struct store *store, const char *stem, struct lancet_branch *ret_branch,
               struct lancet_error *err)
{
	lancet_autofree char *key = ref_key_of_stem(REFS_BRANCHES, stem);
	struct lancet_branch branch = { 0 };
	bool decoded = false;

	branch.name = ref_stem_name(stem, &decoded);
	if (key == NULL || branch.name == NULL) {
		free(branch.name);
		return lancet_fail(err, LANCET_NO_MEMORY, "branch %s", stem);
	}
	branch_load(store, key, decoded && branch_name_is_valid(slice_text(branch.name)), &branch);
	*ret_branch = branch;
	return LANCET_OK;
}

static int
compare_branches(const void *left, const void *right)
{
	return strcmp(((const struct lancet_branch *)left)->name,
	              ((const struct lancet_branch *)right)->name);
}

/* Sorts. Files whose names decode to the same are one entry, which is refused. */
static void
branches_sort(struct lancet_branch_list *list)
{
	size_t kept = 0;

	if (list->count == 0)
		return;
	qsort(list->branches, list->count, sizeof(*list->branches), compare_branches);
	for (size_t i = 1; i < list->count; i++) {
		struct lancet_branch *last = &list->branches[kept];

		if (strcmp(last->name, list->branches[i].name) != 0) {
			list->branches[++kept] = list->branches[i];
			continue;
		}
		branch_fail(last, LANCET_CORRUPT, REFS_BRANCHES ": two files give this name");
		branch_release(&list->branches[i]);
	}
	list->count = kept + 1;
}

/* Marks the branches that are their own ancestors. Each is walked over once: `seen` holds the
 * number of the walk that reached it first, so a walk that meets itself has found a cycle. */
static int
cycles_mark(struct lancet_branch_list *list, struct lancet_error *err)
{
	lancet_autofree size_t *seen = calloc(list->count + 1, sizeof(*seen));

	if (seen == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu branches", list->count);
	for (size_t walk = 1; walk <= list->count; walk++) {
		struct lancet_branch *at = &list->branches[walk - 1];
		struct lancet_branch *start;

		while (at != NULL && seen[at - list->branches] == 0) {
			struct lancet_branch wanted = { .name = at->parent };

			seen[at - list->branches] = walk;
			at = wanted.name == NULL ? NULL
			                         : bsearch(&wanted, list->branches, list->count,
			                                   sizeof(wanted), compare_branches);
		}
		if (at == NULL || seen[at - list->branches] != walk)
			continue;
		start = at;
		do {
			struct lancet_branch wanted = { .name = at->parent };

			branch_fail(at, LANCET_CORRUPT, "the branch is its own ancestor");
			at = bsearch(&wanted, list->branches, list->count, sizeof(wanted),
			             compare_branches);
		} while (at != start);
	}
	return LANCET_OK;
}

static int
branches_load(struct store *store, const struct ref_stems *stems, struct lancet_branch_list *list,
              struct lancet_error *err)
{
	list->branches = calloc(stems->count + 1, sizeof(*list->branches));
	if (list->branches == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu branches", stems->count);
	for (size_t i = 0; i < stems->count; i++) {
		struct lancet_branch *branch = &list->branches[list->count];

		TRY(branch_of_stem(store, stems->stems[i], branch, err));
		if (branch->code == LANCET_NOT_FOUND) /* deleted since the directory was read */
			branch_release(branch);
		else
			list->count++;
	}
	branches_sort(list);
	return cycles_mark(list, err);
}

int
lancet_dataset_branches(lancet_dataset *dataset, struct lancet_branch_list *ret_branches,
                        struct lancet_error *err)
{
	struct store *store = dataset_base(dataset_root(dataset))->store;
	struct lancet_branch_list list = { 0 };
	struct ref_stems stems;
	int rc;

	TRY(ref_stems_list(store, REFS_BRANCHES, &stems, err));
	rc = branches_load(store, &stems, &list, err);
	ref_stems_release(&stems);
	if (rc != LANCET_OK) {
		lancet_branch_list_release(&list);
		return rc;
	}
	*ret_branches = list;
	return LANCET_OK;
}

/* The way of finding names that no writer spells so: look at all of them. */
static int
check_by_list(struct lancet_dataset *root, struct slice name, struct lancet_error *err)
{
	struct lancet_branch_list list;
	int rc = LANCET_NOT_FOUND;

	TRY(lancet_dataset_branches(root, &list, err));
	for (size_t i = 0; i < list.count && rc == LANCET_NOT_FOUND; i++) {
		const struct lancet_branch *branch = &list.branches[i];

		if (!slice_equal(slice_text(branch->name), name))
			continue;
		rc = branch->code;
		if (rc != LANCET_OK)
			(void)lancet_fail(err, rc, "%s", branch->error);
		break;
	}
	lancet_branch_list_release(&list);
	if (rc == LANCET_NOT_FOUND)
		return lancet_fail(err, rc, "no branch \"%.*s\"",
		                   (int)(name.size > 255 ? 255 : name.size),
		                   (const char *)name.data);
	return rc;
}

/* The parent of `name` from its file, NULL when it has none or it can't be told. */
static char *
parent_of(struct store *store, const char *name)
{
	lancet_autofree char *key = ref_key_of_name(REFS_BRANCHES, slice_text(name));
	struct lancet_branch branch = { 0 };
	struct json_object *root = NULL;

	if (key == NULL || ref_load(store, key, &root, &branch.file_stat, NULL) != LANCET_OK)
		return NULL;
	if (branch_parse(root, &branch, NULL) != LANCET_OK) {
		free(branch.parent);
		branch.parent = NULL;
	}
	json_free(root);
	return branch.parent;
}

static bool
is_own_ancestor(struct store *store, const struct lancet_branch *branch)
{
	char *at = branch->parent != NULL ? strdup(branch->parent) : NULL;
	bool found = false;

	for (int i = 0; at != NULL && !found && i < PARENTS_MAX; i++) {
		char *parent;

		found = strcmp(at, branch->name) == 0;
		parent = found ? NULL : parent_of(store, at);
		free(at);
		at = parent;
	}
	free(at);
	return found;
}

int
branch_check(struct lancet_dataset *root, struct slice name, struct lancet_error *err)
{
	struct store *store = dataset_base(root)->store;
	lancet_autofree char *key = NULL;
	struct lancet_branch branch = { 0 };
	int rc = LANCET_OK;

	if (!branch_name_is_valid(name))
		return check_by_list(root, name, err);
	key = ref_key_of_name(REFS_BRANCHES, name);
	branch.name = strndup((const char *)name.data, name.size);
	if (key == NULL || branch.name == NULL) {
		branch_release(&branch);
		return lancet_fail(err, LANCET_NO_MEMORY, "a branch");
	}
	branch_load(store, key, true, &branch);
	if (branch.code == LANCET_OK && is_own_ancestor(store, &branch))
		branch_fail(&branch, LANCET_CORRUPT, "the branch is its own ancestor");
	if (branch.code == LANCET_NOT_FOUND)
		rc = check_by_list(root, name, err);
	else if (branch.code != LANCET_OK)
		rc = lancet_fail(err, branch.code, "%s", branch.error);
	branch_release(&branch);
	return rc;
}
