/* Following the fragments of a segment through the reuse history.
 *
 * A legacy history changes the bitmap of each segment for itself, group by group as they are
 * stored: where all old fragments are in it the new ones take their place, where only some are they
 * are taken out. A tagged history changes nothing that is stored: a live fragment that no segment
 * names is answered for by those that all sources of its transition lead back to. Only steps that a
 * segment meets are followed.
 */
#include "index_reach.h"

#include <stdlib.h>

#include "util/macros.h"
#include "version.h"

#define FOLLOWED (PLACE_NAMED | PLACE_HELD | PLACE_USED | PLACE_MET)

static void
schedule(struct index_reach *reach, uint32_t step)
{
	size_t word = step / REACH_WORD_BITS;

	reach->pending[word] |= UINT64_C(1) << step % REACH_WORD_BITS;
	if (word < reach->pending_first)
		reach->pending_first = word;
	if (word >= reach->pending_end)
		reach->pending_end = word + 1;
}

static void
meet(struct index_reach *reach, size_t place, unsigned mark)
{
	uint16_t *marks = &reach->graph.marks[place];

	if ((*marks & PLACE_MET) == 0)
		reach->met[reach->met_count++] = (uint32_t)place;
	*marks |= (uint16_t)(mark | PLACE_MET);
}

static void
name_place(void *context, size_t place)
{
	struct index_reach *reach = context;
	uint32_t consumer = reach->graph.consumers[place];

	meet(reach, place, PLACE_NAMED | PLACE_HELD);
	if (consumer != REACH_NO_STEP)
		schedule(reach, consumer);
	/* What the history is about counts for each segment anew. */
	if (reach->next != NULL && (reach->graph.marks[place] & PLACE_MENTIONED) == 0)
		reach_close(reach->next, place);
}

/* Holds what the step made, except what another segment names itself. */
static void
hold_destinations(struct index_reach *reach, uint32_t number)
{
	const struct reach_step *step = &reach->graph.steps[number];

	for (size_t i = step->middle; i < step->end; i++) {
		uint32_t place = reach->graph.ends[i];
		uint32_t consumer = reach->graph.consumers[place];

		if ((reach->graph.marks[place] & PLACE_DIRECT) != 0)
			continue;
		meet(reach, place, PLACE_HELD);
		/* A legacy history that is not stored in its lineage order has earlier ones. */
		if (consumer != REACH_NO_STEP && consumer > number)
			schedule(reach, consumer);
	}
	reach->done[reach->done_count++] = number;
}

static void
follow_legacy(struct index_reach *reach, uint32_t number)
{
	const struct reach_step *step = &reach->graph.steps[number];
	uint16_t *marks = reach->graph.marks;
	bool all = true;

	for (size_t i = step->first; i < step->middle; i++) {
		uint16_t *source = &marks[reach->graph.ends[i]];

		all = all && (*source & PLACE_HELD) != 0;
		*source &= (uint16_t)~PLACE_HELD;
	}
	if (all)
		hold_destinations(reach, number);
}

static void
follow_step(struct index_reach *reach, uint32_t number)
{
	const struct reach_step *step = &reach->graph.steps[number];

	reach->graph.work += step->end - step->first;
	if (reach->rule == REACH_LEGACY)
		follow_legacy(reach, number);
	else if (step->open)
		hold_destinations(reach, number);
}

static void
follow_pending(struct index_reach *reach)
{
	for (size_t word = reach->pending_first; word < reach->pending_end; word++) {
		while (reach->pending[word] != 0) {
			unsigned bit = (unsigned)__builtin_ctzll(reach->pending[word]);

			reach->pending[word] &= reach->pending[word] - 1;
			follow_step(reach, (uint32_t)(word * REACH_WORD_BITS + bit));
		}
	}
	reach->pending_first = SIZE_MAX;
	reach->pending_end = 0;
}

/* Back from the live fragments to the sources by way of which they are answered for. */
static void
use_sources(struct index_reach *reach, const struct reach_step *step)
{
	const struct reach_graph *graph = &reach->graph;
	bool used = false;

	for (size_t i = step->middle; i < step->end && !used; i++) {
		uint16_t marks = graph->marks[graph->ends[i]];

		used = (marks & PLACE_DIRECT) == 0 &&
		       (place_is_covered(marks) || (marks & PLACE_USED) != 0);
	}
	for (size_t i = step->first; i < step->middle && used; i++)
		meet(reach, graph->ends[i], PLACE_USED);
}

/* Takes the marks of the segment that was followed before. */
static void
start(struct index_reach *reach)
{
	for (size_t i = 0; i < reach->met_count; i++)
		reach->graph.marks[reach->met[i]] &= (uint16_t)~FOLLOWED;
	reach->met_count = 0;
	reach->done_count = 0;
}

static void
finish(struct index_reach *reach)
{
	follow_pending(reach);
	for (size_t i = reach->done_count; i > 0; i--)
		use_sources(reach, &reach->graph.steps[reach->done[i - 1]]);
	for (size_t i = 0; i < reach->met_count; i++) {
		uint16_t *marks = &reach->graph.marks[reach->met[i]];

		if (place_is_covered(*marks))
			*marks |= PLACE_COVERED;
		if (place_is_retired(*marks))
			*marks |= PLACE_RETIRED;
	}
}

static int
follow_segment(struct index_reach *reach, const struct lancet_index_segment *segment,
	struct lancet_error *err)
{
	int rc;

	start(reach);
	rc = index_reach_visit(reach, segment, reach->next, name_place, reach, err);
	finish(reach);
	return rc;
}

static int
follow_index(struct index_reach *reach, struct lancet_error *err)
{
	lancet_autofree uint32_t *next = NULL;
	int rc = LANCET_OK;

	for (size_t i = 0; i < reach->index->segment_count; i++)
		if (reach->index->segments[i]->bitmap.size == 0)
			return lancet_fail(err, LANCET_NOT_FOUND,
				"index segment %s: coverage unknown",
				reach->index->segments[i]->uuid_text);
	if (reach->rule == REACH_TAGGED) {
		start(reach);
		for (size_t i = 0; i < reach->graph.count; i++)
			if ((reach->graph.marks[i] & PLACE_DIRECT) != 0)
				name_place(reach, i);
		finish(reach);
		return LANCET_OK;
	}
	next = reach_graph_all(&reach->graph, err);
	if (next == NULL)
		return LANCET_NO_MEMORY;
	reach->next = next;
	for (size_t i = 0; i < reach->index->segment_count && rc == LANCET_OK; i++)
		rc = follow_segment(reach, reach->index->segments[i], err);
	reach->next = NULL;
	return rc;
}

int
index_reach_follow(struct index_reach *reach, const struct lancet_index_segment *segment,
	struct lancet_error *err)
{
	return segment == NULL ? follow_index(reach, err) : follow_segment(reach, segment, err);
}
