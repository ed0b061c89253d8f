/* The registry of encodings, and what opening them shares: an encoding is one file and one row. */
#include "encodings.h"

#include <lance/encodings21.pb-c.h>

#include "util/macros.h"

const struct encoding *const encodings[] = {
	&encoding_flat,
	&encoding_variable,
	&encoding_constant,
	&encoding_bitpack_outofline,
	&encoding_bitpack_inline,
	&encoding_fsst,
	&encoding_dictionary,
	&encoding_rle,
	&encoding_byte_split,
	&encoding_general,
	&encoding_fixed_list,
	&encoding_packed_struct,
	&encoding_variable_packed_struct,
	&encoding_range,
	&encoding_delta,
};
const size_t encodings_count = ARRAY_SIZE(encodings);

/* All cases of today are read. */
const struct encoding_refused encodings_refused[] = {};
const size_t encodings_refused_count = ARRAY_SIZE(encodings_refused);

int
codec_unpack_flat(struct slice message, struct arena *arena, const char *name, uint64_t *ret_bits,
	struct lancet_error *err)
{
	const Lance__Encodings21__CompressiveEncoding *unpacked;

	TRY(codec_unpack(message, arena, &unpacked, err));
	if (unpacked->compression_case !=
		LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FLAT)
		return lancet_fail(err, LANCET_CORRUPT, "%s: %s where it must be flat", name,
			codec_encoding(unpacked)->name);
	TRY(codec_refuse_compression(unpacked->flat->data, name, err));
	*ret_bits = unpacked->flat->bits_per_value;
	return LANCET_OK;
}

int
codec_refuse_compression(const struct Lance__Encodings21__BufferCompression *compression,
	const char *name, struct lancet_error *err)
{
	if (compression == NULL ||
		compression->scheme ==
			LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_ALGORITHM_UNSPECIFIED)
		return LANCET_OK;
	return lancet_fail(err, LANCET_UNSUPPORTED, "%s: compressed buffers of old writers", name);
}

int
codec_take_buffer(struct scratch *scratch, struct buf **ret_buf, struct lancet_error *err)
{
	struct buf *buf = scratch_take(scratch, 0);

	if (buf == NULL)
		return lancet_fail(err, LANCET_LIMIT, "encodings need more than %u buffers at once",
			SCRATCH_BUFFERS);
	*ret_buf = buf;
	return LANCET_OK;
}
