/* A condition on a version, held against another one, and conditions as text.
 *
 * An input is the sizes of the condition and of the first manifest message (u16 LE each), these
 * two, and the second message. The condition is taken as a message, and as a text.
 */
#include "fuzz.h"
#include "fuzzdataset.h"

#include <string.h>
#include <sys/stat.h>

#include "core/precondition.h"
#include "core/transaction.h"
#include "core/version.h"
#include "util/cursor.h"
#include "util/source.h"

#define COST_BASE     ((size_t)8 << 20)
#define COST_PER_BYTE 512u
#define CONDITION_TAG 0x2a /* Transaction.preconditions */

/* CRoaring 0.2 asserts that run containers get their memory. */
const char fuzz_needs_memory = 1;

static void
put_varint(struct buf *into, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_put_byte(into, (uint8_t)(value | 0x80));
	buf_put_byte(into, (uint8_t)value);
}

static void
put_u32(struct buf *into, size_t value)
{
	for (unsigned i = 0; i < 4; i++)
		buf_put_byte(into, (uint8_t)(value >> 8 * i));
}

/* The message as a file, with the number in it. NULL: no version. */
static lancet_version *
open_message(struct slice message, uint64_t number, struct buf *file)
{
	const struct stat st = { 0 };
	lancet_version *version = NULL;
	struct source *source;

	put_u32(file, message.size + 2);
	buf_put_slice(file, message);
	buf_put_byte(file, 3 << 3);
	buf_put_byte(file, (uint8_t)number);
	buf_put(file, "\0\0\0\0\0\0\0\0\0\0\2\0LANC", 16);
	if (file->failed != LANCET_OK)
		return NULL;
	source = source_memory_new(buf_slice(file), NULL);
	if (source == NULL)
		return NULL;
	if (version_load(fuzz_dataset(), number, source, &st, "1.manifest", &version, NULL) !=
		LANCET_OK)
		version = NULL;
	source_unref(source);
	/* counts that were not recorded are in files, of which there is none */
	if (version != NULL && version->counts_missing) {
		lancet_version_unref(version);
		version = NULL;
	}
	return version;
}

static lancet_transaction *
make_transaction(struct slice condition)
{
	lancet_transaction *transaction = NULL;
	struct buf bytes = { 0 };

	buf_put_byte(&bytes, CONDITION_TAG);
	put_varint(&bytes, condition.size);
	buf_put_slice(&bytes, condition);
	if (bytes.failed != LANCET_OK ||
		transaction_parse(bytes.data, bytes.size, &transaction, NULL) != LANCET_OK)
		buf_release(&bytes);
	return transaction;
}

static void
check_against(const struct preconditions *conditions, lancet_version *other, bool same)
{
	struct precondition_failure failure = { .reason = NULL };
	struct lancet_error err = { 0 };
	int rc = preconditions_check(conditions, other, &failure, &err);

	fuzz_expect(rc == LANCET_OK || err.text[0] != '\0');
	fuzz_expect((rc == LANCET_PRECONDITION) == (failure.reason != NULL));
	fuzz_expect(!same || rc != LANCET_PRECONDITION);
}

/* What was made of a text is a condition; returns how it was opened. */
static int
run_condition(
	struct slice condition, lancet_version *read, lancet_version *copy, lancet_version *current)
{
	lancet_transaction *transaction = make_transaction(condition);
	struct preconditions *conditions = NULL;
	struct lancet_error err = { 0 };
	int rc;

	if (transaction == NULL)
		return LANCET_NO_MEMORY;
	rc = preconditions_open(transaction, read, &conditions, &err);
	fuzz_expect(rc == LANCET_OK || (conditions == NULL && err.text[0] != '\0'));
	if (conditions != NULL) {
		check_against(conditions, copy, true);
		check_against(conditions, current, false);
	}
	preconditions_free(conditions);
	lancet_transaction_free(transaction);
	return rc;
}

static void
run_text(
	struct slice condition, lancet_version *read, lancet_version *copy, lancet_version *current)
{
	struct arena arena = { 0 };
	struct slice *list = NULL;
	char text[512];
	size_t count = 0;

	if (condition.size >= sizeof(text))
		return;
	memcpy(text, condition.data, condition.size);
	text[condition.size] = '\0';
	if (preconditions_encode(read, text, &arena, &list, &count, NULL) == LANCET_OK)
		fuzz_expect(count == 1 && run_condition(list[0], read, copy, current) == LANCET_OK);
	arena_release(&arena);
}

static void
run(struct slice condition, struct slice before, struct slice after)
{
	struct buf files[3] = { 0 };
	lancet_version *read = open_message(before, 3, &files[0]);
	lancet_version *copy = open_message(before, 4, &files[1]);
	lancet_version *current = open_message(after, 5, &files[2]);

	if (read != NULL && copy != NULL && current != NULL) {
		(void)run_condition(condition, read, copy, current);
		run_text(condition, read, copy, current);
	}
	lancet_version_unref(read);
	lancet_version_unref(copy);
	lancet_version_unref(current);
	for (size_t i = 0; i < 3; i++)
		buf_release(&files[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = { .in = slice_of(data, size) };
	uint16_t condition_size = cursor_u16(&c), before_size = cursor_u16(&c);
	struct slice condition = cursor_take(&c, condition_size);
	struct slice before = cursor_take(&c, before_size);
	struct slice after = cursor_take(&c, c.in.size - c.at);
	struct fuzz_guard guard;

	(void)fuzz_dataset();
	guard = fuzz_begin(COST_BASE + COST_PER_BYTE * size);
	if (!c.bad)
		run(condition, before, after);
	fuzz_end(&guard);
	return 0;
}
