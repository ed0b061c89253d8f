/* Files of the fragment reuse history: row maps of stable-partition transitions, and external
 * details.
 *
 * Only what a copy must hold is looked at here; the history itself is not judged: one that
 * contradicts itself is copied like any other. Format facts: section 11.
 */
#include "live.h"

#include <inttypes.h>
#include <stdio.h>

#include "reuse.h"
#include "util/macros.h"

static int
add_row_map(struct live_files *files, lancet_version *version,
	const struct lancet_transition *transition, struct lancet_error *err)
{
	struct lancet_live_file file = {
		.kind = LANCET_LIVE_ROW_MAP,
		.has_base = transition->has_base,
		.base_id = transition->base_id,
		.size = transition->map_bytes,
	};
	lancet_autofree char *path = NULL;
	int rc;

	TRY(reuse_map_path(transition->map_id, &path, err));
	file.path = file.source_path = path;
	rc = lancet_version_base(version, file.has_base, file.base_id, &file.base, err);
	if (rc == LANCET_IO || rc == LANCET_UNSUPPORTED || rc == LANCET_DENIED)
		file.code = rc; /* its base can't be reached now: the file fails when it is read */
	else
		TRY(rc);
	return live_add(files, &file, err);
}

/* Also of transitions with something unknown beside their row map. */
static int
add_row_maps(struct live_files *files, lancet_version *version, const struct lancet_reuse *history,
	struct lancet_error *err)
{
	for (size_t i = 0; i < history->info.transition_count; i++)
		if (history->transitions[i].has_row_map)
			TRY(add_row_map(files, version, &history->transitions[i].info, err));
	return LANCET_OK;
}

static int
add_external(struct live_files *files, const struct lancet_index_segment *entry,
	const struct reuse_details *details, struct lancet_error *err)
{
	struct lancet_live_file file = {
		.kind = LANCET_LIVE_FRI_DETAILS,
		.has_base = entry->has_base,
		.base_id = entry->base_id,
		.base = details->base,
		.size = details->offset == 0 ? details->size : UINT64_MAX,
		.source_path = details->key,
	};
	lancet_autofree char *path = NULL;

	if (asprintf(&path, "_indices/%s/%.*s", entry->uuid_text, (int)details->path.size,
		    (const char *)details->path.data) < 0) {
		path = NULL;
		return lancet_fail(err, LANCET_NO_MEMORY, "live files: out of memory");
	}
	file.path = path;
	return live_add(files, &file, err);
}

static int
add_history(struct live_files *files, lancet_version *version,
	const struct lancet_index_segment *entry, struct lancet_reuse *history,
	struct lancet_error *err)
{
	struct reuse_details details;
	size_t before = files->count;

	TRY(reuse_details_load(version, entry, &history->arena, &details, err));
	TRY(reuse_parse_records(history, details.content, entry->index_version, err));
	if (!details.external)
		return add_row_maps(files, version, history, err);
	TRY(add_external(files, entry, &details, err));
	TRY(add_row_maps(files, version, history, err));
	for (size_t i = before + 1; i < files->count; i++)
		files->files[before].rewritten |= files->files[i].has_base;
	if (files->files[before].rewritten && details.offset != 0)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"%s: to be rewritten from byte %" PRIu64, details.key, details.offset);
	return LANCET_OK;
}

static int
add_entry(struct live_files *files, lancet_version *version,
	const struct lancet_index_segment *entry, struct lancet_error *err)
{
	struct lancet_reuse history = { 0 };
	int rc;

	if (entry->details.size == 0) /* damaged, yet it names nothing */
		return LANCET_OK;
	rc = add_history(files, version, entry, &history, err);
	arena_release(&history.arena);
	return rc;
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
