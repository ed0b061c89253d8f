/* What a rewrite may touch because of indices, and what it tells the reuse history. */
#include "scene.h"

#include <inttypes.h>

#include "core/remap.h"

#define TAGGED (UINT64_C(1) << 10)

enum table { PLAIN, STABLE, TAGGED_TABLE };

/* Fragments with the same letter may be rewritten together; '-': not at all. */
static const struct {
	struct scene_text text;
	enum table table;
	enum lancet_index_remap mode;
	bool partition;
	const char *classes;
	const char *why; /* of the first that may not */
} scenes[] = {
	{ { "no index", "0 1 2", 0, NULL, NULL, { 0 }, { { 0 } } }, PLAIN, 0, false, "aaa", NULL },
	{ { "covered and not", "0 1 2 3", 0, NULL, NULL, { 0 }, { { "x", "BTree", "0 1" } } },
		PLAIN, 0, false, "aabb", NULL },
	{ { "segments of one index", "0 1 2 3", 0, NULL, NULL, { 0 },
		  { { "x", "BTree", "0 1" }, { "x", "BTree", "2" } } },
		PLAIN, 0, false, "aabc", NULL },
	{ { "two indices", "0 1 2 3 4", 0, NULL, NULL, { 0 },
		  { { "x", "BTree", "0 1 2" }, { "y", "Bitmap", "1 2 3" } } },
		STABLE, 0, false, "abbcd", NULL },
	{ { "ids that are gone", "4 5", 0, NULL, NULL, { 0 }, { { "x", "BTree", "0 1 5" } } },
		STABLE, 0, false, "ab", NULL },
	{ { "followed by a legacy history", "2 3 4", 0, "5 = 0 1 > 4", NULL, { 0 },
		  { { "x", "BTree", "0 1 2" } } },
		PLAIN, 0, false, "aba", NULL },
	{ { "followed by a tagged history", "2 3 4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0 1 2" } } },
		TAGGED_TABLE, 0, false, "aba", NULL },
	{ { "a kind that can't follow", "0 1 2", 0, NULL, NULL, { 0 },
		  { { "x", "BTree", "0 1 2" }, { "f", "FM", "1" } } },
		PLAIN, 0, false, "a-a", "index f can't follow its rows into other fragments" },
	{ { "the same, skipped", "0 1 2", 0, NULL, NULL, { 0 },
		  { { "x", "BTree", "0 1 2" }, { "f", "FM", "1" } } },
		PLAIN, LANCET_REMAP_SKIP, false, "aba", NULL },
	{ { "the same, with row ids", "0 1 2", 0, NULL, NULL, { 0 },
		  { { "x", "Bitmap", "0 1 2" }, { "f", "FM", "1" } } },
		STABLE, 0, false, "aba", NULL },
	{ { "unknown coverage", "0 1", 0, NULL, NULL, { 0 }, { { "x", "BTree", NULL } } }, PLAIN, 0,
		false, "--", "index x does not say what it covers" },
	{ { "unknown coverage of row ids", "0 1", 0, NULL, NULL, { 0 },
		  { { "x", "Bitmap", NULL } } },
		STABLE, 0, false, "aa", NULL },
	{ { "unknown coverage of addresses", "0 1", 0, NULL, NULL, { 0 },
		  { { "x", "ZoneMap", NULL } } },
		STABLE, 0, false, "--", "index x does not say what it covers" },
	{ { "a tagged table, skipped", "2 3 4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0 1 2" } } },
		TAGGED_TABLE, LANCET_REMAP_SKIP, false, "---",
		"the tagged reuse history has to record where its rows go, which was not asked "
		"for" },
};

static void
make_plan(struct scene *scene, size_t at, struct remap_plan **ret_plan)
{
	struct lancet_error err = { 0 };

	scene_make(scene, &scenes[at].text);
	scene->version.refs = 1;
	scene->version.info.stable_row_ids = scenes[at].table == STABLE;
	scene->version.info.writer_flags = scenes[at].table == TAGGED_TABLE ? TAGGED : 0;
	ck_assert_msg(remap_plan_make(&scene->version, scenes[at].mode, scenes[at].partition,
			      ret_plan, &err) == LANCET_OK,
		"%s: %s", scenes[at].text.label, err.text);
}

START_TEST(fragments_share_a_group_by_coverage)
{
	const char *classes = scenes[_i].classes;
	struct remap_plan *plan;
	struct scene scene;
	const char *why, *first = NULL;

	make_plan(&scene, _i, &plan);
	ck_assert_uint_eq(scene.version.info.fragment_count, strlen(classes));
	for (size_t i = 0; classes[i] != '\0'; i++) {
		ck_assert_msg(remap_allows(plan, i, &why) == (classes[i] != '-'), "%s: %zu",
			scenes[_i].text.label, i);
		if (first == NULL)
			first = why;
		for (size_t k = 0; k < i; k++)
			if (classes[i] != '-' && classes[k] != '-')
				ck_assert_msg(
					(remap_coverage(plan, i) == remap_coverage(plan, k)) ==
						(classes[i] == classes[k]),
					"%s: %zu and %zu", scenes[_i].text.label, i, k);
	}
	ck_assert_pstr_eq(first, scenes[_i].why);
	remap_plan_free(plan);
	scene_release(&scene);
}
END_TEST

START_TEST(deferred_remap_with_row_ids_is_refused)
{
	struct lancet_error err = { 0 };
	struct remap_plan *plan = NULL;
	struct scene scene;

	scene_make(&scene, &scenes[0].text);
	scene.version.refs = 1;
	scene.version.info.stable_row_ids = true;
	ck_assert_int_eq(remap_plan_make(&scene.version, LANCET_REMAP_DEFER, false, &plan, &err),
		LANCET_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(err.text, "stable row ids"));
	ck_assert_ptr_null(plan);
	scene_release(&scene);
}
END_TEST

/* A record that is not understood: field 9 of the history. */
START_TEST(a_history_that_is_not_understood_is_left_alone)
{
	struct scene_text text = { "unknown", "2", 1, NULL, "0 1 > 2",
		{ (const uint8_t *)"\x4a\x00", 2 }, { { 0 } } };
	struct lancet_error err = { 0 };
	struct remap_plan *plan = NULL;
	struct scene scene;

	scene_make(&scene, &text);
	scene.version.refs = 1;
	ck_assert_int_eq(remap_plan_make(&scene.version, LANCET_REMAP_AUTO, false, &plan, &err),
		LANCET_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(err.text, "not understood"));
	scene_release(&scene);
}
END_TEST

/* One task over fragments of a scene. */
struct rewriting {
	struct rewrite_source sources[3];
	struct rewrite_task task;
	struct lancet_rewrite rewrite;
};

static void
make_rewriting(struct rewriting *r, size_t first, size_t count)
{
	*r = (struct rewriting){ .task = { .sources = r->sources, .source_count = count } };
	for (size_t i = 0; i < count; i++)
		r->sources[i].ordinal = first + i;
	r->rewrite.tasks = &r->task;
	r->rewrite.task_count = 1;
}

static const struct {
	const char *label;
	struct scene_text text;
	enum table table;
	enum lancet_index_remap mode;
	bool partition;
	size_t first, count;
	bool records;
} recordings[] = {
	{ "covered", { "", "0 1 2", 0, NULL, NULL, { 0 }, { { "x", "BTree", "0 1" } } }, PLAIN, 0,
		false, 0, 2, true },
	{ "not covered", { "", "0 1 2", 0, NULL, NULL, { 0 }, { { "x", "BTree", "0 1" } } }, PLAIN,
		0, false, 2, 1, false },
	{ "asked for", { "", "0 1 2", 0, NULL, NULL, { 0 }, { { "x", "BTree", "0 1" } } }, PLAIN,
		LANCET_REMAP_DEFER, false, 0, 2, true },
	{ "skipped", { "", "0 1 2", 0, NULL, NULL, { 0 }, { { "x", "BTree", "0 1" } } }, PLAIN,
		LANCET_REMAP_SKIP, false, 0, 2, false },
	{ "with row ids", { "", "0 1 2", 0, NULL, NULL, { 0 }, { { "x", "Bitmap", "0 1" } } },
		STABLE, 0, false, 0, 2, false },
	{ "a partition without an index", { "", "0 1 2", 0, NULL, NULL, { 0 }, { { 0 } } }, PLAIN,
		0, true, 0, 2, true },
	{ "a partition with row ids", { "", "0 1 2", 0, NULL, NULL, { 0 }, { { 0 } } }, STABLE, 0,
		true, 0, 2, false },
	{ "named in a tagged table",
		{ "", "2 3", 1, NULL, "0 1 > 2", { 0 },
			{ { "x", "BTree", "2 7" }, { "y", "FM", "7" } } },
		TAGGED_TABLE, 0, false, 0, 1, true },
	{ "not named in a tagged table",
		{ "", "2 3", 0, NULL, NULL, { 0 }, { { "x", "BTree", "2" } } }, TAGGED_TABLE, 0,
		false, 1, 1, false },
};

START_TEST(the_history_gets_to_know_what_indices_need)
{
	struct remap_plan *plan;
	struct rewriting r;
	struct scene scene;

	scene_make(&scene, &recordings[_i].text);
	scene.version.refs = 1;
	scene.version.info.stable_row_ids = recordings[_i].table == STABLE;
	scene.version.info.writer_flags = recordings[_i].table == TAGGED_TABLE ? TAGGED : 0;
	ck_assert_int_eq(remap_plan_make(&scene.version, recordings[_i].mode,
				 recordings[_i].partition, &plan, NULL),
		LANCET_OK);
	make_rewriting(&r, recordings[_i].first, recordings[_i].count);
	ck_assert_msg(remap_records(plan, &r.rewrite, &r.task) == recordings[_i].records, "%s",
		recordings[_i].label);
	remap_plan_free(plan);
	scene_release(&scene);
}
END_TEST

UNIT_MAIN("remap", UNIT_LOOP(fragments_share_a_group_by_coverage, scenes),
	UNIT_TEST(deferred_remap_with_row_ids_is_refused),
	UNIT_TEST(a_history_that_is_not_understood_is_left_alone),
	UNIT_LOOP(the_history_gets_to_know_what_indices_need, recordings))
