/* The operations of a transaction by the field numbers of their messages. Format facts:
 * transactions. */
#ifndef CORE_OPERATIONS_H
#define CORE_OPERATIONS_H

#include <stddef.h>
#include <stdint.h>

/* Fields of a Transaction from this number on are operations, known or not. */
#define OPERATION_NUMBER_MIN 100u

struct operation {
	uint32_t number;
	const char *name; /* as the format calls it: "Append" */
};

extern const struct operation operations[];
extern const size_t operation_count;

/* NULL when the number is not known. */
const struct operation *operation_find(uint32_t number);

#endif
