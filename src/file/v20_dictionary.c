/* Values told by number among the page's own: of a dictionary field, whose keys these numbers are,
 * or of strings, as a shorter form, with 0 for null and k for item k - 1.
 *
 * The items of a page are read once, with its first values. Format facts: v2.0 page encodings,
 * Dictionary; dictionary columns.
 */
#include "v20_node.h"

#include <inttypes.h>

#include "encodings.h"
#include "indexed.h"
#include "util/bits.h"
#include "util/macros.h"

static int
dictionary_open(const v20_message *message, struct arena *arena, unsigned depth,
	struct v20_node *node, struct lancet_error *err)
{
	const Lance__Encodings__Dictionary *dictionary = message->dictionary;

	node->items = dictionary->num_dictionary_items;
	TRY(v20_open_inner(&dictionary->indices, arena, depth, &node->inner, err));
	return v20_open_inner(&dictionary->items, arena, depth, &node->second, err);
}

static int
dictionary_bind(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	const struct field *field = node->field;
	bool typed = field->kind == FIELD_DICTIONARY;

	if (!typed && field->kind != FIELD_VARIABLE)
		return lancet_fail(err, LANCET_CORRUPT,
			"dictionary: for a field that has neither keys nor strings");
	TRY(v20_work(page, node, err));
	TRY(v20_bind(page, node->inner, field_unsigned(typed ? field->bits : 8), node->count, err));
	return v20_bind(page, node->second, typed ? &field->children[0] : field, node->items, err);
}

/* Of strings: 0 becomes null, and the numbers count from 0. */
static int
shift_numbers(struct array *numbers, struct buf *bitmap, struct lancet_error *err)
{
	uint64_t count = numbers->length;
	uint8_t *at = numbers->data.data;

	buf_fill(bitmap, 0, (size_t)bits_size(count));
	TRY(buf_check(bitmap, "validity", err));
	for (uint64_t i = 0; i < count; i++) {
		unsigned valid = at[i] != 0 && array_is_valid(numbers, i);

		bitmap->data[i >> 3] |= (uint8_t)(valid << (i & 7));
		at[i] = (uint8_t)(at[i] - 1);
	}
	return array_set_validity(numbers, count, bitmap->data, 0, err);
}

static int
dictionary_read(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct array *out, struct lancet_error *err)
{
	struct buf *bitmap;
	int rc = LANCET_OK;

	TRY(v20_read_items(page, node, node->second, err));
	TRY(v20_read_values(page, node, node->inner, ask, err));
	if (out->field->kind != FIELD_DICTIONARY) {
		TRY(codec_take_buffer(page->scratch, &bitmap, err));
		rc = shift_numbers(&node->work->values, bitmap, err);
		scratch_give(page->scratch);
	}
	if (rc == LANCET_OK)
		rc = indexed_append(
			&node->work->items, &node->work->values, page->scratch, out, err);
	return lancet_wrap(err, rc, "dictionary");
}

static void
dictionary_describe(const struct v20_node *node, struct buf *out)
{
	buf_printf(out, "dictionary(%" PRIu64 ", ", node->items);
	v20_describe_node(node->inner, out);
	buf_put_text(out, ", ");
	v20_describe_node(node->second, out);
	buf_put_byte(out, ')');
}

const struct v20_encoding v20_dictionary = {
	.name = "dictionary",
	.pb_case = LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_DICTIONARY,
	.open = dictionary_open,
	.bind = dictionary_bind,
	.read = dictionary_read,
	.describe = dictionary_describe,
};
