/* One top-level field of files of 2.1 and later: a reader for each of its leaf columns.
 *
 * Each leaf brings the validity and lengths of everything above it. The first leaf below an
 * ancestor sets them, the others have to agree. Arrays grow where they are: what is read into lies
 * in the result already. Leaves without a column are null, as many as what is above them asks for.
 * Format facts: schema to columns, decoding algorithm for a leaf.
 */
#include "reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"

struct nested_leaf {
	const struct field *field;
	uint32_t column;
	bool present;
	struct leaf_reader reader;
};

struct nested_reader {
	const struct field *field;
	uint64_t rows;
	struct nested_leaf *leaves;
	size_t leaf_count, present;
	/* By ordinal within the field: whether a leaf below was read, and the length before. */
	size_t node_count;
	bool *is_set;
	uint64_t *before;
};

static size_t
count_leaves(const struct field *field)
{
	size_t count = 0;

	if (field_is_leaf(field))
		return 1;
	for (size_t i = 0; i < field->child_count; i++)
		count += count_leaves(&field->children[i]);
	return count;
}

static void
add_leaves(struct nested_reader *nested, const struct field *field)
{
	size_t at = field->ordinal - nested->field->ordinal;

	nested->node_count = at + 1 > nested->node_count ? at + 1 : nested->node_count;
	if (field_is_leaf(field)) {
		nested->leaves[nested->leaf_count++].field = field;
		return;
	}
	for (size_t i = 0; i < field->child_count; i++)
		add_leaves(nested, &field->children[i]);
}

static int
open_leaf(struct nested_reader *nested, struct nested_leaf *leaf, const struct column_place *place,
	struct scratch *scratch, struct lancet_error *err)
{
	uint64_t rows;

	if (place->file == NULL)
		return LANCET_OK;
	TRY(leaf_reader_init(&leaf->reader, place->file, place->column, leaf->field, scratch, err));
	leaf->present = true;
	leaf->column = place->column;
	nested->present++;
	rows = leaf_reader_rows(&leaf->reader);
	if (rows != nested->rows)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " rows, %" PRIu64 " expected",
			rows, nested->rows);
	return LANCET_OK;
}

static void
nested_free(void *state)
{
	struct nested_reader *nested = state;

	if (nested == NULL)
		return;
	for (size_t i = 0; i < nested->leaf_count; i++)
		leaf_reader_release(&nested->leaves[i].reader);
	free(nested->leaves);
	free(nested->is_set);
	free(nested->before);
	free(nested);
}

static int
open_leaves(struct nested_reader *nested, const struct column_place *places,
	struct scratch *scratch, struct lancet_error *err)
{
	for (size_t i = 0; i < nested->leaf_count; i++) {
		const struct column_place *place = &places[nested->leaves[i].field->ordinal];
		int rc = open_leaf(nested, &nested->leaves[i], place, scratch, err);

		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "column %" PRIu32, place->column);
	}
	return LANCET_OK;
}

static int
nested_open(const struct field *field, const struct column_place *places, uint64_t rows,
	struct scratch *scratch, void **ret_state, struct lancet_error *err)
{
	struct nested_reader *nested = calloc(1, sizeof(*nested));
	size_t count = count_leaves(field);
	int rc;

	if (nested == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "column reader");
	nested->field = field;
	nested->rows = rows;
	nested->leaves = calloc(count, sizeof(*nested->leaves));
	if (nested->leaves != NULL)
		add_leaves(nested, field);
	nested->is_set = calloc(nested->node_count + 1, sizeof(*nested->is_set));
	nested->before = calloc(nested->node_count + 1, sizeof(*nested->before));
	if (nested->leaves == NULL || nested->is_set == NULL || nested->before == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "column reader");
	else
		rc = open_leaves(nested, places, scratch, err);
	if (rc != LANCET_OK)
		nested_free(nested);
	else
		*ret_state = nested;
	return rc;
}

/* The array of `field` in that of the whole. */
static struct array *
array_of(const struct nested_reader *nested, const struct field *field, struct array *whole)
{
	struct array *above;

	if (field == nested->field)
		return whole;
	above = array_of(nested, field->parent, whole);
	return &above->children[field - field->parent->children];
}

static size_t
node_of(const struct nested_reader *nested, const struct field *field)
{
	return field->ordinal - nested->field->ordinal;
}

/* Lengths and validity change places; children stay. */
static void
swap_levels(struct array *a, struct array *b)
{
	struct array was = *a;

	a->length = b->length;
	a->null_count = b->null_count;
	a->validity = b->validity;
	a->offsets = b->offsets;
	b->length = was.length;
	b->null_count = was.null_count;
	b->validity = was.validity;
	b->offsets = was.offsets;
}

static void
swap_arrays(struct array *a, struct array *b)
{
	struct array was = *a;

	*a = *b;
	*b = was;
}

/* Puts the arrays that this leaf is to lengthen into `out`, or back from there. */
static void
swap_places(const struct nested_reader *nested, const struct nested_leaf *leaf,
	struct leaf_out *out, struct array *whole)
{
	const struct field *above = leaf->field->parent;

	swap_arrays(&out->leaf, array_of(nested, leaf->field, whole));
	for (size_t i = 0; i < out->nest_count; i++, above = above->parent) {
		if (!nested->is_set[node_of(nested, above)])
			swap_levels(&out->nests[i], array_of(nested, above, whole));
	}
}

/* Bits [first, first + count) of a bitmap, count <= 64; a bitmap of no bytes is all ones. */
static uint64_t
take_bits(const struct buf *bitmap, uint64_t first, uint64_t count)
{
	uint64_t ones = count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
	uint64_t low = 0, high = 0;
	size_t at = (size_t)(first / 8);
	unsigned shift = first % 8;

	if (bitmap->size == 0)
		return ones;
	memcpy(&low, bitmap->data + at, bitmap->size - at < 8 ? bitmap->size - at : 8);
	if (shift > 0 && bitmap->size - at > 8)
		high = (uint64_t)bitmap->data[at + 8] << (64 - shift);
	return (low >> shift | high) & ones;
}

static bool
same_validity(const struct array *a, uint64_t first, const struct array *b)
{
	bool same = true;

	if (a->null_count == 0 && b->null_count == 0)
		return true;
	for (uint64_t i = 0; i < b->length; i += 64) {
		uint64_t count = b->length - i < 64 ? b->length - i : 64;

		same &= take_bits(&a->validity, first + i, count) ==
			take_bits(&b->validity, i, count);
	}
	return same;
}

/* Lists of the same lengths have offsets that differ by the same. */
static bool
same_lists(const struct array *a, uint64_t first, const struct array *b)
{
	uint64_t shift;
	bool same = true;

	if (a->field->kind != FIELD_LIST && a->field->kind != FIELD_MAP)
		return true;
	shift = array_offset(a, first);
	if (!a->field->large) {
		for (uint64_t i = 0; i <= b->length; i++) {
			uint32_t x, y;

			memcpy(&x, a->offsets.data + (first + i) * 4, 4);
			memcpy(&y, b->offsets.data + i * 4, 4);
			same &= x - (uint32_t)shift == y;
		}
		return same;
	}
	for (uint64_t i = 0; i <= b->length; i++)
		same &= array_offset(a, first + i) - shift == array_offset(b, i);
	return same;
}

/* What an earlier leaf has set has to be what this one says. */
static int
check_nests(const struct nested_reader *nested, const struct nested_leaf *leaf,
	const struct leaf_out *out, struct array *whole, struct lancet_error *err)
{
	const struct field *above = leaf->field->parent;

	for (size_t i = 0; i < out->nest_count; i++, above = above->parent) {
		const struct array *set = array_of(nested, above, whole);
		const struct array *own = &out->nests[i];
		uint64_t before = nested->before[node_of(nested, above)];

		if (!nested->is_set[node_of(nested, above)])
			continue;
		if (set->length - before != own->length || !same_validity(set, before, own) ||
			!same_lists(set, before, own))
			return lancet_fail(err, LANCET_CORRUPT,
				"its %.*s is not the one that other columns tell",
				FIELD_TEXT(above->name));
	}
	return LANCET_OK;
}

static int
read_leaf(struct nested_reader *nested, struct nested_leaf *leaf, const struct row_range *ranges,
	size_t count, struct array *whole, struct lancet_error *err)
{
	struct leaf_out out;
	int rc;

	TRY(leaf_out_init(&out, leaf->field, whole->budget, err));
	swap_places(nested, leaf, &out, whole);
	rc = leaf_reader_read(&leaf->reader, ranges, count, &out, err);
	swap_places(nested, leaf, &out, whole);
	if (rc == LANCET_OK)
		rc = check_nests(nested, leaf, &out, whole, err);
	leaf_out_release(&out);
	for (const struct field *at = leaf->field; at != nested->field->parent; at = at->parent)
		nested->is_set[node_of(nested, at)] = true;
	return rc;
}

/* Values that the children of an array have in all. */
static uint64_t
child_length(const struct array *array)
{
	uint64_t length;

	switch (array->field->kind) {
	case FIELD_LIST:
	case FIELD_MAP:
		return array_offset(array, array->length);
	case FIELD_FIXED_LIST:
		return __builtin_mul_overflow(array->length, array->field->dimension, &length)
			       ? UINT64_MAX
			       : length;
	default:
		return array->length;
	}
}

/* Gives what no column tells as many nulls as are missing, and compares lengths of what one does.
 */
static int
complete(const struct nested_reader *nested, const struct field *field, struct array *array,
	uint64_t length, struct lancet_error *err)
{
	if (!nested->is_set[node_of(nested, field)])
		return array_append_nulls(array, length - array->length, err);
	if (array->length != length)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " values of %.*s, %" PRIu64 " expected", array->length,
			FIELD_TEXT(field->name), length);
	if (field_is_leaf(field))
		return LANCET_OK;
	for (size_t i = 0; i < field->child_count; i++)
		TRY(complete(nested, &field->children[i], &array->children[i], child_length(array),
			err));
	return LANCET_OK;
}

static void
note_lengths(struct nested_reader *nested, const struct field *field, const struct array *array)
{
	nested->is_set[node_of(nested, field)] = false;
	nested->before[node_of(nested, field)] = array->length;
	if (field_is_leaf(field))
		return;
	for (size_t i = 0; i < field->child_count; i++)
		note_lengths(nested, &field->children[i], &array->children[i]);
}

static int
nested_read(void *state, const struct row_range *ranges, size_t count, struct array *out,
	struct lancet_error *err)
{
	struct nested_reader *nested = state;
	uint64_t rows = 0;

	for (size_t i = 0; i < count; i++)
		rows += ranges[i].count;
	note_lengths(nested, nested->field, out);
	for (size_t i = 0; i < nested->leaf_count; i++) {
		struct nested_leaf *leaf = &nested->leaves[i];
		int rc;

		if (!leaf->present)
			continue;
		rc = read_leaf(nested, leaf, ranges, count, out, err);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "column %" PRIu32, leaf->column);
	}
	return complete(nested, nested->field, out, nested->before[0] + rows, err);
}

const struct field_reader_ops nested_reader_ops = { nested_open, nested_read, nested_free };
