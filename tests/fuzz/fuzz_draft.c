/* A version of any manifest, its successor with some fragments and index entries changed, and what
 * that says when it is read.
 *
 * An input is two bytes that say what is changed, the size of the index section (u16 LE), the
 * section, and the manifest message.
 */
#include "fuzz.h"
#include "fuzzversion.h"

#include <string.h>

#include "core/draft.h"
#include "core/manifest_write.h"
#include "core/version.h"
#include "lance/table.pb-c.h"
#include "util/cursor.h"

#define NUMBER        3
#define COST_BASE     ((size_t)8 << 20)
#define COST_PER_BYTE 1024u

/* Every second fragment and entry is changed to what it is, or removed. */
static int
change(struct draft *draft, unsigned fragments, unsigned entries)
{
	struct Lance__Table__DataFragment *fragment;
	struct Lance__Table__IndexMetadata *entry;
	int rc = LANCET_OK;

	for (size_t i = 0; i < draft->fragment_count && rc == LANCET_OK; i++) {
		if ((fragments >> i % 4 & 1) != 0)
			rc = draft_edit(draft, i, &fragment, NULL);
		else if ((fragments >> (4 + i % 4) & 1) != 0)
			draft_remove(draft, i);
	}
	if (rc == LANCET_OK)
		rc = draft_indices(draft, NULL);
	for (size_t i = 0; i < draft->index_count && rc == LANCET_OK; i++) {
		if ((entries >> i % 4 & 1) != 0)
			rc = draft_index_edit(draft, i, &entry, NULL);
		else if ((entries >> (4 + i % 4) & 1) != 0)
			draft_index_remove(draft, i);
	}
	return rc;
}

static void
check_next(const struct draft *draft, const lancet_version *next)
{
	const struct lancet_version_info *info = lancet_version_info(next);

	fuzz_expect(info->number == NUMBER + 1 && info->has_writer);
	fuzz_expect(info->writer_flags == draft->writer_flags);
	fuzz_expect(info->reader_flags == draft->reader_flags);
	fuzz_expect(info->fragment_count == draft->fragment_count);
	for (size_t i = 0; i < draft->fragment_count; i++) {
		const struct fragment_span *is = &next->spans[i], *was;
		const lancet_version *origin = draft->origin;

		fuzz_expect(is->id == draft->fragments[i].id);
		fuzz_expect(i == 0 || (is[-1].id < is->id && is[-1].offset < is->offset));
		fuzz_expect(is->id <= info->max_fragment_id);
		if (draft->fragments[i].message != NULL)
			continue;
		was = &origin->spans[draft->fragments[i].stored];
		fuzz_expect(was->size == is->size &&
			    memcmp(origin->file->data + origin->message_offset + was->offset,
				    next->file->data + next->message_offset + is->offset,
				    is->size) == 0);
	}
}

static void
write_next(struct draft *draft)
{
	struct splice splice = { 0 };
	struct buf file = { 0 };
	lancet_version *next = NULL;

	if (manifest_write_prepare(draft, slice_text("\x08\x03"), "3-u.txn", &splice, NULL) ==
			LANCET_OK &&
		buf_reserve(&file, (size_t)splice.size)) {
		fuzz_expect(
			splice_read(&splice, 0, (size_t)splice.size, file.data, NULL) == LANCET_OK);
		file.size = (size_t)splice.size;
		next = fuzz_version_load(&file, NUMBER + 1);
		/* only memory may be missing for what was sound before */
		fuzz_expect(next != NULL || fuzz_heap_now != NULL);
	}
	if (next != NULL)
		check_next(draft, next);
	lancet_version_unref(next);
	splice_release(&splice);
	buf_release(&file);
}

static void
run(unsigned fragments, unsigned entries, lancet_version *version)
{
	struct draft draft;

	/* counts that were not recorded are in files, of which there is none */
	if (version->counts_missing ||
		draft_init(&draft, version, version, NULL, NULL) != LANCET_OK)
		return;
	if (change(&draft, fragments, entries) == LANCET_OK &&
		draft_finish(&draft, 1, 2, NULL) == LANCET_OK)
		write_next(&draft);
	draft_release(&draft);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = { .in = slice_of(data, size) };
	unsigned fragments = cursor_u8(&c), entries = cursor_u8(&c);
	uint16_t section_size = cursor_u16(&c);
	struct slice section = cursor_take(&c, section_size);
	struct slice message = cursor_take(&c, c.in.size - c.at);
	lancet_version *version = NULL;
	struct fuzz_guard guard;
	struct buf file = { 0 };

	(void)fuzz_dataset();
	guard = fuzz_begin(COST_BASE + COST_PER_BYTE * size);
	if (!c.bad)
		version = fuzz_version_open(section, message, NUMBER, &file);
	if (version != NULL)
		run(fragments, entries, version);
	lancet_version_unref(version);
	buf_release(&file);
	fuzz_end(&guard);
	return 0;
}
