/* The table of kinds by number, put together from the rows_*.c once. */
#include "kind_table.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "kinds.h"
#include "util/macros.h"

static const struct node_kind *kinds[NODE_KIND_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool
has_callbacks(const struct node_kind *kind)
{
	switch (kind->shape) {
	case SHAPE_DIR:
		return (kind->rows != NULL || kind->list != NULL || kind->count != NULL) &&
		       (kind->count == NULL) == (kind->at == NULL);
	case SHAPE_TEXT:
		return kind->render != NULL;
	case SHAPE_RECORDS:
		return kind->records != NULL;
	case SHAPE_RAW:
		return kind->raw != NULL;
	case SHAPE_PASS:
		return kind->file != NULL || kind->id == NODE_PASS;
	case SHAPE_LINK:
		return kind->link != NULL;
	case SHAPE_HANDLE:
		return kind->open != NULL;
	}
	return false;
}

/* Rows have names, each its own. */
static bool
has_distinct_rows(const struct node_kind *kind)
{
	for (const uint8_t *row = kind->rows; row != NULL && *row != NODE_NONE; row++) {
		if (kinds[*row] == NULL || kinds[*row]->name == NULL)
			return false;
		/* two of one name take turns: each says when it is there */
		for (const uint8_t *other = kind->rows; other != row; other++) {
			if (strcmp(kinds[*row]->name, kinds[*other]->name) == 0 &&
				(kinds[*row]->present == NULL || kinds[*other]->present == NULL))
				return false;
		}
	}
	return true;
}

static void
build(void)
{
	static const struct node_kind *const tables[] = {
		rows_root,
		rows_ref,
		rows_version,
		rows_fragment,
		rows_overlay,
		rows_map,
		rows_index,
		rows_reuse,
		rows_live,
		rows_livetag,
		rows_ctl,
		rows_job,
	};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		for (const struct node_kind *kind = tables[i]; kind->id != NODE_NONE; kind++) {
			assert(kind->id < NODE_KIND_COUNT && kinds[kind->id] == NULL);
			kinds[kind->id] = kind;
		}
	}
	for (unsigned id = NODE_NONE + 1; id < NODE_KIND_COUNT; id++) {
		assert(kinds[id] != NULL && has_callbacks(kinds[id]) &&
			has_distinct_rows(kinds[id]));
		assert(kinds[id]->name != NULL || kinds[id]->label != NULL || id == NODE_ROOT ||
			kinds[id]->shape == SHAPE_PASS);
		assert(id == NODE_ROOT || id == NODE_PASS || kinds[id]->parent != NODE_NONE ||
			kinds[id]->up != NULL);
	}
}

void
kinds_check(void)
{
	(void)pthread_once(&once, build);
}

const struct node_kind *
node_kind_of(uint64_t id)
{
	return id < NODE_KIND_COUNT ? kinds[id] : NULL;
}
