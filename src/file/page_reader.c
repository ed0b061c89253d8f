/* From the message of a page to its layout; see layout.h.
 *
 * The version in the footer decides which message it must be: 2.2 uses the package of 2.1. Each
 * case is a row of a table. Format facts: page layouts, 2.3 PlanarLayout.
 */
#include "layout_cases.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>
#include <lance/encodings23.pb-c.h>

#include "layout_sparse.h"
#include "util/macros.h"
#include "util/pbunpack.h"

static int open_dense(struct page_reader *reader, const void *message, struct lancet_error *err);
static int open_sparse(struct page_reader *reader, const void *message, struct lancet_error *err);
static int refuse_indexed(
	struct page_reader *reader, const void *message, struct lancet_error *err);

const struct layout_case page_layout_cases[] = {
	{ LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_MINI_BLOCK_LAYOUT, "mini_block",
		layout_open_mini_block },
	{ LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_CONSTANT_LAYOUT, "constant",
		layout_open_constant },
	{ LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_FULL_ZIP_LAYOUT, "full_zip",
		layout_open_full_zip },
	{ LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_BLOB_LAYOUT, "blob", layout_open_blob },
};
const size_t page_layout_cases_count = ARRAY_SIZE(page_layout_cases);

const struct layout_case planar_structure_cases[] = {
	{ LANCE__ENCODINGS23__STRUCTURE__STRUCTURE_DENSE, "dense", open_dense },
	{ LANCE__ENCODINGS23__STRUCTURE__STRUCTURE_SPARSE, "sparse", open_sparse },
};
const size_t planar_structure_cases_count = ARRAY_SIZE(planar_structure_cases);

const struct layout_case planar_dense_cases[] = {
	{ LANCE__ENCODINGS23__VALUES__VALUES_CHUNKED, "mini_block", layout_open_chunked },
	{ LANCE__ENCODINGS23__VALUES__VALUES_ZIPPED, "full_zip", layout_open_zipped },
	{ LANCE__ENCODINGS23__VALUES__VALUES_CONSTANT, "constant", layout_open_scalar },
	{ LANCE__ENCODINGS23__VALUES__VALUES_NONE, "none", layout_open_none },
	{ LANCE__ENCODINGS23__VALUES__VALUES_INDEXED, "indexed", refuse_indexed },
};
const size_t planar_dense_cases_count = ARRAY_SIZE(planar_dense_cases);

static int
open_case(struct page_reader *reader, const struct layout_case *cases, size_t count, int pb_case,
	const void *message, struct lancet_error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (cases[i].pb_case == pb_case)
			return lancet_wrap(
				err, cases[i].open(reader, message, err), "%s", cases[i].name);
	}
	return lancet_fail(err, LANCET_CORRUPT, "page layout of an unknown kind");
}

static int
refuse_indexed(struct page_reader *reader, const void *message, struct lancet_error *err)
{
	(void)reader;
	(void)message;
	return lancet_fail(err, LANCET_CORRUPT, "values by index in a dense page");
}

static int
open_dense(struct page_reader *reader, const void *message, struct lancet_error *err)
{
	const Lance__Encodings23__PlanarLayout *planar = message;

	TRY(LAYOUT_LAYERS(reader, planar->structure->dense, err));
	return open_case(reader, planar_dense_cases, planar_dense_cases_count,
		(int)planar->values->values_case, planar, err);
}

static int
open_sparse(struct page_reader *reader, const void *message, struct lancet_error *err)
{
	return sparse_open(reader, message, err);
}

int
page_layout_open(struct page_reader *reader, struct slice message, struct lancet_error *err)
{
	Lance__Encodings21__PageLayout *layout;

	TRY(pb_unpack(&lance__encodings21__page_layout__descriptor, message, &reader->arena,
		&layout, err));
	return open_case(reader, page_layout_cases, page_layout_cases_count,
		(int)layout->layout_case, layout, err);
}

static int
planar_layout_open(struct page_reader *reader, struct slice message, struct lancet_error *err)
{
	Lance__Encodings23__PlanarLayout *layout;

	TRY(pb_unpack(&lance__encodings23__planar_layout__descriptor, message, &reader->arena,
		&layout, err));
	if (layout->structure == NULL || layout->values == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "page without structure or values");
	return open_case(reader, planar_structure_cases, planar_structure_cases_count,
		(int)layout->structure->structure_case, layout, err);
}

static int
open_message(struct page_reader *reader, struct lancet_error *err)
{
	const struct page *page = reader->page;
	bool planar = reader->version == FILE_2_3;
	struct slice type = slice_text(
		planar ? "lance.encodings23.PlanarLayout" : "lance.encodings21.PageLayout");

	if (!slice_equal(page->type, type))
		return lancet_fail(err, LANCET_CORRUPT, "encoding of type %.*s in a file of %s",
			(int)(page->type.size > 100 ? 100 : page->type.size), page->type.data,
			file_version_name(reader->version));
	return planar ? planar_layout_open(reader, page->encoding, err)
		      : page_layout_open(reader, page->encoding, err);
}

/* Stored rows for each row of the field. */
static int
leaf_scale(const struct field *leaf, uint64_t *ret_scale, struct lancet_error *err)
{
	uint64_t scale = 1;

	for (const struct field *above = leaf->parent; above != NULL; above = above->parent) {
		if (above->kind != FIELD_FIXED_LIST)
			continue;
		if (above->dimension == 0 ||
			__builtin_mul_overflow(scale, above->dimension, &scale))
			return lancet_fail(err, LANCET_CORRUPT,
				"fixed-size list of %" PRIu64 " items", above->dimension);
	}
	*ret_scale = scale;
	return LANCET_OK;
}

int
page_reader_open(struct page_reader *reader, struct datafile *file, const struct page *page,
	const struct field *leaf, struct scratch *scratch, struct lancet_error *err)
{
	int rc;

	*reader = (struct page_reader){ .file = file,
		.version = datafile_version(file),
		.page = page,
		.leaf = leaf,
		.scratch = scratch };
	rc = leaf_scale(leaf, &reader->scale, err);
	if (rc == LANCET_OK && page->length % reader->scale != 0)
		rc = lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " stored rows in fixed-size lists of %" PRIu64, page->length,
			reader->scale);
	if (rc == LANCET_OK)
		rc = open_message(reader, err);
	if (rc != LANCET_OK)
		page_reader_release(reader);
	return rc;
}

int
page_reader_read(struct page_reader *reader, const struct row_range *ranges, size_t count,
	struct leaf_out *out, struct lancet_error *err)
{
	const struct array *top =
		out->nest_count == 0 ? &out->leaf : &out->nests[out->nest_count - 1];
	uint64_t before = top->length;
	uint64_t rows = 0;

	for (size_t i = 0; i < count; i++)
		rows += ranges[i].count;
	TRY(reader->layout->read(reader, ranges, count, out, err));
	rows /= reader->scale;
	if (top->length - before != rows)
		return lancet_fail(err, LANCET_CORRUPT,
			"%s: %" PRIu64 " rows where %" PRIu64 " are expected", reader->layout->name,
			top->length - before, rows);
	return LANCET_OK;
}

void
page_reader_release(struct page_reader *reader)
{
	if (reader == NULL)
		return;
	if (reader->layout != NULL && reader->layout->release != NULL)
		reader->layout->release(reader);
	arena_release(&reader->arena);
	*reader = (struct page_reader){ 0 };
}

int
page_read(struct page_reader *reader, size_t index, uint64_t offset, size_t size, void *into,
	struct lancet_error *err)
{
	const struct page *page = reader->page;

	if (index >= page->buffer_count)
		return lancet_fail(err, LANCET_CORRUPT, "page of %zu buffers, number %zu is needed",
			page->buffer_count, index);
	if (offset > page->buffers[index].size || size > page->buffers[index].size - offset)
		return lancet_fail(err, LANCET_CORRUPT,
			"buffer %zu of %" PRIu64 " bytes, %zu at %" PRIu64 " are needed", index,
			page->buffers[index].size, size, offset);
	return source_read_at(datafile_source(reader->file), page->buffers[index].offset + offset,
		size, into, err);
}

int
layout_check_buffers(const struct page_reader *reader, size_t needed, struct lancet_error *err)
{
	if (reader->page->buffer_count != needed)
		return lancet_fail(err, LANCET_CORRUPT, "page of %zu buffers, %zu are needed",
			reader->page->buffer_count, needed);
	return LANCET_OK;
}

bool
layout_null_count(const struct page_reader *reader, uint64_t *ret_nulls)
{
	if (reader->layers.definition_max > 0)
		return false;
	*ret_nulls = 0;
	return true;
}
