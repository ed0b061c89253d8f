/* What the fragment bitmaps of an index say about the live fragments.
 *
 * A bitmap may name 2^32 ids in a few bytes, and fragments that are long gone. So bitmaps and the
 * sorted list of fragments are walked together, each skipping to where the other one is; the cost
 * follows what is stored, not what it names. Format facts: IndexMetadata.
 */
#include "index_set.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"
#include "util/roaringx.h"
#include "version.h"

#define FRAGMENT_ID_END UINT32_MAX /* ids are below it */
#define ANY_CARDINALITY (UINT64_C(1) << 32)
#define FRAGMENTS_MAX   (UINT64_C(1) << 24) /* ids that are listed one by one */

static int
load_bitmap(const struct lancet_index_segment *segment, uint64_t cardinality_max,
            roaring_bitmap_t **ret_bitmap, struct lancet_error *err)
{
	int rc;

	if (segment->bitmap.size == 0)
		return lancet_fail(err, LANCET_NOT_FOUND, "index segment %s: coverage unknown",
		                   segment->uuid_text);
	rc = roaringx_load(slice_of(segment->bitmap.data, segment->bitmap.size), FRAGMENT_ID_END,
	                   cardinality_max, ret_bitmap, err);
	return rc == LANCET_OK
		? rc
		: lancet_wrap(err, rc, "fragments of index segment %s", segment->uuid_text);
}

int
lancet_index_segment_fragments(const struct lancet_index_segment *segment, uint32_t **ret_ids,
                               size_t *ret_count, struct lancet_error *err)
{
	roaring_bitmap_t *bitmap;
	uint64_t count;
	uint32_t *ids;

	TRY(load_bitmap(segment, FRAGMENTS_MAX, &bitmap, err));
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

/* Fragments that nothing covers so far: next[i] is i for such a one, else leads to a later one. */
static uint64_t
find_uncovered(uint32_t *next, uint64_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

/* The first fragment whose id is not below `id`. */
static uint64_t
find_span(const struct lancet_version *version, uint64_t from, uint64_t id)
{
	uint64_t low = from, high = version->info.fragment_count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (version->spans[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Visits each fragment that the bitmap names. */
typedef void (*span_visitor)(void *context, const struct lancet_version *version, uint64_t ordinal);

struct visit {
	uint32_t *next; /* NULL: all fragments; else only those that are left, see find_uncovered */
	span_visitor visitor;
	void *context;
};

static uint64_t
step_to(const struct visit *visit, uint64_t ordinal)
{
	return visit->next == NULL ? ordinal : find_uncovered(visit->next, ordinal);
}

static int
visit_covered(const struct lancet_version *version, const roaring_bitmap_t *bitmap,
              const struct visit *visit, struct lancet_error *err)
{
	roaring_uint32_iterator_t *at = roaring_create_iterator(bitmap);
	uint64_t i = step_to(visit, 0);

	if (at == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "fragment bitmap");
	while (at->has_value && i < version->info.fragment_count) {
		uint64_t id = version->spans[i].id;

		if (id >= FRAGMENT_ID_END)
			break;
		if (at->current_value < id) {
			(void)roaring_move_uint32_iterator_equalorlarger(at, (uint32_t)id);
		} else if (at->current_value > id) {
			i = step_to(visit, find_span(version, i, at->current_value));
		} else {
			visit->visitor(visit->context, version, i);
			i = step_to(visit, i + 1);
		}
	}
	roaring_free_uint32_iterator(at);
	return LANCET_OK;
}

struct row_sum {
	uint64_t rows;
	bool unknown;
};

static void
add_rows(void *context, const struct lancet_version *version, uint64_t ordinal)
{
	const struct fragment_span *span = &version->spans[ordinal];
	struct row_sum *sum = context;

	if (span->physical_rows == 0 || span->deleted_rows > span->physical_rows)
		sum->unknown = true;
	else
		sum->rows += span->physical_rows - span->deleted_rows;
}

int
index_covered_rows(const lancet_version *version, const struct lancet_index_segment *segment,
                   bool *ret_known, uint64_t *ret_rows, struct lancet_error *err)
{
	struct row_sum sum = { 0 };
	struct visit visit = { NULL, add_rows, &sum };
	struct lancet_error damage = { 0 };
	roaring_bitmap_t *bitmap;
	int rc = load_bitmap(segment, ANY_CARDINALITY, &bitmap, &damage);

	if (rc == LANCET_NO_MEMORY)
		return lancet_fail(err, rc, "%s", damage.text);
	if (rc != LANCET_OK) {
		*ret_known = false;
		return LANCET_OK;
	}
	rc = visit_covered(version, bitmap, &visit, err);
	roaring_bitmap_free(bitmap);
	TRY(rc);
	*ret_known = !sum.unknown;
	*ret_rows = sum.rows;
	return LANCET_OK;
}

static void
mark_covered(void *context, const struct lancet_version *version, uint64_t ordinal)
{
	uint32_t *next = context;

	(void)version;
	next[ordinal] = (uint32_t)ordinal + 1;
}

static int
mark_segments(const struct lancet_version *version, const struct lancet_index *index,
              uint32_t *next, struct lancet_error *err)
{
	struct visit visit = { next, mark_covered, next };
	roaring_bitmap_t *bitmap;

	for (size_t i = 0; i < index->segment_count; i++) {
		int rc;

		TRY(load_bitmap(index->segments[i], ANY_CARDINALITY, &bitmap, err));
		rc = visit_covered(version, bitmap, &visit, err);
		roaring_bitmap_free(bitmap);
		TRY(rc);
	}
	return LANCET_OK;
}

int
lancet_index_unindexed(lancet_version *version, const struct lancet_index *index,
                       uint32_t **ret_ids, size_t *ret_count, struct lancet_error *err)
{
	uint64_t count = version->info.fragment_count;
	lancet_autofree uint32_t *next = calloc((size_t)count + 1, sizeof(*next));
	lancet_autofree uint32_t *ids = calloc((size_t)count + 1, sizeof(*ids));
	size_t left = 0;

	if (next == NULL || ids == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%" PRIu64 " fragments", count);
	for (uint64_t i = 0; i <= count; i++)
		next[i] = (uint32_t)i;
	TRY(mark_segments(version, index, next, err));
	for (uint64_t i = find_uncovered(next, 0); i < count; i = find_uncovered(next, i + 1)) {
		uint64_t id = version->spans[i].id;

		if (id >= FRAGMENT_ID_END)
			return lancet_fail(err, LANCET_CORRUPT,
			                   "fragment %" PRIu64 ": id does not fit a row address",
			                   id);
		if (left == 0 || ids[left - 1] != id)
			ids[left++] = (uint32_t)id;
	}
	*ret_ids = lancet_steal(&ids);
	*ret_count = left;
	return LANCET_OK;
}
