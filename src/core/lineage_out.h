/* Row ids and versions that rows keep when they are rewritten, for one new fragment.
 *
 * Rows are told in the order of the new fragment; their values are kept in few bits until
 * lineage_place decides, for each sequence, whether it stays inline or becomes a hidden column of
 * the fragment's data file, as the table's config says: a table without stable row ids has none of
 * them, one of format 0.1 never spills, and what the commit assigns stays inline.
 *
 *     lineage_out_init(&out, lineage_kinds(read), err);
 *     lineage_out_rows(&out, source, 0, rows, deletion, err);   or lineage_out_put, for each kind
 *     lineage_out_end(&out, err);
 *     lineage_place(read, outs, count, true, err);
 *     fragment_writer_open(change, &out, …);   … fragment_writer_finish: reads what is spilled
 *     lineage_out_release(&out);
 *
 * Format facts: row ids and versions, spilled sequences, what happens to sequences.
 */
#ifndef CORE_LINEAGE_OUT_H
#define CORE_LINEAGE_OUT_H

#include <lancet/column.h>
#include "lineage_pack.h"
#include "util/buf.h"

struct Lance__Table__DataFragment;
struct lancet_change;

#define LINEAGE_KINDS 3u /* enum lancet_lineage */

struct lineage_out {
	uint64_t rows; /* after lineage_out_end */
	/* By enum lancet_lineage. */
	struct lineage_sequence {
		bool present;             /* the fragment has it */
		bool spilled;             /* a hidden column of the data file, else inline */
		struct lineage_pack pack; /* the values; after placing only those to spill */
		/* RowIdSequence, or RowDatasetVersionSequence: of what stays inline, once placed.
		 */
		struct buf encoded;
	} sequences[LINEAGE_KINDS];
};

/* Bits 1 << enum lancet_lineage of the sequences that fragments of the version have: all, or none
 * without stable row ids. */
unsigned lineage_kinds(const lancet_version *version);

/* kinds: the sequences to make. */
int lineage_out_init(struct lineage_out *out, unsigned kinds, struct lancet_error *err);
void lineage_out_release(struct lineage_out *out);
/* The next rows: their values of one kind. Kinds may be told one after the other. */
int lineage_out_put(struct lineage_out *out, enum lancet_lineage which, const uint64_t *values,
	uint64_t count, struct lancet_error *err);

/* The columns of a stored fragment, opened once. Safe to read from many threads. CORRUPT: a value
 * that is missing or contradictory, never a default but where the format says so. */
struct lineage_source;
int lineage_source_open(
	lancet_fragment *fragment, struct lineage_source **ret_source, struct lancet_error *err);
void lineage_source_free(struct lineage_source *source);
/* values[i] = that of row first + i. */
int lineage_source_read(const struct lineage_source *source, enum lancet_lineage which,
	uint64_t first, size_t count, uint64_t *values, struct lancet_error *err);
/* The next rows are those of a stored fragment at these offsets, but for the ones `without` has
 * (NULL: none of them is left out): all sequences of `out`. */
int lineage_out_rows(struct lineage_out *out, const struct lineage_source *source, uint64_t first,
	uint64_t count, const lancet_deletion *without, struct lancet_error *err);
/* INVALID: sequences of different lengths. */
int lineage_out_end(struct lineage_out *out, struct lancet_error *err);

/* Decides which of the outputs' sequences spill, by the config of the version, and encodes those
 * that stay; needed before an output is written, also where nothing spills. The reference's rule:
 * what is longer inline than the limit spills. Beside such a one in another output of the task,
 * what is under the limit spills, too, unless it is smaller inline than as a column. INVALID: the
 * config holds no number. */
int lineage_place(lancet_version *read, struct lineage_out *outs, size_t count, bool may_spill,
	struct lancet_error *err);
/* Values of a sequence that spills, for its hidden column. */
int lineage_out_read(const struct lineage_out *out, enum lancet_lineage which, uint64_t first,
	size_t count, uint64_t *values, struct lancet_error *err);
/* Sets the arms of the message: inline bytes (copied into the change's arena) or `column`. The
 * caller holds the change's lock where others write at the same time. */
int lineage_out_store(const struct lineage_out *out, struct lancet_change *change,
	struct Lance__Table__DataFragment *fragment, struct lancet_error *err);

#endif
