/* Conditions and assignments as trees, by the strength of operators: from the weakest on OR, AND,
 * NOT, IS, LIKE, comparisons, + and -, then * / % and ||.
 */
#include "predicate_parser.h"

#include <stdlib.h>

#include "util/macros.h"

static int
take_word(struct parser *parser, const char *word, bool *ret_taken)
{
	*ret_taken = token_is_word(&parser->token, word);
	return *ret_taken ? parser_step(parser) : LANCET_OK;
}

static int
need_word(struct parser *parser, const char *word)
{
	return token_is_word(&parser->token, word) ? parser_step(parser)
						   : parser_expected(parser, word);
}

static void
add_item(struct expression *list, struct expression *item)
{
	if (list->items == NULL)
		list->items = item;
	else
		list->last_item->next_item = item;
	list->last_item = item;
	if (item->depth + 1 > list->depth)
		list->depth = item->depth + 1;
}

/* IS [NOT] NULL | TRUE | FALSE */
static int
parse_is(struct parser *parser, unsigned place, struct expression **left)
{
	struct expression *operand = *left;
	bool negated, null, yes, no = false;

	TRY(take_word(parser, "not", &negated));
	TRY(take_word(parser, "null", &null));
	yes = false;
	if (!null)
		TRY(take_word(parser, "true", &yes));
	if (!null && !yes)
		TRY(take_word(parser, "false", &no));
	if (!null && !yes && !no)
		return parser_expected(parser, "NULL, TRUE or FALSE");
	TRY(parser_make(parser, null ? EXPRESSION_IS_NULL : EXPRESSION_IS_TRUTH, place, operand,
		NULL, left));
	(*left)->negated = negated;
	(*left)->truth = yes;
	return LANCET_OK;
}

static int
parse_like(struct parser *parser, unsigned place, bool negated, struct expression **left)
{
	struct expression *operand = *left;
	bool has_escape;

	TRY(parser_make(parser, EXPRESSION_LIKE, place, operand, NULL, left));
	if (parser->token.kind != TOKEN_TEXT)
		return parser_expected(parser, "a pattern in 'quotes'");
	(*left)->negated = negated;
	(*left)->text = parser->token.text;
	(*left)->escape = '\\';
	TRY(parser_step(parser));
	TRY(take_word(parser, "escape", &has_escape));
	if (!has_escape)
		return LANCET_OK;
	if (parser->token.kind != TOKEN_TEXT || parser->token.text.size != 1 ||
		parser->token.text.data[0] >= 0x80)
		return parser_expected(parser, "one ASCII character in 'quotes'");
	(*left)->escape = parser->token.text.data[0];
	return parser_step(parser);
}

/* value >= low AND value <= high */
static int
parse_between(struct parser *parser, unsigned place, bool negated, struct expression **left)
{
	struct expression *value = *left, *low, *high, *both;

	TRY(parser_above(parser, STRENGTH_COMPARE, &low));
	TRY(need_word(parser, "and"));
	TRY(parser_above(parser, STRENGTH_COMPARE, &high));
	TRY(parser_make(parser, EXPRESSION_COMPARE, place, value, low, &low));
	low->compare = COMPARE_GE;
	TRY(parser_make(parser, EXPRESSION_COMPARE, place, value, high, &high));
	high->compare = COMPARE_LE;
	TRY(parser_make(parser, EXPRESSION_AND, place, NULL, NULL, &both));
	add_item(both, low);
	add_item(both, high);
	*left = both;
	return negated ? parser_make(parser, EXPRESSION_NOT, place, both, NULL, left) : LANCET_OK;
}

static int
parse_in(struct parser *parser, unsigned place, bool negated, struct expression **left)
{
	struct expression *operand = *left, *item;

	TRY(parser_make(parser, EXPRESSION_IN, place, operand, NULL, left));
	(*left)->negated = negated;
	TRY(parser_symbol(parser, "("));
	for (;;) {
		TRY(parser_above(parser, STRENGTH_NONE, &item));
		add_item(*left, item);
		if (!token_is_symbol(&parser->token, ","))
			break;
		TRY(parser_step(parser));
	}
	return parser_symbol(parser, ")");
}

/* [NOT] IN, BETWEEN, LIKE */
static int
parse_set(struct parser *parser, unsigned place, struct expression **left)
{
	bool negated, is_in, is_between = false;

	TRY(take_word(parser, "not", &negated));
	TRY(take_word(parser, "in", &is_in));
	if (is_in)
		return parse_in(parser, place, negated, left);
	TRY(take_word(parser, "between", &is_between));
	if (is_between)
		return parse_between(parser, place, negated, left);
	TRY(need_word(parser, "like"));
	return parse_like(parser, place, negated, left);
}

/* AND and OR of many are one node. */
static int
parse_logic(
	struct parser *parser, unsigned place, enum expression_kind kind, struct expression **left)
{
	struct expression *first = *left, *right;

	TRY(parser_above(parser, kind == EXPRESSION_AND ? STRENGTH_AND : STRENGTH_OR, &right));
	if (first->kind != kind) {
		TRY(parser_make(parser, kind, place, NULL, NULL, left));
		add_item(*left, first);
	}
	add_item(*left, right);
	return LANCET_OK;
}

static const struct {
	const char *symbol;
	enum strength strength;
	enum expression_kind kind;
	enum compare_operator compare;
} operators[] = {
	{ "=", STRENGTH_COMPARE, EXPRESSION_COMPARE, COMPARE_EQ },
	{ "==", STRENGTH_COMPARE, EXPRESSION_COMPARE, COMPARE_EQ },
	{ "<>", STRENGTH_COMPARE, EXPRESSION_COMPARE, COMPARE_NE },
	{ "!=", STRENGTH_COMPARE, EXPRESSION_COMPARE, COMPARE_NE },
	{ "<", STRENGTH_COMPARE, EXPRESSION_COMPARE, COMPARE_LT },
	{ "<=", STRENGTH_COMPARE, EXPRESSION_COMPARE, COMPARE_LE },
	{ ">", STRENGTH_COMPARE, EXPRESSION_COMPARE, COMPARE_GT },
	{ ">=", STRENGTH_COMPARE, EXPRESSION_COMPARE, COMPARE_GE },
	{ "+", STRENGTH_ADD, EXPRESSION_COMPUTE, COMPARE_EQ },
	{ "-", STRENGTH_ADD, EXPRESSION_COMPUTE, COMPARE_EQ },
	{ "*", STRENGTH_MULTIPLY, EXPRESSION_COMPUTE, COMPARE_EQ },
	{ "/", STRENGTH_MULTIPLY, EXPRESSION_COMPUTE, COMPARE_EQ },
	{ "%", STRENGTH_MULTIPLY, EXPRESSION_COMPUTE, COMPARE_EQ },
	{ "||", STRENGTH_MULTIPLY, EXPRESSION_JOIN, COMPARE_EQ },
};

static size_t
find_operator(const struct token *token)
{
	size_t found = 0;

	while (found < ARRAY_SIZE(operators) && !token_is_symbol(token, operators[found].symbol))
		found++;
	return found;
}

static int
parse_operator(struct parser *parser, size_t which, struct expression **left)
{
	struct expression *first = *left, *second;
	char symbol = operators[which].symbol[0];
	unsigned place = parser->token.place;

	TRY(parser_step(parser));
	TRY(parser_above(parser, operators[which].strength, &second));
	TRY(parser_make(parser, operators[which].kind, place, first, second, left));
	(*left)->compare = operators[which].compare;
	(*left)->compute = symbol;
	return LANCET_OK;
}

/* How strong the operator is that comes next; NONE: there is none. */
static int
next_strength(struct parser *parser, enum strength *ret_strength)
{
	const struct token *token = &parser->token;
	size_t which = find_operator(token);
	struct lexer ahead = parser->lexer;
	struct token next = *token;

	if (token_is_word(token, "not"))
		TRY(lexer_next(&ahead, &next, parser->err));
	if (which < ARRAY_SIZE(operators))
		*ret_strength = operators[which].strength;
	else if (token_is_word(token, "and"))
		*ret_strength = STRENGTH_AND;
	else if (token_is_word(token, "or"))
		*ret_strength = STRENGTH_OR;
	else if (token_is_word(token, "is"))
		*ret_strength = STRENGTH_IS;
	else if (token_is_word(&next, "like"))
		*ret_strength = STRENGTH_LIKE;
	else if (token_is_word(&next, "in") || token_is_word(&next, "between"))
		*ret_strength = STRENGTH_COMPARE;
	else
		*ret_strength = STRENGTH_NONE;
	return LANCET_OK;
}

static int
parse_next(struct parser *parser, enum strength next, struct expression **left)
{
	size_t which = find_operator(&parser->token);
	unsigned place = parser->token.place;

	if (which < ARRAY_SIZE(operators))
		return parse_operator(parser, which, left);
	switch (next) {
	case STRENGTH_AND:
		TRY(parser_step(parser));
		return parse_logic(parser, place, EXPRESSION_AND, left);
	case STRENGTH_OR:
		TRY(parser_step(parser));
		return parse_logic(parser, place, EXPRESSION_OR, left);
	case STRENGTH_IS:
		TRY(parser_step(parser));
		return parse_is(parser, place, left);
	default:
		return parse_set(parser, place, left);
	}
}

int
parser_above(struct parser *parser, enum strength strength, struct expression **ret_made)
{
	enum strength next = STRENGTH_NONE;
	struct expression *left;

	if (++parser->depth > PREDICATE_DEPTH_MAX)
		return lancet_fail(parser->err, LANCET_LIMIT, "at %u: nested deeper than %u levels",
			parser->token.place, PREDICATE_DEPTH_MAX);
	TRY(parser_term(parser, &left));
	TRY(next_strength(parser, &next));
	while (next > strength) {
		TRY(parse_next(parser, next, &left));
		TRY(next_strength(parser, &next));
	}
	parser->depth--;
	*ret_made = left;
	return LANCET_OK;
}

/* The tree refers to a copy of the text. */
static int
start(struct parser *parser, const char *text)
{
	struct arena *arena = &parser->predicate->arena;
	size_t size = strnlen(text, PREDICATE_TEXT_MAX + 1);
	const char *copy;

	if (size > PREDICATE_TEXT_MAX)
		return lancet_fail(
			parser->err, LANCET_LIMIT, "longer than %zu bytes", PREDICATE_TEXT_MAX);
	arena->limit = PREDICATE_MEMORY_MAX;
	copy = arena_copy(arena, text, size + 1);
	if (copy == NULL)
		return predicate_out_of_memory(parser->err);
	parser->lexer = (struct lexer){ .text = copy, .arena = arena };
	return parser_step(parser);
}

static int
need_end(const struct parser *parser)
{
	if (parser->token.kind != TOKEN_END)
		return parser_expected(parser, "an operator or the end");
	return LANCET_OK;
}

int
condition_read(struct predicate *predicate, const char *text, struct lancet_error *err)
{
	struct parser parser = { .predicate = predicate, .err = err };

	TRY(start(&parser, text));
	TRY(parser_above(&parser, STRENGTH_NONE, &predicate->top));
	return need_end(&parser);
}

static int
grow(struct assignments *assignments, struct lancet_error *err)
{
	struct assignment *list;

	if (assignments->count % 16 != 0)
		return LANCET_OK;
	list = reallocarray(assignments->list, assignments->count + 16, sizeof(*list));
	if (list == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "assignments");
	assignments->list = list;
	return LANCET_OK;
}

int
assignments_read(struct assignments *assignments, const char *text, struct lancet_error *err)
{
	struct parser parser = { .predicate = &assignments->base, .err = err };

	TRY(start(&parser, text));
	for (;;) {
		struct assignment *one;

		TRY(grow(assignments, err));
		one = &assignments->list[assignments->count];
		TRY(parser_column(&parser, &one->target));
		/* what is set is not read by it */
		assignments->base.columns = one->target->next_column;
		TRY(parser_symbol(&parser, "="));
		TRY(parser_above(&parser, STRENGTH_NONE, &one->value));
		assignments->count++;
		if (!token_is_symbol(&parser.token, ","))
			break;
		TRY(parser_step(&parser));
	}
	return need_end(&parser);
}
