/* The rows of a version for which a condition is true, fragment by fragment.
 *
 * Reads only the columns that the condition looks at, a batch at a time. Belongs to one thread.
 */
#ifndef CORE_ROW_FILTER_H
#define CORE_ROW_FILTER_H

#include "scan_state.h"

struct row_filter;

/* batch_bytes as in lancet_scan_options. INVALID: what is wrong with the condition and where. */
int row_filter_open(lancet_version *version, const char *where, size_t batch_bytes,
	struct row_filter **ret_filter, struct lancet_error *err);
void row_filter_free(struct row_filter *filter);
/* Goes to the beginning of a fragment. */
int row_filter_enter(struct row_filter *filter, uint64_t ordinal, struct lancet_error *err);
/* Adds those of the next batch of live rows to `matches`, in order; they may be none. *ret_end: it
 * was the last one of the fragment. */
int row_filter_next(struct row_filter *filter, struct scan_selection *matches, bool *ret_end,
	struct lancet_error *err);

#endif
