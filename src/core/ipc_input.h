/* Messages of Arrow IPC files and streams, as they are read.
 *
 * A stream is a run of messages: continuation mark, size, flatbuffer, body. A file has magic bytes,
 * the same run, and a footer that tells where the messages are; of a pipe that holds a file only
 * the run is read. Sizes are believed only as far as there are bytes for them.
 */
#ifndef CORE_IPC_INPUT_H
#define CORE_IPC_INPUT_H

#include "arrow_ipc.h"
#include "util/flatview.h"
#include "util/source.h"

/* Bytes of a message without its body, or of a footer. */
#define IPC_METADATA_MAX (UINT32_C(64) << 20)

struct ipc_block {
	uint64_t offset, body_size;
	uint32_t size; /* of the message, its marks included */
};

struct ipc_input {
	struct source *source; /* a regular file; NULL: read as it comes */
	int fd;
	uint64_t memory; /* bytes of a body that comes from a pipe, at most */
	uint64_t at;     /* where the next message of the run begins */
	/* A file with a footer: what the footer says. */
	bool has_footer;
	uint8_t *footer;
	struct flatview view;
	struct flattable schema;
	struct flatvector dictionaries, batches; /* of blocks */
	uint64_t end;                            /* messages are before it */
};

/* `fd` is borrowed; of a regular file all from its position on is the file. INVALID: no Arrow
 * file. */
int ipc_input_open(struct ipc_input *input, int fd, uint64_t memory, struct lancet_error *err);
void ipc_input_release(struct ipc_input *input);
/* Block `index` of a vector of the footer. CORRUPT: it leaves the file. */
int ipc_input_block(const struct ipc_input *input, const struct flatvector *blocks, uint32_t index,
	struct ipc_block *ret_block, struct lancet_error *err);

struct ipc_message {
	uint8_t kind; /* enum ipc_header, or another number of Arrow's */
	uint8_t *bytes;
	struct flatview view;
	struct flattable header;
	struct source *body;
};

/* The next message of the run; *ret_ended: there is none. */
int ipc_message_next(struct ipc_input *input, struct ipc_message *message, bool *ret_ended,
	struct lancet_error *err);
int ipc_message_at(struct ipc_input *input, const struct ipc_block *block,
	struct ipc_message *message, struct lancet_error *err);
void ipc_message_release(struct ipc_message *message);

#endif
