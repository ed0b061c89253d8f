/* Readiness datagram of a service manager: one message to the socket that NOTIFY_SOCKET names. */
#include "sd.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void
sd_notify_ready(void)
{
	static const char message[] = "READY=1\nSTATUS=serving";
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t size = path == NULL ? 0 : strlen(path);

	if (size < 2 || size >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(address.sun_path, path, size);
	if (path[0] == '@') /* abstract name space */
		address.sun_path[0] = '\0';

	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	ssize_t sent =
		sendto(fd, message, sizeof(message) - 1, MSG_NOSIGNAL, (struct sockaddr *)&address,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
	(void)sent;
	close(fd);
}
