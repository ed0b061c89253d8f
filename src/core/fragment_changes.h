/* Which columns of which fragments have got other files: what indices on them must forget.
 *
 * Notes of fragments that changed in the same columns are kept together, since most commits change
 * one column everywhere.
 */
#ifndef CORE_FRAGMENT_CHANGES_H
#define CORE_FRAGMENT_CHANGES_H

#include "draft.h"
#include "numbers.h"

/* Zeroed storage is ready for use. */
struct fragment_changes {
	struct arena fields_arena, fragments_arena;
	struct numbers fields, fragments;
	size_t capacity; /* of fragments */
};

/* Fields that `image` has in other files than `current`, or other overlays on; in the arena. */
int changed_fields(const struct Lance__Table__DataFragment *current,
	const struct Lance__Table__DataFragment *image, struct arena *arena,
	struct numbers *ret_fields, struct lancet_error *err);
/* `current` is about to become `image`. */
int changes_note(struct fragment_changes *changes, struct draft *draft,
	const struct Lance__Table__DataFragment *current,
	const struct Lance__Table__DataFragment *image, struct lancet_error *err);
/* What was noted and is left: to be called at the end. */
int changes_uncover(
	struct fragment_changes *changes, struct draft *draft, struct lancet_error *err);
void changes_release(struct fragment_changes *changes);

#endif
