/* The parts of opening a manifest: its frame, the places of its fragments, its summary. */
#ifndef CORE_MANIFEST_H
#define CORE_MANIFEST_H

#include "util/buf.h"
#include "util/pbscan.h"
#include "version.h"

#define MANIFEST_FOOTER_SIZE 16u
#define MANIFEST_PREFIX_SIZE 4u

/* Where a manifest file says its message is. `file_size` is of the whole file, `footer` its last
 * 16 bytes (fewer when the file is shorter). Leaves *ret_size at what the message must have: the
 * footer's position and the end of the file decide it, the length prefix has to agree. */
int manifest_footer_parse(struct slice footer, uint64_t file_size, uint64_t *ret_prefix_offset,
                          uint32_t *ret_size, struct lancet_error *err);

/* What the walk over the message finds. */
struct manifest_scan {
	struct fragment_span *spans; /* sorted by (id, stored order); malloc */
	size_t count;
	size_t capacity;
	struct buf rest;             /* all other fields, for protobuf-c */
	uint64_t physical_rows, deleted_rows, data_files, data_bytes; /* saturated */
	bool has_file;               /* the two below are of the first data file */
	uint32_t file_major, file_minor;
	bool unsorted;
	bool counts_missing;         /* a fragment did not record its rows, or its deleted rows */
	uint32_t overlay_fragments, spilled_fragments;
	unsigned formats;            /* as in struct lancet_version */
};

/* Walks the message from scan->at on. CORRUPT when the frame of a field is damaged, or a
 * fragment's id; other damage inside of a fragment is left to who opens that one. UNSUPPORTED: a
 * fragment tree. */
int manifest_scan_run(struct manifest_scan *found, struct pbscan *scan, struct lancet_error *err);
void manifest_scan_release(struct manifest_scan *found);

/* Decodes what the scan left over and fills everything of the version that comes from it. */
int manifest_fill(struct lancet_version *version, const struct manifest_scan *found,
                  struct lancet_error *err);

#endif
