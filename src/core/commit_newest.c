/* Finding the newest version to commit on.
 *
 * The first attempt lists _versions. Later ones go on from the newest version they know: since all
 * writers number without gaps, the first number that is missing ends the search. A newest version
 * that can't be read is never passed over, as it is for reading: what follows a version that is
 * torn could not be told from one that was committed on the version before.
 */
#include "commit_parts.h"

#include <inttypes.h>

#include "dataset.h"
#include "util/macros.h"
#include "version.h"

#define TRIES 3 /* a head may be set aside between listing and opening */

static int
check_schemes(const struct lancet_version_list *list, struct lancet_error *err)
{
	bool v1 = false, v2 = false;

	for (size_t i = 0; i < list->count; i++) {
		v1 |= list->entries[i].v1_name;
		v2 |= list->entries[i].v2_name;
	}
	if (!v1 || !v2)
		return LANCET_OK;
	return lancet_fail(err, LANCET_CORRUPT,
		VERSIONS_DIR
		" has names of both naming schemes: nothing can be committed until all "
		"manifests are named alike");
}

static int
list_newest(lancet_dataset *dataset, uint64_t *ret_number, struct lancet_error *err)
{
	struct lancet_version_list list;
	int rc;

	TRY(lancet_dataset_versions(dataset, &list, err));
	if (list.count == 0)
		rc = lancet_fail(err, LANCET_NOT_FOUND, "no version to commit on");
	else
		rc = check_schemes(&list, err);
	if (rc == LANCET_OK)
		*ret_number = list.entries[list.count - 1].number;
	lancet_version_list_release(&list);
	return rc;
}

static int
probe_newest(
	lancet_dataset *dataset, uint64_t known, uint64_t *ret_number, struct lancet_error *err)
{
	struct stat st;
	int rc;

	do
		rc = lancet_dataset_manifest_stat(dataset, ++known, &st, err);
	while (rc == LANCET_OK);
	if (rc != LANCET_NOT_FOUND)
		return rc;
	*ret_number = known - 1;
	return LANCET_OK;
}

static int
open_newest(struct commit *commit, uint64_t number, struct lancet_error *err)
{
	lancet_version *version = NULL;
	struct lancet_error why = { 0 };
	int rc = lancet_version_open(commit->dataset, number, &version, &why);

	if (rc == LANCET_CORRUPT)
		return lancet_fail(err, rc,
			"the newest version can't be read, so nothing is committed: %s; repair "
			"torn_head=true sets it aside",
			why.text);
	if (rc != LANCET_OK) {
		if (err != NULL)
			*err = why;
		return rc;
	}
	lancet_version_unref(commit->newest);
	commit->newest = version;
	return LANCET_OK;
}

int
commit_find_newest(struct commit *commit, struct lancet_error *err)
{
	uint64_t number = 0;
	int rc = LANCET_NOT_FOUND;

	if (commit->newest != NULL) {
		TRY(probe_newest(commit->dataset, commit->newest->info.number, &number, err));
		rc = open_newest(commit, number, err);
	}
	for (int i = 0; i < TRIES && rc == LANCET_NOT_FOUND; i++) {
		TRY(list_newest(commit->dataset, &number, err));
		rc = open_newest(commit, number, err);
	}
	if (rc == LANCET_OK && commit->newest->info.number < commit->rebase.checked)
		return lancet_fail(err, LANCET_NOT_FOUND,
			"version %" PRIu64 " is gone: make the change anew on the newest version",
			commit->rebase.checked);
	return rc;
}
