/* Rows by value: the way back through a sequence; see sequence.h. */
#include "sequence.h"

#include "sequence_parts.h"
#include "util/macros.h"

#define BLOCK 2048u /* values decoded at a time */

/* The first wanted value that is not below `value`, or count. */
static size_t
lower_bound(const struct sequence_search *search, uint64_t value)
{
	size_t low = 0, high = search->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->wanted[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int
sequence_search_values(const struct sequence_search *search, uint64_t row, const uint64_t *values,
	size_t count, struct lancet_error *err)
{
	uint64_t least, most;

	if (search->count == 0)
		return LANCET_OK;
	least = search->wanted[0];
	most = search->wanted[search->count - 1];
	for (size_t i = 0; i < count; i++) {
		size_t at;

		if (values[i] < least || values[i] > most)
			continue;
		at = lower_bound(search, values[i]);
		if (search->wanted[at] == values[i])
			TRY(search->found(search->user, row + i, at, err));
	}
	return LANCET_OK;
}

/* Walks the elements with the row that each starts at. */
struct hunt {
	const struct sequence *seq;
	const struct sequence_search *search;
	uint64_t row;
	uint64_t decoded;
};

static int
find_in_range(const struct hunt *hunt, const struct segment *segment, struct lancet_error *err)
{
	const struct sequence_search *search = hunt->search;

	for (size_t i = lower_bound(search, segment->start);
		i < search->count && search->wanted[i] < segment->end; i++)
		TRY(search->found(
			search->user, hunt->row + (search->wanted[i] - segment->start), i, err));
	return LANCET_OK;
}

static int
find_by_decoding(struct hunt *hunt, struct source *src, const struct sequence_element *element,
	const uint64_t *ranks, struct lancet_error *err)
{
	uint64_t values[BLOCK];
	uint64_t length = element->segment.length;

	for (uint64_t first = 0; first < length; first += BLOCK) {
		size_t count = length - first < BLOCK ? (size_t)(length - first) : BLOCK;

		TRY(hunt->seq->ops->read(
			src, element, ranks, first, count, values, &hunt->decoded, err));
		TRY(sequence_search_values(hunt->search, hunt->row + first, values, count, err));
	}
	return LANCET_OK;
}

/* True when none of the wanted values can be in a segment that tells where it starts and ends. */
static bool
is_outside(const struct sequence_search *search, const struct segment *segment)
{
	size_t first;

	if (segment->kind != SEGMENT_HOLES && segment->kind != SEGMENT_BITMAP)
		return false;
	first = lower_bound(search, segment->start);
	return first == search->count || search->wanted[first] >= segment->end;
}

static bool
visit(void *user, struct source *src, const struct sequence_element *element, const uint64_t *ranks,
	int *rc, struct lancet_error *err)
{
	struct hunt *hunt = user;
	const struct segment *segment = &element->segment;

	if (segment->kind == SEGMENT_RANGE)
		*rc = find_in_range(hunt, segment, err);
	else if (!is_outside(hunt->search, segment))
		*rc = find_by_decoding(hunt, src, element, ranks, err);
	hunt->row += segment->length;
	return *rc == LANCET_OK;
}

int
sequence_find(struct sequence *seq, const struct sequence_search *search, struct lancet_error *err)
{
	struct hunt hunt = { .seq = seq, .search = search };
	const uint64_t *layout;
	int rc = LANCET_OK;

	if (search->count == 0)
		return LANCET_OK;
	TRY(sequence_layout(seq, &layout, err));
	for (size_t i = 0; rc == LANCET_OK && i < seq->part_count; i++) {
		hunt.row = layout[i];
		rc = sequence_visit(seq, i, layout, visit, &hunt, err);
	}
	atomic_fetch_add_explicit(&seq->decoded, hunt.decoded, memory_order_relaxed);
	return rc;
}
