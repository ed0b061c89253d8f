/* A table as values: what the cells of a version are, whatever a manifest would say of them.
 *
 * Columns are a (field 0), b (1), and x (3) in the struct s (2). Files hold a value for each row
 * and field; fragments list files, a set of deleted rows, and overlays. Ids of files and fragments
 * are never used again.
 */
#ifndef TESTS_CELLMODEL_H
#define TESTS_CELLMODEL_H

#include "marks.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CELL_FIELDS    4
#define CELL_STRUCT    2
#define CELL_ROWS      8
#define CELL_FRAGMENTS 24
#define CELL_FILES     12
#define CELL_OVERLAYS  6
#define CELL_DELETED   (-2)
#define CELL_NULL      (-1)

struct cell_file {
	uint32_t name;
	bool lists[CELL_FIELDS]; /* false: a tombstone, or never there */
	bool had[CELL_FIELDS];
	int values[CELL_FIELDS][CELL_ROWS];
};

struct cell_overlay {
	struct cell_file file;         /* values by row, too */
	uint32_t field, rows, version; /* a set of rows */
};

struct cell_fragment {
	uint32_t id, rows, deleted, deletion; /* the set of deleted rows; the file's id, 0: none */
	size_t file_count, overlay_count;
	struct cell_file files[CELL_FILES];
	struct cell_overlay overlays[CELL_OVERLAYS];
};

struct cell_table {
	uint32_t version;
	bool dropped[CELL_FIELDS];
	uint32_t names[CELL_FIELDS]; /* how often it was renamed */
	size_t count;
	struct cell_fragment fragments[CELL_FRAGMENTS];
};

/* Numbers of a seed; ids are given over all tables of one history. */
struct cell_random {
	uint64_t state;
	uint32_t files, fragments;
};

static inline uint32_t
cell_pick(struct cell_random *random, uint32_t below)
{
	random->state =
		random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random->state >> 33) % below;
}

static inline const struct cell_fragment *
cell_fragment(const struct cell_table *table, uint32_t id)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->fragments[i].id == id)
			return &table->fragments[i];
	return NULL;
}

/* What a reader sees; of a fragment that is not there, all rows are deleted. */
static inline int
cell_value(const struct cell_table *table, uint32_t id, uint32_t field, uint32_t row)
{
	const struct cell_fragment *fragment = cell_fragment(table, id);

	if (fragment == NULL || (fragment->deleted >> row & 1) != 0)
		return CELL_DELETED;
	if (field == CELL_STRUCT)
		field = CELL_STRUCT + 1;
	for (size_t i = fragment->overlay_count; i-- > 0;) {
		const struct cell_overlay *overlay = &fragment->overlays[i];

		if (overlay->file.lists[field] && (overlay->rows >> row & 1) != 0)
			return overlay->file.values[field][row];
	}
	for (size_t i = 0; i < fragment->file_count; i++)
		if (fragment->files[i].lists[field])
			return fragment->files[i].values[field][row];
	return CELL_NULL;
}

static inline struct cell_file
cell_new_file(struct cell_random *random)
{
	struct cell_file file = { .name = ++random->files };

	for (size_t i = 0; i < CELL_FIELDS; i++)
		for (size_t k = 0; k < CELL_ROWS; k++)
			file.values[i][k] = (int)cell_pick(random, 3);
	return file;
}

static inline void
cell_list(struct cell_file *file, size_t field)
{
	file->lists[field] = file->had[field] = true;
}

/* Each field in a file of its own or with the ones before it; sometimes in none. */
static inline void
cell_append(struct cell_table *table, struct cell_random *random)
{
	struct cell_fragment *fragment = &table->fragments[table->count++];

	ck_assert_uint_le(table->count, CELL_FRAGMENTS);
	memset(fragment, 0, sizeof(*fragment));
	fragment->id = random->fragments++;
	fragment->rows = 1 + cell_pick(random, CELL_ROWS);
	fragment->files[fragment->file_count++] = cell_new_file(random);
	for (size_t i = 0; i < CELL_FIELDS; i++) {
		if (i == CELL_STRUCT || table->dropped[i] || cell_pick(random, 8) == 0)
			continue;
		if (cell_pick(random, 2) == 0)
			fragment->files[fragment->file_count++] = cell_new_file(random);
		cell_list(&fragment->files[fragment->file_count - 1], i);
	}
}

#endif
