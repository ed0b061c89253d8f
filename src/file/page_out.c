/* Pages on their way into a file: what all encoders share. */
#include "page_out.h"

#include "encode_message.h"
#include "util/macros.h"

void
page_out_reset(struct page_out *page)
{
	for (size_t i = 0; i < page->buffer_count; i++)
		page->buffers[i].size = 0;
	page->buffer_count = 0;
	page->encoding.size = 0;
	page->length = 0;
}

void
page_out_release(struct page_out *page)
{
	if (page == NULL)
		return;
	for (size_t i = 0; i < PAGE_BUFFERS_MAX; i++)
		buf_release(&page->buffers[i]);
	buf_release(&page->encoding);
	*page = (struct page_out){ 0 };
}

int
page_out_check(const struct page_out *page, struct lancet_error *err)
{
	for (size_t i = 0; i < page->buffer_count; i++)
		TRY(buf_check(&page->buffers[i], "buffer of a page", err));
	return buf_check(&page->encoding, "encoding of a page", err);
}

const char *
page_column_name(const struct field *field, char into[PAGE_NAME_SIZE])
{
	char *at = into + PAGE_NAME_SIZE - 1;

	/* From the end: of a name that is too long the innermost part says most. */
	*at = '\0';
	for (; field != NULL; field = field->parent) {
		size_t size = field->name.size;
		size_t room = (size_t)(at - into);

		if (size + 1 > room)
			break;
		at -= size;
		if (size > 0)
			memcpy(at, field->name.data, size);
		if (field->parent != NULL)
			*--at = '.';
	}
	return at;
}
