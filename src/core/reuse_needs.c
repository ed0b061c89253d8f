/* Which transitions must be kept, and for which indices.
 *
 * A unit is what is kept or dropped as one: a legacy version with all its groups, or a transition.
 * Bitmaps are stored translated at any commit, so one that names new fragments is no proof that the
 * index files hold new addresses: a legacy record is still needed by segments that are not newer
 * than it and name what it led to. A tagged one is needed while a segment names one of its sources
 * and the index does not name all that it made; a legacy record in a tagged history is held to
 * both. What is needed keeps all that its destinations lead to, since addresses must get through.
 * Format facts: trim; an entry that is dropped too early loses rows without a word.
 */
#include "index_reach.h"

#include <stdlib.h>

#include "util/macros.h"
#include "version.h"

#define NEEDS_MAX  ((size_t)1 << 22)
#define NO_SEGMENT UINT64_MAX /* later than any dataset version */

enum need { NEED_NONE, NEED_DOWNSTREAM, NEED_ITSELF };

/* Steps are transitions here, all of them. All but the list are of one index at a time. */
struct needs {
	const struct lancet_reuse *reuse;
	bool tagged;
	struct reach_graph graph;
	size_t unit_count;
	uint32_t *unit_of;  /* by step */
	size_t *unit_start; /* by unit, and one more: its steps in `members` */
	uint32_t *members;
	uint8_t *need;   /* by unit: enum need */
	uint32_t *queue; /* units that were found to be needed */
	size_t queued;
	uint64_t *oldest; /* by place: the least dataset version of the segments that name it */
	uint64_t *below;  /* by step: the least of its destinations and of all they lead to */
	struct lancet_reuse_need *list;
	size_t count, capacity;
};

static void
needs_release(struct needs *needs)
{
	reach_graph_release(&needs->graph);
	free(needs->unit_of);
	free(needs->unit_start);
	free(needs->members);
	free(needs->need);
	free(needs->queue);
	free(needs->oldest);
	free(needs->below);
	free(needs->list);
}

static const struct lancet_transition *
transition_of(const struct needs *needs, size_t step)
{
	return &needs->reuse->transitions[step].info;
}

static int
needs_allocate(struct needs *needs, struct lancet_error *err)
{
	size_t places = needs->graph.count, steps = needs->graph.step_count;

	needs->unit_of = calloc(steps + 1, sizeof(*needs->unit_of));
	needs->unit_start = calloc(needs->unit_count + 2, sizeof(*needs->unit_start));
	needs->members = calloc(steps + 1, sizeof(*needs->members));
	needs->need = calloc(needs->unit_count + 1, sizeof(*needs->need));
	needs->queue = calloc(needs->unit_count + 1, sizeof(*needs->queue));
	needs->oldest = calloc(places + 1, sizeof(*needs->oldest));
	needs->below = calloc(steps + 1, sizeof(*needs->below));
	if (needs->unit_of == NULL || needs->unit_start == NULL || needs->members == NULL ||
		needs->need == NULL || needs->queue == NULL || needs->oldest == NULL ||
		needs->below == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "needs of %zu transitions", steps);
	return LANCET_OK;
}

/* Counts the steps of each unit, then puts them one behind the other. */
static void
make_units(struct needs *needs)
{
	size_t steps = needs->graph.step_count;

	for (size_t i = 0; i < steps; i++) {
		size_t unit = needs->tagged ? i : transition_of(needs, i)->record;

		needs->unit_of[i] = (uint32_t)unit;
		needs->unit_start[unit + 2]++;
	}
	for (size_t i = 2; i < needs->unit_count + 2; i++)
		needs->unit_start[i] += needs->unit_start[i - 1];
	for (size_t i = 0; i < steps; i++)
		needs->members[needs->unit_start[needs->unit_of[i] + 1]++] = (uint32_t)i;
}

static int
needs_init(struct needs *needs, lancet_version *version, const struct lancet_reuse *reuse,
	struct lancet_error *err)
{
	needs->reuse = reuse;
	needs->tagged = reuse->info.index_version != 0;
	needs->unit_count =
		needs->tagged ? reuse->info.transition_count : reuse->info.legacy_versions;
	TRY(reach_graph_make(version, reuse, REACH_LINEAGE, &needs->graph, err));
	TRY(needs_allocate(needs, err));
	make_units(needs);
	return LANCET_OK;
}

struct naming {
	struct needs *needs;
	uint32_t *next;
	uint64_t dataset_version;
	bool any;
};

/* Segments come by dataset version, so that the first one to name a place is the oldest. */
static void
name_oldest(void *context, size_t place)
{
	struct naming *naming = context;

	naming->needs->oldest[place] = naming->dataset_version;
	naming->any = true;
	reach_close(naming->next, place);
}

static void
name_directly(void *context, size_t place)
{
	struct naming *naming = context;

	naming->needs->graph.marks[place] |= PLACE_DIRECT;
	reach_close(naming->next, place);
}

static int
visit_oldest(
	struct naming *naming, const struct lancet_index_segment *segment, struct lancet_error *err)
{
	struct reach_graph *graph = &naming->needs->graph;
	roaring_bitmap_t *bitmap;
	int rc;

	TRY(reach_graph_check(graph, err));
	TRY(segment_bitmap_load(segment, FRAGMENT_IDS, &bitmap, err));
	naming->dataset_version = segment->dataset_version;
	if (naming->dataset_version == NO_SEGMENT)
		naming->dataset_version--;
	rc = reach_graph_visit(graph, bitmap, naming->next, name_oldest, naming, err);
	roaring_bitmap_free(bitmap);
	return rc;
}

/* A segment that lost its coverage answers for nothing that it names. */
static int
visit_usable(
	struct naming *naming, const struct lancet_index_segment *segment, struct lancet_error *err)
{
	struct reach_graph *graph = &naming->needs->graph;
	roaring_bitmap_t *bitmap;
	bool usable = false;
	int rc;

	TRY(reach_graph_check(graph, err));
	TRY(segment_bitmap_load(segment, FRAGMENT_IDS, &bitmap, err));
	rc = reach_graph_uses(graph, segment, bitmap, &usable, err);
	if (rc == LANCET_OK && usable)
		rc = reach_graph_visit(graph, bitmap, naming->next, name_directly, naming, err);
	roaring_bitmap_free(bitmap);
	return rc;
}

static int
compare_versions(const void *left, const void *right)
{
	const struct lancet_index_segment *a = *(const struct lancet_index_segment *const *)left;
	const struct lancet_index_segment *b = *(const struct lancet_index_segment *const *)right;

	return (a->dataset_version > b->dataset_version) -
	       (a->dataset_version < b->dataset_version);
}

typedef int (*segment_visitor)(struct naming *naming, const struct lancet_index_segment *segment,
	struct lancet_error *err);

/* Visits the segments that have a bitmap, by dataset version. */
static int
visit_segments(struct needs *needs, const struct lancet_index *index, segment_visitor visit,
	bool *ret_any, struct lancet_error *err)
{
	size_t count = index->segment_count;
	lancet_autofree uint32_t *next = reach_graph_all(&needs->graph, err);
	lancet_autofree const struct lancet_index_segment **sorted =
		calloc(count + 1, sizeof(const struct lancet_index_segment *));
	struct naming naming = { .needs = needs, .next = next };

	if (next == NULL || sorted == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu index segments", count);
	memcpy(sorted, index->segments, count * sizeof(const struct lancet_index_segment *));
	qsort(sorted, count, sizeof(const struct lancet_index_segment *), compare_versions);
	for (size_t i = 0; i < count; i++)
		if (sorted[i]->bitmap.size > 0)
			TRY(visit(&naming, sorted[i], err));
	*ret_any = naming.any;
	return LANCET_OK;
}

static void
find_below(struct needs *needs)
{
	const struct reach_graph *graph = &needs->graph;

	for (size_t i = graph->step_count; i > 0; i--) {
		const struct reach_step *step = &graph->steps[i - 1];
		uint64_t least = NO_SEGMENT;

		for (size_t k = step->middle; k < step->end; k++) {
			uint32_t consumer = graph->consumers[graph->ends[k]];

			if (needs->oldest[graph->ends[k]] < least)
				least = needs->oldest[graph->ends[k]];
			if (consumer != REACH_NO_STEP && needs->below[consumer] < least)
				least = needs->below[consumer];
		}
		needs->below[i - 1] = least;
	}
}

static bool
is_needed(const struct needs *needs, size_t number)
{
	const struct lancet_transition *info = transition_of(needs, number);
	const struct reach_step *step = &needs->graph.steps[number];
	uint64_t below = needs->below[number];
	bool named = false, missing = !needs->tagged;

	if (info->legacy && below != NO_SEGMENT && below <= info->dataset_version)
		return true;
	for (size_t i = step->first; i < step->middle && !named; i++)
		named = needs->oldest[needs->graph.ends[i]] != NO_SEGMENT;
	for (size_t i = step->middle; i < step->end && !missing; i++)
		missing = (needs->graph.marks[needs->graph.ends[i]] & PLACE_DIRECT) == 0;
	return named && missing;
}

static void
need_unit(struct needs *needs, uint32_t unit, enum need need)
{
	if (needs->need[unit] == NEED_NONE) {
		needs->need[unit] = (uint8_t)need;
		needs->queue[needs->queued++] = unit;
	}
}

static void
find_needed(struct needs *needs)
{
	const struct reach_graph *graph = &needs->graph;

	memset(needs->need, NEED_NONE, needs->unit_count);
	needs->queued = 0;
	for (size_t i = 0; i < graph->step_count; i++)
		if (is_needed(needs, i))
			need_unit(needs, needs->unit_of[i], NEED_ITSELF);
	for (size_t i = 0; i < needs->queued; i++) {
		uint32_t unit = needs->queue[i];

		for (size_t k = needs->unit_start[unit]; k < needs->unit_start[unit + 1]; k++) {
			const struct reach_step *step = &graph->steps[needs->members[k]];

			for (size_t m = step->middle; m < step->end; m++) {
				uint32_t consumer = graph->consumers[graph->ends[m]];

				if (consumer != REACH_NO_STEP)
					need_unit(needs, needs->unit_of[consumer], NEED_DOWNSTREAM);
			}
		}
	}
}

static int
list_needed(struct needs *needs, size_t index, struct lancet_error *err)
{
	for (size_t i = 0; i < needs->graph.step_count; i++) {
		enum need need = needs->need[needs->unit_of[i]];

		if (need == NEED_NONE)
			continue;
		if (needs->count == needs->capacity) {
			size_t capacity = needs->capacity == 0 ? 64 : 2 * needs->capacity;
			struct lancet_reuse_need *list;

			if (capacity > NEEDS_MAX)
				return lancet_fail(err, LANCET_LIMIT,
					"more than %zu transitions of indices", NEEDS_MAX);
			list = realloc(needs->list, capacity * sizeof(*list));
			if (list == NULL)
				return lancet_fail(err, LANCET_NO_MEMORY,
					"needs of %zu transitions", needs->graph.step_count);
			needs->list = list;
			needs->capacity = capacity;
		}
		needs->list[needs->count++] =
			(struct lancet_reuse_need){ i, index, need == NEED_DOWNSTREAM };
	}
	return LANCET_OK;
}

static int
add_index(struct needs *needs, const struct lancet_index *index, size_t number,
	struct lancet_error *err)
{
	struct reach_graph *graph = &needs->graph;
	bool any = false;

	graph->work += graph->count + graph->step_count;
	TRY(reach_graph_check(graph, err));
	memset(needs->oldest, 0xff, graph->count * sizeof(*needs->oldest));
	TRY(visit_segments(needs, index, visit_oldest, &any, err));
	if (!any)
		return LANCET_OK;
	if (needs->tagged) {
		for (size_t i = 0; i < graph->count; i++)
			graph->marks[i] &= (uint16_t)~PLACE_DIRECT;
		TRY(visit_segments(needs, index, visit_usable, &any, err));
	}
	find_below(needs);
	find_needed(needs);
	return list_needed(needs, number, err);
}

static int
compare_needs(const void *left, const void *right)
{
	const struct lancet_reuse_need *a = left, *b = right;

	if (a->transition != b->transition)
		return a->transition < b->transition ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static int
find_needs(struct needs *needs, lancet_version *version, const struct lancet_reuse *reuse,
	struct lancet_error *err)
{
	const struct lancet_index *indices;
	size_t count;

	TRY(lancet_version_indices(version, &indices, &count, err));
	TRY(needs_init(needs, version, reuse, err));
	for (size_t i = 0; i < count; i++)
		if (!indices[i].is_system)
			TRY(add_index(needs, &indices[i], i, err));
	if (needs->count > 0)
		qsort(needs->list, needs->count, sizeof(*needs->list), compare_needs);
	return LANCET_OK;
}

int
lancet_reuse_needs(lancet_version *version, struct lancet_reuse_need **ret_needs, size_t *ret_count,
	struct lancet_error *err)
{
	struct needs needs = { 0 };
	lancet_reuse *reuse = NULL;
	int rc;

	TRY(lancet_version_reuse(version, &reuse, err));
	if (reuse->fault.code == LANCET_CORRUPT)
		return lancet_fail(
			err, LANCET_CORRUPT, "fragment reuse history: %s", reuse->fault.text);
	if (!reuse->info.interpretable)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"fragment reuse history: it has records that are not known");
	rc = find_needs(&needs, version, reuse, err);
	if (rc == LANCET_OK) {
		*ret_needs = needs.list;
		*ret_count = needs.count;
		needs.list = NULL;
	}
	needs_release(&needs);
	return rc;
}
