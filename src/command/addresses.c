/* Row addresses as text; see addresses.h. */
#include "addresses.h"

#include "util/text.h"

struct slice
address_trim(struct slice text)
{
	while (text.size > 0 && memchr(" \t\r", text.data[text.size - 1], 3) != NULL)
		text.size--;
	while (text.size > 0 && memchr(" \t\r", text.data[0], 3) != NULL)
		text = slice_of(text.data + 1, text.size - 1);
	return text;
}

bool
address_parse(struct slice text, struct address *ret_address)
{
	const uint8_t *colon = text.size > 0 ? memchr(text.data, ':', text.size) : NULL;
	uint64_t fragment, offset;

	if (colon == NULL) {
		ret_address->decimal = true;
		return text_to_u64(text, &ret_address->row_addr);
	}
	size_t size = (size_t)(colon - text.data);

	if (!text_to_u64(slice_of(text.data, size), &fragment) ||
		!text_to_u64(slice_of(colon + 1, text.size - size - 1), &offset) ||
		fragment > UINT32_MAX || offset > UINT32_MAX)
		return false;
	*ret_address = (struct address){ fragment << 32 | offset, false };
	return true;
}

int
address_refuse(struct slice text, const char *where, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_INVALID,
		"%s: \"%.*s\" is no row address: give FRAG:OFFSET or "
		"a number",
		where, (int)(text.size < 40 ? text.size : 40), (const char *)text.data);
}

void
address_put(struct buf *into, uint64_t row_addr, enum lancet_row_fate fate, bool decimal)
{
	static const char *const words[] = {
		[LANCET_ROW_DELETED] = "deleted",
		[LANCET_ROW_UNKNOWN] = "unknown",
		[LANCET_ROW_FAILED] = "failed",
	};

	if (fate != LANCET_ROW_CURRENT) {
		buf_put_text(into, words[fate]);
	} else if (decimal) {
		buf_put_u64(into, 0, row_addr);
	} else {
		buf_put_u64(into, 0, row_addr >> 32);
		buf_put_byte(into, ':');
		buf_put_u64(into, 0, (uint32_t)row_addr);
	}
}
