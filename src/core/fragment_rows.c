/* Row counts that the manifests of old writers do not record: taken from the files themselves.
 *
 * Format facts: DataFragment, tolerant reads.
 */
#include "fragment.h"

#include <inttypes.h>
#include <stdlib.h>

#include "deletion.h"
#include "file/datafile.h"
#include "util/macros.h"

static int
count_rows(struct source *src, uint64_t *ret_rows, struct lancet_error *err)
{
	struct datafile *file;
	int rc;

	TRY(datafile_open(src, &file, err));
	rc = datafile_row_count(file, ret_rows, err);
	datafile_unref(file);
	return rc;
}

int
fragment_physical_rows(
	struct lancet_fragment *fragment, uint64_t *ret_rows, struct lancet_error *err)
{
	lancet_autofree char *path = NULL;
	const lancet_base *base;
	struct source *file;
	int rc;

	if (fragment->info.file_count == 0)
		return lancet_fail(err, LANCET_CORRUPT, "no recorded rows and no data file");
	TRY(lancet_data_file_path(fragment->version, &fragment->info.files[0], &base, &path, err));
	TRY(fragment_file_open(base, path, &file, err));
	rc = count_rows(file, ret_rows, err);
	source_unref(file);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%s", path);
}

int
fragment_deleted_rows(
	struct lancet_fragment *fragment, uint64_t *ret_rows, struct lancet_error *err)
{
	roaring_bitmap_t *set;

	if (!fragment->info.has_deletion_file) {
		*ret_rows = 0;
		return LANCET_OK;
	}
	TRY(deletion_load(fragment, &set, err));
	*ret_rows = roaring_bitmap_get_cardinality(set);
	roaring_bitmap_free(set);
	return LANCET_OK;
}
