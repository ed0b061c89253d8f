/* What a node of the tree is: one row of a const table.
 *
 * A new virtual file is one row: its name, its shape and the callback of that shape. lookup, readdir, getattr, open and
 * read are written once (tree.c) against this. Node ids are addresses (addr.h), so rows hold no state.
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
#include "util/buf.h"

struct tree;

/* An address resolved for one call: what render and list callbacks see. */
struct node_ref {
	struct tree *tree;
	const struct node_kind *kind;
	lancet_dataset *dataset; /* main, or the branch of the slot; borrowed for the call */
	lancet_version *version; /* loaded when kind->needs_version; borrowed for the call; else NULL */
	uint64_t number;         /* the slot's version number, readable or not; 0 outside versions */
	uint64_t ordinal;        /* fragment ordinal */
	uint64_t item;           /* which child of a list: overlay, index, map entry, … */
};

/* Lines computed at any offset: a fixed header and `count` records. width > 0: all records have that many bytes and
 * the size is known without rendering; width 0: records vary (the last column is text), and their total size is found by
 * rendering blocks once. render appends records [first, first + count) and is safe from many threads. */
struct records {
	struct buf header;
	uint64_t count;
	size_t width;
	int (*render)(const struct records *records, uint64_t first, size_t count, struct buf *out,
	              struct lancet_error *err);
	void (*release)(struct records *records); /* of state; NULL is fine */
	void *state;
};

enum node_shape {
	SHAPE_DIR,     /* rows, then list */
	SHAPE_TEXT,    /* render: the whole text; size = its length */
	SHAPE_RECORDS, /* measure (when the size is known without opening) and records */
	SHAPE_PASS,    /* file: bytes of a backing file */
	SHAPE_REWRITE, /* rewrite: a live file whose bytes are made (lancet_rewrite) */
	SHAPE_LINK,    /* link: the target's text */
};

/* A listed child: its name (encoded), kind and the two numbers of its address. */
struct node_child {
	const char *name;
	uint8_t kind;     /* enum node_kind_id */
	uint64_t ordinal; /* kept from the parent below fragments */
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
	const char *name;  /* in its parent's rows; NULL for listed children (named by list) */
	enum node_shape shape;
	bool needs_version; /* callbacks want ref->version */
	bool live;          /* never cached by the kernel: latest, tags, listings */
	const uint8_t *rows; /* DIR: kind ids of fixed children, 0-ended; each may be absent (present) */

	bool (*present)(const struct node_ref *ref); /* NULL = always; must be cheap, opens no data file */
	int (*list)(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err);
	/* DIR with list: the child called `name` without listing all; NOT_FOUND. NULL: list and compare. */
	int (*find)(const struct node_ref *ref, const char *name, struct node_child *ret_child,
	            struct lancet_error *err);
	int (*render)(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
	int (*measure)(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err);
	int (*records)(const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
	int (*file)(const struct node_ref *ref, struct node_file *ret_file, struct lancet_error *err);
	int (*link)(const struct node_ref *ref, struct buf *out, struct lancet_error *err);
};

#endif
