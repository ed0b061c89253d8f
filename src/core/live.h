/* Inside of a version's list of live files. */
#ifndef CORE_LIVE_H
#define CORE_LIVE_H

#include <lancet/live.h>
#include "util/arena.h"
#include "version.h"

/* Found once for a version, and kept with it. Texts lie in the arena. */
struct live_files {
	struct arena arena;
	struct lancet_live_file *files; /* by path; unsorted while it is built */
	size_t count, capacity;
	bool elsewhere; /* a file lies in another base */
	bool rewritten; /* the manifest names a base, a branch or flag bit 4 */
};

/* What a caller holds: the files, and the tag files of this moment. */
struct lancet_live {
	int refs;                 /* atomic */
	lancet_version *version;  /* every reference but the slot's own counts one on it */
	const struct live_files *files;
	struct live_files tags;
};

/* Adds a file; path and source_path are copied unless they are the same text. */
int live_add(struct live_files *files, const struct lancet_live_file *file,
             struct lancet_error *err);
/* Row maps and external details of the reuse history (live_reuse.c). */
int live_add_reuse(struct live_files *files, lancet_version *version, struct lancet_error *err);
/* Blob sidecars of the data files found so far, and managed blobs (live_blobs.c). */
int live_add_blobs(struct live_files *files, lancet_version *version, struct lancet_error *err);
/* All of them, sorted (live_files.c). */
int live_files_find(struct live_files *files, lancet_version *version, struct lancet_error *err);

#endif
