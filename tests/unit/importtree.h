/* The fields of a schema, made by hand. */
#ifndef TESTS_IMPORTTREE_H
#define TESTS_IMPORTTREE_H

#include "file/field.h"
#include "lance/file.pb-c.h"
#include "unit.h"

#define IMPORT_COLUMNS 24

struct import_field {
	const char *name, *type;
	int parent;            /* place in the list, or -1 */
	bool needed;           /* may not be null */
	const char *extension; /* ARROW:extension:name, or NULL */
};

static inline ProtobufCBinaryData
import_bytes(const char *text)
{
	return (ProtobufCBinaryData){ strlen(text), (uint8_t *)text };
}

static inline void
import_tree(const struct import_field *from, size_t count, struct field_tree *ret_tree)
{
	static Lance__File__Field fields[IMPORT_COLUMNS];
	static Lance__File__StringEntry entries[IMPORT_COLUMNS], *entry_places[IMPORT_COLUMNS];
	Lance__File__Field *places[IMPORT_COLUMNS];
	struct lancet_error err = { 0 };

	ck_assert_uint_le(count, IMPORT_COLUMNS);
	for (size_t i = 0; i < count; i++) {
		places[i] = &fields[i];
		lance__file__field__init(&fields[i]);
		fields[i].name = import_bytes(from[i].name);
		fields[i].id = (int32_t)i;
		fields[i].parent_id = from[i].parent;
		fields[i].logical_type = import_bytes(from[i].type);
		fields[i].nullable = !from[i].needed;
		if (from[i].extension == NULL)
			continue;
		lance__file__string_entry__init(&entries[i]);
		entries[i].key = import_bytes("ARROW:extension:name");
		entries[i].value = import_bytes(from[i].extension);
		entry_places[i] = &entries[i];
		fields[i].n_metadata = 1;
		fields[i].metadata = &entry_places[i];
	}
	ck_assert_msg(field_tree_init(ret_tree, places, count, FIELD_BLOB_BYTES, &err) == LANCET_OK,
		"%s", err.text);
}

#endif
