/* Reading rows of mini-block pages: each chunk that holds some of them is read and decoded once.
 *
 * A chunk whose rows are all wanted is decoded in place, behind what is there already; of others
 * the wanted parts are copied. Levels are gathered over all chunks and unravelled at the end, as
 * rows may span chunks. Neighbouring chunks are one read. Format facts: mini-block layout.
 */
#include "miniblock_chunk.h"

#include <assert.h>

#include "util/bits.h"
#include "util/macros.h"

#define CHUNKS_BUFFER   1
#define WINDOW_SIZE_MAX ((uint64_t)1 << 20) /* bytes of neighbouring chunks read at once */

struct reading {
	struct page_reader *reader;
	struct miniblock *miniblock;
	const struct row_range *ranges; /* the first is the one being read */
	size_t count;
	struct buf *window; /* bytes of chunks [window_first, window_end) */
	uint64_t window_first, window_end;
	struct array *target; /* of values: out, or indices */
	struct array rep, def;
	struct chunk_parts own;          /* of a chunk that is not kept */
	const struct chunk_parts *parts; /* of the one that is read */
	struct array indices;            /* of the page dictionary */
	struct lancet_error *err;
};

static void
reading_release(struct reading *reading)
{
	array_release(&reading->rep);
	array_release(&reading->def);
	chunk_parts_release(&reading->own);
	array_release(&reading->indices);
}

static int
reading_init(struct reading *reading, struct array *out)
{
	const struct miniblock *miniblock = reading->miniblock;
	const struct field *level = field_unsigned(16);
	struct array_budget *budget = out->budget;
	struct lancet_error *err = reading->err;

	reading->target = out;
	TRY(array_init(&reading->rep, level, budget, err));
	TRY(array_init(&reading->def, level, budget, err));
	if (miniblock->has_dictionary) {
		TRY(array_init(&reading->indices, field_unsigned((uint32_t)miniblock->values->bits),
			budget, err));
		reading->target = &reading->indices;
	}
	return chunk_parts_init(&reading->own, reading->target->field, budget, err);
}

/* The last chunk from `low` on that begins at or before the row: the one where the row begins. */
static uint64_t
find_chunk(const struct miniblock *miniblock, uint64_t low, uint64_t row)
{
	uint64_t high = miniblock->chunk_count;

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (miniblock->rows[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* True when rows before `end` go on behind the chunk. */
static bool
passes_chunk(const struct miniblock *miniblock, uint64_t chunk, uint64_t end)
{
	return end > miniblock->rows[chunk + 1] ||
	       (end == miniblock->rows[chunk + 1] && chunk_continues(miniblock, chunk + 1));
}

static uint64_t
range_end(const struct row_range *range)
{
	return range->first + range->count;
}

/* The chunk to read after this one for the ranges from *at on, or UINT64_MAX; *at is moved on. */
static uint64_t
next_chunk(const struct reading *reading, uint64_t chunk, size_t *at)
{
	const struct miniblock *miniblock = reading->miniblock;

	for (;;) {
		if (passes_chunk(miniblock, chunk, range_end(&reading->ranges[*at])))
			return chunk + 1;
		if (++*at == reading->count)
			return UINT64_MAX;
		if (reading->ranges[*at].first >= miniblock->rows[chunk + 1])
			return find_chunk(miniblock, chunk + 1, reading->ranges[*at].first);
	}
}

/* Reads the chunk and those behind it that will be needed next. */
static int
load_window(struct reading *reading, uint64_t chunk)
{
	const struct miniblock *miniblock = reading->miniblock;
	const uint64_t *offsets = miniblock->offsets;
	uint64_t last = chunk, size;
	size_t at = 0;

	while (next_chunk(reading, last, &at) == last + 1 &&
		offsets[last + 2] - offsets[chunk] <= WINDOW_SIZE_MAX)
		last++;
	size = offsets[last + 1] - offsets[chunk];
	reading->window->size = 0;
	if (!buf_reserve(reading->window, (size_t)size))
		return buf_check(reading->window, "chunks", reading->err);
	TRY(page_read(reading->reader, CHUNKS_BUFFER, offsets[chunk], (size_t)size,
		reading->window->data, reading->err));
	reading->window_first = chunk;
	reading->window_end = last + 1;
	return LANCET_OK;
}

static int
load_chunk(struct reading *reading, uint64_t index, struct chunk *ret_chunk)
{
	const struct miniblock *miniblock = reading->miniblock;
	const uint64_t *offsets = miniblock->offsets;
	struct slice bytes;

	if (index < reading->window_first || index >= reading->window_end)
		TRY(load_window(reading, index));
	bytes = slice_of(reading->window->data + (offsets[index] - offsets[reading->window_first]),
		(size_t)(offsets[index + 1] - offsets[index]));
	return chunk_parse(
		miniblock, index, bytes, reading->reader->scratch, ret_chunk, reading->err);
}

/* True when the first range has all entries of the chunk. */
static bool
wants_whole(const struct reading *reading, uint64_t chunk)
{
	const struct miniblock *miniblock = reading->miniblock;
	uint64_t first = reading->ranges[0].first;

	return range_end(&reading->ranges[0]) >= miniblock->rows[chunk + 1] &&
	       (first < miniblock->rows[chunk] ||
		       (first == miniblock->rows[chunk] && !chunk_continues(miniblock, chunk)));
}

static int
decode_whole(struct reading *reading, const struct chunk *chunk)
{
	struct scratch *scratch = reading->reader->scratch;

	TRY(chunk_decode_levels(reading->miniblock, &reading->reader->layers, chunk, scratch,
		&reading->rep, &reading->def, reading->err));
	return chunk_decode_values(
		reading->miniblock, chunk, scratch, reading->target, reading->err);
}

/* A place in the chunk, and what was passed on the way to it. */
struct place {
	uint64_t entry, row, slot;
};

static const uint16_t *
levels_of(const struct codec *codec, const struct array *levels)
{
	return codec == NULL ? NULL : (const uint16_t *)levels->data.data;
}

/* Moves on to where row `row` of those that begin in the chunk does so; beyond the last one to the
 * end. */
static void
move_to_row(
	const struct reading *reading, const struct chunk *chunk, struct place *place, uint64_t row)
{
	const struct layers *layers = &reading->reader->layers;
	const uint16_t *rep = levels_of(reading->miniblock->rep, &reading->parts->rep);
	const uint16_t *def = levels_of(reading->miniblock->def, &reading->parts->def);

	if (rep == NULL) {
		place->entry = place->slot = place->row = row < chunk->slots ? row : chunk->slots;
		return;
	}
	while (place->entry < chunk->entries) {
		bool begins = rep[place->entry] >= layers->list_count;

		if (begins && place->row == row)
			return;
		place->row += begins;
		place->slot += def == NULL || def[place->entry] <= layers->visible_max;
		place->entry++;
	}
}

static int
append_part(struct reading *reading, const struct chunk *chunk, const struct place *from,
	const struct place *to)
{
	uint64_t entries = to->entry - from->entry, slots = to->slot - from->slot;

	if (reading->miniblock->rep != NULL)
		TRY(array_append_range(
			&reading->rep, &reading->parts->rep, from->entry, entries, reading->err));
	if (reading->miniblock->def != NULL)
		TRY(array_append_range(
			&reading->def, &reading->parts->def, from->entry, entries, reading->err));
	if (codec_has_parts(reading->miniblock->values))
		return chunk_decode_part(reading->miniblock, chunk, from->slot, slots,
			reading->reader->scratch, reading->target, reading->err);
	return array_append_range(
		reading->target, &reading->parts->values, from->slot, slots, reading->err);
}

/* Whether all that a part of the chunk takes is there. */
static bool
is_kept(const struct reading *reading, uint64_t index)
{
	const struct kept_chunk *kept = &reading->miniblock->kept;

	return kept->filled && kept->index == index;
}

static int
load_parts(struct reading *reading, const struct chunk *chunk)
{
	struct page_reader *reader = reading->reader;
	bool kept = is_kept(reading, chunk->index);

	if (!kept)
		TRY(chunk_keep(reading->miniblock, reading->target->field, &reader->layers, chunk,
			reader->scratch, &kept, reading->err));
	reading->parts = kept ? &reading->miniblock->kept.parts : &reading->own;
	return kept ? LANCET_OK
		    : chunk_parts_fill(&reading->own, reading->miniblock, &reader->layers, chunk,
			      reader->scratch, reading->err);
}

static int
decode_part(struct reading *reading, const struct chunk *chunk)
{
	const struct miniblock *miniblock = reading->miniblock;
	uint64_t first_row = miniblock->rows[chunk->index];
	struct place from, to = { 0 };

	TRY(load_parts(reading, chunk));
	for (size_t i = 0; i < reading->count; i++) {
		const struct row_range *range = &reading->ranges[i];

		if (range->first >= miniblock->rows[chunk->index + 1])
			break;
		from = to;
		if (range->first >= first_row)
			move_to_row(reading, chunk, &from, range->first - first_row);
		to = from;
		move_to_row(reading, chunk, &to, range_end(range) - first_row);
		TRY(append_part(reading, chunk, &from, &to));
		if (passes_chunk(miniblock, chunk->index, range_end(range)))
			break;
	}
	return LANCET_OK;
}

static int
read_chunk(struct reading *reading, uint64_t index)
{
	const struct kept_chunk *kept = &reading->miniblock->kept;
	bool whole = wants_whole(reading, index);
	struct chunk chunk = { .index = index, .slots = kept->slots, .entries = kept->entries };

	if (whole || !is_kept(reading, index))
		TRY(load_chunk(reading, index, &chunk));
	return whole ? decode_whole(reading, &chunk) : decode_part(reading, &chunk);
}

static int
read_chunks(struct reading *reading)
{
	uint64_t index = find_chunk(reading->miniblock, 0, reading->ranges[0].first);

	while (index != UINT64_MAX) {
		size_t at = 0;

		TRY(read_chunk(reading, index));
		index = next_chunk(reading, index, &at);
		reading->ranges += at;
		reading->count -= at;
	}
	return LANCET_OK;
}

/* Bits of the slots of a run: 1 where there is a value. */
static int
slot_validity(const struct layers *layers, const struct level_run *run, struct buf *bitmap,
	struct lancet_error *err)
{
	uint64_t slot = 0;

	if (!buf_reserve(bitmap, (size_t)run->count / 8 + 1))
		return buf_check(bitmap, "validity", err);
	if (layers->visible_max == layers->definition_max) {
		levels_bitmap(run->def, run->count, 0, bitmap->data);
		return LANCET_OK;
	}
	memset(bitmap->data, 0, (size_t)run->count / 8 + 1);
	for (uint64_t i = 0; i < run->count; i++) {
		bitmap->data[slot >> 3] |= (uint8_t)((run->def[i] == 0) << (slot & 7));
		slot += run->def[i] <= layers->visible_max;
	}
	return LANCET_OK;
}

static int
append_items(struct reading *reading, const struct level_run *run, struct leaf_out *out)
{
	struct page_reader *reader = reading->reader;
	struct buf *bitmap;
	int rc = LANCET_OK;

	if (run->def == NULL)
		return page_dictionary_append(reader, &reading->miniblock->dictionary,
			&reading->indices, NULL, &out->leaf, reading->err);
	bitmap = scratch_take(reader->scratch, 0);
	if (bitmap == NULL)
		return lancet_fail(reading->err, LANCET_LIMIT, "too many buffers in use");
	rc = slot_validity(&reader->layers, run, bitmap, reading->err);
	if (rc == LANCET_OK)
		rc = page_dictionary_append(reader, &reading->miniblock->dictionary,
			&reading->indices, bitmap->data, &out->leaf, reading->err);
	scratch_give(reader->scratch);
	return rc;
}

static int
finish_rows(struct reading *reading, struct leaf_out *out, uint64_t length)
{
	const struct layers *layers = &reading->reader->layers;
	const struct miniblock *miniblock = reading->miniblock;
	struct level_run run = { .rep = levels_of(miniblock->rep, &reading->rep),
		.def = levels_of(miniblock->def, &reading->def),
		.count = reading->target->length - length };
	uint64_t visible;

	if (run.rep != NULL)
		run.count = reading->rep.length;
	else if (run.def != NULL)
		run.count = reading->def.length;
	TRY(levels_count_visible(layers, &run, &visible, reading->err));
	assert(visible == reading->target->length - length); /* chunk by chunk */
	if (miniblock->has_dictionary)
		TRY(append_items(reading, &run, out));
	return levels_unravel(layers, &run, out, reading->err);
}

/* Takes the window, sets up what a read needs, and reads all chunks. */
static int
read_target(struct reading *reading, struct array *out)
{
	const struct row_range *last = &reading->ranges[reading->count - 1];
	const struct miniblock *miniblock = reading->miniblock;
	int rc;

	if (range_end(last) > miniblock->rows[miniblock->chunk_count])
		return lancet_fail(reading->err, LANCET_CORRUPT, "rows beyond those of the page");
	TRY(reading_init(reading, out));
	reading->window = scratch_take(reading->reader->scratch, 0);
	if (reading->window == NULL)
		return lancet_fail(reading->err, LANCET_LIMIT, "too many buffers in use");
	rc = read_chunks(reading);
	scratch_give(reading->reader->scratch);
	return rc;
}

int
miniblock_read(struct page_reader *reader, struct miniblock *miniblock,
	const struct row_range *ranges, size_t count, struct leaf_out *out,
	struct lancet_error *err)
{
	struct reading reading = { .reader = reader,
		.miniblock = miniblock,
		.ranges = ranges,
		.count = count,
		.err = err };
	uint64_t length = miniblock->has_dictionary ? 0 : out->leaf.length;
	int rc;

	if (count == 0)
		return LANCET_OK;
	rc = read_target(&reading, &out->leaf);
	if (rc == LANCET_OK)
		rc = finish_rows(&reading, out, length);
	reading_release(&reading);
	return rc;
}

int
miniblock_read_values(struct page_reader *reader, struct miniblock *miniblock,
	const struct row_range *ranges, size_t count, const uint8_t *validity, struct array *out,
	struct lancet_error *err)
{
	struct reading reading = { .reader = reader,
		.miniblock = miniblock,
		.ranges = ranges,
		.count = count,
		.err = err };
	int rc;

	if (count == 0)
		return LANCET_OK;
	rc = read_target(&reading, out);
	if (rc == LANCET_OK && miniblock->has_dictionary)
		rc = page_dictionary_append(
			reader, &miniblock->dictionary, &reading.indices, validity, out, err);
	reading_release(&reading);
	return rc;
}
