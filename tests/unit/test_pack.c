/* What is packed is unpacked: units of every width, planes of bytes, compressed parts. */
#include "encodedvalues.h"
#include "file/byte_planes.h"
#include "file/compress.h"
#include "file/fastlanes.h"

static const unsigned widths[] = { 8, 16, 32, 64 };

START_TEST(units_of_every_width_are_packed)
{
	unsigned bits = widths[_i];
	uint64_t state = 88172645463325252u;
	static uint8_t values[8192], back[8192], packed[8192];

	for (unsigned width = 0; width <= bits; width++) {
		uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;

		for (unsigned i = 0; i < FASTLANES_UNIT; i++) {
			uint64_t value = i == 17 ? mask : random_u64(&state) & mask;

			memcpy(values + i * bits / 8, &value, bits / 8);
		}
		ck_assert_uint_eq(fastlanes_width(bits, values, FASTLANES_UNIT), width);
		fastlanes_pack(bits, width, values, packed);
		fastlanes_unpack(bits, width, packed, back);
		ck_assert_mem_eq(values, back, (size_t)FASTLANES_UNIT * bits / 8);
	}
}
END_TEST

START_TEST(widths_of_few_values)
{
	const uint8_t values[] = { 0, 0, 0, 0, 1, 0, 0, 0x80, 0xff };

	ck_assert_uint_eq(fastlanes_width(8, values, 4), 0);
	ck_assert_uint_eq(fastlanes_width(8, values, 0), 0);
	ck_assert_uint_eq(fastlanes_width(8, values, 5), 1);
	ck_assert_uint_eq(fastlanes_width(8, values, 9), 8);
	ck_assert_uint_eq(fastlanes_width(16, values, 3), 1);
	ck_assert_uint_eq(fastlanes_width(16, values, 4), 16);
	ck_assert_uint_eq(fastlanes_width(32, values, 1), 0);
	ck_assert_uint_eq(fastlanes_width(64, values, 1), 64);
}
END_TEST

/* Counts around the steps, each buffer as long as it has to be. */
START_TEST(planes_are_split_and_joined)
{
	unsigned width = _i == 0 ? 4 : 8;
	uint64_t state = 88172645463325252u;

	for (size_t count = 1; count < 70; count++) {
		size_t stride = count + count % 3;
		uint8_t *values = malloc(count * width), *back = malloc(count * width);
		uint8_t *planes = malloc(stride * width), *close = malloc(count * width);

		for (size_t i = 0; i < count * width; i++)
			values[i] = (uint8_t)random_u64(&state);
		byte_planes_split(values, count, width, planes, stride);
		for (size_t i = 0; i < count; i++)
			for (size_t k = 0; k < width; k++)
				if (planes[k * stride + i] != values[i * width + k])
					ck_abort_msg("byte %zu of value %zu", k, i);
		for (size_t k = 0; k < width; k++)
			memcpy(close + k * count, planes + k * stride, count);
		byte_planes_join(close, count, width, back);
		ck_assert_mem_eq(values, back, count * width);
		free(values);
		free(back);
		free(planes);
		free(close);
	}
}
END_TEST

static const struct {
	enum decompress_scheme scheme;
	size_t sizes[3];
} compressed[] = {
	{ DECOMPRESS_ZSTD, { 0, 0, 0 } },
	{ DECOMPRESS_ZSTD, { 1, 0, 0 } },
	{ DECOMPRESS_ZSTD, { 40000, 1, 300000 } },
	{ DECOMPRESS_ZSTD, { 0, 0, 70000 } },
	{ DECOMPRESS_LZ4, { 0, 0, 0 } },
	{ DECOMPRESS_LZ4, { 0, 1, 0 } },
	{ DECOMPRESS_LZ4, { 40000, 1, 300000 } },
};

START_TEST(parts_are_compressed)
{
	static uint8_t bytes[400000];
	struct compressor compressor = { .scheme = compressed[_i].scheme };
	struct scratch scratch = { 0 };
	struct slice parts[3];
	size_t at = 0;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i >> 12);
	for (unsigned i = 0; i < 3; i++) {
		parts[i] = slice_of(bytes + at, compressed[_i].sizes[i]);
		at += parts[i].size;
	}
	for (int round = 0; round < 3; round++) {
		struct buf into = { 0 }, back = { 0 };

		VALUES_OK(compress_parts(&compressor, parts, 3, &into, NULL));
		VALUES_OK(decompress(
			compressed[_i].scheme, buf_slice(&into), at, &scratch, &back, NULL));
		ck_assert(slice_equal(buf_slice(&back), slice_of(bytes, at)));
		buf_release(&into);
		buf_release(&back);
	}
	compressor_release(&compressor);
	scratch_release(&scratch);
}
END_TEST

static const int planes[2];

UNIT_MAIN("pack", UNIT_LOOP(units_of_every_width_are_packed, widths),
	UNIT_TEST(widths_of_few_values), UNIT_LOOP(planes_are_split_and_joined, planes),
	UNIT_LOOP(parts_are_compressed, compressed))
