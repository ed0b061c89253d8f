/* st_ino: a stable 63-bit number of what a node is (SPEC section 6); never 0 or 1.
 *
 * A pass-through file's number comes from its base and path alone, the same in every version, mount
 * and run. All others are hashed along their path from the root, so below current/ no version is in
 * them. Numbered children (versions, fragments) get numbers that differ by construction; for named
 * ones inode_settle makes them differ inside one directory.
 */
#ifndef FS_INODE_H
#define FS_INODE_H

#include "util/slice.h"

/* Where paths begin. */
uint64_t inode_root(void);
uint64_t inode_named(uint64_t parent, struct slice name);
/* number < 2^63; siblings never share a result. */
uint64_t inode_numbered(uint64_t parent, uint64_t number);
uint64_t inode_file(const char *base_identity, const char *path);

struct inode_child {
	const char *name;
	uint64_t inode;
};

/* Makes the numbers of one directory's children differ: of those that clash, the first name in byte
 * order keeps its number and the others are hashed again with a counter. Sorts children by name.
 * Returns how many numbers it changed. */
size_t inode_settle(struct inode_child *children, size_t count);

#endif
