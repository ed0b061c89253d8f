/* Parts of manifests for tests of drafts. Numbers of fields are those of the format facts. */
#ifndef TESTS_DRAFTPARTS_H
#define TESTS_DRAFTPARTS_H

#include "encode.h"

#include <string.h>

/* DataFile { path #1, fields #2, column_indices #3, major #4, minor #5, size #6 } */
static inline void
put_file(struct buf *into, unsigned field, const int8_t *fields, size_t count, unsigned minor)
{
	struct buf file = { 0 }, ids = { 0 }, columns = { 0 };

	for (size_t i = 0; i < count; i++) {
		put_varint(&ids, (uint64_t)(int64_t)fields[i]);
		put_varint(&columns, i);
	}
	put_head(&file, 1, 7);
	buf_put_text(&file, "a.lance");
	put_message(&file, 2, &ids);
	if (minor > 0)
		put_message(&file, 3, &columns);
	put_number(&file, 4, minor > 0 ? 2 : 0);
	put_number(&file, 5, minor > 0 ? minor : 2);
	put_number(&file, 6, 100);
	buf_release(&columns);
	put_message(into, field, &file);
}

/* DataFragment { id #1, files #2, physical_rows #4 }, with what `more` holds, which it takes. */
static inline void
put_fragment(struct buf *message, uint64_t id, uint64_t rows, struct buf *more)
{
	static const int8_t fields[] = { 0 };
	struct buf fragment = { 0 };

	put_number(&fragment, 1, id);
	put_file(&fragment, 2, fields, 1, 2);
	put_number(&fragment, 4, rows);
	if (more != NULL) {
		buf_put(&fragment, more->data, more->size);
		buf_release(more);
	}
	put_message(message, 2, &fragment);
}

/* DeletionFile { type #1, read_version #2, id #3, num_deleted_rows #4 } as #3 of a fragment */
static inline void
put_deletion(struct buf *fragment, uint64_t rows)
{
	struct buf deletion = { 0 };

	put_number(&deletion, 1, 1);
	put_number(&deletion, 2, 1);
	put_number(&deletion, 3, 5);
	put_number(&deletion, 4, rows);
	put_message(fragment, 3, &deletion);
}

/* IndexMetadata { uuid #1, fields #2, name #3, dataset_version #4, fragment_bitmap #5 },
 * over fragment 0 */
static inline void
put_index(struct buf *section, const char *name, struct buf *more)
{
	struct buf entry = { 0 }, uuid = { 0 };

	put_head(&uuid, 1, 16);
	buf_fill(&uuid, (uint8_t)*name, 16);
	put_message(&entry, 1, &uuid);
	buf_put(&entry, "\x12\x01\x00", 3);
	put_head(&entry, 3, strlen(name));
	buf_put_text(&entry, name);
	put_number(&entry, 4, 1);
	buf_put(&entry, "\x2a\x12\x3a\x30\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\0\0", 20);
	if (more != NULL) {
		buf_put(&entry, more->data, more->size);
		buf_release(more);
	}
	put_message(section, 1, &entry);
}

static inline void
put_writer(struct buf *message, const char *library, const char *version)
{
	struct buf writer = { 0 };

	put_head(&writer, 1, strlen(library));
	buf_put_text(&writer, library);
	put_head(&writer, 2, strlen(version));
	buf_put_text(&writer, version);
	put_message(message, 13, &writer);
}

/* What every manifest has: a field, a version, a writer, a format. */
static inline void
put_basics(struct buf *message, uint64_t version)
{
	struct buf field = { 0 }, format = { 0 };

	put_head(&field, 2, 1);
	buf_put_text(&field, "a");
	put_number(&field, 4, UINT64_MAX);
	put_head(&field, 5, 5);
	buf_put_text(&field, "int32");
	put_number(&field, 6, 1);
	put_message(message, 1, &field);
	put_number(message, 3, version);
	put_writer(message, "lance", "14.0.2");
	buf_put(&format,
		"\x0a\x05lance\x12\x03"
		"2.2",
		12);
	put_message(message, 15, &format);
}

#endif
