/* partition: rows go to one new fragment for each value of a column, or each label of a file, in
 * the order that they have. Rows that lie like this already make no version. */
#include "commands.h"

#include <string.h>
#include <unistd.h>

#include "rewrite_common.h"
#include "util/macros.h"
#include "values.h"

#define FLAG_TAGGED (UINT64_C(1) << 10)

struct partitioning {
	struct command_run *run;
	const char *labels; /* name of the file, or NULL */
	struct lancet_partition_options options;
	struct rewriting rewriting;
	bool tags; /* readers have to know more from now on */
};

static int
read_choices(struct partitioning *partitioning, struct lancet_error *err)
{
	const struct command_words *words = partitioning->run->words;
	struct lancet_partition_options *options = &partitioning->options;
	const char *format = value_of(words, "format"), *remap = value_of(words, "index_remap");

	if (format == NULL || strcmp(format, "auto") == 0)
		options->format = LANCET_LABELS_AUTO;
	else if (strcmp(format, "u16") == 0)
		options->format = LANCET_LABELS_U16;
	else if (strcmp(format, "text") == 0)
		options->format = LANCET_LABELS_TEXT;
	else
		return lancet_fail(
			err, LANCET_INVALID, "format=%.40s: give auto, u16 or text", format);
	if (remap == NULL || strcmp(remap, "auto") == 0)
		options->index_remap = LANCET_REMAP_AUTO;
	else if (strcmp(remap, "skip") == 0)
		options->index_remap = LANCET_REMAP_SKIP;
	else
		return lancet_fail(
			err, LANCET_INVALID, "index_remap=%.40s: give auto or skip", remap);
	return LANCET_OK;
}

static int
read_words(struct partitioning *partitioning, struct lancet_error *err)
{
	const struct command_host *host = partitioning->run->host;
	const struct command_words *words = partitioning->run->words;
	struct lancet_partition_options *options = &partitioning->options;

	partitioning->labels = value_of(words, "labels");
	options->by = value_of(words, "by");
	if ((options->by == NULL) == (partitioning->labels == NULL))
		return lancet_fail(
			err, LANCET_INVALID, "give by=COLUMN or labels=FILE, and only one of them");
	TRY(read_choices(partitioning, err));
	TRY(value_bool(words, "dry_run", &partitioning->rewriting.dry, err));
	if (partitioning->labels == NULL)
		return LANCET_OK;
	if (host->open_payload == NULL)
		return lancet_fail(err, LANCET_INVALID, "labels=%.60s: there are no files here",
			partitioning->labels);
	return host->open_payload(host->context, partitioning->labels, &options->labels, err);
}

static int
plan(void *context, lancet_version *read, const struct lancet_rewrite_run *run,
	lancet_rewrite **ret_rewrite, struct lancet_error *err)
{
	struct partitioning *partitioning = context;
	struct lancet_partition_options options = partitioning->options;
	const struct lancet_version_info *info = lancet_version_info(read);
	lancet_autofree uint64_t *fragments = NULL;

	TRY(value_list(
		partitioning->run->words, "fragments", &fragments, &options.fragment_count, err));
	options.fragments = fragments;
	partitioning->tags = !info->stable_row_ids && options.index_remap != LANCET_REMAP_SKIP &&
			     ((info->reader_flags | info->writer_flags) & FLAG_TAGGED) == 0;
	return lancet_partition_plan(read, &options, run, ret_rewrite, err);
}

static int
put_result(const struct partitioning *partitioning, struct lancet_error *err)
{
	const struct rewriting *rewriting = &partitioning->rewriting;

	rewriting_put_totals(rewriting);
	if (partitioning->tags && lancet_rewrite_totals(rewriting->rewrite)->tasks > 0)
		jsonw_text(&partitioning->run->json, "note",
			"the reuse history becomes a tagged one (flag 1024): pylance up to 12 "
			"refuses the dataset then");
	return rewriting_put_plan(rewriting, err);
}

static int
carry_out(struct partitioning *partitioning, struct lancet_error *err)
{
	const struct command_host *host = partitioning->run->host;
	bool found = false;

	TRY(read_words(partitioning, err));
	TRY(rewriting_commit(&partitioning->rewriting, &found, err));
	if (!found)
		TRY(put_result(partitioning, err));
	if (partitioning->labels != NULL && !partitioning->rewriting.dry &&
		host->payload_used != NULL)
		host->payload_used(host->context, partitioning->labels);
	return LANCET_OK;
}

int
run_partition(struct command_run *run, struct lancet_error *err)
{
	struct partitioning partitioning = {
		.run = run,
		.options.labels = -1,
		.rewriting = { .run = run, .plan = plan, .context = &partitioning },
	};
	int rc = carry_out(&partitioning, err);

	if (partitioning.options.labels >= 0)
		(void)close(partitioning.options.labels);
	lancet_rewrite_free(partitioning.rewriting.rewrite);
	return rc;
}
