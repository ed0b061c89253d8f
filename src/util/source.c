/* The three plain sources: memory, descriptor, window of another. Bounds are checked once, in
 * source_read_at; implementations may rely on them.
 */
#include "source.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

struct memory_source {
	struct source base;
	void *owned;
};

struct window_source {
	struct source base;
	struct source *parent;
	uint64_t offset;
};

void
source_init(struct source *src, const struct source_ops *ops, uint64_t size)
{
	*src = (struct source){ .ops = ops, .size = size, .refs = 1, .fd = -1 };
}

static int
memory_read_at(struct source *src, uint64_t offset, size_t size, void *into,
               struct lancet_error *err)
{
	(void)err;
	memcpy(into, src->data + offset, size);
	return LANCET_OK;
}

static void
memory_release(struct source *src)
{
	struct memory_source *memory = (struct memory_source *)src;

	free(memory->owned);
	free(memory);
}

static const struct source_ops memory_ops = { memory_read_at, memory_release };

struct source *
source_memory_new(struct slice bytes, void *owned)
{
	struct memory_source *memory = malloc(sizeof(*memory));

	if (memory == NULL)
		return NULL;
	source_init(&memory->base, &memory_ops, bytes.size);
	/* "in memory" is told by data: an empty slice gets an address too */
	memory->base.data = bytes.data != NULL ? bytes.data : (const uint8_t *)"";
	memory->owned = owned;
	return &memory->base;
}

static int
fd_read_at(struct source *src, uint64_t offset, size_t size, void *into,
           struct lancet_error *err)
{
	uint8_t *to = into;

	while (size > 0) {
		ssize_t got = pread(src->fd, to, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return lancet_fail_errno(err, "read at byte %" PRIu64, offset);
		if (got == 0)
			return lancet_fail(err, LANCET_CORRUPT,
			                   "ends at byte %" PRIu64 ", had %" PRIu64
			                   " bytes when opened",
			                   offset, src->size);
		to += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return LANCET_OK;
}

static void
fd_release(struct source *src)
{
	(void)close(src->fd);
	free(src);
}

static const struct source_ops fd_ops = { fd_read_at, fd_release };

struct source *
source_fd_new(int fd, uint64_t size)
{
	struct source *src = size > INT64_MAX ? NULL : malloc(sizeof(*src));

	if (src == NULL)
		return NULL;
	source_init(src, &fd_ops, size);
	src->fd = fd;
	return src;
}

static int
window_read_at(struct source *src, uint64_t offset, size_t size, void *into,
               struct lancet_error *err)
{
	struct window_source *window = (struct window_source *)src;

	return source_read_at(window->parent, window->offset + offset, size, into, err);
}

static void
window_release(struct source *src)
{
	struct window_source *window = (struct window_source *)src;

	source_unref(window->parent);
	free(window);
}

static const struct source_ops window_ops = { window_read_at, window_release };

struct source *
source_slice_new(struct source *parent, uint64_t offset, uint64_t size)
{
	struct window_source *window = malloc(sizeof(*window));

	assert(offset <= parent->size && size <= parent->size - offset);
	if (window == NULL)
		return NULL;
	source_init(&window->base, &window_ops, size);
	window->base.data = parent->data != NULL ? parent->data + offset : NULL;
	window->base.fd = offset == 0 ? parent->fd : -1;
	window->parent = source_ref(parent);
	window->offset = offset;
	return &window->base;
}

struct source *
source_ref(struct source *src)
{
	int before = __atomic_fetch_add(&src->refs, 1, __ATOMIC_RELAXED);

	assert(before > 0);
	(void)before;
	return src;
}

void
source_unref(struct source *src)
{
	int before;

	if (src == NULL)
		return;
	before = __atomic_fetch_sub(&src->refs, 1, __ATOMIC_ACQ_REL);
	assert(before > 0);
	if (before == 1)
		src->ops->release(src);
}

int
source_read_at(struct source *src, uint64_t offset, size_t size, void *into,
               struct lancet_error *err)
{
	if (offset > src->size || size > src->size - offset)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "%zu bytes at %" PRIu64 " pass the end at %" PRIu64, size,
		                   offset, src->size);
	return size == 0 ? LANCET_OK : src->ops->read_at(src, offset, size, into, err);
}

int
source_load(struct source *src, uint64_t offset, size_t size, uint8_t **ret_data,
            struct lancet_error *err)
{
	uint8_t *data;
	int rc;

	if (offset > src->size || size > src->size - offset) /* before memory is taken for it */
		return source_read_at(src, offset, size, NULL, err);
	data = malloc(size == 0 ? 1 : size);
	if (data == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu bytes to read into", size);
	rc = source_read_at(src, offset, size, data, err);
	if (rc != LANCET_OK) {
		free(data);
		return rc;
	}
	*ret_data = data;
	return LANCET_OK;
}
