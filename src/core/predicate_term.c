/* Conditions: what operators stand between. */
#include "predicate_parser.h"

#include "util/macros.h"

#define EXPECTED "a value, a column or a condition"

int
parser_expected(const struct parser *parser, const char *what)
{
	struct slice text = parser->token.text;

	if (parser->token.kind == TOKEN_END)
		return lancet_fail(parser->err, LANCET_INVALID, "at %u: %s is missing",
			parser->token.place, what);
	if (text.size == 0 || parser->token.kind == TOKEN_BYTES)
		return lancet_fail(parser->err, LANCET_INVALID, "at %u: expected %s",
			parser->token.place, what);
	return lancet_fail(parser->err, LANCET_INVALID, "at %u: expected %s, not \"%.*s\"",
		parser->token.place, what, FIELD_TEXT(text));
}

int
parser_step(struct parser *parser)
{
	return lexer_next(&parser->lexer, &parser->token, parser->err);
}

int
parser_symbol(struct parser *parser, const char *symbol)
{
	return token_is_symbol(&parser->token, symbol) ? parser_step(parser)
						       : parser_expected(parser, symbol);
}

int
parser_make(struct parser *parser, enum expression_kind kind, unsigned place,
	struct expression *left, struct expression *right, struct expression **ret_made)
{
	struct expression *made = arena_zalloc(&parser->predicate->arena, 1, sizeof(*made));

	if (made == NULL)
		return predicate_out_of_memory(parser->err);
	made->kind = kind;
	made->place = place;
	made->left = left;
	made->right = right;
	if (left != NULL)
		made->depth = left->depth + 1;
	if (right != NULL && right->depth + 1 > made->depth)
		made->depth = right->depth + 1;
	if (made->depth > PREDICATE_DEPTH_MAX)
		return lancet_fail(parser->err, LANCET_LIMIT, "at %u: nested deeper than %u levels",
			place, PREDICATE_DEPTH_MAX);
	*ret_made = made;
	return LANCET_OK;
}

static int
make_literal(struct parser *parser, enum literal_kind kind, struct slice text,
	struct expression **ret_made)
{
	TRY(parser_make(parser, EXPRESSION_LITERAL, parser->token.place, NULL, NULL, ret_made));
	(*ret_made)->literal = kind;
	(*ret_made)->text = text;
	return parser_step(parser);
}

/* name.name.`a name` */
int
parser_column(struct parser *parser, struct expression **ret_made)
{
	struct expression *column;

	TRY(parser_make(parser, EXPRESSION_COLUMN, parser->token.place, NULL, NULL, &column));
	column->path =
		arena_zalloc(&parser->predicate->arena, PREDICATE_PATH_MAX, sizeof(*column->path));
	if (column->path == NULL)
		return predicate_out_of_memory(parser->err);
	for (;;) {
		if (parser->token.kind != TOKEN_NAME && parser->token.kind != TOKEN_QUOTED)
			return parser_expected(parser, "a name");
		if (column->path_size == PREDICATE_PATH_MAX)
			return lancet_fail(parser->err, LANCET_LIMIT,
				"at %u: a path of more than %u names", column->place,
				PREDICATE_PATH_MAX);
		column->path[column->path_size++] = parser->token.text;
		TRY(parser_step(parser));
		if (!token_is_symbol(&parser->token, "."))
			break;
		TRY(parser_step(parser));
	}
	if (token_is_symbol(&parser->token, "("))
		return lancet_fail(parser->err, LANCET_INVALID,
			"at %u: conditions have no functions, or an operator is missing before (",
			column->place);
	column->next_column = parser->predicate->columns;
	parser->predicate->columns = column;
	*ret_made = column;
	return LANCET_OK;
}

/* Words that can't be names of columns unless they are quoted. */
static bool
is_reserved(const struct token *token)
{
	static const char *const words[] = { "and", "or", "not", "in", "is", "like", "between",
		"escape", "case", "cast", "interval", "exists", "ilike", "select" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (token_is_word(token, words[i]))
			return true;
	}
	return false;
}

static int
parse_name(struct parser *parser, struct expression **ret_made)
{
	static const struct {
		const char *word;
		enum literal_kind kind;
	} typed[] = { { "date", LITERAL_DATE }, { "time", LITERAL_TIME },
		{ "timestamp", LITERAL_TIMESTAMP } };
	const struct token *token = &parser->token;
	struct lexer ahead = parser->lexer;
	struct token next;

	if (token_is_word(token, "null"))
		return make_literal(parser, LITERAL_NULL, token->text, ret_made);
	if (token_is_word(token, "true") || token_is_word(token, "false"))
		return make_literal(parser, LITERAL_BOOL, token->text, ret_made);
	if (is_reserved(token))
		return parser_expected(parser, EXPECTED);
	for (size_t i = 0; i < ARRAY_SIZE(typed); i++) {
		if (!token_is_word(token, typed[i].word))
			continue;
		TRY(lexer_next(&ahead, &next, parser->err));
		if (next.kind != TOKEN_TEXT)
			break;
		TRY(parser_step(parser));
		return make_literal(parser, typed[i].kind, parser->token.text, ret_made);
	}
	return parser_column(parser, ret_made);
}

/* A number behind a minus is a number, so that the smallest of all can be written. */
static int
parse_minus(struct parser *parser, struct expression **ret_made)
{
	unsigned place = parser->token.place;
	struct expression *operand;

	TRY(parser_step(parser));
	if (parser->token.kind == TOKEN_NUMBER) {
		TRY(make_literal(parser, LITERAL_NUMBER, parser->token.text, ret_made));
		(*ret_made)->negated = true;
		(*ret_made)->place = place;
		return LANCET_OK;
	}
	TRY(parser_above(parser, STRENGTH_MULTIPLY, &operand));
	return parser_make(parser, EXPRESSION_NEGATE, place, operand, NULL, ret_made);
}

int
parser_term(struct parser *parser, struct expression **ret_made)
{
	const struct token *token = &parser->token;
	unsigned place = token->place;
	struct expression *operand;

	if (token_is_symbol(token, "(")) {
		TRY(parser_step(parser));
		TRY(parser_above(parser, STRENGTH_NONE, ret_made));
		return parser_symbol(parser, ")");
	}
	if (token_is_symbol(token, "-"))
		return parse_minus(parser, ret_made);
	if (token_is_word(token, "not")) {
		TRY(parser_step(parser));
		TRY(parser_above(parser, STRENGTH_NOT, &operand));
		return parser_make(parser, EXPRESSION_NOT, place, operand, NULL, ret_made);
	}
	switch (token->kind) {
	case TOKEN_NUMBER:
		return make_literal(parser, LITERAL_NUMBER, token->text, ret_made);
	case TOKEN_TEXT:
		return make_literal(parser, LITERAL_TEXT, token->text, ret_made);
	case TOKEN_BYTES:
		return make_literal(parser, LITERAL_BYTES, token->text, ret_made);
	case TOKEN_NAME:
		return parse_name(parser, ret_made);
	case TOKEN_QUOTED:
		return parser_column(parser, ret_made);
	default:
		return parser_expected(parser, EXPECTED);
	}
}
