/* Rows by id, in the order asked for.
 *
 * The rows of a batch are read fragment by fragment in ascending order, each once, and then put in
 * the order they were asked for. An id that no live row has is left out. Memory: a few words for
 * each id, and one batch.
 */
#include "scan_state.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"
#include "version.h"

/* A row of the batch: where it is, and its place in the order asked for. */
struct scan_place {
	uint64_t address;
	size_t position;
};

struct scan_rows {
	uint64_t *addresses; /* of all rows asked for; SCAN_NO_ADDRESS: none */
	size_t count, at;
	bool live; /* every address is that of a live row */
	/* Live ones among the next addresses, and how many of these were given. */
	uint64_t *chunk;
	size_t chunk_count, chunk_at, chunk_capacity;
	struct scan_place *places;
	size_t *sources; /* by position in the batch: which of the rows as they were read */
};

int
scan_rows_open(lancet_scan *scan, const uint64_t *ids, size_t count, struct lancet_error *err)
{
	struct scan_rows *rows = calloc(1, sizeof(*rows));

	scan->by_id = rows;
	if (rows == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "rows by id");
	rows->count = count;
	rows->live = lancet_version_info(scan->version)->stable_row_ids;
	rows->chunk_capacity = scan->batch_rows < count ? (size_t)scan->batch_rows : count;
	rows->addresses = calloc(count + 1, sizeof(*rows->addresses));
	rows->chunk = calloc(rows->chunk_capacity + 1, sizeof(*rows->chunk));
	rows->places = calloc(rows->chunk_capacity + 1, sizeof(*rows->places));
	rows->sources = calloc(rows->chunk_capacity + 1, sizeof(*rows->sources));
	if (rows->addresses == NULL || rows->chunk == NULL || rows->places == NULL ||
		rows->sources == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu rows by id", count);
	if (rows->live)
		return scan_ids_resolve(scan, ids, count, rows->addresses, err);
	memcpy(rows->addresses, ids, count * sizeof(*ids));
	return LANCET_OK;
}

void
scan_rows_free(struct scan_rows *rows)
{
	if (rows == NULL)
		return;
	free(rows->addresses);
	free(rows->chunk);
	free(rows->places);
	free(rows->sources);
	free(rows);
}

static int
compare_places(const void *left, const void *right)
{
	const struct scan_place *a = left;
	const struct scan_place *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->position > b->position) - (a->position < b->position);
}

static void
sort_places(struct scan_place *places, const uint64_t *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++)
		places[i] = (struct scan_place){ addresses[i], i };
	qsort(places, count, sizeof(*places), compare_places);
}

/* The fragment of an address; NULL when there is none. */
static int
get_fragment(lancet_scan *scan, uint64_t address, struct scan_fragment **ret_fragment,
	struct lancet_error *err)
{
	uint64_t ordinal;
	int rc = lancet_version_find_fragment(scan->version, address >> 32, &ordinal, NULL);

	*ret_fragment = NULL;
	if (rc == LANCET_NOT_FOUND)
		return LANCET_OK;
	if (rc != LANCET_OK)
		return lancet_fail(err, LANCET_CORRUPT, "fragment %" PRIu64, address >> 32);
	return scan_fragment_get(scan, ordinal, ret_fragment, err);
}

static bool
is_live(const struct scan_fragment *fragment, uint64_t row)
{
	uint8_t deleted;

	if (row >= lancet_fragment_info(fragment->fragment)->physical_rows)
		return false;
	lancet_deletion_marks(fragment->deletion, row, 1, &deleted);
	return !deleted;
}

/* Takes the addresses out of the chunk that no live row has. */
static int
drop_dead(lancet_scan *scan, struct scan_rows *rows, struct lancet_error *err)
{
	struct scan_fragment *fragment = NULL;
	size_t kept = 0;

	sort_places(rows->places, rows->chunk, rows->chunk_count);
	for (size_t i = 0; i < rows->chunk_count; i++) {
		const struct scan_place *place = &rows->places[i];

		if (i == 0 || place->address >> 32 != rows->places[i - 1].address >> 32) {
			TRY(get_fragment(scan, place->address, &fragment, err));
			if (fragment != NULL)
				TRY(scan_fragment_deletion(fragment, err));
		}
		if (fragment == NULL || !is_live(fragment, (uint32_t)place->address))
			rows->chunk[place->position] = SCAN_NO_ADDRESS;
	}
	for (size_t i = 0; i < rows->chunk_count; i++) {
		if (rows->chunk[i] != SCAN_NO_ADDRESS)
			rows->chunk[kept++] = rows->chunk[i];
	}
	rows->chunk_count = kept;
	return LANCET_OK;
}

/* Fills the chunk with what comes next and is wanted; it stays empty at the end. */
static int
next_chunk(lancet_scan *scan, struct scan_rows *rows, struct lancet_error *err)
{
	while (rows->chunk_at == rows->chunk_count && rows->at < rows->count) {
		rows->chunk_at = rows->chunk_count = 0;
		while (rows->at < rows->count && rows->chunk_count < rows->chunk_capacity) {
			uint64_t address = rows->addresses[rows->at++];

			if (address != SCAN_NO_ADDRESS)
				rows->chunk[rows->chunk_count++] = address;
		}
		if (!rows->live)
			TRY(drop_dead(scan, rows, err));
		rows->chunk_at =
			scan->offset < rows->chunk_count ? (size_t)scan->offset : rows->chunk_count;
		scan->offset -= rows->chunk_at;
	}
	return LANCET_OK;
}

/* Reads the rows of places [first, end), which are of one fragment, each once. */
static int
read_group(lancet_scan *scan, struct scan_rows *rows, size_t first, size_t end, size_t *read,
	struct lancet_error *err)
{
	struct scan_selection *selection = &scan->selection;
	struct scan_fragment *fragment;

	selection->count = 0;
	selection->rows = 0;
	for (size_t i = first; i < end; i++) {
		const struct scan_place *place = &rows->places[i];

		if (i == first || place->address != place[-1].address) {
			TRY(scan_select(selection, (uint32_t)place->address, 1, err));
			++*read;
		}
		rows->sources[place->position] = *read - 1;
	}
	TRY(get_fragment(scan, rows->places[first].address, &fragment, err));
	if (fragment == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "fragment %" PRIu64 " is gone",
			rows->places[first].address >> 32);
	return scan_append(scan, fragment, selection->ranges, selection->count, err);
}

/* Puts the rows of a column, as they were read, in the order asked for. */
static int
reorder(lancet_scan *scan, size_t column, const size_t *sources, size_t count,
	struct lancet_error *err)
{
	struct array *read = &scan->arrays[column];
	struct array ordered;
	int rc;

	TRY(array_init(&ordered, scan->fields[column], &scan->budget, err));
	rc = LANCET_OK;
	for (size_t first = 0, end; rc == LANCET_OK && first < count; first = end) {
		end = first + 1;
		while (end < count && sources[end] == sources[end - 1] + 1)
			end++;
		rc = array_append_range(&ordered, read, sources[first], end - first, err);
	}
	if (rc != LANCET_OK) {
		array_release(&ordered);
		return rc;
	}
	array_release(read);
	*read = ordered;
	return LANCET_OK;
}

static bool
in_order(const size_t *sources, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (sources[i] != i)
			return false;
	}
	return true;
}

static int
fill(lancet_scan *scan, struct scan_rows *rows, size_t count, struct lancet_error *err)
{
	size_t read = 0;

	TRY(scan_begin(scan, count, err));
	sort_places(rows->places, rows->chunk + rows->chunk_at, count);
	for (size_t first = 0, end; first < count; first = end) {
		end = first + 1;
		while (end < count &&
			rows->places[end].address >> 32 == rows->places[first].address >> 32)
			end++;
		TRY(read_group(scan, rows, first, end, &read, err));
	}
	if (!in_order(rows->sources, count)) {
		for (size_t i = 0; i < scan->column_count; i++)
			TRY(reorder(scan, i, rows->sources, count, err));
	}
	return scan_end(scan, count, err);
}

int
scan_rows_next(lancet_scan *scan, uint64_t *ret_rows, struct lancet_error *err)
{
	struct scan_rows *rows = scan->by_id;
	uint64_t count;
	int rc;

	TRY(next_chunk(scan, rows, err));
	if (rows->chunk_at == rows->chunk_count) {
		*ret_rows = 0;
		return LANCET_OK;
	}
	do {
		count = rows->chunk_count - rows->chunk_at;
		count = count < scan->limit ? count : scan->limit;
		count = count < scan->rows_now ? count : scan->rows_now;
		rc = fill(scan, rows, (size_t)count, err);
	} while (rc == LANCET_LIMIT && scan_shorten(scan, count));
	if (rc != LANCET_OK)
		return rc;
	rows->chunk_at += (size_t)count;
	scan->limit -= count;
	*ret_rows = count;
	return LANCET_OK;
}
