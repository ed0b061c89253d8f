/* Index entries of a draft: which one, of what kind, over which fragments.
 *
 * Bitmaps that are stored are run-optimised, and that of an index over nothing is the eight bytes
 * of an empty set: no bytes at all would mean that the coverage is not known. Format facts:
 * IndexMetadata.
 */
#ifndef CORE_DRAFT_INDEX_H
#define CORE_DRAFT_INDEX_H

#include <protobuf-c/protobuf-c.h>

#include "draft.h"
#include "reuse.h"
#include "util/roaringx.h"

struct Lance__Table__UUID;

/* Of the table itself: "__lance_…". */
bool index_entry_is_system(const struct Lance__Table__IndexMetadata *entry);
/* Its files hold row addresses; those of all others hold row ids where the table has them. */
bool index_entry_holds_addresses(const struct Lance__Table__IndexMetadata *entry);

/* Gives the entry a fresh UUID and the time of now: its content is another one. */
int index_entry_renew(
	struct draft *draft, struct Lance__Table__IndexMetadata *entry, struct lancet_error *err);

/* The place of the entry with this UUID, not removed; SIZE_MAX. draft_indices was called. */
size_t draft_index_find(const struct draft *draft, const struct Lance__Table__UUID *uuid);
/* The same by name: the first one of that name. */
size_t draft_index_named(const struct draft *draft, const char *name);

/* Fragments of the entry's bitmap; NULL: not known. Freed by the caller. */
int draft_index_fragments(const struct draft *draft, size_t place, roaring_bitmap_t **ret_fragments,
	struct lancet_error *err);
/* Stores the set, which is optimised, as the entry's bitmap. */
int draft_index_store(
	struct draft *draft, size_t place, roaring_bitmap_t *fragments, struct lancet_error *err);
/* The bytes of a set, in the draft's arena. */
int draft_set_bytes(struct draft *draft, roaring_bitmap_t *set, ProtobufCBinaryData *ret_bytes,
	struct lancet_error *err);
/* Fragments of the draft that are not removed; freed by the caller. */
int draft_live(const struct draft *draft, roaring_bitmap_t **ret_live, struct lancet_error *err);

/* The version has an entry of a tagged reuse history, or is of a table that had one. */
bool draft_has_tagged_entry(const struct draft *draft);
bool draft_is_tagged(const struct draft *draft);
/* The reuse history of the version that the entries are from; *ret_reuse is NULL without one. Fails
 * as lancet_version_reuse does. */
int draft_reuse(struct draft *draft, lancet_reuse **ret_reuse, struct lancet_error *err);
/* Loads the entries, and in a legacy history names in their bitmaps the fragments that old ones
 * became, as every reader does: from there on ids are taken away from what is live. CORRUPT: a
 * history that contradicts itself. */
int draft_index_follow(struct draft *draft, struct lancet_error *err);

#endif
