/* commit: a transaction that somebody wrote, as JSON or as protobuf.
 *
 * No transaction begins with '{': as a tag that is a group, which protobuf 3 does not have.
 */
#include "commands.h"

#include "commit_common.h"
#include "payload.h"
#include "util/macros.h"

struct staged {
	lancet_dataset *dataset;
	struct buf document;
};

static bool
is_json(struct slice document)
{
	size_t at = 0;

	while (at < document.size && memchr(" \t\r\n", document.data[at], 4) != NULL)
		at++;
	return at < document.size && document.data[at] == '{';
}

static int
build(void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	const struct staged *staged = context;
	const struct buf *document = &staged->document;

	(void)read;
	if (is_json(buf_slice(document)))
		return lancet_change_json(staged->dataset, (const char *)document->data,
			document->size, ret_change, err);
	return lancet_change_parse(
		staged->dataset, document->data, document->size, ret_change, err);
}

int
run_commit(struct command_run *run, struct lancet_error *err)
{
	struct staged staged = { .dataset = run->host->dataset };
	const struct commit_plan plan = { .build = build, .context = &staged, .staged = true };
	const char *name;
	int rc = payload_read(run, &name, &staged.document, err);

	if (rc == LANCET_OK && staged.document.size == 0)
		rc = lancet_fail(err, LANCET_INVALID, "%.200s: the file is empty", name);
	if (rc == LANCET_OK)
		rc = commit_run(run, &plan, NULL, err);
	buf_release(&staged.document);
	if (rc == LANCET_OK)
		payload_used(run, name);
	return rc;
}
