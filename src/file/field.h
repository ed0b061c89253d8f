/* The tree of fields that is read: Arrow types with names, as data files and manifests store them.
 *
 * It is built once from a flat list of stored fields (depth first, told by parent ids) and never
 * changes. Fields that a type implies but that are not stored, such as the item of a fixed-size
 * list of numbers, the values of a dictionary, or the parts of a blob's description, have nodes of
 * their own with id FIELD_NO_ID. Format facts: schema to columns, logical types.
 */
#ifndef FILE_FIELD_H
#define FILE_FIELD_H

#include <lancet/error.h>
#include "util/arena.h"
#include "util/slice.h"

struct Lance__File__Field;

#define FIELD_NO_ID     INT32_MIN
#define FIELD_DEPTH_MAX 100u
/* A name or logical type for "%.*s" in messages, which don't get long by it. */
#define FIELD_TEXT(text) ((text).size > 60 ? 60 : (int)(text).size), (const char *)(text).data

enum field_kind {
	FIELD_NULL,       /* no storage */
	FIELD_FIXED,      /* `bits` for each value: 1, or a multiple of 8 */
	FIELD_VARIABLE,   /* offsets and bytes: text, binary */
	FIELD_LIST,       /* one child; `large` */
	FIELD_FIXED_LIST, /* one child, `dimension` of it for each value */
	FIELD_STRUCT,     /* any number of children */
	FIELD_MAP,        /* one child: the entries, a struct of key and value */
	FIELD_DICTIONARY, /* keys of `bits`; one child: the values */
};

enum field_blob { FIELD_NO_BLOB, FIELD_BLOB_V1, FIELD_BLOB_V2 };

struct field_entry {
	struct slice key, value;
};

struct field {
	enum field_kind kind;
	uint32_t ordinal; /* place in the tree, depth first; < field_tree.count */
	int32_t id;       /* stored, or FIELD_NO_ID */
	struct slice name, logical_type;
	const char *format; /* of the Arrow C Data Interface: "L", "tsu:+08:00", "w:16", "+s" … */
	uint32_t bits;
	uint64_t dimension;
	bool large; /* VARIABLE, LIST: 64-bit offsets in Arrow and in the file */
	bool nullable;
	bool packed;    /* STRUCT: its children share one column */
	bool is_signed; /* FIXED integers, keys of a DICTIONARY: for those who print */
	enum field_blob blob;
	const struct field_entry
		*metadata; /* of Arrow, with ARROW:extension:name when there is one */
	size_t metadata_count;
	const struct field *parent; /* NULL at the top */
	struct field *children;     /* contiguous */
	size_t child_count;
};

struct field_tree {
	struct arena arena;
	struct field *roots; /* contiguous */
	size_t root_count;
	uint32_t count; /* nodes, implied ones included */
};

/* What a blob column is read as: its bytes (a binary value), or where they are (a struct, as the
 * reference shows it by default: position and size; for v2 kind, position, size, blob_id,
 * blob_uri). The bytes of v2 blobs are not found by this layer: they always read as a struct. */
enum field_blobs { FIELD_BLOB_DESCRIPTIONS, FIELD_BLOB_BYTES };

/* CORRUPT: a parent that is no earlier field, nested deeper than FIELD_DEPTH_MAX, children where
 * the type has none or too many; UNSUPPORTED: a logical type that is not known, by name. Fields
 * with id -1 and parent -1 behind a v2 blob are its descriptor, as footers list it, and are stepped
 * over. The tree copies what it keeps. */
int field_tree_init(struct field_tree *tree, struct Lance__File__Field *const *stored, size_t count,
	enum field_blobs blobs, struct lancet_error *err);
void field_tree_release(struct field_tree *tree);

/* True when, in files of 2.1 and later, the field is one physical column with no columns below it:
 * what has no children, packed structs, blobs, fixed-size lists of primitives, dictionaries, and
 * structs without children. */
bool field_is_leaf(const struct field *field);

/* Single-node fields for decoding what is no user column: levels, indices, positions. `bits` is 8,
 * 16, 32, 64 or 128; lives forever. */
const struct field *field_unsigned(uint32_t bits);
/* Text or binary of the given offset width, lives forever. */
const struct field *field_bytes(bool large);

#endif
