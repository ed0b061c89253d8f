/* Commits of others, one after the other, on a table of cellmodel.h. */
#ifndef TESTS_CELLCOMMIT_H
#define TESTS_CELLCOMMIT_H

#include "cellops.h"

static inline void
cell_project(struct cell_table *table, struct cell_random *random)
{
	size_t field = cell_field(random);

	table->names[field]++;
	if (cell_pick(random, 2) == 0)
		return;
	table->dropped[field] = true;
	if (field > CELL_STRUCT)
		table->dropped[CELL_STRUCT] = true;
	for (size_t i = 0; i < table->count; i++) {
		cell_bury(&table->fragments[i], field);
		cell_drop_dead(&table->fragments[i]);
	}
}

/* Rows of one fragment, or all of it, move to a new one. */
static inline void
cell_move(struct cell_table *table, struct cell_random *random)
{
	if (cell_pick(random, 2) == 0)
		cell_delete(table, random);
	else
		cell_remove(table, cell_pick(random, (uint32_t)table->count));
	cell_append(table, random);
}

/* One commit. `old` is a version that it may restore. */
static inline void
cell_commit(struct cell_table *table, struct cell_random *random, const struct cell_table *old)
{
	static void (*const changes[])(struct cell_table * table, struct cell_random * random) = {
		cell_append,
		cell_delete,
		cell_rewrite_column,
		cell_replace_file,
		cell_overlay,
		cell_project,
		cell_move,
		cell_overlay,
		cell_rewrite_column,
	};
	uint32_t kind = cell_pick(random, 24), version = ++table->version;

	if (table->count == 0 || (kind == 23 && table->count > 4))
		table->count = 0; /* all is overwritten */
	if (table->count == 0)
		cell_append(table, random);
	else if (kind < 18)
		changes[kind / 2](table, random);
	else if (kind == 18)
		*table = *old;
	table->version = version;
}

#endif
