/* The two sources of rawfile.h. */
#include "rawfile.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/macros.h"

static int
read_fd(const struct raw_bytes *raw, uint64_t offset, size_t size, void *into,
	struct lancet_error *err)
{
	const int *fd = raw->state;
	size_t got = 0;

	while (got < size) {
		ssize_t n = pread(*fd, (uint8_t *)into + got, size - got, (off_t)(offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lancet_fail_errno(err, "read");
		if (n == 0)
			return lancet_fail(
				err, LANCET_IO, "the file became shorter while it was read");
		got += (size_t)n;
	}
	return LANCET_OK;
}

static void
release_fd(struct raw_bytes *raw)
{
	int *fd = raw->state;

	close(*fd);
	free(fd);
}

int
raw_of_fd(int fd, uint64_t size, struct raw_bytes *ret_raw, struct lancet_error *err)
{
	int *state = malloc(sizeof(*state));

	if (state == NULL) {
		close(fd);
		return lancet_fail(err, LANCET_NO_MEMORY, "out of memory");
	}
	*state = fd;
	*ret_raw = (struct raw_bytes){
		.size = size,
		.read = read_fd,
		.release = release_fd,
		.state = state,
	};
	return LANCET_OK;
}

struct made {
	lancet_rewritten *rewrite;
	lancet_live *live;
};

static int
read_made(const struct raw_bytes *raw, uint64_t offset, size_t size, void *into,
	struct lancet_error *err)
{
	const struct made *made = raw->state;

	return lancet_rewritten_read(made->rewrite, offset, size, into, err);
}

static void
release_made(struct raw_bytes *raw)
{
	struct made *made = raw->state;

	lancet_rewritten_free(made->rewrite);
	lancet_live_unref(made->live);
	free(made);
}

int
raw_of_live(lancet_live *live, size_t index, struct raw_bytes *ret_raw, struct lancet_error *err)
{
	lancet_rewritten *rewrite = NULL;
	struct made *made;

	TRY(lancet_rewritten_open(live, index, &rewrite, err));
	made = malloc(sizeof(*made));
	if (made == NULL) {
		lancet_rewritten_free(rewrite);
		return lancet_fail(err, LANCET_NO_MEMORY, "out of memory");
	}
	*made = (struct made){ rewrite, lancet_live_ref(live) };
	*ret_raw = (struct raw_bytes){
		.size = lancet_rewritten_size(rewrite),
		.read = read_made,
		.release = release_made,
		.state = made,
	};
	return LANCET_OK;
}
