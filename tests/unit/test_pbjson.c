/* Messages as JSON: each rule of SPEC section 4 on bytes written by hand. */
#include "unit.h"

#include <stdio.h>

#include "core/pbjson.h"
#include "core/pbjson_fields.h"
#include "core/pbtext.h"
#include "util/pbunpack.h"
#include "jsontext.h"
#include "lance/index.pb-c.h"
#include "lance/transaction.pb-c.h"

#define BYTES(text) { (const uint8_t *)(text), sizeof(text) - 1 }
#define FRAGMENT &lance__table__data_fragment__descriptor
#define CLONE    &lance__table__transaction__clone__descriptor
#define MERGE    &lance__table__transaction__merge__descriptor
#define UPDATE   &lance__table__transaction__update__descriptor
#define MANIFEST &lance__table__manifest__descriptor
#define INDEX    &lance__table__index_metadata__descriptor

#define ZONE_MAP_URL "/lance.table.ZoneMapIndexDetails"
#define JSON_URL     "/lance.index.pb.JsonIndexDetails"

static const struct {
	const char *label;
	const ProtobufCMessageDescriptor *type;
	struct slice bytes;
	const char *want; /* the members of the object, compact */
} messages[] = {
	{ "counts and fragment ids are numbers", FRAGMENT, BYTES("\x08\x03\x20\x0a"),
	  "\"id\":3,\"physical_rows\":10" },
	{ "an id of 0 is shown, other defaults are not", FRAGMENT, BYTES("\x20\x00"), "\"id\":0" },
	{ "versions are text", &lance__table__transaction__restore__descriptor,
	  BYTES("\x08\x81\x80\x80\x80\x80\x80\x80\x10"), "\"version\":\"9007199254740993\"" },
	{ "signed 32 bits", &lance__file__field__descriptor,
	  BYTES("\x12\x01"
	        "a\x18\x07\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x30\x01"),
	  "\"name\":\"a\",\"id\":7,\"parent_id\":-1,\"nullable\":true" },
	{ "enums by name, else by number", &lance__table__deletion_file__descriptor,
	  BYTES("\x08\x01\x10\x05\x20\x02"),
	  "\"file_type\":\"BITMAP\",\"read_version\":\"5\",\"num_deleted_rows\":2" },
	{ "an enum value without a name", &lance__table__deletion_file__descriptor,
	  BYTES("\x08\x09"), "\"file_type\":9" },
	{ "packed numbers", &lance__table__data_file__descriptor,
	  BYTES("\x0a\x01x\x12\x03\x00\x01\x02\x30\x09"),
	  "\"path\":\"x\",\"fields\":[0,1,2],\"file_size_bytes\":9" },
	{ "presence without a value", CLONE, BYTES("\x12\x00\x18\x02"),
	  "\"ref_name\":\"\",\"ref_version\":\"2\"" },
	{ "no presence", CLONE, BYTES("\x08\x01\x22\x02/d"),
	  "\"is_shallow\":true,\"ref_path\":\"/d\"" },
	{ "NUL in text", CLONE,
	  BYTES("\x22\x03"
	        "a\0b"),
	  "\"ref_path\":\"a\\u0000b\"" },
	{ "text that is not UTF-8", CLONE, BYTES("\x22\x02\xff\xfe"),
	  "\"ref_path\":{\"base64\":\"//4=\"}" },
	{ "bytes are base64", FRAGMENT, BYTES("\x2a\x02\x0a\x00"),
	  "\"id\":0,\"inline_row_ids\":\"CgA=\"" },
	{ "an arm of a oneof that is empty", FRAGMENT, BYTES("\x2a\x00"),
	  "\"id\":0,\"inline_row_ids\":\"\"" },
	{ "the last arm of a oneof counts", FRAGMENT, BYTES("\x2a\x01x\x62\x00"),
	  "\"id\":0,\"column_row_ids\":{}" },
	{ "a text map is an object, the last value of a key counts", MERGE,
	  BYTES("\x1a\x06\x0a\x01k\x12\x01"
	        "1\x1a\x06\x0a\x01k\x12\x01"
	        "2\x1a\x06\x0a\x01"
	        "a\x12\x01"
	        "3\x20\x01"),
	  "\"schema_metadata\":{\"a\":\"3\",\"k\":\"2\"},\"preserves_nullability\":true" },
	{ "a map by numbers", UPDATE,
	  BYTES("\x52\x05\x08\x0a\x12\x01x\x52\x05\x08\x02\x12\x01y\x52\x05\x08\x0a\x12\x01z"),
	  "\"updated_fragment_offset_bitmaps\":{\"2\":\"eQ==\",\"10\":\"eg==\"}" },
	{ "a map to messages, one left out", UPDATE,
	  BYTES("\x4a\x07\x08\x01\x12\x03\x0a\x01\x05\x4a\x02\x08\x03"),
	  "\"updated_fragment_offsets\":{\"1\":{\"values\":[5]},\"3\":{}}" },
	{ "updates of a map are no map: order and deletions count",
	  &lance__table__transaction__update_map__descriptor,
	  BYTES("\x0a\x05\x0a\x01z\x12\x00\x0a\x03\x0a\x01"
	        "a\x10\x01"),
	  "\"update_entries\":[{\"key\":\"z\",\"value\":\"\"},{\"key\":\"a\"}],\"replace\":true" },
	{ "a UUID is text", INDEX,
	  BYTES("\x0a\x12\x0a\x10\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"),
	  "\"uuid\":\"00010203-0405-0607-0809-0a0b0c0d0e0f\"" },
	{ "a short UUID is bytes", INDEX, BYTES("\x0a\x03\x0a\x01\x01"),
	  "\"uuid\":{\"uuid\":\"AQ==\"}" },
	{ "a time", MANIFEST, BYTES("\x3a\x06\x08\x80\xa3\x05\x10\x05"),
	  "\"timestamp\":\"1970-01-02T00:00:00.000000005Z\"" },
	{ "no time of a calendar", MANIFEST,
	  BYTES("\x3a\x0b\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	  "\"timestamp\":{\"seconds\":\"0\",\"nanos\":-1}" },
	{ "unknown fields by number, as arrays", &lance__table__row_lineage_column__descriptor,
	  BYTES("\xa2\x38\x02hi\xa0\x38\x96\x01\x0d\x01\x00\x00\x00\x11\xff\xff\xff\xff\xff\xff\xff"
	        "\xff"),
	  "\"unknown\":{\"1\":[{\"fixed32\":\"1\"}],\"2\":[{\"fixed64\":\"18446744073709551615\"}],"
	  "\"900\":[\"aGk=\",\"150\"]}" },
	{ "bytes whose base64 is a number", &lance__table__row_lineage_column__descriptor,
	  BYTES("\xa2\x38\x03\xd7\x6d\xf8\xa2\x38\x03\xd3\x5d\xb7"),
	  "\"unknown\":{\"900\":[{\"base64\":\"1234\"},\"0123\"]}" },
	{ "details of a known type", INDEX,
	  BYTES("\x32\x26\x0a\x20" ZONE_MAP_URL "\x12\x02\x08\x07"),
	  "\"index_details\":{\"type_url\":\"" ZONE_MAP_URL "\",\"value\":\"CAc=\","
	  "\"decoded\":{\"rows_per_zone\":7}}" },
	{ "details of the other package", INDEX, BYTES("\x32\x18\x0a\x16/x.ZoneMapIndexDetails"),
	  "\"index_details\":{\"type_url\":\"/"
	  "x.ZoneMapIndexDetails\",\"value\":\"\",\"decoded\":{}}" },
	{ "details of a known type, damaged", INDEX,
	  BYTES("\x32\x25\x0a\x20" ZONE_MAP_URL "\x12\x01\x08"),
	  "\"index_details\":{\"type_url\":\"" ZONE_MAP_URL
	  "\",\"value\":\"CA==\",\"decoded\":null}" },
	{ "details of an unknown type", INDEX, BYTES("\x32\x07\x0a\x02/x\x12\x01\x08"),
	  "\"index_details\":{\"type_url\":\"/x\",\"value\":\"CA==\"}" },
	{ "a name that protobuf-c can't have",
	  &lance__table__encoded_u64_array__u16_array__descriptor,
	  BYTES("\x08\x05\x12\x02\x01\x00"), "\"base\":\"5\",\"offsets\":\"AQA=\"" },
	{ "a name that C can't have", &lance__table__fragment_reuse_index_details__descriptor,
	  BYTES("\x0a\x00"), "\"inline\":{}" },
	{ "a double", &lance__table__transaction__bloom_filter__descriptor,
	  BYTES("\x21\x00\x00\x00\x00\x00\x00\xe0\x3f"), "\"probability\":0.5" },
};

/* The members of "m", which the text ends with. */
static void
render(const ProtobufCMessageDescriptor *type, struct slice bytes, struct json_text *text)
{
	struct arena arena = { 0 };
	struct lancet_error err = { 0 };
	ProtobufCMessage *message;
	struct jsondoc doc;
	int rc;

	ck_assert_int_eq(pb_unpack(type, bytes, &arena, &message, &err), LANCET_OK);
	json_text_init(text);
	jsondoc_begin(&doc, &text->out);
	doc.w.compact = true;
	rc = pbjson_message(&doc, "m", message, &err);
	ck_assert_int_eq(jsondoc_end(&doc, rc, &err), LANCET_OK);
	arena_release(&arena);
}

START_TEST(messages_follow_the_rules)
{
	struct json_text text;
	char want[1024];

	render(messages[_i].type, messages[_i].bytes, &text);
	(void)snprintf(want, sizeof(want), "{\n  \"format\": 1,\"m\":{%s}}\n", messages[_i].want);
	ck_assert_msg(strcmp(json_text_end(&text), want) == 0, "%s: %s", messages[_i].label,
	              text.buf.data);
	buf_release(&text.buf);
}
END_TEST

/* Wraps value into JsonIndexDetails { target_details = Any { JSON_URL, value } }. */
static void
nest(struct buf *value)
{
	Google__Protobuf__Any any = GOOGLE__PROTOBUF__ANY__INIT;
	Lance__Index__Pb__JsonIndexDetails details = LANCE__INDEX__PB__JSON_INDEX_DETAILS__INIT;
	struct buf outer = { 0 };

	any.type_url = (ProtobufCBinaryData){ sizeof(JSON_URL) - 1, (uint8_t *)JSON_URL };
	any.value = (ProtobufCBinaryData){ value->size, value->data };
	details.target_details = &any;
	ck_assert(buf_reserve(&outer,
	                      lance__index__pb__json_index_details__get_packed_size(&details)));
	outer.size = lance__index__pb__json_index_details__pack(&details, outer.data);
	buf_release(value);
	*value = outer;
}

START_TEST(details_inside_details_end_somewhere)
{
	struct buf value = { 0 };
	struct json_text text;
	size_t decoded = 0;

	for (int i = 0; i < 12; i++)
		nest(&value);
	render(&lance__index__pb__json_index_details__descriptor, buf_slice(&value), &text);
	for (const char *at = json_text_end(&text); (at = strstr(at, "\"decoded\"")) != NULL; at++)
		decoded++;
	ck_assert_uint_eq(decoded, 4);
	buf_release(&text.buf);
	buf_release(&value);
}
END_TEST

static uint64_t ids[100000];

static int
render_ids(struct json_text *text, struct lancet_error *err)
{
	Lance__Table__Transaction__Delete message = LANCE__TABLE__TRANSACTION__DELETE__INIT;
	struct jsondoc doc;
	int rc;

	message.deleted_fragment_ids = ids;
	message.n_deleted_fragment_ids = ARRAY_SIZE(ids);
	jsondoc_begin(&doc, &text->out);
	rc = pbjson_message(&doc, "m", &message.base, err);
	ck_assert_uint_lt(doc.buf.capacity, 256 * 1024);
	return jsondoc_end(&doc, rc, err);
}

START_TEST(long_documents_are_handed_over_in_pieces)
{
	struct json_text text;

	json_text_init(&text);
	ck_assert_int_eq(render_ids(&text, NULL), LANCET_OK);
	ck_assert_uint_gt(text.writes, 10);
	ck_assert_uint_gt(text.buf.size, 2 * ARRAY_SIZE(ids));
	buf_release(&text.buf);
}
END_TEST

START_TEST(a_failing_output_ends_the_document)
{
	struct lancet_error err = { 0 };
	struct json_text text;

	json_text_init(&text);
	text.writes_max = 2;
	ck_assert_int_eq(render_ids(&text, &err), LANCET_CANCELLED);
	ck_assert_uint_eq(text.writes, 2);
	ck_assert_int_eq(err.code, LANCET_CANCELLED);
	buf_release(&text.buf);
}
END_TEST

/* Looks for message.field in a type and in what its fields hold. The .proto files have no cycles.
 */
static const ProtobufCFieldDescriptor *
find_field(const ProtobufCMessageDescriptor *type, const char *message, const char *field)
{
	if (strcmp(type->name, message) == 0)
		return protobuf_c_message_descriptor_get_field_by_name(type, field);
	for (unsigned i = 0; i < type->n_fields; i++) {
		const ProtobufCFieldDescriptor *found = NULL;

		if (type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
			found = find_field(type->fields[i].descriptor, message, field);
		if (found != NULL)
			return found;
	}
	return NULL;
}

static const ProtobufCFieldDescriptor *
find_anywhere(const char *message, const char *field)
{
	static const ProtobufCMessageDescriptor *const roots[] = {
		&lance__table__transaction__descriptor,
		&lance__table__manifest__descriptor,
		&lance__table__index_section__descriptor,
		&lance__table__row_id_sequence__descriptor,
		&lance__table__fragment_reuse_index_details__descriptor,
		&lance__table__mem_wal_index_details__descriptor,
		&lance__table__zone_map_index_details__descriptor,
		&lance__index__pb__vector_index_details__descriptor,
		&lance__index__pb__json_index_details__descriptor,
		&lance__index__pb__min_hash_lsh_index_details__descriptor,
	};

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		const ProtobufCFieldDescriptor *found = find_field(roots[i], message, field);

		if (found != NULL)
			return found;
	}
	return NULL;
}

START_TEST(rules_are_sorted_and_about_real_fields)
{
	for (size_t i = 0; i < pbjson_rule_count; i++) {
		const struct pbjson_rule *rule = &pbjson_rules[i];

		ck_assert_msg(find_anywhere(rule->message, rule->field) != NULL, "%s.%s",
		              rule->message, rule->field);
		ck_assert_msg(pbjson_rule_find(rule->message, rule->field) == rule, "%s.%s",
		              rule->message, rule->field);
	}
	ck_assert_ptr_null(pbjson_rule_find("lance.table.DataFragment", "files"));
}
END_TEST

START_TEST(text_fields_are_bytes_and_found)
{
	ck_assert_uint_gt(pb_text_field_count, 0);
	for (size_t i = 0; i < pb_text_field_count; i++) {
		const struct pb_text_field *row = &pb_text_fields[i];
		const ProtobufCFieldDescriptor *field = find_anywhere(row->message, row->field);

		ck_assert_msg(field != NULL && field->type == PROTOBUF_C_TYPE_BYTES, "%s.%s",
		              row->message, row->field);
		ck_assert(pbjson_is_text(row->message, row->field));
	}
	ck_assert(!pbjson_is_text("lance.table.IndexMetadata", "fragment_bitmap"));
}
END_TEST

START_TEST(empty_messages_in_masses_are_too_dear)
{
	struct buf bytes = { 0 };
	struct arena arena = { 0 };
	struct lancet_error err = { 0 };
	Lance__Table__Manifest *message;

	while (bytes.size < 2 << 20)
		buf_put(&bytes, "\x12\x00", 2);
	ck_assert_int_eq(pb_unpack(MANIFEST, buf_slice(&bytes), &arena, &message, &err),
	                 LANCET_LIMIT);
	ck_assert_uint_lt(arena_footprint(&arena), 80u << 20);
	arena_release(&arena);
	buf_release(&bytes);
}
END_TEST

UNIT_MAIN("pbjson", UNIT_LOOP(messages_follow_the_rules, messages),
          UNIT_TEST(details_inside_details_end_somewhere),
          UNIT_TEST(long_documents_are_handed_over_in_pieces),
          UNIT_TEST(a_failing_output_ends_the_document),
          UNIT_TEST(rules_are_sorted_and_about_real_fields),
          UNIT_TEST(text_fields_are_bytes_and_found),
          UNIT_TEST(empty_messages_in_masses_are_too_dear))
