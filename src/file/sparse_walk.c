/* From rows to the slots of the leaf, layer by layer.
 *
 * What goes along is a list of ranges of slots, and one bitmap over all of them: which slots are
 * valid in each layer so far. A layer turns both into those of the next one, and on its way fills
 * the array of its ancestor. Lists make new ranges, because the items of neighbouring lists are
 * neighbours. Format facts: 2.3 PlanarLayout.
 */
#include "sparse.h"

#include <inttypes.h>

#include "encodings.h"
#include "util/bits.h"
#include "util/macros.h"

#define WALK_BITMAP_MAX ((size_t)256 * 1024 * 1024) /* bytes */

#define WALK_BUFFERS 6

static int
take_buffers(struct sparse_walk *walk, struct lancet_error *err)
{
	struct buf **const wanted[WALK_BUFFERS] = { &walk->ranges, &walk->next_ranges,
		&walk->present, &walk->next_present, &walk->own, &walk->bounds };

	for (size_t i = 0; i < WALK_BUFFERS; i++) {
		int rc = codec_take_buffer(walk->scratch, wanted[i], err);

		if (rc != LANCET_OK) {
			for (; i > 0; i--)
				scratch_give(walk->scratch);
			return rc;
		}
	}
	walk->present->limit = walk->next_present->limit = walk->own->limit = WALK_BITMAP_MAX;
	return LANCET_OK;
}

void
sparse_walk_end(struct sparse_walk *walk)
{
	for (unsigned i = 0; i < WALK_BUFFERS; i++)
		scratch_give(walk->scratch);
}

int
sparse_walk_begin(struct sparse_walk *walk, struct page_reader *reader,
	const struct row_range *ranges, size_t count, struct lancet_error *err)
{
	uint64_t scale = reader->scale;
	int rc;

	*walk = (struct sparse_walk){ .scratch = reader->scratch };
	for (size_t i = 0; i < count; i++) {
		if (ranges[i].first % scale != 0 || ranges[i].count % scale != 0)
			return lancet_fail(
				err, LANCET_INVALID, "parts of rows of %" PRIu64 " slots", scale);
		walk->slots += ranges[i].count / scale;
	}
	TRY(take_buffers(walk, err));
	for (size_t i = 0; i < count; i++) {
		struct row_range range = { ranges[i].first / scale, ranges[i].count / scale };

		buf_put(walk->ranges, &range, sizeof(range));
	}
	rc = buf_check(walk->ranges, "ranges of slots", err);
	if (rc != LANCET_OK)
		sparse_walk_end(walk);
	return rc;
}

/* `count` bits of one value, in place of what the buffer held. */
static int
start_bitmap(struct buf *bitmap, uint64_t count, bool value, struct lancet_error *err)
{
	bitmap->size = 0;
	buf_fill(bitmap, value ? 0xff : 0, (size_t)bits_size(count));
	return buf_check(bitmap, "sparse: validity of slots", err);
}

/* Which slots of the ranges the layer itself says are valid. */
static int
mark_own(struct sparse_walk *walk, const struct sparse_layer *layer, struct lancet_error *err)
{
	const struct row_range *ranges = sparse_walk_ranges(walk);
	uint64_t base = 0;

	TRY(start_bitmap(walk->own, walk->slots, !layer->lists_valid, err));
	for (size_t i = 0; i < sparse_walk_count(walk); i++) {
		uint64_t first = ranges[i].first;
		uint64_t at = sparse_numbers_below(&layer->marked, first);
		uint64_t end = sparse_numbers_below(&layer->marked, first + ranges[i].count);

		for (; at < end; at++) {
			uint64_t bit = sparse_number(&layer->marked, at) - first + base;

			walk->own->data[bit / 8] ^= (uint8_t)(1u << bit % 8); /* each is met once */
		}
		base += ranges[i].count;
	}
	return LANCET_OK;
}

/* present &= own */
static void
meet_own(struct sparse_walk *walk)
{
	struct buf *was = walk->present;

	if (!walk->absent) {
		walk->present = walk->own;
		walk->own = was;
		walk->absent = true;
		return;
	}
	for (size_t i = 0; i < walk->own->size; i++)
		walk->present->data[i] &= walk->own->data[i];
}

/* The array of the layer's ancestor gets its values before this; NULL: there is none to fill. */
static int
walk_validity(struct sparse_walk *walk, const struct sparse_layer *layer, struct array *nest,
	struct lancet_error *err)
{
	if (!sparse_layer_has_nulls(layer) || walk->slots == 0)
		return LANCET_OK;
	TRY(mark_own(walk, layer, err));
	if (nest != NULL)
		TRY(array_set_validity(nest, walk->slots, walk->own->data, 0, err));
	meet_own(walk);
	return LANCET_OK;
}

static void
next_layer(struct sparse_walk *walk, uint64_t slots)
{
	struct buf *was = walk->ranges;

	walk->ranges = walk->next_ranges;
	walk->next_ranges = was;
	was = walk->present;
	walk->present = walk->next_present;
	walk->next_present = was;
	walk->slots = slots;
}

/* Neighbours become one. */
static int
put_range(struct buf *ranges, uint64_t first, uint64_t count, struct lancet_error *err)
{
	struct row_range range = { first, count };
	struct row_range *last;

	if (count == 0)
		return LANCET_OK;
	if (ranges->size > 0) {
		last = (struct row_range *)(void *)(ranges->data + ranges->size - sizeof(*last));
		if (last->first + last->count == first) {
			last->count += count;
			return LANCET_OK;
		}
	}
	buf_put(ranges, &range, sizeof(range));
	return buf_check(ranges, "ranges of slots", err);
}

/* Items of the first `lists` lists that have any. */
static uint64_t
items_before(const struct sparse_layer *layer, uint64_t lists)
{
	return lists == 0 ? 0 : sparse_number(&layer->counts, lists - 1);
}

static int
find_items(struct sparse_walk *walk, const struct sparse_layer *layer, uint64_t *ret_items,
	struct lancet_error *err)
{
	const struct row_range *ranges = sparse_walk_ranges(walk);
	uint64_t items = 0;

	walk->next_ranges->size = 0;
	for (size_t i = 0; i < sparse_walk_count(walk); i++) {
		uint64_t end = ranges[i].first + ranges[i].count;
		uint64_t first =
			items_before(layer, sparse_numbers_below(&layer->filled, ranges[i].first));
		uint64_t last = items_before(layer, sparse_numbers_below(&layer->filled, end));

		TRY(put_range(walk->next_ranges, first, last - first, err));
		items += last - first;
	}
	*ret_items = items;
	return LANCET_OK;
}

/* Lists that have items, in turn: bounds[i] is where list i of the walk begins among the items of
 * the walk. `lists` and `items` count what there was before. */
struct list_turn {
	uint64_t lists, items;
	uint32_t *bounds; /* NULL: nobody asks */
	uint64_t bound_count;
};

static int
take_list(struct sparse_walk *walk, bool has_own, uint64_t list, uint64_t count,
	struct list_turn *turn, struct lancet_error *err)
{
	if (has_own && !bits_get(walk->own->data, list))
		return lancet_fail(err, LANCET_CORRUPT, "sparse: a null list has items");
	if (walk->absent && !bits_get(walk->present->data, list))
		bits_fill(walk->next_present->data, turn->items, count, false);
	while (turn->bounds != NULL && turn->bound_count <= list)
		turn->bounds[turn->bound_count++] = (uint32_t)turn->items;
	turn->items += count;
	return LANCET_OK;
}

static int
start_bounds(struct sparse_walk *walk, struct list_turn *turn, struct lancet_error *err)
{
	walk->bounds->size = 0;
	if (walk->slots >= SIZE_MAX / sizeof(*turn->bounds) ||
		!buf_reserve(walk->bounds, (size_t)(walk->slots + 1) * sizeof(*turn->bounds)))
		return buf_check(walk->bounds, "bounds of lists", err);
	turn->bounds = (uint32_t *)(void *)walk->bounds->data;
	return LANCET_OK;
}

static int
take_lists(struct sparse_walk *walk, const struct sparse_layer *layer, bool has_own,
	struct array *nest, struct lancet_error *err)
{
	const struct row_range *ranges = sparse_walk_ranges(walk);
	struct list_turn turn = { 0 };

	if (nest != NULL)
		TRY(start_bounds(walk, &turn, err));
	for (size_t i = 0; i < sparse_walk_count(walk); i++) {
		uint64_t first = ranges[i].first;
		uint64_t at = sparse_numbers_below(&layer->filled, first);
		uint64_t end = sparse_numbers_below(&layer->filled, first + ranges[i].count);

		for (; at < end; at++)
			TRY(take_list(walk, has_own,
				sparse_number(&layer->filled, at) - first + turn.lists,
				items_before(layer, at + 1) - items_before(layer, at), &turn, err));
		turn.lists += ranges[i].count;
	}
	if (nest == NULL)
		return LANCET_OK;
	while (turn.bound_count <= walk->slots)
		turn.bounds[turn.bound_count++] = (uint32_t)turn.items;
	return array_append_lists(nest, turn.bounds, walk->slots, err);
}

static int
walk_list(struct sparse_walk *walk, const struct sparse_layer *layer, struct array *nest,
	struct lancet_error *err)
{
	bool has_own = sparse_layer_has_nulls(layer) && walk->slots > 0;
	uint64_t items;

	if (has_own)
		TRY(mark_own(walk, layer, err));
	TRY(find_items(walk, layer, &items, err));
	if (walk->absent)
		TRY(start_bitmap(walk->next_present, items, true, err));
	TRY(take_lists(walk, layer, has_own, nest, err));
	if (nest != NULL && has_own)
		TRY(array_set_validity(nest, walk->slots, walk->own->data, 0, err));
	/* a null list has no items: its validity ends here */
	next_layer(walk, items);
	return LANCET_OK;
}

static int
walk_fixed_list(struct sparse_walk *walk, const struct sparse_layer *layer, struct array *nest,
	struct lancet_error *err)
{
	const struct row_range *ranges = sparse_walk_ranges(walk);
	uint64_t dimension = layer->dimension;
	uint64_t items = walk->slots * dimension; /* no more than the page has */

	if (nest != NULL)
		TRY(array_extend(nest, walk->slots, err));
	TRY(walk_validity(walk, layer, nest, err));
	walk->next_ranges->size = 0;
	for (size_t i = 0; i < sparse_walk_count(walk); i++)
		TRY(put_range(walk->next_ranges, ranges[i].first * dimension,
			ranges[i].count * dimension, err));
	if (walk->absent)
		TRY(start_bitmap(walk->next_present, items, true, err));
	for (uint64_t i = 0; walk->absent && i < walk->slots; i++)
		if (!bits_get(walk->present->data, i))
			bits_fill(walk->next_present->data, i * dimension, dimension, false);
	next_layer(walk, items);
	return LANCET_OK;
}

static int
walk_layer(struct sparse_walk *walk, const struct sparse_layer *layer, struct array *nest,
	struct lancet_error *err)
{
	if (layer->kind == SPARSE_LIST)
		return walk_list(walk, layer, nest, err);
	if (layer->kind == SPARSE_FIXED_LIST)
		return walk_fixed_list(walk, layer, nest, err);
	if (nest != NULL)
		TRY(array_extend(nest, walk->slots, err));
	TRY(walk_validity(walk, layer, nest, err));
	return LANCET_OK;
}

int
sparse_walk_layers(struct sparse_walk *walk, const struct sparse_layers *layers,
	struct leaf_out *out, struct lancet_error *err)
{
	for (size_t i = 0; i < layers->count; i++) {
		bool is_leaf = i + 1 == layers->count;
		struct array *nest =
			out == NULL || is_leaf ? NULL : &out->nests[layers->count - 2 - i];

		TRY(walk_layer(walk, &layers->layers[i], nest, err));
	}
	return LANCET_OK;
}
