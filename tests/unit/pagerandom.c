/* Random fields and values; see pagerandom.h. */
#include "pagerandom.h"

#include <string.h>

#include "unit.h"

#define DEPTH_MAX 4

/* An assertion of the framework writes to a file each time. */
static void
must(int rc)
{
	if (rc != LANCET_OK)
		ck_abort_msg("an array that does not take values");
}

uint64_t
random_draw(struct random_tree *tree, uint64_t below)
{
	tree->random = tree->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (tree->random >> 33) % below;
}

static struct field *
random_children(struct random_tree *tree, struct field *field, size_t count)
{
	field->children = &tree->fields[tree->used];
	field->child_count = count;
	tree->used += count;
	ck_assert_uint_le(tree->used, RANDOM_FIELDS_MAX);
	for (size_t i = 0; i < count; i++)
		field->children[i] = (struct field){ .id = FIELD_NO_ID, .parent = field };
	return field->children;
}

static void
random_fixed(struct random_tree *tree, struct field *field)
{
	static const uint32_t bits[] = { 1, 8, 16, 32, 64, 128, 24, 256, 320, 2400 };

	field->kind = FIELD_FIXED;
	field->bits = bits[random_draw(tree, ARRAY_SIZE(bits))];
}

static void
random_text(struct random_tree *tree, struct field *field)
{
	field->kind = FIELD_VARIABLE;
	field->large = random_draw(tree, 3) == 0;
}

static void
random_fixed_list(struct random_tree *tree, struct field *field)
{
	struct field *item;
	static const uint64_t dimensions[] = { 1, 2, 3, 7, 90 };

	field->kind = FIELD_FIXED_LIST;
	field->dimension = dimensions[random_draw(tree, ARRAY_SIZE(dimensions))];
	item = random_children(tree, field, 1);
	item->ordinal = tree->ordinals++;
	item->nullable = random_draw(tree, 2) == 0;
	item->kind = FIELD_FIXED;
	item->bits = random_draw(tree, 4) == 0 ? 1 : 8u << random_draw(tree, 4);
	if (field->dimension < 4 && random_draw(tree, 3) == 0) {
		*item = (struct field){ .id = FIELD_NO_ID,
			.parent = field,
			.ordinal = item->ordinal,
			.nullable = item->nullable };
		random_fixed_list(tree, item);
	}
}

static void
random_dictionary(struct random_tree *tree, struct field *field)
{
	struct field *values;

	field->kind = FIELD_DICTIONARY;
	field->bits = 8u << random_draw(tree, 3);
	values = random_children(tree, field, 1);
	values->ordinal = tree->ordinals++;
	random_text(tree, values);
}

static void
random_packed(struct random_tree *tree, struct field *field)
{
	struct field *parts = random_children(tree, field, 1 + random_draw(tree, 3));

	field->kind = FIELD_STRUCT;
	field->packed = true;
	for (size_t i = 0; i < field->child_count; i++) {
		parts[i].ordinal = tree->ordinals++;
		parts[i].kind = FIELD_FIXED;
		parts[i].bits = 8u << random_draw(tree, 4);
		if (tree->version >= FILE_2_2 && random_draw(tree, 4) == 0)
			random_text(tree, &parts[i]);
	}
}

static void random_field(
	struct random_tree *tree, struct field *field, unsigned depth, bool lists, bool fixed);

static void
random_leaf(struct random_tree *tree, struct field *field)
{
	switch (random_draw(tree, 8)) {
	case 0:
	case 1:
		random_text(tree, field);
		return;
	case 2:
		random_fixed_list(tree, field);
		return;
	case 3:
		if (tree->dictionaries)
			random_dictionary(tree, field);
		else
			random_fixed(tree, field);
		return;
	case 4:
		random_packed(tree, field);
		return;
	case 5:
		if (random_draw(tree, 3) == 0) {
			field->kind = FIELD_NULL;
			return;
		}
		/* fall through */
	default:
		random_fixed(tree, field);
	}
}

static void
random_map(struct random_tree *tree, struct field *field, unsigned depth)
{
	struct field *entries = random_children(tree, field, 1);
	struct field *parts;

	field->kind = FIELD_MAP;
	entries->kind = FIELD_STRUCT;
	entries->ordinal = tree->ordinals++;
	parts = random_children(tree, entries, 2);
	parts[0].ordinal = tree->ordinals++;
	random_text(tree, &parts[0]);
	random_field(tree, &parts[1], depth - 2, true, false);
}

static void
random_struct(struct random_tree *tree, struct field *field, unsigned depth, bool lists, bool fixed)
{
	struct field *parts = random_children(tree, field, 1 + random_draw(tree, 3));

	field->kind = FIELD_STRUCT;
	for (size_t i = 0; i < field->child_count; i++)
		random_field(tree, &parts[i], depth - 1, lists, fixed);
}

/* `lists`, `fixed`: what is above, as both together can't be written. */
static void
random_field(struct random_tree *tree, struct field *field, unsigned depth, bool lists, bool fixed)
{
	uint64_t kind = depth == 0 ? 9 : random_draw(tree, 8);

	field->ordinal = tree->ordinals++;
	field->nullable = random_draw(tree, 4) != 0;
	if (kind < 3 && !fixed) {
		field->kind = FIELD_LIST;
		field->large = kind == 0;
		random_field(tree, random_children(tree, field, 1), depth - 1, true, false);
	} else if (kind == 3 && depth > 1 && tree->version >= FILE_2_2 && !fixed) {
		random_map(tree, field, depth);
	} else if (kind == 4 && depth > 1 && tree->version >= FILE_2_2 && !lists) {
		field->kind = FIELD_FIXED_LIST;
		field->dimension = 1 + random_draw(tree, 3);
		random_children(tree, field, 1);
		field->children[0].ordinal = tree->ordinals++;
		field->children[0].nullable = random_draw(tree, 2) == 0;
		random_struct(tree, &field->children[0], depth - 1, false, true);
	} else if (kind < 7) {
		random_struct(tree, field, depth, lists, fixed);
	} else {
		random_leaf(tree, field);
	}
}

void
random_tree_init(
	struct random_tree *tree, enum file_version version, bool dictionaries, uint64_t seed)
{
	memset(tree, 0, sizeof(*tree));
	tree->version = version;
	tree->dictionaries = dictionaries;
	tree->random = seed * UINT64_C(0x9e3779b97f4a7c15);
	tree->used = 1;
	tree->fields[0].id = FIELD_NO_ID;
	random_field(
		tree, &tree->fields[0], (unsigned)random_draw(tree, DEPTH_MAX + 1), false, false);
}

/* Like each other, of few kinds, or all different. */
static void
fill_fixed(struct random_tree *tree, struct array *array, uint64_t count)
{
	size_t width = array->field->bits == 1 ? 1 : array->field->bits / 8;
	uint64_t kinds = random_draw(tree, 3);
	uint8_t value[300];

	memset(value, (int)random_draw(tree, 256), sizeof(value));
	for (uint64_t i = 0; i < count; i++) {
		if (kinds > 0)
			value[0] = (uint8_t)random_draw(tree, kinds == 1 ? 3 : 256);
		if (kinds == 2)
			value[width / 2] = (uint8_t)random_draw(tree, 256);
		must(array_append_fixed(array, array->field->bits, value, 1, NULL));
	}
}

static void
fill_text(struct random_tree *tree, struct array *array, uint64_t count)
{
	static const uint64_t lengths[] = { 1, 4, 20, 700 };
	uint64_t most = lengths[random_draw(tree, 30) % (count > 2000 ? 3 : 4)];
	char text[700];

	for (uint64_t i = 0; i < count; i++) {
		size_t size = (size_t)random_draw(tree, most);

		for (size_t at = 0; at < size; at++)
			text[at] = (char)('a' + random_draw(tree, 4));
		must(array_append_bytes(array, slice_of(text, size), NULL));
	}
}

static void
fill_lists(struct random_tree *tree, struct array *array, uint64_t count)
{
	static const uint64_t lengths[] = { 1, 2, 4, 40 };
	uint64_t most = lengths[random_draw(tree, count > 3000 ? 3 : 4)];
	uint64_t rare = random_draw(tree, 3) == 0 ? 200 : 1, total = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t items = random_draw(tree, rare) == 0 ? random_draw(tree, most) : 0;

		must(array_append_list(array, items, NULL));
		total += items;
	}
	random_fill(tree, &array->children[0], total);
}

static void
fill_keys(struct random_tree *tree, struct array *array, uint64_t count)
{
	uint64_t items = 1 + random_draw(tree, 9);
	struct array *values = &array->children[0];

	if (values->length == 0) {
		for (uint64_t i = 0; i < items; i++) {
			char text[2] = { (char)('a' + i), 'z' };

			must(array_append_bytes(values, slice_of(text, 1 + i % 2), NULL));
		}
		if (items > 4)
			must(array_set_null(values, 2, NULL));
	}
	for (uint64_t i = 0; i < count; i++) {
		uint64_t key = random_draw(tree, values->length);

		must(array_append_fixed(array, array->field->bits, (const uint8_t *)&key, 1, NULL));
	}
}

static void
fill_nulls(struct random_tree *tree, struct array *array, uint64_t count)
{
	static const uint64_t shares[] = { 1, 2, 10, 300 };
	uint64_t share = shares[random_draw(tree, 16) % 4];
	uint8_t *bitmap = calloc(1, (size_t)count / 8 + 1);

	for (uint64_t i = 0; i < count; i++)
		bitmap[i / 8] |= (uint8_t)((random_draw(tree, share) != 0) << i % 8);
	must(array_set_validity(array, count, bitmap, 0, NULL));
	free(bitmap);
}

void
random_fill(struct random_tree *tree, struct array *array, uint64_t count)
{
	tree->values += count;
	switch (array->field->kind) {
	case FIELD_NULL:
		must(array_append_nulls(array, count, NULL));
		return;
	case FIELD_FIXED:
		fill_fixed(tree, array, count);
		break;
	case FIELD_VARIABLE:
		fill_text(tree, array, count);
		break;
	case FIELD_DICTIONARY:
		fill_keys(tree, array, count);
		break;
	case FIELD_LIST:
	case FIELD_MAP:
		fill_lists(tree, array, count);
		break;
	case FIELD_FIXED_LIST:
		random_fill(tree, &array->children[0], count * array->field->dimension);
		must(array_extend(array, count, NULL));
		break;
	case FIELD_STRUCT:
		for (size_t i = 0; i < array->child_count; i++)
			random_fill(tree, &array->children[i], count);
		must(array_extend(array, count, NULL));
		break;
	}
	if (array->field->nullable && count > 0 && random_draw(tree, 3) != 0)
		fill_nulls(tree, array, count);
}
