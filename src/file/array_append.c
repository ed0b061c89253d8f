/* Growing arrays: values, offsets and validity appended in bulk; see array.h.
 *
 * Bytes are in memory as they are in the file and in Arrow: little-endian. Capacity is counted
 * against the budget before it is taken, so a small file that promises enormous values is refused
 * instead of believed.
 */
#include "array.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "array_dictionary.h"
#include "array_grow.h"
#include "util/bits.h"
#include "util/macros.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "values are kept as they are stored");

static bool
has_offsets(const struct field *field)
{
	return field->kind == FIELD_VARIABLE || field->kind == FIELD_LIST ||
	       field->kind == FIELD_MAP;
}

unsigned
array_offset_width(const struct array *array)
{
	return array->field->large ? 8 : 4;
}

int
array_grow(struct array *array, struct buf *buf, uint64_t more, struct lancet_error *err)
{
	struct array_budget *budget = array->budget;
	size_t before = buf->capacity;
	size_t left = budget->limit > budget->used ? budget->limit - budget->used : 0;

	if (buf->data != NULL && more <= buf->capacity - buf->size)
		return LANCET_OK;
	if (more > SIZE_MAX / 2 - buf->size || buf->size + more - before > left)
		return lancet_fail(err, LANCET_LIMIT,
			"values take more than the %zu bytes they may: ask for fewer rows",
			budget->limit);
	if (!buf_reserve(buf, (size_t)more))
		return buf_check(buf, "values", err);
	budget->used += buf->capacity - before;
	return LANCET_OK;
}

static void
give_back(struct array *array, struct buf *buf)
{
	array->budget->used -=
		buf->capacity < array->budget->used ? buf->capacity : array->budget->used;
	buf_release(buf);
}

static int
start_offsets(struct array *array, struct lancet_error *err)
{
	if (!has_offsets(array->field))
		return LANCET_OK;
	array->offsets.size = 0;
	TRY(array_grow(array, &array->offsets, array_offset_width(array), err));
	buf_fill(&array->offsets, 0, array_offset_width(array));
	return LANCET_OK;
}

int
array_init(struct array *array, const struct field *field, struct array_budget *budget,
	struct lancet_error *err)
{
	int rc;

	*array = (struct array){ .field = field, .budget = budget };
	if (field->child_count > 0) {
		array->children = calloc(field->child_count, sizeof(*array->children));
		if (array->children == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "array of values");
		array->child_count = field->child_count;
	}
	/* Every child gets its budget first: a failure in between leaves all of them releasable. */
	for (size_t i = 0; i < array->child_count; i++)
		array->children[i] =
			(struct array){ .field = &field->children[i], .budget = budget };
	rc = start_offsets(array, err);
	for (size_t i = 0; rc == LANCET_OK && i < array->child_count; i++)
		rc = array_init(&array->children[i], &field->children[i], budget, err);
	if (rc != LANCET_OK)
		array_release(array);
	return rc;
}

void
array_release(struct array *array)
{
	if (array == NULL || array->field == NULL)
		return;
	for (size_t i = 0; i < array->child_count; i++)
		array_release(&array->children[i]);
	free(array->children);
	dictionary_lookup_free(array->lookup);
	give_back(array, &array->validity);
	give_back(array, &array->offsets);
	give_back(array, &array->data);
	*array = (struct array){ 0 };
}

void
array_reset(struct array *array)
{
	array->length = array->null_count = 0;
	array->validity.size = array->data.size = 0;
	if (has_offsets(array->field))
		array->offsets.size = array_offset_width(array);
	dictionary_lookup_free(array->lookup);
	array->lookup = NULL;
	for (size_t i = 0; i < array->child_count; i++)
		array_reset(&array->children[i]);
}

/* Room in the bitmap for `length` values; it is made, all valid so far, when it was not there. */
static int
need_validity(struct array *array, uint64_t length, struct lancet_error *err)
{
	uint64_t had = array->validity.size == 0 ? 0 : array->length;

	TRY(array_grow(array, &array->validity, bits_size(length) - array->validity.size, err));
	array->validity.size = (size_t)bits_size(length);
	if (length > had)
		bits_fill(array->validity.data, had, length - had, true);
	return LANCET_OK;
}

int
array_lengthen(struct array *array, uint64_t count, bool valid, struct lancet_error *err)
{
	uint64_t length = array->length + count;

	if (length < array->length || length > INT64_MAX)
		return lancet_fail(err, LANCET_LIMIT, "%" PRIu64 " values are too many", count);
	if (count > 0 && (!valid || array->validity.size > 0)) {
		TRY(need_validity(array, length, err));
		if (!valid) {
			bits_fill(array->validity.data, array->length, count, false);
			array->null_count += count;
		}
	}
	array->length = length;
	return LANCET_OK;
}

static int
check_bits(const struct array *array, uint32_t bits, struct lancet_error *err)
{
	const struct field *field = array->field;

	if (field->kind != FIELD_FIXED && field->kind != FIELD_DICTIONARY)
		return lancet_fail(err, LANCET_CORRUPT,
			"values of %" PRIu32 " bits where the type has none", bits);
	if (field->bits != bits)
		return lancet_fail(err, LANCET_CORRUPT,
			"values of %" PRIu32 " bits, %" PRIu32 " expected", bits, field->bits);
	return LANCET_OK;
}

int
array_extend_fixed(struct array *array, uint32_t bits, uint64_t count, uint8_t **ret_place,
	struct lancet_error *err)
{
	uint64_t size;

	assert(bits % 8 == 0);
	TRY(check_bits(array, bits, err));
	if (__builtin_mul_overflow(count, (uint64_t)(bits / 8), &size))
		size = UINT64_MAX;
	TRY(array_grow(array, &array->data, size, err));
	TRY(array_lengthen(array, count, true, err));
	*ret_place = array->data.data + array->data.size;
	array->data.size += (size_t)size;
	return LANCET_OK;
}

int
array_append_bits(struct array *array, const uint8_t *bitmap, uint64_t first_bit, uint64_t count,
	struct lancet_error *err)
{
	uint64_t before = array->length;
	uint64_t size;

	TRY(check_bits(array, 1, err));
	TRY(array_lengthen(array, count, true, err));
	size = bits_size(array->length);
	TRY(array_grow(array, &array->data, size - array->data.size, err));
	if (size > array->data.size)
		array->data.data[size - 1] = 0; /* bits beyond the last value are written, too */
	array->data.size = (size_t)size;
	if (count > 0)
		bits_copy(array->data.data, before, bitmap, first_bit, count);
	return LANCET_OK;
}

int
array_append_fixed(struct array *array, uint32_t bits, const uint8_t *values, uint64_t count,
	struct lancet_error *err)
{
	uint8_t *place;

	if (bits == 1)
		return array_append_bits(array, values, 0, count, err);
	TRY(array_extend_fixed(array, bits, count, &place, err));
	if (count > 0)
		memcpy(place, values, (size_t)(count * (bits / 8)));
	return LANCET_OK;
}

int
array_append_list(struct array *array, uint64_t items, struct lancet_error *err)
{
	uint64_t end;

	if (array->field->kind != FIELD_LIST && array->field->kind != FIELD_MAP)
		return lancet_fail(err, LANCET_CORRUPT, "a list where the type has none");
	if (__builtin_add_overflow(array_offset(array, array->length), items, &end) ||
		end > (array->field->large ? INT64_MAX : INT32_MAX))
		return lancet_fail(err, LANCET_LIMIT,
			"lists of more items than offsets can tell: ask for fewer rows");
	TRY(array_grow(array, &array->offsets, array_offset_width(array), err));
	TRY(array_lengthen(array, 1, true, err));
	buf_put(&array->offsets, &end, array_offset_width(array));
	return LANCET_OK;
}

int
array_extend(struct array *array, uint64_t count, struct lancet_error *err)
{
	assert(array->field->kind == FIELD_STRUCT || array->field->kind == FIELD_FIXED_LIST ||
		array->field->kind == FIELD_NULL);
	return array_lengthen(array, count, true, err);
}

int
array_set_null(struct array *array, uint64_t index, struct lancet_error *err)
{
	assert(index < array->length);
	if (array->validity.size == 0)
		TRY(need_validity(array, array->length, err));
	if (bits_get(array->validity.data, index)) {
		bits_fill(array->validity.data, index, 1, false);
		array->null_count++;
	}
	return LANCET_OK;
}

int
array_set_validity(struct array *array, uint64_t count, const uint8_t *bitmap, uint64_t first_bit,
	struct lancet_error *err)
{
	uint64_t first = array->length - count;
	uint64_t before;

	assert(count <= array->length);
	if (count == 0)
		return LANCET_OK;
	if (array->validity.size == 0) {
		if (bits_count(bitmap, first_bit, count) == count)
			return LANCET_OK;
		TRY(need_validity(array, array->length, err));
	}
	before = count - bits_count(array->validity.data, first, count);
	bits_copy(array->validity.data, first, bitmap, first_bit, count);
	array->null_count += count - bits_count(array->validity.data, first, count);
	array->null_count -= before;
	return LANCET_OK;
}

uint64_t
array_nulls(const struct array *array, uint64_t first, uint64_t count)
{
	assert(first <= array->length && count <= array->length - first);
	if (array->validity.size == 0)
		return 0;
	return count - bits_count(array->validity.data, first, count);
}

uint64_t
array_unsigned(const struct array *array, uint64_t index)
{
	unsigned width = array->field->bits / 8;
	uint64_t value = 0;

	assert(index < array->length && width >= 1 && width <= 8);
	memcpy(&value, array->data.data + index * width, width);
	return value;
}

struct slice
array_bytes(const struct array *array, uint64_t index)
{
	uint64_t start = array_offset(array, index);
	uint64_t end = array_offset(array, index + 1);

	if (start == end)
		return slice_of("", 0);
	return slice_of(array->data.data + start, (size_t)(end - start));
}

bool
array_bit(const struct array *array, uint64_t index)
{
	assert(index < array->length && array->field->bits == 1);
	return bits_get(array->data.data, index);
}
