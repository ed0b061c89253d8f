/* Removing old versions and what only they need, and setting aside what is broken.
 *
 * Format facts: cleanup; torn head. What is not fully understood is never removed, and a version
 * that can't be read stops the cleanup, since it can't be told what it needs.
 */
#ifndef LANCET_CLEANUP_H
#define LANCET_CLEANUP_H

#include "dataset.h"

struct lancet_cleanup_options {
	bool has_older_than;
	uint64_t older_than;      /* seconds; a version must be older to go */
	uint64_t keep;            /* at least so many of the newest versions stay; 0 = not given */
	const uint64_t *versions; /* only these may go; NULL = any */
	size_t version_count;
	/* Files that no version names, of any age, go too: only safe when nobody else writes. Else
	 * only those older than 7 days. */
	bool delete_unverified;
	bool (*cancelled)(void *context); /* may be NULL, as progress */
	void (*progress)(void *context, uint64_t done, uint64_t total, const char *unit);
	void *context;
};

enum lancet_cleanup_reason {
	LANCET_OLD_VERSION, /* the manifest of a version that goes */
	LANCET_UNREFERENCED, /* named by versions that go, and by none that stays */
	LANCET_ABANDONED,   /* named by no version at all */
	LANCET_TEMPORARY,   /* left by a writer that died */
};
struct lancet_cleanup_file {
	const char *path; /* below the directory of the dataset or branch */
	uint64_t bytes;
	enum lancet_cleanup_reason reason;
};

typedef struct lancet_cleanup lancet_cleanup;

/* Finds what would go; removes nothing. UNSUPPORTED: a version has a flag that this build must not
 * maintain. CORRUPT: a version can't be read. */
LANCET_API int lancet_cleanup_plan(lancet_dataset *dataset,
	const struct lancet_cleanup_options *options, lancet_cleanup **ret_cleanup,
	struct lancet_error *err);
LANCET_API void lancet_cleanup_free(lancet_cleanup *cleanup);
LANCET_API size_t lancet_cleanup_count(const lancet_cleanup *cleanup);
/* In the order of removing: files that are not needed any more, manifests last. */
LANCET_API const struct lancet_cleanup_file *lancet_cleanup_file(
	const lancet_cleanup *cleanup, size_t index);
/* Version numbers that go, ascending. */
LANCET_API const uint64_t *lancet_cleanup_versions(
	const lancet_cleanup *cleanup, size_t *ret_count);
/* Removes them. Before each version goes it is looked at once more whether a tag or a branch has
 * come to need it. *ret_removed, *ret_bytes: what did go; files that could not be removed are left,
 * and the first failure is returned at the end. CANCELLED leaves a sound dataset. */
LANCET_API int lancet_cleanup_run(lancet_cleanup *cleanup, uint64_t *ret_removed,
	uint64_t *ret_bytes, struct lancet_error *err);

/* Sets a newest manifest aside that can't be read, as NAME.torn: never removed, never in the way.
 * NOT_FOUND: the newest one is fine. *ret_name (allocated) is the new name. INVALID: it can be
 * framed and is no torn write but one of a later release, or damage elsewhere: not to be moved. */
LANCET_API int lancet_repair_torn_head(lancet_dataset *dataset, uint64_t *ret_version,
	char **ret_name, struct lancet_error *err);
/* The fragments of the newest version that have files which are gone or can't be opened, or whose
 * size is not what the manifest says; allocated. */
LANCET_API int lancet_repair_find_broken(lancet_dataset *dataset, uint64_t **ret_ids,
	size_t *ret_count, struct lancet_error *err);

#endif
