/* Writers at the same time: threads that share a dataset, and processes. Every commit is there
 * once, and the versions have no gap.
 */
#include "unit.h"

#include <pthread.h>
#include <sys/wait.h>

#include "commitsample.h"

#define WRITERS 2
#define COMMITS 200u

static lancet_dataset *shared;

/* One setting more, on what is the newest version now. */
static void
commit_one(lancet_dataset *dataset, unsigned writer, unsigned number)
{
	const struct lancet_commit_options options = { .retries = 1000, .not_durable = true };
	struct lancet_commit_result result;
	char key[32];
	const struct lancet_set set = { LANCET_SET_CONFIG, NULL, key, "v" };
	lancet_version *read;
	lancet_change *change;
	uint64_t newest;

	(void)snprintf(key, sizeof(key), "%u.%03u", writer, number);
	OK(lancet_dataset_latest(dataset, &newest, &err));
	OK(lancet_version_open(dataset, newest, &read, &err));
	OK(lancet_change_settings(read, &set, 1, &change, &err));
	OK(lancet_commit(change, &options, &result, &err));
	ck_assert_uint_gt(result.version, newest);
	ck_assert(!result.found && result.attempts >= 1);
	lancet_change_free(change);
	lancet_version_unref(read);
}

static void
check_all(const struct tree *tree)
{
	lancet_dataset *dataset = sample_open(tree);
	struct lancet_version_list list;
	lancet_version *newest;
	const struct lancet_entry *entries;
	size_t count;
	char key[32];

	OK(lancet_dataset_versions(dataset, &list, &err));
	ck_assert_uint_eq(list.count, SAMPLE_NEWEST + WRITERS * COMMITS);
	for (size_t i = 0; i < list.count; i++)
		ck_assert_uint_eq(list.entries[i].number, i + 1);
	OK(lancet_version_open(dataset, list.count, &newest, &err));
	entries = lancet_version_map(newest, LANCET_CONFIG, &count);
	ck_assert_uint_eq(count, WRITERS * COMMITS);
	for (size_t i = 0; i < count; i++) { /* by key */
		(void)snprintf(key, sizeof(key), "%u.%03u", (unsigned)(i / COMMITS),
			(unsigned)(i % COMMITS));
		ck_assert(slice_equal(
			slice_of(entries[i].key.data, entries[i].key.size), slice_text(key)));
	}
	lancet_version_unref(newest);
	lancet_version_list_release(&list);
	lancet_dataset_unref(dataset);
}

static void *
write_in_thread(void *number)
{
	for (unsigned i = 0; i < COMMITS; i++)
		commit_one(shared, *(unsigned *)number, i);
	return NULL;
}

START_TEST(threads_lose_nothing)
{
	struct tree tree = sample_new();
	pthread_t threads[WRITERS];
	unsigned numbers[WRITERS];

	shared = sample_open(&tree);
	for (unsigned i = 0; i < WRITERS; i++) {
		numbers[i] = i;
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, write_in_thread, &numbers[i]), 0);
	}
	for (unsigned i = 0; i < WRITERS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	lancet_dataset_unref(shared);
	check_all(&tree);
	tree_remove(&tree);
}
END_TEST

START_TEST(processes_lose_nothing)
{
	struct tree tree = sample_new();
	pid_t children[WRITERS];

	for (unsigned i = 0; i < WRITERS; i++) {
		children[i] = check_fork();
		if (children[i] == 0) {
			lancet_dataset *dataset = sample_open(&tree);

			for (unsigned j = 0; j < COMMITS; j++)
				commit_one(dataset, i, j);
			lancet_dataset_unref(dataset);
			_exit(EXIT_SUCCESS);
		}
	}
	for (unsigned i = 0; i < WRITERS; i++) {
		int status;

		ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
	}
	check_all(&tree);
	tree_remove(&tree);
}
END_TEST

UNIT_MAIN("commit_race", UNIT_TEST(threads_lose_nothing), UNIT_TEST(processes_lose_nothing))
