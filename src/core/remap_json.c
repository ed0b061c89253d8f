/* What a plan says of indices: the fate of each segment, and the fragments left alone for them. */
#include "remap.h"

#include <stdlib.h>

#include "conflict_rules.h"
#include "index_reach.h"
#include "util/jsonw.h"
#include "util/macros.h"
#include "version.h"

struct telling {
	struct jsonw *w;
	const struct remap_plan *plan;
	const lancet_rewrite *rewrite;
};

/* What the rewrite means for one segment. */
struct losses {
	size_t touched; /* sources that it answers for */
	bool *lost;     /* by the number of the source: no longer */
	size_t lost_count;
	uint64_t lost_rows;
	bool folded; /* because of overlays */
};

static struct slice
slice_of_bytes(struct lancet_bytes bytes)
{
	return slice_of(bytes.data, bytes.size);
}

static const char *
fate_name(const struct remap_segment *segment)
{
	static const char *const names[] = {
		[REMAP_KEEPS] = "keeps",
		[REMAP_REWRITES] = "rewrites",
		[REMAP_FOLLOWS] = "follows",
		[REMAP_LOSES] = "loses",
	};

	return names[segment->fate];
}

static bool
has_field(const struct numbers *fields, const struct lancet_data_file *file)
{
	for (size_t i = 0; i < file->field_count; i++)
		if (file->fields[i] >= 0 &&
			numbers_find(fields, (uint64_t)file->fields[i]) != SIZE_MAX)
			return true;
	return false;
}

/* Values of overlays that the segment does not know get into the new files, where nothing tells any
 * more that it does not. */
static bool
folds_newer(const struct rewrite_task *task, const struct remap_segment *segment,
	const struct numbers *fields)
{
	for (size_t i = 0; i < task->source_count; i++) {
		const struct lancet_fragment_info *info =
			lancet_fragment_info(task->sources[i].fragment);

		for (size_t k = 0; k < info->overlay_count; k++)
			if (info->overlays[k].committed_version >
					segment->segment->dataset_version &&
				has_field(fields, &info->overlays[k].file))
				return true;
	}
	return false;
}

/* The segment answers for it: a tagged history follows with, others know it by their own marks. */
static bool
is_covered(const struct index_reach *reach, uint64_t id)
{
	const struct reach_graph *graph = &reach->graph;
	size_t place = reach_graph_find(graph, 0, id);

	return place < graph->count && graph->ids[place] == id &&
	       place_is_covered(graph->marks[place]);
}

static void
count_task(const struct rewrite_task *task, const struct index_reach *reach, bool lost,
	size_t first, struct losses *losses)
{
	for (size_t i = 0; i < task->source_count; i++) {
		const struct rewrite_source *source = &task->sources[i];

		if (!is_covered(reach, lancet_fragment_info(source->fragment)->id))
			continue;
		losses->touched++;
		if (!lost)
			continue;
		losses->lost[first + i] = true;
		losses->lost_count++;
		losses->lost_rows += source->live_rows;
	}
}

static int
count_losses(const struct remap_plan *plan, const lancet_rewrite *rewrite,
	const struct remap_segment *segment, struct index_reach *reach, struct losses *losses,
	struct lancet_error *err)
{
	const struct index_segment *stored = (const struct index_segment *)segment->segment;
	struct numbers fields = { 0 };
	struct arena arena = { 0 };
	size_t first = 0;
	int rc;

	if (segment->segment->bitmap.size == 0)
		return LANCET_OK;
	TRY(index_reach_follow(reach, segment->segment, err));
	rc = entry_fields(stored->message, plan->read, &arena, &fields, err);
	for (size_t i = 0; i < rewrite->task_count && rc == LANCET_OK; i++) {
		const struct rewrite_task *task = &rewrite->tasks[i];
		bool folds = !plan->tagged && folds_newer(task, segment, &fields);

		losses->folded |= folds;
		count_task(task, reach, folds || segment->fate == REMAP_LOSES, first, losses);
		first += task->source_count;
	}
	arena_release(&arena);
	return rc;
}

static void
put_lost(struct jsonw *w, const lancet_rewrite *rewrite, const struct losses *losses)
{
	size_t at = 0;

	jsonw_array(w, "lost_fragments");
	for (size_t i = 0; i < rewrite->task_count; i++)
		for (size_t k = 0; k < rewrite->tasks[i].source_count; k++)
			if (losses->lost[at++])
				jsonw_u64(w, NULL,
					lancet_fragment_info(rewrite->tasks[i].sources[k].fragment)
						->id);
	jsonw_end(w);
	jsonw_u64(w, "lost_rows", losses->lost_rows);
}

static int
put_segment(void *context, const struct remap_segment *segment, struct index_reach *reach,
	struct lancet_error *err)
{
	const struct telling *telling = context;
	const lancet_rewrite *rewrite = telling->rewrite;
	struct jsonw *w = telling->w;
	struct losses losses = { 0 };
	int rc;

	losses.lost = calloc((size_t)rewrite->totals.sources + 1, sizeof(*losses.lost));
	if (losses.lost == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "plan of index work");
	rc = count_losses(telling->plan, rewrite, segment, reach, &losses, err);
	jsonw_object(w, NULL);
	jsonw_slice(w, "name", slice_of_bytes(segment->index->name));
	jsonw_text(w, "segment", segment->segment->uuid_text);
	jsonw_slice(w, "type_url", slice_of_bytes(segment->segment->type_url));
	jsonw_text(w, "action", losses.touched == 0 ? "nothing" : fate_name(segment));
	jsonw_u64(w, "rewritten_fragments", losses.touched);
	put_lost(w, rewrite, &losses);
	if (losses.folded)
		jsonw_text(w, "why", "overlays that it does not know become values");
	else if (losses.lost_count > 0)
		jsonw_text(w, "why", segment->why);
	jsonw_end(w);
	free(losses.lost);
	return rc;
}

/* Fragments that are not rewritten although they might be, by the reason. */
static void
put_left_alone(struct jsonw *w, const struct remap_plan *plan)
{
	for (size_t i = 0; i < plan->text_count; i++) {
		uint64_t count = 0, first = 0;

		for (uint64_t k = plan->read->info.fragment_count; k > 0; k--) {
			if (plan->reasons[k - 1] != i + 1)
				continue;
			first = plan->read->spans[k - 1].id;
			count++;
		}
		if (count == 0)
			continue;
		jsonw_object(w, NULL);
		jsonw_text(w, "why", plan->texts[i]);
		jsonw_u64(w, "fragments", count);
		jsonw_u64(w, "first_fragment", first);
		jsonw_end(w);
	}
}

int
remap_json(const struct remap_plan *plan, const lancet_rewrite *rewrite, struct buf *into,
	struct lancet_error *err)
{
	struct jsonw w;
	struct telling telling = { &w, plan, rewrite };
	bool recorded = false;
	int rc;

	jsonw_init_members(&w, into);
	jsonw_array(&w, "indices");
	rc = remap_visit(plan, put_segment, &telling, err);
	jsonw_end(&w);
	jsonw_array(&w, "left_alone");
	put_left_alone(&w, plan);
	jsonw_end(&w);
	for (size_t i = 0; i < rewrite->task_count && !recorded; i++)
		recorded = remap_records(plan, rewrite, &rewrite->tasks[i]);
	jsonw_bool(&w, "reuse_recorded", recorded);
	return rc == LANCET_OK ? buf_check(into, "plan of index work", err) : rc;
}
