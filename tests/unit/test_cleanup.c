/* Plans of cleanups: which versions go, which files, and what stops one. */
#include "unit.h"

#include "cleanupdata.h"

/* Five versions; each has a file of its own, all have "all", 1 to 3 have "abc". */
static const struct data_version history[] = {
	{ "ds", 1, 0, "all abc a", 1, NULL, "0-1.txn", 0 },
	{ "ds", 2, 2000, "all abc b", 2, "over", "1-2.txn", 0 },
	{ "ds", 3, 3000, "all abc c", 0, NULL, "2-3.txn", 0 },
	{ "ds", 4, 4000, "all d", 0, NULL, "3-4.txn", 0 },
	{ "ds", 5, 5000, "all e", 0, NULL, "4-5.txn", 0 },
};

static const char *const history_files[] = { "data/all.lance", "data/abc.lance", "data/a.lance",
	"data/b.lance", "data/c.lance", "data/d.lance", "data/e.lance", "data/over.lance",
	"_deletions/0-1-1.arrow", "_deletions/0-1-2.arrow", "_transactions/0-1.txn",
	"_transactions/1-2.txn", "_transactions/2-3.txn", "_transactions/3-4.txn",
	"_transactions/4-5.txn" };

static struct tree
make_history(void)
{
	struct tree tree = tree_new();
	char path[256];

	for (size_t i = 0; i < ARRAY_SIZE(history); i++)
		put_version(&tree, &history[i]);
	for (size_t i = 0; i < ARRAY_SIZE(history_files); i++) {
		(void)snprintf(path, sizeof(path), "ds/%s", history_files[i]);
		tree_text(&tree, path, "young");
	}
	return tree;
}

static const struct {
	struct lancet_cleanup_options options;
	const char *versions, *tags, *parents; /* "2": a tag, or a branch, of that version */
	const char *goes;
} policies[] = {
	{ { 0 }, "", "", "", "1 2 3 4" },
	{ { .has_older_than = true, .older_than = 0 }, "", "", "", "1 2 3 4" },
	{ { .has_older_than = true, .older_than = UINT64_MAX }, "", "", "", "" },
	{ { .keep = 1 }, "", "", "", "1 2 3 4" },
	{ { .keep = 2 }, "", "", "", "1 2 3" },
	{ { .keep = 5 }, "", "", "", "" },
	{ { .keep = UINT64_MAX }, "", "", "", "" },
	{ { .keep = 2, .has_older_than = true, .older_than = 1 }, "", "", "", "1 2 3" },
	{ { 0 }, "2 5", "", "", "2" },
	{ { .keep = 4 }, "1 2", "", "", "1" },
	{ { 0 }, "", "2", "", "1 3 4" },
	{ { 0 }, "", "", "3", "1 2 4" },
	{ { .keep = 1 }, "1 2 3", "2", "3", "1" },
};

static void
put_ref(const struct tree *tree, const char *kind, const char *version)
{
	char path[64], text[128];

	if (*version == '\0')
		return;
	(void)snprintf(path, sizeof(path), "ds/_refs/%s/r%s.json", kind, version);
	(void)snprintf(
		text, sizeof(text), "{\"version\": %s, \"parentVersion\": %s}", version, version);
	tree_text(tree, path, text);
	if (strcmp(kind, "branches") == 0) {
		(void)snprintf(path, sizeof(path), "ds/tree/r%s", version);
		tree_mkdir(tree, path);
	}
}

START_TEST(versions_go_by_every_filter_that_is_given)
{
	struct tree tree = make_history();
	struct lancet_cleanup_options options = policies[_i].options;
	lancet_dataset *dataset = open_dataset(&tree);
	lancet_cleanup *cleanup = NULL;
	uint64_t numbers[8];
	char text[256];

	for (const char *at = policies[_i].versions; *at != '\0'; at += strspn(at, " 0123456789")) {
		char *end = (char *)(uintptr_t)at;

		while (*end != '\0')
			numbers[options.version_count++] = strtoull(end, &end, 10);
	}
	if (options.version_count > 0)
		options.versions = numbers;
	put_ref(&tree, "tags", policies[_i].tags);
	put_ref(&tree, "branches", policies[_i].parents);
	OK(lancet_cleanup_plan(dataset, &options, &cleanup, &err));
	ck_assert_str_eq(going_text(cleanup, text), policies[_i].goes);
	lancet_cleanup_free(cleanup);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(a_version_that_is_asked_for_must_be_there)
{
	struct tree tree = make_history();
	lancet_dataset *dataset = open_dataset(&tree);
	const uint64_t wanted[] = { 1, 9 };
	struct lancet_cleanup_options options = { .versions = wanted, .version_count = 2 };
	lancet_cleanup *cleanup = NULL;

	FAILS(lancet_cleanup_plan(dataset, &options, &cleanup, &err), LANCET_NOT_FOUND, "9");
	close_dataset(dataset, &tree);
}
END_TEST

/* Everything that goes is listed in the order of removing, and nothing else. */
START_TEST(files_go_with_the_last_version_that_names_them)
{
	static const struct {
		const char *path;
		enum lancet_cleanup_reason reason;
	} due[] = {
		{ "data/old.lance", LANCET_ABANDONED },
		{ "_deletions/0-1-1.arrow", LANCET_UNREFERENCED },
		{ "_transactions/0-1.txn", LANCET_UNREFERENCED },
		{ "data/a.lance", LANCET_UNREFERENCED },
		{ "_versions/18446744073709551614.manifest", LANCET_OLD_VERSION },
		{ "_deletions/0-1-2.arrow", LANCET_UNREFERENCED },
		{ "_transactions/1-2.txn", LANCET_UNREFERENCED },
		{ "data/abc.lance", LANCET_UNREFERENCED },
		{ "data/abc/0.blob", LANCET_UNREFERENCED },
		{ "data/b.lance", LANCET_UNREFERENCED },
		{ "data/over.lance", LANCET_UNREFERENCED },
		{ "_versions/18446744073709551613.manifest", LANCET_OLD_VERSION },
	};
	struct tree tree = make_history();
	lancet_dataset *dataset;
	lancet_cleanup *cleanup = NULL;
	const uint64_t wanted[] = { 1, 2, 3 };
	struct lancet_cleanup_options options = { .versions = wanted, .version_count = 3 };
	uint64_t removed = 0, bytes = 0, sum = 0;

	put_ref(&tree, "tags", "4");
	/* 3 is gone, as after a cleanup that was stopped */
	tree_unlink(&tree, "ds/_versions/18446744073709551612.manifest");
	options.version_count = 2;
	put_old(&tree, "ds/data/old.lance");
	tree_text(&tree, "ds/data/abc/0.blob", "side");
	tree_text(&tree, "ds/data/all/0.blob", "side");
	dataset = open_dataset(&tree);
	OK(lancet_cleanup_plan(dataset, &options, &cleanup, &err));
	ck_assert_uint_eq(lancet_cleanup_count(cleanup), ARRAY_SIZE(due));
	for (size_t i = 0; i < ARRAY_SIZE(due); i++) {
		const struct lancet_cleanup_file *file = lancet_cleanup_file(cleanup, i);

		ck_assert_str_eq(file->path, due[i].path);
		ck_assert_int_eq(file->reason, due[i].reason);
		sum += file->bytes;
	}
	ck_assert(exists(&tree, "ds/data/a.lance"));
	OK(lancet_cleanup_run(cleanup, &removed, &bytes, &err));
	ck_assert_uint_eq(removed, ARRAY_SIZE(due));
	ck_assert_uint_eq(bytes, sum);
	lancet_cleanup_free(cleanup);
	ck_assert(!exists(&tree, "ds/data/abc")); /* the directory of its sidecars */
	ck_assert(exists(&tree, "ds/data/all/0.blob"));
	ck_assert(exists(&tree, "ds/data/c.lance")); /* young, and nobody names it any more */
	ck_assert_int_eq(names_in(dataset_base(dataset)->store, "_versions"), 2);
	close_dataset(dataset, &tree);
}
END_TEST

#define UUID "0dfa088c-36be-4677-b483-00ccfc4af875"

static const struct {
	const char *path;
	int reason; /* -1: it never goes */
} shapes[] = {
	{ "data/x.lance", LANCET_ABANDONED },
	{ "data/deep/er/x.lance", LANCET_ABANDONED },
	{ "data/x/1.blob", LANCET_ABANDONED },
	{ "data/x/y/1.blob", -1 },
	{ "data/1.blob", -1 },
	{ "data/all/1.blob", -1 },
	{ "data/sub/all.lance", -1 }, /* perhaps of another base */
	{ "data/x.txt", -1 },
	{ "data/.lance", -1 },
	{ "data/.tmpXYZ", LANCET_TEMPORARY },
	{ "data/x/.tmp-" UUID, LANCET_TEMPORARY },
	{ "data/.hidden", -1 },
	{ "_versions/.tmp-" UUID, LANCET_TEMPORARY },
	{ "_versions/latest_version_hint.json", -1 },
	{ "_versions/18446744073709551605.manifest.torn", -1 },
	{ "_versions/18446744073709551605.manifest#1", -1 },
	{ "_versions/x.lance", -1 },
	{ "_transactions/9-x.txn", LANCET_ABANDONED },
	{ "_transactions/4-5.txn", -1 },
	{ "_transactions/.tmpabc", LANCET_TEMPORARY },
	{ "_transactions/notes", -1 },
	{ "_transactions/sub/9-x.txn", -1 },
	{ "_deletions/0-1-9.bin", LANCET_ABANDONED },
	{ "_deletions/0-1-9.arrow", LANCET_ABANDONED },
	{ "_deletions/0-1-9.arrow.bak", -1 },
	{ "_deletions/x-1-9.bin", -1 },
	{ "_deletions/mine.bin", -1 },
	{ "_deletions/.tmpq", LANCET_TEMPORARY },
	{ "_indices/" UUID "/page.lance", LANCET_ABANDONED },
	{ "_indices/" UUID "/sub/page.lance", LANCET_ABANDONED },
	{ "_indices/mine/page.lance", -1 },
	{ "_indices/page.lance", -1 },
	{ "_fri/" UUID "/stable_partition.lance", LANCET_ABANDONED },
	{ "_fri/mine/stable_partition.lance", -1 },
	{ "_refs/tags/.tmp-x", LANCET_TEMPORARY },
	{ "_refs/branches/.tmp-x", LANCET_TEMPORARY },
	{ "_refs/tags/x.json.tmp.0123#1", -1 },
	{ "_blobs/x.blob", -1 },
	{ "_mem_wal/x.lance", -1 },
	{ "x.lance", -1 },
	{ "other/x.lance", -1 },
};

/* Nothing young, unless that is asked for. */
START_TEST(only_known_shapes_go_and_only_old_ones)
{
	struct tree tree = make_history();
	struct lancet_cleanup_options options = { .keep = 100 };
	lancet_cleanup *cleanup = NULL;
	lancet_dataset *dataset;
	char path[256];

	dataset = open_dataset(&tree);
	for (int pass = 0; pass < 3; pass++) {
		bool due = pass > 0 && shapes[_i].reason >= 0;

		(void)snprintf(path, sizeof(path), "ds/%s", shapes[_i].path);
		tree_text(&tree, path, "x");
		age_days(&tree, path, pass == 2 ? OLD_DAYS : OLD_DAYS - 2);
		options.delete_unverified = pass == 1;
		OK(lancet_cleanup_plan(dataset, &options, &cleanup, &err));
		ck_assert_msg(plan_has(cleanup, shapes[_i].path) == due, "%s, pass %d",
			shapes[_i].path, pass);
		if (due)
			ck_assert_int_eq(
				lancet_cleanup_file(cleanup, 0)->reason, shapes[_i].reason);
		lancet_cleanup_free(cleanup);
	}
	close_dataset(dataset, &tree);
}
END_TEST

#define DETACHED (UINT64_C(1) << 63 | 77)

/* Versions that are no part of the history, and name files that only version 1 names otherwise. */
static const struct {
	struct data_version version;
	const char *branch; /* the text of the branch's file; NULL: none */
} others[] = {
	{ { "ds", DETACHED, 1, "a", 1, NULL, "0-1.txn", 0 }, NULL },
	{ { "ds/tree/r", 1, 1, "a@0", 1, NULL, "0-1.txn", 0 }, "{\"parentVersion\": 4}" },
	{ { "ds/tree/r", 9, 1, "a@7", 1, NULL, "0-1.txn", 0 }, "{\"parentVersion\": 4}" },
	{ { "ds/tree/r", DETACHED, 1, "a@0", 1, NULL, "0-1.txn", 0 }, "{\"parentVersion\": 4}" },
	{ { "ds/tree/r/s", 1, 1, "a@0", 1, NULL, "0-1.txn", 0 }, NULL },
	{ { "ds/tree/r/data", 1, 1, "a@0", 1, NULL, "0-1.txn", 0 }, NULL },
	{ { "ds", 5, 5000, "all e other/a", 1, NULL, "0-1.txn", 0 }, NULL },
	{ { "ds", 5, 5000, "all e", 1, "a@0", "0-1.txn", 0 }, NULL },
};

START_TEST(what_any_other_version_names_stays)
{
	struct tree tree = make_history();
	struct lancet_cleanup_options options = { 0 };
	lancet_cleanup *cleanup = NULL;
	lancet_dataset *dataset;
	uint64_t removed, bytes;

	put_version(&tree, &others[_i].version);
	if (others[_i].branch != NULL)
		tree_text(&tree, "ds/_refs/branches/r.json", others[_i].branch);
	dataset = open_dataset(&tree);
	OK(lancet_cleanup_plan(dataset, &options, &cleanup, &err));
	ck_assert(plan_has(cleanup, "data/b.lance"));
	OK(lancet_cleanup_run(cleanup, &removed, &bytes, &err));
	lancet_cleanup_free(cleanup);
	ck_assert(exists(&tree, "ds/data/a.lance"));
	ck_assert(exists(&tree, "ds/_deletions/0-1-1.arrow"));
	ck_assert(exists(&tree, "ds/_transactions/0-1.txn"));
	ck_assert(!exists(&tree, "ds/data/b.lance"));
	ck_assert(!exists(&tree, "ds/"
				 "_versions/18446744073709551614.manifest"));
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(a_branch_is_cleaned_up_by_itself)
{
	struct tree tree = make_history();
	struct lancet_cleanup_options options = { .has_older_than = true };
	const struct data_version versions[] = {
		{ "ds/tree/r", 4, 4500, "all@0 d@0", 0, NULL, NULL, 0 },
		{ "ds/tree/r", 5, 5500, "all@0 x", 0, NULL, NULL, 0 },
		{ "ds/tree/r", 6, 6500, "all@0 y", 0, NULL, NULL, 0 },
		{ "ds/tree/q", 6, 6500, "all@0 y@1", 0, NULL, NULL, 0 },
	};
	lancet_dataset *dataset, *branch = NULL;
	lancet_cleanup *cleanup = NULL;
	char text[256];

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		put_version(&tree, &versions[i]);
	tree_text(&tree, "ds/_refs/branches/r.json", "{\"parentVersion\": 4}");
	tree_text(&tree, "ds/_refs/branches/q.json",
		"{\"parentVersion\": 5, \"parentBranch\": \"r\"}");
	tree_text(&tree, "ds/_refs/tags/t.json", "{\"version\": 4, \"branch\": \"q\"}");
	tree_text(&tree, "ds/tree/r/data/x.lance", "");
	tree_text(&tree, "ds/tree/r/data/d.lance", "");
	dataset = open_dataset(&tree);
	OK(lancet_dataset_branch(
		dataset, (struct lancet_bytes){ (const uint8_t *)"r", 1 }, &branch, &err));
	OK(lancet_cleanup_plan(branch, &options, &cleanup, &err));
	ck_assert_str_eq(going_text(cleanup, text), "4"); /* q was made from 5; t is of q */
	ck_assert_uint_eq(lancet_cleanup_count(cleanup), 1);
	lancet_cleanup_free(cleanup);
	tree_unlink(&tree, "ds/_refs/branches/q.json");
	tree_unlink(&tree, "ds/_refs/tags/t.json");
	OK(lancet_cleanup_plan(branch, &options, &cleanup, &err));
	ck_assert_str_eq(going_text(cleanup, text), "4 5");
	ck_assert(plan_has(cleanup, "data/x.lance"));
	ck_assert(!plan_has(cleanup, "data/d.lance")); /* the one that 4 names lies in the root */
	lancet_cleanup_free(cleanup);
	lancet_dataset_unref(branch);
	close_dataset(dataset, &tree);
}
END_TEST

static const struct {
	const char *path, *text;
	int code;
	const char *word;
} obstacles[] = {
	{ "_versions/18446744073709551609.manifest", "", LANCET_CORRUPT, "609.manifest" },
	{ "_versions/18446744073709551613.manifest", "torn", LANCET_CORRUPT, "repair" },
	{ "_versions/2.manifest", "", LANCET_CORRUPT, "two manifests" },
	{ "_versions/d9223372036854775900.manifest", "", LANCET_CORRUPT, "d9223372036854775900" },
	{ "tree/r/_versions/18446744073709551613.manifest", "", LANCET_CORRUPT,
		"tree/r/_versions" },
	{ "_refs/tags/t.json", "{", LANCET_CORRUPT, "delete the tag" },
	{ "_refs/branches/r.json", "{", LANCET_CORRUPT, "delete the branch" },
	{ "_refs/branches/r.json", "{\"parentVersion\": 3}", LANCET_CORRUPT, "tree/r is missing" },
};

START_TEST(what_is_not_understood_stops_a_cleanup)
{
	struct tree tree = make_history();
	struct lancet_cleanup_options options = { 0 };
	lancet_dataset *dataset = open_dataset(&tree);
	lancet_cleanup *cleanup = NULL;
	char path[256];

	(void)snprintf(path, sizeof(path), "ds/%s", obstacles[_i].path);
	tree_text(&tree, path, obstacles[_i].text);
	FAILS(lancet_cleanup_plan(dataset, &options, &cleanup, &err), obstacles[_i].code,
		obstacles[_i].word);
	ck_assert_ptr_null(cleanup);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(a_flag_that_is_not_understood_stops_a_cleanup)
{
	struct tree tree = make_history();
	struct lancet_cleanup_options options = { 0 };
	lancet_dataset *dataset = open_dataset(&tree);
	lancet_cleanup *cleanup = NULL;
	struct data_version version = history[1];

	version.writer_flags = UINT64_C(1) << 40;
	put_version(&tree, &version);
	FAILS(lancet_cleanup_plan(dataset, &options, &cleanup, &err), LANCET_UNSUPPORTED, "bit_40");
	close_dataset(dataset, &tree);
}
END_TEST

UNIT_MAIN("cleanup", UNIT_LOOP(versions_go_by_every_filter_that_is_given, policies),
	UNIT_TEST(a_version_that_is_asked_for_must_be_there),
	UNIT_TEST(files_go_with_the_last_version_that_names_them),
	UNIT_LOOP(only_known_shapes_go_and_only_old_ones, shapes),
	UNIT_LOOP(what_any_other_version_names_stays, others),
	UNIT_TEST(a_branch_is_cleaned_up_by_itself),
	UNIT_LOOP(what_is_not_understood_stops_a_cleanup, obstacles),
	UNIT_TEST(a_flag_that_is_not_understood_stops_a_cleanup))
