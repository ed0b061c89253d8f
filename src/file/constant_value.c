/* Constant values from bytes; see constant_value.h. Format facts: constant layout. */
#include "constant_value.h"

#include <inttypes.h>

#include "util/cursor.h"
#include "util/macros.h"

static int
put_fixed(struct slice bytes, uint64_t count, struct array *value, struct lancet_error *err)
{
	uint32_t bits = value->field->bits;
	uint64_t size;

	if (__builtin_mul_overflow(count, (uint64_t)(bits == 1 ? 8 : bits) / 8, &size) ||
		size != bytes.size)
		return lancet_fail(err, LANCET_CORRUPT, "a value of %zu bytes", bytes.size);
	if (bits == 1 && count > 1)
		return lancet_fail(err, LANCET_UNSUPPORTED, "a constant list of bits");
	return array_append_fixed(value, bits, bytes.data, count, err);
}

int
constant_value_put(struct slice bytes, struct array *value, struct lancet_error *err)
{
	uint64_t count = 1;

	while (value->field->kind == FIELD_FIXED_LIST) {
		TRY(array_extend(value, count, err));
		if (__builtin_mul_overflow(count, value->field->dimension, &count))
			return lancet_fail(err, LANCET_CORRUPT, "a value of %zu bytes", bytes.size);
		value = &value->children[0];
	}
	if (value->field->kind != FIELD_FIXED)
		return lancet_fail(
			err, LANCET_CORRUPT, "a value of a fixed size where the type has none");
	return put_fixed(bytes, count, value, err);
}

static int
put_variable(
	struct slice offsets, struct slice bytes, struct array *value, struct lancet_error *err)
{
	unsigned width = value->field->large ? 8 : 4;

	if (value->field->kind != FIELD_VARIABLE || offsets.size != 2 * (size_t)width)
		return lancet_fail(
			err, LANCET_CORRUPT, "offsets of %zu bytes for a value", offsets.size);
	return array_append_offsets(value, offsets.data, width, 1, bytes, err);
}

int
constant_value_load(struct slice buffer, struct array *value, struct lancet_error *err)
{
	struct cursor c = { .in = buffer };
	uint32_t count = cursor_u32(&c);
	uint32_t sizes[2] = { 0 };
	struct slice parts[2] = { { 0 } };

	if (count != 1 && count != 2)
		return lancet_fail(err, LANCET_CORRUPT, "value buffer of %" PRIu32 " parts", count);
	for (uint32_t i = 0; i < count; i++)
		sizes[i] = cursor_u32(&c);
	for (uint32_t i = 0; i < count; i++)
		parts[i] = cursor_take(&c, sizes[i]);
	if (c.bad || cursor_left(&c) != 0)
		return lancet_fail(err, LANCET_CORRUPT,
			"value buffer: its parts don't make up %zu bytes", buffer.size);
	return count == 1 ? constant_value_put(parts[0], value, err)
			  : put_variable(parts[0], parts[1], value, err);
}
