/* fri/: the history of rewritten fragments, and what is in a transition. SPEC section 3.
 *
 * item holds the transition's place in lineage order. Transitions have an index, so listing 100,000
 * of them copies nothing. A history that can't be read is still a directory, with the reason in it;
 * so is a transition that contradicts another. What is wrong with the storage may be mended: fri/
 * itself is looked at afresh.
 */
#include "place.h"

#include <inttypes.h>
#include <stdio.h>

#include "render.h"
#include "reusefile.h"
#include "util/macros.h"
#include "util/text.h"

static bool
has_reuse(const struct node_ref *ref)
{
	return lancet_version_has_reuse(ref->version);
}

static bool
has_faults(const struct node_ref *ref)
{
	lancet_reuse *reuse = NULL;

	return lancet_version_reuse(ref->version, &reuse, NULL) != LANCET_OK ||
	       lancet_reuse_info(reuse)->fault_count > 0;
}

static int
count_transitions(const struct node_ref *ref, uint64_t *ret_count, struct lancet_error *err)
{
	lancet_reuse *reuse = NULL;

	TRY(lancet_version_reuse(ref->version, &reuse, err));
	*ret_count = lancet_reuse_info(reuse)->transition_count;
	return LANCET_OK;
}

static void
transition_at(const struct node_ref *ref, uint64_t index, struct node_child *ret_child)
{
	(void)ref;
	*ret_child = (struct node_child){ .kind = NODE_TRANSITION, .item = index };
}

static int
find_transition(const struct node_ref *ref, const char *name, struct node_child *ret_child,
	struct lancet_error *err)
{
	uint64_t count, number;

	TRY(count_transitions(ref, &count, err));
	if (!text_to_u64(slice_text(name), &number) || number >= count)
		return lancet_fail(err, LANCET_NOT_FOUND, "%s: no such transition", name);
	transition_at(ref, number, ret_child);
	return LANCET_OK;
}

static int
label_transition(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	(void)err;
	snprintf(into, NODE_NAME_SIZE, "%" PRIu64, ref->item);
	return LANCET_OK;
}

static bool
has_fault(const struct node_ref *ref)
{
	const struct lancet_transition *transition = NULL;

	return transition_of(ref, &transition, NULL) == LANCET_OK && transition->fault != LANCET_OK;
}

/* Files that only one mapping has; mapping.tsv is of both that are understood. */
static bool
has_mapping(const struct node_ref *ref)
{
	const struct lancet_transition *transition = NULL;

	if (transition_of(ref, &transition, NULL) != LANCET_OK)
		return false;
	switch (ref->kind->id) {
	case NODE_MAPPING:
		return transition->mapping != LANCET_UNKNOWN_MAPPING;
	case NODE_SURVIVING_ROWS:
		return transition->mapping == LANCET_ORDERED_COMPACTION;
	default:
		return transition->mapping == LANCET_STABLE_PARTITION;
	}
}

static int
row_map_file(const struct node_ref *ref, struct node_file *ret_file, struct lancet_error *err)
{
	const struct lancet_transition *transition = NULL;

	TRY(transition_of(ref, &transition, err));
	return lancet_row_map_path(ref->version, transition, &ret_file->base, &ret_file->path, err);
}

static int
measure_row_map(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	const struct lancet_transition *transition = NULL;

	TRY(transition_of(ref, &transition, err));
	*ret_size = transition->map_bytes;
	return LANCET_OK;
}

static const uint8_t reuse_rows[] = { NODE_REUSE_ERROR, NODE_REUSE_INFO, NODE_TRANSITIONS,
	NODE_REUSE_GRAPH, NODE_NONE };
static const uint8_t transition_rows[] = { NODE_TRANSITION_ERROR, NODE_TRANSITION_KIND,
	NODE_TRANSITION_INFO, NODE_SOURCES, NODE_DESTINATIONS, NODE_MAPPING, NODE_SURVIVING_ROWS,
	NODE_LABELS, NODE_COUNTS, NODE_ROW_MAP, NODE_NONE };

const struct node_kind rows_reuse[] = {
	{ .id = NODE_REUSE,
		.name = "fri",
		.shape = SHAPE_DIR,
		.parent = NODE_VERSION,
		.needs_version = true,
		.live_list = true,
		.rows = reuse_rows,
		.present = has_reuse },
	{ .id = NODE_REUSE_ERROR,
		.name = "error",
		.shape = SHAPE_TEXT,
		.parent = NODE_REUSE,
		.needs_version = true,
		.live = true,
		.present = has_faults,
		.render = render_reuse_error },
	{ .id = NODE_REUSE_INFO,
		.name = "info.json",
		.shape = SHAPE_TEXT,
		.parent = NODE_REUSE,
		.needs_version = true,
		.render = render_reuse_info },
	{ .id = NODE_REUSE_GRAPH,
		.name = "graph.dot",
		.shape = SHAPE_TEXT,
		.parent = NODE_REUSE,
		.needs_version = true,
		.render = render_reuse_graph },
	{ .id = NODE_TRANSITIONS,
		.name = "transitions",
		.shape = SHAPE_DIR,
		.parent = NODE_REUSE,
		.needs_version = true,
		.find = find_transition,
		.count = count_transitions,
		.at = transition_at },
	{ .id = NODE_TRANSITION,
		.shape = SHAPE_DIR,
		.parent = NODE_TRANSITIONS,
		.needs_version = true,
		.numbered = true,
		.rows = transition_rows,
		.label = label_transition },
	{ .id = NODE_TRANSITION_ERROR,
		.name = "error",
		.shape = SHAPE_TEXT,
		.parent = NODE_TRANSITION,
		.needs_version = true,
		.present = has_fault,
		.render = render_transition_error },
	{ .id = NODE_TRANSITION_KIND,
		.name = "kind",
		.shape = SHAPE_TEXT,
		.parent = NODE_TRANSITION,
		.needs_version = true,
		.render = render_transition_kind },
	{ .id = NODE_TRANSITION_INFO,
		.name = "info.json",
		.shape = SHAPE_TEXT,
		.parent = NODE_TRANSITION,
		.needs_version = true,
		.render = render_transition_info },
	{ .id = NODE_SOURCES,
		.name = "sources.tsv",
		.shape = SHAPE_RECORDS,
		.parent = NODE_TRANSITION,
		.needs_version = true,
		.measure = measure_digests,
		.records = records_digests },
	{ .id = NODE_DESTINATIONS,
		.name = "destinations.tsv",
		.shape = SHAPE_RECORDS,
		.parent = NODE_TRANSITION,
		.needs_version = true,
		.measure = measure_digests,
		.records = records_digests },
	{ .id = NODE_MAPPING,
		.name = "mapping.tsv",
		.shape = SHAPE_RECORDS,
		.parent = NODE_TRANSITION,
		.needs_version = true,
		.present = has_mapping,
		.measure = measure_mapping,
		.records = records_mapping },
	{ .id = NODE_SURVIVING_ROWS,
		.name = "surviving_rows",
		.shape = SHAPE_RECORDS,
		.parent = NODE_TRANSITION,
		.needs_version = true,
		.present = has_mapping,
		.measure = measure_mapping,
		.records = records_surviving_rows },
	{ .id = NODE_LABELS,
		.name = "labels.u16",
		.shape = SHAPE_RECORDS,
		.parent = NODE_TRANSITION,
		.needs_version = true,
		.present = has_mapping,
		.measure = measure_mapping,
		.records = records_labels },
	{ .id = NODE_COUNTS,
		.name = "counts.tsv",
		.shape = SHAPE_RECORDS,
		.parent = NODE_TRANSITION,
		.needs_version = true,
		.computed = true,
		.present = has_mapping,
		.records = records_counts },
	{ .id = NODE_ROW_MAP,
		.name = "row_map_file",
		.shape = SHAPE_PASS,
		.parent = NODE_TRANSITION,
		.needs_version = true,
		.present = has_mapping,
		.measure = measure_row_map,
		.file = row_map_file },
	{ .id = NODE_NONE },
};
