/* Record batches: where the buffers of the columns are, and their bytes; see import_arrow.h. */
#include "import_arrow.h"

#include <assert.h>
#include <inttypes.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <zstd.h>

#include "util/cursor.h"
#include "util/macros.h"

#define NODE_SIZE   16u        /* i64 length, i64 null count */
#define BUFFER_SIZE 16u        /* i64 offset, i64 size */
#define PREFIX_SIZE 8u         /* of a packed buffer: its size once unpacked */
#define STORED      UINT64_MAX /* in that place: not packed after all */

enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION, BATCH_VIEWS };
enum { COMPRESSION_CODEC, COMPRESSION_METHOD };
enum { CODEC_PLAIN = -1, CODEC_LZ4, CODEC_ZSTD };

/* The walk over the columns. */
struct placing {
	struct flatvector nodes, views;
	uint32_t node, view;
	size_t buffer, buffer_count;
};

static unsigned
fixed_buffers(enum import_layout layout)
{
	switch (layout) {
	case IMPORT_NULLS:
	case IMPORT_PLAIN:
		return 0;
	case IMPORT_FIXED_LISTS:
	case IMPORT_STRUCTS:
		return 1;
	case IMPORT_BYTES:
	case IMPORT_LIST_VIEWS:
		return 3;
	default:
		return 2;
	}
}

static int
fail_columns(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_CORRUPT, "a batch has other columns than the schema");
}

/* What a column needs of the parts below it; lists say so by their offsets. */
static uint64_t
child_length(const struct import_column *column)
{
	if (column->type.layout == IMPORT_STRUCTS)
		return column->length;
	return column->type.layout == IMPORT_FIXED_LISTS ? column->length * column->type.dimension
							 : 0;
}

static int place_column(
	struct placing *placing, struct import_column *column, struct lancet_error *err);

static int
place_children(struct placing *placing, struct import_column *column, struct lancet_error *err)
{
	for (size_t i = 0; i < column->child_count; i++) {
		struct import_column *child = &column->children[i];

		TRY(place_column(placing, child, err));
		if (column->type.layout == IMPORT_PLAIN)
			column->length = child->length;
		else if (child->length < child_length(column))
			return lancet_fail(err, LANCET_CORRUPT,
				"a part of a column has %" PRIu64 " values, it needs %" PRIu64,
				child->length, child_length(column));
	}
	return LANCET_OK;
}

static int
place_views(struct placing *placing, struct import_column *column, struct lancet_error *err)
{
	struct slice count = flatvector_element(&placing->views, placing->view++);

	if (count.size != 8 || load_u64(count.data) > placing->buffer_count)
		return fail_columns(err);
	column->buffer_count += (size_t)load_u64(count.data);
	return LANCET_OK;
}

static int
place_column(struct placing *placing, struct import_column *column, struct lancet_error *err)
{
	struct slice node;

	if (column->type.layout == IMPORT_PLAIN)
		return place_children(placing, column, err);
	node = flatvector_element(&placing->nodes, placing->node++);
	if (node.size != NODE_SIZE)
		return fail_columns(err);
	column->length = load_u64(node.data);
	column->null_count = load_u64(node.data + 8);
	if (column->length > IMPORT_ROWS_MAX || column->null_count > column->length)
		return lancet_fail(err, LANCET_CORRUPT,
			"a column of %" PRIu64 " values, %" PRIu64 " of them null", column->length,
			column->null_count);
	column->first_buffer = placing->buffer;
	column->buffer_count = fixed_buffers(column->type.layout);
	if (column->type.layout == IMPORT_VIEWS)
		TRY(place_views(placing, column, err));
	if (column->buffer_count > placing->buffer_count - placing->buffer)
		return fail_columns(err);
	placing->buffer += column->buffer_count;
	return place_children(placing, column, err);
}

static int
place_columns(struct import_batch *batch, const struct flattable *header,
	struct import_column *columns, size_t count, struct lancet_error *err)
{
	struct placing placing = {
		.nodes = flatview_vector(header, BATCH_NODES, NODE_SIZE),
		.views = flatview_vector(header, BATCH_VIEWS, 8),
		.buffer_count = batch->buffer_count,
	};

	for (size_t i = 0; i < count; i++) {
		TRY(place_column(&placing, &columns[i], err));
		if (columns[i].length != batch->rows)
			return lancet_fail(err, LANCET_CORRUPT,
				"a column has %" PRIu64 " values in a batch of %" PRIu64 " rows",
				columns[i].length, batch->rows);
	}
	if (placing.node != placing.nodes.count || placing.buffer != placing.buffer_count)
		return fail_columns(err);
	return LANCET_OK;
}

static int
list_buffers(struct import_batch *batch, const struct flattable *header, struct lancet_error *err)
{
	struct flatvector buffers = flatview_vector(header, BATCH_BUFFERS, BUFFER_SIZE);
	uint64_t end = batch->message.body->size;

	batch->buffers = calloc((size_t)buffers.count + 1, sizeof(*batch->buffers));
	if (batch->buffers == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%" PRIu32 " buffers", buffers.count);
	batch->buffer_count = buffers.count;
	for (uint32_t i = 0; i < buffers.count; i++) {
		struct slice at = flatvector_element(&buffers, i);
		uint64_t offset, size;

		if (at.size != BUFFER_SIZE)
			return fail_columns(err);
		offset = load_u64(at.data);
		size = load_u64(at.data + 8);
		if (size > 0 && (offset > end || size > end - offset))
			return lancet_fail(
				err, LANCET_CORRUPT, "a buffer passes the end of its batch");
		batch->buffers[i] = (struct import_buffer){ size > 0 ? offset : 0, size, NULL };
	}
	return LANCET_OK;
}

static int
parse_compression(
	struct import_batch *batch, const struct flattable *header, struct lancet_error *err)
{
	struct flattable compression = flatview_table(header, BATCH_COMPRESSION);

	batch->codec = CODEC_PLAIN;
	if (!flattable_present(&compression))
		return LANCET_OK;
	batch->codec = flatview_i8(&compression, COMPRESSION_CODEC, CODEC_LZ4);
	if (flatview_i8(&compression, COMPRESSION_METHOD, 0) != 0 ||
		(batch->codec != CODEC_LZ4 && batch->codec != CODEC_ZSTD))
		return lancet_fail(
			err, LANCET_UNSUPPORTED, "compression %d of batches", batch->codec);
	return LANCET_OK;
}

static int
parse(struct import_batch *batch, const struct flattable *header, struct import_column *columns,
	size_t count, struct lancet_error *err)
{
	batch->rows = (uint64_t)flatview_i64(header, BATCH_LENGTH, 0);
	if (batch->rows > IMPORT_ROWS_MAX)
		return lancet_fail(err, (int64_t)batch->rows < 0 ? LANCET_CORRUPT : LANCET_LIMIT,
			"a batch of %" PRId64 " rows", (int64_t)batch->rows);
	TRY(parse_compression(batch, header, err));
	TRY(list_buffers(batch, header, err));
	return place_columns(batch, header, columns, count, err);
}

int
import_batch_open(struct import_batch *batch, struct ipc_message *message,
	const struct flattable *header, struct import_column *columns, size_t count,
	uint64_t memory, uint64_t read_max, struct lancet_error *err)
{
	struct flatview *view = header->view;
	int rc;

	*batch = (struct import_batch){
		.message = *message, .memory = memory, .read_max = read_max
	};
	rc = parse(batch, header, columns, count, err);
	if (view->bad && rc != LANCET_NO_MEMORY)
		rc = lancet_fail(err, LANCET_CORRUPT, "a message is damaged");
	*message = (struct ipc_message){ 0 };
	if (rc != LANCET_OK)
		import_batch_release(batch);
	return rc;
}

void
import_batch_release(struct import_batch *batch)
{
	for (size_t i = 0; i < batch->buffer_count; i++)
		free(batch->buffers[i].bytes);
	free(batch->buffers);
	ipc_message_release(&batch->message);
	*batch = (struct import_batch){ 0 };
}

static bool
unpack_lz4(struct slice packed, uint8_t *into, size_t size)
{
	LZ4F_dctx *context;
	size_t done = 0, taken = 0, hint = 1;

	if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
		return false;
	while (hint != 0) {
		size_t in = packed.size - taken, out = size - done;

		hint = LZ4F_decompress(context, into + done, &out, packed.data + taken, &in, NULL);
		if (LZ4F_isError(hint) || (in == 0 && out == 0))
			break;
		taken += in;
		done += out;
	}
	(void)LZ4F_freeDecompressionContext(context);
	return hint == 0 && done == size;
}

static int
unpack(struct import_batch *batch, struct import_buffer *buffer, const uint8_t *packed,
	struct lancet_error *err)
{
	uint64_t size = load_u64(packed);
	struct slice from = slice_of(packed + PREFIX_SIZE, (size_t)buffer->size - PREFIX_SIZE);
	bool good;

	if (size == STORED)
		size = from.size;
	if (size > batch->memory - batch->loaded)
		return lancet_fail(err, LANCET_LIMIT,
			"a batch that unpacks to more than %" PRIu64 " MiB: give smaller batches",
			batch->memory >> 20);
	buffer->bytes = malloc((size_t)size + 1);
	if (buffer->bytes == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "buffer of %" PRIu64 " bytes", size);
	batch->loaded += size;
	buffer->size = size;
	if (load_u64(packed) == STORED) {
		memcpy(buffer->bytes, from.data, from.size);
		return LANCET_OK;
	}
	if (batch->codec == CODEC_ZSTD)
		good = ZSTD_decompress(buffer->bytes, (size_t)size, from.data, from.size) == size;
	else
		good = unpack_lz4(from, buffer->bytes, (size_t)size);
	return good ? LANCET_OK : lancet_fail(err, LANCET_CORRUPT, "a packed buffer is damaged");
}

/* Has the bytes of a packed buffer in memory. */
static int
load_packed(struct import_batch *batch, struct import_buffer *buffer, struct lancet_error *err)
{
	struct source *body = batch->message.body;
	lancet_autofree uint8_t *loaded = NULL;
	const uint8_t *packed;

	if (buffer->bytes != NULL || buffer->size == 0)
		return LANCET_OK;
	if (buffer->size < PREFIX_SIZE)
		return lancet_fail(err, LANCET_CORRUPT, "a packed buffer is cut");
	if (body->data != NULL) {
		packed = body->data + buffer->offset;
	} else {
		TRY(source_load(body, buffer->offset, (size_t)buffer->size, &loaded, err));
		packed = loaded;
	}
	return unpack(batch, buffer, packed, err);
}

static int
load_plain(struct import_batch *batch, struct import_buffer *buffer, struct lancet_error *err)
{
	struct source *body = batch->message.body;

	if (buffer->bytes != NULL || buffer->size == 0 || body->data != NULL)
		return LANCET_OK;
	if (buffer->size > batch->memory - batch->loaded)
		return lancet_fail(err, LANCET_LIMIT,
			"a batch with more than %" PRIu64 " MiB of views: give smaller batches",
			batch->memory >> 20);
	TRY(source_load(body, buffer->offset, (size_t)buffer->size, &buffer->bytes, err));
	batch->loaded += buffer->size;
	return LANCET_OK;
}

/* Where the bytes are in memory, or NULL. */
static const uint8_t *
bytes_in_memory(const struct import_batch *batch, const struct import_buffer *buffer)
{
	const struct source *body = batch->message.body;

	if (buffer->bytes != NULL)
		return buffer->bytes;
	return body->data == NULL ? NULL : body->data + buffer->offset;
}

int
import_batch_bytes(struct import_batch *batch, size_t index, uint64_t offset, uint64_t size,
	struct buf *scratch, const uint8_t **ret_data, struct lancet_error *err)
{
	struct import_buffer *buffer = &batch->buffers[index];
	const uint8_t *data;

	assert(index < batch->buffer_count);
	if (batch->codec != CODEC_PLAIN)
		TRY(load_packed(batch, buffer, err));
	if (offset > buffer->size || size > buffer->size - offset)
		return lancet_fail(err, LANCET_CORRUPT,
			"a buffer of %" PRIu64 " bytes is too short for its column", buffer->size);
	data = bytes_in_memory(batch, buffer);
	if (data != NULL || size == 0) {
		*ret_data = data != NULL ? data + offset : (const uint8_t *)"";
		return LANCET_OK;
	}
	if (size > batch->read_max)
		return lancet_fail(err, LANCET_LIMIT,
			"%" PRIu64 " bytes of values in one row, %" PRIu64 " are possible", size,
			batch->read_max);
	scratch->size = 0;
	if (!buf_reserve(scratch, (size_t)size))
		return buf_check(scratch, "values", err);
	*ret_data = scratch->data;
	return source_read_at(
		batch->message.body, buffer->offset + offset, (size_t)size, scratch->data, err);
}

int
import_batch_whole(
	struct import_batch *batch, size_t index, struct slice *ret_bytes, struct lancet_error *err)
{
	struct import_buffer *buffer = &batch->buffers[index];
	const uint8_t *data;

	assert(index < batch->buffer_count);
	if (batch->codec != CODEC_PLAIN)
		TRY(load_packed(batch, buffer, err));
	else
		TRY(load_plain(batch, buffer, err));
	data = bytes_in_memory(batch, buffer);
	*ret_bytes = slice_of(data != NULL ? data : (const uint8_t *)"", (size_t)buffer->size);
	return LANCET_OK;
}
