/* Commits a transaction, and prints the result as one line of JSON.
 *
 *     commit DATASET TRANSACTION READ_VERSION [affected=FILE] [reuse=FILE] [retries=N]
 *
 * TRANSACTION is an encoded message, "-" is standard input; its read_version must be READ_VERSION.
 * affected= has the row addresses that it takes out of their fragments, one a line; reuse= the
 * encoded entry of the reuse history that a Rewrite carries. A refusal is a result, too. The exit
 * status is 1 when the arguments make no sense.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "casefiles.h"
#include "commitresult.h"
#include "core/change.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

struct job {
	const char *dataset, *transaction, *affected, *reuse;
	uint64_t read_version;
	struct lancet_commit_options options;
};

/* What the message does not say. */
static int
add_knowledge(const struct job *job, lancet_change *change, struct lancet_error *err)
{
	lancet_autofree uint8_t *reuse = NULL;
	size_t size;

	if (job->affected != NULL)
		TRY(case_load_affected(job->affected, &change->affected, err));
	if (job->reuse == NULL)
		return LANCET_OK;
	reuse = case_load(job->reuse, &size);
	change->reuse_entry.data = arena_copy(&change->arena, reuse, size);
	change->reuse_entry.size = size;
	return LANCET_OK;
}

static int
make_change(const struct job *job, lancet_dataset *dataset, lancet_change **ret_change,
	struct lancet_error *err)
{
	size_t size;
	lancet_autofree uint8_t *bytes = case_load(job->transaction, &size);

	TRY(lancet_change_parse(dataset, bytes, size, ret_change, err));
	if ((*ret_change)->message->read_version != job->read_version)
		return lancet_fail(err, LANCET_INVALID, "the transaction has read another version");
	return add_knowledge(job, *ret_change, err);
}

static void
run(const struct job *job)
{
	struct lancet_commit_result result = {
		.operation = "", .conflict_operation = "", .conflict_rule = ""
	};
	struct lancet_error err = { 0 };
	lancet_dataset *dataset = NULL;
	lancet_change *change = NULL;
	int rc = lancet_dataset_open(job->dataset, NULL, &dataset, &err);

	if (rc == LANCET_OK)
		rc = make_change(job, dataset, &change, &err);
	if (rc == LANCET_OK)
		rc = lancet_commit(change, &job->options, &result, &err);
	print_commit(&result, rc, &err);
	lancet_change_free(change);
	lancet_dataset_unref(dataset);
}

static bool
parse(int argc, char **argv, struct job *job)
{
	char *end;

	if (argc < 4)
		return false;
	job->dataset = argv[1];
	job->transaction = argv[2];
	job->read_version = strtoull(argv[3], &end, 10);
	job->options.retries = LANCET_COMMIT_RETRIES;
	for (int i = 4; i < argc; i++)
		if (strncmp(argv[i], "affected=", 9) == 0)
			job->affected = argv[i] + 9;
		else if (strncmp(argv[i], "reuse=", 6) == 0)
			job->reuse = argv[i] + 6;
		else if (strncmp(argv[i], "retries=", 8) == 0)
			job->options.retries = (unsigned)strtoul(argv[i] + 8, NULL, 10);
		else
			return false;
	return *end == '\0';
}

int
main(int argc, char **argv)
{
	struct job job = { 0 };

	if (!parse(argc, argv, &job)) {
		(void)fprintf(stderr, "usage: commit DATASET TRANSACTION READ_VERSION "
				      "[affected=FILE] [reuse=FILE] [retries=N]\n");
		return EXIT_FAILURE;
	}
	run(&job);
	return EXIT_SUCCESS;
}
