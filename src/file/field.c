/* Fields as readers ask about them, and those that belong to no schema; see field.h. */
#include "field.h"

#include <assert.h>

#include "util/macros.h"

bool
field_is_leaf(const struct field *field)
{
	if (field->packed || field->blob != FIELD_NO_BLOB || field->child_count == 0 ||
		field->kind == FIELD_DICTIONARY)
		return true;
	while (field->kind == FIELD_FIXED_LIST)
		field = &field->children[0];
	return field->kind == FIELD_FIXED;
}

const struct field *
field_unsigned(uint32_t bits)
{
	static const struct field fields[] = {
		{ .id = FIELD_NO_ID, .kind = FIELD_FIXED, .format = "C", .bits = 8 },
		{ .id = FIELD_NO_ID, .kind = FIELD_FIXED, .format = "S", .bits = 16 },
		{ .id = FIELD_NO_ID, .kind = FIELD_FIXED, .format = "I", .bits = 32 },
		{ .id = FIELD_NO_ID, .kind = FIELD_FIXED, .format = "L", .bits = 64 },
		{ .id = FIELD_NO_ID, .kind = FIELD_FIXED, .format = "w:16", .bits = 128 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (fields[i].bits == bits)
			return &fields[i];
	}
	assert(!"no such width");
	return NULL;
}

const struct field *
field_bytes(bool large)
{
	static const struct field fields[] = {
		{ .id = FIELD_NO_ID, .kind = FIELD_VARIABLE, .format = "z" },
		{ .id = FIELD_NO_ID, .kind = FIELD_VARIABLE, .format = "Z", .large = true },
	};

	return &fields[large];
}
