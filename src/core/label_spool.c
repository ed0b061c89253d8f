/* A spool of labels; see label_spool.h. */
#include "label_spool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/macros.h"

#define WHAT      "labels of rows in a temporary file"
#define NAME_SIZE 4096u

static int
open_file(struct label_spool *spool, struct lancet_error *err)
{
	const char *directory = getenv("TMPDIR");
	char name[NAME_SIZE];
	int fd;

	if (directory == NULL || directory[0] != '/')
		directory = "/var/tmp";
	fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	/* Not all file systems have files without a name. */
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		if ((size_t)snprintf(name, sizeof(name), "%s/lancet-XXXXXX", directory) >=
			sizeof(name))
			return lancet_fail(err, LANCET_LIMIT, WHAT ": TMPDIR is too long");
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			(void)unlink(name);
	}
	if (fd < 0)
		return lancet_fail_errno(err, WHAT " below %.200s", directory);
	spool->file = fd + 1;
	return LANCET_OK;
}

static int
write_all(int fd, const uint8_t *data, size_t size, uint64_t offset, struct lancet_error *err)
{
	while (size > 0) {
		ssize_t put = pwrite(fd, data, size, (off_t)offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return lancet_fail_errno(err, WHAT);
		data += put;
		size -= (size_t)put;
		offset += (uint64_t)put;
	}
	return LANCET_OK;
}

static int
read_all(int fd, uint8_t *data, size_t size, uint64_t offset, struct lancet_error *err)
{
	while (size > 0) {
		ssize_t got = pread(fd, data, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return lancet_fail_errno(err, WHAT);
		if (got == 0)
			return lancet_fail(err, LANCET_CORRUPT, WHAT ": it has become shorter");
		data += got;
		size -= (size_t)got;
		offset += (uint64_t)got;
	}
	return LANCET_OK;
}

static int
flush(struct label_spool *spool, struct lancet_error *err)
{
	if (spool->file == 0)
		TRY(open_file(spool, err));
	TRY(write_all(spool->file - 1, spool->tail.data, spool->tail.size,
		spool->written * sizeof(uint16_t), err));
	spool->written = spool->count;
	spool->tail.size = 0;
	return LANCET_OK;
}

int
label_spool_put(
	struct label_spool *spool, const uint16_t *labels, size_t count, struct lancet_error *err)
{
	size_t memory = spool->memory != 0 ? spool->memory : LABEL_SPOOL_MEMORY;

	buf_put(&spool->tail, labels, count * sizeof(*labels));
	TRY(buf_check(&spool->tail, "labels of rows", err));
	spool->count += count;
	return spool->tail.size > memory ? flush(spool, err) : LANCET_OK;
}

int
label_spool_read(const struct label_spool *spool, uint64_t first, size_t count, uint16_t *into,
	struct lancet_error *err)
{
	assert(first <= spool->count && count <= spool->count - first);
	if (first < spool->written) {
		uint64_t left = spool->written - first;
		size_t part = left < count ? (size_t)left : count;

		TRY(read_all(spool->file - 1, (uint8_t *)into, part * sizeof(*into),
			first * sizeof(*into), err));
		first += part;
		into += part;
		count -= part;
	}
	if (count > 0)
		memcpy(into, spool->tail.data + (first - spool->written) * sizeof(*into),
			count * sizeof(*into));
	return LANCET_OK;
}

void
label_spool_release(struct label_spool *spool)
{
	buf_release(&spool->tail);
	if (spool->file != 0)
		(void)close(spool->file - 1);
	*spool = (struct label_spool){ 0 };
}
