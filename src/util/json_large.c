/* A walk over the text before json-c gets it: json_large.h.
 *
 * The walk knows strings, numbers and the brackets; the grammar is json-c's. It counts the keys:
 * when the tree that json-c makes has fewer, one was repeated. NUL in a key becomes "\1" "0", and
 * "\1" becomes "\1" "1"; neither byte can stand in JSON but as an escape.
 */
#include "json_large.h"

#include <json-c/json.h>

#include "macros.h"
#include "text.h"

/* What json-c takes, about: an object has room for 16 members, an array for 32. */
#define OBJECT_COST   ((size_t)800)
#define ARRAY_COST    ((size_t)400)
#define VALUE_COST    ((size_t)64)
#define COST_BASE     ((size_t)64 << 20)
#define COST_PER_BYTE 16u

struct walk {
	struct slice text;
	size_t at;
	size_t keys;
	size_t cost;
	bool hides; /* a key has NUL or "\1" */
};

static int
fail_at(const struct walk *walk, const char *what, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_CORRUPT, "JSON at byte %zu: %s", walk->at, what);
}

static bool
is_space(uint8_t byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* The four digits behind "\u", or UINT32_MAX. */
static uint32_t
unit_at(const struct walk *walk, size_t at)
{
	uint32_t unit = 0;

	if (walk->text.size < 6 || at > walk->text.size - 6 || walk->text.data[at] != '\\' ||
		walk->text.data[at + 1] != 'u')
		return UINT32_MAX;
	for (size_t i = at + 2; i < at + 6; i++) {
		uint8_t byte = walk->text.data[i];
		bool digit = byte >= '0' && byte <= '9';
		uint8_t letter = byte | 0x20;

		if (!digit && (letter < 'a' || letter > 'f'))
			return UINT32_MAX;
		unit = unit << 4 | (uint32_t)(digit ? byte - '0' : letter - 'a' + 10);
	}
	return unit;
}

static int
step_escape(struct walk *walk, bool *ret_hidden, struct lancet_error *err)
{
	uint32_t unit;

	if (walk->text.size - walk->at < 2)
		return fail_at(walk, "cut off", err);
	if (walk->text.data[walk->at + 1] != 'u') {
		walk->at += 2; /* json-c looks at what is escaped */
		return LANCET_OK;
	}
	unit = unit_at(walk, walk->at);
	if (unit == UINT32_MAX)
		return fail_at(walk, "\\u without four digits", err);
	if (unit >= 0xdc00 && unit <= 0xdfff)
		return fail_at(walk, "half a surrogate pair", err);
	if (unit >= 0xd800 && unit <= 0xdbff) {
		uint32_t low = unit_at(walk, walk->at + 6);

		if (low < 0xdc00 || low > 0xdfff)
			return fail_at(walk, "half a surrogate pair", err);
		walk->at += 6;
	}
	*ret_hidden |= unit <= 1;
	walk->at += 6;
	return LANCET_OK;
}

/* From a quote to behind the next one. */
static int
step_string(struct walk *walk, bool *ret_hidden, struct lancet_error *err)
{
	walk->at++;
	while (walk->at < walk->text.size) {
		uint8_t byte = walk->text.data[walk->at];

		if (byte < 0x20)
			return fail_at(walk, "a control character in a string", err);
		if (byte == '\\') {
			TRY(step_escape(walk, ret_hidden, err));
			continue;
		}
		walk->at++;
		if (byte == '"')
			return LANCET_OK;
	}
	return fail_at(walk, "cut off", err);
}

static bool
is_key_end(const struct walk *walk)
{
	size_t at = walk->at;

	while (at < walk->text.size && is_space(walk->text.data[at]))
		at++;
	return at < walk->text.size && walk->text.data[at] == ':';
}

static bool
is_number_byte(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || byte == '-' || byte == '+' || byte == '.' ||
	       byte == 'e' || byte == 'E';
}

/* json-c saturates whole numbers that it can't hold. */
static int
step_number(struct walk *walk, struct lancet_error *err)
{
	size_t from = walk->at;
	bool whole = true, negative = walk->text.data[from] == '-';
	struct slice digits;
	uint64_t value;

	for (; walk->at < walk->text.size && is_number_byte(walk->text.data[walk->at]); walk->at++)
		whole &= walk->text.data[walk->at] >= '0' || walk->at == from;
	digits = slice_of(walk->text.data + from + negative, walk->at - from - negative);
	whole &= memchr(digits.data, 'e', digits.size) == NULL &&
		 memchr(digits.data, 'E', digits.size) == NULL;
	if (whole && (!text_to_u64(digits, &value) || (negative && value > (uint64_t)1 << 63))) {
		walk->at = from;
		return fail_at(walk, "a whole number that has no 64 bits", err);
	}
	return LANCET_OK;
}

static int
step(struct walk *walk, struct lancet_error *err)
{
	static const char plain[] = "}]:, \t\r\ntruefalsn";
	uint8_t byte = walk->text.data[walk->at];
	bool hidden = false;

	if (byte == '"') {
		TRY(step_string(walk, &hidden, err));
		walk->cost += VALUE_COST;
		if (is_key_end(walk)) {
			walk->keys++;
			walk->hides |= hidden;
		}
		return LANCET_OK;
	}
	if (byte == '-' || (byte >= '0' && byte <= '9')) {
		walk->cost += VALUE_COST;
		return step_number(walk, err);
	}
	if (byte != '{' && byte != '[' && memchr(plain, byte, sizeof(plain) - 1) == NULL)
		return fail_at(walk, "a byte that is not allowed", err);
	walk->cost += byte == '{' ? OBJECT_COST : byte == '[' ? ARRAY_COST : 0;
	walk->at++;
	return LANCET_OK;
}

static int
walk_text(struct walk *walk, struct lancet_error *err)
{
	size_t cost_max = COST_BASE + COST_PER_BYTE * walk->text.size;

	while (walk->at < walk->text.size) {
		TRY(step(walk, err));
		if (walk->cost > cost_max)
			return lancet_fail(err, LANCET_LIMIT,
				"JSON of %zu bytes: takes more than %zu bytes of memory",
				walk->text.size, cost_max);
	}
	return LANCET_OK;
}

/* One key, quotes included, with NUL and "\1" replaced. */
static void
put_hidden(const struct walk *walk, size_t from, size_t to, struct buf *into)
{
	for (size_t at = from; at < to;) {
		uint32_t unit = unit_at(walk, at);
		size_t size = unit != UINT32_MAX ? 6 : walk->text.data[at] == '\\' ? 2 : 1;

		if (unit <= 1)
			buf_put_text(into, unit == 0 ? "\\u00010" : "\\u00011");
		else
			buf_put(into, walk->text.data + at, size);
		at += size;
	}
}

/* The text with all keys hidden; it was walked without a failure. */
static void
hide_keys(struct slice text, struct buf *into)
{
	struct walk walk = { .text = text };

	while (walk.at < text.size) {
		size_t from = walk.at;
		bool hidden = false;

		if (text.data[from] == '"')
			(void)step_string(&walk, &hidden, NULL);
		else
			walk.at++;
		if (hidden && is_key_end(&walk))
			put_hidden(&walk, from, walk.at, into);
		else
			buf_put(into, text.data + from, walk.at - from);
	}
}

static size_t
count_keys(struct json_object *value)
{
	size_t keys = 0;

	if (json_object_is_type(value, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(value); i++)
			keys += count_keys(json_object_array_get_idx(value, i));
	} else if (json_object_is_type(value, json_type_object)) {
		json_object_object_foreach(value, key, member)
		{
			(void)key;
			keys += 1 + count_keys(member);
		}
	}
	return keys;
}

static int
parse_walked(const struct walk *walk, int depth_max, struct json_object **ret_root,
	struct lancet_error *err)
{
	struct json_object *root = NULL;
	struct buf hidden = { 0 };
	int rc = LANCET_OK;

	if (walk->hides) {
		hide_keys(walk->text, &hidden);
		rc = buf_check(&hidden, "JSON", err);
	}
	if (rc == LANCET_OK)
		rc = json_parse_depth(
			walk->hides ? buf_slice(&hidden) : walk->text, depth_max, &root, err);
	buf_release(&hidden);
	if (rc != LANCET_OK)
		return rc;
	if (count_keys(root) != walk->keys) {
		json_free(root);
		return lancet_fail(err, LANCET_CORRUPT, "JSON: an object has a key twice");
	}
	*ret_root = root;
	return LANCET_OK;
}

int
json_parse_large(struct slice text, size_t size_max, int depth_max, struct json_object **ret_root,
	struct lancet_error *err)
{
	struct walk walk;

	if (text.size > size_max)
		return lancet_fail(
			err, LANCET_LIMIT, "JSON of %zu bytes, at most %zu", text.size, size_max);
	while (text.size > 0 && is_space(text.data[text.size - 1]))
		text.size--;
	if (text.size == 0)
		return lancet_fail(err, LANCET_CORRUPT, "JSON is empty");
	walk = (struct walk){ .text = text };
	TRY(walk_text(&walk, err));
	return parse_walked(&walk, depth_max, ret_root, err);
}

void
json_key_put(const char *key, struct buf *into)
{
	for (; *key != '\0'; key++) {
		if (*key == '\1' && key[1] != '\0')
			buf_put_byte(into, *++key == '0' ? '\0' : '\1');
		else
			buf_put_byte(into, (uint8_t)*key);
	}
}
