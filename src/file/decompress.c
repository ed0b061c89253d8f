/* Decompression with bounds that are known before it begins.
 *
 * zstd has a u64 size in front of one frame, lz4 a u32 in front of a raw block; old writers left
 * bare zstd frames, which are told apart by their magic number. No format makes more of a byte than
 * its ratio below, so a size that promises more is a lie. Format facts: General framing.
 */
#include "decompress.h"

#include <inttypes.h>
#include <lz4.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "util/cursor.h"
#include "util/macros.h"

#define LZ4_RATIO_MAX  255u
#define ZSTD_RATIO_MAX 32768u /* 128 KiB told in 4 bytes: one byte, repeated */
#define BARE_SIZE      ((uint64_t)64 * 1024)

struct target {
	struct buf *into;
	uint64_t size_max;
	struct scratch *scratch;
};

static uint8_t *
target_place(const struct target *target)
{
	return target->into->data + target->into->size;
}

static uint64_t
target_left(const struct target *target)
{
	uint64_t size = target->into->size;

	return size < target->size_max ? target->size_max - size : 0;
}

static int
fail_held(const struct target *target, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_LIMIT,
		"decompressed bytes take more than the %" PRIu64 " they may: ask for fewer rows",
		target->size_max);
}

static int
make_room(const struct target *target, uint64_t size, size_t packed, unsigned ratio_max,
	struct lancet_error *err)
{
	if (size / ratio_max > packed)
		return lancet_fail(err, LANCET_CORRUPT,
			"%zu compressed bytes can't have been %" PRIu64, packed, size);
	if (size > target_left(target))
		return fail_held(target, err);
	if (!buf_reserve(target->into, (size_t)size + 1)) /* + 1: there has to be a place */
		return buf_check(target->into, "decompressed bytes", err);
	return LANCET_OK;
}

static size_t
run_zstd(const struct target *target, struct slice frame, uint64_t size)
{
	return ZSTD_decompressDCtx(
		target->scratch->zstd, target_place(target), (size_t)size, frame.data, frame.size);
}

/* The size that the frame tells, ZSTD_CONTENTSIZE_UNKNOWN when it does not. */
static int
frame_size(struct slice frame, unsigned long long *ret_size, struct lancet_error *err)
{
	unsigned long long size = ZSTD_getFrameContentSize(frame.data, frame.size);

	if (size == ZSTD_CONTENTSIZE_ERROR)
		return lancet_fail(err, LANCET_CORRUPT, "zstd: no frame");
	*ret_size = size;
	return LANCET_OK;
}

static int
finish_zstd(const struct target *target, size_t made, struct lancet_error *err)
{
	if (ZSTD_isError(made))
		return lancet_fail(err, LANCET_CORRUPT, "zstd: %s", ZSTD_getErrorName(made));
	target->into->size += made;
	return LANCET_OK;
}

static int
framed_zstd(const struct target *target, struct slice in, struct lancet_error *err)
{
	struct slice frame = slice_of(in.data + 8, in.size - 8);
	uint64_t size = load_u64(in.data);
	unsigned long long told = 0;
	size_t made;

	TRY(frame_size(frame, &told, err));
	if (told != ZSTD_CONTENTSIZE_UNKNOWN && told != size)
		return lancet_fail(err, LANCET_CORRUPT,
			"zstd: a frame of %llu bytes where %" PRIu64 " are announced", told, size);
	TRY(make_room(target, size, frame.size, ZSTD_RATIO_MAX, err));
	made = run_zstd(target, frame, size);
	if (!ZSTD_isError(made) && made != size)
		return lancet_fail(err, LANCET_CORRUPT,
			"zstd: %zu bytes come out where %" PRIu64 " are announced", made, size);
	return finish_zstd(target, made, err);
}

/* A frame that need not tell its size: tried with more room until it fits. */
static int
bare_zstd(const struct target *target, struct slice frame, struct lancet_error *err)
{
	uint64_t room = BARE_SIZE, room_max = target_left(target);
	unsigned long long told = 0;
	size_t made;

	TRY(frame_size(frame, &told, err));
	if (told != ZSTD_CONTENTSIZE_UNKNOWN)
		room = room_max = told;
	else if (room_max / ZSTD_RATIO_MAX > frame.size)
		room_max = frame.size * (uint64_t)ZSTD_RATIO_MAX;
	for (;; room *= 2) {
		room = room < room_max ? room : room_max;
		TRY(make_room(target, room, frame.size, ZSTD_RATIO_MAX, err));
		made = run_zstd(target, frame, room);
		if (ZSTD_getErrorCode(made) != ZSTD_error_dstSize_tooSmall)
			return finish_zstd(target, made, err);
		if (room == room_max && told == ZSTD_CONTENTSIZE_UNKNOWN &&
			room == target_left(target))
			return fail_held(target, err);
		if (room == room_max)
			return finish_zstd(target, made, err);
	}
}

static bool
is_bare_frame(struct slice in)
{
	return in.size < 8 || (load_u32(in.data) == ZSTD_MAGICNUMBER && (in.data[4] & 0x10) == 0);
}

static int
run_lz4(const struct target *target, struct slice in, struct lancet_error *err)
{
	uint32_t size;
	int made;

	if (in.size < 4 || in.size - 4 > LZ4_MAX_INPUT_SIZE)
		return lancet_fail(err, LANCET_CORRUPT, "lz4: a buffer of %zu bytes", in.size);
	size = load_u32(in.data);
	TRY(make_room(target, size, in.size - 4, LZ4_RATIO_MAX, err));
	if (size > LZ4_MAX_INPUT_SIZE)
		return lancet_fail(err, LANCET_CORRUPT, "lz4: %" PRIu32 " bytes announced", size);
	made = LZ4_decompress_safe((const char *)in.data + 4, (char *)target_place(target),
		(int)(in.size - 4), (int)size);
	if (made < 0)
		return lancet_fail(err, LANCET_CORRUPT, "lz4: damaged block");
	if ((uint32_t)made != size)
		return lancet_fail(err, LANCET_CORRUPT,
			"lz4: %d bytes come out where %" PRIu32 " are announced", made, size);
	target->into->size += size;
	return LANCET_OK;
}

int
decompress(enum decompress_scheme scheme, struct slice in, uint64_t size_max,
	struct scratch *scratch, struct buf *into, struct lancet_error *err)
{
	struct target target = { into, size_max, scratch };

	if (in.size == 0)
		return LANCET_OK;
	if (scheme == DECOMPRESS_LZ4)
		return run_lz4(&target, in, err);
	if (scratch->zstd == NULL)
		scratch->zstd = ZSTD_createDCtx();
	if (scratch->zstd == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "zstd");
	return is_bare_frame(in) ? bare_zstd(&target, in, err) : framed_zstd(&target, in, err);
}
