/* Rules of operations that change rows where they are: fragments that both change, deletion vectors
 * that can be merged, keys that both insert. */
#include "conflict.h"
#include "conflict_rules.h"

#include <inttypes.h>
#include <stdlib.h>

#include "deletion.h"
#include "fragment.h"
#include "lance/transaction.pb-c.h"
#include "pbsame.h"
#include "util/macros.h"

/* o */
int
rule_fragments(struct clash *clash)
{
	uint64_t id;

	if (!numbers_meet(&clash->ours->modified, &clash->theirs->modified, &id))
		return LANCET_OK;
	return clash_retry(clash, "same_fragment", "fragment %" PRIu64 " is changed by both", id);
}

/* Both leave the fragment there: fine as long as theirs only deleted rows of it. */
static int
mark_deletion(struct clash *clash, size_t place, uint64_t id)
{
	size_t theirs = numbers_find(&clash->theirs->updated, id);
	lancet_fragment *fragment = NULL;
	bool same;

	TRY(rebase_fragment_stored(clash->rebase->read, id, &fragment, clash->err));
	same = fragment != NULL && pbsame_files(fragment->message, clash->theirs->images[theirs]);
	lancet_fragment_unref(fragment);
	if (!same)
		return clash_retry(
			clash, "same_fragment", "columns of fragment %" PRIu64 " have changed", id);
	rebase_mark_fragment(clash, place);
	return LANCET_OK;
}

/* d1 */
int
rule_deletions(struct clash *clash)
{
	const struct touched *ours = clash->ours, *theirs = clash->theirs;
	size_t at = 0, place;

	while (!clash_decided(clash) &&
		numbers_common(&ours->modified, &theirs->modified, &at, &place)) {
		uint64_t id = ours->modified.values[place];

		if (clash->rebase->affected == NULL)
			(void)clash_retry(clash, "same_fragment",
				"fragment %" PRIu64
				" is changed by both, and the rows that we change are not known",
				id);
		else if (numbers_find(&ours->removed, id) != SIZE_MAX)
			(void)clash_retry(clash, "same_fragment",
				"fragment %" PRIu64 ", which we remove, has changed", id);
		else if (numbers_find(&theirs->removed, id) != SIZE_MAX)
			(void)clash_retry(
				clash, "same_fragment", "fragment %" PRIu64 " was removed", id);
		else
			TRY(mark_deletion(clash, place, id));
	}
	return LANCET_OK;
}

/* u1 */
int
rule_inserted_keys(struct clash *clash)
{
	if (clash->ours->message->update->inserted_rows == NULL)
		return LANCET_OK;
	return clash_retry(clash, "inserted_keys", "rows were added, and their keys are not known");
}

/* u2, d1 */
int
rule_updates(struct clash *clash)
{
	TRY(clash_inserted_keys(clash));
	return clash_decided(clash) ? LANCET_OK : rule_deletions(clash);
}

static int
current_vector(struct clash *clash, uint64_t id, roaring_bitmap_t **ret_vector, uint64_t *ret_rows)
{
	lancet_fragment *fragment = NULL;
	roaring_bitmap_t *vector = NULL;
	int rc = LANCET_OK;

	TRY(rebase_fragment(clash->rebase->newest, id, &fragment, clash->err));
	if (fragment == NULL)
		return clash_retry(clash, "same_fragment", "fragment %" PRIu64 " is gone", id);
	*ret_rows = fragment->info.physical_rows;
	if (fragment->info.has_deletion_file)
		rc = deletion_load(fragment, &vector, clash->err);
	else if ((vector = roaring_bitmap_create()) == NULL)
		rc = touched_no_memory(clash->err);
	lancet_fragment_unref(fragment);
	if (rc == LANCET_OK)
		*ret_vector = vector;
	return rc;
}

/* Both sets are of the same fragment: what it is to have in the end. */
static int
merge(struct clash *clash, uint64_t id, roaring_bitmap_t *current, uint64_t rows,
	struct rebase_deletion *ret_deletion)
{
	const roaring_bitmap_t *affected = affected_rows_in(clash->rebase->affected, id);

	if (affected != NULL && !roaring_bitmap_is_empty(affected) &&
		roaring_bitmap_maximum(affected) >= rows)
		return lancet_fail(clash->err, LANCET_INVALID,
			"affected row %" PRIu32 " of fragment %" PRIu64 " of %" PRIu64 " rows",
			roaring_bitmap_maximum(affected), id, rows);
	if (affected != NULL && roaring_bitmap_intersect(affected, current))
		return clash_retry(
			clash, "same_rows", "rows of fragment %" PRIu64 " are changed by both", id);
	if (clash->ours->kind == OPERATION_UPDATE && !clash->ours->moves_rows)
		return clash_refuse(clash, "columns_in_place",
			"rows of fragment %" PRIu64
			" were deleted: merging would delete those changed in place",
			id);
	if (affected != NULL)
		roaring_bitmap_or_inplace(current, affected);
	ret_deletion->whole = roaring_bitmap_get_cardinality(current) == rows;
	return LANCET_OK;
}

static int
finish_fragment(struct clash *clash, size_t place, struct rebase_deletion *ret_deletion)
{
	uint64_t id = clash->ours->modified.values[place], rows = 0;
	const struct rebase_mark *mark = &clash->rebase->marks[place];
	roaring_bitmap_t *current = NULL;
	int rc;

	clash->conflict->version = mark->version;
	clash->conflict->operation = operation_kind_name(mark->kind);
	TRY(current_vector(clash, id, &current, &rows));
	if (current == NULL)
		return LANCET_OK;
	rc = merge(clash, id, current, rows, ret_deletion);
	if (rc != LANCET_OK || clash_decided(clash)) {
		roaring_bitmap_free(current);
		return rc;
	}
	ret_deletion->fragment = id;
	ret_deletion->deleted = current;
	return LANCET_OK;
}

static size_t
count_marks(const struct rebase *rebase)
{
	size_t count = 0;

	for (size_t i = 0; i < rebase->touched.modified.count; i++)
		count += rebase->marks[i].version != 0;
	return count;
}

int
finish_deletions(struct clash *clash)
{
	struct rebase *rebase = clash->rebase;
	size_t count = count_marks(rebase);

	rebase_release_deletions(rebase);
	if (count == 0)
		return LANCET_OK;
	rebase->deletions = calloc(count, sizeof(*rebase->deletions));
	if (rebase->deletions == NULL)
		return touched_no_memory(clash->err);
	for (size_t i = 0; i < rebase->touched.modified.count; i++) {
		if (rebase->marks[i].version == 0)
			continue;
		TRY(finish_fragment(clash, i, &rebase->deletions[rebase->deletion_count]));
		if (clash_decided(clash))
			return LANCET_OK;
		rebase->deletion_count++;
	}
	return LANCET_OK;
}
