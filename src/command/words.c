/* A line becomes words, as a shell would have it. SPEC section 5.
 *
 * What a word is made of is copied without its quotes, so the words together never take more than
 * the line and a NUL each.
 */
#include "command.h"

#include <stdlib.h>
#include <string.h>

#include "util/macros.h"
#include "util/text.h"

/* The line while it is taken apart: `at` in it, and what was copied so far. */
struct scanner {
	struct slice in;
	size_t at;
	char *out;
};

static bool
is_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t';
}

static bool
has_more(const struct scanner *scan)
{
	return scan->at < scan->in.size;
}

static char
take(struct scanner *scan)
{
	return (char)scan->in.data[scan->at++];
}

static int
open_quote(const char *what, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_INVALID,
		"the line ends inside of %s: nothing was run; quote as in a shell", what);
}

static int
take_single_quoted(struct scanner *scan, struct lancet_error *err)
{
	while (has_more(scan)) {
		char next = take(scan);

		if (next == '\'')
			return LANCET_OK;
		*scan->out++ = next;
	}
	return open_quote("'...'", err);
}

static int
take_double_quoted(struct scanner *scan, struct lancet_error *err)
{
	while (has_more(scan)) {
		char next = take(scan);

		if (next == '"')
			return LANCET_OK;
		if (next == '\\' && has_more(scan) &&
			(scan->in.data[scan->at] == '"' || scan->in.data[scan->at] == '\\'))
			next = take(scan);
		*scan->out++ = next;
	}
	return open_quote("\"...\"", err);
}

/* Up to the blank behind the word. */
static int
take_word(struct scanner *scan, struct lancet_error *err)
{
	while (has_more(scan) && !is_blank(scan->in.data[scan->at])) {
		char next = take(scan);

		if (next == '\'') {
			TRY(take_single_quoted(scan, err));
		} else if (next == '"') {
			TRY(take_double_quoted(scan, err));
		} else if (next == '\\') {
			if (!has_more(scan))
				return open_quote("an escape", err);
			*scan->out++ = take(scan);
		} else {
			*scan->out++ = next;
		}
	}
	*scan->out++ = '\0';
	return LANCET_OK;
}

/* Splits `text`, which lies in words->text, at its first '='. */
static int
add_word(struct command_words *words, char *text, struct lancet_error *err)
{
	char *equals = strchr(text, '=');

	if (words->count == COMMAND_WORDS_MAX)
		return lancet_fail(
			err, LANCET_LIMIT, "more than %d words in a command", COMMAND_WORDS_MAX);
	if (equals == text)
		return lancet_fail(err, LANCET_INVALID,
			"%.60s: there is no key in front of '=': write key=value", text);
	if (equals != NULL)
		*equals = '\0';
	words->words[words->count++] = (struct command_word){
		.key = equals != NULL ? text : NULL,
		.value = equals != NULL ? equals + 1 : text,
	};
	return LANCET_OK;
}

/* Room for `size` bytes of text. */
static int
begin(struct command_words *words, size_t size, struct lancet_error *err)
{
	words->words = calloc(COMMAND_WORDS_MAX, sizeof(*words->words));
	words->text = malloc(size + 1);
	if (words->words == NULL || words->text == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "words of a command");
	return LANCET_OK;
}

static int
parse(struct slice line, struct command_words *words, struct lancet_error *err)
{
	struct scanner scan = { .in = line };

	if (line.size > 0 && memchr(line.data, '\0', line.size) != NULL)
		return lancet_fail(err, LANCET_INVALID, "the line holds a NUL");
	if (!text_is_utf8(line))
		return lancet_fail(err, LANCET_INVALID, "the line is not UTF-8");
	TRY(begin(words, line.size + 1, err));
	scan.out = words->text;
	for (;;) {
		char *text = scan.out;

		while (has_more(&scan) && is_blank(line.data[scan.at]))
			scan.at++;
		if (!has_more(&scan))
			break;
		TRY(take_word(&scan, err));
		TRY(add_word(words, text, err));
	}
	if (words->count == 0)
		return lancet_fail(err, LANCET_INVALID,
			"the line is empty: \"run\" alone stands for all defaults");
	return LANCET_OK;
}

int
command_words_parse(struct slice line, struct command_words *ret_words, struct lancet_error *err)
{
	struct command_words words = { 0 };
	int rc = parse(line, &words, err);

	if (rc != LANCET_OK)
		command_words_release(&words);
	else
		*ret_words = words;
	return rc;
}

static int
copy_all(
	char *const *arguments, size_t count, struct command_words *words, struct lancet_error *err)
{
	size_t size = 0;
	char *at;

	for (size_t i = 0; i < count; i++)
		size += strlen(arguments[i]) + 1;
	TRY(begin(words, size, err));
	at = words->text;
	for (size_t i = 0; i < count; i++) {
		char *text = at;

		if (!text_is_utf8(slice_text(arguments[i])))
			return lancet_fail(err, LANCET_INVALID, "a word is not UTF-8");
		at = stpcpy(at, arguments[i]) + 1;
		TRY(add_word(words, text, err));
	}
	if (count == 0)
		return lancet_fail(err, LANCET_INVALID, "there are no words");
	return LANCET_OK;
}

int
command_words_of(char *const *arguments, size_t count, struct command_words *ret_words,
	struct lancet_error *err)
{
	struct command_words words = { 0 };
	int rc = copy_all(arguments, count, &words, err);

	if (rc != LANCET_OK)
		command_words_release(&words);
	else
		*ret_words = words;
	return rc;
}

void
command_words_release(struct command_words *words)
{
	if (words == NULL)
		return;
	free(words->words);
	free(words->text);
	*words = (struct command_words){ 0 };
}
