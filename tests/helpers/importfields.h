/* The fields of a schema, made by hand: for unit tests and fuzz targets. */
#ifndef TESTS_IMPORTFIELDS_H
#define TESTS_IMPORTFIELDS_H

#include <string.h>

#include "file/field.h"
#include "lance/file.pb-c.h"

#define IMPORT_FIELDS_MAX 32

struct import_field {
	const char *name, *type;
	int parent;            /* place in the list, or -1 */
	bool needed;           /* may not be null */
	const char *extension; /* ARROW:extension:name, or NULL */
};

static inline ProtobufCBinaryData
import_fields_bytes(const char *text)
{
	return (ProtobufCBinaryData){ strlen(text), (uint8_t *)(uintptr_t)text };
}

/* Field i has id i; at most IMPORT_FIELDS_MAX of them. */
static inline int
import_fields_tree(const struct import_field *from, size_t count, struct field_tree *ret_tree,
	struct lancet_error *err)
{
	Lance__File__Field fields[IMPORT_FIELDS_MAX], *places[IMPORT_FIELDS_MAX];
	Lance__File__StringEntry entries[IMPORT_FIELDS_MAX], *entry_places[IMPORT_FIELDS_MAX];

	if (count > IMPORT_FIELDS_MAX)
		return LANCET_LIMIT;
	for (size_t i = 0; i < count; i++) {
		places[i] = &fields[i];
		lance__file__field__init(&fields[i]);
		fields[i].name = import_fields_bytes(from[i].name);
		fields[i].id = (int32_t)i;
		fields[i].parent_id = from[i].parent;
		fields[i].logical_type = import_fields_bytes(from[i].type);
		fields[i].nullable = !from[i].needed;
		if (from[i].extension == NULL)
			continue;
		lance__file__string_entry__init(&entries[i]);
		entries[i].key = import_fields_bytes("ARROW:extension:name");
		entries[i].value = import_fields_bytes(from[i].extension);
		entry_places[i] = &entries[i];
		fields[i].n_metadata = 1;
		fields[i].metadata = &entry_places[i];
	}
	return field_tree_init(ret_tree, places, count, FIELD_BLOB_BYTES, err);
}

#endif
