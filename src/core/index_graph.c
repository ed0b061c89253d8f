/* Places and steps: the fragments of a version and of its reuse history, and how they hang
 * together.
 */
#include "index_reach.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"
#include "version.h"

#define WORK_MAX (UINT64_C(1) << 28) /* seconds */

void
reach_graph_release(struct reach_graph *graph)
{
	free(graph->ids);
	free(graph->marks);
	free(graph->consumers);
	free(graph->steps);
	free(graph->ends);
	if (graph->settled != NULL)
		roaring_bitmap_free(graph->settled);
}

int
reach_graph_check(const struct reach_graph *graph, struct lancet_error *err)
{
	if (graph->work <= WORK_MAX)
		return LANCET_OK;
	return lancet_fail(err, LANCET_LIMIT,
		"index coverage: too many segments for %zu fragments and %zu transitions",
		graph->count, graph->step_count);
}

static int
no_memory(struct lancet_error *err, size_t count)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "index coverage: %zu fragments", count);
}

static int
compare_ids(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static int
compare_stored(const void *left, const void *right)
{
	const struct lancet_transition *a = *(const struct lancet_transition *const *)left;
	const struct lancet_transition *b = *(const struct lancet_transition *const *)right;

	if (a->record != b->record)
		return a->record < b->record ? -1 : 1;
	return (a->group > b->group) - (a->group < b->group);
}

/* The transitions that are followed, in their order; allocated. */
static int
order_transitions(const struct lancet_reuse *reuse, enum reach_order order,
	const struct lancet_transition ***ret_infos, size_t *ret_count, struct lancet_error *err)
{
	const struct lancet_transition **infos;
	size_t count = reuse->info.transition_count, kept = 0;

	infos = calloc(count + 1, sizeof(const struct lancet_transition *));
	if (infos == NULL)
		return no_memory(err, count);
	for (size_t i = 0; i < count; i++)
		if (reuse->transitions[i].info.fault == LANCET_OK)
			infos[kept++] = &reuse->transitions[i].info;
	if (order == REACH_STORED)
		qsort(infos, kept, sizeof(const struct lancet_transition *), compare_stored);
	*ret_infos = infos;
	*ret_count = kept;
	return LANCET_OK;
}

static void
put_ids(const struct lancet_fragment_digest *digests, size_t count, uint32_t *ids, size_t *at)
{
	for (size_t i = 0; i < count; i++)
		ids[(*at)++] = (uint32_t)digests[i].id;
}

/* Steps, and the ids of their fragments where their places will be. */
static int
make_steps(struct reach_graph *graph, const struct lancet_reuse *reuse, enum reach_order order,
	struct lancet_error *err)
{
	const struct lancet_transition **infos = NULL;
	size_t count = 0, ends = 0, at = 0;

	TRY(order_transitions(reuse, order, &infos, &count, err));
	for (size_t i = 0; i < count; i++)
		ends += infos[i]->source_count + infos[i]->destination_count;
	graph->steps = calloc(count + 1, sizeof(*graph->steps));
	graph->ends = calloc(ends + 1, sizeof(*graph->ends));
	graph->step_count = count;
	for (size_t i = 0; i < count && graph->steps != NULL && graph->ends != NULL; i++) {
		struct reach_step *step = &graph->steps[i];
		const struct reuse_transition *transition =
			(const struct reuse_transition *)infos[i];

		step->transition = (uint32_t)(transition - reuse->transitions);
		step->first = at;
		put_ids(infos[i]->sources, infos[i]->source_count, graph->ends, &at);
		step->middle = at;
		put_ids(infos[i]->destinations, infos[i]->destination_count, graph->ends, &at);
		step->end = at;
	}
	free(infos);
	return graph->steps == NULL || graph->ends == NULL ? no_memory(err, ends) : LANCET_OK;
}

static size_t
end_count(const struct reach_graph *graph)
{
	return graph->step_count == 0 ? 0 : graph->steps[graph->step_count - 1].end;
}

/* All ids once, ascending: those of the version, which ascend already, and those of the history. */
static void
merge_ids(struct reach_graph *graph, const lancet_version *version, const uint32_t *history,
	size_t history_count)
{
	uint64_t i = 0, live = version->info.fragment_count;
	size_t k = 0;

	for (;;) {
		uint64_t a = i < live ? version->spans[i].id : UINT64_MAX;
		uint64_t b = k < history_count ? history[k] : UINT64_MAX;
		uint64_t id = a < b ? a : b;

		if (id >= FRAGMENT_ID_END)
			break;
		while (i < live && version->spans[i].id == id)
			i++;
		while (k < history_count && history[k] == id)
			k++;
		graph->ids[graph->count] = (uint32_t)id;
		graph->marks[graph->count++] = a == id ? PLACE_LIVE : 0;
	}
}

static int
make_places(struct reach_graph *graph, const lancet_version *version, struct lancet_error *err)
{
	size_t ends = end_count(graph);
	size_t most = (size_t)version->info.fragment_count + ends + 1;
	lancet_autofree uint32_t *history = calloc(ends + 1, sizeof(*history));

	graph->ids = calloc(most, sizeof(*graph->ids));
	graph->marks = calloc(most, sizeof(*graph->marks));
	graph->consumers = malloc(most * sizeof(*graph->consumers));
	if (history == NULL || graph->ids == NULL || graph->marks == NULL ||
		graph->consumers == NULL)
		return no_memory(err, most);
	if (ends > 0)
		memcpy(history, graph->ends, ends * sizeof(*history));
	qsort(history, ends, sizeof(*history), compare_ids);
	merge_ids(graph, version, history, ends);
	memset(graph->consumers, 0xff, most * sizeof(*graph->consumers));
	return LANCET_OK;
}

size_t
reach_graph_find(const struct reach_graph *graph, size_t from, uint64_t id)
{
	size_t low = from, high = graph->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (graph->ids[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
connect(struct reach_graph *graph)
{
	size_t ends = end_count(graph);

	for (size_t i = 0; i < ends; i++) {
		graph->ends[i] = (uint32_t)reach_graph_find(graph, 0, graph->ends[i]);
		graph->marks[graph->ends[i]] |= PLACE_MENTIONED;
	}
	for (size_t i = 0; i < graph->step_count; i++)
		for (size_t k = graph->steps[i].first; k < graph->steps[i].middle; k++)
			graph->consumers[graph->ends[k]] = (uint32_t)i;
}

int
reach_graph_make(const lancet_version *version, const struct lancet_reuse *reuse,
	enum reach_order order, struct reach_graph *ret_graph, struct lancet_error *err)
{
	struct reach_graph graph = { 0 };
	int rc = LANCET_OK;

	if (reuse != NULL)
		rc = make_steps(&graph, reuse, order, err);
	if (rc == LANCET_OK)
		rc = make_places(&graph, version, err);
	if (rc != LANCET_OK) {
		reach_graph_release(&graph);
		return rc;
	}
	connect(&graph);
	*ret_graph = graph;
	return LANCET_OK;
}

int
segment_bitmap_load(const struct lancet_index_segment *segment, uint64_t most,
	roaring_bitmap_t **ret_bitmap, struct lancet_error *err)
{
	int rc;

	if (segment->bitmap.size == 0)
		return lancet_fail(err, LANCET_NOT_FOUND, "index segment %s: coverage unknown",
			segment->uuid_text);
	rc = roaringx_load(slice_of(segment->bitmap.data, segment->bitmap.size), FRAGMENT_ID_END,
		most, ret_bitmap, err);
	return rc == LANCET_OK
		       ? rc
		       : lancet_wrap(err, rc, "fragments of index segment %s", segment->uuid_text);
}

uint32_t *
reach_graph_all(const struct reach_graph *graph, struct lancet_error *err)
{
	uint32_t *next = malloc((graph->count + 1) * sizeof(*next));

	if (next == NULL) {
		(void)no_memory(err, graph->count);
		return NULL;
	}
	for (size_t i = 0; i <= graph->count; i++)
		next[i] = (uint32_t)i;
	return next;
}

static size_t
step_to(uint32_t *next, size_t place)
{
	if (next == NULL)
		return place;
	while (next[place] != place) {
		next[place] = next[next[place]];
		place = next[place];
	}
	return place;
}

int
reach_graph_visit(struct reach_graph *graph, const roaring_bitmap_t *bitmap, uint32_t *next,
	place_visitor visitor, void *context, struct lancet_error *err)
{
	roaring_uint32_iterator_t *at = roaring_create_iterator(bitmap);
	size_t i = step_to(next, 0);

	if (at == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "fragment bitmap");
	while (at->has_value && i < graph->count) {
		uint32_t id = graph->ids[i];

		graph->work++;
		if (at->current_value < id) {
			(void)roaring_move_uint32_iterator_equalorlarger(at, id);
		} else if (at->current_value > id) {
			i = step_to(next, reach_graph_find(graph, i, at->current_value));
		} else {
			visitor(context, i);
			i = step_to(next, i + 1);
		}
	}
	roaring_free_uint32_iterator(at);
	return LANCET_OK;
}

static int
settle(struct reach_graph *graph, struct lancet_error *err)
{
	if (graph->settled != NULL)
		return LANCET_OK;
	graph->settled = roaring_bitmap_create();
	if (graph->settled == NULL)
		return no_memory(err, graph->count);
	for (size_t i = 0; i < graph->count; i++)
		if ((graph->marks[i] & (PLACE_LIVE | PLACE_MENTIONED)) == PLACE_LIVE)
			roaring_bitmap_add(graph->settled, graph->ids[i]);
	return LANCET_OK;
}

int
reach_graph_uses(struct reach_graph *graph, const struct lancet_index_segment *segment,
	const roaring_bitmap_t *bitmap, bool *ret_usable, struct lancet_error *err)
{
	*ret_usable = segment_translates(segment);
	if (*ret_usable)
		return LANCET_OK;
	TRY(settle(graph, err));
	*ret_usable = roaring_bitmap_is_subset(bitmap, graph->settled);
	return LANCET_OK;
}
