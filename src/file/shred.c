/* Layers of a page, and the values behind its levels; see shred.h.
 *
 * Which layers can be null or empty is found over all slots that the rows cover, those under nulls
 * included: a layer that could have nulls but has none is no mistake.
 */
#include "shred.h"

#include <assert.h>
#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "util/bits.h"
#include "util/macros.h"

static bool
is_list(const struct field *field)
{
	return field->kind == FIELD_LIST || field->kind == FIELD_MAP;
}

int
shred_path_init(struct shred_path *path, const struct array *root, const struct field *leaf,
	struct lancet_error *err)
{
	unsigned count = 0, depth = 0;
	size_t children[LEVELS_LAYERS_MAX];

	for (const struct field *at = leaf; at->parent != NULL; at = at->parent) {
		if (count + 1 == LEVELS_LAYERS_MAX)
			return lancet_fail(err, LANCET_UNSUPPORTED, "nested too deep");
		children[count++] = (size_t)(at - at->parent->children);
	}
	*path = (struct shred_path){ .leaf = leaf, .count = count + 1 };
	path->arrays[count] = root;
	for (depth = count; depth > 0; depth--) {
		assert(children[depth - 1] < path->arrays[depth]->child_count);
		path->arrays[depth - 1] = &path->arrays[depth]->children[children[depth - 1]];
	}
	return LANCET_OK;
}

/* Slots of the layer below that slots [*first, *first + *count) of this one cover. */
static void
go_inside(const struct array *array, uint64_t *first, uint64_t *count)
{
	uint64_t begin;

	if (is_list(array->field)) {
		begin = array_offset(array, *first);
		*count = array_offset(array, *first + *count) - begin;
		*first = begin;
	} else if (array->field->kind == FIELD_FIXED_LIST) {
		*first *= array->field->dimension;
		*count *= array->field->dimension;
	}
}

/* Empty ones among the lists that are not null. */
static bool
has_empty(const struct array *array, uint64_t first, uint64_t count)
{
	uint64_t at = array_offset(array, first);

	for (uint64_t i = first; i < first + count; i++) {
		uint64_t end = array_offset(array, i + 1);

		if (at == end && array_is_valid(array, i))
			return true;
		at = end;
	}
	return false;
}

static int
kind_of(bool list, bool nulls, bool empty)
{
	if (!list)
		return nulls ? LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_ITEM
			     : LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_ITEM;
	if (nulls && empty)
		return LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULL_AND_EMPTY_LIST;
	if (nulls)
		return LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_LIST;
	return empty ? LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_EMPTYABLE_LIST
		     : LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_LIST;
}

static int
need_bits(struct shred *shred, uint64_t count, bool value, struct lancet_error *err)
{
	shred->validity.size = 0;
	buf_fill(&shred->validity, value ? 0xff : 0, (size_t)bits_size(count));
	return buf_check(&shred->validity, "validity", err);
}

/* A null among the values of a dictionary is a null of each slot that has its key. */
static int
fold_dictionary(struct shred *shred, struct shred_path *path, uint64_t first, uint64_t count,
	struct lancet_error *err)
{
	const struct array *array = path->arrays[0];
	const struct array *items = &array->children[0];

	TRY(need_bits(shred, count, true, err));
	for (uint64_t i = 0; i < count; i++) {
		bool valid = array_is_valid(array, first + i);
		uint64_t key = valid ? array_unsigned(array, first + i) : 0;

		if (valid && key >= items->length)
			return lancet_fail(err, LANCET_CORRUPT,
				"key %" PRIu64 " of a dictionary of %" PRIu64 " values", key,
				items->length);
		if (!valid || !array_is_valid(items, key))
			bits_fill(shred->validity.data, i, 1, false);
	}
	path->validity = shred->validity.data;
	path->validity_first = first;
	return LANCET_OK;
}

static int
find_validity(struct shred *shred, struct shred_path *path, uint64_t first, uint64_t count,
	struct lancet_error *err)
{
	const struct array *array = path->arrays[0];

	if (path->leaf->kind == FIELD_NULL) {
		TRY(need_bits(shred, count, false, err));
		path->validity = shred->validity.data;
		path->validity_first = first;
		return LANCET_OK;
	}
	if (path->leaf->kind == FIELD_DICTIONARY && array->children[0].null_count > 0)
		return fold_dictionary(shred, path, first, count, err);
	path->validity = array->null_count > 0 ? array->validity.data : NULL;
	path->validity_first = 0;
	return LANCET_OK;
}

/* Whether a field, or one below it, is a list or fixed-size list that levels tell. */
static bool
has_lists(const struct field *field)
{
	if (field_is_leaf(field))
		return false;
	if (is_list(field) || field->kind == FIELD_FIXED_LIST)
		return true;
	for (size_t i = 0; i < field->child_count; i++)
		if (has_lists(&field->children[i]))
			return true;
	return false;
}

/* Whether a field, or what is around it within the same list, may be null. */
static bool
may_be_null(const struct field *field)
{
	for (; field != NULL && !is_list(field); field = field->parent)
		if (field->nullable)
			return true;
	return false;
}

/* pylance (14.0.2) miscounts the valid ones where pages of one column differ in whether a struct
 * has nulls, when there are lists below it or a fixed-size list above. Such a struct, or fixed-size
 * list, has some in all pages, as far as the layers tell: for all leaves, which have to agree. */
static bool
is_always_nullable(const struct field *field)
{
	if (is_list(field) || !may_be_null(field))
		return false;
	if (has_lists(field))
		return true;
	for (; field != NULL; field = field->parent)
		if (field->kind == FIELD_FIXED_LIST)
			return true;
	return false;
}

/* It also miscounts what is above lists that are all valid: those with structs above them are told
 * as ones that could be null. */
static void
avoid_valid_lists(const struct shred_path *path, int *kinds)
{
	bool above = false;

	for (unsigned layer = path->count; layer-- > 1;) {
		above |= !is_list(path->arrays[layer]->field);
		if (above &&
			kinds[layer] == LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_LIST)
			kinds[layer] = LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_LIST;
	}
}

/* Kinds of all layers, and what tells the leaf's nulls. What is within null structs is null, too:
 * pylance refuses nulls below a field that has none, where they are said to be under valid ones. */
static int
find_layers(struct shred *shred, struct shred_path *path, uint64_t first, uint64_t count,
	struct lancet_error *err)
{
	int kinds[LEVELS_LAYERS_MAX];
	bool above = false;

	for (unsigned layer = path->count; layer-- > 1;) {
		const struct array *array = path->arrays[layer];
		bool list = is_list(array->field);
		bool nulls = array_nulls(array, first, count) > 0 ||
			     is_always_nullable(array->field) || (above && !list);

		above = nulls && !list;
		kinds[layer] = kind_of(list, nulls, list && has_empty(array, first, count));
		go_inside(array, &first, &count);
	}
	TRY(find_validity(shred, path, first, count, err));
	kinds[0] = kind_of(false,
		path->validity != NULL &&
			bits_count(path->validity, first - path->validity_first, count) < count,
		false);
	avoid_valid_lists(path, kinds);
	return layers_init(&shred->layers, kinds, path->count, path->leaf, err);
}

/* The visible slots as one range of an array: the leaf's own, or a copy where there are gaps. */
static int
find_values(struct shred *shred, const struct array *leaf, struct lancet_error *err)
{
	const struct shred_run *runs = (const struct shred_run *)(void *)shred->runs[0].data;
	size_t count = shred->runs[0].size / sizeof(*runs);

	shred->values = leaf;
	shred->first = count > 0 ? runs[0].first : 0;
	shred->visible = count > 0 ? runs[0].count : 0;
	if (count <= 1)
		return LANCET_OK;
	array_release(&shred->gathered);
	shred->budget = (struct array_budget){ .limit = SIZE_MAX };
	TRY(array_init(&shred->gathered, leaf->field, &shred->budget, err));
	for (size_t i = 0; i < count; i++)
		TRY(array_append_range(&shred->gathered, leaf, runs[i].first, runs[i].count, err));
	shred->values = &shred->gathered;
	shred->first = 0;
	shred->visible = shred->gathered.length;
	return LANCET_OK;
}

int
shred_make(struct shred *shred, const struct array *root, const struct field *leaf, uint64_t first,
	uint64_t count, struct lancet_error *err)
{
	struct shred_path path;

	assert(first <= root->length && count <= root->length - first);
	TRY(shred_path_init(&path, root, leaf, err));
	TRY(find_layers(shred, &path, first, count, err));
	TRY(shred_walk(shred, &path, first, count, err));
	TRY(find_values(shred, path.arrays[0], err));
	shred->valid = shred->def == NULL ? shred->entries
					  : levels_count_up_to(shred->def, shred->entries, 0);
	return LANCET_OK;
}

void
shred_release(struct shred *shred)
{
	if (shred == NULL)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(shred->levels); i++)
		buf_release(&shred->levels[i]);
	for (size_t i = 0; i < ARRAY_SIZE(shred->runs); i++)
		buf_release(&shred->runs[i]);
	buf_release(&shred->validity);
	array_release(&shred->gathered);
	*shred = (struct shred){ 0 };
}

/* No more than the slots of all layers with lists: an entry is a row, or an item of one. */
static uint64_t
entries_at_most(const struct shred_path *path, uint64_t first, uint64_t count)
{
	uint64_t entries = count;

	for (unsigned layer = path->count; layer-- > 1;) {
		const struct array *array = path->arrays[layer];

		go_inside(array, &first, &count);
		if (is_list(array->field))
			entries += count;
		else if (array->field->kind == FIELD_FIXED_LIST)
			entries *= array->field->dimension;
	}
	return entries;
}

/* Levels are needed at all: there may be nulls, or lists. */
static bool
has_levels(const struct shred_path *path)
{
	for (unsigned layer = 0; layer < path->count; layer++) {
		const struct array *array = path->arrays[layer];

		if (array->null_count > 0 || (layer > 0 && is_list(array->field)))
			return true;
	}
	return path->leaf->kind == FIELD_DICTIONARY && path->arrays[0]->children[0].null_count > 0;
}

uint64_t
shred_rows_within(const struct array *root, const struct field *leaf, uint64_t first,
	uint64_t count, uint64_t entries)
{
	struct shred_path path;
	uint64_t low = 1, high = count;

	if (count <= 1 || shred_path_init(&path, root, leaf, NULL) != LANCET_OK ||
		!has_levels(&path))
		return count;
	if (entries_at_most(&path, first, count) <= entries)
		return count;
	while (high - low > 1) { /* `low` rows fit, or are one; `high` do not */
		uint64_t half = low + (high - low) / 2;

		if (entries_at_most(&path, first, half) <= entries)
			low = half;
		else
			high = half;
	}
	return low;
}
