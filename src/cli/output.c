/* Writing to standard output; see output.h. */
#include "output.h"

#include <errno.h>
#include <unistd.h>

#include "util/macros.h"

#define PENDING_MAX (256u << 10) /* bytes */

int
output_put(const void *bytes, size_t size, struct lancet_error *err)
{
	size_t put = 0;

	while (put < size) {
		ssize_t n = write(STDOUT_FILENO, (const char *)bytes + put, size - put);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lancet_fail_errno(err, "standard output");
		put += (size_t)n;
	}
	return LANCET_OK;
}

int
output_flush(struct output *output)
{
	size_t size = output->pending.size;

	TRY(buf_check(&output->pending, "standard output", output->err));
	output->pending.size = 0;
	return output_put(output->pending.data, size, output->err);
}

int
output_write(void *context, const void *bytes, size_t size)
{
	struct output *output = context;

	if (size > PENDING_MAX - output->pending.size)
		TRY(output_flush(output));
	if (size > PENDING_MAX)
		return output_put(bytes, size, output->err);
	buf_put(&output->pending, bytes, size);
	return LANCET_OK;
}

void
output_release(struct output *output)
{
	buf_release(&output->pending);
}
