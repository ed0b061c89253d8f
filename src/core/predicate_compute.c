/* Arithmetic: whole numbers and decimals exactly or not at all, floating-point numbers rounded to
 * the width that they have.
 */
#include "predicate_rows.h"

#include <inttypes.h>
#include <math.h>

#include "util/macros.h"

/* A failure in a row that nobody asks for, or that is null anyway, is none. */
static bool
counts(const struct machine *machine, const uint64_t valid[BLOCK_WORDS], unsigned row)
{
	return row_in(valid, row) && row_in(machine->active, row);
}

static int
refuse(const struct machine *machine, const struct expression *expression, const char *what)
{
	return lancet_fail(machine->err, LANCET_INVALID, "at %u: %s", expression->place, what);
}

static int
refuse_whole(const struct machine *machine, const struct expression *expression, int64_t left,
	int64_t right)
{
	bool by_zero = right == 0 && (expression->compute == '/' || expression->compute == '%');

	return lancet_fail(machine->err, LANCET_INVALID, "at %u: %" PRId64 " %c %" PRId64 " %s",
		expression->place, left, expression->compute, right,
		by_zero ? "is no number" : "is beyond 64 bits");
}

/* False: there is no result. */
static bool
compute_whole(char operator, int64_t left, int64_t right, int64_t *ret_result)
{
	switch (operator) {
	case '+':
		return !__builtin_add_overflow(left, right, ret_result);
	case '-':
		return !__builtin_sub_overflow(left, right, ret_result);
	case '*':
		return !__builtin_mul_overflow(left, right, ret_result);
	default:
		if (right == 0 || (right == -1 && left == INT64_MIN && operator== '/'))
			return false;
		if (operator== '/')
			*ret_result = left / right;
		else
			*ret_result = right == -1 ? 0 : left % right;
		return true;
	}
}

static int
compute_wholes(struct machine *machine, const struct expression *expression,
	const struct vector *left, const struct vector *right, int64_t *into,
	const uint64_t valid[BLOCK_WORDS])
{
	const int64_t *a = left->values.numbers, *b = right->values.numbers;

	for (unsigned i = 0; i < machine->count; i++) {
		if (compute_whole(expression->compute, a[i], b[i], &into[i]))
			continue;
		if (counts(machine, valid, i))
			return refuse_whole(machine, expression, a[i], b[i]);
		into[i] = 0;
	}
	return LANCET_OK;
}

/* fmod, which a library of its own has. Each difference is exact. */
static double
remainder_of(double left, double right)
{
	double size = fabs(left), by = fabs(right);
	int exponent, by_exponent;

	if (isnan(left) || isnan(right) || isinf(left) || by == 0)
		return left * right / (left * right); /* the NaN that fmod gives */
	if (size < by)
		return left;
	(void)frexp(size, &exponent);
	(void)frexp(by, &by_exponent);
	for (int more = exponent - by_exponent; more >= 0; more--) {
		double part = ldexp(by, more);

		if (size >= part)
			size -= part;
	}
	return copysign(size, left);
}

static double
compute_real(char operator, double left, double right)
{
	switch (operator) {
	case '+':
		return left + right;
	case '-':
		return left - right;
	case '*':
		return left * right;
	case '/':
		return left / right;
	default:
		return remainder_of(left, right);
	}
}

static void
compute_reals(const struct machine *machine, const struct expression *expression,
	const struct vector *left, const struct vector *right, double *into)
{
	unsigned bits = expression->type.bits;

	for (unsigned i = 0; i < machine->count; i++)
		into[i] = round_to_bits(
			compute_real(expression->compute, round_to_bits(vector_real(left, i), bits),
				round_to_bits(vector_real(right, i), bits)),
			bits);
}

/* With `more` places than it has; a value can't lose places here. */
static bool
scaled(struct wide value, int more, struct wide *ret_value)
{
	return more >= 0 && wide_scale(value, (unsigned)more, ret_value);
}

static bool
compute_wide(const struct expression *expression, const struct vector *left,
	const struct vector *right, unsigned row, struct wide *ret_result)
{
	struct wide a = vector_wide(left, row), b = vector_wide(right, row), rest;
	int scale = expression->type.scale;

	switch (expression->compute) {
	case '*':
		return wide_multiply(a, b, ret_result);
	case '/': /* a * 10^(scale - a's + b's) / b */
		return !wide_is_zero(b) &&
		       scaled(a, scale - left->type.scale + right->type.scale, &a) &&
		       wide_divide(a, b, ret_result, &rest);
	default:
		break;
	}
	if (!scaled(a, scale - left->type.scale, &a) || !scaled(b, scale - right->type.scale, &b))
		return false;
	if (expression->compute == '+')
		return wide_add(a, b, ret_result);
	if (expression->compute == '-')
		return wide_subtract(a, b, ret_result);
	return !wide_is_zero(b) && wide_divide(a, b, &rest, ret_result);
}

static int
compute_wides(struct machine *machine, const struct expression *expression,
	const struct vector *left, const struct vector *right, struct wide *into,
	const uint64_t valid[BLOCK_WORDS])
{
	for (unsigned i = 0; i < machine->count; i++) {
		bool ok = row_in(valid, i) && compute_wide(expression, left, right, i, &into[i]) &&
			  wide_has_digits(into[i], WIDE_DIGITS);

		if (ok)
			continue;
		if (counts(machine, valid, i))
			return refuse(machine, expression,
				wide_is_zero(vector_wide(right, i)) && expression->compute != '*'
					? "divided by zero"
					: "more digits than a decimal has");
		into[i] = wide_of(0);
	}
	return LANCET_OK;
}

int
compute_vectors(struct machine *machine, const struct expression *expression,
	const struct vector *left, const struct vector *right, size_t index,
	struct vector *ret_vector)
{
	void *into = machine_register(machine, index);

	if (into == NULL)
		return LANCET_NO_MEMORY;
	ret_vector->type = expression->type;
	ret_vector->values.any = into;
	for (unsigned i = 0; i < BLOCK_WORDS; i++)
		ret_vector->valid[i] = left->valid[i] & right->valid[i];
	if (left->type.class == VALUE_NULL || right->type.class == VALUE_NULL) {
		memset(ret_vector->valid, 0, sizeof(ret_vector->valid));
		return LANCET_OK;
	}
	switch (expression->type.class) {
	case VALUE_INT:
		return compute_wholes(machine, expression, left, right, into, ret_vector->valid);
	case VALUE_FLOAT:
		compute_reals(machine, expression, left, right, into);
		return LANCET_OK;
	default:
		return compute_wides(machine, expression, left, right, into, ret_vector->valid);
	}
}

int
negate_vector(struct machine *machine, const struct expression *expression,
	const struct vector *operand, size_t index, struct vector *ret_vector)
{
	void *into = machine_register(machine, index);
	int64_t *numbers = into;
	double *reals = into;
	struct wide *wides = into;

	if (into == NULL)
		return LANCET_NO_MEMORY;
	*ret_vector = *operand;
	ret_vector->type = expression->type;
	ret_vector->values.any = into;
	for (unsigned i = 0; i < machine->count; i++) {
		bool ok = true;

		if (expression->type.class == VALUE_INT)
			ok = compute_whole('-', 0, operand->values.numbers[i], &numbers[i]);
		else if (expression->type.class == VALUE_FLOAT)
			reals[i] = -operand->values.reals[i];
		else if (expression->type.class == VALUE_DECIMAL)
			ok = wide_subtract(wide_of(0), vector_wide(operand, i), &wides[i]);
		if (!ok && counts(machine, operand->valid, i))
			return refuse(machine, expression, "the number has no negative one");
		if (!ok)
			memset(&numbers[i], 0, sizeof(numbers[i]));
	}
	return LANCET_OK;
}
