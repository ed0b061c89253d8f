/* Text and binary values: offsets, views, and what text must be; see import_arrow.h. */
#include "import_arrow.h"

#include <inttypes.h>
#include <stdlib.h>

#include "json_binary.h"
#include "json_text.h"
#include "util/cursor.h"
#include "util/macros.h"
#include "util/text.h"

#define VIEW_SIZE   16u
#define VIEW_PREFIX 4u  /* bytes of a longer value that its view repeats */
#define INLINE_SIZE 12u /* of a value that lies in its view */

static bool
is_text(const struct field *field)
{
	return field->kind == FIELD_VARIABLE &&
	       (field->format[0] == 'u' || field->format[0] == 'U');
}

static bool
is_start(const uint8_t *bytes)
{
	return (*bytes & 0xc0) != 0x80;
}

static int
fail_value(const struct field *field, uint64_t index, const char *why, struct import_fault *fault,
	struct lancet_error *err)
{
	*fault = (struct import_fault){ field, index };
	return lancet_fail(err, LANCET_INVALID, "%s", why);
}

/* One value after the other. */
static int
check_each(const struct field *field, const struct slice *values, const struct import_range *range,
	struct import_fault *fault, struct lancet_error *err)
{
	bool json = json_text_is_for(field);
	struct buf text = { 0 };
	int rc = LANCET_OK;

	for (uint64_t i = 0; rc == LANCET_OK && i < range->count; i++) {
		if (!import_range_valid(range, i))
			continue;
		text.size = 0;
		if (is_text(field) && !text_is_utf8(values[i]))
			rc = fail_value(
				field, range->first + i, "the text is no UTF-8", fault, err);
		else if (json && json_text_put(values[i], &text, err) != LANCET_OK)
			rc = fail_value(
				field, range->first + i, "the value is no stored JSON", fault, err);
	}
	buf_release(&text);
	return rc;
}

struct spans {
	uint8_t *offsets; /* of the range, count + 1 */
	unsigned width;
	struct slice bytes; /* that the offsets count in */
};

static uint64_t
span_offset(const struct spans *spans, uint64_t index)
{
	return spans->width == 4 ? load_u32(spans->offsets + index * 4)
				 : load_u64(spans->offsets + index * 8);
}

/* All of the text at once: good as a whole, and each value begins where a character does. */
static bool
text_is_good(const struct spans *spans, uint64_t count)
{
	uint64_t first = span_offset(spans, 0), last = span_offset(spans, count);

	if (!text_is_utf8(slice_of(spans->bytes.data + first, (size_t)(last - first))))
		return false;
	for (uint64_t i = 1; i < count; i++) {
		uint64_t at = span_offset(spans, i);

		if (at < last && !is_start(spans->bytes.data + at))
			return false;
	}
	return true;
}

/* Values have no bytes under nulls here, so that pages have none. */
static bool
has_hidden(const struct spans *spans, const struct import_range *range)
{
	for (uint64_t i = 0; range->valid != NULL && i < range->count; i++) {
		if (!import_range_valid(range, i) &&
			span_offset(spans, i) != span_offset(spans, i + 1))
			return true;
	}
	return false;
}

static int
check_spans(const struct spans *spans, uint64_t count, struct lancet_error *err)
{
	for (uint64_t i = 0; i < count; i++) {
		if (span_offset(spans, i + 1) < span_offset(spans, i))
			return lancet_fail(err, LANCET_CORRUPT, "offsets of values descend");
	}
	if (span_offset(spans, count) > spans->bytes.size)
		return lancet_fail(err, LANCET_CORRUPT, "values end beyond their buffer");
	return LANCET_OK;
}

/* JSON is stored in a form of its own. */
static int
append_json(const struct import_column *column, const struct slice *values,
	const struct import_range *range, struct array *into, struct import_fault *fault,
	struct lancet_error *err)
{
	struct buf stored = { 0 };
	int rc = LANCET_OK;

	for (uint64_t i = 0; rc == LANCET_OK && i < range->count; i++) {
		stored.size = 0;
		if (import_range_valid(range, i))
			rc = json_binary_put(values[i], &stored, err);
		if (rc == LANCET_INVALID)
			*fault = (struct import_fault){ column->field, range->first + i };
		if (rc == LANCET_OK)
			rc = array_append_bytes(into, buf_slice(&stored), err);
	}
	buf_release(&stored);
	return rc;
}

static int
append_each(const struct import_column *column, const struct slice *values,
	const struct import_range *range, struct array *into, struct import_fault *fault,
	struct lancet_error *err)
{
	if (column->type.is_json_text)
		return append_json(column, values, range, into, fault, err);
	TRY(check_each(column->field, values, range, fault, err));
	return array_append_slices(into, values, (size_t)range->count, err);
}

static int
append_spans(const struct import_column *column, const struct spans *spans,
	const struct import_range *range, struct array *into, struct import_fault *fault,
	struct lancet_error *err)
{
	lancet_autofree struct slice *values = NULL;

	TRY(check_spans(spans, range->count, err));
	if (!has_hidden(spans, range) && !json_text_is_for(column->field) &&
		(!is_text(column->field) || text_is_good(spans, range->count)))
		return array_append_offsets(
			into, spans->offsets, spans->width, range->count, spans->bytes, err);
	values = calloc((size_t)range->count + 1, sizeof(*values));
	if (values == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "values");
	for (uint64_t i = 0; i < range->count; i++) {
		uint64_t start = span_offset(spans, i);

		if (import_range_valid(range, i))
			values[i] = slice_of(spans->bytes.data + start,
				(size_t)(span_offset(spans, i + 1) - start));
	}
	return append_each(column, values, range, into, fault, err);
}

/* Makes offsets that count from the first one. */
static int
copy_offsets(const uint8_t *offsets, uint64_t first, uint64_t count, struct spans *spans,
	struct lancet_error *err)
{
	spans->offsets = malloc((size_t)(count + 1) * spans->width);
	if (spans->offsets == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "offsets");
	for (uint64_t i = 0; i <= count; i++) {
		uint64_t offset = (spans->width == 4 ? load_u32(offsets + i * 4)
						     : load_u64(offsets + i * 8)) -
				  first;

		memcpy(spans->offsets + i * spans->width, &offset, spans->width);
	}
	return LANCET_OK;
}

int
import_append_bytes(struct import_batch *batch, const struct import_column *column,
	const struct import_range *range, struct array *into, struct import_fault *fault,
	struct lancet_error *err)
{
	struct spans spans = { .width = column->type.width };
	struct buf scratch[2] = { 0 };
	uint64_t first, last;
	const uint8_t *offsets, *bytes;
	int rc;

	if (range->count == 0)
		return LANCET_OK;
	rc = import_batch_bytes(batch, column->first_buffer + 1, range->first * spans.width,
		(range->count + 1) * spans.width, &scratch[0], &offsets, err);
	if (rc == LANCET_OK) {
		first = spans.width == 4 ? load_u32(offsets) : load_u64(offsets);
		last = spans.width == 4 ? load_u32(offsets + range->count * 4)
					: load_u64(offsets + range->count * 8);
		if (last < first)
			rc = lancet_fail(err, LANCET_CORRUPT, "offsets of values descend");
	}
	if (rc == LANCET_OK)
		rc = import_batch_bytes(batch, column->first_buffer + 2, first, last - first,
			&scratch[1], &bytes, err);
	if (rc == LANCET_OK)
		rc = copy_offsets(offsets, first, range->count, &spans, err);
	if (rc == LANCET_OK) {
		spans.bytes = slice_of(bytes, (size_t)(last - first));
		rc = append_spans(column, &spans, range, into, fault, err);
	}
	free(spans.offsets);
	buf_release(&scratch[0]);
	buf_release(&scratch[1]);
	return rc;
}

/* i32 size; up to 12 bytes: the value, else its first four, i32 buffer, i32 offset. */
static int
find_view(struct import_batch *batch, const struct import_column *column, const uint8_t *view,
	struct slice *ret_value, struct lancet_error *err)
{
	uint32_t size = load_u32(view), buffer = load_u32(view + 8), offset = load_u32(view + 12);
	struct slice bytes;

	if (size <= INLINE_SIZE) {
		*ret_value = slice_of(view + 4, size);
		return LANCET_OK;
	}
	if (buffer >= column->buffer_count - 2)
		return lancet_fail(err, LANCET_CORRUPT, "a view of a buffer that is not there");
	TRY(import_batch_whole(batch, column->first_buffer + 2 + buffer, &bytes, err));
	if (offset > bytes.size || size > bytes.size - offset)
		return lancet_fail(err, LANCET_CORRUPT, "a view passes the end of its buffer");
	if (memcmp(bytes.data + offset, view + 4, VIEW_PREFIX) != 0)
		return lancet_fail(err, LANCET_CORRUPT, "a view of a value that begins otherwise");
	*ret_value = slice_of(bytes.data + offset, size);
	return LANCET_OK;
}

int
import_append_views(struct import_batch *batch, const struct import_column *column,
	const struct import_range *range, struct array *into, struct import_fault *fault,
	struct lancet_error *err)
{
	lancet_autofree struct slice *values = NULL;
	struct buf scratch = { 0 };
	const uint8_t *views = NULL;
	int rc = import_batch_bytes(batch, column->first_buffer + 1, range->first * VIEW_SIZE,
		range->count * VIEW_SIZE, &scratch, &views, err);

	if (rc == LANCET_OK) {
		values = calloc((size_t)range->count + 1, sizeof(*values));
		if (values == NULL)
			rc = lancet_fail(err, LANCET_NO_MEMORY, "values");
	}
	for (uint64_t i = 0; rc == LANCET_OK && i < range->count; i++) {
		if (import_range_valid(range, i))
			rc = find_view(batch, column, views + i * VIEW_SIZE, &values[i], err);
	}
	if (rc == LANCET_OK)
		rc = append_each(column, values, range, into, fault, err);
	buf_release(&scratch);
	return rc;
}
