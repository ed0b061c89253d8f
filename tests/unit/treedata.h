/* Small datasets in a temporary tree, written byte by byte.
 *
 * A manifest is the smallest Manifest message there is, a version number and a time, with the
 * footer.
 */
#ifndef TESTS_TREEDATA_H
#define TESTS_TREEDATA_H

#include <stdint.h>

#include "core/dataset.h"
#include "temptree.h"

#define V1 "ds/_versions/18446744073709551614.manifest"
#define V2 "ds/_versions/18446744073709551613.manifest"
#define V3 "ds/_versions/18446744073709551612.manifest"
#define V4 "ds/_versions/18446744073709551611.manifest"
#define V9 "ds/_versions/18446744073709551606.manifest"

static inline size_t
tree_put_varint(uint8_t *into, uint64_t value)
{
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		into[size++] = (uint8_t)(value | 0x80);
	into[size++] = (uint8_t)value;
	return size;
}

/* A manifest file: Manifest{version, timestamp{seconds}, reader_feature_flags}. */
static inline void
tree_manifest_flags(const struct tree *tree, const char *relative, uint64_t version,
                    uint64_t seconds, uint64_t reader_flags)
{
	uint8_t stamp[16] = { 0x08 }, file[96] = { 0 };
	size_t stamp_size = 1 + tree_put_varint(stamp + 1, seconds);
	size_t size = 4;

	file[size++] = 3 << 3; /* version */
	size += tree_put_varint(file + size, version);
	file[size++] = 7 << 3 | 2; /* timestamp */
	file[size++] = (uint8_t)stamp_size;
	memcpy(file + size, stamp, stamp_size);
	size += stamp_size;
	if (reader_flags != 0) {
		file[size++] = 9 << 3;
		size += tree_put_varint(file + size, reader_flags);
	}
	file[0] = (uint8_t)(size - 4);
	size += 8; /* the message lies at 0 */
	memcpy(file + size, "\0\0\2\0LANC", 8);
	tree_put(tree, relative, file, size + 8);
}

static inline void
tree_manifest(const struct tree *tree, const char *relative, uint64_t version, uint64_t seconds)
{
	tree_manifest_flags(tree, relative, version, seconds, 0);
}

static inline struct tree
three_versions(void)
{
	struct tree tree = tree_new();

	tree_manifest(&tree, V1, 1, 1000);
	tree_manifest(&tree, V2, 2, 2000);
	tree_manifest(&tree, V3, 3, 3000);
	return tree;
}

static inline lancet_dataset *
open_dataset(const struct tree *tree)
{
	lancet_dataset *dataset = NULL;
	struct lancet_error err = { 0 };

	ck_assert_msg(lancet_dataset_open(TREE_PATH(tree, "ds"), NULL, &dataset, &err) == LANCET_OK,
	              "%s", err.text);
	return dataset;
}

static inline void
close_dataset(lancet_dataset *dataset, const struct tree *tree)
{
	lancet_dataset_unref(dataset);
	tree_remove(tree);
}

static inline int
open_code(const struct tree *tree, const char *relative, struct lancet_error *err)
{
	lancet_dataset *dataset = NULL;
	int rc = lancet_dataset_open(TREE_PATH(tree, relative), NULL, &dataset, err);

	ck_assert_int_eq(dataset != NULL, rc == LANCET_OK);
	lancet_dataset_unref(dataset);
	return rc;
}

/* A dataset over a store that counts. */
static inline lancet_dataset *
open_traced_at(const char *path, struct store_counts *counts)
{
	lancet_dataset *dataset = NULL;
	struct store *local = NULL, *traced;

	ck_assert_int_eq(store_local_open(path, NULL, &local, NULL), LANCET_OK);
	traced = store_trace_new(local, counts);
	ck_assert_int_eq(dataset_open_store(traced, "ds", NULL, &dataset, NULL), LANCET_OK);
	store_unref(traced);
	store_unref(local);
	return dataset;
}

static inline lancet_dataset *
open_traced(const struct tree *tree, struct store_counts *counts)
{
	return open_traced_at(TREE_PATH(tree, "ds"), counts);
}

static inline int
version_code(lancet_dataset *dataset, uint64_t number, struct lancet_error *err)
{
	lancet_version *version = NULL;
	int rc = lancet_version_open(dataset, number, &version, err);

	ck_assert_int_eq(version != NULL, rc == LANCET_OK);
	if (version != NULL)
		ck_assert_uint_eq(lancet_version_info(version)->number, number);
	lancet_version_unref(version);
	return rc;
}

#endif
