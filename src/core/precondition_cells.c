/* Whether the cells of one fragment are where they were.
 *
 * Values are never read. What is compared is where they come from: the columns of data files, the
 * deletion file, and overlays as far as they cover the rows. A fragment whose bytes in the manifest
 * are the same was not touched by anybody, which is what is looked at first.
 */
#include "precondition.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "precondition_parts.h"
#include "util/macros.h"
#include "util/roaringx.h"
#include "util/slice.h"

#define CHUNK_SIZE 4096u

/* A column, or an overlay's, that holds values of a watched field. */
struct cell_source {
	int32_t field;
	size_t order; /* among those of the fragment */
	const struct lancet_data_file *file;
	int32_t column;
	uint64_t committed_version; /* of an overlay */
	roaring_bitmap_t *covered;  /* of the rows asked for; NULL for data files */
};

struct cell_sources {
	struct cell_source *list; /* by field, then order; malloc */
	size_t count, capacity;
};

static void
sources_release(struct cell_sources *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		if (sources->list[i].covered != NULL)
			roaring_bitmap_free(sources->list[i].covered);
	free(sources->list);
}

/* Takes the bitmap in any case. */
static int
sources_add(struct cell_sources *sources, struct cell_source source, struct lancet_error *err)
{
	if (sources->count == sources->capacity) {
		size_t capacity = sources->capacity == 0 ? 16 : 2 * sources->capacity;
		struct cell_source *list = realloc(sources->list, capacity * sizeof(*list));

		if (list == NULL) {
			if (source.covered != NULL)
				roaring_bitmap_free(source.covered);
			return lancet_fail(err, LANCET_NO_MEMORY, "%zu columns", capacity);
		}
		sources->list = list;
		sources->capacity = capacity;
	}
	source.order = sources->count;
	sources->list[sources->count++] = source;
	return LANCET_OK;
}

static int
compare_sources(const void *left, const void *right)
{
	const struct cell_source *a = left, *b = right;

	if (a->field != b->field)
		return a->field < b->field ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static int32_t
column_of(const struct lancet_data_file *file, size_t place)
{
	return place < file->column_index_count ? file->column_indices[place] : -1;
}

static int
add_columns(const struct condition_check *check, const struct lancet_fragment_info *info,
	struct cell_sources *sources)
{
	for (size_t i = 0; i < info->file_count; i++) {
		const struct lancet_data_file *file = &info->files[i];

		for (size_t k = 0; k < file->field_count; k++) {
			struct cell_source source = {
				.field = file->fields[k], .file = file, .column = column_of(file, k)
			};

			if (condition_watched(check, file->fields[k]) != NULL)
				TRY(sources_add(sources, source, check->err));
		}
	}
	return LANCET_OK;
}

/* The rows asked for that the overlay covers with its k-th field; *ret_covered NULL: none. */
static int
load_coverage(const struct condition_rows *rows, const struct lancet_overlay *overlay, size_t place,
	roaring_bitmap_t **ret_covered, struct lancet_error *err)
{
	size_t which = overlay->shared ? 0 : place;
	roaring_bitmap_t *covered;

	if (which >= overlay->coverage_count)
		return lancet_fail(err, LANCET_CORRUPT, "overlay without a bitmap of its rows");
	TRY(roaringx_load(slice_of(overlay->coverage[which].data, overlay->coverage[which].size),
		rows->physical_rows, rows->physical_rows, &covered, err));
	if (rows->offsets != NULL)
		roaring_bitmap_and_inplace(covered, rows->offsets);
	if (roaring_bitmap_is_empty(covered)) {
		roaring_bitmap_free(covered);
		covered = NULL;
	}
	*ret_covered = covered;
	return LANCET_OK;
}

static int
add_overlays(const struct condition_check *check, const struct condition_rows *rows,
	const struct lancet_fragment_info *info, struct cell_sources *sources)
{
	for (size_t i = 0; i < info->overlay_count; i++) {
		const struct lancet_overlay *overlay = &info->overlays[i];

		for (size_t k = 0; k < overlay->file.field_count; k++) {
			struct cell_source source = { .field = overlay->file.fields[k],
				.file = &overlay->file,
				.column = column_of(&overlay->file, k),
				.committed_version = overlay->committed_version };

			if (condition_watched(check, source.field) == NULL)
				continue;
			TRY(load_coverage(rows, overlay, k, &source.covered, check->err));
			if (source.covered != NULL)
				TRY(sources_add(sources, source, check->err));
		}
	}
	return LANCET_OK;
}

/* Base ids are of one version each. */
static bool
same_base(const struct condition_check *check, bool was_there, uint32_t was, bool is_there,
	uint32_t is)
{
	return was_there == is_there && (!was_there || (was == is && check->same_bases));
}

static bool
same_source(const struct condition_check *check, const struct cell_source *was,
	const struct cell_source *is)
{
	const struct lancet_data_file *a = was->file, *b = is->file;

	if (was->column != is->column || was->committed_version != is->committed_version ||
		a->major != b->major || a->minor != b->minor)
		return false;
	if (!same_base(check, a->has_base, a->base_id, b->has_base, b->base_id) ||
		!slice_equal(
			slice_of(a->path.data, a->path.size), slice_of(b->path.data, b->path.size)))
		return false;
	if (was->covered == NULL || is->covered == NULL)
		return was->covered == is->covered;
	return roaring_bitmap_equals(was->covered, is->covered);
}

/* The lists are of the same kind of sources; `reason` says what it means when they differ. */
static int
compare_lists(struct condition_check *check, uint64_t fragment, struct cell_sources *was,
	struct cell_sources *is, const char *reason)
{
	int32_t field;

	if (was->count > 1)
		qsort(was->list, was->count, sizeof(*was->list), compare_sources);
	if (is->count > 1)
		qsort(is->list, is->count, sizeof(*is->list), compare_sources);
	for (size_t i = 0; i < was->count || i < is->count; i++) {
		if (i < was->count && i < is->count && was->list[i].field == is->list[i].field &&
			same_source(check, &was->list[i], &is->list[i]))
			continue;
		if (i == was->count || (i < is->count && is->list[i].field < was->list[i].field))
			field = is->list[i].field;
		else
			field = was->list[i].field;
		return condition_broken(
			check, condition_watched(check, field)->named, fragment, reason);
	}
	return LANCET_OK;
}

static int
check_columns(struct condition_check *check, const struct lancet_fragment_info *was,
	const struct lancet_fragment_info *is)
{
	struct cell_sources before = { 0 }, after = { 0 };
	int rc = add_columns(check, was, &before);

	if (rc == LANCET_OK)
		rc = add_columns(check, is, &after);
	if (rc == LANCET_OK)
		rc = compare_lists(check, was->id, &before, &after, "rewritten");
	sources_release(&before);
	sources_release(&after);
	return rc;
}

static int
check_overlays(struct condition_check *check, const struct condition_rows *rows,
	const struct lancet_fragment_info *was, const struct lancet_fragment_info *is)
{
	struct cell_sources before = { 0 }, after = { 0 };
	int rc = add_overlays(check, rows, was, &before);

	if (rc == LANCET_OK)
		rc = add_overlays(check, rows, is, &after);
	if (rc == LANCET_OK)
		rc = compare_lists(check, was->id, &before, &after, "overlaid");
	sources_release(&before);
	sources_release(&after);
	return rc;
}

static bool
same_deletions(const struct condition_check *check, const struct lancet_fragment_info *was,
	const struct lancet_fragment_info *is)
{
	const struct lancet_deletion_file *a = &was->deletion, *b = &is->deletion;

	if (was->has_deletion_file != is->has_deletion_file)
		return false;
	return !was->has_deletion_file ||
	       (a->is_bitmap == b->is_bitmap && a->read_version == b->read_version &&
		       a->id == b->id &&
		       same_base(check, a->has_base, a->base_id, b->has_base, b->base_id));
}

static int
check_infos(struct condition_check *check, const struct condition_rows *rows,
	const struct lancet_fragment_info *was, const struct lancet_fragment_info *is)
{
	int32_t first = check->condition->fields[0];

	if (was->physical_rows != is->physical_rows)
		return condition_broken(check, first, was->id, "resized");
	TRY(check_columns(check, was, is));
	if (!same_deletions(check, was, is))
		return condition_broken(check, first, was->id, "rows were deleted");
	return check_overlays(check, rows, was, is);
}

static int
same_bytes(const struct condition_check *check, uint64_t was, uint64_t is, bool *ret_same)
{
	const struct fragment_span *a = &check->read->spans[was], *b = &check->current->spans[is];
	uint8_t before[CHUNK_SIZE], after[CHUNK_SIZE];

	*ret_same = check->same_bases && a->size == b->size;
	for (uint32_t at = 0; *ret_same && at < a->size; at += CHUNK_SIZE) {
		size_t size = a->size - at < CHUNK_SIZE ? a->size - at : CHUNK_SIZE;

		TRY(lancet_version_manifest_read(
			check->read, a->offset + (uint64_t)at, size, before, check->err));
		TRY(lancet_version_manifest_read(
			check->current, b->offset + (uint64_t)at, size, after, check->err));
		*ret_same = memcmp(before, after, size) == 0;
	}
	return LANCET_OK;
}

static int
check_fragments(
	struct condition_check *check, const struct condition_rows *rows, uint64_t was, uint64_t is)
{
	lancet_fragment *before, *after = NULL;
	int rc;

	TRY(lancet_fragment_open(check->read, was, &before, check->err));
	rc = lancet_fragment_open(check->current, is, &after, check->err);
	if (rc == LANCET_OK)
		rc = check_infos(
			check, rows, lancet_fragment_info(before), lancet_fragment_info(after));
	lancet_fragment_unref(before);
	lancet_fragment_unref(after);
	return rc;
}

int
condition_check_rows(struct condition_check *check, const struct condition_rows *rows)
{
	uint64_t was, is;
	bool same;
	int rc;

	TRY(lancet_version_find_fragment(check->read, rows->fragment, &was, check->err));
	rc = lancet_version_find_fragment(check->current, rows->fragment, &is, check->err);
	if (rc == LANCET_NOT_FOUND)
		return condition_broken(check, check->condition->fields[0], rows->fragment, "gone");
	TRY(rc);
	TRY(same_bytes(check, was, is, &same));
	return same ? LANCET_OK : check_fragments(check, rows, was, is);
}
