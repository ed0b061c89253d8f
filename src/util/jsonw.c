/* The JSON writer of jsonw.h. It keeps one bit of state per level: is it an object, has it items.
 *
 * Text is copied in runs between the bytes that need an escape; numbers never pass through printf
 * except doubles. Levels past JSONW_DEPTH_MAX are only counted: the buf has failed by then.
 */
#include "jsonw.h"

#include "text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void
jsonw_init(struct jsonw *w, struct buf *out)
{
	*w = (struct jsonw){ .out = out };
}

void
jsonw_finish(struct jsonw *w)
{
	assert(w->depth == 0 && !w->key_pending);
	buf_put_byte(w->out, '\n');
}

void
jsonw_init_members(struct jsonw *w, struct buf *out)
{
	jsonw_init(w, out);
	w->depth = 1;
	w->in_object[0] = true;
}

static bool
inside_object(const struct jsonw *w)
{
	return w->depth > 0 && w->depth <= JSONW_DEPTH_MAX && w->in_object[w->depth - 1];
}

static void
put_line_break(struct jsonw *w)
{
	if (w->compact)
		return;
	buf_put_byte(w->out, '\n');
	buf_fill(w->out, ' ', 2 * (size_t)w->depth);
}

/* The comma and line break due before an item of the current level. */
static void
begin_item(struct jsonw *w)
{
	if (w->depth == 0 || w->depth > JSONW_DEPTH_MAX)
		return;
	if (w->has_items[w->depth - 1])
		buf_put_byte(w->out, ',');
	w->has_items[w->depth - 1] = true;
	put_line_break(w);
}

void
jsonw_members(struct jsonw *w, const struct buf *members)
{
	assert(w->depth == 1 && w->in_object[0] && !w->key_pending);
	if (members->failed != LANCET_OK && w->out->failed == LANCET_OK)
		w->out->failed = members->failed;
	if (members->size == 0)
		return;
	if (w->has_items[0])
		buf_put_byte(w->out, ',');
	w->has_items[0] = true;
	buf_put_slice(w->out, buf_slice(members));
}

/* 0: as it is; 'u': \u00XX; else the letter behind the backslash. */
static const char escapes[256] = {
	[0 ... 7] = 'u', ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', [0x0b] = 'u',   ['\f'] = 'f',
	['\r'] = 'r',    [0x0e ... 0x1f] = 'u', ['"'] = '"', ['\\'] = '\\',
};

static void
put_escape(struct buf *out, uint8_t byte)
{
	static const char digits[] = "0123456789abcdef";
	char sequence[6] = { '\\', escapes[byte], '0', '0', digits[byte >> 4], digits[byte & 15] };

	buf_put(out, sequence, escapes[byte] == 'u' ? 6 : 2);
}

void
jsonw_put_escaped(struct buf *out, struct slice text)
{
	size_t from = 0;

	for (size_t i = 0; i < text.size; i++) {
		if (escapes[text.data[i]] == 0)
			continue;
		buf_put(out, text.data + from, i - from);
		put_escape(out, text.data[i]);
		from = i + 1;
	}
	if (from < text.size)
		buf_put(out, text.data + from, text.size - from);
}

static void
put_quoted(struct buf *out, struct slice text)
{
	buf_put_byte(out, '"');
	jsonw_put_escaped(out, text);
	buf_put_byte(out, '"');
}

void
jsonw_put_base64(struct buf *out, struct slice bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t *to;

	if (bytes.size > SIZE_MAX / 2 || !buf_reserve(out, (bytes.size + 2) / 3 * 4)) {
		if (out->failed == LANCET_OK)
			out->failed = LANCET_NO_MEMORY;
		return;
	}
	to = out->data + out->size;
	for (size_t i = 0; i < bytes.size; i += 3) {
		size_t left = bytes.size - i;
		uint32_t bits = (uint32_t)bytes.data[i] << 16;

		bits |= left > 1 ? (uint32_t)bytes.data[i + 1] << 8 : 0;
		bits |= left > 2 ? bytes.data[i + 2] : 0;
		*to++ = (uint8_t)digits[bits >> 18];
		*to++ = (uint8_t)digits[bits >> 12 & 63];
		*to++ = left > 1 ? (uint8_t)digits[bits >> 6 & 63] : '=';
		*to++ = left > 2 ? (uint8_t)digits[bits & 63] : '=';
	}
	out->size = (size_t)(to - out->data);
}

static void
put_key(struct jsonw *w, struct slice key)
{
	assert(inside_object(w) || w->depth > JSONW_DEPTH_MAX);
	assert(!w->key_pending);
	begin_item(w);
	if (text_is_utf8(key)) {
		put_quoted(w->out, key);
	} else {
		buf_put_text(w->out, "\"base64:");
		jsonw_put_base64(w->out, key);
		buf_put_byte(w->out, '"');
	}
	buf_put_text(w->out, w->compact ? ":" : ": ");
}

void
jsonw_key_slice(struct jsonw *w, struct slice key)
{
	put_key(w, key);
	w->key_pending = true;
}

/* What comes before every value. */
static void
begin_value(struct jsonw *w, const char *key)
{
	if (key != NULL) {
		put_key(w, slice_text(key));
		return;
	}
	assert(w->key_pending || !inside_object(w));
	if (w->key_pending)
		w->key_pending = false;
	else
		begin_item(w);
}

static void
open_level(struct jsonw *w, const char *key, bool is_object)
{
	begin_value(w, key);
	buf_put_byte(w->out, is_object ? '{' : '[');
	if (w->depth < JSONW_DEPTH_MAX) {
		w->in_object[w->depth] = is_object;
		w->has_items[w->depth] = false;
	} else if (w->out->failed == LANCET_OK) {
		w->out->failed = LANCET_LIMIT;
	}
	w->depth++;
}

void
jsonw_object(struct jsonw *w, const char *key)
{
	open_level(w, key, true);
}

void
jsonw_array(struct jsonw *w, const char *key)
{
	open_level(w, key, false);
}

void
jsonw_end(struct jsonw *w)
{
	assert(w->depth > 0 && !w->key_pending);
	w->depth--;
	if (w->depth >= JSONW_DEPTH_MAX)
		return;
	if (w->has_items[w->depth])
		put_line_break(w);
	buf_put_byte(w->out, w->in_object[w->depth] ? '}' : ']');
}

void
jsonw_text(struct jsonw *w, const char *key, const char *value)
{
	if (value == NULL)
		jsonw_null(w, key);
	else
		jsonw_slice(w, key, slice_text(value));
}

void
jsonw_slice(struct jsonw *w, const char *key, struct slice value)
{
	if (text_is_utf8(value)) {
		begin_value(w, key);
		put_quoted(w->out, value);
		return;
	}
	jsonw_object(w, key);
	jsonw_base64(w, "base64", value);
	jsonw_end(w);
}

void
jsonw_buf(struct jsonw *w, const char *key, struct buf *value)
{
	if (value->failed == LANCET_OK)
		jsonw_slice(w, key, buf_slice(value));
	else
		w->out->failed = value->failed;
	buf_release(value);
}

void
jsonw_u64(struct jsonw *w, const char *key, uint64_t value)
{
	begin_value(w, key);
	buf_put_u64(w->out, 0, value);
}

void
jsonw_i64(struct jsonw *w, const char *key, int64_t value)
{
	begin_value(w, key);
	buf_put_i64(w->out, value);
}

void
jsonw_double(struct jsonw *w, const char *key, double value)
{
	char text[40] = "";
	size_t used = 0;

	if (!isfinite(value)) {
		jsonw_null(w, key);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	/* the program that we live in may have set a locale with another decimal point */
	for (size_t i = 0; text[i] != '\0'; i++) {
		bool plain = strchr("0123456789+-e", text[i]) != NULL;

		if (plain || used == 0 || text[used - 1] != '.')
			text[used++] = plain ? text[i] : '.';
	}
	begin_value(w, key);
	buf_put(w->out, text, used);
}

void
jsonw_u64_text(struct jsonw *w, const char *key, uint64_t value)
{
	begin_value(w, key);
	buf_put_byte(w->out, '"');
	buf_put_u64(w->out, 0, value);
	buf_put_byte(w->out, '"');
}

void
jsonw_i64_text(struct jsonw *w, const char *key, int64_t value)
{
	begin_value(w, key);
	buf_put_byte(w->out, '"');
	buf_put_i64(w->out, value);
	buf_put_byte(w->out, '"');
}

void
jsonw_bool(struct jsonw *w, const char *key, bool value)
{
	begin_value(w, key);
	buf_put_text(w->out, value ? "true" : "false");
}

void
jsonw_null(struct jsonw *w, const char *key)
{
	begin_value(w, key);
	buf_put_text(w->out, "null");
}

void
jsonw_json(struct jsonw *w, const char *key, struct slice value)
{
	begin_value(w, key);
	buf_put_slice(w->out, value);
}

void
jsonw_base64(struct jsonw *w, const char *key, struct slice value)
{
	begin_value(w, key);
	buf_put_byte(w->out, '"');
	jsonw_put_base64(w->out, value);
	buf_put_byte(w->out, '"');
}
