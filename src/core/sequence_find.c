/* Rows by value: the way back through a sequence; see sequence.h. */
#include "sequence.h"

#include "sequence_parts.h"
#include "util/macros.h"

#define BLOCK          2048u /* values decoded at a time */
#define SIEVE_BITS_LOG 14u
#define SIEVE_BITS     (1u << SIEVE_BITS_LOG)
#define SIEVE_WANTED   512u /* for more the sieve has few bits */

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

/* Tells most values that are not wanted from the others. */
struct sieve {
	uint64_t bits[SIEVE_BITS / 64];
};

static unsigned
sieve_bit(uint64_t value)
{
	return (unsigned)(value * 0x9e3779b97f4a7c15u >> (64 - SIEVE_BITS_LOG));
}

static void
sieve_fill(struct sieve *sieve, const struct sequence_search *search)
{
	memset(sieve->bits, 0, sizeof(sieve->bits));
	for (size_t i = 0; i < search->count; i++) {
		unsigned bit = sieve_bit(search->wanted[i]);

		sieve->bits[bit / 64] |= UINT64_C(1) << bit % 64;
	}
}

static bool
sieve_passes(const struct sieve *sieve, uint64_t value)
{
	unsigned bit = sieve_bit(value);

	return (sieve->bits[bit / 64] >> bit % 64 & 1) != 0;
}

/* Among values that ascend, of which there is at least one: few of them need to be looked at. */
static int
search_ascending(const struct sequence_search *search, uint64_t row, const uint64_t *values,
	size_t count, struct lancet_error *err)
{
	size_t low = 0;

	for (size_t i = lower_bound(search, values[0]);
		i < search->count && search->wanted[i] <= values[count - 1]; i++) {
		size_t high = count;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (values[middle] < search->wanted[i])
				low = middle + 1;
			else
				high = middle;
		}
		if (values[low] == search->wanted[i])
			TRY(search->found(search->user, row + low, i, err));
	}
	return LANCET_OK;
}

int
sequence_search_values(const struct sequence_search *search, uint64_t row, const uint64_t *values,
	size_t count, bool ascend, struct lancet_error *err)
{
	bool sifted = search->count <= SIEVE_WANTED && count >= search->count;
	uint64_t low = 0, high = 0; /* no wanted value lies between them */
	struct sieve sieve;

	if (search->count == 0 || count == 0)
		return LANCET_OK;
	if (ascend && search->count < count)
		return search_ascending(search, row, values, count, err);
	if (sifted)
		sieve_fill(&sieve, search);
	for (size_t i = 0; i < count; i++) {
		uint64_t value = values[i];
		size_t at;

		if ((value > low && value < high) || (sifted && !sieve_passes(&sieve, value)))
			continue;
		at = lower_bound(search, value);
		low = at > 0 ? search->wanted[at - 1] : 0;
		high = at < search->count ? search->wanted[at] : UINT64_MAX;
		if (at < search->count && high == value)
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
		TRY(sequence_search_values(
			hunt->search, hunt->row + first, values, count, false, err));
	}
	return LANCET_OK;
}

static int
find_in_bitmap(struct hunt *hunt, struct source *src, const struct segment *segment,
	const uint64_t *ranks, struct lancet_error *err)
{
	const struct sequence_search *search = hunt->search;

	for (size_t i = lower_bound(search, segment->start);
		i < search->count && search->wanted[i] < segment->end; i++) {
		uint64_t row;

		TRY(segment_bitmap_find(src, segment, ranks, search->wanted[i], &row, err));
		if (row != UINT64_MAX)
			TRY(search->found(search->user, hunt->row + row, i, err));
		hunt->decoded++;
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
	else if (segment->kind == SEGMENT_BITMAP && ranks != NULL)
		*rc = find_in_bitmap(hunt, src, segment, ranks, err);
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
