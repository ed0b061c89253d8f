/* Rewrites as records of an encoded history, by the format facts. */
#ifndef TESTS_HISTORYPACK_H
#define TESTS_HISTORYPACK_H

#include "encode.h"
#include "historydata.h"

#include <roaring/roaring.h>

static inline void
put_digests(struct buf *b, unsigned field, const struct digest *digests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct buf digest = { 0 };

		put_number(&digest, 1, digests[i].id);
		put_number(&digest, 2, digests[i].rows);
		put_number(&digest, 3, digests[i].deleted);
		put_message(b, field, &digest);
	}
}

/* The treemap of the rows that have a label: its keys ascend, whatever the order of the sources. */
static inline struct buf
rewrite_treemap(const struct rewrite *rewrite)
{
	roaring_bitmap_t *sets[REWRITE_FRAGMENTS];
	struct digest keys[REWRITE_FRAGMENTS];
	struct buf treemap = { 0 };
	uint64_t row = 0;

	for (size_t i = 0; i < rewrite->source_count; i++) {
		keys[i] = (struct digest){ rewrite->sources[i].id, (uint32_t)i, 0 };
		sets[i] = roaring_bitmap_create();
		for (uint32_t k = 0; k < rewrite->sources[i].rows; k++)
			if (rewrite->labels[row++] != NO_LABEL)
				roaring_bitmap_add(sets[i], k);
		(void)roaring_bitmap_run_optimize(sets[i]);
	}
	qsort(keys, rewrite->source_count, sizeof(keys[0]), compare_digests);
	for (unsigned i = 0; i < 8; i++)
		buf_put_byte(&treemap, i == 0 ? (uint8_t)rewrite->source_count : 0);
	for (size_t i = 0; i < rewrite->source_count; i++) {
		roaring_bitmap_t *set = sets[keys[i].rows];

		for (unsigned k = 0; k < 4; k++)
			buf_put_byte(&treemap, (uint8_t)(keys[i].id >> 8 * k));
		ck_assert(buf_reserve(&treemap, roaring_bitmap_portable_size_in_bytes(set)));
		treemap.size +=
			roaring_bitmap_portable_serialize(set, (char *)treemap.data + treemap.size);
		roaring_bitmap_free(set);
	}
	return treemap;
}

/* Appends the record to an InlineContent; legacy ones must come first. */
static inline void
put_rewrite(struct buf *content, const struct rewrite *rewrite)
{
	struct buf record = { 0 }, mapping = { 0 }, treemap = { 0 }, version = { 0 };

	if (rewrite->map_id != NULL) {
		put_head(&mapping, 1, strlen(rewrite->map_id));
		buf_put_text(&mapping, rewrite->map_id);
		put_number(&mapping, 2, rewrite->map_bytes);
	} else {
		treemap = rewrite_treemap(rewrite);
		put_message(rewrite->legacy ? &record : &mapping, 1, &treemap);
	}
	put_digests(&record, rewrite->legacy ? 2 : 1, rewrite->sources, rewrite->source_count);
	put_digests(&record, rewrite->legacy ? 3 : 2, rewrite->destinations,
		rewrite->destination_count);
	if (!rewrite->legacy) {
		put_message(&record, rewrite->map_id != NULL ? 4 : 3, &mapping);
		put_message(content, 2, &record);
		return;
	}
	put_number(&version, 1, 1);
	put_message(&version, 3, &record);
	put_message(content, 1, &version);
}

#endif
