/* The walk from rows to levels; see shred.h.
 *
 * At each layer there are entries, and slots of the layer's array for those that got this far. An
 * entry whose definition level is above `limit` has no slot any more. Slots are runs of the array:
 * a single one, unless something lies under nulls.
 */
#include "shred.h"

#include <string.h>

#include <lance/encodings21.pb-c.h>

#include "util/bits.h"
#include "util/macros.h"

struct entries {
	struct shred *shred;
	uint16_t *rep, *def; /* NULL: all of the rows' level; all 0 */
	uint64_t count;
	unsigned limit; /* up to this level an entry has a slot */
	bool gaps;      /* there are entries without */
	bool marked;    /* some definition levels may not be 0 */
	unsigned lists; /* list layers further in */
	unsigned spare; /* the pair of level buffers that is free */
	struct lancet_error *err;
};

struct layer_levels {
	uint16_t null, empty; /* 0: the layer has none */
};

static int
runs_add(struct buf *runs, uint64_t first, uint64_t count, struct lancet_error *err)
{
	struct shred_run run = { first, count };

	if (runs->size > 0) {
		struct shred_run last;

		memcpy(&last, runs->data + runs->size - sizeof(last), sizeof(last));
		if (last.first + last.count == first) {
			last.count += count;
			memcpy(runs->data + runs->size - sizeof(last), &last, sizeof(last));
			return LANCET_OK;
		}
	}
	buf_put(runs, &run, sizeof(run));
	return buf_check(runs, "levels", err);
}

static const struct shred_run *
runs_of(const struct shred *shred)
{
	return (const struct shred_run *)(const void *)shred->runs[0].data;
}

static size_t
run_count(const struct shred *shred)
{
	return shred->runs[0].size / sizeof(struct shred_run);
}

static int
levels_room(struct buf *levels, uint64_t count, uint16_t **ret_levels, struct lancet_error *err)
{
	levels->size = 0;
	if (count > SIZE_MAX / 4 || !buf_reserve(levels, (size_t)count * 2 + 2))
		return lancet_fail(err, LANCET_NO_MEMORY, "levels");
	*ret_levels = (uint16_t *)(void *)levels->data;
	return LANCET_OK;
}

/* Up to 64 bits from bit `at` of a bitmap, of which no byte behind the last bit is touched. */
static uint64_t
take_word(const uint8_t *bitmap, uint64_t at, uint64_t count)
{
	size_t first = (size_t)(at / 8), last = (size_t)((at + count - 1) / 8);
	unsigned shift = at % 8;
	uint64_t low = 0;

	memcpy(&low, bitmap + first, last - first < 8 ? last - first + 1 : 8);
	low >>= shift;
	if (last - first == 8)
		low |= (uint64_t)bitmap[first + 8] << (64 - shift);
	return count == 64 ? low : low & ((UINT64_C(1) << count) - 1);
}

/* Every entry has a slot: only zeros of the bitmap are looked at one by one. */
static void
mark_all(uint16_t *def, const uint8_t *bitmap, uint64_t first, uint64_t count, uint16_t level)
{
	for (uint64_t i = 0; i < count; i += 64) {
		uint64_t size = count - i < 64 ? count - i : 64;
		uint64_t ones = size == 64 ? UINT64_MAX : (UINT64_C(1) << size) - 1;
		uint64_t nulls = take_word(bitmap, first + i, size) ^ ones;

		for (; nulls != 0; nulls &= nulls - 1) {
			uint16_t *at = &def[i + (unsigned)__builtin_ctzll(nulls)];

			*at = *at == 0 ? level : *at;
		}
	}
}

/* The same from entry `at` on where some have none; the entry behind the last slot is returned. */
static uint64_t
mark_some(struct entries *entries, uint64_t at, const uint8_t *bitmap, uint64_t first,
	uint64_t count, uint16_t level)
{
	for (uint64_t slot = first; slot < first + count; at++) {
		uint16_t def = entries->def[at];

		if (def > entries->limit)
			continue;
		if (def == 0 && !bits_get(bitmap, slot))
			entries->def[at] = level;
		slot++;
	}
	return at;
}

static void
mark_nulls(struct entries *entries, const uint8_t *bitmap, uint64_t bitmap_first, uint16_t level)
{
	const struct shred_run *runs = runs_of(entries->shred);
	uint64_t at = 0;

	entries->marked = true;
	for (size_t i = 0; i < run_count(entries->shred); i++) {
		uint64_t first = runs[i].first - bitmap_first;

		if (entries->gaps) {
			at = mark_some(entries, at, bitmap, first, runs[i].count, level);
			continue;
		}
		mark_all(entries->def + at, bitmap, first, runs[i].count, level);
		at += runs[i].count;
	}
}

/* Each entry as often as a fixed-size list has items. */
static int
spread(struct entries *entries, uint64_t dimension)
{
	struct shred *shred = entries->shred;
	struct shred_run *runs = (struct shred_run *)(void *)shred->runs[0].data;
	uint16_t *def = NULL;

	for (size_t i = 0; i < run_count(shred); i++) {
		runs[i].first *= dimension;
		runs[i].count *= dimension;
	}
	if (entries->def != NULL) {
		TRY(levels_room(&shred->levels[2 * entries->spare + 1], entries->count * dimension,
			&def, entries->err));
		for (uint64_t i = 0; i < entries->count; i++)
			for (uint64_t j = 0; j < dimension; j++)
				def[i * dimension + j] = entries->def[i];
		entries->def = def;
		entries->spare ^= 1;
	}
	entries->count *= dimension;
	shred->rows *= dimension;
	return LANCET_OK;
}

/* What entries become where a list layer takes them apart. */
struct lists {
	const struct array *array;
	struct layer_levels levels;
	uint16_t inner; /* repetition level of the items behind the first one */
	uint16_t outer; /* of the rows, when there are no repetition levels yet */
	uint64_t in, out;
	uint16_t *rep, *def; /* of the items: all `inner`, all 0; def may be NULL */
};

static void
copy_entry(struct lists *lists, const struct entries *entries, uint16_t def)
{
	lists->rep[lists->out] = entries->rep != NULL ? entries->rep[lists->in] : lists->outer;
	if (lists->def != NULL)
		lists->def[lists->out] = def;
	lists->in++;
	lists->out++;
}

static void
pass_gaps(struct lists *lists, const struct entries *entries)
{
	if (!entries->gaps)
		return;
	while (lists->in < entries->count && entries->def[lists->in] > entries->limit)
		copy_entry(lists, entries, entries->def[lists->in]);
}

/* One list: its items, or the reason why there are none. */
static int
take_list(struct lists *lists, struct entries *entries, uint64_t slot)
{
	uint64_t first = array_offset(lists->array, slot);
	uint64_t items = array_offset(lists->array, slot + 1) - first;
	uint16_t def;

	pass_gaps(lists, entries);
	def = entries->def == NULL ? 0 : entries->def[lists->in];
	if (def == 0 && !array_is_valid(lists->array, slot))
		def = lists->levels.null;
	else if (def == 0 && items == 0)
		def = lists->levels.empty;
	copy_entry(lists, entries, def);
	if (def != 0)
		return LANCET_OK;
	lists->out += items - 1;
	return runs_add(&entries->shred->runs[1], first, items, entries->err);
}

/* A run of lists that all have items: only their beginnings are written. */
lancet_hot static void
take_full_lists(struct lists *lists, const struct entries *entries, uint64_t slot, uint64_t count)
{
	const struct array *array = lists->array;
	const uint64_t begin = array_offset(array, slot);
	const uint64_t end = array_offset(array, slot + count);
	uint16_t *rep = lists->rep + lists->out;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = array_offset(array, slot + i) - begin;

		rep[at] = entries->rep != NULL ? entries->rep[lists->in + i] : lists->outer;
	}
	lists->in += count;
	lists->out += end - begin;
}

static int
take_run(struct lists *lists, struct entries *entries, const struct shred_run *run)
{
	bool plain = lists->levels.null == 0 && lists->levels.empty == 0 && !entries->marked;
	uint64_t first = array_offset(lists->array, run->first);
	uint64_t end = array_offset(lists->array, run->first + run->count);

	if (plain) {
		take_full_lists(lists, entries, run->first, run->count);
		return runs_add(&entries->shred->runs[1], first, end - first, entries->err);
	}
	for (uint64_t i = 0; i < run->count; i++)
		TRY(take_list(lists, entries, run->first + i));
	return LANCET_OK;
}

static void
fill_levels(uint16_t *levels, uint64_t count, uint16_t level)
{
	if (level == 0) {
		memset(levels, 0, (size_t)count * 2);
		return;
	}
	for (uint64_t i = 0; i < count; i++)
		levels[i] = level;
}

/* Room for as many entries as there are, and the items of all lists. */
static int
lists_init(struct lists *lists, struct entries *entries)
{
	struct shred *shred = entries->shred;
	const struct shred_run *runs = runs_of(shred);
	uint64_t most = entries->count;

	for (size_t i = 0; i < run_count(shred); i++)
		most += array_offset(lists->array, runs[i].first + runs[i].count) -
			array_offset(lists->array, runs[i].first);
	TRY(levels_room(&shred->levels[2 * entries->spare], most, &lists->rep, entries->err));
	fill_levels(lists->rep, most, lists->inner);
	if (shred->layers.definition_max == 0)
		return LANCET_OK;
	TRY(levels_room(&shred->levels[2 * entries->spare + 1], most, &lists->def, entries->err));
	fill_levels(lists->def, most, 0);
	return LANCET_OK;
}

static int
walk_lists(struct entries *entries, const struct array *array, struct layer_levels levels,
	unsigned base)
{
	struct shred *shred = entries->shred;
	struct lists lists = { .array = array,
		.levels = levels,
		.inner = (uint16_t)(entries->lists - 1),
		.outer = (uint16_t)entries->lists };
	struct buf runs = shred->runs[0];

	TRY(lists_init(&lists, entries));
	shred->runs[1].size = 0;
	for (size_t i = 0; i < run_count(shred); i++)
		TRY(take_run(&lists, entries, &runs_of(shred)[i]));
	pass_gaps(&lists, entries);
	shred->runs[0] = shred->runs[1];
	shred->runs[1] = runs;
	entries->marked |= levels.null != 0 || levels.empty != 0;
	entries->gaps = entries->marked;
	entries->rep = lists.rep;
	entries->def = lists.def;
	entries->count = lists.out;
	entries->limit = base;
	entries->lists--;
	entries->spare ^= 1;
	return LANCET_OK;
}

/* The definition levels of a layer, which come behind the `base` ones of those further in. */
static struct layer_levels
levels_of(int kind, unsigned base)
{
	switch (kind) {
	case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_ITEM:
	case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_LIST:
		return (struct layer_levels){ .null = (uint16_t)(base + 1) };
	case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_EMPTYABLE_LIST:
		return (struct layer_levels){ .empty = (uint16_t)(base + 1) };
	case LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULL_AND_EMPTY_LIST:
		return (struct layer_levels){ (uint16_t)(base + 1), (uint16_t)(base + 2) };
	default:
		return (struct layer_levels){ 0 };
	}
}

static int
walk_layer(struct entries *entries, const struct shred_path *path, unsigned layer, unsigned base)
{
	const struct array *array = path->arrays[layer];
	struct layer_levels levels = levels_of(entries->shred->layers.kinds[layer], base);
	enum field_kind kind = array->field->kind;

	if (layer > 0 && (kind == FIELD_LIST || kind == FIELD_MAP))
		return walk_lists(entries, array, levels, base);
	if (layer == 0 && levels.null != 0)
		mark_nulls(entries, path->validity, path->validity_first, levels.null);
	else if (levels.null != 0 && array->null_count > 0)
		mark_nulls(entries, array->validity.data, 0, levels.null);
	if (layer > 0 && kind == FIELD_FIXED_LIST)
		return spread(entries, array->field->dimension);
	return LANCET_OK;
}

int
shred_walk(struct shred *shred, const struct shred_path *path, uint64_t first, uint64_t count,
	struct lancet_error *err)
{
	struct entries entries = { .shred = shred,
		.count = count,
		.limit = shred->layers.definition_max,
		.lists = shred->layers.list_count,
		.err = err };
	unsigned base = shred->layers.definition_max;

	shred->rows = count;
	shred->runs[0].size = 0;
	TRY(runs_add(&shred->runs[0], first, count, err));
	if (base > 0) {
		TRY(levels_room(&shred->levels[1], count, &entries.def, err));
		fill_levels(entries.def, count, 0);
		entries.spare = 1;
	}
	for (unsigned layer = path->count; layer-- > 0;) {
		struct layer_levels levels = levels_of(shred->layers.kinds[layer], 0);

		base -= levels.null > levels.empty ? levels.null : levels.empty;
		TRY(walk_layer(&entries, path, layer, base));
	}
	shred->rep = entries.rep;
	shred->def = entries.def;
	shred->entries = entries.count;
	return LANCET_OK;
}
