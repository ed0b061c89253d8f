/* CreateIndex that removes: all segments of an index at once. Format facts: CreateIndex.
 *
 * System entries are state of the dataset, which only what keeps them up may drop.
 */
#include "change_build.h"

#include "index_set.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"
#include "version.h"

static const struct lancet_index *
find_index(const struct lancet_index *indices, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (slice_equal(
			    slice_of(indices[i].name.data, indices[i].name.size), slice_text(name)))
			return &indices[i];
	}
	return NULL;
}

static int
build(lancet_change *change, const char *name, struct lancet_error *err)
{
	Lance__Table__Transaction__CreateIndex *create =
		change_alloc(change, 1, sizeof(*create), err);
	const struct lancet_index *indices, *index;
	Lance__Table__IndexMetadata **removed;
	size_t count;

	if (create == NULL)
		return LANCET_NO_MEMORY;
	TRY(lancet_version_indices(change->read, &indices, &count, err));
	index = find_index(indices, count, name);
	if (index == NULL)
		return lancet_fail(err, LANCET_NOT_FOUND, "index \"%.200s\": there is none", name);
	if (index->is_system)
		return lancet_fail(err, LANCET_INVALID,
			"index \"%.200s\": an entry of the system can't be dropped", name);
	removed = change_alloc(change, index->segment_count, sizeof(*removed), err);
	if (removed == NULL)
		return LANCET_NO_MEMORY;
	for (size_t i = 0; i < index->segment_count; i++) {
		const struct index_segment *segment =
			(const struct index_segment *)index->segments[i];

		/* the version outlives the change, and nobody modifies what was removed */
		removed[i] = (Lance__Table__IndexMetadata *)(uintptr_t)segment->message;
	}
	lance__table__transaction__create_index__init(create);
	create->removed_indices = removed;
	create->n_removed_indices = index->segment_count;
	change->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_CREATE_INDEX;
	change->message->create_index = create;
	return LANCET_OK;
}

int
lancet_change_drop_index(lancet_version *read, const char *name, lancet_change **ret_change,
	struct lancet_error *err)
{
	lancet_change *change;

	TRY(change_new(read, &change, err));
	return change_built(change, build(change, name, err), ret_change);
}
