/* Groups of four characters; the last one may end in one or two '='. */
#include "base64.h"

/* 0 … 63, or 64 for what is no digit. */
static unsigned
digit_of(uint8_t byte)
{
	if (byte >= 'A' && byte <= 'Z')
		return byte - 'A';
	if (byte >= 'a' && byte <= 'z')
		return byte - 'a' + 26u;
	if (byte >= '0' && byte <= '9')
		return byte - '0' + 52u;
	return byte == '+' ? 62 : byte == '/' ? 63 : 64;
}

/* Decodes `count` characters, 2 to 4, to count - 1 bytes. */
static bool
decode_group(const uint8_t *text, size_t count, uint8_t *into)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < 4; i++) {
		unsigned digit = i < count ? digit_of(text[i]) : 0;

		if (digit == 64)
			return false;
		bits = bits << 6 | digit;
	}
	for (size_t i = 0; i + 1 < count; i++)
		into[i] = (uint8_t)(bits >> (16 - 8 * i));
	return (bits & ((1u << 8 * (4 - count)) - 1)) == 0;
}

bool
base64_decode(struct slice text, uint8_t *into, size_t *ret_size)
{
	size_t size = 0, last = 4;

	if (text.size % 4 != 0)
		return false;
	for (size_t i = 0; i < text.size; i += 4, size += 3) {
		if (i + 4 == text.size && text.data[i + 3] == '=')
			last = text.data[i + 2] == '=' ? 2 : 3;
		if (!decode_group(text.data + i, last, into + size))
			return false;
	}
	*ret_size = size - (4 - last);
	return true;
}
