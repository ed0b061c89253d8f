/* Compressed buffers: both framings and the bare one, sizes that lie, and what may be held. */
#include "codecs.h"

#include <lz4.h>
#include <zstd.h>

#include "file/decompress.h"

#define ZSTD_FLAT8   "520a0a0208021a040a020808"
#define LZ4_FLAT8    "520a0a0208011a040a020808"
#define ZSTD_VAR32   "520e0a0208021a0812060a040a020820"
#define LZ4_VAR32    "520e0a0208011a0812060a040a020820"
#define ZSTD_INLINE8 "520a0a0208021a042a020808"

/* A frame of one raw block: magic, "one segment, size in a byte", size, 5 << 3 | last, bytes. */
#define FRAME "28b52ffd 20 05 290000 6162636465"
/* The same without its size: "window 1 KiB". */
#define FRAME_UNSIZED "28b52ffd 00 00 290000 6162636465"
/* One block of a repeated byte: 5 << 3 | 1 << 1 | last. */
#define FRAME_REPEATED "28b52ffd 20 05 2b0000 61"
#define FIVE           "0500000000000000"
/* 5 literals; 3 literals and a match of 4 bytes 1 back, then 12 literals. */
#define LZ4_BLOCK   "05000000 50 6162636465"
#define LZ4_MATCHED "13000000 30 616161 0100 c0 626364656667686970717273"

static const struct codec_row rows[] = {
	{ "zstd", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 5, { FIVE FRAME }, LANCET_OK,
		"6162636465" },
	{ "zstd without a size in the frame", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 5,
		{ FIVE FRAME_UNSIZED }, LANCET_OK, "6162636465" },
	{ "zstd of one byte", ZSTD_FLAT8, CODEC_BLOCK, 0, &codec_u8, 5, { FIVE FRAME_REPEATED },
		LANCET_OK, "6161616161" },
	{ "a bare frame", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 5, { FRAME }, LANCET_OK,
		"6162636465" },
	{ "a bare frame without a size", ZSTD_FLAT8, CODEC_BLOCK, 0, &codec_u8, 5,
		{ FRAME_UNSIZED }, LANCET_OK, "6162636465" },
	{ "lz4", LZ4_FLAT8, CODEC_MINI, 0, &codec_u8, 5, { LZ4_BLOCK }, LANCET_OK, "6162636465" },
	{ "lz4 with a match", LZ4_FLAT8, CODEC_BLOCK, 0, &codec_u8, 19, { LZ4_MATCHED }, LANCET_OK,
		"61616161616161626364656667686970717273" },
	{ "nothing", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 0, { "" }, LANCET_OK, "" },
	{ "nothing with lz4", LZ4_FLAT8, CODEC_BLOCK, 0, &codec_u8, 0, { "" }, LANCET_OK, "" },
	{ "values each for itself", ZSTD_VAR32, CODEC_VARIABLE, 0, &codec_text, 4,
		{ FIVE FRAME, "", FRAME_UNSIZED, FIVE FRAME_REPEATED }, LANCET_OK,
		"abcde||abcde|aaaaa|" },
	{ "empty values only", LZ4_VAR32, CODEC_VARIABLE, 0, &codec_text, 2, { "", "" }, LANCET_OK,
		"||" },
	{ "no values", LZ4_VAR32, CODEC_VARIABLE, 0, &codec_text, 0, { NULL }, LANCET_OK, "" },
	{ "text in a block", LZ4_VAR32, CODEC_BLOCK, 0, &codec_text, 1,
		{ "13000000 f004 20000000100000000000000003000000 616263" }, LANCET_OK, "abc|" },

	{ "more than the frame says", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 5,
		{ "0600000000000000" FRAME }, LANCET_CORRUPT,
		"a frame of 5 bytes where 6 are announced" },
	{ "more than comes out", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 5,
		{ "0600000000000000" FRAME_UNSIZED }, LANCET_CORRUPT,
		"5 bytes come out where 6 are announced" },
	{ "less than comes out", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 4,
		{ "0400000000000000" FRAME_UNSIZED }, LANCET_CORRUPT, "zstd: " },
	{ "2^60 bytes of 9", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 5,
		{ "0000000000000010" FRAME_UNSIZED }, LANCET_CORRUPT,
		"14 compressed bytes can't have been 1152921504606846976" },
	{ "2^64 - 1 bytes", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 5,
		{ "ffffffffffffffff" FRAME_UNSIZED }, LANCET_CORRUPT, "can't have been" },
	{ "a bare frame of 2^60 bytes", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 5,
		{ "28b52ffde00000000000000010290000 6162636465" }, LANCET_CORRUPT,
		"can't have been" },
	{ "no frame", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 5, { FIVE "6162636465666768" },
		LANCET_CORRUPT, "zstd: no frame" },
	{ "a cut frame", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 5, { FIVE "28b52ffd200529000061" },
		LANCET_CORRUPT, "zstd: " },
	{ "a cut bare frame", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 5, { "28b52ffd200529000061" },
		LANCET_CORRUPT, "zstd: " },
	{ "a size alone", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 5, { FIVE }, LANCET_CORRUPT,
		"zstd: no frame" },
	{ "7 bytes", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 5, { "05000000000000" }, LANCET_CORRUPT,
		"zstd: no frame" },
	{ "lz4 that announces more", LZ4_FLAT8, CODEC_MINI, 0, &codec_u8, 5,
		{ "06000000 50 6162636465" }, LANCET_CORRUPT,
		"5 bytes come out where 6 are announced" },
	{ "lz4 that announces less", LZ4_FLAT8, CODEC_MINI, 0, &codec_u8, 4,
		{ "04000000 50 6162636465" }, LANCET_CORRUPT, "lz4: damaged block" },
	{ "lz4 that announces 2^32 - 1", LZ4_FLAT8, CODEC_MINI, 0, &codec_u8, 5,
		{ "ffffffff 50 6162636465" }, LANCET_CORRUPT,
		"6 compressed bytes can't have been 4294967295" },
	{ "a match before the start", LZ4_FLAT8, CODEC_MINI, 0, &codec_u8, 12,
		{ "13000000 30 616161 0400 c0 626364656667686970717273" }, LANCET_CORRUPT,
		"lz4: damaged block" },
	{ "lz4 of 3 bytes", LZ4_FLAT8, CODEC_MINI, 0, &codec_u8, 5, { "050000" }, LANCET_CORRUPT,
		"lz4: a buffer of 3 bytes" },
	{ "lz4 of a size alone", LZ4_FLAT8, CODEC_MINI, 0, &codec_u8, 5, { "05000000" },
		LANCET_CORRUPT, "lz4: damaged block" },
	{ "one value damaged", LZ4_VAR32, CODEC_VARIABLE, 0, &codec_text, 2, { LZ4_BLOCK, "05" },
		LANCET_CORRUPT, "lz4: a buffer of 1 bytes" },
	{ "what is inside is too short", ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 6, { FIVE FRAME },
		LANCET_CORRUPT, "flat: 5 bytes for 6 values of 8 bits" },
	{ "nothing inside for a value", ZSTD_INLINE8, CODEC_MINI, 0, &codec_u8, 1, { "" },
		LANCET_CORRUPT, "0 bytes have no packed width" },

	{ "no scheme", "52061a040a020808", CODEC_MINI, 0, &codec_u8, 1, { "00" }, LANCET_CORRUPT,
		"general: no compression is named" },
	{ "scheme 3", "520a0a0208031a040a020808", CODEC_MINI, 0, &codec_u8, 1, { "00" },
		LANCET_UNSUPPORTED, "general: compression scheme 3" },
	{ "nothing to compress", "52040a020802", CODEC_MINI, 0, &codec_u8, 1, { "00" },
		LANCET_CORRUPT, "unknown kind" },
	{ "compressed twice", "52120a0208021a0c" ZSTD_FLAT8, CODEC_MINI, 0, &codec_u8, 1, { "00" },
		LANCET_CORRUPT, "general: compressed twice" },
	{ "numbers each for itself", ZSTD_FLAT8, CODEC_VARIABLE, 0, &codec_u8, 1, { "00" },
		LANCET_CORRUPT, "flat as a per-value encoding of variable size" },
};

START_TEST(buffers_come_out_or_a_reason)
{
	run_codec_row(&rows[_i]);
}
END_TEST

/* Bytes that repeat, so that they are much larger than what is stored of them. */
static struct buf
compressed(enum decompress_scheme scheme, size_t size, bool bare)
{
	uint8_t *bytes = malloc(size);
	struct buf packed = { 0 };
	uint64_t told = size;
	size_t room = ZSTD_compressBound(size) + 64;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(i % 100);
	if (!bare)
		buf_put(&packed, &told, scheme == DECOMPRESS_ZSTD ? 8 : 4);
	ck_assert(buf_reserve(&packed, room));
	if (scheme == DECOMPRESS_ZSTD)
		packed.size += ZSTD_compress(packed.data + packed.size, room, bytes, size, 3);
	else
		packed.size += (size_t)LZ4_compress_default((const char *)bytes,
			(char *)packed.data + packed.size, (int)size, (int)room);
	free(bytes);
	return packed;
}

static const struct {
	const char *label;
	enum decompress_scheme scheme;
	bool bare;
	size_t size, size_max;
	enum lancet_code want;
} large[] = {
	{ "zstd", DECOMPRESS_ZSTD, false, 300000, 300000, LANCET_OK },
	{ "bare zstd", DECOMPRESS_ZSTD, true, 300000, 300000, LANCET_OK },
	{ "lz4", DECOMPRESS_LZ4, false, 300000, 300000, LANCET_OK },
	{ "zstd beyond the limit", DECOMPRESS_ZSTD, false, 300000, 299999, LANCET_LIMIT },
	{ "bare zstd beyond it", DECOMPRESS_ZSTD, true, 300000, 299999, LANCET_LIMIT },
	{ "lz4 beyond it", DECOMPRESS_LZ4, false, 300000, 299999, LANCET_LIMIT },
};

START_TEST(nothing_is_held_beyond_the_limit)
{
	struct buf packed = compressed(large[_i].scheme, large[_i].size, large[_i].bare);
	struct scratch scratch = { 0 };
	struct buf into = { 0 };
	struct lancet_error err = { 0 };
	int rc = decompress(
		large[_i].scheme, buf_slice(&packed), large[_i].size_max, &scratch, &into, &err);

	ck_assert_msg(rc == (int)large[_i].want, "%s: %s", large[_i].label, err.text);
	ck_assert(rc == LANCET_OK || into.capacity == 0);
	ck_assert_uint_eq(into.size, rc == LANCET_OK ? large[_i].size : 0);
	for (size_t i = 0; i < into.size; i++)
		ck_assert_uint_eq(into.data[i], i % 100);
	buf_release(&into);
	buf_release(&packed);
	scratch_release(&scratch);
}
END_TEST

/* Streams don't tell their size: room is doubled until all fits. */
START_TEST(bare_streams_grow)
{
	struct buf packed = compressed(DECOMPRESS_ZSTD, 1000000, true);
	struct scratch scratch = { 0 };
	struct buf into = { 0 };
	struct lancet_error err = { 0 };
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_inBuffer in = { calloc(1, 1000000), 1000000, 0 };
	ZSTD_outBuffer out = { packed.data, packed.capacity, 0 };

	while (ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue) > 0 && in.pos < in.size)
		continue;
	ck_assert_uint_eq(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
	packed.size = out.pos;
	ck_assert_int_eq(
		decompress(DECOMPRESS_ZSTD, buf_slice(&packed), 1000000, &scratch, &into, &err),
		LANCET_OK);
	ck_assert_uint_eq(into.size, 1000000);
	into.size = 0;
	ck_assert_int_eq(
		decompress(DECOMPRESS_ZSTD, buf_slice(&packed), 999999, &scratch, &into, &err),
		LANCET_LIMIT);
	ZSTD_freeCCtx(context);
	free((void *)(uintptr_t)in.src);
	buf_release(&into);
	buf_release(&packed);
	scratch_release(&scratch);
}
END_TEST

/* What is decompressed may not cost much more than what it becomes may. */
START_TEST(the_budget_of_values_bounds_what_is_held)
{
	struct buf packed = compressed(DECOMPRESS_ZSTD, 1000000, false);
	struct codec_rig rig = { 0 };

	ck_assert_int_eq(rig_open(&rig, ZSTD_FLAT8, CODEC_BLOCK, 0, &codec_u8), LANCET_OK);
	rig.budget.limit = 100000;
	ck_assert_int_eq(codec_decode_block(rig.codec, buf_slice(&packed), 10, &rig.scratch,
				 &rig.out, &rig.err),
		LANCET_LIMIT);
	ck_assert_uint_eq(rig.scratch.buffers[0].capacity, 0);
	buf_release(&packed);
	rig_release(&rig);
}
END_TEST

UNIT_MAIN("general", UNIT_LOOP(buffers_come_out_or_a_reason, rows),
	UNIT_LOOP(nothing_is_held_beyond_the_limit, large), UNIT_TEST(bare_streams_grow),
	UNIT_TEST(the_budget_of_values_bounds_what_is_held))
