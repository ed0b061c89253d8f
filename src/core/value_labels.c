/* Numbering the distinct values of a column; see value_labels.h.
 *
 * Values are told apart by keys: their bytes, but for floats, whose NaN and zeros are made the
 * same. Numbers lie little-endian, as they are stored.
 */
#include "value_labels.h"

#include <inttypes.h>
#include <stdlib.h>

#include "arrow_export.h"
#include "row_field.h"
#include "util/macros.h"

#define SLOTS_MIN   1024u
#define BYTES_MAX   ((size_t)64 << 20)
#define SHOWN_BYTES 200u
#define KEY_MAX     32u /* bytes of the widest number */
#define NO_NUMBER   UINT32_MAX

enum order { ORDER_BYTES, ORDER_UNSIGNED, ORDER_SIGNED, ORDER_FLOAT };

struct value_key {
	size_t offset, size; /* in the keys */
	uint64_t hash;
};

struct value_labels {
	const struct field *field; /* of the values: below a dictionary its items */
	bool dictionary;
	enum order order;
	struct array_budget budget;
	struct array values; /* by number */
	struct buf keys;
	struct value_key *entries; /* by number */
	size_t count, capacity;
	uint32_t *slots; /* number + 1; 0: free */
	size_t slot_count;
	uint32_t null_number;
	uint32_t *items; /* by key of the dictionary in hand: number + 1; 0: not looked up */
	size_t item_count;
};

/* One key in the order of values. */
struct sorted {
	const uint8_t *data;
	size_t size;
	enum order order;
	bool null;
	uint16_t number;
};

static int
no_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "distinct values");
}

static bool
choose_order(const struct field *field, enum order *ret_order)
{
	if (field->kind == FIELD_VARIABLE) {
		*ret_order = ORDER_BYTES;
		return true;
	}
	if (field->kind != FIELD_FIXED)
		return false;
	switch (field->format[0]) {
	case 'w':
		*ret_order = ORDER_BYTES;
		return true;
	case 'e':
	case 'f':
	case 'g':
		*ret_order = ORDER_FLOAT;
		return true;
	case 'b':
	case 'C':
	case 'S':
	case 'I':
	case 'L':
		*ret_order = ORDER_UNSIGNED;
		return field->bits <= 64;
	default:
		*ret_order = ORDER_SIGNED;
		return field->bits <= 8 * KEY_MAX;
	}
}

int
value_labels_new(
	const struct field *field, struct value_labels **ret_labels, struct lancet_error *err)
{
	const struct field *values = field->kind == FIELD_DICTIONARY ? &field->children[0] : field;
	struct value_labels *labels;
	enum order order;

	if (field->blob != FIELD_NO_BLOB || !choose_order(values, &order))
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"column %.*s: its type (%.*s) has no plain values to tell rows apart by",
			FIELD_TEXT(field->name), FIELD_TEXT(field->logical_type));
	labels = calloc(1, sizeof(*labels));
	if (labels == NULL)
		return no_memory(err);
	labels->field = values;
	labels->dictionary = values != field;
	labels->order = order;
	labels->budget.limit = BYTES_MAX;
	labels->keys.limit = BYTES_MAX;
	labels->null_number = NO_NUMBER;
	if (array_init(&labels->values, values, &labels->budget, err) != LANCET_OK) {
		value_labels_free(labels);
		return LANCET_NO_MEMORY;
	}
	*ret_labels = labels;
	return LANCET_OK;
}

void
value_labels_free(struct value_labels *labels)
{
	if (labels == NULL)
		return;
	array_release(&labels->values);
	buf_release(&labels->keys);
	free(labels->entries);
	free(labels->slots);
	free(labels->items);
	free(labels);
}

size_t
value_labels_count(const struct value_labels *labels)
{
	return labels->count;
}

/* FNV-1a over words, then mixed. */
static uint64_t
hash_of(struct slice key)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ key.size;
	size_t at = 0;

	for (; at + 8 <= key.size; at += 8) {
		uint64_t word;

		memcpy(&word, key.data + at, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	for (; at < key.size; at++)
		hash = (hash ^ key.data[at]) * UINT64_C(0x100000001b3);
	hash ^= hash >> 29;
	return hash * UINT64_C(0xbf58476d1ce4e5b9);
}

/* NaN of all kinds, and zeros of both signs. */
static void
settle_float(uint8_t *key, uint32_t bits)
{
	static const unsigned mantissas[] = { [2] = 10, [4] = 23, [8] = 52 };
	uint64_t value = 0, rest = (UINT64_C(1) << (bits - 1)) - 1;
	uint64_t infinite;

	memcpy(&value, key, bits / 8);
	infinite = rest & ~((UINT64_C(1) << mantissas[bits / 8]) - 1);
	if ((value & rest) == 0)
		value = 0;
	else if ((value & rest) > infinite)
		value = rest;
	memcpy(key, &value, bits / 8);
}

/* The key of a value that is not null; `room` is for numbers. */
static struct slice
key_of(const struct value_labels *labels, const struct array *values, uint64_t index, uint8_t *room)
{
	uint32_t bits = labels->field->bits;

	if (labels->field->kind == FIELD_VARIABLE)
		return array_bytes(values, index);
	if (bits == 1) {
		room[0] = array_bit(values, index);
		return slice_of(room, 1);
	}
	if (labels->order != ORDER_FLOAT)
		return slice_of(values->data.data + index * (bits / 8), bits / 8);
	memcpy(room, values->data.data + index * (bits / 8), bits / 8);
	settle_float(room, bits);
	return slice_of(room, bits / 8);
}

static bool
is_entry(const struct value_labels *labels, uint32_t number, struct slice key, uint64_t hash)
{
	const struct value_key *entry = &labels->entries[number];

	return entry->hash == hash && entry->size == key.size &&
	       (key.size == 0 ||
		       memcmp(labels->keys.data + entry->offset, key.data, key.size) == 0);
}

static void
put_in_slot(struct value_labels *labels, uint32_t number, uint64_t hash)
{
	size_t at = hash & (labels->slot_count - 1);

	while (labels->slots[at] != 0)
		at = (at + 1) & (labels->slot_count - 1);
	labels->slots[at] = number + 1;
}

/* Room for one value more. */
static int
grow(struct value_labels *labels, struct lancet_error *err)
{
	size_t slots = labels->slot_count == 0 ? SLOTS_MIN : 4 * labels->slot_count;
	struct value_key *entries;

	if (labels->count == VALUE_LABELS_MAX)
		return lancet_fail(
			err, LANCET_LIMIT, "more than %u distinct values", VALUE_LABELS_MAX);
	if (labels->count < labels->slot_count / 2)
		return LANCET_OK;
	entries = realloc(labels->entries, slots / 2 * sizeof(*entries));
	if (entries == NULL)
		return no_memory(err);
	labels->entries = entries;
	free(labels->slots);
	labels->slots = calloc(slots, sizeof(*labels->slots));
	labels->slot_count = labels->slots == NULL ? 0 : slots;
	if (labels->slots == NULL)
		return no_memory(err);
	for (size_t i = 0; i < labels->count; i++)
		if (i != labels->null_number)
			put_in_slot(labels, (uint32_t)i, labels->entries[i].hash);
	return LANCET_OK;
}

static int
add(struct value_labels *labels, const struct array *values, uint64_t index, struct slice key,
	uint64_t hash, struct lancet_error *err)
{
	TRY(grow(labels, err));
	TRY(array_append_range(&labels->values, values, index, 1, err));
	labels->entries[labels->count++] = (struct value_key){ labels->keys.size, key.size, hash };
	buf_put_slice(&labels->keys, key);
	return buf_check(&labels->keys, "distinct values", err);
}

static int
number_value(struct value_labels *labels, const struct array *values, uint64_t index,
	uint16_t *ret_number, struct lancet_error *err)
{
	uint8_t room[KEY_MAX];
	struct slice key;
	uint64_t hash;
	size_t at;

	if (!array_is_valid(values, index)) {
		if (labels->null_number == NO_NUMBER) {
			TRY(add(labels, values, index, (struct slice){ 0 }, 0, err));
			labels->null_number = (uint32_t)labels->count - 1;
		}
		*ret_number = (uint16_t)labels->null_number;
		return LANCET_OK;
	}
	key = key_of(labels, values, index, room);
	hash = hash_of(key);
	for (at = hash; labels->slot_count > 0; at++) {
		uint32_t slot = labels->slots[at & (labels->slot_count - 1)];

		if (slot == 0)
			break;
		if (is_entry(labels, slot - 1, key, hash)) {
			*ret_number = (uint16_t)(slot - 1);
			return LANCET_OK;
		}
	}
	TRY(add(labels, values, index, key, hash, err));
	*ret_number = (uint16_t)(labels->count - 1);
	put_in_slot(labels, *ret_number, hash);
	return LANCET_OK;
}

static int
number_null(struct value_labels *labels, uint16_t *ret_number, struct lancet_error *err)
{
	struct array null;
	int rc;

	TRY(array_init(&null, labels->field, &labels->budget, err));
	rc = array_append_nulls(&null, 1, err);
	if (rc == LANCET_OK)
		rc = number_value(labels, &null, 0, ret_number, err);
	array_release(&null);
	return rc;
}

/* Each value of the dictionary is looked up once. */
static int
number_keys(struct value_labels *labels, const struct array *keys, uint16_t *into,
	struct lancet_error *err)
{
	const struct array *items = &keys->children[0];

	if (labels->item_count < items->length) {
		free(labels->items);
		labels->item_count = 0;
		labels->items = calloc((size_t)items->length, sizeof(*labels->items));
		if (labels->items == NULL)
			return no_memory(err);
		labels->item_count = (size_t)items->length;
	}
	if (items->length > 0)
		memset(labels->items, 0, (size_t)items->length * sizeof(*labels->items));
	for (uint64_t i = 0; i < keys->length; i++) {
		uint64_t item;

		if (!array_is_valid(keys, i)) {
			TRY(number_null(labels, &into[i], err));
			continue;
		}
		item = array_unsigned(keys, i);
		if (item >= items->length)
			return lancet_fail(err, LANCET_CORRUPT,
				"key %" PRIu64 " of a dictionary of %" PRIu64, item, items->length);
		if (labels->items[item] == 0) {
			TRY(number_value(labels, items, item, &into[i], err));
			labels->items[item] = into[i] + 1u;
		}
		into[i] = (uint16_t)(labels->items[item] - 1);
	}
	return LANCET_OK;
}

int
value_labels_number(struct value_labels *labels, const struct array *values, uint16_t *into,
	struct lancet_error *err)
{
	if (labels->dictionary)
		return number_keys(labels, values, into, err);
	for (uint64_t i = 0; i < values->length; i++)
		TRY(number_value(labels, values, i, &into[i], err));
	return LANCET_OK;
}

/* Little-endian numbers of equal size, from the last byte on. */
static int
compare_numbers(const struct sorted *a, const struct sorted *b, uint8_t flip)
{
	for (size_t i = a->size; i > 0; i--) {
		uint8_t left = a->data[i - 1], right = b->data[i - 1];

		if (i == a->size) {
			left ^= flip;
			right ^= flip;
		}
		if (left != right)
			return left < right ? -1 : 1;
	}
	return 0;
}

/* Negative ones descend by their bits. */
static int
compare_floats(const struct sorted *a, const struct sorted *b)
{
	bool left = a->data[a->size - 1] >> 7, right = b->data[b->size - 1] >> 7;

	if (left != right)
		return left ? -1 : 1;
	return left ? compare_numbers(b, a, 0) : compare_numbers(a, b, 0);
}

static int
compare_bytes(const struct sorted *a, const struct sorted *b)
{
	size_t size = a->size < b->size ? a->size : b->size;
	int order = size == 0 ? 0 : memcmp(a->data, b->data, size);

	return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

static int
by_value(const void *left, const void *right)
{
	const struct sorted *a = left, *b = right;

	if (a->null || b->null)
		return a->null - b->null;
	switch (a->order) {
	case ORDER_UNSIGNED:
		return compare_numbers(a, b, 0);
	case ORDER_SIGNED:
		return compare_numbers(a, b, 0x80);
	case ORDER_FLOAT:
		return compare_floats(a, b);
	default:
		return compare_bytes(a, b);
	}
}

int
value_labels_order(const struct value_labels *labels, uint16_t *places, struct lancet_error *err)
{
	lancet_autofree struct sorted *sorted = calloc(labels->count + 1, sizeof(*sorted));

	if (sorted == NULL)
		return no_memory(err);
	for (size_t i = 0; i < labels->count; i++) {
		const struct value_key *entry = &labels->entries[i];

		sorted[i] = (struct sorted){
			.size = entry->size,
			.order = labels->order,
			.null = i == labels->null_number,
			.number = (uint16_t)i,
		};
		if (entry->size > 0)
			sorted[i].data = labels->keys.data + entry->offset;
	}
	qsort(sorted, labels->count, sizeof(*sorted), by_value);
	for (size_t i = 0; i < labels->count; i++)
		places[sorted[i].number] = (uint16_t)i;
	return LANCET_OK;
}

static int
put_texts(struct value_labels *labels, const struct ArrowSchema *schema,
	const struct ArrowArray *batch, struct buf *texts, size_t *ends, struct lancet_error *err)
{
	struct arena arena = { 0 };
	struct row_field root;
	struct row_writer writer = { .text = texts, .cut = { SHOWN_BYTES, 0 }, .err = err };
	int rc = row_field_init(&root, schema, 0, &arena, err);

	for (size_t i = 0; i < labels->count && rc == LANCET_OK; i++) {
		writer.left = writer.cut;
		if (i == labels->null_number)
			buf_put_text(texts, "null");
		else
			row_json_value(&writer, &root.children[0], batch->children[0], (int64_t)i);
		ends[i] = texts->size;
		rc = writer.failed;
	}
	arena_release(&arena);
	return rc == LANCET_OK ? buf_check(texts, "distinct values", err) : rc;
}

int
value_labels_json(
	struct value_labels *labels, struct buf *texts, size_t *ends, struct lancet_error *err)
{
	const struct field *field = labels->field;
	struct ArrowSchema schema;
	struct ArrowArray batch;
	int rc;

	TRY(arrow_export_schema(&field, 1, NULL, 0, &schema, err));
	rc = arrow_export_batch(&labels->values, 1, labels->count, &batch, err);
	if (rc == LANCET_OK) {
		rc = put_texts(labels, &schema, &batch, texts, ends, err);
		batch.release(&batch);
	}
	schema.release(&schema);
	return rc;
}
