/* The reuse history of a version: found by its entry, made on first use, kept with the version. */
#include "reuse.h"

#include <assert.h>
#include <inttypes.h>

#include "survivors.h"
#include "util/macros.h"
#include "version.h"

#define INDEX_VERSION_MAX 1 /* 0 legacy, 1 tagged */

bool
index_is_reuse(struct lancet_bytes name)
{
	return slice_equal(slice_of(name.data, name.size), slice_text(REUSE_INDEX_NAME));
}

static int
find_index(lancet_version *version, const struct lancet_index **ret_index, struct lancet_error *err)
{
	const struct lancet_index *indices;
	size_t count;

	TRY(lancet_version_indices(version, &indices, &count, err));
	for (size_t i = 0; i < count; i++)
		if (index_is_reuse(indices[i].name)) {
			*ret_index = &indices[i];
			return LANCET_OK;
		}
	return lancet_fail(err, LANCET_NOT_FOUND, "no fragment reuse index");
}

bool
lancet_version_has_reuse(lancet_version *version)
{
	const struct lancet_index *index;

	return find_index(version, &index, NULL) == LANCET_OK;
}

void
version_reuse_free(void *reuse)
{
	struct lancet_reuse *freed = reuse;

	if (freed == NULL)
		return;
	for (size_t i = 0; freed->transitions != NULL && i < freed->info.transition_count; i++)
		survivors_free(atomic_load(&freed->transitions[i].survivors));
	for (size_t i = 0; i < REUSE_KEPT; i++)
		reuse_kept_free(atomic_load(&freed->kept[i]));
	reuse_needs_free(atomic_load(&freed->needs));
	arena_release(&freed->arena);
	free(freed);
}

static int
check_index_version(int32_t index_version, struct lancet_error *err)
{
	if (index_version >= 0 && index_version <= INDEX_VERSION_MAX)
		return LANCET_OK;
	return lancet_fail(err, LANCET_UNSUPPORTED,
		"fragment reuse index version %" PRId32 ", known up to %d", index_version,
		INDEX_VERSION_MAX);
}

static int
fill(struct lancet_reuse *reuse, struct slice content, int32_t index_version,
	struct lancet_error *err)
{
	int rc = reuse_parse_records(reuse, content, index_version, err);

	reuse->content = content;
	if (rc == LANCET_OK)
		rc = reuse_check(reuse, err);
	if (rc == LANCET_OK)
		rc = reuse_order(reuse, err);
	reuse->arena.limit = 0;
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "fragment reuse history");
}

int
reuse_parse(struct slice content, int32_t index_version, struct lancet_reuse **ret_reuse,
	struct lancet_error *err)
{
	struct lancet_reuse *reuse;
	const uint8_t *copy;
	int rc;

	TRY(check_index_version(index_version, err));
	reuse = calloc(1, sizeof(*reuse));
	if (reuse == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "fragment reuse history");
	copy = arena_copy(&reuse->arena, content.data, content.size);
	if (copy == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "fragment reuse history");
	else
		rc = fill(reuse, slice_of(copy, content.size), index_version, err);
	if (rc != LANCET_OK) {
		version_reuse_free(reuse);
		return rc;
	}
	*ret_reuse = reuse;
	return LANCET_OK;
}

static int
load(struct lancet_reuse *reuse, lancet_version *version, struct lancet_error *err)
{
	struct reuse_details details;
	const struct lancet_index *index = NULL;
	const struct lancet_index_segment *entry;

	TRY(find_index(version, &index, err));
	if (index->segment_count != 1)
		return lancet_fail(
			err, LANCET_CORRUPT, "%zu entries " REUSE_INDEX_NAME, index->segment_count);
	entry = index->segments[0];
	TRY(check_index_version(entry->index_version, err));
	TRY(reuse_details_load(version, entry, &reuse->arena, &details, err));
	reuse->info.entry = entry;
	reuse->info.external = details.external;
	reuse->info.details_path = details.path;
	return fill(reuse, details.content, entry->index_version, err);
}

int
lancet_version_reuse(lancet_version *version, lancet_reuse **ret_reuse, struct lancet_error *err)
{
	struct lancet_reuse *reuse = atomic_load(&version->reuse);
	void *before = NULL;
	int rc;

	if (reuse == NULL) {
		reuse = calloc(1, sizeof(*reuse));
		if (reuse == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "fragment reuse history");
		rc = load(reuse, version, err);
		if (rc != LANCET_OK) {
			version_reuse_free(reuse);
			return rc;
		}
		if (!atomic_compare_exchange_strong(&version->reuse, &before, reuse)) {
			version_reuse_free(reuse);
			reuse = before;
		}
	}
	*ret_reuse = reuse;
	return LANCET_OK;
}

const struct lancet_reuse_info *
lancet_reuse_info(const lancet_reuse *reuse)
{
	return &reuse->info;
}

const struct lancet_transition *
lancet_reuse_transition(const lancet_reuse *reuse, size_t index)
{
	assert(index < reuse->info.transition_count);
	return &reuse->transitions[index].info;
}

const char *
lancet_mapping_name(enum lancet_mapping mapping)
{
	static const char *const names[] = {
		[LANCET_ORDERED_COMPACTION] = "ordered_compaction",
		[LANCET_STABLE_PARTITION] = "stable_partition",
		[LANCET_UNKNOWN_MAPPING] = "unknown",
	};

	return names[mapping];
}

/* The first edge of the fragment, which is that of the first transition. */
static const struct reuse_edge *
find_edge(const struct reuse_edge *edges, size_t count, uint64_t fragment)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (edges[middle].fragment < fragment)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == count || edges[low].fragment != fragment)
		return NULL;
	return &edges[low];
}

const struct reuse_edge *
reuse_used_by(const struct lancet_reuse *reuse, uint64_t fragment)
{
	return find_edge(reuse->used_by, reuse->used_count, fragment);
}

struct reuse_transition *
reuse_consumer(const struct lancet_reuse *reuse, uint64_t fragment)
{
	const struct reuse_edge *edge = reuse_used_by(reuse, fragment);

	return edge == NULL ? NULL : &reuse->transitions[edge->transition];
}
