/* Commits that are made: what they say, and how they find their way over others. */
#include "unit.h"

#include <lancet/fragment.h>

#include "commitrun.h"
#include "lance/transaction.pb-c.h"
#include "maker.h"

#define NEXT (SAMPLE_NEWEST + 1)

static ino_t synced[64];
static size_t synced_count;

int
fsync(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && synced_count < ARRAY_SIZE(synced))
		synced[synced_count++] = st.st_ino;
	return 0;
}

static bool
was_synced(const struct tree *tree, const char *key)
{
	struct stat st;

	ck_assert_int_eq(stat(TREE_PATH(tree, key), &st), 0);
	for (size_t i = 0; i < synced_count; i++)
		if (synced[i] == st.st_ino)
			return true;
	return false;
}

START_TEST(a_commit_says_what_it_has_done)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_config(dataset, SAMPLE_NEWEST, "k", "v");
	struct lancet_commit_result result;
	char key[128], stored[4096];
	int fd;

	OK(lancet_commit(change, NULL, &result, &err));
	ck_assert_uint_eq(result.version, NEXT);
	ck_assert(result.read_version == SAMPLE_NEWEST && result.rebased_over == 0);
	ck_assert(result.attempts == 1 && !result.found && result.durable);
	ck_assert_str_eq(result.operation, "UpdateConfig");
	ck_assert(result.conflict_version == 0 && *result.conflict_rule == '\0');
	check_text(&tree, "_versions/latest_version_hint.json", "{\"version\":7}");
	(void)snprintf(key, sizeof(key), "_transactions/6-%s.txn", result.uuid);
	fd = open(TREE_PATH(&tree, key), O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(read(fd, stored, sizeof(stored)), (ssize_t)result.stored.size);
	ck_assert_mem_eq(stored, result.stored.data, result.stored.size);
	(void)close(fd);
	FAILS(lancet_commit(change, NULL, &result, &err), LANCET_INVALID, "already");
	FAILS(lancet_change_set_property(change, "a", "b", &err), LANCET_INVALID, "already");
	lancet_change_free(change);
	ck_assert_uint_eq(count_files(&tree, "_versions", ".manifest"), NEXT);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(it_goes_over_what_was_committed_since)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_config(dataset, 3, "k", "v");
	struct lancet_commit_result result = commit_now(change);

	ck_assert(result.version == NEXT && result.attempts == 1);
	ck_assert(result.read_version == 3 && result.rebased_over == SAMPLE_NEWEST);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

static lancet_dataset *rivals;
static unsigned rival_commits;

static void
commit_a_rival(void)
{
	char key[32];

	if (rival_commits == 0)
		return;
	rival_commits--;
	before_manifest = NULL;
	(void)snprintf(key, sizeof(key), "rival%u", rival_commits);
	(void)commit_now(change_config(rivals, SAMPLE_NEWEST, key, "v"));
	before_manifest = commit_a_rival;
}

START_TEST(a_lost_race_is_tried_again_on_the_winner)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_delete(dataset, SAMPLE_NEWEST, "3:1");
	struct lancet_commit_result result;

	rivals = dataset;
	rival_commits = 3;
	before_manifest = commit_a_rival;
	result = commit_now(change);
	ck_assert(result.version == NEXT + 3 && result.attempts == 4);
	ck_assert(result.read_version == NEXT + 2 && result.rebased_over == NEXT + 2);
	ck_assert_uint_eq(count_files(&tree, "_transactions", ".txn"), NEXT + 3);
	ck_assert_uint_eq(count_files(&tree, "_deletions", ".bin"), 1);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(a_race_that_is_always_lost_ends)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	const struct lancet_commit_options options = { .retries = 2 };
	struct lancet_commit_result result;
	lancet_change *change = change_append(dataset, SAMPLE_NEWEST);
	size_t data = count_files(&tree, "data", "");

	rivals = dataset;
	rival_commits = 100;
	before_manifest = commit_a_rival;
	FAILS(lancet_commit(change, &options, &result, &err), LANCET_BUSY, "3 times");
	ck_assert(result.attempts == 3 && result.version == 0 && result.conflict_version == 0);
	ck_assert_uint_eq(count_files(&tree, "_versions", ".manifest"), SAMPLE_NEWEST + 3);
	ck_assert_uint_eq(count_files(&tree, "_transactions", ".txn"), SAMPLE_NEWEST + 3);
	lancet_change_free(change);
	ck_assert_uint_eq(count_files(&tree, "data", ""), data - 1);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

static uint64_t
deleted_in(lancet_dataset *dataset, uint64_t number, uint64_t fragment, uint64_t *ret_read_version)
{
	lancet_version *version;
	lancet_fragment *opened = NULL;
	uint64_t ordinal, deleted;

	OK(lancet_version_open(dataset, number, &version, &err));
	OK(lancet_version_find_fragment(version, fragment, &ordinal, &err));
	OK(lancet_fragment_open(version, ordinal, &opened, &err));
	deleted = lancet_fragment_info(opened)->deleted_rows;
	*ret_read_version = lancet_fragment_info(opened)->deletion.read_version;
	ck_assert(lancet_fragment_info(opened)->deletion.is_bitmap);
	lancet_fragment_unref(opened);
	lancet_version_unref(version);
	return deleted;
}

START_TEST(deletes_of_one_fragment_are_one_file)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *first = change_delete(dataset, SAMPLE_NEWEST, "3:0-3");
	lancet_change *second = change_delete(dataset, SAMPLE_NEWEST, "3:4,15;0:1");
	struct lancet_commit_result result;
	uint64_t read_version;

	(void)commit_now(first);
	ck_assert_uint_eq(count_files(&tree, "_deletions", ".bin"), 1);
	result = commit_now(second);
	ck_assert(result.version == NEXT + 1 && result.attempts == 1);
	ck_assert(result.rebased_over == NEXT && result.read_version == NEXT);
	ck_assert_uint_eq(deleted_in(dataset, NEXT + 1, 3, &read_version), 6);
	ck_assert_uint_eq(read_version, NEXT);
	ck_assert_uint_eq(deleted_in(dataset, NEXT + 1, 0, &read_version), 12);
	ck_assert_uint_eq(read_version, NEXT);
	ck_assert_uint_eq(count_files(&tree, "_deletions", ".bin"), 3);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(a_fragment_that_two_deletes_empty_is_removed)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *first = change_delete(dataset, SAMPLE_NEWEST, "3:0-7");
	lancet_change *second = change_delete(dataset, SAMPLE_NEWEST, "3:8-15");
	lancet_version *version;
	uint64_t ordinal;

	(void)commit_now(first);
	(void)commit_now(second);
	OK(lancet_version_open(dataset, NEXT + 1, &version, &err));
	FAILS(lancet_version_find_fragment(version, 3, &ordinal, &err), LANCET_NOT_FOUND, "");
	lancet_version_unref(version);
	ck_assert_uint_eq(count_files(&tree, "_deletions", ".bin"), 1);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(of_two_commits_with_a_token_one_is_made)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *twins[3];
	struct lancet_commit_result first, found;
	uint64_t version;
	size_t data;

	FAILS(lancet_commit_find_token(dataset, "t", &version, &err), LANCET_NOT_FOUND, "token t");
	for (int i = 0; i < 2; i++) {
		twins[i] = change_append(dataset, SAMPLE_NEWEST);
		OK(lancet_change_set_token(twins[i], "t", &err));
	}
	data = count_files(&tree, "data", "");
	first = commit_now(twins[0]);
	synced_count = 0;
	found = commit_now(twins[1]); /* built before the first was made */
	ck_assert(found.found && found.version == NEXT && found.durable);
	ck_assert(was_synced(&tree, "_versions")); /* the first may have been killed before */
	ck_assert_str_eq(found.uuid, first.uuid);
	ck_assert_uint_eq(count_files(&tree, "data", ""), data - 1);
	twins[2] = change_append(dataset, NEXT); /* and after it */
	OK(lancet_change_set_token(twins[2], "t", &err));
	found = commit_now(twins[2]);
	ck_assert(found.found && found.version == NEXT && found.read_version == SAMPLE_NEWEST);
	ck_assert_uint_eq(count_files(&tree, "data", ""), data - 1);
	ck_assert_uint_eq(count_files(&tree, "_transactions", ".txn"), NEXT);
	OK(lancet_commit_find_token(dataset, "t", &version, &err));
	ck_assert_uint_eq(version, NEXT);
	FAILS(lancet_commit_find_token(dataset, "T", &version, &err), LANCET_NOT_FOUND, "");
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

static void
commit_the_twin(void)
{
	lancet_change *twin = change_append(rivals, SAMPLE_NEWEST);

	before_manifest = NULL;
	OK(lancet_change_set_token(twin, "t", &err));
	(void)commit_now(twin);
}

START_TEST(a_twin_that_wins_the_race_is_found)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_append(dataset, SAMPLE_NEWEST);
	const struct lancet_commit_options once = { 0 };
	struct lancet_commit_result result;

	OK(lancet_change_set_token(change, "t", &err));
	rivals = dataset;
	before_manifest = commit_the_twin;
	OK(lancet_commit(change, &once, &result, &err));
	ck_assert(result.found && result.version == NEXT && result.attempts == 1);
	lancet_change_free(change);
	ck_assert_uint_eq(count_files(&tree, "_transactions", ".txn"), NEXT);
	ck_assert_uint_eq(count_files(&tree, "data", ""), 4 + 1);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(a_transaction_finds_itself_behind_a_conflict)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *again = change_config(dataset, SAMPLE_NEWEST, "k", "w"), *change;
	struct lancet_commit_result result;

	(void)commit_now(change_config(dataset, SAMPLE_NEWEST, "k", "v"));
	change = change_config(dataset, NEXT, "k", "w");
	change->message->uuid = again->message->uuid;
	OK(lancet_commit(change, NULL, &result, &err));
	result = commit_now(again);
	ck_assert(result.found && result.version == NEXT + 1 && result.conflict_version == 0);
	lancet_change_free(change);
	ck_assert_uint_eq(count_files(&tree, "_versions", ".manifest"), NEXT + 1);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

static bool
after_the_first(void *asked)
{
	return ++*(int *)asked > 1;
}

START_TEST(a_race_that_is_lost_can_be_given_up)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_config(dataset, SAMPLE_NEWEST, "k", "v");
	int asked = 0;
	const struct lancet_commit_options options = {
		.retries = 50, .cancelled = after_the_first, .context = &asked
	};
	struct lancet_commit_result result;

	rivals = dataset;
	rival_commits = 100;
	before_manifest = commit_a_rival;
	FAILS(lancet_commit(change, &options, &result, &err), LANCET_CANCELLED, "cancelled");
	ck_assert(result.attempts == 1 && result.version == 0);
	lancet_change_free(change);
	ck_assert_uint_eq(count_files(&tree, "_transactions", ".txn"), NEXT);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(what_a_killed_attempt_left_is_in_nobodys_way)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_config(dataset, SAMPLE_NEWEST, "k", "v");
	struct lancet_commit_result result;
	char key[128];
	uint64_t version;

	OK(lancet_change_set_token(change, "t", &err));
	(void)snprintf(key, sizeof(key), "_transactions/6-%.36s.txn",
		(const char *)change->message->uuid.data);
	tree_text(&tree, key, "left");
	FAILS(lancet_commit_find_token(dataset, "t", &version, &err), LANCET_NOT_FOUND, "");
	result = commit_now(change);
	ck_assert(result.version == NEXT && !result.found);
	check_text(&tree, key, "left");
	OK(lancet_commit_find_token(dataset, "t", &version, &err));
	ck_assert_uint_eq(version, NEXT);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(syncs_are_left_out_when_asked)
{
	struct tree tree = sample_new();
	struct store *local = open_store(&tree);
	struct store_counts counts = { 0 };
	struct store *store = store_trace_new(local, &counts);
	const struct lancet_commit_options options = { .not_durable = _i == 0 };
	struct lancet_commit_result result;
	lancet_dataset *dataset = NULL;
	lancet_change *change;

	OK(dataset_open_store(store, "traced", NULL, &dataset, &err));
	change = change_config(dataset, SAMPLE_NEWEST, "k", "v");
	OK(lancet_commit(change, &options, &result, &err));
	ck_assert(result.durable == (_i != 0));
	ck_assert_uint_eq(counts.syncs, _i == 0 ? 0 : 2);
	ck_assert_uint_eq(counts.dir_syncs, _i == 0 ? 0 : 2);
	lancet_change_free(change);
	lancet_dataset_unref(dataset);
	store_unref(store);
	store_unref(local);
	tree_remove(&tree);
}
END_TEST

/* A data file of another program, which may not have cared. */
START_TEST(files_of_others_are_durable_before_a_version_names_them)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *made = change_append(dataset, SAMPLE_NEWEST), *change;
	Lance__Table__DataFile *file = made->message->append->fragments[0]->files[0];
	uint8_t bytes[4096];
	size_t size;

	sample_copy_file(SAMPLE "/" SAMPLE_FILE, TREE_PATH(&tree, "data/theirs.lance"));
	file->path.data = (uint8_t *)(uintptr_t) "theirs.lance";
	file->path.len = strlen("theirs.lance");
	size = protobuf_c_message_pack(&made->message->base, bytes);
	lancet_change_free(made);
	synced_count = 0;
	OK(lancet_change_parse(dataset, bytes, size, &change, &err));
	ck_assert(was_synced(&tree, "data/theirs.lance") && was_synced(&tree, "data"));
	ck_assert_uint_eq(commit_now(change).version, NEXT);
	ck_assert(was_synced(&tree, SAMPLE_NEXT) && was_synced(&tree, "_versions"));
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

static const char durability[2];

UNIT_MAIN("commit", UNIT_TEST(a_commit_says_what_it_has_done),
	UNIT_TEST(it_goes_over_what_was_committed_since),
	UNIT_TEST(a_lost_race_is_tried_again_on_the_winner),
	UNIT_TEST(a_race_that_is_always_lost_ends), UNIT_TEST(deletes_of_one_fragment_are_one_file),
	UNIT_TEST(a_fragment_that_two_deletes_empty_is_removed),
	UNIT_TEST(of_two_commits_with_a_token_one_is_made),
	UNIT_TEST(a_twin_that_wins_the_race_is_found),
	UNIT_TEST(a_transaction_finds_itself_behind_a_conflict),
	UNIT_TEST(a_race_that_is_lost_can_be_given_up),
	UNIT_TEST(what_a_killed_attempt_left_is_in_nobodys_way),
	UNIT_TEST(files_of_others_are_durable_before_a_version_names_them),
	UNIT_LOOP(syncs_are_left_out_when_asked, durability))
