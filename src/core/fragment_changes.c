/* Columns that have got other files, fragment by fragment. */
#include "fragment_changes.h"

#include "draft_prune.h"
#include "fragment_checks.h"
#include "lance/table.pb-c.h"
#include "pbsame.h"
#include "util/macros.h"

typedef Lance__Table__DataFragment Fragment;
typedef Lance__Table__DataFile DataFile;

static bool
path_same(const DataFile *one, const DataFile *other)
{
	return slice_equal(slice_of(one->path.data, one->path.len),
		slice_of(other->path.data, other->path.len));
}

static const DataFile *
find_file(const Fragment *fragment, const DataFile *wanted)
{
	for (size_t i = 0; i < fragment->n_files; i++)
		if (path_same(fragment->files[i], wanted))
			return fragment->files[i];
	return NULL;
}

/* Fields of the file that the other one, of the same path, does not have at the same place. */
static void
put_fields(struct numbers *fields, const DataFile *file, const DataFile *other)
{
	bool comparable = other != NULL && other->n_fields == file->n_fields &&
			  other->n_column_indices == file->n_column_indices &&
			  file->n_column_indices == file->n_fields;

	if (other != NULL && pbsame_file(file, other))
		return;
	for (size_t i = 0; i < file->n_fields; i++)
		if (file->fields[i] >= 0 &&
			!(comparable && file->fields[i] == other->fields[i] &&
				file->column_indices[i] == other->column_indices[i]))
			numbers_put(fields, (uint64_t)file->fields[i]);
}

static bool
overlays_same(const Fragment *one, const Fragment *other)
{
	if (one->n_overlays != other->n_overlays)
		return false;
	for (size_t i = 0; i < one->n_overlays; i++) {
		const Lance__Table__DataOverlayFile *a = one->overlays[i], *b = other->overlays[i];

		if (a->committed_version != b->committed_version || a->data_file == NULL ||
			b->data_file == NULL || !pbsame_file(a->data_file, b->data_file))
			return false;
	}
	return true;
}

static size_t
count_fields(const Fragment *fragment)
{
	size_t count = 0;

	for (size_t i = 0; i < fragment->n_files; i++)
		count += fragment->files[i]->n_fields;
	for (size_t i = 0; i < fragment->n_overlays; i++)
		if (fragment->overlays[i]->data_file != NULL)
			count += fragment->overlays[i]->data_file->n_fields;
	return count;
}

static void
put_overlays(struct numbers *fields, const Fragment *fragment)
{
	for (size_t i = 0; i < fragment->n_overlays; i++)
		if (fragment->overlays[i]->data_file != NULL)
			put_fields(fields, fragment->overlays[i]->data_file, NULL);
}

int
changed_fields(const Fragment *current, const Fragment *image, struct arena *arena,
	struct numbers *ret_fields, struct lancet_error *err)
{
	*ret_fields = (struct numbers){ 0 };
	if (!numbers_reserve(ret_fields, count_fields(current) + count_fields(image), arena))
		return draft_no_memory(err);
	for (size_t i = 0; i < current->n_files; i++)
		put_fields(ret_fields, current->files[i], find_file(image, current->files[i]));
	for (size_t i = 0; i < image->n_files; i++)
		put_fields(ret_fields, image->files[i], find_file(current, image->files[i]));
	if (!overlays_same(current, image)) {
		put_overlays(ret_fields, current);
		put_overlays(ret_fields, image);
	}
	numbers_sort(ret_fields);
	return LANCET_OK;
}

static bool
numbers_equal(const struct numbers *one, const struct numbers *other)
{
	return one->count == other->count &&
	       (one->count == 0 ||
		       memcmp(one->values, other->values, one->count * sizeof(*one->values)) == 0);
}

int
changes_uncover(struct fragment_changes *changes, struct draft *draft, struct lancet_error *err)
{
	int rc = LANCET_OK;

	numbers_sort(&changes->fragments);
	if (changes->fragments.count > 0 && changes->fields.count > 0)
		rc = draft_uncover(draft, &changes->fields, &changes->fragments, err);
	changes_release(changes);
	return rc;
}

static int
add_fragment(struct fragment_changes *changes, uint64_t id, struct lancet_error *err)
{
	struct numbers grown = { 0 };
	size_t capacity = 2 * changes->capacity + 16;

	if (changes->fragments.count == changes->capacity) {
		if (!numbers_reserve(&grown, capacity, &changes->fragments_arena))
			return draft_no_memory(err);
		for (size_t i = 0; i < changes->fragments.count; i++)
			numbers_put(&grown, changes->fragments.values[i]);
		changes->fragments = grown;
		changes->capacity = capacity;
	}
	numbers_put(&changes->fragments, id);
	return LANCET_OK;
}

int
changes_note(struct fragment_changes *changes, struct draft *draft, const Fragment *current,
	const Fragment *image, struct lancet_error *err)
{
	struct arena arena = { 0 };
	struct numbers fields;
	int rc = changed_fields(current, image, &arena, &fields, err);

	if (rc == LANCET_OK && fields.count > 0 && !numbers_equal(&fields, &changes->fields)) {
		rc = changes_uncover(changes, draft, err);
		changes->fields = fields;
		changes->fields_arena = arena;
		arena = (struct arena){ 0 };
	}
	if (rc == LANCET_OK && fields.count > 0)
		rc = add_fragment(changes, current->id, err);
	arena_release(&arena);
	return rc;
}

void
changes_release(struct fragment_changes *changes)
{
	arena_release(&changes->fields_arena);
	arena_release(&changes->fragments_arena);
	*changes = (struct fragment_changes){ 0 };
}
