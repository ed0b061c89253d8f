/* What the small fields of a manifest say, as the version's summary, maps and base paths.
 *
 * All that is filled in borrows the decoded message, which lies in the version's arena.
 * Format facts: Manifest message.
 */
#include "manifest.h"

#include <stdlib.h>
#include <string.h>

#include "entries.h"
#include "flags.h"
#include "format.h"
#include "lance/table.pb-c.h"
#include "pbrest.h"
#include "schema.h"
#include "util/macros.h"

static struct lancet_bytes
bytes_of(ProtobufCBinaryData data)
{
	return (struct lancet_bytes){ data.data, data.len };
}

static struct lancet_bytes
bytes_of_text(const char *text)
{
	return (struct lancet_bytes){ (const uint8_t *)text, strlen(text) };
}

/* The format version of files without one for the whole dataset. */
static struct lancet_bytes
inferred_storage_version(const struct manifest_scan *found, uint64_t reader_flags)
{
	enum file_version format;

	if (!found->has_file)
		return bytes_of_text(reader_flags & FLAG_V2_FORMAT ? "2.2" : "0.1");
	if (!file_version_of(found->file_major, found->file_minor, &format))
		return (struct lancet_bytes){ NULL, 0 };
	return bytes_of_text(file_version_name(format));
}

static void
fill_writer(struct lancet_version_info *info, const Lance__Table__Manifest__WriterVersion *writer)
{
	if (writer == NULL)
		return;
	info->has_writer = true;
	info->writer_library = bytes_of(writer->library);
	info->writer_version = bytes_of(writer->version);
	if (writer->prerelease_presence_case != 0)
		info->writer_prerelease = bytes_of(writer->prerelease);
	if (writer->build_metadata_presence_case != 0)
		info->writer_build = bytes_of(writer->build_metadata);
}

static void
fill_info(struct lancet_version_info *info, const Lance__Table__Manifest *message,
          const struct manifest_scan *found)
{
	info->number = message->version;
	if (message->timestamp != NULL) {
		info->has_timestamp = true;
		info->timestamp_seconds = message->timestamp->seconds;
		info->timestamp_nanos = message->timestamp->nanos;
	}
	info->reader_flags = message->reader_feature_flags;
	info->writer_flags = message->writer_feature_flags;
	info->stable_row_ids = message->reader_feature_flags & FLAG_STABLE_ROW_IDS;
	if (message->max_fragment_id_presence_case != 0) {
		info->has_max_fragment_id = true;
		info->max_fragment_id = message->max_fragment_id;
	}
	info->next_row_id = message->next_row_id;
	if (message->data_format != NULL && message->data_format->version.len > 0)
		info->storage_version = bytes_of(message->data_format->version);
	else
		info->storage_version =
			inferred_storage_version(found, message->reader_feature_flags);
	fill_writer(info, message->writer_version);
	info->tag = bytes_of(message->tag);
	if (message->branch_presence_case != 0)
		info->branch = bytes_of(message->branch);
	info->transaction_file = bytes_of(message->transaction_file);
	info->fragment_count = found->count;
	info->physical_rows = found->physical_rows;
	info->deleted_rows = found->deleted_rows;
	info->data_files = found->data_files;
	info->data_bytes = found->data_bytes;
	info->base_path_count = message->n_base_paths;
}

static void
fill_sections(struct lancet_version *version)
{
	const Lance__Table__Manifest *message = version->message;

	if (message->index_section_presence_case != 0) {
		version->has_index_section = true;
		version->index_section = message->index_section;
	}
	if (message->transaction_section_presence_case != 0) {
		version->has_transaction_section = true;
		version->transaction_section = message->transaction_section;
	} else if (message->transaction_section_deprecated_presence_case != 0) {
		version->has_transaction_section = true;
		version->transaction_section = message->transaction_section_deprecated;
	}
}

struct ranked_base_path {
	struct lancet_base_path path;
	size_t order; /* as stored */
};

static int
compare_base_paths(const void *left, const void *right)
{
	const struct ranked_base_path *a = left;
	const struct ranked_base_path *b = right;

	if (a->path.id != b->path.id)
		return a->path.id < b->path.id ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static void
fill_base_path(struct lancet_base_path *path, const Lance__Table__BasePath *stored)
{
	path->id = stored->id;
	if (stored->name_presence_case != 0)
		path->name = bytes_of(stored->name);
	path->path = bytes_of(stored->path);
	path->is_dataset_root = stored->is_dataset_root;
}

/* By id: writers store them in the order of a hash map. */
static int
fill_base_paths(struct lancet_version *version, struct lancet_error *err)
{
	const Lance__Table__Manifest *message = version->message;
	size_t count = message->n_base_paths;
	struct lancet_base_path *paths;
	struct ranked_base_path *ranked;

	if (count == 0)
		return LANCET_OK;
	paths = arena_zalloc(&version->arena, count, sizeof(*paths));
	ranked = calloc(count, sizeof(*ranked));
	if (paths == NULL || ranked == NULL) {
		free(ranked);
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu base paths", count);
	}
	for (size_t i = 0; i < count; i++) {
		fill_base_path(&ranked[i].path, message->base_paths[i]);
		ranked[i].order = i;
	}
	qsort(ranked, count, sizeof(*ranked), compare_base_paths);
	for (size_t i = 0; i < count; i++)
		paths[i] = ranked[i].path;
	free(ranked);
	version->base_paths = paths;
	return LANCET_OK;
}

static int
fill_maps(struct lancet_version *version, struct lancet_error *err)
{
	const Lance__Table__Manifest *message = version->message;
	const struct {
		Lance__File__StringEntry **stored;
		size_t count;
	} maps[] = {
		[LANCET_CONFIG] = { message->config, message->n_config },
		[LANCET_TABLE_METADATA] = { message->table_metadata, message->n_table_metadata },
		[LANCET_SCHEMA_METADATA] = { message->schema_metadata, message->n_schema_metadata },
	};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		TRY(entries_sort(&version->arena, maps[i].stored, maps[i].count, &version->maps[i],
		                 &version->map_counts[i], err));
	return LANCET_OK;
}

int
manifest_fill(struct lancet_version *version, const struct manifest_scan *found,
              struct lancet_error *err)
{
	TRY(pbrest_decode(&found->rest, &lance__table__manifest__descriptor, &version->arena,
	                  &version->message, err));
	TRY(flags_check_readable(version->message->reader_feature_flags,
	                         version->message->writer_feature_flags, err));
	TRY(schema_check(version->message, err));
	version->counts_missing = found->counts_missing ||
		(version->message->writer_version == NULL && found->count > 0);
	version->overlay_fragments = found->overlay_fragments;
	version->spilled_fragments = found->spilled_fragments;
	version->formats = found->formats;
	fill_info(&version->info, version->message, found);
	fill_sections(version);
	TRY(fill_base_paths(version, err));
	return fill_maps(version, err);
}
