/* Whether the files that a transaction names exist and are what it says they are.
 *
 * Only what is new is looked at: a file that the fragment of the same id has already in the version
 * that was read was looked at when it came. Nothing is decoded but what tells the length and the
 * place of columns, and deletion vectors. What others have written is made durable, too, since
 * the manifest that will name it is.
 */
#ifndef CORE_TRANSACTION_SOUND_H
#define CORE_TRANSACTION_SOUND_H

#include <lancet/version.h>
#include "util/slice.h"

struct Lance__Table__DataFile;
struct Lance__Table__DataOverlayFile;
struct Lance__Table__DeletionFile;
struct Lance__Table__IndexFile;
struct Lance__Table__IndexMetadata;
struct Lance__Table__Transaction;
struct Lance__Table__Transaction__Update;
struct roaring_bitmap_s;
struct store;

/* CORRUPT: a file contradicts the message, or the message itself; NOT_FOUND: it is not there; the
 * text names it. IO, DENIED and UNSUPPORTED (a base that is not local, a file of a version that is
 * not known) are of the file, too. `theirs`: others wrote the files. */
int transaction_sound(lancet_version *read, const struct Lance__Table__Transaction *message,
	bool theirs, struct lancet_error *err);

/* The row maps and details that an encoded IndexMetadata of the reuse history names: one that goes
 * with a Rewrite. */
int transaction_sound_reuse(
	lancet_version *read, struct lancet_bytes entry, struct lancet_error *err);

/* Parts of these. */
struct sound {
	lancet_version *read;
	const struct Lance__Table__Transaction *message; /* NULL: a lone entry */
	bool theirs;
	struct lancet_error *err;
};

/* Where a file of the message lies: `prefix` ("data/") and `path`, below a base; in a base that is
 * no dataset `path` alone. Allocated, the caller frees. CORRUPT: a path or base that can't be. */
int sound_place(const struct sound *sound, const char *prefix, struct slice path, bool has_base,
	uint32_t base_id, struct store **ret_store, char **ret_key);
/* Of a file that is sound: durable when others wrote it. */
int sound_keep(const struct sound *sound, struct store *store, const char *key);
/* A fragment's physical rows are those of the file, unless they are 0: not known. */
int sound_data_file(
	const struct sound *sound, const struct Lance__Table__DataFile *file, uint64_t rows);
int sound_overlay(const struct sound *sound, const struct Lance__Table__DataOverlayFile *overlay,
	uint64_t rows);
/* `before` may be NULL: the deletion file that the fragment has in the version that was read, whose
 * rows must be deleted still. */
int sound_deletion(const struct sound *sound, uint64_t fragment,
	const struct Lance__Table__DeletionFile *file, uint64_t rows,
	const struct Lance__Table__DeletionFile *before);
/* The rows in it; the caller frees. */
int sound_deletion_load(const struct sound *sound, uint64_t fragment,
	const struct Lance__Table__DeletionFile *file, uint64_t rows,
	struct roaring_bitmap_s **ret_set);
/* Moved rows come once, and are gone from where they were. */
int sound_moved(
	const struct sound *sound, const struct Lance__Table__Transaction__Update *update);
int sound_index(const struct sound *sound, const struct Lance__Table__IndexMetadata *index);
int sound_index_files(const struct sound *sound, struct slice uuid, bool has_base, uint32_t base_id,
	struct Lance__Table__IndexFile *const *files, size_t count);

#endif
