/* Batches as an Arrow IPC stream: what pyarrow, DuckDB, polars and others read from a pipe.
 *
 * A stream is the schema, then batches, each after the dictionaries that have changed since the
 * one before, then an end mark. The writer holds no batch: what it is given is written out through
 * the sink at once, values without being copied.
 */
#ifndef LANCET_IPC_H
#define LANCET_IPC_H

#include "arrow.h"
#include "bytes.h"
#include "error.h"

typedef struct lancet_ipc lancet_ipc;

/* Writes the schema, a struct whose children are the columns. It is borrowed and must outlive the
 * writer, as `out`'s context must. INVALID: no such schema; UNSUPPORTED: a type that no data file
 * has. What a sink returns other than LANCET_OK is returned as it is, here and below. */
LANCET_API int lancet_ipc_open(const struct ArrowSchema *schema, const struct lancet_output *out,
	lancet_ipc **ret_writer, struct lancet_error *err);
/* Writes one batch of that schema, a struct array without nulls; it stays the caller's. Offsets
 * (slices) are honoured at every level. After an error the writer may only be freed. */
LANCET_API int lancet_ipc_write(
	lancet_ipc *writer, const struct ArrowArray *batch, struct lancet_error *err);
/* Writes the end mark. */
LANCET_API int lancet_ipc_finish(lancet_ipc *writer, struct lancet_error *err);
LANCET_API void lancet_ipc_free(lancet_ipc *writer); /* NULL is fine */

#endif
