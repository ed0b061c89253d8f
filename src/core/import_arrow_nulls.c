/* Nulls where a field allows none; see import_arrow.h.
 *
 * Below a null everything may be null. So when a field that allows none has any, rows are walked
 * from the top to see whether they can be seen.
 */
#include "import_arrow.h"

#include "util/macros.h"

static bool
has_suspects(const struct array *array)
{
	if (!array->field->nullable && array->null_count > 0)
		return true;
	if (array->field->kind == FIELD_DICTIONARY)
		return false;
	for (size_t i = 0; i < array->child_count; i++) {
		if (has_suspects(&array->children[i]))
			return true;
	}
	return false;
}

static const struct field *find_null(const struct array *array, uint64_t first, uint64_t end);

static const struct field *
find_below(const struct array *array, uint64_t index)
{
	const struct field *found = NULL;

	switch (array->field->kind) {
	case FIELD_STRUCT:
		for (size_t i = 0; found == NULL && i < array->child_count; i++)
			found = find_null(&array->children[i], index, index + 1);
		return found;
	case FIELD_FIXED_LIST:
		return find_null(&array->children[0], index * array->field->dimension,
			(index + 1) * array->field->dimension);
	case FIELD_LIST:
	case FIELD_MAP:
		return find_null(&array->children[0], array_offset(array, index),
			array_offset(array, index + 1));
	default:
		return NULL;
	}
}

static const struct field *
find_null(const struct array *array, uint64_t first, uint64_t end)
{
	const struct field *found = NULL;

	for (uint64_t i = first; found == NULL && i < end; i++) {
		if (array_is_valid(array, i))
			found = find_below(array, i);
		else if (!array->field->nullable)
			found = array->field;
	}
	return found;
}

static void
forget_hidden(struct array *array)
{
	if (!array->field->nullable) {
		array->validity.size = 0;
		array->null_count = 0;
	}
	for (size_t i = 0; array->field->kind != FIELD_DICTIONARY && i < array->child_count; i++)
		forget_hidden(&array->children[i]);
}

int
import_check_nulls(struct array *column, struct import_fault *fault, struct lancet_error *err)
{
	if (!has_suspects(column))
		return LANCET_OK;
	for (uint64_t i = 0; i < column->length; i++) {
		const struct field *field = find_null(column, i, i + 1);

		if (field == NULL)
			continue;
		*fault = (struct import_fault){ field, i };
		return lancet_fail(err, LANCET_INVALID, "null, which the column must not be");
	}
	forget_hidden(column);
	return LANCET_OK;
}
