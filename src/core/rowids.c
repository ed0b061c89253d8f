/* RowIdSequence: a list of U64Segments, each the ids of the rows that follow. */
#include "sequence.h"

static int
rowids_parse(struct source *src, uint64_t offset, uint64_t size,
	struct sequence_element *ret_element, struct lancet_error *err)
{
	ret_element->version = 0;
	return segment_parse(src, offset, size, &ret_element->segment, err);
}

static int
rowids_validate(
	struct source *src, const struct sequence_element *element, struct lancet_error *err)
{
	return segment_validate(src, &element->segment, err);
}

static int
rowids_read(struct source *src, const struct sequence_element *element, const uint64_t *ranks,
	uint64_t first, size_t count, uint64_t *values, uint64_t *decoded, struct lancet_error *err)
{
	return segment_read(src, &element->segment, ranks, first, count, values, decoded, err);
}

const struct sequence_ops rowids_ops = {
	.unit = "segment",
	.strict = true,
	.parse = rowids_parse,
	.validate = rowids_validate,
	.read = rowids_read,
};
