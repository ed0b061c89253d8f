/* Inside of a cleanup, for its modules.
 *
 * First the files that are there are listed, and only then the manifests are read, each of which
 * marks what it names: so a file is never judged by manifests older than itself, and memory is
 * bounded by the files of the directory (about 60 bytes and its path for each), whatever the
 * manifests hold. They are read one at a time.
 *
 * What stays is matched by the last part of its name, in whatever base a manifest says it lies:
 * names are unique, and two files with one name both stay. Format facts: cleanup.
 */
#ifndef CORE_CLEANUP_H
#define CORE_CLEANUP_H

#include <lancet/cleanup.h>
#include "dataset.h"
#include "names.h"
#include "util/arena.h"
#include "util/slice.h"

enum cleanup_kind {
	CLEANUP_DATA,        /* data files and their sidecars; the key is the stem */
	CLEANUP_DELETION,    /* the file's name */
	CLEANUP_TRANSACTION, /* the file's name */
	CLEANUP_INDEX,       /* the UUID of the index */
	CLEANUP_ROW_MAP,     /* the id of the map */
	CLEANUP_LEFTOVER,    /* temporary files of writers: nothing names them */
};

struct cleanup_entry {
	char *path; /* below the dataset's directory */
	uint64_t bytes;
	int64_t changed; /* seconds since 1970 */
	uint32_t next;   /* of the same bucket: place in entries + 1 */
	uint32_t last;   /* place + 1 of the last version that names it, of those that may go */
	uint16_t key_at, key_size;
	uint8_t kind;
	bool kept;
};

struct cleanup_files {
	struct arena arena; /* paths */
	struct cleanup_entry *entries;
	size_t count, capacity;
	uint32_t *buckets; /* a power of two */
	size_t bucket_count;
	bool has_row_maps;
	bool keep_row_maps; /* a history could not be read: all row maps stay */
};

/* Lists what is there of the shapes that a writer of the format makes; all else is passed over.
 * Sub-directories of `data` that are deeper than the format's are, too. */
int cleanup_files_list(
	struct cleanup_files *files, struct lancet_dataset *dataset, struct lancet_error *err);
void cleanup_files_release(struct cleanup_files *files);
/* The files with this key stay. */
void cleanup_files_keep(struct cleanup_files *files, enum cleanup_kind kind, struct slice key);
/* The files with this key are named by the version at `place`, of those that may go; of data files
 * the one whose path below `data` it is, and its sidecars. */
void cleanup_files_name(struct cleanup_files *files, enum cleanup_kind kind, struct slice key,
	struct slice path, uint32_t place);

#define CLEANUP_STAYS UINT32_MAX
/* Marks everything that the version names, as staying (CLEANUP_STAYS) or by its place. CORRUPT: it
 * can't be told what it names. */
int cleanup_mark(struct cleanup_files *files, lancet_version *version, uint32_t place,
	struct lancet_error *err);

/* A directory with manifests: the root, a branch, or what is left of one. */
struct cleanup_dir {
	struct store *store; /* counted */
	/* Whose versions they are; of a directory that is no branch (yet): the root. */
	struct lancet_dataset *dataset; /* counted */
	char *path;                     /* below the root, "" or "tree/NAME" */
};
struct cleanup_dirs {
	struct cleanup_dir *dirs;
	size_t count, capacity;
};
/* Of the dataset's whole family, without the dataset's own. */
int cleanup_dirs_find(
	struct cleanup_dirs *dirs, struct lancet_dataset *dataset, struct lancet_error *err);
void cleanup_dirs_release(struct cleanup_dirs *dirs);

/* A manifest by its name. */
struct cleanup_version {
	uint64_t number;
	uint64_t bytes;
	char name[MANIFEST_NAME_MAX];
	bool goes;
};
struct cleanup_versions {
	struct cleanup_version *list; /* by number, detached ones behind the others */
	size_t count, capacity;
	size_t numbered; /* how many are not detached */
};
int cleanup_versions_list(
	struct cleanup_versions *versions, struct store *store, struct lancet_error *err);
/* Opens one, past the cache: a cleanup reads all there are, once. Text names the file. UNSUPPORTED:
 * this build may not read or not write it. */
int cleanup_version_load(const struct cleanup_dir *dir, const struct cleanup_version *entry,
	lancet_version **ret_version, struct lancet_error *err);
/* Everything that the directory's versions name stays. */
int cleanup_keep_dir(
	struct cleanup_files *files, const struct cleanup_dir *dir, struct lancet_error *err);

/* The versions of a dataset that tags and branches need, ascending. CORRUPT: a ref that can't be
 * read. */
struct cleanup_refs {
	uint64_t *versions;
	size_t count, capacity;
};
int cleanup_refs_load(
	struct cleanup_refs *refs, struct lancet_dataset *dataset, struct lancet_error *err);
bool cleanup_refs_have(const struct cleanup_refs *refs, uint64_t version);

struct cleanup_item {
	struct lancet_cleanup_file file; /* first: the public handle points here */
	uint32_t place;                  /* of the version it goes with; CLEANUP_STAYS: of none */
	uint32_t entry;                  /* of the files; UINT32_MAX: a manifest */
};

struct lancet_cleanup {
	struct cleanup_dir own;                /* the dataset that is cleaned up */
	struct cleanup_dirs dirs;              /* of the rest of its family */
	struct lancet_cleanup_options options; /* without `versions` */
	struct cleanup_files files;
	struct cleanup_versions versions;
	struct cleanup_item *items; /* what no version names, then by version */
	size_t count;
	uint64_t *going;
	size_t going_count;
	struct arena arena; /* paths of manifests */
	uint64_t newest;    /* of the versions whose names were marked */
};

/* A failure that does not matter. */
static inline int
cleanup_forgive(struct lancet_error *err)
{
	if (err != NULL)
		*err = (struct lancet_error){ 0 };
	return LANCET_OK;
}

/* CANCELLED when the caller wants no more. */
int cleanup_check_cancelled(const lancet_cleanup *cleanup, struct lancet_error *err);
void cleanup_report(const lancet_cleanup *cleanup, uint64_t done, uint64_t total, const char *unit);

#endif
