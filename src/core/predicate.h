/* Conditions on rows and assignments to columns: a small part of SQL.
 *
 *     price > 10 AND (name IS NULL OR name LIKE 'a%') AND id IN (3, 4)
 *     status = 'done', price = price * 2
 *
 * Text becomes a tree whose names and types are checked against a schema once; evaluation goes over
 * batches of decoded columns, with three-valued logic. lancet(1) describes the language.
 */
#ifndef CORE_PREDICATE_H
#define CORE_PREDICATE_H

#include "file/array.h"

struct predicate;

/* Lineage columns are roots behind those of the schema, in the order of enum scan_lineage: arrays
 * of unsigned 64-bit numbers. */
#define PREDICATE_LINEAGE 4
const char *predicate_lineage_name(size_t which);

/* Reads text alone. INVALID: what is wrong and where (the byte of the text, from 1); LIMIT: too
 * long or nested too deep. */
int predicate_read(const char *text, struct predicate **ret_predicate, struct lancet_error *err);
/* Whether a top-level column of this name may be meant somewhere in it. */
bool predicate_wants(const struct predicate *predicate, struct slice name);
/* Once; `schema` outlives it, and has all columns that it wants. INVALID: a name that the schema
 * lacks, types that can't be compared, a literal that the type can't hold. */
int predicate_bind(
	struct predicate *predicate, const struct field_tree *schema, struct lancet_error *err);
/* Both. */
int predicate_parse(const char *text, const struct field_tree *schema,
	struct predicate **ret_predicate, struct lancet_error *err);
void predicate_free(struct predicate *predicate);
/* Whether it looks at root number `root`. */
bool predicate_uses(const struct predicate *predicate, size_t root);
/* columns[root]: the rows' values, for the roots it uses; others may be NULL. Bit i of `matches` is
 * set where the condition is true for row i (false and unknown are both 0). INVALID: a value that
 * can't be computed (overflow, division by zero), with what it would be computed from. */
int predicate_match(const struct predicate *predicate, const struct array *const *columns,
	uint64_t rows, uint8_t *matches, struct lancet_error *err);

struct assignments;

/* "column = expression, …". INVALID also: a column twice, one that can't be assigned. */
int assignments_parse(const char *text, const struct field_tree *schema,
	struct assignments **ret_assignments, struct lancet_error *err);
void assignments_free(struct assignments *assignments);
size_t assignments_count(const struct assignments *assignments);
/* The root that assignment `index` sets. */
size_t assignments_root(const struct assignments *assignments, size_t index);
bool assignments_use(const struct assignments *assignments, size_t root);
/* Appends the new values for all rows to out, an array of that root. INVALID: null for a column
 * without nulls, a value out of range; LIMIT: the budget of out. */
int assignments_apply(const struct assignments *assignments, size_t index,
	const struct array *const *columns, uint64_t rows, struct array *out,
	struct lancet_error *err);

#endif
