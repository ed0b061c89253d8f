/* Compression; see compress.h. The frame tells its size, as readers of all releases expect. Format
 * facts: General framing. */
#include "compress.h"

#include <lz4.h>
#include <zstd.h>

#include "util/macros.h"

/* ZSTD_c_literalCompressionMode and ZSTD_lcm_huffman, which headers have for static linking only.
 */
#define LITERAL_MODE    ZSTD_c_experimentalParam5
#define LITERAL_HUFFMAN 1
#define STRIDE_MAX      131072 /* ZSTD_TARGETLENGTH_MAX */

#define QUICK_MATCH_MIN 5  /* bytes */
#define QUICK_LOG2      11 /* entries of the table of matches */

#define BLOCK_SLACK 64u /* bytes that a block may cost over what is in it, and a frame */

void
compressor_release(struct compressor *compressor)
{
	ZSTD_freeCCtx(compressor->zstd);
	compressor->zstd = NULL;
}

static int
fail_zstd(size_t code, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "zstd: %s", ZSTD_getErrorName(code));
}

/* No matches: strides are longer than what is compressed. Of the library's own accord symbols would
 * not be counted then either; asking for it is a parameter that releases may not know, which makes
 * the result larger, not wrong. */
static size_t
want_symbols(ZSTD_CCtx *zstd)
{
	size_t rc = ZSTD_CCtx_setParameter(zstd, ZSTD_c_strategy, ZSTD_fast);

	if (ZSTD_isError(ZSTD_CCtx_setParameter(zstd, LITERAL_MODE, LITERAL_HUFFMAN)))
		return rc;
	return ZSTD_isError(rc) ? rc
				: ZSTD_CCtx_setParameter(zstd, ZSTD_c_targetLength, STRIDE_MAX);
}

/* Of numbers a level finds what the next one does, so that only speed counts: the table fits the
 * cache that is closest. */
static size_t
want_quick(ZSTD_CCtx *zstd)
{
	size_t rc = ZSTD_CCtx_setParameter(zstd, ZSTD_c_strategy, ZSTD_fast);

	if (!ZSTD_isError(rc))
		rc = ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, QUICK_MATCH_MIN);
	return ZSTD_isError(rc) ? rc : ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, QUICK_LOG2);
}

static int
make_zstd(struct compressor *compressor, struct lancet_error *err)
{
	size_t rc;

	compressor->zstd = ZSTD_createCCtx();
	if (compressor->zstd == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "zstd");
	rc = ZSTD_CCtx_setParameter(compressor->zstd, ZSTD_c_compressionLevel, compressor->level);
	if (!ZSTD_isError(rc))
		rc = ZSTD_CCtx_setParameter(
			compressor->zstd, ZSTD_c_minMatch, compressor->match_min);
	if (!ZSTD_isError(rc) && compressor->quick)
		rc = want_quick(compressor->zstd);
	if (!ZSTD_isError(rc) && compressor->symbols)
		rc = want_symbols(compressor->zstd);
	return ZSTD_isError(rc) ? fail_zstd(rc, err) : LANCET_OK;
}

static int
start_zstd(struct compressor *compressor, uint64_t size, struct lancet_error *err)
{
	size_t rc;

	if (compressor->zstd == NULL)
		TRY(make_zstd(compressor, err));
	ZSTD_CCtx_reset(compressor->zstd, ZSTD_reset_session_only);
	rc = ZSTD_CCtx_setPledgedSrcSize(compressor->zstd, size);
	return ZSTD_isError(rc) ? fail_zstd(rc, err) : LANCET_OK;
}

static int
put_zstd(struct compressor *compressor, struct slice part, ZSTD_EndDirective directive,
	struct buf *into, struct lancet_error *err)
{
	ZSTD_inBuffer in = { part.data, part.size, 0 };
	ZSTD_outBuffer out = { into->data + into->size, into->capacity - into->size, 0 };
	size_t left = ZSTD_compressStream2(compressor->zstd, &out, &in, directive);

	if (ZSTD_isError(left))
		return fail_zstd(left, err);
	if (left != 0)
		return lancet_fail(err, LANCET_NO_MEMORY, "zstd: no room");
	into->size += out.pos;
	return LANCET_OK;
}

static int
run_zstd(struct compressor *compressor, const struct slice *parts, size_t count, uint64_t size,
	struct buf *into, struct lancet_error *err)
{
	buf_put(into, &size, sizeof(size));
	if (!buf_reserve(into, ZSTD_compressBound((size_t)size) + (count + 1) * BLOCK_SLACK))
		return buf_check(into, "compressed values", err);
	TRY(start_zstd(compressor, size, err));
	for (size_t i = 0; i < count; i++)
		TRY(put_zstd(compressor, parts[i], i + 1 == count ? ZSTD_e_end : ZSTD_e_flush, into,
			err));
	return LANCET_OK;
}

/* Nothing has a size, too: the reference demands it. */
static int
run_lz4(struct slice in, struct buf *into, struct lancet_error *err)
{
	uint32_t size = (uint32_t)in.size;
	int bound = LZ4_compressBound((int)in.size), made;

	buf_put(into, &size, sizeof(size));
	if (!buf_reserve(into, (size_t)bound))
		return buf_check(into, "compressed values", err);
	made = LZ4_compress_default(in.size == 0 ? "" : (const char *)in.data,
		(char *)into->data + into->size, (int)in.size, bound);
	if (made <= 0)
		return lancet_fail(err, LANCET_NO_MEMORY, "lz4");
	into->size += (size_t)made;
	return LANCET_OK;
}

/* lz4 has no blocks: the parts are put together first. */
static int
join_lz4(const struct slice *parts, size_t count, struct buf *into, struct lancet_error *err)
{
	struct buf joined = { 0 };
	int rc;

	if (count == 1)
		return run_lz4(parts[0], into, err);
	for (size_t i = 0; i < count; i++)
		buf_put_slice(&joined, parts[i]);
	rc = buf_check(&joined, "compressed values", err);
	if (rc == LANCET_OK)
		rc = run_lz4(buf_slice(&joined), into, err);
	buf_release(&joined);
	return rc;
}

int
compress_parts(struct compressor *compressor, const struct slice *parts, size_t count,
	struct buf *into, struct lancet_error *err)
{
	uint64_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += parts[i].size;
	if (compressor->scheme == DECOMPRESS_ZSTD)
		return size == 0 ? LANCET_OK : run_zstd(compressor, parts, count, size, into, err);
	if (size > LZ4_MAX_INPUT_SIZE)
		return lancet_fail(err, LANCET_LIMIT, "lz4: %llu bytes", (unsigned long long)size);
	return join_lz4(parts, count, into, err);
}

int
compress(struct compressor *compressor, struct slice in, struct buf *into, struct lancet_error *err)
{
	return compress_parts(compressor, &in, 1, into, err);
}
