/* Values of text on their way into arrays: what is known of each field beforehand, and the two
 * forms that values have, text of a scalar and JSON.
 *
 * Errors are INVALID and say what is wrong with the value; whose it is, and in which line, is the
 * caller's to add.
 */
#ifndef CORE_IMPORT_VALUE_H
#define CORE_IMPORT_VALUE_H

#include "file/array.h"
#include "import_number.h"
#include "util/jsonpull.h"

enum import_form {
	IMPORT_NULL,
	IMPORT_SCALAR, /* of `parse` */
	IMPORT_TEXT,
	IMPORT_BINARY,
	IMPORT_FIXED_BINARY,
	IMPORT_JSON_BINARY, /* any JSON, stored as JSONB */
	IMPORT_JSON_TEXT,   /* any JSON, stored as it is written */
	IMPORT_LIST,
	IMPORT_FIXED_LIST,
	IMPORT_MAP,
	IMPORT_STRUCT,
	IMPORT_DICTIONARY,
};

struct import_node {
	const struct field *field;
	enum import_form form;
	struct arrow_type type; /* SCALAR, FIXED_BINARY */
	import_parse *parse;
	bool nullable;
	bool takes_empty;  /* empty text is a value */
	struct slice name; /* as rows of text have it: "base64:…" where it is not UTF-8 */
	struct import_node *children;
	size_t child_count;
	struct import_node **by_name; /* the children, sorted */
	size_t likely;                /* the child that the next member may be */
	uint64_t objects;             /* STRUCT: that were begun */
	uint64_t seen;                /* the parent's object that last had this member */
	struct import_node *failed;   /* the child whose value was refused */
	struct import_node *values;   /* DICTIONARY */
	struct array one;             /* DICTIONARY: the value in hand */
	struct array_budget one_budget;
	struct buf text; /* what has no place in the text: strings with escapes, bytes, JSONB */
};

/* Nodes of all roots of a schema, as the children of one; it is released also after a failure.
 * UNSUPPORTED: a field that no text can be turned into, by name. */
int import_node_init(struct import_node *root, const struct field_tree *schema, struct arena *arena,
	struct lancet_error *err);
void import_node_release(struct import_node *root);
/* A child by its name, or NULL; those that come in order are found at once. */
struct import_node *import_node_find(struct import_node *parent, struct slice name);

/* Append one value. */
int import_null(const struct import_node *node, struct array *array, struct lancet_error *err);
/* The form of CSV, without its quotes: binary is base64, nested values are JSON. The text is
 * UTF-8. */
int import_text(
	struct import_node *node, struct array *array, struct slice text, struct lancet_error *err);
/* The next value. */
int import_json(struct import_node *node, struct array *array, struct jsonpull *from,
	struct lancet_error *err);
/* The members of an object for the children of a node, an array for each; members that are missing
 * are null. `from` is before the opening bracket. After an error node->failed tells whose value was
 * at fault, if it was one. */
int import_members(struct import_node *node, struct array *children, struct jsonpull *from,
	struct lancet_error *err);

/* For the above. Values other than nested ones; `text` is what they are written as. */
int import_scalar(
	struct import_node *node, struct array *array, struct slice text, struct lancet_error *err);
/* The value that node->one holds, as a key. */
int import_key(struct import_node *node, struct array *array, struct lancet_error *err);
/* "\"text\" what TYPE", INVALID. */
int import_refuse(const struct import_node *node, struct slice text, const char *what,
	struct lancet_error *err);

#endif
