/* Tags and branches. Format facts: tags, branches, clone. Refs lie below the root, never below a
 * branch. */
#ifndef LANCET_REFS_H
#define LANCET_REFS_H

#include "dataset.h"

struct lancet_tag {
	char *name;
	char *key; /* its file below the root: "_refs/tags/v1.json" */
	bool has_branch;
	char *branch; /* NULL = main */
	uint64_t version;
	uint64_t manifest_size;
	struct stat file_stat;
	int code; /* LANCET_OK, or why the file can't be read */
	char error[200];
};
struct lancet_tag_list {
	struct lancet_tag *tags;
	size_t count;
};

/* All tags of the root in byte order, those of branches included; a damaged tag is listed with its
 * code. */
LANCET_API int lancet_dataset_tags(
	lancet_dataset *dataset, struct lancet_tag_list *ret_tags, struct lancet_error *err);
LANCET_API void lancet_tag_list_release(struct lancet_tag_list *list);
LANCET_API int lancet_dataset_tag(lancet_dataset *dataset, struct lancet_bytes name,
	struct lancet_tag_list *ret_one, struct lancet_error *err);

struct lancet_branch {
	char *name;                          /* "a/b", decoded from the file name */
	char *parent;                        /* NULL = main */
	uint64_t parent_version, created_at; /* created_at: seconds since 1970 */
	uint64_t manifest_size;
	struct stat file_stat;
	int code; /* as in lancet_tag: hostile names, cycles of parents, missing directory */
	char error[200];
};
struct lancet_branch_list {
	struct lancet_branch *branches;
	size_t count;
};

LANCET_API int lancet_dataset_branches(
	lancet_dataset *dataset, struct lancet_branch_list *ret_branches, struct lancet_error *err);
LANCET_API void lancet_branch_list_release(struct lancet_branch_list *list);

#endif
