/* Inside of conditions: the tree, with its types and values.
 *
 * Text is read into a tree of expressions without knowing any column (predicate_parse.c); then
 * names and types are settled and literals become constants of the type they are compared with
 * (predicate_bind.c). predicate_eval.c goes over the rows in blocks.
 */
#ifndef CORE_PREDICATE_TREE_H
#define CORE_PREDICATE_TREE_H

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

#endif
