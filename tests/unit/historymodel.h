/* A history as a list of rewrites and of live fragments, and what lancet_translate is due to say:
 * one row is followed at a time.
 */
#ifndef TESTS_HISTORYMODEL_H
#define TESTS_HISTORYMODEL_H

#include "historydata.h"

#define REWRITES_MAX  200u
#define FRAGMENTS_MAX 1600u

#define ADDR(fragment, offset) ((uint64_t)(fragment) << 32 | (offset))

struct history {
	size_t rewrite_count, live_count;
	struct rewrite rewrites[REWRITES_MAX];
	struct digest live[FRAGMENTS_MAX];
	uint32_t rows[FRAGMENTS_MAX]; /* by fragment */
	uint32_t fragments;           /* ids given so far */
};

/* The rewrite that consumes the fragment, and the number of its first row there. */
static inline const struct rewrite *
consumer(const struct history *history, uint32_t fragment, uint64_t *ret_first, uint32_t *ret_rows)
{
	for (size_t i = 0; i < history->rewrite_count; i++) {
		uint64_t first = 0;

		for (size_t k = 0; k < history->rewrites[i].source_count; k++) {
			const struct digest *source = &history->rewrites[i].sources[k];

			if (source->id == fragment) {
				*ret_first = first;
				*ret_rows = source->rows;
				return &history->rewrites[i];
			}
			first += source->rows;
		}
	}
	return NULL;
}

static inline uint8_t
follow_row(const struct history *history, uint64_t row_addr, uint64_t *ret_current)
{
	*ret_current = LANCET_NO_ROW;
	for (;;) {
		uint32_t offset = (uint32_t)row_addr, rows;
		const struct digest key = { (uint32_t)(row_addr >> 32), 0, 0 };
		const struct digest *live = bsearch(
			&key, history->live, history->live_count, sizeof(key), compare_digests);
		const struct rewrite *rewrite;
		uint64_t first;

		if (live != NULL && offset < live->rows)
			*ret_current = row_addr;
		if (live != NULL)
			return offset < live->rows ? LANCET_ROW_CURRENT : LANCET_ROW_UNKNOWN;
		rewrite = consumer(history, key.id, &first, &rows);
		if (rewrite == NULL || offset >= rows)
			return LANCET_ROW_UNKNOWN;
		row_addr = rewrite->went[first + offset];
		if (row_addr == LANCET_NO_ROW)
			return LANCET_ROW_DELETED;
	}
}

static inline void
check_batch(lancet_version *version, const struct history *history, const uint64_t *row_addrs,
	size_t count)
{
	uint64_t *current = malloc((count + 1) * sizeof(*current)), want;
	uint8_t *fates = malloc(count + 1);
	struct lancet_error err = { 0 };

	ck_assert_msg(
		lancet_translate(version, row_addrs, count, current, fates, &err) == LANCET_OK,
		"%s", err.text);
	for (size_t i = 0; i < count; i++) {
		uint8_t fate = follow_row(history, row_addrs[i], &want);

		ck_assert_msg(fates[i] == fate && current[i] == want,
			"%zu: %x:%x: fate %d, %x:%x; fate %d is due", i,
			(unsigned)(row_addrs[i] >> 32), (unsigned)row_addrs[i], fates[i],
			(unsigned)(current[i] >> 32), (unsigned)current[i], fate);
	}
	free(current);
	free(fates);
}

#endif
