/* A version of any manifest, any transaction committed on it, and what the next version says.
 *
 * An input is the sizes of the index section and of the manifest message (u16 LE each), both of
 * them, and the transaction.
 */
#include "fuzz.h"
#include "fuzzversion.h"

#include <string.h>

#include "core/conflict.h"
#include "core/manifest_write.h"
#include "core/operation.h"
#include "core/transaction.h"
#include "core/version.h"
#include "lance/table.pb-c.h"
#include "util/cursor.h"

#define NUMBER        20
#define ROWS_MAX      100000u /* more take their time, and say no more */
#define COST_BASE     ((size_t)32 << 20)
#define COST_PER_BYTE 2048u

/* CRoaring 0.2 asserts that run containers get their memory. */
const char fuzz_needs_memory = 1;

struct input {
	struct slice section, message, transaction;
};

static uint64_t
count_rows(const struct draft *draft)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < draft->fragment_count; i++)
		if (draft->fragments[i].message != NULL)
			rows += draft->fragments[i].message->physical_rows;
	return rows;
}

/* No mark goes back, no fragment has two meanings, and all of it can be read. */
static void
check_next(lancet_version *version, lancet_version *next)
{
	const struct lancet_version_info *was = lancet_version_info(version);
	const struct lancet_version_info *is = lancet_version_info(next);
	const struct lancet_index *indices;
	size_t count;

	fuzz_expect(is->number == NUMBER + 1);
	fuzz_expect(is->next_row_id >= was->next_row_id);
	fuzz_expect(!was->has_max_fragment_id || is->max_fragment_id >= was->max_fragment_id);
	fuzz_expect(is->stable_row_ids || !was->stable_row_ids);
	for (uint64_t i = 0; i < is->fragment_count; i++) {
		lancet_fragment *fragment = NULL;

		fuzz_expect(i == 0 || next->spans[i - 1].id < next->spans[i].id);
		fuzz_expect(next->spans[i].id <= is->max_fragment_id);
		if (next->spans[i].physical_rows > 0 &&
			lancet_fragment_open(next, i, &fragment, NULL) == LANCET_OK)
			lancet_fragment_unref(fragment);
	}
	fuzz_expect(lancet_version_indices(next, &indices, &count, NULL) == LANCET_OK);
}

static void
write_next(struct draft *draft, lancet_version *version)
{
	struct splice splice = { 0 };
	struct buf file = { 0 };
	lancet_version *next = NULL;

	if (manifest_write_prepare(draft, slice_text("\x08\x14"), "20-u.txn", &splice, NULL) ==
			LANCET_OK &&
		buf_reserve(&file, (size_t)splice.size)) {
		fuzz_expect(
			splice_read(&splice, 0, (size_t)splice.size, file.data, NULL) == LANCET_OK);
		file.size = (size_t)splice.size;
		next = fuzz_version_load(&file, NUMBER + 1);
		fuzz_expect(next != NULL);
		check_next(version, next);
	}
	lancet_version_unref(next);
	splice_release(&splice);
	buf_release(&file);
}

static void
run(lancet_version *version, const lancet_transaction *ours)
{
	const struct lancet_bytes none = { 0 };
	struct conflict conflict;
	struct rebase rebase;
	struct draft draft;

	/* counts that were not recorded are in files, of which there is none */
	if (version->counts_missing || version->info.physical_rows > ROWS_MAX ||
		rebase_init(&rebase, ours, version, NULL, none, NULL) != LANCET_OK)
		return;
	if (conflict_finish(&rebase, &conflict, NULL) == LANCET_OK &&
		conflict.verdict == CONFLICT_NONE &&
		draft_init(&draft, version, version, &rebase, NULL) == LANCET_OK) {
		if (operation_apply(&draft, NULL) == LANCET_OK && count_rows(&draft) <= ROWS_MAX &&
			draft_finish(&draft, 1, 2, NULL) == LANCET_OK)
			write_next(&draft, version);
		draft_release(&draft);
	}
	rebase_release(&rebase);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = { .in = slice_of(data, size) };
	uint16_t section = cursor_u16(&c), message = cursor_u16(&c);
	struct input input = { .section = cursor_take(&c, section),
		.message = cursor_take(&c, message) };
	lancet_transaction *ours = NULL;
	lancet_version *version = NULL;
	struct fuzz_guard guard;
	struct buf file = { 0 };

	input.transaction = cursor_take(&c, c.in.size - c.at);
	(void)fuzz_dataset();
	guard = fuzz_begin(COST_BASE + COST_PER_BYTE * size);
	if (!c.bad) {
		version = fuzz_version_open(input.section, input.message, NUMBER, &file);
		ours = fuzz_transaction(input.transaction);
	}
	if (version != NULL && ours != NULL)
		run(version, ours);
	lancet_transaction_free(ours);
	lancet_version_unref(version);
	buf_release(&file);
	fuzz_end(&guard);
	return 0;
}
