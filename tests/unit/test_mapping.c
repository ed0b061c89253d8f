/* Row mappings of both kinds through the public handle, and translation through a row map. */
#include "historyfile.h"
#include "historymodel.h"
#include "rowmapmade.h"
#include "unit.h"

#include "core/mapping.h"

#include <pthread.h>

#define MAP_ID   "01234567-89ab-cdef-0123-456789abcdef"
#define MAP_PATH "ds/_fri/" MAP_ID "/stable_partition.lance"
#define ROWS     20000u

/* Transition 0: 2 and 1 became 7. Transition 1: 7 was parted into 100, 103, 106. Transition 2: of
 * 103 every third row is left in 200. */
struct scene {
	struct tree tree;
	struct history history;
	struct map_made *made;
	lancet_dataset *dataset;
	lancet_version *version;
	struct store_counts counts;
};

static void
compact(struct scene *scene, const struct digest *sources, size_t count, uint32_t destination,
	unsigned every)
{
	struct rewrite *rewrite = &scene->history.rewrites[scene->history.rewrite_count++];

	rewrite->source_count = count;
	rewrite->destination_count = 1;
	rewrite->destinations[0].id = destination;
	for (size_t i = 0; i < count; i++) {
		rewrite->sources[i] = sources[i];
		rewrite->rows += sources[i].rows;
	}
	rewrite->labels = calloc(rewrite->rows + 1, sizeof(uint16_t));
	for (uint64_t i = 0; i < rewrite->rows; i++)
		rewrite->labels[i] = i % every == 1 || every == 1 ? 0 : NO_LABEL;
	rewrite_follow(rewrite);
}

static void
part(struct scene *scene, uint32_t source)
{
	const struct map_spec spec = { .rows = ROWS, .block_rows = 700, .destinations = 3 };
	struct rewrite *rewrite = &scene->history.rewrites[scene->history.rewrite_count++];

	scene->made = map_make(&spec);
	rewrite->map_id = MAP_ID;
	rewrite->map_bytes = scene->made->bytes.size;
	rewrite->source_count = 1;
	rewrite->sources[0] = (struct digest){ source, ROWS, 0 };
	rewrite->rows = ROWS;
	rewrite->destination_count = 3;
	for (uint32_t i = 0; i < 3; i++)
		rewrite->destinations[i].id = (uint32_t)scene->made->destinations[i].id;
	rewrite->labels = malloc(ROWS * sizeof(uint16_t));
	memcpy(rewrite->labels, scene->made->labels, ROWS * sizeof(uint16_t));
	rewrite_follow(rewrite);
	ck_assert_int_eq(memcmp(rewrite->went, scene->made->row_addrs, ROWS * 8), 0);
	tree_put(&scene->tree, MAP_PATH, scene->made->bytes.data, scene->made->bytes.size);
}

static struct scene *
scene_new(void)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct history *history = &scene->history;
	const struct digest first[] = { { 2, 9000, 0 }, { 1, ROWS - 9000, 0 } };
	struct buf content = { 0 };

	scene->tree = tree_new();
	compact(scene, first, 2, 7, 1);
	part(scene, 7);
	compact(scene, &(struct digest){ 103, history->rewrites[1].destinations[1].rows, 0 }, 1,
		200, 3);
	history->live[history->live_count++] = history->rewrites[1].destinations[0];
	history->live[history->live_count++] = history->rewrites[1].destinations[2];
	history->live[history->live_count++] = history->rewrites[2].destinations[0];
	for (size_t i = 0; i < history->rewrite_count; i++)
		put_rewrite(&content, &history->rewrites[i]);
	history_write_inline(&scene->tree, &content, 1, history->live, history->live_count);
	scene->dataset = open_traced(&scene->tree, &scene->counts);
	scene->version = history_version(scene->dataset);
	return scene;
}

static void
scene_free(struct scene *scene)
{
	lancet_version_unref(scene->version);
	close_dataset(scene->dataset, &scene->tree);
	for (size_t i = 0; i < scene->history.rewrite_count; i++) {
		free(scene->history.rewrites[i].labels);
		free(scene->history.rewrites[i].went);
	}
	map_free(scene->made);
	free(scene);
}

static lancet_row_mapping *
open_mapping(const struct scene *scene, size_t transition)
{
	lancet_row_mapping *mapping = NULL;
	struct lancet_error err = { 0 };

	ck_assert_msg(
		lancet_row_mapping_open(scene->version, transition, &mapping, &err) == LANCET_OK,
		"%s", err.text);
	return mapping;
}

START_TEST(rows_are_read_in_any_pieces)
{
	static const uint32_t pieces[][2] = { { 0, ROWS }, { 0, 1 }, { ROWS - 1, 1 }, { ROWS, 0 },
		{ 4095, 4098 }, { 8999, 2 }, { 12345, 4096 } };
	struct scene *scene = scene_new();
	uint64_t *row_addrs = malloc(ROWS * sizeof(*row_addrs));
	const uint64_t *went = scene->history.rewrites[_i].went;
	lancet_row_mapping *mapping = open_mapping(scene, (size_t)_i);
	uint64_t rows = scene->history.rewrites[_i].rows;
	lancet_reuse *reuse = NULL;

	ck_assert_uint_eq(mapping_labels_decoded(mapping), 0);
	ck_assert_int_eq(lancet_version_reuse(scene->version, &reuse, NULL), LANCET_OK);
	ck_assert_uint_eq(lancet_reuse_transition(reuse, (size_t)_i)->source_rows, rows);
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		uint64_t first = pieces[i][0], count = pieces[i][1];
		struct lancet_error err = { 0 };
		int rc = lancet_row_mapping_read(mapping, first, count, row_addrs, &err);

		ck_assert_int_eq(rc, first + count <= rows ? LANCET_OK : LANCET_INVALID);
		if (rc == LANCET_OK)
			ck_assert_int_eq(memcmp(row_addrs, went + first, count * 8), 0);
	}
	ck_assert_int_eq(
		lancet_row_mapping_read(mapping, UINT64_MAX, 2, row_addrs, NULL), LANCET_INVALID);
	ck_assert_int_eq(
		lancet_row_mapping_read(mapping, 1, SIZE_MAX, row_addrs, NULL), LANCET_INVALID);
	lancet_row_mapping_free(mapping);
	free(row_addrs);
	scene_free(scene);
}
END_TEST

static const int three_transitions[3];

START_TEST(survivors_are_addresses_of_the_sources)
{
	struct scene *scene = scene_new();
	lancet_row_mapping *mapping = open_mapping(scene, 2);
	uint64_t live = scene->history.rewrites[2].destinations[0].rows, row_addrs[8];
	uint32_t block_rows;
	uint64_t block_count;
	uint16_t label;

	ck_assert_int_eq(lancet_row_mapping_survivors(mapping, 100, 8, row_addrs, NULL), LANCET_OK);
	for (uint64_t i = 0; i < 8; i++)
		ck_assert_uint_eq(row_addrs[i], ADDR(103, 3 * (100 + i) + 1));
	ck_assert_int_eq(
		lancet_row_mapping_survivors(mapping, live - 8, 8, row_addrs, NULL), LANCET_OK);
	ck_assert_int_eq(lancet_row_mapping_survivors(mapping, live - 7, 8, row_addrs, NULL),
		LANCET_INVALID);
	ck_assert_int_eq(lancet_row_mapping_labels(mapping, 0, 1, &label, NULL), LANCET_INVALID);
	ck_assert_int_eq(lancet_row_mapping_blocks(mapping, &block_rows, &block_count, NULL),
		LANCET_INVALID);
	lancet_row_mapping_free(mapping);
	mapping = open_mapping(scene, 0);
	ck_assert_int_eq(
		lancet_row_mapping_survivors(mapping, 8999, 2, row_addrs, NULL), LANCET_OK);
	ck_assert_uint_eq(row_addrs[0], ADDR(2, 8999));
	ck_assert_uint_eq(row_addrs[1], ADDR(1, 0));
	lancet_row_mapping_free(mapping);
	scene_free(scene);
}
END_TEST

START_TEST(survivors_are_made_once)
{
	struct scene *scene = scene_new();
	lancet_row_mapping *mapping = open_mapping(scene, 0), *again;
	lancet_reuse *reuse = NULL;
	struct reuse_survivors *kept;

	ck_assert_int_eq(lancet_version_reuse(scene->version, &reuse, NULL), LANCET_OK);
	kept = atomic_load(&reuse->transitions[0].survivors);
	ck_assert_ptr_nonnull(kept);
	again = open_mapping(scene, 0);
	ck_assert_ptr_eq(atomic_load(&reuse->transitions[0].survivors), kept);
	ck_assert_ptr_null(atomic_load(&reuse->transitions[2].survivors));
	lancet_row_mapping_free(mapping);
	lancet_row_mapping_free(again);
	lancet_row_mapping_free(NULL);
	scene_free(scene);
}
END_TEST

START_TEST(labels_and_counts_are_as_stored)
{
	struct scene *scene = scene_new();
	lancet_row_mapping *mapping = open_mapping(scene, 1);
	uint64_t blocks = 0, row_addr;
	uint16_t *labels = malloc(ROWS * sizeof(*labels));
	uint32_t block_rows = 0, *counts;

	ck_assert_int_eq(lancet_row_mapping_blocks(mapping, &block_rows, &blocks, NULL), LANCET_OK);
	ck_assert_uint_eq(block_rows, 700);
	ck_assert_uint_eq(blocks, 29); /* 28 full ones hold 19,600 rows */
	counts = malloc(blocks * 3 * sizeof(*counts));
	ck_assert_int_eq(
		lancet_row_mapping_counts(mapping, 0, (size_t)blocks, counts, NULL), LANCET_OK);
	ck_assert_int_eq(memcmp(counts, scene->made->counts.data + 28, blocks * 12), 0);
	ck_assert_int_eq(lancet_row_mapping_counts(mapping, 27, 1, counts, NULL), LANCET_OK);
	ck_assert_int_eq(memcmp(counts, scene->made->counts.data + 28 + 27 * 12, 12), 0);
	ck_assert_int_eq(lancet_row_mapping_counts(mapping, 28, 2, counts, NULL), LANCET_INVALID);
	ck_assert_int_eq(lancet_row_mapping_labels(mapping, 3, ROWS - 3, labels, NULL), LANCET_OK);
	ck_assert_int_eq(memcmp(labels, scene->made->labels + 3, (ROWS - 3) * 2), 0);
	ck_assert_int_eq(
		lancet_row_mapping_labels(mapping, 4, ROWS - 3, labels, NULL), LANCET_INVALID);
	ck_assert_int_eq(
		lancet_row_mapping_survivors(mapping, 0, 1, &row_addr, NULL), LANCET_INVALID);
	lancet_row_mapping_free(mapping);
	free(counts);
	free(labels);
	scene_free(scene);
}
END_TEST

START_TEST(what_cannot_be_opened_is_named)
{
	struct scene *scene = scene_new();
	lancet_row_mapping *mapping = NULL;
	struct lancet_error err = { 0 };

	ck_assert_int_eq(
		lancet_row_mapping_open(scene->version, 3, &mapping, &err), LANCET_INVALID);
	ck_assert_str_eq(err.text, "transition 3 of 3");
	tree_put(&scene->tree, MAP_PATH, scene->made->bytes.data, scene->made->bytes.size - 1);
	ck_assert_int_eq(
		lancet_row_mapping_open(scene->version, 1, &mapping, &err), LANCET_CORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, "transitions[1]: _fri/" MAP_ID "/"));
	tree_unlink(&scene->tree, MAP_PATH);
	ck_assert_int_eq(lancet_row_mapping_open(scene->version, 1, &mapping, &err), LANCET_IO);
	ck_assert_ptr_nonnull(strstr(err.text, "transitions[1]: _fri/" MAP_ID "/"));
	ck_assert_ptr_null(mapping);
	scene_free(scene);
}
END_TEST

/* A mapping with a fault of its own is not looked at any further. */
START_TEST(faults_come_first)
{
	struct tree tree = tree_new();
	struct buf content = { 0 };
	const struct digest live[] = { { 9, 1, 0 } };
	struct rewrite lost = { .map_id = MAP_ID,
		.map_bytes = 0,
		.source_count = 1,
		.destination_count = 1,
		.sources = { { 1, 1, 0 } },
		.destinations = { { 2, 0, 0 } },
		.rows = 1,
		.labels = calloc(1, sizeof(uint16_t)) };
	lancet_dataset *dataset;
	lancet_version *version;
	lancet_row_mapping *mapping = NULL;
	struct lancet_error err = { 0 };

	rewrite_follow(&lost);
	put_rewrite(&content, &lost);
	history_write_inline(&tree, &content, 1, live, 1);
	dataset = open_dataset(&tree);
	version = history_version(dataset);
	ck_assert_int_eq(lancet_row_mapping_open(version, 0, &mapping, &err), LANCET_CORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, "transitions[0]"));
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
	free(lost.labels);
	free(lost.went);
}
END_TEST

START_TEST(addresses_of_all_ages_share_one_row_map)
{
	static const uint32_t fragments[] = { 1, 2, 7, 100, 103, 106, 200, 1, 2, 300 };
	struct scene *scene = scene_new();
	uint64_t state = 77, *row_addrs = malloc(30000 * sizeof(*row_addrs));
	struct store_counts before;

	for (size_t i = 0; i < 30000; i++)
		row_addrs[i] = ADDR(fragments[next_random(&state) % ARRAY_SIZE(fragments)],
			next_random(&state) % (ROWS + 100));
	before = scene->counts;
	check_batch(scene->version, &scene->history, row_addrs, 30000);
	ck_assert_uint_eq(scene->counts.opens, before.opens + 1);
	/* its bytes are read once, but for the ends of the file */
	ck_assert_uint_lt(
		scene->counts.read_bytes - before.read_bytes, scene->made->bytes.size * 3 / 2);
	free(row_addrs);
	scene_free(scene);
}
END_TEST

/* The row map stays open for the next call, and is closed with the version. */
START_TEST(single_addresses_open_a_row_map_once)
{
	int fds = tree_open_fds();
	struct scene *scene = scene_new();
	uint64_t before = scene->counts.opens, row_addr, state = 5;
	lancet_row_mapping *mapping;

	for (size_t i = 0; i < 500; i++) {
		row_addr = ADDR(7, next_random(&state) % ROWS);
		check_batch(scene->version, &scene->history, &row_addr, 1);
	}
	ck_assert_uint_eq(scene->counts.opens, before + 1);
	mapping = open_mapping(scene, 1);
	lancet_row_mapping_free(mapping);
	ck_assert_uint_eq(scene->counts.opens, before + 2);
	scene_free(scene);
	ck_assert_int_eq(tree_open_fds(), fds);
}
END_TEST

struct thread {
	pthread_t thread;
	struct scene *scene;
	uint64_t state;
};

static void *
translate_often(void *context)
{
	struct thread *thread = context;
	uint64_t row_addrs[3];

	for (size_t i = 0; i < 200; i++) {
		for (size_t k = 0; k < 3; k++)
			row_addrs[k] = ADDR(k == 0 ? 1 : 7, next_random(&thread->state) % 11000);
		check_batch(thread->scene->version, &thread->scene->history, row_addrs, 3);
	}
	return NULL;
}

START_TEST(threads_share_a_history)
{
	struct scene *scene = scene_new();
	struct thread threads[4];

	for (unsigned i = 0; i < ARRAY_SIZE(threads); i++) {
		threads[i].scene = scene;
		threads[i].state = i + 1;
		ck_assert_int_eq(
			pthread_create(&threads[i].thread, NULL, translate_often, &threads[i]), 0);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(threads); i++)
		ck_assert_int_eq(pthread_join(threads[i].thread, NULL), 0);
	scene_free(scene);
}
END_TEST

UNIT_MAIN("mapping", UNIT_TEST(single_addresses_open_a_row_map_once),
	UNIT_TEST(threads_share_a_history),
	UNIT_LOOP(rows_are_read_in_any_pieces, three_transitions),
	UNIT_TEST(survivors_are_addresses_of_the_sources), UNIT_TEST(survivors_are_made_once),
	UNIT_TEST(labels_and_counts_are_as_stored), UNIT_TEST(what_cannot_be_opened_is_named),
	UNIT_TEST(faults_come_first), UNIT_TEST(addresses_of_all_ages_share_one_row_map))
