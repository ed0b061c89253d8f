/* Choosing a branch and a version by words. SPEC section 2. */
#include "select.h"

#include <dirent.h>
#include <string.h>

#include <lancet/refs.h>
#include <lancet/version.h>
#include "util/macros.h"
#include "util/text.h"

static struct lancet_bytes
bytes_of(const char *text)
{
	return (struct lancet_bytes){ (const uint8_t *)text, strlen(text) };
}

/* A directory that holds datasets is taken for one at first: the error names what to give instead.
 */
static void
point_into_database(const char *path, struct lancet_error *err)
{
	static const char suffix[] = ".lance";
	const size_t suffix_size = sizeof(suffix) - 1;
	DIR *directory = opendir(path);
	const struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		size_t size = strlen(entry->d_name);

		if (size <= suffix_size || strcmp(entry->d_name + size - suffix_size, suffix) != 0)
			continue;
		lancet_fail(err, LANCET_NOT_FOUND,
			"%s is a directory of datasets, not a dataset: give one of them, such as "
			"%s/%s",
			path, path, entry->d_name);
		break;
	}
	if (directory != NULL)
		closedir(directory);
}

int
select_dataset(const char *path, const struct selection *selection,
	const struct lancet_dataset_options *options, lancet_dataset **ret_dataset,
	struct lancet_error *err)
{
	lancet_dataset *root = NULL;
	int rc;

	rc = lancet_dataset_open(path, options, &root, err);
	if (rc == LANCET_NOT_FOUND)
		point_into_database(path, err);
	if (rc != LANCET_OK)
		return rc;
	if (selection->branch == NULL || strcmp(selection->branch, "main") == 0) {
		*ret_dataset = root;
		return LANCET_OK;
	}
	rc = lancet_dataset_branch(root, bytes_of(selection->branch), ret_dataset, err);
	lancet_dataset_unref(root);
	return rc;
}

static int
version_of_tag(
	lancet_dataset *dataset, const char *name, uint64_t *ret_number, struct lancet_error *err)
{
	struct lancet_bytes branch = lancet_dataset_branch_name(dataset);
	struct lancet_tag_list found = { 0 };
	int rc;

	TRY(lancet_dataset_tag(dataset, bytes_of(name), &found, err));
	const struct lancet_tag *tag = &found.tags[0];
	const char *tag_branch = tag->has_branch ? tag->branch : "";

	if (tag->code != LANCET_OK)
		rc = lancet_fail(err, tag->code, "tag %s: %s", name, tag->error);
	else if (!slice_equal(slice_text(tag_branch), slice_of(branch.data, branch.size)))
		rc = lancet_fail(err, LANCET_NOT_FOUND,
			"tag %s belongs to branch %s: give -o branch=%s too", name,
			tag->has_branch ? tag->branch : "main",
			tag->has_branch ? tag->branch : "main");
	else {
		*ret_number = tag->version;
		rc = LANCET_OK;
	}
	lancet_tag_list_release(&found);
	return rc;
}

int
select_version(lancet_dataset *dataset, const struct selection *selection, uint64_t *ret_number,
	struct lancet_error *err)
{
	lancet_version *version = NULL;
	uint64_t number = 0;
	int64_t seconds;
	int32_t nanos;

	if (selection->version != NULL) {
		if (!text_to_u64(slice_text(selection->version), &number) || number == 0)
			return lancet_fail(err, LANCET_INVALID, "version=%s: not a version number",
				selection->version);
	} else if (selection->tag != NULL) {
		TRY(version_of_tag(dataset, selection->tag, &number, err));
	} else if (selection->as_of != NULL) {
		if (!text_to_timestamp(slice_text(selection->as_of), &seconds, &nanos))
			return lancet_fail(err, LANCET_INVALID,
				"asof=%s: not an RFC 3339 time such as 2026-11-30T12:00:00Z",
				selection->as_of);
		int rc = lancet_dataset_as_of(dataset, seconds, nanos, &number, err);

		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "asof=%s", selection->as_of);
	}
	if (number != 0) {
		TRY(lancet_version_open(dataset, number, &version, err));
		lancet_version_unref(version);
	}
	*ret_number = number;
	return LANCET_OK;
}
