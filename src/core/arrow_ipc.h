/* Parts of the writer of Arrow IPC streams: the schema message, and bodies of batches.
 *
 * Dictionaries are numbered by one walk of the schema, depth first; the walks over schema and
 * arrays count in the same order, so that no table of fields is needed.
 */
#ifndef CORE_ARROW_IPC_H
#define CORE_ARROW_IPC_H

#include "arrow_type.h"
#include "util/buf.h"

#define IPC_ALIGNMENT 64u /* of what is in a body: the widest that readers recommend */
#define IPC_VERSION   4   /* MetadataVersion V5 */

enum ipc_header { IPC_SCHEMA = 1, IPC_DICTIONARY = 2, IPC_BATCH = 3 };

/* How the bytes of a buffer come from an array: as they are, shifted to bit 0, or offsets that are
 * to begin with 0. */
enum ipc_part_kind { IPC_BYTES, IPC_BITS, IPC_OFFSETS_32, IPC_OFFSETS_64 };

struct ipc_part {
	enum ipc_part_kind kind;
	const void *data; /* NULL: zeros */
	uint64_t first;   /* bit or offset to begin with */
	uint64_t count;   /* bits or offsets; bytes otherwise */
};

/* A record batch before it is written: its nodes and buffers as the message lists them, and where
 * the bytes are. */
struct ipc_plan {
	struct buf nodes;   /* of the flatbuffer struct FieldNode */
	struct buf buffers; /* of the flatbuffer struct Buffer */
	struct buf parts;   /* struct ipc_part */
	uint64_t body_size; /* bytes */
};

/* The Schema message. *ret_dictionaries: how many fields have one. */
int ipc_schema_message(const struct ArrowSchema *schema, struct buf *out,
	uint32_t *ret_dictionaries, struct lancet_error *err);

/* Adds values [first, first + count) of the array, counted from its offset. INVALID when the array
 * is not of the schema. */
int ipc_plan_add(struct ipc_plan *plan, const struct ArrowSchema *schema,
	const struct ArrowArray *array, int64_t first, int64_t count, struct lancet_error *err);
void ipc_plan_release(struct ipc_plan *plan);
/* The Message with the batch, or with dictionary `id` when header is IPC_DICTIONARY. */
int ipc_plan_message(const struct ipc_plan *plan, enum ipc_header header, int64_t rows, uint32_t id,
	struct buf *out, struct lancet_error *err);
/* Writes the body, piece by piece. */
typedef int (*ipc_put)(void *context, const void *data, size_t size);
int ipc_plan_write(const struct ipc_plan *plan, ipc_put put, void *context);

#endif
