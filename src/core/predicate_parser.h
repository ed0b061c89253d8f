/* Inside of the parser of conditions. */
#ifndef CORE_PREDICATE_PARSER_H
#define CORE_PREDICATE_PARSER_H

#include "predicate_parts.h"

enum token_kind {
	TOKEN_END,
	TOKEN_NAME,   /* a word: a keyword or a column */
	TOKEN_QUOTED, /* `a name` */
	TOKEN_NUMBER,
	TOKEN_TEXT,
	TOKEN_BYTES,
	TOKEN_SYMBOL,
};

struct token {
	enum token_kind kind;
	unsigned place;
	struct slice text; /* decoded, in the arena where that changes it */
};

struct lexer {
	const char *text;
	size_t at;
	struct arena *arena;
};

/* predicate_lex.c: the next token. */
int lexer_next(struct lexer *lexer, struct token *ret_token, struct lancet_error *err);
bool token_is_word(const struct token *token, const char *word);
bool token_is_symbol(const struct token *token, const char *symbol);

enum strength {
	STRENGTH_NONE,
	STRENGTH_OR,
	STRENGTH_AND,
	STRENGTH_NOT,
	STRENGTH_IS,
	STRENGTH_LIKE,
	STRENGTH_COMPARE,
	STRENGTH_ADD,
	STRENGTH_MULTIPLY,
};

struct parser {
	struct lexer lexer;
	struct token token; /* the next one */
	struct predicate *predicate;
	unsigned depth;
	struct lancet_error *err;
};

/* predicate_term.c */
int parser_expected(const struct parser *parser, const char *what);
int parser_step(struct parser *parser);
/* This one must come next; it is stepped over. */
int parser_symbol(struct parser *parser, const char *symbol);
int parser_make(struct parser *parser, enum expression_kind kind, unsigned place,
	struct expression *left, struct expression *right, struct expression **ret_made);
/* name.name.`a name` */
int parser_column(struct parser *parser, struct expression **ret_made);
/* What operators stand between: literals, columns, and what has an operator before it. */
int parser_term(struct parser *parser, struct expression **ret_made);

/* predicate_parse.c: operators that are stronger than `strength`, and what they join. */
int parser_above(struct parser *parser, enum strength strength, struct expression **ret_made);

#endif
