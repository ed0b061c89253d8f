/* LIKE: % stands for any text, _ for one character of UTF-8. */
#include "predicate_rows.h"

static size_t
character_size(struct slice text, size_t at)
{
	size_t size = 1;

	while (at + size < text.size && (text.data[at + size] & 0xc0) == 0x80)
		size++;
	return size;
}

/* One element of the pattern at *pattern_at against the text at *at; both go on. */
static bool
step(struct slice pattern, uint8_t escape, size_t *pattern_at, struct slice text, size_t *at)
{
	uint8_t byte = pattern.data[*pattern_at];

	if (*at == text.size)
		return false;
	if (byte == '_' && byte != escape) {
		*at += character_size(text, *at);
		++*pattern_at;
		return true;
	}
	if (byte == escape)
		byte = pattern.data[++*pattern_at];
	if (text.data[*at] != byte)
		return false;
	++*at;
	++*pattern_at;
	return true;
}

/* Only the last % is ever gone back to: what earlier ones stood for was the shortest that fits. */
bool
like_matches(struct slice pattern, uint8_t escape, struct slice text)
{
	size_t at = 0, pattern_at = 0;
	size_t again = SIZE_MAX, again_text = 0; /* behind the last % */

	for (;;) {
		size_t tried = pattern_at;

		if (pattern_at < pattern.size && pattern.data[pattern_at] == '%' && escape != '%') {
			again = ++pattern_at;
			again_text = at;
			continue;
		}
		if (pattern_at == pattern.size && at == text.size)
			return true;
		if (pattern_at < pattern.size && step(pattern, escape, &tried, text, &at)) {
			pattern_at = tried;
			continue;
		}
		if (again == SIZE_MAX || again_text >= text.size)
			return false;
		again_text += character_size(text, again_text);
		at = again_text;
		pattern_at = again;
	}
}
