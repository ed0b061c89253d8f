/* Expressions over one block of rows. Truth has three values, as in SQL: true, false, unknown. */
#include "predicate_rows.h"

#include <stdlib.h>

#include "util/bits.h"
#include "util/macros.h"

#define JOINED_MAX ((size_t)256 << 20) /* bytes of text that is made for one block */

void *
machine_register(struct machine *machine, size_t index)
{
	size_t size = BLOCK_ROWS * sizeof(struct wide); /* the largest value */

	if (index >= machine->register_count) {
		size_t count = index + 16;
		void **grown = reallocarray(machine->registers, count, sizeof(*grown));

		if (grown == NULL) {
			(void)lancet_fail(machine->err, LANCET_NO_MEMORY, "condition");
			return NULL;
		}
		memset(grown + machine->register_count, 0,
			(count - machine->register_count) * sizeof(*grown));
		machine->registers = grown;
		machine->register_count = count;
	}
	if (machine->registers[index] == NULL)
		machine->registers[index] = calloc(1, size);
	if (machine->registers[index] == NULL)
		(void)lancet_fail(machine->err, LANCET_NO_MEMORY, "condition");
	return machine->registers[index];
}

void
machine_release(struct machine *machine)
{
	for (size_t i = 0; i < machine->register_count; i++)
		free(machine->registers[i]);
	free(machine->registers);
	arena_release(&machine->joined);
}

bool
machine_next(struct machine *machine, uint64_t rows)
{
	uint64_t left;

	machine->first += machine->count;
	if (machine->first >= rows)
		return false;
	left = rows - machine->first;
	machine->count = left < BLOCK_ROWS ? (unsigned)left : BLOCK_ROWS;
	memset(machine->all, 0, sizeof(machine->all));
	bits_fill((uint8_t *)machine->all, 0, machine->count, true);
	machine->active = machine->all;
	arena_release(&machine->joined);
	machine->joined.limit = JOINED_MAX;
	return true;
}

static void
negate(struct truth *truth)
{
	struct truth before = *truth;

	memcpy(truth->yes, before.no, sizeof(truth->yes));
	memcpy(truth->no, before.yes, sizeof(truth->no));
}

static bool
is_zero(const uint64_t words[BLOCK_WORDS])
{
	uint64_t any = 0;

	for (unsigned i = 0; i < BLOCK_WORDS; i++)
		any |= words[i];
	return any == 0;
}

/* What the items before have decided for all rows is not computed, nor can it fail. OR is AND of
 * the opposites. */
static int
eval_logic(struct machine *machine, const struct expression *expression, size_t index,
	struct truth *ret_truth)
{
	bool is_or = expression->kind == EXPRESSION_OR;
	uint64_t *outer = machine->active;
	uint64_t open[BLOCK_WORDS];
	struct truth truth, one;
	int rc = LANCET_OK;

	memcpy(open, outer, sizeof(open));
	memset(truth.yes, 0xff, sizeof(truth.yes));
	memset(truth.no, 0, sizeof(truth.no));
	machine->active = open;
	for (const struct expression *at = expression->items; at != NULL && rc == LANCET_OK;
		at = at->next_item) {
		rc = eval_truth(machine, at, index, &one);
		if (rc == LANCET_OK && is_or)
			negate(&one);
		for (unsigned i = 0; rc == LANCET_OK && i < BLOCK_WORDS; i++) {
			truth.yes[i] &= one.yes[i];
			truth.no[i] |= one.no[i];
			open[i] &= ~one.no[i];
		}
		if (is_zero(open))
			break;
	}
	machine->active = outer;
	if (is_or)
		negate(&truth);
	*ret_truth = truth;
	return rc;
}

static int
eval_compare(struct machine *machine, const struct expression *expression, size_t index,
	struct truth *ret_truth)
{
	struct vector left, right;

	TRY(eval_value(machine, expression->left, index, &left));
	TRY(eval_value(machine, expression->right, index + 1, &right));
	return compare_vectors(machine, expression->compare, &left, &right, index + 2, ret_truth);
}

/* Never unknown. */
static int
eval_is(struct machine *machine, const struct expression *expression, size_t index,
	struct truth *ret_truth)
{
	struct vector vector;
	struct truth truth;

	if (expression->kind == EXPRESSION_IS_NULL) {
		TRY(eval_value(machine, expression->left, index, &vector));
		for (unsigned i = 0; i < BLOCK_WORDS; i++)
			ret_truth->yes[i] = ~vector.valid[i];
	} else {
		TRY(eval_truth(machine, expression->left, index, &truth));
		memcpy(ret_truth->yes, expression->truth ? truth.yes : truth.no,
			sizeof(ret_truth->yes));
	}
	for (unsigned i = 0; i < BLOCK_WORDS; i++)
		ret_truth->no[i] = ~ret_truth->yes[i];
	if (expression->negated)
		negate(ret_truth);
	return LANCET_OK;
}

static int
eval_in(struct machine *machine, const struct expression *expression, size_t index,
	struct truth *ret_truth)
{
	uint64_t found[BLOCK_WORDS] = { 0 };
	struct vector left, right;
	struct truth one;

	TRY(eval_value(machine, expression->left, index, &left));
	if (expression->sorted_count > 0)
		TRY(in_lookup(machine, expression, &left, index + 1, found));
	for (unsigned i = 0; i < BLOCK_WORDS; i++) {
		ret_truth->yes[i] = found[i];
		ret_truth->no[i] = left.valid[i] & ~found[i];
	}
	for (const struct expression *at = expression->items; at != NULL; at = at->next_item) {
		TRY(eval_value(machine, at, index + 1, &right));
		TRY(compare_vectors(machine, COMPARE_EQ, &left, &right, index + 2, &one));
		for (unsigned i = 0; i < BLOCK_WORDS; i++) {
			ret_truth->yes[i] |= one.yes[i];
			ret_truth->no[i] &= one.no[i];
		}
	}
	if (expression->negated)
		negate(ret_truth);
	return LANCET_OK;
}

static int
eval_like(struct machine *machine, const struct expression *expression, size_t index,
	struct truth *ret_truth)
{
	struct vector vector;

	TRY(eval_value(machine, expression->left, index, &vector));
	*ret_truth = (struct truth){ 0 };
	for (unsigned i = 0; i < machine->count; i++) {
		uint64_t bit = UINT64_C(1) << i % 64;

		if (!(vector.valid[i / 64] & bit))
			continue;
		if (like_matches(expression->text, expression->escape, vector.values.bytes[i]))
			ret_truth->yes[i / 64] |= bit;
		else
			ret_truth->no[i / 64] |= bit;
	}
	if (expression->negated)
		negate(ret_truth);
	return LANCET_OK;
}

/* A column or a constant. */
static int
eval_stored(struct machine *machine, const struct expression *expression, size_t index,
	struct truth *ret_truth)
{
	static const int64_t zeros[BLOCK_ROWS];
	struct vector vector, zero = { .type = { .class = VALUE_BOOL }, .values = { zeros } };

	if (expression->kind == EXPRESSION_CONSTANT)
		TRY(load_constant(machine, expression, index, &vector));
	else
		TRY(load_column(machine, expression, index, &vector));
	memset(zero.valid, 0xff, sizeof(zero.valid));
	return compare_vectors(machine, COMPARE_NE, &vector, &zero, index + 1, ret_truth);
}

int
eval_truth(struct machine *machine, const struct expression *expression, size_t index,
	struct truth *ret_truth)
{
	switch (expression->kind) {
	case EXPRESSION_NOT:
		TRY(eval_truth(machine, expression->left, index, ret_truth));
		negate(ret_truth);
		return LANCET_OK;
	case EXPRESSION_AND:
	case EXPRESSION_OR:
		return eval_logic(machine, expression, index, ret_truth);
	case EXPRESSION_COMPARE:
		return eval_compare(machine, expression, index, ret_truth);
	case EXPRESSION_IS_NULL:
	case EXPRESSION_IS_TRUTH:
		return eval_is(machine, expression, index, ret_truth);
	case EXPRESSION_IN:
		return eval_in(machine, expression, index, ret_truth);
	case EXPRESSION_LIKE:
		return eval_like(machine, expression, index, ret_truth);
	default:
		return eval_stored(machine, expression, index, ret_truth);
	}
}

/* A condition as values. */
static int
truth_values(struct machine *machine, const struct expression *expression, size_t index,
	struct vector *ret_vector)
{
	struct truth truth;
	int64_t *into;

	TRY(eval_truth(machine, expression, index, &truth));
	into = machine_register(machine, index);
	if (into == NULL)
		return LANCET_NO_MEMORY;
	ret_vector->type = expression->type;
	ret_vector->values.any = into;
	for (unsigned i = 0; i < BLOCK_WORDS; i++)
		ret_vector->valid[i] = truth.yes[i] | truth.no[i];
	for (unsigned i = 0; i < machine->count; i++)
		into[i] = row_in(truth.yes, i);
	return LANCET_OK;
}

static int
join(struct machine *machine, const struct vector *left, const struct vector *right, size_t index,
	struct vector *ret_vector)
{
	struct slice *into = machine_register(machine, index);

	if (into == NULL)
		return LANCET_NO_MEMORY;
	ret_vector->type = (struct value_type){ .class = VALUE_TEXT };
	ret_vector->values.any = into;
	for (unsigned i = 0; i < BLOCK_WORDS; i++)
		ret_vector->valid[i] = left->valid[i] & right->valid[i];
	for (unsigned i = 0; i < machine->count; i++) {
		struct slice a, b;
		uint8_t *made;

		into[i] = slice_of(NULL, 0);
		if (!row_in(ret_vector->valid, i))
			continue;
		a = left->values.bytes[i];
		b = right->values.bytes[i];
		made = arena_alloc(&machine->joined, a.size + b.size + 1);
		if (made == NULL)
			return lancet_fail(machine->err, LANCET_LIMIT, "text that is joined");
		memcpy(made, a.size > 0 ? a.data : made, a.size);
		memcpy(made + a.size, b.size > 0 ? b.data : made, b.size);
		into[i] = slice_of(made, a.size + b.size);
	}
	return LANCET_OK;
}

int
eval_value(struct machine *machine, const struct expression *expression, size_t index,
	struct vector *ret_vector)
{
	struct vector left, right;

	switch (expression->kind) {
	case EXPRESSION_COLUMN:
		return load_column(machine, expression, index, ret_vector);
	case EXPRESSION_CONSTANT:
		return load_constant(machine, expression, index, ret_vector);
	case EXPRESSION_NEGATE:
		TRY(eval_value(machine, expression->left, index + 1, &left));
		return negate_vector(machine, expression, &left, index, ret_vector);
	case EXPRESSION_COMPUTE:
	case EXPRESSION_JOIN:
		TRY(eval_value(machine, expression->left, index + 1, &left));
		TRY(eval_value(machine, expression->right, index + 2, &right));
		if (expression->kind == EXPRESSION_JOIN)
			return join(machine, &left, &right, index, ret_vector);
		return compute_vectors(machine, expression, &left, &right, index, ret_vector);
	default:
		return truth_values(machine, expression, index, ret_vector);
	}
}
