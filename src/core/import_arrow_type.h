/* Types of the columns of an Arrow file: how their values are laid out, and which fields they fit.
 */
#ifndef CORE_IMPORT_ARROW_TYPE_H
#define CORE_IMPORT_ARROW_TYPE_H

#include "file/field.h"
#include "util/flatview.h"

enum import_layout {
	IMPORT_NULLS,       /* no buffers */
	IMPORT_BITS,        /* validity, bits */
	IMPORT_FIXED,       /* validity, values of `width` bytes */
	IMPORT_BYTES,       /* validity, offsets of `width` bytes, bytes */
	IMPORT_VIEWS,       /* validity, views, any number of buffers they point into */
	IMPORT_LISTS,       /* validity, offsets of `width` bytes */
	IMPORT_LIST_VIEWS,  /* validity, offsets and sizes of `width` bytes */
	IMPORT_FIXED_LISTS, /* validity */
	IMPORT_STRUCTS,     /* validity */
	IMPORT_KEYS,        /* validity, keys of `width` bytes into a dictionary of the file */
	IMPORT_PLAIN,       /* no node: the child holds the values of what is a dictionary here */
};

/* Storage of an Arrow type. */
struct import_type {
	enum import_layout layout;
	unsigned width; /* bytes of a value, offset or key */
	bool is_signed;
	bool is_json_text; /* of a field that stores JSON in its binary form */
	uint64_t dimension;
	char words[96]; /* as logical types are spelt; lists and maps by their first word */
};

/* The storage that a Field of Schema.fbs has. UNSUPPORTED, by name. */
int import_type_of(
	const struct flattable *field, struct import_type *ret_type, struct lancet_error *err);
/* The index type of a DictionaryEncoding. */
int import_type_of_keys(
	const struct flattable *encoding, struct import_type *ret_type, struct lancet_error *err);
/* Whether values of the type are values of the field, too; sets is_json_text. */
bool import_type_fits(struct import_type *type, const struct field *field);

#endif
