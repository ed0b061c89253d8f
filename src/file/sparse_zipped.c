/* Values of sparse pages that are stored one by one.
 *
 * Zipped ones are there for valid slots alone: where the value of a slot is follows from the number
 * of valid slots before it. With one layer positions tell that; with more of them a bitmap over the
 * whole page is made once, and counted in steps. Indexed ones name their value by number, so that
 * equal ones are stored once. Format facts: 2.3 PlanarLayout.
 */
#include "sparse.h"

#include <inttypes.h>
#include <stdlib.h>

#include <lance/encodings21.pb-c.h>
#include <lance/encodings23.pb-c.h>

#include "encodings.h"
#include "fullzip.h"
#include "indexed.h"
#include "util/bits.h"
#include "util/macros.h"

#define RANK_BITS UINT64_C(4096)

static int
open_zip(struct page_reader *reader, const Lance__Encodings23__Values__Zipped *zipped,
	size_t first_buffer, struct sparse_values *values, size_t *ret_buffers,
	struct lancet_error *err)
{
	struct fullzip_spec spec;

	TRY(fullzip_spec_zipped(zipped, &spec, err));
	if (zipped->levels != NULL || zipped->num_visible_items != zipped->num_items)
		return lancet_fail(err, LANCET_CORRUPT, "levels where positions tell structure");
	spec.rows = zipped->num_items;
	spec.first_buffer = first_buffer;
	values->items = zipped->num_items;
	*ret_buffers = first_buffer + (spec.variable ? 2 : 1);
	return fullzip_open(reader, &spec, &values->fullzip, err);
}

static int
zipped_open(struct page_reader *reader, const struct sparse_layers *layers,
	const struct Lance__Encodings23__Values *message, struct sparse_values *values,
	size_t *ret_buffers, struct lancet_error *err)
{
	(void)layers;
	return open_zip(reader, message->zipped, 0, values, ret_buffers, err);
}

static bool
any_nulls(const struct sparse_layers *layers)
{
	for (size_t i = 0; i < layers->count; i++)
		if (sparse_layer_has_nulls(&layers->layers[i]))
			return true;
	return false;
}

static int
keep_present(struct sparse_values *values, const struct sparse_walk *walk, struct lancet_error *err)
{
	size_t size = (size_t)bits_size(walk->slots);
	size_t steps = (size_t)(walk->slots / RANK_BITS + 1);
	uint64_t rank = 0;

	free(values->present); /* of an attempt that failed */
	free(values->ranks);
	values->present = malloc(size == 0 ? 1 : size);
	values->ranks = malloc(steps * sizeof(*values->ranks));
	if (values->present == NULL || values->ranks == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "validity of a page");
	if (walk->absent)
		memcpy(values->present, walk->present->data, size);
	else
		memset(values->present, 0xff, size);
	for (size_t i = 0; i < steps; i++) {
		uint64_t first = i * RANK_BITS;
		uint64_t left = walk->slots - first;

		values->ranks[i] = rank;
		rank += bits_count(values->present, first, left < RANK_BITS ? left : RANK_BITS);
	}
	return LANCET_OK;
}

/* Lists can hide nulls above the leaf; a single layer needs no bitmap. */
static int
load_present(struct page_reader *reader, const struct sparse_layers *layers,
	struct sparse_values *values, struct lancet_error *err)
{
	const struct row_range page = { 0, reader->page->length };
	struct sparse_walk walk;
	int rc;

	if (layers->count == 1 || !any_nulls(layers))
		return LANCET_OK;
	TRY(sparse_walk_begin(&walk, reader, &page, page.count > 0, err));
	rc = sparse_walk_layers(&walk, layers, NULL, err);
	if (rc == LANCET_OK)
		rc = keep_present(values, &walk, err);
	sparse_walk_end(&walk);
	return rc;
}

/* Valid slots of the leaf before `slot`. */
static uint64_t
rank_of(const struct sparse_values *values, const struct sparse_layers *layers, uint64_t slot)
{
	const struct sparse_layer *leaf = &layers->layers[layers->count - 1];
	uint64_t step = slot / RANK_BITS * RANK_BITS, marked;

	if (values->present != NULL)
		return values->ranks[slot / RANK_BITS] +
		       bits_count(values->present, step, slot - step);
	if (!any_nulls(layers))
		return slot;
	marked = sparse_numbers_below(&leaf->marked, slot);
	return leaf->lists_valid ? marked : slot - marked;
}

static int
zipped_load(struct page_reader *reader, const struct sparse_layers *layers,
	struct sparse_values *values, struct lancet_error *err)
{
	uint64_t valid;

	TRY(load_present(reader, layers, values, err));
	valid = rank_of(values, layers, layers->slots);
	if (valid != values->items)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " values for %" PRIu64 " slots that are not null", values->items,
			valid);
	return LANCET_OK;
}

/* Stored values become slots of the leaf: indices name one for each slot that is valid. */
static int
spread(struct page_reader *reader, struct sparse_values *values, const struct buf *ranges,
	const struct sparse_walk *walk, struct array *indices, struct array *leaf,
	struct lancet_error *err)
{
	bool keyed = leaf->field->kind == FIELD_DICTIONARY;
	struct array stored;
	int rc = LANCET_OK;

	if (walk->absent)
		TRY(array_set_validity(indices, walk->slots, walk->present->data, 0, err));
	TRY(array_init(
		&stored, keyed ? &leaf->field->children[0] : leaf->field, leaf->budget, err));
	if (ranges->size > 0)
		rc = fullzip_read_values(reader, values->fullzip,
			(const struct row_range *)(const void *)ranges->data,
			ranges->size / sizeof(struct row_range), &stored, err);
	if (rc == LANCET_OK)
		rc = indexed_append(&stored, indices, reader->scratch, leaf, err);
	array_release(&stored);
	return rc;
}

static void
put_range(struct buf *ranges, uint64_t first, uint64_t count)
{
	struct row_range range = { first, count };

	if (count > 0)
		buf_put(ranges, &range, sizeof(range));
}

/* Which stored values the slots of the walk have. */
static int
rank_ranges(const struct sparse_values *values, const struct sparse_layers *layers,
	const struct sparse_walk *walk, struct buf *ranges, struct lancet_error *err)
{
	const struct row_range *slots = sparse_walk_ranges(walk);

	for (size_t i = 0; i < sparse_walk_count(walk); i++) {
		uint64_t first = rank_of(values, layers, slots[i].first);

		put_range(ranges, first,
			rank_of(values, layers, slots[i].first + slots[i].count) - first);
	}
	return buf_check(ranges, "ranges of values", err);
}

/* 0, 1 … for the valid slots in turn. */
static int
count_up(const struct sparse_walk *walk, struct array *indices, struct lancet_error *err)
{
	uint32_t *place;
	uint8_t *bytes;
	uint32_t next = 0;

	TRY(array_extend_fixed(indices, 32, walk->slots, &bytes, err));
	place = (uint32_t *)(void *)bytes;
	for (uint64_t i = 0; i < walk->slots; i++) {
		place[i] = next;
		next += !walk->absent || bits_get(walk->present->data, i);
	}
	return LANCET_OK;
}

static int
zipped_read_ranges(struct page_reader *reader, struct sparse_values *values,
	const struct sparse_walk *walk, struct buf *ranges, struct array *leaf,
	struct lancet_error *err)
{
	struct array indices;
	int rc;

	if (!walk->absent && leaf->field->kind != FIELD_DICTIONARY)
		return fullzip_read_values(reader, values->fullzip,
			(const struct row_range *)(const void *)ranges->data,
			ranges->size / sizeof(struct row_range), leaf, err);
	TRY(array_init(&indices, field_unsigned(32), leaf->budget, err));
	rc = count_up(walk, &indices, err);
	if (rc == LANCET_OK)
		rc = spread(reader, values, ranges, walk, &indices, leaf, err);
	array_release(&indices);
	return rc;
}

static int
zipped_read(struct page_reader *reader, struct sparse_values *values,
	const struct sparse_layers *layers, const struct sparse_walk *walk, struct array *leaf,
	struct lancet_error *err)
{
	struct buf *ranges;
	int rc;

	TRY(codec_take_buffer(reader->scratch, &ranges, err));
	rc = rank_ranges(values, layers, walk, ranges, err);
	if (rc == LANCET_OK)
		rc = zipped_read_ranges(reader, values, walk, ranges, leaf, err);
	scratch_give(reader->scratch);
	return rc;
}

static int
indexed_open(struct page_reader *reader, const struct sparse_layers *layers,
	const struct Lance__Encodings23__Values *message, struct sparse_values *values,
	size_t *ret_buffers, struct lancet_error *err)
{
	const Lance__Encodings23__Values__Indexed *indexed = message->indexed;

	if (indexed->items == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "no items");
	TRY(sparse_numbers_open(&values->indices,
		slice_of(indexed->indices.data, indexed->indices.len), 32, layers->slots,
		&reader->arena, err));
	return open_zip(reader, indexed->items, 1, values, ret_buffers, err);
}

static int
indexed_load(struct page_reader *reader, const struct sparse_layers *layers,
	struct sparse_values *values, struct lancet_error *err)
{
	(void)layers;
	return sparse_numbers_load(reader, &values->indices, &values->budget, err);
}

/* The index of each slot of the walk; 0 under nulls, where it may be anything. `used` has a mark
 * for each item. */
static int
take_indices(const struct sparse_values *values, const struct sparse_walk *walk, uint32_t *place,
	uint32_t *used, struct lancet_error *err)
{
	const struct row_range *ranges = sparse_walk_ranges(walk);
	uint64_t slot = 0;

	for (size_t i = 0; i < sparse_walk_count(walk); i++)
		for (uint64_t j = 0; j < ranges[i].count; j++, slot++) {
			bool valid = !walk->absent || bits_get(walk->present->data, slot);
			uint64_t index =
				valid ? sparse_number(&values->indices, ranges[i].first + j) : 0;

			place[slot] = (uint32_t)index;
			if (!valid)
				continue;
			if (index >= values->items)
				return lancet_fail(err, LANCET_CORRUPT,
					"value %" PRIu64 " of %" PRIu64, index, values->items);
			used[index] = 1;
		}
	return LANCET_OK;
}

/* Replaces marks by the order of the items that are used, and lists those. */
static int
order_items(uint32_t *used, uint64_t items, struct buf *ranges, struct lancet_error *err)
{
	uint32_t next = 0;

	for (uint64_t i = 0; i < items; i++) {
		uint64_t first = i;

		for (; i < items && used[i] != 0; i++)
			used[i] = next++;
		put_range(ranges, first, i - first);
	}
	return buf_check(ranges, "ranges of values", err);
}

static int
gather_indices(const struct sparse_values *values, const struct sparse_walk *walk,
	struct array *indices, struct buf *marks, struct buf *ranges, struct lancet_error *err)
{
	uint32_t *place, *used;
	uint8_t *bytes;

	TRY(array_extend_fixed(indices, 32, walk->slots, &bytes, err));
	place = (uint32_t *)(void *)bytes;
	buf_fill(marks, 0, (size_t)(values->items + 1) * sizeof(*used)); /* one, if there is none */
	TRY(buf_check(marks, "values of a page", err));
	used = (uint32_t *)(void *)marks->data;
	TRY(take_indices(values, walk, place, used, err));
	TRY(order_items(used, values->items, ranges, err));
	for (uint64_t i = 0; i < walk->slots; i++)
		place[i] = used[place[i]];
	return LANCET_OK;
}

static int
indexed_read_items(struct page_reader *reader, struct sparse_values *values,
	const struct sparse_walk *walk, struct buf *marks, struct buf *ranges, struct array *leaf,
	struct lancet_error *err)
{
	struct array indices;
	int rc;

	TRY(array_init(&indices, field_unsigned(32), leaf->budget, err));
	rc = gather_indices(values, walk, &indices, marks, ranges, err);
	if (rc == LANCET_OK)
		rc = spread(reader, values, ranges, walk, &indices, leaf, err);
	array_release(&indices);
	return rc;
}

static int
indexed_read(struct page_reader *reader, struct sparse_values *values,
	const struct sparse_layers *layers, const struct sparse_walk *walk, struct array *leaf,
	struct lancet_error *err)
{
	struct buf *marks, *ranges;
	int rc;

	(void)layers;
	TRY(codec_take_buffer(reader->scratch, &marks, err));
	rc = codec_take_buffer(reader->scratch, &ranges, err);
	if (rc == LANCET_OK) {
		rc = indexed_read_items(reader, values, walk, marks, ranges, leaf, err);
		scratch_give(reader->scratch);
	}
	scratch_give(reader->scratch);
	return rc;
}

const struct sparse_values_kind sparse_zipped = {
	.pb_case = LANCE__ENCODINGS23__VALUES__VALUES_ZIPPED,
	.name = "zipped",
	.open = zipped_open,
	.load = zipped_load,
	.read = zipped_read,
};

const struct sparse_values_kind sparse_indexed = {
	.pb_case = LANCE__ENCODINGS23__VALUES__VALUES_INDEXED,
	.name = "indexed",
	.open = indexed_open,
	.load = indexed_load,
	.read = indexed_read,
};
