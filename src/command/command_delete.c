/* delete: marks rows deleted, by a condition, by row id or by row address. */
#include "commands.h"

#include "commit_common.h"
#include "util/macros.h"
#include "values.h"

struct deletion {
	const struct lancet_change_run *run;
	const char *where, *row_ids, *row_addrs; /* one of them */
	uint64_t rows;
};

static int
build(void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	struct deletion *deletion = context;

	if (deletion->where != NULL)
		return lancet_change_delete_where(read, deletion->where, deletion->run, ret_change,
			&deletion->rows, err);
	if (deletion->row_ids != NULL)
		return lancet_change_delete_ids(
			read, deletion->row_ids, ret_change, &deletion->rows, err);
	return lancet_change_delete_addrs(
		read, deletion->row_addrs, ret_change, &deletion->rows, err);
}

int
run_delete(struct command_run *run, struct lancet_error *err)
{
	const struct lancet_change_run asked = { .cancelled = run->host->cancelled,
		.progress = run->host->progress,
		.context = run->host->context };
	struct deletion deletion = { .run = &asked,
		.where = value_of(run->words, "where"),
		.row_ids = value_of(run->words, "row_ids"),
		.row_addrs = value_of(run->words, "row_addrs") };
	const struct commit_plan plan = { .build = build, .context = &deletion };
	bool found = false;

	if ((deletion.where != NULL) + (deletion.row_ids != NULL) + (deletion.row_addrs != NULL) !=
		1)
		return lancet_fail(err, LANCET_INVALID,
			"give where=CONDITION, row_ids=5,17-20 or row_addrs=FRAG:OFFSETS;..., and "
			"only one of them");
	TRY(commit_run(run, &plan, &found, err));
	if (!found)
		jsonw_u64(&run->json, "deleted_rows", deletion.rows);
	return LANCET_OK;
}
