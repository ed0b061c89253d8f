/* Transactions through their JSON and back.
 *
 *     transactionjson FILE...
 *     transactionjson show FILE
 *
 * Each file is an encoded Transaction. It is decoded, shown as transaction.json, read from that,
 * and encoded: what comes out must be the same bytes as the message decoded and encoded, its maps
 * in order. A line on standard output says of each file "same", "ordered" (the same once its maps
 * are in order), "unknown" (an operation that can't be read back) or what is wrong; the exit status
 * is 1 when something is. With `show` the text of one file is printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/transaction.h"
#include "core/transaction_fromjson.h"
#include "lance/transaction.pb-c.h"
#include "util/buf.h"
#include "util/macros.h"

#define FILE_MAX ((size_t)64 << 20)

static int
append(void *context, const void *data, size_t size)
{
	struct buf *text = context;

	buf_put(text, data, size);
	return (int)text->failed;
}

static int
load(const char *path, lancet_transaction **ret_transaction, struct lancet_error *err)
{
	lancet_autofree uint8_t *bytes = malloc(FILE_MAX);
	FILE *file = fopen(path, "rb");
	size_t size;

	if (bytes == NULL || file == NULL) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	size = fread(bytes, 1, FILE_MAX, file);
	(void)fclose(file);
	TRY(transaction_parse(bytes, size, ret_transaction, err));
	(void)lancet_steal(&bytes);
	return LANCET_OK;
}

static void
pack(const ProtobufCMessage *message, struct buf *into)
{
	if (!buf_reserve(into, protobuf_c_message_get_packed_size(message) + 1))
		exit(EXIT_FAILURE);
	into->size = protobuf_c_message_pack(message, into->data);
}

/* What the transaction is when it comes back, encoded, and the text that it came through. */
static int
pass(const lancet_transaction *transaction, struct buf *text, struct buf *bytes,
	struct lancet_error *err)
{
	const struct lancet_output out = { append, text };
	struct transaction_document document;
	struct arena arena = { 0 };
	int rc = lancet_transaction_json(transaction, &out, err);

	if (rc == LANCET_OK)
		rc = transaction_from_json(buf_slice(text), &arena, &document, err);
	if (rc == LANCET_OK)
		pack(&document.message->base, bytes);
	arena_release(&arena);
	return rc;
}

/* The bytes differ: whether they say the same, so that the second time nothing changes. */
static int
pass_again(const struct buf *text, const struct buf *bytes, const char **ret_verdict,
	struct lancet_error *err)
{
	lancet_transaction *transaction = NULL;
	struct buf again = { 0 }, stays = { 0 };
	uint8_t *copy = malloc(bytes->size + 1);
	int rc;

	if (copy == NULL)
		exit(EXIT_FAILURE);
	memcpy(copy, bytes->data, bytes->size);
	rc = transaction_parse(copy, bytes->size, &transaction, err);
	if (rc != LANCET_OK) {
		free(copy);
		return rc;
	}
	rc = pass(transaction, &again, &stays, err);
	*ret_verdict = slice_equal(buf_slice(text), buf_slice(&again)) &&
				       slice_equal(buf_slice(bytes), buf_slice(&stays))
			       ? "ordered"
			       : "DIFFERENT";
	lancet_transaction_free(transaction);
	buf_release(&again);
	buf_release(&stays);
	return rc;
}

static int
check(const lancet_transaction *transaction, const char **ret_verdict, struct lancet_error *err)
{
	struct buf text = { 0 }, bytes = { 0 }, plain = { 0 };
	int rc = pass(transaction, &text, &bytes, err);

	pack(&transaction->message->base, &plain);
	*ret_verdict = "same";
	if (rc == LANCET_UNSUPPORTED && strncmp(transaction->operation, "Unknown", 7) == 0) {
		*ret_verdict = "unknown";
		rc = LANCET_OK;
	} else if (rc == LANCET_OK && !slice_equal(buf_slice(&bytes), buf_slice(&plain))) {
		rc = pass_again(&text, &bytes, ret_verdict, err);
	}
	buf_release(&text);
	buf_release(&bytes);
	buf_release(&plain);
	return rc;
}

static int
show(const char *path)
{
	lancet_transaction *transaction = NULL;
	struct lancet_error err = { 0 };
	struct buf text = { 0 };
	const struct lancet_output out = { append, &text };
	int rc = load(path, &transaction, &err);

	if (rc == LANCET_OK)
		rc = lancet_transaction_json(transaction, &out, &err);
	if (rc == LANCET_OK)
		(void)fwrite(text.data, 1, text.size, stdout);
	else
		(void)fprintf(stderr, "%s: %s\n", path, err.text);
	lancet_transaction_free(transaction);
	buf_release(&text);
	return rc == LANCET_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
	bool good = true;

	if (argc == 3 && strcmp(argv[1], "show") == 0)
		return show(argv[2]);
	for (int i = 1; i < argc; i++) {
		lancet_transaction *transaction = NULL;
		const char *verdict = "";
		struct lancet_error err = { 0 };
		int rc = load(argv[i], &transaction, &err);

		if (rc == LANCET_OK)
			rc = check(transaction, &verdict, &err);
		(void)printf("%s\t%s\n", argv[i], rc == LANCET_OK ? verdict : err.text);
		good = good && rc == LANCET_OK && strcmp(verdict, "DIFFERENT") != 0;
		lancet_transaction_free(transaction);
	}
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
