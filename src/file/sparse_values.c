/* Values of sparse pages, but for those that are stored one by one (sparse_zipped.c).
 *
 * Chunks hold a value for each slot of the leaf, nulls included; a constant is the value of every
 * valid slot; or there are none at all. Format facts: 2.3 PlanarLayout.
 */
#include "sparse.h"

#include <inttypes.h>
#include <stdlib.h>

#include <lance/encodings21.pb-c.h>
#include <lance/encodings23.pb-c.h>

#include "constant_value.h"
#include "miniblock.h"
#include "util/bits.h"
#include "util/macros.h"

static struct slice
message_of(ProtobufCBinaryData bytes)
{
	return slice_of(bytes.data, bytes.len);
}

static int
chunked_open(struct page_reader *reader, const struct sparse_layers *layers,
	const struct Lance__Encodings23__Values *message, struct sparse_values *values,
	size_t *ret_buffers, struct lancet_error *err)
{
	const Lance__Encodings23__Values__Chunked *chunked = message->chunked;
	const struct miniblock_spec spec = {
		.compression = message_of(chunked->compression),
		.dictionary = message_of(chunked->dictionary),
		.dictionary_items = chunked->num_dictionary_items,
		.buffers = chunked->num_buffers,
		.items = layers->slots,
		.rows = layers->slots,
		.large = true,
	};

	if (chunked->levels != NULL || chunked->num_items != 0)
		return lancet_fail(err, LANCET_CORRUPT, "levels where positions tell structure");
	*ret_buffers = spec.dictionary.size > 0 ? 3 : 2;
	return miniblock_open(reader, &spec, &values->miniblock, err);
}

static int
chunked_read(struct page_reader *reader, struct sparse_values *values,
	const struct sparse_layers *layers, const struct sparse_walk *walk, struct array *leaf,
	struct lancet_error *err)
{
	(void)layers;
	return miniblock_read_values(reader, values->miniblock, sparse_walk_ranges(walk),
		sparse_walk_count(walk), walk->absent ? walk->present->data : NULL, leaf, err);
}

static int
constant_open(struct page_reader *reader, const struct sparse_layers *layers,
	const struct Lance__Encodings23__Values *message, struct sparse_values *values,
	size_t *ret_buffers, struct lancet_error *err)
{
	(void)layers;
	TRY(array_init(&values->scalar, reader->leaf, &values->budget, err));
	*ret_buffers = 0;
	return constant_value_put(message_of(message->constant->scalar), &values->scalar, err);
}

static int
constant_read(struct page_reader *reader, struct sparse_values *values,
	const struct sparse_layers *layers, const struct sparse_walk *walk, struct array *leaf,
	struct lancet_error *err)
{
	(void)reader;
	(void)layers;
	return array_append_repeated(leaf, &values->scalar, walk->slots, err);
}

static int
none_open(struct page_reader *reader, const struct sparse_layers *layers,
	const struct Lance__Encodings23__Values *message, struct sparse_values *values,
	size_t *ret_buffers, struct lancet_error *err)
{
	(void)reader;
	(void)layers;
	(void)message;
	(void)values;
	(void)err;
	*ret_buffers = 0;
	return LANCET_OK;
}

/* Structs without children have nothing else than validity. */
static int
none_read(struct page_reader *reader, struct sparse_values *values,
	const struct sparse_layers *layers, const struct sparse_walk *walk, struct array *leaf,
	struct lancet_error *err)
{
	(void)reader;
	(void)values;
	(void)layers;
	if (leaf->field->kind == FIELD_STRUCT && leaf->child_count == 0)
		return array_extend(leaf, walk->slots, err);
	if (!walk->absent || bits_count(walk->present->data, 0, walk->slots) > 0)
		return lancet_fail(err, LANCET_CORRUPT, "no values for slots that are not null");
	return array_append_nulls(leaf, walk->slots, err);
}

const struct sparse_values_kind sparse_chunked = {
	.pb_case = LANCE__ENCODINGS23__VALUES__VALUES_CHUNKED,
	.name = "chunked",
	.open = chunked_open,
	.read = chunked_read,
};

const struct sparse_values_kind sparse_constant = {
	.pb_case = LANCE__ENCODINGS23__VALUES__VALUES_CONSTANT,
	.name = "constant",
	.open = constant_open,
	.read = constant_read,
};

const struct sparse_values_kind sparse_none = {
	.pb_case = LANCE__ENCODINGS23__VALUES__VALUES_NONE,
	.name = "none",
	.open = none_open,
	.read = none_read,
};

static const struct sparse_values_kind *const kinds[] = {
	&sparse_chunked,
	&sparse_zipped,
	&sparse_constant,
	&sparse_none,
	&sparse_indexed,
};

int
sparse_values_open(struct page_reader *reader, const struct sparse_layers *layers,
	const struct Lance__Encodings23__Values *message, struct sparse_values *values,
	size_t *ret_buffers, struct lancet_error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i]->pb_case != (int)message->values_case)
			continue;
		values->kind = kinds[i];
		return lancet_wrap(err,
			kinds[i]->open(reader, layers, message, values, ret_buffers, err), "%s",
			kinds[i]->name);
	}
	return lancet_fail(err, LANCET_CORRUPT, "values of an unknown kind");
}

void
sparse_values_release(struct sparse_values *values)
{
	miniblock_release(values->miniblock);
	array_release(&values->scalar);
	array_release(&values->indices.values);
	free(values->present);
	free(values->ranks);
}

/* Slots that are not valid become null; what the values made null stays so. */
static int
set_absent(const struct sparse_walk *walk, struct array *leaf, bool has_nulls,
	struct lancet_error *err)
{
	uint64_t first = leaf->length - walk->slots;

	if (!has_nulls)
		return array_set_validity(leaf, walk->slots, walk->present->data, 0, err);
	for (uint64_t i = 0; i < walk->slots; i++)
		if (!bits_get(walk->present->data, i))
			TRY(array_set_null(leaf, first + i, err));
	return LANCET_OK;
}

int
sparse_values_read(struct page_reader *reader, struct sparse_values *values,
	const struct sparse_layers *layers, const struct sparse_walk *walk, struct array *leaf,
	struct lancet_error *err)
{
	uint64_t nulls = leaf->null_count;

	if (walk->slots == 0)
		return LANCET_OK;
	TRY(values->kind->read(reader, values, layers, walk, leaf, err));
	if (!walk->absent)
		return LANCET_OK;
	return set_absent(walk, leaf, leaf->null_count > nulls, err);
}
