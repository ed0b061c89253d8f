/* Publishing through a loss of power: whatever is lost, each file is whole or absent, and whoever
 * sees a manifest finds what it points to. Leaving out any one sync must show.
 */
#include "unit.h"

#include "core/publish.h"
#include "crashes.h"

#include <fts.h>

/* Of a run whose every sync is done; of one that lacks a sync, until the loss is found. */
#define STATES_MAX        1024
#define STATES_MAX_MUTANT 80

#define BYTES_MAX 2000

/* The files of a commit: three that the manifest points to, itself, and the hint. */
enum { DATA, DELETION, TXN, MANIFEST, HINT, FILES };

static const struct {
	const char *key;
	size_t size;
} files[FILES] = {
	[DATA] = { "data/a.lance", 1500 },
	[DELETION] = { "_deletions/0-1-2.bin", 600 }, /* in a directory that does not exist yet */
	[TXN] = { "_transactions/1-x.txn", 300 },
	[MANIFEST] = { "_versions/18446744073709551613.manifest", BYTES_MAX },
	[HINT] = { "_versions/latest_version_hint.json", 13 },
};

static const char old_hint[] = "{\"version\":1}";

/* The bytes of a file: no zeros, no two files alike. */
static struct slice
bytes_of(int file)
{
	static uint8_t bytes[FILES][BYTES_MAX];

	for (size_t i = 0; i < files[file].size; i++)
		bytes[file][i] = (uint8_t)(1 + (i * 7 + i / 251 + (size_t)file) % 255);
	return slice_of(bytes[file], files[file].size);
}

static const struct {
	const char *key, *text;
} old_files[] = {
	{ "data/old.lance", "old data" },
	{ "_transactions/0-x.txn", "old transaction" },
	{ "_versions/18446744073709551614.manifest", "old manifest" },
	{ "_versions/latest_version_hint.json", old_hint },
};

static void
fill_dataset(const struct tree *tree, const char *dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(old_files); i++) {
		char key[128];

		(void)snprintf(key, sizeof(key), "%s/%s", dir, old_files[i].key);
		tree_text(tree, key, old_files[i].text);
	}
}

/* What the writer was told: from these lengths of the log on, a file must be there. */
struct promise {
	size_t since[FILES];
};

static void
publish_all(struct crash *crash, bool durable, struct promise *promise)
{
	struct publish publish;
	struct slice bytes;

	publish_init(&publish, crash->store, durable);
	for (int i = DATA; i <= TXN; i++) {
		bytes = bytes_of(i);
		OK(publish_add(&publish, files[i].key, &bytes, 1, PUBLISH_NEW, &err));
	}
	OK(publish_name_all(&publish, &err));
	for (int i = DATA; i <= TXN; i++)
		promise->since[i] = crash->log.count;
	bytes = bytes_of(MANIFEST);
	OK(publish_file(crash->store, files[MANIFEST].key, &bytes, 1, PUBLISH_NEW, durable, &err));
	promise->since[MANIFEST] = crash->log.count;
	bytes = bytes_of(HINT);
	OK(publish_file(crash->store, files[HINT].key, &bytes, 1, PUBLISH_REPLACE, durable, &err));
	promise->since[HINT] = crash->log.count;
	publish_release(&publish);
}

static bool
is_known(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	if (strncmp(name, ".tmp-", 5) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(old_files); i++) {
		if (strcmp(path, old_files[i].key) == 0)
			return true;
	}
	for (int i = 0; i < FILES; i++) {
		if (strcmp(path, files[i].key) == 0)
			return true;
	}
	return false;
}

/* Nothing but the old files, the new ones and temporary ones; no old one is hurt. */
static bool
others_are_as_before(const struct tree *state)
{
	char *paths[] = { (char *)(uintptr_t)state->root, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *entry;
	bool known = true;

	ck_assert_ptr_nonnull(tree);
	while ((entry = fts_read(tree)) != NULL)
		known &= entry->fts_info != FTS_F ||
			 is_known(entry->fts_path + strlen(state->root) + 1);
	(void)fts_close(tree);
	for (size_t i = 0; old_files[i].text != old_hint; i++)
		known &= state_is(state, old_files[i].key, slice_text(old_files[i].text));
	return known;
}

static bool
hint_is_old_or_new(const struct tree *state, bool must_be_new)
{
	return state_is(state, files[HINT].key, bytes_of(HINT)) ||
	       (!must_be_new && state_is(state, files[HINT].key, slice_text(old_hint)));
}

/* A crash_check. */
static bool
is_sound(void *context, const struct tree *state, size_t prefix)
{
	const struct promise *promise = context;
	bool manifest = state_has(state, files[MANIFEST].key);

	for (int i = DATA; i <= MANIFEST; i++) {
		bool there = state_has(state, files[i].key);

		if (there && !state_is(state, files[i].key, bytes_of(i)))
			return false; /* torn */
		if (!there && (manifest || prefix >= promise->since[i]))
			return false; /* lost, though somebody points to it or was told it is there
				       */
	}
	return others_are_as_before(state) &&
	       hint_is_old_or_new(state, prefix >= promise->since[HINT]);
}

START_TEST(no_loss_of_power_tears_what_was_published)
{
	struct crash crash;
	struct promise promise = { 0 };

	crash_begin(&crash, fill_dataset, 0);
	publish_all(&crash, true, &promise);
	ck_assert(crash_look(&crash, STATES_MAX, is_sound, &promise));
	ck_assert_uint_gt(crash.states, 500);
	/* 5 files, "" for _deletions, 3 directories, _versions twice */
	ck_assert_uint_eq(crash.log.syncs, 5 + 1 + 3 + 2);
	crash_end(&crash);
}
END_TEST

START_TEST(every_sync_is_needed)
{
	uint64_t syncs = 1;

	for (uint64_t n = 1; n <= syncs; n++) {
		struct crash crash;
		struct promise promise = { 0 };

		crash_begin(&crash, fill_dataset, n);
		publish_all(&crash, true, &promise);
		ck_assert_msg(!crash_look(&crash, STATES_MAX_MUTANT, is_sound, &promise),
			"sync %d can be left out", (int)n);
		syncs = crash.log.syncs;
		crash_end(&crash);
	}
	ck_assert_uint_eq(syncs, 5 + 1 + 3 + 2);
}
END_TEST

START_TEST(a_killed_process_tears_nothing_even_without_syncs)
{
	struct crash crash;
	struct promise promise = { 0 };

	crash_begin(&crash, fill_dataset, 0);
	publish_all(&crash, false, &promise);
	ck_assert_uint_eq(crash.log.syncs, 0);
	ck_assert(crash_look(&crash, 1, is_sound, &promise));
	ck_assert_uint_eq(crash.states, crash.log.count + 1);
	ck_assert(!crash_look(&crash, STATES_MAX_MUTANT, is_sound, &promise)); /* but power does */
	crash_end(&crash);
}
END_TEST

UNIT_MAIN("publish_crash", UNIT_TEST(no_loss_of_power_tears_what_was_published),
	UNIT_TEST(every_sync_is_needed),
	UNIT_TEST(a_killed_process_tears_nothing_even_without_syncs))
