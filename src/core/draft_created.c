/* Where updated rows come from: the created-at versions of rows by their ids.
 *
 * An id may stand in several fragments, deleted in all but one; each of them says the same of when
 * the row was made, so the first that is found does. Format facts: updates.
 */
#include "draft_lineage.h"

#include <inttypes.h>
#include <stdlib.h>

#include "column.h"
#include "util/macros.h"

/* Rows of one fragment whose ids are wanted. */
struct hit {
	uint64_t row;
	size_t index; /* of the id */
};

struct search {
	const uint64_t *ids;
	size_t count, missing;
	uint64_t *versions;
	struct hit *hits; /* room for `count` */
	size_t hit_count;
	uint64_t *values;
	struct row_range *ranges;
};

static int
note_hit(void *user, uint64_t row, size_t index, struct lancet_error *err)
{
	struct search *search = user;

	if (search->versions[index] != 0)
		return LANCET_OK;
	if (search->hit_count == search->count)
		return lancet_fail(
			err, LANCET_CORRUPT, "row id %" PRIu64 " comes twice", search->ids[index]);
	search->hits[search->hit_count++] = (struct hit){ row, index };
	return LANCET_OK;
}

static int
compare_hits(const void *left, const void *right)
{
	const struct hit *a = left;
	const struct hit *b = right;

	return (a->row > b->row) - (a->row < b->row);
}

static size_t
fill_ranges(struct search *search)
{
	size_t count = 0;

	qsort(search->hits, search->hit_count, sizeof(*search->hits), compare_hits);
	for (size_t i = 0; i < search->hit_count; i++) {
		struct row_range *last = count == 0 ? NULL : &search->ranges[count - 1];

		if (last != NULL && last->first + last->count == search->hits[i].row)
			last->count++;
		else
			search->ranges[count++] = (struct row_range){ search->hits[i].row, 1 };
	}
	return count;
}

static int
take_versions(struct search *search, struct lancet_error *err)
{
	for (size_t i = 0; i < search->hit_count; i++) {
		uint64_t *version = &search->versions[search->hits[i].index];

		if (search->values[i] == 0)
			return lancet_fail(err, LANCET_CORRUPT, "row %" PRIu64 " was created at 0",
				search->hits[i].row);
		search->missing -= *version == 0;
		*version = search->values[i];
	}
	return LANCET_OK;
}

static int
search_ids(lancet_fragment *fragment, struct search *search, struct lancet_error *err)
{
	lancet_column *column = NULL;
	int rc;

	search->hit_count = 0;
	TRY(lancet_column_open(fragment, LANCET_ROW_ID, &column, err));
	rc = column_find(column, search->ids, search->count, note_hit, search, err);
	lancet_column_free(column);
	return rc;
}

static int
read_versions(lancet_fragment *fragment, struct search *search, struct lancet_error *err)
{
	lancet_column *column = NULL;
	int rc;

	if (search->hit_count == 0)
		return LANCET_OK;
	TRY(lancet_column_open(fragment, LANCET_CREATED_AT, &column, err));
	rc = column_read_ranges(column, search->ranges, fill_ranges(search), search->values, err);
	lancet_column_free(column);
	return rc == LANCET_OK ? take_versions(search, err) : rc;
}

static int
search_fragment(
	lancet_version *version, uint64_t ordinal, struct search *search, struct lancet_error *err)
{
	lancet_fragment *fragment = NULL;
	int rc;

	TRY(lancet_fragment_open(version, ordinal, &fragment, err));
	rc = search_ids(fragment, search, err);
	if (rc == LANCET_OK)
		rc = read_versions(fragment, search, err);
	if (rc != LANCET_OK)
		lancet_wrap(err, rc, "fragment %" PRIu64, lancet_fragment_info(fragment)->id);
	lancet_fragment_unref(fragment);
	return rc;
}

static int
search_version(lancet_version *version, const struct numbers *sources, struct search *search,
	struct lancet_error *err)
{
	for (size_t i = 0; i < sources->count && search->missing > 0; i++) {
		uint64_t ordinal;

		TRY(lancet_version_find_fragment(version, sources->values[i], &ordinal, err));
		TRY(search_fragment(version, ordinal, search, err));
	}
	for (uint64_t i = 0; i < version->info.fragment_count && search->missing > 0; i++)
		if (numbers_find(sources, version->spans[i].id) == SIZE_MAX)
			TRY(search_fragment(version, i, search, err));
	return LANCET_OK;
}

int
created_find(struct draft *draft, const struct numbers *sources, const uint64_t *ids, size_t count,
	uint64_t *versions, struct lancet_error *err)
{
	lancet_autofree struct hit *hits = calloc(count, sizeof(*hits));
	lancet_autofree uint64_t *values = calloc(count, sizeof(*values));
	lancet_autofree struct row_range *ranges = calloc(count, sizeof(*ranges));
	struct search search = { .ids = ids,
		.count = count,
		.missing = count,
		.versions = versions,
		.hits = hits,
		.values = values,
		.ranges = ranges };

	if (hits == NULL || values == NULL || ranges == NULL)
		return draft_no_memory(err);
	memset(versions, 0, count * sizeof(*versions));
	return search_version(draft->newest, sources, &search, err);
}
