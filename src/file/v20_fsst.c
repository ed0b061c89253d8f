/* Values of variable size, compressed by a table of symbols that is in the message.
 *
 * Format facts: v2.0 page encodings, Fsst.
 */
#include "v20_node.h"

#include "fsst.h"
#include "util/macros.h"

static int
fsst_open(const v20_message *message, struct arena *arena, unsigned depth, struct v20_node *node,
	struct lancet_error *err)
{
	const Lance__Encodings__Fsst *fsst = message->fsst;

	node->bytes = slice_of(fsst->symbol_table.data, fsst->symbol_table.len);
	return v20_open_inner(&fsst->binary, arena, depth, &node->inner, err);
}

static int
fsst_bind(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	struct fsst_table *table = arena_zalloc(&page->arena, 1, sizeof(*table));

	if (table == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "fsst");
	if (node->field->kind != FIELD_VARIABLE)
		return lancet_fail(
			err, LANCET_CORRUPT, "fsst: for a field whose values are of one size");
	TRY(fsst_table_parse(node->bytes, table, err));
	node->state = table;
	TRY(v20_work(page, node, err));
	return v20_bind(page, node->inner, field_bytes(true), node->count, err);
}

static int
fsst_read(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct array *out, struct lancet_error *err)
{
	TRY(v20_read_values(page, node, node->inner, ask, err));
	return fsst_append(node->state, &node->work->values, out, err);
}

const struct v20_encoding v20_fsst = {
	.name = "fsst",
	.pb_case = LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_FSST,
	.open = fsst_open,
	.bind = fsst_bind,
	.read = fsst_read,
};
