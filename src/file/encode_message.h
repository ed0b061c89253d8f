/* CompressiveEncoding messages on their way into a page's description. Each function appends a
 * whole message to `into`; those that nest take the message inside as bytes. Format facts:
 * compressive encodings, messages.
 */
#ifndef FILE_ENCODE_MESSAGE_H
#define FILE_ENCODE_MESSAGE_H

#include "decompress.h"
#include "util/buf.h"

/* Fields of any message. A number of 0 is left out, as proto3 does. */
void message_put_number(struct buf *into, unsigned field, uint64_t value);
void message_put_bytes(struct buf *into, unsigned field, struct slice bytes);

void message_flat(struct buf *into, uint64_t bits);
void message_variable(struct buf *into, unsigned offset_bits);
void message_bitpack_inline(struct buf *into, uint64_t bits);
void message_bitpack_outofline(struct buf *into, uint64_t bits, unsigned width);
/* Values of `bits`, lengths of bytes. */
void message_rle(struct buf *into, uint64_t bits);
void message_byte_split(struct buf *into, uint64_t bits);
void message_general(struct buf *into, enum decompress_scheme scheme, struct slice inner);
void message_fsst(struct buf *into, struct slice table, struct slice inner);
void message_fixed_list(
	struct buf *into, uint64_t dimension, bool has_validity, struct slice inner);
/* Rows of children of so many bytes each. */
void message_packed_struct(struct buf *into, const uint64_t *widths, size_t count);

#endif
