/* Names and types: every literal becomes a constant, every mention of a column finds its field. */
#include "predicate_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#include "util/macros.h"

#define SCALE_MAX     200 /* of computed decimals */
#define DIVIDE_DIGITS 4   /* that a quotient has more than what is divided */

int
predicate_out_of_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_LIMIT, "the condition needs too much memory");
}

static const struct value_type bool_type = { .class = VALUE_BOOL };

static bool
is_literal(const struct expression *expression)
{
	return expression->kind == EXPRESSION_LITERAL;
}

static int
refuse_type(const struct expression *expression, const char *wanted, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_INVALID, "at %u: %s where %s is needed", expression->place,
		type_name(&expression->type), wanted);
}

static int bind(
	struct predicate *predicate, struct expression *expression, struct lancet_error *err);

/* Binds what is no literal; literals wait for what they are used with. */
static int
bind_operand(struct predicate *predicate, struct expression *operand, struct lancet_error *err)
{
	return is_literal(operand) ? LANCET_OK : bind(predicate, operand, err);
}

/* Binds what is used with nothing else. */
static int
bind_alone(struct predicate *predicate, struct expression **at, struct lancet_error *err)
{
	return is_literal(*at) ? literal_natural(predicate, at, err) : bind(predicate, *at, err);
}

static int
bind_condition(struct predicate *predicate, struct expression **at, struct lancet_error *err)
{
	if (is_literal(*at) && ((*at)->literal == LITERAL_NULL || (*at)->literal == LITERAL_BOOL))
		return literal_as(predicate, at, &bool_type, true, err);
	TRY(bind_alone(predicate, at, err));
	if ((*at)->type.class != VALUE_BOOL && (*at)->type.class != VALUE_NULL)
		return refuse_type(*at, "a condition", err);
	return LANCET_OK;
}

/* Both sides of an operator: a literal follows the other side. */
static int
bind_pair(struct predicate *predicate, struct expression *expression, bool exact_numbers,
	struct lancet_error *err)
{
	struct expression **left = &expression->left, **right = &expression->right;

	TRY(bind_operand(predicate, *left, err));
	TRY(bind_operand(predicate, *right, err));
	if (is_literal(*left) && is_literal(*right)) {
		TRY(literal_natural(predicate, left, err));
		return literal_as(predicate, right, &(*left)->type, exact_numbers, err);
	}
	if (is_literal(*left))
		return literal_as(predicate, left, &(*right)->type, exact_numbers, err);
	if (is_literal(*right))
		return literal_as(predicate, right, &(*left)->type, exact_numbers, err);
	return LANCET_OK;
}

static int
check_comparable(const struct expression *at, const struct expression *left,
	const struct expression *right, struct lancet_error *err)
{
	const struct value_type *a = &left->type, *b = &right->type;
	bool ok = a->class == b->class;

	if (a->class == VALUE_NULL || b->class == VALUE_NULL)
		return LANCET_OK;
	if (type_is_number(a) && type_is_number(b))
		ok = !((a->class == VALUE_FLOAT && b->class == VALUE_DECIMAL) ||
			(a->class == VALUE_DECIMAL && b->class == VALUE_FLOAT));
	if (!ok || a->class == VALUE_OTHER)
		return lancet_fail(err, LANCET_INVALID, "at %u: can't compare %s with %s",
			at->place, type_name(a), type_name(b));
	if (a->class == VALUE_INSTANT && !type_zones_agree(a, b))
		return lancet_fail(err, LANCET_INVALID,
			"at %u: can't compare times with a zone and times without", at->place);
	return LANCET_OK;
}

static int
bind_compare(struct predicate *predicate, struct expression *expression, struct lancet_error *err)
{
	TRY(bind_pair(predicate, expression, true, err));
	expression->type = bool_type;
	return check_comparable(expression, expression->left, expression->right, err);
}

static int
bind_logic(struct predicate *predicate, struct expression *expression, struct lancet_error *err)
{
	expression->type = bool_type;
	for (struct expression **at = &expression->items; *at != NULL; at = &(*at)->next_item)
		TRY(bind_condition(predicate, at, err));
	return LANCET_OK;
}

static int
bind_is(struct predicate *predicate, struct expression *expression, struct lancet_error *err)
{
	expression->type = bool_type;
	if (expression->kind != EXPRESSION_IS_NULL)
		return bind_condition(predicate, &expression->left, err);
	return bind_alone(predicate, &expression->left, err);
}

static int
bind_like(struct predicate *predicate, struct expression *expression, struct lancet_error *err)
{
	struct slice pattern = expression->text;

	TRY(bind_alone(predicate, &expression->left, err));
	if (expression->left->type.class != VALUE_TEXT &&
		expression->left->type.class != VALUE_NULL)
		return refuse_type(expression->left, "text", err);
	for (size_t i = 0; i < pattern.size; i++) {
		if (pattern.data[i] != expression->escape)
			continue;
		if (++i == pattern.size || (pattern.data[i] != '%' && pattern.data[i] != '_' &&
						   pattern.data[i] != expression->escape))
			return lancet_fail(err, LANCET_INVALID,
				"at %u: %c in a pattern stands before %%, _ or itself",
				expression->place, expression->escape);
	}
	expression->type = bool_type;
	return LANCET_OK;
}

static int
bind_in(struct predicate *predicate, struct expression *expression, struct lancet_error *err)
{
	expression->type = bool_type;
	TRY(bind_alone(predicate, &expression->left, err));
	for (struct expression **at = &expression->items; *at != NULL; at = &(*at)->next_item) {
		TRY(bind_operand(predicate, *at, err));
		if (is_literal(*at))
			TRY(literal_as(predicate, at, &expression->left->type, true, err));
		TRY(check_comparable(*at, expression->left, *at, err));
	}
	return predicate_sort_items(predicate, expression, err);
}

/* What a number of this type becomes when it is computed with. */
static struct value_type
computed_type(const struct value_type *type)
{
	if (type->class == VALUE_UINT)
		return (struct value_type){ .class = VALUE_DECIMAL };
	return *type;
}

static int
bind_negate(struct predicate *predicate, struct expression *expression, struct lancet_error *err)
{
	TRY(bind_alone(predicate, &expression->left, err));
	expression->type = computed_type(&expression->left->type);
	if (!type_is_number(&expression->type) && expression->type.class != VALUE_NULL)
		return refuse_type(expression->left, "a number", err);
	return LANCET_OK;
}

static int
decimal_scale(const struct expression *expression, int left, int right, int *ret_scale,
	struct lancet_error *err)
{
	int scale = left > right ? left : right;

	if (expression->compute == '*')
		scale = left + right;
	else if (expression->compute == '/')
		scale = (left > 0 ? left : 0) + DIVIDE_DIGITS;
	if (scale > SCALE_MAX || scale < -SCALE_MAX)
		return lancet_fail(err, LANCET_LIMIT, "at %u: a decimal of more than %d places",
			expression->place, SCALE_MAX);
	*ret_scale = scale;
	return LANCET_OK;
}

static int
need_number(struct predicate *predicate, struct expression *operand, struct lancet_error *err)
{
	TRY(bind_operand(predicate, operand, err));
	if (is_literal(operand) || operand->type.class == VALUE_NULL ||
		type_is_number(&operand->type))
		return LANCET_OK;
	return refuse_type(operand, "a number", err);
}

/* Of two values that are no null. */
static int
set_computed_type(struct expression *expression, struct lancet_error *err)
{
	const struct value_type *left = &expression->left->type, *right = &expression->right->type;
	struct value_type *type = &expression->type;

	if (left->class == VALUE_INT && right->class == VALUE_INT) {
		*type = *left;
		return LANCET_OK;
	}
	if (left->class != VALUE_FLOAT && right->class != VALUE_FLOAT) {
		*type = (struct value_type){ .class = VALUE_DECIMAL };
		return decimal_scale(expression, left->scale, right->scale, &type->scale, err);
	}
	if (left->class == VALUE_DECIMAL || right->class == VALUE_DECIMAL)
		return lancet_fail(err, LANCET_INVALID,
			"at %u: can't compute with a decimal and a floating-point number",
			expression->place);
	*type = (struct value_type){ .class = VALUE_FLOAT,
		.bits = left->bits > right->bits ? left->bits : right->bits };
	return LANCET_OK;
}

static int
bind_compute(struct predicate *predicate, struct expression *expression, struct lancet_error *err)
{
	struct expression *left, *right;

	TRY(need_number(predicate, expression->left, err));
	TRY(need_number(predicate, expression->right, err));
	TRY(bind_pair(predicate, expression, false, err));
	left = expression->left;
	right = expression->right;
	if (left->type.class != VALUE_NULL && right->type.class != VALUE_NULL) {
		if (!type_is_number(&left->type) || !type_is_number(&right->type))
			return refuse_type(
				type_is_number(&left->type) ? right : left, "a number", err);
		return set_computed_type(expression, err);
	}
	expression->type =
		computed_type(left->type.class == VALUE_NULL ? &right->type : &left->type);
	return LANCET_OK;
}

static int
bind_join(struct predicate *predicate, struct expression *expression, struct lancet_error *err)
{
	static const struct value_type text = { .class = VALUE_TEXT };
	struct expression **sides[] = { &expression->left, &expression->right };

	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		TRY(bind_operand(predicate, *sides[i], err));
		if (is_literal(*sides[i]))
			TRY(literal_as(predicate, sides[i], &text, true, err));
		if ((*sides[i])->type.class != VALUE_TEXT && (*sides[i])->type.class != VALUE_NULL)
			return refuse_type(*sides[i], "text", err);
	}
	expression->type = text;
	return LANCET_OK;
}

static int
bind(struct predicate *predicate, struct expression *expression, struct lancet_error *err)
{
	if (expression->is_bound)
		return LANCET_OK;
	expression->is_bound = true;
	switch (expression->kind) {
	case EXPRESSION_COLUMN:
		return predicate_bind_column(predicate, expression, err);
	case EXPRESSION_NOT:
		expression->type = bool_type;
		return bind_condition(predicate, &expression->left, err);
	case EXPRESSION_AND:
	case EXPRESSION_OR:
		return bind_logic(predicate, expression, err);
	case EXPRESSION_COMPARE:
		return bind_compare(predicate, expression, err);
	case EXPRESSION_IS_NULL:
	case EXPRESSION_IS_TRUTH:
		return bind_is(predicate, expression, err);
	case EXPRESSION_IN:
		return bind_in(predicate, expression, err);
	case EXPRESSION_LIKE:
		return bind_like(predicate, expression, err);
	case EXPRESSION_NEGATE:
		return bind_negate(predicate, expression, err);
	case EXPRESSION_COMPUTE:
		return bind_compute(predicate, expression, err);
	case EXPRESSION_JOIN:
		return bind_join(predicate, expression, err);
	default:
		return LANCET_OK; /* a constant */
	}
}

int
predicate_bind_top(struct predicate *predicate, struct expression **expression,
	const struct value_type *type, struct lancet_error *err)
{
	if (type->class == VALUE_BOOL)
		return bind_condition(predicate, expression, err);
	TRY(bind_operand(predicate, *expression, err));
	if (!is_literal(*expression))
		return LANCET_OK;
	return literal_as(predicate, expression, type, true, err);
}
