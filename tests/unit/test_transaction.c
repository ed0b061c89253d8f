/* Transactions: what their bytes say, and where a version's is found. */
#include "unit.h"

#include <errno.h>

#include "core/operations.h"
#include "core/transaction.h"
#include "core/version.h"
#include "jsontext.h"
#include "lance/transaction.pb-c.h"

#define BYTES(text) { (const uint8_t *)(text), sizeof(text) - 1 }

static const struct {
	const char *label;
	struct slice bytes;
	const char *operation; /* NULL: not decodable */
	const char *json;      /* what is behind "format" */
} transactions[] = {
	{ "everything in the envelope",
	  BYTES("\x08\x05\x12\x01u\x1a\x01t\x22\x06\x0a\x01k\x12\x01v\x2a\x02\xff\x00\xda\x06\x02"
	        "\x08\x02"),
	  "ReserveFragments",
	  "  \"uuid\": \"u\",\n"
	  "  \"read_version\": \"5\",\n"
	  "  \"operation\": \"ReserveFragments\",\n"
	  "  \"tag\": \"t\",\n"
	  "  \"properties\": {\n    \"k\": \"v\"\n  },\n"
	  "  \"preconditions\": [\n    {\n      \"base64\": \"/wA=\",\n"
	  "      \"evaluated\": false\n    }\n  ],\n"
	  "  \"body\": {\n    \"num_fragments\": 2\n  }\n}\n" },
	{ "a known operation counts more than an unknown one",
	  BYTES("\xd2\x06\x02\x08\x03\xc2\x0c\x00"), "Restore",
	  "  \"uuid\": \"\",\n"
	  "  \"read_version\": \"0\",\n"
	  "  \"operation\": \"Restore\",\n"
	  "  \"tag\": \"\",\n"
	  "  \"properties\": {},\n"
	  "  \"preconditions\": [],\n"
	  "  \"body\": {\n    \"version\": \"3\"\n  },\n"
	  "  \"unknown\": {\n    \"200\": [\n      \"\"\n    ]\n  }\n}\n" },
	{ "an unknown operation", BYTES("\x50\x01\xc2\x0c\x02hi"), "Unknown(200)",
	  "  \"uuid\": \"\",\n"
	  "  \"read_version\": \"0\",\n"
	  "  \"operation\": \"Unknown(200)\",\n"
	  "  \"tag\": \"\",\n"
	  "  \"properties\": {},\n"
	  "  \"preconditions\": [],\n"
	  "  \"body\": {\n    \"unknown\": {\n      \"200\": [\n        \"aGk=\"\n      ]\n    }\n "
	  " },\n"
	  "  \"unknown\": {\n    \"10\": [\n      \"1\"\n    ]\n  }\n}\n" },
	{ "of several unknown operations the last counts", BYTES("\xc2\x0c\x00\xca\x0c\x00"),
	  "Unknown(201)", NULL },
	{ "the largest field number", BYTES("\xfa\xff\xff\xff\x0f\x00"), "Unknown(536870911)",
	  NULL },
	{ "no operation", BYTES("\x08\x01"), "Unknown", NULL },
	{ "nothing at all", BYTES(""), "Unknown", NULL },
	{ "cut", BYTES("\x08\x01\x12\x05"), NULL, NULL },
	{ "an operation of a wrong wire type", BYTES("\xa0\x06\x01"), NULL, NULL },
};

static int
parse(struct slice bytes, lancet_transaction **ret_transaction, struct lancet_error *err)
{
	uint8_t *copy = malloc(bytes.size + 1);
	int rc;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes.data, bytes.size);
	rc = transaction_parse(copy, bytes.size, ret_transaction, err);
	if (rc != LANCET_OK)
		free(copy);
	return rc;
}

START_TEST(bytes_are_decoded_or_refused)
{
	lancet_transaction *transaction = NULL;
	struct lancet_error err = { 0 };
	struct lancet_bytes bytes;
	struct json_text text;

	if (transactions[_i].operation == NULL) {
		ck_assert_int_eq(parse(transactions[_i].bytes, &transaction, &err), LANCET_CORRUPT);
		ck_assert_ptr_null(transaction);
		return;
	}
	ck_assert_int_eq(parse(transactions[_i].bytes, &transaction, &err), LANCET_OK);
	ck_assert_str_eq(lancet_transaction_operation(transaction), transactions[_i].operation);
	bytes = lancet_transaction_bytes(transaction);
	ck_assert(slice_equal(slice_of(bytes.data, bytes.size), transactions[_i].bytes));
	json_text_init(&text);
	ck_assert_int_eq(lancet_transaction_json(transaction, &text.out, &err), LANCET_OK);
	if (transactions[_i].json != NULL)
		ck_assert_str_eq(json_text_end(&text) + strlen("{\n  \"format\": 1,\n"),
		                 transactions[_i].json);
	buf_release(&text.buf);
	lancet_transaction_free(transaction);
}
END_TEST

/* The table follows the message: every member of its oneof, by the message's name. */
START_TEST(every_operation_has_its_row)
{
	const ProtobufCMessageDescriptor *type = &lance__table__transaction__descriptor;
	size_t found = 0;

	for (unsigned i = 0; i < type->n_fields; i++) {
		const ProtobufCMessageDescriptor *body = type->fields[i].descriptor;
		const struct operation *operation = operation_find(type->fields[i].id);

		if (type->fields[i].id < OPERATION_NUMBER_MIN) {
			ck_assert_ptr_null(operation);
			continue;
		}
		ck_assert_ptr_nonnull(operation);
		ck_assert_str_eq(operation->name, body->short_name);
		found++;
	}
	ck_assert_uint_eq(found, operation_count);
}
END_TEST

/* What make_sample.py does, version by version. */
static const char *const sample_operations[] = {
	"Overwrite", "Append", "Update", "Delete", "CreateIndex", "Append",
};

static lancet_version *
open_sample(uint64_t number)
{
	lancet_dataset *dataset;
	lancet_version *version;
	struct lancet_error err = { 0 };

	ck_assert_msg(lancet_dataset_open(UNIT_DATA_DIR "/sample.lance", NULL, &dataset, &err) ==
	                      LANCET_OK,
	              "%s", err.text);
	ck_assert_msg(lancet_version_open(dataset, number, &version, &err) == LANCET_OK, "%s",
	              err.text);
	lancet_dataset_unref(dataset);
	return version;
}

/* A copy of a version whose transaction is said to be elsewhere; only for lancet_transaction_open.
 */
static struct lancet_version
altered(const lancet_version *version, bool is_inline, uint64_t section, const char *file)
{
	struct lancet_version copy = *version;

	copy.has_transaction_section = is_inline;
	copy.transaction_section = section;
	copy.info.transaction_file = (struct lancet_bytes){ (const uint8_t *)file, strlen(file) };
	return copy;
}

START_TEST(the_sample_was_made_by_these_operations)
{
	lancet_version *version = open_sample((uint64_t)_i + 1);
	lancet_transaction *transaction;

	ck_assert(lancet_version_has_transaction(version));
	ck_assert_int_eq(lancet_transaction_open(version, &transaction, NULL), LANCET_OK);
	ck_assert_str_eq(lancet_transaction_operation(transaction), sample_operations[_i]);
	ck_assert_uint_eq(lancet_transaction_read_version(transaction), (uint64_t)_i);
	lancet_transaction_free(transaction);
	lancet_version_unref(version);
}
END_TEST

#define GOOD_FILE "5-767fa0f5-92a7-4e9d-b7be-db307be26347.txn"
#define FAR_AWAY  (UINT64_C(1) << 40)

static const struct {
	const char *label;
	bool is_inline;
	uint64_t section;
	const char *file;
	enum lancet_code want;
	const char *says;
} places[] = {
	{ "the file when nothing is inline", false, 0, GOOD_FILE, LANCET_OK, "" },
	{ "the file when the section is past the end", true, FAR_AWAY, GOOD_FILE, LANCET_OK, "" },
	{ "nothing recorded", false, 0, "", LANCET_NOT_FOUND, "no transaction recorded" },
	{ "a file that is gone", false, 0, "5-gone.txn", LANCET_IO, "_transactions/5-gone.txn" },
	{ "damage inline and no file", true, FAR_AWAY, "", LANCET_CORRUPT, "inline transaction: " },
	{ "damage inline and a file that is gone", true, FAR_AWAY, "5-gone.txn", LANCET_CORRUPT,
	  "; _transactions/5-gone.txn: " },
	{ "a file elsewhere", false, 0, "../data/x.txn", LANCET_CORRUPT, "_transactions/../data" },
	{ "a file below", false, 0, "a/b.txn", LANCET_CORRUPT, "not a name" },
};

START_TEST(the_transaction_is_looked_for_in_both_places)
{
	lancet_version *sample = open_sample(6);
	struct lancet_version version =
		altered(sample, places[_i].is_inline, places[_i].section, places[_i].file);
	lancet_transaction *transaction = NULL;
	struct lancet_error err = { 0 };

	ck_assert_msg(lancet_transaction_open(&version, &transaction, &err) == (int)places[_i].want,
	              "%s: %s", places[_i].label, err.text);
	ck_assert_msg(strstr(err.text, places[_i].says) != NULL, "%s: %s", places[_i].label,
	              err.text);
	ck_assert_int_eq(transaction != NULL, places[_i].want == LANCET_OK);
	if (transaction != NULL) {
		struct lancet_bytes uuid = lancet_transaction_uuid(transaction);

		ck_assert_str_eq(lancet_transaction_operation(transaction), "Append");
		ck_assert_uint_eq(uuid.size, 36);
		ck_assert_mem_eq(uuid.data, strchr(GOOD_FILE, '-') + 1, uuid.size);
	}
	ck_assert(places[_i].want != LANCET_IO || err.os_errno == EIO);
	ck_assert(lancet_version_has_transaction(&version) ==
	          (places[_i].want != LANCET_NOT_FOUND));
	lancet_transaction_free(transaction);
	lancet_version_unref(sample);
}
END_TEST

UNIT_MAIN("transaction", UNIT_LOOP(bytes_are_decoded_or_refused, transactions),
          UNIT_TEST(every_operation_has_its_row),
          UNIT_LOOP(the_sample_was_made_by_these_operations, sample_operations),
          UNIT_LOOP(the_transaction_is_looked_for_in_both_places, places))
