/* A version: one manifest, immutable, counted.
 *
 * Format facts: manifest file layout, Manifest message, feature flags, schema. Opening finds the
 * places of the fragments without decoding them; everything else is decoded on first use and kept.
 * All getters are safe from many threads; what they return belongs to the version.
 */
#ifndef LANCET_VERSION_H
#define LANCET_VERSION_H

#include "dataset.h"

/* Opens version `number` (>= 1, or a detached one). NOT_FOUND if no manifest has it; CORRUPT:
 * unreadable, the two naming schemes clash, or another number inside; UNSUPPORTED names the reader
 * flag. Cached. */
LANCET_API int lancet_version_open(lancet_dataset *dataset, uint64_t number,
	lancet_version **ret_version, struct lancet_error *err);
LANCET_API lancet_version *lancet_version_ref(lancet_version *version);
LANCET_API void lancet_version_unref(lancet_version *version);
LANCET_API lancet_dataset *lancet_version_dataset(const lancet_version *version); /* borrowed */

struct lancet_version_info {
	uint64_t number;
	bool has_timestamp;
	int64_t timestamp_seconds; /* as stored; may be absurd */
	int32_t timestamp_nanos;
	uint64_t reader_flags, writer_flags;
	bool stable_row_ids; /* reader flag bit 1 */
	bool has_max_fragment_id;
	uint32_t max_fragment_id;
	uint64_t next_row_id;
	struct lancet_bytes storage_version; /* "2.2"; when not recorded, from the files or flags */
	bool has_writer;
	struct lancet_bytes writer_library, writer_version, writer_prerelease, writer_build;
	struct lancet_bytes tag, branch, transaction_file; /* empty = absent */
	uint64_t fragment_count, physical_rows, deleted_rows, data_files, data_bytes;
	size_t base_path_count;
	struct stat manifest_stat; /* of the manifest file when it was opened */
};
LANCET_API const struct lancet_version_info *lancet_version_info(const lancet_version *version);

/* Exact totals. Where the manifest did not record them (old writers), the data and deletion files
 * are asked. */
LANCET_API int lancet_version_rows(lancet_version *version, uint64_t *ret_physical,
	uint64_t *ret_deleted, struct lancet_error *err);

/* Manifest message: its bytes as stored (from a counted range of the manifest file). */
LANCET_API uint64_t lancet_version_manifest_size(const lancet_version *version); /* bytes */
LANCET_API int lancet_version_manifest_read(lancet_version *version, uint64_t offset, size_t size,
	void *into, struct lancet_error *err);
/* The name of the manifest file ("18446744073709551614.manifest"). */
LANCET_API const char *lancet_version_manifest_name(const lancet_version *version);

enum lancet_map { LANCET_CONFIG, LANCET_TABLE_METADATA, LANCET_SCHEMA_METADATA };
LANCET_API const struct lancet_entry *lancet_version_map(
	const lancet_version *version, enum lancet_map which, size_t *ret_count);

struct lancet_base_path {
	uint32_t id;
	struct lancet_bytes name, path;
	bool is_dataset_root;
};
LANCET_API const struct lancet_base_path *lancet_version_base_paths(
	const lancet_version *version, size_t *ret_count);
/* The directory that `path` of a file with this base id lies in; kind-dependent sub-directories
 * ("data/") are part of the path the caller builds (lancet_live_file, lancet_data_file_path do).
 * has_base false: the dataset itself. CORRUPT: no such base id; UNSUPPORTED: not a local path. */
LANCET_API int lancet_version_base(lancet_version *version, bool has_base, uint32_t base_id,
	const lancet_base **ret_base, struct lancet_error *err);

struct lancet_field {
	int32_t id, parent_id; /* parent -1 = top level */
	unsigned depth;        /* 0 = top level */
	struct lancet_bytes name, logical_type;
	bool nullable;
	uint32_t encoding;
	const struct lancet_entry *metadata;
	size_t metadata_count;
};
/* Fields in stored order, parents before children: with any other order no version opens. LIMIT:
 * nested too deep. */
LANCET_API int lancet_version_fields(lancet_version *version,
	const struct lancet_field **ret_fields, size_t *ret_count, struct lancet_error *err);

/* Flag names (SPEC section 4); "bit_N" beyond the known ones. Writes at most 16 bytes + NUL. */
LANCET_API const char *lancet_flag_name(unsigned bit, char into[32]);

/* JSON documents of SPEC section 4, rendered from the stored message; unknown fields appear by
 * number. */
LANCET_API int lancet_version_manifest_json(
	lancet_version *version, const struct lancet_output *out, struct lancet_error *err);
LANCET_API int lancet_version_schema_json(
	lancet_version *version, const struct lancet_output *out, struct lancet_error *err);

#endif
