/* Data files with one column of u64, made by hand from the format facts, as long as one likes: all
 * pages are one page, told many times.
 */
#ifndef TESTS_LINEAGEFILE_H
#define TESTS_LINEAGEFILE_H

#include "lineagepages.h"

/* FileDescriptor { schema #1 { fields #1 { name #2, parent_id #4, logical_type #5 } }, length #2 }
 */
static inline void
lineage_descriptor(struct buf *file, const struct lineage_spec *spec)
{
	const char *type = spec->type != NULL ? spec->type : "uint64";
	struct buf field = { 0 }, schema = { 0 };

	put_head(&field, 2, 6);
	buf_put_text(&field, "_rowid");
	put_number(&field, 4, UINT64_MAX);
	put_head(&field, 5, strlen(type));
	buf_put_text(&field, type);
	put_message(&schema, 1, &field);
	put_message(file, 1, &schema);
	put_number(file, 2, spec->page_rows * spec->pages);
}

static inline struct buf
lineage_file(const struct lineage_spec *spec)
{
	struct buf file = { 0 }, column = { 0 }, empty = { 0 };
	struct lineage_buffers buffers = { .count = 0 };
	uint64_t descriptor, metadata, columns, globals, end;

	if (spec->minor == 0)
		lineage_flat(&file, spec, &buffers);
	else
		lineage_chunks(&file, spec, &buffers);
	buf_put(&empty, "\x0a\x00", 2);
	put_encoding(&column, 1, "lance.encodings.ColumnEncoding", &empty);
	for (uint64_t i = 0; i < spec->pages; i++)
		lineage_page(&column, spec, &buffers);
	lineage_start(&file, &(struct lineage_buffers){ .count = 0 });
	descriptor = file.size;
	lineage_descriptor(&file, spec);
	metadata = file.size;
	buf_put(&file, column.data, column.size);
	columns = file.size;
	put_le(&file, metadata, 8);
	put_le(&file, column.size, 8);
	globals = file.size;
	put_le(&file, descriptor, 8);
	put_le(&file, metadata - descriptor, 8);
	end = file.size;
	put_le(&file, metadata, 8);
	put_le(&file, columns, 8);
	put_le(&file, globals, 8);
	put_le(&file, 1, 4);
	put_le(&file, 1, 4);
	put_le(&file, spec->minor == 0 ? 0 : 2, 2);
	put_le(&file, spec->minor == 0 ? 3 : spec->minor, 2);
	buf_put_text(&file, "LANC");
	ck_assert_uint_eq(file.size - end, 40);
	ck_assert_int_eq(file.failed, LANCET_OK);
	buf_release(&column);
	return file;
}

#endif
