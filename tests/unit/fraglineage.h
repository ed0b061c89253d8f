/* Row ids and row versions of fragtext.h: "0-9,20" and "1*10,4*2". */
#ifndef TESTS_FRAGLINEAGE_H
#define TESTS_FRAGLINEAGE_H

#include "encode.h"
#include "txnparts.h"

/* U64Segment { range { start, end } } */
static inline void
frag_put_range(struct buf *into, unsigned field, uint64_t start, uint64_t end)
{
	struct buf segment = { 0 }, range = { 0 };

	put_number(&range, 1, start);
	put_number(&range, 2, end);
	put_message(&segment, 1, &range);
	put_message(into, field, &segment);
}

/* "0-9,20": ids, each run a segment. */
static inline void
frag_put_ids(struct buf *into, const char *text)
{
	char one[PART_SIZE], *end;

	while (part_next(&text, ",", one)) {
		uint64_t first = strtoull(one, &end, 10);

		frag_put_range(
			into, 1, first, (*end == '-' ? strtoull(end + 1, NULL, 10) : first) + 1);
	}
}

/* "1*10,4*2": versions of rows. */
static inline void
frag_put_versions(struct buf *into, const char *text)
{
	char one[PART_SIZE], *end;

	while (part_next(&text, ",", one)) {
		uint64_t version = strtoull(one, &end, 10);
		struct buf run = { 0 };

		frag_put_range(&run, 1, 0, strtoull(end + 1, NULL, 10));
		put_number(&run, 2, version);
		put_message(into, 1, &run);
	}
}

static inline void
frag_put_lineage(struct buf *into, const char *key, const char *value)
{
	unsigned inlined = *key == 'i' ? 5 : *key == 'm' ? 9 : 7;
	struct buf bytes = { 0 };

	if (strcmp(value, "column") == 0) {
		put_message(into, *key == 'i' ? 12 : *key == 'm' ? 14 : 13, &bytes);
		return;
	}
	if (*key == 'i')
		frag_put_ids(&bytes, value);
	else
		frag_put_versions(&bytes, value);
	put_message(into, inlined, &bytes);
}

#endif
