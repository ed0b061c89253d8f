/* partition: rows go to one new fragment for each value of a column, or each label of a file, in
 * the order that they have. Rows that lie like this already make no version. */
#include "commands.h"

#include <string.h>
#include <unistd.h>

#include <lancet/rewrite.h>
#include "commit_common.h"
#include "util/macros.h"
#include "values.h"

#define FLAG_TAGGED (UINT64_C(1) << 10)

struct partitioning {
	struct command_run *run;
	const char *labels; /* name of the file, or NULL */
	struct lancet_partition_options options;
	bool dry;
	bool tags;               /* readers have to know more from now on */
	lancet_rewrite *rewrite; /* of the last attempt */
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
		return lancet_fail(err, LANCET_INVALID,
			"give by=COLUMN or labels=FILE, and only one of them");
	TRY(read_choices(partitioning, err));
	TRY(value_bool(words, "dry_run", &partitioning->dry, err));
	if (partitioning->labels == NULL)
		return LANCET_OK;
	if (host->open_payload == NULL)
		return lancet_fail(err, LANCET_INVALID, "labels=%.60s: there are no files here",
			partitioning->labels);
	return host->open_payload(host->context, partitioning->labels, &options->labels, err);
}

static int
plan(struct partitioning *partitioning, lancet_version *read, const struct lancet_rewrite_run *run,
	struct lancet_error *err)
{
	struct lancet_partition_options options = partitioning->options;
	const struct lancet_version_info *info = lancet_version_info(read);
	lancet_autofree uint64_t *fragments = NULL;

	TRY(value_list(
		partitioning->run->words, "fragments", &fragments, &options.fragment_count, err));
	options.fragments = fragments;
	partitioning->tags = !info->stable_row_ids && options.index_remap != LANCET_REMAP_SKIP &&
			     ((info->reader_flags | info->writer_flags) & FLAG_TAGGED) == 0;
	return lancet_partition_plan(read, &options, run, &partitioning->rewrite, err);
}

static int
build(void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	struct partitioning *partitioning = context;
	const struct command_host *host = partitioning->run->host;
	const struct lancet_rewrite_run run = {
		.cancelled = host->cancelled,
		.progress = host->progress,
		.context = host->context,
	};

	*ret_change = NULL;
	lancet_rewrite_free(partitioning->rewrite);
	partitioning->rewrite = NULL;
	TRY(plan(partitioning, read, &run, err));
	return partitioning->dry ? LANCET_OK
				 : lancet_rewrite_run(partitioning->rewrite, &run, ret_change, err);
}

static int
put_bytes(void *context, const void *data, size_t size)
{
	struct buf *members = context;

	buf_put(members, data, size);
	return (int)members->failed;
}

static int
put_result(struct partitioning *partitioning, struct lancet_error *err)
{
	const struct lancet_rewrite_totals *totals = lancet_rewrite_totals(partitioning->rewrite);
	struct jsonw *w = &partitioning->run->json;
	struct buf members = { 0 };
	const struct lancet_output out = { put_bytes, &members };
	int rc;

	jsonw_u64(w, "fragments_removed", totals->sources);
	jsonw_u64(w, "fragments_added", totals->destinations);
	jsonw_u64(w, "rows", totals->live_rows);
	jsonw_u64(w, "deleted_rows_removed", totals->source_rows - totals->live_rows);
	jsonw_u64(w, "bytes_before", totals->source_bytes);
	if (!partitioning->dry)
		jsonw_u64(w, "bytes_after", totals->written_bytes);
	if (partitioning->tags && totals->tasks > 0)
		jsonw_text(w, "note",
			"the reuse history becomes a tagged one (flag 1024): pylance up to 12 "
			"refuses the dataset then");
	rc = lancet_rewrite_json(partitioning->rewrite, &out, err);
	if (rc == LANCET_OK)
		jsonw_members(w, &members);
	buf_release(&members);
	return rc;
}

static int
carry_out(struct partitioning *partitioning, struct lancet_error *err)
{
	const struct commit_plan how = { .build = build, .context = partitioning };
	const struct command_host *host = partitioning->run->host;
	bool found = false;

	TRY(read_words(partitioning, err));
	TRY(commit_run(partitioning->run, &how, &found, err));
	if (!found)
		TRY(put_result(partitioning, err));
	if (partitioning->labels != NULL && !partitioning->dry && host->payload_used != NULL)
		host->payload_used(host->context, partitioning->labels);
	return LANCET_OK;
}

int
run_partition(struct command_run *run, struct lancet_error *err)
{
	struct partitioning partitioning = { .run = run, .options.labels = -1 };
	int rc = carry_out(&partitioning, err);

	if (partitioning.options.labels >= 0)
		(void)close(partitioning.options.labels);
	lancet_rewrite_free(partitioning.rewrite);
	return rc;
}
