/* Inside of a sequence, for the two ways through it: by row (sequence.c) and by value
 * (sequence_find.c). */
#ifndef CORE_SEQUENCE_PARTS_H
#define CORE_SEQUENCE_PARTS_H

#include <stdatomic.h>

#include "segment.h"

struct sequence_element;
struct sequence_ops;

#define SEQUENCE_GROUP_MAX 4096u /* encoded bytes of short elements that make one part */

struct sequence_part {
	uint64_t offset, size; /* in the source, tags included */
	uint64_t number;       /* of its first element */
	uint64_t length;       /* rows; 0 while its bitmap is uncounted */
	uint64_t rank_at;      /* an uncounted bitmap: place of its ranks behind the row numbers */
	struct sequence_element
		*lone; /* a long element, parsed; NULL: short ones, parsed by each read */
};

struct sequence {
	const struct sequence_ops *ops;
	struct source *src;
	uint64_t rows;
	bool whole; /* in memory, every element was looked at */
	struct sequence_part *parts;
	size_t part_count, part_capacity;
	uint64_t element_count;
	uint64_t known_rows;     /* of all but the uncounted bitmaps */
	uint64_t uncounted_span; /* most that the uncounted bitmaps can add */
	uint64_t rank_count;
	/* First rows of the parts, the row after the last part, then the ranks of bitmaps:
	 * part_count + 1 + rank_count cells. NULL until known. */
	_Atomic(uint64_t *) layout;
	_Atomic uint64_t decoded;
};

/* Makes the layout when it is not there yet. */
int sequence_layout(struct sequence *seq, const uint64_t **ret_layout, struct lancet_error *err);

/* One element with what reading it takes. False ends the walk. */
typedef bool (*sequence_visit_fn)(void *user, struct source *src,
	const struct sequence_element *element, const uint64_t *ranks, int *rc,
	struct lancet_error *err);
/* Visits the elements of a part in order. */
int sequence_visit(const struct sequence *seq, size_t part, const uint64_t *layout,
	sequence_visit_fn visit, void *user, struct lancet_error *err);

#endif
