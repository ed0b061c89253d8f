/* Any bytes as a line of words: refused with a reason, or words that, quoted again, give the same
 * words; and each command either takes them or says what is wrong with them.
 *
 * Nothing is run.
 */
#include "fuzz.h"

#include <string.h>

#include "command/command.h"

#define COST_BASE ((size_t)64 << 10)

static void
put_quoted(struct buf *line, const char *text)
{
	buf_put_byte(line, '\'');
	for (const char *at = text; *at != '\0'; at++) {
		if (*at == '\'')
			buf_put_text(line, "'\\''");
		else
			buf_put_byte(line, (uint8_t)*at);
	}
	buf_put_byte(line, '\'');
}

static void
put_line(struct buf *line, const struct command_words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		if (i > 0)
			buf_put_byte(line, ' ');
		if (words->words[i].key != NULL) {
			put_quoted(line, words->words[i].key);
			buf_put_byte(line, '=');
		}
		put_quoted(line, words->words[i].value);
	}
}

static int
same(const char *left, const char *right)
{
	return (left == NULL) == (right == NULL) && (left == NULL || strcmp(left, right) == 0);
}

static void
check_again(const struct command_words *words)
{
	struct command_words again = { 0 };
	struct buf line = { 0 };

	put_line(&line, words);
	if (line.failed == LANCET_OK && command_words_parse(buf_slice(&line), &again, NULL) == 0) {
		fuzz_expect(again.count == words->count);
		for (size_t i = 0; i < again.count; i++)
			fuzz_expect(same(again.words[i].key, words->words[i].key) &&
				    same(again.words[i].value, words->words[i].value));
		command_words_release(&again);
	}
	buf_release(&line);
}

static void
check_commands(const struct command_words *words)
{
	for (const struct command *command = commands; command->name != NULL; command++) {
		struct lancet_error err = { 0 };
		bool quick = false, async = false;
		int rc = command_check(command, words, &quick, &async, &err);

		fuzz_expect(rc == LANCET_OK || (rc == LANCET_INVALID && err.text[0] != '\0'));
		fuzz_expect(rc != LANCET_OK || !async ||
			    (command->flags & (COMMAND_COMMITS | COMMAND_LONG)) != 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(COST_BASE + 16 * size);
	struct command_words words = { 0 };
	struct lancet_error err = { 0 };
	int rc = command_words_parse((struct slice){ data, size }, &words, &err);

	if (rc == LANCET_OK) {
		fuzz_expect(words.count > 0 && words.count <= COMMAND_WORDS_MAX);
		check_again(&words);
		check_commands(&words);
	} else {
		fuzz_expect(words.words == NULL && err.text[0] != '\0');
	}
	fuzz_check(&guard);
	command_words_release(&words);
	fuzz_end(&guard);
	return 0;
}
