/* Fragments that a transaction brings: whether their messages are sound.
 *
 * That the files exist and hold what is said is for who made the change; what must hold of every
 * fragment, for draft_finish. Format facts: fragments, files, deletion files.
 */
#ifndef CORE_FRAGMENT_CHECKS_H
#define CORE_FRAGMENT_CHECKS_H

#include "draft.h"
#include "numbers.h"

struct Lance__File__Field;
struct Lance__Table__DataFile;

/* Field ids that data files may name: those of the version that was read and of the one that is
 * followed, and `fields`, the schema that the operation brings. CONFLICT: an id meant another type
 * of field when the transaction was built. */
int checks_fields(struct draft *draft, struct Lance__File__Field *const *fields, size_t count,
	struct numbers *ret_ids, struct lancet_error *err);
/* Fields of a new schema, where field ids are never given twice: those that are not of the schema
 * before (`kept`; without it none is) are above the mark. CONFLICT: one is not. */
int checks_new_fields(const struct draft *draft, struct Lance__File__Field *const *fields,
	size_t count, bool kept, struct lancet_error *err);
/* The fields by id; the caller frees the list. */
int fields_by_id(struct Lance__File__Field *const *fields, size_t count,
	const struct Lance__File__Field ***ret_sorted, struct lancet_error *err);
/* NULL when that list has none. */
const struct Lance__File__Field *field_with_id(
	const struct Lance__File__Field *const *sorted, size_t count, int32_t id);
/* Raises that mark over the fields that the draft has. */
void fields_raise_mark(struct draft *draft);

/* The place of a fragment that the message names. INVALID: it is not there (any more). */
int checks_place(
	const struct draft *draft, uint64_t id, size_t *ret_place, struct lancet_error *err);
/* A data file that may have columns of these fields. */
int checks_file(const struct draft *draft, const struct Lance__Table__DataFile *file,
	const struct numbers *field_ids, struct lancet_error *err);
/* A new fragment. INVALID or CORRUPT names what is wrong. */
int checks_new(const struct draft *draft, const struct Lance__Table__DataFragment *fragment,
	const struct numbers *field_ids, struct lancet_error *err);
/* The image of a fragment whose rows stay: what it says instead of `current`. Files that `current`
 * has are not looked at again. */
int checks_image(const struct draft *draft, const struct Lance__Table__DataFragment *image,
	const struct Lance__Table__DataFragment *current, const struct numbers *field_ids,
	struct lancet_error *err);
/* The image's deletion file may take the place of that of `current`: no row comes back. *ret_whole
 * says that none is left. */
int checks_deletion(const struct draft *draft, const struct Lance__Table__DataFragment *image,
	const struct Lance__Table__DataFragment *current, bool *ret_whole,
	struct lancet_error *err);

#endif
