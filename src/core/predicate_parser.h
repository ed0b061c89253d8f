/* Inside of the parser of conditions. */
#ifndef CORE_PREDICATE_PARSER_H
#define CORE_PREDICATE_PARSER_H

#include "predicate_parts.h"

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
int parser_make(struct parser *parser, enum expression_kind kind, unsigned place,
	struct expression *left, struct expression *right, struct expression **ret_made);
/* name.name.`a name` */
int parser_column(struct parser *parser, struct expression **ret_made);
/* What operators stand between: literals, columns, and what has an operator before it. */
int parser_term(struct parser *parser, struct expression **ret_made);

/* predicate_parse.c: operators that are stronger than `strength`, and what they join. */
int parser_above(struct parser *parser, enum strength strength, struct expression **ret_made);

#endif
