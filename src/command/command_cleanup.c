/* cleanup: old versions, and files that nothing needs any more. Unless the line says otherwise it
 * is only planned. */
#include "commands.h"

#include <stdlib.h>

#include <lancet/cleanup.h>
#include "util/macros.h"
#include "values.h"

static const char *const reasons[] = {
	[LANCET_OLD_VERSION] = "old_version",
	[LANCET_UNREFERENCED] = "unreferenced",
	[LANCET_ABANDONED] = "abandoned",
	[LANCET_TEMPORARY] = "temporary",
};

static void
put_versions(struct command_run *run, const lancet_cleanup *cleanup)
{
	size_t count;
	const uint64_t *versions = lancet_cleanup_versions(cleanup, &count);

	jsonw_array(&run->json, "versions");
	for (size_t i = 0; i < count; i++)
		jsonw_u64_text(&run->json, NULL, versions[i]);
	jsonw_end(&run->json);
}

static uint64_t
count_bytes(const lancet_cleanup *cleanup)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < lancet_cleanup_count(cleanup); i++)
		bytes += lancet_cleanup_file(cleanup, i)->bytes;
	return bytes;
}

static void
put_files(struct command_run *run, const lancet_cleanup *cleanup)
{
	struct jsonw *w = &run->json;

	jsonw_array(w, "candidates");
	for (size_t i = 0; i < lancet_cleanup_count(cleanup); i++) {
		const struct lancet_cleanup_file *file = lancet_cleanup_file(cleanup, i);

		jsonw_object(w, NULL);
		jsonw_text(w, "path", file->path);
		jsonw_u64(w, "bytes", file->bytes);
		jsonw_text(w, "reason", reasons[file->reason]);
		jsonw_end(w);
	}
	jsonw_end(w);
}

/* A plan is complete or it fails: half of one would look like all. */
static int
show_plan(struct command_run *run, const lancet_cleanup *cleanup, struct lancet_error *err)
{
	jsonw_bool(&run->json, "dry_run", true);
	jsonw_u64(&run->json, "files", lancet_cleanup_count(cleanup));
	jsonw_u64(&run->json, "bytes", count_bytes(cleanup));
	put_versions(run, cleanup);
	put_files(run, cleanup);
	if (run->members.failed == LANCET_LIMIT)
		return lancet_fail(err, LANCET_LIMIT,
			"the plan has %zu files, too many for a result: choose fewer with "
			"versions=",
			lancet_cleanup_count(cleanup));
	return LANCET_OK;
}

static int
remove_files(struct command_run *run, lancet_cleanup *cleanup, struct lancet_error *err)
{
	uint64_t removed = 0, bytes = 0;
	int rc;

	put_versions(run, cleanup);
	rc = lancet_cleanup_run(cleanup, &removed, &bytes, err);
	jsonw_u64(&run->json, "removed_files", removed);
	jsonw_u64(&run->json, "removed_bytes", bytes);
	return rc;
}

static int
plan_and_run(
	struct command_run *run, struct lancet_cleanup_options *options, struct lancet_error *err)
{
	bool dry = true;
	lancet_cleanup *cleanup = NULL;
	int rc;

	TRY(value_bool(run->words, "dry_run", &dry, err));
	TRY(lancet_cleanup_plan(run->host->dataset, options, &cleanup, err));
	rc = dry ? show_plan(run, cleanup, err) : remove_files(run, cleanup, err);
	lancet_cleanup_free(cleanup);
	return rc;
}

int
run_cleanup(struct command_run *run, struct lancet_error *err)
{
	const struct command_words *words = run->words;
	lancet_autofree uint64_t *versions = NULL;
	struct lancet_cleanup_options options = {
		.has_older_than = value_of(words, "older_than") != NULL,
		.cancelled = run->host->cancelled,
		.progress = run->host->progress,
		.context = run->host->context,
	};

	TRY(value_seconds(words, "older_than", &options.older_than, err));
	TRY(value_u64(words, "keep", UINT64_MAX, &options.keep, err));
	if (value_of(words, "keep") != NULL && options.keep == 0)
		return lancet_fail(err, LANCET_INVALID, "keep=0: the newest version always stays");
	TRY(value_bool(words, "delete_unverified", &options.delete_unverified, err));
	TRY(value_list(words, "versions", &versions, &options.version_count, err));
	options.versions = versions;
	return plan_and_run(run, &options, err);
}
