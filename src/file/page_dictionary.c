/* The items of a page's dictionary, read when the first index needs them; see page_dictionary.h. */
#include "page_dictionary.h"

#include <inttypes.h>

#include "indexed.h"
#include "layout.h"
#include "util/macros.h"

#define ITEMS_SIZE_MAX ((size_t)128 << 20) /* bytes; the writer's own limit is 8 MiB */
#define ITEMS_MAX      UINT32_MAX

void
page_dictionary_release(struct page_dictionary *dictionary)
{
	array_release(&dictionary->items);
	dictionary->loaded = false;
}

static int
decode_items(struct page_reader *reader, struct page_dictionary *dictionary, struct buf *bytes,
	struct lancet_error *err)
{
	uint64_t size;

	if (dictionary->buffer >= reader->page->buffer_count)
		return lancet_fail(err, LANCET_CORRUPT, "no buffer %zu", dictionary->buffer);
	size = reader->page->buffers[dictionary->buffer].size;
	if (!buf_reserve(bytes, (size_t)size))
		return buf_check(bytes, "items", err);
	TRY(page_read(reader, dictionary->buffer, 0, (size_t)size, bytes->data, err));
	return codec_decode_block(dictionary->codec, slice_of(bytes->data, (size_t)size),
		dictionary->count, reader->scratch, &dictionary->items, err);
}

static int
load_items(struct page_reader *reader, struct page_dictionary *dictionary, struct lancet_error *err)
{
	const struct field *field = reader->leaf;
	struct buf *bytes;
	int rc;

	if (dictionary->loaded)
		return LANCET_OK;
	if (field->kind == FIELD_DICTIONARY)
		field = &field->children[0];
	if (dictionary->count >= ITEMS_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " items", dictionary->count);
	dictionary->budget = (struct array_budget){ .limit = ITEMS_SIZE_MAX };
	TRY(array_init(&dictionary->items, field, &dictionary->budget, err));
	bytes = scratch_take(reader->scratch, 0);
	if (bytes == NULL) {
		rc = lancet_fail(err, LANCET_LIMIT, "too many buffers in use");
	} else {
		rc = decode_items(reader, dictionary, bytes, err);
		scratch_give(reader->scratch);
	}
	dictionary->loaded = rc == LANCET_OK;
	if (rc != LANCET_OK)
		array_release(&dictionary->items);
	return lancet_wrap(err, rc, "dictionary");
}

int
page_dictionary_append(struct page_reader *reader, struct page_dictionary *dictionary,
	const struct array *indices, const uint8_t *validity, struct array *out,
	struct lancet_error *err)
{
	TRY(load_items(reader, dictionary, err));
	return indexed_gather(&dictionary->items, indices, validity, reader->scratch, out, err);
}
