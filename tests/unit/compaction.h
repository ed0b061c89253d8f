/* Ordered compactions made by lot, for tests, and where each of their rows goes by the letter of
 * the format facts.
 */
#ifndef TESTS_COMPACTION_H
#define TESTS_COMPACTION_H

#include "treemap.h"

#include <stdlib.h>

#define SOURCES_MAX 12
#define FIRST_MAX   90000u /* rows of the first source: more than one container */
#define OTHERS_MAX  15000u
#define ROWS_MAX    (FIRST_MAX + SOURCES_MAX * OTHERS_MAX)

struct model {
	struct lancet_fragment_digest sources[SOURCES_MAX];
	roaring_bitmap_t *kept[SOURCES_MAX];
	struct lancet_fragment_digest destinations[2 * ROWS_MAX];
	struct lancet_transition transition;
	struct buf bytes;
	uint64_t located[ROWS_MAX];  /* by row */
	uint64_t selected[ROWS_MAX]; /* by survivor */
	uint64_t row_count, live_count;
	uint64_t seed;
};

/* The same numbers each time (SplitMix64). */
static inline uint64_t
draw(struct model *m, uint64_t below)
{
	uint64_t z = m->seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % below;
}

/* Four ways to keep rows, so that all kinds of containers occur. */
static inline bool
keeps(struct model *m, uint64_t rule, uint32_t offset)
{
	switch (rule) {
	case 0:
		return offset % 2 == 0;
	case 1:
		return draw(m, 50) == 0;
	case 2:
		return draw(m, 200) != 0;
	default:
		return rule == 3;
	}
}

static inline void
model_source(struct model *m, size_t source)
{
	struct lancet_fragment_digest *digest = &m->sources[source];
	roaring_bitmap_t *kept = roaring_bitmap_create();
	uint64_t rule = draw(m, 5);

	for (uint32_t i = 0; i < digest->physical_rows; i++, m->row_count++) {
		m->located[m->row_count] = NO_ROW;
		if (!keeps(m, rule, i)) {
			digest->deleted_rows++;
			continue;
		}
		m->located[m->row_count] = 0;
		m->selected[m->live_count++] = ADDR(digest->id, i);
		roaring_bitmap_add(kept, i);
	}
	roaring_bitmap_run_optimize(kept);
	m->kept[source] = kept;
}

static inline void
model_destinations(struct model *m)
{
	struct lancet_fragment_digest *last = m->destinations;
	uint64_t most = 1 + draw(m, 60000);
	uint64_t left = 0; /* rows that the last one still takes */
	uint64_t placed = 0;

	for (uint64_t row = 0; row < m->row_count; row++) {
		if (m->located[row] == NO_ROW)
			continue;
		for (; left == 0; left = last->physical_rows) {
			last = &m->destinations[m->transition.destination_count++];
			last->id = 100 + draw(m, 1000000);
			last->physical_rows = draw(m, 4) == 0 ? 0 : 1 + draw(m, most);
			if (last->physical_rows > m->live_count - placed)
				last->physical_rows = m->live_count - placed;
		}
		m->located[row] = ADDR(last->id, last->physical_rows - left--);
		placed++;
	}
	m->transition.destinations = m->destinations;
}

static inline void
model_bytes(struct model *m)
{
	size_t count = m->transition.source_count;

	put_le(&m->bytes, 0, 8);
	for (uint32_t id = 0; id < SOURCES_MAX; id++) {
		for (size_t i = 0; i < count; i++) {
			if (m->sources[i].id != id || roaring_bitmap_is_empty(m->kept[i]))
				continue;
			put_bitmap(&m->bytes, id, m->kept[i]);
			m->bytes.data[0]++;
		}
	}
}

static inline struct model *
model_make(uint64_t seed)
{
	struct model *m = calloc(1, sizeof(*m));
	size_t count;

	m->seed = seed;
	count = 1 + (size_t)draw(m, SOURCES_MAX);
	for (size_t i = 0; i < count; i++) { /* 5 and 12 share no factor: each id once */
		m->sources[i].id = (i * 5 + seed) % SOURCES_MAX;
		m->sources[i].physical_rows = draw(m, 3) == 0 ? draw(m, 4) : draw(m, OTHERS_MAX);
		if (i == 0 && seed % 2 == 0)
			m->sources[i].physical_rows = FIRST_MAX;
		model_source(m, i);
	}
	m->transition = transition_of(m->sources, count, NULL, 0);
	model_bytes(m);
	model_destinations(m);
	return m;
}

static inline void
model_free(struct model *m)
{
	for (size_t i = 0; i < m->transition.source_count; i++)
		roaring_bitmap_free(m->kept[i]);
	buf_release(&m->bytes);
	free(m);
}

#endif
