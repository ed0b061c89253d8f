/* compact: small fragments become larger ones, and deleted rows and overlays go.
 *
 * What a line does not say the table's config does, by the reference's keys. A plan that has
 * nothing to do makes no version.
 */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "rewrite_common.h"
#include "util/macros.h"
#include "values.h"

struct choice {
	const char *word;
	int value;
};

static const struct choice remaps[] = {
	{ "auto", LANCET_REMAP_AUTO },
	{ "defer", LANCET_REMAP_DEFER },
	{ "skip", LANCET_REMAP_SKIP },
	{ NULL, 0 },
};

static const struct choice copies[] = {
	{ "auto", LANCET_COPY_AUTO },
	{ "never", LANCET_COPY_NEVER },
	{ "force", LANCET_COPY_FORCE },
	{ NULL, 0 },
};

static int
read_choice(const struct command_words *words, const char *key, const struct choice *choices,
	int *value, struct lancet_error *err)
{
	const char *text = value_of(words, key);

	for (size_t i = 0; text != NULL && choices[i].word != NULL; i++) {
		if (strcmp(text, choices[i].word) != 0)
			continue;
		*value = choices[i].value;
		return LANCET_OK;
	}
	if (text == NULL)
		return LANCET_OK;
	return lancet_fail(err, LANCET_INVALID, "%s=%.60s: give %s, %s or %s", key, text,
		choices[0].word, choices[1].word, choices[2].word);
}

/* A decimal fraction; nothing else that strtod(3) takes. */
static int
read_threshold(const struct command_words *words, double *value, struct lancet_error *err)
{
	const char *text = value_of(words, "materialize_deletions_threshold");
	char *end;
	double number;

	if (text == NULL)
		return LANCET_OK;
	number = strtod(text, &end);
	if (*text == '\0' || strspn(text, "0123456789.") != strlen(text) || *end != '\0' ||
		number > 1)
		return lancet_fail(err, LANCET_INVALID,
			"materialize_deletions_threshold=%.60s: give a part of all rows, 0 to 1",
			text);
	*value = number;
	return LANCET_OK;
}

static int
read_at_least_1(const struct command_words *words, const char *key, uint64_t *value,
	struct lancet_error *err)
{
	TRY(value_u64(words, key, UINT64_MAX, value, err));
	if (value_of(words, key) != NULL && *value == 0)
		return lancet_fail(err, LANCET_INVALID, "%s=0: give at least 1", key);
	return LANCET_OK;
}

/* max_rows_per_group is understood for the sake of old lines: files of 2.0 and later have no row
 * groups. */
static int
read_options(const struct command_words *words, struct lancet_compact_options *options,
	struct lancet_error *err)
{
	int remap = (int)options->index_remap, copy = (int)options->binary_copy;
	uint64_t group;

	TRY(read_at_least_1(words, "target_rows", &options->target_rows, err));
	TRY(read_at_least_1(words, "max_rows_per_group", &group, err));
	TRY(read_at_least_1(words, "max_source_rows", &options->max_source_rows, err));
	TRY(read_at_least_1(words, "max_source_bytes", &options->max_source_bytes, err));
	TRY(value_bool(words, "materialize_deletions", &options->materialize_deletions, err));
	TRY(read_threshold(words, &options->materialize_deletions_threshold, err));
	TRY(read_choice(words, "index_remap", remaps, &remap, err));
	TRY(read_choice(words, "binary_copy", copies, &copy, err));
	options->index_remap = (enum lancet_index_remap)remap;
	options->binary_copy = (enum lancet_binary_copy)copy;
	return LANCET_OK;
}

static int
plan(void *context, lancet_version *read, const struct lancet_rewrite_run *run,
	lancet_rewrite **ret_rewrite, struct lancet_error *err)
{
	const struct command_words *words = ((const struct command_run *)context)->words;
	lancet_autofree uint64_t *fragments = NULL;
	struct lancet_compact_options options;

	(void)run;
	TRY(lancet_compact_defaults(read, &options, err));
	TRY(read_options(words, &options, err));
	TRY(value_list(words, "fragments", &fragments, &options.fragment_count, err));
	options.fragments = fragments;
	return lancet_compact_plan(read, &options, ret_rewrite, err);
}

static int
put_result(const struct rewriting *rewriting, struct lancet_error *err)
{
	jsonw_u64(&rewriting->run->json, "tasks", lancet_rewrite_totals(rewriting->rewrite)->tasks);
	rewriting_put_totals(rewriting);
	return rewriting_put_plan(rewriting, err);
}

int
run_compact(struct command_run *run, struct lancet_error *err)
{
	struct rewriting rewriting = { .run = run, .plan = plan, .context = run };
	bool found = false;
	int rc = value_bool(run->words, "dry_run", &rewriting.dry, err);

	if (rc == LANCET_OK)
		rc = rewriting_commit(&rewriting, &found, err);
	if (rc == LANCET_OK && !found)
		rc = put_result(&rewriting, err);
	lancet_rewrite_free(rewriting.rewrite);
	return rc;
}
