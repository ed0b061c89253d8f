/* Two transactions, one to be committed over the other, in a table of six fragments: the check, and
 * what is left to do.
 *
 * An input is the sizes of the two (u16 LE each), ours, theirs, a byte of flags, and the index
 * section of the newest version or the reuse entry that ours carries.
 */
#include "fuzz.h"
#include "fuzzversion.h"

#include "core/conflict.h"
#include "core/transaction.h"
#include "util/buf.h"
#include "util/cursor.h"

#include <string.h>

#define FRAGMENTS     6
#define COST_BASE     ((size_t)8 << 20)
#define COST_PER_BYTE 512u

enum input_flags { AFFECTED = 1, STABLE = 2, TAGGED = 4, CARRIED = 8 };

/* CRoaring 0.2 asserts that run containers get their memory. */
const char fuzz_needs_memory = 1;

struct input {
	struct slice ours, theirs, rest;
	uint8_t flags;
};

static bool
parse_input(struct slice bytes, struct input *ret_input)
{
	struct cursor c = { .in = bytes };
	uint16_t ours = cursor_u16(&c), theirs = cursor_u16(&c);

	ret_input->ours = cursor_take(&c, ours);
	ret_input->theirs = cursor_take(&c, theirs);
	ret_input->flags = cursor_u8(&c);
	ret_input->rest = cursor_take(&c, c.in.size - c.at);
	return !c.bad;
}

static void
put(struct buf *b, const char *bytes, size_t size)
{
	buf_put(b, bytes, size);
}
#define PUT(b, text) put(b, text, sizeof(text) - 1)

/* Field "a" of id 0, "b" of id 1, and "c" of id 2 below it; fragments of 12 rows in a file "f" with
 * fields 0 and 1. */
static void
put_manifest(struct buf *b, const struct input *input)
{
	uint8_t flags = (input->flags & STABLE) != 0 ? 2 : 0;
	uint8_t tagged = (input->flags & TAGGED) != 0 ? 8 : 0;

	PUT(b, "\x0a\x0e\x12\x01"
	       "a\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	PUT(b, "\x0a\x10\x12\x01"
	       "b\x18\x01\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	PUT(b, "\x0a\x07\x12\x01"
	       "c\x18\x02\x20\x01");
	for (unsigned i = 0; i < FRAGMENTS; i++) {
		PUT(b, "\x12\x13\x08");
		buf_put_byte(b, (uint8_t)i);
		PUT(b, "\x12\x0d\x0a\x01"
		       "f\x12\x02\x00\x01\x1a\x02\x00\x01\x20\x02\x20\x0c");
	}
	PUT(b, "\x18\x01\x30\x00\x48");
	buf_put_byte(b, flags | 0x80);
	buf_put_byte(b, tagged);
	buf_put_byte(b, 0x50);
	buf_put_byte(b, flags | 0x80);
	buf_put_byte(b, tagged);
	PUT(b, "\x6a\x07\x0a\x05lance");
}

static lancet_version *
load_version(struct buf *file, const struct input *input)
{
	struct slice section = input->rest;
	size_t at;

	if ((input->flags & CARRIED) != 0)
		section.size = 0;
	fuzz_put_u32(file, section.size);
	buf_put_slice(file, section);
	at = file->size;
	fuzz_put_u32(file, 0);
	put_manifest(file, input);
	if (file->failed != LANCET_OK)
		return NULL;
	for (unsigned i = 0; i < 4; i++)
		file->data[at + i] = (uint8_t)((file->size - at - 4) >> 8 * i);
	fuzz_put_u32(file, at);
	PUT(file, "\0\0\0\0\0\0\2\0LANC");
	return fuzz_version_load(file, 1);
}

/* What was found out may be used as it is. */
static void
expect_work(const struct rebase *rebase)
{
	for (size_t i = 0; i < rebase->deletion_count; i++) {
		const struct rebase_deletion *deletion = &rebase->deletions[i];

		fuzz_expect(deletion->fragment < FRAGMENTS);
		fuzz_expect(i == 0 || deletion->fragment > deletion[-1].fragment);
		fuzz_expect(numbers_find(&rebase->touched.updated, deletion->fragment) != SIZE_MAX);
	}
	for (size_t i = 1; i < rebase->progress.count; i++)
		fuzz_expect(memcmp(rebase->progress.list[i - 1].id, rebase->progress.list[i].id,
				    16) < 0);
}

static void
ask(const struct input *input, lancet_version *version, const lancet_transaction *ours,
	const lancet_transaction *theirs)
{
	static const uint64_t addrs[] = { 1, 2, UINT64_C(1) << 32, UINT64_C(5) << 32 };
	struct lancet_bytes carried = { input->rest.data, input->rest.size };
	struct affected_rows *affected = NULL;
	struct lancet_error err = { 0 };
	struct conflict conflict;
	struct rebase rebase;

	if ((input->flags & CARRIED) == 0)
		carried.size = 0;
	if ((input->flags & AFFECTED) != 0 &&
		affected_rows_new(addrs, 4, &affected, &err) != LANCET_OK)
		return;
	if (rebase_init(&rebase, ours, version, affected, carried, &err) == LANCET_OK) {
		if (conflict_check(&rebase, theirs, 2, &conflict, &err) == LANCET_OK) {
			fuzz_expect(
				(conflict.verdict == CONFLICT_NONE) == (conflict.rule[0] == '\0'));
			if (conflict.verdict == CONFLICT_NONE &&
				conflict_finish(&rebase, &conflict, &err) == LANCET_OK &&
				conflict.verdict == CONFLICT_NONE)
				expect_work(&rebase);
		}
		rebase_release(&rebase);
	}
	affected_rows_free(affected);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard;
	struct buf file = { 0 };
	struct input input = { 0 };
	lancet_version *version;
	lancet_transaction *ours, *theirs;

	(void)fuzz_dataset();
	if (!parse_input(slice_of(data, size), &input))
		return 0;
	guard = fuzz_begin(COST_BASE + COST_PER_BYTE * size);
	version = load_version(&file, &input);
	ours = fuzz_transaction(input.ours);
	theirs = fuzz_transaction(input.theirs);
	if (version != NULL && ours != NULL && theirs != NULL)
		ask(&input, version, ours, theirs);
	lancet_transaction_free(theirs);
	lancet_transaction_free(ours);
	lancet_version_unref(version);
	buf_release(&file);
	fuzz_end(&guard);
	return 0;
}
