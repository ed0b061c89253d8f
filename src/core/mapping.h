/* Inside of a row mapping: one face over survivors and row maps. */
#ifndef CORE_MAPPING_H
#define CORE_MAPPING_H

#include "reuse.h"
#include "rowmap.h"
#include "survivors.h"

/* As lancet_row_mapping_open, for those who come again and again: the row map stays open with the
 * history when the mapping is freed, and what was learned of its blocks, too. */
int mapping_open_kept(lancet_version *version, struct lancet_reuse *reuse, size_t transition,
	lancet_row_mapping **ret_mapping, struct lancet_error *err);
/* row_addrs[i] = where row rows[i] went, or LANCET_NO_ROW; rows ascend and are below source_rows.
 */
int mapping_locate(lancet_row_mapping *mapping, const uint64_t *rows, size_t count,
	uint64_t *row_addrs, struct lancet_error *err);
uint64_t mapping_labels_decoded(const lancet_row_mapping *mapping);

#endif
