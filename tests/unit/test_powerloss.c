/* The simulator of power loss against what must come out of short logs. */
#include "unit.h"

#include "core/store_write.h"
#include "crashes.h"

#define KEYS_MAX 8

/* Which states were seen: one bit for each combination of names that are there. */
struct seen {
	const char *keys[KEYS_MAX]; /* NULL-ended */
	bool combinations[1 << KEYS_MAX];
	size_t different;
};

static bool
note_names(void *context, const struct tree *state, size_t prefix)
{
	struct seen *seen = context;
	size_t combination = 0;

	(void)prefix;
	for (size_t i = 0; seen->keys[i] != NULL; i++)
		combination |= (size_t)state_has(state, seen->keys[i]) << i;
	seen->different += !seen->combinations[combination];
	seen->combinations[combination] = true;
	return true;
}

static void
look_at_end(struct crash *crash, struct seen *seen)
{
	memset(seen->combinations, 0, sizeof(seen->combinations));
	seen->different = 0;
	crash->states = 0;
	ck_assert(crash_look_at(crash, crash->log.count, POWERLOSS_STATES_MAX, note_names, seen));
}

static void
create(struct store *store, const char *key)
{
	struct store_writer *writer = NULL;

	OK(store_create(store, key, &writer, &err));
	OK(store_writer_close(writer, &err));
}

START_TEST(names_are_lost_in_any_combination_until_their_directory_is_synced)
{
	struct crash crash;
	struct seen seen = { .keys = { "a", "b", "d/c" } };

	crash_begin(&crash, NULL, 0);
	OK(store_make_dir(crash.store, "d", true, &err));
	create(crash.store, "a");
	create(crash.store, "b");
	create(crash.store, "d/c");
	look_at_end(&crash, &seen);
	ck_assert_uint_eq(seen.different, 8);
	ck_assert_uint_eq(crash.states, 8);
	OK(store_sync_dir(crash.store, "", &err));
	look_at_end(&crash, &seen);
	ck_assert_uint_eq(seen.different, 2);
	ck_assert(seen.combinations[3] && seen.combinations[7]);
	OK(store_sync_dir(crash.store, "d", &err));
	look_at_end(&crash, &seen);
	ck_assert_uint_eq(crash.states, 1);
	ck_assert(seen.combinations[7]);
	crash_end(&crash);
}
END_TEST

START_TEST(a_link_is_two_changes_and_a_rename_one)
{
	struct crash crash;
	struct seen seen = { .keys = { "a", "b" } };

	crash_begin(&crash, NULL, 0);
	create(crash.store, "a");
	OK(store_sync_dir(crash.store, "", &err));
	OK(store_link(crash.store, "a", "b", &err));
	look_at_end(&crash, &seen);
	ck_assert_uint_eq(seen.different, 4);
	OK(store_sync_dir(crash.store, "", &err));
	OK(store_rename(crash.store, "b", "a", &err));
	look_at_end(&crash, &seen);
	ck_assert_uint_eq(seen.different, 2);
	ck_assert(seen.combinations[1] && seen.combinations[2]);
	crash_end(&crash);
}
END_TEST

START_TEST(a_directory_that_is_lost_takes_what_lies_in_it)
{
	struct crash crash;
	struct seen seen = { .keys = { "d", "d/a" } };

	crash_begin(&crash, NULL, 0);
	OK(store_make_dir(crash.store, "d", false, &err));
	create(crash.store, "d/a");
	OK(store_sync_dir(crash.store, "d", &err));
	look_at_end(&crash, &seen);
	ck_assert_uint_eq(seen.different, 2);
	ck_assert(seen.combinations[0] && seen.combinations[3]);
	crash_end(&crash);
}
END_TEST

static void
fill_old(const struct tree *tree, const char *dir)
{
	char key[128];

	(void)snprintf(key, sizeof(key), "%s/d/old", dir);
	tree_text(tree, key, "old");
	(void)snprintf(key, sizeof(key), "%s/d/other", dir);
	tree_text(tree, key, "other");
	(void)snprintf(key, sizeof(key), "%s/e/deep/x", dir);
	tree_text(tree, key, "x");
}

static bool
starting_files_are_whole(void *context, const struct tree *state, size_t prefix)
{
	(void)prefix;
	ck_assert(state_is(state, "d/other", slice_text("other")));
	ck_assert(!state_has(state, "d/old") || state_is(state, "d/old", slice_text("old")) ||
		  state_is(state, "d/old", slice_text("new")));
	ck_assert(!state_has(state, "moved") || state_is(state, "moved", slice_text("x")));
	return note_names(context, state, prefix);
}

START_TEST(what_was_there_is_changed_like_what_is_new)
{
	struct crash crash;
	struct seen seen = { .keys = { "d/old", "d/new", "e", "e/deep", "e/deep/x", "moved" } };

	crash_begin(&crash, fill_old, 0);
	ck_assert(crash_look(&crash, 8, starting_files_are_whole, &seen));
	ck_assert(seen.different == 1 && seen.combinations[1 + 4 + 8 + 16]);
	put_text(crash.store, "d/new", "new");
	OK(store_rename(crash.store, "e/deep/x", "moved", &err));
	OK(store_sync_dir(crash.store, "", &err));
	OK(store_sync_dir(crash.store, "e/deep", &err));
	OK(store_remove_dir(crash.store, "e/deep", &err));
	OK(store_remove(crash.store, "d/old", &err));
	memset(&seen.combinations, 0, sizeof(seen.combinations));
	seen.different = 0;
	ck_assert(crash_look_at(
		&crash, crash.log.count, POWERLOSS_STATES_MAX, starting_files_are_whole, &seen));
	/* d/old and d/new each there or not, e/deep there or not; moved and e always */
	ck_assert_uint_eq(seen.different, 8);
	ck_assert(seen.combinations[1 + 2 + 4 + 8 + 32] && seen.combinations[4 + 32]);
	crash_end(&crash);
}
END_TEST

/* How the bytes of one file looked, of which `synced` are safe. */
struct ends {
	const uint8_t *bytes;
	size_t size, synced;
	size_t sizes[32], size_count; /* without zeros */
	bool zeros, even, odd;
};

static bool
note_end(void *context, const struct tree *state, size_t prefix)
{
	struct ends *ends = context;
	size_t size = 0, zeroed = 0;
	char *bytes = state_load(state, "a", &size);

	(void)prefix;
	ck_assert_ptr_nonnull(bytes);
	ck_assert_uint_le(size, ends->size);
	ck_assert_uint_ge(size, ends->synced);
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == (char)ends->bytes[i])
			continue;
		ck_assert_int_eq(bytes[i], 0);
		ck_assert_uint_ge(i, ends->synced);
		zeroed |= (size_t)1 << i / 512;
	}
	if (zeroed == 0)
		ends->sizes[ends->size_count++] = size;
	else
		ck_assert_uint_eq(size, ends->size);
	ends->even |= zeroed == 4;
	ends->odd |= zeroed == 2 + 8;
	ends->zeros |= zeroed == 2 + 4 + 8;
	free(bytes);
	return true;
}

START_TEST(bytes_are_lost_until_they_are_synced)
{
	static const size_t want[] = { 2000, 600, 1024, 1536 };
	struct crash crash;
	struct store_writer *writer = NULL;
	uint8_t bytes[2000];
	struct ends ends = { .bytes = bytes, .size = sizeof(bytes), .synced = 600 };

	memset(bytes, 'b', sizeof(bytes));
	crash_begin(&crash, NULL, 0);
	OK(store_create(crash.store, "a", &writer, &err));
	OK(store_sync_dir(crash.store, "", &err));
	OK(store_writer_put(writer, slice_of(bytes, 600), &err));
	OK(store_writer_sync(writer, &err));
	OK(store_writer_put(writer, slice_of(bytes + 600, 700), &err));
	OK(store_writer_put(writer, slice_of(bytes + 1300, 700), &err));
	ck_assert(crash_look_at(&crash, crash.log.count, 1024, note_end, &ends));
	ck_assert_uint_eq(ends.size_count, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		ck_assert_uint_eq(ends.sizes[i], want[i]);
	ck_assert(ends.zeros && ends.even && ends.odd);
	OK(store_writer_sync(writer, &err));
	ends.synced = sizeof(bytes);
	crash.states = 0;
	ck_assert(crash_look_at(&crash, crash.log.count, 1024, note_end, &ends));
	ck_assert_uint_eq(crash.states, 1);
	OK(store_writer_close(writer, &err));
	crash_end(&crash);
}
END_TEST

START_TEST(of_too_many_states_the_telling_ones_come_first)
{
	struct crash crash;
	struct seen seen = { .keys = { "0", "1", "2", "3", "4", "5", "6" } };

	crash_begin(&crash, NULL, 0);
	for (int i = 0; seen.keys[i] != NULL; i++)
		create(crash.store, seen.keys[i]);
	ck_assert(crash_look_at(&crash, crash.log.count, 1, note_names, &seen));
	ck_assert(seen.combinations[0x7f]); /* a killed process loses nothing */
	ck_assert(crash_look_at(&crash, crash.log.count, 2 + 2 * 7, note_names, &seen));
	ck_assert_uint_eq(seen.different, 2 + 2 * 7);
	for (int i = 0; seen.keys[i] != NULL; i++)
		ck_assert(seen.combinations[1 << i] && seen.combinations[0x7f ^ 1 << i]);
	crash.states = 0;
	ck_assert(crash_look_at(&crash, crash.log.count, 100, note_names, &seen));
	ck_assert_uint_ge(crash.states, 2 + 2 * 7 + 30); /* a few random ones are alike */
	ck_assert_uint_le(crash.states, 100);
	crash_end(&crash);
}
END_TEST

UNIT_MAIN("powerloss", UNIT_TEST(names_are_lost_in_any_combination_until_their_directory_is_synced),
	UNIT_TEST(a_link_is_two_changes_and_a_rename_one),
	UNIT_TEST(a_directory_that_is_lost_takes_what_lies_in_it),
	UNIT_TEST(what_was_there_is_changed_like_what_is_new),
	UNIT_TEST(bytes_are_lost_until_they_are_synced),
	UNIT_TEST(of_too_many_states_the_telling_ones_come_first))
