/* Values as JSON, by recursion along the tree of fields; see jsonvalues.h. */
#include "jsonvalues.h"

#include <math.h>

#define EXACT_MAX ((int64_t)1 << 53)

static void
put_double(struct jsonw *w, double value)
{
	if (isnan(value))
		jsonw_text(w, NULL, "nan");
	else if (isinf(value))
		jsonw_text(w, NULL, value < 0 ? "-inf" : "inf");
	else
		jsonw_double(w, NULL, value);
}

static double
half_to_double(uint64_t bits)
{
	int exponent = (int)(bits >> 10 & 31);
	double fraction = (double)(bits & 1023) / 1024;
	double value = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
		       : exponent == 0 ? ldexp(fraction, -14)
				       : ldexp(1 + fraction, exponent - 15);

	return bits >> 15 & 1 ? -value : value;
}

static void
put_float(struct jsonw *w, const uint8_t *at, uint32_t bits)
{
	uint64_t stored = 0;
	float single = 0;
	double value = 0;

	memcpy(&stored, at, bits / 8);
	memcpy(&single, at, bits == 32 ? 4 : 0);
	memcpy(&value, at, bits == 64 ? 8 : 0);
	put_double(w, bits == 16 ? half_to_double(stored) : bits == 32 ? single : value);
}

static void
put_hex(struct jsonw *w, struct slice bytes)
{
	static const char digits[] = "0123456789abcdef";
	struct buf text = { 0 };

	for (size_t i = 0; i < bytes.size; i++) {
		buf_put_byte(&text, (uint8_t)digits[bytes.data[i] >> 4]);
		buf_put_byte(&text, (uint8_t)digits[bytes.data[i] & 15]);
	}
	jsonw_slice(w, NULL, buf_slice(&text));
	buf_release(&text);
}

/* Decimal digits of a little-endian integer of any width, by long division. */
static void
put_digits(struct jsonw *w, const uint8_t *at, uint32_t size, bool is_signed)
{
	uint8_t limbs[32], digits[80];
	bool negative = is_signed && at[size - 1] >> 7, more = true;
	unsigned carry = negative;
	size_t first = sizeof(digits);

	for (uint32_t i = 0; i < size; i++) { /* two's complement */
		carry += negative ? (uint8_t)~at[i] : at[i];
		limbs[i] = (uint8_t)carry;
		carry >>= 8;
	}
	while (more) {
		unsigned rest = 0;

		more = false;
		for (uint32_t i = size; i-- > 0;) {
			rest = rest << 8 | limbs[i];
			limbs[i] = (uint8_t)(rest / 10);
			rest %= 10;
			more = more || limbs[i] != 0;
		}
		digits[--first] = (uint8_t)('0' + rest);
	}
	if (negative)
		digits[--first] = '-';
	jsonw_slice(w, NULL, slice_of(digits + first, sizeof(digits) - first));
}

/* The first 8 bytes of an integer, if the others only extend its sign, and it is exact in a
 * double. */
static bool
is_exact(const uint8_t *at, uint32_t size, bool is_signed, int64_t *ret_value)
{
	uint64_t low = 0;
	uint8_t fill = is_signed && at[size - 1] >> 7 ? 0xff : 0;
	int64_t value;

	for (uint32_t i = 8; i-- > 0;)
		low = low << 8 | (i < size ? at[i] : fill);
	for (uint32_t i = 8; i < size; i++) {
		if (at[i] != fill)
			return false;
	}
	value = (int64_t)low;
	if ((value < 0) != (fill != 0) || value > EXACT_MAX || value < -EXACT_MAX)
		return false;
	*ret_value = value;
	return true;
}

static void
put_integer(struct jsonw *w, const uint8_t *at, uint32_t size, bool is_signed)
{
	int64_t value;

	if (is_exact(at, size, is_signed, &value))
		jsonw_i64(w, NULL, value);
	else
		put_digits(w, at, size, is_signed);
}

static void
put_fixed(struct jsonw *w, const struct array *array, uint64_t index)
{
	const struct field *field = array->field;
	uint32_t size = field->bits / 8;
	const uint8_t *at = array->data.data + index * size;

	if (field->bits == 1)
		jsonw_bool(w, NULL, array_bit(array, index));
	else if (strchr("efg", field->format[0]) != NULL)
		put_float(w, at, field->bits);
	else if (field->format[0] == 'w')
		put_hex(w, slice_of(at, size));
	else
		put_integer(w, at, size, field->is_signed);
}

static void
put_list(struct jsonw *w, const struct array *array, uint64_t index)
{
	const struct array *items = &array->children[0];
	uint64_t dimension = array->field->dimension;
	bool is_fixed = array->field->kind == FIELD_FIXED_LIST;
	uint64_t first = is_fixed ? index * dimension : array_offset(array, index);
	uint64_t end = is_fixed ? first + dimension : array_offset(array, index + 1);

	jsonw_array(w, NULL);
	for (uint64_t i = first; i < end; i++) {
		if (array->field->kind != FIELD_MAP) {
			jsonvalues_put(w, items, i);
			continue;
		}
		jsonw_array(w, NULL);
		jsonvalues_put(w, &items->children[0], i);
		jsonvalues_put(w, &items->children[1], i);
		jsonw_end(w);
	}
	jsonw_end(w);
}

static void
put_struct(struct jsonw *w, const struct array *array, uint64_t index)
{
	jsonw_object(w, NULL);
	for (size_t i = 0; i < array->child_count; i++) {
		jsonw_key_slice(w, array->children[i].field->name);
		jsonvalues_put(w, &array->children[i], index);
	}
	jsonw_end(w);
}

void
jsonvalues_put(struct jsonw *w, const struct array *array, uint64_t index)
{
	if (array->field->kind == FIELD_NULL || !array_is_valid(array, index)) {
		jsonw_null(w, NULL);
		return;
	}
	switch (array->field->kind) {
	case FIELD_FIXED:
		put_fixed(w, array, index);
		break;
	case FIELD_VARIABLE:
		if (strchr("uU", array->field->format[0]) != NULL)
			jsonw_slice(w, NULL, array_bytes(array, index));
		else
			put_hex(w, array_bytes(array, index));
		break;
	case FIELD_DICTIONARY:
		jsonvalues_put(w, &array->children[0], array_unsigned(array, index));
		break;
	case FIELD_STRUCT:
		put_struct(w, array, index);
		break;
	default:
		put_list(w, array, index);
	}
}
