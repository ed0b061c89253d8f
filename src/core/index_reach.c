/* How far the segments of an index reach: by which rule, and what they name together.
 */
#include "index_reach.h"

#include <stdlib.h>

#include "util/macros.h"
#include "version.h"

int
index_reach_visit(struct index_reach *reach, const struct lancet_index_segment *segment,
	uint32_t *next, place_visitor visitor, void *context, struct lancet_error *err)
{
	roaring_bitmap_t *bitmap;
	bool usable = reach->rule != REACH_NOTHING;
	int rc = LANCET_OK;

	TRY(reach_graph_check(&reach->graph, err));
	TRY(segment_bitmap_load(segment, FRAGMENT_IDS, &bitmap, err));
	if (reach->rule == REACH_TAGGED)
		rc = reach_graph_uses(&reach->graph, segment, bitmap, &usable, err);
	if (rc == LANCET_OK && usable)
		rc = reach_graph_visit(&reach->graph, bitmap, next, visitor, context, err);
	roaring_bitmap_free(bitmap);
	return rc;
}

void
index_reach_free(struct index_reach *reach)
{
	if (reach == NULL)
		return;
	reach_graph_release(&reach->graph);
	free(reach->met);
	free(reach->done);
	free(reach->pending);
	free(reach);
}

/* Transitions below a legacy entry are not followed, so that their faults don't matter. */
static int
check_faults(const struct lancet_reuse *reuse, struct lancet_error *err)
{
	for (size_t i = 0; i < reuse->info.transition_count; i++) {
		const struct lancet_transition *info = &reuse->transitions[i].info;

		if (info->fault == LANCET_CORRUPT &&
			(info->legacy || reuse->info.index_version != 0))
			return lancet_fail(err, LANCET_CORRUPT, "fragment reuse history: %s",
				info->fault_text);
	}
	return LANCET_OK;
}

static int
find_rule(lancet_version *version, const struct lancet_index *index, enum reach_rule *ret_rule,
	const struct lancet_reuse **ret_reuse, struct lancet_error *err)
{
	lancet_reuse *reuse = NULL;

	*ret_rule = REACH_DIRECT;
	if (index->is_system || !lancet_version_has_reuse(version))
		return LANCET_OK;
	TRY(lancet_version_reuse(version, &reuse, err));
	TRY(check_faults(reuse, err));
	if (!reuse->info.interpretable) {
		*ret_rule = REACH_NOTHING;
		return LANCET_OK;
	}
	*ret_rule = reuse->info.index_version == 0 ? REACH_LEGACY : REACH_TAGGED;
	*ret_reuse = reuse;
	return LANCET_OK;
}

static int
allocate(struct index_reach *reach, struct lancet_error *err)
{
	size_t places = reach->graph.count, steps = reach->graph.step_count;

	reach->met = calloc(places + 1, sizeof(*reach->met));
	reach->done = calloc(steps + 1, sizeof(*reach->done));
	reach->pending = calloc(steps / REACH_WORD_BITS + 1, sizeof(*reach->pending));
	reach->pending_first = SIZE_MAX;
	if (reach->met == NULL || reach->done == NULL || reach->pending == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "index coverage: %zu fragments", places);
	return LANCET_OK;
}

struct marking {
	struct reach_graph *graph;
	uint32_t *next;
};

static void
mark_direct(void *context, size_t place)
{
	struct marking *marking = context;

	marking->graph->marks[place] |= PLACE_DIRECT | PLACE_REACHED;
	reach_close(marking->next, place);
}

static void
open_steps(struct reach_graph *graph)
{
	for (size_t i = 0; i < graph->step_count; i++) {
		struct reach_step *step = &graph->steps[i];

		step->open = true;
		for (size_t k = step->first; k < step->middle && step->open; k++)
			step->open = (graph->marks[graph->ends[k]] & PLACE_REACHED) != 0;
		for (size_t k = step->middle; k < step->end && step->open; k++)
			graph->marks[graph->ends[k]] |= PLACE_REACHED;
	}
}

/* What the segments of the index name together, and which steps that opens. */
static int
reach_together(struct index_reach *reach, struct lancet_error *err)
{
	lancet_autofree uint32_t *next = reach_graph_all(&reach->graph, err);
	struct marking marking = { &reach->graph, next };

	if (next == NULL)
		return LANCET_NO_MEMORY;
	for (size_t i = 0; i < reach->index->segment_count; i++)
		if (reach->index->segments[i]->bitmap.size > 0)
			TRY(index_reach_visit(reach, reach->index->segments[i], next, mark_direct,
				&marking, err));
	open_steps(&reach->graph);
	return LANCET_OK;
}

int
index_reach_open(lancet_version *version, const struct lancet_index *index,
	struct index_reach **ret_reach, struct lancet_error *err)
{
	const struct lancet_reuse *reuse = NULL;
	struct index_reach *reach;
	enum reach_rule rule;
	int rc;

	TRY(find_rule(version, index, &rule, &reuse, err));
	reach = calloc(1, sizeof(*reach));
	if (reach == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "index coverage");
	reach->index = index;
	reach->rule = rule;
	rc = reach_graph_make(version, reuse, rule == REACH_LEGACY ? REACH_STORED : REACH_LINEAGE,
		&reach->graph, err);
	if (rc == LANCET_OK)
		rc = allocate(reach, err);
	if (rc == LANCET_OK && rule == REACH_TAGGED)
		rc = reach_together(reach, err);
	if (rc != LANCET_OK) {
		index_reach_free(reach);
		return rc;
	}
	*ret_reach = reach;
	return LANCET_OK;
}
