/* JSON text to JSONB; see json_binary.h, and jsonb.h for the form.
 *
 * A container's words come before its values and are known only behind them, so its values are
 * written first, noted, and then moved to where they belong.
 */
#include "json_binary.h"

#include <stdlib.h>

#include "import_number.h"
#include "jsonb.h"
#include "util/macros.h"
#include "util/text.h"

#define TEXT_MAX    ((size_t)JSONB_ENTRY_SIZE) /* so that all places fit into 32 bits */
#define ENTRIES_MAX ((size_t)256 << 20)        /* bytes */

/* A value that is written, and its key when it is in an object. */
struct entry {
	uint32_t key_at, key_size; /* in keys */
	uint32_t at, size;         /* in out, from where the whole value begins */
	uint32_t word;
};

struct writer {
	struct jsonpull *from;
	struct buf *out;
	size_t base;              /* where the value begins in out */
	struct buf entries, keys; /* stacks: of the containers that are open */
	struct buf scratch, assembled;
	unsigned depth;
};

static int take_value(struct writer *w, uint32_t *ret_word, struct lancet_error *err);

static void
put_word(struct buf *out, uint32_t word)
{
	uint8_t bytes[4] = { (uint8_t)(word >> 24), (uint8_t)(word >> 16), (uint8_t)(word >> 8),
		(uint8_t)word };

	buf_put(out, bytes, sizeof(bytes));
}

static void
put_sized(struct buf *out, uint8_t kind, uint64_t value, unsigned size)
{
	buf_put_byte(out, kind);
	for (unsigned i = size; i > 0; i--)
		buf_put_byte(out, (uint8_t)(value >> (8 * (i - 1))));
}

/* 1, 2, 4 or 8 bytes: the fewest that the value fits into. */
static unsigned
signed_size(int64_t value)
{
	return value >= INT8_MIN ? 1 : value >= INT16_MIN ? 2 : value >= INT32_MIN ? 4 : 8;
}

static unsigned
unsigned_size(uint64_t value)
{
	return value <= UINT8_MAX ? 1 : value <= UINT16_MAX ? 2 : value <= UINT32_MAX ? 4 : 8;
}

static bool
put_whole(struct buf *out, struct slice text)
{
	bool negative = text.data[0] == '-';
	uint64_t size;

	if (!text_to_u64(slice_of(text.data + negative, text.size - negative), &size))
		return false;
	if (size == 0)
		buf_put_byte(out, JSONB_ZERO);
	else if (!negative)
		put_sized(out, JSONB_UNSIGNED, size, unsigned_size(size));
	else if (size <= (uint64_t)1 << 63)
		put_sized(out, JSONB_SIGNED, 0 - size, signed_size((int64_t)(0 - size)));
	else
		return false;
	return true;
}

static int
take_number(struct writer *w, struct lancet_error *err)
{
	struct slice text;
	uint64_t bits;

	TRY(jsonpull_number(w->from, &text, err));
	if (put_whole(w->out, text))
		return LANCET_OK;
	if (!import_double(text, &bits))
		return jsonpull_fail(w->from, "a number that is too large", err);
	put_sized(w->out, JSONB_DOUBLE, bits, 8);
	return LANCET_OK;
}

static int
push_entry(struct writer *w, const struct entry *entry, struct lancet_error *err)
{
	buf_put(&w->entries, entry, sizeof(*entry));
	return buf_check(&w->entries, "JSON", err);
}

static int
take_key(struct writer *w, struct entry *entry, struct lancet_error *err)
{
	struct slice key;

	TRY(jsonpull_key(w->from, &w->scratch, &key, err));
	entry->key_at = (uint32_t)w->keys.size;
	entry->key_size = (uint32_t)key.size;
	buf_put_slice(&w->keys, key);
	return buf_check(&w->keys, "JSON", err);
}

/* The entries of a container, up to its closing bracket. */
static int
take_entries(struct writer *w, bool object, struct lancet_error *err)
{
	bool more = true;

	for (bool first = true;; first = false) {
		struct entry entry = { 0 };
		size_t size;

		TRY(jsonpull_next(w->from, object ? '}' : ']', first, &more, err));
		if (!more)
			return LANCET_OK;
		if (object)
			TRY(take_key(w, &entry, err));
		entry.at = (uint32_t)(w->out->size - w->base);
		TRY(take_value(w, &entry.word, err));
		size = w->out->size - w->base - entry.at;
		if (size > JSONB_ENTRY_SIZE)
			return lancet_fail(err, LANCET_LIMIT, "JSON of more than 256 MiB");
		entry.size = (uint32_t)size;
		TRY(push_entry(w, &entry, err));
	}
}

static struct slice
key_of(const struct writer *w, const struct entry *entry)
{
	return slice_of(entry->key_size == 0 ? (const uint8_t *)"" : w->keys.data + entry->key_at,
		entry->key_size);
}

static int
compare_keys(const void *a, const void *b, void *writer)
{
	return slice_compare(key_of(writer, a), key_of(writer, b));
}

static int
sort_entries(struct writer *w, struct entry *entries, size_t count, struct lancet_error *err)
{
	qsort_r(entries, count, sizeof(*entries), compare_keys, w);
	for (size_t i = 1; i < count; i++) {
		if (slice_equal(key_of(w, &entries[i - 1]), key_of(w, &entries[i])))
			return jsonpull_fail(w->from, "an object that has a key twice", err);
	}
	return LANCET_OK;
}

/* Head, words, keys and values in place of the values from `start`. */
static int
assemble(struct writer *w, bool object, size_t first, size_t start, struct lancet_error *err)
{
	size_t count = w->entries.size / sizeof(struct entry) - first;
	struct entry *all = (struct entry *)(void *)w->entries.data;
	struct entry *entries = count > 0 ? all + first : NULL;
	struct buf *to = &w->assembled;

	if (object && count > 0)
		TRY(sort_entries(w, entries, count, err));
	to->size = 0;
	put_word(to, (object ? JSONB_HEAD_OBJECT : JSONB_HEAD_ARRAY) | (uint32_t)count);
	for (size_t i = 0; object && i < count; i++)
		put_word(to, JSONB_ENTRY_STRING | entries[i].key_size);
	for (size_t i = 0; i < count; i++)
		put_word(to, entries[i].word | entries[i].size);
	for (size_t i = 0; object && i < count; i++)
		buf_put_slice(to, key_of(w, &entries[i]));
	for (size_t i = 0; i < count && w->out->failed == LANCET_OK; i++)
		buf_put(to, w->out->data + w->base + entries[i].at, entries[i].size);
	w->out->size = start;
	buf_put_slice(w->out, buf_slice(to));
	TRY(buf_check(to, "JSON", err));
	return buf_check(w->out, "JSON", err);
}

static int
take_container(struct writer *w, bool object, struct lancet_error *err)
{
	size_t first = w->entries.size / sizeof(struct entry);
	size_t keys = w->keys.size, start = w->out->size;

	if (w->depth == JSON_BINARY_DEPTH_MAX)
		return lancet_fail(err, LANCET_LIMIT, "JSON nested deeper than %u levels",
			JSON_BINARY_DEPTH_MAX);
	w->depth++;
	jsonpull_enter(w->from);
	TRY(take_entries(w, object, err));
	TRY(assemble(w, object, first, start, err));
	w->entries.size = first * sizeof(struct entry);
	w->keys.size = keys;
	w->depth--;
	return LANCET_OK;
}

/* Writes the bytes of a value; its word says the kind. */
static int
take_value(struct writer *w, uint32_t *ret_word, struct lancet_error *err)
{
	enum jsonpull_kind kind = jsonpull_peek(w->from);
	struct slice text;

	switch (kind) {
	case JSONPULL_OBJECT:
	case JSONPULL_ARRAY:
		*ret_word = JSONB_ENTRY_INNER;
		return take_container(w, kind == JSONPULL_OBJECT, err);
	case JSONPULL_STRING:
		*ret_word = JSONB_ENTRY_STRING;
		TRY(jsonpull_string(w->from, &w->scratch, &text, err));
		buf_put_slice(w->out, text);
		return LANCET_OK;
	case JSONPULL_NUMBER:
		*ret_word = JSONB_ENTRY_NUMBER;
		return take_number(w, err);
	default:
		*ret_word = kind == JSONPULL_TRUE    ? JSONB_ENTRY_TRUE
			    : kind == JSONPULL_FALSE ? JSONB_ENTRY_FALSE
						     : JSONB_ENTRY_NULL;
		return jsonpull_literal(w->from, &text, err);
	}
}

/* A value that is no container is the only entry of one. */
static int
take_top(struct writer *w, struct lancet_error *err)
{
	size_t start = w->out->size;
	enum jsonpull_kind kind = jsonpull_peek(w->from);
	uint32_t word = 0;
	size_t size;

	if (kind == JSONPULL_OBJECT || kind == JSONPULL_ARRAY)
		return take_value(w, &word, err);
	put_word(w->out, JSONB_HEAD_SCALAR);
	put_word(w->out, 0);
	TRY(take_value(w, &word, err));
	TRY(buf_check(w->out, "JSON", err));
	size = w->out->size - start - 8;
	if (size > JSONB_ENTRY_SIZE)
		return lancet_fail(err, LANCET_LIMIT, "JSON of more than 256 MiB");
	word |= (uint32_t)size;
	for (unsigned i = 0; i < 4; i++)
		w->out->data[start + 4 + i] = (uint8_t)(word >> (24 - 8 * i));
	return LANCET_OK;
}

int
json_binary_take(struct jsonpull *from, struct buf *into, struct lancet_error *err)
{
	struct writer w = {
		.from = from, .out = into, .base = into->size, .entries = { .limit = ENTRIES_MAX }
	};
	int rc;

	if ((size_t)(from->end - from->at) > TEXT_MAX)
		return lancet_fail(err, LANCET_LIMIT, "JSON of more than 256 MiB");
	rc = take_top(&w, err);
	buf_release(&w.entries);
	buf_release(&w.keys);
	buf_release(&w.scratch);
	buf_release(&w.assembled);
	return rc == LANCET_OK ? buf_check(into, "JSON", err) : rc;
}

int
json_binary_put(struct slice text, struct buf *into, struct lancet_error *err)
{
	struct jsonpull from;

	if (!text_is_utf8(text))
		return lancet_fail(err, LANCET_INVALID, "JSON that is not UTF-8");
	jsonpull_init(&from, text);
	TRY(json_binary_take(&from, into, err));
	return jsonpull_finish(&from, err);
}
