/* What others may do to the fragments of a table of cellmodel.h. */
#ifndef TESTS_CELLOPS_H
#define TESTS_CELLOPS_H

#include "cellmodel.h"

static inline void
cell_remove(struct cell_table *table, size_t place)
{
	table->count--;
	memmove(&table->fragments[place], &table->fragments[place + 1],
		(table->count - place) * sizeof(table->fragments[0]));
}

static inline void
cell_delete(struct cell_table *table, struct cell_random *random)
{
	size_t place = cell_pick(random, (uint32_t)table->count);
	struct cell_fragment *fragment = &table->fragments[place];

	fragment->deleted |= 1u << cell_pick(random, fragment->rows);
	if (fragment->deleted == (1u << fragment->rows) - 1)
		cell_remove(table, place);
	else
		fragment->deletion = ++random->files;
}

/* Files and overlays without a field that is there are dropped. */
static inline void
cell_drop_dead(struct cell_fragment *fragment)
{
	size_t kept = 0;

	for (size_t i = 0; i < fragment->file_count; i++) {
		bool alive = false;

		for (size_t k = 0; k < CELL_FIELDS; k++)
			alive = alive || fragment->files[i].lists[k];
		if (alive)
			fragment->files[kept++] = fragment->files[i];
	}
	fragment->file_count = kept;
	kept = 0;
	for (size_t i = 0; i < fragment->overlay_count; i++)
		if (fragment->overlays[i].file.lists[fragment->overlays[i].field])
			fragment->overlays[kept++] = fragment->overlays[i];
	fragment->overlay_count = kept;
}

static inline void
cell_bury(struct cell_fragment *fragment, size_t field)
{
	for (size_t i = 0; i < fragment->file_count; i++)
		fragment->files[i].lists[field] = false;
	for (size_t i = 0; i < fragment->overlay_count; i++)
		fragment->overlays[i].file.lists[field] = false;
}

static inline size_t
cell_field(struct cell_random *random)
{
	static const size_t leaves[] = { 0, 1, CELL_STRUCT + 1 };

	return leaves[cell_pick(random, 3)];
}

/* The column gets a file of its own, whose values may be the old ones. */
static inline void
cell_rewrite_column(struct cell_table *table, struct cell_random *random)
{
	struct cell_fragment *fragment =
		&table->fragments[cell_pick(random, (uint32_t)table->count)];
	struct cell_file file = cell_new_file(random);
	size_t field = cell_field(random);

	if (table->dropped[field] || fragment->file_count == CELL_FILES)
		return;
	for (uint32_t row = 0; row < fragment->rows && cell_pick(random, 2) == 0; row++)
		file.values[field][row] = cell_value(table, fragment->id, (uint32_t)field, row);
	cell_bury(fragment, field);
	cell_drop_dead(fragment);
	cell_list(&file, field);
	fragment->files[fragment->file_count++] = file;
}

/* A file takes the place of another one that has the same fields. */
static inline void
cell_replace_file(struct cell_table *table, struct cell_random *random)
{
	struct cell_fragment *fragment =
		&table->fragments[cell_pick(random, (uint32_t)table->count)];
	struct cell_file *file, fresh = cell_new_file(random);

	if (fragment->file_count == 0)
		return;
	file = &fragment->files[cell_pick(random, (uint32_t)fragment->file_count)];
	memcpy(fresh.lists, file->lists, sizeof(fresh.lists));
	memcpy(fresh.had, file->had, sizeof(fresh.had));
	*file = fresh;
}

static inline void
cell_overlay(struct cell_table *table, struct cell_random *random)
{
	struct cell_fragment *fragment =
		&table->fragments[cell_pick(random, (uint32_t)table->count)];
	size_t field = cell_field(random);
	struct cell_overlay overlay = { .file = cell_new_file(random), .field = (uint32_t)field };

	if (table->dropped[field] || fragment->overlay_count == CELL_OVERLAYS)
		return;
	cell_list(&overlay.file, field);
	overlay.version = table->version;
	overlay.rows = 1 + cell_pick(random, (1u << fragment->rows) - 1);
	fragment->overlays[fragment->overlay_count++] = overlay;
}

#endif
