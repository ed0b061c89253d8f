/* What a node of the tree is: one row of a const table.
 *
 * A new virtual file is one row: its name, its shape and the callback of that shape. lookup,
 * readdir, getattr, open and read are written once (tree.c) against this. Node ids are addresses
 * (addr.h), so rows hold no state.
 */
#ifndef FS_NODE_H
#define FS_NODE_H

#include <lancet/column.h>
#include <lancet/dataset.h>
#include <lancet/fragment.h>
#include <lancet/index.h>
#include <lancet/live.h>
#include <lancet/refs.h>
#include <lancet/transaction.h>
#include <lancet/version.h>
#include "handle.h"
#include "slots.h"
#include "util/buf.h"

struct tree;

/* An address resolved for one call: what render and list callbacks see. */
struct node_ref {
	struct tree *tree;
	const struct node_kind *kind;
	lancet_dataset *dataset; /* main, or the branch of the slot; borrowed for the call */
	lancet_version *version; /* loaded when kind->needs_version; borrowed; else NULL */
	uint64_t number;         /* the slot's version number, readable or not; else 0 */
	uint64_t ordinal;        /* fragment ordinal */
	uint64_t item;           /* which child of a list: overlay, index, map entry, … */
	enum slot_flavour flavour;
	const char
		*ref_name; /* the slot's name, encoded: of a tag or branch; borrowed; else NULL */
};

/* Lines computed at any offset: a fixed header and `count` records. width > 0: all records have
 * that many bytes and the size is known without rendering; width 0: records vary (the last column
 * is text), and their total size is found by rendering blocks once. render appends records [first,
 * first + count) and is safe from many threads. */
struct records {
	struct buf header;
	uint64_t count;
	size_t width;
	int (*render)(const struct records *records, uint64_t first, size_t count, struct buf *out,
		struct lancet_error *err);
	void (*release)(struct records *records); /* of state; NULL is fine */
	void *state;
};

/* Bytes of a known size, made or read at any offset on demand. read is safe from many threads and
 * is asked for what lies within size only. */
struct raw_bytes {
	uint64_t size;
	int (*read)(const struct raw_bytes *raw, uint64_t offset, size_t size, void *into,
		struct lancet_error *err);
	void (*release)(struct raw_bytes *raw);
	void *state;
};

enum node_shape {
	SHAPE_DIR,     /* rows, then list, then count and at */
	SHAPE_TEXT,    /* render: the whole text; size = its length */
	SHAPE_RECORDS, /* records, and measure when the size is known without them */
	SHAPE_RAW,  /* raw, and measure likewise; with file: shows the modes and times of that file
		     */
	SHAPE_PASS, /* file: bytes of a backing file; measure: the size recorded for it, UINT64_MAX
		       = none */
	SHAPE_LINK, /* link: the target's text */
	SHAPE_HANDLE, /* open: a file that is written, or that changes while it is open */
};

#define NODE_NAME_SIZE 256 /* bytes of a name with its NUL */

/* A listed child: its name (encoded), kind and the two numbers of its address. */
struct node_child {
	const char *name; /* NULL in a listing: what label gives, made when it is asked for */
	uint8_t kind;     /* enum node_kind_id */
	uint64_t ordinal; /* the fragment, below fragments */
	uint64_t item;
};
/* Returns LANCET_OK to go on; any other code ends the listing and is passed through. */
typedef int (*node_sink)(void *context, const struct node_child *child);

/* Where a pass-through file's bytes are. path is allocated; the callee of `file` hands it over. */
struct node_file {
	const lancet_base *base;
	char *path;
};

struct node_kind {
	uint8_t id;       /* enum node_kind_id; 0 ends a table */
	const char *name; /* in its parent's rows; NULL for listed children (named by label) */
	enum node_shape shape;
	uint8_t parent; /* kind of the directory it is in; rows shared by several say so in place.c
			 */
	bool needs_version; /* callbacks want ref->version */
	bool tries_version; /* DIR: ref->version is NULL when it can't be read */
	bool live;          /* its own entry and attributes are never cached: latest, tags */
	bool live_list;     /* DIR: its children come and go */
	bool backup;        /* below dataset/: shows the write bits that a copy needs */
	bool computed; /* TEXT, RECORDS: too costly for stat, which says 0; read past the page
			  cache */
	bool numbered; /* the name is a number: inode numbers of siblings differ by construction */
	enum lancet_map map; /* of the kinds that show a map */
	const uint8_t
		*rows; /* DIR: kind ids of fixed children, 0-ended; each may be absent (present) */

	bool (*present)(const struct node_ref *ref); /* NULL = always; cheap, opens no data file */
	int (*list)(const struct node_ref *ref, node_sink sink, void *context,
		struct lancet_error *err);
	/* DIR with list: the child called `name` without listing all; NOT_FOUND. NULL: list and
	 * compare. */
	int (*find)(const struct node_ref *ref, const char *name, struct node_child *ret_child,
		struct lancet_error *err);
	/* DIR whose children have an index, for listings too long to be copied. at leaves name
	 * NULL. */
	int (*count)(const struct node_ref *ref, uint64_t *ret_count, struct lancet_error *err);
	void (*at)(const struct node_ref *ref, uint64_t index, struct node_child *ret_child);

	/* Live files that are costly to make: a number that changes whenever their bytes do. */
	int (*stamp)(const struct node_ref *ref, uint64_t *ret_stamp, struct lancet_error *err);
	/* Listed kinds: the name in the parent, from the numbers of the address. */
	int (*label)(
		const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err);
	/* Turns ref into its parent where that takes more than kind->parent. */
	void (*up)(struct node_ref *ref);
	/* Kinds that have a slot of their own: which one, for `child` of the directory `parent`. */
	int (*enter)(const struct node_ref *parent, const struct node_child *child,
		struct slot_key *ret_key, struct lancet_error *err);

	int (*render)(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
	int (*measure)(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err);
	int (*records)(
		const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
	int (*raw)(const struct node_ref *ref, struct raw_bytes *ret_raw, struct lancet_error *err);
	int (*file)(
		const struct node_ref *ref, struct node_file *ret_file, struct lancet_error *err);
	int (*link)(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
	int (*open)(const struct node_ref *ref, bool to_write, struct node_handle *ret_handle,
		struct lancet_error *err);
	/* Corrects what is shown of it: modes, times, the owner. */
	int (*attributes)(const struct node_ref *ref, struct stat *st, struct lancet_error *err);
};

#endif
