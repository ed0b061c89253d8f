/* A dataset: one root directory (or one branch of it) with its versions.
 *
 * Format facts: directory layout, manifest names, finding the latest version. A dataset handle is
 * safe to share between threads. Nothing here writes. Looking at a directory never opens a manifest
 * unless the function says so.
 */
#ifndef LANCET_DATASET_H
#define LANCET_DATASET_H

#include <stdbool.h>
#include <sys/stat.h>

#include "bytes.h"
#include "error.h"

typedef struct lancet_dataset lancet_dataset;
typedef struct lancet_version lancet_version;
typedef struct lancet_base lancet_base;

struct lancet_dataset_options {
	uint64_t cache_bytes;      /* budget of decoded metadata; 0 = 256 MiB */
	const char *const *follow; /* NULL or NULL-ended: absolute directories that symbolic links
				    * of the dataset may lead to */
};

/* Opens the dataset at `path`. LANCET_NOT_FOUND: no such path, or a directory without _versions/
 * and manifest names ("not a dataset"). options may be NULL. The caller owns one reference. */
LANCET_API int lancet_dataset_open(const char *path, const struct lancet_dataset_options *options,
	lancet_dataset **ret_dataset, struct lancet_error *err);
/* Opens branch `name` (as stored, '/' unescaped) below the same root; NOT_FOUND when no branch file
 * has it, CORRUPT when its file or directory is damaged. Branch handles are interned: two calls
 * give the same. */
LANCET_API int lancet_dataset_branch(lancet_dataset *root, struct lancet_bytes name,
	lancet_dataset **ret_branch, struct lancet_error *err);
LANCET_API lancet_dataset *lancet_dataset_ref(lancet_dataset *dataset);
LANCET_API void lancet_dataset_unref(lancet_dataset *dataset);
/* The branch's name; empty for main. */
LANCET_API struct lancet_bytes lancet_dataset_branch_name(const lancet_dataset *dataset);
/* Attributes of the root directory and of _versions/. */
LANCET_API int lancet_dataset_stat(
	lancet_dataset *dataset, struct stat *ret_stat, struct lancet_error *err);
LANCET_API int lancet_dataset_versions_stat(
	lancet_dataset *dataset, struct stat *ret_stat, struct lancet_error *err);
/* Free space of the backing file system, as statvfs(3). */
struct statvfs;
LANCET_API int lancet_dataset_statvfs(
	lancet_dataset *dataset, struct statvfs *ret_stat, struct lancet_error *err);

/* One version by its name(s) in _versions/. */
struct lancet_version_entry {
	uint64_t number; /* bit 63 set for detached versions */
	bool v1_name;    /* "5.manifest" */
	bool v2_name;    /* "18446744073709551610.manifest"; both set: the names clash */
};

struct lancet_version_list {
	struct lancet_version_entry *entries; /* ascending by number */
	size_t count;
};

/* All versions from one directory read, detached ones apart. Stray and temporary names are ignored.
 */
LANCET_API int lancet_dataset_versions(lancet_dataset *dataset,
	struct lancet_version_list *ret_versions, struct lancet_error *err);
LANCET_API int lancet_dataset_detached(lancet_dataset *dataset,
	struct lancet_version_list *ret_versions, struct lancet_error *err);
LANCET_API void lancet_version_list_release(struct lancet_version_list *list);

/* The attributes of version `number`'s manifest file, without opening it; NOT_FOUND. */
LANCET_API int lancet_dataset_manifest_stat(
	lancet_dataset *dataset, uint64_t number, struct stat *ret_stat, struct lancet_error *err);
/* Opens the manifest file itself, readable or not; the caller closes *ret_fd. */
LANCET_API int lancet_dataset_manifest_fd(lancet_dataset *dataset, uint64_t number, int *ret_fd,
	struct stat *ret_stat, struct lancet_error *err);

/* The newest readable version: torn or unreadable heads are passed over. NOT_FOUND when none can be
 * read; the text then says why the newest one can't. Finds versions made by anyone, at once. Opens
 * manifests. */
LANCET_API int lancet_dataset_latest(
	lancet_dataset *dataset, uint64_t *ret_number, struct lancet_error *err);
/* The highest version with a timestamp at or before the given time (seconds and nanoseconds, UTC).
 */
LANCET_API int lancet_dataset_as_of(lancet_dataset *dataset, int64_t seconds, int32_t nanos,
	uint64_t *ret_number, struct lancet_error *err);

/* A root directory that files are read from: the dataset itself, or a base path of a manifest.
 * Interned for the life of the dataset: equal directories give equal pointers. */
/* "" for the dataset root, the branch's path below the root, or the base's own absolute path: what
 * makes a file's identity together with its path, independent of where the dataset lies. */
LANCET_API const char *lancet_base_identity(const lancet_base *base);
/* path is relative; absolute, empty, ".." and over-long paths are CORRUPT. A file that is gone is
 * LANCET_IO with os_errno EIO: whoever asks has its name from a manifest. Only regular files are
 * opened. */
LANCET_API int lancet_base_open(const lancet_base *base, const char *path, int *ret_fd,
	struct stat *ret_stat, struct lancet_error *err);
LANCET_API int lancet_base_stat(
	const lancet_base *base, const char *path, struct stat *ret_stat, struct lancet_error *err);

#endif
