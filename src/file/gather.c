/* Values gathered for pages; see gather.h. */
#include "gather.h"

#include <inttypes.h>

#include "array_grow.h"
#include "util/macros.h"

/* How many values from `first` on are all valid, or all null. */
static uint64_t
run_of(const struct array *array, uint64_t first, uint64_t end, bool *ret_valid)
{
	bool valid = array_is_valid(array, first);
	uint64_t at = first + 1;

	while (at < end && array_is_valid(array, at) == valid)
		at++;
	*ret_valid = valid;
	return at - first;
}

static bool hides(const struct array *array, uint64_t first, uint64_t count);

static bool is_something(const struct array *array, uint64_t first, uint64_t count);

/* True when these values, which are null, have something behind them. */
static bool
null_hides(const struct array *array, uint64_t first, uint64_t count)
{
	const struct field *field = array->field;
	uint64_t each = field->kind == FIELD_FIXED_LIST ? field->dimension : 1;

	switch (field->kind) {
	case FIELD_VARIABLE:
	case FIELD_LIST:
	case FIELD_MAP:
		return array_offset(array, first) != array_offset(array, first + count);
	case FIELD_FIXED_LIST:
	case FIELD_STRUCT:
		for (size_t i = 0; i < array->child_count; i++) {
			if (is_something(&array->children[i], first * each, count * each))
				return true;
		}
		return false;
	default:
		return false;
	}
}

/* The same for what is below a null: a null is something, too, where there may be none. */
static bool
is_something(const struct array *array, uint64_t first, uint64_t count)
{
	if (!array->field->nullable && array_nulls(array, first, count) > 0)
		return true;
	return null_hides(array, first, count);
}

static bool
child_hides(const struct array *array, uint64_t first, uint64_t count)
{
	uint64_t start;

	switch (array->field->kind) {
	case FIELD_LIST:
	case FIELD_MAP:
		start = array_offset(array, first);
		return hides(
			&array->children[0], start, array_offset(array, first + count) - start);
	case FIELD_FIXED_LIST:
		return hides(&array->children[0], first * array->field->dimension,
			count * array->field->dimension);
	case FIELD_STRUCT:
		for (size_t i = 0; i < array->child_count; i++) {
			if (hides(&array->children[i], first, count))
				return true;
		}
		return false;
	case FIELD_DICTIONARY:
		return array->children[0].null_count > 0;
	default:
		return false;
	}
}

/* True when there are nulls, here or below, that have something behind them, or keys of them. */
static bool
hides(const struct array *array, uint64_t first, uint64_t count)
{
	bool is_flat = array->field->kind == FIELD_FIXED || array->field->kind == FIELD_NULL;
	uint64_t end = first + count;
	bool valid;

	if (!is_flat && array_nulls(array, first, count) > 0) {
		for (uint64_t at = first, some; at < end; at += some) {
			some = run_of(array, at, end, &valid);
			if (!valid && null_hides(array, at, some))
				return true;
		}
	}
	return child_hides(array, first, count);
}

static int
append_blobs(struct array *into, const struct array *from, uint64_t first, uint64_t count,
	const struct blob_sink *blobs, struct lancet_error *err)
{
	for (uint64_t i = first; i < first + count; i++) {
		uint64_t place[2] = { 0, 0 }; /* position and size */
		struct slice bytes;

		if (!array_is_valid(from, i)) {
			TRY(array_append_nulls(into, 1, err));
			continue;
		}
		bytes = array_bytes(from, i);
		place[1] = bytes.size;
		if (bytes.size > 0)
			TRY(blobs->put(blobs->context, bytes, &place[0], err));
		for (unsigned part = 0; part < 2; part++)
			TRY(array_append_fixed(
				&into->children[part], 64, (const uint8_t *)&place[part], 1, err));
		TRY(array_extend(into, 1, err));
	}
	return LANCET_OK;
}

static int
append_keys(struct array *into, const struct array *from, uint64_t first, uint64_t count,
	struct lancet_error *err)
{
	const struct array *items = &from->children[0];

	for (uint64_t i = first; i < first + count; i++) {
		uint64_t key = array_is_valid(from, i) ? array_unsigned(from, i) : items->length;

		if (key < items->length && array_is_valid(items, key))
			TRY(array_append_range(into, from, i, 1, err));
		else if (array_is_valid(from, i) && key >= items->length)
			return lancet_fail(err, LANCET_CORRUPT,
				"key %" PRIu64 " of a dictionary of %" PRIu64 " values", key,
				items->length);
		else
			TRY(array_append_nulls(into, 1, err));
	}
	return LANCET_OK;
}

static int
append_lists(struct array *into, const struct array *from, uint64_t first, uint64_t count,
	const struct blob_sink *blobs, struct lancet_error *err)
{
	uint64_t start = array_offset(from, first);

	TRY(array_append_lists_of(into, from, first, count, err));
	return gather_append(&into->children[0], &from->children[0], start,
		array_offset(from, first + count) - start, blobs, err);
}

static bool
has_blobs(const struct field *field)
{
	if (field->blob != FIELD_NO_BLOB)
		return true;
	for (size_t i = 0; i < field->child_count; i++) {
		if (has_blobs(&field->children[i]))
			return true;
	}
	return false;
}

/* Of values whose own nulls hide nothing. */
static int
append_parts(struct array *into, const struct array *from, uint64_t first, uint64_t count,
	const struct blob_sink *blobs, struct lancet_error *err)
{
	uint64_t each = into->field->kind == FIELD_FIXED_LIST ? into->field->dimension : 1;

	switch (into->field->kind) {
	case FIELD_DICTIONARY:
		return append_keys(into, from, first, count, err);
	case FIELD_LIST:
	case FIELD_MAP:
		TRY(append_lists(into, from, first, count, blobs, err));
		break;
	case FIELD_FIXED_LIST:
	case FIELD_STRUCT:
		for (size_t i = 0; i < into->child_count; i++)
			TRY(gather_append(&into->children[i], &from->children[i], first * each,
				count * each, blobs, err));
		TRY(array_extend(into, count, err));
		break;
	default:
		return array_append_range(into, from, first, count, err);
	}
	if (from->validity.size == 0)
		return LANCET_OK;
	return array_set_validity(into, count, from->validity.data, first, err);
}

int
gather_append(struct array *into, const struct array *from, uint64_t first, uint64_t count,
	const struct blob_sink *blobs, struct lancet_error *err)
{
	uint64_t end = first + count;
	bool valid;

	if (into->field->blob != FIELD_NO_BLOB)
		return append_blobs(into, from, first, count, blobs, err);
	if (!has_blobs(into->field) && !hides(from, first, count))
		return array_append_range(into, from, first, count, err);
	if (into->field->kind == FIELD_DICTIONARY || array_nulls(from, first, count) == 0)
		return append_parts(into, from, first, count, blobs, err);
	for (uint64_t at = first, some; at < end; at += some) {
		some = run_of(from, at, end, &valid);
		if (valid)
			TRY(append_parts(into, from, at, some, blobs, err));
		else
			TRY(array_append_nulls(into, some, err));
	}
	return LANCET_OK;
}

uint64_t
gather_size(const struct field *field, const struct array *from, uint64_t first, uint64_t count)
{
	uint64_t width = field->large ? 8 : 4;
	uint64_t start, size = 0;

	if (field->blob != FIELD_NO_BLOB)
		return count * 16;
	switch (field->kind) {
	case FIELD_FIXED:
	case FIELD_DICTIONARY:
		return count * (field->bits < 8 ? 1 : field->bits / 8);
	case FIELD_VARIABLE:
		return count * width + array_offset(from, first + count) -
		       array_offset(from, first);
	case FIELD_LIST:
	case FIELD_MAP:
		start = array_offset(from, first);
		return count * width + gather_size(&field->children[0], &from->children[0], start,
					       array_offset(from, first + count) - start);
	case FIELD_FIXED_LIST:
		return count + gather_size(&field->children[0], &from->children[0],
				       first * field->dimension, count * field->dimension);
	case FIELD_STRUCT:
		for (size_t i = 0; i < field->child_count; i++)
			size += gather_size(&field->children[i], &from->children[i], first, count);
		break;
	case FIELD_NULL:
		break;
	}
	return size + count;
}

int
gather_has_keys(
	struct array *into, const struct array *from, bool *ret_has, struct lancet_error *err)
{
	const struct field *field = into->field;
	unsigned bits = field->bits - (field->is_signed ? 1 : 0);
	uint64_t more;

	*ret_has = true;
	if (field->blob != FIELD_NO_BLOB)
		return LANCET_OK;
	if (field->kind == FIELD_DICTIONARY) {
		more = from->children[0].length;
		if (bits >= 63 || into->children[0].length + more <= UINT64_C(1) << bits)
			return LANCET_OK;
		TRY(array_dictionary_missing(into, &from->children[0], &more, err));
		*ret_has = into->children[0].length + more <= UINT64_C(1) << bits;
		return LANCET_OK;
	}
	for (size_t i = 0; *ret_has && i < into->child_count; i++)
		TRY(gather_has_keys(&into->children[i], &from->children[i], ret_has, err));
	return LANCET_OK;
}
