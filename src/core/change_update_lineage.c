/* Row ids and created-at of rows that are written anew: as they are stored now. */
#include "change_update.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"
#include "version.h"

#define BLOCK 4096u /* rows */

/* Rows on their way into the outputs. */
struct telling {
	struct updating *updating;
	const struct lineage_source *source;
	unsigned kinds;
	size_t out;
	uint64_t rows; /* told to it */
	uint64_t values[BLOCK];
};

/* Rows of one output. */
static int
tell_some(struct telling *telling, uint64_t first, size_t count, struct lancet_error *err)
{
	for (int kind = 0; kind < (int)LINEAGE_KINDS; kind++) {
		if (!(telling->kinds & 1u << kind))
			continue;
		TRY(lineage_source_read(telling->source, (enum lancet_lineage)kind, first, count,
			telling->values, err));
		TRY(lineage_out_put(&telling->updating->outs[telling->out],
			(enum lancet_lineage)kind, telling->values, count, err));
	}
	telling->rows += count;
	if (telling->rows == FRAGMENT_ROWS_DEFAULT) {
		telling->out++;
		telling->rows = 0;
	}
	return LANCET_OK;
}

static int
tell_range(struct telling *telling, struct row_range range, struct lancet_error *err)
{
	while (range.count > 0) {
		uint64_t room = FRAGMENT_ROWS_DEFAULT - telling->rows;
		uint64_t count = range.count < BLOCK ? range.count : BLOCK;

		count = count < room ? count : room;
		TRY(tell_some(telling, range.first, (size_t)count, err));
		range.first += count;
		range.count -= count;
	}
	return LANCET_OK;
}

static int
tell_fragment(struct telling *telling, const struct row_pick *pick, struct lancet_error *err)
{
	roaring_uint32_iterator_t rows;

	roaring_init_iterator(pick->rows, &rows);
	while (rows.has_value) {
		struct row_range range = { rows.current_value, 0 };

		while (rows.has_value && range.count < BLOCK &&
			rows.current_value == range.first + range.count) {
			range.count++;
			(void)roaring_advance_uint32_iterator(&rows);
		}
		TRY(tell_range(telling, range, err));
	}
	return LANCET_OK;
}

static int
tell_pick(struct telling *telling, const struct row_pick *pick, struct lancet_error *err)
{
	lancet_version *read = telling->updating->change->read;
	struct lineage_source *source = NULL;
	lancet_fragment *fragment;
	int rc;

	TRY(change_check_cancelled(telling->updating->run, err));
	TRY(lancet_fragment_open(read, pick->ordinal, &fragment, err));
	rc = lineage_source_open(fragment, &source, err);
	telling->source = source;
	if (rc == LANCET_OK)
		rc = tell_fragment(telling, pick, err);
	lineage_source_free(source);
	lancet_fragment_unref(fragment);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "fragment %" PRIu64, pick->fragment);
}

static int
tell_all(struct telling *telling, struct lancet_error *err)
{
	struct updating *updating = telling->updating;

	for (size_t i = 0; i < updating->picks.count; i++)
		TRY(tell_pick(telling, &updating->picks.list[i], err));
	for (size_t i = 0; i < updating->out_count; i++)
		TRY(lineage_out_end(&updating->outs[i], err));
	return LANCET_OK;
}

int
update_lineage(struct updating *updating, struct lancet_error *err)
{
	lancet_version *read = updating->change->read;
	unsigned kinds = lineage_kinds(read) & (1u << LANCET_ROW_ID | 1u << LANCET_CREATED_AT);
	struct telling *telling;
	int rc = LANCET_OK;

	updating->has_lineage = kinds != 0;
	if (kinds == 0)
		return LANCET_OK;
	for (size_t i = 0; i < updating->out_count; i++)
		TRY(lineage_out_init(&updating->outs[i], kinds, err));
	telling = malloc(sizeof(*telling));
	if (telling == NULL)
		return change_no_memory(err);
	*telling = (struct telling){ .updating = updating, .kinds = kinds };
	rc = tell_all(telling, err);
	free(telling);
	if (rc != LANCET_OK)
		return rc;
	return lineage_place(read, updating->outs, updating->out_count, true, err);
}
