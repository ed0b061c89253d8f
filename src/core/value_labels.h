/* The distinct values of a column, numbered: as they come, and then in their order.
 *
 * Null is a value of its own. All NaN are one, and so are 0.0 and -0.0. Values ascend as numbers,
 * times and decimals do, text and bytes byte by byte, false before true; NaN comes behind all other
 * numbers, and null behind everything. Keys of a dictionary stand for their values.
 */
#ifndef CORE_VALUE_LABELS_H
#define CORE_VALUE_LABELS_H

#include "file/array.h"

#define VALUE_LABELS_MAX 65535u

struct value_labels;

/* `field` outlives it. UNSUPPORTED: nested columns, blobs, and columns of nothing but nulls. */
int value_labels_new(
	const struct field *field, struct value_labels **ret_labels, struct lancet_error *err);
void value_labels_free(struct value_labels *labels); /* NULL is fine */
/* into[i] = the number of value i, by first appearance. LIMIT: more than VALUE_LABELS_MAX distinct
 * values, or more than 64 MiB of them. */
int value_labels_number(struct value_labels *labels, const struct array *values, uint16_t *into,
	struct lancet_error *err);
size_t value_labels_count(const struct value_labels *labels);
/* places[i] = the place of number i when values ascend; room for value_labels_count. */
int value_labels_order(
	const struct value_labels *labels, uint16_t *places, struct lancet_error *err);
/* The value with this number as JSON; long text is cut. Moves values out: the last to be called,
 * once; the texts lie one behind the other, that of number i ends at ends[i]. */
int value_labels_json(
	struct value_labels *labels, struct buf *texts, size_t *ends, struct lancet_error *err);

#endif
