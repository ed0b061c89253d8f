/* Which transitions are needed by which index.
 *
 * Expected lists follow from the rules of the format facts (trim), clause by clause. "0:x 1:x+ 1:y"
 * are transition and index, "+" what is needed only because a transition before it is.
 */
#include "scene.h"

static const struct {
	struct scene_text text;
	const char *want;
} scenes[] = {
	/* Legacy: caught up is who names nothing of it. */
	{ { "not rewritten", "4", 0, "5 = 0 1 > 4", NULL, { 0 }, { { "x", "BTree", "0 1", 3 } } },
		"0:x" },
	{ { "no bitmap", "4", 0, "5 = 0 1 > 4", NULL, { 0 }, { { "x", "BTree", NULL, 3 } } }, "" },
	{ { "an empty bitmap", "4", 0, "5 = 0 1 > 4", NULL, { 0 }, { { "x", "BTree", "", 3 } } },
		"" },
	{ { "other fragments", "4 9", 0, "5 = 0 1 > 4", NULL, { 0 }, { { "x", "BTree", "9", 3 } } },
		"" },
	{ { "no index", "4", 0, "5 = 0 1 > 4", NULL, { 0 }, { { NULL } } }, "" },
	{ { "a system index", "4", 0, "5 = 0 1 > 4", NULL, { 0 },
		  { { "__lance_x", "BTree", "0 1", 3 } } },
		"" },
	/* A translated bitmap is no proof, its dataset version is. */
	{ { "a translated bitmap", "4", 0, "5 = 0 1 > 4", NULL, { 0 },
		  { { "x", "BTree", "4", 3 } } },
		"0:x" },
	{ { "built on the version before the rewrite", "4", 0, "5 = 0 1 > 4", NULL, { 0 },
		  { { "x", "BTree", "4", 5 } } },
		"0:x" },
	{ { "built after the rewrite", "4", 0, "5 = 0 1 > 4", NULL, { 0 },
		  { { "x", "BTree", "4", 6 } } },
		"" },
	{ { "newer, yet it names an old fragment", "4", 0, "5 = 0 1 > 4", NULL, { 0 },
		  { { "x", "BTree", "1", 6 } } },
		"0:x" },
	{ { "an old segment beside a new one", "4", 0, "5 = 0 1 > 4", NULL, { 0 },
		  { { "x", "BTree", "4", 6 }, { "x", "BTree", "4", 3 } } },
		"0:x" },
	{ { "an old segment of other fragments beside it", "4 9", 0, "5 = 0 1 > 4", NULL, { 0 },
		  { { "x", "BTree", "4", 6 }, { "x", "BTree", "9", 3 } } },
		"" },
	/* The chain: what the new fragments lead to. */
	{ { "translated twice", "6", 0, "5 = 0 1 > 4 | 8 = 4 > 6", NULL, { 0 },
		  { { "x", "BTree", "6", 3 } } },
		"0:x 1:x" },
	{ { "built between the two", "6", 0, "5 = 0 1 > 4 | 8 = 4 > 6", NULL, { 0 },
		  { { "x", "BTree", "6", 7 } } },
		"1:x" },
	{ { "built between, not translated", "6", 0, "5 = 0 1 > 4 | 8 = 4 > 6", NULL, { 0 },
		  { { "x", "BTree", "4", 7 } } },
		"1:x" },
	{ { "built after both", "6", 0, "5 = 0 1 > 4 | 8 = 4 > 6", NULL, { 0 },
		  { { "x", "BTree", "6", 9 } } },
		"" },
	/* Addresses of 0 and 1 must get through the second one, whose fragments nobody names. */
	{ { "translated by nobody", "6", 0, "5 = 0 1 > 4 | 8 = 4 > 6", NULL, { 0 },
		  { { "x", "BTree", "0 1", 3 } } },
		"0:x 1:x+" },
	/* A version goes with all its groups or not at all. */
	{ { "another group of the version", "4 5", 0, "5 = 0 1 > 4; 2 3 > 5", NULL, { 0 },
		  { { "x", "BTree", "2 3", 3 } } },
		"0:x 1:x" },
	{ { "behind another group of the version", "6 5", 0, "5 = 0 1 > 4; 2 3 > 5 | 8 = 4 > 6",
		  NULL, { 0 }, { { "x", "BTree", "2 3", 3 } } },
		"0:x 1:x 2:x+" },
	{ { "two indices", "6", 0, "5 = 0 1 > 4 | 8 = 4 > 6", NULL, { 0 },
		  { { "x", "BTree", "6", 9 }, { "y", "BTree", "6", 7 },
			  { "z", "BTree", "6", 2 } } },
		"0:z 1:y 1:z" },

	/* Tagged: named sources, and destinations that are not named. */
	{ { "not rewritten", "4", 1, NULL, "0 1 > 4", { 0 }, { { "x", "BTree", "0 1" } } }, "0:x" },
	{ { "one source", "4", 1, NULL, "0 1 > 4", { 0 }, { { "x", "BTree", "1" } } }, "0:x" },
	{ { "rewritten", "4", 1, NULL, "0 1 > 4", { 0 }, { { "x", "BTree", "4" } } }, "" },
	{ { "rewritten by another segment", "4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0 1" }, { "x", "BTree", "4" } } },
		"" },
	{ { "rewritten by another index", "4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0 1" }, { "y", "BTree", "4" } } },
		"0:x" },
	{ { "rewritten in part", "4 5", 1, NULL, "0 1 > 4 5", { 0 },
		  { { "x", "BTree", "0 1 4" } } },
		"0:x" },
	{ { "rewritten by a segment that lost its coverage", "4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0 1" }, { "x", "FM", "4" } } },
		"0:x" },
	{ { "nothing was left of the sources", "9", 1, NULL, "0 1 >", { 0 },
		  { { "x", "BTree", "0 1 9" } } },
		"" },
	{ { "downstream", "6", 1, NULL, "0 1 > 4; 4 > 6", { 0 }, { { "x", "BTree", "0 1" } } },
		"0:x 1:x+" },
	{ { "upstream is not", "6", 1, NULL, "0 1 > 4; 4 > 6", { 0 }, { { "x", "BTree", "4" } } },
		"1:x" },
	{ { "downstream of another", "6 7", 1, NULL, "0 1 > 4; 2 3 > 5; 4 > 6; 5 > 7", { 0 },
		  { { "x", "BTree", "0 1 7" }, { "y", "BTree", "2 6" } } },
		"0:x 1:y 2:x+ 3:y+" },
	{ { "needed itself and downstream", "6", 1, NULL, "0 1 > 4; 4 2 > 6", { 0 },
		  { { "x", "BTree", "0 1 2" } } },
		"0:x 1:x" },
	{ { "no bitmap", "4", 1, NULL, "0 1 > 4", { 0 }, { { "x", "BTree", NULL } } }, "" },
	/* Legacy groups in a tagged history: bitmaps may have been stored translated before. */
	{ { "lifted, translated before", "6", 1, "5 = 0 1 > 4", "4 > 6", { 0 },
		  { { "x", "BTree", "4", 3 } } },
		"0:x 1:x" },
	{ { "lifted, built after it", "6", 1, "5 = 0 1 > 4", "4 > 6", { 0 },
		  { { "x", "BTree", "4", 6 } } },
		"1:x" },
	{ { "lifted, built after all", "6", 1, "5 = 0 1 > 4", "4 > 6", { 0 },
		  { { "x", "BTree", "6", 9 } } },
		"" },
	{ { "lifted groups go one by one", "4 5", 1, "5 = 0 1 > 4; 2 3 > 5", "", { 0 },
		  { { "x", "BTree", "2 3", 3 } } },
		"1:x" },
};

static void
put_need(char *text, size_t *at, const struct lancet_reuse_need *need,
	const struct lancet_index *indices)
{
	*at += (size_t)snprintf(text + *at, 256 - *at, "%s%zu:%.*s%s", *at == 0 ? "" : " ",
		need->transition, (int)indices[need->index].name.size,
		(const char *)indices[need->index].name.data, need->downstream ? "+" : "");
}

START_TEST(each_clause_keeps_what_it_should)
{
	const struct lancet_index *indices = NULL;
	struct lancet_reuse_need *needs = NULL;
	struct lancet_error err = { 0 };
	struct scene scene;
	char text[256] = "";
	size_t count = 0, index_count, at = 0;

	scene_make(&scene, &scenes[_i].text);
	ck_assert_msg(lancet_reuse_needs(&scene.version, &needs, &count, &err) == LANCET_OK,
		"%s: %s", scenes[_i].text.label, err.text);
	ck_assert_int_eq(
		lancet_version_indices(&scene.version, &indices, &index_count, NULL), LANCET_OK);
	for (size_t i = 0; i < count; i++)
		put_need(text, &at, &needs[i], indices);
	ck_assert_msg(strcmp(text, scenes[_i].want) == 0, "%s: \"%s\", expected \"%s\"",
		scenes[_i].text.label, text, scenes[_i].want);
	free(needs);
	scene_release(&scene);
}
END_TEST

static const struct {
	struct scene_text text;
	int want;
	const char *name;
} failures[] = {
	{ { "no history", "4", 0, NULL, NULL, { 0 }, { { "x", "BTree", "0 1" } } },
		LANCET_NOT_FOUND, "no fragment reuse index" },
	{ { "an unknown record", "4", 1, NULL, "0 1 > 4", { (const uint8_t *)"\x4a\0", 2 },
		  { { "x", "BTree", "0 1" } } },
		LANCET_UNSUPPORTED, "not known" },
	{ { "a contradiction", "4", 1, NULL, "0 1 > 4; 1 > 5", { 0 }, { { "x", "BTree", "0" } } },
		LANCET_CORRUPT, "transitions[1]" },
	{ { "transitions below a legacy entry", "4", 0, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0" } } },
		LANCET_CORRUPT, "transitions[0]" },
	{ { "a damaged bitmap", "4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0" }, { "y", "BTree", "!" } } },
		LANCET_CORRUPT, "fragments of index segment" },
	{ { "a newer history", "4", 2, NULL, "0 1 > 4", { 0 }, { { "x", "BTree", "0" } } },
		LANCET_UNSUPPORTED, "version 2" },
};

START_TEST(nothing_may_go_from_what_is_not_understood)
{
	struct lancet_reuse_need *needs = NULL;
	struct lancet_error err = { 0 };
	struct scene scene;
	size_t count = 7;
	int rc;

	scene_make(&scene, &failures[_i].text);
	rc = lancet_reuse_needs(&scene.version, &needs, &count, &err);
	ck_assert_msg(rc == failures[_i].want, "%s: %d, %s", failures[_i].text.label, rc, err.text);
	ck_assert_ptr_nonnull(strstr(err.text, failures[_i].name));
	ck_assert(needs == NULL && count == 7);
	scene_release(&scene);
}
END_TEST

UNIT_MAIN("reuse_needs", UNIT_LOOP(each_clause_keeps_what_it_should, scenes),
	UNIT_LOOP(nothing_may_go_from_what_is_not_understood, failures))
