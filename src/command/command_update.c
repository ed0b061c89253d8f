/* update: new values for columns of the rows that fulfil a condition. */
#include "commands.h"

#include "commit_common.h"
#include "util/macros.h"
#include "values.h"

struct update {
	const struct lancet_change_run *run;
	const char *set, *where;
	uint64_t rows;
};

static int
build(void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	struct update *update = context;

	return lancet_change_update(
		read, update->set, update->where, update->run, ret_change, &update->rows, err);
}

int
run_update(struct command_run *run, struct lancet_error *err)
{
	const struct lancet_change_run asked = { .cancelled = run->host->cancelled,
		.progress = run->host->progress,
		.context = run->host->context };
	struct update update = { .run = &asked,
		.set = value_of(run->words, "set"),
		.where = value_of(run->words, "where") };
	const struct commit_plan plan = { .build = build, .context = &update };
	bool found = false;

	if (update.set == NULL)
		return lancet_fail(err, LANCET_INVALID,
			"what is to be set? write set=\"COLUMN = VALUE\" where=CONDITION");
	if (update.where == NULL)
		return lancet_fail(err, LANCET_INVALID,
			"of which rows? write where=CONDITION, or where=true for all");
	TRY(commit_run(run, &plan, &found, err));
	if (!found)
		jsonw_u64(&run->json, "updated_rows", update.rows);
	return LANCET_OK;
}
