/* Comparisons: values are told by numbers that have their order, or by the sign of their
 * difference, so that one loop over numbers does for all types.
 *
 * Floating-point numbers are in the order of the reference: -0 is 0, and NaN is equal to itself and
 * beyond all others. Numbers of different types are compared by their exact values.
 */
#include "predicate_rows.h"

#include <math.h>

#include "util/macros.h"

static const int64_t zeros[BLOCK_ROWS];

#define LOOP(name, op)                                                                             \
	static lancet_hot void name(const int64_t *left, const int64_t *right, uint64_t *out)      \
	{                                                                                          \
		for (unsigned word = 0; word < BLOCK_WORDS; word++) {                              \
			uint64_t bits = 0;                                                         \
                                                                                                   \
			for (unsigned i = 0; i < 64; i++)                                          \
				bits |= (uint64_t)(left[i] op right[i]) << i;                      \
			out[word] = bits;                                                          \
			left += 64;                                                                \
			right += 64;                                                               \
		}                                                                                  \
	}

LOOP(equal, ==)
LOOP(less, <)

static void
compare_keys(const int64_t *left, const int64_t *right, enum compare_operator compare,
	const uint64_t valid[BLOCK_WORDS], struct truth *ret_truth)
{
	bool swapped = compare == COMPARE_GT || compare == COMPARE_LE;
	bool negated = compare == COMPARE_NE || compare == COMPARE_LE || compare == COMPARE_GE;
	uint64_t *yes = negated ? ret_truth->no : ret_truth->yes;
	uint64_t *no = negated ? ret_truth->yes : ret_truth->no;

	if (compare == COMPARE_EQ || compare == COMPARE_NE)
		equal(left, right, yes);
	else
		less(swapped ? right : left, swapped ? left : right, yes);
	for (unsigned i = 0; i < BLOCK_WORDS; i++) {
		no[i] = ~yes[i] & valid[i];
		yes[i] &= valid[i];
	}
}

static int64_t
real_key(double value)
{
	int64_t bits;

	value += 0.0; /* makes 0 of -0 */
	memcpy(&bits, &value, sizeof(bits));
	return bits ^ (int64_t)((uint64_t)(bits >> 63) >> 1);
}

static lancet_hot void
real_keys(const double *values, int64_t *keys)
{
	for (unsigned i = 0; i < BLOCK_ROWS; i++)
		keys[i] = real_key(values[i]);
}

static lancet_hot void
unsigned_keys(const int64_t *values, int64_t *keys)
{
	for (unsigned i = 0; i < BLOCK_ROWS; i++)
		keys[i] = values[i] ^ INT64_MIN;
}

bool
type_has_keys(const struct value_type *type)
{
	switch (type->class) {
	case VALUE_BOOL:
	case VALUE_INT:
	case VALUE_UINT:
	case VALUE_FLOAT:
	case VALUE_INSTANT:
	case VALUE_TIME:
	case VALUE_DURATION:
		return true;
	default:
		return false;
	}
}

int64_t
value_key(const struct value_type *type, const struct value *value)
{
	if (type->class == VALUE_FLOAT)
		return real_key(value->real);
	return type->class == VALUE_UINT ? value->number ^ INT64_MIN : value->number;
}

const int64_t *
vector_keys(struct machine *machine, const struct vector *vector, size_t index)
{
	int64_t *keys;

	if (vector->type.class != VALUE_UINT && vector->type.class != VALUE_FLOAT)
		return vector->values.numbers;
	keys = machine_register(machine, index);
	if (keys != NULL && vector->type.class == VALUE_UINT)
		unsigned_keys(vector->values.numbers, keys);
	else if (keys != NULL)
		real_keys(vector->values.reals, keys);
	return keys;
}

struct wide
vector_wide(const struct vector *vector, unsigned row)
{
	if (vector->type.class == VALUE_DECIMAL)
		return vector->values.wides[row];
	if (vector->type.class == VALUE_UINT)
		return wide_of_unsigned((uint64_t)vector->values.numbers[row]);
	return wide_of(vector->values.numbers[row]);
}

double
vector_real(const struct vector *vector, unsigned row)
{
	if (vector->type.class == VALUE_FLOAT)
		return vector->values.reals[row];
	if (vector->type.class == VALUE_UINT)
		return (double)(uint64_t)vector->values.numbers[row];
	return (double)vector->values.numbers[row];
}

static int64_t
compare_slices(const struct vector *left, const struct vector *right, unsigned row)
{
	return slice_compare(left->values.bytes[row], right->values.bytes[row]);
}

/* A value that is too large to be scaled is beyond any other. */
static int64_t
compare_wides(const struct vector *left, const struct vector *right, unsigned row)
{
	struct wide a = vector_wide(left, row), b = vector_wide(right, row);
	int more = left->type.scale - right->type.scale;

	if (more < 0 && !wide_scale(a, (unsigned)-more, &a))
		return wide_is_negative(a) ? -1 : 1;
	if (more > 0 && !wide_scale(b, (unsigned)more, &b))
		return wide_is_negative(b) ? 1 : -1;
	return wide_compare(a, b);
}

static int64_t
compare_mixed_signs(const struct vector *left, const struct vector *right, unsigned row)
{
	__int128 a = left->values.numbers[row], b = right->values.numbers[row];

	if (left->type.class == VALUE_UINT)
		a = (uint64_t)a;
	if (right->type.class == VALUE_UINT)
		b = (uint64_t)b;
	return (a > b) - (a < b);
}

static int64_t
compare_units(const struct vector *left, const struct vector *right, unsigned row)
{
	__int128 a = (__int128)left->values.numbers[row] * left->type.unit;
	__int128 b = (__int128)right->values.numbers[row] * right->type.unit;

	return (a > b) - (a < b);
}

/* A whole number and a floating-point one. */
static int64_t
compare_to_real(const struct vector *whole, const struct vector *real, unsigned row)
{
	double value = real->values.reals[row];
	__int128 number = whole->values.numbers[row], rounded;

	if (whole->type.class == VALUE_UINT)
		number = (uint64_t)number;
	if (isnan(value))
		return signbit(value) ? 1 : -1;
	if (value >= 0x1p64 || value <= -0x1p64)
		return value > 0 ? -1 : 1;
	rounded = (__int128)value;
	if (number != rounded)
		return number < rounded ? -1 : 1;
	value -= (double)rounded;
	return (value < 0) - (value > 0);
}

static int64_t
compare_from_real(const struct vector *left, const struct vector *right, unsigned row)
{
	return -compare_to_real(right, left, row);
}

typedef int64_t (*compare_fn)(const struct vector *left, const struct vector *right, unsigned row);

/* NULL: by keys. */
static compare_fn
choose(const struct value_type *left, const struct value_type *right)
{
	if (left->class == VALUE_TEXT || left->class == VALUE_BINARY)
		return compare_slices;
	if (left->class == VALUE_DECIMAL || right->class == VALUE_DECIMAL)
		return compare_wides;
	if (left->class == right->class)
		return left->unit != right->unit ? compare_units : NULL;
	if (left->class == VALUE_FLOAT)
		return compare_from_real;
	return right->class == VALUE_FLOAT ? compare_to_real : compare_mixed_signs;
}

int
compare_vectors(struct machine *machine, enum compare_operator compare, const struct vector *left,
	const struct vector *right, size_t index, struct truth *ret_truth)
{
	const int64_t *keys, *others = zeros;
	uint64_t valid[BLOCK_WORDS];
	compare_fn signs;

	if (left->type.class == VALUE_NULL || right->type.class == VALUE_NULL) {
		*ret_truth = (struct truth){ 0 };
		return LANCET_OK;
	}
	for (unsigned i = 0; i < BLOCK_WORDS; i++)
		valid[i] = left->valid[i] & right->valid[i];
	signs = choose(&left->type, &right->type);
	if (signs == NULL) {
		keys = vector_keys(machine, left, index);
		others = vector_keys(machine, right, index + 1);
		if (keys == NULL || others == NULL)
			return LANCET_NO_MEMORY;
	} else {
		int64_t *into = machine_register(machine, index);

		if (into == NULL)
			return LANCET_NO_MEMORY;
		for (unsigned i = 0; i < machine->count; i++)
			into[i] = row_in(valid, i) ? signs(left, right, i) : 0;
		keys = into;
	}
	compare_keys(keys, others, compare, valid, ret_truth);
	return LANCET_OK;
}
