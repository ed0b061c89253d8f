/* Files of the fragment reuse history: row maps of stable-partition transitions, and external
 * details.
 *
 * Only what a copy must hold is looked at here; the history itself is not judged. Format facts:
 * section 11.
 */
#include "live.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lance/table.pb-c.h"
#include "util/pbunpack.h"
#include "util/macros.h"

#define DETAILS_SIZE_MAX (UINT64_C(1) << 30)

#define MAPPING_PARTITION                                                                          \
	LANCE__TABLE__FRAGMENT_REUSE_INDEX_DETAILS__TRANSITION__MAPPING_STABLE_PARTITION

typedef Lance__Table__FragmentReuseIndexDetails Details;
typedef Lance__Table__FragmentReuseIndexDetails__InlineContent Content;
typedef Lance__Table__FragmentReuseIndexDetails__StablePartition Partition;

bool
index_is_reuse(struct lancet_bytes name)
{
	return slice_equal(slice_of(name.data, name.size), slice_text(REUSE_INDEX_NAME));
}

static int
add_row_map(struct live_files *files, lancet_version *version, const Partition *partition,
	struct lancet_error *err)
{
	bool has_base = partition->base_id_presence_case != 0;
	struct slice id = slice_of(partition->map_id.data, partition->map_id.len);
	struct lancet_live_file file = {
		.kind = LANCET_LIVE_ROW_MAP,
		.has_base = has_base,
		.base_id = has_base ? partition->base_id : 0,
		.size = partition->map_size_bytes,
	};
	char path[300];

	TRY(store_key_check(id, err));
	if (id.size > 255 || memchr(id.data, '/', id.size) != NULL)
		return lancet_fail(err, LANCET_CORRUPT, "row map id of %zu bytes", id.size);
	snprintf(path, sizeof(path), "_fri/%.*s/stable_partition.lance", (int)id.size,
		(const char *)id.data);
	file.path = file.source_path = path;
	int rc = lancet_version_base(version, has_base, file.base_id, &file.base, err);
	if (rc == LANCET_IO || rc == LANCET_UNSUPPORTED || rc == LANCET_DENIED)
		file.code = rc; /* its base can't be reached now: the file fails when it is read */
	else
		TRY(rc);
	return live_add(files, &file, err);
}

static int
add_row_maps(struct live_files *files, lancet_version *version, const Content *content,
	struct lancet_error *err)
{
	for (size_t i = 0; content != NULL && i < content->n_transitions; i++) {
		const Lance__Table__FragmentReuseIndexDetails__Transition *transition =
			content->transitions[i];

		if (transition->mapping_case == MAPPING_PARTITION)
			TRY(add_row_map(files, version, transition->stable_partition, err));
	}
	return LANCET_OK;
}

/* The whole file is the content; *ret_data is allocated. */
static int
load_details(const lancet_base *base, const char *path, uint8_t **ret_data, size_t *ret_size,
	struct lancet_error *err)
{
	struct source *source = NULL;
	struct stat st;
	int rc = store_open_source(base->store, path, &source, &st, err);

	if (rc == LANCET_NOT_FOUND)
		return lancet_fail(err, LANCET_IO, "%s: the file is gone", path);
	TRY(rc);
	if (source->size > DETAILS_SIZE_MAX)
		rc = lancet_fail(err, LANCET_LIMIT, "%s: %" PRIu64 " bytes", path, source->size);
	else
		rc = source_load(source, 0, (size_t)source->size, ret_data, err);
	if (rc == LANCET_OK)
		*ret_size = (size_t)source->size;
	source_unref(source);
	return rc;
}

static int
add_external(struct live_files *files, lancet_version *version,
	const struct lancet_index_segment *entry, const Lance__Table__ExternalFile *external,
	struct lancet_error *err)
{
	struct slice name = slice_of(external->path.data, external->path.len);
	struct lancet_live_file file = {
		.kind = LANCET_LIVE_FRI_DETAILS,
		.has_base = entry->has_base,
		.base_id = entry->base_id,
		.size = external->size,
	};
	lancet_autofree char *path = NULL;
	lancet_autofree uint8_t *data = NULL;
	struct arena arena = { 0 };
	Content *content = NULL;
	size_t size = 0, before = files->count;
	int rc;

	TRY(store_key_check(name, err));
	if (asprintf(&path, "_indices/%s/%.*s", entry->uuid_text, (int)name.size,
		    (const char *)name.data) < 0) {
		path = NULL;
		return lancet_fail(err, LANCET_NO_MEMORY, "live files: out of memory");
	}
	TRY(lancet_version_base(version, entry->has_base, entry->base_id, &file.base, err));
	TRY(load_details(file.base, path, &data, &size, err));
	rc = pb_unpack(&lance__table__fragment_reuse_index_details__inline_content__descriptor,
		slice_of(data, size), &arena, &content, err);
	file.path = file.source_path = path;
	if (rc == LANCET_OK)
		rc = live_add(files, &file, err);
	if (rc == LANCET_OK)
		rc = add_row_maps(files, version, content, err);
	for (size_t i = before + 1; rc == LANCET_OK && i < files->count; i++)
		files->files[before].rewritten |= files->files[i].has_base;
	arena_release(&arena);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%s", path);
}

static int
add_entry(struct live_files *files, lancet_version *version,
	const struct lancet_index_segment *entry, struct lancet_error *err)
{
	struct arena arena = { 0 };
	Details *details = NULL;
	int rc = pb_unpack(&lance__table__fragment_reuse_index_details__descriptor,
		slice_of(entry->details.data, entry->details.size), &arena, &details, err);

	if (rc == LANCET_OK &&
		details->content_case == LANCE__TABLE__FRAGMENT_REUSE_INDEX_DETAILS__CONTENT_INLINE)
		rc = add_row_maps(files, version, details->inline_, err);
	else if (rc == LANCET_OK &&
		 details->content_case ==
			 LANCE__TABLE__FRAGMENT_REUSE_INDEX_DETAILS__CONTENT_EXTERNAL)
		rc = add_external(files, version, entry, details->external, err);
	arena_release(&arena);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "fragment reuse details");
}

int
live_add_reuse(struct live_files *files, lancet_version *version, struct lancet_error *err)
{
	const struct lancet_index *indices;
	size_t count;

	TRY(lancet_version_indices(version, &indices, &count, err));
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < indices[i].segment_count && index_is_reuse(indices[i].name);
			k++)
			TRY(add_entry(files, version, indices[i].segments[k], err));
	return LANCET_OK;
}
