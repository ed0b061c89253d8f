/* Names of manifests, deletion files and refs, both ways. Format facts: manifest names. */
#ifndef CORE_NAMES_H
#define CORE_NAMES_H

#include <lancet/error.h>
#include "util/buf.h"
#include "util/slice.h"

enum manifest_scheme { MANIFEST_V1, MANIFEST_V2, MANIFEST_DETACHED };
#define MANIFEST_NAME_MAX 40
#define VERSION_DETACHED_BIT (UINT64_C(1) << 63)

/* False for anything that is no manifest name: temporary, stray, 21 digits, version 0, bit 63 set
 * without the 'd' of a detached version, … */
bool manifest_name_parse(const char *name, enum manifest_scheme *ret_scheme, uint64_t *ret_version);
void manifest_name_format(enum manifest_scheme scheme, uint64_t version,
                          char into[MANIFEST_NAME_MAX]);

/* "_deletions/{fragment}-{read_version}-{id}.arrow|bin" */
#define DELETION_PATH_MAX 96
void deletion_path_format(uint64_t fragment, uint64_t read_version, uint64_t id, bool is_bitmap,
                          char into[DELETION_PATH_MAX]);
/* 16 bytes to "xxxxxxxx-xxxx-…" (36 + NUL). */
void uuid_format(const uint8_t uuid[16], char into[37]);

/* Undoes %XX; false for a malformed one and for %00, and then appends nothing. */
bool percent_decode(struct slice text, struct buf *into);
/* The stem of a ref's file: '/' and all bytes beyond ASCII are percent-encoded. */
void ref_name_encode(struct slice name, struct buf *into);
bool tag_name_is_valid(struct slice name);
bool branch_name_is_valid(struct slice name);

#endif
