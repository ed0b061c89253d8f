/* Writing the files of tags and branches, the way the reference writes them. Format facts: tags,
 * branches.
 *
 * A file is edited as a whole: keys that we don't know stay where they are, with their values.
 */
#ifndef CORE_REF_WRITE_H
#define CORE_REF_WRITE_H

#include "refs.h"
#include "util/buf.h"

/* Members of an object, added behind the others or set in their place. NO_MEMORY. A NULL text is
 * null. */
int ref_set_text(
	struct json_object *object, const char *key, const char *text, struct lancet_error *err);
int ref_set_u64(
	struct json_object *object, const char *key, uint64_t value, struct lancet_error *err);
/* Takes `value`, which may be NULL when there was no memory for it. */
int ref_set_object(struct json_object *object, const char *key, struct json_object *value,
	struct lancet_error *err);

/* The object as a file: two-space indent, no line break at its end. UNSUPPORTED: it holds a number
 * beyond 64 bits, which would not stay what it is. */
int ref_render(struct json_object *root, struct buf *out, struct lancet_error *err);

/* Publishes the object as a new file; EXISTS. Durable when it returns. */
int ref_create(
	struct store *store, const char *key, struct json_object *root, struct lancet_error *err);
/* In the place of the file that looked like *seen when it was read. BUSY when that has changed in
 * the meantime: it is to be read again. */
int ref_replace(struct store *store, const char *key, struct json_object *root,
	const struct stat *seen, struct lancet_error *err);
/* Removes the file, durably. NOT_FOUND. */
int ref_remove(struct store *store, const char *key, struct lancet_error *err);

/* Whether the file is still the one that was seen; false when it is gone. */
bool ref_is_unchanged(struct store *store, const char *key, const struct stat *seen);

/* The time now as refs hold it, RFC 3339 with nanoseconds, `later` seconds from now. False when
 * that is beyond the year 9999. */
bool ref_time(uint64_t later, char into[31]);

#endif
