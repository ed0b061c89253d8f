/* Fields of 2.0 files: every node of a field has a column of its own, and rows are found by
 * counting.
 *
 * A struct has a header column and the columns of its children, with as many rows; a list a column
 * of offsets and those of its item, whose rows are the items of all lists. What packs, what is of a
 * fixed size, and what the type implies has no columns below it. Format facts: schema to columns,
 * v2.0 page encodings.
 */
#include "reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"
#include "v20_column.h"

/* What is held of the places of blobs while their bytes are read. */
#define PLACES_SIZE_MAX ((size_t)1 << 30)

enum part_kind {
	PART_MISSING, /* no column has it: all null */
	PART_VALUES,  /* one column */
	PART_BLOBS,   /* one column, and bytes beside it */
	PART_STRUCT,  /* maybe a header column, and the children */
	PART_LIST,    /* a column of offsets, and the item */
};

struct part {
	const struct field *field;
	enum part_kind kind;
	struct v20_column column;
	struct part *children;
	size_t child_count;
	struct buf items;    /* PART_LIST: ranges of one read */
	struct array places; /* PART_BLOBS: of one read */
	struct array_budget budget;
};

struct v20_reader {
	struct part root;
	uint64_t rows;
	struct buf ranges; /* asked for, neighbours joined */
};

static void
part_release(struct part *part)
{
	for (size_t i = 0; i < part->child_count; i++)
		part_release(&part->children[i]);
	free(part->children);
	v20_column_release(&part->column);
	buf_release(&part->items);
	array_release(&part->places);
}

static bool
has_column(const struct field *field, const struct column_place *places)
{
	if (places[field->ordinal].file != NULL)
		return true;
	for (size_t i = 0; i < field->child_count; i++) {
		if (has_column(&field->children[i], places))
			return true;
	}
	return false;
}

static int
refuse(const struct field *field, const char *what, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_UNSUPPORTED, "%.*s: %s in a file of version 2.0",
		(int)(field->name.size < 100 ? field->name.size : 100),
		(const char *)field->name.data, what);
}

/* What the type asks for, before it is known which columns there are. */
static int
find_kind(const struct field *field, enum part_kind *ret_kind, struct lancet_error *err)
{
	*ret_kind = PART_VALUES;
	if (field->blob == FIELD_BLOB_V2)
		return refuse(field, "a blob v2", err);
	if (field->blob == FIELD_BLOB_V1)
		*ret_kind = field->kind == FIELD_VARIABLE ? PART_BLOBS : PART_VALUES;
	else if (field->kind == FIELD_MAP)
		return refuse(field, "a map", err);
	else if (field->kind == FIELD_FIXED_LIST && !field_is_leaf(field))
		return refuse(field, "a fixed-size list of structs", err);
	else if (field->kind == FIELD_LIST)
		*ret_kind = PART_LIST;
	else if (field->kind == FIELD_STRUCT && !field->packed)
		*ret_kind = PART_STRUCT;
	return LANCET_OK;
}

struct opening {
	const struct column_place *places;
	struct scratch *scratch;
};

static int
open_column(const struct opening *opening, struct part *part, const struct field *field,
	uint64_t rows, struct lancet_error *err)
{
	const struct column_place *place = &opening->places[part->field->ordinal];

	return v20_column_init(
		&part->column, place->file, place->column, field, rows, opening->scratch, err);
}

static int part_init(const struct opening *opening, struct part *part, const struct field *field,
	uint64_t rows, struct lancet_error *err);

static int
init_children(
	const struct opening *opening, struct part *part, uint64_t rows, struct lancet_error *err)
{
	const struct field *field = part->field;

	part->children = calloc(field->child_count + 1, sizeof(*part->children));
	if (part->children == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "field");
	part->child_count = field->child_count;
	for (size_t i = 0; i < field->child_count; i++)
		TRY(part_init(opening, &part->children[i], &field->children[i], rows, err));
	return LANCET_OK;
}

static int
init_struct(
	const struct opening *opening, struct part *part, uint64_t rows, struct lancet_error *err)
{
	if (opening->places[part->field->ordinal].file != NULL) {
		TRY(open_column(opening, part, part->field, rows, err));
		TRY(v20_column_check_header(&part->column, err));
	}
	return init_children(opening, part, rows, err);
}

/* The same column may be of plain values: what is a blob is told by the column, too. */
static int
init_blobs(
	const struct opening *opening, struct part *part, uint64_t rows, struct lancet_error *err)
{
	TRY(open_column(opening, part, part->field, rows, err));
	if (!part->column.column->is_blob) {
		part->kind = PART_VALUES;
		return LANCET_OK;
	}
	part->column.field = &v20_blob_field;
	part->budget.limit = PLACES_SIZE_MAX;
	return array_init(&part->places, &v20_blob_field, &part->budget, err);
}

/* Recursion ends with the tree, which is no deeper than FIELD_DEPTH_MAX. */
static int
part_init(const struct opening *opening, struct part *part, const struct field *field,
	uint64_t rows, struct lancet_error *err)
{
	const struct column_place *place = &opening->places[field->ordinal];
	uint64_t items;

	part->field = field;
	TRY(find_kind(field, &part->kind, err));
	if (place->file == NULL &&
		(part->kind != PART_STRUCT || !has_column(field, opening->places))) {
		part->kind = PART_MISSING;
		return LANCET_OK;
	}
	switch (part->kind) {
	case PART_STRUCT:
		return init_struct(opening, part, rows, err);
	case PART_LIST:
		TRY(open_column(opening, part, field, rows, err));
		TRY(v20_column_count_items(&part->column, &items, err));
		return init_children(opening, part, items, err);
	case PART_BLOBS:
		return init_blobs(opening, part, rows, err);
	default:
		return open_column(opening, part, field, rows, err);
	}
}

static int part_read(struct part *part, const struct row_range *ranges, size_t count,
	uint64_t total, struct array *out, struct lancet_error *err);

static int
read_list(struct part *part, const struct row_range *ranges, size_t count, struct array *out,
	struct lancet_error *err)
{
	uint64_t items = 0;
	const struct row_range *places;
	size_t places_count;

	TRY(v20_column_read_lists(&part->column, ranges, count, out, &part->items, err));
	places = (const struct row_range *)(const void *)part->items.data;
	places_count = part->items.size / sizeof(*places);
	for (size_t i = 0; i < places_count; i++)
		items += places[i].count;
	return part_read(&part->children[0], places, places_count, items, &out->children[0], err);
}

static int
part_read(struct part *part, const struct row_range *ranges, size_t count, uint64_t total,
	struct array *out, struct lancet_error *err)
{
	switch (part->kind) {
	case PART_MISSING:
		return array_append_nulls(out, total, err);
	case PART_BLOBS:
		return v20_column_read_blobs(&part->column, ranges, count, &part->places, out, err);
	case PART_LIST:
		return read_list(part, ranges, count, out, err);
	case PART_STRUCT:
		for (size_t i = 0; i < part->child_count; i++)
			TRY(part_read(
				&part->children[i], ranges, count, total, &out->children[i], err));
		return array_extend(out, total, err);
	case PART_VALUES:
		break;
	}
	return v20_column_read(&part->column, ranges, count, out, err);
}

static void
v20_reader_free(void *state)
{
	struct v20_reader *reader = state;

	if (reader == NULL)
		return;
	part_release(&reader->root);
	buf_release(&reader->ranges);
	free(reader);
}

static int
v20_reader_open(const struct field *field, const struct column_place *places, uint64_t rows,
	struct scratch *scratch, void **ret_state, struct lancet_error *err)
{
	struct opening opening = { places, scratch };
	struct v20_reader *reader = calloc(1, sizeof(*reader));
	int rc;

	if (reader == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "field");
	reader->rows = rows;
	rc = part_init(&opening, &reader->root, field, rows, err);
	if (rc != LANCET_OK) {
		v20_reader_free(reader);
		return rc;
	}
	*ret_state = reader;
	return LANCET_OK;
}

static int
v20_reader_read(void *state, const struct row_range *ranges, size_t count, struct array *out,
	struct lancet_error *err)
{
	struct v20_reader *reader = state;
	uint64_t end = 0, total = 0;

	reader->ranges.size = 0;
	for (size_t i = 0; i < count; i++) {
		if (ranges[i].first < end || ranges[i].first > reader->rows ||
			ranges[i].count > reader->rows - ranges[i].first)
			return lancet_fail(err, LANCET_INVALID,
				"rows from %" PRIu64 ", %" PRIu64 " of them, of %" PRIu64,
				ranges[i].first, ranges[i].count, reader->rows);
		end = ranges[i].first + ranges[i].count;
		total += ranges[i].count;
		v20_add_range(&reader->ranges, ranges[i].first, ranges[i].count);
	}
	TRY(buf_check(&reader->ranges, "ranges of rows", err));
	return part_read(&reader->root, (const struct row_range *)(const void *)reader->ranges.data,
		reader->ranges.size / sizeof(struct row_range), total, out, err);
}

const struct field_reader_ops v20_reader_ops = {
	.open = v20_reader_open,
	.read = v20_reader_read,
	.free = v20_reader_free,
};
