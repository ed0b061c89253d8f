/* Finding the files that a version needs.
 *
 * Everything is named by the manifest, except blob sidecars (directories beside their data file)
 * and managed blobs, which are listed. A file that can't be named is an error of the whole list;
 * one that is named and lost is not: its own read then fails. SPEC section 7; format facts:
 * directories, blobs.
 */
#include "live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fragment.h"
#include "names.h"
#include "reuse.h"
#include "util/macros.h"

#define BASE_PATHS_BIT 4

int
live_add(struct live_files *files, const struct lancet_live_file *file, struct lancet_error *err)
{
	if (files->count == files->capacity) {
		size_t capacity = files->capacity == 0 ? 32 : files->capacity * 2;
		struct lancet_live_file *grown = realloc(files->files, capacity * sizeof(*grown));

		if (grown == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "%zu live files", capacity);
		files->files = grown;
		files->capacity = capacity;
	}
	struct lancet_live_file *added = &files->files[files->count];
	*added = *file;
	added->path = arena_copy(&files->arena, file->path, strlen(file->path) + 1);
	added->source_path = strcmp(file->path, file->source_path) == 0
				     ? added->path
				     : arena_copy(&files->arena, file->source_path,
					       strlen(file->source_path) + 1);
	if (added->path == NULL || added->source_path == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu live files", files->count);
	files->elsewhere |= file->has_base;
	files->count++;
	return LANCET_OK;
}

/* A base that can't be reached now (gone, not local) makes its files unreadable, not unnamed. */
static int
keep_unreachable(int rc, struct lancet_live_file *file, struct lancet_error *err)
{
	if (rc != LANCET_IO && rc != LANCET_UNSUPPORTED && rc != LANCET_DENIED)
		return rc;
	file->code = rc;
	file->base = NULL;
	if (err != NULL)
		*err = (struct lancet_error){ 0 };
	return LANCET_OK;
}

static int
add_data_file(struct live_files *files, lancet_version *version, uint64_t fragment,
	enum lancet_live_kind kind, const struct lancet_data_file *data, struct lancet_error *err)
{
	struct lancet_live_file file = {
		.kind = kind,
		.has_fragment = true,
		.fragment = fragment,
		.has_base = data->has_base,
		.base_id = data->base_id,
		.size = data->size == 0 ? UINT64_MAX : data->size,
	};
	lancet_autofree char *source = NULL;
	lancet_autofree char *path = NULL;
	int rc;

	TRY(store_key_check(slice_of(data->path.data, data->path.size), err));
	if (asprintf(&path, "data/%.*s", (int)data->path.size, (const char *)data->path.data) < 0) {
		path = NULL;
		return lancet_fail(err, LANCET_NO_MEMORY, "live files: out of memory");
	}
	rc = lancet_data_file_path(version, data, &file.base, &source, err);
	if (rc != LANCET_OK)
		TRY(keep_unreachable(rc, &file, err));
	file.path = path;
	file.source_path = source != NULL ? source : path;
	return live_add(files, &file, err);
}

static int
add_deletion_file(struct live_files *files, lancet_fragment *fragment, struct lancet_error *err)
{
	const struct lancet_fragment_info *info = lancet_fragment_info(fragment);
	const struct lancet_deletion_file *deletion = &info->deletion;
	char path[DELETION_PATH_MAX];
	struct lancet_live_file file = {
		.kind = LANCET_LIVE_DELETION,
		.has_fragment = true,
		.fragment = info->id,
		.has_base = deletion->has_base,
		.base_id = deletion->base_id,
		.size = UINT64_MAX,
	};
	lancet_autofree char *source = NULL;
	int rc = lancet_deletion_file_path(fragment, &file.base, &source, err);

	if (rc != LANCET_OK)
		TRY(keep_unreachable(rc, &file, err));
	deletion_path_format(
		info->id, deletion->read_version, deletion->id, deletion->is_bitmap, path);
	file.path = path;
	file.source_path = source != NULL ? source : path;
	return live_add(files, &file, err);
}

static int
add_fragment_files(struct live_files *files, lancet_version *version, lancet_fragment *fragment,
	struct lancet_error *err)
{
	const struct lancet_fragment_info *info = lancet_fragment_info(fragment);

	for (size_t i = 0; i < info->file_count; i++)
		TRY(add_data_file(
			files, version, info->id, LANCET_LIVE_DATA, &info->files[i], err));
	for (size_t i = 0; i < info->overlay_count; i++)
		TRY(add_data_file(files, version, info->id, LANCET_LIVE_OVERLAY,
			&info->overlays[i].file, err));
	if (info->has_deletion_file)
		TRY(add_deletion_file(files, fragment, err));
	return LANCET_OK;
}

static int
add_fragments(struct live_files *files, lancet_version *version, struct lancet_error *err)
{
	for (uint64_t i = 0; i < lancet_version_info(version)->fragment_count; i++) {
		lancet_fragment *fragment = NULL;
		struct lancet_fragment_span span;
		int rc = fragment_open_stored(version, i, &fragment, err);

		if (rc == LANCET_OK)
			rc = add_fragment_files(files, version, fragment, err);
		lancet_fragment_unref(fragment);
		if (rc != LANCET_OK) {
			lancet_version_span(version, i, &span);
			return lancet_wrap(err, rc, "fragment %" PRIu64, span.id);
		}
	}
	return LANCET_OK;
}

static uint64_t
recorded_size(const struct lancet_index_segment *segment, const char *name)
{
	for (size_t i = 0; i < segment->file_count; i++)
		if (slice_equal(slice_text(name),
			    slice_of(segment->files[i].path.data, segment->files[i].path.size)))
			return segment->files[i].size;
	return UINT64_MAX;
}

static int
add_segment(struct live_files *files, lancet_version *version,
	const struct lancet_index_segment *segment, struct lancet_error *err)
{
	struct lancet_live_file file = {
		.kind = LANCET_LIVE_INDEX,
		.has_base = segment->has_base,
		.base_id = segment->base_id,
	};
	lancet_autofree char **paths = NULL;
	size_t count = 0;
	int rc = lancet_index_segment_files(version, segment, &file.base, &paths, &count, err);

	if (rc == LANCET_NOT_FOUND) { /* no files are listed, and there is no directory */
		if (err != NULL)
			*err = (struct lancet_error){ 0 };
		return LANCET_OK;
	}
	TRY(rc);
	for (size_t i = 0; i < count; i++) {
		const char *below = strstr(paths[i], segment->uuid_text);
		lancet_autofree char *path = NULL;

		if (below == NULL)
			return lancet_fail(
				err, LANCET_CORRUPT, "index file %s: not below its uuid", paths[i]);
		if (asprintf(&path, "_indices/%s", below) < 0) {
			path = NULL;
			return lancet_fail(err, LANCET_NO_MEMORY, "live files: out of memory");
		}
		file.path = path;
		file.source_path = paths[i];
		file.size = recorded_size(segment, below + strlen(segment->uuid_text) + 1);
		TRY(live_add(files, &file, err));
	}
	return LANCET_OK;
}

static int
add_indices(struct live_files *files, lancet_version *version, struct lancet_error *err)
{
	const struct lancet_index *indices;
	size_t count;

	TRY(lancet_version_indices(version, &indices, &count, err));
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < indices[i].segment_count && !index_is_reuse(indices[i].name);
			k++)
			TRY(add_segment(files, version, indices[i].segments[k], err));
	return live_add_reuse(files, version, err);
}

/* The recorded transaction file, unless the manifest holds the transaction too and the file is
 * gone. */
static int
add_transaction(struct live_files *files, lancet_version *version, struct lancet_error *err)
{
	struct lancet_bytes name = lancet_version_info(version)->transaction_file;
	struct lancet_live_file file = {
		.kind = LANCET_LIVE_TRANSACTION,
		.base = dataset_base(version->dataset),
	};
	lancet_autofree char *path = NULL;
	struct stat st;

	if (name.size == 0)
		return LANCET_OK;
	TRY(store_key_check(slice_of(name.data, name.size), err));
	if (asprintf(&path, "_transactions/%.*s", (int)name.size, (const char *)name.data) < 0) {
		path = NULL;
		return lancet_fail(err, LANCET_NO_MEMORY, "live files: out of memory");
	}
	if (lancet_base_stat(file.base, path, &st, NULL) == LANCET_OK)
		file.size = (uint64_t)st.st_size;
	else if (version->has_transaction_section)
		return LANCET_OK;
	else
		file.size = UINT64_MAX;
	file.path = file.source_path = path;
	return live_add(files, &file, err);
}

static int
add_manifest(struct live_files *files, lancet_version *version, struct lancet_error *err)
{
	const struct lancet_version_info *info = lancet_version_info(version);
	char path[64];

	files->rewritten = info->base_path_count > 0 || info->branch.size > 0 ||
			   ((info->reader_flags | info->writer_flags) >> BASE_PATHS_BIT & 1) != 0;
	snprintf(path, sizeof(path), "_versions/%s", version->name);
	return live_add(files,
		&(struct lancet_live_file){
			.kind = LANCET_LIVE_MANIFEST,
			.rewritten = files->rewritten,
			.base = dataset_base(version->dataset),
			.path = path,
			.source_path = path,
			.size = (uint64_t)info->manifest_stat.st_size,
		},
		err);
}

static int
compare_paths(const void *left, const void *right)
{
	const struct lancet_live_file *a = left;
	const struct lancet_live_file *b = right;

	return strcmp(a->path, b->path);
}

/* Sorts; one file that several fragments name is listed once, two files for one place are refused,
 * and so is a file where another one needs a directory. */
static int
sort_files(struct live_files *files, struct lancet_error *err)
{
	size_t kept = 0;

	if (files->count > 1)
		qsort(files->files, files->count, sizeof(*files->files), compare_paths);
	for (size_t i = 0; i < files->count; i++) {
		const struct lancet_live_file *file = &files->files[i];
		const struct lancet_live_file *last = kept == 0 ? NULL : &files->files[kept - 1];
		size_t size = last == NULL ? 0 : strlen(last->path);

		if (last != NULL && strcmp(last->path, file->path) == 0) {
			if (last->base == file->base &&
				strcmp(last->source_path, file->source_path) == 0)
				continue;
			return lancet_fail(err, LANCET_CORRUPT, "two different files want to be %s",
				file->path);
		}
		if (last != NULL && strncmp(last->path, file->path, size) == 0 &&
			file->path[size] == '/')
			return lancet_fail(
				err, LANCET_CORRUPT, "%s is a file and a directory", last->path);
		files->files[kept++] = *file;
	}
	files->count = kept;
	return LANCET_OK;
}

int
live_files_find(struct live_files *files, lancet_version *version, struct lancet_error *err)
{
	TRY(add_fragments(files, version, err));
	TRY(live_add_blobs(files, version, err));
	TRY(add_indices(files, version, err));
	TRY(add_transaction(files, version, err));
	TRY(add_manifest(files, version, err));
	return sort_files(files, err);
}
