/* Inside of conditions: what their parts need of each other. */
#ifndef CORE_PREDICATE_PARTS_H
#define CORE_PREDICATE_PARTS_H

#include "predicate_tree.h"

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
/* predicate_match.c: what is noted of the schema's roots. */
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
