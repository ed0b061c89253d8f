/* Values of a range of rows, by the layout of their column; see import_arrow.h.
 *
 * Null lists keep no items here, whatever the file has under them: the items of a list are taken in
 * runs, and lists that overlap are taken twice. Recursion follows the fields of the dataset.
 */
#include "import_arrow.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/bits.h"
#include "util/cursor.h"
#include "util/macros.h"

bool
import_range_valid(const struct import_range *range, uint64_t index)
{
	return range->valid == NULL || bits_get(range->valid, range->valid_bit + index);
}

/* The marks of the range; none when the batch says that nothing is null. */
static int
load_validity(struct import_batch *batch, const struct import_column *column,
	struct import_range *range, struct buf *scratch, struct lancet_error *err)
{
	uint64_t first = range->first / 8;

	if (column->null_count == 0 || range->count == 0)
		return LANCET_OK;
	range->valid_bit = range->first % 8;
	TRY(import_batch_bytes(batch, column->first_buffer, first,
		bits_size(range->valid_bit + range->count), scratch, &range->valid, err));
	if (bits_count(range->valid, range->valid_bit, range->count) == range->count)
		range->valid = NULL;
	return LANCET_OK;
}

static int
append_bits(struct import_batch *batch, const struct import_column *column,
	const struct import_range *range, struct array *into, struct lancet_error *err)
{
	struct buf scratch = { 0 };
	const uint8_t *bits;
	uint64_t bit = range->first % 8;
	int rc = import_batch_bytes(batch, column->first_buffer + 1, range->first / 8,
		range->count == 0 ? 0 : bits_size(bit + range->count), &scratch, &bits, err);

	if (rc == LANCET_OK)
		rc = array_append_bits(into, bits, bit, range->count, err);
	buf_release(&scratch);
	return rc;
}

/* Two's complement with more bytes. */
static void
widen(const uint8_t *from, size_t from_width, uint8_t *into, size_t width, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++, from += from_width, into += width) {
		memcpy(into, from, from_width);
		memset(into + from_width, from[from_width - 1] & 0x80 ? 0xff : 0,
			width - from_width);
	}
}

static int
append_fixed(struct import_batch *batch, const struct import_column *column,
	const struct import_range *range, struct array *into, struct lancet_error *err)
{
	size_t width = column->type.width, wide = into->field->bits / 8;
	struct buf scratch = { 0 };
	const uint8_t *values;
	uint8_t *place;
	int rc = import_batch_bytes(batch, column->first_buffer + 1, range->first * width,
		range->count * width, &scratch, &values, err);

	if (rc == LANCET_OK)
		rc = array_extend_fixed(into, into->field->bits, range->count, &place, err);
	if (rc == LANCET_OK && range->count > 0 && wide == width)
		memcpy(place, values, (size_t)range->count * width);
	else if (rc == LANCET_OK)
		widen(values, width, place, wide, range->count);
	buf_release(&scratch);
	return rc;
}

/* The items of the lists of a range: list i has items [starts[i], ends[i]). */
struct lists {
	const uint8_t *starts, *ends;
	unsigned width;
	bool has_sizes; /* `ends` are sizes */
};

static uint64_t
load_number(const uint8_t *numbers, unsigned width, uint64_t index)
{
	return width == 4 ? load_u32(numbers + index * 4) : load_u64(numbers + index * 8);
}

/* False: they leave the child. */
static bool
list_items(const struct lists *lists, uint64_t index, uint64_t length, uint64_t *ret_start,
	uint64_t *ret_end)
{
	uint64_t start = load_number(lists->starts, lists->width, index);
	uint64_t end = load_number(lists->ends, lists->width, index);

	if (lists->has_sizes && __builtin_add_overflow(start, end, &end))
		return false;
	*ret_start = start;
	*ret_end = end;
	return start <= end && end <= length;
}

static int
load_lists(struct import_batch *batch, const struct import_column *column,
	const struct import_range *range, struct buf scratch[2], struct lists *ret_lists,
	struct lancet_error *err)
{
	unsigned width = column->type.width;
	uint64_t at = range->first * width, size = range->count * width;
	bool has_sizes = column->type.layout == IMPORT_LIST_VIEWS;
	struct lists lists = { .width = width, .has_sizes = has_sizes };

	if (!has_sizes && range->count > 0)
		size += width;
	TRY(import_batch_bytes(
		batch, column->first_buffer + 1, at, size, &scratch[0], &lists.starts, err));
	lists.ends = lists.starts + width;
	if (has_sizes)
		TRY(import_batch_bytes(
			batch, column->first_buffer + 2, at, size, &scratch[1], &lists.ends, err));
	*ret_lists = lists;
	return LANCET_OK;
}

/* From an item to the list that it is in. */
static void
blame_list(const struct lists *lists, const struct import_range *range, uint64_t length,
	struct import_fault *fault)
{
	uint64_t start, end;

	for (uint64_t i = 0; fault->field != NULL && i < range->count; i++) {
		if (import_range_valid(range, i) && list_items(lists, i, length, &start, &end) &&
			fault->index >= start && fault->index < end) {
			fault->index = range->first + i;
			return;
		}
	}
}

static int
append_items(struct import_batch *batch, const struct import_column *column,
	const struct lists *lists, const struct import_range *range, struct array *into,
	struct import_fault *fault, struct lancet_error *err)
{
	const struct import_column *child = &column->children[0];
	uint64_t run = 0, run_end = 0;

	for (uint64_t i = 0; i < range->count; i++) {
		bool valid = import_range_valid(range, i);
		uint64_t start = run_end, end = run_end;

		if (valid && !list_items(lists, i, child->length, &start, &end))
			return lancet_fail(
				err, LANCET_CORRUPT, "a list has items that are not there");
		TRY(array_append_list(into, end - start, err));
		if (start == end)
			continue;
		if (start != run_end) {
			TRY(import_append(
				batch, child, run, run_end - run, &into->children[0], fault, err));
			run = start;
		}
		run_end = end;
	}
	return import_append(batch, child, run, run_end - run, &into->children[0], fault, err);
}

static int
append_lists(struct import_batch *batch, const struct import_column *column,
	const struct import_range *range, struct array *into, struct import_fault *fault,
	struct lancet_error *err)
{
	struct buf scratch[2] = { 0 };
	struct lists lists;
	int rc = load_lists(batch, column, range, scratch, &lists, err);

	if (rc == LANCET_OK) {
		rc = append_items(batch, column, &lists, range, into, fault, err);
		blame_list(&lists, range, column->children[0].length, fault);
	}
	buf_release(&scratch[0]);
	buf_release(&scratch[1]);
	return rc;
}

static int
append_fixed_lists(struct import_batch *batch, const struct import_column *column,
	const struct import_range *range, struct array *into, struct import_fault *fault,
	struct lancet_error *err)
{
	uint64_t dimension = column->type.dimension;
	int rc;

	TRY(array_extend(into, range->count, err));
	rc = import_append(batch, &column->children[0], range->first * dimension,
		range->count * dimension, &into->children[0], fault, err);
	if (fault->field != NULL)
		fault->index /= dimension;
	return rc;
}

/* Parts that the file lacks are null. */
static int
append_structs(struct import_batch *batch, const struct import_column *column,
	const struct import_range *range, struct array *into, struct import_fault *fault,
	struct lancet_error *err)
{
	uint64_t length = into->length + range->count;

	TRY(array_extend(into, range->count, err));
	for (size_t i = 0; i < column->child_count; i++) {
		const struct import_column *child = &column->children[i];
		size_t place = (size_t)(child->field - into->field->children);

		TRY(import_append(batch, child, range->first, range->count, &into->children[place],
			fault, err));
	}
	for (size_t i = 0; i < into->child_count; i++) {
		if (into->children[i].length < length)
			TRY(array_append_nulls(
				&into->children[i], length - into->children[i].length, err));
	}
	return LANCET_OK;
}

static int
append_valid(struct import_batch *batch, const struct import_column *column,
	const struct import_range *range, struct array *into, struct import_fault *fault,
	struct lancet_error *err)
{
	switch (column->type.layout) {
	case IMPORT_BITS:
		return append_bits(batch, column, range, into, err);
	case IMPORT_FIXED:
		return append_fixed(batch, column, range, into, err);
	case IMPORT_BYTES:
		return import_append_bytes(batch, column, range, into, fault, err);
	case IMPORT_VIEWS:
		return import_append_views(batch, column, range, into, fault, err);
	case IMPORT_LISTS:
	case IMPORT_LIST_VIEWS:
		return append_lists(batch, column, range, into, fault, err);
	case IMPORT_FIXED_LISTS:
		return append_fixed_lists(batch, column, range, into, fault, err);
	case IMPORT_STRUCTS:
		return append_structs(batch, column, range, into, fault, err);
	case IMPORT_KEYS:
		return import_append_keys(batch, column, range, into, fault, err);
	case IMPORT_NULLS:
	case IMPORT_PLAIN:
		break;
	}
	return lancet_fail(err, LANCET_CORRUPT, "values without a layout");
}

int
import_append(struct import_batch *batch, const struct import_column *column, uint64_t first,
	uint64_t count, struct array *into, struct import_fault *fault, struct lancet_error *err)
{
	struct import_range range = { .first = first, .count = count };
	struct buf scratch = { 0 };
	int rc;

	if (first > column->length || count > column->length - first)
		return lancet_fail(err, LANCET_CORRUPT, "a column is too short");
	if (count > batch->read_max / sizeof(struct slice))
		return lancet_fail(err, LANCET_LIMIT, "%" PRIu64 " values at once", count);
	if (column->type.layout == IMPORT_NULLS)
		return array_append_nulls(into, count, err);
	if (column->type.layout == IMPORT_PLAIN)
		return import_append_plain(batch, column, first, count, into, fault, err);
	rc = load_validity(batch, column, &range, &scratch, err);
	if (rc == LANCET_OK)
		rc = append_valid(batch, column, &range, into, fault, err);
	if (rc == LANCET_OK && range.valid != NULL && column->type.layout != IMPORT_KEYS)
		rc = array_set_validity(into, count, range.valid, range.valid_bit, err);
	buf_release(&scratch);
	return rc;
}
