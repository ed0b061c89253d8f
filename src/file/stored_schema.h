/* The fields, metadata and row count that a data file carries itself. Format facts: FileDescriptor.
 */
#ifndef FILE_STORED_SCHEMA_H
#define FILE_STORED_SCHEMA_H

#include "util/arena.h"
#include "util/source.h"

struct Lance__File__Field;
struct Lance__File__StringEntry;

struct stored_schema {
	struct arena arena;
	struct Lance__File__Field *const *fields;
	size_t count;
	struct Lance__File__StringEntry *const *metadata; /* legacy files: none */
	size_t metadata_count;
};

/* From a FileDescriptor at that place of the file. */
int stored_schema_new(struct source *src, uint64_t offset, uint64_t size,
	struct stored_schema **ret_schema, struct lancet_error *err);
/* From the message that legacy files call their manifest. */
int stored_schema_legacy(struct source *src, uint64_t place, struct stored_schema **ret_schema,
	struct lancet_error *err);
void stored_schema_free(struct stored_schema *schema);

/* The rows that a FileDescriptor says; its schema is stepped over. */
int stored_rows(struct source *src, uint64_t offset, uint64_t size, uint64_t *ret_rows,
	struct lancet_error *err);

#endif
