/* JSONB as JSON text; see json_text.h.
 *
 * The form is in jsonb.h. Nesting is walked with a stack of our own, since its depth is for the
 * writer to choose.
 */
#include "json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "json_number.h"
#include "jsonb.h"
#include "util/macros.h"
#include "util/text.h"

#define WORD 4u

/* An array or object that is being written. */
struct level {
	struct slice bytes;
	uint32_t count, next; /* entries, and the one that comes */
	bool object;
	size_t key_at, value_at; /* of the entry that comes, in bytes */
};

struct walk {
	struct level *levels;
	size_t depth, capacity;
	struct buf *out;
};

static uint32_t
word_at(struct slice bytes, size_t at)
{
	const uint8_t *p = bytes.data + at;

	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void
put_escaped(struct buf *out, uint8_t byte)
{
	static const char letters[] = { ['\b'] = 'b',
		['\t'] = 't',
		['\n'] = 'n',
		['\f'] = 'f',
		['\r'] = 'r',
		['"'] = '"',
		['\\'] = '\\' };
	char escaped[8] = { '\\', letters[byte], '\0' };

	if (letters[byte] == '\0')
		(void)snprintf(escaped, sizeof(escaped), "\\u%04x", byte);
	buf_put_text(out, escaped);
}

static int
put_string(struct slice text, struct buf *out, struct lancet_error *err)
{
	size_t start = 0;

	if (!text_is_utf8(text))
		return lancet_fail(err, LANCET_CORRUPT, "text is not UTF-8");
	buf_put_byte(out, '"');
	for (size_t i = 0; i < text.size; i++) {
		uint8_t byte = text.data[i];

		if (byte >= 0x20 && byte != '"' && byte != '\\')
			continue;
		buf_put(out, text.data + start, i - start);
		put_escaped(out, byte);
		start = i + 1;
	}
	buf_put(out, text.data + start, text.size - start);
	buf_put_byte(out, '"');
	return LANCET_OK;
}

static int
put_scalar(uint32_t entry, struct slice value, struct buf *out, struct lancet_error *err)
{
	switch (entry & JSONB_ENTRY_KIND) {
	case JSONB_ENTRY_NULL:
		buf_put_text(out, "null");
		return LANCET_OK;
	case JSONB_ENTRY_FALSE:
		buf_put_text(out, "false");
		return LANCET_OK;
	case JSONB_ENTRY_TRUE:
		buf_put_text(out, "true");
		return LANCET_OK;
	case JSONB_ENTRY_STRING:
		return put_string(value, out, err);
	case JSONB_ENTRY_NUMBER:
		return json_number_put(value, out, err);
	default:
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"a value of extension kind 0x%02" PRIx32, (entry & JSONB_ENTRY_KIND) >> 24);
	}
}

static int
push(struct walk *walk, const struct level *level, struct lancet_error *err)
{
	if (walk->depth == JSON_DEPTH_MAX)
		return lancet_fail(err, LANCET_LIMIT, "nested %u levels deep", JSON_DEPTH_MAX);
	if (walk->depth == walk->capacity) {
		size_t capacity = walk->capacity == 0 ? 16 : walk->capacity * 2;
		struct level *levels = reallocarray(walk->levels, capacity, sizeof(*levels));

		if (levels == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "%zu levels", capacity);
		walk->levels = levels;
		walk->capacity = capacity;
	}
	walk->levels[walk->depth++] = *level;
	return LANCET_OK;
}

/* Where the values of an object start: behind its words and all keys. */
static int
measure_keys(struct level *level, struct lancet_error *err)
{
	uint64_t end = level->key_at;

	for (uint32_t i = 0; i < level->count; i++) {
		uint32_t entry = word_at(level->bytes, WORD + (size_t)i * WORD);

		if ((entry & JSONB_ENTRY_KIND) != JSONB_ENTRY_STRING)
			return lancet_fail(err, LANCET_CORRUPT, "a key that is no text");
		end += entry & JSONB_ENTRY_SIZE;
	}
	if (end > level->bytes.size)
		return lancet_fail(err, LANCET_CORRUPT, "keys pass the end");
	level->value_at = (size_t)end;
	return LANCET_OK;
}

/* Opens a container: a lone value is written at once, an array or object becomes a level. */
static int
open_container(struct walk *walk, struct slice bytes, struct lancet_error *err)
{
	struct level level = { .bytes = bytes };
	uint32_t head, kind;
	size_t words;

	if (bytes.size < WORD)
		return lancet_fail(err, LANCET_CORRUPT, "%zu bytes", bytes.size);
	head = word_at(bytes, 0);
	kind = head & JSONB_HEAD_KIND;
	if (kind != JSONB_HEAD_SCALAR && kind != JSONB_HEAD_ARRAY && kind != JSONB_HEAD_OBJECT)
		return lancet_fail(err, LANCET_CORRUPT, "head 0x%08" PRIx32, head);
	level.object = kind == JSONB_HEAD_OBJECT;
	level.count = kind == JSONB_HEAD_SCALAR ? 1 : head & JSONB_HEAD_COUNT;
	words = bytes.size / WORD - 1;
	if (level.count > (level.object ? words / 2 : words))
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu32 " entries in %zu bytes",
			level.count, bytes.size);
	level.key_at = level.value_at =
		WORD + (size_t)level.count * (level.object ? 2 * WORD : WORD);
	if (level.object)
		TRY(measure_keys(&level, err));
	if (kind != JSONB_HEAD_SCALAR) {
		buf_put_byte(walk->out, level.object ? '{' : '[');
		return push(walk, &level, err);
	}
	head = word_at(bytes, WORD);
	if ((head & JSONB_ENTRY_KIND) == JSONB_ENTRY_INNER ||
		(head & JSONB_ENTRY_SIZE) > bytes.size - 2 * WORD)
		return lancet_fail(err, LANCET_CORRUPT, "entry 0x%08" PRIx32, head);
	return put_scalar(
		head, slice_of(bytes.data + 2 * WORD, head & JSONB_ENTRY_SIZE), walk->out, err);
}

static int
put_key(struct level *level, struct buf *out, struct lancet_error *err)
{
	size_t size = word_at(level->bytes, WORD + (size_t)level->next * WORD) & JSONB_ENTRY_SIZE;

	TRY(put_string(slice_of(level->bytes.data + level->key_at, size), out, err));
	buf_put_byte(out, ':');
	level->key_at += size;
	return LANCET_OK;
}

/* The next entry of the innermost level, or its end. */
static int
step(struct walk *walk, struct lancet_error *err)
{
	struct level *level = &walk->levels[walk->depth - 1];
	size_t word = level->object ? (size_t)level->count + level->next : level->next;
	struct slice value;
	uint32_t entry;

	if (level->next == level->count) {
		buf_put_byte(walk->out, level->object ? '}' : ']');
		walk->depth--;
		return LANCET_OK;
	}
	if (level->next > 0)
		buf_put_byte(walk->out, ',');
	if (level->object)
		TRY(put_key(level, walk->out, err));
	entry = word_at(level->bytes, WORD + word * WORD);
	value = slice_of(level->bytes.data + level->value_at, entry & JSONB_ENTRY_SIZE);
	if (value.size > level->bytes.size - level->value_at)
		return lancet_fail(err, LANCET_CORRUPT, "a value passes the end");
	level->value_at += value.size;
	level->next++;
	if ((entry & JSONB_ENTRY_KIND) == JSONB_ENTRY_INNER)
		return open_container(walk, value, err);
	return put_scalar(entry, value, walk->out, err);
}

int
json_text_put(struct slice jsonb, struct buf *into, struct lancet_error *err)
{
	struct walk walk = { .out = into };
	int rc = LANCET_OK;

	if (jsonb.size == 0) {
		buf_put_text(into, "null");
		return LANCET_OK;
	}
	rc = open_container(&walk, jsonb, err);
	while (rc == LANCET_OK && walk.depth > 0 && into->failed == LANCET_OK)
		rc = step(&walk, err);
	free(walk.levels);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "JSON");
}

bool
json_text_is_for(const struct field *field)
{
	if (field->kind != FIELD_VARIABLE)
		return false;
	for (size_t i = 0; i < field->metadata_count; i++) {
		if (slice_equal(field->metadata[i].key, slice_text(EXTENSION_KEY)))
			return slice_equal(field->metadata[i].value, slice_text(JSON_STORED_AS));
	}
	return false;
}

bool
json_text_is_in(const struct field *field)
{
	if (json_text_is_for(field))
		return true;
	for (size_t i = 0; i < field->child_count; i++) {
		if (json_text_is_in(&field->children[i]))
			return true;
	}
	return false;
}

static int
convert_values(
	const struct array *from, struct array *text, struct buf *one, struct lancet_error *err)
{
	for (uint64_t i = 0; i < from->length; i++) {
		one->size = 0;
		if (array_is_valid(from, i)) {
			TRY(json_text_put(array_bytes(from, i), one, err));
			if (one->failed != LANCET_OK)
				return buf_check(one, "JSON text", err);
		}
		TRY(array_append_bytes(text, buf_slice(one), err));
	}
	if (from->validity.size == 0)
		return LANCET_OK;
	return array_set_validity(text, from->length, from->validity.data, 0, err);
}

static int
convert_one(struct array *array, struct lancet_error *err)
{
	struct array_budget *budget = array->budget;
	struct buf one = { .limit = budget->limit > budget->used ? budget->limit - budget->used
								 : 1 };
	struct array text;
	int rc;

	TRY(array_init(&text, field_bytes(false), budget, err));
	rc = convert_values(array, &text, &one, err);
	buf_release(&one);
	if (rc != LANCET_OK) {
		array_release(&text);
		return rc;
	}
	array_release(array);
	*array = text;
	return LANCET_OK;
}

int
json_text_convert(struct array *array, struct lancet_error *err)
{
	if (json_text_is_for(array->field))
		return convert_one(array, err);
	for (size_t i = 0; i < array->child_count; i++)
		TRY(json_text_convert(&array->children[i], err));
	return LANCET_OK;
}
