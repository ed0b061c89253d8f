/* Lines of words: quoting as POSIX shells have it, and what is refused. */
#include "unit.h"

#include "command/command.h"

#include <string.h>

#define BYTES(literal) literal, sizeof(literal) - 1

/* Words as "key=value" in brackets, bare ones in parentheses. */
static void
show(const struct command_words *words, struct buf *into)
{
	for (size_t i = 0; i < words->count; i++) {
		if (words->words[i].key == NULL)
			buf_printf(into, "(%s)", words->words[i].value);
		else
			buf_printf(into, "[%s=%s]", words->words[i].key, words->words[i].value);
	}
	buf_put_byte(into, '\0');
}

static const struct {
	const char *line;
	size_t size;
	const char *want; /* NULL: refused */
} lines[] = {
	{ BYTES("run"), "(run)" },
	{ BYTES("create name=v1 version=5"), "(create)[name=v1][version=5]" },
	{ BYTES(" \t a=1 \t b=2\t"), "[a=1][b=2]" },
	{ BYTES("message='two words'"), "[message=two words]" },
	{ BYTES("message=\"two words\""), "[message=two words]" },
	{ BYTES("'message=two words'"), "[message=two words]" },
	{ BYTES("message=two\\ words"), "[message=two words]" },
	{ BYTES("a='it'\\''s'"), "[a=it's]" },
	{ BYTES("a=\"say \\\"yes\\\" \\\\ no\""), "[a=say \"yes\" \\ no]" },
	{ BYTES("a=\"C:\\dir\""), "[a=C:\\dir]" },
	{ BYTES("a='\\\"'"), "[a=\\\"]" },
	{ BYTES("a=x'y z'\"q r\"w"), "[a=xy zq rw]" },
	{ BYTES("a="), "[a=]" },
	{ BYTES("a=''"), "[a=]" },
	{ BYTES("''"), "()" },
	{ BYTES("a=b=c=d"), "[a=b=c=d]" },
	{ BYTES("a\\=b"), "[a=b]" },
	{ BYTES("config.a.b=1,2;3"), "[config.a.b=1,2;3]" },
	{ BYTES("a=#1 $HOME *"), "[a=#1]($HOME)(*)" },
	{ BYTES("gr\xc3\xbc\xc3\x9f=\xe2\x82\xac"), "[gr\xc3\xbc\xc3\x9f=\xe2\x82\xac]" },
	{ BYTES("a=\x01\x7f"), "[a=\x01\x7f]" },
	{ BYTES(""), NULL },
	{ BYTES(" \t "), NULL },
	{ BYTES("a='open"), NULL },
	{ BYTES("a=\"open"), NULL },
	{ BYTES("a=\"open\\\""), NULL },
	{ BYTES("a=end\\"), NULL },
	{ BYTES("=1"), NULL },
	{ BYTES("a=1 ='b'"), NULL },
	{ BYTES("a=1\0b=2"), NULL },
	{ BYTES("a=\xff"), NULL },
	{ BYTES("a=\xc3"), NULL },
	{ BYTES("\xed\xa0\x80=1"), NULL },
};

START_TEST(words_are_as_a_shell_has_them)
{
	struct slice line = { (const uint8_t *)lines[_i].line, lines[_i].size };
	struct command_words words = { 0 };
	struct lancet_error err = { 0 };
	struct buf shown = { 0 };

	if (lines[_i].want == NULL) {
		ck_assert_int_eq(command_words_parse(line, &words, &err), LANCET_INVALID);
		ck_assert_ptr_null(words.words);
		ck_assert(err.text[0] != '\0');
		return;
	}
	ck_assert_msg(command_words_parse(line, &words, &err) == LANCET_OK, "%s", err.text);
	show(&words, &shown);
	ck_assert_str_eq((const char *)shown.data, lines[_i].want);
	buf_release(&shown);
	command_words_release(&words);
}
END_TEST

START_TEST(words_are_as_many_as_may_be)
{
	char line[2 * COMMAND_WORDS_MAX + 2];
	struct command_words words = { 0 };
	struct lancet_error err = { 0 };

	for (size_t i = 0; i < sizeof(line); i++)
		line[i] = i % 2 == 0 ? 'a' : ' ';
	ck_assert_int_eq(
		command_words_parse(
			(struct slice){ (uint8_t *)line, 2 * COMMAND_WORDS_MAX }, &words, &err),
		LANCET_OK);
	ck_assert_uint_eq(words.count, COMMAND_WORDS_MAX);
	command_words_release(&words);
	ck_assert_int_eq(
		command_words_parse((struct slice){ (uint8_t *)line, sizeof(line) }, &words, &err),
		LANCET_LIMIT);
	ck_assert_ptr_nonnull(strstr(err.text, "256"));
}
END_TEST

START_TEST(arguments_are_not_quoted_any_more)
{
	char create[] = "create", message[] = "message='two \\ words'", empty[] = "name=";
	char *const arguments[] = { create, message, empty };
	struct command_words words = { 0 };
	struct buf shown = { 0 };

	ck_assert_int_eq(command_words_of(arguments, 3, &words, NULL), LANCET_OK);
	show(&words, &shown);
	ck_assert_str_eq((const char *)shown.data, "(create)[message='two \\ words'][name=]");
	buf_release(&shown);
	command_words_release(&words);
}
END_TEST

static const char *const wrong_arguments[] = { "=1", "a=\xff", NULL };

START_TEST(arguments_can_be_wrong)
{
	struct command_words words = { 0 };
	struct lancet_error err = { 0 };
	size_t count = wrong_arguments[_i] != NULL;
	char *argument = count > 0 ? strdup(wrong_arguments[_i]) : NULL;

	ck_assert_int_eq(command_words_of(&argument, count, &words, &err), LANCET_INVALID);
	free(argument);
	ck_assert(err.text[0] != '\0');
	ck_assert_ptr_null(words.words);
}
END_TEST

UNIT_MAIN("words", UNIT_LOOP(words_are_as_a_shell_has_them, lines),
	UNIT_TEST(words_are_as_many_as_may_be), UNIT_TEST(arguments_are_not_quoted_any_more),
	UNIT_LOOP(arguments_can_be_wrong, wrong_arguments))
