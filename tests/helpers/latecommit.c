/* Makes a change, and commits it when it is told to.
 *
 *     latecommit DATASET READ_VERSION CHANGE [WORD...]
 *
 * Once the change is made its line is "made", or "nothing" when there is none, or the failure as
 * JSON. Then it waits for a line of standard input, commits, and prints the result; at the end of
 * the input it gives up instead.
 */
#include "commitresult.h"
#include "datachanges.h"

static int
make(lancet_dataset *dataset, char **argv, const struct data_change *kind,
	lancet_change **ret_change, struct lancet_error *err)
{
	lancet_version *read;
	int rc;

	TRY(lancet_version_open(dataset, strtoull(argv[2], NULL, 10), &read, err));
	rc = kind->make(read, argv + 4, ret_change, err);
	lancet_version_unref(read);
	return rc;
}

static void
run(char **argv, const struct data_change *kind)
{
	const struct lancet_commit_options options = { .retries = LANCET_COMMIT_RETRIES,
		.not_durable = true };
	struct lancet_commit_result result = {
		.operation = "", .conflict_operation = "", .conflict_rule = ""
	};
	struct lancet_error err = { 0 };
	lancet_dataset *dataset = NULL;
	lancet_change *change = NULL;
	int rc = lancet_dataset_open(argv[1], NULL, &dataset, &err);

	if (rc == LANCET_OK)
		rc = make(dataset, argv, kind, &change, &err);
	if (rc == LANCET_OK) {
		(void)puts(change == NULL ? "nothing" : "made");
		(void)fflush(stdout);
	}
	if (rc == LANCET_OK && change != NULL && getchar() != EOF)
		rc = lancet_commit(change, &options, &result, &err);
	else if (rc == LANCET_OK)
		goto out;
	print_commit(&result, rc, &err);
out:
	lancet_change_free(change);
	lancet_dataset_unref(dataset);
}

/* NULL: no such one with so many words. */
static const struct data_change *
find_change(const char *name, int words)
{
	for (size_t i = 0; i < ARRAY_SIZE(data_changes); i++)
		if (strcmp(name, data_changes[i].name) == 0 && words == data_changes[i].words)
			return &data_changes[i];
	return NULL;
}

int
main(int argc, char **argv)
{
	const struct data_change *kind = argc < 4 ? NULL : find_change(argv[3], argc - 4);

	if (kind == NULL) {
		(void)fprintf(stderr, "usage: latecommit DATASET READ_VERSION CHANGE [WORD...]\n");
		return EXIT_FAILURE;
	}
	run(argv, kind);
	return EXIT_SUCCESS;
}
