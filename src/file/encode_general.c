/* Whatever lies in the first buffer of a chunk, compressed by zstd or lz4: values as they are.
 * Format facts: General framing, where each codec may occur. */
#include "encode_mini.h"

#include <stdlib.h>

#include "compress.h"
#include "encode_message.h"
#include "encode_variable.h"
#include "encode_wish.h"
#include "util/macros.h"

#define CHUNK_GOAL ((uint64_t)32 * 1024) /* bytes before compression */
#define LEVEL      3                     /* of zstd */

struct general {
	struct compressor compressor;
	struct buf raw;
};

static void
general_release(void *own)
{
	struct general *general = own;

	compressor_release(&general->compressor);
	buf_release(&general->raw);
	free(general);
}

/* Compression is of the first buffer alone, which of lists with nulls in them is their validity. */
static bool
is_single(const struct encode_column *column)
{
	for (size_t i = 0; i < column->item_count; i++)
		if (column->items[i].has_nulls)
			return false;
	return column->values.count > 0;
}

static int
general_open(const struct encode_column *column, enum decompress_scheme scheme,
	struct mini_attempt *attempt, struct lancet_error *err)
{
	struct buf inner = { 0 };
	struct general *general;
	uint64_t size;
	int level;

	if (!is_single(column) || column->is_lineage)
		return LANCET_OK;
	general = calloc(1, sizeof(*general));
	if (general == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encoding of a page");
	attempt->own = general;
	level = encode_wish_level(column->values.leaf);
	general->compressor =
		(struct compressor){ .scheme = scheme, .level = level == 0 ? LEVEL : level };
	encode_column_message(column, &inner);
	message_general(&attempt->plan.message, scheme, buf_slice(&inner));
	if (inner.failed != LANCET_OK)
		attempt->plan.message.failed = inner.failed;
	buf_release(&inner);
	attempt->plan.buffer_count = 1;
	size = mini_slot_size(column);
	if (column->bits == 0)
		size += column->values.array->field->large ? 8 : 4;
	attempt->plan.chunk_log2 = mini_chunk_log2(size, CHUNK_GOAL);
	attempt->fits = true;
	return buf_check(&attempt->plan.message, "encoding of a page", err);
}

static int
zstd_open(
	const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	enum wish_compression wish = encode_wish_compression(column->values.leaf);

	if (wish == WISH_NONE || wish == WISH_LZ4)
		return LANCET_OK;
	return general_open(column, DECOMPRESS_ZSTD, attempt, err);
}

/* The same of values of a fixed size, where quick matches are as good; nobody wished for a level.
 */
static int
quick_open(
	const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	struct general *general;

	if (column->bits == 0 || encode_wish_compression(column->values.leaf) != WISH_AUTO)
		return LANCET_OK;
	TRY(general_open(column, DECOMPRESS_ZSTD, attempt, err));
	general = attempt->own;
	if (general != NULL)
		general->compressor.quick = true;
	return LANCET_OK;
}

static int
lz4_open(const struct encode_column *column, struct mini_attempt *attempt, struct lancet_error *err)
{
	enum wish_compression wish = encode_wish_compression(column->values.leaf);

	if (wish == WISH_NONE || wish == WISH_ZSTD)
		return LANCET_OK;
	return general_open(column, DECOMPRESS_LZ4, attempt, err);
}

/* The raw chunk may be larger than a chunk can be: only what comes out counts. */
static int
general_chunk(const struct encode_column *column, void *own, uint64_t first, uint64_t count,
	struct buf into[ENCODE_BUFFERS_MAX], struct lancet_error *err)
{
	struct general *general = own;

	general->raw.size = 0;
	if (column->bits != 0)
		encode_column_put(column, first, count, &general->raw);
	else
		TRY(variable_put(column, first, count, &general->raw, err));
	TRY(buf_check(&general->raw, "chunk of a page", err));
	TRY(compress(&general->compressor, buf_slice(&general->raw), into, err));
	return mini_check_size(column, into, err);
}

const struct mini_encoder mini_zstd = {
	.name = "general zstd",
	.weight = 112,
	.is_general = true,
	.open = zstd_open,
	.release = general_release,
	.chunk = general_chunk,
};

const struct mini_encoder mini_zstd_quick = {
	.name = "general zstd, quick",
	.weight = 111,
	.is_general = true,
	.open = quick_open,
	.release = general_release,
	.chunk = general_chunk,
};

const struct mini_encoder mini_lz4 = {
	.name = "general lz4",
	.weight = 105,
	.is_general = true,
	.open = lz4_open,
	.release = general_release,
	.chunk = general_chunk,
};
