/* End positions with nulls in them: what lists and values of variable size have instead of offsets.
 *
 * Position x of a value is its end when x < adjustment; otherwise the value is null and its end is
 * x - adjustment. The values begin where the one before ends, at 0 in each page: for rows [a, b)
 * the positions of rows a - 1 to b - 1 are read. Format facts: v2.0 page encodings, Binary and
 * List.
 */
#include "v20_node.h"

#include <inttypes.h>

#include "util/bits.h"
#include "util/macros.h"

enum {
	SOME_NULL = 1,
	DAMAGED = 2, /* a position that is out of range or before the one before it */
};

static uint64_t
end_of(uint64_t stored, uint64_t adjustment)
{
	return stored < adjustment ? stored : stored - adjustment;
}

/* offsets[i] = end of value i - start + base. The end before each one is worked out again, so that
 * no step waits for the one before it. */
lancet_hot static unsigned
convert(const uint64_t *restrict stored, uint64_t count, uint64_t adjustment, uint64_t start,
	uint32_t base, uint32_t *restrict offsets)
{
	uint64_t first = end_of(stored[0], adjustment);
	uint64_t nulls = stored[0] >= adjustment;
	uint64_t bad = (uint64_t)(first >= adjustment) | (uint64_t)(first < start);

	offsets[0] = (uint32_t)(first - start) + base;
	for (uint64_t i = 1; i < count; i++) {
		uint64_t end = end_of(stored[i], adjustment);

		nulls |= (uint64_t)(stored[i] >= adjustment);
		bad |= (uint64_t)(end >= adjustment);
		bad |= (uint64_t)(end < end_of(stored[i - 1], adjustment));
		offsets[i] = (uint32_t)(end - start) + base;
	}
	return (nulls != 0 ? SOME_NULL : 0) | (bad != 0 ? DAMAGED : 0);
}

lancet_hot static void
clear_nulls(
	uint8_t *validity, uint64_t at, const uint64_t *stored, uint64_t count, uint64_t adjustment)
{
	for (uint64_t i = 0; i < count; i++, at++)
		validity[at >> 3] &= (uint8_t) ~((unsigned)(stored[i] >= adjustment) << (at & 7));
}

/* The ask for positions: one more in front of each range that has one. */
static int
ask_with_leads(struct v20_node *node, const struct v20_ask *ask, struct v20_ask *ret_leads,
	struct lancet_error *err)
{
	struct buf *ranges = &node->work->ranges;
	uint64_t total = 0;

	ranges->size = 0;
	for (size_t i = 0; i < ask->count; i++) {
		uint64_t lead = ask->ranges[i].first > 0;
		struct row_range range = {
			ask->ranges[i].first * ask->scale - lead,
			ask->ranges[i].count * ask->scale + lead,
		};

		total += range.count;
		buf_put(ranges, &range, sizeof(range));
	}
	TRY(buf_check(ranges, "ranges of values", err));
	*ret_leads = (struct v20_ask){
		.ranges = (const struct row_range *)ranges->data,
		.count = ask->count,
		.scale = 1,
		.total = total,
	};
	return LANCET_OK;
}

/* One range of the ask, whose positions are at `stored`, without the leading one. */
static int
convert_range(const struct v20_node *node, const uint64_t *stored, uint64_t count, uint64_t start,
	uint64_t limit, struct v20_ends *ends, uint64_t *done, struct lancet_error *err)
{
	uint64_t adjustment = node->parameter;
	uint64_t end = end_of(stored[count - 1], adjustment);
	struct row_range place = { start, end - start };
	unsigned seen;

	if (end < start || end > limit)
		return lancet_fail(err, LANCET_CORRUPT,
			"%s: values from %" PRIu64 " to %" PRIu64 " of %" PRIu64,
			node->encoding->name, start, end, limit);
	if (place.count > UINT32_MAX - ends->total)
		return lancet_fail(err, LANCET_LIMIT,
			"%s: more than 4 GiB of values at once: ask for fewer rows",
			node->encoding->name);
	seen = convert(stored, count, adjustment, start, ends->total,
		(uint32_t *)(void *)ends->offsets->data + *done + 1);
	if (seen & DAMAGED)
		return lancet_fail(err, LANCET_CORRUPT,
			"%s: ends of values descend or pass the adjustment of %" PRIu64,
			node->encoding->name, adjustment);
	if ((seen & SOME_NULL) && ends->validity->size == 0)
		buf_fill(ends->validity, 0xff, (size_t)bits_size(ends->offsets->size / 4 - 1));
	TRY(buf_check(ends->validity, "validity", err));
	if (seen & SOME_NULL)
		clear_nulls(ends->validity->data, *done, stored, count, adjustment);
	ends->total += (uint32_t)place.count;
	*done += count;
	buf_put(ends->places, &place, sizeof(place));
	return buf_check(ends->places, "places of values", err);
}

int
v20_read_ends(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	uint64_t limit, struct v20_ends *ends, struct lancet_error *err)
{
	struct v20_ask leads;
	const uint64_t *stored;
	uint64_t done = 0;

	if (ask->total >= SIZE_MAX / sizeof(uint32_t))
		return lancet_fail(err, LANCET_LIMIT, "%" PRIu64 " values at once", ask->total);
	TRY(ask_with_leads(node, ask, &leads, err));
	TRY(v20_read_values(page, node, node->inner, &leads, err));
	if (node->work->values.null_count > 0)
		return lancet_fail(err, LANCET_CORRUPT, "%s: ends of values that are null",
			node->encoding->name);
	if (!buf_reserve(ends->offsets, (size_t)(ask->total + 1) * sizeof(uint32_t)))
		return buf_check(ends->offsets, "offsets of values", err);
	ends->offsets->size = (size_t)(ask->total + 1) * sizeof(uint32_t);
	memset(ends->offsets->data, 0, sizeof(uint32_t));
	ends->total = 0;
	stored = (const uint64_t *)(const void *)node->work->values.data.data;
	for (size_t i = 0; i < ask->count; i++) {
		uint64_t count = ask->ranges[i].count * ask->scale;
		uint64_t start =
			leads.ranges[i].count > count ? end_of(*stored++, node->parameter) : 0;

		if (count > 0)
			TRY(convert_range(node, stored, count, start, limit, ends, &done, err));
		stored += count;
	}
	return LANCET_OK;
}
