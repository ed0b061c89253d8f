/* Dictionaries: columns that are keys in the file, in the dataset, or in both. */
#include "import_arrow.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"

enum { DICTIONARY_ID, DICTIONARY_BATCH, DICTIONARY_IS_DELTA };

static int
append_batch(
	struct import_dictionary *dictionary, struct import_batch *batch, struct lancet_error *err)
{
	struct import_fault fault = { 0 };
	int rc = import_append(
		batch, &dictionary->values, 0, batch->rows, &dictionary->items, &fault, err);

	if (rc == LANCET_OK && dictionary->items.length > UINT32_MAX)
		rc = lancet_fail(err, LANCET_LIMIT, "more than 2^32 values");
	return rc;
}

/* A batch of values for one of the columns that use it; the message stays. */
static int
load_one(struct import_dictionary *dictionary, const struct ipc_message *message,
	struct lancet_error *err)
{
	struct ipc_message copy = *message;
	struct flattable header;
	uint64_t memory = dictionary->items.budget->limit;
	struct import_batch batch;
	int rc;

	copy.bytes = NULL;
	copy.body = source_ref(message->body);
	header = flatview_table(&message->header, DICTIONARY_BATCH);
	if (!flatview_bool(&message->header, DICTIONARY_IS_DELTA, false))
		array_reset(&dictionary->items);
	rc = import_batch_open(&batch, &copy, &header, &dictionary->values, 1, memory, memory, err);
	if (rc != LANCET_OK)
		return rc;
	rc = append_batch(dictionary, &batch, err);
	import_batch_release(&batch);
	dictionary->present = rc == LANCET_OK;
	return rc;
}

int
import_dictionary_load(
	struct import_columns *columns, struct ipc_message *message, struct lancet_error *err)
{
	int64_t id = flatview_i64(&message->header, DICTIONARY_ID, 0);
	int rc = LANCET_OK;

	for (struct import_dictionary *d = columns->dictionaries; rc == LANCET_OK && d != NULL;
		d = d->next) {
		if (d->id == id)
			rc = load_one(d, message, err);
	}
	if (rc == LANCET_OK && message->view.bad)
		rc = lancet_fail(err, LANCET_CORRUPT, "a message is damaged");
	ipc_message_release(message);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "dictionary %" PRId64, id);
}

/* keys[i] = a place in the dictionary; false: one that is not there. Under nulls it is 0. */
static bool
load_keys(const struct import_column *column, const struct import_range *range,
	const uint8_t *stored, uint32_t *keys)
{
	uint64_t length = column->dictionary->items.length;
	unsigned width = column->type.width;

	for (uint64_t i = 0; i < range->count; i++) {
		uint64_t key = 0;

		keys[i] = 0;
		if (!import_range_valid(range, i))
			continue;
		memcpy(&key, stored + i * width, width); /* a negative one is too large, too */
		if (key >= length)
			return false;
		keys[i] = (uint32_t)key;
	}
	return true;
}

/* One dictionary becomes another: values[keys[i]], added to the array's own where it lacks them. */
static int
append_translated(struct array *into, const struct array *values, const uint32_t *keys,
	const struct import_range *range, struct lancet_error *err)
{
	uint32_t bits = into->field->bits;
	uint64_t first = into->length;
	uint8_t *place;

	TRY(array_extend_fixed(into, bits, range->count, &place, err));
	memset(place, 0, (size_t)range->count * (bits / 8));
	for (uint64_t i = 0; i < range->count; i++) {
		uint64_t index = keys == NULL ? i : keys[i], key;

		if (!import_range_valid(range, i) || !array_is_valid(values, index)) {
			TRY(array_set_null(into, first + i, err));
			continue;
		}
		TRY(array_dictionary_key(into, values, index, &key, err));
		memcpy(place + i * (bits / 8), &key, bits / 8);
	}
	return LANCET_OK;
}

static int
append_looked_up(struct array *into, const struct array *values, const uint32_t *keys,
	const struct import_range *range, struct lancet_error *err)
{
	uint64_t first = into->length;

	if (values->length == 0) /* all are null, or there are none */
		return array_append_nulls(into, range->count, err);
	TRY(array_append_gather(into, values, keys, range->count, err));
	for (uint64_t i = 0; range->valid != NULL && i < range->count; i++) {
		if (!import_range_valid(range, i))
			TRY(array_set_null(into, first + i, err));
	}
	return LANCET_OK;
}

/* The marks of the range are set here, as those of the values count, too. */
static int
append_keys(const struct import_column *column, const struct import_range *range,
	const uint8_t *stored, struct array *into, struct lancet_error *err)
{
	lancet_autofree uint32_t *keys = calloc((size_t)range->count + 1, sizeof(*keys));
	const struct array *values = &column->dictionary->items;

	if (keys == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "keys");
	if (!column->dictionary->present && range->count > 0)
		return lancet_fail(err, LANCET_CORRUPT,
			"dictionary %" PRId64 " is missing, or comes too late",
			column->dictionary->id);
	if (!load_keys(column, range, stored, keys))
		return lancet_fail(err, LANCET_CORRUPT, "a key that its dictionary does not have");
	if (into->field->kind == FIELD_DICTIONARY)
		return append_translated(into, values, keys, range, err);
	return append_looked_up(into, values, keys, range, err);
}

int
import_append_keys(struct import_batch *batch, const struct import_column *column,
	const struct import_range *range, struct array *into, struct import_fault *fault,
	struct lancet_error *err)
{
	unsigned width = column->type.width;
	struct buf scratch = { 0 };
	const uint8_t *stored;
	int rc = import_batch_bytes(batch, column->first_buffer + 1, range->first * width,
		range->count * width, &scratch, &stored, err);

	(void)fault;
	if (rc == LANCET_OK)
		rc = append_keys(column, range, stored, into, err);
	buf_release(&scratch);
	return rc;
}

int
import_append_plain(struct import_batch *batch, const struct import_column *column, uint64_t first,
	uint64_t count, struct array *into, struct import_fault *fault, struct lancet_error *err)
{
	const struct import_range range = { .first = first, .count = count };
	struct array values;
	int rc;

	TRY(array_init(&values, &into->field->children[0], into->budget, err));
	rc = import_append(batch, &column->children[0], first, count, &values, fault, err);
	if (rc == LANCET_OK)
		rc = append_translated(into, &values, NULL, &range, err);
	array_release(&values);
	return rc;
}
