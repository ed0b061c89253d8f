/* The values of an Arrow deletion file, plain or packed by LZ4 or Zstandard, streamed into a set.
 *
 * Input and output go through windows of 64 KiB. Output stops where the number of values says, so a
 * small file that unpacks to gigabytes costs no more than the rows that its fragment has. A packed
 * buffer begins with its unpacked size, i64; -1 means that it is not packed after all.
 */
#include "deletion.h"

#include <inttypes.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <zstd.h>

#include "util/cursor.h"
#include "util/macros.h"

#define WINDOW_SIZE 65536u
#define VALUE_SIZE  4u
#define PREFIX_SIZE 8u
#define STORED      UINT64_MAX /* -1 */
/* Zstandard keeps a history as large as the frame asks for: this much at most. */
#define HISTORY_LOG_MAX 26

struct feed {
	struct source *file;
	uint64_t at, end; /* what is left of the input, in the file */
	uint64_t left;    /* bytes of output still due */
	uint64_t rows;
	roaring_bitmap_t *set;
	uint8_t input[WINDOW_SIZE];
	size_t input_size, input_at;
	uint8_t output[WINDOW_SIZE];
	size_t output_size; /* filled; only whole values are taken from it */
};

static int
refill(struct feed *f, struct lancet_error *err)
{
	uint64_t left = f->end - f->at;
	size_t size = left < WINDOW_SIZE ? (size_t)left : WINDOW_SIZE;

	if (f->input_at < f->input_size)
		return LANCET_OK;
	TRY(source_read_at(f->file, f->at, size, f->input, err));
	f->at += size;
	f->input_size = size;
	f->input_at = 0;
	return LANCET_OK;
}

/* Moves the whole values of the output into the set. */
static int
drain(struct feed *f, struct lancet_error *err)
{
	uint32_t values[1024];
	size_t at = 0;

	while (f->output_size - at >= VALUE_SIZE) {
		size_t count = 0;

		for (; count < ARRAY_SIZE(values) && f->output_size - at >= VALUE_SIZE;
			at += VALUE_SIZE) {
			values[count] = load_u32(f->output + at);
			if (values[count] >= f->rows)
				return lancet_fail(err, LANCET_CORRUPT,
					"row offset %" PRIu32 " of %" PRIu64 " rows", values[count],
					f->rows);
			count++;
		}
		roaring_bitmap_add_many(f->set, count, values);
	}
	memmove(f->output, f->output + at, f->output_size - at);
	f->output_size -= at;
	return LANCET_OK;
}

/* One step of an unpacker: consumes input, appends at most `room` bytes to the output. *ret_ended:
 * the frame is complete. Returns false when the data is damaged. */
typedef bool (*unpack_step)(void *context, struct feed *f, size_t room, bool *ret_ended);

static bool
zstd_step(void *context, struct feed *f, size_t room, bool *ret_ended)
{
	ZSTD_inBuffer in = { f->input, f->input_size, f->input_at };
	ZSTD_outBuffer out = { f->output, f->output_size + room, f->output_size };
	size_t hint = ZSTD_decompressStream(context, &out, &in);

	f->input_at = in.pos;
	f->output_size = out.pos;
	*ret_ended = hint == 0;
	return ZSTD_isError(hint) == 0;
}

static bool
lz4_step(void *context, struct feed *f, size_t room, bool *ret_ended)
{
	size_t in_size = f->input_size - f->input_at;
	size_t out_size = room;
	size_t hint = LZ4F_decompress(context, f->output + f->output_size, &out_size,
		f->input + f->input_at, &in_size, NULL);

	f->input_at += in_size;
	f->output_size += out_size;
	*ret_ended = hint == 0;
	return LZ4F_isError(hint) == 0;
}

static bool
plain_step(void *context, struct feed *f, size_t room, bool *ret_ended)
{
	size_t size = f->input_size - f->input_at;

	(void)context;
	if (size > room)
		size = room;
	memcpy(f->output + f->output_size, f->input + f->input_at, size);
	f->input_at += size;
	f->output_size += size;
	*ret_ended = size == f->left;
	return true;
}

/* Runs steps until the frame ends with exactly the output that is due. */
static int
unpack(struct feed *f, unpack_step step, void *context, struct lancet_error *err)
{
	bool ended = f->left == 0 && step == plain_step;

	while (!ended) {
		size_t room = WINDOW_SIZE - f->output_size;
		size_t before = f->output_size;
		size_t input_before;

		TRY(refill(f, err));
		input_before = f->input_at;
		if (room > f->left)
			room = (size_t)f->left;
		if (!step(context, f, room, &ended))
			return lancet_fail(err, LANCET_CORRUPT, "values: packed data is damaged");
		if (!ended && f->output_size == before && f->input_at == input_before)
			return lancet_fail(err, LANCET_CORRUPT,
				f->left == 0 ? "values: unpack to more than the column has"
					     : "values: packed data is cut");
		f->left -= f->output_size - before;
		TRY(drain(f, err));
	}
	return f->left == 0 ? LANCET_OK
			    : lancet_fail(err, LANCET_CORRUPT, "values: %" PRIu64 " bytes missing",
				      f->left);
}

static int
unpack_zstd(struct feed *f, struct lancet_error *err)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	int rc;

	if (stream == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "Zstandard");
	(void)ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, HISTORY_LOG_MAX);
	rc = unpack(f, zstd_step, stream, err);
	ZSTD_freeDStream(stream);
	return rc;
}

static int
unpack_lz4(struct feed *f, struct lancet_error *err)
{
	LZ4F_dctx *context;
	int rc;

	if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
		return lancet_fail(err, LANCET_NO_MEMORY, "LZ4");
	rc = unpack(f, lz4_step, context, err);
	(void)LZ4F_freeDecompressionContext(context);
	return rc;
}

/* Reads the size in front of a packed buffer; a stored one becomes plain. */
static int
take_prefix(struct feed *f, enum deletion_codec *codec, struct lancet_error *err)
{
	uint8_t prefix[PREFIX_SIZE];
	uint64_t size;

	if (f->end - f->at < PREFIX_SIZE)
		return lancet_fail(err, LANCET_CORRUPT, "values: packed data is cut");
	TRY(source_read_at(f->file, f->at, PREFIX_SIZE, prefix, err));
	f->at += PREFIX_SIZE;
	size = load_u64(prefix);
	if (size == STORED)
		*codec = DELETION_PLAIN;
	else if (size != f->left)
		return lancet_fail(err, LANCET_CORRUPT,
			"values: unpack to %" PRIu64 " bytes, the column has %" PRIu64, size,
			f->left);
	return LANCET_OK;
}

int
deletion_values_add(struct source *file, uint64_t offset, uint64_t size, enum deletion_codec codec,
	uint64_t count, uint64_t rows, roaring_bitmap_t *set, struct lancet_error *err)
{
	lancet_autofree struct feed *f = NULL;

	if (count == 0)
		return LANCET_OK;
	f = malloc(sizeof(*f));
	if (f == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "deletion vector");
	f->file = file;
	f->at = offset;
	f->end = offset + size;
	f->left = count * VALUE_SIZE;
	f->rows = rows;
	f->set = set;
	f->input_size = f->input_at = f->output_size = 0;
	if (codec != DELETION_PLAIN)
		TRY(take_prefix(f, &codec, err));
	if (codec == DELETION_ZSTD)
		return unpack_zstd(f, err);
	return codec == DELETION_LZ4_FRAME ? unpack_lz4(f, err) : unpack(f, plain_step, NULL, err);
}
