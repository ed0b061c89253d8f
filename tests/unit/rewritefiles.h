/* Files that the versions of a rewritten table name. */
#ifndef TESTS_REWRITEFILES_H
#define TESTS_REWRITEFILES_H

#include <lancet/index.h>
#include <lancet/transition.h>
#include "filenames.h"
#include "rewritetables.h"

static inline void
name_in(struct name_list *list, const char *dir, struct lancet_bytes name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%.*s", dir, (int)name.size, (const char *)name.data);
	names_add(list, path);
}

static inline void
name_fragments(struct name_list *list, lancet_version *version)
{
	for (uint64_t i = 0; i < lancet_version_info(version)->fragment_count; i++) {
		const struct lancet_fragment_info *info;
		lancet_fragment *fragment = NULL;

		OK(lancet_fragment_open(version, i, &fragment, &err));
		info = lancet_fragment_info(fragment);
		for (size_t k = 0; k < info->file_count; k++)
			name_in(list, "data", info->files[k].path);
		lancet_fragment_unref(fragment);
	}
}

static inline void
name_indices(struct name_list *list, lancet_version *version)
{
	const struct lancet_index *indices;
	size_t count;

	OK(lancet_version_indices(version, &indices, &count, &err));
	for (size_t i = 0; i < count; i++) {
		const lancet_base *base;
		char **paths = NULL;
		size_t files = 0;

		if (indices[i].is_system)
			continue;
		ck_assert_uint_eq(indices[i].segment_count, 1);
		OK(lancet_index_segment_files(
			version, indices[i].segments[0], &base, &paths, &files, &err));
		for (size_t k = 0; k < files; k++)
			names_add(list, paths[k]);
		free(paths);
	}
}

static inline void
name_map(struct name_list *list, lancet_version *version)
{
	const struct lancet_transition *transition;
	lancet_reuse *reuse;
	char path[96];

	OK(lancet_version_reuse(version, &reuse, &err));
	ck_assert_uint_eq(lancet_reuse_info(reuse)->transition_count, 1);
	transition = lancet_reuse_transition(reuse, 0);
	(void)snprintf(path, sizeof(path), "_fri/%.*s/stable_partition.lance",
		(int)transition->map_id.size, (const char *)transition->map_id.data);
	names_add(list, path);
}

/* What the versions since the one that the rewrite has read name. */
static inline void
name_versions(struct name_list *list, lancet_dataset *dataset, const struct rewrite_table *table,
	uint64_t newest)
{
	for (uint64_t number = table->kind.read + 1; number <= newest; number++) {
		lancet_version *version = NULL;
		const char *manifest;

		OK(lancet_version_open(dataset, number, &version, &err));
		manifest = lancet_version_manifest_name(version);
		name_in(list, "_versions",
			(struct lancet_bytes){ (const uint8_t *)manifest, strlen(manifest) });
		name_in(list, "_transactions", lancet_version_info(version)->transaction_file);
		if (number == table->kind.read + 2) {
			name_fragments(list, version);
			name_indices(list, version);
			if (table->maps)
				name_map(list, version);
		}
		lancet_version_unref(version);
	}
}

#endif
