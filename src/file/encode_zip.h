/* Inside of encode: single values of full-zip pages. */
#ifndef FILE_ENCODE_ZIP_H
#define FILE_ENCODE_ZIP_H

#include "encode_column.h"

/* One value as a byte string, appended. `state` is the encoder's. */
struct zip_encoder {
	int (*value)(void *state, uint64_t index, struct buf *into, struct lancet_error *err);
	void (*release)(void *state);
};

/* What every state begins with. */
struct zip_state {
	const struct zip_encoder *encoder;
};

/* Each fills the plan, state included. */
int zip_fixed_make(
	const struct encode_values *values, struct zip_plan *plan, struct lancet_error *err);
int zip_variable_make(
	const struct encode_values *values, struct zip_plan *plan, struct lancet_error *err);
int zip_packed_make(
	const struct encode_values *values, struct zip_plan *plan, struct lancet_error *err);

/* A slot of a fixed size with the validity of its items. */
void zip_put_fixed(const struct encode_column *column, uint64_t index, struct buf *into);
uint64_t zip_fixed_size(const struct encode_column *column); /* bytes */

#endif
