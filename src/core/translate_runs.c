/* Addresses under way, fragment by fragment: those in live fragments are done, those in others wait
 * for the transition that consumes the fragment. */
#include "translate.h"

#include "util/macros.h"
#include "version.h"

void
translate_keep_failure(struct translate *work, int code, const struct lancet_error *failure)
{
	if (work->code != LANCET_OK)
		return;
	work->code = code;
	if (work->err != NULL)
		*work->err = *failure;
}

void
translate_fail(struct translate *work, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		work->fates[work->now.places[i]] = LANCET_ROW_FAILED;
}

/* Only a version of an old writer has fragments whose rows are not recorded. */
static uint64_t
count_rows(struct translate *work, uint64_t ordinal)
{
	struct lancet_fragment_span span;
	struct lancet_error failure = { 0 };
	lancet_fragment *fragment = NULL;
	uint64_t rows;
	int rc;

	lancet_version_span(work->version, ordinal, &span);
	if (!work->version->counts_missing)
		return span.physical_rows;
	rc = lancet_fragment_open(work->version, ordinal, &fragment, &failure);
	if (rc != LANCET_OK) {
		translate_keep_failure(work, rc, &failure);
		return TRANSLATE_LOST;
	}
	rows = lancet_fragment_info(fragment)->physical_rows;
	lancet_fragment_unref(fragment);
	return rows;
}

uint64_t
translate_look_up(struct translate *work, uint64_t fragment)
{
	size_t slot = fragment % TRANSLATE_LIVE;
	uint64_t ordinal = 0;

	work->live.fragment[slot] = fragment;
	work->live.rows[slot] = TRANSLATE_GONE;
	if (lancet_version_find_fragment(work->version, fragment, &ordinal, NULL) == LANCET_OK)
		work->live.rows[slot] = count_rows(work, ordinal);
	return work->live.rows[slot];
}

/* The end of the run that starts at begin: near, when runs are short. */
static size_t
run_end(const struct translate_items *items, size_t begin)
{
	uint64_t last = items->row_addrs[begin] | UINT32_MAX;
	size_t step = 1, low = begin, high;

	while (step < items->count - low && items->row_addrs[low + step] <= last) {
		low += step;
		step *= 2;
	}
	high = step < items->count - low ? low + step : items->count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (items->row_addrs[middle] <= last)
			low = middle;
		else
			high = middle;
	}
	return low + 1;
}

/* What is wrong with a history as a whole fails the addresses that need it. */
static void
ask_reuse(struct translate *work)
{
	struct lancet_error failure = { 0 };
	lancet_reuse *reuse = NULL;
	int rc;

	if (work->reuse_asked)
		return;
	work->reuse_asked = true;
	rc = lancet_version_reuse(work->version, &reuse, &failure);
	if (rc == LANCET_OK) {
		work->reuse = reuse;
	} else if (rc != LANCET_NOT_FOUND) {
		work->reuse_code = rc;
		translate_keep_failure(work, rc, &failure);
	}
}

/* The first of items [begin, end) whose address is not below. */
static size_t
lower_bound(const struct translate_items *items, size_t begin, size_t end, uint64_t row_addr)
{
	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;

		if (items->row_addrs[middle] < row_addr)
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

/* A run in a fragment that the transition of the edge consumes. Addresses beyond the fragment's
 * rows are left out, and so stay unknown. */
static int
put_run(struct translate *work, const struct reuse_edge *edge, size_t begin, size_t end,
	struct lancet_error *err)
{
	uint64_t behind = ((uint64_t)edge->fragment << 32) + edge->rows;
	struct translate_run run = { .transition = edge->transition,
		.first = edge->first,
		.begin = (uint32_t)begin,
		.end = (uint32_t)lower_bound(&work->now, begin, end, behind) };

	if (run.begin == run.end)
		return LANCET_OK;
	buf_put(&work->runs, &run, sizeof(run));
	return buf_check(&work->runs, "runs of row addresses", err);
}

/* A run in a fragment that is not live. */
static int
leave_fragment(struct translate *work, uint64_t fragment, size_t begin, size_t end,
	struct lancet_error *err)
{
	const struct reuse_edge *edge = NULL;
	const struct lancet_transition *transition;
	struct lancet_error failure = { 0 };

	ask_reuse(work);
	if (work->reuse != NULL)
		edge = reuse_used_by(work->reuse, fragment);
	if (work->reuse_code != LANCET_OK)
		translate_fail(work, begin, end);
	if (edge == NULL)
		return LANCET_OK; /* unknown */
	transition = lancet_reuse_transition(work->reuse, edge->transition);
	if (transition->fault == LANCET_OK)
		return put_run(work, edge, begin, end, err);
	if (transition->fault == LANCET_UNSUPPORTED)
		return LANCET_OK; /* unknown */
	(void)lancet_fail(&failure, transition->fault, "%s", transition->fault_text);
	translate_keep_failure(work, (int)transition->fault, &failure);
	translate_fail(work, begin, end);
	return LANCET_OK;
}

int
translate_find_runs(struct translate *work, struct lancet_error *err)
{
	const struct translate_items *now = &work->now;

	work->runs.size = 0;
	for (size_t begin = 0, end; begin < now->count; begin = end) {
		uint64_t fragment = now->row_addrs[begin] >> 32;
		uint64_t rows = translate_live_rows(work, fragment);

		end = run_end(now, begin);
		if (rows == TRANSLATE_GONE) {
			TRY(leave_fragment(work, fragment, begin, end, err));
			continue;
		}
		for (size_t i = begin; i < end; i++)
			translate_settle(work, now->row_addrs[i], now->places[i], rows);
	}
	return LANCET_OK;
}
