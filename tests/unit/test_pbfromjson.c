/* Messages from JSON: what pbjson writes comes back, and what it does not write is refused. */
#include "unit.h"

#include <dirent.h>
#include <json-c/json.h>
#include <stdio.h>

#include "core/pbfromjson.h"
#include "core/pbjson.h"
#include "core/transaction.h"
#include "core/transaction_fromjson.h"
#include "jsontext.h"
#include "lance/transaction.pb-c.h"
#include "pbrandom.h"
#include "util/json_large.h"
#include "util/pbunpack.h"

#define TRANSACTION_TYPE &lance__table__transaction__descriptor

static const ProtobufCMessageDescriptor *const types[] = {
	TRANSACTION_TYPE,
	&lance__table__manifest__descriptor,
	&lance__table__index_section__descriptor,
	&lance__table__fragment_reuse_index_details__descriptor,
	&lance__table__row_id_sequence__descriptor,
	&lance__table__mem_wal_index_details__descriptor,
};

/* "m" holds the message. */
static void
render(const ProtobufCMessage *message, struct json_text *text)
{
	struct lancet_error err = { 0 };
	struct jsondoc doc;
	int rc;

	json_text_init(text);
	jsondoc_begin(&doc, &text->out);
	doc.w.compact = true;
	rc = pbjson_message(&doc, "m", message, &err);
	ck_assert_msg(jsondoc_end(&doc, rc, &err) == LANCET_OK, "%s", err.text);
}

static ProtobufCMessage *
read_back(struct slice text, const ProtobufCMessageDescriptor *type, struct arena *arena)
{
	struct lancet_error err = { 0 };
	struct pbfrom from = { .arena = arena, .err = &err };
	struct json_object *root = NULL;
	struct json_object *member;
	ProtobufCMessage *message = NULL;
	int rc = json_parse_large(text, text.size, 24, &root, &err);

	ck_assert_msg(rc == LANCET_OK, "%s\n%.*s", err.text, (int)text.size, text.data);
	member = json_object_object_get(root, "m");
	rc = pbfrom_message(&from, member, type, &message);
	ck_assert_msg(rc == LANCET_OK, "%s\n%.*s", err.text, (int)text.size, text.data);
	json_free(root);
	return message;
}

static ProtobufCMessage *
through_the_wire(const ProtobufCMessage *message, struct arena *arena, struct buf *bytes)
{
	struct lancet_error err = { 0 };
	ProtobufCMessage *decoded;

	bytes->size = 0;
	ck_assert(buf_reserve(bytes, protobuf_c_message_get_packed_size(message) + 1));
	bytes->size = protobuf_c_message_pack(message, bytes->data);
	ck_assert_msg(pb_unpack(message->descriptor, buf_slice(bytes), arena, &decoded, &err) ==
			      LANCET_OK,
		"%s", err.text);
	return decoded;
}

/* What JSON can't keep (the order of a map) has gone after the first time: then the bytes stay. */
static void
check_round_trip(const ProtobufCMessage *message)
{
	struct arena arena = { 0 };
	struct json_text first, second;
	struct buf bytes = { 0 }, again = { 0 };
	ProtobufCMessage *back;

	render(message, &first);
	back = read_back(buf_slice(&first.buf), message->descriptor, &arena);
	back = through_the_wire(back, &arena, &bytes);
	render(back, &second);
	ck_assert_msg(slice_equal(buf_slice(&first.buf), buf_slice(&second.buf)), "%.*s\n%.*s",
		(int)first.buf.size, first.buf.data, (int)second.buf.size, second.buf.data);
	back = read_back(buf_slice(&second.buf), message->descriptor, &arena);
	(void)through_the_wire(back, &arena, &again);
	ck_assert(slice_equal(buf_slice(&bytes), buf_slice(&again)));
	buf_release(&first.buf);
	buf_release(&second.buf);
	buf_release(&bytes);
	buf_release(&again);
	arena_release(&arena);
}

START_TEST(random_messages_come_back)
{
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct arena arena = { 0 };
		struct pbrandom random = { .arena = &arena, .state = seed * 0x9e3779b97f4a7c15u };
		struct buf bytes = { 0 };
		ProtobufCMessage *message = pbrandom_message(&random, types[_i]);

		check_round_trip(through_the_wire(message, &arena, &bytes));
		buf_release(&bytes);
		arena_release(&arena);
	}
}
END_TEST

/* The message as its bytes say, of a file. */
static lancet_transaction *
load_transaction(const char *directory, const char *name)
{
	lancet_transaction *transaction = NULL;
	char path[512];
	uint8_t *bytes = malloc(1 << 20);
	size_t size;
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "rb");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(bytes);
	size = fread(bytes, 1, 1 << 20, file);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(transaction_parse(bytes, size, &transaction, NULL), LANCET_OK);
	return transaction;
}

START_TEST(stored_transactions_come_back)
{
	static const char directory[] = UNIT_DATA_DIR "/sample.lance/_transactions";
	DIR *dir = opendir(directory);
	unsigned found = 0;

	ck_assert_ptr_nonnull(dir);
	for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
		lancet_transaction *transaction;
		struct transaction_document document = { 0 };
		struct arena arena = { 0 };
		struct lancet_error err = { 0 };
		struct buf bytes = { 0 };
		struct json_text text;

		if (strstr(entry->d_name, ".txn") == NULL)
			continue;
		found++;
		transaction = load_transaction(directory, entry->d_name);
		check_round_trip(&transaction->message->base);
		json_text_init(&text);
		ck_assert_int_eq(lancet_transaction_json(transaction, &text.out, &err), LANCET_OK);
		ck_assert_msg(transaction_from_json(
				      buf_slice(&text.buf), &arena, &document, &err) == LANCET_OK,
			"%s: %s", entry->d_name, err.text);
		ck_assert(document.has_uuid && document.has_read_version);
		(void)through_the_wire(&document.message->base, &arena, &bytes);
		ck_assert_msg(slice_equal(buf_slice(&bytes),
				      slice_of(transaction->bytes, transaction->size)),
			"%s", entry->d_name);
		buf_release(&bytes);
		buf_release(&text.buf);
		arena_release(&arena);
		lancet_transaction_free(transaction);
	}
	ck_assert_int_eq(closedir(dir), 0);
	ck_assert_uint_eq(found, 6);
}
END_TEST

#define APPEND(fragments) "{\"operation\":\"Append\",\"body\":{\"fragments\":" fragments "}}"

#define INDEX(details)                                                                             \
	"{\"operation\":\"CreateIndex\",\"body\":{\"new_indices\":[{\"index_details\":" details    \
	"}]}}"
#define ZONES "\"type_url\":\"/lance.table.ZoneMapIndexDetails\""

static const struct {
	const char *label, *text;
	int want;
	const char *why; /* a part of what is said */
} documents[] = {
	{ "the smallest", "{\"operation\":\"Append\",\"body\":{}}", LANCET_OK, "" },
	{ "numbers as text", APPEND("[{\"id\":\"3\",\"physical_rows\":\"10\"}]"), LANCET_OK, "" },
	{ "text as numbers",
		"{\"operation\":\"Restore\",\"read_version\":5,\"body\":{\"version\":3}}",
		LANCET_OK, "" },
	{ "the largest number",
		"{\"operation\":\"Restore\",\"body\":{\"version\":18446744073709551615}}",
		LANCET_OK, "" },
	{ "a larger one", "{\"operation\":\"Restore\",\"body\":{\"version\":18446744073709551616}}",
		LANCET_INVALID, "byte 41: a whole number that has no 64 bits" },
	{ "an unknown key, with its place",
		"{\"operation\":\"Rewrite\",\"body\":{\"groups\":[{},{\"old_fragments\":[{\"idd\":"
		"1}]}"
		"]}}",
		LANCET_INVALID, "body.groups[1].old_fragments[0].idd: no such key" },
	{ "an unknown key of the envelope", "{\"operation\":\"Append\",\"body\":{},\"uid\":\"\"}",
		LANCET_INVALID, "uid: no such key" },
	{ "a repeated key",
		"{\"operation\":\"Append\",\"body\":{},\"tag\":\"a\",\"t\\u0061g\":\"b\"}",
		LANCET_INVALID, "an object has a key twice" },
	{ "a negative id", APPEND("[{\"id\":-1}]"), LANCET_INVALID,
		"body.fragments[0].id: -1 is not in 0-18446744073709551615" },
	{ "an id with a fraction", APPEND("[{\"id\":1.0}]"), LANCET_INVALID,
		"body.fragments[0].id: double, where a whole number is due" },
	{ "an id with a leading zero", APPEND("[{\"id\":\"01\"}]"), LANCET_INVALID,
		"\"01\" is no whole number" },
	{ "a number that is too large for its field",
		APPEND("[{\"files\":[{\"file_major_version\":4294967296}]}]"), LANCET_INVALID,
		"files[0].file_major_version: 4294967296 is not in 0-4294967295" },
	{ "an item of another kind", APPEND("[{\"files\":[{\"fields\":[0,true]}]}]"),
		LANCET_INVALID, "body.fragments[0].files[0].fields[1]: boolean, where" },
	{ "no list", APPEND("{}"), LANCET_INVALID,
		"body.fragments: object, where an array is due" },
	{ "null", APPEND("null"), LANCET_INVALID, "body.fragments: null, where an array is due" },
	{ "two arms of one oneof", APPEND("[{\"inline_row_ids\":\"\",\"column_row_ids\":{}}]"),
		LANCET_INVALID, "there is another one of its kind" },
	{ "an enum without a name", APPEND("[{\"deletion_file\":{\"file_type\":\"TAR\"}}]"),
		LANCET_INVALID, "file_type: \"TAR\" is no DeletionFileType" },
	{ "no base64", APPEND("[{\"inline_row_ids\":\"CgB=\"}]"), LANCET_INVALID,
		"inline_row_ids: no base64" },
	{ "base64 without padding", APPEND("[{\"inline_row_ids\":\"CgA\"}]"), LANCET_INVALID,
		"no base64" },
	{ "no text", APPEND("[{\"files\":[{\"path\":{\"base65\":\"\"}}]}]"), LANCET_INVALID,
		"files[0].path: no text" },
	{ "half a surrogate pair", APPEND("[{\"files\":[{\"path\":\"\\ud800x\"}]}]"),
		LANCET_INVALID, "half a surrogate pair" },
	{ "a map by numbers with no number",
		"{\"operation\":\"UpdateConfig\",\"body\":{\"field_metadata_updates\":{\"a\":{}}}}",
		LANCET_INVALID, "field_metadata_updates.a: the key is no whole number" },
	{ "a map by numbers, too large",
		"{\"operation\":\"UpdateConfig\",\"body\":{\"field_metadata_updates\":{"
		"\"2147483648\":"
		"{}}}}",
		LANCET_INVALID, "2147483648 is not in" },
	{ "an unknown field that is known", APPEND("[{\"unknown\":{\"1\":[\"5\"]}}]"),
		LANCET_INVALID, "fragments[0].unknown.1: a field that is known" },
	{ "an unknown field without a number", APPEND("[{\"unknown\":{\"a\":[\"5\"]}}]"),
		LANCET_INVALID, "unknown.a: no number of a field" },
	{ "an unknown field of no kind", APPEND("[{\"unknown\":{\"900\":[{\"fixed16\":\"5\"}]}}]"),
		LANCET_INVALID, "unknown.900[0]: one of base64, fixed32, fixed64 is due" },
	{ "an unknown value that is no list", APPEND("[{\"unknown\":{\"900\":\"5\"}}]"),
		LANCET_INVALID, "unknown.900: string, where an array is due" },
	{ "a UUID that is none",
		"{\"operation\":\"CreateIndex\",\"body\":{\"new_indices\":[{\"uuid\":\"1234\"}]}}",
		LANCET_INVALID, "new_indices[0].uuid: no UUID" },
	{ "details that say the same twice",
		INDEX("{" ZONES ",\"value\":\"CAc=\",\"decoded\":{\"rows_per_zone\":7}}"),
		LANCET_OK, "" },
	{ "details only decoded", INDEX("{" ZONES ",\"decoded\":{\"rows_per_zone\":7}}"), LANCET_OK,
		"" },
	{ "details that contradict",
		INDEX("{" ZONES ",\"value\":\"CAc=\",\"decoded\":{\"rows_per_zone\":8}}"),
		LANCET_INVALID, "index_details.decoded: says something else" },
	{ "the deepest there is",
		INDEX("{\"type_url\":\"/lance.table.FragmentReuseIndexDetails\",\"decoded\":{"
		      "\"inline\":{\"transitions\":[{\"sources\":[{\"unknown\":{\"900\":[{"
		      "\"fixed64\":\"1\"}]}}]}]}}}"),
		LANCET_OK, "" },
	{ "damaged details", INDEX("{" ZONES ",\"value\":\"CA==\",\"decoded\":null}"), LANCET_OK,
		"" },
	{ "details of an unknown type, decoded", INDEX("{\"type_url\":\"/x\",\"decoded\":{}}"),
		LANCET_INVALID, "decoded: the type is not known" },
	{ "another form", "{\"format\":2,\"operation\":\"Append\",\"body\":{}}", LANCET_UNSUPPORTED,
		"format: 2 is not known" },
	{ "no operation", "{\"body\":{}}", LANCET_INVALID, "operation: its name is due" },
	{ "no body", "{\"operation\":\"Append\"}", LANCET_INVALID,
		"body: what the operation does" },
	{ "no such operation", "{\"operation\":\"append\",\"body\":{}}", LANCET_INVALID,
		"there is no \"append\"" },
	{ "an unknown operation",
		"{\"operation\":\"Unknown(200)\",\"body\":{\"unknown\":{\"200\":[\"\"]}}}",
		LANCET_UNSUPPORTED, "this build does not know it" },
	{ "no object", "[]", LANCET_INVALID, "JSON is not an object" },
	{ "empty", "", LANCET_INVALID, "JSON is empty" },
	{ "cut off", "{\"operation\":\"App", LANCET_INVALID, "cut off" },
	{ "not UTF-8", "{\"operation\":\"\xff\"}", LANCET_INVALID, "JSON at byte" },
};

START_TEST(documents_are_read_or_refused_by_name)
{
	struct transaction_document document = { 0 };
	struct lancet_error err = { 0 };
	struct arena arena = { 0 };
	int rc = transaction_from_json(slice_text(documents[_i].text), &arena, &document, &err);

	ck_assert_msg(rc == documents[_i].want && strstr(err.text, documents[_i].why) != NULL,
		"%s: %d %s", documents[_i].label, rc, err.text);
	ck_assert_int_eq(document.message != NULL, rc == LANCET_OK);
	arena_release(&arena);
}
END_TEST

START_TEST(values_are_taken_as_they_are_meant)
{
	static const char text[] =
		"{\"format\":1,\"uuid\":\"u\",\"read_version\":\"7\",\"operation\":"
		"\"UpdateConfig\","
		"\"tag\":{\"base64\":\"/"
		"w==\"},\"properties\":{\"a\\u0000b\":\"1\",\"\\u0001\":\"2\","
		"\"base64:/w==\":\"3\",\"base64:YQ==\":\"4\"},\"preconditions\":[{\"base64\":\"/"
		"wA=\","
		"\"evaluated\":false}],\"body\":{\"config_updates\":{\"update_entries\":[{\"key\":"
		"\"k\"},{\"key\":\"l\",\"value\":\"\"}]}},\"unknown\":{\"10\":[\"1\"]}}";
	/* keys in any order: their bytes, and the value */
	static const struct {
		struct slice key;
		char value;
	} want[] = {
		{ { (const uint8_t *)"a\0b", 3 }, '1' },
		{ { (const uint8_t *)"\1", 1 }, '2' },
		{ { (const uint8_t *)"\xff", 1 }, '3' },
		{ { (const uint8_t *)"base64:YQ==", 11 }, '4' },
	};
	struct transaction_document document = { 0 };
	const Lance__Table__Transaction *message;
	const Lance__Table__Transaction__UpdateMap *map;
	struct lancet_error err = { 0 };
	struct arena arena = { 0 };

	ck_assert_msg(transaction_from_json(slice_of(text, sizeof(text) - 1), &arena, &document,
			      &err) == LANCET_OK,
		"%s", err.text);
	message = document.message;
	ck_assert_uint_eq(message->read_version, 7);
	ck_assert(slice_equal(slice_of(message->tag.data, message->tag.len), slice_text("\xff")));
	ck_assert_uint_eq(message->n_transaction_properties, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		const Lance__File__StringEntry *entry = message->transaction_properties[i];

		ck_assert(slice_equal(slice_of(entry->key.data, entry->key.len), want[i].key));
		ck_assert_uint_eq(entry->value.len, 1);
		ck_assert_int_eq(entry->value.data[0], want[i].value);
	}
	ck_assert_uint_eq(message->n_preconditions, 1);
	ck_assert_uint_eq(message->preconditions[0].len, 2);
	map = message->update_config->config_updates;
	ck_assert_uint_eq(map->n_update_entries, 2);
	ck_assert_int_eq(map->update_entries[0]->value_presence_case, 0);
	ck_assert_int_ne(map->update_entries[1]->value_presence_case, 0);
	ck_assert_uint_eq(message->base.n_unknown_fields, 1);
	ck_assert_uint_eq(message->base.unknown_fields[0].tag, 10);
	arena_release(&arena);
}
END_TEST

/* A document that would take far more memory than it is long. */
START_TEST(memory_is_bounded_by_the_size_of_the_text)
{
	struct transaction_document document = { 0 };
	struct lancet_error err = { 0 };
	struct arena arena = { 0 };
	struct buf text = { 0 };

	buf_put_text(&text, "{\"operation\":\"Append\",\"body\":{\"fragments\":[{}");
	for (unsigned i = 0; i < 1000000; i++)
		buf_put_text(&text, ",{}");
	buf_put_text(&text, "]}}");
	ck_assert_int_eq(
		transaction_from_json(buf_slice(&text), &arena, &document, &err), LANCET_LIMIT);
	arena_release(&arena);
	buf_release(&text);
}
END_TEST

START_TEST(depth_is_limited)
{
	struct transaction_document document = { 0 };
	struct lancet_error err = { 0 };
	struct arena arena = { 0 };
	struct buf text = { 0 };

	buf_put_text(&text, "{\"operation\":\"Append\",\"body\":");
	buf_fill(&text, '[', 100000);
	buf_fill(&text, ']', 100000);
	buf_put_text(&text, "}");
	ck_assert_int_eq(
		transaction_from_json(buf_slice(&text), &arena, &document, &err), LANCET_INVALID);
	ck_assert_msg(strstr(err.text, "nested deeper") != NULL, "%s", err.text);
	arena_release(&arena);
	buf_release(&text);
}
END_TEST

UNIT_MAIN("pbfromjson", UNIT_LOOP(random_messages_come_back, types),
	UNIT_TEST(stored_transactions_come_back),
	UNIT_LOOP(documents_are_read_or_refused_by_name, documents),
	UNIT_TEST(values_are_taken_as_they_are_meant),
	UNIT_TEST(memory_is_bounded_by_the_size_of_the_text), UNIT_TEST(depth_is_limited))
