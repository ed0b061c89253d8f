/* Removing old versions and what only they need, and setting aside what is broken.
 *
 * Format facts: cleanup; torn head. What is not fully understood is never removed, and a version
 * that can't be read stops the cleanup, since it can't be told what it needs. The newest version
 * stays, and so do tagged and pinned ones, those that branches were made from, detached ones, and
 * every file that a version of the dataset or of one of its branches names. Shallow clones that
 * lie elsewhere can't be seen from here: what they read must be tagged. Managed blobs stay.
 *
 * A plan takes about 60 bytes and the path of each file in the dataset's directory, however many
 * versions there are; each manifest is read once.
 */
#ifndef LANCET_CLEANUP_H
#define LANCET_CLEANUP_H

#include "dataset.h"

/* A version goes when all that is given agrees; with none of the three, when it is older than 14
 * days. */
struct lancet_cleanup_options {
	bool has_older_than;
	uint64_t older_than;      /* seconds; a version must be older to go */
	uint64_t keep;            /* at least so many of the newest versions stay; 0 = not given */
	const uint64_t *versions; /* only these may go, and they must be there; NULL = any */
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
 * maintain. CORRUPT: a version, a tag or a branch can't be read. NOT_FOUND: one of `versions` is
 * not there. CANCELLED. */
LANCET_API int lancet_cleanup_plan(lancet_dataset *dataset,
	const struct lancet_cleanup_options *options, lancet_cleanup **ret_cleanup,
	struct lancet_error *err);
LANCET_API void lancet_cleanup_free(lancet_cleanup *cleanup);
LANCET_API size_t lancet_cleanup_count(const lancet_cleanup *cleanup);
/* In the order of removing: what no version names; then version by version, oldest first, the
 * files that it is the last one to name, and its manifest. */
LANCET_API const struct lancet_cleanup_file *lancet_cleanup_file(
	const lancet_cleanup *cleanup, size_t index);
/* Version numbers that go, ascending. */
LANCET_API const uint64_t *lancet_cleanup_versions(
	const lancet_cleanup *cleanup, size_t *ret_count);
/* Removes them. Before each version goes it is looked at once more whether a tag, a branch or a
 * newer version has come to need it or its files. *ret_removed, *ret_bytes: what did go, set in any
 * case; files that could not be removed are left, with the manifest of their version, and the first
 * failure is returned at the end. Whenever it ends, versions that it has not come to are whole. */
LANCET_API int lancet_cleanup_run(lancet_cleanup *cleanup, uint64_t *ret_removed,
	uint64_t *ret_bytes, struct lancet_error *err);

/* Sets a newest manifest aside that can't be read, as NAME.torn: never removed, never in the way.
 * NOT_FOUND: the newest one is fine. *ret_name (allocated) is the new name. INVALID: it can be
 * framed and is no torn write but one of a later release, or damage elsewhere: not to be moved. */
LANCET_API int lancet_repair_torn_head(lancet_dataset *dataset, uint64_t *ret_version,
	char **ret_name, struct lancet_error *err);
/* The fragments of the newest readable version that have files which are gone or can't be opened,
 * or whose size is not what the manifest says, or that can't be decoded themselves; allocated. A
 * file that can't be reached for another reason (its base is gone, no permission) ends the search
 * with that failure: nothing may be dropped for it. */
LANCET_API int lancet_repair_find_broken(lancet_dataset *dataset, uint64_t **ret_ids,
	size_t *ret_count, struct lancet_error *err);

#endif
