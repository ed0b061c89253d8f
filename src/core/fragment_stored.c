/* Decoding of stored fragments; see fragment_stored.h. */
#include "fragment_stored.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fragment.h"
#include "lance/table.pb-c.h"
#include "util/buf.h"
#include "util/macros.h"
#include "util/pbborrow.h"
#include "util/pbscan.h"
#include "version.h"

static bool
is_inline(uint32_t number)
{
	return number == FRAGMENT_INLINE_ROW_IDS || number == FRAGMENT_INLINE_CREATED ||
	       number == FRAGMENT_INLINE_LAST_UPDATED;
}

#define TYPE (&lance__table__data_fragment__descriptor)

int
fragment_stored(const lancet_version *version, uint64_t ordinal, struct arena *arena,
	Lance__Table__DataFragment **ret_message, struct lancet_error *err)
{
	const struct fragment_span *span = &version->spans[ordinal];
	uint64_t at = version->message_offset + span->offset;
	lancet_autofree uint8_t *loaded = NULL;
	uint8_t *kept;
	int rc;

	if (span->size < PB_BORROWED_MIN) {
		TRY(source_load(version->file, at, span->size, &loaded, err));
		rc = pb_unpack(TYPE, slice_of(loaded, span->size), arena, ret_message, err);
	} else {
		kept = arena_alloc(arena, span->size);
		if (kept == NULL)
			return lancet_fail(
				err, LANCET_NO_MEMORY, "fragment of %zu bytes", (size_t)span->size);
		TRY(source_read_at(version->file, at, span->size, kept, err));
		rc = pb_unpack_borrowing(TYPE, slice_of(kept, span->size), arena, ret_message, err);
	}
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "fragment %" PRIu64, span->id);
}

/* The fields of the message but for those that are long. */
static int
load_bare(struct source *file, struct pbscan *scan, struct buf *into, struct lancet_error *err)
{
	struct pb_field field;
	int rc = LANCET_OK;

	while (pbscan_step(scan, &field, &rc, err)) {
		size_t size = (size_t)(field.end - field.start);

		if (is_inline(field.number))
			continue;
		if (!buf_reserve(into, size))
			return buf_check(into, "fragment", err);
		rc = source_read_at(file, field.start, size, into->data + into->size, err);
		into->size += size;
	}
	return rc;
}

int
fragment_stored_bare(const lancet_version *version, uint64_t ordinal, struct arena *arena,
	Lance__Table__DataFragment **ret_message, struct lancet_error *err)
{
	const struct fragment_span *span = &version->spans[ordinal];
	struct buf bytes = { 0 };
	struct pbscan scan;
	int rc;

	TRY(pbscan_init(
		&scan, version->file, version->message_offset + span->offset, span->size, 0, err));
	rc = load_bare(version->file, &scan, &bytes, err);
	pbscan_release(&scan);
	if (rc == LANCET_OK)
		rc = pb_unpack(TYPE, buf_slice(&bytes), arena, ret_message, err);
	buf_release(&bytes);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "fragment %" PRIu64, span->id);
}
