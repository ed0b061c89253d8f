/* Delete of whole fragments, whose files may be lost: nothing but the manifest is read.
 *
 * The predicate is one that those rows fulfil: "_rowaddr >> 32 IN (3, 4)", cut when it is long.
 */
#include "change_build.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lance/transaction.pb-c.h"
#include "util/buf.h"
#include "util/macros.h"
#include "version.h"

#define PREDICATE_MAX 1000u /* bytes, about */

static int
compare_numbers(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static int
set_predicate(
	lancet_change *change, Lance__Table__Transaction__Delete *delete, struct lancet_error *err)
{
	struct buf text = { 0 };

	buf_put_text(&text, "_rowaddr >> 32 IN (");
	for (size_t i = 0; i < delete->n_deleted_fragment_ids; i++) {
		if (text.size > PREDICATE_MAX) {
			buf_put_text(&text, ", ...");
			break;
		}
		buf_printf(&text, "%s%" PRIu64, i > 0 ? ", " : "", delete->deleted_fragment_ids[i]);
	}
	buf_put_text(&text, ")");
	return change_predicate(change, &text, &delete->predicate, err);
}

static int
build(lancet_change *change, const uint64_t *ids, size_t count, uint64_t *ret_rows,
	struct lancet_error *err)
{
	Lance__Table__Transaction__Delete *delete = change_alloc(change, 1, sizeof(*delete), err);
	uint64_t *sorted = change_alloc(change, count, sizeof(*sorted), err);
	uint64_t rows = 0;

	if (delete == NULL || sorted == NULL)
		return LANCET_NO_MEMORY;
	memcpy(sorted, ids, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_numbers);
	for (size_t i = 0; i < count; i++) {
		struct lancet_fragment_span span;
		uint64_t ordinal;

		if (i > 0 && sorted[i] == sorted[i - 1])
			return lancet_fail(err, LANCET_INVALID,
				"fragment %" PRIu64 ": is there twice", sorted[i]);
		TRY(lancet_version_find_fragment(change->read, sorted[i], &ordinal, err));
		lancet_version_span(change->read, ordinal, &span);
		rows += span.physical_rows - (span.deleted_rows < span.physical_rows
							     ? span.deleted_rows
							     : span.physical_rows);
	}
	lance__table__transaction__delete__init(delete);
	delete->deleted_fragment_ids = sorted;
	delete->n_deleted_fragment_ids = count;
	TRY(set_predicate(change, delete, err));
	change->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_DELETE;
	change->message->delete_ = delete;
	*ret_rows = rows;
	return LANCET_OK;
}

int
lancet_change_drop_fragments(lancet_version *read, const uint64_t *ids, size_t count,
	lancet_change **ret_change, uint64_t *ret_rows, struct lancet_error *err)
{
	lancet_change *change;

	if (count == 0)
		return lancet_fail(err, LANCET_INVALID, "no fragment to drop");
	TRY(change_new(read, &change, err));
	return change_built(change, build(change, ids, count, ret_rows, err), ret_change);
}
