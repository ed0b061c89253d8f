/* Blob files of a version: they are not in its manifest.
 *
 * A data file with blob columns may have a directory of sidecar files beside it, named like the
 * file without its extension; a dataset with managed blobs keeps them all in `_blobs`. Both belong
 * to a copy. Format facts: directories.
 */
#include "live.h"

#include <stdio.h>
#include <string.h>

#include "util/macros.h"

#define MANAGED_BLOBS_BIT 14
#define DATA_SUFFIX       ".lance"
#define DEPTH_MAX         8 /* directories below a listed one */

struct blob_walk {
	struct live_files *files;
	const struct lancet_live_file
		*like; /* base and base id of what is found; NULL = the dataset's own */
	const lancet_base *base;
	const char *source; /* the directory in base */
	const char *path;   /* the directory in the tree */
	unsigned depth;
	struct lancet_error *err;
};

static int add_directory(struct blob_walk *walk);

static int
add_blob(void *context, const char *name, bool is_dir)
{
	struct blob_walk *walk = context;
	lancet_autofree char *source = NULL;
	lancet_autofree char *path = NULL;

	if (asprintf(&source, "%s/%s", walk->source, name) < 0 ||
		asprintf(&path, "%s/%s", walk->path, name) < 0)
		return lancet_fail(walk->err, LANCET_NO_MEMORY, "blob files: out of memory");
	if (is_dir) {
		struct blob_walk inner = *walk;

		inner.source = source;
		inner.path = path;
		inner.depth++;
		return add_directory(&inner);
	}
	return live_add(walk->files,
		&(struct lancet_live_file){
			.kind = LANCET_LIVE_BLOB,
			.has_base = walk->like != NULL && walk->like->has_base,
			.base_id = walk->like == NULL ? 0 : walk->like->base_id,
			.has_fragment = walk->like != NULL,
			.fragment = walk->like == NULL ? 0 : walk->like->fragment,
			.base = walk->base,
			.path = path,
			.source_path = source,
			.size = UINT64_MAX,
		},
		walk->err);
}

static int
add_directory(struct blob_walk *walk)
{
	int rc;

	if (walk->depth > DEPTH_MAX)
		return lancet_fail(walk->err, LANCET_LIMIT,
			"%s: more than %d levels of directories", walk->path, DEPTH_MAX);
	rc = store_list(walk->base->store, walk->source, add_blob, walk, walk->err);
	if (rc != LANCET_NOT_FOUND)
		return rc;
	if (walk->err != NULL)
		*walk->err = (struct lancet_error){ 0 };
	return LANCET_OK;
}

static bool
mentions_blob(struct lancet_bytes text)
{
	return text.size >= 4 && memmem(text.data, text.size, "blob", 4) != NULL;
}

/* True when a field's type or metadata speaks of blobs. */
static int
has_blob_fields(lancet_version *version, bool *ret_has, struct lancet_error *err)
{
	const struct lancet_field *fields;
	size_t count;

	TRY(lancet_version_fields(version, &fields, &count, err));
	*ret_has = false;
	for (size_t i = 0; i < count && !*ret_has; i++) {
		*ret_has = mentions_blob(fields[i].logical_type);
		for (size_t k = 0; k < fields[i].metadata_count && !*ret_has; k++)
			*ret_has = mentions_blob(fields[i].metadata[k].key) ||
				   mentions_blob(fields[i].metadata[k].value);
	}
	return LANCET_OK;
}

static int
add_sidecars(struct live_files *files, size_t index, struct lancet_error *err)
{
	struct lancet_live_file file = files->files[index]; /* the list moves when it grows */
	size_t suffix = strlen(DATA_SUFFIX);
	size_t size = strlen(file.path);
	size_t source_size = strlen(file.source_path);

	if (file.base == NULL || size <= suffix || source_size <= suffix ||
		strcmp(file.path + size - suffix, DATA_SUFFIX) != 0)
		return LANCET_OK;
	lancet_autofree char *path = strndup(file.path, size - suffix);
	lancet_autofree char *source = strndup(file.source_path, source_size - suffix);
	if (path == NULL || source == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "blob files: out of memory");
	struct blob_walk walk = {
		.files = files,
		.like = &file,
		.base = file.base,
		.source = source,
		.path = path,
		.err = err,
	};
	return add_directory(&walk);
}

int
live_add_blobs(struct live_files *files, lancet_version *version, struct lancet_error *err)
{
	size_t count = files->count;
	bool has_blobs = false;

	TRY(has_blob_fields(version, &has_blobs, err));
	for (size_t i = 0; i < count && has_blobs; i++)
		if (files->files[i].kind == LANCET_LIVE_DATA)
			TRY(add_sidecars(files, i, err));
	if ((lancet_version_info(version)->reader_flags >> MANAGED_BLOBS_BIT & 1) == 0)
		return LANCET_OK;
	struct blob_walk walk = {
		.files = files,
		.base = dataset_base(version->dataset),
		.source = "_blobs",
		.path = "_blobs",
		.err = err,
	};
	return add_directory(&walk);
}
