/* A place: a node that was found, with all that its callbacks want to see; and the tree that it is
 * in.
 *
 * Places are made from a node id or from a directory and one of its children, live for one call or
 * as long as an open directory, and count what they refer to.
 */
#ifndef FS_PLACE_H
#define FS_PLACE_H

#include <pthread.h>
#include <stdatomic.h>

#include "addr.h"
#include "inode.h"
#include "kind_table.h"
#include "node.h"
#include "passnodes.h"
#include "records.h"
#include "textcache.h"
#include "tree.h"

/* A branch that was looked at: kept open, because files of its base are known by it. */
struct tree_branch {
	lancet_dataset *dataset; /* counted */
	uint64_t current;        /* what its current/ shows; 0 = not decided yet */
	struct tree_branch *next;
};

#define TREE_LIVES 4

/* Something open that must not be moved away from under its user. */
struct tree_opened {
	const lancet_dataset *dataset; /* of current/, if it is below that */
	uint64_t pass;                 /* number of a pass-through file, + 1; 0: is none */
	struct tree_opened *next, *previous;
};

struct tree {
	lancet_dataset *dataset; /* counted */
	struct tree_options options;
	struct slots *slots;
	struct passnodes *passnodes;
	struct textcache *texts;
	struct stat owner;    /* the dataset's directory: whose all that is rendered is */
	struct control *control; /* borrowed; NULL: there is no ctl/ */
	pthread_mutex_t lock; /* of what follows; a leaf, never held over I/O */
	uint64_t current;
	uint32_t view_slot; /* view=dataset: the counted slot of the root */
	struct tree_branch *branches;
	struct tree_opened *opened;
	struct tree_live {               /* live files used last, newest first */
		lancet_version *version; /* kept alive by live */
		lancet_live *live;       /* counted */
	} lives[TREE_LIVES];
	struct { /* what statvfs found out last */
		uint64_t version, bytes, files;
	} live;
};

struct place {
	struct addr addr;
	struct node_ref ref; /* dataset and version are counted; use place_release */
	uint32_t generation;
};

/* The node of an id. LANCET_CLEANED when its version is gone, or its slot. */
int place_resolve(
	struct tree *tree, uint64_t node, struct place *ret_place, struct lancet_error *err);
void place_release(struct place *place);
/* Whether a failure is the fault of what was looked at. It isn't when the version was removed, nor
 * when the daemon is short of memory or descriptors: then nothing may be told of the file. */
bool place_fails_itself(const struct lancet_error *why);
/* Before looking into a directory that tries its version: loads it, or leaves NULL when it can't be
 * read. Looking at such a directory from outside opens no manifest. */
int place_try_version(struct place *place, struct lancet_error *err);

/* `child` of directory `dir`, counted as one lookup: undone with place_uncount. */
int place_enter(const struct place *dir, const struct node_child *child, struct place *ret_place,
	struct lancet_error *err);
void place_uncount(const struct place *place);
/* The child of that name; ret_child->name is `name`. NOT_FOUND. */
int place_find(const struct place *dir, const char *name, struct node_child *ret_child,
	struct lancet_error *err);
/* Whether the row is in this directory now. */
bool place_has_row(const struct place *dir, const struct node_kind *row);
/* What a child's callbacks see while it has no place of its own. */
struct node_ref place_child_ref(const struct place *dir, const struct node_child *child);
/* The name of a listed child: its own, or its label, made in `into`. */
int place_child_name(const struct place *dir, const struct node_child *child,
	char into[NODE_NAME_SIZE], const char **ret_name, struct lancet_error *err);

/* False for what the kernel must ask again each time. */
bool place_is_immutable(const struct place *place);
/* A directory whose names, and the absence of others, are for ever. */
bool place_never_changes(const struct place *dir);
/* view=dataset without a chosen version: the root is another version's after tree_use. */
bool place_is_movable_root(const struct place *dir);
int place_node(const struct place *place, uint64_t *ret_node, struct lancet_error *err);
/* The key of what is rendered for it. False: it changes, and nothing may be kept. */
bool place_key(const struct place *place, uint64_t node, struct text_key *ret_key);

/* st_ino along the path, and of a child of a directory whose own number is `dir_inode`. */
int place_inode(const struct place *place, uint64_t *ret_inode, struct lancet_error *err);
/* st_ino of the directory that `dir`, a directory, is in; the root is in itself. */
int place_parent_inode(const struct place *dir, uint64_t *ret_inode, struct lancet_error *err);
int place_child_inode(const struct place *dir, uint64_t dir_inode, const struct node_child *child,
	const char *name, uint64_t *ret_inode, struct lancet_error *err);
/* Where the bytes of a pass-through place are: from the table or the manifest. path is allocated.
 */
int place_file(const struct place *place, struct node_file *ret_file, struct lancet_error *err);

/* The branch of that name, kept open by the tree. */
int tree_branch_open(
	struct tree *tree, const char *name, lancet_dataset **ret_branch, struct lancet_error *err);
/* What current/ of the tree or of a branch shows: frozen when first asked for. */
int tree_current_of(
	struct tree *tree, lancet_dataset *dataset, uint64_t *ret_number, struct lancet_error *err);
/* The live files of a version: exact but for its tag files, which may have changed since. */
int tree_live(struct tree *tree, lancet_version *version, lancet_live **ret_live,
	struct lancet_error *err);
/* Notes that a place was opened, and that it was closed. Only what may be below current/ is. */
void tree_note_open(struct tree *tree, const struct place *place, struct tree_opened *opened);
void tree_note_close(struct tree *tree, struct tree_opened *opened);
/* The version's timestamp, or its manifest's mtime when that is absurd. */
struct timespec version_time(const lancet_version *version);

/* The text of a TEXT place, rendered or from the cache. */
int place_text(
	const struct place *place, uint64_t node, struct text **ret_text, struct lancet_error *err);
/* The exact size of any file or link. */
int place_size(
	const struct place *place, uint64_t node, uint64_t *ret_size, struct lancet_error *err);
/* Attributes and node id; counts nothing. */
int place_stat(const struct place *place, struct tree_entry *ret_entry, struct lancet_error *err);

/* Opens it; tree_close ends it. */
int place_open(const struct place *place, bool to_write, struct tree_file **ret_file,
	struct lancet_error *err);
/* An open file that has this handle, which it then closes. NULL: no memory. */
struct tree_file *tree_file_of_handle(
	const struct place *place, const struct node_handle *handle);

#define RENDERED_SIZE_MAX (64u << 20) /* bytes of one text */

/* A refusal with an errno of its own. */
int fail_errno(struct lancet_error *err, int os_errno, const char *text);

#endif
