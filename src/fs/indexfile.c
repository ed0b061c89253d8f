/* Fragment ids of an index and of its segments, a line each. SPEC section 3. */
#include "indexfile.h"

#include <stdlib.h>
#include <string.h>

#include "columnfile.h"
#include "kinds.h"
#include "render.h"
#include "util/macros.h"

static int
compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Adds the ids of a segment to those in *ids. */
static int
add_ids(const struct lancet_index_segment *segment, uint32_t **ids, size_t *count,
	struct lancet_error *err)
{
	uint32_t *more = NULL, *grown;
	size_t more_count = 0;

	TRY(lancet_index_segment_fragments(segment, &more, &more_count, err));
	grown = realloc(*ids, (*count + more_count + 1) * sizeof(*grown));
	if (grown == NULL) {
		free(more);
		return lancet_fail(err, LANCET_NO_MEMORY, "fragment_bitmap: out of memory");
	}
	memcpy(grown + *count, more, more_count * sizeof(*grown));
	free(more);
	*ids = grown;
	*count += more_count;
	return LANCET_OK;
}

/* All ids once, ascending. */
static size_t
sort_ids(uint32_t *ids, size_t count)
{
	size_t kept = 0;

	qsort(ids, count, sizeof(*ids), compare_ids);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || ids[kept - 1] != ids[i])
			ids[kept++] = ids[i];
	}
	return kept;
}

int
records_index_bitmap(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	const struct lancet_index *index = NULL;
	uint32_t *ids = NULL;
	size_t count = 0;
	int rc;

	TRY(index_of(ref, &index, err));
	rc = LANCET_OK;
	for (size_t i = 0; i < index->segment_count && rc == LANCET_OK; i++) {
		rc = add_ids(index->segments[i], &ids, &count, err);
		if (rc == LANCET_OK && i > 0)
			count = sort_ids(ids, count);
	}
	if (rc != LANCET_OK) {
		free(ids);
		return rc;
	}
	*ret_records = records_of_ids(ids, count);
	return LANCET_OK;
}

int
records_segment_bitmap(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	const struct lancet_index_segment *segment = NULL;
	uint32_t *ids = NULL;
	size_t count = 0;

	TRY(segment_of(ref, &segment, err));
	TRY(lancet_index_segment_fragments(segment, &ids, &count, err));
	*ret_records = records_of_ids(ids, count);
	return LANCET_OK;
}

static enum lancet_coverage
coverage_of(unsigned kind)
{
	if (kind == NODE_UNINDEXED)
		return LANCET_UNINDEXED;
	return kind == NODE_INDEX_COVERED || kind == NODE_SEGMENT_COVERED ? LANCET_COVERED
									  : LANCET_RETIRED;
}

/* What a kind of file lists; of a segment, or of the whole index (NULL). */
static int
records_reach(const struct node_ref *ref, const struct lancet_index_segment *segment,
	struct records *ret_records, struct lancet_error *err)
{
	const struct lancet_index *index = NULL;
	uint32_t *ids = NULL;
	size_t count = 0;

	TRY(index_of(ref, &index, err));
	TRY(lancet_index_coverage(
		ref->version, index, segment, coverage_of(ref->kind->id), &ids, &count, err));
	*ret_records = records_of_ids(ids, count);
	return LANCET_OK;
}

int
records_index_coverage(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	return records_reach(ref, NULL, ret_records, err);
}

int
records_segment_coverage(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	const struct lancet_index_segment *segment = NULL;

	TRY(segment_of(ref, &segment, err));
	return records_reach(ref, segment, ret_records, err);
}
