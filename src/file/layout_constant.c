/* Constant layout: one value for a whole page, or none at all. Levels, when there are any, lie in
 * two buffers and say what is null; they are decoded once and kept.
 *
 * A value is in the message, or in a buffer when it is longer. Format facts: constant layout, 2.3
 * PlanarLayout.
 */
#include <assert.h>
#include <inttypes.h>

#include <lance/encodings21.pb-c.h>
#include <lance/encodings23.pb-c.h>

#include "constant_value.h"
#include "layout_cases.h"
#include "util/macros.h"

#define LEVELS_SIZE_MAX ((size_t)64 << 20) /* bytes of decoded levels of a page */

struct level_buffer {
	const struct codec *codec; /* NULL: raw */
	uint64_t count;            /* with a codec */
	size_t buffer;             /* of the page */
};

struct constant {
	bool has_levels, loaded;
	struct level_buffer rep, def;
	struct array_budget budget;
	struct array reps, defs; /* once loaded */
	struct array value;      /* one value, or field NULL */
};

static int
load_levels(struct page_reader *reader, const struct level_buffer *levels, struct buf *bytes,
	struct array *out, struct lancet_error *err)
{
	uint64_t size = reader->page->buffers[levels->buffer].size;

	bytes->size = 0;
	if (!buf_reserve(bytes, (size_t)size))
		return buf_check(bytes, "levels", err);
	TRY(page_read(reader, levels->buffer, 0, (size_t)size, bytes->data, err));
	if (levels->codec != NULL)
		return codec_decode_block(levels->codec, slice_of(bytes->data, (size_t)size),
			levels->count, reader->scratch, out, err);
	if (size % 2 != 0)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " bytes of levels", size);
	return array_append_fixed(out, 16, bytes->data, size / 2, err);
}

static int
check_levels(
	const struct page_reader *reader, const struct constant *constant, struct lancet_error *err)
{
	const struct layers *layers = &reader->layers;
	const uint16_t *reps = (const uint16_t *)(const void *)constant->reps.data.data;
	uint64_t rows = constant->defs.length;

	if (layers->list_count > 0) {
		rows = constant->reps.length;
		if (constant->defs.length > 0 && constant->defs.length != rows)
			return lancet_fail(err, LANCET_CORRUPT,
				"%" PRIu64 " repetition and %" PRIu64 " definition levels", rows,
				constant->defs.length);
		rows -= levels_count_up_to(reps, rows, (uint16_t)(layers->list_count - 1));
	} else if (rows == 0) {
		rows = reader->page->length;
	}
	if (rows != reader->page->length)
		return lancet_fail(err, LANCET_CORRUPT,
			"levels of %" PRIu64 " rows where there are %" PRIu64, rows,
			reader->page->length);
	return LANCET_OK;
}

static int
need_levels(struct page_reader *reader, struct constant *constant, struct lancet_error *err)
{
	struct buf *bytes;
	int rc;

	if (constant->loaded || !constant->has_levels)
		return LANCET_OK;
	array_reset(&constant->reps);
	array_reset(&constant->defs);
	bytes = scratch_take(reader->scratch, 0);
	if (bytes == NULL)
		return lancet_fail(err, LANCET_LIMIT, "too many buffers in use");
	rc = load_levels(reader, &constant->rep, bytes, &constant->reps, err);
	if (rc == LANCET_OK)
		rc = load_levels(reader, &constant->def, bytes, &constant->defs, err);
	scratch_give(reader->scratch);
	TRY(rc);
	TRY(check_levels(reader, constant, err));
	constant->loaded = true;
	return LANCET_OK;
}

/* Slots of the leaf: the value, nulls, or structs without children, which are what they are. */
static int
append_slots(const struct constant *constant, const struct layers *layers,
	const struct level_run *run, uint64_t count, struct array *leaf, struct lancet_error *err)
{
	const struct field *field = leaf->field;

	if (constant->value.field != NULL)
		return array_append_repeated(leaf, &constant->value, count, err);
	if (field->kind == FIELD_STRUCT && field->child_count == 0)
		return array_extend(leaf, count, err);
	if (run->def != NULL &&
		layers->kinds[0] != LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_ITEM &&
		levels_count_up_to(run->def, run->count, 0) > 0)
		return lancet_fail(err, LANCET_CORRUPT, "a value in a page of nulls");
	return array_append_nulls(leaf, count, err);
}

/* Where rows begin among the entries, from the last one that was looked for. */
struct level_walk {
	const uint16_t *rep;
	uint64_t entry, entries;
	uint64_t row;
	unsigned lists;
};

static uint64_t
walk_to_row(struct level_walk *walk, uint64_t row)
{
	if (walk->rep == NULL)
		return row;
	for (; walk->entry < walk->entries; walk->entry++) {
		bool begins = walk->rep[walk->entry] >= walk->lists;

		if (begins && walk->row == row)
			break;
		walk->row += begins;
	}
	return walk->entry;
}

static int
read_range(const struct constant *constant, const struct layers *layers, struct level_walk *walk,
	const struct row_range *range, struct leaf_out *out, struct lancet_error *err)
{
	const uint16_t *def = (const uint16_t *)(const void *)constant->defs.data.data;
	uint64_t first = walk_to_row(walk, range->first);
	struct level_run run = { .rep = walk->rep == NULL ? NULL : walk->rep + first,
		.def = constant->defs.length == 0 ? NULL : def + first,
		.count = walk_to_row(walk, range->first + range->count) - first };
	uint64_t visible;

	TRY(levels_count_visible(layers, &run, &visible, err));
	TRY(append_slots(constant, layers, &run, visible, &out->leaf, err));
	return levels_unravel(layers, &run, out, err);
}

static int
read_rows(struct page_reader *reader, const struct row_range *ranges, size_t count,
	struct leaf_out *out, struct lancet_error *err)
{
	struct constant *constant = reader->state;
	struct level_walk walk = { .lists = reader->layers.list_count };

	TRY(need_levels(reader, constant, err));
	if (walk.lists > 0) {
		walk.rep = (const uint16_t *)(const void *)constant->reps.data.data;
		walk.entries = constant->reps.length;
	}
	for (size_t i = 0; i < count; i++)
		TRY(read_range(constant, &reader->layers, &walk, &ranges[i], out, err));
	return LANCET_OK;
}

static void
describe(const struct page_reader *reader, struct buf *out)
{
	const struct constant *constant = reader->state;

	buf_put_text(out, constant->value.field == NULL ? "all_null" : "constant");
}

static bool
null_count(const struct page_reader *reader, uint64_t *ret_nulls)
{
	const struct constant *constant = reader->state;

	if (constant->value.field != NULL || constant->has_levels ||
		reader->leaf->kind == FIELD_STRUCT)
		return layout_null_count(reader, ret_nulls);
	*ret_nulls = reader->page->length;
	return true;
}

static void
release(struct page_reader *reader)
{
	struct constant *constant = reader->state;

	array_release(&constant->reps);
	array_release(&constant->defs);
	array_release(&constant->value);
}

static const struct layout layout_constant = {
	.name = "constant",
	.read = read_rows,
	.describe = describe,
	.null_count = null_count,
	.release = release,
};

/* From here on the reader releases what is in the state. */
static int
start(struct page_reader *reader, struct constant **ret_constant, struct lancet_error *err)
{
	struct constant *constant = arena_zalloc(&reader->arena, 1, sizeof(*constant));

	if (constant == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "page");
	constant->budget.limit = LEVELS_SIZE_MAX;
	reader->state = constant;
	reader->layout = &layout_constant;
	TRY(array_init(&constant->reps, field_unsigned(16), &constant->budget, err));
	TRY(array_init(&constant->defs, field_unsigned(16), &constant->budget, err));
	*ret_constant = constant;
	return LANCET_OK;
}

static int
open_level_buffer(struct page_reader *reader, ProtobufCBinaryData message, uint64_t count,
	size_t buffer, struct level_buffer *levels, struct lancet_error *err)
{
	levels->buffer = buffer;
	levels->count = count;
	if (message.len == 0)
		return LANCET_OK;
	return lancet_wrap(err,
		codec_open(slice_of(message.data, message.len), CODEC_BLOCK, reader->version, 0,
			&reader->arena, &levels->codec, err),
		"levels");
}

static int
open_levels(struct page_reader *reader, const Lance__Encodings21__ConstantLayout *layout,
	size_t first, struct constant *constant, struct lancet_error *err)
{
	constant->has_levels = reader->page->buffer_count > first;
	if (!constant->has_levels) {
		if (reader->layers.list_count > 0)
			return lancet_fail(err, LANCET_CORRUPT, "lists without repetition levels");
		return LANCET_OK;
	}
	TRY(layout_check_buffers(reader, first + 2, err));
	TRY(open_level_buffer(reader, layout->rep_compression, layout->num_rep_values, first,
		&constant->rep, err));
	return open_level_buffer(reader, layout->def_compression, layout->num_def_values, first + 1,
		&constant->def, err);
}

static int
load_value(struct page_reader *reader, struct constant *constant, struct lancet_error *err)
{
	uint64_t size = reader->page->buffers[0].size;
	struct buf *bytes = scratch_take(reader->scratch, LEVELS_SIZE_MAX);
	int rc;

	if (bytes == NULL)
		return lancet_fail(err, LANCET_LIMIT, "too many buffers in use");
	if (buf_reserve(bytes, (size_t)size)) {
		rc = page_read(reader, 0, 0, (size_t)size, bytes->data, err);
		if (rc == LANCET_OK)
			rc = constant_value_load(
				slice_of(bytes->data, (size_t)size), &constant->value, err);
	} else {
		rc = buf_check(bytes, "value", err);
	}
	scratch_give(reader->scratch);
	return rc;
}

int
layout_open_constant(struct page_reader *reader, const void *page_layout, struct lancet_error *err)
{
	const Lance__Encodings21__PageLayout *page = page_layout;
	const Lance__Encodings21__ConstantLayout *layout = page->constant_layout;
	bool is_inline = layout->field_inline_value_case ==
			 LANCE__ENCODINGS21__CONSTANT_LAYOUT__FIELD_INLINE_VALUE_INLINE_VALUE;
	bool is_scalar = is_inline || reader->page->buffer_count % 2 == 1;
	struct constant *constant;

	if (is_scalar && reader->version < FILE_2_2)
		return lancet_fail(err, LANCET_CORRUPT, "a value in a file of %s",
			file_version_name(reader->version));
	TRY(LAYOUT_LAYERS(reader, layout, err));
	TRY(start(reader, &constant, err));
	TRY(open_levels(reader, layout, is_scalar && !is_inline ? 1 : 0, constant, err));
	if (!is_scalar)
		return LANCET_OK;
	TRY(array_init(&constant->value, reader->leaf, &constant->budget, err));
	if (!is_inline)
		return load_value(reader, constant, err);
	return constant_value_put(slice_of(layout->inline_value.data, layout->inline_value.len),
		&constant->value, err);
}

int
layout_open_scalar(struct page_reader *reader, const void *planar_layout, struct lancet_error *err)
{
	const Lance__Encodings23__PlanarLayout *planar = planar_layout;
	ProtobufCBinaryData scalar = planar->values->constant->scalar;
	struct constant *constant;

	if (reader->layers.definition_max > 0 || reader->layers.list_count > 0)
		return lancet_fail(err, LANCET_CORRUPT, "a value for a page with levels");
	TRY(layout_check_buffers(reader, 0, err));
	TRY(start(reader, &constant, err));
	TRY(array_init(&constant->value, reader->leaf, &constant->budget, err));
	return constant_value_put(slice_of(scalar.data, scalar.len), &constant->value, err);
}

int
layout_open_none(struct page_reader *reader, const void *planar_layout, struct lancet_error *err)
{
	struct constant *constant;

	(void)planar_layout;
	if (reader->layers.count != 1 || reader->layers.definition_max != 1)
		return lancet_fail(err, LANCET_CORRUPT, "no values for a page with levels");
	TRY(layout_check_buffers(reader, 0, err));
	return start(reader, &constant, err);
}
