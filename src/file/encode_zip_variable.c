/* Values of variable size in full-zip pages: each as it is. Format facts: Variable as values. */
#include "encode_zip.h"

#include <stdlib.h>

#include "util/macros.h"

struct variable_state {
	struct zip_state base;
	struct encode_column column;
};

static int
variable_value(void *state, uint64_t index, struct buf *into, struct lancet_error *err)
{
	const struct variable_state *variable = state;

	buf_put_slice(into, encode_column_bytes(&variable->column, index));
	return buf_check(into, "values of a page", err);
}

static void
variable_release(void *state)
{
	struct variable_state *variable = state;

	encode_column_release(&variable->column);
	free(variable);
}

int
zip_variable_make(
	const struct encode_values *values, struct zip_plan *plan, struct lancet_error *err)
{
	static const struct zip_encoder encoder = { variable_value, variable_release };
	struct variable_state *variable = calloc(1, sizeof(*variable));

	if (variable == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encoding of a page");
	variable->base.encoder = &encoder;
	plan->state = variable;
	plan->variable = true;
	plan->bits = values->array->field->large ? 64 : 32;
	TRY(encode_column_open(values, &variable->column, err));
	encode_column_message(&variable->column, &plan->message);
	return LANCET_OK;
}
