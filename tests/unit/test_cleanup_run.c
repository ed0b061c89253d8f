/* Running a cleanup: what comes in between, what fails, where it stops. */
#include "unit.h"

#include <lancet/reference.h>
#include "cleanupdata.h"

#include <errno.h>

/* Version n of 1 to 6 has "all" and fN; 1 and 2 have "old", 3 and 4 have "new". */
enum { VERSIONS = 6 };

static const char *const named[VERSIONS + 1] = { "", "all old f1", "all old f2", "all new f3",
	"all new f4", "all f5", "all f6" };

static void
put_files(const struct tree *tree, const char *names)
{
	char path[128];

	for (const char *at = names; *at != '\0'; at += strspn(at, " ")) {
		int size = (int)strcspn(at, " ");

		(void)snprintf(path, sizeof(path), "ds/data/%.*s.lance", size, at);
		tree_text(tree, path, "rows");
		at += size;
	}
}

static const char *
manifest_path(uint64_t number, char into[128])
{
	char name[MANIFEST_NAME_MAX];

	manifest_name_format(MANIFEST_V2, number, name);
	(void)snprintf(into, 128, "ds/_versions/%s", name);
	return into;
}

static struct tree
make_history(void)
{
	struct tree tree = tree_new();

	for (uint64_t n = 1; n <= VERSIONS; n++) {
		const struct data_version version = { "ds", n, n, named[n], 0, NULL, NULL, 0 };

		put_version(&tree, &version);
		put_files(&tree, named[n]);
	}
	put_old(&tree, "ds/data/stray.lance");
	tree_mkdir(&tree, "ds/_refs");
	return tree;
}

/* Whether all files of version n are there, as far as its manifest is. */
static bool
is_whole(const struct tree *tree, uint64_t n)
{
	char path[128];

	for (const char *at = named[n]; *at != '\0'; at += strspn(at, " ")) {
		int size = (int)strcspn(at, " ");

		(void)snprintf(path, sizeof(path), "ds/data/%.*s.lance", size, at);
		if (!exists(tree, path))
			return false;
		at += size;
	}
	return true;
}

static bool
is_there(const struct tree *tree, uint64_t n)
{
	char path[128];

	return exists(tree, manifest_path(n, path));
}

/* Something that happens when the nth file has been looked at; 0: before the run. */
struct event {
	const struct tree *tree;
	lancet_dataset *dataset;
	void (*happen)(const struct tree *tree, lancet_dataset *dataset);
	uint64_t at;
	bool cancel, cancelled;
};

static void
note_progress(void *context, uint64_t done, uint64_t total, const char *unit)
{
	struct event *event = context;

	ck_assert_uint_le(done, total);
	if (strcmp(unit, "files") != 0 || done != event->at)
		return;
	if (event->happen != NULL)
		event->happen(event->tree, event->dataset);
	event->cancelled = event->cancel;
}

static bool
is_cancelled(void *context)
{
	return ((const struct event *)context)->cancelled;
}

static void
tag_2(const struct tree *tree, lancet_dataset *dataset)
{
	(void)tree;
	OK(lancet_tag_create(dataset, "t", 2, &err));
}

static void
branch_from_2(const struct tree *tree, lancet_dataset *dataset)
{
	const struct data_version version = { "ds/tree/b", 2, 2, "all@0 old@0 f2@0", 0, NULL, NULL,
		0 };

	(void)dataset;
	put_version(tree, &version);
	tree_text(tree, "ds/_refs/branches/b.json", "{\"parentVersion\": 2}");
}

/* As a Restore of version 2 does. */
static void
commit_7_with_files_of_2(const struct tree *tree, lancet_dataset *dataset)
{
	const struct data_version version = { "ds", 7, 7, named[2], 0, NULL, NULL, 0 };

	(void)dataset;
	put_version(tree, &version);
}

static void
detach_with_files_of_2(const struct tree *tree, lancet_dataset *dataset)
{
	const struct data_version version = { "ds", UINT64_C(1) << 63 | 5, 7, named[2], 0, NULL,
		NULL, 0 };

	(void)dataset;
	put_version(tree, &version);
}

static void
begin_branch_from_2(const struct tree *tree, lancet_dataset *dataset)
{
	const struct data_version version = { "ds/tree/b", 2, 2, "all@0 old@0 f2@0", 0, NULL, NULL,
		0 };

	(void)dataset;
	put_version(tree, &version);
}

static const struct {
	void (*happen)(const struct tree *tree, lancet_dataset *dataset);
	uint64_t at; /* stray 1; f1 2; manifest 1 3; f2 4 … */
	bool version_stays;
} events[] = {
	{ tag_2, 0, true },
	{ tag_2, 1, true },
	{ tag_2, 3, true },
	{ branch_from_2, 0, true },
	{ branch_from_2, 3, true },
	{ begin_branch_from_2, 0, false },
	{ commit_7_with_files_of_2, 0, false },
	{ commit_7_with_files_of_2, 3, false },
	{ detach_with_files_of_2, 0, false },
};

START_TEST(what_comes_in_between_keeps_its_files)
{
	struct tree tree = make_history();
	lancet_dataset *dataset = open_dataset(&tree);
	struct event event = { &tree, dataset, events[_i].happen, events[_i].at, false, false };
	struct lancet_cleanup_options options = {
		.has_older_than = true, .progress = note_progress, .context = &event
	};
	lancet_cleanup *cleanup = NULL;
	uint64_t removed = 0, bytes = 0;

	OK(lancet_cleanup_plan(dataset, &options, &cleanup, &err));
	ck_assert_uint_eq(lancet_cleanup_count(cleanup), 1 + 5 + 2 + 5);
	if (event.at == 0)
		event.happen(&tree, dataset);
	OK(lancet_cleanup_run(cleanup, &removed, &bytes, &err));
	lancet_cleanup_free(cleanup);
	ck_assert(is_whole(&tree, 2));
	ck_assert(is_whole(&tree, 6));
	ck_assert_int_eq(is_there(&tree, 2), events[_i].version_stays);
	for (uint64_t n = 1; n <= 5; n++)
		ck_assert_int_eq(is_there(&tree, n), n == 2 && events[_i].version_stays);
	ck_assert(!exists(&tree, "ds/data/f1.lance"));
	ck_assert(!exists(&tree, "ds/data/new.lance"));
	ck_assert(!exists(&tree, "ds/data/stray.lance"));
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(a_cleanup_that_is_cancelled_leaves_whole_versions)
{
	for (uint64_t at = 1; at <= 13; at++) {
		struct tree tree = make_history();
		lancet_dataset *dataset = open_dataset(&tree);
		struct event event = { &tree, dataset, NULL, at, true, false };
		struct lancet_cleanup_options options = { .has_older_than = true,
			.progress = note_progress,
			.cancelled = is_cancelled,
			.context = &event };
		lancet_cleanup *cleanup = NULL;
		uint64_t removed = 0, bytes = 0;

		OK(lancet_cleanup_plan(dataset, &options, &cleanup, &err));
		if (at < 12) /* in the last version it has nothing to leave out */
			FAILS(lancet_cleanup_run(cleanup, &removed, &bytes, &err), LANCET_CANCELLED,
				"cancelled");
		else
			OK(lancet_cleanup_run(cleanup, &removed, &bytes, &err));
		ck_assert_uint_ge(removed, at);
		for (uint64_t n = 1; n <= VERSIONS; n++)
			ck_assert(!is_there(&tree, n) || is_whole(&tree, n));
		lancet_cleanup_free(cleanup);
		event.cancelled = true;
		if (at == 1)
			FAILS(lancet_cleanup_plan(dataset, &options, &cleanup, &err),
				LANCET_CANCELLED, "cancelled");
		close_dataset(dataset, &tree);
	}
}
END_TEST

static const struct {
	int os_errno, flags;
} faults[] = {
	{ EIO, 0 },
	{ EIO, STORE_FAULT_LATE },
	{ ENOSPC, STORE_FAULT_STAYS },
	{ EACCES, 0 },
};

/* Plans and runs over the store; true when both succeeded. */
static bool
clean_up(struct store *store, uint64_t *ret_removed)
{
	struct lancet_cleanup_options options = { .keep = 2 };
	lancet_dataset *dataset = NULL;
	lancet_cleanup *cleanup = NULL;
	struct lancet_error why = { 0 };
	uint64_t bytes;
	int rc = dataset_open_store(store, "ds", NULL, &dataset, &why);

	*ret_removed = 0;
	if (rc == LANCET_OK)
		rc = lancet_cleanup_plan(dataset, &options, &cleanup, &why);
	if (rc == LANCET_OK)
		rc = lancet_cleanup_run(cleanup, ret_removed, &bytes, &why);
	ck_assert(rc == LANCET_OK || why.text[0] != '\0');
	lancet_cleanup_free(cleanup);
	lancet_dataset_unref(dataset);
	return rc == LANCET_OK;
}

static void
check_kept(const struct tree *tree)
{
	for (uint64_t n = 5; n <= VERSIONS; n++) {
		ck_assert(is_there(tree, n));
		ck_assert(is_whole(tree, n));
	}
	ck_assert(is_there(tree, 2) && is_whole(tree, 2)); /* tagged */
}

/* Each call fails in its turn: what stays is whole, and the next cleanup does the rest. */
START_TEST(whatever_fails_the_versions_that_stay_are_whole)
{
	bool failed = true;

	for (uint64_t nth = 1; failed; nth++) {
		struct tree tree = make_history();
		struct store *local = NULL, *faulty;
		uint64_t removed;

		tree_text(&tree, "ds/_refs/tags/t.json", "{\"version\": 2}");
		OK(store_local_open(TREE_PATH(&tree, "ds"), NULL, &local, &err));
		faulty = store_fault_flags_new(local, nth, faults[_i].os_errno, faults[_i].flags);
		failed = !clean_up(faulty, &removed);
		check_kept(&tree);
		ck_assert(clean_up(local, &removed));
		check_kept(&tree);
		ck_assert(!is_there(&tree, 1) && !is_there(&tree, 3) && !is_there(&tree, 4));
		ck_assert(!exists(&tree, "ds/data/new.lance"));
		ck_assert(!exists(&tree, "ds/data/stray.lance"));
		ck_assert_uint_lt(nth, 400);
		store_unref(faulty);
		store_unref(local);
		tree_remove(&tree);
	}
}
END_TEST

/* The manifest of a version stays when a file of it did: the next cleanup would not know it. */
START_TEST(a_file_that_can_not_be_removed_keeps_its_version)
{
	struct tree tree = make_history();
	lancet_dataset *dataset = open_dataset(&tree);
	struct lancet_cleanup_options options = { .has_older_than = true };
	lancet_cleanup *cleanup = NULL;
	uint64_t removed = 0, bytes = 0;

	OK(lancet_cleanup_plan(dataset, &options, &cleanup, &err));
	tree_unlink(&tree, "ds/data/f1.lance"); /* gone: no matter */
	tree_unlink(&tree, "ds/data/f3.lance");
	tree_mkdir(&tree, "ds/data/f3.lance");
	FAILS(lancet_cleanup_run(cleanup, &removed, &bytes, &err), LANCET_CORRUPT, "f3.lance");
	ck_assert_uint_eq(removed, 13 - 3);
	ck_assert(!is_there(&tree, 1) && !is_there(&tree, 2) && !is_there(&tree, 4));
	ck_assert(is_there(&tree, 3));
	lancet_cleanup_free(cleanup);
	close_dataset(dataset, &tree);
}
END_TEST

/* Reads of a cleanup don't grow with the product of versions and files. */
START_TEST(each_manifest_is_read_once)
{
	struct tree tree = make_history();
	struct store_counts counts = { 0 };
	struct lancet_cleanup_options options = { .has_older_than = true };
	lancet_dataset *dataset = open_traced(&tree, &counts);
	lancet_cleanup *cleanup = NULL;

	counts = (struct store_counts){ 0 };
	OK(lancet_cleanup_plan(dataset, &options, &cleanup, &err));
	ck_assert_uint_eq(counts.opens, VERSIONS);
	ck_assert_uint_le(counts.reads, 3 * VERSIONS);
	ck_assert_uint_le(counts.stats, 9 + 2); /* each file, and what lies below tree */
	lancet_cleanup_free(cleanup);
	close_dataset(dataset, &tree);
}
END_TEST

UNIT_MAIN("cleanup_run", UNIT_LOOP(what_comes_in_between_keeps_its_files, events),
	UNIT_TEST(a_cleanup_that_is_cancelled_leaves_whole_versions),
	UNIT_LOOP(whatever_fails_the_versions_that_stay_are_whole, faults),
	UNIT_TEST(a_file_that_can_not_be_removed_keeps_its_version),
	UNIT_TEST(each_manifest_is_read_once))
