/* Values of one block into an array, by the kind of the column. */
#include "assignment_store.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "util/bits.h"
#include "util/macros.h"

static int
refuse_null(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_INVALID, "a value would be null, which it can't be");
}

int
store_nulls(struct array *out, uint64_t rows, struct lancet_error *err)
{
	if (!out->field->nullable && rows > 0)
		return refuse_null(err);
	return array_append_nulls(out, rows, err);
}

/* A real number that is whole. */
static bool
real_to_wide(double value, struct wide *ret_value)
{
	struct wide high, low;

	if (!(fabs(value) < 0x1p64) || value != (double)(__int128)value)
		return false;
	if (fabs(value) < 0x1p62) {
		*ret_value = wide_of((int64_t)value);
		return true;
	}
	high = wide_of((int64_t)(value / 0x1p32));
	low = wide_of((int64_t)(value - (double)(int64_t)(value / 0x1p32) * 0x1p32));
	return wide_multiply(high, wide_of(INT64_C(1) << 32), &high) &&
	       wide_add(high, low, ret_value);
}

static bool
value_wide(const struct vector *vector, unsigned row, int *scale, struct wide *ret_value)
{
	*scale = vector->type.class == VALUE_DECIMAL ? vector->type.scale : 0;
	if (vector->type.class == VALUE_FLOAT)
		return real_to_wide(vector->values.reals[row], ret_value);
	*ret_value = vector_wide(vector, row);
	return true;
}

/* A whole number of the column's bits, or false. */
static bool
whole_value(
	const struct vector *vector, unsigned row, const struct field *field, int64_t *ret_value)
{
	struct wide value, limit;
	uint64_t size;
	bool exact = true;
	int scale;

	if (!value_wide(vector, row, &scale, &value))
		return false;
	if (scale > 0)
		value = wide_round(value, (unsigned)scale, &exact);
	else if (!wide_scale(value, (unsigned)-scale, &value))
		return false;
	if (!exact)
		return false;
	if (!field->is_signed) {
		if (!wide_to_u64(value, &size) || (field->bits < 64 && size >> field->bits != 0))
			return false;
		*ret_value = (int64_t)size;
		return true;
	}
	limit = wide_of(field->bits == 64 ? INT64_MIN : -(INT64_C(1) << (field->bits - 1)));
	return wide_compare(value, limit) >= 0 && wide_to_i64(value, ret_value) &&
	       (field->bits == 64 || *ret_value < INT64_C(1) << (field->bits - 1));
}

static bool
unit_value(const struct vector *vector, unsigned row, const struct value_type *type,
	const struct field *field, int64_t *ret_value)
{
	__int128 value = (__int128)vector->values.numbers[row] * vector->type.unit;
	int64_t most = field->bits == 32 ? INT32_MAX : INT64_MAX;

	if (value % type->unit != 0)
		return false;
	value /= type->unit;
	if (value > most || value < -(__int128)most - 1)
		return false;
	*ret_value = (int64_t)value;
	return true;
}

static bool
decimal_value(const struct vector *vector, unsigned row, const struct value_type *type,
	const struct field *field, uint8_t *into)
{
	struct wide value;
	int scale;

	if (!value_wide(vector, row, &scale, &value))
		return false;
	if (scale > type->scale)
		value = wide_round(value, (unsigned)(scale - type->scale), NULL);
	else if (!wide_scale(value, (unsigned)(type->scale - scale), &value))
		return false;
	return wide_has_digits(value, type->precision) &&
	       wide_store(value, field->bits, into);
}

/* The bits of a half that the number is. */
static uint16_t
half_bits(double value)
{
	uint16_t sign = signbit(value) ? 0x8000 : 0;
	double size = fabs(value);
	int exponent;

	if (isnan(value))
		return 0x7e00;
	if (isinf(value))
		return sign | 0x7c00;
	if (size < 0x1p-14)
		return sign | (uint16_t)(size * 0x1p24);
	(void)frexp(size, &exponent);
	return (uint16_t)(sign | (uint16_t)((exponent + 14) << 10) |
			  (uint16_t)(ldexp(size, 11 - exponent) - 1024));
}

static double
decimal_real(const struct vector *vector, unsigned row)
{
	struct wide value = vector->values.wides[row];
	double by = 1;

	for (int i = 0; i < abs(vector->type.scale); i++)
		by *= 10;
	return vector->type.scale < 0 ? wide_to_double(value) * by : wide_to_double(value) / by;
}

static bool
real_value(const struct vector *vector, unsigned row, uint32_t bits, uint8_t *into)
{
	double exact = vector->type.class == VALUE_DECIMAL ? decimal_real(vector, row)
							   : vector_real(vector, row);
	double value = round_to_bits(exact, bits);
	float narrow = (float)value;
	uint16_t half = half_bits(bits == 16 ? value : 0);

	if (isinf(value) && !isinf(exact))
		return false;
	if (bits == 16)
		memcpy(into, &half, sizeof(half));
	else if (bits == 32)
		memcpy(into, &narrow, sizeof(narrow));
	else
		memcpy(into, &value, sizeof(value));
	return true;
}

/* One value of a column of fixed width; false when it can't be one. */
static bool
fixed_value(const struct vector *vector, unsigned row, const struct value_type *type,
	const struct field *field, uint8_t *into)
{
	int64_t number;
	bool ok;

	switch (type->class) {
	case VALUE_FLOAT:
		return real_value(vector, row, field->bits, into);
	case VALUE_DECIMAL:
		return decimal_value(vector, row, type, field, into);
	case VALUE_BINARY:
		if (vector->values.bytes[row].size != field->bits / 8)
			return false;
		memcpy(into, vector->values.bytes[row].data, field->bits / 8);
		return true;
	case VALUE_INSTANT:
	case VALUE_TIME:
	case VALUE_DURATION:
		ok = unit_value(vector, row, type, field, &number);
		break;
	default:
		ok = whole_value(vector, row, field, &number);
	}
	if (ok)
		memcpy(into, &number, field->bits / 8);
	return ok;
}

static int
refuse_value(const struct machine *machine, const struct vector *vector, unsigned row)
{
	static const char what[] = "can't be held exactly, or is out of range";

	switch (vector->type.class) {
	case VALUE_FLOAT:
		return lancet_fail(
			machine->err, LANCET_INVALID, "%.17g %s", vector->values.reals[row], what);
	case VALUE_DECIMAL:
	case VALUE_TEXT:
		return lancet_fail(machine->err, LANCET_INVALID, "a value %s", what);
	case VALUE_BINARY:
		return lancet_fail(machine->err, LANCET_INVALID, "%zu bytes: not its size",
			vector->values.bytes[row].size);
	case VALUE_UINT:
		return lancet_fail(machine->err, LANCET_INVALID, "%" PRIu64 " %s",
			(uint64_t)vector->values.numbers[row], what);
	default:
		return lancet_fail(machine->err, LANCET_INVALID, "%" PRId64 " %s",
			vector->values.numbers[row], what);
	}
}

static int
store_fixed(struct machine *machine, const struct vector *vector, const struct value_type *type,
	struct array *out)
{
	const struct field *field = out->field;
	size_t size = field->bits / 8;
	uint8_t *place;

	TRY(array_extend_fixed(out, field->bits, machine->count, &place, machine->err));
	for (unsigned i = 0; i < machine->count; i++) {
		memset(place + i * size, 0, size);
		if (row_in(vector->valid, i) &&
			!fixed_value(vector, i, type, field, place + i * size))
			return refuse_value(machine, vector, i);
	}
	return LANCET_OK;
}

static int
store_bits(struct machine *machine, const struct vector *vector, struct array *out)
{
	uint64_t bits[BLOCK_WORDS] = { 0 };

	for (unsigned i = 0; i < machine->count; i++) {
		if (row_in(vector->valid, i) && vector->values.numbers[i] != 0)
			bits[i / 64] |= UINT64_C(1) << i % 64;
	}
	return array_append_bits(out, (uint8_t *)bits, 0, machine->count, machine->err);
}

static int
store_bytes(struct machine *machine, const struct vector *vector, struct array *out)
{
	struct slice slices[BLOCK_ROWS];

	for (unsigned i = 0; i < machine->count; i++)
		slices[i] = row_in(vector->valid, i) ? vector->values.bytes[i] : slice_of(NULL, 0);
	return array_append_slices(out, slices, machine->count, machine->err);
}

/* Values first, then their keys. */
static int
store_keys(struct machine *machine, const struct vector *vector, const struct value_type *type,
	struct array *out)
{
	struct array items;
	uint8_t *place;
	int rc = array_init(&items, &out->field->children[0], out->budget, machine->err);
	size_t size = out->field->bits / 8;

	if (rc == LANCET_OK)
		rc = store_vector(machine, vector, type, &items);
	if (rc == LANCET_OK)
		rc = array_extend_fixed(
			out, out->field->bits, machine->count, &place, machine->err);
	for (unsigned i = 0; rc == LANCET_OK && i < machine->count; i++) {
		uint64_t key = 0;

		if (row_in(vector->valid, i))
			rc = array_dictionary_key(out, &items, i, &key, machine->err);
		memcpy(place + i * size, &key, size);
	}
	array_release(&items);
	return rc;
}

int
store_vector(struct machine *machine, const struct vector *vector, const struct value_type *type,
	struct array *out)
{
	const struct field *field = out->field;
	uint64_t all = 0;

	for (unsigned i = 0; i < machine->count; i++)
		all += row_in(vector->valid, i);
	if (all == 0)
		return store_nulls(out, machine->count, machine->err);
	if (all < machine->count && field->parent == NULL && !field->nullable)
		return refuse_null(machine->err);
	if (field->kind == FIELD_DICTIONARY)
		TRY(store_keys(machine, vector, type, out));
	else if (field->kind == FIELD_VARIABLE)
		TRY(store_bytes(machine, vector, out));
	else if (field->bits == 1)
		TRY(store_bits(machine, vector, out));
	else
		TRY(store_fixed(machine, vector, type, out));
	if (all == machine->count)
		return LANCET_OK;
	return array_set_validity(
		out, machine->count, (const uint8_t *)vector->valid, 0, machine->err);
}
