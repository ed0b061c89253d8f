/* Datasets to partition by labels, and where each of their rows goes by the definition. */
#ifndef TESTS_PARTITIONED_H
#define TESTS_PARTITIONED_H

#include "commitsample.h"
#include "madeindex.h"
#include "scandata.h"

#define NEWEST    1u /* version */
#define SOURCES   3u
#define ROWS      110u
#define LIVE_ROWS 102u
#define OUTPUTS   3u

/* Values of "a" begin at 1000, 2000 and 3000 in the fragments; row ids, where there are some, are
 * the same, and "b" has 50000 more. */
static const struct dataset_spec partition_specs[] = {
	{ .stable = false,
		.count = SOURCES,
		.fragments = { { .id = 0,
				       .rows = 60,
				       .base_a = 1000,
				       .base_b = 51000,
				       .minor = 2,
				       .deleted = { 4, { 0, 1, 20, 59 } } },
			{ .id = 3, .rows = 40, .base_a = 2000, .base_b = 52000, .minor = 2 },
			{ .id = 4,
				.rows = 10,
				.base_a = 3000,
				.base_b = 53000,
				.minor = 2,
				.deleted = { 4, { 3, 4, 5, 9 } } } } },
	{ .stable = true,
		.count = SOURCES,
		.fragments = { { .id = 0,
				       .rows = 60,
				       .base_a = 1000,
				       .base_b = 51000,
				       .minor = 2,
				       .first_id = 1000,
				       .deleted = { 4, { 0, 1, 20, 59 } } },
			{ .id = 3,
				.rows = 40,
				.base_a = 2000,
				.base_b = 52000,
				.minor = 2,
				.first_id = 2000 },
			{ .id = 4,
				.rows = 10,
				.base_a = 3000,
				.base_b = 53000,
				.minor = 2,
				.first_id = 3000,
				.deleted = { 4, { 3, 4, 5, 9 } } } } },
};

#define TAGGED      (UINT64_C(1) << 10) /* flag */

/* A dataset of files of 2.2 in a directory of its own. */
static inline struct tree
make_table(const struct dataset_spec *spec, uint64_t flags, bool indexed)
{
	struct tree made = tree_new(), tree = tree_new();
	struct buf manifest = { 0 }, file = { 0 };
	char root[PATH_MAX];
	uint64_t at;

	scandata_field(&manifest, "a", 0);
	scandata_field(&manifest, "b", 1);
	for (size_t i = 0; i < spec->count; i++) {
		struct buf fragment = scandata_fragment(&made, &spec->fragments[i], spec->stable);

		put_message(&manifest, 2, &fragment);
	}
	put_number(&manifest, 3, 1);
	if (indexed)
		put_number(&manifest, 6, 0); /* where the index section is */
	put_number(&manifest, 9, flags | (spec->stable ? 2 : 0));
	put_number(&manifest, 10, flags | (spec->stable ? 2 : 0));
	put_number(&manifest, 11, 4);
	buf_put(&manifest, "\x6a\x07\x0a\x05lance", 9); /* writer_version #13 */
	put_number(&manifest, 14, 4000);
	/* data_format #15 { file_format #1, version #2 } */
	buf_put(&manifest, "\x7a\x0c\x0a\x05lance\x12\x03\x32.2", 14);
	if (indexed)
		put_index(&made, spec, &file);
	at = file.size;
	put_le(&file, manifest.size, 4);
	buf_put(&file, manifest.data, manifest.size);
	put_le(&file, at, 8);
	buf_put(&file, "\0\0\2\0LANC", 8);
	tree_put(&made, V1, file.data, file.size);
	buf_release(&file);
	buf_release(&manifest);
	(void)snprintf(root, sizeof(root), "%s/ds", made.root);
	sample_copy(root, tree.root, false);
	tree_remove(&made);
	return tree;
}

static inline struct tree
make_dataset(const struct dataset_spec *spec)
{
	return make_table(spec, 0, false);
}

/* Goes through the rows of one output by the definition: those of the sources whose place has the
 * label, in their order. Gives the value of "a", which the row id is, too. */
static inline size_t
list_output(const struct dataset_spec *spec, size_t label, uint64_t *values)
{
	size_t count = 0, row = 0;

	for (size_t i = 0; i < spec->count; i++) {
		const struct fragment_spec *fragment = &spec->fragments[i];

		for (uint32_t k = 0; k < fragment->rows; k++, row++) {
			bool deleted = false;

			for (size_t m = 0; m < fragment->deleted.count; m++)
				deleted |= fragment->deleted.values[m] == k;
			if (!deleted && row % OUTPUTS == label)
				values[count++] = fragment->base_a + k;
		}
	}
	return count;
}

#endif
