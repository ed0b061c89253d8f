/* The schema of a version, apart from its public form. */
#ifndef CORE_SCHEMA_H
#define CORE_SCHEMA_H

#include <lancet/version.h>

struct Lance__Table__Manifest;

/* CORRUPT unless each field's parent is an earlier field: with another order there is no tree,
 * and the version can't be opened. */
int schema_check(const struct Lance__Table__Manifest *manifest, struct lancet_error *err);

/* For each field the index of its parent, or the number of fields at the top level; the caller
 * frees. A parent id that several fields have means the first. CORRUPT as above. */
int schema_parents(const struct Lance__Table__Manifest *manifest, size_t **ret_parents,
                   struct lancet_error *err);

#endif
