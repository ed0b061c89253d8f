/* What every commit does once its operation was applied. Format facts: common build steps. */
#include "draft_parts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lance/table.pb-c.h"
#include "util/macros.h"

#define NANOS_PER_SECOND 1000000000

static int
check_changed(struct draft *draft, struct lancet_error *err)
{
	for (size_t i = 0; i < draft->fragment_count; i++) {
		struct draft_fragment *fragment = &draft->fragments[i];
		int rc;

		if (fragment->removed || fragment->message == NULL)
			continue;
		rc = draft_check_fragment(draft, fragment->message, &draft->arena, err);
		if (rc == LANCET_OK && fragment->message->id != fragment->id)
			rc = lancet_fail(err, LANCET_INVALID, "changed to fragment %" PRIu64,
				fragment->message->id);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "fragment %" PRIu64, fragment->id);
		/* no list names a fragment without rows */
		if (fragment->message->deletion_file != NULL &&
			fragment->message->deletion_file->num_deleted_rows ==
				fragment->message->physical_rows)
			fragment->removed = true;
	}
	return LANCET_OK;
}

static int
compare_ids(const void *left, const void *right)
{
	const struct draft_fragment *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

static int
put_in_order(struct draft *draft, struct lancet_error *err)
{
	struct draft_fragment *fragments = draft->fragments;
	size_t kept = 0;

	for (size_t i = 0; i < draft->fragment_count; i++)
		if (!fragments[i].removed)
			fragments[kept++] = fragments[i];
	if (draft->sorted_count < draft->fragment_count)
		qsort(fragments, kept, sizeof(*fragments), compare_ids);
	draft->fragment_count = draft->sorted_count = kept;
	for (size_t i = 1; i < kept; i++)
		if (fragments[i].id == fragments[i - 1].id)
			return lancet_fail(err, LANCET_CORRUPT,
				"fragment %" PRIu64 " is listed twice", fragments[i].id);
	return LANCET_OK;
}

static void
raise_mark(struct draft *draft)
{
	uint64_t last;

	if (draft->fragment_count == 0)
		return;
	last = draft->fragments[draft->fragment_count - 1].id;
	if (!draft->has_max_fragment_id || last > draft->max_fragment_id)
		draft->max_fragment_id = (uint32_t)last;
	draft->has_max_fragment_id = true;
}

int
draft_finish(struct draft *draft, int64_t seconds, int32_t nanos, struct lancet_error *err)
{
	if (nanos < 0 || nanos >= NANOS_PER_SECOND)
		return lancet_fail(err, LANCET_INVALID, "%" PRId32 " nanoseconds", nanos);
	draft->timestamp_seconds = seconds;
	draft->timestamp_nanos = nanos;
	TRY(draft_indices(draft, err));
	TRY(draft_migrate(draft, err));
	TRY(check_changed(draft, err));
	TRY(draft_set_flags(draft, err));
	TRY(put_in_order(draft, err));
	raise_mark(draft);
	return LANCET_OK;
}
