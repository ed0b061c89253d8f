/* Blobs of 2.0 files: a column of places, and bytes that lie by themselves between the pages.
 *
 * Of a value without bytes the position tells what it is: 0 for empty, 1 for null. Format facts:
 * blob v1.
 */
#include "v20_column.h"

#include <inttypes.h>

#include "encodings.h"
#include "util/bits.h"
#include "util/macros.h"
#include "util/source.h"

static struct field blob_children[2] = {
	{ .kind = FIELD_FIXED, .ordinal = 1, .id = FIELD_NO_ID, .format = "L", .bits = 64 },
	{ .kind = FIELD_FIXED, .ordinal = 2, .id = FIELD_NO_ID, .format = "L", .bits = 64 },
};
const struct field v20_blob_field = {
	.kind = FIELD_STRUCT,
	.id = FIELD_NO_ID,
	.format = "+s",
	.packed = true,
	.children = blob_children,
	.child_count = 2,
};

struct blobs {
	const uint64_t *positions, *sizes;
	uint64_t count;
	uint32_t *ends;
	uint8_t *validity;
};

/* Adds up the sizes; nothing is read before all places are known to be in the file. */
static int
measure(const struct blobs *blobs, const struct source *src, bool *ret_has_nulls,
	struct lancet_error *err)
{
	*ret_has_nulls = false;
	blobs->ends[0] = 0;
	memset(blobs->validity, 0xff, (size_t)bits_size(blobs->count));
	for (uint64_t i = 0; i < blobs->count; i++) {
		uint64_t position = blobs->positions[i], size = blobs->sizes[i];

		if (size > 0 && (position > src->size || size > src->size - position))
			return lancet_fail(err, LANCET_CORRUPT,
				"blob: %" PRIu64 " bytes at %" PRIu64 " of %" PRIu64, size,
				position, src->size);
		if (size > UINT32_MAX - blobs->ends[i])
			return lancet_fail(err, LANCET_LIMIT,
				"blob: more than 4 GiB of values at once: ask for fewer rows");
		blobs->ends[i + 1] = blobs->ends[i] + (uint32_t)size;
		if (size == 0 && position != 0) {
			bits_fill(blobs->validity, i, 1, false);
			*ret_has_nulls = true;
		}
	}
	return LANCET_OK;
}

static int
append_blobs(
	const struct blobs *blobs, struct source *src, struct array *out, struct lancet_error *err)
{
	bool has_nulls;
	uint8_t *place;

	TRY(measure(blobs, src, &has_nulls, err));
	TRY(array_extend_variable(out, blobs->ends, blobs->count, &place, err));
	for (uint64_t i = 0; i < blobs->count; i++) {
		if (blobs->sizes[i] > 0)
			TRY(source_read_at(src, blobs->positions[i], (size_t)blobs->sizes[i],
				place + blobs->ends[i], err));
	}
	return has_nulls ? array_set_validity(out, blobs->count, blobs->validity, 0, err)
			 : LANCET_OK;
}

int
v20_column_read_blobs(struct v20_column *column, const struct row_range *ranges, size_t count,
	struct array *places, struct array *out, struct lancet_error *err)
{
	struct blobs blobs = { 0 };
	struct buf *memory;
	size_t ends_size;
	int rc;

	array_reset(places);
	TRY(v20_column_read(column, ranges, count, places, err));
	blobs.count = places->length;
	blobs.positions = (const uint64_t *)(const void *)places->children[0].data.data;
	blobs.sizes = (const uint64_t *)(const void *)places->children[1].data.data;
	ends_size = (size_t)(blobs.count + 1) * sizeof(uint32_t);
	TRY(codec_take_buffer(column->scratch, &memory, err));
	(void)buf_reserve(memory, ends_size + (size_t)bits_size(blobs.count));
	rc = buf_check(memory, "places of blobs", err);
	if (rc == LANCET_OK) {
		blobs.ends = (uint32_t *)(void *)memory->data;
		blobs.validity = memory->data + ends_size;
		rc = append_blobs(&blobs, datafile_source(column->file), out, err);
	}
	scratch_give(column->scratch);
	return rc == LANCET_OK ? rc
			       : lancet_wrap(err, rc, "column %" PRIu32, column->column->index);
}
