/* Inside of a decoded fragment, for the modules of core that read its lineage and describe it.
 *
 * The three inline sequences (fields 5, 7, 9 of DataFragment) may be megabytes: they stay in the
 * manifest file, only their places are kept here. `message` is the rest, in the fragment's own
 * arena.
 */
#ifndef CORE_FRAGMENT_H
#define CORE_FRAGMENT_H

#include <lancet/fragment.h>
#include "util/arena.h"

#define FRAGMENT_LINEAGE 3                /* enum lancet_lineage */
#define FRAGMENT_ID_MAX  (UINT32_MAX - 1) /* the next one is no row address */

/* The encoded RowIdSequence or RowDatasetVersionSequence: a range of version->file. */
struct fragment_inline {
	uint64_t offset;
	uint64_t size;
	bool present; /* the oneof's last arm is the inline one; it may be empty */
};

struct lancet_fragment {
	struct lancet_fragment_info info;
	int refs;                       /* atomic */
	struct lancet_version *version; /* counted */
	struct arena arena;             /* frozen after open */
	struct Lance__Table__DataFragment *message; /* without fields 5, 7 and 9; in arena */
	struct fragment_inline lineage[FRAGMENT_LINEAGE];
	uint64_t message_offset; /* of the DataFragment's bytes in version->file */
	uint32_t message_size;
	size_t footprint;        /* bytes this fragment holds */
};

/* Fills files, overlays and deletion of info from fragment->message (fragment_files.c). */
int fragment_files_fill(struct lancet_fragment *fragment, struct lancet_error *err);

/* As lancet_fragment_open, with the counts as they are stored: opens no data or deletion file, so a
 * lost one does not matter. */
int fragment_open_stored(struct lancet_version *version, uint64_t ordinal,
                         struct lancet_fragment **ret_fragment, struct lancet_error *err);

/* Counts of fragments whose manifest did not record them (old writers). Called while the fragment
 * is opened, with everything of info but the asked for count in place. */
/* Rows of the first data file (physical, deleted ones included). */
int fragment_physical_rows(struct lancet_fragment *fragment, uint64_t *ret_rows,
                           struct lancet_error *err);
/* Rows in the deletion file. */
int fragment_deleted_rows(struct lancet_fragment *fragment, uint64_t *ret_rows,
                          struct lancet_error *err);

#endif
