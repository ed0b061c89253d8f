/* Parsing and sorting of row_ranges.h. */
#include "row_ranges.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"
#include "util/text.h"

#define FRAGMENT_END 0xffffffffu /* ids of fragments are below it */

struct parser {
	struct row_ranges *ranges;
	size_t capacity;
	struct lancet_error *err;
};

static int
fail(const struct parser *parser, struct slice part, const char *why)
{
	return lancet_fail(parser->err, LANCET_INVALID, "\"%.*s\": %s",
		part.size < 60 ? (int)part.size : 60, (const char *)part.data, why);
}

static int
add(struct parser *parser, uint64_t first, uint64_t last)
{
	struct row_ranges *ranges = parser->ranges;

	if (ranges->count == ROW_RANGES_MAX)
		return lancet_fail(
			parser->err, LANCET_LIMIT, "more than %zu ranges of rows", ROW_RANGES_MAX);
	if (ranges->count == parser->capacity) {
		size_t capacity = parser->capacity == 0 ? 16 : 2 * parser->capacity;
		struct row_id_range *list = realloc(ranges->list, capacity * sizeof(*list));

		if (list == NULL)
			return lancet_fail(parser->err, LANCET_NO_MEMORY, "%zu ranges", capacity);
		ranges->list = list;
		parser->capacity = capacity;
	}
	ranges->list[ranges->count++] = (struct row_id_range){ first, last };
	return LANCET_OK;
}

/* Takes what is before the next separator off the text; false when nothing is left. */
static bool
take_part(struct slice *text, char separator, struct slice *ret_part, bool *more)
{
	const uint8_t *end;

	if (!*more)
		return false;
	end = text->size == 0 ? NULL : memchr(text->data, separator, text->size);
	*more = end != NULL;
	*ret_part = *more ? slice_of(text->data, (size_t)(end - text->data)) : *text;
	if (*more)
		*text = slice_of(end + 1, text->size - ret_part->size - 1);
	return true;
}

/* "FIRST" or "FIRST-LAST", each at most `max`; `base` is added. */
static int
parse_range(struct parser *parser, struct slice part, uint64_t max, uint64_t base)
{
	const uint8_t *dash = part.size == 0 ? NULL : memchr(part.data, '-', part.size);
	size_t size = dash != NULL ? (size_t)(dash - part.data) : part.size;
	uint64_t first, last;

	if (!text_to_u64(slice_of(part.data, size), &first))
		return fail(parser, part, "no row, and no range of rows");
	last = first;
	if (dash != NULL && !text_to_u64(slice_of(dash + 1, part.size - size - 1), &last))
		return fail(parser, part, "no row, and no range of rows");
	if (first > last)
		return fail(parser, part, "the range ends before it begins");
	if (last > max)
		return fail(parser, part, "no row has such a number");
	return add(parser, base + first, base + last);
}

static int
parse_list(struct parser *parser, struct slice text, uint64_t max, uint64_t base)
{
	struct slice part;
	bool more = true;

	while (take_part(&text, ',', &part, &more))
		TRY(parse_range(parser, part, max, base));
	return LANCET_OK;
}

/* "FRAG:OFFSETS" */
static int
parse_fragment(struct parser *parser, struct slice part)
{
	const uint8_t *colon = part.size == 0 ? NULL : memchr(part.data, ':', part.size);
	size_t size = colon != NULL ? (size_t)(colon - part.data) : 0;
	uint64_t fragment;

	if (colon == NULL || !text_to_u64(slice_of(part.data, size), &fragment))
		return fail(parser, part, "FRAGMENT:OFFSETS is due");
	if (fragment >= FRAGMENT_END)
		return fail(parser, part, "no fragment has such an id");
	return parse_list(
		parser, slice_of(colon + 1, part.size - size - 1), UINT32_MAX, fragment << 32);
}

static int
parse_addrs(struct parser *parser, struct slice text)
{
	struct slice part;
	bool more = true;

	while (take_part(&text, ';', &part, &more))
		TRY(parse_fragment(parser, part));
	return LANCET_OK;
}

static int
compare_ranges(const void *left, const void *right)
{
	const struct row_id_range *a = left, *b = right;

	return (a->first > b->first) - (a->first < b->first);
}

/* Those that overlap or touch become one, but never over the end of a fragment: an address there
 * belongs to nobody, so there is always a gap. */
static void
merge(struct row_ranges *ranges)
{
	size_t kept = 0;

	qsort(ranges->list, ranges->count, sizeof(*ranges->list), compare_ranges);
	for (size_t i = 0; i < ranges->count; i++) {
		struct row_id_range range = ranges->list[i];
		struct row_id_range *last = &ranges->list[kept - (kept > 0)];

		if (kept > 0 && (last->last == UINT64_MAX || range.first <= last->last + 1))
			last->last = range.last > last->last ? range.last : last->last;
		else
			ranges->list[kept++] = range;
	}
	ranges->count = kept;
}

static int
finish(struct row_ranges *ranges, int rc, struct row_ranges *ret_ranges)
{
	if (rc != LANCET_OK) {
		row_ranges_release(ranges);
		return rc;
	}
	merge(ranges);
	*ret_ranges = *ranges;
	return LANCET_OK;
}

int
row_ranges_ids(const char *text, struct row_ranges *ret_ranges, struct lancet_error *err)
{
	struct row_ranges ranges = { 0 };
	struct parser parser = { .ranges = &ranges, .err = err };

	return finish(&ranges, parse_list(&parser, slice_text(text), UINT64_MAX, 0), ret_ranges);
}

int
row_ranges_addrs(const char *text, struct row_ranges *ret_ranges, struct lancet_error *err)
{
	struct row_ranges ranges = { 0 };
	struct parser parser = { .ranges = &ranges, .err = err };

	return finish(&ranges, parse_addrs(&parser, slice_text(text)), ret_ranges);
}

void
row_ranges_release(struct row_ranges *ranges)
{
	free(ranges->list);
	*ranges = (struct row_ranges){ 0 };
}

uint64_t
row_ranges_total(const struct row_ranges *ranges, uint64_t max)
{
	uint64_t total = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		uint64_t more = ranges->list[i].last - ranges->list[i].first;

		if (more >= max - total)
			return max;
		total += more + 1;
	}
	return total;
}

size_t
row_ranges_find(const struct row_ranges *ranges, uint64_t value)
{
	size_t low = 0, high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->list[middle].last < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
row_ranges_predicate(
	const struct row_ranges *ranges, const char *column, size_t size_max, struct buf *into)
{
	for (size_t i = 0; i < ranges->count; i++) {
		struct row_id_range range = ranges->list[i];
		const char * or = i > 0 ? " OR " : "";

		if (into->size > size_max) {
			buf_put_text(into, " OR ...");
			return;
		}
		if (range.first == range.last)
			buf_printf(into, "%s%s = %" PRIu64, or, column, range.first);
		else
			buf_printf(into, "%s%s BETWEEN %" PRIu64 " AND %" PRIu64, or, column,
				range.first, range.last);
	}
}
