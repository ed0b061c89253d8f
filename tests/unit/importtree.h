/* The fields of a schema, made by hand. */
#ifndef TESTS_IMPORTTREE_H
#define TESTS_IMPORTTREE_H

#include "../helpers/importfields.h"
#include "unit.h"

#define IMPORT_COLUMNS 24

static inline void
import_tree(const struct import_field *from, size_t count, struct field_tree *ret_tree)
{
	struct lancet_error err = { 0 };

	ck_assert_uint_le(count, IMPORT_COLUMNS);
	ck_assert_msg(import_fields_tree(from, count, ret_tree, &err) == LANCET_OK, "%s", err.text);
}

#endif
