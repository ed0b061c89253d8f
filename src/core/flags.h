/* Which manifests this build reads, and which it commits on, by their feature flags. Format facts:
 * feature flags. */
#ifndef CORE_FLAGS_H
#define CORE_FLAGS_H

#include <lancet/version.h>

#define FLAG_DELETION_FILES         (UINT64_C(1) << 0)
#define FLAG_STABLE_ROW_IDS         (UINT64_C(1) << 1)
#define FLAG_V2_FORMAT              (UINT64_C(1) << 2)
#define FLAG_TABLE_CONFIG           (UINT64_C(1) << 3)
#define FLAG_BASE_PATHS             (UINT64_C(1) << 4)
#define FLAG_DATA_OVERLAYS          (UINT64_C(1) << 6)
#define FLAG_COVERING_INDICES       (UINT64_C(1) << 7)
#define FLAG_MIXED_FILE_VERSIONS    (UINT64_C(1) << 8)
#define FLAG_TAGGED_REUSE           (UINT64_C(1) << 10)
#define FLAG_SPILLED_LINEAGE        (UINT64_C(1) << 11)
#define FLAG_MANAGED_BLOBS          (UINT64_C(1) << 14)
#define FLAG_NON_REUSABLE_FIELD_IDS (UINT64_C(1) << 15)

/* Flags that every version after one with them has; the first ones in both words. */
#define FLAGS_STICKY_READER (FLAG_MIXED_FILE_VERSIONS | FLAG_TAGGED_REUSE | FLAG_MANAGED_BLOBS)
#define FLAGS_STICKY_WRITER (FLAGS_STICKY_READER | FLAG_NON_REUSABLE_FIELD_IDS)

/* UNSUPPORTED names every reader flag that is not understood. CORRUPT: a flag that must be in
 * both words is in one, or a writer's flag is in the reader's word. Writer flags we don't know
 * are no reason to refuse. */
int flags_check_readable(uint64_t reader, uint64_t writer, struct lancet_error *err);
/* UNSUPPORTED names every writer flag that this build can't maintain: nothing may be committed on
 * such a version. */
int flags_check_writable(uint64_t writer, struct lancet_error *err);

#endif
