/* A list column: end positions of the items of each list, and null lists told by them; the items
 * are columns of their own. And the header column of a struct, which says nothing but its length.
 *
 * Both are columns, not values: they stand at the root of a page only. Format facts: v2.0 page
 * encodings, List and SimpleStruct.
 */
#include "v20_node.h"

#include <inttypes.h>

#include "encodings.h"
#include "util/macros.h"
#include "util/pbunpack.h"

static int
list_open(const v20_message *message, struct arena *arena, unsigned depth, struct v20_node *node,
	struct lancet_error *err)
{
	const Lance__Encodings__List *list = message->list;

	node->parameter = list->null_offset_adjustment;
	node->items = list->num_items;
	if (node->parameter == 0)
		return lancet_fail(err, LANCET_CORRUPT, "list: a null adjustment of 0");
	return v20_open_inner(&list->offsets, arena, depth, &node->inner, err);
}

static int
list_bind(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	if (node->field->kind != FIELD_LIST)
		return lancet_fail(err, LANCET_CORRUPT, "list: for a field that is none");
	TRY(v20_work(page, node, err));
	return v20_bind(page, node->inner, field_unsigned(64), node->count, err);
}

static int
append(struct v20_page *page, const struct v20_ask *ask, struct v20_ends *ends, struct array *out,
	struct lancet_error *err)
{
	TRY(v20_read_ends(page, &page->root, ask, page->root.items, ends, err));
	TRY(array_append_lists(
		out, (const uint32_t *)(const void *)ends->offsets->data, ask->total, err));
	if (ends->validity->size == 0)
		return LANCET_OK;
	return array_set_validity(out, ask->total, ends->validity->data, 0, err);
}

int
v20_page_read_lists(struct v20_page *page, const struct row_range *ranges, size_t count,
	struct array *out, struct buf *ret_items, struct lancet_error *err)
{
	struct v20_ask ask = { .ranges = ranges, .count = count, .scale = 1 };
	struct v20_ends ends = { .places = ret_items };
	unsigned used = page->scratch->used;
	int rc;

	if (page->root.encoding != &v20_list)
		return lancet_fail(err, LANCET_CORRUPT, "encoding %s where lists are expected",
			page->root.encoding->name);
	for (size_t i = 0; i < count; i++)
		ask.total += ranges[i].count;
	page->scratch->decoded += ask.total;
	rc = codec_take_buffer(page->scratch, &ends.offsets, err);
	if (rc == LANCET_OK)
		rc = codec_take_buffer(page->scratch, &ends.validity, err);
	if (rc == LANCET_OK)
		rc = append(page, &ask, &ends, out, err);
	while (page->scratch->used > used)
		scratch_give(page->scratch);
	return rc;
}

const struct v20_encoding v20_list = {
	.name = "list",
	.pb_case = LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_LIST,
	.whole = true,
	.open = list_open,
	.bind = list_bind,
};
