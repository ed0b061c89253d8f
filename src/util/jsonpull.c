/* A position in JSON; see jsonpull.h. */
#include "jsonpull.h"

#include "macros.h"

void
jsonpull_init(struct jsonpull *p, struct slice text)
{
	*p = (struct jsonpull){ text.data, text.data, text.data + text.size };
}

int
jsonpull_fail(const struct jsonpull *p, const char *what, struct lancet_error *err)
{
	return lancet_fail(
		err, LANCET_INVALID, "byte %zu: %s", (size_t)(p->at - p->from) + 1, what);
}

enum jsonpull_kind
jsonpull_peek(struct jsonpull *p)
{
	while (p->at < p->end &&
		(*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
		p->at++;
	if (p->at == p->end)
		return JSONPULL_END;
	switch (*p->at) {
	case '{':
		return JSONPULL_OBJECT;
	case '[':
		return JSONPULL_ARRAY;
	case '"':
		return JSONPULL_STRING;
	case 't':
		return JSONPULL_TRUE;
	case 'f':
		return JSONPULL_FALSE;
	case 'n':
		return JSONPULL_NULL;
	default:
		return *p->at == '-' || (*p->at >= '0' && *p->at <= '9') ? JSONPULL_NUMBER
									 : JSONPULL_OTHER;
	}
}

/* The four digits at p->at, or UINT32_MAX. */
static uint32_t
take_unit(struct jsonpull *p)
{
	uint32_t unit = 0;

	if (p->end - p->at < 4)
		return UINT32_MAX;
	for (int i = 0; i < 4; i++) {
		uint8_t byte = p->at[i], letter = byte | 0x20;
		bool digit = byte >= '0' && byte <= '9';

		if (!digit && (letter < 'a' || letter > 'f'))
			return UINT32_MAX;
		unit = unit << 4 | (uint32_t)(digit ? byte - '0' : letter - 'a' + 10);
	}
	p->at += 4;
	return unit;
}

static void
put_character(struct buf *into, uint32_t character)
{
	if (character < 0x80) {
		buf_put_byte(into, (uint8_t)character);
		return;
	}
	if (character < 0x800) {
		buf_put_byte(into, (uint8_t)(0xc0 | character >> 6));
	} else {
		if (character < 0x10000) {
			buf_put_byte(into, (uint8_t)(0xe0 | character >> 12));
		} else {
			buf_put_byte(into, (uint8_t)(0xf0 | character >> 18));
			buf_put_byte(into, (uint8_t)(0x80 | (character >> 12 & 63)));
		}
		buf_put_byte(into, (uint8_t)(0x80 | (character >> 6 & 63)));
	}
	buf_put_byte(into, (uint8_t)(0x80 | (character & 63)));
}

/* What is behind "\u", with its other half where it is one of a surrogate pair. */
static int
take_escaped_unit(struct jsonpull *p, struct buf *into, struct lancet_error *err)
{
	uint32_t unit = take_unit(p), low;

	if (unit == UINT32_MAX)
		return jsonpull_fail(p, "\\u without four digits", err);
	if (unit >= 0xd800 && unit <= 0xdfff) {
		bool pair =
			unit < 0xdc00 && p->end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u';

		p->at += pair ? 2 : 0;
		low = pair ? take_unit(p) : 0;
		if (low < 0xdc00 || low > 0xdfff)
			return jsonpull_fail(p, "half a surrogate pair", err);
		unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
	}
	put_character(into, unit);
	return LANCET_OK;
}

static int
take_escape(struct jsonpull *p, struct buf *into, struct lancet_error *err)
{
	static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *letter;

	p->at++;
	if (p->at == p->end)
		return jsonpull_fail(p, "a string that does not end", err);
	if (*p->at == 'u') {
		p->at++;
		return take_escaped_unit(p, into, err);
	}
	letter = memchr(letters, *p->at, sizeof(letters) - 1);
	if (letter == NULL)
		return jsonpull_fail(p, "an escape that JSON does not have", err);
	p->at++;
	buf_put_byte(into, (uint8_t)bytes[letter - letters]);
	return LANCET_OK;
}

/* Moves to the next quote, backslash or control character. */
static int
find_special(struct jsonpull *p, struct lancet_error *err)
{
	while (p->at < p->end && *p->at >= 0x20 && *p->at != '"' && *p->at != '\\')
		p->at++;
	if (p->at == p->end)
		return jsonpull_fail(p, "a string that does not end", err);
	if (*p->at < 0x20)
		return jsonpull_fail(p, "a control character in a string", err);
	return LANCET_OK;
}

int
jsonpull_string(
	struct jsonpull *p, struct buf *scratch, struct slice *ret_text, struct lancet_error *err)
{
	const uint8_t *from;

	if (jsonpull_peek(p) != JSONPULL_STRING)
		return jsonpull_fail(p, "a string is expected", err);
	from = ++p->at;
	TRY(find_special(p, err));
	if (*p->at == '"') {
		*ret_text = slice_of(from, (size_t)(p->at++ - from));
		return LANCET_OK;
	}
	scratch->size = 0;
	while (*p->at != '"') {
		buf_put(scratch, from, (size_t)(p->at - from));
		TRY(take_escape(p, scratch, err));
		from = p->at;
		TRY(find_special(p, err));
	}
	buf_put(scratch, from, (size_t)(p->at++ - from));
	*ret_text = buf_slice(scratch);
	return buf_check(scratch, "a string", err);
}

static bool
take_digits(struct jsonpull *p)
{
	const uint8_t *from = p->at;

	while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
		p->at++;
	return p->at > from;
}

static bool
take_one(struct jsonpull *p, char byte)
{
	if (p->at == p->end || *p->at != (uint8_t)byte)
		return false;
	p->at++;
	return true;
}

int
jsonpull_number(struct jsonpull *p, struct slice *ret_text, struct lancet_error *err)
{
	const uint8_t *from = p->at;

	(void)take_one(p, '-');
	if (!take_one(p, '0') && !take_digits(p))
		return jsonpull_fail(p, "a number without digits", err);
	if (take_one(p, '.') && !take_digits(p))
		return jsonpull_fail(p, "a number without digits behind its point", err);
	if (take_one(p, 'e') || take_one(p, 'E')) {
		if (!take_one(p, '+'))
			(void)take_one(p, '-');
		if (!take_digits(p))
			return jsonpull_fail(p, "a number without digits in its exponent", err);
	}
	*ret_text = slice_of(from, (size_t)(p->at - from));
	return LANCET_OK;
}

static int
take_word(struct jsonpull *p, const char *word, struct slice *ret_text, struct lancet_error *err)
{
	size_t size = strlen(word);

	if ((size_t)(p->end - p->at) < size || memcmp(p->at, word, size) != 0)
		return jsonpull_fail(p, "a value is expected", err);
	*ret_text = slice_of(p->at, size);
	p->at += size;
	return LANCET_OK;
}

int
jsonpull_literal(struct jsonpull *p, struct slice *ret_text, struct lancet_error *err)
{
	switch (jsonpull_peek(p)) {
	case JSONPULL_NUMBER:
		return jsonpull_number(p, ret_text, err);
	case JSONPULL_TRUE:
		return take_word(p, "true", ret_text, err);
	case JSONPULL_FALSE:
		return take_word(p, "false", ret_text, err);
	case JSONPULL_NULL:
		return take_word(p, "null", ret_text, err);
	case JSONPULL_END:
		return jsonpull_fail(p, "a value is missing", err);
	default:
		return jsonpull_fail(p, "a value is expected", err);
	}
}

void
jsonpull_enter(struct jsonpull *p)
{
	p->at++;
}

int
jsonpull_next(
	struct jsonpull *p, char closing, bool first, bool *ret_more, struct lancet_error *err)
{
	enum jsonpull_kind kind = jsonpull_peek(p);

	*ret_more = false;
	if (take_one(p, closing))
		return LANCET_OK;
	*ret_more = true;
	if (first && kind != JSONPULL_END)
		return LANCET_OK;
	if (!first && take_one(p, ','))
		return LANCET_OK;
	return jsonpull_fail(p,
		kind == JSONPULL_END ? "it ends in the middle of a value"
		: closing == '}'     ? "a comma or } is expected"
				     : "a comma or ] is expected",
		err);
}

int
jsonpull_key(
	struct jsonpull *p, struct buf *scratch, struct slice *ret_key, struct lancet_error *err)
{
	TRY(jsonpull_string(p, scratch, ret_key, err));
	(void)jsonpull_peek(p);
	if (!take_one(p, ':'))
		return jsonpull_fail(p, "a colon is expected", err);
	return LANCET_OK;
}

int
jsonpull_finish(struct jsonpull *p, struct lancet_error *err)
{
	if (jsonpull_peek(p) != JSONPULL_END)
		return jsonpull_fail(p, "more behind the value", err);
	return LANCET_OK;
}
