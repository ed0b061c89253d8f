/* Coverage of an index: what its bitmaps say, and what the reuse history makes of it.
 *
 * Expected lists follow from the format facts. The fragment lists of pylance 14.0.2
 * (describe_indices) were the same for the scenes marked P, its ids that are no longer live left
 * out: it keeps these without a history and below a legacy one.
 */
#include "scene.h"

#include <inttypes.h>

#include "core/index_reach.h"

#define PARTS 3

struct expected {
	const char *covered, *unindexed, *retired;
};

static const struct {
	struct scene_text text;
	struct expected all, parts[PARTS]; /* of index "x" and of its segments */
} scenes[] = {
	/* No history: the bitmaps, and what is live. P */
	{ { "direct", "2 3 4", 0, NULL, NULL, { 0 }, { { "x", "BTree", "0 1 2 3" } } },
		{ "2 3", "4", "" }, { { "2 3", "4", "" } } },
	{ { "two segments", "0 1 2", 0, NULL, NULL, { 0 },
		  { { "x", "BTree", "0 1" }, { "x", "BTree", "1 7" }, { "y", "BTree", "2" } } },
		{ "0 1", "2", "" }, { { "0 1", "2", "" }, { "1", "0 2", "" } } },
	{ { "a kind without translation", "0 2", 0, NULL, NULL, { 0 }, { { "x", "FM", "0 1" } } },
		{ "0", "2", "" }, { { "0", "2", "" } } },

	/* A legacy history. P */
	{ { "all old fragments", "2 3 4", 0, "5 = 0 1 > 4", NULL, { 0 },
		  { { "x", "BTree", "0 1 2 3" } } },
		{ "2 3 4", "", "0 1" }, { { "2 3 4", "", "0 1" } } },
	{ { "some old fragments", "3 4", 0, "5 = 0 1 > 4", NULL, { 0 },
		  { { "x", "BTree", "0 3" } } },
		{ "3", "4", "" }, { { "3", "4", "" } } },
	{ { "old fragments of two segments", "4", 0, "5 = 0 1 > 4", NULL, { 0 },
		  { { "x", "BTree", "0" }, { "x", "BTree", "1" } } },
		{ "", "4", "" }, { { "", "4", "" }, { "", "4", "" } } },
	{ { "old fragments that two segments name", "4", 0, "5 = 0 1 > 4", NULL, { 0 },
		  { { "x", "BTree", "0" }, { "x", "BTree", "0 1" } } },
		{ "4", "", "0 1" }, { { "", "4", "" }, { "4", "", "0 1" } } },
	{ { "any kind", "4", 0, "5 = 0 1 > 4", NULL, { 0 }, { { "x", "FM", "0 1" } } },
		{ "4", "", "0 1" }, { { "4", "", "0 1" } } },
	{ { "an old fragment that is live", "0 1 4", 0, "5 = 0 1 > 4", NULL, { 0 },
		  { { "x", "BTree", "0 1" } } },
		{ "4", "0 1", "" }, { { "4", "0 1", "" } } },
	{ { "a chain", "6 7", 0, "5 = 0 1 > 4; 2 > 5 | 8 = 4 5 > 6", NULL, { 0 },
		  { { "x", "BTree", "0 1 2" } } },
		{ "6", "7", "0 1 2" }, { { "6", "7", "0 1 2" } } },
	{ { "a chain entered in the middle", "6", 0, "5 = 0 1 > 4 | 8 = 4 > 6", NULL, { 0 },
		  { { "x", "BTree", "4" } } },
		{ "6", "", "4" }, { { "6", "", "4" } } },
	{ { "versions that are not stored in their order", "3", 0, "4 = 2 > 3 | 3 = 0 1 > 2", NULL,
		  { 0 }, { { "x", "BTree", "0 1" } } },
		{ "", "3", "" }, { { "", "3", "" } } },
	{ { "groups that are not stored in their order", "3", 0, "4 = 2 > 3; 0 1 > 2", NULL, { 0 },
		  { { "x", "BTree", "0 1" } } },
		{ "", "3", "" }, { { "", "3", "" } } },
	{ { "transitions below a legacy entry", "2 3 4 5", 0, "4 = 0 1 > 4", "7 > 8", { 0 },
		  { { "x", "BTree", "0 1 2 3" } } },
		{ "2 3 4", "5", "0 1" }, { { "2 3 4", "5", "0 1" } } },

	/* A tagged history. P */
	{ { "all sources", "2 3 4", 1, NULL, "0 1 > 4", { 0 }, { { "x", "BTree", "0 1 2 3" } } },
		{ "2 3 4", "", "0 1" }, { { "2 3 4", "", "0 1" } } },
	{ { "some sources", "3 4", 1, NULL, "0 1 > 4", { 0 }, { { "x", "BTree", "0 3" } } },
		{ "3", "4", "" }, { { "3", "4", "" } } },
	{ { "sources of two segments", "4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0" }, { "x", "Bitmap", "1" } } },
		{ "4", "", "0 1" }, { { "4", "", "0" }, { "4", "", "1" } } },
	{ { "a destination of a third segment", "4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0" }, { "x", "BTree", "1" }, { "x", "BTree", "4" } } },
		{ "4", "", "" }, { { "", "4", "" }, { "", "4", "" }, { "4", "", "" } } },
	{ { "a fragment in the middle of a third segment", "5", 1, NULL, "0 1 > 4; 4 > 5", { 0 },
		  { { "x", "BTree", "0 1" }, { "x", "BTree", "4" } } },
		{ "5", "", "4" }, { { "", "5", "" }, { "5", "", "4" } } },
	{ { "a source that is live", "0 1 4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0 1" } } },
		{ "0 1 4", "", "" }, { { "0 1 4", "", "" } } },
	{ { "another index covers the rest", "4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0" }, { "y", "BTree", "1" } } },
		{ "", "4", "" }, { { "", "4", "" } } },
	{ { "legacy groups in it", "6", 1, "3 = 0 1 > 4", "4 2 > 6", { 0 },
		  { { "x", "BTree", "0 1 2" } } },
		{ "6", "", "0 1 2" }, { { "6", "", "0 1 2" } } },
	{ { "a way that ends", "6 7", 1, NULL, "0 1 > 4:30 5:30; 4:30 > 6:30; 5:30 2 > 7", { 0 },
		  { { "x", "BTree", "0 1" } } },
		{ "6", "7", "0 1" }, { { "6", "7", "0 1" } } },
	{ { "records that are not stored in their order", "6", 1, NULL, "4 > 6; 0 1 > 4", { 0 },
		  { { "x", "BTree", "0 1" } } },
		{ "6", "", "0 1" }, { { "6", "", "0 1" } } },
	{ { "nothing left of the sources", "3", 1, NULL, "0 1 >", { 0 },
		  { { "x", "BTree", "0 1 3" } } },
		{ "3", "", "" }, { { "3", "", "" } } },

	/* Kinds that can't be translated, and layouts. P */
	{ { "a kind that is mentioned", "2 3 4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "FM", "0 1 2 3" } } },
		{ "", "2 3 4", "" }, { { "", "2 3 4", "" } } },
	{ { "a kind whose fragment was removed", "0 1 9", 1, NULL, "7 8 > 9", { 0 },
		  { { "x", "MinHashLsh", "0 1 2" } } },
		{ "", "0 1 9", "" }, { { "", "0 1 9", "" } } },
	{ { "a kind made after the rewrite", "0 9", 1, NULL, "7 8 > 9", { 0 },
		  { { "x", "Json", "0 9" } } },
		{ "", "0 9", "" }, { { "", "0 9", "" } } },
	{ { "a kind that the history is not about", "0 1 2 9", 1, NULL, "7 8 > 9", { 0 },
		  { { "x", "FM", "0 1 2" } } },
		{ "0 1 2", "9", "" }, { { "0 1 2", "9", "" } } },
	{ { "an unheard-of kind", "0 4", 1, NULL, "1 2 > 4", { 0 }, { { "x", "New", "0 1 2" } } },
		{ "", "0 4", "" }, { { "", "0 4", "" } } },
	{ { "no kind", "4", 1, NULL, "1 2 > 4", { 0 }, { { "x", NULL, "1 2" } } }, { "", "4", "" },
		{ { "", "4", "" } } },
	{ { "a kind in other letters", "4", 1, NULL, "1 2 > 4", { 0 },
		  { { "x", "bTREE", "1 2" } } },
		{ "4", "", "1 2" }, { { "4", "", "1 2" } } },
	{ { "a lost segment covers no source", "2 4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0" }, { "x", "FM", "1" } } },
		{ "", "2 4", "" }, { { "", "2 4", "" }, { "", "2 4", "" } } },
	{ { "a lost segment covers no destination", "2 4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0 1" }, { "x", "FM", "4" } } },
		{ "4", "2", "0 1" }, { { "4", "2", "0 1" }, { "", "2 4", "" } } },
	{ { "inverted, files not listed", "4", 1, NULL, "1 2 > 4", { 0 },
		  { { "x", "Inverted", "1 2" } } },
		{ "4", "", "1 2" }, { { "4", "", "1 2" } } },
	{ { "inverted with metadata.lance", "4", 1, NULL, "1 2 > 4", { 0 },
		  { { "x", "Inverted", "1 2", 0, "metadata.lance" } } },
		{ "4", "", "1 2" }, { { "4", "", "1 2" } } },
	{ { "inverted of the older layout", "4", 1, NULL, "1 2 > 4", { 0 },
		  { { "x", "Inverted", "1 2", 0, "invert.lance" } } },
		{ "", "4", "" }, { { "", "4", "" } } },
	{ { "vector of the older layout", "4", 1, NULL, "1 2 > 4", { 0 },
		  { { "x", "Vector", "1 2", 0, "index.idx" } } },
		{ "", "4", "" }, { { "", "4", "" } } },

	/* What is not understood covers nothing, whatever its bitmaps say. */
	{ { "an unknown record", "0 2 4", 1, NULL, "1 3 > 4", { (const uint8_t *)"\x4a\0", 2 },
		  { { "x", "BTree", "0 1 3" } } },
		{ "", "0 2 4", "" }, { { "", "0 2 4", "" } } },
	/* Transition { sources: 7 of 10 rows, destinations: 8 of 10 rows, #9: "" } */
	{ { "an unknown mapping", "0 2", 1, NULL, "1 3 > 4",
		  { (const uint8_t *)"\x12\x0e\x0a\x04\x08\x07\x10\x0a\x12\x04\x08\x08\x10\x0a\x4a"
				     "\0",
			  16 },
		  { { "x", "BTree", "0" } } },
		{ "", "0 2", "" }, { { "", "0 2", "" } } },
};

static const char *
numbers_text(const uint32_t *numbers, size_t count, char into[256])
{
	size_t at = 0;

	into[0] = '\0';
	for (size_t i = 0; i < count; i++)
		at += (size_t)snprintf(
			into + at, 256 - at, "%s%" PRIu32, i == 0 ? "" : " ", numbers[i]);
	return into;
}

static void
check(struct scene *scene, const char *label, const struct lancet_index_segment *segment,
	enum lancet_coverage which, const char *want)
{
	struct lancet_error err = { 0 };
	uint32_t *ids = NULL;
	size_t count = 0;
	char got[256];
	int rc = lancet_index_coverage(
		&scene->version, scene_index(scene, "x"), segment, which, &ids, &count, &err);

	ck_assert_msg(rc == LANCET_OK, "%s: %s", label, err.text);
	numbers_text(ids, count, got);
	ck_assert_msg(strcmp(got, want) == 0, "%s, %d: \"%s\", expected \"%s\"", label, (int)which,
		got, want);
	free(ids);
}

static void
check_all(struct scene *scene, const char *label, const struct lancet_index_segment *segment,
	const struct expected *want)
{
	check(scene, label, segment, LANCET_COVERED, want->covered);
	check(scene, label, segment, LANCET_UNINDEXED, want->unindexed);
	check(scene, label, segment, LANCET_RETIRED, want->retired);
}

START_TEST(coverage_follows_the_history)
{
	const char *label = scenes[_i].text.label;
	struct scene scene;
	const struct lancet_index *index;

	scene_make(&scene, &scenes[_i].text);
	index = scene_index(&scene, "x");
	check_all(&scene, label, NULL, &scenes[_i].all);
	for (size_t i = 0; i < index->segment_count; i++)
		check_all(&scene, label, index->segments[i], &scenes[_i].parts[i]);
	scene_release(&scene);
}
END_TEST

static const struct {
	struct scene_text text;
	int all, part;     /* of index "x", and of its first segment */
	const char *names; /* what the message names, by "|" */
} failures[] = {
	{ { "no bitmap", "0", 0, NULL, NULL, { 0 }, { { "x", "BTree", NULL } } }, LANCET_NOT_FOUND,
		LANCET_NOT_FOUND, "coverage unknown" },
	{ { "another segment without one", "0", 0, NULL, NULL, { 0 },
		  { { "x", "BTree", "0" }, { "x", "BTree", NULL } } },
		LANCET_NOT_FOUND, LANCET_OK, "coverage unknown" },
	{ { "another one in a tagged history", "4", 1, NULL, "0 1 > 4", { 0 },
		  { { "x", "BTree", "0" }, { "x", "BTree", NULL } } },
		LANCET_NOT_FOUND, LANCET_OK, "coverage unknown" },
	{ { "a damaged bitmap", "0", 0, NULL, NULL, { 0 }, { { "x", "BTree", "!" } } },
		LANCET_CORRUPT, LANCET_CORRUPT, "fragments of index segment" },
	{ { "another damaged one", "0", 0, NULL, NULL, { 0 },
		  { { "x", "BTree", "0" }, { "x", "BTree", "!" } } },
		LANCET_CORRUPT, LANCET_OK, "fragments of index segment" },
	{ { "another damaged one in a legacy history", "4", 0, "5 = 0 > 4", NULL, { 0 },
		  { { "x", "BTree", "0" }, { "x", "BTree", "!" } } },
		LANCET_CORRUPT, LANCET_OK, "fragments of index segment" },
	{ { "another damaged one in a tagged history", "4", 1, NULL, "0 > 4", { 0 },
		  { { "x", "BTree", "0" }, { "x", "BTree", "!" } } },
		LANCET_CORRUPT, LANCET_CORRUPT, "fragments of index segment" },
	{ { "a damaged one that nothing is built on", "4", 1, NULL, "0 > 4",
		  { (const uint8_t *)"\x4a\0", 2 }, { { "x", "BTree", "!" } } },
		LANCET_CORRUPT, LANCET_CORRUPT, "fragments of index segment" },
	{ { "a history that contradicts itself", "3", 1, NULL, "0 1 > 4; 0 > 5", { 0 },
		  { { "x", "BTree", "3" } } },
		LANCET_CORRUPT, LANCET_CORRUPT, "transitions[0]|transitions[1]" },
	{ { "a legacy one", "3", 0, "5 = 0 1 > 4; 0 > 5", NULL, { 0 }, { { "x", "BTree", "3" } } },
		LANCET_CORRUPT, LANCET_CORRUPT,
		"legacy_versions[0].groups[0]|legacy_versions[0].groups[1]" },
	{ { "a newer history", "3", 2, NULL, "0 1 > 4", { 0 }, { { "x", "BTree", "3" } } },
		LANCET_UNSUPPORTED, LANCET_UNSUPPORTED, "version 2" },
};

static bool
names_all(const char *text, const char *names)
{
	while (*names != '\0') {
		char name[64];
		size_t size = strcspn(names, "|");

		snprintf(name, sizeof(name), "%.*s", (int)size, names);
		if (strstr(text, name) == NULL)
			return false;
		names += size + (names[size] == '|' ? 1 : 0);
	}
	return true;
}

static void
check_failure(struct scene *scene, const struct lancet_index_segment *segment, int want, int i)
{
	const char *label = failures[i].text.label;

	for (int which = LANCET_COVERED; which <= LANCET_RETIRED; which++) {
		struct lancet_error err = { 0 };
		uint32_t *ids = NULL;
		size_t count = 0;
		int rc = lancet_index_coverage(&scene->version, scene_index(scene, "x"), segment,
			which, &ids, &count, &err);

		ck_assert_msg(rc == want, "%s: %d, %s", label, rc, err.text);
		if (rc != LANCET_OK)
			ck_assert_msg(
				names_all(err.text, failures[i].names), "%s: %s", label, err.text);
		free(ids);
	}
}

START_TEST(what_spoils_the_coverage_is_named)
{
	struct scene scene;

	scene_make(&scene, &failures[_i].text);
	check_failure(&scene, NULL, failures[_i].all, _i);
	check_failure(&scene, scene_index(&scene, "x")->segments[0], failures[_i].part, _i);
	scene_release(&scene);
}
END_TEST

START_TEST(a_system_index_has_its_bitmap_alone)
{
	static const struct scene_text text = { "system", "3 4", 1, NULL, "0 1 > 4; 0 > 5", { 0 },
		{ { "__lance_x", "BTree", "0 1 3" } } };
	struct scene scene;
	uint32_t *ids = NULL;
	size_t count = 0;

	scene_make(&scene, &text);
	ck_assert_int_eq(lancet_index_coverage(&scene.version, scene_index(&scene, "__lance_x"),
				 NULL, LANCET_UNINDEXED, &ids, &count, NULL),
		LANCET_OK);
	ck_assert(count == 1 && ids[0] == 4);
	free(ids);
	scene_release(&scene);
}
END_TEST

static struct index_extent
extent_of(struct scene *scene, const char *name)
{
	const struct lancet_index *index = scene_index(scene, name);
	struct index_extent extent = { 0 };
	struct index_reach *reach = NULL;

	(void)index_reach_open(&scene->version, index, &reach, NULL);
	ck_assert_int_eq(index_extent_of(&scene->version, reach, index->segments[0], &extent, NULL),
		LANCET_OK);
	index_reach_free(reach);
	return extent;
}

/* Fragment n has 60 rows, of which n % 10 are deleted. */
START_TEST(rows_are_counted_where_they_are_now)
{
	static const struct scene_text text = { "rows", "2 3:0 4 14 14", 1, NULL,
		"0 1 > 4; 12 13 > 14", { 0 },
		{ { "a", "BTree", "0 1 2" }, { "b", "BTree", "2 3" }, { "c", "BTree", "!" },
			{ "d", "BTree", "12 13" }, { "e", "BTree", "0" } } };
	struct scene scene;
	struct index_extent extent;

	scene_make(&scene, &text);
	extent = extent_of(&scene, "a");
	ck_assert(extent.known && extent.rows == 58 + 56 && extent.retired == 2);
	ck_assert(!extent_of(&scene, "b").known); /* the rows of 3 are not recorded */
	ck_assert(!extent_of(&scene, "c").known);
	extent = extent_of(&scene, "d"); /* a manifest that lists a fragment twice */
	ck_assert(extent.known && extent.rows == 2 * 56 && extent.retired == 2);
	extent = extent_of(&scene, "e");
	ck_assert(extent.known && extent.rows == 0 && extent.retired == 0);
	scene_release(&scene);
}
END_TEST

UNIT_MAIN("index_coverage", UNIT_LOOP(coverage_follows_the_history, scenes),
	UNIT_LOOP(what_spoils_the_coverage_is_named, failures),
	UNIT_TEST(a_system_index_has_its_bitmap_alone),
	UNIT_TEST(rows_are_counted_where_they_are_now))
