/* The messages of a version's fragments, decoded from its manifest. */
#ifndef CORE_FRAGMENT_STORED_H
#define CORE_FRAGMENT_STORED_H

#include <lancet/version.h>
#include "util/arena.h"

struct Lance__Table__DataFragment;

/* Fields that hold sequences themselves. */
enum fragment_inline_field {
	FRAGMENT_INLINE_ROW_IDS = 5,
	FRAGMENT_INLINE_LAST_UPDATED = 7,
	FRAGMENT_INLINE_CREATED = 9,
};

/* The fragment at a place of the version, in the arena. CORRUPT: it can't be decoded. */
int fragment_stored(const lancet_version *version, uint64_t ordinal, struct arena *arena,
	struct Lance__Table__DataFragment **ret_message, struct lancet_error *err);
/* The same without inline row ids and versions, which may be long and are not read. */
int fragment_stored_bare(const lancet_version *version, uint64_t ordinal, struct arena *arena,
	struct Lance__Table__DataFragment **ret_message, struct lancet_error *err);

#endif
