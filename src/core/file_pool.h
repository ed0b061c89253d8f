/* Files that are open only while they are used: a scan may have thousands, a process has few
 * descriptors.
 *
 * A source of the pool opens its file when it is read and closes the one that was read longest ago
 * when too many are open. It belongs to one thread at a time, and all go before the pool does. */
#ifndef CORE_FILE_POOL_H
#define CORE_FILE_POOL_H

#include <lancet/dataset.h>
#include "util/source.h"

struct pool_file;

struct file_pool {
	struct pool_file *newest, *oldest; /* of those that are open, by last use */
	size_t open_count;
	size_t open_max; /* 0: FILE_POOL_OPEN_MAX */
};

#define FILE_POOL_OPEN_MAX 64u

/* Opens the file once, for its size. A file that is gone, or that is another one when it is opened
 * again, is LANCET_IO with EIO. */
int file_pool_open(struct file_pool *pool, const lancet_base *base, const char *path,
	struct source **ret_source, struct lancet_error *err);

#endif
