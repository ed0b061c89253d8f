/* Data files made by hand for tests, from the format facts, without the code under test. */
#ifndef TESTS_DATAFILES_H
#define TESTS_DATAFILES_H

#include "columnmeta.h"
#include "file/datafile.h"

#include "marks.h"

static inline void
put_le(struct buf *b, uint64_t value, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		buf_put_byte(b, (uint8_t)(value >> 8 * i));
}

/* StringEntry metadata #5 { key #1, value #2 } */
static inline void
put_metadata(struct buf *schema, const char *key, const char *value)
{
	struct buf entry = { 0 };

	put_head(&entry, 1, strlen(key));
	buf_put_text(&entry, key);
	put_head(&entry, 2, strlen(value));
	buf_put_text(&entry, value);
	put_message(schema, 5, &entry);
}

/* FileDescriptor { Schema schema #1 { repeated Field fields #1, metadata }; uint64 length #2 } */
static inline void
put_descriptor(struct buf *b, const struct file_spec *spec)
{
	struct buf field = { 0 }, schema = { 0 };

	put_head(&field, 2, 1 + spec->schema);
	buf_fill(&field, 'x', 1 + spec->schema);
	put_number(&field, 4, UINT64_MAX);
	put_head(&field, 5, 5);
	buf_put_text(&field, "int32");
	put_message(&schema, 1, &field);
	put_metadata(&schema, "twice", "first");
	put_metadata(&schema, "once", "only");
	put_metadata(&schema, "twice", "last");
	put_message(b, 1, &schema);
	put_number(b, 2, spec->rows);
}

/* Where the parts of a file made from a spec are. */
struct parts {
	uint64_t descriptor, metadata, columns, globals, footer;
};

static inline struct buf
make_file(const struct file_spec *spec, struct parts *ret_parts)
{
	struct buf file = { 0 }, descriptor = { 0 }, column = { 0 };
	struct parts parts = { .descriptor = 640 };

	buf_fill(&file, 0x48, 640); /* pages */
	put_descriptor(&descriptor, spec);
	buf_put(&file, descriptor.data, descriptor.size);
	put_column(&column, spec);
	parts.metadata = file.size;
	for (uint32_t i = 0; i < spec->columns; i++)
		buf_put(&file, column.data, column.size);
	parts.columns = file.size;
	for (uint32_t i = 0; i < spec->columns; i++) {
		put_le(&file, parts.metadata + i * column.size, 8);
		put_le(&file, column.size, 8);
	}
	parts.globals = file.size;
	put_le(&file, parts.descriptor, 8);
	put_le(&file, descriptor.size, 8);
	parts.footer = file.size;
	put_le(&file, parts.metadata, 8);
	put_le(&file, parts.columns, 8);
	put_le(&file, parts.globals, 8);
	put_le(&file, 1, 4);
	put_le(&file, spec->columns, 4);
	put_le(&file, spec->major, 2);
	put_le(&file, spec->minor, 2);
	buf_put_text(&file, "LANC");
	buf_release(&descriptor);
	buf_release(&column);
	if (ret_parts != NULL)
		*ret_parts = parts;
	return file;
}

/* Metadata { …; repeated int32 batch_offsets #2; uint64 page_table_position #3 }, and a manifest.
 */
static inline struct buf
make_legacy(const int32_t *offsets, size_t count)
{
	struct buf file = { 0 }, packed = { 0 }, metadata = { 0 };

	for (size_t i = 0; i < count; i++)
		put_varint(&packed, (uint64_t)(int64_t)offsets[i]);
	put_number(&metadata, 1, 100);
	put_message(&metadata, 2, &packed);
	put_number(&metadata, 3, 17);
	buf_fill(&file, 0, 100);
	put_le(&file, 25, 4); /* LegacyManifest { repeated Field fields #1 } */
	buf_put(&file,
		"\x0a\x17\x12\x01x\x18\x05\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x2a\x05"
		"int32",
		25);
	put_le(&file, metadata.size, 4);
	buf_put(&file, metadata.data, metadata.size);
	buf_release(&metadata);
	put_le(&file, 129, 8);
	put_le(&file, 0, 2);
	put_le(&file, 2, 2);
	buf_put_text(&file, "LANC");
	return file;
}

static inline int
open_bytes(struct slice bytes, struct datafile **ret_file, struct lancet_error *err)
{
	struct source *src = source_memory_new(bytes, NULL);
	int rc = datafile_open(src, ret_file, err);

	source_unref(src);
	return rc;
}

#endif
