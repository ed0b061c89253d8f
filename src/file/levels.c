/* Layers and the unravelling of levels; see levels.h.
 *
 * The walk goes from the leaf outwards. The entries that it looks at shrink with each list: what is
 * left are those that begin a list of that level. An entry whose definition level belongs to a list
 * has nothing further inside, so "up to the levels of the layers below the next list" tells which
 * entries count at the present level. Format facts: decoding algorithm for a leaf.
 */
#include "levels.h"

#include <assert.h>
#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "util/bits.h"
#include "util/macros.h"

struct layer_kind {
	bool list;
	uint8_t definitions, null, empty; /* null, empty: which of its definitions, 0 = none */
};

static const struct layer_kind layer_kinds[] = {
	[LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_ITEM] = { false, 0, 0, 0 },
	[LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_LIST] = { true, 0, 0, 0 },
	[LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_ITEM] = { false, 1, 1, 0 },
	[LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_LIST] = { true, 1, 1, 0 },
	[LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_EMPTYABLE_LIST] = { true, 1, 0, 1 },
	[LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULL_AND_EMPTY_LIST] = { true, 2, 1, 2 },
};

static bool
is_list(const struct field *field)
{
	return field->kind == FIELD_LIST || field->kind == FIELD_MAP;
}

static int
add_layer(struct layers *layers, int kind, const struct field *field, bool is_leaf,
	struct lancet_error *err)
{
	bool wanted = !is_leaf && is_list(field);

	if (kind <= 0 || (size_t)kind >= ARRAY_SIZE(layer_kinds))
		return lancet_fail(err, LANCET_CORRUPT, "layer of kind %d", kind);
	if (layer_kinds[kind].list != wanted)
		return lancet_fail(err, LANCET_CORRUPT, "layer %u is %s list, the field is %s",
			layers->count, wanted ? "no" : "a", wanted ? "one" : "none");
	layers->kinds[layers->count++] = (uint8_t)kind;
	layers->list_count += wanted ? 1 : 0;
	layers->definition_max += layer_kinds[kind].definitions;
	if (layers->list_count == 0)
		layers->visible_max = layers->definition_max;
	return LANCET_OK;
}

int
layers_init(struct layers *layers, const int *kinds, size_t count, const struct field *leaf,
	struct lancet_error *err)
{
	struct layers made = { 0 };
	bool fixed_lists = false;
	size_t depth = 0;

	for (const struct field *field = leaf; field != NULL; field = field->parent, depth++) {
		if (depth == count || depth == LEVELS_LAYERS_MAX)
			return lancet_fail(err, LANCET_CORRUPT,
				"%zu layers, the field is nested deeper", count);
		TRY(add_layer(&made, kinds[depth], field, depth == 0, err));
		fixed_lists |= depth > 0 && field->kind == FIELD_FIXED_LIST;
	}
	if (depth < count)
		return lancet_fail(
			err, LANCET_CORRUPT, "%zu layers, the field has %zu", count, depth);
	if (fixed_lists && made.list_count > 0)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"levels of lists together with fixed-size lists of structs");
	*layers = made;
	return LANCET_OK;
}

lancet_hot static uint16_t
levels_max(const uint16_t *levels, uint64_t count)
{
	uint16_t max = 0;

	for (uint64_t i = 0; i < count; i++)
		max = levels[i] > max ? levels[i] : max;
	return max;
}

lancet_hot uint64_t
levels_count_up_to(const uint16_t *levels, uint64_t count, uint16_t limit)
{
	uint64_t total = 0;

	/* 16-bit sums as long as they can't overflow: they are twice as many to a vector */
	for (uint64_t first = 0; first < count; first += UINT16_MAX) {
		uint64_t size = count - first < UINT16_MAX ? count - first : UINT16_MAX;
		uint16_t sum = 0;

		for (uint64_t i = 0; i < size; i++)
			sum = (uint16_t)(sum + (levels[first + i] <= limit));
		total += sum;
	}
	return total;
}

#define BYTES_OF_ONE UINT64_C(0x0101010101010101)
#define GATHER_BITS  UINT64_C(0x0102040810204080) /* bytes of 0 or 1 to the bits of the top byte */

lancet_hot static void
compare_levels(const uint16_t *levels, uint64_t count, uint16_t limit, uint8_t *flags)
{
	for (uint64_t i = 0; i < count; i++)
		flags[i] = levels[i] <= limit;
}

/* Eight flags, bytes of 0 or 1, to a byte of bits. */
static uint8_t
gather_bits(const uint8_t *flags)
{
	uint64_t eight;

	memcpy(&eight, flags, 8);
	return (uint8_t)((eight & BYTES_OF_ONE) * GATHER_BITS >> 56);
}

void
levels_bitmap(const uint16_t *levels, uint64_t count, uint16_t limit, uint8_t *bitmap)
{
	uint8_t flags[512];

	for (uint64_t first = 0; first < count; first += sizeof(flags)) {
		uint64_t size = count - first < sizeof(flags) ? count - first : sizeof(flags);

		compare_levels(levels + first, size, limit, flags);
		memset(flags + size, 0, (8 - size % 8) % 8);
		for (uint64_t i = 0; i < size; i += 8)
			*bitmap++ = gather_bits(flags + i);
	}
}

int
levels_count_visible(const struct layers *layers, const struct level_run *run,
	uint64_t *ret_visible, struct lancet_error *err)
{
	uint16_t max;

	if (run->rep != NULL && run->count > 0) {
		max = levels_max(run->rep, run->count);
		if (max > layers->list_count)
			return lancet_fail(err, LANCET_CORRUPT, "repetition level %u in %u lists",
				max, layers->list_count);
		if (run->rep[0] != layers->list_count)
			return lancet_fail(err, LANCET_CORRUPT, "the first entry begins no row");
	} else if (layers->list_count > 0 && run->count > 0) {
		return lancet_fail(err, LANCET_CORRUPT, "lists without repetition levels");
	}
	if (run->def == NULL) {
		*ret_visible = run->count;
		return LANCET_OK;
	}
	max = levels_max(run->def, run->count);
	if (max > layers->definition_max)
		return lancet_fail(err, LANCET_CORRUPT, "definition level %u of %u", max,
			layers->definition_max);
	*ret_visible = levels_count_up_to(run->def, run->count, (uint16_t)layers->visible_max);
	return LANCET_OK;
}

/* What is left of the entries at one point of the walk. */
struct walk {
	const struct layers *layers;
	struct leaf_out *out;
	const uint16_t *rep, *def; /* NULL as in the run, or no longer needed */
	uint64_t count;
	size_t places; /* of a run of levels in memory: the first count and one more */
	unsigned layer;
	unsigned base;  /* definition levels of the layers further in */
	unsigned limit; /* entries up to this level have a slot at the present nesting */
	struct lancet_error *err;
};

static struct array *
walk_array(const struct walk *walk)
{
	return walk->layer == 0 ? &walk->out->leaf : &walk->out->nests[walk->layer - 1];
}

/* Bytes of 0 or 1 for the entries with a slot only: 1 where the level is up to base. One byte more
 * is written. */
static uint64_t
visible_flags(const struct walk *walk, uint8_t *flags)
{
	const uint16_t base = (uint16_t)walk->base, limit = (uint16_t)walk->limit;
	const uint16_t *def = walk->def;
	uint64_t count = 0;

	for (uint64_t i = 0; i < walk->count; i++) {
		flags[count] = def[i] <= base;
		count += def[i] <= limit;
	}
	return count;
}

/* Flags to a bitmap in place: the bits overtake no flag. There is room for 7 flags more. */
static void
flags_to_bits(uint8_t *flags, uint64_t count)
{
	memset(flags + count, 0, (8 - count % 8) % 8);
	for (uint64_t i = 0; i < count; i += 8)
		flags[i / 8] = gather_bits(flags + i);
}

/* Validity of an item layer. The slots of the leaf are there already, those above are added. */
static int
walk_items(struct walk *walk, bool nullable)
{
	struct array *array = walk_array(walk);
	struct buf *bits = &walk->out->work[0];
	bool all = walk->def == NULL || walk->limit == walk->layers->definition_max;
	uint64_t count = walk->count;

	if (!nullable || walk->def == NULL) {
		if (!all)
			count = levels_count_up_to(walk->def, count, (uint16_t)walk->limit);
		return walk->layer == 0 ? LANCET_OK : array_extend(array, count, walk->err);
	}
	bits->size = 0;
	if (!buf_reserve(bits, (size_t)count + 8))
		return buf_check(bits, "validity", walk->err);
	if (all) {
		levels_bitmap(walk->def, count, (uint16_t)walk->base, bits->data);
	} else {
		count = visible_flags(walk, bits->data);
		flags_to_bits(bits->data, count);
	}
	if (walk->layer > 0)
		TRY(array_extend(array, count, walk->err));
	return array_set_validity(array, count, bits->data, 0, walk->err);
}

/* Keeps one entry for each value of a fixed-size list. */
static int
walk_fixed_list(struct walk *walk, uint64_t dimension)
{
	struct buf *entries = &walk->out->work[1];
	uint64_t count;
	uint16_t *kept;

	if (dimension == 0 || walk->count % dimension != 0)
		return lancet_fail(walk->err, LANCET_CORRUPT,
			"%" PRIu64 " items in fixed-size lists of %" PRIu64, walk->count,
			dimension);
	count = walk->count / dimension;
	if (walk->def != NULL) {
		entries->size = 0; /* in place when this is not the first one */
		if (!buf_reserve(entries, (size_t)count * 2))
			return buf_check(entries, "levels", walk->err);
		kept = (uint16_t *)entries->data;
		for (uint64_t i = 0; i < count; i++)
			kept[i] = walk->def[i * dimension];
		walk->def = kept;
	}
	walk->count = count;
	return LANCET_OK;
}

/* What the entries of one list layer become: bounds of its lists, which of them are valid, and the
 * entries that are left. */
struct lists {
	uint32_t *bounds; /* count + 1 */
	uint8_t *valid;   /* bytes of 0 or 1; NULL = all are */
	uint64_t count;
	uint16_t *rep, *def; /* def NULL = none */
	uint64_t left;
	bool bad;
};

/* Where lists begin, by entry, and behind them the number of entries. */
static uint64_t
find_lists(const struct walk *walk, uint32_t *bounds)
{
	const uint16_t *rep = walk->rep;
	uint64_t count = 0;

	for (uint64_t i = 0; i < walk->count; i++) {
		bounds[count] = (uint32_t)i;
		count += rep[i] != 0;
	}
	bounds[count] = (uint32_t)walk->count;
	return count;
}

/* All entries are items. What is left of the entries may be written over them. */
static void
take_full_lists(const struct walk *walk, struct lists *lists)
{
	uint64_t count = find_lists(walk, lists->bounds);

	lists->bad = walk->count > 0 && walk->rep[0] == 0; /* before rep, which may be the same */
	for (uint64_t i = 0; i < count; i++)
		lists->rep[i] = (uint16_t)(walk->rep[lists->bounds[i]] - 1);
	lists->count = lists->left = count;
}

/* What begins a list is an item of it, or says that it is null or empty, or absent: then nothing of
 * it may follow. All entries that begin none have to be items, which their number tells. */
static void
take_lists(const struct walk *walk, const struct layer_kind *kind, unsigned visible,
	struct lists *lists)
{
	const uint64_t begin = find_lists(walk, lists->bounds);
	const unsigned base = walk->base;
	const unsigned empty = kind->empty == 0 ? 0 : base + kind->empty;
	const uint64_t items = levels_count_up_to(walk->def, walk->count, (uint16_t)base);
	uint64_t count = 0;
	uint32_t none = 0; /* lists without items so far */
	bool bad = walk->count > 0 && walk->rep[0] == 0;

	for (uint64_t i = 0; i < begin; i++) {
		uint32_t at = lists->bounds[i];
		unsigned def = walk->def[at];
		bool item = def <= base;

		bad |= !item && lists->bounds[i + 1] != at + 1;
		lists->rep[i] = (uint16_t)(walk->rep[at] - 1);
		lists->def[i] = (uint16_t)def;
		lists->bounds[count] = at - none;
		lists->valid[count] = item || def == empty;
		count += def <= visible;
		none += !item;
	}
	lists->bounds[count] = (uint32_t)walk->count - none;
	lists->count = count;
	lists->left = begin;
	lists->bad = bad || items != walk->count - none;
}

/* Room for all of the entries, behind which nothing is written: one more place each, as the loops
 * write before they know whether the place counts. */
static int
lists_init(const struct walk *walk, struct lists *lists)
{
	struct buf *work = walk->out->work;
	size_t places = walk->places;

	if (walk->count >= UINT32_MAX)
		return lancet_fail(walk->err, LANCET_LIMIT,
			"%" PRIu64 " entries of lists: ask for fewer rows", walk->count);
	work[0].size = work[2].size = 0;
	if (!buf_reserve(&work[0], places * sizeof(uint32_t)))
		return buf_check(&work[0], "lists", walk->err);
	if (!buf_reserve(&work[1], places * 2 * sizeof(uint16_t)))
		return buf_check(&work[1], "lists", walk->err);
	if (!buf_reserve(&work[2], places + 7))
		return buf_check(&work[2], "lists", walk->err);
	lists->bounds = (uint32_t *)work[0].data;
	lists->valid = work[2].data;
	lists->rep = (uint16_t *)work[1].data;
	lists->def = lists->rep + places;
	return LANCET_OK;
}

/* Definition levels further out that still let a list of this layer exist, as a null one. */
static unsigned
list_visible_max(const struct walk *walk, const struct layer_kind *kind)
{
	unsigned max = walk->base + kind->definitions;

	for (unsigned i = walk->layer + 1; i < walk->layers->count; i++) {
		const struct layer_kind *outer = &layer_kinds[walk->layers->kinds[i]];

		if (outer->list)
			break;
		max += outer->definitions;
	}
	return max;
}

static int
walk_lists(struct walk *walk, const struct layer_kind *kind)
{
	struct array *array = walk_array(walk);
	unsigned visible = list_visible_max(walk, kind);
	struct lists lists = { 0 };

	TRY(lists_init(walk, &lists));
	if (walk->def == NULL)
		take_full_lists(walk, &lists);
	else
		take_lists(walk, kind, visible, &lists);
	if (lists.bad)
		return lancet_fail(walk->err, LANCET_CORRUPT, "levels: an item outside of a list");
	TRY(array_append_lists(array, lists.bounds, lists.count, walk->err));
	if (walk->def != NULL && visible > walk->base) {
		flags_to_bits(lists.valid, lists.count);
		TRY(array_set_validity(array, lists.count, lists.valid, 0, walk->err));
	}
	walk->rep = lists.rep;
	walk->def = walk->def == NULL ? NULL : lists.def;
	walk->count = lists.left;
	walk->limit = visible;
	return LANCET_OK;
}

static int
walk_layer(struct walk *walk)
{
	const struct layer_kind *kind = &layer_kinds[walk->layers->kinds[walk->layer]];
	const struct field *field = walk_array(walk)->field;

	if (kind->list) {
		TRY(walk_lists(walk, kind));
	} else {
		if (walk->layer > 0 && field->kind == FIELD_FIXED_LIST)
			TRY(walk_fixed_list(walk, field->dimension));
		TRY(walk_items(walk, kind->definitions > 0));
	}
	walk->base += kind->definitions;
	walk->layer++;
	return LANCET_OK;
}

int
levels_unravel(const struct layers *layers, const struct level_run *run, struct leaf_out *out,
	struct lancet_error *err)
{
	struct walk walk = { .layers = layers,
		.out = out,
		.rep = run->rep,
		.def = run->def,
		.count = run->count,
		.places = (size_t)run->count + 1,
		.limit = layers->visible_max,
		.err = err };

	assert(layers->count == out->nest_count + 1);
	if (run->count == 0)
		return LANCET_OK;
	if (run->def != NULL && levels_max(run->def, run->count) == 0)
		walk.def = NULL;
	while (walk.layer < layers->count)
		TRY(walk_layer(&walk));
	return LANCET_OK;
}
