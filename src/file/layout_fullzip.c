/* Full-zip layout of 2.1 and 2.2, and dense zipped values of 2.3, which are the same with other
 * messages around them. Format facts: full-zip layout, 2.3 PlanarLayout.
 */
#include <inttypes.h>

#include <lance/encodings21.pb-c.h>
#include <lance/encodings23.pb-c.h>

#include "fullzip.h"
#include "layout_cases.h"
#include "util/macros.h"

static int
read_rows(struct page_reader *reader, const struct row_range *ranges, size_t count,
	struct leaf_out *out, struct lancet_error *err)
{
	return fullzip_read(reader, reader->state, ranges, count, out, err);
}

static void
describe(const struct page_reader *reader, struct buf *out)
{
	buf_put_text(out, "full_zip(");
	fullzip_describe(reader->state, out);
	buf_put_byte(out, ')');
}

static const struct layout layout_full_zip = {
	.name = "full_zip",
	.read = read_rows,
	.describe = describe,
	.null_count = layout_null_count,
};

static int
open_spec(struct page_reader *reader, const struct fullzip_spec *spec, struct lancet_error *err)
{
	bool index = spec->variable || reader->layers.list_count > 0;
	struct fullzip *fullzip;

	if (spec->items < spec->rows)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu32 " entries of %" PRIu64 " rows",
			spec->items, spec->rows);
	TRY(layout_check_buffers(reader, index ? 2 : 1, err));
	TRY(fullzip_open(reader, spec, &fullzip, err));
	reader->state = fullzip;
	reader->layout = &layout_full_zip;
	return LANCET_OK;
}

int
layout_open_full_zip(struct page_reader *reader, const void *page_layout, struct lancet_error *err)
{
	const Lance__Encodings21__PageLayout *page = page_layout;
	const Lance__Encodings21__FullZipLayout *layout = page->full_zip_layout;
	struct fullzip_spec spec = {
		.bits_repetition = layout->bits_rep,
		.bits_definition = layout->bits_def,
		.items = layout->num_items,
		.rows = reader->page->length,
		.compression =
			slice_of(layout->value_compression.data, layout->value_compression.len),
	};

	switch (layout->details_case) {
	case LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_VALUE:
		spec.bits = layout->bits_per_value;
		break;
	case LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_OFFSET:
		spec.variable = true;
		spec.bits = layout->bits_per_offset;
		break;
	default:
		return lancet_fail(err, LANCET_CORRUPT, "values of no size");
	}
	TRY(LAYOUT_LAYERS(reader, layout, err));
	return open_spec(reader, &spec, err);
}

int
fullzip_spec_zipped(const Lance__Encodings23__Values__Zipped *message,
	struct fullzip_spec *ret_spec, struct lancet_error *err)
{
	struct fullzip_spec spec = {
		.items = message->num_items,
		.compression = slice_of(message->compression.data, message->compression.len),
	};

	switch (message->details_case) {
	case LANCE__ENCODINGS23__VALUES__ZIPPED__DETAILS_BITS_PER_VALUE:
		spec.bits = message->bits_per_value;
		break;
	case LANCE__ENCODINGS23__VALUES__ZIPPED__DETAILS_BITS_PER_OFFSET:
		spec.variable = true;
		spec.bits = message->bits_per_offset;
		break;
	default:
		return lancet_fail(err, LANCET_CORRUPT, "values of no size");
	}
	*ret_spec = spec;
	return LANCET_OK;
}

int
layout_open_zipped(struct page_reader *reader, const void *planar_layout, struct lancet_error *err)
{
	const Lance__Encodings23__PlanarLayout *planar = planar_layout;
	const Lance__Encodings23__Values__Zipped *zipped = planar->values->zipped;
	struct fullzip_spec spec;

	TRY(fullzip_spec_zipped(zipped, &spec, err));
	if (zipped->levels == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "dense values without levels");
	spec.rows = reader->page->length;
	spec.bits_repetition = zipped->levels->bits_repetition;
	spec.bits_definition = zipped->levels->bits_definition;
	return open_spec(reader, &spec, err);
}
