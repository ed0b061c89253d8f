/* Wishes in the metadata of fields; see encode_wish.h. What is not understood is no wish. */
#include "encode_wish.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/macros.h"

#define KEY_STRUCTURE   "lance-encoding:structural-encoding"
#define KEY_COMPRESSION "lance-encoding:compression"
#define KEY_LEVEL       "lance-encoding:compression-level"
#define LEVEL_MAX       22

static struct slice
find(const struct field *field, const char *key)
{
	for (size_t i = 0; field != NULL && i < field->metadata_count; i++)
		if (slice_equal(field->metadata[i].key, slice_text(key)))
			return field->metadata[i].value;
	return (struct slice){ 0 };
}

/* Which of the words the value is, from 1 on; 0: none. */
static unsigned
word_of(struct slice value, const char *const *words, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (value.size == strlen(words[i]) &&
			strncasecmp((const char *)value.data, words[i], value.size) == 0)
			return i + 1;
	return 0;
}

enum wish_structure
encode_wish_structure(const struct field *field)
{
	static const char *const words[] = { "miniblock", "fullzip" };

	return (enum wish_structure)word_of(find(field, KEY_STRUCTURE), words, ARRAY_SIZE(words));
}

enum wish_compression
encode_wish_compression(const struct field *field)
{
	static const char *const words[] = { "none", "lz4", "zstd" };

	return (enum wish_compression)word_of(
		find(field, KEY_COMPRESSION), words, ARRAY_SIZE(words));
}

int
encode_wish_level(const struct field *field)
{
	struct slice value = find(field, KEY_LEVEL);
	char text[8] = { 0 };
	long level;

	if (value.size == 0 || value.size >= sizeof(text))
		return 0;
	memcpy(text, value.data, value.size);
	level = strtol(text, NULL, 10);
	return level < 0 || level > LEVEL_MAX ? 0 : (int)level;
}
