/* Transactions from a line of text: the operation and words KEY=VALUE, of which some may come
 * several times:
 *
 *     Delete updated=0,1! removed=2           Update … columns fields=1 shard=s:6 exact=7,8
 *     Rewrite group=0,1>6 group=2>7           CreateIndex new=NAME:FIELDS:FRAGMENTS:KIND
 *     UpdateConfig set=k0 del=k1 replace      DataReplacement f=0:1   DataOverlay f=0:1:4,5
 *     Project schema=0,1x,2 np                UpdateBases base=7:name:path
 */
#ifndef TESTS_TXNTEXT_H
#define TESTS_TXNTEXT_H

#include "txnparts.h"

/* Fields of the schema: "1" as it was read, "1x" of another type. */
static inline void
text_schema(struct buf *b, uint32_t field, const char *list)
{
	char one[PART_SIZE];

	while (part_next(&list, ",", one)) {
		struct buf part = { 0 };
		char *end;
		unsigned long id = strtoul(one, &end, 10);

		part_text(&part, 2, one);
		maker_number(&part, 3, id);
		maker_number(&part, 4, id == 4 ? 3 : UINT64_MAX);
		part_text(&part, 5, *end == 'x' ? "int32" : id == 3 ? "struct" : "int64");
		part_message(b, field, &part);
	}
}

/* NAME:FIELDS:FRAGMENTS:KIND:DATASET_VERSION; without FRAGMENTS nothing is known of them, and the
 * first letter of KIND may be a digit: the index version. */
static inline void
text_entry(struct buf *b, uint32_t field, const char *text)
{
	char name[PART_SIZE] = "", one[PART_SIZE];
	struct buf entry = { 0 }, any = { 0 }, url = { 0 };

	ck_assert(part_next(&text, ":", name));
	part_uuid(&entry, 1, name[0]);
	if (part_next(&text, ":", one))
		part_numbers(&entry, 2, one);
	part_text(&entry, 3, name);
	if (part_next(&text, ":", one) && *one != '\0')
		part_roaring(&entry, 5, one);
	if (part_next(&text, ":", one) && *one != '\0') {
		if (*one >= '0' && *one <= '9')
			maker_number(&entry, 7, (uint64_t)(*one - '0'));
		buf_printf(&url, "/lance.table.%sIndexDetails", one + (*one >= '0' && *one <= '9'));
		part_message(&any, 1, &url);
		part_message(&entry, 6, &any);
	}
	if (part_next(&text, ":", one))
		maker_number(&entry, 4, strtoull(one, NULL, 10));
	part_message(b, field, &entry);
}

static inline void
text_group(struct buf *b, const char *text)
{
	struct buf group = { 0 };
	char one[PART_SIZE];

	if (part_next(&text, ">", one))
		part_fragments(&group, 1, one);
	if (part_next(&text, ">", one))
		part_fragments(&group, 2, one);
	part_message(b, 3, &group);
}

/* "LETTER:GENERATION" */
static inline void
text_shard(struct buf *b, uint32_t field, const char *text)
{
	struct buf shard = { 0 };

	part_uuid(&shard, 1, text[0]);
	maker_number(&shard, 2, strtoull(text + 2, NULL, 10));
	part_message(b, field, &shard);
}

/* A filter of inserted keys: "FIELD:HASHES", or "FIELD:BYTES/ITEMS" for a Bloom filter. */
static inline void
text_filter(struct buf *b, const char *text)
{
	struct buf filter = { 0 }, data = { 0 };
	const char *colon = strchr(text, ':');
	const char *slash = strchr(text, '/');

	maker_number(&filter, 1, strtoull(text, NULL, 10));
	if (slash == NULL) {
		part_numbers(&data, 1, colon + 1);
		part_message(&filter, 2, &data);
	} else {
		maker_bytes(&data, 1, colon + 1, (size_t)(slash - colon - 1));
		maker_number(&data, 3, strtoull(slash + 1, NULL, 10));
		part_message(&filter, 3, &data);
	}
	part_message(b, 8, &filter);
}

/* Entries of an UpdateMap: "k0" with a value, "-k0" without; "replace" makes it replace. */
static inline void
text_map(struct buf *b, uint32_t field, const char *list)
{
	struct buf map = { 0 };
	char one[PART_SIZE];

	while (part_next(&list, ",", one)) {
		struct buf entry = { 0 };

		if (strcmp(one, "replace") == 0) {
			maker_number(&map, 2, 1);
			continue;
		}
		part_text(&entry, 1, one + (*one == '-'));
		if (*one != '-')
			part_text(&entry, 2, "v");
		part_message(&map, 1, &entry);
	}
	part_message(b, field, &map);
}

/* "ID:NAME:PATH" */
static inline void
text_base(struct buf *b, uint32_t field, const char *text)
{
	struct buf base = { 0 };
	char one[PART_SIZE];

	ck_assert(part_next(&text, ":", one));
	maker_number(&base, 1, strtoull(one, NULL, 10));
	if (part_next(&text, ":", one) && *one != '\0')
		part_text(&base, 2, one);
	if (part_next(&text, ":", one))
		part_text(&base, 4, one);
	part_message(b, field, &base);
}

#endif
