/* Conditions as tokens. Text in double quotes is refused: in SQL it is a name, for the reference it
 * is text, and whoever deletes rows should not have to know which. */
#include "predicate_parser.h"

#include <strings.h>

#include "util/macros.h"

static int
refuse(size_t at, const char *what, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_INVALID, "at %zu: %s", at + 1, what);
}

static bool
is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Letters, "_", and all that is not ASCII. */
static bool
starts_name(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
	       (unsigned char)byte >= 0x80;
}

static void
skip_spaces(struct lexer *lexer)
{
	lexer->at += strspn(lexer->text + lexer->at, " \t\r\n");
}

static void
read_name(struct lexer *lexer, struct token *token)
{
	const char *first = lexer->text + lexer->at, *end = first;

	while (starts_name(*end) || is_digit(*end))
		end++;
	token->kind = TOKEN_NAME;
	token->text = slice_of(first, (size_t)(end - first));
	lexer->at += token->text.size;
}

static int
read_number(struct lexer *lexer, struct token *token, struct lancet_error *err)
{
	const char *first = lexer->text + lexer->at, *end = first;

	while (is_digit(*end))
		end++;
	if (*end == '.')
		end++;
	while (is_digit(*end))
		end++;
	if (*end == 'e' || *end == 'E') {
		const char *digits = end + 1 + (end[1] == '+' || end[1] == '-');

		if (!is_digit(*digits))
			return refuse(lexer->at, "a number without its exponent", err);
		end = digits + strspn(digits, "0123456789");
	}
	if (starts_name(*end) || *end == '.')
		return refuse(lexer->at, "a number that does not end as one", err);
	token->kind = TOKEN_NUMBER;
	token->text = slice_of(first, (size_t)(end - first));
	lexer->at += token->text.size;
	return LANCET_OK;
}

/* What is between two quotes; a quote that is doubled is one. */
static int
read_quoted(struct lexer *lexer, char quote, struct slice *ret_text, struct lancet_error *err)
{
	const char *from = lexer->text + lexer->at + 1;
	uint8_t *copy = arena_alloc(lexer->arena, strlen(from) + 1);
	size_t size = 0;

	if (copy == NULL)
		return predicate_out_of_memory(err);
	for (; *from != '\0'; from++) {
		if (*from == quote && *++from != quote) {
			*ret_text = slice_of(copy, size);
			lexer->at = (size_t)(from - lexer->text);
			return LANCET_OK;
		}
		copy[size++] = (uint8_t)*from;
	}
	return refuse(lexer->at, "a quote that is not closed", err);
}

static int
hex_digit(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* X'00ff' */
static int
read_bytes(struct lexer *lexer, struct token *token, struct lancet_error *err)
{
	size_t at = lexer->at++;
	uint8_t *bytes;

	TRY(read_quoted(lexer, '\'', &token->text, err));
	token->kind = TOKEN_BYTES;
	bytes = (uint8_t *)(uintptr_t)token->text.data; /* our own copy */
	if (token->text.size % 2 != 0)
		return refuse(at, "X'...' needs two digits for each byte", err);
	for (size_t i = 0; i < token->text.size / 2; i++) {
		int high = hex_digit(bytes[2 * i]), low = hex_digit(bytes[2 * i + 1]);

		if (high < 0 || low < 0)
			return refuse(at, "X'...' has other than hexadecimal digits", err);
		bytes[i] = (uint8_t)(high * 16 + low);
	}
	token->text.size /= 2;
	return LANCET_OK;
}

static int
read_symbol(struct lexer *lexer, struct token *token, struct lancet_error *err)
{
	static const char *const symbols[] = { "<=", ">=", "<>", "!=", "==", "||", "=", "<", ">",
		"(", ")", ",", ".", "+", "-", "*", "/", "%" };
	const char *first = lexer->text + lexer->at;

	if (strncmp(first, "--", 2) == 0 || strncmp(first, "/*", 2) == 0)
		return refuse(lexer->at, "conditions have no comments", err);
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		size_t size = strlen(symbols[i]);

		if (strncmp(first, symbols[i], size) != 0)
			continue;
		token->kind = TOKEN_SYMBOL;
		token->text = slice_of(first, size);
		lexer->at += size;
		return LANCET_OK;
	}
	if (*first == '"')
		return refuse(lexer->at,
			"double quotes mean a name to some and text to others: write `name` or "
			"'text'",
			err);
	if (*first < ' ' || *first > '~')
		return refuse(lexer->at, "a character that means nothing here", err);
	return lancet_fail(
		err, LANCET_INVALID, "at %zu: \"%c\" is not understood", lexer->at + 1, *first);
}

int
lexer_next(struct lexer *lexer, struct token *ret_token, struct lancet_error *err)
{
	struct token token = { .kind = TOKEN_END };
	const char *first;
	int rc = LANCET_OK;

	skip_spaces(lexer);
	first = lexer->text + lexer->at;
	token.place = (unsigned)lexer->at + 1;
	if (*first == '\0')
		token.text = slice_of(first, 0);
	else if ((*first == 'x' || *first == 'X') && first[1] == '\'')
		rc = read_bytes(lexer, &token, err);
	else if (starts_name(*first))
		read_name(lexer, &token);
	else if (is_digit(*first) || (*first == '.' && is_digit(first[1])))
		rc = read_number(lexer, &token, err);
	else if (*first == '\'' || *first == '`') {
		token.kind = *first == '`' ? TOKEN_QUOTED : TOKEN_TEXT;
		rc = read_quoted(lexer, *first, &token.text, err);
	} else
		rc = read_symbol(lexer, &token, err);
	if (rc == LANCET_OK)
		*ret_token = token;
	return rc;
}

bool
token_is_word(const struct token *token, const char *word)
{
	return token->kind == TOKEN_NAME && token->text.size == strlen(word) &&
	       strncasecmp((const char *)token->text.data, word, token->text.size) == 0;
}

bool
token_is_symbol(const struct token *token, const char *symbol)
{
	return token->kind == TOKEN_SYMBOL && slice_equal(token->text, slice_text(symbol));
}
