/* Parts of transactions and manifests from a few words: lists are "0,1,2". */
#ifndef TESTS_TXNPARTS_H
#define TESTS_TXNPARTS_H

#include "maker.h"
#include <roaring/roaring.h>

#define PART_SIZE 96
#define PART_ROWS 12u /* of each fragment */
/* The next part up to one of `ends`; blanks before it are skipped. False at the end. */
static inline bool
part_next(const char **at, const char *ends, char into[PART_SIZE])
{
	size_t size;

	*at += strspn(*at, " ");
	if (**at == '\0')
		return false;
	size = strcspn(*at, ends);
	ck_assert_uint_lt(size, PART_SIZE);
	memcpy(into, *at, size);
	into[size] = '\0';
	*at += size + ((*at)[size] != '\0');
	return true;
}

static inline void
part_numbers(struct buf *b, uint32_t field, const char *list)
{
	char one[PART_SIZE];

	while (part_next(&list, ",", one))
		maker_number(b, field, strtoull(one, NULL, 10));
}

/* Takes what is in the part, and releases it. */
static inline void
part_message(struct buf *b, uint32_t field, struct buf *part)
{
	ck_assert_int_eq(part->failed, LANCET_OK);
	maker_bytes(b, field, part->data, part->size);
	buf_release(part);
}

static inline void
part_text(struct buf *b, uint32_t field, const char *text)
{
	maker_bytes(b, field, text, strlen(text));
}

static inline void
part_set(struct buf *b, const char *list)
{
	roaring_bitmap_t *set = roaring_bitmap_create();
	char one[PART_SIZE];
	size_t size;

	while (part_next(&list, ",", one))
		roaring_bitmap_add(set, (uint32_t)strtoul(one, NULL, 10));
	size = roaring_bitmap_portable_size_in_bytes(set);
	ck_assert(buf_reserve(b, size));
	b->size += roaring_bitmap_portable_serialize(set, (char *)b->data + b->size);
	roaring_bitmap_free(set);
}

static inline void
part_roaring(struct buf *b, uint32_t field, const char *list)
{
	struct buf bytes = { 0 };

	part_set(&bytes, list);
	part_message(b, field, &bytes);
}

/* 16 bytes of one letter. */
static inline void
part_uuid(struct buf *b, uint32_t field, char letter)
{
	struct buf uuid = { 0 };
	char bytes[16];

	memset(bytes, letter, sizeof(bytes));
	maker_bytes(&uuid, 1, bytes, sizeof(bytes));
	part_message(b, field, &uuid);
}

static inline void
part_file(struct buf *b, uint32_t field, const char *path, const char *fields)
{
	struct buf file = { 0 };
	char one[PART_SIZE];

	part_text(&file, 1, path);
	for (const char *at = fields; part_next(&at, ",", one);) {
		maker_number(&file, 2, strtoull(one, NULL, 10));
		maker_number(&file, 3, strtoull(one, NULL, 10));
	}
	maker_number(&file, 4, 2);
	part_message(b, field, &file);
}

/* "FIELDS:OFFSETS", of one version. */
static inline void
part_overlay(struct buf *b, uint32_t field, const char *text, uint64_t version)
{
	struct buf overlay = { 0 };
	char fields[PART_SIZE], offsets[PART_SIZE];

	ck_assert(part_next(&text, ":", fields));
	part_file(&overlay, 1, "overlay.lance", fields);
	if (part_next(&text, ":", offsets))
		part_roaring(&overlay, 2, offsets);
	maker_number(&overlay, 3, version);
	part_message(b, field, &overlay);
}

/* "ID", "ID!": with another file than before, "ID@V": with an overlay of version V on field 1.
 * `deleted` is a list of offsets: the fragment has a deletion file, of that id. */
static inline void
part_fragment(struct buf *b, uint32_t field, const char *text, const char *deleted, uint64_t vector)
{
	char path[PART_SIZE], *end;
	struct buf fragment = { 0 }, deletion = { 0 };
	unsigned long long id = strtoull(text, &end, 10);

	maker_number(&fragment, 1, id);
	snprintf(path, sizeof(path), "%s%llu.lance", *end == '!' ? "new" : "", id);
	part_file(&fragment, 2, path, "0,1,2,4");
	if (*deleted != '\0') {
		maker_number(&deletion, 1, 1);
		maker_number(&deletion, 2, 1);
		maker_number(&deletion, 3, vector);
		part_message(&fragment, 3, &deletion);
	}
	maker_number(&fragment, 4, PART_ROWS);
	if (*end == '@')
		part_overlay(&fragment, 11, "1:0", strtoull(end + 1, NULL, 10));
	part_message(b, field, &fragment);
}

static inline void
part_fragments(struct buf *b, uint32_t field, const char *list)
{
	char one[PART_SIZE];

	while (part_next(&list, ",", one))
		part_fragment(b, field, one, "", 0);
}

#endif
