/* What the builders of changes share: memory of the message, names of fields, fragments as stored.
 */
#ifndef CORE_CHANGE_BUILD_H
#define CORE_CHANGE_BUILD_H

#include "change.h"
#include "util/buf.h"

#include <protobuf-c/protobuf-c.h>

struct Lance__Table__DataFragment;

/* Zeroed memory in change->arena for one message or a list; NULL, err filled. */
void *change_alloc(lancet_change *change, size_t count, size_t size, struct lancet_error *err);
/* A copy; NULL text: an empty one. */
int change_text(lancet_change *change, const char *text, ProtobufCBinaryData *ret_text,
	struct lancet_error *err);

/* Of what was written into `text`, which is released. */
int change_predicate(lancet_change *change, struct buf *text, ProtobufCBinaryData *ret_text,
	struct lancet_error *err);

/* Frees the change when the building of its message failed; hands it over otherwise. */
int change_built(lancet_change *change, int rc, lancet_change **ret_change);
/* The same for a change of so many rows; one of none is freed, *ret_change is NULL. */
int change_built_rows(lancet_change *change, int rc, uint64_t rows, lancet_change **ret_change);

/* Asks and tells of a long change; `run` and its functions may be NULL. */
int change_check_cancelled(const struct lancet_change_run *run, struct lancet_error *err);
void change_tell_rows(const struct lancet_change_run *run, uint64_t done, uint64_t total);

/* The place in the version's list of fields of the one with this name or dotted path. A name that
 * holds dots itself is found too: the longest name that fits is tried first. NOT_FOUND. `parents`
 * is of schema_parents. */
int change_find_field(lancet_version *version, const size_t *parents, const char *path,
	size_t *ret_place, struct lancet_error *err);

#endif
