/* New fragments of a change: data files, and the messages that name them.
 *
 * A fragment writer makes one data file below data/ for each fragment, published by the change's
 * own list of files, so that a change that fails leaves nothing. Rows come as batches of all
 * columns, or column by column (fragment_writer_file). Format facts: data file names, DataFile,
 * spilled sequences.
 */
#ifndef CORE_FRAGMENT_WRITE_H
#define CORE_FRAGMENT_WRITE_H

#include "change.h"
#include "file/file_writer.h"
#include "lineage_out.h"

struct Lance__Table__DataFile;
struct Lance__Table__DataFragment;

#define FRAGMENT_ROWS_MAX     UINT64_C(0xffffffff)
#define FRAGMENT_ROWS_DEFAULT UINT64_C(1048576) /* where the reference begins another file */

/* The file version that a dataset writes; UNSUPPORTED: 0.1 and 2.3, by name. */
int fragment_write_version(
	lancet_version *read, enum file_version *ret_version, struct lancet_error *err);

struct fragment_writer;

/* For a file with all columns of change->read's schema; `lineage` (may be NULL, outlives the
 * writer) says which of its sequences become columns of the file. Several may be open at the same
 * time, also from different threads. UNSUPPORTED: a column that can't be written, by name, before
 * there is any file. */
int fragment_writer_open(lancet_change *change, const struct lineage_out *lineage,
	size_t page_bytes, struct fragment_writer **ret_writer, struct lancet_error *err);
/* Page bytes with which the pages that are gathered for all columns take some 256 MiB, if that
 * makes them neither tiny nor larger than usual. */
size_t fragment_page_bytes(const struct field_tree *tree);
/* Gives the file up; NULL is fine. */
void fragment_writer_free(struct fragment_writer *writer);
/* Where user columns go: file_writer_put and file_writer_copy, root by root in the order of the
 * schema. The hidden columns are put by fragment_writer_finish. */
struct file_writer *fragment_writer_file(struct fragment_writer *writer);
/* Values [first, first + count) of all user columns, one array for each root. */
int fragment_writer_put(struct fragment_writer *writer, const struct array *roots, uint64_t first,
	uint64_t count, struct lancet_error *err);
/* Bytes of the file so far; what is gathered for the next pages is not among them. */
uint64_t fragment_writer_bytes(const struct fragment_writer *writer);
/* Ends the file, synced, and makes the message, id 0 (unassigned), with the lineage given, in
 * change->arena; frees the writer in any case. The file has its final name once
 * fragment_writers_name was called, for all of them. INVALID: no rows, or the lineage is of another
 * number of rows. */
int fragment_writer_finish(struct fragment_writer *writer,
	struct Lance__Table__DataFragment **ret_fragment, uint64_t *ret_bytes,
	struct lancet_error *err);
/* Names all files that were finished, durably. */
int fragment_writers_name(lancet_change *change, struct lancet_error *err);

/* "data/" and a fresh name as the reference makes them: 24 binary and 26 hex digits, ".lance". */
#define DATA_KEY_SIZE (5 + 24 + 26 + 6)
void data_key_make(char into[DATA_KEY_SIZE + 1]);
/* The message of a data file in change->arena: ids and columns by ordinal, those without id or
 * column left out. Under change->lock where several threads are at work. */
int data_file_make(lancet_change *change, const char *key, enum file_version version,
	const int32_t *ids, const int32_t *columns, size_t count, uint64_t size,
	struct Lance__Table__DataFile **ret_file, struct lancet_error *err);
/* A fragment of one file, id 0. */
int data_fragment_make(lancet_change *change, struct Lance__Table__DataFile *file, uint64_t rows,
	struct Lance__Table__DataFragment **ret_fragment, struct lancet_error *err);
/* The change is an Append of the fragments. */
int data_append_make(lancet_change *change, struct Lance__Table__DataFragment *const *fragments,
	size_t count, struct lancet_error *err);

#endif
