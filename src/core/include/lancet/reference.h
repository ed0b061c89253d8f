/* Making, moving and removing tags, pins and branches. Format facts: tags, branches, clone.
 *
 * All of them lie under the root of the dataset. Reading them: refs.h.
 */
#ifndef LANCET_REFERENCE_H
#define LANCET_REFERENCE_H

#include "dataset.h"

/* `dataset` is the branch (or main) whose version the tag names. INVALID: not a name for a tag
 * (letters beyond ASCII are none here: the reference can't list tags that have them); EXISTS;
 * NOT_FOUND: no such version. Durable when it returns. */
LANCET_API int lancet_tag_create(
	lancet_dataset *dataset, const char *name, uint64_t version, struct lancet_error *err);
/* Keeps createdAt, metadata and keys we don't know. NOT_FOUND: no such tag, or version. BUSY:
 * others moved it all the time. */
LANCET_API int lancet_tag_move(
	lancet_dataset *dataset, const char *name, uint64_t version, struct lancet_error *err);
LANCET_API int lancet_tag_delete(
	lancet_dataset *dataset, const char *name, struct lancet_error *err);

/* A pin: a tag "lancefs-pin-NAME" whose metadata holds "lancefs.expires" (RFC 3339). `ttl` in
 * seconds. Creating one that is there renews it. EXISTS: a tag of that name that is no pin. */
#define LANCET_PIN_PREFIX "lancefs-pin-"
LANCET_API int lancet_pin_create(lancet_dataset *dataset, const char *name, uint64_t version,
	uint64_t ttl, struct lancet_error *err);
LANCET_API int lancet_pin_delete(
	lancet_dataset *dataset, const char *name, struct lancet_error *err);
/* Removes pins whose time is over; *ret_removed (may be NULL) is how many. */
LANCET_API int lancet_pins_expire(
	lancet_dataset *dataset, size_t *ret_removed, struct lancet_error *err);

/* A branch from a version of `dataset`: a shallow clone in tree/NAME, then the branch's file.
 * `message` (NULL: none) is kept in its transaction. The clone names the dataset by the path it was
 * opened with, made absolute: others find files of the branch, and keep them from their cleanup, by
 * that text. EXISTS: the name, or a directory that is part of another branch, is taken, or holds
 * something that is no branch; deleting the branch removes that. */
LANCET_API int lancet_branch_create(lancet_dataset *dataset, const char *name, uint64_t version,
	const char *message, struct lancet_error *err);
/* Branches below it by name ("a/b" of "a") stay. BUSY: a branch made from it, or a tag on it, is
 * still there; the text names them. After a failure that left its directory, call it again. */
LANCET_API int lancet_branch_delete(
	lancet_dataset *root, const char *name, struct lancet_error *err);

#endif
