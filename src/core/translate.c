/* Translation of row addresses through the reuse history, in batches of bounded size. See
 * translate.h. */
#include "translate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/macros.h"
#include "version.h"

/* Large enough for a batch in random order to touch each block of a row map many times. */
#define BATCH_ITEMS (1u << 20)
#define ROWS_MAX    (1u << 16) /* that are located at a time */
#define ALL_BITS    UINT64_MAX

static void
release_items(struct translate_items *items)
{
	free(items->row_addrs);
	free(items->places);
}

static int
make_items(struct translate_items *items, size_t capacity, struct lancet_error *err)
{
	items->row_addrs = malloc(capacity * sizeof(*items->row_addrs));
	items->places = malloc(capacity * sizeof(*items->places));
	if (items->row_addrs == NULL || items->places == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu row addresses", capacity);
	return LANCET_OK;
}

static int
make_room(struct translate *work, size_t count, struct lancet_error *err)
{
	work->capacity = count < BATCH_ITEMS ? count : BATCH_ITEMS;
	work->row_capacity = work->capacity < ROWS_MAX ? work->capacity : ROWS_MAX;
	TRY(make_items(&work->now, work->capacity, err));
	TRY(make_items(&work->next, work->capacity, err));
	work->rows = malloc(work->row_capacity * sizeof(*work->rows));
	work->went = malloc(work->row_capacity * sizeof(*work->went));
	work->row_places = malloc(work->row_capacity * sizeof(*work->row_places));
	if (work->rows == NULL || work->went == NULL || work->row_places == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu row addresses", work->row_capacity);
	return LANCET_OK;
}

static void
release_room(struct translate *work)
{
	release_items(&work->now);
	release_items(&work->next);
	buf_release(&work->runs);
	free(work->rows);
	free(work->went);
	free(work->row_places);
}

/* Without memory nothing is known of those that were not done yet. */
static void
give_up(uint8_t *fates, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fates[i] == LANCET_ROW_UNKNOWN)
			fates[i] = LANCET_ROW_FAILED;
	}
}

static int
translate_batch(
	struct translate *work, const uint64_t *row_addrs, size_t count, struct lancet_error *err)
{
	struct translate_items *now = &work->now;

	memcpy(now->row_addrs, row_addrs, count * sizeof(*row_addrs));
	for (size_t i = 0; i < count; i++)
		now->places[i] = (uint32_t)i;
	now->count = count;
	translate_sort(now, &work->next, ALL_BITS);
	while (now->count > 0)
		TRY(translate_wave(work, err));
	return LANCET_OK;
}

static int
translate_all(struct translate *work, const uint64_t *row_addrs, size_t count, uint64_t *current,
	uint8_t *fates, struct lancet_error *err)
{
	TRY(make_room(work, count, err));
	for (size_t done = 0; done < count;) {
		size_t some = count - done < work->capacity ? count - done : work->capacity;

		work->current = current + done;
		work->fates = fates + done;
		TRY(translate_batch(work, row_addrs + done, some, err));
		done += some;
	}
	return LANCET_OK;
}

int
lancet_translate(lancet_version *version, const uint64_t *row_addrs, size_t count,
	uint64_t *current, uint8_t *fates, struct lancet_error *err)
{
	struct translate work = { .version = version, .err = err };
	struct lancet_error failure = { 0 };
	int rc;

	if (count == 0)
		return LANCET_OK;
	memset(work.live.fragment, 0xff, sizeof(work.live.fragment));
	memset(fates, LANCET_ROW_UNKNOWN, count);
	for (size_t i = 0; i < count; i++)
		current[i] = LANCET_NO_ROW;
	rc = translate_all(&work, row_addrs, count, current, fates, &failure);
	if (rc != LANCET_OK) {
		give_up(fates, count);
		if (work.code == LANCET_OK && err != NULL)
			*err = failure;
	}
	release_room(&work);
	return work.code != LANCET_OK ? work.code : rc;
}
