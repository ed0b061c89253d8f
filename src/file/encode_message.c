/* Encodings as messages; see encode_message.h. Messages are short, so that nesting copies them. */
#include "encode_message.h"

#include <lance/encodings21.pb-c.h>

#define CASE(name) ((unsigned)LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_##name)
#define SCHEME(name)                                                                               \
	((uint64_t)LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_ALGORITHM_##name)

#define WIRE_VARINT 0u
#define WIRE_BYTES  2u

void
message_put_number(struct buf *into, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	buf_put_varint(into, field << 3 | WIRE_VARINT);
	buf_put_varint(into, value);
}

void
message_put_bytes(struct buf *into, unsigned field, struct slice bytes)
{
	buf_put_varint(into, field << 3 | WIRE_BYTES);
	buf_put_varint(into, bytes.size);
	buf_put_slice(into, bytes);
}

/* Puts the content as a field of `into`, whose fault it becomes when it failed. */
static void
put_content(struct buf *into, unsigned field, struct buf *content)
{
	if (content->failed != LANCET_OK && into->failed == LANCET_OK)
		into->failed = content->failed;
	message_put_bytes(into, field, buf_slice(content));
	buf_release(content);
}

void
message_flat(struct buf *into, uint64_t bits)
{
	struct buf flat = { 0 };

	message_put_number(&flat, 1, bits);
	put_content(into, CASE(FLAT), &flat);
}

/* A Flat as a field of another message. */
static void
put_flat(struct buf *into, unsigned field, uint64_t bits)
{
	struct buf flat = { 0 };

	message_flat(&flat, bits);
	put_content(into, field, &flat);
}

void
message_variable(struct buf *into, unsigned offset_bits)
{
	struct buf variable = { 0 };

	put_flat(&variable, 1, offset_bits);
	put_content(into, CASE(VARIABLE), &variable);
}

void
message_bitpack_inline(struct buf *into, uint64_t bits)
{
	struct buf packing = { 0 };

	message_put_number(&packing, 1, bits);
	put_content(into, CASE(INLINE_BITPACKING), &packing);
}

void
message_bitpack_outofline(struct buf *into, uint64_t bits, unsigned width)
{
	struct buf packing = { 0 };

	message_put_number(&packing, 1, bits);
	put_flat(&packing, 3, width);
	put_content(into, CASE(OUT_OF_LINE_BITPACKING), &packing);
}

void
message_rle(struct buf *into, uint64_t bits)
{
	struct buf rle = { 0 };

	put_flat(&rle, 1, bits);
	put_flat(&rle, 2, 8);
	put_content(into, CASE(RLE), &rle);
}

void
message_byte_split(struct buf *into, uint64_t bits)
{
	struct buf split = { 0 };

	put_flat(&split, 1, bits);
	put_content(into, CASE(BYTE_STREAM_SPLIT), &split);
}

void
message_general(struct buf *into, enum decompress_scheme scheme, struct slice inner)
{
	struct buf general = { 0 }, compression = { 0 };

	message_put_number(&compression, 1, scheme == DECOMPRESS_LZ4 ? SCHEME(LZ4) : SCHEME(ZSTD));
	put_content(&general, 1, &compression);
	message_put_bytes(&general, 3, inner);
	put_content(into, CASE(GENERAL), &general);
}

void
message_fsst(struct buf *into, struct slice table, struct slice inner)
{
	struct buf fsst = { 0 };

	message_put_bytes(&fsst, 1, table);
	message_put_bytes(&fsst, 2, inner);
	put_content(into, CASE(FSST), &fsst);
}

void
message_fixed_list(struct buf *into, uint64_t dimension, bool has_validity, struct slice inner)
{
	struct buf list = { 0 };

	message_put_number(&list, 1, dimension);
	message_put_bytes(&list, 2, inner);
	message_put_number(&list, 3, has_validity);
	put_content(into, CASE(FIXED_SIZE_LIST), &list);
}

void
message_packed_struct(struct buf *into, const uint64_t *widths, size_t count)
{
	struct buf packed = { 0 }, bits = { 0 };
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		buf_put_varint(&bits, 8 * widths[i]);
		sum += 8 * widths[i];
	}
	put_content(&packed, 1, &bits);
	put_flat(&packed, 2, sum);
	put_content(into, CASE(PACKED_STRUCT), &packed);
}
