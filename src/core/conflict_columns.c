/* Columns that a Merge took from other files: an index that is being made was built over the old
 * values, and must not cover those fragments. */
#include "conflict.h"
#include "conflict_rules.h"

#include <stdlib.h>

#include "fragment.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

typedef Lance__Table__DataFragment Fragment;
typedef Lance__Table__DataFile File;

/* Where a fragment has the values of a field. */
struct backing {
	uint64_t field;
	size_t order; /* as stored: the first one counts */
	const File *file;
	int32_t column;
};

struct backings {
	struct backing *list; /* by field */
	size_t count;
};

static int
compare_backings(const void *left, const void *right)
{
	const struct backing *a = left, *b = right;

	if (a->field != b->field)
		return a->field < b->field ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* Those of the fields; the caller frees ret_backings->list. */
static int
find_backings(const Fragment *fragment, const struct numbers *fields, struct backings *ret_backings,
	struct lancet_error *err)
{
	struct backings found = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < fragment->n_files; i++)
		count += fragment->files[i]->n_fields;
	found.list = calloc(count + 1, sizeof(*found.list));
	if (found.list == NULL)
		return touched_no_memory(err);
	for (size_t i = 0; i < fragment->n_files; i++) {
		const File *file = fragment->files[i];

		for (size_t k = 0; k < file->n_fields; k++) {
			int32_t column = k < file->n_column_indices ? file->column_indices[k] : -1;

			if (file->fields[k] < 0 ||
				numbers_find(fields, (uint64_t)file->fields[k]) == SIZE_MAX)
				continue;
			found.list[found.count] = (struct backing){ (uint64_t)file->fields[k],
				found.count, file, column };
			found.count++;
		}
	}
	qsort(found.list, found.count, sizeof(*found.list), compare_backings);
	*ret_backings = found;
	return LANCET_OK;
}

static bool
same_backing(const struct backing *a, const struct backing *b)
{
	return a->field == b->field && a->column == b->column &&
	       slice_equal(slice_of(a->file->path.data, a->file->path.len),
		       slice_of(b->file->path.data, b->file->path.len)) &&
	       a->file->base_id_presence_case == b->file->base_id_presence_case &&
	       (a->file->base_id_presence_case == 0 || a->file->base_id == b->file->base_id);
}

static int
columns_changed(const struct rebase_index *index, const Fragment *before, const Fragment *after,
	bool *ret_changed, struct lancet_error *err)
{
	struct backings was = { 0 }, is = { 0 };
	int rc = find_backings(before, &index->fields, &was, err);

	if (rc == LANCET_OK)
		rc = find_backings(after, &index->fields, &is, err);
	*ret_changed = was.count != is.count;
	for (size_t i = 0; rc == LANCET_OK && i < was.count && !*ret_changed; i++)
		*ret_changed = !same_backing(&was.list[i], &is.list[i]);
	free(was.list);
	free(is.list);
	return rc;
}

static bool
covers(const struct rebase_index *index, uint64_t id)
{
	return index->covered != NULL && id <= UINT32_MAX &&
	       roaring_bitmap_contains(index->covered, (uint32_t)id);
}

static bool
any_covers(const struct rebase *rebase, uint64_t id)
{
	bool any = false;

	for (size_t i = 0; i < rebase->index_count && !any; i++)
		any = covers(&rebase->indices[i], id);
	return any;
}

static int
withdraw_fragment(struct clash *clash, struct rebase_index *index, const Fragment *before,
	const Fragment *after)
{
	uint64_t id = after->id;
	bool changed;

	if (!covers(index, id))
		return LANCET_OK;
	TRY(columns_changed(index, before, after, &changed, clash->err));
	return changed ? rebase_withdraw(index, &(struct numbers){ &id, 1 }, clash->err)
		       : LANCET_OK;
}

static int
compare_fragment(struct clash *clash, const Fragment *after)
{
	struct rebase *rebase = clash->rebase;
	lancet_fragment *before = NULL;
	int rc = LANCET_OK;

	if (!any_covers(rebase, after->id))
		return LANCET_OK;
	TRY(rebase_fragment_stored(rebase->read, after->id, &before, clash->err));
	for (size_t i = 0; i < rebase->index_count && rc == LANCET_OK && before != NULL; i++)
		rc = withdraw_fragment(clash, &rebase->indices[i], before->message, after);
	lancet_fragment_unref(before);
	return rc;
}

int
rebase_withdraw_changed(struct clash *clash)
{
	const Lance__Table__Transaction__Merge *message = clash->theirs->message->merge;

	for (size_t i = 0; i < message->n_fragments; i++)
		TRY(compare_fragment(clash, message->fragments[i]));
	return LANCET_OK;
}
