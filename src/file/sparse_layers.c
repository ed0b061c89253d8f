/* The layers of a sparse page, from the outside to the leaf.
 *
 * A layer of validity keeps the slots, a list layer leads from its own to those of its items, and a
 * fixed-size list multiplies them. There is one layer for each ancestor of the leaf and one for the
 * leaf, each of the kind that its field asks for. Format facts: 2.3 PlanarLayout.
 */
#include "sparse.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>
#include <lance/encodings23.pb-c.h>

#include "util/macros.h"

#define KEPT_BYTES_MAX ((size_t)256 * 1024 * 1024) /* positions of one page */

static struct slice
message_of(ProtobufCBinaryData bytes)
{
	return slice_of(bytes.data, bytes.len);
}

static int
open_validity(struct sparse_layer *layer, const Lance__Encodings23__ValiditySet *set,
	struct arena *arena, struct lancet_error *err)
{
	if (set == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "a layer without validity");
	switch (set->meaning) {
	case LANCE__ENCODINGS23__VALIDITY_SET__MEANING__NULL_POSITIONS:
		break;
	case LANCE__ENCODINGS23__VALIDITY_SET__MEANING__VALID_POSITIONS:
		layer->lists_valid = true;
		break;
	default:
		return lancet_fail(err, LANCET_CORRUPT, "positions of an unknown meaning");
	}
	if (set->num_positions > layer->slots)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " positions among %" PRIu64 " slots", set->num_positions,
			layer->slots);
	TRY(sparse_numbers_open(
		&layer->marked, message_of(set->positions), 64, set->num_positions, arena, err));
	layer->children = layer->slots;
	return LANCET_OK;
}

static int
open_list(struct sparse_layer *layer, const Lance__Encodings23__SparseLayer__List *list,
	struct arena *arena, struct lancet_error *err)
{
	uint64_t filled = list->num_non_empty_positions;

	layer->kind = SPARSE_LIST;
	if (filled > layer->slots || filled > list->num_child_slots ||
		list->num_child_slots > SPARSE_SLOTS_MAX)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " items in %" PRIu64 " of %" PRIu64 " lists",
			list->num_child_slots, filled, layer->slots);
	TRY(sparse_numbers_open(
		&layer->filled, message_of(list->non_empty_positions), 64, filled, arena, err));
	TRY(sparse_numbers_open(&layer->counts, message_of(list->counts), 64, filled, arena, err));
	TRY(open_validity(layer, list->validity, arena, err));
	layer->children = list->num_child_slots;
	return LANCET_OK;
}

static int
open_fixed_list(struct sparse_layer *layer,
	const Lance__Encodings23__SparseLayer__FixedSizeList *list, const struct field *field,
	struct arena *arena, struct lancet_error *err)
{
	uint64_t children;

	layer->kind = SPARSE_FIXED_LIST;
	layer->dimension = list->dimension;
	if (list->dimension != field->dimension)
		return lancet_fail(err, LANCET_CORRUPT,
			"lists of %" PRIu64 " items, %" PRIu64 " expected", list->dimension,
			field->dimension);
	if (__builtin_mul_overflow(layer->slots, list->dimension, &children))
		return lancet_fail(err, LANCET_CORRUPT, "too many slots");
	TRY(open_validity(layer, list->validity, arena, err));
	layer->children = children;
	return LANCET_OK;
}

/* `field` is the ancestor that the layer speaks of, or the leaf. */
static int
open_layer(struct sparse_layer *layer, const Lance__Encodings23__SparseLayer *message,
	const struct field *field, bool is_leaf, struct arena *arena, struct lancet_error *err)
{
	enum field_kind kind = is_leaf ? FIELD_STRUCT : field->kind;

	switch (message->layer_case) {
	case LANCE__ENCODINGS23__SPARSE_LAYER__LAYER_VALIDITY:
		if (kind == FIELD_STRUCT)
			return open_validity(layer, message->validity, arena, err);
		break;
	case LANCE__ENCODINGS23__SPARSE_LAYER__LAYER_LIST:
		if (kind == FIELD_LIST || kind == FIELD_MAP)
			return open_list(layer, message->list, arena, err);
		break;
	case LANCE__ENCODINGS23__SPARSE_LAYER__LAYER_FIXED_SIZE_LIST:
		if (kind == FIELD_FIXED_LIST)
			return open_fixed_list(layer, message->fixed_size_list, field, arena, err);
		break;
	default:
		return lancet_fail(err, LANCET_CORRUPT, "a layer of an unknown kind");
	}
	return lancet_fail(err, LANCET_CORRUPT, "a layer of another kind than the type's");
}

/* ret_fields[i]: the field of layer i, from the outside; as many as `count` or it is CORRUPT. */
static int
find_fields(const struct field *leaf, size_t count, const struct field **fields,
	struct lancet_error *err)
{
	size_t left = count;

	for (const struct field *field = leaf; field != NULL; field = field->parent) {
		if (left == 0)
			return lancet_fail(
				err, LANCET_CORRUPT, "%zu layers are too few for the type", count);
		fields[--left] = field;
	}
	if (left > 0)
		return lancet_fail(
			err, LANCET_CORRUPT, "%zu layers are too many for the type", count);
	return LANCET_OK;
}

int
sparse_layers_open(struct page_reader *reader,
	const struct Lance__Encodings23__Structure__Sparse *message, struct sparse_layers *layers,
	struct lancet_error *err)
{
	const struct field *fields[FIELD_DEPTH_MAX + 1];
	uint64_t slots = reader->page->length / reader->scale;

	if (message->n_layers > ARRAY_SIZE(fields))
		return lancet_fail(err, LANCET_CORRUPT, "%zu layers", message->n_layers);
	TRY(find_fields(reader->leaf, message->n_layers, fields, err));
	*layers = (struct sparse_layers){ .budget.limit = KEPT_BYTES_MAX };
	layers->layers = arena_zalloc(&reader->arena, message->n_layers, sizeof(*layers->layers));
	if (layers->layers == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "layers of a page");
	layers->count = message->n_layers;
	for (size_t i = 0; i < layers->count; i++) {
		layers->layers[i].slots = slots;
		TRY(open_layer(&layers->layers[i], message->layers[i], fields[i],
			i + 1 == layers->count, &reader->arena, err));
		slots = layers->layers[i].children;
	}
	layers->slots = slots;
	return LANCET_OK;
}

static void
forget(struct sparse_layers *layers)
{
	for (size_t i = 0; i < layers->count; i++) {
		array_release(&layers->layers[i].marked.values);
		array_release(&layers->layers[i].filled.values);
		array_release(&layers->layers[i].counts.values);
	}
}

void
sparse_layers_release(struct sparse_layers *layers)
{
	forget(layers);
	layers->count = 0;
}

size_t
sparse_layers_number(struct sparse_layers *layers, size_t first)
{
	for (size_t i = 0; i < layers->count; i++) {
		struct sparse_layer *layer = &layers->layers[i];

		layer->filled.buffer = first;
		first += layer->filled.has_buffer;
		layer->counts.buffer = first;
		first += layer->counts.has_buffer;
		layer->marked.buffer = first;
		first += layer->marked.has_buffer;
	}
	return first;
}

/* Positions ascend without repetition and are below `slots`. */
static int
check_positions(const struct sparse_numbers *positions, uint64_t slots, struct lancet_error *err)
{
	const uint64_t *values = (const uint64_t *)(const void *)positions->values.data.data;
	unsigned bad = 0;

	if (positions->count == 0)
		return LANCET_OK;
	if (positions->progression)
		bad = positions->count > 1 && positions->step == 0;
	for (uint64_t i = 1; !positions->progression && i < positions->count; i++)
		bad |= values[i] <= values[i - 1];
	if (bad)
		return lancet_fail(err, LANCET_CORRUPT, "sparse: positions do not ascend");
	if (sparse_number(positions, positions->count - 1) >= slots)
		return lancet_fail(err, LANCET_CORRUPT,
			"sparse: position %" PRIu64 " among %" PRIu64 " slots",
			sparse_number(positions, positions->count - 1), slots);
	return LANCET_OK;
}

/* Replaces counts by their sums. */
static int
add_counts(struct sparse_layer *layer, struct lancet_error *err)
{
	uint64_t *counts = (uint64_t *)(void *)layer->counts.values.data.data;
	uint64_t sum = 0;
	bool empty = false;

	if (layer->counts.progression &&
		layer->counts.count > 0) { /* all the same: see load_list */
		empty = layer->counts.start == 0;
		if (__builtin_mul_overflow(layer->counts.count, layer->counts.start, &sum))
			sum = UINT64_MAX;
		layer->counts.step = layer->counts.start;
	}
	for (uint64_t i = 0; !layer->counts.progression && i < layer->counts.count; i++) {
		empty |= counts[i] == 0;
		if (__builtin_add_overflow(sum, counts[i], &sum))
			sum = UINT64_MAX;
		counts[i] = sum;
	}
	if (empty || sum != layer->children)
		return lancet_fail(err, LANCET_CORRUPT,
			"sparse: lists of %" PRIu64 " items%s, %" PRIu64 " expected", sum,
			empty ? ", some empty" : "", layer->children);
	return LANCET_OK;
}

static int
load_list(struct page_reader *reader, struct sparse_layer *layer, struct array_budget *budget,
	struct lancet_error *err)
{
	TRY(sparse_numbers_load(reader, &layer->filled, budget, err));
	TRY(check_positions(&layer->filled, layer->slots, err));
	/* sums of a range are no progression */
	if (layer->counts.step != 0)
		layer->counts.progression = false;
	TRY(sparse_numbers_load(reader, &layer->counts, budget, err));
	return add_counts(layer, err);
}

static int
load_layer(struct page_reader *reader, struct sparse_layer *layer, struct array_budget *budget,
	struct lancet_error *err)
{
	if (layer->kind == SPARSE_LIST)
		TRY(load_list(reader, layer, budget, err));
	TRY(sparse_numbers_load(reader, &layer->marked, budget, err));
	return check_positions(&layer->marked, layer->slots, err);
}

int
sparse_layers_load(
	struct page_reader *reader, struct sparse_layers *layers, struct lancet_error *err)
{
	int rc = LANCET_OK;

	if (layers->loaded)
		return LANCET_OK;
	for (size_t i = 0; rc == LANCET_OK && i < layers->count; i++)
		rc = load_layer(reader, &layers->layers[i], &layers->budget, err);
	if (rc != LANCET_OK)
		forget(layers);
	layers->loaded = rc == LANCET_OK;
	return rc;
}

bool
sparse_layer_has_nulls(const struct sparse_layer *layer)
{
	return layer->lists_valid ? layer->marked.count < layer->slots : layer->marked.count > 0;
}
