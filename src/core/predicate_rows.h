/* Inside of conditions: rows in blocks, and what is computed for one block.
 *
 * Whole numbers, times and truth values are int64_t, floating-point numbers double, decimals struct
 * wide, text and binary struct slice. Values that are null have slots, of whatever value. A block
 * always has room for BLOCK_ROWS of them, so that loops need not look at the end.
 */
#ifndef CORE_PREDICATE_ROWS_H
#define CORE_PREDICATE_ROWS_H

#include "predicate_parts.h"

#define BLOCK_ROWS  1024u
#define BLOCK_WORDS (BLOCK_ROWS / 64)

/* Rows that are neither are unknown. */
struct truth {
	uint64_t yes[BLOCK_WORDS], no[BLOCK_WORDS];
};

struct vector {
	struct value_type type;
	union {
		const void *any;
		const int64_t *numbers;
		const double *reals;
		const struct wide *wides;
		const struct slice *bytes;
	} values;
	uint64_t valid[BLOCK_WORDS];
};

static inline bool
row_in(const uint64_t words[BLOCK_WORDS], unsigned row)
{
	return words[row / 64] >> row % 64 & 1;
}

/* What goes over the rows. Registers are room for the values of one block. */
struct machine {
	const struct array *const *columns;
	uint64_t first;            /* row of the block */
	unsigned count;            /* rows of the block */
	uint64_t all[BLOCK_WORDS]; /* bits of the rows */
	uint64_t *active;          /* rows of which something is asked: only their failures count */
	void **registers;
	size_t register_count;
	struct arena joined; /* text that was made for this block */
	struct lancet_error *err;
};

/* NULL: no memory, err is filled. Values of registers stay until they are asked for again: who
 * computes something in register `index` has those from index + 1 on for what it needs. */
void *machine_register(struct machine *machine, size_t index);
void machine_release(struct machine *machine);
/* Goes to the next block of so many rows, all of them active; false: there is none. */
bool machine_next(struct machine *machine, uint64_t rows);

/* predicate_eval.c */
int eval_truth(struct machine *machine, const struct expression *expression, size_t index,
	struct truth *ret_truth);
int eval_value(struct machine *machine, const struct expression *expression, size_t index,
	struct vector *ret_vector);

/* predicate_load.c */
int load_column(struct machine *machine, const struct expression *column, size_t index,
	struct vector *ret_vector);
int load_constant(struct machine *machine, const struct expression *constant, size_t index,
	struct vector *ret_vector);

/* predicate_compare.c; registers from index on are used. */
int compare_vectors(struct machine *machine, enum compare_operator compare,
	const struct vector *left, const struct vector *right, size_t index,
	struct truth *ret_truth);
/* Numbers that are in the order of the values, for types that have them. */
bool type_has_keys(const struct value_type *type);
int64_t value_key(const struct value_type *type, const struct value *value);
const int64_t *vector_keys(struct machine *machine, const struct vector *vector, size_t index);
/* Exactly; numbers but floating-point ones. */
struct wide vector_wide(const struct vector *vector, unsigned row);
double vector_real(const struct vector *vector, unsigned row);

/* predicate_compute.c */
int compute_vectors(struct machine *machine, const struct expression *expression,
	const struct vector *left, const struct vector *right, size_t index,
	struct vector *ret_vector);
int negate_vector(struct machine *machine, const struct expression *expression,
	const struct vector *operand, size_t index, struct vector *ret_vector);

/* predicate_like.c: whether text fits a pattern of LIKE. */
bool like_matches(struct slice pattern, uint8_t escape, struct slice text);

/* predicate_in.c: rows whose value is among the sorted constants. */
int in_lookup(struct machine *machine, const struct expression *in, const struct vector *vector,
	size_t index, uint64_t found[BLOCK_WORDS]);

#endif
