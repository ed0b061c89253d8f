/* One chunk of a mini-block page: counts and sizes, then buffers at multiples of 8. Format facts:
 * chunk format.
 */
#include "miniblock_chunk.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "rle.h"
#include "util/cursor.h"
#include "util/macros.h"

#define LEVELS_WRAP 65536u

static void
align(struct cursor *c)
{
	cursor_skip(c, (8 - c->at % 8) % 8);
}

static struct slice
take_buffer(struct cursor *c, uint64_t size)
{
	struct slice bytes = cursor_take(c, size);

	align(c);
	return bytes;
}

/* 16 bits tell the number of levels; old writers let them wrap when the levels were runs, whose
 * lengths then tell it. Runs that overshoot for another reason are cut off by the codec. */
static int
count_levels(const struct miniblock *miniblock, struct scratch *scratch, struct chunk *chunk,
	struct lancet_error *err)
{
	const struct codec *codecs[] = { miniblock->rep, miniblock->def };
	const struct slice blocks[] = { chunk->rep, chunk->def };

	for (size_t i = 0; i < ARRAY_SIZE(codecs); i++) {
		uint64_t total;

		if (codecs[i] == NULL || codecs[i]->version >= FILE_2_3 ||
			codecs[i]->encoding->pb_case !=
				LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_RLE)
			continue;
		TRY(rle_block_length(codecs[i], blocks[i], scratch, &total, err));
		if (total > chunk->entries && total % LEVELS_WRAP == chunk->entries) {
			chunk->entries = total;
			break;
		}
	}
	return LANCET_OK;
}

int
chunk_parse(const struct miniblock *miniblock, uint64_t index, struct slice bytes,
	struct scratch *scratch, struct chunk *ret_chunk, struct lancet_error *err)
{
	struct cursor c = { .in = bytes };
	struct chunk chunk = { .index = index };
	uint32_t rep_size = 0, def_size = 0;
	uint32_t sizes[CHUNK_BUFFERS_MAX];

	chunk.slots = miniblock->slots[index + 1] - miniblock->slots[index];
	chunk.entries = cursor_u16(&c);
	if (miniblock->rep != NULL)
		rep_size = cursor_u16(&c);
	if (miniblock->def != NULL)
		def_size = cursor_u16(&c);
	for (unsigned i = 0; i < miniblock->buffers; i++)
		sizes[i] = miniblock->large ? cursor_u32(&c) : cursor_u16(&c);
	align(&c);
	if (miniblock->rep != NULL)
		chunk.rep = take_buffer(&c, rep_size);
	if (miniblock->def != NULL)
		chunk.def = take_buffer(&c, def_size);
	for (unsigned i = 0; i < miniblock->buffers; i++)
		chunk.values[i] = take_buffer(&c, sizes[i]);
	if (c.bad || cursor_left(&c) != 0)
		return lancet_fail(err, LANCET_CORRUPT,
			"chunk %" PRIu64 ": its buffers don't make up %zu bytes", index,
			bytes.size);
	if (miniblock->rep == NULL && miniblock->def == NULL)
		chunk.entries = chunk.slots;
	else
		TRY(count_levels(miniblock, scratch, &chunk, err));
	*ret_chunk = chunk;
	return LANCET_OK;
}

int
chunk_decode_values(const struct miniblock *miniblock, const struct chunk *chunk,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	struct codec_buffers in = { .buffers = chunk->values, .count = miniblock->buffers };

	return codec_decode_mini(miniblock->values, &in, chunk->slots, scratch, out, err);
}

int
chunk_decode_part(const struct miniblock *miniblock, const struct chunk *chunk, uint64_t first,
	uint64_t part, struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	struct codec_buffers in = { .buffers = chunk->values, .count = miniblock->buffers };

	return codec_decode_part(
		miniblock->values, &in, chunk->slots, first, part, scratch, out, err);
}

/* The last `entries` levels of an array. */
static const uint16_t *
tail(const struct array *levels, uint64_t entries)
{
	return (const uint16_t *)levels->data.data + (levels->length - entries);
}

static int
check_rows(const struct miniblock *miniblock, const struct layers *layers,
	const struct chunk *chunk, const uint16_t *rep, struct lancet_error *err)
{
	uint64_t rows = miniblock->rows[chunk->index + 1] - miniblock->rows[chunk->index];
	uint64_t inner =
		levels_count_up_to(rep, chunk->entries, (uint16_t)(layers->list_count - 1));

	if (chunk->entries - inner != rows)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " rows begin, %" PRIu64 " in the index", chunk->entries - inner,
			rows);
	if (chunk->entries > 0 && rep[0] < layers->list_count &&
		!chunk_continues(miniblock, chunk->index))
		return lancet_fail(err, LANCET_CORRUPT, "the first entry begins no row");
	return LANCET_OK;
}

int
chunk_decode_levels(const struct miniblock *miniblock, const struct layers *layers,
	const struct chunk *chunk, struct scratch *scratch, struct array *rep, struct array *def,
	struct lancet_error *err)
{
	uint64_t visible = chunk->entries;

	if (miniblock->def != NULL) {
		TRY(codec_decode_block(
			miniblock->def, chunk->def, chunk->entries, scratch, def, err));
		visible = levels_count_up_to(
			tail(def, chunk->entries), chunk->entries, (uint16_t)layers->visible_max);
	}
	if (visible != chunk->slots)
		return lancet_fail(err, LANCET_CORRUPT,
			"levels of %" PRIu64 " values, there are %" PRIu64, visible, chunk->slots);
	if (miniblock->rep == NULL)
		return LANCET_OK;
	TRY(codec_decode_block(miniblock->rep, chunk->rep, chunk->entries, scratch, rep, err));
	return check_rows(miniblock, layers, chunk, tail(rep, chunk->entries), err);
}
