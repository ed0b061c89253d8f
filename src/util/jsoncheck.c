/* A recogniser of compact JSON: a position, and a bit for each open level that tells objects from
 * arrays.
 */
#include "jsoncheck.h"

#include "text.h"

struct checker {
	const uint8_t *at, *end;
	unsigned depth;
	uint8_t objects[JSONCHECK_DEPTH_MAX / 8];
};

/* Takes a byte when it is the next one. */
static bool
take(struct checker *c, char byte)
{
	if (c->at == c->end || *c->at != (uint8_t)byte)
		return false;
	c->at++;
	return true;
}

static bool
take_word(struct checker *c, const char *word)
{
	size_t size = strlen(word);

	if ((size_t)(c->end - c->at) < size || memcmp(c->at, word, size) != 0)
		return false;
	c->at += size;
	return true;
}

static bool
take_digits(struct checker *c)
{
	const uint8_t *from = c->at;

	while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
		c->at++;
	return c->at > from;
}

static bool
take_number(struct checker *c)
{
	(void)take(c, '-');
	if (!take(c, '0') && !take_digits(c))
		return false;
	if (take(c, '.') && !take_digits(c))
		return false;
	if (!take(c, 'e') && !take(c, 'E'))
		return true;
	if (!take(c, '+'))
		(void)take(c, '-');
	return take_digits(c);
}

static bool
take_escape(struct checker *c)
{
	if (c->at == c->end || *c->at == '\0' || strchr("\"\\/bfnrtu", *c->at) == NULL)
		return false;
	if (*c->at++ != 'u')
		return true;
	for (unsigned i = 0; i < 4; i++, c->at++) {
		if (c->at == c->end || *c->at == '\0' ||
			strchr("0123456789abcdefABCDEF", *c->at) == NULL)
			return false;
	}
	return true;
}

static bool
take_string(struct checker *c)
{
	if (!take(c, '"'))
		return false;
	while (c->at < c->end && *c->at >= 0x20) {
		uint8_t byte = *c->at++;

		if (byte == '"')
			return true;
		if (byte == '\\' && !take_escape(c))
			return false;
	}
	return false;
}

static bool
take_key(struct checker *c)
{
	return take_string(c) && take(c, ':');
}

static bool
is_object(const struct checker *c)
{
	return c->objects[(c->depth - 1) / 8] >> ((c->depth - 1) % 8) & 1;
}

static bool
push(struct checker *c, bool object)
{
	uint8_t bit = (uint8_t)(1u << (c->depth % 8));

	if (c->depth == JSONCHECK_DEPTH_MAX)
		return false;
	if (object)
		c->objects[c->depth / 8] |= bit;
	else
		c->objects[c->depth / 8] &= (uint8_t)~bit;
	c->depth++;
	return true;
}

/* A scalar, an empty array or object, or the beginning of one that is not empty: then *ret_opened,
 * and a value is next. */
static bool
take_value(struct checker *c, bool *ret_opened)
{
	*ret_opened = false;
	if (take(c, '[')) {
		*ret_opened = !take(c, ']');
		return !*ret_opened || push(c, false);
	}
	if (take(c, '{')) {
		*ret_opened = !take(c, '}');
		return !*ret_opened || (push(c, true) && take_key(c));
	}
	if (c->at < c->end && *c->at == '"')
		return take_string(c);
	return take_word(c, "null") || take_word(c, "true") || take_word(c, "false") ||
	       take_number(c);
}

bool
jsoncheck_is_compact(struct slice text)
{
	struct checker c = { .at = text.data, .end = text.data + text.size };
	bool opened;

	if (text.size == 0 || !text_is_utf8(text))
		return false;
	do {
		if (!take_value(&c, &opened))
			return false;
		while (!opened && c.depth > 0 && !take(&c, ',')) {
			if (!take(&c, is_object(&c) ? '}' : ']'))
				return false;
			c.depth--;
		}
		if (!opened && c.depth > 0 && is_object(&c) && !take_key(&c))
			return false;
	} while (c.depth > 0);
	return c.at == c.end;
}
