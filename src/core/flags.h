/* Which manifests this build reads, by their feature flags. Format facts: feature flags. */
#ifndef CORE_FLAGS_H
#define CORE_FLAGS_H

#include <lancet/version.h>

#define FLAG_STABLE_ROW_IDS (UINT64_C(1) << 1)
#define FLAG_V2_FORMAT      (UINT64_C(1) << 2)
#define FLAG_BASE_PATHS     (UINT64_C(1) << 4)

/* UNSUPPORTED names every reader flag that is not understood. CORRUPT: a flag that must be in
 * both words is in one, or a writer's flag is in the reader's word. Writer flags we don't know
 * are no reason to refuse. */
int flags_check_readable(uint64_t reader, uint64_t writer, struct lancet_error *err);

#endif
