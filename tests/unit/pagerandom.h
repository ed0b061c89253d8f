/* Random fields, nested up to four levels, and random values of them, the same for each seed;
 * pagerandom.c. */
#ifndef TESTS_PAGERANDOM_H
#define TESTS_PAGERANDOM_H

#include "file/array.h"
#include "file/file_column.h"

#define RANDOM_FIELDS_MAX 120

struct random_tree {
	enum file_version version;
	bool dictionaries;
	struct field fields[RANDOM_FIELDS_MAX]; /* the first is the root */
	size_t used;
	uint32_t ordinals;
	uint64_t random;
	uint64_t values; /* leaves that were filled so far */
};

uint64_t random_draw(struct random_tree *tree, uint64_t below);
/* A tree of fields that the version can hold, dictionaries among them or not. */
void random_tree_init(
	struct random_tree *tree, enum file_version version, bool dictionaries, uint64_t seed);
/* Appends values. Under nulls there is whatever came out, items of lists included. */
void random_fill(struct random_tree *tree, struct array *array, uint64_t count);

#endif
