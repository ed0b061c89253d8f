/* A text map of the manifest with some entries changed: config, metadata. */
#ifndef CORE_DRAFT_MAP_H
#define CORE_DRAFT_MAP_H

#include "draft.h"
#include "util/slice.h"

struct Lance__File__StringEntry;

struct map_change {
	struct slice key, value; /* borrowed; value is not looked at when it deletes */
	bool deletes;
};

/* The list gets a changed copy in the draft's arena. Of several changes of a key the last one
 * counts; keys keep their places, new ones come behind. `replace`: none of the old entries stays.
 * INVALID: text that is not UTF-8, which would make the manifest unreadable. */
int draft_map_change(struct draft *draft, struct Lance__File__StringEntry ***list, size_t *count,
	const struct map_change *changes, size_t change_count, bool replace,
	struct lancet_error *err);
/* The same with all entries of a message. */
int draft_map_put(struct draft *draft, struct Lance__File__StringEntry ***list, size_t *count,
	struct Lance__File__StringEntry *const *entries, size_t entry_count, bool replace,
	struct lancet_error *err);

#endif
