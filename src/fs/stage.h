/* Staged payloads: the files of `ctl/stage`, kept in a private directory while mounted.
 *
 * Their names are known here only; on disk each has a number. A file that is open stays until it is
 * closed, whatever becomes of its name. All of a stage's bytes together stay below a limit. SPEC
 * section 5. One lock, held for look-ups and for the system calls on these small files' names.
 */
#ifndef FS_STAGE_H
#define FS_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <lancet/error.h>

#define STAGE_FILES_MAX 4096

struct stage;
struct staged; /* an open file */

/* `directory`: where a private one is made when the first file is; NULL: $TMPDIR or /var/tmp. It is
 * opened now. What daemons that were killed left there is removed then, too. */
int stage_new(const char *directory, uint64_t bytes_max, struct stage **ret_stage,
	struct lancet_error *err);
/* Removes all of it. NULL is fine. */
void stage_free(struct stage *stage);

/* `owner` is whose directory the name is in. NOT_FOUND. */
int stage_find(struct stage *stage, const void *owner, const char *name, uint64_t *ret_number,
	struct lancet_error *err);
int stage_stat(
	struct stage *stage, uint64_t number, struct stat *ret_stat, struct lancet_error *err);
/* The name of a file, or the last one it had; false: it is gone. */
bool stage_name(struct stage *stage, uint64_t number, char into[256]);
/* Returns LANCET_OK to go on. Called under the lock. */
typedef int (*stage_sink)(void *context, const char *name, uint64_t number);
int stage_list(struct stage *stage, const void *owner, stage_sink sink, void *context);

/* A new file, open for reading and writing. EXISTS: the name is there. */
int stage_create(struct stage *stage, const void *owner, const char *name, mode_t mode,
	struct staged **ret_staged, struct lancet_error *err);
int stage_open(struct stage *stage, uint64_t number, bool to_write, struct staged **ret_staged,
	struct lancet_error *err);
void staged_close(struct staged *staged);
int staged_fd(const struct staged *staged);
uint64_t staged_number(const struct staged *staged);
/* The whole of it, or an error. os_errno ENOSPC: beyond the limit, and then nothing. */
int staged_write(struct staged *staged, uint64_t offset, const void *bytes, size_t size,
	struct lancet_error *err);

/* What of `wanted` to set. */
enum stage_change { STAGE_SIZE = 1, STAGE_MODE = 2, STAGE_ATIME = 4, STAGE_MTIME = 8 };
int stage_change(struct stage *stage, uint64_t number, unsigned changes, const struct stat *wanted,
	struct lancet_error *err);
/* `number` 0: whatever has the name; else only if it is that file. NOT_FOUND. */
int stage_unlink(struct stage *stage, const void *owner, const char *name, uint64_t number,
	struct lancet_error *err);
/* Replaces `to` unless `exclusive`: EXISTS. */
int stage_rename(struct stage *stage, const void *owner, const char *from, const char *to,
	bool exclusive, struct lancet_error *err);

#endif
