/* A sequence of per-row values kept as an encoded message: row ids, or the versions rows were made
 * in.
 *
 * The message is a list of elements, each for a run of rows. It stays in its source: opening walks
 * the heads of the elements once and remembers one `part` for each long element or for each 4 KiB
 * of short ones, so millions of short runs cost little memory and a read decodes only the parts it
 * touches. Bitmaps are counted on first use (their length is not in their head). Up to 64 KiB are
 * held and checked whole at once; in longer ones the order of elements is checked where they are
 * read. Immutable and safe to read from many threads: the counts are published by compare-and-swap.
 * Format facts: RowIdSequence, version sequences.
 */
#ifndef CORE_SEQUENCE_H
#define CORE_SEQUENCE_H

#include "segment.h"

struct sequence;

/* One element of the message. */
struct sequence_element {
	struct segment segment; /* the values; of a version run only its length counts */
	uint64_t version;
};

/* What the two kinds of sequences do differently. */
struct sequence_ops {
	const char *unit; /* of one element in messages: "segment", "run" */
	bool strict;      /* fields of the list other than 1 are corrupt, not skipped */
	int (*parse)(struct source *src, uint64_t offset, uint64_t size,
		struct sequence_element *ret_element, struct lancet_error *err);
	int (*validate)(struct source *src, const struct sequence_element *element,
		struct lancet_error *err);
	int (*read)(struct source *src, const struct sequence_element *element,
		const uint64_t *ranks, uint64_t first, size_t count, uint64_t *values,
		uint64_t *decoded, struct lancet_error *err);
};

extern const struct sequence_ops rowids_ops;
extern const struct sequence_ops row_versions_ops;

/* src holds the message and nothing else; the sequence takes a reference. LANCET_CORRUPT: damaged,
 * or not `rows` values long (with a long bitmap the exact length is found out by the first read).
 */
LANCET_MUST_CHECK int sequence_open(const struct sequence_ops *ops, struct source *src,
	uint64_t rows, struct sequence **ret_sequence, struct lancet_error *err);
void sequence_free(struct sequence *seq);
/* values[i] = the value of row first + i; LANCET_INVALID unless first + count <= rows. */
LANCET_MUST_CHECK int sequence_read(struct sequence *seq, uint64_t first, size_t count,
	uint64_t *values, struct lancet_error *err);
/* Elements decoded by all reads so far, looked-at neighbours included: what the bound on a read is
 * held to. */
uint64_t sequence_decoded(const struct sequence *seq);

/* A search for values: rows by id. */
struct sequence_search {
	const uint64_t *wanted; /* ascending, each once */
	size_t count;
	/* A row whose value is wanted[index]; what it returns other than LANCET_OK ends the
	 * search. */
	int (*found)(void *user, uint64_t row, size_t index, struct lancet_error *err);
	void *user;
};

/* Tells all rows that have a wanted value. Ranges cost a look-up, and what lies in a segment that
 * no wanted value can be in is not decoded. */
LANCET_MUST_CHECK int sequence_find(
	struct sequence *seq, const struct sequence_search *search, struct lancet_error *err);
/* The same for values at hand, which are those of rows from `row` on; of values that `ascend` few
 * are looked at. */
LANCET_MUST_CHECK int sequence_search_values(const struct sequence_search *search, uint64_t row,
	const uint64_t *values, size_t count, bool ascend, struct lancet_error *err);

#endif
