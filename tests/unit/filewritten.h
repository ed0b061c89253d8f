/* Data files written into memory; fileread.h reads them again. */
#ifndef TESTS_FILEWRITTEN_H
#define TESTS_FILEWRITTEN_H

#include <string.h>

#include "file/file_writer.h"
#include "lance/file.pb-c.h"
#include "unit.h"

#define WRITTEN_FIELDS_MAX 12

/* A field as files store it; the last one of a list has no name. */
struct written_field {
	int id, parent;
	const char *name, *type;
	bool nullable;
	const char *entry; /* of metadata: "key", which is true, or "key=value"; or NULL */
};

struct written {
	Lance__File__Field fields[WRITTEN_FIELDS_MAX], *pointers[WRITTEN_FIELDS_MAX];
	Lance__File__StringEntry entries[WRITTEN_FIELDS_MAX], *listed[WRITTEN_FIELDS_MAX];
	size_t field_count;
	struct file_writer *writer;
	struct file_written end;
	struct buf bytes;
	unsigned puts, puts_max; /* the one after these fails; 0: none does */
	struct datafile *file;
	struct field_tree tree; /* of the file, once it is open */
	struct column_place *places;
	uint64_t rows;
};

static inline ProtobufCBinaryData
written_text(const char *text)
{
	return (ProtobufCBinaryData){ strlen(text), (uint8_t *)(uintptr_t)text };
}

static inline int
written_put(void *context, const struct slice *parts, size_t count, struct lancet_error *err)
{
	struct written *written = context;

	if (++written->puts == written->puts_max)
		return lancet_fail(err, LANCET_IO, "no more space");
	for (size_t i = 0; i < count; i++)
		buf_put_slice(&written->bytes, parts[i]);
	return LANCET_OK;
}

static inline int
written_open_writer(struct written *written, const struct written_field *fields,
	enum file_version version, size_t page_bytes, struct lancet_error *err)
{
	struct file_writer_options options = {
		.version = version, .fields = written->pointers, .page_bytes = page_bytes
	};
	struct file_sink sink = { written_put, written };

	for (; fields->name != NULL; fields++) {
		size_t at = written->field_count++;
		Lance__File__Field *field = &written->fields[at];

		ck_assert_uint_lt(at, WRITTEN_FIELDS_MAX);
		lance__file__field__init(field);
		field->id = fields->id;
		field->parent_id = fields->parent;
		field->name = written_text(fields->name);
		field->logical_type = written_text(fields->type);
		field->nullable = fields->nullable;
		written->pointers[at] = field;
		if (fields->entry == NULL)
			continue;
		lance__file__string_entry__init(&written->entries[at]);
		written->entries[at].key = written_text(fields->entry);
		written->entries[at].key.len = strcspn(fields->entry, "=");
		written->entries[at].value = written_text(strchr(fields->entry, '=') == NULL
								  ? "true"
								  : strchr(fields->entry, '=') + 1);
		written->listed[at] = &written->entries[at];
		field->metadata = &written->listed[at];
		field->n_metadata = 1;
	}
	options.field_count = written->field_count;
	return file_writer_open(&options, sink, &written->writer, err);
}

#endif
