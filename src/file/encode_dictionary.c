/* Pages whose values are indices into a dictionary of their own.
 *
 * Columns of a dictionary type have one already: its items that the page needs are numbered anew.
 * Others get one when few values occur often. The indices are numbers and take whatever encoding is
 * best for those. Format facts: dictionary in a mini-block page.
 */
#include "encode_dictionary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"

#define SLOTS_MIN 100u
/* Few bytes, as reading a single row needs all items. */
#define ITEMS_MAX   100000u
#define BYTES_MAX   ((uint64_t)1 << 20) /* of all items */
#define WIDTH_MIN   4u                  /* bytes of a value that can be worth an index */
#define INDEX_BITS  32u
#define STEPS       16u /* of the slots: how often it is asked whether there are too many values */
#define REPEATS_MIN 4u  /* times that each value occurs, on average, when they are wide */

struct dictionary {
	struct array_budget budget;
	struct array indices;
	struct mini_plan nested;
};

static void
dictionary_release(void *own)
{
	struct dictionary *dictionary = own;

	mini_plan_release(&dictionary->nested);
	array_release(&dictionary->indices);
	free(dictionary);
}

static int
start(uint32_t bits, struct dictionary **ret_dictionary, struct mini_attempt *attempt,
	struct lancet_error *err)
{
	struct dictionary *dictionary = calloc(1, sizeof(*dictionary));

	if (dictionary == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "dictionary");
	attempt->own = *ret_dictionary = dictionary;
	dictionary->budget.limit = SIZE_MAX;
	return array_init(&dictionary->indices, field_unsigned(bits), &dictionary->budget, err);
}

/* The indices are there, and items are those of `items` at firsts[0 .. count). */
static int
finish(const struct encode_column *column, struct dictionary *dictionary, const struct array *items,
	const struct buf *firsts, struct mini_plan *plan, struct lancet_error *err)
{
	struct encode_values values = column->values;

	values.array = &dictionary->indices;
	values.first = 0;
	plan->dictionary_items = firsts->size / sizeof(uint32_t);
	TRY(dictionary_items_put(values.version, items,
		(const uint32_t *)(const void *)firsts->data, plan->dictionary_items,
		&plan->dictionary_message, &plan->dictionary, err));
	TRY(mini_plan_plain(&values, &dictionary->nested, err));
	buf_put_slice(&plan->message, buf_slice(&dictionary->nested.message));
	plan->buffer_count = dictionary->nested.buffer_count;
	plan->chunk_log2 = dictionary->nested.chunk_log2;
	plan->size = dictionary->nested.size + plan->dictionary.size + 1;
	return buf_check(&plan->message, "encoding of a page", err);
}

static uint64_t
load_key(const struct encode_column *column, uint64_t index)
{
	uint64_t key = 0;

	memcpy(&key, column->data + index * column->width, column->width);
	return key;
}

/* numbers[key]: 0 while the key was not met, else 1 + its number in this page. */
static int
number_keys(const struct encode_column *column, const struct array *items, uint32_t *numbers,
	struct buf *firsts, struct array *indices, struct lancet_error *err)
{
	uint8_t *place;

	TRY(array_extend_fixed(indices, (uint32_t)column->bits, column->values.count, &place, err));
	for (uint64_t i = 0; i < column->values.count; i++, place += column->width) {
		uint64_t key = load_key(column, i);
		uint64_t number = 0;

		if (key >= items->length && !encode_column_is_null(column, i))
			return lancet_fail(err, LANCET_INVALID,
				"key %" PRIu64 " of a dictionary of %" PRIu64 " values", key,
				items->length);
		if (key < items->length) {
			if (numbers[key] == 0) {
				uint32_t item = (uint32_t)key;

				buf_put(firsts, &item, sizeof(item));
				numbers[key] = (uint32_t)(firsts->size / sizeof(item));
			}
			number = numbers[key] - 1;
		}
		memcpy(place, &number, column->width);
	}
	return buf_check(firsts, "dictionary", err);
}

static int
open_keys(
	const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	const struct array *items = &column->values.array->children[0];
	struct dictionary *dictionary = NULL;
	struct buf firsts = { 0 };
	uint32_t *numbers;
	int rc;

	TRY(start((uint32_t)column->bits, &dictionary, attempt, err));
	numbers = calloc((size_t)items->length + 1, sizeof(*numbers));
	if (numbers == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "dictionary");
	rc = number_keys(column, items, numbers, &firsts, &dictionary->indices, err);
	free(numbers);
	if (rc == LANCET_OK)
		rc = finish(column, dictionary, items, &firsts, &attempt->plan, err);
	buf_release(&firsts);
	return rc;
}

/* Of the new values that each step of slots brings. Where all values are as frequent these decline
 * by always the same factor, and slower else: that many will come at least, unless the steps end
 * before. A tenth too many are borne, since it is a guess. */
static bool
grows_too_much(const struct value_set *set, uint32_t newer, uint32_t newest, uint64_t steps)
{
	double limit = set->limit + set->limit / 10.0;
	double more = newest < newer ? newest / (double)(newer - newest) : (double)steps;

	return set->count + newest * (more < (double)steps ? more : (double)steps) > limit;
}

/* Numbers all values, which `numbers` has room for, or none where it is NULL; *ret_few is false
 * when there are too many different ones. */
static int
number_values(struct value_set *set, uint32_t *numbers, bool *ret_few, struct lancet_error *err)
{
	uint64_t count = set->column->values.count, check;
	uint64_t step = (count / STEPS / VALUE_SET_BLOCK + 1) * VALUE_SET_BLOCK;
	uint32_t some[VALUE_SET_BLOCK], before = 0, newer = 0;

	*ret_few = false;
	check = step;
	if (set->column->bits != 0 && encode_column_first_valid(set->column) == count)
		return LANCET_OK;
	for (uint64_t i = 0; i < count;) {
		unsigned block =
			count - i < VALUE_SET_BLOCK ? (unsigned)(count - i) : VALUE_SET_BLOCK;

		TRY(value_set_add(set, i, block, numbers == NULL ? some : numbers + i, err));
		i += block;
		if (set->count > set->limit || set->bytes > BYTES_MAX)
			return LANCET_OK;
		if (i < check)
			continue;
		if (check > step &&
			grows_too_much(set, newer, set->count - before, (count - i) / step))
			return LANCET_OK;
		newer = set->count - before;
		before = set->count;
		check += step;
	}
	*ret_few = set->count > (set->null_number != 0);
	return LANCET_OK;
}

/* The slots where items were first, as those of the array. */
static void
shift_firsts(struct buf *firsts, uint64_t first)
{
	uint32_t *slots = (uint32_t *)(void *)firsts->data;

	for (size_t i = 0; i < firsts->size / sizeof(*slots); i++)
		slots[i] += slots[i] == DICTIONARY_NOTHING ? 0 : (uint32_t)first;
}

static int
open_values(const struct encode_column *column, struct value_set *set, struct mini_attempt *attempt,
	struct lancet_error *err)
{
	struct dictionary *dictionary = NULL;
	uint8_t *place;
	bool few;

	TRY(start(INDEX_BITS, &dictionary, attempt, err));
	TRY(array_extend_fixed(
		&dictionary->indices, INDEX_BITS, column->values.count, &place, err));
	TRY(number_values(set, (uint32_t *)(void *)place, &few, err));
	if (!few)
		return LANCET_OK;
	shift_firsts(&set->firsts, column->values.first);
	attempt->fits = true;
	return finish(column, dictionary, column->values.array, &set->firsts, &attempt->plan, err);
}

static bool
can_have_one(const struct encode_column *column)
{
	enum field_kind kind = column->values.array->field->kind;
	const struct encode_values *values = &column->values;

	if (values->count < SLOTS_MIN || column->is_lineage ||
		values->count > UINT32_MAX - values->first)
		return false;
	return kind == FIELD_VARIABLE || (kind == FIELD_FIXED && column->width >= WIDTH_MIN);
}

static int
open_column(
	const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	uint64_t limit = column->values.count / 2;
	struct value_set set;
	bool promises;
	int rc;

	if (!can_have_one(column))
		return LANCET_OK;
	limit = limit < ITEMS_MAX ? limit : ITEMS_MAX;
	TRY(value_set_promises(column, limit, attempt->worth, &promises, err));
	if (!promises)
		return LANCET_OK;
	TRY(value_set_init(&set, column, (uint32_t)limit, err));
	rc = open_values(column, &set, attempt, err);
	value_set_release(&set);
	return rc;
}

/* How many different values there are, up to too many of them. */
static int
count_values(const struct encode_column *column, bool *ret_few, struct lancet_error *err)
{
	uint64_t limit = column->values.count / REPEATS_MIN;
	struct value_set set;
	int rc;

	limit = limit < ITEMS_MAX ? limit : ITEMS_MAX;
	rc = value_set_init(&set, column, (uint32_t)limit, err);
	if (rc == LANCET_OK)
		rc = number_values(&set, NULL, ret_few, err);
	value_set_release(&set);
	return rc;
}

int
encode_repeats(const struct encode_values *values, bool *ret_repeats, struct lancet_error *err)
{
	struct encode_column column;
	int rc = LANCET_OK;

	*ret_repeats = false;
	if (values->array->field->kind != FIELD_VARIABLE)
		return LANCET_OK;
	TRY(encode_column_open(values, &column, err));
	if (can_have_one(&column))
		rc = count_values(&column, ret_repeats, err);
	encode_column_release(&column);
	return rc;
}

static int
texts_open(
	const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	if (column->values.array->field->kind == FIELD_DICTIONARY) {
		attempt->fits = true;
		return open_keys(column, attempt, err);
	}
	return column->bits == 0 ? open_column(column, attempt, err) : LANCET_OK;
}

static int
numbers_open(
	const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	return column->bits != 0 ? open_column(column, attempt, err) : LANCET_OK;
}

static int
dictionary_chunk(const struct encode_column *column, void *own, uint64_t first, uint64_t count,
	struct buf into[ENCODE_BUFFERS_MAX], struct lancet_error *err)
{
	struct dictionary *dictionary = own;

	(void)column;
	return mini_plan_chunk(&dictionary->nested, first, count, into, err);
}

/* Of text it is tried early, as it spares most other attempts; of numbers last, as those are fast.
 */
const struct mini_encoder mini_dictionary_texts = {
	.name = "dictionary",
	.weight = 103,
	.open = texts_open,
	.release = dictionary_release,
	.chunk = dictionary_chunk,
};

const struct mini_encoder mini_dictionary_numbers = {
	.name = "dictionary",
	.weight = 103,
	.open = numbers_open,
	.release = dictionary_release,
	.chunk = dictionary_chunk,
};
