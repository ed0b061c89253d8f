/* A draft's index entries: those of the origin as they are stored, changed ones, and new ones.
 *
 * Stored ones are borrowed from the origin's set, which is never modified: an entry is copied
 * before it is changed.
 */
#include "draft.h"

#include <assert.h>
#include <stdlib.h>

#include "dataset.h"
#include "index_set.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"

static int
reserve(struct draft *draft, size_t more, struct lancet_error *err)
{
	size_t capacity = draft->index_capacity;
	struct draft_index *indices;

	if (more <= capacity - draft->index_count)
		return LANCET_OK;
	capacity = 2 * capacity + more;
	indices = realloc(draft->indices, capacity * sizeof(*indices));
	if (indices == NULL)
		return draft_no_memory(err);
	draft->indices = indices;
	draft->index_capacity = capacity;
	return LANCET_OK;
}

/* The segments of a set lie in one array, in stored order. */
static int
compare_stored(const void *left, const void *right)
{
	const struct draft_index *a = left, *b = right;

	return (a->segment > b->segment) - (a->segment < b->segment);
}

static int
load(struct draft *draft, struct lancet_error *err)
{
	const struct lancet_index *indices = NULL;
	size_t count = 0;

	if (draft->origin == NULL)
		return LANCET_OK;
	TRY(lancet_version_indices(draft->origin, &indices, &count, err));
	for (size_t i = 0; i < count; i++) {
		TRY(reserve(draft, indices[i].segment_count, err));
		for (size_t k = 0; k < indices[i].segment_count; k++) {
			const struct index_segment *segment =
				(const struct index_segment *)indices[i].segments[k];

			draft->indices[draft->index_count++] = (struct draft_index){
				.segment = &segment->info,
				.message =
					(Lance__Table__IndexMetadata *)(uintptr_t)segment->message,
			};
		}
	}
	if (draft->index_count > 0)
		qsort(draft->indices, draft->index_count, sizeof(*draft->indices), compare_stored);
	return LANCET_OK;
}

int
draft_indices(struct draft *draft, struct lancet_error *err)
{
	int rc;

	if (draft->indices_loaded)
		return LANCET_OK;
	rc = load(draft, err);
	if (rc != LANCET_OK) {
		draft->index_count = 0;
		return lancet_wrap(
			err, rc, VERSIONS_DIR "/%s", lancet_version_manifest_name(draft->origin));
	}
	draft->indices_loaded = true;
	return LANCET_OK;
}

int
draft_index_edit(struct draft *draft, size_t place,
	struct Lance__Table__IndexMetadata **ret_message, struct lancet_error *err)
{
	struct draft_index *index = &draft->indices[place];
	Lance__Table__IndexMetadata *copy;

	assert(place < draft->index_count && !index->removed);
	if (!index->changed) {
		copy = draft_copy(draft, index->message, sizeof(*index->message));
		if (copy == NULL)
			return draft_no_memory(err);
		index->message = copy;
		index->changed = true;
	}
	*ret_message = index->message;
	return LANCET_OK;
}

void
draft_index_remove(struct draft *draft, size_t place)
{
	assert(place < draft->index_count);
	draft->indices[place].removed = true;
}

int
draft_index_add(
	struct draft *draft, struct Lance__Table__IndexMetadata *message, struct lancet_error *err)
{
	assert(draft->indices_loaded);
	TRY(reserve(draft, 1, err));
	draft->indices[draft->index_count++] =
		(struct draft_index){ .changed = true, .message = message };
	return LANCET_OK;
}

int
draft_add_file(
	struct draft *draft, const char *key, struct slice content, struct lancet_error *err)
{
	struct draft_file *files =
		draft_alloc(draft, (draft->file_count + 1) * sizeof(*draft->files));

	if (files == NULL)
		return draft_no_memory(err);
	if (draft->file_count > 0)
		memcpy(files, draft->files, draft->file_count * sizeof(*files));
	files[draft->file_count++] = (struct draft_file){ key, content };
	draft->files = files;
	return LANCET_OK;
}
