/* Maps and what else is grouped by a key: entries with integer keys, text maps, unknown fields.
 *
 * On the wire all three are lists in any order with repeated keys; JSON gets each key once, in
 * ascending order, whatever the writer's hash order was.
 */
#include "pbjson_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "entries.h"
#include "util/cursor.h"
#include "util/macros.h"
#include "util/text.h"

#define MILLIS_PER_SECOND 1000u
#define NANOS_PER_MILLI   1000000u

bool
is_numbered_entry(const ProtobufCMessageDescriptor *type)
{
	static const char suffix[] = "Entry";
	size_t length = strlen(type->short_name);

	if (length < sizeof(suffix) || strcmp(type->short_name + length - 5, suffix) != 0 ||
	    type->n_fields != 2 || strcmp(type->fields[0].name, "key") != 0)
		return false;
	switch (type->fields[0].type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_UINT64:
		return true;
	default:
		return false;
	}
}

static void
fill_numbered(struct numbered *numbered, const ProtobufCMessage *entry)
{
	const ProtobufCFieldDescriptor *field = &entry->descriptor->fields[0];
	const uint8_t *member = (const uint8_t *)entry + field->offset;

	numbered->entry = entry;
	if (field->type == PROTOBUF_C_TYPE_INT32)
		numbered->key = (uint64_t)(int64_t)*(const int32_t *)member;
	else if (field->type == PROTOBUF_C_TYPE_UINT32)
		numbered->key = *(const uint32_t *)member;
	else
		numbered->key = *(const uint64_t *)member;
	if (field->type == PROTOBUF_C_TYPE_INT32 || field->type == PROTOBUF_C_TYPE_INT64)
		(void)snprintf(numbered->text, sizeof(numbered->text), "%" PRId64,
		               (int64_t)numbered->key);
	else
		(void)snprintf(numbered->text, sizeof(numbered->text), "%" PRIu64, numbered->key);
}

static int
compare_numbered(const void *left, const void *right)
{
	const struct numbered *a = left;
	const struct numbered *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

int
numbered_sort(ProtobufCMessage *const *stored, size_t *count, struct numbered **ret_numbered,
              struct lancet_error *err)
{
	struct numbered *numbered = calloc(*count, sizeof(*numbered));
	size_t kept = 0;

	if (numbered == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "map: %zu entries", *count);
	for (size_t i = 0; i < *count; i++) {
		numbered[i].order = i;
		fill_numbered(&numbered[i], stored[i]);
	}
	qsort(numbered, *count, sizeof(*numbered), compare_numbered);
	for (size_t i = 0; i < *count; i++)
		if (i + 1 == *count || numbered[i].key != numbered[i + 1].key)
			numbered[kept++] = numbered[i];
	*count = kept;
	*ret_numbered = numbered;
	return LANCET_OK;
}

void
pbjson_entries(struct jsondoc *doc, const char *key, const struct lancet_entry *entries,
               size_t count)
{
	jsonw_object(&doc->w, key);
	for (size_t i = 0; i < count; i++) {
		jsonw_key_slice(&doc->w, slice_of(entries[i].key.data, entries[i].key.size));
		jsonw_slice(&doc->w, NULL, slice_of(entries[i].value.data, entries[i].value.size));
	}
	jsonw_end(&doc->w);
}

int
pbjson_map(struct jsondoc *doc, const char *key, struct Lance__File__StringEntry *const *stored,
           size_t count, struct lancet_error *err)
{
	struct arena arena = { 0 };
	const struct lancet_entry *entries;
	int rc = entries_sort(&arena, stored, count, &entries, &count, err);

	if (rc == LANCET_OK)
		pbjson_entries(doc, key, entries, count);
	arena_release(&arena);
	return rc;
}

static int
compare_unknown(const void *left, const void *right)
{
	const ProtobufCMessageUnknownField *a = *(const ProtobufCMessageUnknownField *const *)left;
	const ProtobufCMessageUnknownField *b = *(const ProtobufCMessageUnknownField *const *)right;

	if (a->tag != b->tag)
		return a->tag < b->tag ? -1 : 1;
	return (a > b) - (a < b); /* they stand in one array, in stored order */
}

/* True for bytes whose base64 could be taken for a number. */
static bool
looks_like_number(struct slice bytes)
{
	struct buf text = { 0 };
	uint64_t number;
	bool looks;

	if (bytes.size % 3 != 0 || bytes.size > 15) /* 20 digits at most */
		return false;
	jsonw_put_base64(&text, bytes);
	looks = text.failed == LANCET_OK && text_to_u64(buf_slice(&text), &number);
	buf_release(&text);
	return looks;
}

/* A value in a form of its own, {"fixed64": "1"}, where it would look like one of another kind. */
static void
put_unknown(struct jsonw *w, const ProtobufCMessageUnknownField *field)
{
	struct cursor c = { .in = slice_of(field->data, field->len) };
	struct slice bytes;

	if (field->wire_type == PROTOBUF_C_WIRE_TYPE_VARINT) {
		jsonw_u64_text(w, NULL, cursor_varint(&c));
		return;
	}
	if (field->wire_type == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED) {
		(void)cursor_varint(&c); /* protobuf-c keeps the length before the bytes */
		bytes = cursor_take(&c, cursor_left(&c));
		if (!looks_like_number(bytes)) {
			jsonw_base64(w, NULL, bytes);
			return;
		}
		jsonw_object(w, NULL);
		jsonw_base64(w, "base64", bytes);
	} else if (field->wire_type == PROTOBUF_C_WIRE_TYPE_64BIT) {
		jsonw_object(w, NULL);
		jsonw_u64_text(w, "fixed64", cursor_u64(&c));
	} else {
		jsonw_object(w, NULL);
		jsonw_u64_text(w, "fixed32", cursor_u32(&c));
	}
	jsonw_end(w);
}

static int
put_unknown_groups(struct jsondoc *doc, const ProtobufCMessageUnknownField *const *fields,
                   size_t count, struct lancet_error *err)
{
	struct jsonw *w = &doc->w;
	char key[NUMBERED_TEXT_MAX];

	jsonw_object(w, "unknown");
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || fields[i]->tag != fields[i - 1]->tag) {
			if (i != 0)
				jsonw_end(w);
			(void)snprintf(key, sizeof(key), "%" PRIu32, fields[i]->tag);
			jsonw_array(w, key);
		}
		put_unknown(w, fields[i]);
		TRY(jsondoc_flush(doc, err));
	}
	jsonw_end(w);
	jsonw_end(w);
	return LANCET_OK;
}

int
pbjson_unknown(struct jsondoc *doc, const ProtobufCMessage *message, pbjson_wants wants,
               struct lancet_error *err)
{
	lancet_autofree const ProtobufCMessageUnknownField **fields = NULL;
	size_t count = 0;

	if (message->n_unknown_fields == 0)
		return LANCET_OK;
	fields = calloc(message->n_unknown_fields, sizeof(*fields));
	if (fields == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%u unknown fields",
		                   message->n_unknown_fields);
	for (unsigned i = 0; i < message->n_unknown_fields; i++)
		if (wants == NULL || wants(message->unknown_fields[i].tag))
			fields[count++] = &message->unknown_fields[i];
	if (count == 0)
		return LANCET_OK;
	qsort(fields, count, sizeof(*fields), compare_unknown);
	return put_unknown_groups(doc, fields, count, err);
}

void
pbjson_time(struct jsonw *w, const char *key, int64_t seconds, int32_t nanos)
{
	char text[31];

	if (text_timestamp(seconds, nanos, text)) {
		jsonw_text(w, key, text);
		return;
	}
	jsonw_object(w, key);
	jsonw_i64_text(w, "seconds", seconds);
	jsonw_i64(w, "nanos", nanos);
	jsonw_end(w);
}

void
pbjson_base(struct jsonw *w, bool has_base, uint32_t base_id)
{
	if (has_base)
		jsonw_u64(w, "base", base_id);
	else
		jsonw_null(w, "base");
}

void
pbjson_millis(struct jsonw *w, const char *key, bool has_millis, uint64_t millis)
{
	if (has_millis)
		pbjson_time(w, key, (int64_t)(millis / MILLIS_PER_SECOND),
		            (int32_t)(millis % MILLIS_PER_SECOND * NANOS_PER_MILLI));
	else
		jsonw_null(w, key);
}
