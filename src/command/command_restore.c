/* restore: an old version becomes the newest. */
#include "commands.h"

#include "commit_common.h"
#include "util/macros.h"
#include "values.h"

static int
build(void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	const uint64_t *version = context;

	return lancet_change_restore(read, *version, ret_change, err);
}

int
run_restore(struct command_run *run, struct lancet_error *err)
{
	uint64_t version = 0;
	const struct commit_plan plan = { .build = build, .context = &version };
	bool found = false;

	TRY(value_u64(run->words, "version", UINT64_MAX, &version, err));
	if (version == 0)
		return lancet_fail(err, LANCET_INVALID, "give version=N, the one to restore");
	TRY(commit_run(run, &plan, &found, err));
	if (!found)
		jsonw_u64_text(&run->json, "restored_version", version);
	return LANCET_OK;
}
