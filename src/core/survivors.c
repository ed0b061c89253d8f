/* A treemap of survivors as rank sets, and the way from rows to destinations and back.
 *
 * The keys of a treemap ascend, the sources of a transition need not: both are walked in step, over
 * the sources by id. What follows is arithmetic. Survivors have numbers through all sources, and a
 * destination is a range of them. Asked rows come in ranges of one source, whose ranks are taken in
 * one call.
 */
#include "survivors.h"

#include "util/cursor.h"
#include "util/macros.h"
#include "util/rankset.h"
#include "util/roaringx.h"

#include <assert.h>
#include <inttypes.h>

#define KEY_SIZE_MIN 12u /* a key, and the smallest bitmap */
#define BATCH        1024u

struct source {
	uint64_t first_row;
	uint64_t first_survivor;
	uint64_t first_addr; /* of the fragment */
	struct rankset *set; /* NULL: the treemap does not have it */
};

struct destination { /* with rows: empty ones are left out */
	uint64_t first_survivor;
	uint64_t survivor_count;
	uint64_t first_addr;
};

struct reuse_survivors {
	size_t source_count, destination_count;
	size_t footprint;
	struct destination *destinations; /* one more, of no rows */
	struct source sources[];          /* one more, at the end of the rows */
};

/* A source by its fragment. */
struct place {
	uint64_t fragment;
	size_t source;
};

static int
compare_places(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;

	if (x->fragment != y->fragment)
		return x->fragment < y->fragment ? -1 : 1;
	return x->source < y->source ? -1 : x->source > y->source;
}

static int
sort_sources(const struct lancet_transition *transition, struct place **ret_places,
	struct lancet_error *err)
{
	size_t count = transition->source_count;
	struct place *places = calloc(count == 0 ? 1 : count, sizeof(*places));

	if (places == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu sources", count);
	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){ transition->sources[i].id, i };
	qsort(places, count, sizeof(*places), compare_places);
	*ret_places = places;
	return LANCET_OK;
}

static int
parse_bitmap(struct cursor *c, const struct lancet_fragment_digest *digest,
	struct rankset **ret_set, struct lancet_error *err)
{
	struct slice rest = cursor_take(c, cursor_left(c));
	uint64_t cardinality;
	size_t size;

	TRY(roaringx_measure(rest, &size, &cardinality, err));
	TRY(rankset_open(slice_of(rest.data, size), digest->physical_rows, ret_set, err));
	c->at -= rest.size - size;
	return LANCET_OK;
}

/* The bitmap of each key, given to its source. */
static int
parse_keys(struct reuse_survivors *survivors, struct cursor *c, uint64_t key_count,
	const struct lancet_transition *transition, const struct place *places,
	struct lancet_error *err)
{
	size_t at = 0;
	uint32_t last = 0;

	for (uint64_t i = 0; i < key_count; i++) {
		uint32_t key = cursor_u32(c);
		int rc;

		if (c->bad)
			return lancet_fail(err, LANCET_CORRUPT, "cut at %zu bytes", c->in.size);
		if (i > 0 && key <= last)
			return lancet_fail(err, LANCET_CORRUPT,
				"fragment %" PRIu32 " after fragment %" PRIu32, key, last);
		last = key;
		while (at < survivors->source_count && places[at].fragment < key)
			at++;
		if (at == survivors->source_count || places[at].fragment != key)
			return lancet_fail(
				err, LANCET_CORRUPT, "fragment %" PRIu32 " is no source", key);
		rc = parse_bitmap(c, &transition->sources[places[at].source],
			&survivors->sources[places[at].source].set, err);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "fragment %" PRIu32, key);
	}
	if (cursor_left(c) != 0)
		return lancet_fail(err, LANCET_CORRUPT, "%zu bytes behind the end", cursor_left(c));
	return LANCET_OK;
}

static int
parse(struct reuse_survivors *survivors, struct slice bytes,
	const struct lancet_transition *transition, struct lancet_error *err)
{
	lancet_autofree struct place *places = NULL;
	struct cursor c = { .in = bytes };
	uint64_t key_count = cursor_u64(&c);

	if (c.bad || key_count > cursor_left(&c) / KEY_SIZE_MIN)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " fragments in %zu bytes",
			key_count, bytes.size);
	TRY(sort_sources(transition, &places, err));
	return parse_keys(survivors, &c, key_count, transition, places, err);
}

/* Numbers the rows and the survivors through the sources. */
static int
number_sources(struct reuse_survivors *survivors, const struct lancet_transition *transition,
	struct lancet_error *err)
{
	uint64_t row = 0;
	uint64_t survivor = 0;

	for (size_t i = 0; i < survivors->source_count; i++) {
		const struct lancet_fragment_digest *digest = &transition->sources[i];
		struct source *source = &survivors->sources[i];
		uint64_t count = source->set == NULL ? 0 : rankset_count(source->set);

		if (count != digest->physical_rows - digest->deleted_rows)
			return lancet_fail(err, LANCET_CORRUPT,
				"fragment %" PRIu64 ": %" PRIu64 " surviving rows, %" PRIu64
				" of %" PRIu64 " were deleted",
				digest->id, count, digest->deleted_rows, digest->physical_rows);
		source->first_row = row;
		source->first_survivor = survivor;
		source->first_addr = digest->id << 32;
		row += digest->physical_rows;
		survivor += count;
		survivors->footprint += source->set == NULL ? 0 : rankset_footprint(source->set);
	}
	survivors->sources[survivors->source_count].first_row = row;
	survivors->sources[survivors->source_count].first_survivor = survivor;
	return LANCET_OK;
}

/* Cuts the survivors into the destinations. */
static int
number_destinations(struct reuse_survivors *survivors, const struct lancet_transition *transition,
	struct lancet_error *err)
{
	uint64_t live = survivors->sources[survivors->source_count].first_survivor;
	uint64_t survivor = 0;

	for (size_t i = 0; i < transition->destination_count; i++) {
		const struct lancet_fragment_digest *digest = &transition->destinations[i];

		if (digest->physical_rows == 0)
			continue;
		survivors->destinations[survivors->destination_count++] = (struct destination){
			.first_survivor = survivor,
			.survivor_count = digest->physical_rows,
			.first_addr = digest->id << 32,
		};
		survivor += digest->physical_rows;
	}
	if (survivor != live)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " surviving rows for %" PRIu64 " of the destinations", live,
			survivor);
	return LANCET_OK;
}

static struct reuse_survivors *
allocate(const struct lancet_transition *transition)
{
	size_t source_count = transition->source_count;
	struct reuse_survivors *survivors;
	size_t size = sizeof(*survivors) + (source_count + 1) * sizeof(struct source) +
		      (transition->destination_count + 1) * sizeof(struct destination);

	survivors = calloc(1, size);
	if (survivors == NULL)
		return NULL;
	survivors->source_count = source_count;
	survivors->destinations = (void *)(survivors->sources + source_count + 1);
	survivors->footprint = size;
	return survivors;
}

int
survivors_open(struct slice bytes, const struct lancet_transition *transition,
	struct reuse_survivors **ret_survivors, struct lancet_error *err)
{
	struct reuse_survivors *survivors = allocate(transition);
	int rc;

	assert(transition->fault == LANCET_OK);
	if (survivors == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "surviving rows of %zu sources",
			transition->source_count);
	rc = parse(survivors, bytes, transition, err);
	if (rc == LANCET_OK)
		rc = number_sources(survivors, transition, err);
	if (rc == LANCET_OK)
		rc = number_destinations(survivors, transition, err);
	if (rc != LANCET_OK) {
		survivors_free(survivors);
		return lancet_wrap(err, rc, "surviving rows");
	}
	*ret_survivors = survivors;
	return LANCET_OK;
}

void
survivors_free(struct reuse_survivors *survivors)
{
	if (survivors == NULL)
		return;
	for (size_t i = 0; i < survivors->source_count; i++)
		rankset_free(survivors->sources[i].set);
	free(survivors);
}

size_t
survivors_footprint(const struct reuse_survivors *survivors)
{
	return survivors->footprint;
}

/* The searches below look at `near` and at the one behind it first, which ascending rows are in. */

static const struct source *
find_source_of_row(const struct reuse_survivors *survivors, const struct source *near, uint64_t row)
{
	size_t from = 0;
	size_t to = survivors->source_count;

	assert(row < survivors->sources[to].first_row);
	for (size_t i = 0; i < 2 && near < survivors->sources + to; i++, near++) {
		if (near->first_row <= row && row < near[1].first_row)
			return near;
	}
	while (to - from > 1) {
		size_t middle = from + (to - from) / 2;

		if (survivors->sources[middle].first_row <= row)
			from = middle;
		else
			to = middle;
	}
	return &survivors->sources[from];
}

static const struct destination *
find_destination(
	const struct reuse_survivors *survivors, const struct destination *near, uint64_t survivor)
{
	size_t from = 0;
	size_t to = survivors->destination_count;

	near++;
	if (near < survivors->destinations + to && survivor >= near->first_survivor &&
		survivor - near->first_survivor < near->survivor_count)
		return near;
	while (to - from > 1) {
		size_t middle = from + (to - from) / 2;

		if (survivors->destinations[middle].first_survivor <= survivor)
			from = middle;
		else
			to = middle;
	}
	return &survivors->destinations[from];
}

/* Makes addresses of ranks in one source. RANKSET_ABSENT stays as it is: it is LANCET_NO_ROW. */
static lancet_hot const struct destination *
place_ranks(const struct reuse_survivors *survivors, const struct destination *near,
	uint64_t first_survivor, size_t count, uint64_t *ranks)
{
	static_assert(RANKSET_ABSENT == LANCET_NO_ROW, "absent rows have no address");
	uint64_t shift = first_survivor - near->first_survivor;

	for (size_t i = 0; i < count; i++) {
		uint64_t absent = 0 - (uint64_t)(ranks[i] == RANKSET_ABSENT);
		uint64_t offset = ranks[i] + shift;

		if (((offset >= near->survivor_count) & ~absent) != 0) {
			near = find_destination(survivors, near, first_survivor + ranks[i]);
			shift = first_survivor - near->first_survivor;
			offset = ranks[i] + shift;
		}
		ranks[i] = (near->first_addr + offset) | absent;
	}
	return near;
}

void
survivors_locate(const struct reuse_survivors *survivors, const uint64_t *rows, size_t count,
	uint64_t *row_addrs)
{
	const struct destination *destination = survivors->destinations;
	const struct source *source = survivors->sources;
	uint32_t offsets[BATCH];

	for (size_t done = 0; done < count;) {
		size_t most = count - done < BATCH ? count - done : BATCH;
		uint64_t length;
		size_t n;

		source = find_source_of_row(survivors, source, rows[done]);
		length = source[1].first_row - source->first_row;
		for (n = 0; n < most && rows[done + n] - source->first_row < length; n++)
			offsets[n] = (uint32_t)(rows[done + n] - source->first_row);
		if (source->set == NULL) {
			for (size_t i = 0; i < n; i++)
				row_addrs[done + i] = LANCET_NO_ROW;
		} else {
			rankset_ranks(source->set, offsets, n, row_addrs + done);
			destination = place_ranks(survivors, destination, source->first_survivor, n,
				row_addrs + done);
		}
		done += n;
	}
}

void
survivors_select(
	const struct reuse_survivors *survivors, uint64_t first, size_t count, uint64_t *row_addrs)
{
	size_t from = 0;
	size_t to = survivors->source_count;
	uint32_t offsets[BATCH];

	assert(first <= survivors->sources[to].first_survivor &&
		count <= survivors->sources[to].first_survivor - first);
	while (to - from > 1) {
		size_t middle = from + (to - from) / 2;

		if (survivors->sources[middle].first_survivor <= first)
			from = middle;
		else
			to = middle;
	}
	for (size_t done = 0; done < count;) {
		const struct source *source = &survivors->sources[from];
		uint64_t left = source[1].first_survivor - (first + done);
		size_t n = count - done < BATCH ? count - done : BATCH;

		n = left < n ? (size_t)left : n;
		if (n > 0)
			rankset_select(
				source->set, first + done - source->first_survivor, n, offsets);
		for (size_t i = 0; i < n; i++)
			row_addrs[done + i] = source->first_addr + offsets[i];
		done += n;
		if (n == left)
			from++;
	}
}
