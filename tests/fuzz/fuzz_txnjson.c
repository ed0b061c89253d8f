/* A document in the form of transaction.json. What can be read says the same when it is shown and
 * read again.
 */
#include "fuzz.h"

#include <string.h>

#include "core/transaction.h"
#include "core/transaction_fromjson.h"
#include "lance/transaction.pb-c.h"
#include "util/buf.h"

#define COST_BASE     ((size_t)4 << 20)
#define COST_PER_BYTE 2048u /* an empty object takes json-c hundreds of bytes */

/* json-c 0.16 asserts that there is memory. */
const char fuzz_needs_memory = 1;

static int
append(void *context, const void *data, size_t size)
{
	struct buf *text = context;

	buf_put(text, data, size);
	return (int)text->failed;
}

/* The message as its text, decoded from its bytes. */
static void
show(const Lance__Table__Transaction *message, struct buf *bytes, struct buf *text)
{
	const struct lancet_output out = { append, text };
	lancet_transaction *transaction = NULL;
	size_t size = lance__table__transaction__get_packed_size(message);
	uint8_t *copy = malloc(size + 1);

	fuzz_expect(copy != NULL);
	size = lance__table__transaction__pack(message, copy);
	buf_put(bytes, copy, size);
	fuzz_expect(transaction_parse(copy, size, &transaction, NULL) == LANCET_OK);
	fuzz_expect(lancet_transaction_json(transaction, &out, NULL) == LANCET_OK);
	lancet_transaction_free(transaction);
}

/* Maps are in order once they have been shown: then the bytes stay. */
static void
pass_twice(const Lance__Table__Transaction *message)
{
	struct transaction_document document;
	struct arena arena = { 0 };
	struct buf bytes[3] = { 0 }, text[3] = { 0 };

	for (unsigned i = 0; i < 3; i++) {
		show(message, &bytes[i], &text[i]);
		fuzz_expect(transaction_from_json(buf_slice(&text[i]), &arena, &document, NULL) ==
			    LANCET_OK);
		message = document.message;
	}
	fuzz_expect(slice_equal(buf_slice(&text[0]), buf_slice(&text[1])));
	fuzz_expect(slice_equal(buf_slice(&bytes[1]), buf_slice(&bytes[2])));
	for (unsigned i = 0; i < 3; i++) {
		buf_release(&bytes[i]);
		buf_release(&text[i]);
	}
	arena_release(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(COST_BASE + COST_PER_BYTE * size);
	struct transaction_document document;
	struct lancet_error err = { 0 };
	struct arena arena = { 0 };
	int rc = transaction_from_json((struct slice){ data, size }, &arena, &document, &err);

	fuzz_expect(rc == LANCET_OK || rc == LANCET_INVALID || rc == LANCET_UNSUPPORTED ||
		    rc == LANCET_LIMIT);
	fuzz_expect(rc == LANCET_OK || err.text[0] != '\0');
	fuzz_check(&guard);
	if (rc == LANCET_OK)
		pass_twice(document.message);
	arena_release(&arena);
	fuzz_end(&guard);
	return 0;
}
