/* Commands that rewrite fragments; see rewrite_common.h. */
#include "rewrite_common.h"

#include "commit_common.h"
#include "util/macros.h"

static int
build(void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	struct rewriting *rewriting = context;
	const struct command_host *host = rewriting->run->host;
	const struct lancet_rewrite_run run = {
		.cancelled = host->cancelled,
		.progress = host->progress,
		.context = host->context,
	};

	*ret_change = NULL;
	lancet_rewrite_free(rewriting->rewrite);
	rewriting->rewrite = NULL;
	TRY(rewriting->plan(rewriting->context, read, &run, &rewriting->rewrite, err));
	return rewriting->dry ? LANCET_OK
			      : lancet_rewrite_run(rewriting->rewrite, &run, ret_change, err);
}

int
rewriting_commit(struct rewriting *rewriting, bool *ret_found, struct lancet_error *err)
{
	const struct commit_plan how = { .build = build, .context = rewriting };

	return commit_run(rewriting->run, &how, ret_found, err);
}

void
rewriting_put_totals(const struct rewriting *rewriting)
{
	const struct lancet_rewrite_totals *totals = lancet_rewrite_totals(rewriting->rewrite);
	struct jsonw *w = &rewriting->run->json;

	jsonw_u64(w, "fragments_removed", totals->sources);
	jsonw_u64(w, "fragments_added", totals->destinations);
	jsonw_u64(w, "rows", totals->live_rows);
	jsonw_u64(w, "deleted_rows_removed", totals->source_rows - totals->live_rows);
	jsonw_u64(w, "bytes_before", totals->source_bytes);
	if (!rewriting->dry)
		jsonw_u64(w, "bytes_after", totals->written_bytes);
}

static int
put_bytes(void *context, const void *data, size_t size)
{
	struct buf *members = context;

	buf_put(members, data, size);
	return (int)members->failed;
}

int
rewriting_put_plan(const struct rewriting *rewriting, struct lancet_error *err)
{
	struct buf members = { 0 };
	const struct lancet_output out = { put_bytes, &members };
	int rc = lancet_rewrite_json(rewriting->rewrite, &out, err);

	if (rc == LANCET_OK)
		jsonw_members(&rewriting->run->json, &members);
	buf_release(&members);
	return rc;
}
