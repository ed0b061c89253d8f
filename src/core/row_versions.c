/* RowDatasetVersionSequence: runs { span #1, version #2 }, each for as many rows as its span has
 * values.
 *
 * The values of a span are positions the rows had once; only their number means anything. So a
 * span's order is never checked, and of a bitmap only the count is used.
 */
#include "sequence.h"

#include "util/cursor.h"
#include "util/macros.h"
#include "util/pbscan.h"

#include <inttypes.h>

#define HEAD_WINDOW 64u

static int
run_field(struct source *src, const struct pb_field *field, struct sequence_element *element,
	bool *has_span, struct lancet_error *err)
{
	if (field->number > 2)
		return LANCET_OK;
	if (field->wire != (field->number == 1 ? PB_BYTES : PB_VARINT))
		return lancet_fail(err, LANCET_CORRUPT, "field %" PRIu32 " has wire type %u",
			field->number, (unsigned)field->wire);
	if (field->number == 2) {
		element->version = field->value;
		return LANCET_OK;
	}
	if (*has_span)
		return lancet_fail(err, LANCET_CORRUPT, "two spans");
	*has_span = true;
	return segment_parse(src, field->offset, field->value, &element->segment, err);
}

/* A short span and the version behind it, in memory. False: it is to be walked. */
static bool
parse_plain(struct source *src, uint64_t offset, uint64_t size, struct sequence_element *element)
{
	struct cursor c = { .at = 0 };
	uint64_t span;

	if (src->data == NULL || offset > src->size || size > src->size - offset)
		return false;
	c.in = slice_of(src->data + offset, (size_t)size);
	if (cursor_u8(&c) != 0x0a)
		return false;
	span = cursor_u8(&c);
	if (span >= 0x80)
		return false;
	cursor_skip(&c, span);
	if (cursor_u8(&c) != 0x10)
		return false;
	element->version = cursor_varint(&c);
	return !c.bad && cursor_left(&c) == 0 &&
	       segment_parse(src, offset + 2, span, &element->segment, NULL) == LANCET_OK;
}

static int
run_parse(struct source *src, uint64_t offset, uint64_t size, struct sequence_element *ret_element,
	struct lancet_error *err)
{
	struct sequence_element element = { .version = 0 };
	bool has_span = false;
	struct pbscan scan = { 0 };
	struct pb_field field;
	int rc;

	if (parse_plain(src, offset, size, ret_element))
		return LANCET_OK;
	rc = pbscan_init(&scan, src, offset, size, HEAD_WINDOW, err);
	while (pbscan_step(&scan, &field, &rc, err)) {
		rc = run_field(src, &field, &element, &has_span, err);
	}
	pbscan_release(&scan);
	if (rc == LANCET_OK && !has_span)
		rc = lancet_fail(err, LANCET_CORRUPT, "no span");
	if (rc == LANCET_OK)
		*ret_element = element;
	return rc;
}

static int
run_validate(struct source *src, const struct sequence_element *element, struct lancet_error *err)
{
	(void)src;
	(void)element;
	(void)err;
	return LANCET_OK;
}

static int
run_read(struct source *src, const struct sequence_element *element, const uint64_t *ranks,
	uint64_t first, size_t count, uint64_t *values, uint64_t *decoded, struct lancet_error *err)
{
	(void)src;
	(void)ranks;
	(void)first;
	(void)err;
	for (size_t i = 0; i < count; i++)
		values[i] = element->version;
	*decoded += count;
	return LANCET_OK;
}

const struct sequence_ops row_versions_ops = {
	.unit = "run",
	.parse = run_parse,
	.validate = run_validate,
	.read = run_read,
};
