/* Conditions as a whole: made from text, and asked of rows. */
#include "predicate_rows.h"

#include <stdlib.h>

#include "util/bits.h"
#include "util/macros.h"

int
predicate_read(const char *text, struct predicate **ret_predicate, struct lancet_error *err)
{
	struct predicate *predicate = calloc(1, sizeof(*predicate));
	int rc;

	if (predicate == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "condition");
	rc = condition_read(predicate, text, err);
	if (rc == LANCET_OK)
		*ret_predicate = predicate;
	else
		predicate_free(predicate);
	return rc;
}

int
predicate_prepare(
	struct predicate *predicate, const struct field_tree *schema, struct lancet_error *err)
{
	predicate->schema = schema;
	predicate->uses = arena_zalloc(&predicate->arena, schema->root_count + PREDICATE_LINEAGE,
		sizeof(*predicate->uses));
	return predicate->uses == NULL ? predicate_out_of_memory(err) : LANCET_OK;
}

int
predicate_bind(
	struct predicate *predicate, const struct field_tree *schema, struct lancet_error *err)
{
	static const struct value_type condition = { .class = VALUE_BOOL };

	TRY(predicate_prepare(predicate, schema, err));
	return predicate_bind_top(predicate, &predicate->top, &condition, err);
}

int
predicate_parse(const char *text, const struct field_tree *schema, struct predicate **ret_predicate,
	struct lancet_error *err)
{
	struct predicate *predicate = NULL;
	int rc;

	TRY(predicate_read(text, &predicate, err));
	rc = predicate_bind(predicate, schema, err);
	if (rc == LANCET_OK)
		*ret_predicate = predicate;
	else
		predicate_free(predicate);
	return rc;
}

void
predicate_free(struct predicate *predicate)
{
	if (predicate == NULL)
		return;
	arena_release(&predicate->arena);
	free(predicate);
}

bool
predicate_uses(const struct predicate *predicate, size_t root)
{
	return predicate->uses[root];
}

int
predicate_match(const struct predicate *predicate, const struct array *const *columns,
	uint64_t rows, uint8_t *matches, struct lancet_error *err)
{
	struct machine machine = { .columns = columns, .err = err };
	struct truth truth;
	int rc = LANCET_OK;

	while (rc == LANCET_OK && machine_next(&machine, rows)) {
		rc = eval_truth(&machine, predicate->top, 0, &truth);
		for (unsigned i = 0; rc == LANCET_OK && i < BLOCK_WORDS; i++)
			truth.yes[i] &= machine.all[i];
		if (rc == LANCET_OK)
			memcpy(matches + machine.first / 8, truth.yes, bits_size(machine.count));
	}
	machine_release(&machine);
	return rc;
}
