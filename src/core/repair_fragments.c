/* Fragments that have lost a file: gone, cut, or no file of the format any more.
 *
 * Only what opening shows is looked at, of every file that a fragment names; rows are not read.
 * What can't be reached for another reason (a base that is not mounted, no permission) may be
 * sound: it ends the search, since nothing may be dropped for it.
 */
#include <lancet/cleanup.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "dataset.h"
#include "deletion.h"
#include "file/datafile.h"
#include "fragment.h"
#include "util/macros.h"

static bool
is_loss(int rc, const struct lancet_error *why)
{
	return rc == LANCET_CORRUPT || (rc == LANCET_IO && why->os_errno == EIO);
}

static int
open_data_file(
	const lancet_base *base, const char *path, uint64_t size_due, struct lancet_error *err)
{
	struct datafile *file = NULL;
	struct source *source = NULL;
	int rc;

	TRY(fragment_file_open(base, path, &source, err));
	if (size_due != 0 && source->size != size_due)
		rc = lancet_fail(err, LANCET_CORRUPT, "%s: %" PRIu64 " bytes, %" PRIu64 " recorded",
			path, source->size, size_due);
	else
		rc = datafile_open(source, &file, err);
	datafile_unref(file);
	source_unref(source);
	return rc;
}

/* *ret_broken is left alone when the file is fine. */
static int
check_data_file(lancet_version *version, const struct lancet_data_file *stored, bool *ret_broken,
	struct lancet_error *err)
{
	lancet_autofree char *path = NULL;
	struct lancet_error why = { 0 };
	const lancet_base *base = NULL;
	int rc;

	TRY(lancet_data_file_path(version, stored, &base, &path, err));
	rc = open_data_file(base, path, stored->size, &why);
	if (rc == LANCET_OK)
		return LANCET_OK;
	*ret_broken = is_loss(rc, &why);
	if (!*ret_broken && err != NULL)
		*err = why;
	return *ret_broken ? LANCET_OK : rc;
}

/* Once its data files are known to be fine: counts that were not recorded come from them. */
static int
check_deletion_file(
	lancet_version *version, uint64_t ordinal, bool *ret_broken, struct lancet_error *err)
{
	lancet_fragment *fragment = NULL;
	struct lancet_error why = { 0 };
	roaring_bitmap_t *set = NULL;
	int rc = lancet_fragment_open(version, ordinal, &fragment, &why);

	if (rc == LANCET_OK)
		rc = deletion_load(fragment, &set, &why);
	if (rc == LANCET_OK)
		roaring_bitmap_free(set);
	lancet_fragment_unref(fragment);
	if (rc == LANCET_OK)
		return LANCET_OK;
	*ret_broken = is_loss(rc, &why);
	if (!*ret_broken && err != NULL)
		*err = why;
	return *ret_broken ? LANCET_OK : rc;
}

static int
check_files(lancet_version *version, const struct lancet_fragment_info *info, uint64_t ordinal,
	bool *ret_broken, struct lancet_error *err)
{
	for (size_t i = 0; i < info->file_count && !*ret_broken; i++)
		TRY(check_data_file(version, &info->files[i], ret_broken, err));
	for (size_t i = 0; i < info->overlay_count && !*ret_broken; i++)
		TRY(check_data_file(version, &info->overlays[i].file, ret_broken, err));
	if (info->has_deletion_file && !*ret_broken)
		TRY(check_deletion_file(version, ordinal, ret_broken, err));
	return LANCET_OK;
}

/* A fragment that can't be decoded is lost with its files, which nobody can name. */
static int
check_fragment(
	lancet_version *version, uint64_t ordinal, bool *ret_broken, struct lancet_error *err)
{
	lancet_fragment *fragment = NULL;
	int rc = fragment_open_stored(version, ordinal, &fragment, err);

	*ret_broken = rc == LANCET_CORRUPT;
	if (rc == LANCET_OK)
		rc = check_files(version, lancet_fragment_info(fragment), ordinal, ret_broken, err);
	lancet_fragment_unref(fragment);
	return *ret_broken ? LANCET_OK : rc;
}

static int
check_version(lancet_version *version, uint64_t *ids, size_t *ret_count, struct lancet_error *err)
{
	size_t count = 0;

	for (uint64_t i = 0; i < lancet_version_info(version)->fragment_count; i++) {
		struct lancet_fragment_span span;
		bool broken = false;
		int rc;

		lancet_version_span(version, i, &span);
		rc = check_fragment(version, i, &broken, err);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "fragment %" PRIu64, span.id);
		if (broken)
			ids[count++] = span.id;
	}
	*ret_count = count;
	return LANCET_OK;
}

int
lancet_repair_find_broken(
	lancet_dataset *dataset, uint64_t **ret_ids, size_t *ret_count, struct lancet_error *err)
{
	lancet_version *version = NULL;
	lancet_autofree uint64_t *ids = NULL;
	uint64_t number;
	int rc;

	TRY(lancet_dataset_latest(dataset, &number, err));
	TRY(lancet_version_open(dataset, number, &version, err));
	ids = calloc(lancet_version_info(version)->fragment_count + 1, sizeof(*ids));
	if (ids == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "fragments");
	else
		rc = check_version(version, ids, ret_count, err);
	lancet_version_unref(version);
	if (rc == LANCET_OK)
		*ret_ids = lancet_steal(&ids);
	return rc;
}
