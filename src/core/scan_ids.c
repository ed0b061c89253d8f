/* From stable row ids to row addresses: a search through the row id sequences, or a look-up in the
 * table of a version that was searched a lot (id_index.h).
 *
 * All ids are looked for at once, fragment after fragment, until every one is found. Updates leave
 * dead rows behind that have the id of a live one, so each row that is found is looked up in its
 * deletion vector.
 */
#include "scan_state.h"

#include <inttypes.h>
#include <stdlib.h>

#include "dataset.h"
#include "util/macros.h"

struct id_search {
	struct scan_fragment *fragment;
	uint64_t *wanted;    /* ascending, each once */
	uint64_t *addresses; /* of the wanted ids */
	size_t count, missing;
	uint64_t decoded; /* values, to find them */
};

static int
compare_numbers(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static int
found(void *user, uint64_t row, size_t index, struct lancet_error *err)
{
	struct id_search *search = user;
	uint8_t deleted;

	if (search->addresses[index] != SCAN_NO_ADDRESS)
		return LANCET_OK;
	TRY(scan_fragment_deletion(search->fragment, err));
	lancet_deletion_marks(search->fragment->deletion, row, 1, &deleted);
	if (deleted)
		return LANCET_OK;
	search->addresses[index] =
		(lancet_fragment_info(search->fragment->fragment)->id << 32) + row;
	search->missing--;
	return LANCET_OK;
}

static int
search_fragment(
	lancet_scan *scan, uint64_t ordinal, struct id_search *search, struct lancet_error *err)
{
	lancet_column **column;
	uint64_t before;
	int rc;

	TRY(scan_fragment_get(scan, ordinal, &search->fragment, err));
	column = &search->fragment->lineage[SCAN_ROW_ID];
	if (*column == NULL)
		TRY(lancet_column_open(search->fragment->fragment, LANCET_ROW_ID, column, err));
	before = column_decoded(*column);
	rc = column_find(*column, search->wanted, search->count, found, search, err);
	search->decoded += column_decoded(*column) - before;
	return rc;
}

static size_t
wanted_index(const struct id_search *search, uint64_t id)
{
	const uint64_t *at =
		bsearch(&id, search->wanted, search->count, sizeof(id), compare_numbers);

	return (size_t)(at - search->wanted);
}

/* Whether the version has a table. */
static bool
look_up(lancet_scan *scan, const uint64_t *ids, size_t count, uint64_t *addresses)
{
	struct dataset_shared *shared = scan->version->dataset->shared;
	struct id_index *index =
		id_index_get(&shared->ids, scan->version, shared->cache.budget / 2);

	for (size_t i = 0; index != NULL && i < count; i++)
		addresses[i] = id_index_address(index, ids[i]);
	id_index_put(&shared->ids, index);
	return index != NULL;
}

int
scan_ids_resolve(lancet_scan *scan, const uint64_t *ids, size_t count, uint64_t *addresses,
	struct lancet_error *err)
{
	lancet_autofree uint64_t *wanted = calloc(count + 1, sizeof(*wanted));
	lancet_autofree uint64_t *places = calloc(count + 1, sizeof(*places));
	struct id_search search = { .wanted = wanted, .addresses = places };

	if (look_up(scan, ids, count, addresses))
		return LANCET_OK;
	if (wanted == NULL || places == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu row ids", count);
	memcpy(wanted, ids, count * sizeof(*ids));
	qsort(wanted, count, sizeof(*wanted), compare_numbers);
	for (size_t i = 0; i < count; i++) {
		if (search.count == 0 || wanted[i] != wanted[search.count - 1])
			wanted[search.count++] = wanted[i];
	}
	for (size_t i = 0; i < search.count; i++)
		places[i] = SCAN_NO_ADDRESS;
	search.missing = search.count;
	for (uint64_t i = 0; i < scan->fragment_count && search.missing > 0; i++)
		TRY(search_fragment(scan, i, &search, err));
	id_index_searched(&scan->version->dataset->shared->ids, scan->version, search.decoded);
	for (size_t i = 0; i < count; i++)
		addresses[i] = places[wanted_index(&search, ids[i])];
	return LANCET_OK;
}
