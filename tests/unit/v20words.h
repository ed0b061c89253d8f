/* Page encodings of 2.0 from words: what follows, nested as the messages are. @N is buffer N of the
 * page (@column N and @file N are others), numbers are in the order told here.
 *
 *     flat BITS @N [zstd|lz4|…]      no_nulls(E)  nullable(VALIDITY, E)  all_null  unsaid
 *     fsl DIMENSION(E)               list ADJUSTMENT ITEMS(E)            struct
 *     binary ADJUSTMENT(E, E)        dict ITEMS(E, E)                    fsst(E) TABLE-HEX
 *     packed @N(E, …)                bits PACKED BITS @N [signed]        nonneg PACKED BITS @N
 *     fsb WIDTH(E)                   constant                            nothing
 */
#ifndef TESTS_V20WORDS_H
#define TESTS_V20WORDS_H

#include "encode.h"
#include "unit.h"

#include <ctype.h>
#include <string.h>

#define WORD "abcdefghijklmnopqrstuvwxyz0123456789_"

/* `parts` are pairs of a letter and the field of the message: n a number, @ a buffer, ( an inner
 * encoding, * any number of them, z a compression, s a flag, t bytes in hex. */
static const struct word_form {
	const char *word;
	unsigned field; /* of ArrayEncoding */
	unsigned wrap;  /* in a message of its own, this field of the encoding; 0 = not */
	const char *parts;
} word_forms[] = {
	{ "flat", 1, 0, "n1@2z3" },
	{ "no_nulls", 2, 1, "(1" },
	{ "nullable", 2, 2, "(1(2" },
	{ "all_null", 2, 3, "" },
	{ "unsaid", 2, 0, "" },
	{ "fsl", 3, 0, "n1(2" },
	{ "list", 4, 0, "n2n3(1" },
	{ "struct", 5, 0, "" },
	{ "binary", 6, 0, "n3(1(2" },
	{ "dict", 7, 0, "n3(1(2" },
	{ "fsst", 8, 0, "(1t2" },
	{ "packed", 9, 0, "@2*1" },
	{ "bits", 10, 0, "n1n2@3s4" },
	{ "fsb", 11, 0, "n2(1" },
	{ "nonneg", 12, 0, "n1n2@3" },
	{ "constant", 13, 0, "" },
};

static inline bool
take_word(const char **at, const char *word)
{
	*at += strspn(*at, " ");
	if (strspn(*at, WORD) != strlen(word) || strncmp(*at, word, strlen(word)) != 0)
		return false;
	*at += strlen(word);
	return true;
}

/* Buffer { buffer_index #1, buffer_type #2 } */
static inline void
put_buffer_name(struct buf *b, unsigned field, const char **at)
{
	struct buf name = { 0 };
	unsigned type;

	if (**at != '@')
		return;
	(*at)++;
	type = take_word(at, "column") ? 1 : take_word(at, "file") ? 2 : 0;
	put_number(&name, 1, strtoull(*at, (char **)(uintptr_t)at, 10));
	put_number(&name, 2, type);
	put_message(b, field, &name);
}

/* Compression { scheme #1 }, when the next word is one. */
static inline void
put_scheme(struct buf *b, unsigned field, const char **at)
{
	struct buf compression = { 0 };
	size_t size = strspn(*at, WORD);

	if (size == 0)
		return;
	put_head(&compression, 1, size);
	buf_put(&compression, *at, size);
	put_message(b, field, &compression);
	*at += size;
}

static inline struct buf encode_next(const char **at);

static inline void
put_part(struct buf *b, char kind, unsigned field, const char **at)
{
	struct buf inner = { 0 };

	*at += strspn(*at, " ");
	if (kind == 'n')
		put_number(b, field, strtoull(*at, (char **)(uintptr_t)at, 10));
	else if (kind == '@')
		put_buffer_name(b, field, at);
	else if (kind == 'z')
		put_scheme(b, field, at);
	else if (kind == 's')
		put_number(b, field, take_word(at, "signed"));
	while ((kind == '(' || kind == '*') && (**at == '(' || **at == ',')) {
		(*at)++;
		inner = encode_next(at);
		put_message(b, field, &inner);
		*at += strspn(*at, " ");
		kind = kind == '(' ? ' ' : kind;
	}
	if (kind == 't') {
		for (char two[3] = { 0 }; isxdigit((unsigned char)**at); *at += 2) {
			memcpy(two, *at, 2);
			buf_put_byte(&inner, (uint8_t)strtoul(two, NULL, 16));
		}
		put_message(b, field, &inner);
	}
}

/* ArrayEncoding, one level of it. */
static inline struct buf
encode_next(const char **at)
{
	struct buf message = { 0 }, body = { 0 }, outer = { 0 };
	const struct word_form *form = word_forms;

	while (form < word_forms + ARRAY_SIZE(word_forms) && !take_word(at, form->word))
		form++;
	if (form == word_forms + ARRAY_SIZE(word_forms)) {
		ck_assert_msg(take_word(at, "nothing"), "no encoding: %s", *at);
		return message;
	}
	for (const char *part = form->parts; *part != '\0'; part += 2) {
		put_part(&body, part[0], (unsigned)(part[1] - '0'), at);
		/* the last inner one is closed */
		*at += (part[0] == '(' || part[0] == '*') && **at == ')';
	}
	if (form->wrap != 0)
		put_message(&outer, form->wrap, &body);
	put_message(&message, form->field, form->wrap != 0 ? &outer : &body);
	return message;
}

static inline struct buf
encode_words(const char *words)
{
	return encode_next(&words);
}

#endif
