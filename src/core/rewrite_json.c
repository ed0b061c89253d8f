/* A plan as JSON: what becomes of which fragment, and of the indices. */
#include "rewrite_plan.h"

#include "util/jsonw.h"
#include "util/macros.h"
#include "version.h"

static void
put_source(struct jsonw *w, const struct rewrite_source *source)
{
	const struct lancet_fragment_info *info = lancet_fragment_info(source->fragment);

	jsonw_object(w, NULL);
	jsonw_u64(w, "fragment", info->id);
	jsonw_u64(w, "physical_rows", info->physical_rows);
	jsonw_u64(w, "deleted_rows", info->deleted_rows);
	jsonw_u64(w, "overlays", info->overlay_count);
	jsonw_u64(w, "bytes", source->bytes);
	jsonw_end(w);
}

/* Ids and bytes are known once it was carried out. */
static void
put_destination(struct jsonw *w, const struct rewrite_task *task, size_t number)
{
	const struct rewrite_output *output = &task->outputs[number];

	jsonw_object(w, NULL);
	if (task->order != NULL)
		jsonw_json(w, "value", task->order->describe(task, number));
	if (output->id != 0)
		jsonw_u64(w, "fragment", output->id);
	jsonw_u64(w, "rows", output->rows);
	if (output->bytes != 0)
		jsonw_u64(w, "bytes", output->bytes);
	jsonw_end(w);
}

static void
put_task(struct jsonw *w, const struct rewrite_task *task)
{
	jsonw_object(w, NULL);
	jsonw_u64(w, "live_rows", task->live_rows);
	jsonw_array(w, "sources");
	for (size_t i = 0; i < task->source_count; i++)
		put_source(w, &task->sources[i]);
	jsonw_end(w);
	jsonw_array(w, "destinations");
	for (size_t i = 0; i < task->output_count; i++)
		put_destination(w, task, i);
	jsonw_end(w);
	jsonw_end(w);
}

static int
put_plan(const lancet_rewrite *rewrite, struct buf *members, struct buf *indices,
	struct lancet_error *err)
{
	struct jsonw w;

	jsonw_init_members(&w, members);
	jsonw_array(&w, "plan");
	for (size_t i = 0; i < rewrite->task_count; i++)
		put_task(&w, &rewrite->tasks[i]);
	jsonw_end(&w);
	jsonw_text(&w, "row_ids", rewrite->read->info.stable_row_ids ? "kept" : "addresses");
	TRY(remap_json(rewrite->remap, rewrite, indices, err));
	jsonw_members(&w, indices);
	return buf_check(members, "plan of a rewrite", err);
}

int
lancet_rewrite_json(
	const lancet_rewrite *rewrite, const struct lancet_output *out, struct lancet_error *err)
{
	struct buf members = { 0 }, indices = { 0 };
	int rc = put_plan(rewrite, &members, &indices, err);

	if (rc == LANCET_OK)
		rc = out->write(out->context, members.data, members.size);
	buf_release(&members);
	buf_release(&indices);
	return rc;
}
