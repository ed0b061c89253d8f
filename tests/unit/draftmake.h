/* Versions for tests of drafts: manifests of draftparts.h, and what a draft makes of them. */
#ifndef TESTS_DRAFTMAKE_H
#define TESTS_DRAFTMAKE_H

#include "core/dataset.h"
#include "core/draft.h"
#include "core/manifest_write.h"
#include "draftparts.h"
#include "lance/transaction.pb-c.h"
#include "maker.h"
#include "storecalls.h"

#define MADE_SECONDS 1700000000

/* A version in the making: index section, message, and the file of both. */
struct made {
	struct buf section, message, file;
	lancet_version *version;
};

/* Opens what was put, behind what `file` has already; the number is that of put_basics. */
static inline lancet_version *
made_open(struct made *made, uint64_t number)
{
	struct lancet_error err = { 0 };

	if (made->section.size > 0) {
		put_number(&made->message, 6, made->file.size);
		maker_u32(&made->file, (uint32_t)made->section.size);
		buf_put_slice(&made->file, buf_slice(&made->section));
	}
	maker_frame(&made->file, buf_slice(&made->message));
	ck_assert_msg(maker_load(buf_slice(&made->file), number, &made->version, &err) == LANCET_OK,
		"%s", err.text);
	return made->version;
}

static inline void
made_release(struct made *made)
{
	lancet_version_unref(made->version);
	buf_release(&made->section);
	buf_release(&made->message);
	buf_release(&made->file);
}

/* The file that the draft, which is finished, makes. */
static inline void
made_write(struct draft *draft, struct buf *into)
{
	struct splice file = { 0 };

	OK(manifest_write_prepare(draft, slice_text("\x08\x01"), "1-x.txn", &file, &err));
	ck_assert(buf_reserve(into, file.size));
	OK(splice_read(&file, 0, file.size, into->data, &err));
	into->size = file.size;
	splice_release(&file);
}

/* A draft on the version, finished and read back as the next one. */
static inline void
made_next(struct draft *draft, struct made *next)
{
	OK(draft_finish(draft, MADE_SECONDS, 5, &err));
	made_write(draft, &next->file);
	OK(maker_load(buf_slice(&next->file), draft->number, &next->version, &err));
}

#endif
