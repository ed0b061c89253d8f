/* Slots: which dataset and version an address is in, as 20 bits.
 *
 * A slot interns a key and is counted through the lookups of any node that carries it; when the
 * last one is forgotten it is reused with a new generation, as late as possible. The version behind
 * it comes and goes with the library's cache. The lock is written for a new slot and for a slot's
 * end only, and never held over I/O. Slot 0 is the tree's own root and is never reused.
 */
#ifndef FS_SLOTS_H
#define FS_SLOTS_H

#include <lancet/version.h>

enum slot_flavour {
	SLOT_TREE,     /* a dataset's or branch's root */
	SLOT_VERSION,  /* below versions/ */
	SLOT_CURRENT,  /* below current/: the same version has other nodes there */
	SLOT_DETACHED, /* below detached/ */
	SLOT_REF,      /* a tag, or a branch that can't be opened, by name */
};

struct slot_key {
	lancet_dataset *dataset; /* borrowed; the slot keeps a reference */
	uint64_t number;         /* version; 0 for trees and refs */
	enum slot_flavour flavour;
	const char *name; /* of a tag, a tag's file or a branch, else NULL; the slot keeps a copy */
};

struct slots;

/* The key of slot 0. NULL when there is no memory. */
struct slots *slots_new(const struct slot_key *root);
void slots_free(struct slots *slots);

/* The slot of this key, counted once. LANCET_LIMIT when 2^20 are in use. */
int slots_acquire(struct slots *slots, const struct slot_key *key, uint32_t *ret_slot,
	struct lancet_error *err);
/* More counts for a slot that is counted already. */
void slots_add(struct slots *slots, uint32_t slot, uint64_t lookups);
void slots_release(struct slots *slots, uint32_t slot, uint64_t lookups);
/* The key, with its own reference to the dataset (the caller drops it); name is borrowed for as
 * long as the slot is counted. False for a slot that is not in use. */
bool slots_get(
	struct slots *slots, uint32_t slot, struct slot_key *ret_key, uint32_t *ret_generation);
/* The slot of this key, not counted. False: it has none, so the kernel knows nothing of it. */
bool slots_find(struct slots *slots, const struct slot_key *key, uint32_t *ret_slot);
/* Every slot in use has a lower number. */
uint32_t slots_made(struct slots *slots);
/* How many slots are in use, and how many counts slot has; for tests. */
size_t slots_used(struct slots *slots);
uint64_t slots_lookups(struct slots *slots, uint32_t slot);

/* The version of a key. LANCET_CLEANED when it is gone by now. */
int slot_version(
	const struct slot_key *key, lancet_version **ret_version, struct lancet_error *err);

#endif
