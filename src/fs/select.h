/* Which dataset, branch and version a mount or a command shows: the words version=, tag=, asof= and
 * branch=. */
#ifndef FS_SELECT_H
#define FS_SELECT_H

#include <lancet/dataset.h>

struct selection {
	const char *version, *tag, *as_of, *branch; /* NULL = not given */
};

/* Opens the dataset at `path`, or a branch of it. */
int select_dataset(const char *path, const struct selection *selection,
	const struct lancet_dataset_options *options, lancet_dataset **ret_dataset,
	struct lancet_error *err);
/* The chosen version, opened once to see that it can be read; 0 when nothing was chosen. */
int select_version(lancet_dataset *dataset, const struct selection *selection, uint64_t *ret_number,
	struct lancet_error *err);

#endif
