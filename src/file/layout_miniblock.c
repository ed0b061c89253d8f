/* Mini-block layout of 2.1 and 2.2, and dense chunked values of 2.3, which are the same with other
 * messages around them. Format facts: mini-block layout, 2.3 PlanarLayout.
 */
#include <lance/encodings21.pb-c.h>
#include <lance/encodings23.pb-c.h>

#include "layout_cases.h"
#include "miniblock.h"
#include "util/macros.h"

static struct slice
message(ProtobufCBinaryData bytes)
{
	return slice_of(bytes.data, bytes.len);
}

static int
read_rows(struct page_reader *reader, const struct row_range *ranges, size_t count,
	struct leaf_out *out, struct lancet_error *err)
{
	return miniblock_read(reader, reader->state, ranges, count, out, err);
}

static void
describe(const struct page_reader *reader, struct buf *out)
{
	buf_put_text(out, "mini_block(");
	miniblock_describe(reader->state, out);
	buf_put_byte(out, ')');
}

static void
release(struct page_reader *reader)
{
	miniblock_release(reader->state);
}

static const struct layout layout_mini_block = {
	.name = "mini_block",
	.read = read_rows,
	.describe = describe,
	.null_count = layout_null_count,
	.release = release,
};

static int
open_spec(struct page_reader *reader, const struct miniblock_spec *spec, struct lancet_error *err)
{
	struct miniblock *miniblock;

	TRY(layout_check_buffers(
		reader, 2u + (spec->dictionary.size > 0) + (spec->index_depth > 0), err));
	TRY(miniblock_open(reader, spec, &miniblock, err));
	reader->state = miniblock;
	reader->layout = &layout_mini_block;
	return LANCET_OK;
}

int
layout_open_mini_block(
	struct page_reader *reader, const void *page_layout, struct lancet_error *err)
{
	const Lance__Encodings21__PageLayout *page = page_layout;
	const Lance__Encodings21__MiniBlockLayout *layout = page->mini_block_layout;
	const struct miniblock_spec spec = {
		.repetition = message(layout->rep_compression),
		.definition = message(layout->def_compression),
		.compression = message(layout->value_compression),
		.dictionary = message(layout->dictionary),
		.dictionary_items = layout->num_dictionary_items,
		.buffers = layout->num_buffers,
		.items = layout->num_items,
		.rows = reader->page->length,
		.index_depth = layout->repetition_index_depth,
		.large = layout->has_large_chunk,
	};

	if (spec.large != (reader->version >= FILE_2_2))
		return lancet_fail(err, LANCET_CORRUPT, "%s chunks in a file of %s",
			spec.large ? "large" : "small", file_version_name(reader->version));
	TRY(LAYOUT_LAYERS(reader, layout, err));
	return open_spec(reader, &spec, err);
}

int
layout_open_chunked(struct page_reader *reader, const void *planar_layout, struct lancet_error *err)
{
	const Lance__Encodings23__PlanarLayout *planar = planar_layout;
	const Lance__Encodings23__Values__Chunked *chunked = planar->values->chunked;
	struct miniblock_spec spec = {
		.compression = message(chunked->compression),
		.dictionary = message(chunked->dictionary),
		.dictionary_items = chunked->num_dictionary_items,
		.buffers = chunked->num_buffers,
		.items = chunked->num_items,
		.rows = reader->page->length,
		.large = true,
	};

	if (chunked->levels == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "dense values without levels");
	spec.repetition = message(chunked->levels->repetition);
	spec.definition = message(chunked->levels->definition);
	spec.index_depth = chunked->levels->repetition_index_depth;
	return open_spec(reader, &spec, err);
}
