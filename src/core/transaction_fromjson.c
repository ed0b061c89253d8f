/* The envelope by hand, the operation by its descriptor, as transaction_json.c has it. */
#include "transaction_fromjson.h"

#include <json-c/json.h>

#include "lance/transaction.pb-c.h"
#include "operations.h"
#include "pbfromjson.h"
#include "util/json_large.h"
#include "util/macros.h"
#include "util/pbunpack.h"

#define DEPTH_MAX      20 /* a transaction needs 16, with fields that are not known in it */
#define FORMAT_VERSION 1

typedef Lance__Table__Transaction transaction;

struct reader {
	struct pbfrom from;
	struct json_object *root;
	struct transaction_document document;
	transaction *message; /* that of the document */
};

static int
read_format(struct reader *reader, struct json_object *json)
{
	uint64_t format;

	TRY(pbfrom_u64(&reader->from, json, UINT64_MAX, &format));
	if (format != FORMAT_VERSION)
		return lancet_fail(reader->from.err, LANCET_UNSUPPORTED,
			"format: %llu is not known, only %d", (unsigned long long)format,
			FORMAT_VERSION);
	return LANCET_OK;
}

static int
read_uuid(struct reader *reader, struct json_object *json)
{
	reader->document.has_uuid = true;
	return pbfrom_text(&reader->from, json, &reader->message->uuid);
}

static int
read_read_version(struct reader *reader, struct json_object *json)
{
	reader->document.has_read_version = true;
	return pbfrom_u64(&reader->from, json, UINT64_MAX, &reader->message->read_version);
}

static int
read_tag(struct reader *reader, struct json_object *json)
{
	return pbfrom_text(&reader->from, json, &reader->message->tag);
}

static int
read_properties(struct reader *reader, struct json_object *json)
{
	return pbfrom_map(&reader->from, json, &reader->message->transaction_properties,
		&reader->message->n_transaction_properties);
}

/* {"base64": …, "evaluated": false} */
static int
read_precondition(
	struct pbfrom *from, struct json_object *json, ProtobufCBinaryData *ret_precondition)
{
	bool found = false, ignored;

	TRY(pbfrom_want(from, json, json_type_object, "an object"));
	json_object_object_foreach(json, key, member)
	{
		size_t before = pbfrom_enter(from, key);

		if (strcmp(key, "base64") == 0) {
			found = true;
			TRY(pbfrom_base64(from, member, ret_precondition));
		} else if (strcmp(key, "evaluated") == 0) {
			TRY(pbfrom_bool(from, member, &ignored));
		} else {
			return pbfrom_fail(from, "no such key");
		}
		pbfrom_leave(from, before);
	}
	return found ? LANCET_OK : pbfrom_fail(from, "\"base64\" is due");
}

static int
read_preconditions(struct reader *reader, struct json_object *json)
{
	struct pbfrom *from = &reader->from;
	size_t count;

	TRY(pbfrom_want(from, json, json_type_array, "an array"));
	count = json_object_array_length(json);
	reader->message->preconditions =
		arena_zalloc(from->arena, count, sizeof(ProtobufCBinaryData));
	if (reader->message->preconditions == NULL)
		return pbfrom_no_memory(from);
	for (size_t i = 0; i < count; i++) {
		size_t before = pbfrom_enter_item(from, i);

		TRY(read_precondition(from, json_object_array_get_idx(json, i),
			&reader->message->preconditions[i]));
		pbfrom_leave(from, before);
	}
	reader->message->n_preconditions = count;
	return LANCET_OK;
}

static int
read_unknown(struct reader *reader, struct json_object *json)
{
	return pbfrom_unknown(&reader->from, json, 1, &reader->message->base);
}

/* The body's own key says which message it is. */
static int
read_body(struct reader *reader, struct json_object *json)
{
	struct pbfrom *from = &reader->from;
	struct json_object *name = json_object_object_get(reader->root, "operation");
	const char *text = json_object_get_string(name);
	const ProtobufCFieldDescriptor *field = NULL;
	ProtobufCMessage *body;

	if (!json_object_is_type(name, json_type_string))
		return lancet_fail(from->err, LANCET_INVALID, "operation: its name is due");
	for (size_t i = 0; i < operation_count; i++) {
		if (strcmp(operations[i].name, text) == 0)
			field = protobuf_c_message_descriptor_get_field(
				reader->message->base.descriptor, operations[i].number);
	}
	if (field == NULL && strncmp(text, "Unknown", 7) == 0)
		return lancet_fail(from->err, LANCET_UNSUPPORTED,
			"operation: %.60s can't be committed: this build does not know it", text);
	if (field == NULL)
		return lancet_fail(
			from->err, LANCET_INVALID, "operation: there is no \"%.60s\"", text);
	TRY(pbfrom_message(from, json, field->descriptor, &body));
	/* the arms of the oneof are pointers in one place */
	*(ProtobufCMessage **)(void *)((uint8_t *)reader->message + field->offset) = body;
	reader->message->operation_case = (Lance__Table__Transaction__OperationCase)field->id;
	return LANCET_OK;
}

static int
skip(struct reader *reader, struct json_object *json)
{
	(void)reader;
	(void)json;
	return LANCET_OK;
}

static const struct {
	const char *key;
	int (*read)(struct reader *reader, struct json_object *json);
} members[] = {
	{ "format", read_format },
	{ "uuid", read_uuid },
	{ "read_version", read_read_version },
	{ "operation", skip }, /* read_body looks at it */
	{ "tag", read_tag },
	{ "properties", read_properties },
	{ "preconditions", read_preconditions },
	{ "body", read_body },
	{ "unknown", read_unknown },
};

static int
read_member(struct reader *reader, const char *key, struct json_object *json)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		if (strcmp(key, members[i].key) == 0)
			return members[i].read(reader, json);
	}
	return pbfrom_fail(&reader->from, "no such key");
}

static int
read_document(struct reader *reader)
{
	struct pbfrom *from = &reader->from;

	reader->message = arena_zalloc(from->arena, 1, sizeof(*reader->message));
	if (reader->message == NULL)
		return pbfrom_no_memory(from);
	lance__table__transaction__init(reader->message);
	reader->document.message = reader->message;
	json_object_object_foreach(reader->root, key, member)
	{
		size_t before = pbfrom_enter(from, key);

		TRY(read_member(reader, key, member));
		pbfrom_leave(from, before);
	}
	if (reader->message->operation_case == LANCE__TABLE__TRANSACTION__OPERATION__NOT_SET)
		return lancet_fail(from->err, LANCET_INVALID,
			"body: what the operation does is due (transaction.json of any version "
			"shows the form)");
	return LANCET_OK;
}

int
transaction_from_json(struct slice text, struct arena *arena,
	struct transaction_document *ret_document, struct lancet_error *err)
{
	struct reader reader = { .from = { .arena = arena, .err = err } };
	int rc = json_parse_large(text, TRANSACTION_JSON_MAX, DEPTH_MAX, &reader.root, err);

	if (rc == LANCET_CORRUPT) {
		rc = LANCET_INVALID; /* no file of the dataset */
		if (err != NULL)
			err->code = LANCET_INVALID;
	}
	if (rc == LANCET_OK) {
		arena->limit = arena->used + pb_cost_limit(text.size);
		rc = read_document(&reader);
		arena->limit = 0;
	}
	json_free(reader.root);
	if (rc == LANCET_OK)
		*ret_document = reader.document;
	return rc;
}
