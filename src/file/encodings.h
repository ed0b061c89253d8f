/* The rows of the registry of codec.h, one file each, and what opening them shares. */
#ifndef FILE_ENCODINGS_H
#define FILE_ENCODINGS_H

#include "codec.h"

struct Lance__Encodings21__BufferCompression;

extern const struct encoding encoding_flat, encoding_variable, encoding_constant,
	encoding_bitpack_outofline, encoding_bitpack_inline, encoding_fsst, encoding_dictionary,
	encoding_rle, encoding_byte_split, encoding_general, encoding_fixed_list,
	encoding_packed_struct, encoding_variable_packed_struct, encoding_range, encoding_delta;

/* The bits of each value when the message is a Flat; CORRUPT, naming what it is to `name`, when it
 * is another encoding. They may be any number: packed widths are told this way, too. */
int codec_unpack_flat(struct slice message, struct arena *arena, const char *name,
	uint64_t *ret_bits, struct lancet_error *err);
/* Old writers could compress a single buffer inside an encoding; nobody reads that any more. */
int codec_refuse_compression(const struct Lance__Encodings21__BufferCompression *compression,
	const char *name, struct lancet_error *err);
/* scratch_take that explains itself: LIMIT. */
int codec_take_buffer(struct scratch *scratch, struct buf **ret_buf, struct lancet_error *err);

#endif
