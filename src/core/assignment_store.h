/* Computed values into columns: exactly, or refused; floating-point numbers and decimals are
 * rounded to what the column has.
 */
#ifndef CORE_ASSIGNMENT_STORE_H
#define CORE_ASSIGNMENT_STORE_H

#include "predicate_rows.h"

/* Appends the block's values to out, a column of the type. */
int store_vector(struct machine *machine, const struct vector *vector,
	const struct value_type *type, struct array *out);
int store_nulls(struct array *out, uint64_t rows, struct lancet_error *err);

#endif
