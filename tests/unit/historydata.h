/* Datasets with a reuse history, made by hand from the format facts, and a model of them: where
 * each source row of a rewrite went, found the slow way. Row maps are not written here.
 */
#ifndef TESTS_HISTORYDATA_H
#define TESTS_HISTORYDATA_H

#include "marks.h"
#include <stdlib.h>

#include <lancet/transition.h>

#define REWRITE_FRAGMENTS 6u
#define NO_LABEL          LANCET_NO_LABEL

struct digest {
	uint32_t id, rows, deleted;
};

/* labels[row]: the place of its destination, in an ordered compaction 0; NO_LABEL for a deleted
 * row. The caller gives these; rows, deleted rows of the sources and, but for their ids,
 * destinations of a partition follow from them. */
struct rewrite {
	bool legacy;
	const char *map_id; /* of a stable partition */
	uint64_t map_bytes;
	size_t source_count, destination_count;
	struct digest sources[REWRITE_FRAGMENTS], destinations[REWRITE_FRAGMENTS];
	uint64_t rows;
	uint16_t *labels;
	uint64_t *went; /* by row: an address or LANCET_NO_ROW */
};

static inline uint64_t
rewrite_addr(const struct rewrite *rewrite, size_t destination, uint64_t offset)
{
	return (uint64_t)rewrite->destinations[destination].id << 32 | offset;
}

/* Counts what the labels say, and follows each row. Destinations of an ordered compaction but the
 * last have their rows from the caller, who sees to it that there are as many. */
static inline void
rewrite_follow(struct rewrite *rewrite)
{
	uint64_t row = 0, offset = 0;
	size_t at = 0;

	if (rewrite->map_id != NULL)
		for (size_t i = 0; i < rewrite->destination_count; i++)
			rewrite->destinations[i].rows = 0;
	rewrite->went = malloc((rewrite->rows + 1) * sizeof(uint64_t));
	for (size_t i = 0; i < rewrite->source_count; i++) {
		rewrite->sources[i].deleted = 0;
		for (uint32_t k = 0; k < rewrite->sources[i].rows; k++, row++) {
			uint16_t label = rewrite->labels[row];

			rewrite->went[row] = LANCET_NO_ROW;
			if (label == NO_LABEL) {
				rewrite->sources[i].deleted++;
			} else if (rewrite->map_id != NULL) {
				rewrite->went[row] = rewrite_addr(
					rewrite, label, rewrite->destinations[label].rows++);
			} else {
				while (at + 1 < rewrite->destination_count &&
					offset == rewrite->destinations[at].rows) {
					at++;
					offset = 0;
				}
				rewrite->went[row] = rewrite_addr(rewrite, at, offset++);
			}
		}
	}
	if (rewrite->map_id == NULL && rewrite->destination_count > 0)
		rewrite->destinations[rewrite->destination_count - 1].rows =
			at + 1 == rewrite->destination_count ? (uint32_t)offset : 0;
	ck_assert_uint_eq(row, rewrite->rows);
}

static inline int
compare_digests(const void *a, const void *b)
{
	uint32_t left = ((const struct digest *)a)->id, right = ((const struct digest *)b)->id;

	return (left > right) - (left < right);
}

#endif
