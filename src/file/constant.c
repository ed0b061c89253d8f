/* One value for all, in the message; nothing in buffers. Without a value it is nothing but nulls,
 * which 2.3 has for the items of wide fixed-size lists. Format facts: where each codec may occur,
 * FixedSizeList. */
#include "encodings.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "util/macros.h"

#define VALUE_SIZE_MAX 4096u

static int
constant_open(const struct Lance__Encodings21__CompressiveEncoding *message, unsigned depth,
	struct arena *arena, struct codec *codec, struct lancet_error *err)
{
	const struct Lance__Encodings21__Constant *constant = message->constant;
	bool has_value =
		constant->field_value_case == LANCE__ENCODINGS21__CONSTANT__FIELD_VALUE_VALUE;

	(void)depth;
	(void)arena;
	if (codec->place == CODEC_FIXED && codec->version < FILE_2_3)
		return lancet_fail(
			err, LANCET_CORRUPT, "constant as a per-value encoding before 2.3");
	if (!has_value)
		return LANCET_OK;
	if (constant->value.len == 0 || constant->value.len > VALUE_SIZE_MAX)
		return lancet_fail(
			err, LANCET_CORRUPT, "constant: a value of %zu bytes", constant->value.len);
	codec->bytes = slice_of(constant->value.data, constant->value.len);
	codec->bits = 8 * (uint64_t)constant->value.len;
	return LANCET_OK;
}

/* Copies what is there already, twice as much each time. */
static void
repeat(uint8_t *place, struct slice value, size_t size)
{
	size_t done = value.size < size ? value.size : size;

	memcpy(place, value.data, done);
	while (done < size) {
		size_t more = done < size - done ? done : size - done;

		memcpy(place + done, place, more);
		done += more;
	}
}

static int
append_value(const struct codec *codec, uint64_t count, struct array *out, struct lancet_error *err)
{
	uint8_t *place;

	TRY(array_extend_fixed(out, (uint32_t)codec->bits, count, &place, err));
	if (count > 0)
		repeat(place, codec->bytes, (size_t)count * codec->bytes.size);
	return LANCET_OK;
}

static int
constant_decode_block(const struct codec *codec, struct slice in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	(void)in;
	(void)scratch;
	if (codec->bits != 0)
		return append_value(codec, count, out, err);
	if (count > 0)
		return lancet_fail(
			err, LANCET_CORRUPT, "constant: no value for %" PRIu64 " values", count);
	return LANCET_OK;
}

static int
constant_decode_values(const struct codec *codec, const struct slice *values, size_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	(void)scratch;
	for (size_t i = 0; i < count; i++)
		if (values[i].size != 0)
			return lancet_fail(err, LANCET_CORRUPT,
				"constant: a value of %zu bytes where none are stored",
				values[i].size);
	if (codec->bits != 0)
		return append_value(codec, count, out, err);
	return array_append_nulls(out, count, err);
}

const struct encoding encoding_constant = {
	.name = "constant",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_CONSTANT,
	.places = CODEC_BLOCK | CODEC_FIXED,
	.open = constant_open,
	.decode_block = constant_decode_block,
	.decode_values = constant_decode_values,
};
