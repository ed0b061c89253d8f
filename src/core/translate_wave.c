/* One step of all addresses under way. See translate.h.
 *
 * A transition is followed when nothing can reach it any more from those that are followed before
 * it, so that addresses of all ages share one pass over its row map; the others wait. Transitions
 * are in lineage order, and so the last one of those that make its sources rises with the number of
 * the transition: the first that must wait is found by halving. Waiting is never needed for the
 * result to be right.
 */
#include "translate.h"

#include <stdlib.h>
#include <string.h>

#include "util/macros.h"

#define FRAGMENT_BITS (UINT64_C(0xffffffff) << 32)
#define WAIT_ITEMS    4096u /* fewer addresses are not worth the search for what waits */

static int
compare_firsts(const void *a, const void *b)
{
	const struct translate_run *left = a, *right = b;

	if (left->transition != right->transition)
		return left->transition < right->transition ? -1 : 1;
	return (left->first > right->first) - (left->first < right->first);
}

static int
compare_begins(const void *a, const void *b)
{
	const struct translate_run *left = a, *right = b;

	return (left->begin > right->begin) - (left->begin < right->begin);
}

static void
sort_runs(struct translate_run *runs, size_t count, int (*compare)(const void *, const void *))
{
	size_t i = 1;

	while (i < count && compare(&runs[i - 1], &runs[i]) <= 0)
		i++;
	if (i < count)
		qsort(runs, count, sizeof(*runs), compare);
}

/* What came of the gathered rows: done, or an item of `next`. */
static void
hand_over(struct translate *work)
{
	uint64_t fragment = UINT64_MAX, rows = TRANSLATE_GONE;
	struct translate_items *next = &work->next;

	for (size_t i = 0; i < work->row_count; i++) {
		uint64_t row_addr = work->went[i];
		uint32_t place = work->row_places[i];

		if (row_addr == LANCET_NO_ROW) {
			work->fates[place] = LANCET_ROW_DELETED;
			continue;
		}
		if (row_addr >> 32 != fragment) {
			fragment = row_addr >> 32;
			rows = translate_live_rows(work, fragment);
		}
		if (rows == TRANSLATE_GONE) {
			next->row_addrs[next->count] = row_addr;
			next->places[next->count++] = place;
		} else {
			translate_settle(work, row_addr, place, rows);
		}
	}
}

static void
locate(struct translate *work, lancet_row_mapping *mapping)
{
	struct lancet_error failure = { 0 };
	int rc = mapping_locate(mapping, work->rows, work->row_count, work->went, &failure);

	if (rc == LANCET_OK) {
		hand_over(work);
	} else {
		translate_keep_failure(work, rc, &failure);
		for (size_t i = 0; i < work->row_count; i++)
			work->fates[work->row_places[i]] = LANCET_ROW_FAILED;
	}
	work->row_count = 0;
}

/* The rows of a run are numbered, and located as soon as there are many. */
static void
gather(struct translate *work, lancet_row_mapping *mapping, const struct translate_run *run)
{
	size_t begin = run->begin;

	while (begin < run->end) {
		size_t room = work->row_capacity - work->row_count;
		size_t some = run->end - begin < room ? run->end - begin : room;
		const uint64_t *row_addrs = work->now.row_addrs + begin;
		uint64_t *rows = work->rows + work->row_count;

		for (size_t i = 0; i < some; i++)
			rows[i] = run->first + (uint32_t)row_addrs[i];
		memcpy(work->row_places + work->row_count, work->now.places + begin,
			some * sizeof(*work->row_places));
		work->row_count += some;
		begin += some;
		if (work->row_count == work->row_capacity)
			locate(work, mapping);
	}
}

/* All runs of one transition, in the order of its sources. Rows ascend on both sides, so what a
 * fragment gets is in order. */
static void
follow(struct translate *work, const struct translate_run *runs, size_t count)
{
	struct lancet_error failure = { 0 };
	lancet_row_mapping *mapping = NULL;
	int rc =
		mapping_open_kept(work->version, work->reuse, runs->transition, &mapping, &failure);

	if (rc != LANCET_OK) {
		translate_keep_failure(work, rc, &failure);
		for (size_t i = 0; i < count; i++)
			translate_fail(work, runs[i].begin, runs[i].end);
		return;
	}
	for (size_t i = 0; i < count; i++)
		gather(work, mapping, &runs[i]);
	locate(work, mapping);
	lancet_row_mapping_free(mapping);
}

/* How many of the runs, sorted by transition, are followed now. */
static size_t
runs_to_follow(const struct translate *work, const struct translate_run *runs, size_t count)
{
	size_t low = 0, high = count;

	if (work->now.count < WAIT_ITEMS || runs[0].transition == runs[count - 1].transition)
		return count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (runs[middle].transition == runs[0].transition ||
			work->reuse->transitions[runs[middle].transition].fed_end <=
				runs[0].transition)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Keeps in `now` the items of these runs and no others. */
static void
keep_runs(struct translate *work, struct translate_run *runs, size_t count)
{
	struct translate_items *now = &work->now;
	size_t kept = 0;

	sort_runs(runs, count, compare_begins);
	for (size_t i = 0; i < count; i++) {
		size_t size = runs[i].end - runs[i].begin;

		memmove(now->row_addrs + kept, now->row_addrs + runs[i].begin,
			size * sizeof(*now->row_addrs));
		memmove(now->places + kept, now->places + runs[i].begin,
			size * sizeof(*now->places));
		kept += size;
	}
	now->count = kept;
}

/* `now` becomes what waits and what came out, in order. */
static void
join(struct translate *work)
{
	struct translate_items *now = &work->now, *next = &work->next;
	const struct translate_items rest = { now->row_addrs + now->count, now->places + now->count,
		0 };

	/* what one fragment got is in order already: it is made by one transition */
	translate_sort(next, &rest, FRAGMENT_BITS);
	if (now->count > 0) {
		translate_merge(now, next);
	} else {
		const struct translate_items swapped = *now;

		*now = *next;
		*next = swapped;
	}
	next->count = 0;
}

int
translate_wave(struct translate *work, struct lancet_error *err)
{
	struct translate_run *runs;
	size_t count, followed = 0;

	TRY(translate_find_runs(work, err));
	runs = (struct translate_run *)(void *)work->runs.data;
	count = work->runs.size / sizeof(*runs);
	work->next.count = 0;
	if (count > 0) {
		sort_runs(runs, count, compare_firsts);
		followed = runs_to_follow(work, runs, count);
	}
	for (size_t begin = 0, end; begin < followed; begin = end) {
		for (end = begin + 1;
			end < followed && runs[end].transition == runs[begin].transition;)
			end++;
		follow(work, runs + begin, end - begin);
	}
	keep_runs(work, runs + followed, count - followed);
	join(work);
	return LANCET_OK;
}
