/* The states that a loss of power may leave of one operation, as directories to be opened by
 * others.
 *
 *     powerstates DATASET INTO DROPPED STATES WHEN OPERATION [WORD...]
 *
 * INTO becomes a directory with "start" and "work", two copies of DATASET of which the operation is
 * done in the second one, and "N" for each state N, all unlike by their names and content. A line
 * of INTO/states for each of them: N, after how many changes of the storage it is seen last, and
 * how many there were when the operation returned. DROPPED is the number of a sync that is left out
 * (0: none), STATES how many are chosen after each change (see powerloss.h). WHEN is "all", or
 * "end": only after the last change. The last line of the file is the number of syncs.
 */
#include "unit.h"

#include <fts.h>
#include <lancet/cleanup.h>
#include <lancet/commit.h>
#include <lancet/reference.h>
#include <stdio.h>

#include "commitsample.h"
#include "datachanges.h"
#include "powerloss.h"

#define STATES_MAX 4096

struct seen {
	uint64_t signature;
	size_t last; /* changes of the storage */
};

static char **words; /* of the operation, NULL-ended */
static const char *dataset_path;
static uint64_t dropped;
static size_t states_each;
static bool at_end;
static struct seen seen[STATES_MAX];
static size_t seen_count;

static uint64_t
number_of(const char *word)
{
	char *end;
	uint64_t number = strtoull(word, &end, 10);

	ck_assert_msg(*word != '\0' && *end == '\0', "%s is no number", word);
	return number;
}

/* READ KEY VALUE */
static int
make_config(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	const struct lancet_set set = { LANCET_SET_CONFIG, NULL, words[2], words[3] };

	return lancet_change_settings(read, &set, 1, ret_change, err);
}

/* READ FILE */
static int
make_append_file(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	int fd = open(words[2], O_RDONLY | O_CLOEXEC);
	uint64_t rows;
	int rc = lancet_change_append_file(read, fd, ret_change, &rows, err);

	(void)close(fd);
	return rc;
}

/* READ ADDRESSES */
static int
make_delete_addrs(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	uint64_t rows;

	return lancet_change_delete_addrs(read, words[2], ret_change, &rows, err);
}

/* READ VERSION */
static int
make_restore(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	return lancet_change_restore(read, number_of(words[2]), ret_change, err);
}

/* READ COLUMN */
static int
make_drop_column(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	const char *const columns[] = { words[2], NULL };

	return lancet_change_drop_columns(read, columns, ret_change, err);
}

/* READ NAME */
static int
make_drop_index(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	return lancet_change_drop_index(read, words[2], ret_change, err);
}

static const struct {
	const char *name;
	int words;
	int (*make)(lancet_version *read, lancet_change **ret_change, struct lancet_error *err);
} changes[] = {
	{ "config", 3, make_config },
	{ "append", 2, make_append_file },
	{ "delete", 2, make_delete_addrs },
	{ "restore", 2, make_restore },
	{ "drop_column", 2, make_drop_column },
	{ "drop_index", 2, make_drop_index },
};

static int
make_change(lancet_version *read, size_t row, lancet_change **ret_change, struct lancet_error *err)
{
	return row < ARRAY_SIZE(changes) ? changes[row].make(read, ret_change, err)
					 : data_changes[row - ARRAY_SIZE(changes)].make(
						   read, words + 2, ret_change, err);
}

/* Rows of both tables, one behind the other. */
static int
commit(lancet_dataset *dataset, size_t row, struct lancet_error *err)
{
	const struct lancet_commit_options options = { 0 };
	struct lancet_commit_result result;
	lancet_version *read;
	lancet_change *change = NULL;
	int rc;

	TRY(lancet_version_open(dataset, number_of(words[1]), &read, err));
	rc = make_change(read, row, &change, err);
	lancet_version_unref(read);
	if (rc == LANCET_OK)
		rc = lancet_commit(change, &options, &result, err);
	lancet_change_free(change);
	ck_assert(rc != LANCET_OK || result.durable);
	return rc;
}

/* NAME VERSION */
static int
tag_create(lancet_dataset *dataset, struct lancet_error *err)
{
	return lancet_tag_create(dataset, words[1], number_of(words[2]), err);
}

static int
tag_move(lancet_dataset *dataset, struct lancet_error *err)
{
	return lancet_tag_move(dataset, words[1], number_of(words[2]), err);
}

/* NAME */
static int
tag_delete(lancet_dataset *dataset, struct lancet_error *err)
{
	return lancet_tag_delete(dataset, words[1], err);
}

/* NAME VERSION */
static int
branch_create(lancet_dataset *dataset, struct lancet_error *err)
{
	return lancet_branch_create(dataset, words[1], number_of(words[2]), NULL, err);
}

/* KEEP: how many of the newest versions stay. */
static int
cleanup(lancet_dataset *dataset, struct lancet_error *err)
{
	const struct lancet_cleanup_options options = { .keep = number_of(words[1]) };
	lancet_cleanup *plan;
	uint64_t removed, bytes;
	int rc;

	TRY(lancet_cleanup_plan(dataset, &options, &plan, err));
	rc = lancet_cleanup_run(plan, &removed, &bytes, err);
	lancet_cleanup_free(plan);
	return rc;
}

static int
repair(lancet_dataset *dataset, struct lancet_error *err)
{
	lancet_autofree char *name = NULL;
	uint64_t version;

	return lancet_repair_torn_head(dataset, &version, &name, err);
}

static const struct {
	const char *name;
	int words;
	int (*run)(lancet_dataset *dataset, struct lancet_error *err);
} others[] = {
	{ "tag_create", 2, tag_create },
	{ "tag_move", 2, tag_move },
	{ "tag_delete", 1, tag_delete },
	{ "branch_create", 2, branch_create },
	{ "cleanup", 1, cleanup },
	{ "repair", 0, repair },
};

static int
operate(lancet_dataset *dataset, struct lancet_error *err)
{
	int count = 0;

	while (words[count + 1] != NULL)
		count++;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		if (strcmp(words[0], changes[i].name) == 0 && count == changes[i].words)
			return commit(dataset, i, err);
	for (size_t i = 0; i < ARRAY_SIZE(data_changes); i++)
		if (strcmp(words[0], data_changes[i].name) == 0 &&
			count == 1 + data_changes[i].words)
			return commit(dataset, ARRAY_SIZE(changes) + i, err);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(words[0], others[i].name) == 0 && count == others[i].words)
			return others[i].run(dataset, err);
	return lancet_fail(err, LANCET_INVALID, "no such operation, or not so many words");
}

/* ---- states --------------------------------------------------------------------------- */

static uint64_t
sign(uint64_t signature, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		signature = (signature ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
	return signature;
}

/* Files of the start are the same file in all states. */
static uint64_t
sign_file(const FTSENT *entry)
{
	uint64_t signature =
		sign(UINT64_C(0xcbf29ce484222325), entry->fts_path, strlen(entry->fts_path) + 1);
	char bytes[8192];
	ssize_t size;
	int fd;

	if (entry->fts_info == FTS_D)
		return signature;
	if (entry->fts_statp->st_nlink > 1)
		return sign(signature, &entry->fts_statp->st_ino, sizeof(ino_t));
	fd = open(entry->fts_path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	while ((size = read(fd, bytes, sizeof(bytes))) > 0)
		signature = sign(signature, bytes, (size_t)size);
	(void)close(fd);
	return signature;
}

/* Of all names and contents, in any order. */
static uint64_t
sign_state(void)
{
	char root[] = "state", *paths[] = { root, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *entry;
	uint64_t signature = 0;

	ck_assert_ptr_nonnull(tree);
	while ((entry = fts_read(tree)) != NULL)
		if (entry->fts_info == FTS_F || entry->fts_info == FTS_D)
			signature += sign_file(entry);
	(void)fts_close(tree);
	return signature;
}

/* Keeps the state at hand, unless one like it is there. */
static void
keep_state(size_t changes_made)
{
	uint64_t signature = sign_state();
	char name[32];

	for (size_t i = 0; i < seen_count; i++) {
		if (seen[i].signature == signature) {
			seen[i].last = changes_made;
			return;
		}
	}
	ck_assert_uint_lt(seen_count, STATES_MAX);
	(void)snprintf(name, sizeof(name), "%zu", seen_count);
	ck_assert_int_eq(rename("state", name), 0);
	seen[seen_count++] = (struct seen){ signature, changes_made };
}

static void
write_list(size_t acknowledged, uint64_t syncs)
{
	FILE *list = fopen("states", "w");

	ck_assert_ptr_nonnull(list);
	for (size_t i = 0; i < seen_count; i++)
		(void)fprintf(list, "%zu %zu %zu\n", i, seen[i].last, acknowledged);
	(void)fprintf(list, "%llu\n", (unsigned long long)syncs);
	ck_assert_int_eq(fclose(list), 0);
}

START_TEST(states_are_written)
{
	struct store *local, *store;
	struct store_log log;
	lancet_dataset *dataset = NULL;
	char location[PATH_MAX];

	sample_copy(dataset_path, "start", false);
	sample_copy(dataset_path, "work", false);
	ck_assert_ptr_nonnull(realpath("work", location));
	OK(store_local_open("work", NULL, &local, &err));
	store_log_init(&log, dropped);
	store = store_record_new(local, &log);
	ck_assert_ptr_nonnull(store);
	OK(dataset_open_store(store, location, NULL, &dataset, &err));
	OK(operate(dataset, &err));
	lancet_dataset_unref(dataset);
	for (size_t changes_made = at_end ? log.count : 0; changes_made <= log.count;
		changes_made++) {
		struct powerloss *loss =
			powerloss_open(&log, changes_made, "start", "state", states_each);

		while (powerloss_next(loss))
			keep_state(changes_made);
		powerloss_free(loss);
	}
	write_list(log.count, log.syncs);
	store_unref(store);
	store_unref(local);
	store_log_release(&log);
}
END_TEST

int
main(int argc, char **argv)
{
	const struct unit_case cases[] = { UNIT_TEST(states_are_written) };

	if (argc < 7) {
		(void)fprintf(stderr, "usage: powerstates DATASET INTO DROPPED STATES WHEN "
				      "OPERATION [WORD...]\n");
		return EXIT_FAILURE;
	}
	dataset_path = realpath(argv[1], NULL);
	dropped = strtoull(argv[3], NULL, 10);
	states_each = strtoull(argv[4], NULL, 10);
	at_end = strcmp(argv[5], "end") == 0;
	words = argv + 6;
	if (dataset_path == NULL || mkdir(argv[2], 0755) != 0 || chdir(argv[2]) != 0) {
		perror(argv[2]);
		return EXIT_FAILURE;
	}
	return unit_run("powerstates", cases, ARRAY_SIZE(cases));
}
