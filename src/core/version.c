/* A version's getters, and its end.
 *
 * A version is immutable; what is made later hangs in slots that are set once (schema, indices,
 * live files, reuse history) and is freed here with the last reference.
 */
#include "version.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "util/cursor.h"
#include "util/macros.h"
#include "util/source.h"

#define SECTION_PREFIX_SIZE 4u

lancet_version *
lancet_version_ref(lancet_version *version)
{
	int before = __atomic_fetch_add(&version->refs, 1, __ATOMIC_RELAXED);

	assert(before > 0);
	(void)before;
	return version;
}

void
lancet_version_unref(lancet_version *version)
{
	int before;

	if (version == NULL)
		return;
	before = __atomic_fetch_sub(&version->refs, 1, __ATOMIC_ACQ_REL);
	assert(before > 0);
	if (before > 1)
		return;
	version_schema_free(atomic_load(&version->schema));
	version_indices_free(atomic_load(&version->indices));
	version_live_free(atomic_load(&version->live));
	version_reuse_free(atomic_load(&version->reuse));
	free(version->spans);
	arena_release(&version->arena);
	source_unref(version->file);
	dataset_unpin(version->dataset);
	free(version);
}

lancet_dataset *
lancet_version_dataset(const lancet_version *version)
{
	return version->dataset;
}

const struct lancet_version_info *
lancet_version_info(const lancet_version *version)
{
	return &version->info;
}

uint64_t
lancet_version_manifest_size(const lancet_version *version)
{
	return version->message_size;
}

int
lancet_version_manifest_read(lancet_version *version, uint64_t offset, size_t size, void *into,
                             struct lancet_error *err)
{
	if (offset > version->message_size || size > version->message_size - offset)
		return lancet_fail(err, LANCET_INVALID,
		                   "%zu bytes at %" PRIu64 " of a manifest of %" PRIu32 " bytes",
		                   size, offset, version->message_size);
	return source_read_at(version->file, version->message_offset + offset, size, into, err);
}

const char *
lancet_version_manifest_name(const lancet_version *version)
{
	return version->name;
}

const struct lancet_entry *
lancet_version_map(const lancet_version *version, enum lancet_map which, size_t *ret_count)
{
	*ret_count = version->map_counts[which];
	return version->maps[which];
}

const struct lancet_base_path *
lancet_version_base_paths(const lancet_version *version, size_t *ret_count)
{
	*ret_count = version->info.base_path_count;
	return version->base_paths;
}

const struct lancet_base_path *
version_base_path(const lancet_version *version, uint32_t id)
{
	size_t low = 0, high = version->info.base_path_count;

	/* just past the last one with this id: of several the one stored last counts */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (version->base_paths[middle].id <= id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || version->base_paths[low - 1].id != id)
		return NULL;
	return &version->base_paths[low - 1];
}

int
lancet_version_base(lancet_version *version, bool has_base, uint32_t base_id,
                    const lancet_base **ret_base, struct lancet_error *err)
{
	const struct lancet_base_path *path;
	int rc;

	if (!has_base) {
		*ret_base = dataset_base(version->dataset);
		return LANCET_OK;
	}
	path = version_base_path(version, base_id);
	if (path == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "base %" PRIu32 ": not in the manifest",
		                   base_id);
	rc = dataset_base_intern(version->dataset, path->path, ret_base, err);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "base %" PRIu32, base_id);
}

void
lancet_version_span(const lancet_version *version, uint64_t ordinal,
                    struct lancet_fragment_span *ret_span)
{
	const struct fragment_span *span;

	assert(ordinal < version->info.fragment_count);
	span = &version->spans[ordinal];
	ret_span->id = span->id;
	ret_span->physical_rows = span->physical_rows;
	ret_span->deleted_rows = span->deleted_rows;
}

uint64_t
version_first_span(const struct lancet_version *version, uint64_t id)
{
	uint64_t low = 0, high = version->info.fragment_count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (version->spans[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int
lancet_version_find_fragment(const lancet_version *version, uint64_t id, uint64_t *ret_ordinal,
                             struct lancet_error *err)
{
	uint64_t ordinal = version_first_span(version, id);

	if (ordinal == version->info.fragment_count || version->spans[ordinal].id != id)
		return lancet_fail(err, LANCET_NOT_FOUND,
		                   "fragment %" PRIu64 ": there is none in version %" PRIu64, id,
		                   version->info.number);
	*ret_ordinal = ordinal;
	return LANCET_OK;
}

int
version_section_load(struct lancet_version *version, uint64_t offset, uint64_t size_max,
                     uint8_t **ret_data, size_t *ret_size, struct lancet_error *err)
{
	uint64_t end = version->file->size;
	uint8_t prefix[SECTION_PREFIX_SIZE];
	uint32_t size;

	if (end < SECTION_PREFIX_SIZE || offset > end - SECTION_PREFIX_SIZE)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "section at byte %" PRIu64 " of %" PRIu64, offset, end);
	TRY(source_read_at(version->file, offset, sizeof(prefix), prefix, err));
	size = load_u32(prefix);
	if (size > end - SECTION_PREFIX_SIZE - offset)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "section of %" PRIu32 " bytes at byte %" PRIu64 " of %" PRIu64,
		                   size, offset, end);
	if (size > size_max)
		return lancet_fail(err, LANCET_LIMIT,
		                   "section of %" PRIu32 " bytes, limit %" PRIu64, size, size_max);
	TRY(source_load(version->file, offset + SECTION_PREFIX_SIZE, size, ret_data, err));
	*ret_size = size;
	return LANCET_OK;
}
