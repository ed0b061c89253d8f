/* Exact row counts of a version. Old writers did not record them: then the fragments' files say. */
#include "version.h"

#include "util/macros.h"

int
lancet_version_rows(lancet_version *version, uint64_t *ret_physical, uint64_t *ret_deleted,
                    struct lancet_error *err)
{
	uint64_t physical = 0, deleted = 0;

	if (!version->counts_missing) {
		*ret_physical = version->info.physical_rows;
		*ret_deleted = version->info.deleted_rows;
		return LANCET_OK;
	}
	for (uint64_t i = 0; i < version->info.fragment_count; i++) {
		lancet_fragment *fragment = NULL;

		TRY(lancet_fragment_open(version, i, &fragment, err));
		physical += lancet_fragment_info(fragment)->physical_rows;
		deleted += lancet_fragment_info(fragment)->deleted_rows;
		lancet_fragment_unref(fragment);
	}
	*ret_physical = physical;
	*ret_deleted = deleted;
	return LANCET_OK;
}
