/* The files that a fragment names, and where they are.
 *
 * Paths come from disk: each is checked before anything is opened by it. A data file lies below
 * data/ of a dataset, or right in a base that is no dataset. Format facts: data files, deletion
 * files, overlays, base paths.
 */
#include "fragment.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lance/table.pb-c.h"
#include "names.h"
#include "util/macros.h"
#include "version.h"

#define DATA_PREFIX      "data/"
#define DATA_PREFIX_SIZE (sizeof(DATA_PREFIX) - 1)

static struct lancet_data_file
data_file_of(const Lance__Table__DataFile *stored)
{
	return (struct lancet_data_file){
		.path = { stored->path.data, stored->path.len },
		.fields = stored->fields,
		.field_count = stored->n_fields,
		.column_indices = stored->column_indices,
		.column_index_count = stored->n_column_indices,
		.major = stored->file_major_version,
		.minor = stored->file_minor_version,
		.size = stored->file_size_bytes,
		.has_base = stored->base_id_presence_case != 0,
		.base_id = stored->base_id_presence_case != 0 ? stored->base_id : 0,
	};
}

static int
fill_coverage(struct arena *arena, const Lance__Table__DataOverlayFile *stored,
              struct lancet_overlay *overlay, struct lancet_error *err)
{
	const ProtobufCBinaryData *bitmaps = NULL;
	struct lancet_bytes *coverage;

	switch (stored->coverage_case) {
	case LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_SHARED_OFFSET_BITMAP:
		overlay->shared = true;
		overlay->coverage_count = 1;
		bitmaps = &stored->shared_offset_bitmap;
		break;
	case LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_FIELD_COVERAGE:
		overlay->coverage_count = stored->field_coverage->n_offset_bitmaps;
		bitmaps = stored->field_coverage->offset_bitmaps;
		break;
	default:
		break;
	}
	coverage = arena_zalloc(arena, overlay->coverage_count, sizeof(*coverage));
	if (coverage == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu overlay bitmaps",
		                   overlay->coverage_count);
	for (size_t i = 0; i < overlay->coverage_count; i++)
		coverage[i] = (struct lancet_bytes){ bitmaps[i].data, bitmaps[i].len };
	overlay->coverage = coverage;
	return LANCET_OK;
}

struct ranked_overlay {
	uint64_t committed_version;
	size_t order; /* as stored: of two with one version the later one is newer */
};

static int
compare_overlays(const void *left, const void *right)
{
	const struct ranked_overlay *a = left;
	const struct ranked_overlay *b = right;

	if (a->committed_version != b->committed_version)
		return a->committed_version < b->committed_version ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static int
fill_overlay(struct lancet_fragment *fragment, size_t order, struct lancet_overlay *overlay,
             struct lancet_error *err)
{
	const Lance__Table__DataOverlayFile *stored = fragment->message->overlays[order];

	if (stored->data_file == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "overlay %zu: no data file", order);
	overlay->file = data_file_of(stored->data_file);
	overlay->committed_version = stored->committed_version;
	return fill_coverage(&fragment->arena, stored, overlay, err);
}

static int
fill_overlays(struct lancet_fragment *fragment, struct lancet_error *err)
{
	const Lance__Table__DataFragment *message = fragment->message;
	size_t count = message->n_overlays;
	lancet_autofree struct ranked_overlay *ranked = calloc(count + 1, sizeof(*ranked));
	struct lancet_overlay *overlays = arena_zalloc(&fragment->arena, count, sizeof(*overlays));

	if (ranked == NULL || overlays == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu overlays", count);
	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked_overlay){ message->overlays[i]->committed_version, i };
	qsort(ranked, count, sizeof(*ranked), compare_overlays);
	for (size_t i = 0; i < count; i++)
		TRY(fill_overlay(fragment, ranked[i].order, &overlays[i], err));
	fragment->info.overlays = overlays;
	fragment->info.overlay_count = count;
	return LANCET_OK;
}

static int
fill_deletion(struct lancet_fragment_info *info, const Lance__Table__DeletionFile *stored,
              struct lancet_error *err)
{
	if (stored == NULL)
		return LANCET_OK;
	if (stored->file_type != LANCE__TABLE__DELETION_FILE__DELETION_FILE_TYPE__ARROW_ARRAY &&
	    stored->file_type != LANCE__TABLE__DELETION_FILE__DELETION_FILE_TYPE__BITMAP)
		return lancet_fail(err, LANCET_CORRUPT, "deletion file: type %d",
		                   (int)stored->file_type);
	info->has_deletion_file = true;
	info->deletion = (struct lancet_deletion_file){
		.is_bitmap = stored->file_type ==
			LANCE__TABLE__DELETION_FILE__DELETION_FILE_TYPE__BITMAP,
		.read_version = stored->read_version,
		.id = stored->id,
		.deleted_rows = stored->num_deleted_rows,
		.has_base = stored->base_id_presence_case != 0,
		.base_id = stored->base_id_presence_case != 0 ? stored->base_id : 0,
	};
	return LANCET_OK;
}

int
fragment_files_fill(struct lancet_fragment *fragment, struct lancet_error *err)
{
	const Lance__Table__DataFragment *message = fragment->message;
	struct lancet_data_file *files =
		arena_zalloc(&fragment->arena, message->n_files, sizeof(*files));

	if (files == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu data files", message->n_files);
	for (size_t i = 0; i < message->n_files; i++)
		files[i] = data_file_of(message->files[i]);
	fragment->info.files = files;
	fragment->info.file_count = message->n_files;
	TRY(fill_overlays(fragment, err));
	return fill_deletion(&fragment->info, message->deletion_file, err);
}

/* True when the files of this base lie as in a dataset. A base that doesn't exist fails
 * elsewhere. */
static bool
is_dataset(const struct lancet_version *version, bool has_base, uint32_t base_id)
{
	const struct lancet_base_path *path =
		has_base ? version_base_path(version, base_id) : NULL;

	return path == NULL || path->is_dataset_root;
}

int
lancet_data_file_path(lancet_version *version, const struct lancet_data_file *file,
                      const lancet_base **ret_base, char **ret_path, struct lancet_error *err)
{
	size_t prefix_size =
		is_dataset(version, file->has_base, file->base_id) ? DATA_PREFIX_SIZE : 0;
	lancet_autofree char *path = NULL;
	const lancet_base *base;
	int rc = store_key_check(slice_of(file->path.data, file->path.size), err);

	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "data file path");
	TRY(lancet_version_base(version, file->has_base, file->base_id, &base, err));
	path = malloc(prefix_size + file->path.size + 1);
	if (path == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "data file path");
	memcpy(path, DATA_PREFIX, prefix_size);
	memcpy(path + prefix_size, file->path.data, file->path.size);
	path[prefix_size + file->path.size] = '\0';
	*ret_base = base;
	*ret_path = lancet_steal(&path);
	return LANCET_OK;
}

int
lancet_deletion_file_path(lancet_fragment *fragment, const lancet_base **ret_base, char **ret_path,
                          struct lancet_error *err)
{
	const struct lancet_deletion_file *deletion = &fragment->info.deletion;
	char path[DELETION_PATH_MAX];
	const lancet_base *base;
	char *copy;

	if (!fragment->info.has_deletion_file)
		return lancet_fail(err, LANCET_NOT_FOUND, "fragment %" PRIu64 ": no deletion file",
		                   fragment->info.id);
	TRY(lancet_version_base(fragment->version, deletion->has_base, deletion->base_id, &base,
	                        err));
	if (!is_dataset(fragment->version, deletion->has_base, deletion->base_id))
		return lancet_fail(err, LANCET_CORRUPT,
		                   "deletion file of fragment %" PRIu64 ": base %" PRIu32
		                   " is not a dataset",
		                   fragment->info.id, deletion->base_id);
	deletion_path_format(fragment->info.id, deletion->read_version, deletion->id,
	                     deletion->is_bitmap, path);
	copy = strdup(path);
	if (copy == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s", path);
	*ret_base = base;
	*ret_path = copy;
	return LANCET_OK;
}
