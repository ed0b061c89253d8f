/* Inside of a fragment reuse history, for the modules of core.
 *
 * reuse_details.c finds the encoded history, reuse_parse.c makes transitions of its records,
 * reuse_check.c holds each against itself and against the others, reuse_order.c puts them in
 * lineage order, reuse.c keeps the result with the version. Format facts: fragment reuse index.
 */
#ifndef CORE_REUSE_H
#define CORE_REUSE_H

#include <lancet/transition.h>
#include "util/arena.h"
#include "util/slice.h"
#include "version.h"

/* The name of the entry. */
#define REUSE_INDEX_NAME "__lance_frag_reuse"
bool index_is_reuse(struct lancet_bytes name);

struct reuse_needs;
struct reuse_survivors;

struct reuse_transition {
	struct lancet_transition info; /* first: the public handle points here */
	struct slice surviving;        /* ORDERED_COMPACTION: the stored treemap */
	bool has_row_map;              /* the record names one, whatever else it has */
	uint32_t fed_end;              /* none of its sources is made from this transition on */
	_Atomic(struct reuse_survivors *) survivors; /* made on first use: survivors.h */
};

/* A fragment and the transition that makes or consumes it. */
struct reuse_edge {
	uint32_t fragment;
	uint32_t transition;
	uint64_t first; /* rows of the fragments before it in the transition's list */
	uint32_t rows;  /* of its own */
};

#define REUSE_KEPT 16u
struct reuse_kept; /* a row map: mapping.c */
void reuse_kept_free(struct reuse_kept *kept);

struct lancet_reuse {
	struct lancet_reuse_info info;
	struct arena arena;                   /* of all below, and of the encoded history */
	struct slice content;                 /* the encoded history */
	struct reuse_transition *transitions; /* lineage order */
	/* By fragment. A fragment of several transitions, which contradict each other, is here once
	 * for each. */
	struct reuse_edge *made_by, *used_by;
	size_t made_count, used_count;
	/* Row maps that lancet_translate left open, by the transition modulo their number. */
	_Atomic(struct reuse_kept *) kept[REUSE_KEPT];
	/* lancet_reuse_needs, kept on first use: reuse_json.c */
	_Atomic(struct reuse_needs *) needs;
	/* The first transition's that contradicts itself or others (CORRUPT); its code is LANCET_OK
	 * when there is none. An unknown mapping alone is no such fault. */
	struct lancet_error fault;
};

void reuse_needs_free(struct reuse_needs *needs);

/* The encoded history of an entry, and where it came from. */
struct reuse_details {
	struct slice content; /* in the entry when it is inline, else in the arena */
	bool external;
	struct lancet_bytes path; /* as stored, in the entry's index directory */
	uint64_t offset, size;    /* as stored */
	const lancet_base *base;
	char *key; /* of the file in its base; in the arena */
};
/* CORRUPT: of another type, without content or with two, a hostile path, or a file that is cut;
 * IO (EIO): a file that is gone; LIMIT: more than a history may have. */
int reuse_details_load(lancet_version *version, const struct lancet_index_segment *entry,
	struct arena *arena, struct reuse_details *ret_details, struct lancet_error *err);

/* Decodes and checks an encoded history, which is copied. What is wrong with single records becomes
 * their fault. CORRUPT: the whole can't be decoded. UNSUPPORTED: index_version is not 0 or 1. */
int reuse_parse(struct slice content, int32_t index_version, struct lancet_reuse **ret_reuse,
	struct lancet_error *err);

/* Parts of the above, in this order. The first decodes: transitions in stored order, whose bytes
 * are borrowed from the content; the entry's index version counts. The others set faults, make the
 * lists of edges, and put the transitions in order. */
int reuse_parse_records(struct lancet_reuse *reuse, struct slice content, int32_t index_version,
	struct lancet_error *err);
int reuse_check(struct lancet_reuse *reuse, struct lancet_error *err);
int reuse_order(struct lancet_reuse *reuse, struct lancet_error *err);
/* A UUID in one of the spellings that the reference takes: hyphenated, that in braces or after
 * "urn:uuid:", or its digits alone. The file's directory is named as it is spelt. */
bool reuse_map_id_is_valid(struct lancet_bytes id);
/* Where the row map of that id lies below its base, allocated. CORRUPT: not one plain name. */
int reuse_map_path(struct lancet_bytes id, char **ret_path, struct lancet_error *err);
/* Gives the transition a fault, unless it has one that is as bad: CORRUPT counts more than
 * UNSUPPORTED. Text as of printf, the record's name is put before it. Fails with LIMIT. */
int reuse_fault(struct lancet_reuse *reuse, struct reuse_transition *transition,
	enum lancet_code code, struct lancet_error *err, const char *fmt, ...) LANCET_PRINTF(5, 6);
/* "legacy_versions[2].groups[0]", "transitions[5]". */
void reuse_record_name(const struct lancet_transition *transition, char into[64]);

/* The transition that consumes the fragment, or NULL. Of several, all with a fault, the first. */
struct reuse_transition *reuse_consumer(const struct lancet_reuse *reuse, uint64_t fragment);
/* The same with the rows of the fragment in it. */
const struct reuse_edge *reuse_used_by(const struct lancet_reuse *reuse, uint64_t fragment);

#endif
