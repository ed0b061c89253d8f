/* transaction.json of SPEC section 4: the envelope by hand, the operation by its descriptor. */
#include "transaction.h"

#include "lance/transaction.pb-c.h"
#include "operations.h"
#include "pbjson.h"
#include "util/macros.h"

static struct slice
slice_of_data(ProtobufCBinaryData data)
{
	return slice_of(data.data, data.len);
}

static bool
is_operation(uint32_t number)
{
	return number >= OPERATION_NUMBER_MIN;
}

static bool
is_no_operation(uint32_t number)
{
	return number < OPERATION_NUMBER_MIN;
}

/* Releases don't agree on what a precondition's bytes mean, so nothing is made of them. */
static int
put_preconditions(struct jsondoc *doc, const Lance__Table__Transaction *message,
                  struct lancet_error *err)
{
	jsonw_array(&doc->w, "preconditions");
	for (size_t i = 0; i < message->n_preconditions; i++) {
		jsonw_object(&doc->w, NULL);
		jsonw_base64(&doc->w, "base64", slice_of_data(message->preconditions[i]));
		jsonw_bool(&doc->w, "evaluated", false);
		jsonw_end(&doc->w);
		TRY(jsondoc_flush(doc, err));
	}
	jsonw_end(&doc->w);
	return LANCET_OK;
}

static int
put_body(struct jsondoc *doc, const Lance__Table__Transaction *message, struct lancet_error *err)
{
	const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(
		message->base.descriptor, (unsigned)message->operation_case);
	const void *member = NULL;

	if (field != NULL)
		member = *(const void *const *)((const uint8_t *)message + field->offset);
	if (member != NULL)
		return pbjson_message(doc, "body", member, err);
	jsonw_object(&doc->w, "body");
	TRY(pbjson_unknown(doc, &message->base, is_operation, err));
	jsonw_end(&doc->w);
	return LANCET_OK;
}

static int
put_transaction(struct jsondoc *doc, const lancet_transaction *transaction,
                struct lancet_error *err)
{
	const Lance__Table__Transaction *message = transaction->message;
	struct jsonw *w = &doc->w;
	bool known = message->operation_case != LANCE__TABLE__TRANSACTION__OPERATION__NOT_SET;

	jsonw_slice(w, "uuid", slice_of_data(message->uuid));
	jsonw_u64_text(w, "read_version", message->read_version);
	jsonw_text(w, "operation", transaction->operation);
	jsonw_slice(w, "tag", slice_of_data(message->tag));
	TRY(pbjson_map(doc, "properties", message->transaction_properties,
	               message->n_transaction_properties, err));
	TRY(put_preconditions(doc, message, err));
	TRY(put_body(doc, message, err));
	return pbjson_unknown(doc, &message->base, known ? NULL : is_no_operation, err);
}

int
lancet_transaction_json(const lancet_transaction *transaction, const struct lancet_output *out,
                        struct lancet_error *err)
{
	struct jsondoc doc;

	jsondoc_begin(&doc, out);
	return jsondoc_end(&doc, put_transaction(&doc, transaction, err), err);
}
