/* Schemas of data files; see stored_schema.h. */
#include "stored_schema.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lance/datafile.pb-c.h"
#include "legacy_meta.h"
#include "util/macros.h"
#include "util/pbscan.h"
#include "util/pbunpack.h"

#define HEAD_WINDOW 64u
/* A hundred thousand fields need about a tenth of it. */
#define SCHEMA_MAX (256u << 20)

static int
unpack_descriptor(struct stored_schema *schema, struct slice bytes, struct lancet_error *err)
{
	Lance__File__V2__FileDescriptor *message;

	TRY(pb_unpack(&lance__file__v2__file_descriptor__descriptor, bytes, &schema->arena,
		&message, err));
	if (message->schema == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "no schema");
	schema->fields = message->schema->fields;
	schema->count = message->schema->n_fields;
	schema->metadata = message->schema->metadata;
	schema->metadata_count = message->schema->n_metadata;
	return LANCET_OK;
}

static int
unpack_legacy(struct stored_schema *schema, struct slice bytes, struct lancet_error *err)
{
	Lance__File__V2__LegacyManifest *message;

	TRY(pb_unpack(&lance__file__v2__legacy_manifest__descriptor, bytes, &schema->arena,
		&message, err));
	schema->fields = message->fields;
	schema->count = message->n_fields;
	return LANCET_OK;
}

static int
load(struct source *src, uint64_t offset, uint64_t size,
	int (*unpack)(struct stored_schema *, struct slice, struct lancet_error *),
	struct stored_schema **ret_schema, struct lancet_error *err)
{
	struct stored_schema *schema;
	uint8_t *bytes;
	int rc;

	if (size > SCHEMA_MAX)
		return lancet_fail(err, LANCET_LIMIT, "%" PRIu64 " bytes of schema", size);
	schema = calloc(1, sizeof(*schema));
	if (schema == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "schema");
	rc = source_load(src, offset, (size_t)size, &bytes, err);
	if (rc == LANCET_OK) {
		rc = unpack(schema, slice_of(bytes, (size_t)size), err);
		free(bytes);
	}
	if (rc != LANCET_OK) {
		stored_schema_free(schema);
		return lancet_wrap(err, rc, "descriptor");
	}
	*ret_schema = schema;
	return LANCET_OK;
}

int
stored_schema_new(struct source *src, uint64_t offset, uint64_t size,
	struct stored_schema **ret_schema, struct lancet_error *err)
{
	return load(src, offset, size, unpack_descriptor, ret_schema, err);
}

int
stored_schema_legacy(struct source *src, uint64_t place, struct stored_schema **ret_schema,
	struct lancet_error *err)
{
	uint64_t offset;
	uint32_t size;

	TRY(legacy_message(src, place, &offset, &size, err));
	return load(src, offset, size, unpack_legacy, ret_schema, err);
}

void
stored_schema_free(struct stored_schema *schema)
{
	if (schema == NULL)
		return;
	arena_release(&schema->arena);
	free(schema);
}

/* FileDescriptor { Schema schema #1; uint64 length #2 } */
int
stored_rows(struct source *src, uint64_t offset, uint64_t size, uint64_t *ret_rows,
	struct lancet_error *err)
{
	uint64_t rows = 0;
	struct pbscan scan = { 0 };
	struct pb_field field;
	int rc = pbscan_init(&scan, src, offset, size, HEAD_WINDOW, err);

	while (pbscan_step(&scan, &field, &rc, err)) {
		if (field.number == 2 && field.wire == PB_VARINT)
			rows = field.value;
	}
	pbscan_release(&scan);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "descriptor");
	*ret_rows = rows;
	return LANCET_OK;
}
