/* Inside of conditions: tokens, the tree, and what its parts need of each other.
 *
 * Text is read into a tree of expressions without knowing any column (predicate_parse.c); then
 * names and types are settled and literals become constants of the type they are compared with
 * (predicate_bind.c). predicate_eval.c goes over the rows in blocks.
 */
#ifndef CORE_PREDICATE_PARTS_H
#define CORE_PREDICATE_PARTS_H

#include "predicate.h"
#include "util/arena.h"
#include "util/wide.h"

#define PREDICATE_TEXT_MAX   ((size_t)1 << 20)
#define PREDICATE_MEMORY_MAX ((size_t)1 << 30)
#define PREDICATE_DEPTH_MAX  200u
#define PREDICATE_PATH_MAX   16u

enum value_class {
	VALUE_NULL, /* of no known type */
	VALUE_BOOL,
	VALUE_INT,  /* up to 64 bits */
	VALUE_UINT, /* of 64 bits */
	VALUE_FLOAT,
	VALUE_DECIMAL,
	VALUE_TEXT,
	VALUE_BINARY,
	VALUE_INSTANT, /* dates and timestamps: `unit` since 1970-01-01 UTC */
	VALUE_TIME,    /* `unit` since midnight */
	VALUE_DURATION,
	VALUE_OTHER, /* can only be null or not */
};

/* Nanoseconds of a unit; a day is one, too. */
#define UNIT_SECOND INT64_C(1000000000)
#define UNIT_DAY    (86400 * UNIT_SECOND)

struct value_type {
	enum value_class class;
	unsigned bits;      /* FLOAT: 16, 32, 64 */
	int scale;          /* DECIMAL */
	unsigned precision; /* DECIMAL of a column */
	int64_t unit;       /* INSTANT, TIME, DURATION: in nanoseconds */
	const char *zone;   /* INSTANT: as the column says, or "" */
};

/* A constant, or one value of a row. */
struct value {
	int64_t number; /* all of 64 bits; BOOL: 0, 1 */
	double real;
	struct wide wide;
	struct slice bytes;
};

enum literal_kind {
	LITERAL_NULL,
	LITERAL_BOOL,
	LITERAL_NUMBER,
	LITERAL_TEXT,
	LITERAL_BYTES,
	LITERAL_DATE,
	LITERAL_TIME,
	LITERAL_TIMESTAMP,
};

enum expression_kind {
	EXPRESSION_LITERAL, /* before binding only */
	EXPRESSION_CONSTANT,
	EXPRESSION_COLUMN,
	EXPRESSION_NOT,
	EXPRESSION_AND,
	EXPRESSION_OR,
	EXPRESSION_COMPARE,
	EXPRESSION_IS_NULL,
	EXPRESSION_IS_TRUTH, /* `truth` */
	EXPRESSION_IN,
	EXPRESSION_LIKE,
	EXPRESSION_NEGATE,
	EXPRESSION_COMPUTE, /* + - * / % */
	EXPRESSION_JOIN,    /* || */
};

enum compare_operator { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE };

struct expression {
	enum expression_kind kind;
	unsigned place;                  /* in the text, from 1 */
	unsigned depth;                  /* of what is below */
	struct expression *left, *right; /* right of LIKE: none, the pattern is a constant */
	struct value_type type;
	enum compare_operator compare;
	char compute;
	bool negated, truth;
	bool is_null; /* CONSTANT */
	bool is_bound;
	enum literal_kind literal;
	struct slice text;  /* of a literal; the pattern of LIKE */
	uint8_t escape;     /* LIKE; 0: none */
	struct value value; /* CONSTANT */
	/* COLUMN */
	struct slice *path;
	unsigned path_size;
	size_t root;
	const struct field **fields;    /* from the root on */
	struct expression *next_column; /* mentioned before it */
	/* AND, OR, IN: a list, so that long ones are not deep */
	struct expression *items, *last_item, *next_item;
	size_t item_count;
	/* IN: keys or bytes of the constants that can be looked up; the list has the others */
	struct value *sorted;
	size_t sorted_count;
};

/* A condition, or what assignments share. */
struct predicate {
	struct arena arena;
	const struct field_tree *schema; /* once it is bound */
	struct expression *top;          /* of a condition */
	struct expression *columns;      /* every mention of one */
	bool *uses;                      /* by root, lineage behind them */
};

struct assignment {
	struct expression *target, *value;
};

struct assignments {
	struct predicate base;
	struct assignment *list; /* malloc */
	size_t count;
};

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

/* predicate_parse.c: all of the text. */
int condition_read(struct predicate *predicate, const char *text, struct lancet_error *err);
int assignments_read(struct assignments *assignments, const char *text, struct lancet_error *err);

/* predicate_types.c */
struct value_type type_of_field(const struct field *field);
const char *type_name(const struct value_type *type); /* for messages: "a whole number" … */
bool type_is_number(const struct value_type *type);
/* Seconds east of UTC. False: a zone that is known by its name only. */
bool zone_offset(const char *zone, int64_t *ret_seconds);

bool type_zones_agree(const struct value_type *a, const struct value_type *b);

/* predicate_literal.c: *literal becomes a constant of the type that fits best into comparisons or
 * computations with values of `type`, exact but for floating-point numbers; the expression it was
 * is left as it is. INVALID: there is none. */
int literal_as(struct predicate *predicate, struct expression **literal,
	const struct value_type *type, bool exact_numbers, struct lancet_error *err);
/* Without anything to go by. */
int literal_natural(
	struct predicate *predicate, struct expression **literal, struct lancet_error *err);
double round_to_bits(double value, unsigned bits); /* 16, 32, 64 */

/* predicate_bind.c: for a condition, or for what is to become a value of the type. */
int predicate_bind_top(struct predicate *predicate, struct expression **expression,
	const struct value_type *type, struct lancet_error *err);
int predicate_out_of_memory(struct lancet_error *err);
/* predicate.c: what is noted of the schema's roots. */
int predicate_prepare(
	struct predicate *predicate, const struct field_tree *schema, struct lancet_error *err);

/* predicate_columns.c */
int predicate_find_column(
	struct predicate *predicate, struct expression *column, struct lancet_error *err);
/* The same, and the column is one that is read. */
int predicate_bind_column(
	struct predicate *predicate, struct expression *column, struct lancet_error *err);

/* predicate_in.c: takes constants out of the list, sorted. */
int predicate_sort_items(
	struct predicate *predicate, struct expression *in, struct lancet_error *err);

#endif
