/* What the segments of an index reach through the reuse history.
 *
 * A place is a fragment, live or in the history; places are numbered by id. A step is a transition
 * that is followed; steps are numbered in the order they are followed in. index_graph.c makes both
 * and walks bitmaps along the places; index_reach.c finds out by which rule they are followed, and
 * index_follow.c follows the fragments of one segment or of a whole index. A bitmap may name 2^32
 * ids in a few bytes, so the cost follows places and steps that are met, never the ids. Format
 * facts: coverage seen by readers, v0 writer contract.
 */
#ifndef CORE_INDEX_REACH_H
#define CORE_INDEX_REACH_H

#include "index_set.h"
#include "reuse.h"
#include "util/roaringx.h"

#define FRAGMENT_ID_END UINT32_MAX /* ids are below it */
#define FRAGMENT_IDS    (UINT64_C(1) << 32)
#define REACH_NO_STEP   UINT32_MAX
#define REACH_WORD_BITS 64u

enum place_mark {
	PLACE_LIVE = 1,      /* a fragment of the version */
	PLACE_MENTIONED = 2, /* of a transition that is followed */
	PLACE_DIRECT = 4,    /* a usable segment of the index names it */
	PLACE_REACHED = 8,   /* the same, or all sources of its transition are reached */
	/* Of the segment that is followed: */
	PLACE_NAMED = 16, /* its bitmap has it */
	PLACE_HELD = 32,  /* it answers for it at this step */
	PLACE_USED = 64,  /* it answers for a live fragment by way of it */
	PLACE_MET = 128,  /* it has or had one of these */
	/* Of all segments followed so far: */
	PLACE_COVERED = 256, /* live and held */
	PLACE_RETIRED = 512, /* named, not live, and used */
};

static inline bool
place_is_covered(uint16_t marks)
{
	return (marks & (PLACE_LIVE | PLACE_HELD)) == (PLACE_LIVE | PLACE_HELD);
}

static inline bool
place_is_retired(uint16_t marks)
{
	return (marks & (PLACE_LIVE | PLACE_NAMED | PLACE_USED)) == (PLACE_NAMED | PLACE_USED);
}

struct reach_step {
	uint32_t transition;
	bool open;                 /* all of its sources are reached */
	size_t first, middle, end; /* of its sources and destinations in reach_graph.ends */
};

struct reach_graph {
	uint32_t *ids; /* ascending */
	uint16_t *marks;
	uint32_t *consumers; /* the step that consumes it, or REACH_NO_STEP */
	size_t count;
	struct reach_step *steps;
	size_t step_count;
	uint32_t *ends;            /* places of sources and destinations */
	uint64_t work;             /* places visited and ends followed so far */
	roaring_bitmap_t *settled; /* live and not of the history; made when it is needed */
};

enum reach_order {
	REACH_LINEAGE, /* makers before consumers */
	REACH_STORED,  /* groups as a legacy history has them */
};

/* Transitions that have a fault are no steps: below a legacy entry, those that are not legacy.
 * reuse may be NULL: no steps. */
int reach_graph_make(const lancet_version *version, const struct lancet_reuse *reuse,
	enum reach_order order, struct reach_graph *ret_graph, struct lancet_error *err);
void reach_graph_release(struct reach_graph *graph);
/* What following may cost in all, so that many bitmaps of few bytes don't add up to hours. */
int reach_graph_check(const struct reach_graph *graph, struct lancet_error *err);

/* The first place from `from` on whose id is not below `id`. */
size_t reach_graph_find(const struct reach_graph *graph, size_t from, uint64_t id);

/* The bitmap of a segment. NOT_FOUND: it has none. LIMIT: it names more than `most` ids. */
int segment_bitmap_load(const struct lancet_index_segment *segment, uint64_t most,
	roaring_bitmap_t **ret_bitmap, struct lancet_error *err);

/* Places that are still to be met: next[i] is i for such a one, else leads to a later one. */
uint32_t *reach_graph_all(const struct reach_graph *graph, struct lancet_error *err);
static inline void
reach_close(uint32_t *next, size_t place)
{
	next[place] = (uint32_t)place + 1;
}

/* Visits each place that the bitmap names; those of `next` only unless it is NULL. */
typedef void (*place_visitor)(void *context, size_t place);
int reach_graph_visit(struct reach_graph *graph, const roaring_bitmap_t *bitmap, uint32_t *next,
	place_visitor visitor, void *context, struct lancet_error *err);

/* Whether the index files of the segment can be used after its fragments were rewritten. */
bool segment_translates(const struct lancet_index_segment *segment);
/* The same in a tagged history for its bitmap: a segment that doesn't translate loses all its
 * coverage with the first fragment that is no longer live, or that the history is about. */
int reach_graph_uses(struct reach_graph *graph, const struct lancet_index_segment *segment,
	const roaring_bitmap_t *bitmap, bool *ret_usable, struct lancet_error *err);

enum reach_rule {
	REACH_DIRECT, /* no history, or it is not about this index */
	REACH_LEGACY,
	REACH_TAGGED,
	REACH_NOTHING, /* a history that is not understood: nothing is covered */
};

struct index_reach {
	const struct lancet_index *index;
	enum reach_rule rule;
	struct reach_graph graph;
	uint32_t *next; /* NULL but while all segments are followed */
	uint32_t *met;  /* places that are PLACE_MET */
	size_t met_count;
	uint32_t *done; /* steps that were followed, ascending */
	size_t done_count;
	uint64_t *pending;                 /* a bit for each step that is to be followed */
	size_t pending_first, pending_end; /* words with bits */
};

/* CORRUPT: a history that contradicts itself, or a damaged bitmap that counts for the others. Else
 * the errors of lancet_version_reuse. */
int index_reach_open(lancet_version *version, const struct lancet_index *index,
	struct index_reach **ret_reach, struct lancet_error *err);
void index_reach_free(struct index_reach *reach);
/* Sets the marks of what the segment answers for, or of all segments (NULL). NOT_FOUND: the
 * coverage of one is unknown. */
int index_reach_follow(struct index_reach *reach, const struct lancet_index_segment *segment,
	struct lancet_error *err);
/* Visits the places of one segment, none when it is not usable. */
int index_reach_visit(struct index_reach *reach, const struct lancet_index_segment *segment,
	uint32_t *next, place_visitor visitor, void *context, struct lancet_error *err);

#endif
