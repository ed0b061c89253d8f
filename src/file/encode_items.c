/* The items of a dictionary as a block: Flat or Variable, since 2.2 compressed when that helps.
 * Format facts: dictionary in a mini-block page, block Variable. */
#include "encode_dictionary.h"

#include "compress.h"
#include "encode_message.h"
#include "util/bits.h"
#include "util/macros.h"

#define COMPRESSED_MIN 1024u /* bytes: less is not worth a call */

static void
put_number(struct buf *into, uint64_t number, unsigned width)
{
	buf_put(into, &number, width);
}

static struct slice
item_bytes(const struct array *items, uint32_t index)
{
	return index == DICTIONARY_NOTHING ? (struct slice){ 0 } : array_bytes(items, index);
}

/* Bits of the offsets, where bytes start, the offsets, the bytes. */
static void
put_variable(const struct array *items, const uint32_t *indices, uint64_t count, struct buf *block)
{
	unsigned width = items->field->large ? 8 : 4;
	uint64_t offset = 0;

	put_number(block, 8 * (uint64_t)width, width);
	put_number(block, (count + 3) * width, width);
	put_number(block, offset, width);
	for (uint64_t i = 0; i < count; i++) {
		offset += item_bytes(items, indices[i]).size;
		put_number(block, offset, width);
	}
	for (uint64_t i = 0; i < count; i++)
		buf_put_slice(block, item_bytes(items, indices[i]));
}

static void
put_fixed(const struct array *items, const uint32_t *indices, uint64_t count, struct buf *block)
{
	size_t width = items->field->bits / 8, start = block->size;

	if (items->field->bits == 1) {
		buf_fill(block, 0, (size_t)bits_size(count));
		for (uint64_t i = 0; block->failed == LANCET_OK && i < count; i++)
			bits_copy(block->data + start, i, items->data.data, indices[i], 1);
		return;
	}
	for (uint64_t i = 0; i < count; i++)
		buf_put(block, items->data.data + indices[i] * width, width);
}

/* Replaces message and block by the compressed ones when those are smaller by a tenth. */
static int
try_compression(struct buf *message, struct buf *block, struct lancet_error *err)
{
	struct compressor compressor = { .scheme = DECOMPRESS_ZSTD };
	struct buf packed = { 0 }, wrapped = { 0 };
	int rc = compress(&compressor, buf_slice(block), &packed, err);

	compressor_release(&compressor);
	if (rc == LANCET_OK && packed.size < block->size / 10 * 9) {
		message_general(&wrapped, DECOMPRESS_ZSTD, buf_slice(message));
		message->size = block->size = 0;
		buf_put_slice(message, buf_slice(&wrapped));
		buf_put_slice(block, buf_slice(&packed));
		rc = buf_check(&wrapped, "dictionary", err);
	}
	buf_release(&packed);
	buf_release(&wrapped);
	return rc;
}

int
dictionary_items_put(enum file_version version, const struct array *items, const uint32_t *indices,
	uint64_t count, struct buf *message, struct buf *block, struct lancet_error *err)
{
	if (items->field->kind == FIELD_FIXED) {
		message_flat(message, items->field->bits);
		put_fixed(items, indices, count, block);
	} else if (items->field->kind == FIELD_VARIABLE) {
		message_variable(message, items->field->large ? 64 : 32);
		put_variable(items, indices, count, block);
	} else {
		return lancet_fail(err, LANCET_UNSUPPORTED, "dictionaries of type %.*s",
			FIELD_TEXT(items->field->logical_type));
	}
	TRY(buf_check(message, "dictionary", err));
	TRY(buf_check(block, "dictionary", err));
	if (version < FILE_2_2 || block->size < COMPRESSED_MIN)
		return LANCET_OK;
	TRY(try_compression(message, block, err));
	TRY(buf_check(message, "dictionary", err));
	return buf_check(block, "dictionary", err);
}
