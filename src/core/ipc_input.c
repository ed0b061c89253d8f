/* See ipc_input.h. Tables and slots are those of Arrow's Message.fbs and File.fbs. */
#include "ipc_input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cursor.h"
#include "util/macros.h"

#define MAGIC        "ARROW1"
#define MAGIC_SIZE   6u
#define HEAD_SIZE    8u /* the magic, padded */
#define TAIL_SIZE    (4 + MAGIC_SIZE)
#define CONTINUATION UINT32_MAX
#define BLOCK_SIZE   24u

enum { FOOTER_SCHEMA = 1, FOOTER_DICTIONARIES, FOOTER_BATCHES };
enum { MESSAGE_VERSION, MESSAGE_KIND, MESSAGE_HEADER, MESSAGE_BODY_SIZE };

/* Reads up to `size` bytes of a pipe; fewer only at its end. */
static int
read_some(struct ipc_input *input, size_t size, uint8_t *into, size_t *ret_got,
	struct lancet_error *err)
{
	size_t got = 0;

	while (got < size) {
		ssize_t step = read(input->fd, into + got, size - got);

		if (step < 0 && errno == EINTR)
			return lancet_fail(err, LANCET_CANCELLED, "cancelled by a signal");
		if (step < 0)
			return lancet_fail_errno(err, "read");
		if (step == 0)
			break;
		got += (size_t)step;
	}
	*ret_got = got;
	return LANCET_OK;
}

/* Takes the next bytes; fewer than `size` only at the end. */
static int
take_some(struct ipc_input *input, size_t size, uint8_t *into, size_t *ret_got,
	struct lancet_error *err)
{
	if (input->source != NULL) {
		uint64_t left = input->source->size - input->at;

		*ret_got = left < size ? (size_t)left : size;
		TRY(source_read_at(input->source, input->at, *ret_got, into, err));
	} else {
		TRY(read_some(input, size, into, ret_got, err));
	}
	input->at += *ret_got;
	return LANCET_OK;
}

static int
take(struct ipc_input *input, size_t size, uint8_t *into, struct lancet_error *err)
{
	size_t got = 0;

	TRY(take_some(input, size, into, &got, err));
	return got == size ? LANCET_OK
			   : lancet_fail(err, LANCET_CORRUPT, "ends in the middle of a message");
}

static int
parse_footer(struct ipc_input *input, uint32_t size, struct lancet_error *err)
{
	struct flattable root;

	input->view = (struct flatview){ .in = slice_of(input->footer, size) };
	root = flatview_root(&input->view);
	input->schema = flatview_table(&root, FOOTER_SCHEMA);
	input->dictionaries = flatview_vector(&root, FOOTER_DICTIONARIES, BLOCK_SIZE);
	input->batches = flatview_vector(&root, FOOTER_BATCHES, BLOCK_SIZE);
	if (input->view.bad || !flattable_present(&input->schema))
		return lancet_fail(err, LANCET_CORRUPT, "the footer is damaged");
	input->has_footer = true;
	return LANCET_OK;
}

static int
load_footer(struct ipc_input *input, struct lancet_error *err)
{
	struct source *source = input->source;
	uint8_t tail[TAIL_SIZE];
	uint32_t size;

	if (source->size < HEAD_SIZE + TAIL_SIZE)
		return lancet_fail(err, LANCET_CORRUPT, "an Arrow file that is cut");
	TRY(source_read_at(source, source->size - TAIL_SIZE, TAIL_SIZE, tail, err));
	if (memcmp(tail + 4, MAGIC, MAGIC_SIZE) != 0)
		return lancet_fail(err, LANCET_CORRUPT,
			"an Arrow file that is cut: its last bytes are not " MAGIC);
	size = load_u32(tail);
	if (size > source->size - HEAD_SIZE - TAIL_SIZE || size > IPC_METADATA_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "a footer of %" PRIu32 " bytes", size);
	input->end = source->size - TAIL_SIZE - size;
	TRY(source_load(source, input->end, size, &input->footer, err));
	return parse_footer(input, size, err);
}

static int
open_source(struct ipc_input *input, int fd, struct lancet_error *err)
{
	lancet_autoclose int copy = -1;
	struct source *whole;
	struct stat st;
	off_t at;

	if (fstat(fd, &st) != 0)
		return lancet_fail_errno(err, "stat");
	if (!S_ISREG(st.st_mode))
		return LANCET_OK;
	at = lseek(fd, 0, SEEK_CUR);
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (at < 0 || copy < 0)
		return lancet_fail_errno(err, "open");
	whole = source_fd_new(copy, (uint64_t)st.st_size);
	if (whole == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "Arrow file");
	(void)lancet_steal_fd(&copy);
	input->source = at > st.st_size ? NULL
					: source_slice_new(
						  whole, (uint64_t)at, (uint64_t)(st.st_size - at));
	source_unref(whole);
	if (input->source == NULL)
		return lancet_fail(
			err, at > st.st_size ? LANCET_CORRUPT : LANCET_NO_MEMORY, "Arrow file");
	return LANCET_OK;
}

/* Tells files from streams, and leaves the input at the first message. */
static int
open_run(struct ipc_input *input, struct lancet_error *err)
{
	uint8_t head[HEAD_SIZE];
	size_t got = 0;

	if (input->source == NULL)
		return LANCET_OK;
	TRY(take_some(input, HEAD_SIZE, head, &got, err));
	if (got >= MAGIC_SIZE && memcmp(head, MAGIC, MAGIC_SIZE) == 0)
		return load_footer(input, err);
	input->at = 0;
	return LANCET_OK;
}

int
ipc_input_open(struct ipc_input *input, int fd, uint64_t memory, struct lancet_error *err)
{
	int rc;

	*input = (struct ipc_input){ .fd = fd, .memory = memory };
	rc = open_source(input, fd, err);
	if (rc == LANCET_OK)
		rc = open_run(input, err);
	if (rc != LANCET_OK)
		ipc_input_release(input);
	return rc;
}

void
ipc_input_release(struct ipc_input *input)
{
	source_unref(input->source);
	free(input->footer);
	*input = (struct ipc_input){ .fd = -1 };
}

int
ipc_input_block(const struct ipc_input *input, const struct flatvector *blocks, uint32_t index,
	struct ipc_block *ret_block, struct lancet_error *err)
{
	struct slice at = flatvector_element(blocks, index);
	struct ipc_block block;

	if (at.size != BLOCK_SIZE)
		return lancet_fail(err, LANCET_CORRUPT, "the footer is damaged");
	block = (struct ipc_block){ load_u64(at.data), load_u64(at.data + 16),
		load_u32(at.data + 8) };
	if (block.offset > input->end || block.size > input->end - block.offset ||
		block.body_size > input->end - block.offset - block.size)
		return lancet_fail(
			err, LANCET_CORRUPT, "the footer names a message beyond the file");
	*ret_block = block;
	return LANCET_OK;
}

static int
parse_message(
	struct ipc_message *message, size_t size, uint64_t *ret_body_size, struct lancet_error *err)
{
	struct flattable root;
	int64_t body_size;
	int16_t version;

	message->view = (struct flatview){ .in = slice_of(message->bytes, size) };
	root = flatview_root(&message->view);
	version = flatview_i16(&root, MESSAGE_VERSION, 0);
	message->kind = flatview_u8(&root, MESSAGE_KIND, 0);
	message->header = flatview_table(&root, MESSAGE_HEADER);
	body_size = flatview_i64(&root, MESSAGE_BODY_SIZE, 0);
	if (message->view.bad || !flattable_present(&message->header) || body_size < 0)
		return lancet_fail(err, LANCET_CORRUPT, "a message is damaged");
	if (version != IPC_VERSION && version != IPC_VERSION - 1)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"Arrow metadata of version V%d, V4 and V5 are read", version + 1);
	*ret_body_size = (uint64_t)body_size;
	return LANCET_OK;
}

static int
load_body(struct ipc_input *input, struct ipc_message *message, uint64_t size,
	struct lancet_error *err)
{
	lancet_autofree uint8_t *bytes = NULL;

	if (input->source != NULL) {
		if (size > input->source->size - input->at)
			return lancet_fail(err, LANCET_CORRUPT, "ends in the middle of a message");
		message->body = source_slice_new(input->source, input->at, size);
		input->at += size;
		return message->body != NULL ? LANCET_OK
					     : lancet_fail(err, LANCET_NO_MEMORY, "message");
	}
	if (size > input->memory)
		return lancet_fail(err, LANCET_LIMIT,
			"a message of %" PRIu64
			" bytes from a pipe: give a file, or smaller batches",
			size);
	bytes = malloc((size_t)size + 1);
	if (bytes == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "message of %" PRIu64 " bytes", size);
	TRY(take(input, (size_t)size, bytes, err));
	message->body = source_memory_new(slice_of(bytes, (size_t)size), bytes);
	if (message->body == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "message");
	(void)lancet_steal(&bytes);
	return LANCET_OK;
}

/* The size of the next message; 0: there is none. A pipe that holds a file begins with its magic;
 * before 2019 messages had no continuation mark. */
static int
take_size(struct ipc_input *input, uint32_t *ret_size, struct lancet_error *err)
{
	bool at_start = input->at == 0;
	uint8_t word[4] = { 0 };
	size_t got = 0;

	TRY(take_some(input, sizeof(word), word, &got, err));
	*ret_size = 0;
	if (got == 0 && !at_start)
		return LANCET_OK;
	if (got == 4 && at_start && input->source == NULL && memcmp(word, MAGIC, 4) == 0) {
		TRY(take(input, 4, word, err));
		TRY(take(input, 4, word, err));
	}
	*ret_size = load_u32(word);
	if (got == 4 && *ret_size == CONTINUATION) {
		TRY(take(input, 4, word, err));
		*ret_size = load_u32(word);
	}
	if (got != 4 || *ret_size > IPC_METADATA_MAX)
		return lancet_fail(err, at_start ? LANCET_INVALID : LANCET_CORRUPT,
			at_start ? "this is no Arrow file or stream"
				 : "ends in the middle of a message");
	return LANCET_OK;
}

static int
load_message(struct ipc_input *input, uint32_t size, struct ipc_message *message,
	struct lancet_error *err)
{
	uint64_t body_size = 0;

	if (input->source != NULL && size > input->source->size - input->at)
		return lancet_fail(err, LANCET_CORRUPT, "ends in the middle of a message");
	message->bytes = malloc(size);
	if (message->bytes == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "message of %" PRIu32 " bytes", size);
	TRY(take(input, size, message->bytes, err));
	TRY(parse_message(message, size, &body_size, err));
	return load_body(input, message, body_size, err);
}

int
ipc_message_next(struct ipc_input *input, struct ipc_message *message, bool *ret_ended,
	struct lancet_error *err)
{
	uint32_t size;
	int rc;

	TRY(take_size(input, &size, err));
	*message = (struct ipc_message){ 0 };
	*ret_ended = size == 0;
	if (size == 0)
		return LANCET_OK;
	rc = load_message(input, size, message, err);
	if (rc != LANCET_OK)
		ipc_message_release(message);
	return rc;
}

int
ipc_message_at(struct ipc_input *input, const struct ipc_block *block, struct ipc_message *message,
	struct lancet_error *err)
{
	bool ended;

	input->at = block->offset;
	TRY(ipc_message_next(input, message, &ended, err));
	if (!ended && message->body->size <= block->body_size)
		return LANCET_OK;
	ipc_message_release(message);
	return lancet_fail(err, LANCET_CORRUPT, "the footer contradicts a message");
}

void
ipc_message_release(struct ipc_message *message)
{
	free(message->bytes);
	source_unref(message->body);
	*message = (struct ipc_message){ 0 };
}
