/* What following an index costs: bitmaps that name far more than there is, long chains, and many
 * segments.
 */
#include "scene.h"

#include "core/index_reach.h"

#define MANY     3000u
#define CHAIN    50000u
#define LIVE     20000u
#define SEGMENTS 3000u

/* Fragments 0, step, 2 step, … of 10 rows each; `section` is released. */
static void
make_version(lancet_version *version, uint32_t step, size_t count, struct buf *section)
{
	struct fragment_span *spans = calloc(count + 1, sizeof(*spans));
	struct index_set *set = NULL;

	ck_assert_ptr_nonnull(spans);
	for (size_t i = 0; i < count; i++)
		spans[i] = (struct fragment_span){ .id = i * step, .physical_rows = 10 };
	*version = (lancet_version){ .spans = spans, .info.fragment_count = count };
	ck_assert_int_eq(index_section_parse(buf_slice(section), &set, NULL), LANCET_OK);
	atomic_store(&version->indices, set);
	buf_release(section);
}

static void
release_version(lancet_version *version)
{
	version_indices_free(atomic_load(&version->indices));
	version_reuse_free(atomic_load(&version->reuse));
	free(version->spans);
}

/* The last index in byte order. */
static const struct lancet_index *
only_index(lancet_version *version)
{
	const struct lancet_index *indices = NULL;
	size_t count = 0;

	ck_assert_int_eq(lancet_version_indices(version, &indices, &count, NULL), LANCET_OK);
	ck_assert_uint_gt(count, 0);
	return &indices[count - 1];
}

/* A segment of index "x" that names every step-th id. */
static void
put_strided(struct buf *section, uint32_t first, uint32_t end, uint32_t step)
{
	roaring_bitmap_t *set = roaring_bitmap_from_range(first, end, step);
	struct buf entry = { 0 };
	size_t size;

	(void)roaring_bitmap_run_optimize(set);
	size = roaring_bitmap_portable_size_in_bytes(set);
	put_text(&entry, 3, "", "x", "");
	put_head(&entry, 5, size);
	ck_assert(buf_reserve(&entry, size));
	entry.size += roaring_bitmap_portable_serialize(set, (char *)entry.data + entry.size);
	roaring_bitmap_free(set);
	put_message(section, 1, &entry);
}

static size_t
count_of(lancet_version *version, enum lancet_coverage which, uint32_t **ret_ids)
{
	struct lancet_error err = { 0 };
	size_t count = 0;
	int rc = lancet_index_coverage(
		version, only_index(version), NULL, which, ret_ids, &count, &err);

	ck_assert_msg(rc == LANCET_OK, "%s", err.text);
	for (size_t i = 1; i < count; i++)
		ck_assert_uint_lt((*ret_ids)[i - 1], (*ret_ids)[i]);
	return count;
}

static const uint32_t strides[] = { 1, 2, 3, 7, 500 };

START_TEST(bitmaps_of_each_kind_are_walked)
{
	uint32_t stride = strides[_i], *ids = NULL;
	struct buf section = { 0 };
	lancet_version version;
	size_t want = 0, count;

	put_strided(&section, 0, 3 * MANY, stride);
	make_version(&version, 3, MANY, &section);
	for (uint32_t i = 0; i < MANY; i++)
		want += 3 * i % stride == 0 ? 1 : 0;
	count = count_of(&version, LANCET_COVERED, &ids);
	ck_assert_uint_eq(count, want);
	for (size_t i = 0; i < count; i++)
		ck_assert(ids[i] % 3 == 0 && ids[i] % stride == 0);
	free(ids);
	ck_assert_uint_eq(count_of(&version, LANCET_UNINDEXED, &ids), MANY - want);
	free(ids);
	release_version(&version);
}
END_TEST

START_TEST(an_id_that_fits_no_bitmap_is_corrupt_only_where_it_is_listed)
{
	struct buf section = { 0 };
	lancet_version version;
	uint32_t *ids = NULL;
	size_t count = 0;

	put_strided(&section, 0, 10, 1);
	make_version(&version, UINT32_MAX, 2, &section);
	ck_assert_uint_eq(count_of(&version, LANCET_COVERED, &ids), 1);
	free(ids);
	ck_assert_int_eq(lancet_index_coverage(&version, only_index(&version), NULL,
				 LANCET_UNINDEXED, &ids, &count, NULL),
		LANCET_CORRUPT);
	release_version(&version);
}
END_TEST

static void
put_chain(struct buf *section, bool tagged)
{
	struct scene_text text = { .index_version = tagged ? 1 : 0 };
	size_t size = CHAIN * 32;
	char *chain = malloc(size);
	size_t at = 0;

	ck_assert_ptr_nonnull(chain);
	for (unsigned i = 0; i < CHAIN; i++)
		at += (size_t)snprintf(chain + at, size - at, "%s%u > %u",
			i == 0 ? (tagged ? "" : "7 = ") : "; ", i, i + 1);
	*(tagged ? &text.tagged : &text.legacy) = chain;
	put_history(section, &text);
	free(chain);
}

START_TEST(a_chain_is_followed_to_its_end)
{
	struct buf section = { 0 };
	lancet_version version;
	uint32_t *ids = NULL;

	put_segment(&section, &(struct scene_text){ .segments = { { "x", "BTree", "0" } } }, 0);
	put_chain(&section, _i == 1);
	make_version(&version, CHAIN, 2, &section);
	version.spans[0].id = CHAIN;
	version.spans[1].id = CHAIN + 1;
	ck_assert_uint_eq(count_of(&version, LANCET_COVERED, &ids), 1);
	ck_assert_uint_eq(ids[0], CHAIN);
	free(ids);
	ck_assert_uint_eq(count_of(&version, LANCET_RETIRED, &ids), 1);
	ck_assert_uint_eq(ids[0], 0);
	free(ids);
	release_version(&version);
}
END_TEST

static uint64_t
work_of(lancet_version *version, const struct lancet_index_segment *segment)
{
	struct index_reach *reach = NULL;
	struct lancet_error err = { 0 };
	uint64_t before, work;

	ck_assert_msg(index_reach_open(version, only_index(version), &reach, &err) == LANCET_OK,
		"%s", err.text);
	before = segment == NULL ? 0 : reach->graph.work;
	ck_assert_int_eq(index_reach_follow(reach, segment, &err), LANCET_OK);
	work = reach->graph.work - before;
	index_reach_free(reach);
	return work;
}

/* What one segment has named is not looked at again for the others. */
START_TEST(many_segments_that_name_everything_cost_no_more_than_one)
{
	struct buf section = { 0 };
	lancet_version version;

	for (unsigned i = 0; i < SEGMENTS; i++)
		put_strided(&section, 0, 4 * LIVE, 1);
	make_version(&version, 3, LIVE, &section);
	ck_assert_uint_le(work_of(&version, NULL), 2 * LIVE + SEGMENTS);
	release_version(&version);
}
END_TEST

/* A tagged history as well; and one segment costs what it meets. */
START_TEST(a_segment_costs_what_it_meets)
{
	struct buf section = { 0 };
	lancet_version version;
	const struct lancet_index *index;

	put_segment(&section, &(struct scene_text){ .segments = { { "x", "BTree", "49990" } } }, 0);
	for (unsigned i = 0; i < SEGMENTS; i++)
		put_segment(&section,
			&(struct scene_text){ .segments = { { "x", "BTree", "60001" } } }, 0);
	put_chain(&section, true);
	make_version(&version, 1, LIVE, &section);
	index = only_index(&version);
	ck_assert_uint_le(work_of(&version, index->segments[0]), 10 * 4);
	ck_assert_uint_le(work_of(&version, NULL), 2 * LIVE + 2 * SEGMENTS + 4 * CHAIN);
	release_version(&version);
}
END_TEST

/* Each segment alone is small, and all of them would meet half a billion places. */
START_TEST(what_would_take_minutes_is_refused)
{
	struct buf section = { 0 };
	struct index_reach *reach = NULL;
	struct lancet_error err = { 0 };
	const struct lancet_index *index;
	lancet_version version;
	int rc = LANCET_OK;

	for (size_t i = 0; i < SEGMENTS; i++)
		put_strided(&section, 0, 180000, 1);
	make_version(&version, 1, 180000, &section);
	index = only_index(&version);
	ck_assert_int_eq(index_reach_open(&version, index, &reach, NULL), LANCET_OK);
	for (size_t i = 0; rc == LANCET_OK && i < index->segment_count; i++)
		rc = index_reach_follow(reach, index->segments[i], &err);
	ck_assert_int_eq(rc, LANCET_LIMIT);
	ck_assert_ptr_nonnull(strstr(err.text, "too many segments"));
	index_reach_free(reach);
	release_version(&version);
}
END_TEST

UNIT_MAIN("index_reach", UNIT_LOOP(bitmaps_of_each_kind_are_walked, strides),
	UNIT_TEST(an_id_that_fits_no_bitmap_is_corrupt_only_where_it_is_listed),
	{ a_chain_is_followed_to_its_end, 2 },
	UNIT_TEST(many_segments_that_name_everything_cost_no_more_than_one),
	UNIT_TEST(a_segment_costs_what_it_meets), UNIT_TEST(what_would_take_minutes_is_refused))
