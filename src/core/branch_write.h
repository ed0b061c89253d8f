/* Parts of making and removing branches. Format facts: branches, clone. */
#ifndef CORE_BRANCH_WRITE_H
#define CORE_BRANCH_WRITE_H

#include <lancet/reference.h>
#include "dataset.h"

#define BRANCH_TREE "tree"

/* The key of the branch's file, however its name is spelt there; NULL in *ret_key when there is
 * none. Allocated. */
int branch_find_file(
	struct lancet_dataset *root, const char *name, char **ret_key, struct lancet_error *err);
/* Whether there is a dataset in the branch's directory, with or without a file of the branch. */
int branch_has_directory(
	struct lancet_dataset *root, const char *name, bool *ret_has, struct lancet_error *err);
/* Writes the file of the branch `name` made from the version of `source`, whose manifest has so
 * many bytes. EXISTS. */
int branch_file_create(struct lancet_dataset *source, const char *name, uint64_t version,
	uint64_t manifest_size, struct lancet_error *err);

#endif
