/* Which fragments share their coverage, and which are left alone because an index would lose more
 * than their rows; see remap.h. */
#include "remap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "draft_index.h"
#include "fragment.h"
#include "index_reach.h"
#include "util/macros.h"
#include "version.h"

#define REASONS_MAX 1000u

struct marking {
	struct remap_plan *plan;
	uint32_t
		*moved; /* by class: the class of those that the segment answers for; 0: none yet */
	size_t moved_count;
};

static int
no_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "plan of index work");
}

/* The number of a reason, which is the same for the same text. */
static int
add_reason(
	struct remap_plan *plan, const char *text, uint16_t *ret_reason, struct lancet_error *err)
{
	for (size_t i = 0; i < plan->text_count; i++) {
		if (strcmp(plan->texts[i], text) == 0) {
			*ret_reason = (uint16_t)(i + 1);
			return LANCET_OK;
		}
	}
	if (plan->text_count == REASONS_MAX) {
		*ret_reason = REASONS_MAX;
		return LANCET_OK;
	}
	if (plan->texts == NULL)
		plan->texts = calloc(REASONS_MAX, sizeof(*plan->texts));
	if (plan->texts == NULL)
		return no_memory(err);
	plan->texts[plan->text_count] = strdup(text);
	if (plan->texts[plan->text_count] == NULL)
		return no_memory(err);
	*ret_reason = (uint16_t)++plan->text_count;
	return LANCET_OK;
}

static void
refuse(struct remap_plan *plan, uint64_t ordinal, uint16_t reason)
{
	if (plan->reasons[ordinal] == 0)
		plan->reasons[ordinal] = reason;
}

static int
refuse_all(struct remap_plan *plan, uint16_t reason)
{
	for (uint64_t i = 0; i < plan->read->info.fragment_count; i++)
		refuse(plan, i, reason);
	return LANCET_OK;
}

static int
index_reason(struct remap_plan *plan, const struct remap_segment *segment, const char *what,
	uint16_t *ret_reason, struct lancet_error *err)
{
	struct lancet_bytes name = segment->index->name;
	char text[200];

	(void)snprintf(text, sizeof(text), "index %.*s %s", name.size < 80 ? (int)name.size : 80,
		(const char *)name.data, what);
	return add_reason(plan, text, ret_reason, err);
}

/* Fragments of one class that the segment answers for become a class of their own. */
static int
split(struct marking *marking, const uint64_t *ordinals, size_t count, struct lancet_error *err)
{
	struct remap_plan *plan = marking->plan;
	size_t end = plan->class_end;

	if (marking->moved_count < end) {
		uint32_t *moved = realloc(marking->moved, 2 * end * sizeof(*moved));

		if (moved == NULL)
			return no_memory(err);
		marking->moved = moved;
		marking->moved_count = 2 * end;
	}
	memset(marking->moved, 0, end * sizeof(*marking->moved));
	for (size_t i = 0; i < count; i++) {
		uint32_t *class = &plan->classes[ordinals[i]];

		if (marking->moved[*class] == 0)
			marking->moved[*class] = plan->class_end++;
		*class = marking->moved[*class];
	}
	return LANCET_OK;
}

/* What the segment answers for, by the fragments that are met. */
static int
mark_covered(struct marking *marking, const struct index_reach *reach, struct lancet_error *err)
{
	struct remap_plan *plan = marking->plan;
	lancet_autofree uint64_t *ordinals = calloc(reach->met_count + 1, sizeof(*ordinals));
	size_t count = 0;

	if (ordinals == NULL)
		return no_memory(err);
	for (size_t i = 0; i < reach->met_count; i++) {
		uint32_t place = reach->met[i];
		uint64_t ordinal;

		if (!place_is_covered(reach->graph.marks[place]))
			continue;
		ordinal = version_first_span(plan->read, reach->graph.ids[place]);
		plan->marks[ordinal] |= REMAP_COVERED;
		ordinals[count++] = ordinal;
	}
	return split(marking, ordinals, count, err);
}

/* Live fragments that the stored bitmap has. */
static int
visit_named(struct remap_plan *plan, const struct lancet_index_segment *segment, uint16_t reason,
	struct lancet_error *err)
{
	const lancet_version *version = plan->read;
	roaring_bitmap_t *bitmap;

	TRY(segment_bitmap_load(segment, FRAGMENT_IDS, &bitmap, err));
	for (uint64_t i = 0; i < version->info.fragment_count; i++) {
		if (version->spans[i].id >= FRAGMENT_ID_END ||
			!roaring_bitmap_contains(bitmap, (uint32_t)version->spans[i].id))
			continue;
		plan->marks[i] |= REMAP_NAMED;
		if (reason != 0)
			refuse(plan, i, reason);
	}
	roaring_bitmap_free(bitmap);
	return LANCET_OK;
}

/* An index whose fragments are not known may answer for any: its rows would be lost without a
 * trace, unless they are known by ids. */
static int
mark_segment(void *context, const struct remap_segment *segment, struct index_reach *reach,
	struct lancet_error *err)
{
	struct marking *marking = context;
	struct remap_plan *plan = marking->plan;
	uint16_t reason = 0;

	if (segment->segment->bitmap.size == 0) {
		if (segment->fate == REMAP_KEEPS)
			return LANCET_OK;
		TRY(index_reason(plan, segment, "does not say what it covers", &reason, err));
		return refuse_all(plan, reason);
	}
	if (plan->records && segment->fate == REMAP_LOSES)
		TRY(index_reason(
			plan, segment, "can't follow its rows into other fragments", &reason, err));
	TRY(visit_named(plan, segment->segment, reason, err));
	TRY(index_reach_follow(reach, segment->segment, err));
	return mark_covered(marking, reach, err);
}

/* What the history names; all, when it does not say. */
static int
mark_history(struct remap_plan *plan, struct lancet_error *err)
{
	lancet_reuse *reuse;

	if (!lancet_version_has_reuse(plan->read))
		return LANCET_OK;
	TRY(lancet_version_reuse(plan->read, &reuse, err));
	if (reuse->info.entry->bitmap.size > 0)
		return visit_named(plan, reuse->info.entry, 0, err);
	for (uint64_t i = 0; i < plan->read->info.fragment_count; i++)
		plan->marks[i] |= REMAP_NAMED;
	return LANCET_OK;
}

static int
has_overlays(lancet_version *version, uint64_t ordinal, bool *ret_has, struct lancet_error *err)
{
	lancet_fragment *fragment;

	TRY(fragment_open_stored(version, ordinal, &fragment, err));
	*ret_has = fragment->info.overlay_count > 0;
	lancet_fragment_unref(fragment);
	return LANCET_OK;
}

/* A tagged history has to record what is rewritten of all that it or an index names, and it can't
 * lead through overlays. */
static int
mark_tagged(struct marking *marking, struct lancet_error *err)
{
	struct remap_plan *plan = marking->plan;
	uint16_t unrecorded, overlaid;

	TRY(add_reason(plan,
		"the tagged reuse history has to record where its rows go, which was not asked for",
		&unrecorded, err));
	TRY(add_reason(
		plan, "the tagged reuse history can't lead through its overlays", &overlaid, err));
	for (uint64_t i = 0; i < plan->read->info.fragment_count; i++) {
		bool has = false;

		if ((plan->marks[i] & REMAP_NAMED) != 0 && !plan->records)
			refuse(plan, i, unrecorded);
		if (plan->read->overlay_fragments > 0)
			TRY(has_overlays(plan->read, i, &has, err));
		if (!has)
			continue;
		if ((plan->marks[i] & REMAP_NAMED) != 0 || plan->partition)
			refuse(plan, i, overlaid);
		TRY(split(marking, &i, 1, err));
	}
	return LANCET_OK;
}

static int
mark_all(struct marking *marking, struct lancet_error *err)
{
	TRY(remap_visit(marking->plan, mark_segment, marking, err));
	TRY(mark_history(marking->plan, err));
	return marking->plan->tagged ? mark_tagged(marking, err) : LANCET_OK;
}

int
remap_mark(struct remap_plan *plan, struct lancet_error *err)
{
	size_t count = (size_t)plan->read->info.fragment_count + 1;
	struct marking marking = { .plan = plan };
	int rc;

	plan->classes = calloc(count, sizeof(*plan->classes));
	plan->marks = calloc(count, sizeof(*plan->marks));
	plan->reasons = calloc(count, sizeof(*plan->reasons));
	if (plan->classes == NULL || plan->marks == NULL || plan->reasons == NULL)
		return no_memory(err);
	plan->class_end = 1;
	rc = mark_all(&marking, err);
	free(marking.moved);
	return rc;
}
