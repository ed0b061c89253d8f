/* Inside of a dataset and of a version snapshot, for the modules of core.
 *
 * A version is immutable once lancet_version_open returned it. Parts made later (schema,
 * indices, live files) are built privately and published by compare-and-swap into a
 * `_Atomic(void *)` slot; the loser frees its copy.
 */
#ifndef CORE_VERSION_H
#define CORE_VERSION_H

#include <stdatomic.h>

#include <lancet/fragment.h>
#include <lancet/index.h>
#include <lancet/version.h>
#include "store.h"
#include "util/arena.h"

struct lancet_base {
	struct store *store;
	char *identity; /* lancet_base_identity */
};

/* Bases (bases.c). The dataset's own base has identity "" (main) or "tree/NAME". base_intern
 * opens an absolute local path or file:// URI; a directory that is the root or lies below it
 * gives the base with that relative path as its identity ("" or "tree/NAME"), any other one the
 * base with its resolved absolute path. UNSUPPORTED: not local. */
const struct lancet_base *dataset_base(struct lancet_dataset *dataset);
int dataset_base_intern(struct lancet_dataset *dataset, struct lancet_bytes path,
                        const struct lancet_base **ret_base, struct lancet_error *err);
/* The root's dataset for a branch, itself for main: refs lie there. */
struct lancet_dataset *dataset_root(struct lancet_dataset *dataset);
/* How a version keeps its dataset alive. Not lancet_dataset_ref: the dataset's cache holds versions
 * and is emptied when the last reference of that kind goes; pins only keep the memory. */
struct lancet_dataset *dataset_pin(struct lancet_dataset *dataset);
void dataset_unpin(struct lancet_dataset *dataset);
/* Opens a version's manifest file by number, V2 name first, then V1; CORRUPT when both exist. */
int dataset_open_manifest(struct lancet_dataset *dataset, uint64_t number,
                          struct source **ret_source, struct stat *ret_stat, char ret_name[40],
                          struct lancet_error *err);

/* 24 bytes a fragment: the index of a version that was not decoded. */
struct fragment_span {
	uint64_t id;
	uint32_t offset; /* of the DataFragment's bytes, from the start of the Manifest message */
	uint32_t size;
	uint32_t physical_rows; /* saturated at UINT32_MAX: the fragment itself then refuses */
	uint32_t deleted_rows;
};

struct lancet_version {
	struct lancet_version_info info;
	int refs;                       /* atomic */
	struct lancet_dataset *dataset; /* pinned: dataset_pin */
	struct source *file;            /* the whole manifest file, counted */
	char name[40];
	uint64_t message_offset;        /* of the Manifest message in file */
	uint32_t message_size;
	struct fragment_span *spans;    /* info.fragment_count, by id ascending */
	struct arena arena;             /* all small parts, decoded at open; then frozen */
	struct Lance__Table__Manifest *message; /* without field 2 (fragments); in arena */
	const struct lancet_entry *maps[3];
	size_t map_counts[3];
	const struct lancet_base_path *base_paths;
	bool counts_missing;            /* a fragment's row counts were not recorded */
	uint32_t overlay_fragments, spilled_fragments; /* that have overlays; a lineage column */
	unsigned formats;               /* of data files: bits by enum file_version; FORMAT_OTHER */
	bool has_index_section, has_transaction_section;
	uint64_t index_section, transaction_section; /* offsets of the length prefixes in file */
	/* lazy parts: see schema.c, index_meta.c, live.c, reuse.c */
	_Atomic(void *) schema, indices, live, reuse;
	size_t footprint;               /* bytes this snapshot holds, for the cache */
};

/* Decodes what lancet_version_open found on disk (version_cache.c calls it once for a number at a
 * time). Takes references of its own on the dataset (dataset_pin) and on file; name and st are
 * copied. The caller prefixes errors with the file's name. */
int version_load(struct lancet_dataset *dataset, uint64_t number, struct source *file,
                 const struct stat *st, const char *name, struct lancet_version **ret_version,
                 struct lancet_error *err);

/* The ordinal of the first fragment whose id is not below `id`, else fragment_count. */
uint64_t version_first_span(const struct lancet_version *version, uint64_t id);

/* NULL when the manifest has no such base; the one stored last when it has several. */
const struct lancet_base_path *version_base_path(const struct lancet_version *version, uint32_t id);

/* Frees of the lazy parts, called by the last unref. NULL is fine. */
void version_schema_free(void *schema);
void version_indices_free(void *indices);
void version_live_free(void *live);
void version_reuse_free(void *reuse);

/* A section "u32 length | message" of the manifest file; CORRUPT when it passes the end.
 * *ret_data is allocated. */
int version_section_load(struct lancet_version *version, uint64_t offset, uint64_t size_max,
                         uint8_t **ret_data, size_t *ret_size, struct lancet_error *err);

#endif
