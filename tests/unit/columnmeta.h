/* Column metadata made by hand for tests, sound or damaged in one way, from the format facts. */
#ifndef TESTS_COLUMNMETA_H
#define TESTS_COLUMNMETA_H

#include "encode.h"

struct page_spec {
	uint64_t offset, size, length;
};

enum column_damage {
	SOUND,
	NO_COLUMN_ENCODING,
	ZONE_MAP,
	NO_PAGE_ENCODING,
	DEFERRED,
	OTHER_TYPE,
	SIZE_MISSING,
	NOT_A_MESSAGE,
};

struct file_spec {
	unsigned major, minor;
	uint64_t rows;
	uint32_t columns; /* all alike */
	size_t page_count;
	const struct page_spec *pages;
	enum column_damage damage;
	const char *type; /* of the pages */
	size_t schema;    /* bytes of a field that is as long */
	bool is_blob;
};

/* Encoding { DirectEncoding direct #2 { bytes encoding #1: Any { type_url #1, value #2 } } } */
static inline void
put_encoding(struct buf *b, unsigned field, const char *type, struct buf *value)
{
	struct buf any = { 0 }, direct = { 0 }, encoding = { 0 };

	put_head(&any, 1, strlen(type) + 1);
	buf_put_text(&any, "/");
	buf_put_text(&any, type);
	put_message(&any, 2, value);
	put_message(&direct, 1, &any);
	put_message(&encoding, 2, &direct);
	put_message(b, field, &encoding);
}

static inline void
put_page(struct buf *b, const struct file_spec *spec, const struct page_spec *page)
{
	struct buf body = { 0 }, list = { 0 }, value = { 0 };

	put_varint(&list, page->offset);
	put_varint(&list, page->offset);
	put_message(&body, 1, &list);
	put_varint(&list, page->size);
	if (spec->damage != SIZE_MISSING)
		put_varint(&list, 0);
	put_message(&body, 2, &list);
	put_number(&body, 3, page->length);
	buf_put_text(&value, "message");
	if (spec->damage == DEFERRED) {
		buf_put(&body, "\x22\x02\x0a\x00", 4);
	} else if (spec->damage != NO_PAGE_ENCODING) {
		put_encoding(
			&body, 4, spec->damage == OTHER_TYPE ? "lance.Other" : spec->type, &value);
	}
	buf_release(&value);
	put_number(&body, 5, 7);
	put_message(b, 2, &body);
}

static inline void
put_column(struct buf *b, const struct file_spec *spec)
{
	struct buf values = { 0 };

	if (spec->damage == NOT_A_MESSAGE) {
		buf_put_text(b, "\xff\xff");
		return;
	}
	buf_put_byte(&values, spec->damage == ZONE_MAP ? 0x12 : spec->is_blob ? 0x1a : 0x0a);
	buf_put_byte(&values, 0);
	if (spec->damage != NO_COLUMN_ENCODING)
		put_encoding(b, 1, "lance.encodings.ColumnEncoding", &values);
	buf_release(&values);
	for (size_t i = 0; i < spec->page_count; i++)
		put_page(b, spec, &spec->pages[i]);
}

#endif
