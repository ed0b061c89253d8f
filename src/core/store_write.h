/* Writing to a store: new files, final names, directories, and what makes them durable.
 *
 * A file is written once, from its beginning, under a name nobody looks for (store_temporary_key),
 * and then gets its final name by store_link or store_rename; publish.h does all of it. What was
 * written is durable after store_writer_sync, a name after store_sync_dir of its directory.
 *
 * Keys are those of store.h, and so is what the directories in them may be; the last part is never
 * followed when it is a symbolic link. Owner, group and permissions of what is made come from the
 * directory and the umask. Besides what is said below, everything can fail with
 *   NOT_FOUND  the directory of a key does not exist
 *   CORRUPT    as for reading
 *   READ_ONLY  the file system, or a store that knows no writing
 *   DENIED     no permission
 *   IO         anything else; os_errno keeps ENOSPC, EDQUOT, EIO, …
 * and its text names the key.
 */
#ifndef CORE_STORE_WRITE_H
#define CORE_STORE_WRITE_H

#include "store.h"

struct store_writer;

struct store_writer_ops {
	int (*put)(struct store_writer *writer, const struct slice *parts, size_t count,
		struct lancet_error *err);
	int (*sync)(struct store_writer *writer, struct lancet_error *err);
	int (*close)(struct store_writer *writer, struct lancet_error *err);
};

struct store_writer {
	const struct store_writer_ops *ops;
};

struct store_write_ops {
	int (*create)(struct store *store, const char *key, struct store_writer **ret_writer,
		struct lancet_error *err);
	int (*link)(
		struct store *store, const char *from, const char *to, struct lancet_error *err);
	int (*rename)(
		struct store *store, const char *from, const char *to, struct lancet_error *err);
	int (*remove)(struct store *store, const char *key, struct lancet_error *err);
	int (*make_dir)(struct store *store, const char *key, struct lancet_error *err);
	int (*remove_dir)(struct store *store, const char *key, struct lancet_error *err);
	int (*sync_dir)(struct store *store, const char *key, struct lancet_error *err);
};

/* A new file. EXISTS when the name is taken, by a dangling link too. The writer may outlive the
 * caller's reference of the store. */
int store_create(struct store *store, const char *key, struct store_writer **ret_writer,
	struct lancet_error *err);
/* Appends the parts, all or an error; after one, the file holds any part of them. */
int store_writer_put_parts(struct store_writer *writer, const struct slice *parts, size_t count,
	struct lancet_error *err);
int store_writer_put(struct store_writer *writer, struct slice bytes, struct lancet_error *err);
/* Everything put so far survives a loss of power, under a name that does. After a failure nothing
 * is known of the bytes, and trying again proves nothing: the file must be given up. */
int store_writer_sync(struct store_writer *writer, struct lancet_error *err);
/* Frees the writer in any case; NULL is fine. Its failure is one of the bytes put since the last
 * sync. */
int store_writer_close(struct store_writer *writer, struct lancet_error *err);

/* Gives the file `from` the name `to` and takes the old one away, in one step for everybody who
 * looks at `to`: EXISTS when that is taken, and nothing has changed; it is never replaced. The
 * answer is right even when the reply of the storage was lost on its way. `from` may stay when
 * it can't be removed. UNSUPPORTED when the storage has no such step. */
int store_link(struct store *store, const char *from, const char *to, struct lancet_error *err);
/* The same in the place of the file that has the name, if one does. */
int store_rename(struct store *store, const char *from, const char *to, struct lancet_error *err);
/* A file's name. CORRUPT for a directory. */
int store_remove(struct store *store, const char *key, struct lancet_error *err);

/* Makes a directory and those it lies in; those that exist are fine. `durable`: their names are,
 * afterwards, also when somebody else has made them a moment ago. CORRUPT when one is a file. */
int store_make_dir(struct store *store, const char *key, bool durable, struct lancet_error *err);
/* One directory in one that exists; EXISTS when the name is taken. */
int store_make_one_dir(struct store *store, const char *key, struct lancet_error *err);
/* BUSY when it is not empty. */
int store_remove_dir(struct store *store, const char *key, struct lancet_error *err);
/* Makes durable what has become of the names in a directory; "" is the root. */
int store_sync_dir(struct store *store, const char *key, struct lancet_error *err);

/* Makes a file that somebody else has written durable, with its name and the directories it lies
 * in: before what will point to it is. */
int store_keep(struct store *store, const char *key, struct lancet_error *err);

/* OK when store_link works here, tried out with temporary files in the directory `dir` ("" is the
 * root) which must exist; UNSUPPORTED, naming what is missing. The answer of the first time is
 * kept. Other failures (a full or read-only file system) are not. */
int store_can_publish(struct store *store, const char *dir, struct lancet_error *err);

/* "DIR/.tmp-UUID": a fresh name in the directory. The reference's cleanup removes such files from
 * data and _versions, nobody takes them for anything else. dir_size bytes of dir count. */
int store_temporary_key(
	const char *dir, size_t dir_size, char into[STORE_KEY_MAX + 1], struct lancet_error *err);

/* Size of the directory part of a key; 0 for one that lies in the root. */
static inline size_t
store_dir_size(const char *key)
{
	const char *slash = strrchr(key, '/');

	return slash == NULL ? 0 : (size_t)(slash - key);
}

#endif
