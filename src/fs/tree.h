/* The tree without libfuse: what the daemon's operations and `lancet show` are written against.
 *
 * Node ids are addresses; only pass-through files and slots are interned. Thread-safe. Entries are
 * counted through lookup and forget as the kernel does; `lancet show` may simply never forget.
 */
#ifndef FS_TREE_H
#define FS_TREE_H

#include <lancet/dataset.h>

struct tree;
struct control;
struct control_handle;
struct node_handle;

struct tree_options {
	bool set_uid, set_gid, set_umask;
	uid_t uid;
	gid_t gid;
	mode_t umask;
	bool view_dataset;        /* the root is current/dataset itself */
	uint64_t current_version; /* what current/ shows; 0 = the newest readable one when the tree
				     is made */
	uint64_t cache_bytes;     /* budget for rendered text */
};

struct tree_entry {
	uint64_t node;
	uint64_t generation;
	struct stat st; /* st_ino is the stable hash of SPEC 6, not the node id */
	bool immutable; /* entry and attributes may be cached for ever */
};

#define TREE_ROOT UINT64_C(1)

/* Takes a reference to dataset (main or a branch). Fails when no version can be read. */
int tree_new(lancet_dataset *dataset, const struct tree_options *options, struct tree **ret_tree,
	struct lancet_error *err);
void tree_free(struct tree *tree);

/* One lookup is counted on success (not for TREE_ROOT). NOT_FOUND: *ret_negative_for_ever says
 * whether the kernel may remember the absence. */
int tree_lookup(struct tree *tree, uint64_t parent, const char *name, struct tree_entry *ret_entry,
	bool *ret_negative_for_ever, struct lancet_error *err);
void tree_forget(struct tree *tree, uint64_t node, uint64_t lookups);
int tree_getattr(
	struct tree *tree, uint64_t node, struct tree_entry *ret_entry, struct lancet_error *err);
int tree_readlink(
	struct tree *tree, uint64_t node, char *into, size_t size, struct lancet_error *err);

/* An open directory: a listing taken at opendir (names and addresses; attributes are made as they
 * are read). */
struct tree_dir;
int tree_opendir(
	struct tree *tree, uint64_t node, struct tree_dir **ret_dir, struct lancet_error *err);
bool tree_dir_is_immutable(const struct tree_dir *dir);
uint64_t tree_dir_count(const struct tree_dir *dir); /* without . and .. */
/* st_ino of "." and of ".."; at the root both are its own. */
uint64_t tree_dir_inode(const struct tree_dir *dir);
uint64_t tree_dir_parent_inode(const struct tree_dir *dir);
/* Child `index`: name borrowed from dir; d_type and st_ino in *ret_entry are exact; with want_stat
 * all of st is filled and one lookup is counted, so that readdirplus can hand the node to the
 * kernel. */
int tree_dir_entry(struct tree_dir *dir, uint64_t index, bool want_stat, const char **ret_name,
	struct tree_entry *ret_entry, struct lancet_error *err);
void tree_dir_close(struct tree_dir *dir);

/* An open file: a counted snapshot. Reading takes no lock. */
struct tree_file;
int tree_open(
	struct tree *tree, uint64_t node, struct tree_file **ret_file, struct lancet_error *err);
int tree_file_fd(const struct tree_file *file); /* pass-through: the backing descriptor; else -1 */
uint64_t tree_file_size(const struct tree_file *file);
bool tree_file_is_immutable(const struct tree_file *file);
/* Its attributes say 0 bytes: it has to be read until the end, whatever they say. */
bool tree_file_is_computed(const struct tree_file *file);
/* *ret_got < size only at the end of the file. */
int tree_read(struct tree_file *file, uint64_t offset, size_t size, void *into, size_t *ret_got,
	struct lancet_error *err);
void tree_close(struct tree_file *file);

/* The open file is written or changes while it is open: what it is then; else NULL. */
const struct node_handle *tree_file_handle(const struct tree_file *file);
/* Of an open control file; else NULL. */
struct control_handle *tree_control_handle(const struct tree_file *file);

/* ctl/ and what can be changed there. The tree shows it from then on; `control` is borrowed. */
void tree_set_control(struct tree *tree, struct control *control);
struct control *tree_control(const struct tree *tree);
lancet_dataset *tree_dataset(const struct tree *tree); /* borrowed */
/* Whether it is below ctl/: what is refused there is EPERM, and EROFS elsewhere. */
bool tree_is_control(uint64_t node);
/* As tree_open, to write, too. os_errno says what else it is than a file that can be written. */
int tree_open_to_write(
	struct tree *tree, uint64_t node, struct tree_file **ret_file, struct lancet_error *err);
/* A staged file. One lookup is counted. EXISTS */
int tree_create(struct tree *tree, uint64_t parent, const char *name, mode_t mode,
	struct tree_entry *ret_entry, struct tree_file **ret_file, struct lancet_error *err);
int tree_remove(struct tree *tree, uint64_t parent, const char *name, struct lancet_error *err);
int tree_rename(struct tree *tree, uint64_t from, const char *old_name, uint64_t to,
	const char *new_name, bool exclusive, struct lancet_error *err);
/* What stat(2) shows is to become `wanted`, as far as `changes` (of enum stage_change) says. */
int tree_change(struct tree *tree, uint64_t node, unsigned changes, const struct stat *wanted,
	struct lancet_error *err);
int tree_write(struct tree_file *file, uint64_t offset, const void *bytes, size_t size,
	struct lancet_error *err);

/* Moves current/ of `dataset`, the tree's or a branch. BUSY: something below it is open, and not
 * `force`. */
int tree_move(struct tree *tree, lancet_dataset *dataset, uint64_t number, bool force,
	uint64_t *ret_before, struct lancet_error *err);
/* What the kernel must be told of when versions came or went: `name` in directory `parent` is not
 * what it was; or, without a name, the attributes of `parent`. */
typedef void (*tree_notice)(void *context, uint64_t parent, const char *name);
void tree_tell_moved(
	struct tree *tree, lancet_dataset *dataset, tree_notice notice, void *context);
void tree_tell_changed(
	struct tree *tree, lancet_dataset *dataset, tree_notice notice, void *context);
/* Looks for each version and branch that the kernel may know whether it is still there. */
void tree_tell_removed(struct tree *tree, tree_notice notice, void *context);

/* Moves current/ to `number`, 0 = the newest readable version. */
int tree_use(struct tree *tree, uint64_t number, uint64_t *ret_moved_to, struct lancet_error *err);
uint64_t tree_current(struct tree *tree);
int tree_statvfs(struct tree *tree, struct statvfs *ret_stat, struct lancet_error *err);
/* The path of a node for messages ("versions/3/fragments/7"), best effort. */
void tree_path(struct tree *tree, uint64_t node, char *into, size_t size);

#endif
