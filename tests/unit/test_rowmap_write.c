/* Row maps that were written: read back, and proved to say what they should. */
#include "unit.h"

#include <inttypes.h>

#include "commitsample.h"
#include "core/rowmap_write.h"
#include "rowmapread.h"

#define MAP_ID "0f0e0d0c-0b0a-4908-8706-050403020100"

static const struct map_spec specs[] = {
	{ .rows = 1, .block_rows = 65536, .destinations = 1 },
	{ .rows = 100, .block_rows = 65536, .destinations = 3 },
	{ .rows = 65536, .block_rows = 65536, .destinations = 2 },
	{ .rows = 65537, .block_rows = 65536, .destinations = 7 },
	{ .rows = 200000, .block_rows = 65536, .destinations = 1000 },
	/* Counts of a block every 65536 rows would take 15 MiB. */
	{ .rows = 4000000, .block_rows = 262144, .destinations = 60000 },
};

struct scene {
	struct tree tree;
	lancet_dataset *dataset;
	lancet_version *version;
	lancet_change *change;
	struct map_made *made;
	struct rowmap_labels labels;
	struct lancet_transition transition;
	struct source *file;
};

static int
read_made(void *context, uint64_t first, size_t count, uint16_t *into, struct lancet_error *err)
{
	const struct map_made *made = context;

	(void)err;
	memcpy(into, made->labels + first, count * sizeof(*into));
	return LANCET_OK;
}

static void
scene_init(struct scene *scene, const struct map_spec *spec)
{
	*scene = (struct scene){ .tree = sample_new(), .made = map_make(spec) };
	scene->dataset = sample_open(&scene->tree);
	OK(lancet_version_open(scene->dataset, SAMPLE_NEWEST, &scene->version, &err));
	OK(change_new(scene->version, &scene->change, &err));
	scene->labels =
		(struct rowmap_labels){ read_made, scene->made, spec->rows, spec->destinations };
	scene->transition = scene->made->transition;
}

static void
scene_write(struct scene *scene, enum file_version version)
{
	char key[ROWMAP_KEY_SIZE];
	struct stat st;

	OK(rowmap_write(scene->change, MAP_ID, version, &scene->labels,
		&scene->transition.map_bytes, &err));
	OK(publish_name_all(&scene->change->files, &err));
	rowmap_key(MAP_ID, key);
	ck_assert_str_eq(key, "_fri/" MAP_ID "/stable_partition.lance");
	OK(store_open_source(scene->change->files.store, key, &scene->file, &st, &err));
	ck_assert_uint_eq((uint64_t)st.st_size, scene->transition.map_bytes);
}

static void
scene_release(struct scene *scene)
{
	source_unref(scene->file);
	lancet_change_free(scene->change);
	lancet_version_unref(scene->version);
	lancet_dataset_unref(scene->dataset);
	map_free(scene->made);
	tree_remove(&scene->tree);
}

/* The model counted row by row; of larger blocks it has the counts at their ends. */
static void
check_counts(const struct scene *scene, struct rowmap *map, const struct map_spec *spec)
{
	uint32_t *stored = calloc(spec->destinations, sizeof(*stored));
	const uint8_t *cells = scene->made->counts.data + 28;
	size_t row = spec->destinations * sizeof(*stored);

	ck_assert_uint_eq(rowmap_block_rows(map), spec->block_rows);
	for (uint64_t i = 0; i < rowmap_block_count(map); i++) {
		OK(rowmap_counts(map, i, 1, stored, &err));
		ck_assert(memcmp(stored, cells + i * row, row) == 0);
	}
	free(stored);
}

static void
write_and_read(const struct map_spec *spec, enum file_version version)
{
	struct scene scene;
	struct rowmap *map;

	scene_init(&scene, spec);
	scene_write(&scene, version);
	OK(rowmap_open(scene.file, &scene.transition, &map, &err));
	check_counts(&scene, map, spec);
	check_range(map, 0, spec->rows, spec->rows < 100000 ? 1 : 997, scene.made->row_addrs);
	rowmap_free(map);
	OK(rowmap_prove(scene.file, &scene.transition, &scene.labels, &err));
	scene_release(&scene);
}

START_TEST(rows_are_where_labels_say)
{
	const struct map_spec *spec = &specs[_i];

	write_and_read(spec, FILE_2_0);
	if (spec->rows > 1000000)
		return;
	write_and_read(spec, FILE_2_1);
	write_and_read(spec, FILE_2_2);
}
END_TEST

START_TEST(blocks_grow_where_counts_would)
{
	ck_assert_uint_eq(rowmap_choose_block(1, 1), 65536);
	ck_assert_uint_eq(rowmap_choose_block(UINT64_C(1) << 32, 10), 65536);
	ck_assert_uint_eq(rowmap_choose_block(UINT64_C(1) << 32, 100), 524288);
	ck_assert_uint_eq(rowmap_choose_block(UINT64_MAX / 2, 65535), UINT32_C(1) << 31);
	ck_assert_uint_ge(rowmap_choose_block(10000000, 65535), 524288);
}
END_TEST

/* ---- proofs ----------------------------------------------------------------------------- */

/* The labels as they should be, but for one row: what `change` makes of it. */
struct twisted {
	const struct map_made *made;
	uint64_t row;
	uint16_t label;
};

static int
read_twisted(void *context, uint64_t first, size_t count, uint16_t *into, struct lancet_error *err)
{
	const struct twisted *twisted = context;

	(void)err;
	memcpy(into, twisted->made->labels + first, count * sizeof(*into));
	if (twisted->row >= first && twisted->row - first < count)
		into[twisted->row - first] = twisted->label;
	return LANCET_OK;
}

/* A map that was written with one wrong label is found out, wherever it is. */
START_TEST(wrong_labels_are_found_out)
{
	static const uint64_t rows[] = { 0, 65535, 65536, 65538 };
	const struct map_spec spec = { .rows = 65539, .block_rows = 65536, .destinations = 4 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene scene;
		struct twisted twisted;
		uint16_t label;

		scene_init(&scene, &spec);
		label = scene.made->labels[rows[i]];
		twisted = (struct twisted){ scene.made, rows[i],
			label == LANCET_NO_LABEL ? 1 : LANCET_NO_LABEL };
		scene_write(&scene, FILE_2_2);
		scene.labels.read = read_twisted;
		scene.labels.context = &twisted;
		FAILS(rowmap_prove(scene.file, &scene.transition, &scene.labels, &err),
			LANCET_CORRUPT, "instead of");
		scene_release(&scene);
	}
}
END_TEST

/* Rows of the destinations that are not those of the labels. */
START_TEST(wrong_totals_are_found_out)
{
	const struct map_spec spec = { .rows = 1000, .block_rows = 65536, .destinations = 3 };
	struct scene scene;

	scene_init(&scene, &spec);
	scene_write(&scene, FILE_2_0);
	scene.made->destinations[0].physical_rows++;
	scene.made->destinations[1].physical_rows--;
	FAILS(rowmap_prove(scene.file, &scene.transition, &scene.labels, &err), LANCET_CORRUPT,
		"the row map that was written");
	scene.made->destinations[0].physical_rows--;
	scene.made->destinations[1].physical_rows++;
	scene.transition.map_bytes++;
	FAILS(rowmap_prove(scene.file, &scene.transition, &scene.labels, &err), LANCET_CORRUPT,
		"bytes");
	scene_release(&scene);
}
END_TEST

START_TEST(labels_beyond_the_destinations_are_not_written)
{
	const struct map_spec spec = { .rows = 1000, .block_rows = 65536, .destinations = 3 };
	struct twisted twisted;
	struct scene scene;
	uint64_t size;

	scene_init(&scene, &spec);
	twisted = (struct twisted){ scene.made, 500, 3 };
	scene.labels.read = read_twisted;
	scene.labels.context = &twisted;
	FAILS(rowmap_write(scene.change, MAP_ID, FILE_2_2, &scene.labels, &size, &err),
		LANCET_CORRUPT, "row 500: label 3 of 3 destinations");
	scene_release(&scene);
}
END_TEST

UNIT_MAIN("rowmap_write", UNIT_LOOP(rows_are_where_labels_say, specs),
	UNIT_TEST(blocks_grow_where_counts_would), UNIT_TEST(wrong_labels_are_found_out),
	UNIT_TEST(wrong_totals_are_found_out),
	UNIT_TEST(labels_beyond_the_destinations_are_not_written))
