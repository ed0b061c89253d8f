/* Pass-through files by number: one kernel node, and so one page cache, for each file of a base.
 *
 * (base, path) is interned for the life of the mount, whatever version or directory a file is
 * reached through; up to 128 bytes for a path of the usual length. What the manifest recorded is
 * kept for a file that the storage has lost: it can be looked up, and opening it is EIO.
 */
#ifndef FS_PASSNODES_H
#define FS_PASSNODES_H

#include <lancet/dataset.h>

struct passnodes;

struct pass_file {
	const lancet_base *base;
	const char *path;       /* borrowed: lives as long as the table */
	uint64_t inode;         /* st_ino */
	uint64_t recorded_size; /* bytes; UINT64_MAX = not recorded */
	struct timespec recorded_time;
};

struct passnodes *passnodes_new(void);
void passnodes_free(struct passnodes *nodes);
/* The number of file->base, file->path; path is copied, inode is made. What is recorded is taken
 * from the first call for a file. */
int passnodes_intern(struct passnodes *nodes, const struct pass_file *file, uint32_t *ret_number,
	struct lancet_error *err);
/* False for a number that was never given. */
bool passnodes_get(struct passnodes *nodes, uint64_t number, struct pass_file *ret_file);

/* The backing file's attributes, with its stable inode number, mtime for ctime and atime, and one
 * link. *ret_lost: the file can't be found, and what is shown is what was recorded. */
int pass_file_stat(const struct pass_file *file, struct stat *ret_stat, bool *ret_lost,
	struct lancet_error *err);

#endif
