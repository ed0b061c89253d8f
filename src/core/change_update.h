/* Inside of building an Update: the rows, their lineage, and the fragments they are written to. */
#ifndef CORE_CHANGE_UPDATE_H
#define CORE_CHANGE_UPDATE_H

#include "change_build.h"
#include "fragment_write.h"
#include "predicate.h"
#include "row_picks.h"
#include "scan_state.h"

struct updating {
	const struct lancet_change_run *run;
	lancet_change *change;
	lancet_scan *scan; /* of all columns; blobs as their bytes */
	struct assignments *assignments;
	struct row_picks picks;
	struct lineage_out *outs; /* one for each new fragment */
	size_t out_count;
	bool has_lineage; /* false: rows have no ids of their own */
	struct Lance__Table__DataFragment **fragments; /* new ones */
};

/* change_update_lineage.c: ids and created-at of all rows, in their order. */
int update_lineage(struct updating *updating, struct lancet_error *err);
/* change_update_rows.c: fills updating->fragments. */
int update_rows(struct updating *updating, struct lancet_error *err);

#endif
