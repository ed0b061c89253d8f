/* The live files of a version: what `dataset/` and files.tsv show, and what a backup copies.
 *
 * SPEC section 7. Files of other bases appear at the place they would have in this dataset; the
 * manifest, tag files and FRI details are rewritten where needed so that the copy stands alone, and
 * are pass-through where not.
 */
#ifndef LANCET_LIVE_H
#define LANCET_LIVE_H

#include "fragment.h"

enum lancet_live_kind {
	LANCET_LIVE_DATA,
	LANCET_LIVE_OVERLAY,
	LANCET_LIVE_DELETION,
	LANCET_LIVE_INDEX,
	LANCET_LIVE_ROW_MAP,
	LANCET_LIVE_FRI_DETAILS,
	LANCET_LIVE_TRANSACTION,
	LANCET_LIVE_MANIFEST,
	LANCET_LIVE_REF,
	LANCET_LIVE_BLOB,
};

struct lancet_live_file {
	enum lancet_live_kind kind;
	bool has_fragment, has_base,
		rewritten; /* rewritten: read with lancet_live_open, not from its base */
	uint64_t fragment; /* id */
	uint32_t base_id;
	const lancet_base
		*base; /* where the bytes are; NULL when it can't be resolved (then code) */
	const char *source_path; /* path in base */
	const char *path;        /* path in the tree: "data/x.lance" */
	uint64_t size;           /* bytes as recorded; UINT64_MAX = not recorded: stat the file */
	int code; /* LANCET_OK, or why it can't be read (unknown base, hostile path) */
};

/* Counted, immutable. Files of the version first, by path in byte order; the tag files ("_refs/…"),
 * which come and go while the version stays, are behind them, by path too. A reference keeps the
 * version alive. */
typedef struct lancet_live lancet_live;

/* CORRUPT when what the version needs can't be named completely (a damaged fragment, index section
 * or reuse history, a hostile path, two files for one place): a copy would be incomplete without a
 * word. The files are found once for a version; tag files are looked at on each call. */
LANCET_API int lancet_live_open(
	lancet_version *version, lancet_live **ret_live, struct lancet_error *err);
LANCET_API lancet_live *lancet_live_ref(lancet_live *live);
LANCET_API void lancet_live_unref(lancet_live *live);
LANCET_API size_t lancet_live_count(const lancet_live *live);     /* all, tag files included */
LANCET_API size_t lancet_live_ref_start(const lancet_live *live); /* index of the first tag file */
LANCET_API const struct lancet_live_file *lancet_live_file(const lancet_live *live, size_t index);
LANCET_API const char *lancet_live_kind_name(
	enum lancet_live_kind kind); /* blob sidecars: "data" */
/* False when a file lies in another base (summary's `relocatable` is then "false"). */
LANCET_API bool lancet_live_relocatable(const lancet_live *live);

/* A rewritten file: exact size, and bytes at any offset. */
typedef struct lancet_rewritten lancet_rewritten;
LANCET_API int lancet_rewritten_open(
	lancet_live *live, size_t index, lancet_rewritten **ret_rewrite, struct lancet_error *err);
LANCET_API void lancet_rewritten_free(lancet_rewritten *rewrite);
LANCET_API uint64_t lancet_rewritten_size(const lancet_rewritten *rewrite);
LANCET_API int lancet_rewritten_read(const lancet_rewritten *rewrite, uint64_t offset, size_t size,
	void *into, struct lancet_error *err);

#endif
