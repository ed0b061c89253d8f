/* What columns are made of, in words and numbers; see reader.h.
 *
 * Pages are opened one by one for what their messages say; values are not read.
 */
#include "reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "legacy_meta.h"
#include "legacy_page.h"
#include "util/cursor.h"
#include "util/macros.h"
#include "v20.h"

/* A column has a handful of encodings; what damage can make of it is cut. */
#define DISTINCT_MAX 32u
#define WORDS_MAX    ((size_t)64 * 1024)

/* The distinct encodings so far. They are one text, and begin where the places say. */
struct words {
	struct buf text;
	size_t places[DISTINCT_MAX + 1];
	size_t count;
	bool is_cut;
};

static bool
is_known(const struct words *words, struct slice one)
{
	for (size_t i = 0; i < words->count; i++) {
		size_t at = words->places[i];

		if (slice_equal(slice_of(words->text.data + at, words->places[i + 1] - at), one))
			return true;
	}
	return false;
}

/* Takes over what was appended to the text behind the known ones, if it is new. */
static int
add_words(struct words *words, struct lancet_error *err)
{
	size_t at = words->places[words->count];

	TRY(buf_check(&words->text, "encodings of a column", err));
	if (is_known(words, slice_of(words->text.data + at, words->text.size - at))) {
		words->text.size = at;
	} else if (words->count == DISTINCT_MAX) {
		words->text.size = at;
		words->is_cut = true;
	} else {
		words->places[++words->count] = words->text.size;
	}
	return LANCET_OK;
}

static int
finish_words(struct words *words, int rc, struct buf *text, struct lancet_error *err)
{
	for (size_t i = 0; rc == LANCET_OK && i < words->count; i++) {
		if (i > 0)
			buf_put_text(text, "; ");
		buf_put(text, words->text.data + words->places[i],
			words->places[i + 1] - words->places[i]);
	}
	if (rc == LANCET_OK && words->is_cut)
		buf_put_text(text, "; …");
	buf_release(&words->text);
	return rc == LANCET_OK ? buf_check(text, "encodings of a column", err) : rc;
}

/* What the pages of a blob column hold are the places of blobs, where a null is a place, too. */
static int
describe_v20(const struct page *page, bool is_blob, struct words *words, bool *ret_known,
	uint64_t *ret_nulls, struct lancet_error *err)
{
	buf_put_text(&words->text, is_blob ? "blob(" : "");
	TRY(v20_describe(page, &words->text, err));
	buf_put_text(&words->text, is_blob ? ")" : "");
	*ret_known = !is_blob && v20_null_count(page, ret_nulls);
	return add_words(words, err);
}

static int
describe_page(struct datafile *file, const struct page *page, const struct field *field,
	struct scratch *scratch, struct words *words, bool *ret_known, uint64_t *ret_nulls,
	struct lancet_error *err)
{
	struct page_reader reader;

	TRY(page_reader_open(&reader, file, page, field, scratch, err));
	reader.layout->describe(&reader, &words->text);
	*ret_known = reader.layout->null_count(&reader, ret_nulls);
	page_reader_release(&reader);
	return add_words(words, err);
}

static int
describe_pages(struct datafile *file, const struct file_column *column, const struct field *field,
	struct column_description *description, struct words *words, struct lancet_error *err)
{
	struct scratch scratch = { 0 };
	int rc = LANCET_OK;

	description->has_null_count = true;
	for (size_t i = 0; rc == LANCET_OK && i < column->page_count; i++) {
		const struct page *page = &column->pages[i];
		uint64_t nulls = 0;
		bool known = false;

		rc = datafile_version(file) == FILE_2_0
			     ? describe_v20(page, column->is_blob, words, &known, &nulls, err)
			     : describe_page(
				       file, page, field, &scratch, words, &known, &nulls, err);
		if (rc != LANCET_OK)
			rc = lancet_wrap(err, rc, "page %zu", i);
		for (size_t j = 0; j < page->buffer_count; j++)
			description->bytes += page->buffers[j].size;
		description->has_null_count = description->has_null_count && known;
		description->null_count += nulls;
	}
	scratch_release(&scratch);
	description->pages = column->page_count;
	if (!description->has_null_count)
		description->null_count = 0;
	return rc;
}

/* Bytes of the values behind the n + 1 places of them that a page of text or binary is. */
static int
add_binary_bytes(struct source *src, const struct legacy_page *page, uint64_t *bytes,
	struct lancet_error *err)
{
	uint8_t first[8], last[8];
	uint64_t places;

	if (page->length > UINT64_MAX / 8 - 1)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " values", page->length);
	places = 8 * (page->length + 1);
	if (page->position > src->size || places > src->size - page->position)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " values at %" PRIu64 " pass the end of the file", page->length,
			page->position);
	TRY(source_read_at(src, page->position, sizeof(first), first, err));
	TRY(source_read_at(src, page->position + places - 8, sizeof(last), last, err));
	if (load_u64(last) < load_u64(first) || load_u64(last) > src->size)
		return lancet_fail(err, LANCET_CORRUPT,
			"values from %" PRIu64 " to %" PRIu64 " of the file", load_u64(first),
			load_u64(last));
	*bytes += places + (load_u64(last) - load_u64(first));
	return LANCET_OK;
}

static int
add_legacy_bytes(struct source *src, const struct field *field, const struct legacy_page *page,
	uint64_t *bytes, struct lancet_error *err)
{
	uint64_t bits = field->bits;
	uint64_t values = page->length;

	if (field->kind == FIELD_VARIABLE)
		return add_binary_bytes(src, page, bytes, err);
	if (field->kind == FIELD_LIST)
		bits = 32;
	for (; field->kind == FIELD_FIXED_LIST; field = &field->children[0]) {
		if (__builtin_mul_overflow(values, field->dimension, &values))
			values = UINT64_MAX;
		bits = field->children[0].bits;
	}
	if (__builtin_mul_overflow(values, bits, &values) || values / 8 > src->size)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " values are more than the file holds", page->length);
	*bytes += values / 8 + (values % 8 != 0);
	return LANCET_OK;
}

/* Pages of legacy files don't say how they are encoded: the type does. */
static const char *
legacy_words(const struct field *field)
{
	switch (field->kind) {
	case FIELD_VARIABLE:
		return "var_binary";
	case FIELD_DICTIONARY:
		return "dictionary";
	default:
		return "plain";
	}
}

static int
describe_legacy(struct datafile *file, uint32_t id, const struct field *field,
	struct column_description *description, struct words *words, struct lancet_error *err)
{
	const struct legacy_meta *meta;
	struct legacy_page *pages;
	int rc = LANCET_OK;

	if (field->kind == FIELD_STRUCT || field->kind == FIELD_NULL)
		return LANCET_OK;
	TRY(datafile_legacy(file, &meta, err));
	TRY(legacy_pages_load(file, (int32_t)id, &pages, err));
	for (size_t i = 0; rc == LANCET_OK && i < meta->batch_count; i++) {
		rc = add_legacy_bytes(
			datafile_source(file), field, &pages[i], &description->bytes, err);
		if (rc != LANCET_OK)
			rc = lancet_wrap(err, rc, "page %zu", i);
	}
	free(pages);
	description->pages = meta->batch_count;
	if (rc != LANCET_OK)
		return rc;
	buf_put_text(&words->text, legacy_words(field));
	return add_words(words, err);
}

int
column_describe(struct datafile *file, uint32_t column, const struct field *field,
	struct column_description *ret_description, struct buf *text, struct lancet_error *err)
{
	struct column_description description = { 0 };
	struct words words = { .text = { .limit = WORDS_MAX } };
	const struct file_column *pages;
	int rc;

	if (datafile_version(file) == FILE_LEGACY) {
		rc = describe_legacy(file, column, field, &description, &words, err);
	} else {
		TRY(datafile_column(file, column, &pages, err));
		rc = describe_pages(file, pages, field, &description, &words, err);
	}
	rc = finish_words(&words, rc, text, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "column %" PRIu32, column);
	*ret_description = description;
	return LANCET_OK;
}
