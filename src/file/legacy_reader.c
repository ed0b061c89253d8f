/* Fields of legacy files: batches of rows, and in each a page for every field that has values.
 *
 * A batch stands alone: the lists in it count the items of the batch. Structs have no pages at all.
 * Nulls are not stored; numbers come back as zero, lists as empty, and what is empty as null when
 * it has bytes. Format facts: legacy data files.
 */
#include "reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "indexed.h"
#include "lance/file.pb-c.h"
#include "legacy_meta.h"
#include "legacy_page.h"
#include "util/macros.h"

/* What the values of one dictionary may take. */
#define ITEMS_SIZE_MAX ((size_t)128 << 20)

struct part {
	const struct field *field;
	struct datafile *file;     /* counted; NULL: no file has it, all null */
	struct legacy_page *pages; /* by batch; NULL: of a struct, or of what is not stored */
	struct part *children;
	size_t child_count;
	/* DICTIONARY */
	int32_t id;
	bool has_items;
	struct array_budget budget;
	struct array keys, items;
};

struct legacy_reader {
	struct part root;
	struct datafile *file; /* the one whose batches are walked; NULL: nothing is there */
	const struct legacy_meta *meta;
	uint64_t rows;
	struct scratch *scratch;
};

static void
part_release(struct part *part)
{
	for (size_t i = 0; i < part->child_count; i++)
		part_release(&part->children[i]);
	free(part->children);
	free(part->pages);
	array_release(&part->keys);
	array_release(&part->items);
	datafile_unref(part->file);
}

static int
refuse(const struct field *field, const char *what, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_UNSUPPORTED, "%.*s: %s in a file of version 0.1",
		(int)(field->name.size < 100 ? field->name.size : 100),
		(const char *)field->name.data, what);
}

static int
check_field(const struct field *field, struct lancet_error *err)
{
	if (field->blob != FIELD_NO_BLOB)
		return refuse(field, "a blob", err);
	if (field->kind == FIELD_MAP)
		return refuse(field, "a map", err);
	if (field->kind == FIELD_FIXED_LIST && !field_is_leaf(field))
		return refuse(field, "a fixed-size list of structs", err);
	return LANCET_OK;
}

static bool
has_children(const struct field *field)
{
	return field->kind == FIELD_STRUCT || field->kind == FIELD_LIST;
}

static bool
same_batches(const struct legacy_meta *one, const struct legacy_meta *other)
{
	return one->batch_count == other->batch_count &&
	       (one->batch_count == 0 ||
		       memcmp(one->offsets, other->offsets,
			       (one->batch_count + 1) * sizeof(*one->offsets)) == 0);
}

/* All columns of a field are walked batch by batch, so their batches must be the same. */
static int
join_file(struct legacy_reader *reader, struct part *part, struct datafile *file,
	struct lancet_error *err)
{
	const struct legacy_meta *meta;

	TRY(datafile_legacy(file, &meta, err));
	if (meta->rows != reader->rows)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " rows in a file, %" PRIu64 " expected", meta->rows,
			reader->rows);
	if (reader->file == NULL) {
		reader->file = file;
		reader->meta = meta;
	} else if (!same_batches(meta, reader->meta)) {
		return refuse(part->field, "columns of different batches", err);
	}
	part->file = datafile_ref(file);
	return LANCET_OK;
}

/* Recursion ends with the tree, which is no deeper than FIELD_DEPTH_MAX. */
static int
part_init(struct legacy_reader *reader, struct part *part, const struct field *field,
	const struct column_place *places, struct lancet_error *err)
{
	const struct column_place *place = &places[field->ordinal];

	part->field = field;
	TRY(check_field(field, err));
	if (has_children(field)) {
		part->children = calloc(field->child_count + 1, sizeof(*part->children));
		if (part->children == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "field");
		part->child_count = field->child_count;
	}
	for (size_t i = 0; i < part->child_count; i++) {
		struct part *child = &part->children[i];

		TRY(part_init(reader, child, &field->children[i], places, err));
		/* a struct is where one of its children is, whether it is listed or not */
		if (field->kind == FIELD_STRUCT && part->file == NULL && child->file != NULL)
			part->file = datafile_ref(child->file);
	}
	if (place->file == NULL || part->file != NULL)
		return LANCET_OK;
	TRY(join_file(reader, part, place->file, err));
	part->id = (int32_t)place->column;
	if (field->kind == FIELD_STRUCT || field->kind == FIELD_NULL)
		return LANCET_OK;
	return legacy_pages_load(place->file, part->id, &part->pages, err);
}

/* Where the file has the values of a dictionary field: with the field in its schema. */
static int
find_items(
	struct datafile *file, int32_t id, struct legacy_page *ret_page, struct lancet_error *err)
{
	struct Lance__File__Field *const *fields;
	size_t count;

	TRY(datafile_fields(file, &fields, &count, err));
	for (size_t i = 0; i < count; i++) {
		const Lance__File__Dictionary *dictionary = fields[i]->dictionary;

		if (fields[i]->id != id || dictionary == NULL)
			continue;
		ret_page->position = (uint64_t)dictionary->offset;
		ret_page->length = (uint64_t)dictionary->length;
		return LANCET_OK;
	}
	return lancet_fail(err, LANCET_CORRUPT, "field %" PRId32 " has no dictionary", id);
}

static int
load_items(struct part *part, struct scratch *scratch, struct lancet_error *err)
{
	struct source *src = datafile_source(part->file);
	struct legacy_page page = { 0 };
	const struct field *values = &part->field->children[0];

	if (part->has_items)
		return LANCET_OK;
	part->budget.limit = ITEMS_SIZE_MAX;
	TRY(find_items(part->file, part->id, &page, err));
	if (part->items.field == NULL)
		TRY(array_init(&part->items, values, &part->budget, err));
	if (part->keys.field == NULL)
		TRY(array_init(&part->keys, field_unsigned(part->field->bits), &part->budget, err));
	array_reset(&part->items);
	if (values->kind == FIELD_VARIABLE)
		TRY(legacy_read_binary(src, &page, 0, page.length, scratch, &part->items, err));
	else
		TRY(legacy_read_plain(src, &page, 0, page.length, &part->items, err));
	part->has_items = true;
	return LANCET_OK;
}

static int
read_keys(struct part *part, size_t batch, uint64_t first, uint64_t count, struct scratch *scratch,
	struct array *out, struct lancet_error *err)
{
	TRY(load_items(part, scratch, err));
	array_reset(&part->keys);
	TRY(legacy_read_plain(
		datafile_source(part->file), &part->pages[batch], first, count, &part->keys, err));
	return indexed_append(&part->items, &part->keys, scratch, out, err);
}

static int part_read(struct part *part, size_t batch, uint64_t first, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err);

static int
read_lists(struct part *part, size_t batch, uint64_t first, uint64_t count, struct scratch *scratch,
	struct array *out, struct lancet_error *err)
{
	uint64_t item, items;

	TRY(legacy_read_lists(datafile_source(part->file), &part->pages[batch], first, count,
		scratch, out, &item, &items, err));
	return part_read(&part->children[0], batch, item, items, scratch, &out->children[0], err);
}

/* Values [first, first + count) of a batch. */
static int
part_read(struct part *part, size_t batch, uint64_t first, uint64_t count, struct scratch *scratch,
	struct array *out, struct lancet_error *err)
{
	const struct legacy_page *page = part->pages == NULL ? NULL : &part->pages[batch];

	if (part->file == NULL || part->field->kind == FIELD_NULL || count == 0)
		return array_append_nulls(out, count, err);
	switch (part->field->kind) {
	case FIELD_STRUCT:
		for (size_t i = 0; i < part->child_count; i++)
			TRY(part_read(&part->children[i], batch, first, count, scratch,
				&out->children[i], err));
		return array_extend(out, count, err);
	case FIELD_LIST:
		return read_lists(part, batch, first, count, scratch, out, err);
	case FIELD_DICTIONARY:
		return read_keys(part, batch, first, count, scratch, out, err);
	case FIELD_VARIABLE:
		return legacy_read_binary(
			datafile_source(part->file), page, first, count, scratch, out, err);
	default:
		break;
	}
	return legacy_read_plain(datafile_source(part->file), page, first, count, out, err);
}

static void
legacy_reader_free(void *state)
{
	struct legacy_reader *reader = state;

	if (reader == NULL)
		return;
	part_release(&reader->root);
	free(reader);
}

static int
legacy_reader_open(const struct field *field, const struct column_place *places, uint64_t rows,
	struct scratch *scratch, void **ret_state, struct lancet_error *err)
{
	struct legacy_reader *reader = calloc(1, sizeof(*reader));
	int rc;

	if (reader == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "field");
	reader->rows = rows;
	reader->scratch = scratch;
	rc = part_init(reader, &reader->root, field, places, err);
	if (rc != LANCET_OK) {
		legacy_reader_free(reader);
		return rc;
	}
	*ret_state = reader;
	return LANCET_OK;
}

/* The batch that has `row`, which is one of the file's. */
static size_t
find_batch(const struct legacy_meta *meta, uint64_t row)
{
	size_t low = 0, high = meta->batch_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (meta->offsets[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int
read_range(struct legacy_reader *reader, const struct row_range *range, struct array *out,
	struct lancet_error *err)
{
	uint64_t at = range->first, end = range->first + range->count;

	while (at < end) {
		size_t batch = find_batch(reader->meta, at);
		uint64_t start = reader->meta->offsets[batch];
		uint64_t stop = reader->meta->offsets[batch + 1];
		int rc;

		stop = stop < end ? stop : end;
		rc = part_read(
			&reader->root, batch, at - start, stop - at, reader->scratch, out, err);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "batch %zu", batch);
		at = stop;
	}
	return LANCET_OK;
}

static int
legacy_reader_read(void *state, const struct row_range *ranges, size_t count, struct array *out,
	struct lancet_error *err)
{
	struct legacy_reader *reader = state;

	for (size_t i = 0; i < count; i++) {
		if (ranges[i].first > reader->rows ||
			ranges[i].count > reader->rows - ranges[i].first)
			return lancet_fail(err, LANCET_INVALID,
				"rows from %" PRIu64 ", %" PRIu64 " of them, of %" PRIu64,
				ranges[i].first, ranges[i].count, reader->rows);
		reader->scratch->decoded += ranges[i].count;
		if (reader->root.file == NULL)
			TRY(array_append_nulls(out, ranges[i].count, err));
		else
			TRY(read_range(reader, &ranges[i], out, err));
	}
	return LANCET_OK;
}

const struct field_reader_ops legacy_reader_ops = {
	.open = legacy_reader_open,
	.read = legacy_reader_read,
	.free = legacy_reader_free,
};
