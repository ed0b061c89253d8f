/* Opening mini-block pages: chunk words and repetition index become prefix sums; see miniblock.h.
 *
 *     word = (bytes of the chunk / 8 - 1) << 4 | log2 of its slots; the last chunk has the rest
 *
 * A row may span chunks. The index says for each chunk how many rows end in it and how many entries
 * follow the last of those ends; rows that begin there follow from that. Format facts: mini-block
 * layout, repetition index.
 */
#include "miniblock_chunk.h"

#include <inttypes.h>

#include "util/cursor.h"
#include "util/macros.h"

#define WORDS_BUFFER      0
#define CHUNKS_BUFFER     1
#define DICTIONARY_BUFFER 2

/* Reads a whole buffer of the page into `into`. */
static int
load_buffer(struct page_reader *reader, size_t index, struct buf *into, struct lancet_error *err)
{
	uint64_t size = reader->page->buffers[index].size;

	into->size = 0;
	if (!buf_reserve(into, (size_t)size))
		return buf_check(into, "page", err);
	TRY(page_read(reader, index, 0, (size_t)size, into->data, err));
	into->size = (size_t)size;
	return LANCET_OK;
}

static int
take_last_chunk(const struct miniblock *miniblock, uint64_t items, unsigned log2,
	uint64_t *ret_slots, struct lancet_error *err)
{
	uint64_t slots = items - miniblock->slots[miniblock->chunk_count - 1];

	if (slots > CHUNK_VALUES_MAX || (log2 != 0 && slots != UINT64_C(1) << log2))
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " values are left for the last chunk", slots);
	*ret_slots = slots;
	return LANCET_OK;
}

static int
add_words(struct miniblock *miniblock, uint64_t items, const uint8_t *words, uint64_t data_size,
	struct lancet_error *err)
{
	uint64_t count = miniblock->chunk_count;

	for (uint64_t i = 0; i < count; i++) {
		uint32_t word =
			miniblock->large ? load_u32(words + 4 * i) : load_u16(words + 2 * i);
		uint64_t size = ((uint64_t)(word >> 4) + 1) * 8;
		uint64_t slots = UINT64_C(1) << (word & 15);

		if (i + 1 == count)
			TRY(take_last_chunk(miniblock, items, word & 15, &slots, err));
		else if (slots == 1)
			return lancet_fail(
				err, LANCET_CORRUPT, "chunk %" PRIu64 " of one value", i);
		if (size > data_size - miniblock->offsets[i] || slots > items - miniblock->slots[i])
			return lancet_fail(err, LANCET_CORRUPT,
				"chunk %" PRIu64 " passes the end of the page", i);
		miniblock->offsets[i + 1] = miniblock->offsets[i] + size;
		miniblock->slots[i + 1] = miniblock->slots[i] + slots;
	}
	if (miniblock->offsets[count] != data_size || miniblock->slots[count] != items)
		return lancet_fail(err, LANCET_CORRUPT,
			"chunks of %" PRIu64 " bytes and %" PRIu64 " values, there are %" PRIu64
			" and %" PRIu64,
			miniblock->offsets[count], miniblock->slots[count], data_size, items);
	return LANCET_OK;
}

static int
open_words(struct page_reader *reader, const struct miniblock_spec *spec,
	struct miniblock *miniblock, struct buf *words, struct lancet_error *err)
{
	const struct page_buffer *buffers = reader->page->buffers;
	uint64_t width = spec->large ? 4 : 2;
	uint64_t count = buffers[WORDS_BUFFER].size / width;

	if (buffers[WORDS_BUFFER].size % width != 0 || count > buffers[CHUNKS_BUFFER].size / 8)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " bytes of words for %" PRIu64 " of chunks",
			buffers[WORDS_BUFFER].size, buffers[CHUNKS_BUFFER].size);
	TRY(load_buffer(reader, WORDS_BUFFER, words, err));
	miniblock->chunk_count = count;
	miniblock->offsets = arena_zalloc(&reader->arena, (size_t)count + 1, sizeof(uint64_t));
	miniblock->slots = arena_zalloc(&reader->arena, (size_t)count + 1, sizeof(uint64_t));
	if (miniblock->offsets == NULL || miniblock->slots == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%" PRIu64 " chunks", count);
	miniblock->rows = miniblock->slots;
	return add_words(miniblock, spec->items, words->data, buffers[CHUNKS_BUFFER].size, err);
}

static int
add_rows(struct miniblock *miniblock, const uint8_t *index, uint64_t rows, struct lancet_error *err)
{
	uint64_t count = miniblock->chunk_count;
	uint64_t partial = 0;

	for (uint64_t i = 0; i < count; i++, index += 16) {
		uint64_t ends = load_u64(index);
		uint64_t begin;

		miniblock->continues[i] = partial > 0;
		partial = load_u64(index + 8);
		begin = ends + (partial > 0) - miniblock->continues[i];
		if (ends > rows || (ends == 0 && miniblock->continues[i] && partial == 0) ||
			begin > rows - miniblock->rows[i])
			return lancet_fail(err, LANCET_CORRUPT,
				"repetition index: chunk %" PRIu64 " ends %" PRIu64 " of %" PRIu64
				" rows",
				i, ends, rows);
		miniblock->rows[i + 1] = miniblock->rows[i] + begin;
	}
	if (partial > 0 || miniblock->rows[count] != rows)
		return lancet_fail(err, LANCET_CORRUPT,
			"repetition index: %" PRIu64 " rows of %" PRIu64, miniblock->rows[count],
			rows);
	return LANCET_OK;
}

static int
open_rows(struct page_reader *reader, const struct miniblock_spec *spec,
	struct miniblock *miniblock, struct buf *index, struct lancet_error *err)
{
	size_t buffer = reader->page->buffer_count - 1;
	uint64_t size = reader->page->buffers[buffer].size;
	size_t count = (size_t)miniblock->chunk_count;

	if (size / 16 != count || size % 16 != 0)
		return lancet_fail(err, LANCET_CORRUPT,
			"repetition index of %" PRIu64 " bytes for %zu chunks", size, count);
	TRY(load_buffer(reader, buffer, index, err));
	miniblock->rows = arena_zalloc(&reader->arena, count + 1, sizeof(uint64_t));
	miniblock->continues = arena_zalloc(&reader->arena, count + 1, 1);
	if (miniblock->rows == NULL || miniblock->continues == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu chunks", count);
	return add_rows(miniblock, index->data, spec->rows, err);
}

static int
open_level_codec(struct page_reader *reader, struct slice message, const char *what,
	const struct codec **ret_codec, struct lancet_error *err)
{
	const struct codec *codec;
	int rc;

	if (message.size == 0)
		return LANCET_OK;
	rc = codec_open(message, CODEC_BLOCK, reader->version, 0, &reader->arena, &codec, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "%s levels", what);
	*ret_codec = codec;
	return LANCET_OK;
}

static int
check_index_width(const struct miniblock *miniblock, struct lancet_error *err)
{
	uint64_t bits = miniblock->values->bits;

	if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
		return lancet_fail(
			err, LANCET_CORRUPT, "dictionary: indices of %" PRIu64 " bits", bits);
	return LANCET_OK;
}

static int
open_dictionary(struct page_reader *reader, const struct miniblock_spec *spec,
	struct miniblock *miniblock, struct lancet_error *err)
{
	int rc;

	if (spec->dictionary.size == 0) {
		if (spec->dictionary_items != 0 || reader->leaf->kind == FIELD_DICTIONARY)
			return lancet_fail(err, LANCET_CORRUPT, "the dictionary is missing");
		return LANCET_OK;
	}
	rc = codec_open(spec->dictionary, CODEC_BLOCK, reader->version, 0, &reader->arena,
		&miniblock->dictionary.codec, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "dictionary");
	miniblock->has_dictionary = true;
	miniblock->dictionary.count = spec->dictionary_items;
	miniblock->dictionary.buffer = DICTIONARY_BUFFER;
	return check_index_width(miniblock, err);
}

static int
open_codecs(struct page_reader *reader, const struct miniblock_spec *spec,
	struct miniblock *miniblock, struct lancet_error *err)
{
	bool lists = reader->layers.list_count > 0;

	TRY(open_level_codec(reader, spec->repetition, "repetition", &miniblock->rep, err));
	TRY(open_level_codec(reader, spec->definition, "definition", &miniblock->def, err));
	if (lists != (miniblock->rep != NULL) || spec->index_depth != (lists ? 1u : 0u))
		return lancet_fail(err, LANCET_CORRUPT,
			"%u lists with%s repetition levels and an index of depth %" PRIu32,
			reader->layers.list_count, miniblock->rep != NULL ? "" : "out",
			spec->index_depth);
	TRY(codec_open(spec->compression, CODEC_MINI, reader->version, 0, &reader->arena,
		&miniblock->values, err));
	if (spec->buffers != miniblock->values->buffers || spec->buffers > CHUNK_BUFFERS_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " value buffers, %s takes %u",
			spec->buffers, miniblock->values->encoding->name,
			miniblock->values->buffers);
	miniblock->buffers = (unsigned)spec->buffers;
	return open_dictionary(reader, spec, miniblock, err);
}

static int
open_tables(struct page_reader *reader, const struct miniblock_spec *spec,
	struct miniblock *miniblock, struct lancet_error *err)
{
	struct buf *bytes = scratch_take(reader->scratch, 0);
	int rc;

	if (bytes == NULL)
		return lancet_fail(err, LANCET_LIMIT, "too many buffers in use");
	rc = open_words(reader, spec, miniblock, bytes, err);
	if (rc == LANCET_OK && miniblock->rep != NULL)
		rc = open_rows(reader, spec, miniblock, bytes, err);
	else if (rc == LANCET_OK && spec->items != spec->rows)
		rc = lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " values of %" PRIu64 " rows",
			spec->items, spec->rows);
	scratch_give(reader->scratch);
	return rc;
}

int
miniblock_open(struct page_reader *reader, const struct miniblock_spec *spec,
	struct miniblock **ret_miniblock, struct lancet_error *err)
{
	struct miniblock *miniblock = arena_zalloc(&reader->arena, 1, sizeof(*miniblock));

	if (miniblock == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "page");
	miniblock->large = spec->large;
	if (reader->page->buffer_count <= CHUNKS_BUFFER)
		return lancet_fail(
			err, LANCET_CORRUPT, "page of %zu buffers", reader->page->buffer_count);
	TRY(open_codecs(reader, spec, miniblock, err));
	TRY(open_tables(reader, spec, miniblock, err));
	*ret_miniblock = miniblock;
	return LANCET_OK;
}

void
miniblock_release(struct miniblock *miniblock)
{
	if (miniblock == NULL)
		return;
	chunk_parts_release(&miniblock->kept.parts);
	if (miniblock->has_dictionary)
		page_dictionary_release(&miniblock->dictionary);
}

void
miniblock_describe(const struct miniblock *miniblock, struct buf *out)
{
	codec_describe(miniblock->values, out);
	if (miniblock->has_dictionary) {
		buf_put_text(out, ", dictionary ");
		codec_describe(miniblock->dictionary.codec, out);
	}
}
