/* Row ids and versions that rows keep when they are rewritten, for one new fragment.
 *
 * Rows are told in the order of the new fragment; what is kept is encoded as it comes, so memory
 * follows the encoded size and not the rows. Each sequence then stays inline or becomes a hidden
 * column, as the table's config says: a table without stable row ids has none of them, one of
 * format 0.1 never spills, and what the commit assigns stays inline. Format facts: row ids and
 * versions, spilled sequences, what happens to sequences.
 */
#ifndef CORE_LINEAGE_OUT_H
#define CORE_LINEAGE_OUT_H

#include <lancet/column.h>
#include "util/buf.h"

struct Lance__Table__DataFragment;
struct lancet_change;

struct lineage_out {
	uint64_t rows;
	/* By enum lancet_lineage. */
	struct {
		bool present;        /* the fragment has it */
		bool spilled;        /* a hidden column of the data file, else inline */
		struct buf encoded;  /* RowIdSequence, or RowDatasetVersionSequence */
		uint64_t column_bytes; /* what its column would take, measured when it matters */
		void *state;         /* of encoding, until lineage_out_end */
	} sequences[3];
};

/* kinds: bits 1 << enum lancet_lineage of the sequences to make. */
int lineage_out_init(struct lineage_out *out, unsigned kinds, struct lancet_error *err);
void lineage_out_release(struct lineage_out *out);
/* The next rows: their values of one kind. Kinds may be told one after the other. */
int lineage_out_put(struct lineage_out *out, enum lancet_lineage which, const uint64_t *values,
	uint64_t count, struct lancet_error *err);
/* The next rows are those of a stored fragment at these offsets: all its sequences. CORRUPT: a
 * value that is missing or contradictory, never a default but where the format says so. */
struct lineage_source; /* columns of a fragment, opened once */
int lineage_source_open(lancet_fragment *fragment, struct lineage_source **ret_source,
	struct lancet_error *err);
void lineage_source_free(struct lineage_source *source);
int lineage_out_rows(struct lineage_out *out, struct lineage_source *source, uint64_t first,
	uint64_t count, const lancet_deletion *without, struct lancet_error *err);
int lineage_out_end(struct lineage_out *out, struct lancet_error *err);

/* Decides which of the outputs' sequences spill, by the config of the version: the reference's
 * rule, but what is smaller inline than as a column stays inline when it is under the limit. In the
 * outputs of one task each kind goes the same way where it can. */
int lineage_place(lancet_version *read, struct lineage_out *outs, size_t count, bool may_spill,
	struct lancet_error *err);
/* Values of a sequence again, for its hidden column. */
int lineage_out_read(const struct lineage_out *out, enum lancet_lineage which, uint64_t first,
	size_t count, uint64_t *values, struct lancet_error *err);
/* Sets the arms of the message: inline bytes (copied into the change's arena) or `column`. */
int lineage_out_store(const struct lineage_out *out, struct lancet_change *change,
	struct Lance__Table__DataFragment *fragment, struct lancet_error *err);

#endif
