/* IN: constants are sorted once and looked up; what can't be is compared one by one. */
#include "predicate_rows.h"

#include <stdlib.h>

#include "util/macros.h"

#define SORT_MIN 4u

static int
compare_numbers(const void *left, const void *right)
{
	int64_t a = ((const struct value *)left)->number;
	int64_t b = ((const struct value *)right)->number;

	return (a > b) - (a < b);
}

static int
compare_bytes(const void *left, const void *right)
{
	return slice_compare(
		((const struct value *)left)->bytes, ((const struct value *)right)->bytes);
}

static bool
is_bytes(const struct value_type *type)
{
	return type->class == VALUE_TEXT || type->class == VALUE_BINARY;
}

/* Keys of one class are told from each other by their numbers alone. */
static bool
can_sort(const struct value_type *type, const struct expression *item)
{
	return item->kind == EXPRESSION_CONSTANT && !item->is_null &&
	       item->type.class == type->class && item->type.unit == type->unit &&
	       (is_bytes(type) || type_has_keys(type));
}

static size_t
count_sortable(const struct expression *in)
{
	size_t count = 0;

	for (const struct expression *at = in->items; at != NULL; at = at->next_item)
		count += can_sort(&in->left->type, at);
	return count;
}

int
predicate_sort_items(struct predicate *predicate, struct expression *in, struct lancet_error *err)
{
	const struct value_type *type = &in->left->type;
	size_t count = count_sortable(in);

	if (count < SORT_MIN)
		return LANCET_OK;
	in->sorted = arena_zalloc(&predicate->arena, count, sizeof(*in->sorted));
	if (in->sorted == NULL)
		return predicate_out_of_memory(err);
	for (struct expression **at = &in->items; *at != NULL;) {
		struct value *place = &in->sorted[in->sorted_count];

		if (!can_sort(type, *at)) {
			at = &(*at)->next_item;
			continue;
		}
		*place = (*at)->value;
		if (!is_bytes(type))
			place->number = value_key(type, &(*at)->value);
		in->sorted_count++;
		*at = (*at)->next_item;
	}
	qsort(in->sorted, count, sizeof(*in->sorted),
		is_bytes(type) ? compare_bytes : compare_numbers);
	return LANCET_OK;
}

static bool
has_key(const struct expression *in, int64_t key)
{
	size_t low = 0, high = in->sorted_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (in->sorted[middle].number < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < in->sorted_count && in->sorted[low].number == key;
}

static bool
has_bytes(const struct expression *in, struct slice bytes)
{
	struct value wanted = { .bytes = bytes };

	return bsearch(&wanted, in->sorted, in->sorted_count, sizeof(wanted), compare_bytes) !=
	       NULL;
}

int
in_lookup(struct machine *machine, const struct expression *in, const struct vector *vector,
	size_t index, uint64_t found[BLOCK_WORDS])
{
	bool bytes = is_bytes(&vector->type);
	const int64_t *keys = bytes ? NULL : vector_keys(machine, vector, index);

	if (!bytes && keys == NULL)
		return LANCET_NO_MEMORY;
	for (unsigned i = 0; i < machine->count; i++) {
		uint64_t bit = UINT64_C(1) << i % 64;

		if ((vector->valid[i / 64] & bit) &&
			(bytes ? has_bytes(in, vector->values.bytes[i]) : has_key(in, keys[i])))
			found[i / 64] |= bit;
	}
	return LANCET_OK;
}
