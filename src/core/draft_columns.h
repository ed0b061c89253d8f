/* Columns of a draft's fragments that get other values: what has the old ones is put out of use. */
#ifndef CORE_DRAFT_COLUMNS_H
#define CORE_DRAFT_COLUMNS_H

#include "draft.h"
#include "numbers.h"

struct Lance__Table__DataFragment;

#define FIELD_TOMBSTONE (-2)

/* The values that overlays committed up to that version have for the fields; an overlay without
 * others goes. The fragment is one of draft_edit. */
void columns_bury_overlays(struct Lance__Table__DataFragment *fragment,
	const struct numbers *fields, uint64_t committed_version);
/* The same for data files, which stay: draft_finish drops those without columns. */
void columns_bury_files(struct Lance__Table__DataFragment *fragment, const struct numbers *fields);
/* Fields of the list that some data file of the fragment has. */
size_t columns_count(
	const struct Lance__Table__DataFragment *fragment, const struct numbers *fields);

#endif
