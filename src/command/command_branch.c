/* branch: begins a branch with a version, or removes one. */
#include "commands.h"

#include <lancet/reference.h>
#include "util/macros.h"
#include "values.h"
#include "verbs.h"

static int
branch_create(struct command_run *run, struct lancet_error *err)
{
	const char *name;
	uint64_t version;

	TRY(value_needed(run->words, "name", &name, err));
	TRY(value_version(run, "version", &version, err));
	TRY(lancet_branch_create(
		run->host->dataset, name, version, value_of(run->words, "message"), err));
	jsonw_text(&run->json, "name", name);
	jsonw_u64_text(&run->json, "of_version", version);
	return LANCET_OK;
}

static int
branch_delete(struct command_run *run, struct lancet_error *err)
{
	const char *name;

	TRY(value_needed(run->words, "name", &name, err));
	TRY(lancet_branch_delete(run->host->dataset, name, err));
	jsonw_text(&run->json, "name", name);
	return LANCET_OK;
}

int
run_branch(struct command_run *run, struct lancet_error *err)
{
	static const struct verb verbs[] = {
		{ "create", "name version message", branch_create },
		{ "delete", "name", branch_delete },
	};

	return verb_run(run, verbs, ARRAY_SIZE(verbs), err);
}
