/* Deletion vectors: the set of deleted row offsets of a fragment, and overlay coverage, which is a
 * set too.
 *
 * In memory a set is a roaring bitmap, whatever the file was: a few bytes a row at most. It is
 * shared by counting and never changes. Format facts: deletion files, overlays.
 */
#include "deletion.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fragment.h"
#include "util/macros.h"
#include "version.h"

#define OFFSETS_MAX (UINT64_C(1) << 32)
/* More than any set of offsets needs: 65,536 bitset containers of 8 KiB and their heads. */
#define FILE_SIZE_MAX (UINT64_C(600) << 20)

struct lancet_deletion {
	int refs; /* atomic */
	uint64_t count;
	roaring_bitmap_t *set; /* NULL when empty */
};

int
fragment_file_open(const lancet_base *base, const char *path, struct source **ret_file,
	struct lancet_error *err)
{
	struct source *file;
	struct stat st;
	int rc = store_open_source(base->store, path, &file, &st, err);

	if (rc == LANCET_NOT_FOUND) {
		rc = lancet_fail(err, LANCET_IO, "%s: the file is gone", path);
		if (err != NULL)
			err->os_errno = EIO;
	}
	if (rc == LANCET_OK)
		*ret_file = file;
	return rc;
}

int
deletion_bitmap_parse(struct source *file, uint64_t rows, uint64_t count_max,
	roaring_bitmap_t **ret_set, struct lancet_error *err)
{
	/* A value costs at most 4 bytes (in a run of its own), a container at most 13 (its head,
	 * its offset, its run flag, its number of runs) and there is at least one value in each. */
	uint64_t size_max = 64 + 4 * count_max + 13 * (rows / 65536 + 1);
	lancet_autofree uint8_t *bytes = NULL;

	if (file->size > size_max)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " bytes are too many for %" PRIu64 " deleted rows", file->size,
			count_max);
	if (file->size > FILE_SIZE_MAX)
		return lancet_fail(
			err, LANCET_LIMIT, "%" PRIu64 " bytes of roaring bitmap", file->size);
	TRY(source_load(file, 0, (size_t)file->size, &bytes, err));
	return roaringx_load(slice_of(bytes, (size_t)file->size), rows, rows, ret_set, err);
}

static int
parse(struct source *file, const struct lancet_fragment_info *info, roaring_bitmap_t **ret_set,
	struct lancet_error *err)
{
	uint64_t rows = info->physical_rows;
	uint64_t recorded = info->deletion.deleted_rows;
	roaring_bitmap_t *set;
	uint64_t count;

	if (rows > OFFSETS_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "fragment of %" PRIu64 " rows", rows);
	if (recorded > rows)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " of %" PRIu64 " rows deleted",
			recorded, rows);
	if (info->deletion.is_bitmap)
		TRY(deletion_bitmap_parse(file, rows, recorded != 0 ? recorded : rows, &set, err));
	else
		TRY(deletion_arrow_parse(file, rows, &set, err));
	count = roaring_bitmap_get_cardinality(set);
	if (recorded != 0 && count != recorded) {
		roaring_bitmap_free(set);
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " deleted rows, the manifest records %" PRIu64, count, recorded);
	}
	roaring_bitmap_run_optimize(set);
	roaring_bitmap_shrink_to_fit(set);
	*ret_set = set;
	return LANCET_OK;
}

int
deletion_load(
	struct lancet_fragment *fragment, roaring_bitmap_t **ret_set, struct lancet_error *err)
{
	lancet_autofree char *path = NULL;
	const lancet_base *base;
	struct source *file;
	int rc;

	TRY(lancet_deletion_file_path(fragment, &base, &path, err));
	TRY(fragment_file_open(base, path, &file, err));
	rc = parse(file, &fragment->info, ret_set, err);
	source_unref(file);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%s", path);
}

/* Takes the set, also when there is no memory. */
static int
deletion_new(roaring_bitmap_t *set, lancet_deletion **ret_deletion, struct lancet_error *err)
{
	struct lancet_deletion *deletion = malloc(sizeof(*deletion));

	if (deletion == NULL) {
		roaring_bitmap_free(set);
		return lancet_fail(err, LANCET_NO_MEMORY, "deletion vector");
	}
	*deletion = (struct lancet_deletion){
		.refs = 1,
		.count = set == NULL ? 0 : roaring_bitmap_get_cardinality(set),
		.set = set,
	};
	*ret_deletion = deletion;
	return LANCET_OK;
}

int
lancet_deletion_open(
	lancet_fragment *fragment, lancet_deletion **ret_deletion, struct lancet_error *err)
{
	roaring_bitmap_t *set = NULL;

	if (fragment->info.has_deletion_file)
		TRY(deletion_load(fragment, &set, err));
	return deletion_new(set, ret_deletion, err);
}

int
lancet_coverage_open(lancet_fragment *fragment, size_t overlay, size_t index,
	lancet_deletion **ret_offsets, struct lancet_error *err)
{
	const struct lancet_fragment_info *info = &fragment->info;
	struct lancet_bytes bytes;
	roaring_bitmap_t *set;
	int rc;

	if (overlay >= info->overlay_count || index >= info->overlays[overlay].coverage_count)
		return lancet_fail(
			err, LANCET_INVALID, "overlay %zu has no bitmap %zu", overlay, index);
	bytes = info->overlays[overlay].coverage[index];
	rc = roaringx_load(slice_of(bytes.data, bytes.size), info->physical_rows,
		info->physical_rows, &set, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "fragment %" PRIu64 ": overlay %zu: bitmap %zu",
			info->id, overlay, index);
	return deletion_new(set, ret_offsets, err);
}

void
lancet_deletion_unref(lancet_deletion *deletion)
{
	int before;

	if (deletion == NULL)
		return;
	before = __atomic_fetch_sub(&deletion->refs, 1, __ATOMIC_ACQ_REL);
	assert(before > 0);
	if (before > 1)
		return;
	if (deletion->set != NULL)
		roaring_bitmap_free(deletion->set);
	free(deletion);
}

uint64_t
lancet_deletion_count(const lancet_deletion *deletion)
{
	return deletion->count;
}

int
lancet_deletion_select(const lancet_deletion *deletion, uint64_t first, size_t count,
	uint32_t *offsets, struct lancet_error *err)
{
	roaring_uint32_iterator_t at;
	uint32_t start;

	if (first > deletion->count || count > deletion->count - first)
		return lancet_fail(err, LANCET_INVALID,
			"deleted rows %" PRIu64 " to %" PRIu64 " of %" PRIu64, first, first + count,
			deletion->count);
	if (count == 0)
		return LANCET_OK;
	/* first fits: a set of all 2^32 offsets has no element number 2^32 */
	if (!roaring_bitmap_select(deletion->set, (uint32_t)first, &start))
		return lancet_fail(
			err, LANCET_CORRUPT, "deletion vector has no element %" PRIu64, first);
	roaring_init_iterator(deletion->set, &at);
	roaring_move_uint32_iterator_equalorlarger(&at, start);
	for (size_t i = 0; i < count; i++) {
		offsets[i] = at.current_value;
		roaring_advance_uint32_iterator(&at);
	}
	return LANCET_OK;
}

uint64_t
deletion_rank(const lancet_deletion *deletion, uint64_t offset)
{
	if (deletion->set == NULL || offset == 0)
		return 0;
	if (offset > UINT32_MAX)
		return deletion->count;
	return roaring_bitmap_rank(deletion->set, (uint32_t)offset - 1);
}

void
lancet_deletion_marks(const lancet_deletion *deletion, uint64_t first, size_t count, uint8_t *marks)
{
	roaring_uint32_iterator_t at;

	if (count == 0)
		return;
	memset(marks, 0, count);
	if (deletion->set == NULL || first >= OFFSETS_MAX)
		return;
	roaring_init_iterator(deletion->set, &at);
	roaring_move_uint32_iterator_equalorlarger(&at, (uint32_t)first);
	while (at.has_value && at.current_value - first < count) {
		marks[at.current_value - first] = 1;
		roaring_advance_uint32_iterator(&at);
	}
}
