/* The header column of a struct: it has no bytes, and says nothing but how many rows there are.
 *
 * Format facts: v2.0 page encodings, SimpleStruct.
 */
#include "v20_node.h"

static int
struct_open(const v20_message *message, struct arena *arena, unsigned depth, struct v20_node *node,
	struct lancet_error *err)
{
	(void)message;
	(void)arena;
	(void)depth;
	(void)node;
	(void)err;
	return LANCET_OK;
}

static int
struct_bind(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	(void)page;
	if (node->field->kind != FIELD_STRUCT)
		return lancet_fail(err, LANCET_CORRUPT, "struct: for a field that is none");
	return LANCET_OK;
}

const struct v20_encoding v20_struct = {
	.name = "struct",
	.pb_case = LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_STRUCT,
	.whole = true,
	.open = struct_open,
	.bind = struct_bind,
};
