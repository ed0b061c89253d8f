/* Deletion files in the Arrow IPC file format: one record batch of one column, row_id: uint32 not
 * null.
 *
 *     "ARROW1" … schema, record batch, end mark … | footer | i32 footer size | "ARROW1"
 *
 * Only the footer and the one batch it points to are read; the schema that counts is the footer's
 * copy. Anything else than the one shape is refused, as the reference does. Format facts: deletion
 * files.
 */
#include "deletion.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/cursor.h"
#include "util/flatview.h"
#include "util/macros.h"

#define MAGIC        "ARROW1"
#define MAGIC_SIZE   6u
#define TAIL_SIZE    (4 + MAGIC_SIZE)
#define METADATA_MAX (1u << 20) /* bytes of a footer or message; real ones have some 200 */
#define CONTINUATION UINT32_MAX
#define COLUMN_NAME  "row_id"

/* Field numbers of the flatbuffers tables, and values of their unions. */
enum { FOOTER_SCHEMA = 1, FOOTER_DICTIONARIES = 2, FOOTER_BATCHES = 3 };
enum { SCHEMA_ENDIANNESS = 0, SCHEMA_FIELDS = 1, SCHEMA_METADATA = 2 };
enum {
	FIELD_NAME,
	FIELD_NULLABLE,
	FIELD_TYPE_TAG,
	FIELD_TYPE,
	FIELD_DICTIONARY,
	FIELD_CHILDREN,
	FIELD_METADATA
};
enum { INT_WIDTH, INT_SIGNED };
enum { MESSAGE_HEADER_TAG = 1, MESSAGE_HEADER = 2 };
enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION };
enum { COMPRESSION_CODEC, COMPRESSION_METHOD };
enum { TYPE_INT = 2, HEADER_BATCH = 3 };
#define BLOCK_SIZE  24u /* i64 offset, i32 metadata size, padding, i64 body size */
#define NODE_SIZE   16u /* i64 length, i64 null count */
#define BUFFER_SIZE 16u /* i64 offset, i64 length */

/* Where a record batch is in the file. */
struct block {
	uint64_t offset, body; /* of its message and of its body */
	uint64_t message_size, body_size;
};

/* What a record batch says. */
struct batch {
	uint64_t count;
	uint64_t offset, size; /* of the values, in the body */
	enum deletion_codec codec;
};

static int
check_schema(const struct flattable *schema, struct lancet_error *err)
{
	struct flatvector fields = flatview_vector(schema, SCHEMA_FIELDS, 4);
	struct flattable field, type;

	if (fields.count != 1)
		return lancet_fail(
			err, LANCET_CORRUPT, "schema: %" PRIu32 " columns, not 1", fields.count);
	field = flatvector_table(&fields, 0);
	type = flatview_table(&field, FIELD_TYPE);
	if (flatview_u8(&field, FIELD_TYPE_TAG, 0) != TYPE_INT ||
		flatview_i32(&type, INT_WIDTH, 0) != 32 ||
		flatview_bool(&type, INT_SIGNED, false) ||
		flatview_table(&field, FIELD_DICTIONARY).size != 0 ||
		flatview_vector(&field, FIELD_CHILDREN, 4).count != 0)
		return lancet_fail(err, LANCET_CORRUPT, "schema: the column is not uint32");
	if (flatview_bool(&field, FIELD_NULLABLE, false))
		return lancet_fail(err, LANCET_CORRUPT, "schema: the column is nullable");
	if (!slice_equal(flatview_string(&field, FIELD_NAME), slice_text(COLUMN_NAME)))
		return lancet_fail(err, LANCET_CORRUPT, "schema: the column is not " COLUMN_NAME);
	if (flatview_vector(&field, FIELD_METADATA, 4).count != 0 ||
		flatview_vector(schema, SCHEMA_METADATA, 4).count != 0)
		return lancet_fail(err, LANCET_CORRUPT, "schema: has metadata");
	if (flatview_i16(schema, SCHEMA_ENDIANNESS, 0) != 0)
		return lancet_fail(err, LANCET_CORRUPT, "schema: not little-endian");
	return LANCET_OK;
}

/* `end`: where the footer begins; batches lie before it. */
static int
parse_footer(struct slice footer, uint64_t end, struct block *ret_block, struct lancet_error *err)
{
	struct flatview view = { .in = footer };
	struct flattable root = flatview_root(&view);
	struct flattable schema = flatview_table(&root, FOOTER_SCHEMA);
	struct flatvector batches = flatview_vector(&root, FOOTER_BATCHES, BLOCK_SIZE);
	uint32_t dictionaries = flatview_vector(&root, FOOTER_DICTIONARIES, BLOCK_SIZE).count;
	int rc = check_schema(&schema, err);
	struct slice at;
	struct block block;

	if (view.bad)
		return lancet_fail(err, LANCET_CORRUPT, "footer is damaged");
	if (rc != LANCET_OK)
		return rc;
	if (batches.count != 1 || dictionaries != 0)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu32 " record batches and %" PRIu32 " dictionaries, not 1 and 0",
			batches.count, dictionaries);
	at = flatvector_element(&batches, 0);
	block = (struct block){
		.offset = load_u64(at.data),
		.message_size = load_u32(at.data + 8),
		.body_size = load_u64(at.data + 16),
	};
	if (block.offset > end || block.message_size > end - block.offset ||
		block.body_size > end - block.offset - block.message_size)
		return lancet_fail(err, LANCET_CORRUPT, "record batch passes the footer");
	block.body = block.offset + block.message_size;
	*ret_block = block;
	return LANCET_OK;
}

static int
load_footer(struct source *file, struct block *ret_block, struct lancet_error *err)
{
	lancet_autofree uint8_t *footer = NULL;
	uint8_t head[MAGIC_SIZE];
	uint8_t tail[TAIL_SIZE];
	uint64_t size, end;

	if (file->size < MAGIC_SIZE + TAIL_SIZE)
		return lancet_fail(
			err, LANCET_CORRUPT, "%" PRIu64 " bytes are no Arrow file", file->size);
	TRY(source_read_at(file, 0, sizeof(head), head, err));
	TRY(source_read_at(file, file->size - TAIL_SIZE, TAIL_SIZE, tail, err));
	if (memcmp(head, MAGIC, MAGIC_SIZE) != 0 || memcmp(tail + 4, MAGIC, MAGIC_SIZE) != 0)
		return lancet_fail(err, LANCET_CORRUPT, "not an Arrow file: no " MAGIC);
	size = load_u32(tail);
	if (size > file->size - MAGIC_SIZE - TAIL_SIZE || size > METADATA_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "footer of %" PRIu64 " bytes", size);
	end = file->size - TAIL_SIZE - size;
	TRY(source_load(file, end, (size_t)size, &footer, err));
	return parse_footer(slice_of(footer, (size_t)size), end, ret_block, err);
}

static int
parse_compression(
	const struct flattable *batch, enum deletion_codec *ret_codec, struct lancet_error *err)
{
	struct flattable compression = flatview_table(batch, BATCH_COMPRESSION);
	int8_t codec = flatview_i8(&compression, COMPRESSION_CODEC, DELETION_LZ4_FRAME);

	if (!flattable_present(&compression)) {
		*ret_codec = DELETION_PLAIN;
		return LANCET_OK;
	}
	if (flatview_i8(&compression, COMPRESSION_METHOD, 0) != 0)
		return lancet_fail(err, LANCET_CORRUPT, "record batch: unknown compression method");
	if (codec != DELETION_LZ4_FRAME && codec != DELETION_ZSTD)
		return lancet_fail(err, LANCET_CORRUPT, "record batch: unknown codec %d", codec);
	*ret_codec = (enum deletion_codec)codec;
	return LANCET_OK;
}

/* The first buffer is the validity of a column without nulls: nothing in it matters. */
static int
parse_batch(const struct flattable *batch, uint64_t body_size, uint64_t rows,
	struct batch *ret_batch, struct lancet_error *err)
{
	struct flatvector nodes = flatview_vector(batch, BATCH_NODES, NODE_SIZE);
	struct flatvector buffers = flatview_vector(batch, BATCH_BUFFERS, BUFFER_SIZE);
	struct batch b = { .count = (uint64_t)flatview_i64(batch, BATCH_LENGTH, 0) };
	struct slice node, values;

	if (nodes.count != 1 || buffers.count != 2)
		return lancet_fail(err, LANCET_CORRUPT,
			"record batch: %" PRIu32 " nodes and %" PRIu32 " buffers, not 1 and 2",
			nodes.count, buffers.count);
	node = flatvector_element(&nodes, 0);
	values = flatvector_element(&buffers, 1);
	if (node.size == 0 || values.size == 0)
		return lancet_fail(err, LANCET_CORRUPT, "record batch: message is damaged");
	if (load_u64(node.data) != b.count)
		return lancet_fail(
			err, LANCET_CORRUPT, "record batch: its column has another length");
	if (load_u64(node.data + 8) != 0)
		return lancet_fail(err, LANCET_CORRUPT, "record batch: has nulls");
	if (b.count > rows)
		return lancet_fail(err, LANCET_CORRUPT,
			"record batch: %" PRIu64 " deleted of %" PRIu64 " rows", b.count, rows);
	b.offset = load_u64(values.data);
	b.size = load_u64(values.data + 8);
	if (b.offset > body_size || b.size > body_size - b.offset)
		return lancet_fail(err, LANCET_CORRUPT, "record batch: values pass its body");
	TRY(parse_compression(batch, &b.codec, err));
	*ret_batch = b;
	return LANCET_OK;
}

/* The flatbuffer of a message: behind a continuation mark and its size, or (before 2019) its size
 * alone. */
static int
message_body(struct slice bytes, struct slice *ret_message, struct lancet_error *err)
{
	struct cursor c = { .in = bytes };
	uint32_t size = cursor_u32(&c);

	if (size == CONTINUATION)
		size = cursor_u32(&c);
	*ret_message = cursor_take(&c, size);
	return c.bad ? lancet_fail(err, LANCET_CORRUPT, "record batch: its message is cut")
		     : LANCET_OK;
}

static int
load_batch(struct source *file, const struct block *block, uint64_t rows, struct batch *ret_batch,
	struct lancet_error *err)
{
	lancet_autofree uint8_t *bytes = NULL;
	struct slice message;
	struct flatview view;
	struct flattable root, batch;
	int rc;

	if (block->message_size > METADATA_MAX)
		return lancet_fail(err, LANCET_CORRUPT,
			"record batch: message of %" PRIu64 " bytes", block->message_size);
	TRY(source_load(file, block->offset, (size_t)block->message_size, &bytes, err));
	TRY(message_body(slice_of(bytes, (size_t)block->message_size), &message, err));
	view = (struct flatview){ .in = message };
	root = flatview_root(&view);
	if (flatview_u8(&root, MESSAGE_HEADER_TAG, 0) != HEADER_BATCH)
		return lancet_fail(err, LANCET_CORRUPT, "message is no record batch");
	batch = flatview_table(&root, MESSAGE_HEADER);
	rc = parse_batch(&batch, block->body_size, rows, ret_batch, err);
	return view.bad ? lancet_fail(err, LANCET_CORRUPT, "record batch: message is damaged") : rc;
}

int
deletion_arrow_parse(
	struct source *file, uint64_t rows, roaring_bitmap_t **ret_set, struct lancet_error *err)
{
	struct block block = { 0 };
	struct batch batch = { 0 };
	roaring_bitmap_t *set;
	int rc;

	TRY(load_footer(file, &block, err));
	TRY(load_batch(file, &block, rows, &batch, err));
	set = roaring_bitmap_create();
	if (set == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "deletion vector");
	rc = deletion_values_add(file, block.body + batch.offset, batch.size, batch.codec,
		batch.count, rows, set, err);
	if (rc == LANCET_OK)
		*ret_set = set;
	else
		roaring_bitmap_free(set);
	return rc;
}
