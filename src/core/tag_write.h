/* What tags and pins share when they are written. */
#ifndef CORE_TAG_WRITE_H
#define CORE_TAG_WRITE_H

#include <lancet/reference.h>
#include "ref_write.h"

/* A new tag, whose metadata is `metadata` (taken, may be NULL: none). As lancet_tag_create. */
int tag_create_with(lancet_dataset *dataset, const char *name, uint64_t version,
	struct json_object *metadata, struct lancet_error *err);

/* Changes the file of a tag; EXISTS, or any other failure, leaves it as it is. */
typedef int (*tag_edit)(void *context, struct json_object *root, struct lancet_error *err);
/* Edits what the file holds now; again when somebody else was faster. NOT_FOUND. */
int tag_change(lancet_dataset *dataset, const char *name, tag_edit edit, void *context,
	struct lancet_error *err);
/* Points a tag's file at the version: "branch", "version", "updatedAt", "manifestSize". NOT_FOUND:
 * no such version. */
int tag_set_version(lancet_dataset *dataset, struct json_object *root, uint64_t version,
	struct lancet_error *err);

#endif
