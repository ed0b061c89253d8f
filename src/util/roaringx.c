/* Validation of one portable 32-bit Roaring bitmap before CRoaring may see it.
 *
 * The walk goes over container headers, offsets and contents in the order of the serialisation and
 * stops at the first contradiction. It allocates nothing; what is built afterwards costs no more
 * than a small multiple of the input, because runs stay runs. Format: "Roaring serialisations".
 */
#include "roaringx.h"

#include "cursor.h"
#include "macros.h"

#include <inttypes.h>

#define COOKIE_PLAIN     12346u
#define COOKIE_RUNS      12347u
#define CONTAINERS_MAX   65536u
#define ARRAY_MAX        4096u /* values; more make a bitset */
#define BITSET_SIZE      8192u /* bytes */
#define OFFSETS_FROM     4u    /* containers: below it a bitmap with runs has no offsets */
#define VALUES_PER_KEY   65536u

static int
cut(const struct roaringx_walk *w, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_CORRUPT, "roaring bitmap: cut at %zu bytes", w->c.in.size);
}

static int
walk_header(struct roaringx_walk *w, struct lancet_error *err)
{
	uint32_t cookie = cursor_u32(&w->c);
	bool runs = (cookie & 0xffff) == COOKIE_RUNS;

	if (w->c.bad)
		return cut(w, err);
	if (runs)
		w->count = (cookie >> 16) + 1;
	else if (cookie == COOKIE_PLAIN)
		w->count = cursor_u32(&w->c);
	else
		return lancet_fail(err, LANCET_CORRUPT, "roaring bitmap: cookie is %" PRIu32,
		                   cookie);
	if (w->count > CONTAINERS_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "roaring bitmap: %" PRIu32 " containers",
		                   w->count);
	if (runs)
		w->run_flags = cursor_take(&w->c, (w->count + 7) / 8);
	w->heads = cursor_take(&w->c, (uint64_t)w->count * 4);
	if (!runs || w->count >= OFFSETS_FROM)
		w->offsets = cursor_take(&w->c, (uint64_t)w->count * 4);
	return w->c.bad ? cut(w, err) : LANCET_OK;
}

/* The three kinds of contents: each fills in contents, how many values they hold and the last one,
 * or returns false when their order is wrong. A short input shows in the cursor. */

static bool
walk_runs(struct cursor *c, struct roaringx_container *into)
{
	uint32_t run_count = cursor_u16(c);
	struct slice runs = cursor_take(c, (uint64_t)run_count * 4);
	uint32_t next = 0; /* the least value that the next run may start with */
	uint32_t values = 0;

	for (size_t i = 0; i < runs.size; i += 4) {
		uint32_t start = load_u16(runs.data + i);
		uint32_t length = load_u16(runs.data + i + 2) + 1u;

		if (start < next || length > VALUES_PER_KEY - start)
			return false;
		next = start + length;
		values += length;
	}
	into->contents = runs;
	into->cardinality = values;
	into->last = next == 0 ? 0 : next - 1;
	return true;
}

static bool
walk_array(struct cursor *c, uint32_t cardinality, struct roaringx_container *into)
{
	struct slice values = cursor_take(c, (uint64_t)cardinality * 2);
	uint32_t next = 0;

	for (size_t i = 0; i < values.size; i += 2) {
		uint32_t value = load_u16(values.data + i);

		if (value < next)
			return false;
		next = value + 1;
	}
	into->contents = values;
	into->cardinality = cardinality;
	into->last = next == 0 ? 0 : next - 1;
	return true;
}

static bool
walk_bitset(struct cursor *c, struct roaringx_container *into)
{
	struct slice words = cursor_take(c, BITSET_SIZE);
	uint32_t values = 0;
	uint32_t last = 0;

	for (size_t i = 0; i < words.size; i += 8) {
		uint64_t word = load_u64(words.data + i);

		if (word == 0)
			continue;
		values += (uint32_t)__builtin_popcountll(word);
		last = (uint32_t)(i * 8) + 63 - (uint32_t)__builtin_clzll(word);
	}
	into->contents = words;
	into->cardinality = values;
	into->last = last;
	return true;
}

static bool
walk_contents(struct roaringx_walk *w, uint32_t cardinality, struct roaringx_container *into)
{
	uint32_t index = w->next;

	into->kind = cardinality <= ARRAY_MAX ? ROARINGX_ARRAY : ROARINGX_BITSET;
	if (w->run_flags.size != 0 && (w->run_flags.data[index / 8] >> index % 8 & 1) != 0)
		into->kind = ROARINGX_RUNS;
	switch (into->kind) {
	case ROARINGX_RUNS:
		return walk_runs(&w->c, into);
	case ROARINGX_ARRAY:
		return walk_array(&w->c, cardinality, into);
	default:
		return walk_bitset(&w->c, into);
	}
}

int
roaringx_walk(struct roaringx_walk *w, struct slice bytes, struct lancet_error *err)
{
	*w = (struct roaringx_walk){ .c = { .in = bytes } };
	return walk_header(w, err);
}

int
roaringx_walk_next(struct roaringx_walk *w, struct roaringx_container *ret_container,
                   struct lancet_error *err)
{
	uint32_t index = w->next;
	const uint8_t *head = w->heads.data + (size_t)index * 4;
	uint32_t cardinality = load_u16(head + 2) + 1u;
	struct roaringx_container container = { .key = load_u16(head) };
	bool ordered;

	if (index > 0 && container.key <= load_u16(head - 4))
		return lancet_fail(err, LANCET_CORRUPT,
		                   "roaring bitmap: container %" PRIu32 ": keys don't ascend",
		                   index);
	if (w->offsets.size != 0 && load_u32(w->offsets.data + (size_t)index * 4) != w->c.at)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "roaring bitmap: container %" PRIu32 " is not at its offset",
		                   index);
	ordered = walk_contents(w, cardinality, &container);
	if (w->c.bad)
		return cut(w, err);
	if (!ordered)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "roaring bitmap: container %" PRIu32 ": values don't ascend",
		                   index);
	if (container.cardinality != cardinality)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "roaring bitmap: container %" PRIu32 ": %" PRIu32
		                   " values, header says %" PRIu32,
		                   index, container.cardinality, cardinality);
	w->next++;
	w->cardinality += cardinality;
	w->value_end = ((uint64_t)container.key << 16 | container.last) + 1;
	*ret_container = container;
	return LANCET_OK;
}

int
roaringx_walk_end(const struct roaringx_walk *w, uint64_t value_limit, struct lancet_error *err)
{
	if (cursor_left(&w->c) != 0)
		return lancet_fail(err, LANCET_CORRUPT, "roaring bitmap: %zu bytes behind its end",
		                   cursor_left(&w->c));
	if (w->value_end > value_limit)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "roaring bitmap: value %" PRIu64 ", must be below %" PRIu64,
		                   w->value_end - 1, value_limit);
	return LANCET_OK;
}

static int
walk_all(struct roaringx_walk *w, struct slice bytes, struct lancet_error *err)
{
	struct roaringx_container container;

	TRY(roaringx_walk(w, bytes, err));
	while (w->next < w->count)
		TRY(roaringx_walk_next(w, &container, err));
	return LANCET_OK;
}

int
roaringx_load(struct slice bytes, uint64_t value_limit, uint64_t cardinality_max,
              roaring_bitmap_t **ret_bitmap, struct lancet_error *err)
{
	struct roaringx_walk w;
	roaring_bitmap_t *bitmap;

	TRY(walk_all(&w, bytes, err));
	TRY(roaringx_walk_end(&w, value_limit, err));
	if (w.cardinality > cardinality_max)
		return lancet_fail(err, LANCET_LIMIT,
		                   "roaring bitmap: %" PRIu64 " values, at most %" PRIu64,
		                   w.cardinality, cardinality_max);
	bitmap = roaring_bitmap_portable_deserialize_safe((const char *)bytes.data, bytes.size);
	if (bitmap == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "roaring bitmap of %zu bytes",
		                   bytes.size);
	*ret_bitmap = bitmap;
	return LANCET_OK;
}

int
roaringx_measure(struct slice bytes, size_t *ret_size, uint64_t *ret_cardinality,
                 struct lancet_error *err)
{
	struct roaringx_walk w;

	TRY(walk_all(&w, bytes, err));
	*ret_size = w.c.at;
	*ret_cardinality = w.cardinality;
	return LANCET_OK;
}
