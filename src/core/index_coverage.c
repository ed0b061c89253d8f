/* What the fragment bitmaps of an index say about the live fragments.
 *
 * Format facts: IndexMetadata, coverage seen by readers.
 */
#include "index_set.h"

#include <inttypes.h>
#include <stdlib.h>

#include "index_reach.h"
#include "util/macros.h"
#include "version.h"

#define FRAGMENTS_MAX (UINT64_C(1) << 24) /* ids that are listed one by one */

int
lancet_index_segment_fragments(const struct lancet_index_segment *segment, uint32_t **ret_ids,
                               size_t *ret_count, struct lancet_error *err)
{
	roaring_bitmap_t *bitmap;
	uint64_t count;
	uint32_t *ids;

	TRY(segment_bitmap_load(segment, FRAGMENTS_MAX, &bitmap, err));
	count = roaring_bitmap_get_cardinality(bitmap);
	ids = calloc((size_t)count + 1, sizeof(*ids));
	if (ids != NULL)
		roaring_bitmap_to_uint32_array(bitmap, ids);
	roaring_bitmap_free(bitmap);
	if (ids == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%" PRIu64 " fragment ids", count);
	*ret_ids = ids;
	*ret_count = (size_t)count;
	return LANCET_OK;
}

/* Adds the live rows of all fragments of that id. */
static void
add_rows(struct index_extent *extent, const struct lancet_version *version, uint32_t id)
{
	uint64_t i = version_first_span(version, id);

	for (; i < version->info.fragment_count && version->spans[i].id == id; i++) {
		const struct fragment_span *span = &version->spans[i];

		if (span->physical_rows == 0 || span->deleted_rows > span->physical_rows)
			extent->known = false;
		else
			extent->rows += span->physical_rows - span->deleted_rows;
	}
}

int
index_extent_of(const lancet_version *version, struct index_reach *reach,
                const struct lancet_index_segment *segment, struct index_extent *ret_extent,
                struct lancet_error *err)
{
	struct index_extent extent = { .known = true };
	struct lancet_error damage = { 0 };
	int rc = reach == NULL ? LANCET_CORRUPT : index_reach_follow(reach, segment, &damage);

	if (rc == LANCET_NO_MEMORY)
		return lancet_fail(err, rc, "%s", damage.text);
	if (rc != LANCET_OK) {
		*ret_extent = (struct index_extent){ 0 };
		return LANCET_OK;
	}
	for (size_t i = 0; i < reach->met_count; i++) {
		uint32_t place = reach->met[i];
		uint16_t marks = reach->graph.marks[place];

		if (place_is_covered(marks))
			add_rows(&extent, version, reach->graph.ids[place]);
		if (place_is_retired(marks))
			extent.retired++;
	}
	*ret_extent = extent;
	return LANCET_OK;
}

static bool
is_asked(uint16_t marks, enum lancet_coverage which)
{
	if (which == LANCET_RETIRED)
		return (marks & PLACE_RETIRED) != 0;
	return (marks & PLACE_LIVE) != 0 &&
	       ((marks & PLACE_COVERED) != 0) == (which == LANCET_COVERED);
}

/* An id that no index can name would have to be listed. */
static int
check_ids(const struct lancet_version *version, struct lancet_error *err)
{
	uint64_t beyond = version_first_span(version, FRAGMENT_ID_END);

	if (beyond == version->info.fragment_count)
		return LANCET_OK;
	return lancet_fail(err, LANCET_CORRUPT,
	                   "fragment %" PRIu64 ": id does not fit a row address",
	                   version->spans[beyond].id);
}

static int
collect(const struct reach_graph *graph, enum lancet_coverage which, uint32_t **ret_ids,
        size_t *ret_count, struct lancet_error *err)
{
	uint32_t *ids = calloc(graph->count + 1, sizeof(*ids));
	size_t count = 0;

	if (ids == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu fragments", graph->count);
	for (size_t i = 0; i < graph->count; i++)
		if (is_asked(graph->marks[i], which))
			ids[count++] = graph->ids[i];
	*ret_ids = ids;
	*ret_count = count;
	return LANCET_OK;
}

int
lancet_index_coverage(lancet_version *version, const struct lancet_index *index,
                      const struct lancet_index_segment *segment, enum lancet_coverage which,
                      uint32_t **ret_ids, size_t *ret_count, struct lancet_error *err)
{
	struct index_reach *reach;
	int rc;

	if (which == LANCET_UNINDEXED)
		TRY(check_ids(version, err));
	TRY(index_reach_open(version, index, &reach, err));
	rc = index_reach_follow(reach, segment, err);
	if (rc == LANCET_OK)
		rc = collect(&reach->graph, which, ret_ids, ret_count, err);
	index_reach_free(reach);
	return rc;
}
