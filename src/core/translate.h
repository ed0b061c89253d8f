/* Inside of the translation of row addresses.
 *
 * Addresses are taken in batches. Those of a batch that are not where they end yet are kept in
 * ascending order, so that a fragment is one run of them: looked up once, whatever its rows. In a
 * wave the runs of each transition are turned into row numbers and located together, and what
 * comes out is put in order for the next wave. Format facts: translation.
 */
#ifndef CORE_TRANSLATE_H
#define CORE_TRANSLATE_H

#include "mapping.h"
#include "util/buf.h"

/* Addresses under way, and where in the batch each one was asked for. */
struct translate_items {
	uint64_t *row_addrs;
	uint32_t *places;
	size_t count;
};

/* Sorts by the bits of `mask`, stable; both arrays of `scratch` have room for as many items, and
 * its content is lost. */
void translate_sort(
	struct translate_items *items, const struct translate_items *scratch, uint64_t mask);
/* Two ascending lists to one, in `into`, which has room for both. */
void translate_merge(struct translate_items *into, const struct translate_items *more);

/* Live fragments that were looked up, by the low bits of their id. */
#define TRANSLATE_LIVE 256u
#define TRANSLATE_GONE UINT64_MAX        /* no live fragment has the id */
#define TRANSLATE_LOST (UINT64_MAX - 1u) /* its rows were not recorded and can't be counted */

struct translate_live {
	uint64_t fragment[TRANSLATE_LIVE]; /* UINT64_MAX: empty */
	uint64_t rows[TRANSLATE_LIVE];
};

struct translate {
	lancet_version *version;
	struct lancet_reuse *reuse; /* NULL: none, or not asked for yet */
	bool reuse_asked;
	int reuse_code;
	int code; /* of the first failure, which err describes */
	struct lancet_error *err;
	struct translate_live live;
	/* of the batch */
	uint64_t *current;
	uint8_t *fates;
	struct translate_items now, next;
	size_t capacity; /* items of each, and places of the batch at most */
	struct buf runs; /* struct translate_run */
	/* rows of one transition on their way through its mapping */
	uint64_t *rows, *went;
	uint32_t *row_places;
	size_t row_count, row_capacity;
};

/* Items [begin, end) of `now`, all in one fragment that the transition consumes. */
struct translate_run {
	uint32_t transition;
	uint32_t begin, end;
	uint64_t first; /* number of the fragment's first row in the transition */
};

/* Makes it the call's failure unless there is one. */
void translate_keep_failure(struct translate *work, int code, const struct lancet_error *failure);
/* Items [begin, end) of `now` fail. */
void translate_fail(struct translate *work, size_t begin, size_t end);
/* Items of `now` that are in live fragments, or in fragments that nothing sound consumes, are done;
 * `runs` has the others. */
int translate_find_runs(struct translate *work, struct lancet_error *err);
/* Rows of the fragment, TRANSLATE_GONE or TRANSLATE_LOST. */
uint64_t translate_look_up(struct translate *work, uint64_t fragment);
/* Takes all items of `now` one step: they are done, or `now` has where they are. */
int translate_wave(struct translate *work, struct lancet_error *err);

static inline uint64_t
translate_live_rows(struct translate *work, uint64_t fragment)
{
	const struct translate_live *live = &work->live;
	size_t slot = fragment % TRANSLATE_LIVE;

	return live->fragment[slot] == fragment ? live->rows[slot]
						: translate_look_up(work, fragment);
}

/* An address in a live fragment of so many rows; one beyond them stays unknown. */
static inline void
translate_settle(struct translate *work, uint64_t row_addr, uint32_t place, uint64_t rows)
{
	if (rows == TRANSLATE_LOST) {
		work->fates[place] = LANCET_ROW_FAILED;
	} else if ((uint32_t)row_addr < rows) {
		work->fates[place] = LANCET_ROW_CURRENT;
		work->current[place] = row_addr;
	}
}

#endif
