/* Rows of an Arrow IPC file or stream; see import.h.
 *
 * Of a file with a footer the dictionaries are read first, as the footer lists them, and then the
 * batches; a stream is read as it comes. A call gives rows of one batch at most, and half as many
 * again when they take more memory than the arrays may.
 */
#include "import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "import_arrow.h"
#include "util/macros.h"

#define MEMORY_MAX (UINT64_C(2) << 30)

struct arrow_source {
	struct row_source base;
	uint64_t memory;
	struct ipc_input input;
	struct import_columns columns;
	struct import_batch batch;
	bool has_batch;
	uint64_t batch_row;   /* rows of the batch that were given */
	uint64_t rows;        /* of all */
	uint32_t next_batch;  /* of a footer's list */
	uint64_t batch_count; /* that were begun */
};

static void
arrow_free(struct row_source *base)
{
	struct arrow_source *source = (struct arrow_source *)base;

	import_batch_release(&source->batch);
	import_columns_release(&source->columns);
	ipc_input_release(&source->input);
	free(source);
}

/* The next batch of a file with a footer. */
static int
take_block(struct arrow_source *source, struct ipc_message *message, bool *ret_ended,
	struct lancet_error *err)
{
	struct ipc_block block;

	*ret_ended = source->next_batch == source->input.batches.count;
	if (*ret_ended)
		return LANCET_OK;
	TRY(ipc_input_block(
		&source->input, &source->input.batches, source->next_batch, &block, err));
	source->next_batch++;
	return ipc_message_at(&source->input, &block, message, err);
}

/* The next batch of a stream; dictionaries before it are loaded. */
static int
take_message(struct arrow_source *source, struct ipc_message *message, bool *ret_ended,
	struct lancet_error *err)
{
	for (;;) {
		TRY(ipc_message_next(&source->input, message, ret_ended, err));
		if (*ret_ended || message->kind != IPC_DICTIONARY)
			return LANCET_OK;
		TRY(import_dictionary_load(&source->columns, message, err));
	}
}

static int
open_batch(
	struct arrow_source *source, uint64_t read_max, bool *ret_ended, struct lancet_error *err)
{
	struct ipc_message message = { 0 };
	int rc;

	import_batch_release(&source->batch);
	source->has_batch = false;
	rc = source->input.has_footer ? take_block(source, &message, ret_ended, err)
				      : take_message(source, &message, ret_ended, err);
	if (rc != LANCET_OK || *ret_ended)
		return rc;
	source->batch_count++;
	if (message.kind != IPC_BATCH) {
		ipc_message_release(&message);
		return lancet_fail(err, LANCET_CORRUPT, "a message that is no batch of rows");
	}
	TRY(import_batch_open(&source->batch, &message, &message.header, source->columns.columns,
		source->columns.count, source->memory, read_max, err));
	source->has_batch = true;
	source->batch_row = 0;
	return LANCET_OK;
}

static int
blame(const struct arrow_source *source, int rc, const struct import_fault *fault,
	struct lancet_error *err)
{
	char path[IMPORT_PATH_MAX];

	if (fault->field == NULL)
		return rc;
	import_path(fault->field, path);
	return lancet_wrap(
		err, rc, "row %" PRIu64 ", column \"%s\"", source->rows + fault->index + 1, path);
}

static int
append_column(struct arrow_source *source, const struct import_column *column, uint64_t count,
	struct array *into, struct lancet_error *err)
{
	struct import_fault fault = { 0 };
	char path[IMPORT_PATH_MAX];
	int rc = import_append(&source->batch, column, source->batch_row, count, into, &fault, err);

	if (rc == LANCET_OK)
		return LANCET_OK;
	if (fault.field != NULL) {
		fault.index -= source->batch_row;
		return blame(source, rc, &fault, err);
	}
	import_path(column->field, path);
	return lancet_wrap(err, rc, "batch %" PRIu64 ", column \"%s\"", source->batch_count, path);
}

/* Of several faults the one in the first column of the file counts. */
static int
append_rows(struct arrow_source *source, struct array *columns, uint64_t count,
	struct lancet_error *err)
{
	const struct field_tree *tree = source->columns.tree;

	for (size_t i = 0; i < source->columns.count; i++) {
		const struct import_column *column = &source->columns.columns[i];

		TRY(append_column(
			source, column, count, &columns[column->field - tree->roots], err));
	}
	for (size_t i = 0; i < tree->root_count; i++) {
		struct import_fault fault = { 0 };
		int rc = LANCET_OK;

		if (columns[i].length < count)
			rc = array_append_nulls(&columns[i], count - columns[i].length, err);
		if (rc == LANCET_OK)
			rc = import_check_nulls(&columns[i], &fault, err);
		if (rc != LANCET_OK)
			return blame(source, rc, &fault, err);
	}
	return LANCET_OK;
}

static int
arrow_next(struct row_source *base, struct array *columns, uint64_t max_rows, uint64_t *ret_rows,
	struct lancet_error *err)
{
	struct arrow_source *source = (struct arrow_source *)base;
	size_t root_count = source->columns.tree->root_count;
	bool ended = false;
	uint64_t count;
	int rc;

	*ret_rows = 0;
	if (root_count == 0 || max_rows == 0)
		return LANCET_OK;
	while (!source->has_batch || source->batch_row == source->batch.rows) {
		rc = open_batch(source, columns[0].budget->limit, &ended, err);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "batch %" PRIu64, source->batch_count);
		if (ended)
			return LANCET_OK;
	}
	count = source->batch.rows - source->batch_row;
	count = count < max_rows ? count : max_rows;
	while ((rc = append_rows(source, columns, count, err)) == LANCET_LIMIT && count > 1) {
		for (size_t i = 0; i < root_count; i++)
			array_reset(&columns[i]);
		count /= 2;
	}
	if (rc != LANCET_OK)
		return rc;
	source->batch_row += count;
	source->rows += count;
	*ret_rows = count;
	return LANCET_OK;
}

static int
load_dictionaries(struct arrow_source *source, struct lancet_error *err)
{
	const struct flatvector *blocks = &source->input.dictionaries;

	for (uint32_t i = 0; i < blocks->count; i++) {
		struct ipc_message message;
		struct ipc_block block;

		TRY(ipc_input_block(&source->input, blocks, i, &block, err));
		TRY(ipc_message_at(&source->input, &block, &message, err));
		if (message.kind != IPC_DICTIONARY) {
			ipc_message_release(&message);
			return lancet_fail(err, LANCET_CORRUPT, "a message that is no dictionary");
		}
		TRY(import_dictionary_load(&source->columns, &message, err));
	}
	return LANCET_OK;
}

static int
read_schema(struct arrow_source *source, const struct field_tree *tree, struct lancet_error *err)
{
	struct ipc_message message;
	bool ended;
	int rc;

	if (source->input.has_footer) {
		TRY(import_columns_init(&source->columns, &source->input.schema, tree,
			(size_t)source->memory, err));
		return load_dictionaries(source, err);
	}
	TRY(ipc_message_next(&source->input, &message, &ended, err));
	if (ended || message.kind != IPC_SCHEMA) {
		ipc_message_release(&message);
		return lancet_fail(
			err, LANCET_INVALID, "this is no Arrow file or stream: no schema");
	}
	rc = import_columns_init(
		&source->columns, &message.header, tree, (size_t)source->memory, err);
	ipc_message_release(&message);
	return rc;
}

int
import_arrow_open_within(const struct field_tree *schema, int file, uint64_t memory,
	struct row_source **ret_source, struct lancet_error *err)
{
	static const struct row_source_ops ops = { arrow_next, arrow_free };
	struct arrow_source *source = calloc(1, sizeof(*source));
	int rc;

	if (source == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "Arrow file");
	source->base.ops = &ops;
	source->memory = memory;
	rc = ipc_input_open(&source->input, file, memory, err);
	if (rc == LANCET_OK)
		rc = read_schema(source, schema, err);
	if (rc != LANCET_OK) {
		arrow_free(&source->base);
		return rc;
	}
	*ret_source = &source->base;
	return LANCET_OK;
}

int
import_arrow_open(const struct field_tree *schema, int file, struct row_source **ret_source,
	struct lancet_error *err)
{
	return import_arrow_open_within(schema, file, MEMORY_MAX, ret_source, err);
}
