/* What the cleanup attributes of macros.h call on the way out of a scope. */
#include "macros.h"

#include <errno.h>
#include <unistd.h>

void
util_free_pointer(void *pointer_to_pointer)
{
	free(*(void **)pointer_to_pointer);
}

void
util_close_fd(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	errno = saved;
}
