/* The stream: messages in their frames, and which dictionaries have to be written again.
 *
 * A frame is a mark, the size of the metadata, the metadata padded, and the body. A dictionary is
 * written before the first batch and whenever its bytes differ from those written last, as a
 * replacement. What was written last is kept for the comparison while it is small.
 */
#include <lancet/ipc.h>

#include "arrow_ipc.h"
#include "util/macros.h"

#define KEPT_SIZE_MAX (4u << 20) /* bytes of a dictionary that is compared rather than repeated */

static const uint8_t continuation[4] = { 0xff, 0xff, 0xff, 0xff };

struct lancet_ipc {
	const struct ArrowSchema *schema;
	struct lancet_output out;
	uint32_t dictionary_count;
	struct buf *dictionaries; /* frames as written last; empty: none, or too large to keep */
	struct buf message;       /* of the frame in hand; kept for its capacity */
};

/* Appends mark, size and metadata. */
static void
put_frame(struct buf *frame, const struct buf *message)
{
	uint64_t padding = (0 - (message->size + 8)) % IPC_ALIGNMENT;
	uint32_t size = (uint32_t)(message->size + padding);

	buf_put(frame, continuation, sizeof(continuation));
	buf_put(frame, &size, sizeof(size));
	buf_put_slice(frame, buf_slice(message));
	buf_fill(frame, 0, padding);
}

static int
put_out(void *context, const void *data, size_t size)
{
	const struct lancet_ipc *writer = context;

	return writer->out.write(writer->out.context, data, size);
}

static int
put_into(void *context, const void *data, size_t size)
{
	buf_put(context, data, size);
	return LANCET_OK;
}

/* The metadata that is in writer->message, in its frame. */
static int
write_message(struct lancet_ipc *writer, struct lancet_error *err)
{
	struct buf frame = { 0 };
	int rc;

	put_frame(&frame, &writer->message);
	rc = buf_check(&frame, "message", err);
	if (rc == LANCET_OK)
		rc = put_out(writer, frame.data, frame.size);
	buf_release(&frame);
	return rc;
}

int
lancet_ipc_open(const struct ArrowSchema *schema, const struct lancet_output *out,
	lancet_ipc **ret_writer, struct lancet_error *err)
{
	struct lancet_ipc *writer = calloc(1, sizeof(*writer));
	int rc;

	if (writer == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "out of memory");
	writer->schema = schema;
	writer->out = *out;
	writer->message.limit = INT32_MAX - IPC_ALIGNMENT;
	rc = ipc_schema_message(schema, &writer->message, &writer->dictionary_count, err);
	if (rc == LANCET_OK && writer->dictionary_count > 0) {
		writer->dictionaries = calloc(writer->dictionary_count, sizeof(struct buf));
		if (writer->dictionaries == NULL)
			rc = lancet_fail(err, LANCET_NO_MEMORY, "out of memory");
	}
	if (rc == LANCET_OK)
		rc = write_message(writer, err);
	if (rc != LANCET_OK) {
		lancet_ipc_free(writer);
		return rc;
	}
	*ret_writer = writer;
	return LANCET_OK;
}

/* The message of what is planned, into writer->message. */
static int
plan_message(struct lancet_ipc *writer, const struct ipc_plan *plan, enum ipc_header header,
	int64_t rows, uint32_t id, struct lancet_error *err)
{
	writer->message.size = 0;
	return ipc_plan_message(plan, header, rows, id, &writer->message, err);
}

/* A dictionary small enough to be kept: made in memory, and written if it is another one. */
static int
write_if_changed(struct lancet_ipc *writer, const struct ipc_plan *plan, struct buf *last,
	struct lancet_error *err)
{
	struct buf frame = { 0 };
	int rc;

	put_frame(&frame, &writer->message);
	(void)ipc_plan_write(plan, put_into, &frame);
	rc = buf_check(&frame, "dictionary", err);
	if (rc == LANCET_OK && slice_equal(buf_slice(&frame), buf_slice(last))) {
		buf_release(&frame);
		return LANCET_OK;
	}
	if (rc == LANCET_OK)
		rc = put_out(writer, frame.data, frame.size);
	buf_release(last);
	*last = frame;
	return rc;
}

static int
write_dictionary(struct lancet_ipc *writer, const struct ArrowSchema *schema,
	const struct ArrowArray *values, uint32_t id, struct lancet_error *err)
{
	struct ipc_plan plan = { 0 };
	int rc = ipc_plan_add(&plan, schema, values, 0, values->length, err);

	if (rc == LANCET_OK)
		rc = plan_message(writer, &plan, IPC_DICTIONARY, values->length, id, err);
	if (rc == LANCET_OK && plan.body_size <= KEPT_SIZE_MAX) {
		rc = write_if_changed(writer, &plan, &writer->dictionaries[id], err);
	} else if (rc == LANCET_OK) {
		buf_release(&writer->dictionaries[id]);
		rc = write_message(writer, err);
		if (rc == LANCET_OK)
			rc = ipc_plan_write(&plan, put_out, writer);
	}
	ipc_plan_release(&plan);
	return rc;
}

/* The dictionaries of a field and of all below it, inner ones first, numbered as in the schema. */
static int
write_dictionaries(struct lancet_ipc *writer, const struct ArrowSchema *schema,
	const struct ArrowArray *array, uint32_t *next_id, struct lancet_error *err)
{
	uint32_t id = *next_id;

	if (schema->dictionary != NULL) {
		(*next_id)++;
		if (array->dictionary == NULL)
			return lancet_fail(err, LANCET_INVALID, "column %s: no dictionary",
				schema->name != NULL ? schema->name : "");
		TRY(write_dictionaries(
			writer, schema->dictionary, array->dictionary, next_id, err));
		return write_dictionary(writer, schema->dictionary, array->dictionary, id, err);
	}
	if (array->n_children != schema->n_children)
		return lancet_fail(err, LANCET_INVALID, "column %s: not an array of its type",
			schema->name != NULL ? schema->name : "");
	for (int64_t i = 0; i < schema->n_children; i++)
		TRY(write_dictionaries(
			writer, schema->children[i], array->children[i], next_id, err));
	return LANCET_OK;
}

/* The columns, without a node for the struct that they are children of. */
static int
plan_columns(struct ipc_plan *plan, const struct ArrowSchema *schema,
	const struct ArrowArray *batch, struct lancet_error *err)
{
	for (int64_t i = 0; i < schema->n_children; i++)
		TRY(ipc_plan_add(plan, schema->children[i], batch->children[i], batch->offset,
			batch->length, err));
	return LANCET_OK;
}

int
lancet_ipc_write(lancet_ipc *writer, const struct ArrowArray *batch, struct lancet_error *err)
{
	struct ipc_plan plan = { 0 };
	uint32_t id = 0;
	int rc;

	if (batch->null_count > 0)
		return lancet_fail(err, LANCET_INVALID, "a batch with rows that are null");
	TRY(write_dictionaries(writer, writer->schema, batch, &id, err));
	rc = plan_columns(&plan, writer->schema, batch, err);
	if (rc == LANCET_OK)
		rc = plan_message(writer, &plan, IPC_BATCH, batch->length, 0, err);
	if (rc == LANCET_OK)
		rc = write_message(writer, err);
	if (rc == LANCET_OK)
		rc = ipc_plan_write(&plan, put_out, writer);
	ipc_plan_release(&plan);
	return rc;
}

int
lancet_ipc_finish(lancet_ipc *writer, struct lancet_error *err)
{
	static const uint8_t end[8] = { 0xff, 0xff, 0xff, 0xff };

	(void)err;
	return put_out(writer, end, sizeof(end));
}

void
lancet_ipc_free(lancet_ipc *writer)
{
	if (writer == NULL)
		return;
	for (uint32_t i = 0; i < writer->dictionary_count && writer->dictionaries != NULL; i++)
		buf_release(&writer->dictionaries[i]);
	free(writer->dictionaries);
	buf_release(&writer->message);
	free(writer);
}
